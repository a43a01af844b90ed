/* A diagonal linear-fractional metric of k classes from the level lines of its two-class faces. */
#ifndef MEL_ELICIT_SEARCH_PENCIL_H
#define MEL_ELICIT_SEARCH_PENCIL_H

#include "base/internal.h"
#include "elicit/shared.h"

/* upper[i] and lower[i], i != reference: two different level lines <(m11, m00), (d_reference, d_i)> = c of
 * the metric on the face of the classes reference and i, such as the supporting lines at its best and worst
 * point; m11, m00 >= 0 in upper, <= 0 in lower. corner: the perfect classifier's statistics. Gives psi(d) =
 * <a, d> /
 * (<b, d> + b0) with a >= 0, |a|_1 = 1, psi(corner) = 1 and a positive denominator between 0 and the corner;
 * it orders all points as the metric does, exactly when the lines are exact. MEL_ENUMERIC for lines that do
 * not fix a metric that rewards the reference class. */
mel_status mel_fractional_faces(size_t n, double *a, double *b, double *b0, size_t reference,
                                const mel_line *upper, const mel_line *lower, const double *corner,
                                mel_error *err);

#endif
