/* What the files of the rank room share. */
#ifndef MEL_RANK_RANK_H
#define MEL_RANK_RANK_H

#include "base/internal.h"
#include "melicit/face.h"
#include "melicit/rank.h"
#include "metric/shared.h"
#include "rank/shared.h"

#include <math.h>

/* The well-known metrics that order what is achievable on a face most alike (mel_metric_neighbours), by
 * MEL_CLOSEST_PAIRS random pairs of its points: always the same pairs, so that everybody is told the same.
 */
enum { MEL_CLOSEST_PAIRS = 2000 };
mel_status mel_closest_metrics(mel_neighbour *out, size_t n_out, size_t *n_found, const mel_metric *metric,
                               const mel_face *face, mel_error *err);
/* The pairs of mel_closest_metrics: MEL_CLOSEST_PAIRS first points (TP, TN), then as many second ones. For
 * the caller to free(); NULL without memory. */
double *mel_closest_pairs(const mel_face *face);
/* Kendall's tau-b of two lists of n numbers, in O(n log n): 1 same order, -1 opposite, ties corrected for as
 * in scipy.stats.kendalltau. NaN when all numbers of a list are equal (or n < 2): there is no order then. */
mel_status mel_kendall_tau(double *out, size_t n, const double *x, const double *y, mel_error *err);

/* Normalised discounted cumulative gain of ordering n items by `score`, highest first: the sum of
 * (2^relevance - 1)/log2(1 + place), divided by the best possible sum. Items with equal scores share the
 * average of their gains, as in sklearn.metrics.ndcg_score. Relevances are from 0 to 1000. When nothing has a
 * gain, 0. */
mel_status mel_ndcg(double *out, size_t n, const double *relevance, const double *score, mel_error *err);

/* The rule by which values are compared wherever an order is made or weighed: 1 when x is the better one, -1
 * when y is, 0 when they are equal but for rounding. */
static inline int mel_rank_compare(double x, double y, mel_orientation orientation)
{
    static const double rounding = 1e-12; /* relative */
    if (x == y || fabs(x - y) <= rounding * fmax(fabs(x), fabs(y)))
        return 0;
    return (x > y) != (orientation == MEL_COST) ? 1 : -1;
}
/* Whether no one of `order` (n positions, best first) is worse than one behind it. */
bool mel_rank_stands(size_t n, const double *values, mel_orientation orientation, const size_t *order);

/* MEL_EINVAL naming the first number that is not finite: "value 3 is nan". */
mel_status mel_rank_check_values(size_t n, const double *values, const char *what, mel_error *err);
/* Positions, best first, ties by position; scratch has n numbers. */
mel_status mel_rank_best_first(size_t *order, size_t n, const double *values, mel_orientation orientation,
                               double *scratch, mel_error *err);

#endif
