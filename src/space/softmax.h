/* The population softmax:p1,..,pk: X uniform on [-1, 1], P(Y=i|x) proportional to exp(-p_i x). */
#ifndef MEL_SPACE_SOFTMAX_H
#define MEL_SPACE_SOFTMAX_H

#include "space/space.h"

/* Integrals of the class probabilities over a grid of panels that are short enough for Gauss-Legendre
 * quadrature to be exact to rounding. */
typedef struct mel_softmax mel_softmax;

mel_status mel_softmax_new(mel_softmax **out, size_t n_classes, const double *slope, mel_error *err);
/* A copy; turned: of the population with x turned round, which has the same statistics. */
mel_status mel_softmax_copy(mel_softmax **out, const mel_softmax *p, bool turned, mel_error *err);
void mel_softmax_free(mel_softmax *p);
double mel_softmax_slope(const mel_softmax *p, size_t class);
/* Integrals of P(Y=i|x)/2 over [-1, x] and over [x, 1], each to a few rounding errors of itself. */
double mel_softmax_below(const mel_softmax *p, size_t class, double x);
double mel_softmax_above(const mel_softmax *p, size_t class, double x);

#endif
