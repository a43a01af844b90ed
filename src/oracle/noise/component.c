/* How likely answers are of somebody who errs by one component: choices, and "about the same" by the model of
 * Rao and Kupper. */
#include "oracle/noise/noise.h"

#include "base/fast_exp.h"
#include "base/vector.h"

#include <math.h>

const double mel_tie_width[MEL_TIES] = { 0.4, 1.2, 3.5 };
static const double log_half = -0.69314718055994531;

double mel_component_sharpness(const mel_component *component, double stake)
{
    const double relative = component->relative * stake;
    if (component->band > 0.0) /* z is the margin itself */
        return 1.0;
    return 1.0 / sqrt(relative * relative + component->absolute * component->absolute);
}

/* Share of each answer among those given without looking. */
static double share_of_lapses(const mel_component *component, double tie)
{
    return component->lapse / (tie > 0.0 ? 3.0 : 2.0);
}

double mel_component_choice(const mel_component *component, double z, double tie)
{
    if (component->band > 0.0)
        return fabs(z) <= component->band ? 0.5 : z > 0.0 ? 1.0 : 0.0;
    return share_of_lapses(component, tie) + (1.0 - component->lapse) / (1.0 + exp(tie - z));
}

double mel_component_same(const mel_component *component, double z, double tie)
{
    if (!(tie > 0.0))
        return 0.0;
    const double both = expm1(2.0 * tie) / ((1.0 + exp(tie - z)) * (1.0 + exp(tie + z)));
    return share_of_lapses(component, tie) + (1.0 - component->lapse) * both;
}

double mel_component_log_same(const mel_component *component, double tie, size_t n, const double *gain,
                              const double *value, const double *slope, double t, double shrink)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += log(fmax(mel_component_same(component, shrink * gain[i] * (value[i] + t * slope[i]), tie),
                        mel_impossible));
    return sum;
}

/* Partial products: enough to fill the vector units, the same on every machine. Each takes so many factors,
 * of 1e-12 or more and of 1 + e^40, before its logarithm must be taken. */
enum { LANES = 8, PRODUCT = 16, BLOCK = LANES * PRODUCT };

/* P(right) = (most + least e)/(1 + e), e = exp(shift - scale * gain * (value + t slope)): from least to most.
 */
typedef struct {
    double scale, shift, most, least;
} leaning;

/* Log of the product over n <= BLOCK choices of P(right). */
MEL_WIDE static double log_block(size_t n, const double *restrict gain, const double *restrict value,
                                 const double *restrict slope, double t, const leaning *l)
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

/* One half inside of the band. Beyond it a slope leads back. */
MEL_WIDE static double log_band(size_t n, const double *restrict gain, const double *restrict value,
                                const double *restrict slope, double t, double shrink, double band)
{
    double inside = 0.0, beyond = 0.0, farthest = 0.0;
#pragma omp simd reduction(+ : inside, beyond) reduction(max : farthest)
    for (size_t i = 0; i < n; i++) {
        const double margin = shrink * gain[i] * (value[i] + t * slope[i]);
        const double past = -margin - band;
        inside += margin <= band ? 1.0 : 0.0;
        beyond += past > 0.0 ? 1.0 : 0.0;
        farthest = past > farthest ? past : farthest;
    }
    return inside * log_half + beyond * mel_log_impossible - farthest / band;
}

double mel_component_log_choices(const mel_component *component, double tie, size_t n, const double *gain,
                                 const double *value, const double *slope, double t, double shrink)
{
    if (component->band > 0.0)
        return log_band(n, gain, value, slope, t, shrink, component->band);
    const double least = share_of_lapses(component, tie);
    const leaning l = {
        .scale = shrink, .shift = tie, .most = 1.0 - component->lapse + least, .least = least
    };
    double sum = 0.0;
    for (size_t i = 0; i < n; i += BLOCK)
        sum += log_block(n - i < BLOCK ? n - i : BLOCK, gain + i, value + i, slope + i, t, &l);
    return sum;
}

/* --- several ------------------------------------------------------------------------------------------- */

/* Logarithm of the weight times the likelihood of one of them. */
static double log_part(const mel_component *component, size_t wrong, size_t count)
{
    const double k = (double)wrong, n = (double)count, rate = 0.5 * component->lapse;
    return log(component->weight) + k * log(rate) + (n - k) * log1p(-rate);
}

double mel_components_log_weight(size_t n, const mel_component *component, size_t wrong, size_t count)
{
    double top = log_part(component, wrong, count), sum = 0.0;
    if (n == 1)
        return top;
    for (size_t i = 1; i < n; i++)
        top = fmax(top, log_part(&component[i], wrong, count));
    for (size_t i = 0; i < n; i++)
        sum += exp(log_part(&component[i], wrong, count) - top);
    return top + log(sum);
}

double mel_components_rate(size_t n, const mel_component *component, size_t wrong, size_t count)
{
    const double whole = mel_components_log_weight(n, component, wrong, count);
    double rate = 0.0;
    for (size_t i = 0; i < n; i++)
        rate += 0.5 * component[i].lapse * exp(log_part(&component[i], wrong, count) - whole);
    return rate;
}

size_t mel_components_blur(size_t n, mel_component component[MEL_MOST_COMPONENTS])
{
    static const double blur[] = { 0.002, 0.01, 0.05 };
    enum { STEPS = sizeof blur / sizeof *blur };
    const bool sharp =
        (component[0].band > 0.0 || component[0].absolute <= MEL_SHARP) && n * STEPS <= MEL_MOST_COMPONENTS;
    for (size_t i = 0; i < n && !sharp; i++)
        component[i].absolute = fmax(component[i].absolute, blur[0]);
    for (size_t i = n; sharp && i-- > 0;) {
        const mel_component one = component[i];
        for (size_t s = 0; s < STEPS; s++)
            component[i * STEPS + s] = (mel_component){ .absolute = fmax(one.band, blur[s]),
                                                        .lapse = one.lapse,
                                                        .weight = one.weight / STEPS };
    }
    return sharp ? n * STEPS : n;
}

size_t mel_component_draw(size_t n, const mel_component *component, mel_rng *rng)
{
    if (n == 1)
        return 0;
    double left = mel_rng_uniform(rng);
    size_t picked = 0;
    while (picked + 1 < n && left >= component[picked].weight)
        left -= component[picked++].weight;
    return picked;
}
