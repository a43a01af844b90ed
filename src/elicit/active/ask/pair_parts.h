/* The inside of a chooser of pairs, for pair.c (the posterior, judging) and pair_candidates.c (what to
 * judge). */
#ifndef MEL_ACTIVE_PAIR_PARTS_H
#define MEL_ACTIVE_PAIR_PARTS_H

#include "elicit/active/ask/climb.h"
#include "elicit/active/ask/cut_plan.h"
#include "elicit/active/ask/pair.h"

/* Middles that climb, in families where they can; 8 of 20 steps do no better. */
enum { MEL_CLIMBERS = 4 };

struct mel_chooser {
    mel_basis *f;
    size_t count, dimension, size;
    double *kept; /* what candidates and climbers point to */
    mel_shortlist climbers;
    /* The posterior, at the norm at which coefficients are judged. */
    double *sample;     /* count x D */
    double *bounded;    /* count x D: see bound_samples */
    const double *seen; /* count x D: the one of these on which spread is measured */
    double *length;     /* count: l2 norms */
    double *mean;       /* D */
    double *average;    /* D: before it is brought to the norm */
    double *covariance; /* D x D */
    double *weight;     /* D: how much the coefficients' variances count */
    double variance;    /* their weighted sum */
    double level;       /* sample quantile of the radius */
    double side_level;  /* of the ends of 95% intervals */
    double gain;
    bool long_cuts;      /* answers may be wrong at any margin */
    bool widest_first;   /* see weight_of */
    const double *stake; /* count: mel_samples'; NULL: all alike; lent until the next look */
    mel_cut_plan *plan;  /* NULL: the family plans none */
    bool planned;        /* they are worth following */
    /* Seen from one middle */
    mel_pair_gain pairs;
    mel_climb climb;
    double *second; /* size x size: M2 = J C C J' */
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
