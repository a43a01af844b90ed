/* Middles of good questions by climbing, for families whose slopes are affine in the middle (`climbs`).
 *
 * From a middle, the delta that takes away most of the weighted sum of the coefficients' variances is the
 * leading eigenvector of a small matrix; with that delta the gradient of what it takes away, in the middle,
 * is known, too. A few steps along it do what a thousand random middles do not in many dimensions. */
#ifndef MEL_ACTIVE_CLIMB_H
#define MEL_ACTIVE_CLIMB_H

#include "elicit/active/ask/pair_gain.h"

typedef struct {
    mel_pair_gain *pairs;
    const double *weight; /* D: of the coefficients' variances; lent */
    double *delta;        /* size: the best at the middle looked at last */
    double *share;        /* D x size: what each coefficient gives, in the coordinates of the factor */
    double *matrix;       /* size x size */
    double *power, *next; /* size */
    double *a, *b;        /* size */
    double *row, *seen, *weighted, *gradient; /* D */
    double *uphill;                           /* size */
} mel_climb;

/* pairs and weight are borrowed. */
mel_status mel_climb_new(mel_climb *climb, mel_pair_gain *pairs, const double *weight, mel_error *err);
void mel_climb_free(mel_climb *climb); /* of a zeroed climb too */

/* Looks from c and finds the best delta there; what it takes away. The pairs is centred afterwards. */
double mel_climb_look(mel_climb *climb, const double *c);
/* Improves c, of this score, by at most so many steps; the score then. trial: room for a middle. */
double mel_climb_improve(mel_climb *climb, double *c, double score, double *trial, int steps);

#endif
