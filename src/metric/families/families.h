/* What a family must be able to do; one file per group of families. Results may overflow: callers check. */
#ifndef MEL_METRIC_FAMILIES_H
#define MEL_METRIC_FAMILIES_H

#include "metric/metric.h"

typedef struct {
    mel_status (*value)(double *out, const mel_metric *metric, const double *statistics, mel_error *err);
    mel_status (*gradient)(double *out, const mel_metric *metric, const double *statistics, mel_error *err);
    /* value(a) - value(b), exactly antisymmetric and without subtracting the two values. */
    mel_status (*difference)(double *out, const mel_metric *metric, const double *a, const double *b,
                             mel_error *err);
    mel_status (*normalise)(mel_metric *metric, mel_error *err);
    /* Checks and tidies finite coefficients; NULL: nothing to check. */
    mel_status (*settle)(mel_metric *metric, mel_error *err);
} mel_family_rules;

extern const mel_family_rules mel_linear_rules;
extern const mel_family_rules mel_fractional_rules;
extern const mel_family_rules mel_tensor_rules;
extern const mel_family_rules mel_fair_rules;

const mel_family_rules *mel_rules_of(mel_family family);

/* Coefficients first .. first + n and their intervals are divided by norm. Nothing changes when a quotient
 * is not finite (MEL_ENUMERIC): check all blocks before dividing one. */
mel_status mel_metric_check_divisor(const mel_metric *metric, size_t first, size_t n, double norm,
                                    mel_error *err);
void mel_metric_divide(mel_metric *metric, size_t first, size_t n, double norm);
/* Both at once for all coefficients; a norm of zero or beyond all numbers is refused. `what` is "the norm".
 */
mel_status mel_metric_divide_all(mel_metric *metric, double norm, const char *what, mel_error *err);

/* Levels a symmetric tensor with `rank` indices below `side`; MEL_EINVAL naming two entries that differ
 * by more than 1e-9 of the largest, as entries of `name`. */
mel_status mel_tensor_symmetric(double *tensor, size_t side, uint32_t rank, const char *name, mel_error *err);

/* Where the entry with the same indices in ascending order is. */
size_t mel_tensor_sorted_place(size_t place, size_t side, uint32_t rank);

#endif
