/* An exponential that vectorises. */
#ifndef MEL_BASE_FAST_EXP_H
#define MEL_BASE_FAST_EXP_H

#include <stdint.h>
#include <string.h>

/* exp(x), |x| cut at 40, to a relative error of 3e-10: 2^k times the Taylor series on |r| <= ln(2)/2. Inlined
 * into the loops that most of the time goes into, and the same on every machine. */
static inline double mel_fast_exp(double x)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: the integer part moves to the low bits */
    x = x < -40.0 ? -40.0 : x > 40.0 ? 40.0 : x;
    const double shifted = x * 1.4426950408889634 + magic;
    const double k = shifted - magic;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double y = 1.0 / 40320.0;
    y = 1.0 / 5040.0 + r * y;
    y = 1.0 / 720.0 + r * y;
    y = 1.0 / 120.0 + r * y;
    y = 1.0 / 24.0 + r * y;
    y = 1.0 / 6.0 + r * y;
    y = 1.0 + r * (1.0 + r * (0.5 + r * y));
    uint64_t bits, exponent;
    memcpy(&bits, &y, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 52;
    memcpy(&y, &bits, sizeof bits);
    return y;
}

#endif
