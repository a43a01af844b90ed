/* What the posterior's second moments look like from one middle c: a symmetric pair c +- delta reads the
 * slopes J w at c, so with C the posterior's covariance, its answer sees the variance delta' M1 delta, M1 = J
 * C J', and explains (e_j' C J' delta)^2 / delta' M1 delta of that of coefficient j. */
#ifndef MEL_ACTIVE_VIEW_H
#define MEL_ACTIVE_VIEW_H

#include "elicit/active/family.h"

typedef struct {
    const mel_basis *f;
    const double *covariance, *mean; /* D x D, D; lent */
    double *through;                 /* D x size: C J' */
    double *first;                   /* size x size: M1, after mel_view_centre its Cholesky factor */
    double *slope;                   /* size: J mean */
    double penalty;                  /* on the square of the mean's margin, once centred */
    double *column;                  /* D: work */
} mel_view;

mel_status mel_view_new(mel_view *view, const mel_basis *f, const double *covariance, const double *mean,
                        mel_error *err);
void mel_view_free(mel_view *view); /* of a zeroed view too */

void mel_view_from(mel_view *view, const double *c);
/* M1 becomes the factor of M1 + penalty slope slope': deltas that solve with it cut through the mean. */
void mel_view_centre(mel_view *view);
/* With the factor L: x = L^-1 x, and x = L'^-1 x. */
void mel_view_halfway(const mel_view *view, double *x);
void mel_view_back(const mel_view *view, double *x);

#endif
