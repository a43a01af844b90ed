/* A sampler of unit vectors: making one, and hearing answers. */
#include "elicit/active/posterior/sphere_parts.h"

#include "base/la.h"
#include "elicit/active/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROUNDS = 3, /* runs per answer while mixing is poor */
    LEAST_SAMPLES = 400,
    PER_DIMENSION = 30,
    PER_DIMENSION_FLIPS = 80, /* flips leave parts that are hard to travel between */
    MOST_FLIPS = 2048,        /* can be waited for */
    LEAST_NOISY = 1024        /* in a band, and in two dimensions with flips */
};

void mel_sampler_free(mel_sampler *sampler)
{
    if (sampler == NULL)
        return;
    mel_answers_free(&sampler->answers);
    mel_frame_free(&sampler->frame);
    mel_chain_free(&sampler->chain);
    free(sampler->w); /* and all that was made with it */
    free(sampler->noise);
    mel_interior_free(&sampler->interior);
    free(sampler);
}

const mel_samples *mel_sampler_samples(const mel_sampler *sampler)
{
    return &sampler->samples;
}

void mel_sampler_set_gain(mel_sampler *sampler, size_t answer, double gain)
{
    sampler->answers.gain[answer] = gain * sampler->answers.length[answer];
}

/* --- prior -------------------------------------------------------------------------------------- */

static void sample_prior(mel_sampler *sampler, const double *start)
{
    const size_t d = sampler->opt.dimension;
    mel_sampler_stream(sampler);
    if (sampler->opt.n_cone == 0 && sampler->chain.prior == NULL) {
        for (size_t i = 0; i < sampler->samples.count; i++) {
            mel_rng_sphere(&sampler->chain.rng, d, sampler->w + i * d);
            sampler->noise[i] = mel_noise_start(&sampler->answers, &sampler->chain.rng);
        }
        sampler->samples.scale_reduction = 1.0;
        sampler->samples.effective = (double)sampler->samples.count;
        mel_sampler_moments(sampler);
        mel_sampler_finish(sampler);
        return;
    }
    const double *from = sampler->opt.n_cone > 0 ? start : sampler->chain.prior;
    memcpy(sampler->inside, from, d * sizeof(double));
    mel_scale(d, 1.0 / mel_norm2(d, from), sampler->inside);
    mel_frame_reset(&sampler->frame);
    const mel_noise_state noise = mel_noise_start(&sampler->answers, &sampler->chain.rng);
    mel_sampler_run_from(sampler, sampler->inside, &noise);
    mel_sampler_finish(sampler);
}

/* How many when the caller does not say. */
static size_t usual_samples(const mel_sampler_options *opt)
{
    size_t n = PER_DIMENSION * opt->dimension;
    const mel_noise_ops *noise = mel_assumed(&opt->assume);
    if (mel_noise_slips(noise)) {
        const size_t more = PER_DIMENSION_FLIPS * opt->dimension;
        n = more < MOST_FLIPS ? more : n > MOST_FLIPS ? n : MOST_FLIPS;
    }
    const bool careful = noise->errs == MEL_ERRS_ALIKE && opt->dimension <= MEL_CAREFUL_UP_TO;
    const size_t least = noise->band || careful ? LEAST_NOISY : LEAST_SAMPLES;
    return n > least ? n : least;
}

static mel_status check_options(const mel_sampler_options *opt, mel_error *err)
{
    if (opt->dimension < 2)
        return mel_fail(err, MEL_EINVAL, "a posterior needs at least 2 dimensions, not %zu", opt->dimension);
    if (!mel_assumption_is_valid(&opt->assume))
        return mel_fail(err, MEL_EINVAL, "the assumed noise cannot have the size %g", opt->assume.size);
    for (size_t j = 0; j < opt->n_cone; j++) {
        const double *g = opt->cone + j * opt->dimension;
        if (!mel_all_finite(opt->dimension, g) || !(mel_dot(opt->dimension, g, opt->start) > 0.0))
            return mel_fail(err, MEL_EINVAL, "the start is not inside half-space %zu of the cone", j + 1);
    }
    return MEL_OK;
}

static void keep_prior(mel_sampler *s, const mel_sampler_options *opt)
{
    s->opt.prior = NULL;
    if (opt->prior == NULL || !(opt->prior_strength > 0.0))
        return;
    for (size_t i = 0; i < opt->dimension; i++)
        s->prior_weights[i] = opt->prior_strength * opt->prior[i];
    s->chain.prior = s->prior_weights;
}

static mel_status allocate(mel_sampler *s, mel_error *err)
{
    const size_t d = s->opt.dimension, n = s->samples.count;
    const mel_part parts[] = { { n * d, { &s->w, &s->z } },
                               { n, { &s->weight, &s->stake } },
                               { MEL_CHAINS * d, { &s->start } },
                               { d, { &s->mean, &s->centre, &s->direction, &s->inside, &s->prior_weights } },
                               { d * d, { &s->covariance } },
                               { s->opt.n_cone * d, { &s->cone } } };
    s->noise = mel_alloc_zero(n, sizeof *s->noise);
    if (s->noise == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "samples of the posterior");
    mel_status status = mel_frame_new(&s->frame, d, err);
    if (status == MEL_OK)
        status = mel_interior_new(&s->interior, d, err);
    if (status == MEL_OK)
        status = mel_chain_new(&s->chain, &s->frame, &s->answers, err);
    if (status == MEL_OK)
        status = mel_chain_reserve(&s->chain, s->opt.n_cone + 1, err);
    return status;
}

mel_status mel_sampler_new(mel_sampler **out, const mel_sampler_options *opt, mel_error *err)
{
    *out = NULL;
    mel_status status = check_options(opt, err);
    if (status != MEL_OK)
        return status;
    mel_sampler *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "the posterior");
    const size_t d = opt->dimension, unit = MEL_CHAINS, least = 2 * unit;
    s->opt = *opt;
    s->opt.start = NULL;
    s->opt.assume = mel_assumption_settled(opt->assume);
    const size_t wanted = opt->samples > 0 ? opt->samples : usual_samples(&s->opt);
    s->samples.count = ((wanted > least ? wanted : least) + unit - 1) / unit * unit;
    s->samples.dimension = d;
    mel_answers_init(&s->answers, d, s->opt.assume);
    status = allocate(s, err);
    if (status != MEL_OK) {
        mel_sampler_free(s);
        return status;
    }
    keep_prior(s, opt);
    for (size_t j = 0; j < opt->n_cone; j++) {
        memcpy(s->cone + j * d, opt->cone + j * d, d * sizeof(double));
        mel_scale(d, 1.0 / mel_norm2(d, s->cone + j * d), s->cone + j * d);
    }
    s->opt.cone = s->cone;
    s->samples.w = s->w;
    s->samples.mean = s->mean;
    s->samples.centre = s->centre;
    s->samples.covariance = s->covariance;
    sample_prior(s, opt->start);
    *out = s;
    return MEL_OK;
}

/* --- answers ------------------------------------------------------------------------------------ */

/* How the newest answer changes the probability of sample i. */
static double new_weight(const mel_sampler *sampler, size_t i)
{
    const mel_answers *answers = &sampler->answers;
    const size_t d = answers->dimension, newest = answers->count - 1;
    return mel_answers_weight(answers, &sampler->noise[i],
                              mel_dot(d, answers->row + newest * d, sampler->w + i * d));
}

/* Sum of the weights that the newest answer gives the samples. */
static double weigh(mel_sampler *sampler)
{
    double total = 0.0;
    for (size_t i = 0; i < sampler->samples.count; i++) {
        sampler->weight[i] = new_weight(sampler, i);
        total += sampler->weight[i];
    }
    return total;
}

static void update(mel_sampler *sampler)
{
    const double *row = sampler->answers.row + (sampler->answers.count - 1) * sampler->opt.dimension;
    bool far = false; /* from the samples of the answers before */
    mel_sampler_stream(sampler);
    mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
    if (!(weigh(sampler) > 0.0)) {
        mel_sampler_reach(sampler);
        far = sampler->answers.noise->errs != MEL_ERRS_NEVER;
    }
    mel_sampler_run_weighted(sampler, row);
    const int least = far ? MEL_FIRST_ROUNDS : 1;
    for (int round = 1; round < MOST_ROUNDS || round < least; round++) {
        if (round >= least && !(sampler->samples.scale_reduction > MEL_POOR_MIXING))
            break;
        mel_sampler_run_again(sampler);
    }
    mel_sampler_finish(sampler);
}

mel_status mel_sampler_tell(mel_sampler *sampler, const double *x, double gain, mel_answer answer,
                            mel_error *err)
{
    const size_t d = sampler->opt.dimension, count = sampler->answers.count + 1;
    const double norm = mel_norm2(d, x);
    if (!(norm > 0.0) || !isfinite(norm) || !isfinite(gain))
        return mel_fail(err, MEL_EINVAL, "question %zu compares two points that no metric tells apart",
                        count);
    if (answer != MEL_ANSWER_A && answer != MEL_ANSWER_B && answer != MEL_ANSWER_SAME)
        return mel_fail(err, MEL_EINVAL, "question %zu: %d is not an answer", count, (int)answer);
    mel_status status = mel_answers_reserve(&sampler->answers, count, err);
    if (status == MEL_OK)
        status = mel_chain_reserve(&sampler->chain, sampler->opt.n_cone + count, err);
    if (status != MEL_OK)
        return status;
    mel_answers_add(&sampler->answers, x, gain, answer);
    update(sampler);
    return MEL_OK;
}

void mel_sampler_predict(const mel_sampler *sampler, size_t n, size_t stride, double size, double *margin)
{
    const mel_answers *answers = &sampler->answers;
    double sharp[MEL_MOST_WAYS];
    mel_answers_sharpen(answers, size, sharp);
    const bool right = answers->noise->errs == MEL_ERRS_NEVER;
    for (size_t i = 0; i < n && right; i++)
        margin[i] = margin[i] > 0.0 ? 1.0 : 0.0;
    for (size_t i = 0; i < n && !right; i++)
        margin[i] = mel_answers_predict(answers, &sampler->noise[i * stride], sharp, margin[i]);
}

double mel_sampler_probability(const mel_sampler *sampler, const double *x, double gain)
{
    enum { MOST = 1024 };
    double margin[MOST];
    const size_t d = sampler->opt.dimension, stride = (sampler->samples.count + MOST - 1) / MOST;
    const size_t n = sampler->samples.count / stride;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        margin[i] = gain * mel_dot(d, x, sampler->samples.w + i * stride * d);
    mel_sampler_predict(sampler, n, stride, gain * mel_norm2(d, x), margin);
    for (size_t i = 0; i < n; i++)
        sum += margin[i];
    return sum / (double)n;
}
