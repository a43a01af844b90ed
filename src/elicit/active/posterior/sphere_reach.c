/* Answers that no sample fits: the way of a sampler's samples towards them, or their refutation. */
#include "elicit/active/posterior/sphere_parts.h"

#include "base/la.h"
#include "elicit/active/select.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 200 }; /* steps towards an answer that no sample fits */
/* Share of the samples that a step towards an unlikely answer keeps. */
static const double level_share = 0.1;
/* Cosine to the direction of such a step below which samples are not looked at. */
static const double least_ahead = 0.05;

/* How the newest hard row x stands at a unit vector, seen from u: <x, w>/<u, w>; -INFINITY behind u's back.
 */
static double standing(const mel_sampler *sampler, const double *u, const double *w)
{
    const size_t d = sampler->opt.dimension;
    const double ahead = mel_dot(d, u, w);
    const double *row = sampler->answers.row + (sampler->answers.count - 1) * d;
    return ahead > least_ahead ? mel_dot(d, row, w) / ahead : -INFINITY;
}

/* The mean direction, into u, of the share of the samples on which the newest hard row stands best. */
static void best_direction(mel_sampler *sampler, double *u)
{
    const size_t d = sampler->opt.dimension, n = sampler->samples.count;
    const double *row = sampler->answers.row + (sampler->answers.count - 1) * d;
    double *value = sampler->z; /* overwritten by the next run anyway */
    for (size_t i = 0; i < n; i++)
        value[i] = mel_dot(d, row, sampler->w + i * d);
    const double limit = mel_quantile_select(n, value, 1.0 - level_share);
    memset(u, 0, d * sizeof(double));
    for (size_t i = 0; i < n; i++)
        if (mel_dot(d, row, sampler->w + i * d) >= limit)
            mel_axpy(d, 1.0, sampler->w + i * d, u);
    mel_scale(d, 1.0 / fmax(mel_norm2(d, u), 1e-300), u);
}

/* Gives weight to the samples on which the row stands above the level that level_share of them exceed, but
 * at most 0, and returns that level. */
static double raise_level(mel_sampler *sampler, const double *u)
{
    const size_t d = sampler->opt.dimension, n = sampler->samples.count;
    size_t ahead = 0;
    for (size_t i = 0; i < n; i++) {
        sampler->weight[i] = standing(sampler, u, sampler->w + i * d);
        if (isfinite(sampler->weight[i]))
            sampler->z[ahead++] = sampler->weight[i];
    }
    if (ahead == 0)
        return -INFINITY;
    const double level = fmin(0.0, mel_quantile_select(ahead, sampler->z, 1.0 - level_share));
    for (size_t i = 0; i < n; i++)
        sampler->weight[i] = sampler->weight[i] > level ? 1.0 : 0.0;
    return level;
}

/* No sample fits the newest hard answer: climbs towards it by cuts <x - level u, w> > 0 that turn towards
 * <x, w> > 0, each keeping a share of what is left. False when it stays out of reach: then the answers
 * contradict each other. */
static bool climb(mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension, n = sampler->samples.count;
    const double *row = sampler->answers.row + (sampler->answers.count - 1) * d;
    double *u = sampler->direction;
    for (int step = 0; step < LEVELS; step++) {
        best_direction(sampler, u);
        const double level = raise_level(sampler, u);
        size_t above = 0;
        for (size_t i = 0; i < n; i++)
            above += sampler->weight[i] > 0.0;
        if (above == 0)
            return false;
        mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
        if (level == 0.0)
            return true;
        mel_chain_tilt(&sampler->chain, u, level);
        mel_sampler_run_weighted(sampler, row);
    }
    return false;
}

/* Hard answers that contradict each other refute the assumption that all are right. */
static void give_up_hardness(mel_sampler *sampler)
{
    mel_answers_assume(&sampler->answers, mel_assumed_flips());
    sampler->samples.contradicted = true;
    mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
    mel_sampler_weigh_equally(sampler);
}

/* Into `inside`: a unit vector that fits the cone and all answers, all of them hard. Looked for where the
 * cloud is round, so that margins that are tiny only because the cloud is do not look like none. */
static bool find_inside(mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension;
    const mel_frame *frame = &sampler->frame;
    mel_chain *chain = &sampler->chain;
    for (size_t i = 0; i < chain->n_hard; i++)
        mel_frame_turn(frame, chain->row + i * d, chain->row + i * d);
    const bool found = mel_interior_find(&sampler->interior, chain->n_hard, chain->row, sampler->direction);
    mel_chain_load(chain, sampler->opt.n_cone, sampler->cone);
    /* In the chart, only what is on its side can be reached. */
    if (!found || (frame->chart && !(sampler->direction[d - 1] > 0.0)))
        return false;
    mel_frame_back(frame, sampler->direction, sampler->inside);
    return true;
}

/* From one vector that fits all answers to samples: chains from there, in coordinates that they improve. */
static void start_inside(mel_sampler *sampler)
{
    const mel_noise_state noise = sampler->noise[0];
    mel_sampler_run_from(sampler, sampler->inside, &noise);
    mel_sampler_weigh_equally(sampler);
}

/* No sample explains the newest answer by the band: those that come closest start. */
static void weigh_closeness(mel_sampler *sampler)
{
    const mel_answers *answers = &sampler->answers;
    const size_t d = answers->dimension, newest = answers->count - 1;
    double best = -INFINITY;
    for (size_t i = 0; i < sampler->samples.count; i++) {
        sampler->weight[i] = mel_dot(d, answers->row + newest * d, sampler->w + i * d);
        best = fmax(best, sampler->weight[i]);
    }
    const double unit = answers->assume.size / fabs(answers->gain[newest]);
    for (size_t i = 0; i < sampler->samples.count; i++)
        sampler->weight[i] = exp((sampler->weight[i] - best) / unit);
}

void mel_sampler_reach(mel_sampler *sampler)
{
    if (sampler->answers.noise->errs == MEL_ERRS_BY_MARGIN) {
        weigh_closeness(sampler);
        return;
    }
    if (!find_inside(sampler))
        give_up_hardness(sampler);
    else if (!climb(sampler))
        start_inside(sampler);
}
