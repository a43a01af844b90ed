/* Coordinates in which a cloud of unit vectors is round: y = centre + sum_j z_j axis_j.
 *
 * A narrow cloud is seen in the gnomonic chart of its mean mu: y = mu + (something orthogonal to mu), w =
 * y/|y|, D - 1 axes from the Cholesky factor of the covariance of w/<w, mu>. A uniform w has the density (1 +
 * |y - mu|^2)^(-D/2) there. A wide cloud is seen in the unit ball: y = r w with r^D uniform, so that y is
 * uniform in the ball where w is uniform on the sphere; D axes from the covariance of y.
 *
 * All sums have a fixed order and none is left to BLAS or LAPACK, whose kernels round differently on
 * different processors: the next question must not depend on the machine. */
#ifndef MEL_ACTIVE_FRAME_H
#define MEL_ACTIVE_FRAME_H

#include "base/internal.h"

typedef struct {
    size_t dimension; /* D */
    size_t axes;      /* D - 1 in the chart, D in the ball */
    bool chart;
    double *centre; /* D: mu in the chart, mean of y in the ball */
    double *axis;   /* axes x D */
    double *factor; /* axes x axes, lower triangular: z of a point by forward substitution */
    /* What earlier clouds teach about the covariance of this one: a single cloud of correlated points says
     * too little in many dimensions, and badly rounded coordinates mix badly. */
    bool shaped;
    double *shape;                            /* D x D: covariance of unit vectors */
    double *reflector, *point, *mean, *along; /* D each: work */
    double *block;                            /* a few x D: work */
} mel_frame;

mel_status mel_frame_new(mel_frame *frame, size_t dimension, mel_error *err);
void mel_frame_free(mel_frame *frame); /* of a zeroed frame too */

/* The ball with the unit axes, for a start from nothing. */
void mel_frame_reset(mel_frame *frame);
/* Mean (D) and covariance (D x D) of n unit vectors. */
void mel_frame_moments(mel_frame *frame, size_t n, const double *w, double *mean, double *covariance);
/* Fits the cloud of n unit vectors with weights >= 0 (NULL: equal), worth efficiency * n independent ones
 * before the weights. The shape known from earlier helps out when few carry weight; it is changed along
 * `row` (NULL: none) as the weights change the cloud there. */
void mel_frame_fit(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row,
                   double efficiency);
/* Adds the covariance (D x D) of a cloud worth so many independent unit vectors to what is known. */
void mel_frame_learn(mel_frame *frame, const double *covariance, double effective);
/* The half-space <row, y> > 0 in coordinates in which the cloud is round: <out, v> > 0, out and v of length
 * D, out of unit length. row and out may be the same. mel_frame_back takes such a v to a unit vector of R^D.
 */
void mel_frame_turn(const mel_frame *frame, const double *row, double *out);
void mel_frame_back(const mel_frame *frame, const double *v, double *w);
/* z of the point y. */
void mel_frame_coordinates(const mel_frame *frame, const double *y, double *z);

#endif
