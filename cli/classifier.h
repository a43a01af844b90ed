/* Classifiers on a space, with its names, for the verbs that print or store them. */
#ifndef MEL_CLI_CLASSIFIER_H
#define MEL_CLI_CLASSIFIER_H

#include "melicit/classify.h"
#include "space_args.h"

/* The best one for a metric, and the one that achieves a point. */
mel_status cli_classifier_best(mel_classifier **out, const mel_problem *space, const mel_metric *metric,
                               mel_error *err);
mel_status cli_classifier_at_point(mel_classifier **out, const mel_problem *space, const double *point,
                                   double delta, mel_error *err);

/* Gives a classifier the problem's names; frees it when that fails. */
mel_status cli_classifier_name(mel_classifier **classifier, const mel_problem *space, mel_error *err);

/* What its file says. */
json_t *cli_classifier_json(const mel_classifier *classifier);
/* [{"gain": [[..], ..], "share": 1}, ...]; with groups a matrix for each */
json_t *cli_blend_json(const mel_blend *blend);
/* A rule in words; freed by the caller. */
char *cli_classifier_words(const mel_classifier *classifier, size_t rule);

#endif
