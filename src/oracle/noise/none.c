/* No noise: every answer is right. */
#include "oracle/noise/noise.h"

#include <math.h>

static mel_component given(double size)
{
    (void)size;
    return (mel_component){ .absolute = MEL_SHARP, .weight = 1.0 };
}

const mel_noise_ops mel_noise_none = {
    .name = "none",
    .forms = "none",
    .errs = MEL_ERRS_NEVER,
    .say_nothing = INFINITY,
    .outside = 1.0,
    .given = given,
};
