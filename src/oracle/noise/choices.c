/* How likely choices are whose errors depend on the margin: the loop that samplers spend most of their time
 * in.
 */
#include "oracle/noise/choices.h"

#include "base/wide.h"

#include <math.h>
#include <string.h>

/* exp(x), |x| cut at 40, to a relative error of 3e-10: 2^k times the Taylor series on |r| <= ln(2)/2. Inlined
 * into the loop that most of the time goes into, and the same on every machine. */
static inline double fast_exp(double x)
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

/* Partial products: enough to fill the vector units, the same on every machine. Each takes so many factors,
 * of 1e-12 or more and of 1 + e^40, before its logarithm must be taken. */
enum { LANES = 8, PRODUCT = 16, BLOCK = LANES * PRODUCT };

/* Log of the product over n <= BLOCK choices of P(right). */
MEL_WIDE static double log_block(size_t n, const double *restrict gain, const double *restrict value,
                                 const double *restrict slope, double t, const mel_leaning *l)
{
    const double scale = l->scale, shift = l->shift, most = l->most, least = l->least;
    double above[LANES], below[LANES], sum = 0.0;
    for (size_t j = 0; j < LANES; j++)
        above[j] = below[j] = 1.0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double e = fast_exp(shift - scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
            above[j] *= most + least * e;
            below[j] *= 1.0 + e;
        }
    for (size_t j = 0; i + j < n; j++) {
        const double e = fast_exp(shift - scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
        above[j] *= most + least * e;
        below[j] *= 1.0 + e;
    }
    for (size_t j = 0; j < LANES; j++)
        sum += log(above[j] / below[j]);
    return sum;
}

double mel_log_choices(size_t n, const double *gain, const double *value, const double *slope, double t,
                       const mel_leaning *leaning)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i += BLOCK)
        sum += log_block(n - i < BLOCK ? n - i : BLOCK, gain + i, value + i, slope + i, t, leaning);
    return sum;
}
