/* Flips: every answer is wrong with the same probability, given or learned. */
#include "oracle/noise/noise.h"

#include <math.h>

static mel_component given(double size)
{
    return (mel_component){ .absolute = MEL_SHARP, .lapse = 2.0 * size, .weight = 1.0 };
}

/* The prior of a learned rate p has the density 9 (1 - p)^8, with mean 0.1: steps of its root, up to a half.
 */
static size_t learned(mel_component *out)
{
    enum { RATES = 16 };
    double sum = 0.0, mean = 0.0;
    for (size_t i = 0; i < RATES; i++) {
        const double root = ((double)i + 0.5) / RATES, rate = 0.5 * root * root;
        out[i] = given(rate);
        out[i].weight = root * pow(1.0 - rate, 8.0);
        sum += out[i].weight;
        mean += out[i].weight * rate;
    }
    for (size_t i = 0; i < RATES; i++) {
        out[i].weight /= sum;
        out[i].lapse *= 0.1 * sum / mean;
    }
    return RATES;
}

const mel_noise_ops mel_noise_flip = {
    .name = "flip",
    .forms = "flip:P",
    .assumed = "flip (rate learned), flip:0.1",
    .bad_size = "not a probability",
    .errs = MEL_ERRS_ALIKE,
    .slips = true,
    .most = 1.0,
    .say_nothing = 0.5,
    .outside = 1.0,
    .given = given,
    .learned = learned,
};
