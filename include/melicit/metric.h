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
/* What the metrics of a family are: to be asked instead of which family it is. */
typedef struct {
    const char *name;    /* the word of the command line and of metric files: "linear-fractional" */
    const char *example; /* how it is written where the name is not enough: "polynomial:3"; else NULL */
    const char *shape;   /* for people: "a ratio of two weighted sums" */
    uint32_t degree;     /* 2: of products of two statistics, 1: of none; 0: written with the name */
    bool sum;            /* a weighted sum of the statistics */
    bool local;          /* whose weights describe small changes only */
    bool ratio;          /* a ratio of two weighted sums */
    bool curved;         /* how one statistic is traded for another depends on the classifier */
    bool groups;         /* a cost of the rates of several groups and of their differences */
    bool diagonal;       /* of right decisions, one number for each class */
    bool planar;         /* of two classes a metric of (TP, TN) */
    bool rates;          /* of rates, as a cost, unless something else is asked for */
} mel_family_facts;
/* What the metrics of a family are. Families are numbered from 0; NULL: there is no such family. */
MEL_API const mel_family_facts *mel_family_about(mel_family family);
/* What a family is called; "unknown" when there is no such family. */
MEL_API const char *mel_family_name(mel_family family);
enum { MEL_MIN_DEGREE = 2, MEL_MAX_DEGREE = 9, MEL_FAMILY_TEXT = 40 };

/* How many numbers a metric of the family has on statistics of this layout, entries of tensors each; degree:
 * of polynomials. MEL_ELIMIT when there would be more than 2^26. */
MEL_API mel_status mel_family_coefficients(size_t *out, mel_family family, uint32_t degree,
                                           const mel_layout *layout, mel_error *err);

typedef enum { MEL_UTILITY = 0, MEL_COST = 1 } mel_orientation;

/* A weighted sum of statistics: <a, s> for linear, diagonal-linear and monotone metrics (the latter: a
 * first-order approximation of a function that grows in every diagonal entry); coefficients are kept as
 * given. class_names: n_classes strings, copied, or NULL for "0", "1", .... */
MEL_API mel_status mel_metric_linear(mel_metric **out, mel_family family, const mel_layout *layout,
                                     const char *const *class_names, mel_orientation orientation,
                                     const double *a, mel_error *err);
/* A ratio of two weighted sums: (<p, s> + p0) / (<q, s> + q0). */
MEL_API mel_status mel_metric_fractional(mel_metric **out, mel_family family, const mel_layout *layout,
                                         const char *const *class_names, mel_orientation orientation,
                                         const double *p, double p0, const double *q, double q0,
                                         mel_error *err);
/* A weighted sum of statistics and of their products: <a, s> + s'Bs/2 with B symmetric, n x n row-major for
 * statistics of n numbers. Entries that differ from their mirror image by more than 1e-9 of the largest are
 * refused, smaller differences are levelled (the upper triangle stays). */
MEL_API mel_status mel_metric_quadratic(mel_metric **out, const mel_layout *layout,
                                        const char *const *class_names, mel_orientation orientation,
                                        const double *a, const double *b, mel_error *err);
/* A polynomial of the statistics: <a, s> + B[s,s]/2 + C[s,s,s]/6 + ... + T[s,..,s]/degree!: tensor[d - 1] has
 * n^d numbers, the last index running fastest, and does not change when indices are exchanged (checked as
 * above). */
MEL_API mel_status mel_metric_polynomial(mel_metric **out, uint32_t degree, const mel_layout *layout,
                                         const char *const *class_names, mel_orientation orientation,
                                         const double *const *tensor, mel_error *err);
/* Fair metrics are costs of the rates r^1, ..., r^m of m >= 2 groups, q numbers each. With the rates of
 * everybody, r = sum over g of tau^g r^g, where tau^g is P(G=g | Y=the true class of the coordinate):
 *   fair linear:    (1 - lambda) <a, r> + lambda sum over u < v of <b^uv, |r^u - r^v|>
 *   fair quadratic: (1 - lambda) <a, r> + lambda/2 sum over u < v of (r^u - r^v)' B^uv (r^u - r^v)
 * a has q numbers; b and B one block of q or q x q per pair of groups in the order 1-2, 1-3, .., 2-3, ..;
 * prevalence one row of n_classes numbers P(G=g | Y=i) per group. lambda is from 0 to 1. Group names are
 * copied, NULL for "1", "2", .... */
MEL_API mel_status mel_metric_fair_linear(mel_metric **out, const mel_layout *layout,
                                          const char *const *class_names, const char *const *group_names,
                                          const double *a, const double *b, double lambda,
                                          const double *prevalence, mel_error *err);
MEL_API mel_status mel_metric_fair_quadratic(mel_metric **out, const mel_layout *layout,
                                             const char *const *class_names, const char *const *group_names,
                                             const double *a, const double *b, double lambda,
                                             const double *prevalence, mel_error *err);
MEL_API void mel_metric_free(mel_metric *metric);

/* What a metric is; layout and names are lent. */
MEL_API mel_family mel_metric_family(const mel_metric *metric);
MEL_API mel_orientation mel_metric_orientation(const mel_metric *metric);
MEL_API const mel_layout *mel_metric_layout(const mel_metric *metric);
/* As many as the layout has, lent; of groups NULL where there are none. */
MEL_API const char *const *mel_metric_class_names(const mel_metric *metric);
MEL_API const char *const *mel_metric_group_names(const mel_metric *metric);
/* NULL for a code that is not a class, a number that is not a group. */
static inline const char *mel_metric_class_name(const mel_metric *metric, size_t class_code)
{
    return class_code < mel_metric_layout(metric)->n_classes ? mel_metric_class_names(metric)[class_code]
                                                             : NULL;
}
static inline const char *mel_metric_group_name(const mel_metric *metric, size_t group)
{
    const char *const *name = mel_metric_group_names(metric);
    return name != NULL && group < mel_metric_layout(metric)->n_groups ? name[group] : NULL;
}

/* The value at these statistics. MEL_ENUMERIC when the denominator is zero (to rounding) at s, 0/0 included,
 * or a number overflows. */
MEL_API mel_status mel_metric_value(double *out, const mel_metric *metric, const double *statistics,
                                    mel_error *err);
/* The derivatives of the value by the statistics; where |r^u - r^v| has a kink, the subgradient 0.
 * Unspecified on failure. */
MEL_API mel_status mel_metric_gradient(double *out, const mel_metric *metric, const double *statistics,
                                       mel_error *err);
/* Which of two points is better: > 0: a, < 0: b, by orientation; the difference of values (of costs:
 * negated). Exactly antisymmetric in a and b. */
MEL_API mel_status mel_metric_compare(double *out, const mel_metric *metric, const double *a, const double *b,
                                      mel_error *err);

MEL_API size_t mel_metric_coefficients(const mel_metric *metric); /* how many numbers it has, in file order */
MEL_API const double *mel_metric_coefficient(const mel_metric *metric); /* all these numbers, lent */
/* The 95% interval of a coefficient; false: none is known. */
MEL_API bool mel_metric_interval(const mel_metric *metric, size_t coefficient, double *low, double *high);
/* Draws n metrics as likely as the intervals say: n x mel_metric_coefficients numbers, normal within each
 * interval and independent of each other. False: it has no intervals, and nothing is written. How sure values
 * are (melicit/certainty.h) is told with MEL_METRIC_DRAWS of them. */
enum { MEL_METRIC_DRAWS = 400 };
MEL_API bool mel_metric_draws(double *out, const mel_metric *metric, size_t n, uint64_t seed);

/* The metric file of docs/metric-file.md ("-": standard input). Refusals (MEL_EDATA) name the place:
 * "coefficients.p[1]: not a number". Saving goes through a temporary file ("-": standard output). */
MEL_API mel_status mel_metric_load(mel_metric **out, const char *path, mel_error *err);
MEL_API mel_status mel_metric_load_memory(mel_metric **out, const void *bytes, size_t n, const char *name,
                                          mel_error *err);
MEL_API mel_status mel_metric_save(const mel_metric *metric, const char *path, mel_error *err);
/* The same as a string for the caller to free(). */
MEL_API mel_status mel_metric_to_json(char **out, const mel_metric *metric, mel_error *err);

/* Measures of whole confusion matrices: k x k numbers (true classes in rows; counts or shares), one matrix
 * after the other where there are groups. Not to be shared by threads. docs/metric-file.md has the formulas.
 */
typedef struct mel_measure mel_measure;
/* A measure by its name, in any case, '_' as '-', or by scikit-learn's (f1_macro, matthews_corrcoef):
 * - accuracy, balanced-accuracy, g-mean, min-recall, mcc, kappa, q-mean; precision, recall, jaccard, f1
 * (f0.5, f2, ...) of the second of two classes, and macro-, micro- or weighted- before them for any number of
 *   classes; specificity, false-positive-rate, false-negative-rate, selection-rate, weighted-accuracy:W of
 * two classes: scikit-learn's definitions, and its answers in degenerate cases (zero_division = 0);
 * - distribution-matching, and with groups equalised-odds, equal-opportunity, negative-balance,
 *   error-rate-balance, demographic-parity, the largest difference between two groups, or with :squared or
 *   :absolute the sum over pairs of groups; psd-q:Q11,Q12,..: distribution-matching by a positive
 * semidefinite matrix;
 * - with groups, NAME:difference, :ratio, :difference-to-overall, :ratio-to-overall, :group-min, :group-max
 *   (fairlearn's MetricFrame) and :group-mean of what NAME is in each group.
 * With groups balanced-accuracy, g-mean, min-recall, q-mean and macro averages run over the classes of every
 * group, which NAME:every-group says as well; group-f1 is the mean over groups of the last class's F1; all
 * others look at all rows together. MEL_EINVAL for a name that is unknown or does not fit. */
MEL_API mel_status mel_measure_named(mel_measure **out, const char *name, size_t n_classes, size_t n_groups,
                                     mel_error *err);
/* A metric as a measure; the metric is copied. MEL_EINVAL when it has other classes or groups. */
MEL_API mel_status mel_measure_metric(mel_measure **out, const mel_metric *metric, size_t n_classes,
                                      size_t n_groups, mel_error *err);
MEL_API void mel_measure_free(mel_measure *measure);
/* The value of a confusion matrix. MEL_EDATA or MEL_ENUMERIC where it is not defined: a class without
 * rows, 0/0. */
MEL_API mel_status mel_measure_value(double *out, const mel_measure *measure, const double *confusion,
                                     mel_error *err);
/* Whether more or less of it is better. */
MEL_API mel_orientation mel_measure_orientation(const mel_measure *measure);
/* Whether it matters which of two classes is the second one, the positive one: recall, not accuracy. */
MEL_API bool mel_measure_has_positive(const mel_measure *measure);

/* The metric of a matrix of costs, without questions: k x k, true classes in rows: the mean cost per case, a
 * cost of confusion entries, with the diagonal subtracted (what right answers cost changes the value of all
 * classifiers by the same amount). A perfect classifier costs 0, in every group. MEL_EDATA when a mistake
 * costs less than the right answer, or none costs anything. */
MEL_API mel_status mel_metric_costs(mel_metric **out, size_t n_classes, const double *cost,
                                    const char *const *class_names, mel_error *err);
/* How a linear metric of two classes, of (TP, TN) or of the two mistakes as shares, weighs its mistakes: the
 * cost of one missed positive in false alarms, m11/m00, with its interval (NaN where unknown). Infinite when
 * false alarms do not matter, or may not; negative when the metric punishes one kind of mistake and rewards
 * the other. */
typedef struct {
    double ratio, low, high;
} mel_cost_ratio;
/* What a missed positive costs in false alarms; MEL_EINVAL for metrics that say no such thing. */
MEL_API mel_status mel_metric_cost_ratio(mel_cost_ratio *out, const mel_metric *metric, mel_error *err);

/* Several of what somebody called "bad loan": "bad loan cases", for the caller to free(); NULL without
 * memory. Plurals are never guessed by adding an s to a name. */
MEL_API char *mel_plural_of(const char *noun);
/* The metric as a sentence or a few ("One missed cancer case counts as much as 6.1 false alarms; 95%
 * between 5.2 and 7.4."), for the caller to free(). */
MEL_API mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
