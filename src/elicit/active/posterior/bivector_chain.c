/* One chain of a bivector sampler: its target density, slice steps along axes, draws of the noise. */
#include "elicit/active/posterior/bivector_parts.h"

#include "base/la.h"

#include <math.h>

enum { SHRINKS = 200 }; /* tries of a slice step; then the chain stays */
/* First bracket of a slice step, in standard deviations. */
static const double bracket = 5.0;
/* How far t may lean along s in a chain. */
static const double lean = 0.3;
/* Lengths of t above this are alike a priori; below it the density of t itself is flat. */
static const double flat = 0.1;
/* Steps of a learned logistic scale, of its logarithm. */
static const double scale_step = 0.5;
/* Ways to err that are tried per sweep. */
enum { WAYS_TRIED = 3 };

/* --- the target density --------------------------------------------------------------------------- */

/* Log-density at (s, t), up to a constant; -infinity outside the prior. The point is settled in place. */
static double log_prior(const mel_bivector_sampler *b, double *theta)
{
    const size_t n = b->n;
    double *s = theta, *t = theta + n, ss = 0.0, st = 0.0, tt = 0.0;
    for (size_t i = 0; i < n; i++) {
        ss += s[i] * s[i];
        st += s[i] * t[i];
        tt += t[i] * t[i];
    }
    const double inverse = 1.0 / sqrt(ss), leaning = st * inverse;
    if (!(ss > 0.0) || !(fabs(leaning) <= lean))
        return -INFINITY;
    for (size_t i = 0; i < n; i++) {
        s[i] *= inverse;
        t[i] -= leaning * s[i];
    }
    if (!mel_region_allows(b->region, theta))
        return -INFINITY;
    const double size = -0.5 * (double)n * ss, t2 = tt - leaning * leaning;
    if (b->prior == NULL)
        return size - 0.5 * ((double)n - 2.0) * log(flat * flat + t2);
    return size - 0.5 * ((double)n + 1.0) * log(1.0 + t2) +
           b->strength * mel_bivector_cosine(n, theta, b->prior);
}

/* Once somebody has called a pair about the same, a choice says that A and B of its pair were not. */
static double log_apart(const mel_bivector_sampler *b, size_t row, double margin)
{
    if (b->answers.n_same == 0 || b->answers.n_ways > 0)
        return 0.0;
    const double x = b->answers.gain[row] * margin / mel_same_width[b->state.width];
    return log(fmax(-expm1(-0.5 * x * x), mel_impossible));
}

/* What one row says, apart from flips; margin at |s| = 1. */
static double log_row(const mel_bivector_sampler *b, size_t row, double margin)
{
    const mel_answers *answers = &b->answers;
    if (answers->n_ways > 0) {
        const mel_noise_way *way = &answers->way[b->state.way];
        const double z = b->sharp[b->state.way * b->capacity + row] * margin,
                     tie = mel_answers_tie(answers, &b->state);
        return log(answers->same[row] ? mel_way_same(way, z, tie) : mel_way_choice(way, z, tie));
    }
    if (b->answers.same[row]) {
        const double x = b->answers.gain[row] * margin / mel_same_width[b->state.width];
        return -0.5 * x * x;
    }
    return log(b->answers.noise->probability(b->state.scale, b->answers.gain[row] * margin)) +
           log_apart(b, row, margin);
}

static double margin_at(const mel_products *p, const mel_products *u, double step)
{
    const double sa = p->sa + step * u->sa, sb = p->sb + step * u->sb;
    const double ta = p->ta + step * u->ta, tb = p->tb + step * u->tb;
    return sa * (1.0 + tb) - sb * (1.0 + ta);
}

/* Log-likelihood after a step along an axis; *wrong: choices that are contradicted. length: of s there. */
static double log_likelihood(mel_bivector_sampler *b, const mel_products *u, double step, double length,
                             size_t *wrong)
{
    const mel_errs errs = b->answers.noise->errs;
    double sum = 0.0;
    *wrong = 0;
    if (errs == MEL_ERRS_NEVER && b->suspect < b->answers.count && !b->answers.same[b->suspect] &&
        !(margin_at(&b->here[b->suspect], &u[b->suspect], step) > 0.0))
        return -INFINITY;
    for (size_t i = 0; i < b->answers.count; i++) {
        const double margin = margin_at(&b->here[i], &u[i], step);
        if (b->answers.same[i] || errs == MEL_ERRS_BY_MARGIN) {
            sum += log_row(b, i, margin / length);
        } else {
            sum += log_apart(b, i, margin / length);
            *wrong += margin > 0.0 ? 0U : 1U;
            if (*wrong > 0 && errs == MEL_ERRS_NEVER) {
                b->suspect = i;
                return -INFINITY;
            }
        }
    }
    return errs == MEL_ERRS_ALIKE ? sum + b->flip_weight[*wrong] : sum;
}

static double log_target(mel_bivector_sampler *b, size_t axis, double step, size_t *wrong)
{
    const double *direction = b->axis + axis * b->d;
    for (size_t i = 0; i < b->d; i++)
        b->trial[i] = b->at[i] + step * direction[i];
    double length2 = 0.0;
    for (size_t i = 0; i < b->n; i++)
        length2 += b->trial[i] * b->trial[i];
    const double likelihood = log_likelihood(b, b->along + axis * b->capacity, step, sqrt(length2), wrong);
    return likelihood > -INFINITY ? likelihood + log_prior(b, b->trial) : likelihood;
}

/* --- the chain ------------------------------------------------------------------------------------ */

void mel_bivector_multiply(const mel_bivector_sampler *b, const double *theta, mel_products *out)
{
    const size_t n = b->n;
    for (size_t i = 0; i < b->answers.count; i++) {
        const double *first = b->answers.row + i * 2 * n, *second = first + n;
        out[i] = (mel_products){
            .sa = mel_dot(n, theta, first),
            .sb = mel_dot(n, theta, second),
            .ta = mel_dot(n, theta + n, first),
            .tb = mel_dot(n, theta + n, second),
        };
    }
}

/* Draws what preferences do not see: the length of s and how far t leans along s. at is settled. */
static void draw_gauge(mel_bivector_sampler *b)
{
    const size_t n = b->n;
    const double length = sqrt(2.0 * mel_rng_gamma(&b->rng, 0.5 * (double)n) / (double)n);
    mel_axpy(n, lean * (2.0 * mel_rng_uniform(&b->rng) - 1.0), b->at, b->at + n);
    mel_scale(n, length, b->at);
    mel_bivector_multiply(b, b->at, b->here);
}

static void step_along(mel_bivector_sampler *b, size_t axis)
{
    size_t wrong = 0;
    const double level = log_target(b, axis, 0.0, &wrong) + log(1.0 - mel_rng_uniform(&b->rng));
    double low = -bracket * mel_rng_uniform(&b->rng), high = low + bracket;
    for (int i = 0; i < SHRINKS; i++) {
        const double step = low + (high - low) * mel_rng_uniform(&b->rng);
        if (log_target(b, axis, step, &wrong) >= level) {
            const mel_products *u = b->along + axis * b->capacity;
            for (size_t r = 0; r < b->answers.count; r++) {
                mel_products *p = &b->here[r];
                p->sa += step * u[r].sa;
                p->sb += step * u[r].sb;
                p->ta += step * u[r].ta;
                p->tb += step * u[r].tb;
            }
            mel_axpy(b->d, step, b->axis + axis * b->d, b->at);
            return;
        }
        *(step < 0.0 ? &low : &high) = step;
    }
}

/* Log-likelihood of all answers where the chain is, by the noise as it is. */
static double log_rows(const mel_bivector_sampler *b)
{
    const double length = mel_norm2(b->n, b->at);
    double sum = 0.0;
    for (size_t i = 0; i < b->answers.count; i++)
        sum += log_row(b, i, margin_at(&b->here[i], &b->here[i], 0.0) / length);
    return sum;
}

/* Draws the way in which somebody errs, and the width of "about the same". */
static void draw_way(mel_bivector_sampler *b)
{
    double here = log_rows(b);
    for (int tries = 0; tries < WAYS_TRIED; tries++) {
        const size_t held = b->state.way;
        b->state.way = mel_way_draw(&b->answers, &b->rng);
        const double there = log_rows(b);
        if (there >= here + log(1.0 - mel_rng_uniform(&b->rng)))
            here = there;
        else
            b->state.way = held;
    }
    if (b->answers.n_same == 0)
        return;
    double log_weight[MEL_TIES];
    for (b->state.width = 0; b->state.width < MEL_TIES; b->state.width++)
        log_weight[b->state.width] = log_rows(b);
    b->state.width = mel_width_draw(MEL_TIES, log_weight, &b->rng);
}

/* Log-likelihood of the choices by the logistic scale. */
static double scale_likelihood(mel_bivector_sampler *b, double scale)
{
    const mel_noise_ops *noise = b->answers.noise;
    const double length = mel_norm2(b->n, b->at), z = log(scale / noise->scale_median) / noise->scale_spread;
    double sum = -0.5 * z * z;
    const double held = b->state.scale;
    b->state.scale = scale;
    for (size_t i = 0; i < b->answers.count; i++)
        if (!b->answers.same[i])
            sum += log_row(b, i, margin_at(&b->here[i], &b->here[i], 0.0) / length);
    b->state.scale = held;
    return sum;
}

static void draw_width(mel_bivector_sampler *b)
{
    const double length = mel_norm2(b->n, b->at);
    double chance[MEL_WIDTHS] = { 0.0 };
    for (size_t k = 0; k < MEL_WIDTHS; k++) {
        b->state.width = k;
        for (size_t i = 0; i < b->answers.count; i++) {
            const double margin = margin_at(&b->here[i], &b->here[i], 0.0) / length;
            chance[k] += b->answers.same[i] ? log_row(b, i, margin) : log_apart(b, i, margin);
        }
    }
    b->state.width = mel_width_draw(MEL_WIDTHS, chance, &b->rng);
}

static void draw_noise(mel_bivector_sampler *b)
{
    if (b->answers.n_ways > 0) {
        draw_way(b);
        return;
    }
    if (b->answers.n_same > 0)
        draw_width(b);
    if (!(b->answers.noise->scale_spread > 0.0) || b->answers.assume.size > 0.0)
        return;
    const double scale = b->state.scale * exp(scale_step * mel_rng_normal(&b->rng));
    const double change = scale_likelihood(b, scale) - scale_likelihood(b, b->state.scale);
    if (log(1.0 - mel_rng_uniform(&b->rng)) < change)
        b->state.scale = scale;
}

void mel_bivector_sweep(mel_bivector_sampler *b)
{
    mel_bivector_settle(b->n, b->at);
    draw_gauge(b);
    for (size_t axis = 0; axis < b->d; axis++)
        step_along(b, axis);
    draw_noise(b);
}

size_t mel_bivector_wrong(const mel_bivector_sampler *b)
{
    size_t wrong = 0;
    for (size_t i = 0; i < b->answers.count; i++)
        wrong += !b->answers.same[i] && !(margin_at(&b->here[i], &b->here[i], 0.0) > 0.0);
    return wrong;
}
