/* A band: answers about differences below its size are coin tosses (or, of an adversary, all wrong), others
 * are right. */
#include "oracle/noise/noise.h"

#include <math.h>

static mel_component given(double size)
{
    return (mel_component){ .absolute = MEL_SHARP, .band = size, .weight = 1.0 };
}

const mel_noise_ops mel_noise_band = {
    .name = "band",
    .forms = "band:EPS, band:EPS,adversarial",
    .assumed = "band:0.001",
    .bad_size = "not a finite number from 0 up",
    .errs = MEL_ERRS_BY_MARGIN,
    .band = true,
    .most = INFINITY,
    .say_nothing = INFINITY,
    .outside = 0.75,
    .given = given,
};
