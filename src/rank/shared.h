/* What other rooms and the program use of this room beyond melicit/rank.h; not exported. */
#ifndef MEL_RANK_SHARED_H
#define MEL_RANK_SHARED_H

#include "melicit/rank.h"

/* Values of the metric at the rows of a pool, n x mel_layout_size numbers. Failures name the row. */
mel_status mel_rank_values(double *values, const mel_metric *metric, size_t n, const double *pool,
                           mel_error *err);

/* How sure a place in an order is, by values under equally likely metrics. */
typedef struct {
    double first;       /* probability of being the best; equals share it */
    double beats_next;  /* of being better than the next in the order; ties count half. NaN: the last */
    double stands_next; /* of the next one not being better; NaN: the last */
} mel_placed_surely;

/* out: n, as `order` has them (all n positions, best first). *whole: mel_rank_order_probability of it. */
mel_status mel_rank_weigh(mel_placed_surely *out, double *whole, size_t n_samples, size_t n,
                          const double *values, mel_orientation orientation, const size_t *order,
                          mel_error *err);
/* The same where comparisons say how likely each is to beat the next in the order (beats, n - 1): samples are
 * weighed until they agree. first: by position, the probability of being the best. */
mel_status mel_rank_reconcile(double *first, double *whole, size_t n_samples, size_t n, const double *values,
                              mel_orientation orientation, const size_t *order, const double *beats,
                              mel_error *err);

#endif
