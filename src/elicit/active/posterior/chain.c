/* A Markov chain over unit vectors: its rows in the frame, where it is, its sweeps. */
#include "elicit/active/posterior/chain_step.h"

#include "base/la.h"
#include "base/wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
                               { capacity * chain->answers->n_ways + 1, { &chain->sharp } },
                               { capacity + 1, { &chain->flip_weight } } };
    if (!grown || !mel_parts_grow(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a chain's products");
    const mel_status status = mel_bounce_reserve(&chain->bounce, capacity, d, err);
    if (status == MEL_OK)
        chain->capacity = capacity;
    return status;
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
        const double log_weight = noise->log_weight(answers->assume.size, k, chain->n_choices) -
                                  noise->log_weight(answers->assume.size, 0, chain->n_choices);
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
    for (size_t k = 0; k < chain->answers->n_ways; k++) /* rows are at unit length */
        for (size_t i = chain->choices_from; i < chain->kept; i++)
            chain->sharp[k * chain->n_rows + i] =
                chain->gain[i] * mel_way_sharpness(&chain->answers->way[k], 0.5 * fabs(chain->gain[i]));
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

void mel_chain_shift(mel_chain *chain, size_t j, size_t next, double t)
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
    mel_chain_shift(chain, 0, 0, 0.0);
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
    mel_chain_shift(chain, 0, 0, 0.0);
    chain->reach2 = 1.0;
    if (chain->frame->chart) /* the chart's density (1 + |offset|^2)^(-D/2) as a slice */
        chain->reach2 =
            (1.0 + chain->offset2) * pow(1.0 - mel_rng_uniform(&chain->rng), -2.0 / (double)d) - 1.0;
    mel_chain_draw_noise(chain);
    for (size_t j = 0; j < chain->frame->axes; j++)
        mel_chain_step(chain, j);
}

static bool can_bounce(const mel_chain *chain)
{
    return chain->bounce.rows > 0 && chain->frame->axes >= BOUNCE_FROM && !mel_chain_is_smooth(chain);
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
