/* A person: some answers are given without looking, the others err where two options are nearly as good, by
 * a share of the exchange rate that is at stake (relative noise) or by a difference that is hardly seen
 * (absolute noise). How much of each is learned from the answers. */
#include "oracle/noise/noise.h"

#include <math.h>

/* A person about whom nothing is known: 3 of 100 answers are given without looking, and 73 of 100 others are
 * right at a difference of 0.02. */
static mel_component given(double size)
{
    (void)size;
    return (mel_component){ .absolute = 0.02, .lapse = 0.03, .weight = 1.0 };
}

/* Log-normal weights of n steps, equal on the log scale, from low to high. */
static void steps(size_t n, double low, double high, double median, double spread, double *value,
                  double *weight)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        value[i] = low * exp(log(high / low) * (double)i / (double)(n - 1));
        const double z = log(value[i] / median) / spread;
        weight[i] = exp(-0.5 * z * z);
        sum += weight[i];
    }
    for (size_t i = 0; i < n; i++)
        weight[i] /= sum;
}

/* Half the weight is on relative noise, half on absolute: allowing any mixture of both makes intervals of
 * careful people needlessly wide. */
static size_t learned(mel_component *out)
{
    enum { STEPS = 7, LAPSES = 3 };
    static const double lapse[LAPSES] = { 0.01, 0.06, 0.2 }, lapse_weight[LAPSES] = { 0.5, 0.3, 0.2 };
    const double least_relative = 0.02, least_absolute = 0.0005;
    double value[STEPS], weight[STEPS];
    size_t n = 0;
    for (int absolute = 0; absolute < 2; absolute++) {
        if (absolute)
            steps(STEPS, 0.002, 0.12, 0.02, 1.5, value, weight);
        else
            steps(STEPS, 0.05, 1.8, 0.2, 1.2, value, weight);
        for (size_t i = 0; i < STEPS; i++)
            for (size_t j = 0; j < LAPSES; j++)
                out[n++] = (mel_component){ .relative = absolute ? least_relative : value[i],
                                            .absolute = absolute ? value[i] : least_absolute,
                                            .lapse = lapse[j],
                                            .weight = 0.5 * weight[i] * lapse_weight[j] };
    }
    return n;
}

const mel_noise_ops mel_noise_person = {
    .name = "person",
    .forms = "person",
    .assumed = "person (slips and errors near indifference, both learned)",
    .errs = MEL_ERRS_BY_MARGIN,
    .slips = true,
    .sharper = true,
    .say_nothing = INFINITY,
    .outside = 1.0,
    .usual_errors = 0.15,
    .given = given,
    .learned = learned,
};
