/* How likely choices are whose errors depend on the margin: the loop that samplers spend most of their time
 * in.
 */
#include "oracle/noise/choices.h"

#include "base/fast_exp.h"
#include "base/wide.h"

#include <math.h>
#include <string.h>

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
            const double e = mel_fast_exp(shift - scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
            above[j] *= most + least * e;
            below[j] *= 1.0 + e;
        }
    for (size_t j = 0; i + j < n; j++) {
        const double e = mel_fast_exp(shift - scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
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
