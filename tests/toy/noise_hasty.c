/* A toy noise model: a share P of answers is given without looking, given or learned, and of the others those
 * about differences of 0.01 are wrong one time in four. */
#include "oracle/noise/noise.h"

#include <math.h>

static mel_component given(double size)
{
    return (mel_component){ .absolute = 0.01 / 1.0986122886681098, .lapse = size, .weight = 1.0 };
}

static size_t learned(mel_component *out)
{
    enum { SHARES = 4 };
    for (size_t i = 0; i < SHARES; i++) {
        out[i] = given(0.1 * (double)i + 0.05);
        out[i].weight = 1.0 / SHARES;
    }
    return SHARES;
}

const mel_noise_ops mel_noise_hasty = {
    .name = "hasty",
    .forms = "hasty:P",
    .bad_size = "not a probability",
    .errs = MEL_ERRS_BY_MARGIN,
    .slips = true,
    .most = 1.0,
    .say_nothing = 1.0,
    .outside = 1.0,
    .usual_errors = 0.1,
    .given = given,
    .learned = learned,
};
