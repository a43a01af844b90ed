/* Logistic noise: right with probability 1/(1 + exp(-scale margin)). */
#include "oracle/noise/noise.h"

#include <math.h>

#define MEDIAN 30.0

static mel_component given(double size)
{
    return (mel_component){ .absolute = 1.0 / size, .weight = 1.0 };
}

/* The prior of the scale is between 1.6 and 570 in 95 of 100 cases: from hardly telling apart anything to
 * telling 0.01 apart. */
static size_t learned(mel_component *out)
{
    enum { SCALES = 11 };
    const double spread = 1.5;
    double sum = 0.0;
    for (size_t i = 0; i < SCALES; i++) {
        const double z = -2.5 + 5.0 * (double)i / (SCALES - 1);
        out[i] = given(MEDIAN * exp(spread * z));
        sum += out[i].weight = exp(-0.5 * z * z);
    }
    for (size_t i = 0; i < SCALES; i++)
        out[i].weight /= sum;
    return SCALES;
}

const mel_noise_ops mel_noise_logistic = {
    .name = "logistic",
    .forms = "logistic:SCALE",
    .assumed = "logistic (scale learned), logistic:50",
    .bad_size = "not a finite number from 0 up",
    .errs = MEL_ERRS_BY_MARGIN,
    .most = INFINITY,
    .say_nothing = INFINITY,
    .usual_size = MEDIAN,
    .allowance = 0.01,
    .outside = 1.0,
    .usual_errors = 0.15,
    .given = given,
    .learned = learned,
};
