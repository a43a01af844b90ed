/* No noise: every answer is right. */
#include "oracle/noise/noise.h"

#include <math.h>

static bool wrong(const mel_noise *noise, double difference, double chance)
{
    (void)noise;
    (void)difference;
    (void)chance;
    return false;
}

static double probability(double scale, double margin)
{
    (void)scale;
    return margin > 0.0 ? 1.0 : 0.0;
}

static size_t ways(mel_noise_way *out, double size)
{
    (void)size;
    out[0] = (mel_noise_way){ .absolute = MEL_SHARP, .weight = 1.0 };
    return 1;
}

const mel_noise_ops mel_noise_none = {
    .name = "none",
    .forms = "none",
    .errs = MEL_ERRS_NEVER,
    .say_nothing = INFINITY,
    .outside = 1.0,
    .wrong = wrong,
    .probability = probability,
    .ways = ways,
};
