/* A sampler of linear-fractional metrics: making one, hearing answers, its samples and their moments. */
#include "elicit/active/posterior/bivector.h"

#include "base/la.h"
#include "elicit/active/posterior/answers.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEL_BIVECTOR_CHAINS = 4 };

/* Products of a row's ends with s and t, or with the two halves of an axis. */
typedef struct {
    double sa, sb, ta, tb;
} mel_products;

struct mel_bivector_sampler {
    const mel_region *region;
    uint64_t seed;
    size_t n, d;
    mel_samples samples;
    double *theta, *fresh; /* count x d */
    mel_noise_state *noise, *fresh_noise;
    double *weight; /* count */
    double *prior;  /* d, or NULL: the metric that is thought likely */
    double strength;
    double *mean, *covariance;
    mel_answers answers; /* rows: A, then B, choices turned so that A is the preferred one */
    size_t capacity;
    double *sharp; /* components x capacity: what turns margins at |s| = 1 into z */
    /* The chain */
    mel_rng rng;
    double *axis;        /* d x d: one per row */
    mel_products *along; /* d x capacity */
    mel_products *here;  /* capacity */
    double *at, *trial;  /* d */
    mel_noise_state state;
    /* The row that ruled out the last step: likely to rule out the next, so it is looked at first. */
    size_t suspect;
    double *starts; /* MEL_BIVECTOR_CHAINS x d */
    mel_noise_state start_noise[MEL_BIVECTOR_CHAINS];
};

enum { SHRINKS = 200 }; /* tries of a slice step; then the chain stays */
/* First bracket of a slice step, in standard deviations. */
static const double bracket = 5.0;
/* How far t may lean along s in a chain. */
static const double lean = 0.3;
/* Lengths of t above this are alike a priori; below it the density of t itself is flat. */
static const double flat = 0.1;

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

static double margin_at(const mel_products *p, const mel_products *u, double step)
{
    const double sa = p->sa + step * u->sa, sb = p->sb + step * u->sb;
    const double ta = p->ta + step * u->ta, tb = p->tb + step * u->tb;
    return sa * (1.0 + tb) - sb * (1.0 + ta);
}

/* What one row says, by a component of the noise; margin at |s| = 1. */
static double log_row(const mel_bivector_sampler *b, size_t row, double margin, size_t k, double tie)
{
    const mel_component *component = &b->answers.component[k];
    const double z = b->sharp[k * b->capacity + row] * margin;
    return log(fmax(b->answers.same[row] ? mel_component_same(component, z, tie)
                                         : mel_component_choice(component, z, tie),
                    mel_impossible));
}

/* Log-likelihood after a step along an axis; *wrong: choices that are contradicted. length: of s there. */
static double log_likelihood(mel_bivector_sampler *b, const mel_products *u, double step, double length,
                             size_t *wrong)
{
    const mel_errs errs = b->answers.noise->errs;
    const double tie = mel_answers_tie(&b->answers, &b->state);
    double sum = 0.0;
    *wrong = 0;
    if (errs == MEL_ERRS_NEVER && b->suspect < b->answers.count &&
        !(margin_at(&b->here[b->suspect], &u[b->suspect], step) > 0.0))
        return -INFINITY;
    for (size_t i = 0; i < b->answers.count; i++) {
        const double margin = margin_at(&b->here[i], &u[i], step);
        if (errs == MEL_ERRS_BY_MARGIN)
            sum += log_row(b, i, margin / length, b->state.component, tie);
        else
            *wrong += margin > 0.0 ? 0U : 1U;
        if (*wrong > 0 && errs == MEL_ERRS_NEVER) {
            b->suspect = i;
            return -INFINITY;
        }
    }
    return errs == MEL_ERRS_ALIKE ? sum + b->answers.log_weight[*wrong] : sum;
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

/* Products of all rows with a vector of 2n numbers. */
static void bivector_multiply(const mel_bivector_sampler *b, const double *theta, mel_products *out)
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
    bivector_multiply(b, b->at, b->here);
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

/* Log-likelihood of all answers where the chain is. */
static double log_rows(const void *user, size_t component, double tie)
{
    const mel_bivector_sampler *b = user;
    const double length = mel_norm2(b->n, b->at);
    double sum = 0.0;
    for (size_t i = 0; i < b->answers.count; i++)
        sum += log_row(b, i, margin_at(&b->here[i], &b->here[i], 0.0) / length, component, tie);
    return sum;
}

/* One sweep of the chain at `at` along all axes. */
static void bivector_sweep(mel_bivector_sampler *b)
{
    mel_bivector_settle(b->n, b->at);
    draw_gauge(b);
    for (size_t axis = 0; axis < b->d; axis++)
        step_along(b, axis);
    if (mel_answers_err_by_margin(&b->answers))
        mel_noise_draw(&b->state, &b->answers, log_rows, b, &b->rng);
}

/* Choices that the place where the chain is contradicts. */
static size_t count_wrong(const mel_bivector_sampler *b)
{
    size_t wrong = 0;
    for (size_t i = 0; i < b->answers.count; i++)
        wrong += !b->answers.same[i] && !(margin_at(&b->here[i], &b->here[i], 0.0) > 0.0);
    return wrong;
}

enum {
    CHAINS = MEL_BIVECTOR_CHAINS,
    PER_DIMENSION = 30, /* samples per number of theta */
    LEAST_SAMPLES = 400,
    THIN = 2,           /* sweeps per sample */
    BURN_IN = 8,        /* sweeps */
    FIRST_BURN_IN = 60, /* from one point, in bad coordinates */
    FIRST_ROUNDS = 3,
    ROUNDS = 4 /* runs, until they mix */
};
/* Smallest share of a coordinate's variance that a factor keeps. */
static const double least_share = 1e-10;

void mel_bivector_sampler_free(mel_bivector_sampler *s)
{
    if (s == NULL)
        return;
    void *blocks[] = {
        s->mean /* and all that was made with it */, s->noise, s->fresh_noise, s->sharp, s->along, s->here
    };
    mel_answers_free(&s->answers);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    free(s);
}

const mel_samples *mel_bivector_sampler_samples(const mel_bivector_sampler *sampler)
{
    return &sampler->samples;
}

void mel_bivector_sampler_set_gain(mel_bivector_sampler *sampler, size_t answer, double gain)
{
    sampler->answers.gain[answer] = gain;
}

static double distance(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

void mel_bivector_sampler_predict(const mel_bivector_sampler *s, const double *a, const double *b,
                                  double gain, double *likely)
{
    double sharp[MEL_MOST_COMPONENTS];
    mel_answers_sharpen(&s->answers, gain * distance(s->n, a, b), sharp);
    for (size_t i = 0; i < s->samples.count; i++)
        likely[i] = mel_answers_predict(&s->answers, &s->noise[i], sharp, likely[i]);
}

/* --- samples -------------------------------------------------------------------------------------- */

/* Moments of the samples under their weights (sum > 0). */
static void find_moments(mel_bivector_sampler *b, const double *theta)
{
    const size_t n = b->samples.count, d = b->d;
    double sum = 0.0;
    memset(b->mean, 0, d * sizeof(double));
    memset(b->covariance, 0, d * d * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        sum += b->weight[i];
        mel_axpy(d, b->weight[i], theta + i * d, b->mean);
    }
    mel_scale(d, 1.0 / sum, b->mean);
    for (size_t i = 0; i < n; i++) {
        if (b->weight[i] == 0.0)
            continue;
        for (size_t j = 0; j < d; j++)
            b->trial[j] = theta[i * d + j] - b->mean[j];
        for (size_t j = 0; j < d; j++)
            mel_axpy(j + 1, b->weight[i] / sum * b->trial[j], b->trial, b->covariance + j * d);
    }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++)
            b->covariance[k * d + j] = b->covariance[j * d + k];
}

/* The axes are the columns of the covariance's Cholesky factor. */
static void find_axes(mel_bivector_sampler *b)
{
    const size_t d = b->d;
    double trace = 0.0, *factor = b->axis; /* row by row; turned over in the end */
    for (size_t j = 0; j < d; j++)
        trace += b->covariance[j * d + j];
    memcpy(factor, b->covariance, d * d * sizeof(double));
    for (size_t i = 0; i < d; i++) {
        const double least = least_share * (factor[i * d + i] + trace / (double)d) + 1e-280;
        for (size_t j = 0; j < i; j++)
            factor[i * d + j] =
                (factor[i * d + j] - mel_dot(j, factor + i * d, factor + j * d)) / factor[j * d + j];
        factor[i * d + i] = sqrt(fmax(factor[i * d + i] - mel_dot(i, factor + i * d, factor + i * d), least));
        for (size_t j = i + 1; j < d; j++)
            factor[i * d + j] = 0.0;
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            factor[j * d + i] = factor[i * d + j];
            factor[i * d + j] = 0.0;
        }
    for (size_t axis = 0; axis < d; axis++)
        bivector_multiply(b, factor + axis * d, b->along + axis * b->capacity);
}

/* Worst scale reduction over the numbers of theta, and the samples' worth. */
static void judge_mixing(mel_bivector_sampler *b)
{
    const size_t length = b->samples.count / CHAINS, d = b->d;
    double worst = 1.0, between_sum = 0.0, within_sum = 0.0;
    for (size_t j = 0; j < d; j++) {
        double within = 0.0, means[CHAINS], mean = 0.0, between = 0.0;
        for (size_t c = 0; c < CHAINS; c++) {
            const double *x = b->fresh + c * length * d + j;
            means[c] = 0.0;
            for (size_t i = 0; i < length; i++)
                means[c] += x[i * d] / (double)length;
            for (size_t i = 0; i < length; i++)
                within += (x[i * d] - means[c]) * (x[i * d] - means[c]) / (double)(CHAINS * (length - 1));
            mean += means[c] / CHAINS;
        }
        for (size_t c = 0; c < CHAINS; c++)
            between += (means[c] - mean) * (means[c] - mean) / (CHAINS - 1);
        between_sum += between;
        within_sum += within;
        if (within > 0.0)
            worst = fmax(worst, sqrt(1.0 - 1.0 / (double)length + between / within));
    }
    b->samples.scale_reduction = worst;
    b->samples.effective = (double)b->samples.count;
    if (between_sum > 0.0)
        b->samples.effective = fmin(b->samples.effective, CHAINS * within_sum / between_sum);
}

/* Runs every chain from its start and leaves its samples in fresh, its end as the next start. */
static void run(mel_bivector_sampler *b, size_t burn_in)
{
    const size_t length = b->samples.count / CHAINS, d = b->d;
    find_axes(b);
    for (size_t c = 0; c < CHAINS; c++) {
        memcpy(b->at, b->starts + c * d, d * sizeof(double));
        b->state = b->start_noise[c];
        for (size_t i = 0; i < burn_in; i++)
            bivector_sweep(b);
        for (size_t i = 0; i < length; i++) {
            for (size_t k = 0; k < THIN; k++)
                bivector_sweep(b);
            double *out = b->fresh + (c * length + i) * d;
            memcpy(out, b->at, d * sizeof(double));
            mel_bivector_settle(b->n, out);
            b->state.wrong = count_wrong(b);
            b->fresh_noise[c * length + i] = b->state;
        }
        memcpy(b->starts + c * d, b->at, d * sizeof(double));
        mel_bivector_settle(b->n, b->starts + c * d);
        b->start_noise[c] = b->state;
    }
    judge_mixing(b);
}

static void weigh_alike(mel_bivector_sampler *b)
{
    for (size_t i = 0; i < b->samples.count; i++)
        b->weight[i] = 1.0;
}

/* How many of the last MEL_LATELY answers the band decided at the mean. */
static size_t lately_in_band(const mel_bivector_sampler *b)
{
    size_t inside = 0;
    for (size_t i = b->answers.count > MEL_LATELY ? b->answers.count - MEL_LATELY : 0; i < b->answers.count;
         i++) {
        const double *ends = b->answers.row + i * 2 * b->n;
        const double margin = b->answers.gain[i] * mel_bivector_margin(b->n, b->mean, ends, ends + b->n);
        inside += !b->answers.same[i] && fabs(margin) <= b->answers.assume.size;
    }
    return inside;
}

/* Fresh samples become the samples. */
static void finish(mel_bivector_sampler *b)
{
    double *theta = b->theta;
    mel_noise_state *noise = b->noise;
    b->theta = b->fresh;
    b->noise = b->fresh_noise;
    b->fresh = theta;
    b->fresh_noise = noise;
    weigh_alike(b);
    find_moments(b, b->theta);
    b->samples.w = b->theta;
    b->samples.resultant = mel_norm2(b->n, b->mean);
    mel_bivector_settle(b->n, b->mean);
    b->samples.noise = b->answers.noise;
    b->samples.lately_in_band = b->answers.noise->band ? lately_in_band(b) : 0;
    b->samples.error_rate = (double)NAN;
    if (!b->answers.noise->slips ||
        (mel_answers_err_by_margin(&b->answers) && mel_answers_choices(&b->answers) == 0))
        return;
    b->samples.error_rate = 0.0;
    for (size_t i = 0; i < b->samples.count; i++)
        b->samples.error_rate += mel_answers_rate(&b->answers, &b->noise[i]) / (double)b->samples.count;
}

/* Runs with the covariance as it is, and again with the new one as long as the chains disagree. */
static void run_until_mixed(mel_bivector_sampler *b, size_t burn_in, int least_rounds)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0) {
            weigh_alike(b);
            find_moments(b, b->fresh);
        }
        run(b, burn_in);
        if (round + 1 >= least_rounds && b->samples.scale_reduction <= MEL_POOR_MIXING)
            break;
    }
    finish(b);
}

static void start_stream(mel_bivector_sampler *b)
{
    mel_rng_seed_stream(&b->rng, b->seed, UINT64_C(1) << 63 | b->answers.count);
}

/* Where a chain starts: at the prior metric, or where the signs hold. */
static void start_at(mel_bivector_sampler *b, double *s)
{
    const size_t n = b->n;
    if (b->prior != NULL && mel_region_allows(b->region, b->prior)) {
        memcpy(s, b->prior, b->d * sizeof(double));
        return;
    }
    mel_rng_sphere(&b->rng, n, s);
    for (size_t i = 0; i < n; i++)
        if (b->region->sign[i] != 0)
            s[i] = (double)b->region->sign[i] * (fabs(s[i]) + 0.1);
    mel_bivector_settle(n, s);
}

static void sample_prior(mel_bivector_sampler *b)
{
    const size_t n = b->n, d = b->d;
    start_stream(b);
    memset(b->starts, 0, CHAINS * d * sizeof(double));
    for (size_t c = 0; c < CHAINS; c++) {
        start_at(b, b->starts + c * d);
        b->start_noise[c] = mel_noise_start(&b->answers, &b->rng);
    }
    for (size_t j = 0; j < d; j++) {
        b->covariance[j * d + j] = (j < n ? 0.3 : 0.1) / (double)n;
        if (b->prior != NULL)
            b->covariance[j * d + j] = fmin(b->covariance[j * d + j], 1.0 / b->strength);
    }
    run_until_mixed(b, FIRST_BURN_IN, FIRST_ROUNDS);
}

/* --- making one ----------------------------------------------------------------------------------- */

static mel_status reserve(mel_bivector_sampler *b, size_t rows, mel_error *err)
{
    if (rows <= b->capacity)
        return MEL_OK;
    const size_t capacity = rows < 32 ? 64 : 2 * rows;
    void *along = b->along, *here = b->here;
    TRY(mel_answers_reserve(&b->answers, rows, err));
    const mel_part parts[] = { { capacity * MEL_MOST_COMPONENTS, { &b->sharp } } };
    bool all = mel_parts_grow(MEL_PARTS(parts));
    all = all && mel_grow(&here, capacity, sizeof *b->here);
    b->here = here;
    all = all && mel_grow(&along, capacity * b->d, sizeof *b->along);
    b->along = along;
    if (!all)
        return mel_fail_memory(err, "the answers");
    b->capacity = capacity;
    return MEL_OK;
}

static mel_status allocate(mel_bivector_sampler *b, mel_error *err)
{
    const size_t count = b->samples.count, d = b->d;
    const mel_part parts[] = { { d, { &b->mean, &b->at, &b->trial, &b->prior } },
                               { count * d, { &b->theta, &b->fresh } },
                               { count, { &b->weight } },
                               { d * d, { &b->covariance, &b->axis } },
                               { CHAINS * d, { &b->starts } } };
    b->noise = mel_alloc_zero(count, sizeof *b->noise);
    b->fresh_noise = mel_alloc_zero(count, sizeof *b->fresh_noise);
    if (b->noise == NULL || b->fresh_noise == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "samples of the posterior");
    return reserve(b, 1, err);
}

mel_status mel_bivector_sampler_new(mel_bivector_sampler **out, const mel_bivector_options *opt,
                                    mel_error *err)
{
    *out = NULL;
    mel_bivector_sampler *b = mel_alloc_zero(1, sizeof *b);
    if (b == NULL)
        return mel_fail_memory(err, "the posterior");
    b->region = opt->region;
    b->seed = opt->seed;
    b->n = b->region->n;
    b->d = 2 * b->n;
    mel_answers_init(&b->answers, b->d, mel_assumption_settled(opt->assume));
    b->answers.unit = false;
    const size_t wanted = PER_DIMENSION * b->d;
    b->samples.count = ((wanted > LEAST_SAMPLES ? wanted : LEAST_SAMPLES) + CHAINS - 1) / CHAINS * CHAINS;
    b->samples.dimension = b->d;
    const mel_status status = allocate(b, err);
    if (status != MEL_OK) {
        mel_bivector_sampler_free(b);
        return status;
    }
    if (opt->prior != NULL)
        memcpy(b->prior, opt->prior, b->d * sizeof(double));
    else
        b->prior = NULL;
    b->strength = opt->prior_strength;
    b->samples.mean = b->mean;
    b->samples.covariance = b->covariance;
    sample_prior(b);
    *out = b;
    return MEL_OK;
}

/* --- answers -------------------------------------------------------------------------------------- */

/* How the newest answer changes the probability of sample i. */
static double new_weight(const mel_bivector_sampler *b, size_t i)
{
    const size_t newest = b->answers.count - 1, n = b->n;
    const double *ends = b->answers.row + newest * 2 * n;
    const double margin = mel_bivector_margin(n, b->theta + i * b->d, ends, ends + n);
    return mel_answers_weight(&b->answers, &b->noise[i], margin);
}

/* Sum of the weights; *worth: how many samples they stand for. */
static double weigh(mel_bivector_sampler *b, double *worth)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < b->samples.count; i++) {
        b->weight[i] = new_weight(b, i);
        sum += b->weight[i];
        squares += b->weight[i] * b->weight[i];
    }
    *worth = squares > 0.0 ? sum * sum / squares : 0.0;
    return sum;
}

static void pick_starts(mel_bivector_sampler *b)
{
    size_t picked[CHAINS];
    mel_resample(picked, CHAINS, b->samples.count, b->weight, mel_rng_uniform(&b->rng));
    for (size_t c = 0; c < CHAINS; c++) {
        memcpy(b->starts + c * b->d, b->theta + picked[c] * b->d, b->d * sizeof(double));
        b->start_noise[c] = b->noise[picked[c]];
    }
}

static void add_row(mel_bivector_sampler *b, const double *first, const double *second, double gain,
                    mel_answer answer)
{
    const size_t n = b->n;
    double *ends = mel_answers_put(&b->answers, distance(n, first, second), gain, answer);
    const bool turn = answer == MEL_ANSWER_B;
    memcpy(ends, turn ? second : first, n * sizeof(double));
    memcpy(ends + n, turn ? first : second, n * sizeof(double));
}

static void sharpen(mel_bivector_sampler *b)
{
    for (size_t k = 0; k < b->answers.n_components && mel_answers_err_by_margin(&b->answers); k++)
        for (size_t i = 0; i < b->answers.count; i++)
            b->sharp[k * b->capacity + i] = mel_answers_sharp(&b->answers, i, &b->answers.component[k]);
}

/* Draws of what is not known of the errors, where that has become something else. */
static void renew_noise(mel_bivector_sampler *b)
{
    for (size_t i = 0; i < b->samples.count && b->answers.renewed; i++) {
        const size_t wrong = b->noise[i].wrong;
        b->noise[i] = mel_noise_start(&b->answers, &b->rng);
        b->noise[i].wrong = wrong;
    }
    b->answers.renewed = false;
}

mel_status mel_bivector_sampler_tell(mel_bivector_sampler *b, const double *first, const double *second,
                                     double gain, mel_answer answer, mel_error *err)
{
    TRY(reserve(b, b->answers.count + 1, err));
    add_row(b, first, second, gain, answer);
    start_stream(b);
    renew_noise(b);
    double worth = 0.0;
    if (!(weigh(b, &worth) >
          0.0)) { /* answers assumed right contradict each other: flips are learned instead */
        mel_answers_assume(&b->answers, mel_assumed_flips());
        b->samples.contradicted = true;
        (void)weigh(b, &worth);
    }
    sharpen(b);
    pick_starts(b);
    if (worth < 2.0 * (double)b->d)
        weigh_alike(b);
    find_moments(b, b->theta);
    run_until_mixed(b, BURN_IN, 1);
    return MEL_OK;
}
