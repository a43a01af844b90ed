/* What other rooms and the program use of this room beyond melicit/classify.h; not exported. */
#ifndef MEL_CLASSIFY_SHARED_H
#define MEL_CLASSIFY_SHARED_H

#include "melicit/certainty.h"
#include "melicit/classify.h"
#include "melicit/trust.h"
#include "metric/shared.h"

/* What one more row in each cell would add to the value, times the number of rows; on average over the rows
 * 0. Values of classifiers on the same n rows have covariances mean(slope slope')/(n + 1). */
mel_status mel_certainty_slopes(double *slope, mel_measure *measure, const double *counts, mel_error *err);
/* The lower triangle of n x n covariances becomes a factor L with L L' about equal to them, also where they
 * are only semidefinite; what is above the diagonal is cleared. */
void mel_factor_covariances(double *covariance, size_t n);

/* Whether mel_classifier_best finds the best classifier for metrics of this family exactly and at once:
 * linear, linear-fractional, diagonal, monotone. */
bool mel_classifier_has_best(mel_family family);
/* Whether the text of a limit compares groups or names one; MEL_EINVAL where it is no limit. */
mel_status mel_limit_names_groups(bool *out, const char *text, mel_error *err);
/* Rule number `rule` as a command: "predict cancer when its probability is at least 0.26", "always predict
 * cancer"; for the caller to free(). */
mel_status mel_classifier_words(char **out, const mel_classifier *classifier, size_t rule, mel_error *err);
/* How it was found, a JSON object for its file ("found"). */
mel_status mel_classifier_set_found(mel_classifier *classifier, const char *json, mel_error *err);
/* Which columns say how much a row counts if it is of each class, "" for none: n_classes texts, copied. For
 * classifiers that were found with costs of rows. */
mel_status mel_classifier_set_cost_columns(mel_classifier *classifier, const char *const *column,
                                           mel_error *err);
/* A classifier file as a text, for the caller to free(), and back. */
mel_status mel_classifier_to_json(char **out, const mel_classifier *classifier, mel_error *err);
mel_status mel_classifier_from_json(mel_classifier **out, const char *text, size_t size, mel_error *err);
/* "rules" of a classifier file alone, for any mixture of plug-in rules. */
mel_status mel_blend_to_json(char **out, const mel_blend *blend, mel_error *err);

/* Rows to decide about. Everything is lent. */
typedef struct {
    size_t n;
    const double *probability;   /* n x n_classes */
    const uint32_t *group;       /* NULL: the classifier does not look at groups */
    const double *row_cost;      /* n x n_classes, for classifiers with cost columns; else NULL */
    const char *const *row_name; /* by which mixtures are drawn; NULL: by the row's place */
    uint64_t seed;
    size_t before; /* rows that come before these: their coins are tossed first */
} mel_undecided;
/* As mel_classifier_chances and mel_classifier_decide. */
mel_status mel_classifier_chances_of(double *chance, const mel_classifier *classifier,
                                     const mel_undecided *rows, mel_error *err);
mel_status mel_classifier_decide_of(uint32_t *prediction, const mel_classifier *classifier,
                                    const mel_undecided *rows, mel_error *err);

#endif
