/* Zeros of exponential sums f(x) = sum_i c_i exp(e_i x), all of them, on an interval. */
#ifndef MEL_SPACE_EXPSUM_H
#define MEL_SPACE_EXPSUM_H

#include "base/internal.h"

/* Doubles that mel_expsum_zeros borrows for n terms. */
size_t mel_expsum_scratch(size_t n);
/* The sign changes of f on (low, high) in ascending order into zero (room for n - 1); how many. exponent is
 * strictly ascending; coefficients may be zero. By Laguerre's version of Descartes' rule f has at most as
 * many zeros as its coefficients have sign changes. Zeros without a sign change are left out. */
size_t mel_expsum_zeros(double *zero, size_t n, const double *exponent, const double *coefficient, double low,
                        double high, double *scratch);

#endif
