/* What a symmetric pair around one middle tells, by the posterior's second moments. */
#include "elicit/active/ask/pair_gain.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How strongly a direction is kept in the cut through the mean, and flat directions apart. */
static const double through_mean = 1e4, least_share = 1e-9;

void mel_pair_gain_free(mel_pair_gain *gain)
{
    free(gain->through);
    *gain = (mel_pair_gain){ 0 };
}

mel_status mel_pair_gain_new(mel_pair_gain *gain, const mel_basis *f, const double *covariance,
                             const double *mean, mel_error *err)
{
    const size_t d = f->dimension, s = f->size;
    *gain = (mel_pair_gain){ .f = f, .covariance = covariance, .mean = mean };
    const mel_part parts[] = { { d * s, { &gain->through } },
                               { s * s, { &gain->first } },
                               { s, { &gain->slope } },
                               { d, { &gain->column } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the questions");
    return MEL_OK;
}

void mel_pair_gain_from(mel_pair_gain *gain, const double *c)
{
    const mel_basis *f = gain->f;
    const size_t d = f->dimension, s = f->size;
    for (size_t j = 0; j < d; j++)
        f->ops->slope(f, c, gain->covariance + j * d, gain->through + j * s);
    for (size_t i = 0; i < s; i++) {
        for (size_t j = 0; j < d; j++)
            gain->column[j] = gain->through[j * s + i];
        f->ops->slope(f, c, gain->column, gain->first + i * s);
    }
    f->ops->slope(f, c, gain->mean, gain->slope);
}

void mel_pair_gain_centre(mel_pair_gain *gain)
{
    const size_t s = gain->f->size;
    const double slope2 = mel_dot(s, gain->slope, gain->slope);
    double trace = 0.0;
    for (size_t i = 0; i < s; i++)
        trace += gain->first[i * s + i];
    gain->penalty = slope2 > 0.0 ? through_mean * trace / slope2 : 0.0;
    for (size_t i = 0; i < s; i++) {
        gain->first[i * s + i] += least_share * trace;
        mel_axpy(s, gain->penalty * gain->slope[i], gain->slope, gain->first + i * s);
    }
    mel_cholesky_raised(s, gain->first, least_share);
}

void mel_pair_gain_halfway(const mel_pair_gain *gain, double *x)
{
    mel_solve_lower(gain->f->size, gain->first, x);
}

void mel_pair_gain_back(const mel_pair_gain *gain, double *x)
{
    mel_solve_upper(gain->f->size, gain->first, x);
}
