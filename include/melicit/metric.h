/* melicit/metric.h: metrics as data: made, evaluated, compared, read, written, put into words. */
#ifndef MELICIT_METRIC_H
#define MELICIT_METRIC_H

#include "melicit/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mel_metric mel_metric;

typedef enum {
    MEL_FAMILY_LINEAR = 0,
    MEL_FAMILY_LINEAR_FRACTIONAL = 1,
    MEL_FAMILY_DIAGONAL_LINEAR = 2,
    MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL = 3,
    MEL_FAMILY_MONOTONE = 4,
    MEL_FAMILY_FAIR_LINEAR = 5,
    MEL_FAMILY_QUADRATIC = 6,
    MEL_FAMILY_FAIR_QUADRATIC = 7,
    MEL_FAMILY_POLYNOMIAL = 8
} mel_family;
/* The words of the command line and of metric files: "linear", "linear-fractional", ... */
MEL_API const char *mel_family_name(mel_family family);
MEL_API mel_status mel_family_parse(mel_family *out, const char *name, mel_error *err);

typedef enum { MEL_UTILITY = 0, MEL_COST = 1 } mel_orientation;

/* <a, s>; coefficients are kept as given (mel_metric_normalise scales them). class_names: n_classes
 * strings, copied, or NULL for "0", "1", .... */
MEL_API mel_status mel_metric_linear(mel_metric **out, mel_family family, const mel_layout *layout,
                                     const char *const *class_names, mel_orientation orientation,
                                     const double *a, mel_error *err);
/* (<p, s> + p0) / (<q, s> + q0). */
MEL_API mel_status mel_metric_fractional(mel_metric **out, mel_family family, const mel_layout *layout,
                                         const char *const *class_names, mel_orientation orientation,
                                         const double *p, double p0, const double *q, double q0,
                                         mel_error *err);
MEL_API mel_status mel_metric_copy(mel_metric **out, const mel_metric *metric, mel_error *err);
MEL_API void mel_metric_free(mel_metric *metric);

MEL_API mel_family mel_metric_family(const mel_metric *metric);
MEL_API mel_orientation mel_metric_orientation(const mel_metric *metric);
MEL_API const mel_layout *mel_metric_layout(const mel_metric *metric);
/* NULL for a code that is not a class, a number that is not a group. */
MEL_API const char *mel_metric_class_name(const mel_metric *metric, size_t class_code);
MEL_API const char *mel_metric_group_name(const mel_metric *metric, size_t group);
/* Numerator and denominator coefficients (lent) and their constants (may be NULL); the denominator is
 * NULL, with constant 1, for families without one. */
MEL_API const double *mel_metric_numerator(const mel_metric *metric, double *constant);
MEL_API const double *mel_metric_denominator(const mel_metric *metric, double *constant);

/* MEL_ENUMERIC when the denominator is zero (to rounding) at s, 0/0 included, or a number overflows. */
MEL_API mel_status mel_metric_value(double *out, const mel_metric *metric, const double *statistics,
                                    mel_error *err);
/* d value / d statistics. */
MEL_API mel_status mel_metric_gradient(double *out, const mel_metric *metric, const double *statistics,
                                       mel_error *err);
/* > 0: a is better, < 0: b is better, by orientation; the difference of values (of costs: negated).
 * Exactly antisymmetric in a and b. */
MEL_API mel_status mel_metric_compare(double *out, const mel_metric *metric, const double *a, const double *b,
                                      mel_error *err);
/* l2 norm 1 (linear), l1 norm 1 (diagonal), p11 + p00 = 1 (binary fractional); of other fractional
 * metrics the numerator has that norm. Fractional metrics keep their values. Intervals scale along. */
MEL_API mel_status mel_metric_normalise(mel_metric *metric, mel_error *err);

/* 95% credible intervals, one pair per coefficient in file order (fractional: numerator, its
 * constant, denominator, its constant); NULL, NULL clears. */
MEL_API mel_status mel_metric_set_intervals(mel_metric *metric, const double *low, const double *high,
                                            mel_error *err);
MEL_API size_t mel_metric_coefficients(const mel_metric *metric); /* how many, in file order */
MEL_API bool mel_metric_interval(const mel_metric *metric, size_t coefficient, double *low, double *high);
/* How it was found, kept in the file under "elicited". */
typedef struct {
    uint32_t questions;
    const char *strategy; /* "active", "search"; lent; NULL: not elicited */
    double radius;        /* half of the widest interval; NaN: unknown */
    uint64_t seed;
} mel_elicited;
MEL_API mel_status mel_metric_set_elicited(mel_metric *metric, const mel_elicited *how, mel_error *err);
MEL_API mel_elicited mel_metric_elicited(const mel_metric *metric);

/* The metric file of docs/metric-file.md ("-": standard input). Refusals (MEL_EDATA) name the place:
 * "coefficients.p[1]: not a number". Saving goes through a temporary file ("-": standard output). */
MEL_API mel_status mel_metric_load(mel_metric **out, const char *path, mel_error *err);
MEL_API mel_status mel_metric_load_memory(mel_metric **out, const void *bytes, size_t n, const char *name,
                                          mel_error *err);
MEL_API mel_status mel_metric_save(const mel_metric *metric, const char *path, mel_error *err);
/* The same as a string for the caller to free(). */
MEL_API mel_status mel_metric_to_json(char **out, const mel_metric *metric, mel_error *err);

/* Well-known metrics of binary confusion counts, with scikit-learn's definitions and its answers in
 * degenerate cases (zero_division = 0). */
typedef struct {
    double tp, fp, fn, tn; /* counts or shares, non-negative, not all zero */
} mel_counts;
typedef enum {
    MEL_NAMED_ACCURACY,
    MEL_NAMED_BALANCED_ACCURACY,
    MEL_NAMED_WEIGHTED_ACCURACY, /* parameter: weight of a missed positive against a false alarm, > 0 */
    MEL_NAMED_FBETA,             /* parameter: beta > 0 */
    MEL_NAMED_JACCARD,
    MEL_NAMED_PRECISION,
    MEL_NAMED_RECALL,
    MEL_NAMED_SPECIFICITY,
    MEL_NAMED_GMEAN,
    MEL_NAMED_MCC
} mel_named;
MEL_API mel_status mel_named_value(double *out, mel_named metric, double parameter, const mel_counts *counts,
                                   mel_error *err);
/* "accuracy", "f1", "f0.5", "f2", "weighted-accuracy:7", "mcc", ...; in any case, '_' as '-'. */
MEL_API mel_status mel_named_parse(mel_named *out, double *parameter, const char *name, mel_error *err);
MEL_API const char *mel_named_name(mel_named metric);
/* The binary metric object of a named one at a share of positives (accuracy, balanced accuracy, weighted
 * accuracy, F-beta, Jaccard, recall, specificity, precision); MEL_EINVAL for G-mean and MCC, which are
 * neither linear nor linear-fractional. */
MEL_API mel_status mel_metric_named(mel_metric **out, mel_named metric, double parameter, double positives,
                                    const char *const *class_names, mel_error *err);

/* How a binary linear metric weighs its two mistakes: the cost of one missed positive in false
 * alarms, m11/m00, with its interval (NaN where unknown). Infinite when false alarms do not matter,
 * or may not; negative when the metric punishes one kind of mistake and rewards the other. */
typedef struct {
    double ratio, low, high;
} mel_cost_ratio;
MEL_API mel_status mel_metric_cost_ratio(mel_cost_ratio *out, const mel_metric *metric, mel_error *err);
/* The probability threshold that is best for a binary linear metric: m00/(m11 + m00). For
 * opposite signs one of the trivial classifiers: 0 (always positive) or 1 + epsilon (never).
 * MEL_EINVAL when neither weight is positive: the best classifier then is positive *below* a
 * threshold, which mel_plug_in_rule gives. */
MEL_API mel_status mel_metric_threshold(double *out, const mel_metric *metric, mel_error *err);

/* The metric as a sentence or a few ("One missed cancer counts as much as 6.1 false alarms; 95%
 * between 5.2 and 7.4."), for the caller to free(). */
MEL_API mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err);
/* The well-known metrics that order points most alike, best first: agreement is the share of `n`
 * pairs (statistics a[i], b[i], n x 2 numbers each) that both order the same way, ties included;
 * pairs where the metric is not defined do not count. `positives` is the share of the positive class.
 * Candidates are accuracy, balanced accuracy, F1, F0.5, F2, Jaccard, precision, recall,
 * specificity, G-mean, MCC and, for linear metrics, weighted accuracy with the rounded cost ratio. */
typedef struct {
    mel_named metric;
    double parameter;
    double agreement;
    char name[32]; /* for people: "F1", "weighted accuracy 6.1:1" */
} mel_neighbour;
MEL_API mel_status mel_metric_neighbours(mel_neighbour *out, size_t n_out, size_t *n_found,
                                         const mel_metric *metric, double positives, size_t n,
                                         const double *a, const double *b, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
