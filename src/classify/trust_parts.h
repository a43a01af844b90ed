/* What the files on the certainty of rules share. */
#ifndef MEL_CLASSIFY_TRUST_PARTS_H
#define MEL_CLASSIFY_TRUST_PARTS_H

#include "classify/classify.h"
#include "melicit/trust.h"
#include "metric/shared.h"

typedef struct {
    const mel_rule_rows *rows;
    const mel_metric *metric; /* NULL: by name */
    const char *name;
    mel_rule_options rule;
    mel_trust_options opt;
    const mel_classifier *found;
    mel_measure *measure;
    size_t k, d, m; /* classes, decisions, groups (at least 1) */
    double spread;  /* deviation of what other rows would have led to */
    double refer;   /* what referring all cases would add to the value */
} mel_trust_work;

/* For a rule that was found on the rows (NULL: rules that will be); the measure is the caller's to free, also
 * after a failure. */
mel_status mel_trust_begin(mel_trust_work *out, const mel_classifier *found, const mel_rule_rows *rows,
                           const mel_metric *metric, const char *name, const mel_rule_options *rule,
                           mel_error *err);
/* What referring all cases adds to the value: as many of the cheapest mistakes as it costs. room: as many
 * numbers as the measure looks at. */
mel_status mel_trust_price_of_referring(double *out, const mel_trust_work *w, const double *counts,
                                        double *room, mel_error *err);
/* The adjustment that the same calibration and class shares make of other rows. */
mel_status mel_trust_adjust(mel_adjustment *out, const mel_trust_work *w, const mel_rule_rows *rows,
                            mel_error *err);
/* The best rule for these rows, with a calibration of their own; metric NULL: the one of the work. */
mel_status mel_trust_find(mel_classifier **out, const mel_trust_work *w, const mel_rule_rows *rows,
                          const mel_metric *metric, mel_error *err);
/* Rows and chances of decisions about them (rows x d); weight, growth: room for a number of each row and of
 * each class. */
typedef struct {
    const mel_rule_rows *rows;
    const double *chance;
    double *weight, *growth;
} mel_trust_decided;
/* Adds what each row counts, when its label is believed, times its chances: m x k x d numbers. squares: the
 * same of squared weights, of each of the rows that a row stands for; NULL: nobody asks. */
void mel_trust_count(double *counts, double *squares, const mel_trust_work *w, const mel_trust_decided *of);
/* The value of counts; NaN where it is not defined. room: as many numbers as the measure looks at. */
double mel_trust_value(const mel_trust_work *w, const double *counts, double *room);
/* What the measure looks at. */
void mel_trust_seen(double *out, const mel_trust_work *w, const double *counts);
/* Chances of decisions, into room for them; adjusted probabilities are made of some rows at a time. */
mel_status mel_trust_chances(double *chance, const mel_classifier *c, const mel_rule_rows *rows,
                             mel_error *err);
/* The value of counts (numbers of rows) and how sure it is; NaN where it is not defined. room: as many
 * numbers as the measure looks at. */
mel_status mel_trust_of_counts(mel_certainty *out, mel_trust_work *w, const double *counts, double *room,
                               mel_error *err);
/* The slope of the value in each share that the measure looks at, less their mean: what a row there says. */
mel_status mel_trust_slopes(double *slope, const mel_trust_work *w, const double *counts, double *room,
                            mel_error *err);
/* Counts become numbers of rows: as many as rows of these weights are worth if each of them says as much. */
void mel_trust_count_alike(double *counts, const double *squares, const mel_trust_work *w);
/* The same: as many as make the value as sure as it is with these weights. room: as many
 * numbers as the measure looks at. */
mel_status mel_trust_settle_size(double *counts, const double *squares, const mel_trust_work *w, double *room,
                                 mel_error *err);
/* Values are that much less sure than rows_deviation says. */
void mel_trust_widen(mel_certainty *value, double by);

/* trust_draws.c: optimism, spread and thresholds, by drawing the rows anew. */
mel_status mel_trust_draw(mel_trust *out, mel_trust_work *w, mel_error *err);
/* trust_folds.c */
mel_status mel_trust_fold(mel_trust *out, mel_trust_work *w, mel_error *err);

#endif
