/* What other rooms and the program use of this room beyond melicit/metric.h; not exported. */
#ifndef MEL_METRIC_SHARED_H
#define MEL_METRIC_SHARED_H

#include "base/internal.h"
#include "base/rng.h"
#include "melicit/metric.h"

/* Accepts "polynomial" and "polynomial:D"; what D is, only mel_family_parse_degree tells. */
mel_status mel_family_parse(mel_family *out, const char *name, mel_error *err);
/* The family with its degree: D of "polynomial:D" (2 to 9; "polynomial" alone is refused), 2 for quadratic
 * and fair-quadratic, 1 for the others. */
mel_status mel_family_parse_degree(mel_family *out, uint32_t *degree, const char *name, mel_error *err);
/* The text that mel_family_parse_degree reads: "quadratic", "polynomial:3". */
void mel_family_print(char text[MEL_FAMILY_TEXT], mel_family family, uint32_t degree);
/* Pairs of n groups, n(n-1)/2, and the place of pair u < v (0-based) in the order 1-2, 1-3, .., 2-3, ... */
size_t mel_group_pairs(size_t n_groups);
size_t mel_group_pair(size_t n_groups, size_t u, size_t v);
mel_status mel_metric_copy(mel_metric **out, const mel_metric *metric, mel_error *err);
/* Numerator and denominator coefficients (lent) and their constants (may be NULL); the denominator is
 * NULL, with constant 1, for families without one. */
const double *mel_metric_numerator(const mel_metric *metric, double *constant);
const double *mel_metric_denominator(const mel_metric *metric, double *constant);
/* D of a polynomial, 2 of a quadratic or fair-quadratic metric, 1 of the others. */
uint32_t mel_metric_degree(const mel_metric *metric);
/* Lent: the tensor of this degree of a quadratic or polynomial metric (1: a, 2: B, ...), n^degree
 * numbers; of other families only degree 1, their a. NULL when there is none. */
const double *mel_metric_tensor(const mel_metric *metric, uint32_t degree);
/* Borrowed b^uv (q numbers) or B^uv (q x q) of a fair metric for groups u < v, 0-based; NULL otherwise. */
const double *mel_metric_pair(const mel_metric *metric, size_t u, size_t v);
/* Borrowed prevalence of a fair metric: n_groups x n_classes; NULL for other families. */
const double *mel_metric_prevalence(const mel_metric *metric);
/* The trade-off of a fair metric, 0: mistakes only, 1: differences between groups only; NaN for others. */
double mel_metric_lambda(const mel_metric *metric);
/* l2 norm 1 (linear), l1 norm 1 (diagonal, monotone), p11 + p00 = 1 (binary fractional); of other
 * fractional metrics the numerator has that norm. Quadratic and polynomial: l2 norm of all tensors
 * together 1. Fair: ||a|| = 1 and the sum of ||b^uv||, or half the sum of the Frobenius norms of B^uv, is 1;
 * lambda changes so that the order stays, to 0 or 1 when one of the two parts is nil. Fractional metrics
 * keep their values. Intervals scale along. */
mel_status mel_metric_normalise(mel_metric *metric, mel_error *err);

/* 95% credible intervals, one pair per coefficient in file order (fractional: numerator, its
 * constant, denominator, its constant; quadratic and polynomial: a, B, C, ...; fair: a, every pair's block,
 * lambda, but no prevalence); NULL, NULL clears. */
mel_status mel_metric_set_intervals(mel_metric *metric, const double *low, const double *high,
                                    mel_error *err);
/* Other numbers for the same metric, checked as when it was made; intervals stay. Nothing changes on failure.
 */
mel_status mel_metric_set_coefficients(mel_metric *metric, const double *coefficients, mel_error *err);
/* Random coefficients, in file order, as far as intervals tell: each one normal on either side of its
 * value, so that it is in its interval with probability 0.95, and independent of the others (entries
 * that must be equal are; lambda stays within [0, 1]). How coefficients move together is lost in
 * intervals: draws of the session that found the metric are better. Without intervals its own values. */
void mel_metric_draw(double *out, const mel_metric *metric, mel_rng *rng);
/* How it was found, kept in the file under "elicited". */
typedef struct {
    uint32_t questions;
    const char *strategy; /* "active", "search"; lent; NULL: not elicited */
    double radius;        /* of the session's mel_summary (melicit/elicit.h); NaN: unknown */
    uint64_t seed;
} mel_elicited;
mel_status mel_metric_set_elicited(mel_metric *metric, const mel_elicited *how, mel_error *err);
mel_elicited mel_metric_elicited(const mel_metric *metric);
/* What one unit of statistic i counts in units of statistic j, a_i/a_j, with its interval: linear, diagonal
 * and monotone metrics, and the mistakes of everybody in fair ones (i, j < q). MEL_EINVAL for metrics whose
 * exchange rate depends on the classifier, and when both weights are zero. */
mel_status mel_metric_weight_ratio(mel_cost_ratio *out, const mel_metric *metric, size_t i, size_t j,
                                   mel_error *err);
/* The share of all weight that coefficient `at` of the n from `first` on has, of the sign that makes usual
 * weights positive (1 or -1), with its interval. Of two weights it is the image of the interval of their
 * ratio; of more the sum stays as it is, as how they move together is not known. False: no intervals, or no
 * weight. */
bool mel_metric_share_interval(double ends[2], const mel_metric *metric, size_t first, size_t n, size_t at,
                               double sign);
/* Whether a ratio is known only roughly: its sign is open, or the ends of its interval differ by more than
 * a factor of MEL_WIDE_FACTOR. */
#define MEL_WIDE_FACTOR 2.0
bool mel_cost_ratio_is_wide(const mel_cost_ratio *ratio);
/* The probability threshold that is best for a binary linear metric: m00/(m11 + m00). For
 * opposite signs one of the trivial classifiers: 0 (always positive) or 1 + epsilon (never).
 * MEL_EINVAL when neither weight is positive: the best classifier then is positive *below* a
 * threshold, which mel_plug_in_rule gives. */
mel_status mel_metric_threshold(double *out, const mel_metric *metric, mel_error *err);
/* The well-known metrics that order points most alike, best first: agreement is the share of `n`
 * pairs (statistics a[i], b[i], n x 2 numbers each) that both order the same way, ties included;
 * pairs where the metric is not defined do not count. `positives` is the share of the positive class.
 * Candidates are accuracy, balanced accuracy, F1, F0.5, F2, Jaccard, precision, recall,
 * specificity, G-mean, MCC and, for linear metrics, weighted accuracy with the rounded cost ratio. */
enum { MEL_MEASURE_NAME = 64 };
typedef struct {
    char measure[MEL_MEASURE_NAME]; /* of mel_measure_named: "f1", "weighted-accuracy:6.1" */
    double agreement;
    char name[32]; /* for people: "F1", "weighted accuracy 6.1:1" */
} mel_neighbour;
/* How those of the candidates that are the same for every metric order the pairs: MEL_FIXED_NEIGHBOURS x n
 * signs of value(a[i]) - value(b[i]); a and b are entries of confusion matrices. */
enum { MEL_FIXED_NEIGHBOURS = 11 };
mel_status mel_neighbours_order(int8_t *order, double positives, size_t n, const double *a, const double *b,
                                mel_error *err);
/* The best of them. order: how the fixed candidates order the pairs, by mel_neighbours_order; NULL: that is
 * not known, or the metric is about rates. */
mel_status mel_metric_neighbours(mel_neighbour *out, size_t n_out, size_t *n_found, const mel_metric *metric,
                                 double positives, size_t n, const double *a, const double *b,
                                 const int8_t *order, mel_error *err);
/* The shape of a measure in what classifiers achieve, where every class keeps its rows. */
typedef enum {
    MEL_SHAPE_LINEAR,
    MEL_SHAPE_RATIO,   /* of two sums */
    MEL_SHAPE_KINKED,  /* linear but for absolute values or a smallest term */
    MEL_SHAPE_CONCAVE, /* smooth; as a utility it has one top */
    MEL_SHAPE_LOCAL    /* tops may differ */
} mel_shape;
mel_shape mel_measure_shape(const mel_measure *measure);
/* How differences (and errors) of rates count, of measures and of limits: squared as in the thesis, absolute,
 * or only the largest, which is what fairlearn's ..._difference functions give (error-rate balance: its
 * equalized_odds_difference with agg="mean"). The absolute Q-mean is 1 minus balanced accuracy. */
typedef enum { MEL_GAP_SQUARED, MEL_GAP_ABSOLUTE, MEL_GAP_LARGEST } mel_gap;
/* What is compared: rates R_ij = P(prediction j | class i), shares of predictions. Between groups, the last
 * three with a target. */
typedef enum {
    MEL_COMPARED_ODDS,    /* every R_ij, i != j */
    MEL_COMPARED_MISSES,  /* of the last class */
    MEL_COMPARED_ALARMS,  /* for the last class */
    MEL_COMPARED_ERRORS,  /* half of both */
    MEL_COMPARED_SHARES,  /* of predictions */
    MEL_COMPARED_RECALLS, /* with 1 */
    MEL_COMPARED_MATCHING /* shares of predictions with those of the classes, or with a target */
} mel_compared;
/* Whether R_ij, with i = n_classes the share of predictions j, is one of them. */
bool mel_compares(mel_compared what, size_t n_classes, size_t i, size_t j);
/* For a measure of such differences: what it compares, how, and the weight of R_ij (0: not compared).
 * False: it is another measure. */
bool mel_measure_compared(mel_compared *what, mel_gap *gap, const mel_measure *measure);
double mel_compared_weight(const mel_measure *measure, size_t i, size_t j);
/* Whether it is about differences of rates between groups: 0 where they are equal, more elsewhere. */
bool mel_measure_compares_groups(const mel_measure *measure);
/* d value / d confusion along changes of predictions, where every class keeps its rows; `confusion` are
 * shares. MEL_EINVAL when it is not known (mel_measure_has_gradient). */
mel_status mel_measure_gradient(double *out, const mel_measure *measure, const double *confusion,
                                mel_error *err);
bool mel_measure_has_gradient(const mel_measure *measure);
/* Whether it has no kinks: it is no smallest, largest or absolute difference. */
bool mel_measure_is_smooth(const mel_measure *measure);
/* How many numbers it is the largest or smallest of; 0: none. */
size_t mel_measure_parts(const mel_measure *measure, bool *largest);
/* These numbers. */
mel_status mel_measure_part_values(double *out, const mel_measure *measure, const double *confusion,
                                   mel_error *err);
/* Numbers of a confusion: groups x k x k; groups are at least 1. */
size_t mel_measure_cells(const mel_measure *measure);
size_t mel_measure_groups(const mel_measure *measure);
/* It looks at shares of decisions alone: classes without rows do not matter to it. */
bool mel_measure_by_shares(const mel_measure *measure);
/* As mel_measure_named, but of all rows together (mel_measure_groups: 1) unless the name is about groups. */
mel_status mel_measure_together(mel_measure **out, const char *name, size_t n_classes, size_t n_groups,
                                mel_error *err);
/* What its messages call classes and groups; lent, NULL: their numbers. */
void mel_measure_call(mel_measure *measure, const char *const *class_name, const char *const *group_name);
/* Other coefficients for the metric of a measure (mel_metric_set_coefficients); MEL_EINVAL without one. */
mel_status mel_measure_set_coefficients(mel_measure *measure, const double *coefficients, mel_error *err);

/* The same metric with its classes and groups in another order: new class i is old class class_place[i],
 * new group g old group group_place[g] (NULL where there are no groups). Values stay what they were for
 * statistics in the new order. */
mel_status mel_metric_reorder(mel_metric **out, const mel_metric *metric, const size_t *class_place,
                              const size_t *group_place, mel_error *err);

/* Whether it is a weighted sum for two classes, of (TP, TN) or of the two mistakes, as shares of all rows. */
bool mel_metric_trades_two(const mel_metric *metric);
/* Such a metric of mistakes as one of (TP, TN), and the other way round: its values and the old ones add up
 * to the same number for all classifiers of the same rows, so that it orders them alike, by the same
 * differences. */
mel_status mel_metric_turn(mel_metric **out, const mel_metric *metric, mel_error *err);

/* Who a named measure is about. */
typedef struct {
    size_t n_classes, n_groups;                          /* n_groups 0 or 1: no groups */
    const char *const *class_names, *const *group_names; /* NULL: "0", "1", ... and "1", "2", ... */
    /* P(G=g, Y=i), a row for each group, without groups P(Y=i), or counts of them; NULL: unknown. */
    const double *shares;
} mel_people;
/* The metric object that has the values of a measure of mel_measure_named for people with these shares:
 * linear, linear-fractional, quadratic or fair. MEL_EINVAL with a sentence for measures that no family has
 * (MCC, G-mean, macro F, ...) and where shares are needed and unknown. */
mel_status mel_metric_of_name(mel_metric **out, const char *name, const mel_people *people, mel_error *err);
/* The same for two classes at a share of positives. */
mel_status mel_metric_named(mel_metric **out, const char *name, double positives,
                            const char *const *class_names, mel_error *err);

#endif
