/* What the files of the rank room share. */
#ifndef MEL_RANK_RANK_H
#define MEL_RANK_RANK_H

#include "base/internal.h"
#include "melicit/face.h"
#include "melicit/rank.h"
#include "metric/shared.h"

/* The well-known metrics that order what is achievable on a face most alike (mel_metric_neighbours), by
 * MEL_CLOSEST_PAIRS random pairs of its points: always the same pairs, so that everybody is told the same.
 */
enum { MEL_CLOSEST_PAIRS = 2000 };
mel_status mel_closest_metrics(mel_neighbour *out, size_t n_out, size_t *n_found, const mel_metric *metric,
                               const mel_face *face, mel_error *err);
/* The pairs of mel_closest_metrics: MEL_CLOSEST_PAIRS first points (TP, TN), then as many second ones. For
 * the caller to free(); NULL without memory. */
double *mel_closest_pairs(const mel_face *face);
/* MEL_EINVAL naming the first number that is not finite: "value 3 is nan". */
mel_status mel_rank_check_values(size_t n, const double *values, const char *what, mel_error *err);
/* Positions, best first, ties by position; scratch has n numbers. */
mel_status mel_rank_best_first(size_t *order, size_t n, const double *values, mel_orientation orientation,
                               double *scratch, mel_error *err);

#endif
