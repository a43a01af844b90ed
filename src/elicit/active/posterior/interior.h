/* A vector strictly inside all of a set of half-spaces through the origin, if there is one: the widest, whose
 * smallest product with the rows, at unit length, is largest. It is the point of the rows' convex hull
 * nearest to the origin, found by P. Wolfe's algorithm (1976) in finitely many steps. */
#ifndef MEL_ACTIVE_INTERIOR_H
#define MEL_ACTIVE_INTERIOR_H

#include "base/internal.h"

typedef struct {
    size_t dimension, count;
    size_t *member;         /* D + 1: rows whose combination the point is */
    double *share, *target; /* D + 1 */
    double *system;         /* (D + 1) x (D + 1) */
} mel_interior;

mel_status mel_interior_new(mel_interior *interior, size_t dimension, mel_error *err);
void mel_interior_free(mel_interior *interior); /* of a zeroed one too */

/* True: <row_i, w> > 0 for all n >= 1 rows of unit length. False: there is no such w, or one that barely
 * differs from a contradiction (margins around 1e-7 and below). */
bool mel_interior_find(mel_interior *interior, size_t n, const double *row, double *w);

#endif
