/* Logistic noise: right with probability 1/(1 + exp(-scale margin)), and a few answers given without looking.
 */
#include "oracle/noise/noise.h"
#include "oracle/noise/way.h"

#include <math.h>

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

static double log_choices(size_t n, const double *gain, const double *value, const double *slope, double t,
                          double shrink, double scale)
{
    const mel_leaning leaning = { .scale = scale * shrink, .most = 1.0 - 0.5 * lapse, .least = 0.5 * lapse };
    return mel_log_choices(n, gain, value, slope, t, &leaning);
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
        out[i] = (mel_noise_way){ .absolute = 1.0 / scale, .lapse = lapse, .weight = exp(-0.5 * z * z) };
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
    .assumed = "logistic (scale learned), logistic:50",
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
