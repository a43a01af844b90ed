/* What other rooms and the program use of this room beyond melicit/rank.h; not exported. */
#ifndef MEL_RANK_SHARED_H
#define MEL_RANK_SHARED_H

#include "melicit/rank.h"

/* Values of the metric at the rows of a pool, n x mel_layout_size numbers. Failures name the row. */
mel_status mel_rank_values(double *values, const mel_metric *metric, size_t n, const double *pool,
                           mel_error *err);

/* Values of n classifiers, rows of a pool, under n_samples metrics that are equally likely: row s of values
 * is that of the metric with row s of `coefficients` (mel_metric_coefficients numbers each, file order) in
 * place of its own. Failures name the sample and the row. */
mel_status mel_rank_sampled_values(double *values, const mel_metric *metric, size_t n_samples,
                                   const double *coefficients, size_t n, const double *pool, mel_error *err);

/* Values of n classifiers that are possible: n_samples x n, and how likely each row is (not necessarily
 * adding up to 1; NULL: all alike). */
typedef struct {
    size_t n_samples, n;
    const double *values, *weight;
    mel_orientation orientation;
} mel_rank_samples;

/* How sure a place in an order is. */
typedef struct {
    double first;       /* probability of being the best; equals share it */
    double beats_next;  /* of being better than the next in the order; ties count half. NaN: the last */
    double stands_next; /* of the next one not being better; NaN: the last */
} mel_placed_surely;
/* out: n, as `order` has them (all n positions, best first). *whole: how probable the order is; of equals
 * every order is as likely. */
mel_status mel_rank_weigh(mel_placed_surely *out, double *whole, const mel_rank_samples *of,
                          const size_t *order, mel_error *err);
/* n x n: the probability that row i is better than column j, ties half; 1/2 on the diagonal. */
mel_status mel_rank_beats(double *beats, const mel_rank_samples *of, mel_error *err);
/* n x n: the probability that position i takes place j + 1, which equals share. Rows and columns add up to 1.
 */
mel_status mel_rank_places(double *places, const mel_rank_samples *of, mel_error *err);
/* Weights (n_samples, adding up to 1) under which each of `order` beats the next as often as comparisons say
 * (beats, n - 1), as far as samples are there that say one and the other; as near as possible to those of the
 * samples. */
mel_status mel_rank_reconcile(double *weight, const mel_rank_samples *of, const size_t *order,
                              const double *beats, mel_error *err);

#endif
