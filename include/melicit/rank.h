/* melicit/rank.h: ordering a pool of classifiers by a metric, how sure that order is, and how well two orders
 * agree. */
#ifndef MELICIT_RANK_H
#define MELICIT_RANK_H

#include "melicit/certainty.h"
#include "melicit/elicit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Orders values. order: positions 0 .. n-1, best first, ties by position. place (may be NULL): the place of
 * every position from 1 up, the same for equal values (1, 2, 2, 4). */
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
/* Kendall's tau and more. */
MEL_API mel_status mel_rank_agreement(mel_agreement *out, size_t n, const double *reference,
                                      mel_orientation reference_orientation, const double *values,
                                      mel_orientation orientation, mel_error *err);

/* --- an order, and how sure it is --- */
typedef struct {
    size_t struct_size;
    size_t n;                /* classifiers */
    const char *const *name; /* in messages; NULL: "classifier 2" */
    mel_measure *measure;    /* by what they are ordered; as before afterwards */
    /* What is known of them, one of three. Decisions about the same n_rows rows: for each classifier the
     * codes of the predicted classes; `truth` has those of the true ones, `group` (NULL: one group) the
     * groups. */
    size_t n_rows;
    const uint32_t *truth, *group, *const *decided;
    /* Confusion matrices as the measure looks at them, one after the other: numbers of rows; or `shares`,
     * where nobody knows of how many. */
    const double *counts;
    bool shares;
    /* Statistics, n x mel_layout_size, where the measure is a metric: of nobody knows how many rows. */
    const double *statistics;
    /* Equally likely coefficients of the metric, in file order; none: drawn within the metric's intervals. */
    size_t n_metrics;
    const double *metrics;
    bool known;    /* the metric is taken as it is, whatever its intervals */
    size_t draws;  /* of rows and metrics within intervals: 1,000 */
    uint64_t seed; /* 1 */
} mel_ranking_options;
MEL_API void mel_ranking_options_init(mel_ranking_options *opt);

typedef struct mel_ranking mel_ranking;
/* Orders classifiers, and finds how sure the order is. MEL_EDATA, MEL_ENUMERIC where a value is not defined.
 */
MEL_API mel_status mel_ranking_make(mel_ranking **out, const mel_ranking_options *opt, mel_error *err);
MEL_API void mel_ranking_free(mel_ranking *ranking);

/* All by the position of a classifier, but beats_next. Borrowed from the ranking. */
typedef struct {
    size_t n;
    const size_t *order, *place; /* as mel_rank_order has them */
    const double *value;
    const mel_certainty *certainty; /* of each value; NULL: of how many rows it is nobody knows */
    bool metric_varies;             /* the metric is known within intervals only */
    /* By rows and metric together; without `certainty` by the metric alone. NULL: not known. Of predictions
     * for the same rows each row counts, of matrices as if other rows were behind each. */
    const double *best; /* the probability of being the best one */
    const double
        *beats_next; /* in the order: of being better than the next, ties half (mel_can_tell); n - 1 */
    double order_probability; /* that the order is right from top to bottom */
    const char *unsure;       /* why certainty or probabilities are NULL; NULL: nothing went wrong */
} mel_ranking_info;
/* The order, the values, and how sure they are. */
MEL_API mel_ranking_info mel_ranking_about(const mel_ranking *ranking);
/* The probabilities of each pair and of each place. n x n: that row i is better than column j; 1/2 on the
 * diagonal. And that position i takes place j + 1, which equals share: rows and columns add up to 1.
 * MEL_ESTATE where they are not known. */
MEL_API mel_status mel_ranking_beats(double *beats, const mel_ranking *ranking, mel_error *err);
MEL_API mel_status mel_ranking_places(double *places, const mel_ranking *ranking, mel_error *err);

/* For mel_session_options.decisions: whether the order of the pool, the best threshold or the best rule can
 * still change. */
MEL_API const mel_decisions *mel_decisions_usual(void);

#ifdef __cplusplus
}
#endif
#endif
