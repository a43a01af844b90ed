/* A Markov chain over unit vectors: the coordinates that it moves in, its rows in these, its sweeps. */
#include "elicit/active/posterior/chain.h"

#include "base/la.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- coordinates in which a cloud of unit vectors is round */

/* Vectors whose outer products are added together. */
enum { BLOCK = 4 };
/* The chart sees one hemisphere: it is used once the cloud is well inside. */
static const double chart_resultant = 0.9, chart_cosine = 0.2;
/* A shape known from earlier counts as much as this many points per axis: next to all points of a run, and
 * next to those that fit the newest answer. */
static const double learned_per_axis = 4.0, predicted_per_axis = 20.0;
/* Share of the points' own covariance below which it is not worth computing. */
static const double least_own = 0.1;
/* Change of the variance along the newest row that is believed. */
static const double least_ratio = 1e-4, largest_ratio = 4.0;
/* Smallest Cholesky pivot as a share of its diagonal entry: keeps a flat cloud's axes finite. */
static const double least_pivot = 1e-12;

mel_status mel_frame_new(mel_frame *frame, size_t dimension, mel_error *err)
{
    const size_t d = dimension;
    *frame = (mel_frame){ .dimension = d };
    const mel_part parts[] = {
        { d, { &frame->centre, &frame->reflector, &frame->point, &frame->mean, &frame->along } },
        { d * d, { &frame->axis, &frame->factor, &frame->shape } },
        { BLOCK * d, { &frame->block } }
    };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "coordinates of the posterior");
    mel_frame_reset(frame);
    return MEL_OK;
}

void mel_frame_free(mel_frame *frame)
{
    free(frame->centre);
    *frame = (mel_frame){ 0 };
}

void mel_frame_reset(mel_frame *frame)
{
    const size_t d = frame->dimension;
    frame->axes = d;
    frame->chart = false;
    frame->shaped = false;
    memset(frame->centre, 0, d * sizeof(double));
    memset(frame->factor, 0, d * d * sizeof(double));
    for (size_t i = 0; i < d; i++)
        frame->factor[i * d + i] = 1.0;
    memcpy(frame->axis, frame->factor, d * d * sizeof(double));
}

/* H v for the Householder reflection H that swaps mu and +-e_D; |reflector|^2 = 2. */
static void reflect(const mel_frame *frame, double *v)
{
    mel_axpy(frame->dimension, -mel_dot(frame->dimension, frame->reflector, v), frame->reflector, v);
}

static void make_reflector(mel_frame *frame, const double *mu)
{
    const size_t d = frame->dimension;
    memcpy(frame->reflector, mu, d * sizeof(double));
    frame->reflector[d - 1] += mu[d - 1] >= 0.0 ? 1.0 : -1.0;
    mel_scale(d, sqrt(2.0) / mel_norm2(d, frame->reflector), frame->reflector);
}

/* In the ball y = r w with E r = D/(D+1), E r^2 = D/(D+2), independent of w; 1 in the chart. */
static double mean_radius(const mel_frame *frame)
{
    const double d = (double)frame->dimension;
    return frame->chart ? 1.0 : d / (d + 1.0);
}

static double square_radius(const mel_frame *frame)
{
    const double d = (double)frame->dimension;
    return frame->chart ? 1.0 : d / (d + 2.0);
}

/* Coordinates of a unit vector before whitening: reflected w/<w, mu> without its last, or w itself. */
static void place(const mel_frame *frame, const double *w, double *out)
{
    const size_t d = frame->dimension;
    memcpy(out, w, d * sizeof(double));
    if (!frame->chart)
        return;
    mel_scale(d, 1.0 / mel_dot(d, w, frame->centre), out);
    reflect(frame, out);
}

/* a += sum over the BLOCK vectors x of x x', lower triangle, rows of length k. */
MEL_WIDE static void add_outer(size_t k, size_t ldx, const double *restrict x, double *restrict a)
{
    for (size_t i = 0; i < k; i++) {
        const double *x0 = x, *x1 = x + ldx, *x2 = x1 + ldx, *x3 = x2 + ldx;
        const double c0 = x0[i], c1 = x1[i], c2 = x2[i], c3 = x3[i];
        double *row = a + i * k;
#pragma omp simd
        for (size_t j = 0; j <= i; j++)
            row[j] += (c0 * x0[j] + c1 * x1[j]) + (c2 * x2[j] + c3 * x3[j]);
    }
}

void mel_frame_moments(mel_frame *frame, size_t n, const double *w, double *mean, double *covariance)
{
    const size_t d = frame->dimension;
    memset(mean, 0, d * sizeof(double));
    memset(covariance, 0, d * d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        mel_axpy(d, 1.0 / (double)n, w + i * d, mean);
    for (size_t i = 0; i < n; i += BLOCK) {
        memset(frame->block, 0, BLOCK * d * sizeof(double));
        for (size_t j = 0; j < BLOCK && i + j < n; j++) {
            memcpy(frame->block + j * d, w + (i + j) * d, d * sizeof(double));
            mel_axpy(d, -1.0, mean, frame->block + j * d);
        }
        add_outer(d, d, frame->block, covariance);
    }
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++) {
            covariance[a * d + b] /= (double)n;
            covariance[b * d + a] = covariance[a * d + b];
        }
}

/* Weighted covariance of the placed points (lower triangle; rows of length axes) into factor. */
static void own_covariance(mel_frame *frame, size_t n, const double *w, const double *weight)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *covariance = frame->factor, *mean = frame->along;
    memset(mean, 0, d * sizeof(double));
    memset(covariance, 0, k * k * sizeof(double));
    double total = 0.0;
    size_t filled = 0;
    memset(frame->block, 0, BLOCK * d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double share = weight == NULL ? 1.0 : weight[i];
        if (share == 0.0)
            continue;
        double *point = frame->block + filled * d;
        place(frame, w + i * d, point);
        total += share;
        mel_axpy(k, share, point, mean);
        mel_scale(k, sqrt(share), point);
        if (++filled < BLOCK)
            continue;
        add_outer(k, d, frame->block, covariance);
        memset(frame->block, 0, BLOCK * d * sizeof(double));
        filled = 0;
    }
    add_outer(k, d, frame->block, covariance);
    const double first = mean_radius(frame), second = square_radius(frame);
    mel_scale(k, first / total, mean);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++)
            covariance[a * k + b] = second * covariance[a * k + b] / total - mean[a] * mean[b];
}

/* The shape known from earlier changes along the row as the weighted points' variance does. */
static void narrow(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row)
{
    const size_t d = frame->dimension;
    double sum[2][3] = { { 0.0 } }; /* of 1, <row, w> and its square: all points, weighted points */
    for (size_t i = 0; i < n; i++) {
        const double value = mel_dot(d, row, w + i * d);
        for (size_t k = 0; k < 2; k++) {
            const double share = k == 0 || weight == NULL ? 1.0 : weight[i];
            sum[k][0] += share;
            sum[k][1] += share * value;
            sum[k][2] += share * value * value;
        }
    }
    double variance[2];
    for (size_t k = 0; k < 2; k++)
        variance[k] = sum[k][2] / sum[k][0] - sum[k][1] / sum[k][0] * (sum[k][1] / sum[k][0]);
    double *product = frame->point;
    for (size_t a = 0; a < d; a++)
        product[a] = mel_dot(d, frame->shape + a * d, row);
    const double wide = mel_dot(d, product, row);
    if (!(wide > 0.0) || !(variance[0] > 0.0))
        return;
    const double ratio = fmin(largest_ratio, fmax(least_ratio, variance[1] / variance[0]));
    for (size_t a = 0; a < d; a++)
        mel_axpy(d, (ratio - 1.0) * product[a] / wide, product, frame->shape + a * d);
}

/* The shape known from earlier, in the frame's coordinates, joins the points' own covariance (in factor). */
static void join_shape(mel_frame *frame, double own)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *turned = frame->axis; /* the axes are made later */
    memcpy(turned, frame->shape, d * d * sizeof(double));
    if (frame->chart) { /* H S H: rows, then, as S is symmetric, columns */
        double *sums = frame->along;
        for (size_t a = 0; a < d; a++)
            reflect(frame, turned + a * d);
        memset(sums, 0, d * sizeof(double));
        for (size_t a = 0; a < d; a++)
            mel_axpy(d, frame->reflector[a], turned + a * d, sums);
        for (size_t a = 0; a < d; a++)
            mel_axpy(d, -frame->reflector[a], sums, turned + a * d);
    }
    const double first = mean_radius(frame), second = square_radius(frame);
    const double along_mean = frame->chart ? 0.0 : second - first * first;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double *entry = &frame->factor[a * k + b];
            const double known = second * turned[a * d + b] + along_mean * frame->mean[a] * frame->mean[b];
            *entry = own * *entry + (1.0 - own) * known;
        }
}

void mel_frame_learn(mel_frame *frame, const double *covariance, double effective)
{
    const size_t n = frame->dimension * frame->dimension;
    const double own =
        frame->shaped ? effective / (effective + learned_per_axis * (double)frame->dimension) : 1.0;
    for (size_t i = 0; i < n; i++)
        frame->shape[i] += own * (covariance[i] - frame->shape[i]);
    frame->shaped = true;
}

static void make_axes(mel_frame *frame)
{
    const size_t d = frame->dimension, k = frame->axes;
    for (size_t j = 0; j < k; j++) {
        double *axis = frame->axis + j * d;
        memset(axis, 0, d * sizeof(double));
        for (size_t i = j; i < k; i++)
            axis[i] = frame->factor[i * k + j];
        if (frame->chart)
            reflect(frame, axis);
    }
}

/* Whether the chart at the weighted mean (into `mean`, its direction into `centre`) sees the cloud well. */
static bool find_mean(mel_frame *frame, size_t n, const double *w, const double *weight)
{
    const size_t d = frame->dimension;
    double total = 0.0, least = 1.0;
    memset(frame->mean, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double share = weight == NULL ? 1.0 : weight[i];
        total += share;
        mel_axpy(d, share, w + i * d, frame->mean);
    }
    mel_scale(d, 1.0 / total, frame->mean);
    const double length = mel_norm2(d, frame->mean);
    memcpy(frame->centre, frame->mean, d * sizeof(double));
    if (!(length >= chart_resultant))
        return false;
    mel_scale(d, 1.0 / length, frame->centre);
    for (size_t i = 0; i < n; i++)
        if (weight == NULL || weight[i] > 0.0)
            least = fmin(least, mel_dot(d, w + i * d, frame->centre));
    return least >= chart_cosine;
}

/* Kish's effective number of weighted points. */
static double effective_number(size_t n, const double *weight)
{
    if (weight == NULL)
        return (double)n;
    double total = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        total += weight[i];
        squares += weight[i] * weight[i];
    }
    return total * total / squares;
}

void mel_frame_fit(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row,
                   double efficiency)
{
    const size_t d = frame->dimension;
    frame->chart = find_mean(frame, n, w, weight);
    frame->axes = frame->chart ? d - 1 : d;
    if (frame->chart)
        make_reflector(frame, frame->centre);
    else
        for (size_t j = 0; j < d; j++)
            frame->centre[j] = mean_radius(frame) * frame->mean[j];
    if (frame->shaped && row != NULL)
        narrow(frame, n, w, weight, row);
    const double effective = efficiency * effective_number(n, weight);
    double own = effective / (effective + predicted_per_axis * (double)frame->axes);
    own = !frame->shaped ? 1.0 : own < least_own ? 0.0 : own;
    memset(frame->factor, 0, frame->axes * frame->axes * sizeof(double));
    if (own > 0.0)
        own_covariance(frame, n, w, weight);
    if (own < 1.0)
        join_shape(frame, own);
    mel_cholesky_raised(frame->axes, frame->factor, least_pivot);
    make_axes(frame);
}

void mel_frame_turn(const mel_frame *frame, const double *row, double *out)
{
    const size_t d = frame->dimension;
    double *turned = frame->along;
    memcpy(turned, row, d * sizeof(double));
    if (frame->chart) { /* y = centre + sum_j z_j axis_j, v = (z, 1) up to its length */
        for (size_t j = 0; j + 1 < d; j++)
            turned[j] = mel_dot(d, row, frame->axis + j * d);
        turned[d - 1] = mel_dot(d, row, frame->centre);
    }
    const double length = mel_norm2(d, turned);
    for (size_t j = 0; j < d; j++)
        out[j] = length > 0.0 ? turned[j] / length : 0.0;
}

void mel_frame_back(const mel_frame *frame, const double *v, double *w)
{
    const size_t d = frame->dimension;
    memcpy(w, v, d * sizeof(double));
    if (frame->chart) {
        memset(w, 0, d * sizeof(double));
        for (size_t j = 0; j + 1 < d; j++)
            mel_axpy(d, v[j], frame->axis + j * d, w);
        mel_axpy(d, v[d - 1], frame->centre, w);
    }
    mel_scale(d, 1.0 / mel_norm2(d, w), w);
}

void mel_frame_coordinates(const mel_frame *frame, const double *y, double *z)
{
    const size_t d = frame->dimension, k = frame->axes;
    double *shifted = frame->along;
    memcpy(shifted, y, d * sizeof(double));
    mel_axpy(d, -1.0, frame->centre, shifted);
    if (frame->chart)
        reflect(frame, shifted);
    for (size_t i = 0; i < k; i++)
        z[i] = (shifted[i] - mel_dot(i, frame->factor + i * k, z)) / frame->factor[i * k + i];
}

/* --- the chain */

static void chain_shift(mel_chain *chain, size_t j, size_t next, double t);

/* Width, in standard deviations, of the window in which noisy answers are looked at. */
static const double window = 6.0;
/* Share of the steps that look farther. */
static const double wide_share = 0.2;
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

/* Whether the density varies between the planes. */
static bool chain_is_smooth(const mel_chain *chain)
{
    return mel_answers_err_by_margin(chain->answers) || chain->prior != NULL;
}

/* Log-likelihood of all answers at y + t axis by one component; shrink: 1/|y| there. */
static double answers_log(const mel_chain *chain, const double *slope, double t, double shrink, size_t k,
                          double tie)
{
    const mel_component *component = &chain->answers->component[k];
    const size_t from = chain->choices_from, to = chain->choices_to;
    const double *sharp = chain->sharp + k * chain->n_rows;
    return mel_component_log_choices(component, tie, to - from, sharp + from, chain->value + from,
                                     slope + from, t, shrink) +
           mel_component_log_same(component, tie, chain->kept - to, sharp + to, chain->value + to, slope + to,
                                  t, shrink);
}

static double smooth_log(const mel_chain *chain, const step *s, double t)
{
    const double norm2 =
        (chain->frame->chart ? 1.0 : 0.0) + chain->offset2 + t * (2.0 * s->along + t * chain->norm2[s->axis]);
    const double shrink = 1.0 / sqrt(norm2);
    double sum = shrink * (s->prior + t * s->prior_along);
    if (mel_answers_err_by_margin(chain->answers))
        sum += answers_log(chain, s->slope, t, shrink, chain->noise.component,
                           mel_answers_tie(chain->answers, &chain->noise));
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
    chain_shift(chain, s->axis, next, t);
    if (chain->answers->noise->errs == MEL_ERRS_ALIKE)
        mel_chain_count_wrong(chain);
}

/* One step along an axis. */
static void chain_step(mel_chain *chain, size_t axis)
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
    if (chain_is_smooth(chain) || chain->answers->noise->errs == MEL_ERRS_ALIKE)
        look_near(chain, &s);
    if (s.high > s.low)
        t = chain_is_smooth(chain) ? draw_smooth(chain, &s) : draw(chain, &s);
    move(chain, &s, t);
}

/* --- noise ---------------------------------------------------------------------------------------------- */

static double noise_log(const void *user, size_t component, double tie)
{
    const mel_chain *chain = user;
    const double shrink = 1.0 / sqrt((chain->frame->chart ? 1.0 : 0.0) + chain->offset2);
    return answers_log(chain, chain->value, 0.0, shrink, component, tie);
}

/* Draws what is learned of the noise, given where the chain is. */
static void draw_noise(mel_chain *chain)
{
    if (mel_answers_err_by_margin(chain->answers))
        mel_noise_draw(&chain->noise, chain->answers, noise_log, chain, &chain->rng);
    if (chain_is_smooth(chain)) {
        const step here = { .slope = chain->value, .prior = prior_here(chain) };
        chain->smooth = smooth_log(chain, &here, 0.0);
    }
}

/* Hard rows farther than this many standard deviations from the mean are left out, then checked. */
static const double prune_deviations = 7.0;
/* Rows below which leaving some out is not worth the check. */
enum { PRUNE_FROM = 64 };
/* Sweeps after which products are computed anew instead of updated. */
enum { RESYNC = 16 };
/* Axes from which on bouncing paths pay. */
enum { BOUNCE_FROM = 3 };
/* Bouncing paths per sweep along the axes, which helps out where paths get caught. */
enum { SWEEP_EVERY = 8 };
/* A hard row's value never falls below this, so that quotients stay defined. */
static const double least_value = 1e-280;
/* Partial products of a likelihood: enough to fill the vector units, the same on every machine. */
enum { LANES = 8 };

mel_status mel_chain_new(mel_chain *chain, const mel_frame *frame, const mel_answers *answers, mel_error *err)
{
    const size_t d = frame->dimension;
    *chain = (mel_chain){ .frame = frame, .answers = answers, .prune = true };
    const mel_part parts[] = { { d, { &chain->norm2, &chain->offset, &chain->z } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a chain");
    return mel_bounce_new(&chain->bounce, d, err);
}

void mel_chain_free(mel_chain *chain)
{
    mel_bounce_free(&chain->bounce);
    free(chain->row);
    free(chain->row_gain);
    free(chain->flip_weight);
    free(chain->pruned);
    free(chain->gain);
    free(chain->sharp);
    free(chain->base);
    free(chain->slope);
    free(chain->norm2);
    free(chain->crossing);
    free(chain->value);
    *chain = (mel_chain){ 0 };
}

mel_status mel_chain_reserve(mel_chain *chain, size_t n_rows, mel_error *err)
{
    if (n_rows <= chain->capacity)
        return MEL_OK;
    const size_t d = chain->frame->dimension;
    const size_t capacity = n_rows < 32 ? 64 : 2 * n_rows;
    void *pruned = chain->pruned, *crossing = chain->crossing;
    bool grown = mel_grow(&pruned, capacity, sizeof *chain->pruned);
    chain->pruned = pruned;
    grown = grown && mel_grow(&crossing, capacity, sizeof *chain->crossing);
    chain->crossing = crossing;
    const mel_part parts[] = { { capacity * d, { &chain->row, &chain->slope } },
                               { capacity, { &chain->row_gain, &chain->gain, &chain->base, &chain->value } },
                               { capacity * MEL_MOST_COMPONENTS, { &chain->sharp } },
                               { capacity + 1, { &chain->flip_weight } } };
    if (!grown || !mel_parts_grow(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a chain's products");
    TRY(mel_bounce_reserve(&chain->bounce, capacity, d, err));
    chain->capacity = capacity;
    return MEL_OK;
}

static void load_row(mel_chain *chain, const double *row, double gain)
{
    const size_t d = chain->frame->dimension;
    memcpy(chain->row + chain->n_rows * d, row, d * sizeof(double));
    chain->row_gain[chain->n_rows++] = gain;
}

void mel_chain_load(mel_chain *chain, size_t n_cone, const double *cone)
{
    const mel_answers *answers = chain->answers;
    const size_t d = answers->dimension;
    chain->n_rows = 0;
    for (size_t i = 0; i < n_cone; i++)
        load_row(chain, cone + i * d, 0.0);
    for (size_t i = 0; i < answers->count; i++)
        if (!answers->same[i])
            load_row(chain, answers->row + i * d, answers->gain[i]);
    chain->n_cone = n_cone;
    chain->n_choices = chain->n_rows - n_cone;
    for (size_t i = 0; i < answers->count; i++)
        if (answers->same[i])
            load_row(chain, answers->row + i * d, answers->gain[i]);
    const mel_noise_ops *noise = answers->noise;
    chain->n_hard = n_cone + (noise->errs == MEL_ERRS_NEVER ? chain->n_choices : 0);
    if (noise->errs != MEL_ERRS_ALIKE)
        return;
    for (size_t k = 0; k <= chain->n_choices; k++) {
        const double log_weight = answers->log_weight[k] - answers->log_weight[0];
        chain->flip_weight[k] = fmax(exp(log_weight), least_value);
    }
}

void mel_chain_tilt(mel_chain *chain, const double *u, double level)
{
    const size_t d = chain->frame->dimension;
    mel_axpy(d, -level, u, chain->row + (chain->n_hard - 1) * d);
}

/* Adds row i to those that matter, or to those left out. */
static void keep_row(mel_chain *chain, size_t i, bool may_prune)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension, stride = chain->n_rows;
    const double *row = chain->row + i * d;
    const double base = mel_dot(d, row, frame->centre);
    double variance = 0.0;
    for (size_t j = 0; j < frame->axes; j++) {
        const double slope = mel_dot(d, row, frame->axis + j * d);
        chain->slope[j * stride + chain->kept] = slope;
        variance += slope * slope;
    }
    if (may_prune && base > prune_deviations * sqrt(variance)) {
        chain->pruned[chain->n_pruned++] = i;
        return;
    }
    chain->base[chain->kept] = base;
    chain->gain[chain->kept] = chain->row_gain[i];
    chain->kept++;
}

void mel_chain_look(mel_chain *chain)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension;
    const bool may_prune =
        chain->prune && frame->chart && chain->n_rows >= PRUNE_FROM && chain->answers->n_same == 0;
    chain->kept = chain->n_pruned = chain->hard = chain->choices_from = 0;
    for (size_t i = 0; i < chain->n_rows; i++) {
        keep_row(chain, i, may_prune && i < chain->n_hard);
        if (i < chain->n_cone)
            chain->choices_from = chain->kept;
        if (i < chain->n_hard)
            chain->hard = chain->kept;
    }
    chain->choices_to = chain->kept - (chain->n_rows - chain->n_cone - chain->n_choices);
    for (size_t j = 0; j < frame->axes; j++)
        chain->norm2[j] = mel_dot(d, frame->axis + j * d, frame->axis + j * d);
    const mel_answers *answers = chain->answers;
    for (size_t k = 0; k < answers->n_components && mel_answers_err_by_margin(answers); k++)
        for (size_t i = chain->choices_from; i < chain->kept; i++) /* rows are at unit length */
            chain->sharp[k * chain->n_rows + i] =
                chain->gain[i] * mel_component_sharpness(&answers->component[k], 0.5 * fabs(chain->gain[i]));
    mel_bounce_look(&chain->bounce, chain);
}

/* --- kernels ------------------------------------------------------------------------------------- */

typedef struct {
    double least, most; /* of 0 and slope/value over the hard rows */
} rates;

/* Hard rows after a step t along `slope`, and how fast they change along `next`. */
MEL_WIDE static rates advance_hard(size_t n, double t, const double *restrict slope,
                                   const double *restrict next, double *restrict value)
{
    double least = 0.0, most = 0.0;
#pragma omp simd reduction(min : least) reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        const double moved = value[i] + t * slope[i];
        value[i] = moved > least_value ? moved : least_value;
        const double rate = next[i] / value[i];
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
    }
    return (rates){ least, most };
}

MEL_WIDE static void advance(size_t n, double t, const double *restrict slope, double *restrict value)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        value[i] += t * slope[i];
}

/* y += t x, then <y, next>. */
MEL_WIDE static double advance_along(size_t n, double t, const double *restrict x,
                                     const double *restrict next, double *restrict y)
{
    double part[LANES] = { 0.0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            y[i + j] += t * x[i + j];
            part[j] += y[i + j] * next[i + j];
        }
    for (size_t j = 0; i + j < n; j++) {
        y[i + j] += t * x[i + j];
        part[j] += y[i + j] * next[i + j];
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

MEL_WIDE static size_t count_negative(size_t n, const double *restrict value)
{
    double count = 0.0;
#pragma omp simd reduction(+ : count)
    for (size_t i = 0; i < n; i++)
        count += value[i] < 0.0 ? 1.0 : 0.0;
    return (size_t)count;
}

/* --- state --------------------------------------------------------------------------------------- */

/* The chain moves by t along axis j; what the step along axis `next` needs is known afterwards. */
static void chain_shift(mel_chain *chain, size_t j, size_t next, double t)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension, stride = chain->n_rows, hard = chain->hard;
    const double *slope = chain->slope + j * stride;
    chain->along = advance_along(d, t, frame->axis + j * d, frame->axis + next * d, chain->offset);
    const rates r = advance_hard(hard, t, slope, chain->slope + next * stride, chain->value);
    chain->least = r.least;
    chain->most = r.most;
    advance(chain->kept - hard, t, slope + hard, chain->value + hard);
}

/* Products from z, free of the rounding of many small updates. */
static void synchronise(mel_chain *chain)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension, stride = chain->n_rows;
    if (frame->chart)
        memset(chain->offset, 0, d * sizeof(double));
    else
        memcpy(chain->offset, frame->centre, d * sizeof(double));
    memcpy(chain->value, chain->base, chain->kept * sizeof(double));
    for (size_t j = 0; j < frame->axes; j++) {
        mel_axpy(d, chain->z[j], frame->axis + j * d, chain->offset);
        advance(chain->kept, chain->z[j], chain->slope + j * stride, chain->value);
    }
    chain_shift(chain, 0, 0, 0.0);
    chain->since = 0;
}

void mel_chain_count_wrong(mel_chain *chain)
{
    chain->noise.wrong =
        count_negative(chain->choices_to - chain->choices_from, chain->value + chain->choices_from);
}

void mel_chain_place(mel_chain *chain, const double *w, const mel_noise_state *noise)
{
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension;
    double *y = chain->offset;
    memcpy(y, w, d * sizeof(double));
    if (frame->chart)
        mel_scale(d, 1.0 / mel_dot(d, w, frame->centre), y);
    else
        mel_scale(d, pow(1.0 - mel_rng_uniform(&chain->rng), 1.0 / (double)d), y);
    mel_frame_coordinates(frame, y, chain->z);
    chain->noise = *noise;
    synchronise(chain);
    mel_chain_count_wrong(chain);
}

void mel_chain_get(const mel_chain *chain, double *w)
{
    const mel_frame *frame = chain->frame;
    memcpy(w, chain->offset, frame->dimension * sizeof(double));
    if (frame->chart)
        mel_axpy(frame->dimension, 1.0, frame->centre, w);
    mel_scale(frame->dimension, 1.0 / mel_norm2(frame->dimension, w), w);
}

bool mel_chain_check(const mel_chain *chain, const double *w)
{
    const size_t d = chain->frame->dimension;
    for (size_t i = 0; i < chain->n_pruned; i++)
        if (!(mel_dot(d, chain->row + chain->pruned[i] * d, w) > 0.0))
            return false;
    return true;
}

static void sweep_axes(mel_chain *chain)
{
    const size_t d = chain->frame->dimension;
    chain_shift(chain, 0, 0, 0.0);
    chain->reach2 = 1.0;
    if (chain->frame->chart) /* the chart's density (1 + |offset|^2)^(-D/2) as a slice */
        chain->reach2 =
            (1.0 + chain->offset2) * pow(1.0 - mel_rng_uniform(&chain->rng), -2.0 / (double)d) - 1.0;
    draw_noise(chain);
    for (size_t j = 0; j < chain->frame->axes; j++)
        chain_step(chain, j);
}

static bool can_bounce(const mel_chain *chain)
{
    return chain->bounce.rows > 0 && chain->frame->axes >= BOUNCE_FROM && !chain_is_smooth(chain);
}

/* Goes where the path ended. */
static void arrive(mel_chain *chain, size_t wrong)
{
    const mel_bounce *bounce = &chain->bounce;
    const mel_frame *frame = chain->frame;
    const size_t d = frame->dimension;
    memcpy(chain->offset, bounce->place, d * sizeof(double));
    chain->noise.wrong = wrong;
    if (!frame->chart) {
        const double radius = pow(1.0 - mel_rng_uniform(&chain->rng), 1.0 / (double)d);
        mel_scale(d, radius / mel_norm2(d, chain->offset), chain->offset);
        mel_frame_coordinates(frame, chain->offset, chain->z);
        synchronise(chain);
        return;
    }
    double *y = chain->bounce.motion;
    memcpy(y, chain->offset, d * sizeof(double));
    mel_axpy(d, 1.0, frame->centre, y);
    mel_frame_coordinates(frame, y, chain->z);
    memcpy(chain->value, bounce->value, chain->kept * sizeof(double));
}

void mel_chain_sweep(mel_chain *chain)
{
    const size_t d = chain->frame->dimension;
    if (chain->since++ >= RESYNC)
        synchronise(chain);
    chain->offset2 = mel_dot(d, chain->offset, chain->offset);
    if (can_bounce(chain)) {
        size_t wrong = 0;
        if (mel_bounce_take(&chain->bounce, chain, &wrong))
            arrive(chain, wrong);
        if (chain->turn++ % SWEEP_EVERY != 0)
            return;
        chain->offset2 = mel_dot(d, chain->offset, chain->offset);
    }
    sweep_axes(chain);
}
