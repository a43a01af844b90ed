/* A toy noise model: right with probability 1/2 + atan(margin/size)/pi, the size given or learned. */
#include "oracle/noise/noise.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double probability(double scale, double margin)
{
    return 0.5 + atan(margin / scale) / pi;
}

static bool wrong(const mel_noise *noise, double difference, double chance)
{
    return chance < 1.0 - probability(noise->size, difference);
}

const mel_noise_ops mel_noise_cauchy = {
    .name = "cauchy",
    .forms = "cauchy:SIZE",
    .bad_size = "not a finite number from 0 up",
    .errs = MEL_ERRS_BY_MARGIN,
    .most = INFINITY,
    .say_nothing = INFINITY,
    .learns = true,
    .outside = 1.0,
    .usual_errors = 0.1,
    .scale_median = 0.02,
    .scale_spread = 1.0,
    .wrong = wrong,
    .probability = probability,
};
