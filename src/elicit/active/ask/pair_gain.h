/* What the posterior's second moments look like from one middle c: a symmetric pair c +- delta reads the
 * slopes J w at c, so with C the posterior's covariance, its answer sees the variance delta' M1 delta, M1 = J
 * C J', and explains (e_j' C J' delta)^2 / delta' M1 delta of that of coefficient j. */
#ifndef MEL_ACTIVE_PAIR_GAIN_H
#define MEL_ACTIVE_PAIR_GAIN_H

#include "elicit/active/family.h"

typedef struct {
    const mel_basis *f;
    const double *covariance, *mean; /* D x D, D; lent */
    double *through;                 /* D x size: C J' */
    double *first;                   /* size x size: M1, after mel_pair_gain_centre its Cholesky factor */
    double *slope;                   /* size: J mean */
    double penalty;                  /* on the square of the mean's margin, once centred */
    double *column;                  /* D: work */
} mel_pair_gain;

mel_status mel_pair_gain_new(mel_pair_gain *gain, const mel_basis *f, const double *covariance,
                             const double *mean, mel_error *err);
void mel_pair_gain_free(mel_pair_gain *gain); /* of a zeroed one too */

void mel_pair_gain_from(mel_pair_gain *gain, const double *c);
/* M1 becomes the factor of M1 + penalty slope slope': deltas that solve with it cut through the mean. */
void mel_pair_gain_centre(mel_pair_gain *gain);
/* With the factor L: x = L^-1 x, and x = L'^-1 x. */
void mel_pair_gain_halfway(const mel_pair_gain *gain, double *x);
void mel_pair_gain_back(const mel_pair_gain *gain, double *x);

#endif
