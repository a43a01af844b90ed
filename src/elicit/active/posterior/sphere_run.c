/* Runs of the chains of a sampler, and what their samples say. */
#include "elicit/active/posterior/sphere_parts.h"

#include "base/la.h"
#include "elicit/active/history.h"
#include "elicit/active/posterior/chain_step.h"
#include "elicit/active/posterior/mixing.h"
#include "elicit/active/select.h"

#include <math.h>
#include <string.h>

/* Chains: few when one reaches everything; many, which keep the shares of parts that are hard to travel
 * between, when answers may be wrong. */
enum { FEW_CHAINS = 4, SOME_CHAINS = 32 };
/* Least share of the samples that the stakes must be worth. */
static const double least_worth = 0.25;

/* The k-th smallest of n draws exceeds another draw with probability k/(n + 1); the quantile at level l of n
 * draws is the k-th with k = 1 + l (n - 1). */
double mel_samples_level(const mel_samples *samples, double q)
{
    const double n = fmax(samples->effective, 2.0);
    const double held = samples->noise->outside < 1.0 ? 1.0 - samples->noise->outside * (1.0 - q) : q;
    return fmin(1.0, (held * (n + 1.0) - 1.0) / (n - 1.0));
}

double mel_samples_radius_level(const mel_samples *samples)
{
    return mel_samples_level(samples, mel_noise_slips(samples->noise) ? 0.975 : 0.95);
}

static size_t chain_count(const mel_sampler *sampler)
{
    const mel_noise_ops *noise = sampler->answers.noise;
    if (sampler->answers.count == 0 || !mel_noise_anywhere(noise))
        return FEW_CHAINS;
    return noise->errs == MEL_ERRS_ALIKE ? MEL_CHAINS : SOME_CHAINS;
}

void mel_sampler_moments(mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension;
    mel_frame_moments(&sampler->frame, sampler->samples.count, sampler->w, sampler->mean,
                      sampler->covariance);
    const double length = mel_norm2(d, sampler->mean);
    sampler->samples.resultant = length;
    if (length > 0.0)
        mel_scale(d, 1.0 / length, sampler->mean);
    mel_frame_learn(&sampler->frame, sampler->covariance, sampler->samples.effective);
}

static void find_error_rate(mel_sampler *sampler)
{
    const mel_answers *answers = &sampler->answers;
    sampler->samples.error_rate = NAN;
    if (!mel_noise_slips(answers->noise) || (answers->n_ways > 0 && mel_answers_choices(answers) == 0))
        return;
    double sum = 0.0;
    for (size_t i = 0; i < sampler->samples.count; i++)
        sum += mel_answers_rate(answers, &sampler->noise[i]);
    sampler->samples.error_rate = sum / (double)sampler->samples.count;
}

static void count_in_band(mel_sampler *sampler)
{
    const mel_answers *answers = &sampler->answers;
    const size_t d = answers->dimension;
    sampler->samples.in_band = sampler->samples.lately_in_band = 0;
    if (!answers->noise->band)
        return;
    for (size_t i = 0; i < answers->count; i++) {
        const double margin = answers->gain[i] * mel_dot(d, answers->row + i * d, sampler->mean);
        const bool inside = !answers->same[i] && fabs(margin) <= answers->assume.size;
        sampler->samples.in_band += inside;
        sampler->samples.lately_in_band += inside && i + MEL_LATELY >= answers->count;
    }
}

/* Chains start at draws from the samples by their weights. */
static void choose_starts(mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension, chains = chain_count(sampler);
    size_t picked[MEL_CHAINS];
    mel_resample(picked, chains, sampler->samples.count, sampler->weight,
                 mel_rng_uniform(&sampler->chain.rng));
    for (size_t c = 0; c < chains; c++) {
        memcpy(sampler->start + c * d, sampler->w + picked[c] * d, d * sizeof(double));
        sampler->start_noise[c] = sampler->noise[picked[c]];
    }
}

static void record_chains(mel_sampler *sampler, size_t burn_in)
{
    const size_t d = sampler->opt.dimension, chains = chain_count(sampler);
    const size_t length = sampler->samples.count / chains;
    mel_chain *chain = &sampler->chain;
    for (size_t c = 0; c < chains; c++) {
        mel_chain_place(chain, sampler->start + c * d, &sampler->start_noise[c]);
        for (size_t i = 0; i < burn_in; i++)
            mel_chain_sweep(chain);
        for (size_t i = c * length; i < (c + 1) * length; i++) {
            mel_chain_sweep(chain);
            mel_chain_get(chain, sampler->w + i * d);
            memcpy(sampler->z + i * d, chain->z, d * sizeof(double));
            if (sampler->answers.n_ways > 0)
                mel_chain_count_wrong(chain);
            sampler->noise[i] = chain->noise;
        }
    }
}

static bool fits_pruned(const mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension;
    for (size_t i = 0; i < sampler->samples.count; i++)
        if (!mel_chain_check(&sampler->chain, sampler->w + i * d))
            return false;
    return true;
}

void mel_sampler_run(mel_sampler *sampler, size_t burn_in)
{
    sampler->chain.prune = true;
    mel_chain_look(&sampler->chain);
    record_chains(sampler, burn_in);
    if (!fits_pruned(sampler)) {
        sampler->chain.prune = false;
        mel_chain_look(&sampler->chain);
        record_chains(sampler, burn_in);
    }
    mel_mixing(sampler->samples.count, chain_count(sampler), sampler->frame.axes, sampler->z,
               sampler->opt.dimension, &sampler->samples.scale_reduction, &sampler->samples.effective);
    mel_sampler_moments(sampler);
}

static double efficiency(const mel_sampler *sampler)
{
    return sampler->samples.effective / (double)sampler->samples.count;
}

void mel_sampler_weigh_equally(mel_sampler *sampler)
{
    for (size_t i = 0; i < sampler->samples.count; i++)
        sampler->weight[i] = 1.0;
}

/* From draws from the samples by their weights. */
static void rerun(mel_sampler *sampler, const double *weight, const double *row)
{
    mel_frame_fit(&sampler->frame, sampler->samples.count, sampler->w, weight, row, efficiency(sampler));
    choose_starts(sampler);
    mel_sampler_run(sampler, MEL_BURN_IN);
}

void mel_sampler_run_weighted(mel_sampler *sampler, const double *row)
{
    rerun(sampler, sampler->weight, row);
}

void mel_sampler_run_again(mel_sampler *sampler)
{
    mel_sampler_weigh_equally(sampler);
    rerun(sampler, NULL, NULL);
}

void mel_sampler_run_from(mel_sampler *sampler, const double *from, const mel_noise_state *noise)
{
    const size_t d = sampler->opt.dimension;
    mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
    for (size_t c = 0; c < MEL_CHAINS; c++) {
        memcpy(sampler->start + c * d, from, d * sizeof(double));
        sampler->start_noise[c] = *noise;
    }
    mel_sampler_run(sampler, MEL_FIRST_BURN_IN);
    for (int round = 1; round < MEL_FIRST_ROUNDS; round++)
        mel_sampler_run_again(sampler);
}

static void find_centre(mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension, n = sampler->samples.count;
    memcpy(sampler->centre, sampler->mean, d * sizeof(double));
    if (!mel_noise_slips(sampler->answers.noise) || sampler->opt.reports_mean)
        return;
    double *column = sampler->weight; /* filled anew by the next answer */
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < n; i++)
            column[i] = sampler->w[i * d + j];
        sampler->centre[j] = mel_quantile_select(n, column, 0.5);
    }
    const double length = mel_norm2(d, sampler->centre);
    if (length > 0.0)
        mel_scale(d, 1.0 / length, sampler->centre);
}

/* exp(share * log_stake) to a sum of 1, over the samples; how many equal samples that is worth. */
static double set_stakes(size_t n, const double *log_stake, double share, double *stake)
{
    double top = -INFINITY, sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, log_stake[i]);
    for (size_t i = 0; i < n; i++)
        sum += stake[i] = exp(share * (log_stake[i] - top));
    for (size_t i = 0; i < n; i++) {
        stake[i] /= sum;
        squares += stake[i] * stake[i];
    }
    return 1.0 / squares;
}

/* Only as careful as the samples allow: when stakes would rest on a few of them, with a smaller exponent. */
static void find_stakes(mel_sampler *sampler)
{
    const mel_answers *answers = &sampler->answers;
    const size_t n = sampler->samples.count, told = mel_answers_choices(answers);
    sampler->samples.stake = NULL;
    if (answers->noise->errs != MEL_ERRS_ALIKE || told == 0 || answers->dimension > MEL_CAREFUL_UP_TO)
        return;
    const double careful = fmax(answers->assume.size, MEL_CAREFUL_RATE);
    double *log_stake = sampler->weight; /* filled anew by the next answer */
    for (size_t i = 0; i < n; i++)
        log_stake[i] = answers->noise->log_weight(careful, sampler->noise[i].wrong, told) -
                       mel_answers_log_weight(answers, sampler->noise[i].wrong);
    double share = 1.0;
    while (set_stakes(n, log_stake, share, sampler->stake) < least_worth * (double)n)
        share *= 0.75;
    sampler->samples.stake = sampler->stake;
}

void mel_sampler_finish(mel_sampler *sampler)
{
    sampler->samples.noise = sampler->answers.noise;
    find_stakes(sampler);
    find_centre(sampler);
    find_error_rate(sampler);
    count_in_band(sampler);
}

/* A stream of its own for each number of answers, apart from those that questions and simulated oracles draw
 * from the same seed. */
void mel_sampler_stream(mel_sampler *sampler)
{
    mel_rng_seed_stream(&sampler->chain.rng, sampler->opt.seed, UINT64_C(1) << 63 | sampler->answers.count);
}
