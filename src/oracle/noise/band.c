/* A band: answers about differences below its size are coin tosses (or, of an adversary, all wrong), others
 * are right. */
#include "base/vector.h"
#include "oracle/noise/noise.h"

#include <math.h>

static const double log_half = -0.69314718055994531;

static bool wrong(const mel_noise *noise, double difference, double chance)
{
    return difference < noise->size && (noise->adversarial || chance < 0.5);
}

static double probability(double scale, double margin)
{
    return fabs(margin) <= scale ? 0.5 : margin > 0.0 ? 1.0 : 0.0;
}

/* One half inside of the band. Beyond it a slope leads back. */
MEL_WIDE static double log_choices(size_t n, const double *restrict gain, const double *restrict value,
                                   const double *restrict slope, double t, double shrink, double scale)
{
    double inside = 0.0, beyond = 0.0, farthest = 0.0;
#pragma omp simd reduction(+ : inside, beyond) reduction(max : farthest)
    for (size_t i = 0; i < n; i++) {
        const double margin = shrink * gain[i] * (value[i] + t * slope[i]);
        const double past = -margin - scale;
        inside += margin <= scale ? 1.0 : 0.0;
        beyond += past > 0.0 ? 1.0 : 0.0;
        farthest = past > farthest ? past : farthest;
    }
    return inside * log_half + beyond * mel_log_impossible - farthest / scale;
}

/* Answers outside of the band are right, but for a few: a band is hardly ever stated exactly. */
static size_t ways(mel_noise_way *out, double size)
{
    out[0] = (mel_noise_way){ .absolute = MEL_SHARP, .band = size, .weight = 1.0 };
    return 1;
}

const mel_noise_ops mel_noise_band = {
    .name = "band",
    .forms = "band:EPS, band:EPS,adversarial",
    .assumed = "band:0.001",
    .bad_size = "not a finite number from 0 up",
    .errs = MEL_ERRS_BY_MARGIN,
    .most = INFINITY,
    .say_nothing = INFINITY,
    .band = true,
    .outside = 0.75,
    .wrong = wrong,
    .probability = probability,
    .log_choices = log_choices,
    .ways = ways,
};
