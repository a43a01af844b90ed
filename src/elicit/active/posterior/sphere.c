/* A sampler of unit vectors: its chains and what their samples say, answers that no sample fits, making one,
 * and hearing answers. */
#include "elicit/active/posterior/sphere.h"

#include "base/la.h"
#include "elicit/active/posterior/chain.h"
#include "elicit/active/posterior/interior.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CHAINS = 128,  /* at most */
    BURN_IN = 4,        /* sweeps of a chain that starts at a draw of the (reweighted) posterior */
    FIRST_BURN_IN = 50, /* sweeps from the caller's start */
    FIRST_ROUNDS = 4,   /* runs from there, each in coordinates fitted to the one before */
    FAR_ROUNDS = 12,    /* runs from samples that the answers contradict: all may blame the same one */
    CAREFUL_UP_TO = 2   /* dimensions: in 6 the errors were 1.2 times as large with stakes as without */
};

struct mel_sampler {
    mel_sampler_options opt; /* cone: own copy; start: not kept */
    double *cone;
    double *prior_weights; /* D: times its strength; the chain has them, or NULL: uniform */
    mel_answers answers;
    mel_frame frame;
    mel_chain chain;
    double *w;              /* count x D */
    mel_noise_state *noise; /* count */
    double *z;              /* count x D: coordinates in the frame of the run, for mixing */
    double *weight;         /* count */
    double *start;          /* MOST_CHAINS x D */
    mel_noise_state start_noise[MOST_CHAINS];
    double *mean;       /* D */
    double *centre;     /* D */
    double *stake;      /* count */
    double *covariance; /* D x D */
    double *direction;  /* D: work */
    double *inside;     /* D: work */
    mel_interior interior;
    mel_samples samples;
};

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
    return mel_samples_level(samples, samples->noise->slips ? 0.975 : 0.95);
}

static size_t chain_count(const mel_sampler *sampler)
{
    const mel_noise_ops *noise = sampler->answers.noise;
    if (sampler->answers.count == 0 || !mel_noise_anywhere(noise))
        return FEW_CHAINS;
    return noise->errs == MEL_ERRS_ALIKE ? MOST_CHAINS : SOME_CHAINS;
}

/* Moments of the samples, and what to report of them. */
static void sampler_moments(mel_sampler *sampler)
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
    if (!answers->noise->slips || (mel_answers_err_by_margin(answers) && mel_answers_choices(answers) == 0))
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
    size_t picked[MOST_CHAINS];
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
            if (mel_answers_err_by_margin(&sampler->answers))
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

/* Samples from the chosen starts in the frame as it is. */
static void sampler_run(mel_sampler *sampler, size_t burn_in)
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
    sampler_moments(sampler);
}

static double efficiency(const mel_sampler *sampler)
{
    return sampler->samples.effective / (double)sampler->samples.count;
}

static void sampler_weigh_equally(mel_sampler *sampler)
{
    for (size_t i = 0; i < sampler->samples.count; i++)
        sampler->weight[i] = 1.0;
}

/* From draws from the samples by their weights. */
static void rerun(mel_sampler *sampler, const double *weight, const double *row)
{
    mel_frame_fit(&sampler->frame, sampler->samples.count, sampler->w, weight, row, efficiency(sampler));
    choose_starts(sampler);
    sampler_run(sampler, BURN_IN);
}

/* The same from draws from the samples by their weights, in coordinates fitted to them; row: the newest. */
static void sampler_run_weighted(mel_sampler *sampler, const double *row)
{
    rerun(sampler, sampler->weight, row);
}

/* Another run from the samples of the last one. */
static void sampler_run_again(mel_sampler *sampler)
{
    sampler_weigh_equally(sampler);
    rerun(sampler, NULL, NULL);
}

/* The first runs from one unit vector. */
static void sampler_run_from(mel_sampler *sampler, const double *from, const mel_noise_state *noise)
{
    const size_t d = sampler->opt.dimension;
    mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
    for (size_t c = 0; c < MOST_CHAINS; c++) {
        memcpy(sampler->start + c * d, from, d * sizeof(double));
        sampler->start_noise[c] = *noise;
    }
    sampler_run(sampler, FIRST_BURN_IN);
    for (int round = 1; round < FIRST_ROUNDS; round++)
        sampler_run_again(sampler);
}

static void find_centre(mel_sampler *sampler)
{
    const size_t d = sampler->opt.dimension, n = sampler->samples.count;
    memcpy(sampler->centre, sampler->mean, d * sizeof(double));
    if (!sampler->answers.noise->slips || sampler->opt.reports_mean)
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
    if (answers->noise->errs != MEL_ERRS_ALIKE || told == 0 || answers->dimension > CAREFUL_UP_TO)
        return;
    const mel_component careful = answers->noise->given(fmax(answers->assume.size, MEL_CAREFUL_RATE));
    double *log_stake = sampler->weight; /* filled anew by the next answer */
    for (size_t i = 0; i < n; i++) {
        const size_t wrong = sampler->noise[i].wrong;
        log_stake[i] = mel_components_log_weight(1, &careful, wrong, told) - answers->log_weight[wrong];
    }
    double share = 1.0;
    while (set_stakes(n, log_stake, share, sampler->stake) < least_worth * (double)n)
        share *= 0.75;
    sampler->samples.stake = sampler->stake;
}

static void sampler_finish(mel_sampler *sampler)
{
    sampler->samples.noise = sampler->answers.noise;
    find_stakes(sampler);
    find_centre(sampler);
    find_error_rate(sampler);
    count_in_band(sampler);
}

/* A stream of its own for each number of answers, apart from those that questions and simulated oracles draw
 * from the same seed. */
static void sampler_stream(mel_sampler *sampler)
{
    mel_rng_seed_stream(&sampler->chain.rng, sampler->opt.seed, UINT64_C(1) << 63 | sampler->answers.count);
}

enum { LEVELS = 200 }; /* steps towards an answer that no sample fits */
/* Share of the samples that a step towards an unlikely answer keeps. */
static const double level_share = 0.1;
/* Unit in which samples are close to an answer. */
static const double least_closeness = 0.002;
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
        sampler_run_weighted(sampler, row);
    }
    return false;
}

/* Hard answers that contradict each other refute the assumption that all are right. */
static void give_up_hardness(mel_sampler *sampler)
{
    mel_answers_assume(&sampler->answers, mel_assumed_flips());
    sampler->samples.contradicted = true;
    mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
    sampler_weigh_equally(sampler);
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
    sampler_run_from(sampler, sampler->inside, &noise);
    sampler_weigh_equally(sampler);
}

/* No sample explains the newest answer by the band, or as "about the same": those that come closest start. */
static void weigh_closeness(mel_sampler *sampler)
{
    const mel_answers *answers = &sampler->answers;
    const size_t d = answers->dimension, newest = answers->count - 1;
    double best = -INFINITY;
    for (size_t i = 0; i < sampler->samples.count; i++) {
        const double value = mel_dot(d, answers->row + newest * d, sampler->w + i * d);
        sampler->weight[i] = answers->same[newest] ? -fabs(value) : value;
        best = fmax(best, sampler->weight[i]);
    }
    const double unit = fmax(answers->assume.size, least_closeness) / fabs(answers->gain[newest]);
    for (size_t i = 0; i < sampler->samples.count; i++)
        sampler->weight[i] = exp((sampler->weight[i] - best) / unit);
}

/* No sample fits the newest answer: the samples become such that some do, or answers may be wrong. */
static void sampler_reach(mel_sampler *sampler)
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
    sampler_stream(sampler);
    if (sampler->opt.n_cone == 0 && sampler->chain.prior == NULL) {
        for (size_t i = 0; i < sampler->samples.count; i++) {
            mel_rng_sphere(&sampler->chain.rng, d, sampler->w + i * d);
            sampler->noise[i] = mel_noise_start(&sampler->answers, &sampler->chain.rng);
        }
        sampler->samples.scale_reduction = 1.0;
        sampler->samples.effective = (double)sampler->samples.count;
        sampler_moments(sampler);
        sampler_finish(sampler);
        return;
    }
    const double *from = sampler->opt.n_cone > 0 ? start : sampler->chain.prior;
    memcpy(sampler->inside, from, d * sizeof(double));
    mel_scale(d, 1.0 / mel_norm2(d, from), sampler->inside);
    mel_frame_reset(&sampler->frame);
    const mel_noise_state noise = mel_noise_start(&sampler->answers, &sampler->chain.rng);
    sampler_run_from(sampler, sampler->inside, &noise);
    sampler_finish(sampler);
}

/* How many when the caller does not say. */
static size_t usual_samples(const mel_sampler_options *opt)
{
    size_t n = PER_DIMENSION * opt->dimension;
    const mel_noise_ops *noise = mel_assumed(&opt->assume);
    if (noise->slips) {
        const size_t more = PER_DIMENSION_FLIPS * opt->dimension;
        n = more < MOST_FLIPS ? more : n > MOST_FLIPS ? n : MOST_FLIPS;
    }
    const bool careful = noise->errs == MEL_ERRS_ALIKE && opt->dimension <= CAREFUL_UP_TO;
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
                               { MOST_CHAINS * d, { &s->start } },
                               { d, { &s->mean, &s->centre, &s->direction, &s->inside, &s->prior_weights } },
                               { d * d, { &s->covariance } },
                               { s->opt.n_cone * d, { &s->cone } } };
    s->noise = mel_alloc_zero(n, sizeof *s->noise);
    if (s->noise == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "samples of the posterior");
    TRY(mel_answers_reserve(&s->answers, 1, err));
    TRY(mel_frame_new(&s->frame, d, err));
    TRY(mel_interior_new(&s->interior, d, err));
    TRY(mel_chain_new(&s->chain, &s->frame, &s->answers, err));
    return mel_chain_reserve(&s->chain, s->opt.n_cone + 1, err);
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
    const size_t d = opt->dimension, unit = MOST_CHAINS, least = 2 * unit;
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

/* Draws of what is not known of the errors, where that has become something else. */
static void renew_noise(mel_sampler *sampler)
{
    for (size_t i = 0; i < sampler->samples.count && sampler->answers.renewed; i++) {
        const size_t wrong = sampler->noise[i].wrong;
        sampler->noise[i] = mel_noise_start(&sampler->answers, &sampler->chain.rng);
        sampler->noise[i].wrong = wrong;
    }
    sampler->answers.renewed = false;
}

static void update(mel_sampler *sampler)
{
    const double *row = sampler->answers.row + (sampler->answers.count - 1) * sampler->opt.dimension;
    bool far = false; /* from the samples of the answers before */
    sampler_stream(sampler);
    renew_noise(sampler);
    mel_chain_load(&sampler->chain, sampler->opt.n_cone, sampler->cone);
    if (!(weigh(sampler) > 0.0)) {
        sampler_reach(sampler);
        far = sampler->answers.noise->errs != MEL_ERRS_NEVER;
    }
    sampler_run_weighted(sampler, row);
    const int least = far ? FAR_ROUNDS : 1;
    for (int round = 1; round < MOST_ROUNDS || round < least; round++) {
        if (round >= least && !(sampler->samples.scale_reduction > MEL_POOR_MIXING))
            break;
        sampler_run_again(sampler);
    }
    sampler_finish(sampler);
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
    TRY(mel_answers_reserve(&sampler->answers, count, err));
    TRY(mel_chain_reserve(&sampler->chain, sampler->opt.n_cone + count, err));
    mel_answers_add(&sampler->answers, x, gain, answer);
    update(sampler);
    return MEL_OK;
}

void mel_sampler_predict(const mel_sampler *sampler, size_t n, size_t stride, double size, double *margin)
{
    const mel_answers *answers = &sampler->answers;
    double sharp[MEL_MOST_COMPONENTS];
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
