/* How likely answers are of somebody who errs in one certain way: choices, and "about the same" by the model
 * of Rao and Kupper. */
#include "oracle/noise/way.h"

#include "base/fast_exp.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

const double mel_tie_width[MEL_TIES] = { 0.4, 1.2, 3.5 };

double mel_way_sharpness(const mel_noise_way *way, double stake)
{
    const double relative = way->relative * stake;
    return 1.0 / sqrt(relative * relative + way->absolute * way->absolute);
}

/* Share of each answer among those given without looking. */
static double share_of_lapses(const mel_noise_way *way, double tie)
{
    return way->lapse / (tie > 0.0 ? 3.0 : 2.0);
}

double mel_way_choice(const mel_noise_way *way, double z, double tie)
{
    return share_of_lapses(way, tie) + (1.0 - way->lapse) / (1.0 + exp(tie - z));
}

double mel_way_same(const mel_noise_way *way, double z, double tie)
{
    if (!(tie > 0.0))
        return 0.0;
    const double both = expm1(2.0 * tie) / ((1.0 + exp(tie - z)) * (1.0 + exp(tie + z)));
    return share_of_lapses(way, tie) + (1.0 - way->lapse) * both;
}

double mel_way_log_choices(const mel_noise_way *way, double tie, size_t n, const double *gain,
                           const double *value, const double *slope, double t, double shrink)
{
    const double least = share_of_lapses(way, tie);
    const mel_leaning leaning = {
        .scale = shrink, .shift = tie, .most = 1.0 - way->lapse + least, .least = least
    };
    return mel_log_choices(n, gain, value, slope, t, &leaning);
}

double mel_way_log_same(const mel_noise_way *way, double tie, size_t n, const double *gain,
                        const double *value, const double *slope, double t, double shrink)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum +=
            log(fmax(mel_way_same(way, shrink * gain[i] * (value[i] + t * slope[i]), tie), mel_impossible));
    return sum;
}

/* Partial products: enough to fill the vector units, the same on every machine. Each takes so many factors,
 * of 1e-12 or more and of 1 + e^40, before its logarithm must be taken. */
enum { LANES = 8, PRODUCT = 16, BLOCK = LANES * PRODUCT };

/* Log of the product over n <= BLOCK choices of P(right). */
MEL_WIDE static double log_block(size_t n, const double *restrict gain, const double *restrict value,
                                 const double *restrict slope, double t, const mel_leaning *l)
{
    const double scale = l->scale, shift = l->shift, most = l->most, least = l->least;
    double above[LANES], below[LANES], sum = 0.0;
    for (size_t j = 0; j < LANES; j++)
        above[j] = below[j] = 1.0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            const double e = mel_fast_exp(shift - scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
            above[j] *= most + least * e;
            below[j] *= 1.0 + e;
        }
    for (size_t j = 0; i + j < n; j++) {
        const double e = mel_fast_exp(shift - scale * gain[i + j] * (value[i + j] + t * slope[i + j]));
        above[j] *= most + least * e;
        below[j] *= 1.0 + e;
    }
    for (size_t j = 0; j < LANES; j++)
        sum += log(above[j] / below[j]);
    return sum;
}

double mel_log_choices(size_t n, const double *gain, const double *value, const double *slope, double t,
                       const mel_leaning *leaning)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i += BLOCK)
        sum += log_block(n - i < BLOCK ? n - i : BLOCK, gain + i, value + i, slope + i, t, leaning);
    return sum;
}
