/* melicit/rank.h: ordering a pool of classifiers by a metric, how sure that order is, and how well two orders
 * agree. */
#ifndef MELICIT_RANK_H
#define MELICIT_RANK_H

#include "melicit/elicit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* order: positions 0 .. n-1, best first, ties by position. place (may be NULL): the place of every
 * position from 1 up, the same for equal values (1, 2, 2, 4). */
MEL_API mel_status mel_rank_order(size_t *order, size_t *place, size_t n, const double *values,
                                  mel_orientation orientation, mel_error *err);

/* How well the order of `values` agrees with that of `reference`, both of n classifiers. */
typedef struct {
    double tau; /* Kendall's tau-b; NaN when one of them does not tell any two apart */
    /* Exponential gain; relevance is the reference's utility, from 0 (worst) to 1 (best), which no change
     * of the metric's scale can touch; 1 when the reference tells none apart. */
    double ndcg;
    bool same_best; /* a best one by `values` is among the best by reference */
} mel_agreement;
MEL_API mel_status mel_rank_agreement(mel_agreement *out, size_t n, const double *reference,
                                      mel_orientation reference_orientation, const double *values,
                                      mel_orientation orientation, mel_error *err);

/* Values of n classifiers, rows of a pool with mel_layout_size numbers each, under n_samples metrics that are
 * equally likely: row s of values is that of the metric with row s of `coefficients` (mel_metric_coefficients
 * numbers each, file order) in place of its own. Failures name the sample and the row. */
MEL_API mel_status mel_rank_sampled_values(double *values, const mel_metric *metric, size_t n_samples,
                                           const double *coefficients, size_t n, const double *pool,
                                           mel_error *err);
/* From such an n_samples x n matrix. Ties count half, and places of equals are shared evenly.
 * beats: n x n, the probability that row i is better than column j; 1/2 on the diagonal. */
MEL_API mel_status mel_rank_beats(double *beats, size_t n_samples, size_t n, const double *values,
                                  mel_orientation orientation, mel_error *err);
/* places: n x n, the probability that position i takes place j + 1. Rows and columns sum to 1. */
MEL_API mel_status mel_rank_places(double *places, size_t n_samples, size_t n, const double *values,
                                   mel_orientation orientation, mel_error *err);
/* Share of the samples under which no one in `order` (positions, best first, possibly only the first
 * n_order of them) is better than one named before it, or than one not named when n_order < n. Of equals
 * every order is as likely: two identical classifiers are in the right one with 1/2. */
MEL_API mel_status mel_rank_order_probability(double *out, size_t n_samples, size_t n, const double *values,
                                              mel_orientation orientation, size_t n_order,
                                              const size_t *order, mel_error *err);

/* For mel_session_options.decisions: whether the order of the pool, the best threshold or the best rule can
 * still change. */
MEL_API const mel_decisions *mel_decisions_usual(void);

#ifdef __cplusplus
}
#endif
#endif
