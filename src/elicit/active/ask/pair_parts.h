/* The inside of a chooser of pairs, for pair.c (the posterior, judging) and pair_candidates.c (what to
 * judge). */
#ifndef MEL_ACTIVE_PAIR_PARTS_H
#define MEL_ACTIVE_PAIR_PARTS_H

#include "elicit/active/ask/pair.h"

struct mel_chooser {
    mel_basis *f;
    size_t count, dimension, size;
    double *kept; /* what candidates point to */
    /* The posterior, at the norm at which coefficients are judged. */
    double *sample;     /* count x D */
    double *bounded;    /* count x D: see bound_samples */
    const double *seen; /* count x D: the one of these on which spread is measured */
    double *view;       /* count x n_judged: seen as the numbers that are judged; NULL: as they are */
    double *length;     /* count: l2 norms */
    double *mean;       /* D */
    double *average;    /* D: before it is brought to the norm */
    double *covariance; /* D x D */
    double *weight;     /* n_judged: how much their variances count */
    double variance;    /* their weighted sum */
    double radius;
    double gain;         /* of the pair judged last */
    bool long_cuts;      /* answers may be wrong at any margin */
    bool widest_first;   /* see weight_of */
    const double *stake; /* count: mel_samples'; NULL: all alike; lent until the next look */
    /* The second moments seen from one middle c: a symmetric pair c +- delta reads the slopes J w at c, so
     * with C the covariance its answer sees the variance delta' M1 delta, M1 = J C J', and explains
     * (e_j' C J' delta)^2 / delta' M1 delta of that of coefficient j. */
    double *through; /* D x size: C J' */
    double *first;   /* size x size: M1, then the Cholesky factor that keeps cuts through the mean */
    double *second;  /* size x size: M2 = J C C J' */
    double *slope;   /* size: J mean */
    mel_shortlist list;
    /* Work */
    double *value, *lever, *work;     /* count */
    double *vector;                   /* size or D, the larger */
    double *c, *best, *delta, *a, *b; /* size */
    double *row;                      /* D */
};

/* Fills the list with the candidates that promise most if the posterior were normal. few: from few middles,
 * so that the list is not full of much the same candidates. */
void mel_chooser_collect(mel_chooser *chooser, bool simple, bool few, mel_rng *rng);

#endif
