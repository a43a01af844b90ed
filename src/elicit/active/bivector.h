/* Linear-fractional metrics in any dimension, as far as preferences tell them apart.
 *
 * In homogeneous coordinates (x, 1), phi = N/D with N = <p, x> + p0 and D = <q, x> + q0 > 0 prefers A to B
 * exactly when N(A) D(B) - N(B) D(A) > 0: the bivector of N and D, of the pair. All metrics with the same
 * level hyperplanes, those through the axis N = D = 0, share it up to a factor. At a point 0 inside, N can be
 * made to vanish (take away a multiple of D) and D to be 1; adding multiples of N to D makes their slopes
 * orthogonal: N = <s, x>, D = 1 + <t, x>, |s| = 1, <s, t> = 0; 2(n - 1) numbers, and t = 0 for linear
 * metrics. The axis is at the distance 1/|t| from 0, so some D is positive on the unit ball when |t| < 1. The
 * metric grows along g(x) = s (1 + <t, x>) - t <s, x>, and a pair is judged by the line it is on: N(A) D(B) -
 * N(B) D(A) = <g(c), A - B>, c any point of that line.
 *
 * theta: s, then t, 2n numbers; "settled" when in the form above. */
#ifndef MEL_ACTIVE_BIVECTOR_H
#define MEL_ACTIVE_BIVECTOR_H

#include "base/internal.h"
#include "melicit/elicit.h"

/* Where metrics are asked about: x = (statistics - origin)/unit is in the unit ball, or in the box [-1, 1]^n.
 */
typedef struct {
    size_t n;
    bool box;
    double *origin, *unit; /* n each; of a ball all units are its radius */
    double *room;          /* 2n: work of mel_bivector_metric, which needs no memory for that */
    signed char *sign;     /* n: of g's coordinates in all of the region; 0: unknown */
} mel_region;

/* Off a ball, or (diagonal statistics) from nothing to everything right. Signs as the options tell. */
mel_status mel_region_of_ball(mel_region *region, const mel_ball *ball, const mel_session_options *opt,
                              mel_error *err);
mel_status mel_region_of_space(mel_region *region, const mel_space *space, const mel_session_options *opt,
                               mel_error *err);
void mel_region_clear(mel_region *region); /* of a zeroed one too */
void mel_region_inside(const mel_region *region, const double *statistics, double *x);

/* Whether a settled theta has a positive denominator in the region and the signs. */
bool mel_region_allows(const mel_region *region, const double *theta);

void mel_bivector_settle(size_t n, double *theta);
/* The settled theta of a metric of the region's statistics; false when it tells no two points apart or its
 * denominator is not positive at the region's centre. */
bool mel_bivector_of(double *theta, const mel_region *region, const mel_metric *metric);
/* The cosine of the angle between the bivectors of two settled thetas. */
double mel_bivector_cosine(size_t n, const double *one, const double *other);
/* > 0: A is preferred. */
double mel_bivector_margin(size_t n, const double *theta, const double *a, const double *b);
void mel_bivector_slope(size_t n, const double *theta, const double *x, double *g);
/* How g(x) changes with theta at a settled one: n x 2n. */
void mel_bivector_jacobian(size_t n, const double *theta, const double *x, double *jacobian);

/* The metric reported for a settled theta, 2n + 2 numbers as in metric files, a0 = 0 and |a|_1 = 1. Ball: as
 * mel_fractional_ball. Box: value 0 where everything is wrong, 1 (or -1) where everything is right and, for
 * metrics that grow (or fall) in every coordinate, 1/2 halfway. MEL_ENUMERIC when there is none of that form.
 */
mel_status mel_bivector_metric(const mel_region *region, const double *theta, double *coefficient,
                               mel_error *err);
/* phi(A) - phi(B) = gain * margin of theta, phi the metric with these coefficients, A and B inside. */
double mel_bivector_gain(const mel_region *region, const double *theta, const double *coefficient,
                         const double *a, const double *b);

#endif
