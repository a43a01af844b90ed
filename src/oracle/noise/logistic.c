/* Logistic noise: right with probability 1/(1 + exp(-scale margin)), and a few answers given without looking.
 */
#include "base/wide.h"
#include "oracle/noise/noise.h"

#include <math.h>
#include <string.h>

/* Share of answers that are given without looking. */
static const double lapse = 0.01;

static bool wrong(const mel_noise *noise, double difference, double chance)
{
    return chance < 1.0 / (1.0 + exp(noise->size * difference));
}

static double probability(double scale, double margin)
{
    return (1.0 - lapse) / (1.0 + exp(-scale * margin)) + 0.5 * lapse;
}

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

/* Log of the product over n <= BLOCK choices of P(right). With e = exp(-scale * margin), P(right) =
 * (1 - lapse/2 + lapse/2 e)/(1 + e). */
MEL_WIDE static double log_block(size_t n, const double *restrict gain, const double *restrict value,
                                 const double *restrict slope, double t, double scale)
{
    double above[LANES], below[LANES], sum = 0.0;
    for (size_t j = 0; j < LANES; j++)
        above[j] = below[j] = 1.0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double e = fast_exp(-scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
            above[j] *= 1.0 - 0.5 * lapse + 0.5 * lapse * e;
            below[j] *= 1.0 + e;
        }
    for (size_t j = 0; i + j < n; j++) {
        const double e = fast_exp(-scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
        above[j] *= 1.0 - 0.5 * lapse + 0.5 * lapse * e;
        below[j] *= 1.0 + e;
    }
    for (size_t j = 0; j < LANES; j++)
        sum += log(above[j] / below[j]);
    return sum;
}

static double log_choices(size_t n, const double *gain, const double *value, const double *slope, double t,
                          double shrink, double scale)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i += BLOCK)
        sum += log_block(n - i < BLOCK ? n - i : BLOCK, gain + i, value + i, slope + i, t, scale * shrink);
    return sum;
}

#define MEDIAN 30.0
#define SPREAD 1.5

/* Learned: scales in steps of the prior's spread. */
static size_t ways(mel_noise_way *out, double size)
{
    enum { SCALES = 11 };
    const size_t n = size > 0.0 ? 1 : SCALES;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double z = size > 0.0 ? 0.0 : -2.5 + 5.0 * (double)i / (SCALES - 1);
        const double scale = size > 0.0 ? size : MEDIAN * exp(SPREAD * z);
        out[i] = (mel_noise_way){
            .absolute = 1.0 / scale, .tie = 1.0, .lapse = lapse, .weight = exp(-0.5 * z * z)
        };
        sum += out[i].weight;
    }
    for (size_t i = 0; i < n; i++)
        out[i].weight /= sum;
    return n;
}

/* The prior of the scale is between 1.6 and 570 in 95 of 100 cases: from hardly telling apart anything to
 * telling 0.01 apart. */
const mel_noise_ops mel_noise_logistic = {
    .name = "logistic",
    .forms = "logistic:SCALE",
    .bad_size = "not a finite number from 0 up",
    .errs = MEL_ERRS_BY_MARGIN,
    .most = INFINITY,
    .say_nothing = INFINITY,
    .learns = true,
    .outside = 1.0,
    .usual_errors = 0.15,
    .scale_median = MEDIAN,
    .scale_spread = SPREAD,
    .wrong = wrong,
    .probability = probability,
    .log_choices = log_choices,
    .ways = ways,
};
