/* The families of metrics. A family is what it can do, in a file of this folder, and one row of rows.h; all
 * others ask this table and never for a family by name. Results may overflow: callers check. */
#ifndef MEL_METRIC_FAMILIES_H
#define MEL_METRIC_FAMILIES_H

#include "base/buffer.h"
#include "metric/families/rows.h"
#include "metric/metric.h"

/* A key that coefficients of a metric have in its file, and which of them are under it: side^rank numbers in
 * arrays nested `rank` deep (0: a number), once, or for every pair of `groups` groups in an object with the
 * keys "1-2", "1-3", .., "2-3", ... */
typedef struct {
    const char *key;
    size_t first; /* its first coefficient */
    size_t side;
    uint32_t rank;
    size_t groups; /* below 2: no pairs */
    bool optional; /* zero when the key is missing */
} mel_field;

enum { MEL_MAX_FIELDS = MEL_MAX_DEGREE };
/* In file order; returns how many. */
size_t mel_metric_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric);

typedef struct mel_words mel_words;
struct mel_family_ops {
    mel_family_facts is;
    mel_status (*value)(double *out, const mel_metric *metric, const double *statistics, mel_error *err);
    mel_status (*gradient)(double *out, const mel_metric *metric, const double *statistics, mel_error *err);
    /* value(a) - value(b), exactly antisymmetric and without subtracting the two values. */
    mel_status (*difference)(double *out, const mel_metric *metric, const double *a, const double *b,
                             mel_error *err);
    mel_status (*normalise)(mel_metric *metric, mel_error *err);
    /* Checks and tidies finite coefficients; NULL: nothing to check. */
    mel_status (*settle)(mel_metric *metric, mel_error *err);
    /* How many numbers a metric has; SIZE_MAX: too many. */
    size_t (*coefficients)(const mel_layout *layout, uint32_t degree);
    /* Their keys in a metric file, in file order; returns how many. */
    size_t (*fields)(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric);
    /* The metric as a sentence or a few (metric/words.h). */
    mel_status (*words)(mel_words *words, const mel_metric *metric, mel_error *err);
};

#define DECLARE(name) extern const mel_family_ops mel_family_##name;
MEL_FAMILIES(DECLARE)
#undef DECLARE

/* NULL: there is no such family. */
const mel_family_ops *mel_family_of(mel_family family);

/* What families of one number for every statistic have under the key "a". */
size_t mel_family_one_each(const mel_layout *layout, uint32_t degree);
size_t mel_family_one_field(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric);

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
