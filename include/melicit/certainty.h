/* melicit/certainty.h: how sure values and differences are, given that test rows are finitely many and that a
 * metric may itself be uncertain. Intervals hold 95%. Program, reports and Python have theirs from here. */
#ifndef MELICIT_CERTAINTY_H
#define MELICIT_CERTAINTY_H

#include "melicit/metric.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double low, high;
} mel_interval;

typedef struct {
    size_t struct_size;
    size_t draws;  /* of the rows, where they are drawn: 2,000 */
    uint64_t seed; /* of those draws: 1 */
    /* Equally likely coefficients of the measure's metric, in file order, lent; none: MEL_METRIC_DRAWS are
     * drawn within its intervals, if it has any. */
    size_t n_metrics;
    const double *metrics;
    bool known; /* the metric is taken as it is */
} mel_certainty_options;
MEL_API void mel_certainty_options_init(mel_certainty_options *opt);

/* A value and where it may lie: because of the rows, because of the metric, because of both. Where draws are
 * no metrics (a denominator vanishes) `metric` is NaN, and `both` is about the rows. */
typedef struct {
    double value;
    mel_interval rows, metric, both;
    double rows_deviation, metric_deviation, deviation; /* of both: the squares add up */
} mel_certainty;
/* A value with its interval. counts: what the measure looks at, as numbers of rows (not necessarily whole).
 * The rows' part is the delta method, sum of p (g - mean g)^2/(n + 1) with slopes g; where it is not to be
 * trusted (fewer than MEL_FEW_ROWS rows, or MEL_FEW_OF_A_CLASS of a class, or MEL_FEW_OF_A_CELL in a cell of
 * two classes, or of more where a row more in it would say much, or a measure with kinks) Dirichlet draws,
 * whose prior is worth two rows. The measure is as before afterwards. */
enum { MEL_FEW_ROWS = 300, MEL_FEW_OF_A_CLASS = 30, MEL_FEW_OF_A_CELL = 10 };
MEL_API mel_status mel_certainty_of(mel_certainty *out, mel_measure *measure, const double *counts,
                                    const mel_certainty_options *opt, mel_error *err);

/* Two classifiers. */
typedef struct {
    double difference;  /* of their values, as utilities: above 0 the first is better */
    mel_interval range; /* rows and metric together */
    double better;      /* the probability that the first is better, ties half */
} mel_contest;
/* Below that nobody should say which one is better: equal classifiers are then told apart in 5 of 100 cases.
 */
#define MEL_CAN_TELL 0.975
static inline bool mel_can_tell(double better)
{
    return better >= MEL_CAN_TELL || better <= 1.0 - MEL_CAN_TELL;
}
/* How sure the difference of two classifiers on the same rows is. counts: by group, true class, what the
 * first and what the second predicts (groups x k x k x k). Where each row counts alike for one of them or for
 * neither, the probability is exact: Beta(b + 1/2, c + 1/2) with b and c rows in favour of each. */
MEL_API mel_status mel_certainty_compare(mel_contest *out, mel_measure *measure, const double *counts,
                                         const mel_certainty_options *opt, mel_error *err);
/* The same on rows of which nothing is known but the two confusion matrices: as if they were not the same. */
MEL_API mel_status mel_certainty_compare_apart(mel_contest *out, mel_measure *measure, const double *counts_a,
                                               const double *counts_b, const mel_certainty_options *opt,
                                               mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
