/* A chain's step along one axis, and draws of what is learned of the noise. */
#include "elicit/active/posterior/chain_step.h"

#include "base/la.h"

#include <math.h>

/* Width, in standard deviations, of the window in which noisy answers are looked at. */
static const double window = 6.0;
/* Share of the steps that look farther. */
static const double wide_share = 0.2;
/* The same for the logarithm of a learned logistic scale. */
static const double scale_window = 2.0;
/* Ways to err that are tried per sweep. */
enum { WAYS_TRIED = 2 };

/* --- one step ----------------------------------------------------------------------------------- */

typedef struct {
    size_t axis;
    const double *slope;       /* of the rows along this axis */
    double along;              /* <offset, axis> */
    double prior, prior_along; /* <y, prior> and <axis, prior> */
    double low, high;          /* the interval, around 0 */
} step;

/* Where offset + t axis stays within reach. */
static void ball_interval(const mel_chain *chain, step *s)
{
    const double a = chain->norm2[s->axis], b = s->along;
    const double c = fmin(chain->offset2 - chain->reach2, 0.0);
    const double root = sqrt(b * b - a * c);
    const double q = b >= 0.0 ? -(b + root) : root - b; /* no cancellation */
    const double first = q / a, second = q == 0.0 ? 0.0 : c / q;
    s->low = fmin(first, second);
    s->high = fmax(first, second);
}

/* Where every hard row stays positive: value + t slope > 0, that is t (-slope/value) < 1. */
static void hard_interval(const mel_chain *chain, step *s)
{
    if (chain->most > 0.0)
        s->low = fmax(s->low, -1.0 / chain->most);
    if (chain->least < 0.0)
        s->high = fmin(s->high, -1.0 / chain->least);
}

bool mel_chain_is_smooth(const mel_chain *chain)
{
    return chain->answers->noise->errs == MEL_ERRS_BY_MARGIN || chain->answers->n_same > 0 ||
           chain->prior != NULL;
}

/* Log-likelihood of the choices at y + t axis; shrink: 1/|y| there. */
static double choices_log(const mel_chain *chain, const double *slope, double t, double shrink, double scale)
{
    const mel_noise_ops *noise = chain->answers->noise;
    const size_t from = chain->choices_from, n = chain->choices_to - from;
    if (noise->log_choices != NULL)
        return noise->log_choices(n, chain->gain + from, chain->value + from, slope + from, t, shrink, scale);
    double sum = 0.0;
    for (size_t i = from; i < from + n; i++) {
        const double margin = shrink * chain->gain[i] * (chain->value[i] + t * slope[i]);
        sum += log(fmax(noise->probability(scale, margin), mel_impossible));
    }
    return sum;
}

/* Log-likelihood of all answers of somebody who errs in this way. */
static double way_log(const mel_chain *chain, const double *slope, double t, double shrink, size_t k,
                      double tie)
{
    const mel_noise_way *way = &chain->answers->way[k];
    const size_t from = chain->choices_from, to = chain->choices_to;
    const double *sharp = chain->sharp + k * chain->n_rows;
    return mel_way_log_choices(way, tie, to - from, sharp + from, chain->value + from, slope + from, t,
                               shrink) +
           mel_way_log_same(way, tie, chain->kept - to, sharp + to, chain->value + to, slope + to, t, shrink);
}

/* Log-likelihood of who was called about the same and who was not. */
/* Factors that a product takes before its logarithm must be taken. */
enum { PRODUCT = 16 };

static double sameness_log(const mel_chain *chain, const double *slope, double t, double shrink, double width)
{
    double sum = 0.0, squares = 0.0;
    const double factor = shrink / width;
    for (size_t i = chain->choices_to; i < chain->kept; i++) {
        const double ratio = factor * chain->gain[i] * (chain->value[i] + t * slope[i]);
        squares += ratio * ratio;
    }
    size_t i = chain->choices_from;
    while (i < chain->choices_to) {
        const size_t left = chain->choices_to - i, end = i + (left < PRODUCT ? left : PRODUCT);
        double product = 1.0;
        for (; i < end; i++) {
            const double ratio = factor * chain->gain[i] * (chain->value[i] + t * slope[i]);
            const double apart = -expm1(-0.5 * ratio * ratio);
            product *= apart > mel_impossible ? apart : mel_impossible;
        }
        sum += log(product);
    }
    return sum - 0.5 * squares;
}

static double smooth_log(const mel_chain *chain, const step *s, double t)
{
    const double norm2 =
        (chain->frame->chart ? 1.0 : 0.0) + chain->offset2 + t * (2.0 * s->along + t * chain->norm2[s->axis]);
    const double shrink = 1.0 / sqrt(norm2);
    double sum = shrink * (s->prior + t * s->prior_along);
    if (chain->answers->n_ways > 0)
        return sum + way_log(chain, s->slope, t, shrink, chain->noise.way,
                             mel_answers_tie(chain->answers, &chain->noise));
    if (chain->answers->noise->errs == MEL_ERRS_BY_MARGIN)
        sum += choices_log(chain, s->slope, t, shrink, chain->noise.scale);
    if (chain->answers->n_same > 0)
        sum += sameness_log(chain, s->slope, t, shrink, mel_same_width[chain->noise.width]);
    return sum;
}

static void sort_crossings(size_t n, mel_crossing *c)
{
    static const size_t gaps[] = { 301, 132, 57, 23, 10, 4, 1 };
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < n; i++) {
            const mel_crossing moved = c[i];
            size_t j = i;
            for (; j >= gaps[g] && c[j - gaps[g]].at > moved.at; j -= gaps[g])
                c[j] = c[j - gaps[g]];
            c[j] = moved;
        }
}

/* Where choices change between right and wrong inside the interval, ascending; *wrong: at its low end. */
static size_t find_crossings(mel_chain *chain, const step *s, ptrdiff_t *wrong)
{
    size_t n = 0;
    *wrong = (ptrdiff_t)chain->noise.wrong;
    for (size_t i = chain->choices_from; i < chain->choices_to; i++) {
        const double at = -chain->value[i] / s->slope[i];
        if (!(at > s->low && at < s->high))
            continue;
        chain->crossing[n] = (mel_crossing){ .at = at, .sign = s->slope[i] > 0.0 ? -1 : 1 };
        if (at < 0.0)
            *wrong -= chain->crossing[n].sign;
        n++;
    }
    sort_crossings(n, chain->crossing);
    return n;
}

static double weight_of(const mel_chain *chain, ptrdiff_t wrong)
{
    const ptrdiff_t most = (ptrdiff_t)chain->n_choices;
    return chain->flip_weight[wrong < 0 ? 0 : wrong > most ? most : wrong];
}

/* <y, prior> where the chain is. */
static double prior_here(const mel_chain *chain)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension;
    if (chain->prior == NULL)
        return 0.0;
    return mel_dot(d, chain->prior, chain->offset) +
           (frame->chart ? mel_dot(d, chain->prior, frame->centre) : 0.0);
}

/* A draw from the interval with density by the number of wrong choices. */
static double draw_flip(mel_chain *chain, const step *s)
{
    ptrdiff_t first = 0;
    const size_t n = find_crossings(chain, s, &first);
    double total = 0.0, from = s->low;
    ptrdiff_t wrong = first;
    for (size_t i = 0; i < n; i++) {
        total += weight_of(chain, wrong) * (chain->crossing[i].at - from);
        from = chain->crossing[i].at;
        wrong += chain->crossing[i].sign;
    }
    total += weight_of(chain, wrong) * (s->high - from);
    double left = mel_rng_uniform(&chain->rng) * total;
    from = s->low;
    wrong = first;
    for (size_t i = 0; i < n; i++) {
        const double mass = weight_of(chain, wrong) * (chain->crossing[i].at - from);
        if (left < mass)
            return from + left / weight_of(chain, wrong);
        left -= mass;
        from = chain->crossing[i].at;
        wrong += chain->crossing[i].sign;
    }
    return fmin(s->high, from + left / weight_of(chain, wrong));
}

static double draw(mel_chain *chain, const step *s)
{
    if (chain->answers->noise->errs == MEL_ERRS_ALIKE)
        return draw_flip(chain, s);
    return s->low + (s->high - s->low) * mel_rng_uniform(&chain->rng);
}

/* A random window around the current point keeps the target and spares most of the work; without one, now
 * and then, the chain reaches parts of the posterior that are farther away. */
static void look_near(mel_chain *chain, step *s)
{
    const double left = -window * mel_rng_uniform(&chain->rng);
    if (mel_rng_uniform(&chain->rng) < wide_share)
        return;
    s->low = fmax(s->low, left);
    s->high = fmin(s->high, left + window);
}

static double draw_smooth(mel_chain *chain, step *s)
{
    const double level = chain->smooth + log(1.0 - mel_rng_uniform(&chain->rng));
    for (int tries = 0; tries < 60; tries++) {
        const double t = draw(chain, s), there = smooth_log(chain, s, t);
        if (there >= level) {
            chain->smooth = there;
            return t;
        }
        if (t < 0.0)
            s->low = t;
        else
            s->high = t;
    }
    return 0.0;
}

static void move(mel_chain *chain, const step *s, double t)
{
    const size_t next = s->axis + 1 < chain->frame->axes ? s->axis + 1 : 0;
    chain->offset2 += t * (2.0 * s->along + t * chain->norm2[s->axis]);
    chain->z[s->axis] += t;
    mel_chain_shift(chain, s->axis, next, t);
    if (chain->answers->noise->errs == MEL_ERRS_ALIKE)
        mel_chain_count_wrong(chain);
}

void mel_chain_step(mel_chain *chain, size_t axis)
{
    step s = { .axis = axis, .slope = chain->slope + axis * chain->n_rows, .along = chain->along };
    if (chain->prior != NULL) {
        const size_t d = chain->frame->dimension;
        s.prior = prior_here(chain);
        s.prior_along = mel_dot(d, chain->prior, chain->frame->axis + axis * d);
    }
    ball_interval(chain, &s);
    hard_interval(chain, &s);
    double t = 0.0;
    if (mel_chain_is_smooth(chain) || chain->answers->noise->errs == MEL_ERRS_ALIKE)
        look_near(chain, &s);
    if (s.high > s.low)
        t = mel_chain_is_smooth(chain) ? draw_smooth(chain, &s) : draw(chain, &s);
    move(chain, &s, t);
}

/* --- noise levels ------------------------------------------------------------------------------- */

static double scale_log(const mel_chain *chain, double shrink, double log_scale)
{
    const mel_noise_ops *noise = chain->answers->noise;
    const double deviation = (log_scale - log(noise->scale_median)) / noise->scale_spread;
    return choices_log(chain, chain->value, 0.0, shrink, exp(log_scale)) - 0.5 * deviation * deviation;
}

/* One slice-sampling update of a learned logistic scale. */
static void update_scale(mel_chain *chain, double shrink)
{
    const double now = log(chain->noise.scale);
    const double level = scale_log(chain, shrink, now) + log(1.0 - mel_rng_uniform(&chain->rng));
    double low = now - scale_window * mel_rng_uniform(&chain->rng), high = low + scale_window;
    for (int tries = 0; tries < 60; tries++) {
        const double next = low + (high - low) * mel_rng_uniform(&chain->rng);
        if (scale_log(chain, shrink, next) >= level) {
            chain->noise.scale = exp(next);
            return;
        }
        if (next < now)
            low = next;
        else
            high = next;
    }
}

/* Draws the width of "about the same" given w. */
static void update_width(mel_chain *chain, double shrink)
{
    double log_weight[MEL_WIDTHS];
    for (size_t i = 0; i < MEL_WIDTHS; i++)
        log_weight[i] = sameness_log(chain, chain->value, 0.0, shrink, mel_same_width[i]);
    chain->noise.width = mel_width_draw(MEL_WIDTHS, log_weight, &chain->rng);
}

/* Draws the way in which somebody errs given w, and the width of "about the same". */
static void update_way(mel_chain *chain, double shrink)
{
    const mel_answers *answers = chain->answers;
    const double tie = mel_answers_tie(answers, &chain->noise);
    double here = way_log(chain, chain->value, 0.0, shrink, chain->noise.way, tie);
    for (int tries = 0; tries < WAYS_TRIED; tries++) {
        const size_t other = mel_way_draw(answers, &chain->rng);
        const double level = here + log(1.0 - mel_rng_uniform(&chain->rng));
        if (other == chain->noise.way)
            continue;
        const double there = way_log(chain, chain->value, 0.0, shrink, other, tie);
        if (there >= level) {
            chain->noise.way = other;
            here = there;
        }
    }
    if (answers->n_same == 0)
        return;
    double log_weight[MEL_TIES];
    for (size_t i = 0; i < MEL_TIES; i++)
        log_weight[i] = way_log(chain, chain->value, 0.0, shrink, chain->noise.way, mel_tie_width[i]);
    chain->noise.width = mel_width_draw(MEL_TIES, log_weight, &chain->rng);
}

void mel_chain_draw_noise(mel_chain *chain)
{
    const mel_answers *answers = chain->answers;
    const double shrink = 1.0 / sqrt((chain->frame->chart ? 1.0 : 0.0) + chain->offset2);
    if (answers->n_ways > 0)
        update_way(chain, shrink);
    else if (answers->noise->scale_spread > 0.0 && answers->assume.size == 0.0)
        update_scale(chain, shrink);
    if (answers->n_same > 0 && answers->n_ways == 0)
        update_width(chain, shrink);
    if (mel_chain_is_smooth(chain)) {
        const step here = { .slope = chain->value, .prior = prior_here(chain) };
        chain->smooth = smooth_log(chain, &here, 0.0);
    }
}
