/* Active elicitation of a binary linear-fractional metric: the posterior of its pivot (pivot.h) by samples
 * (posterior/sphere.h), asked about chord by chord (ask/chord.h).
 *
 * The tolerance is in radians of level lines: the session is done when 95% of the posterior's metrics
 * (97.5% with flips: mel_samples_radius_level) have all their level lines on the face within
 * it of the mean metric's, and the radius reported is that angle. (Preferences fix the level lines and
 * nothing else; how p and q are chosen among the metrics that share them is said in pivot.h.) A metric that
 * decreases is reported as a cost. */
#include "elicit/active/ask/chord.h"
#include "elicit/active/ending.h"
#include "elicit/active/history.h"
#include "elicit/active/select.h"
#include "elicit/face_pair.h"

#include <math.h>
#include <stdlib.h>

enum {
    SAMPLES = 640,
    COSTLY_SAMPLES = 400, /* where every answer's margin counts */
    DIRECTION_TRIES = 5   /* questions about an unknown direction, at most */
};
typedef struct {
    mel_engine base;
    const mel_face *face;
    mel_session_options opt;
    mel_shares shares;
    mel_sampler *sampler;
    mel_chords *chords;
    mel_history history;
    mel_avoided avoided; /* questions put aside since the last answer */
    size_t n_direction;  /* the first so many were about the direction; the sampler has the others */
    mel_direction direction;
    int lead; /* while the direction is unknown: answers for increasing less those for decreasing */
    double radius;
    bool asked; /* pair and end are those of the next question */
    mel_face_pair pair;
    mel_end end;
} fractional;

static void update_radius(fractional *f)
{
    f->radius = mel_chords_radius(f->chords, f->sampler);
}

/* --- answers ------------------------------------------------------------------------------------ */

static mel_answer turn(const fractional *f, mel_answer answer)
{
    if (f->direction != MEL_DECREASING || answer == MEL_ANSWER_SAME)
        return answer;
    return answer == MEL_ANSWER_A ? MEL_ANSWER_B : MEL_ANSWER_A;
}

/* The value of a difference depends on where the pivot is: gains are those of the mean metric. */
static double gain_of(const fractional *f, const mel_face_pair *pair)
{
    return mel_pivot_gain(mel_sampler_samples(f->sampler)->mean, mel_spot_of(f->shares, pair->a),
                          mel_spot_of(f->shares, pair->b));
}

static mel_face_pair told_pair(const fractional *f, size_t i)
{
    const double *a = f->history.points + 4 * i, *b = a + 2;
    return (mel_face_pair){ .a = { a[0], a[1] }, .b = { b[0], b[1] } };
}

static double predict(mel_engine *base, const double *a, const double *b)
{
    fractional *f = (fractional *)base;
    const mel_face_pair pair = { .a = { a[0], a[1] }, .b = { b[0], b[1] } };
    double row[3];
    mel_pivot_row(row, mel_spot_of(f->shares, pair.a), mel_spot_of(f->shares, pair.b));
    const double first = mel_sampler_probability(f->sampler, row, gain_of(f, &pair));
    return f->direction == MEL_DECREASING ? 1.0 - first : first;
}

static mel_status hear(fractional *f, const mel_face_pair *pair, mel_answer answer, mel_error *err)
{
    double row[3];
    for (size_t i = f->n_direction; i < f->history.n; i++) {
        const mel_face_pair told = told_pair(f, i);
        mel_sampler_set_gain(f->sampler, i - f->n_direction, gain_of(f, &told));
    }
    mel_pivot_row(row, mel_spot_of(f->shares, pair->a), mel_spot_of(f->shares, pair->b));
    const mel_status status = mel_sampler_tell(f->sampler, row, gain_of(f, pair), turn(f, answer), err);
    if (status == MEL_OK)
        update_radius(f);
    return status;
}

/* How far one answer must be ahead before an unknown direction counts as known. */
static int lead_needed(const fractional *f)
{
    return (int)mel_answers_needed(&f->opt.assume);
}

static void judge_direction(fractional *f, mel_answer answer)
{
    f->lead += answer == MEL_ANSWER_A ? 1 : answer == MEL_ANSWER_B ? -1 : 0;
    f->n_direction++;
    if (abs(f->lead) >= lead_needed(f) || f->n_direction >= DIRECTION_TRIES)
        f->direction = f->lead >= 0 ? MEL_INCREASING : MEL_DECREASING;
}

static mel_status fractional_tell(mel_engine *base, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    fractional *f = (fractional *)base;
    const mel_face_pair asked = mel_face_pair_read(pair);
    if (answer == MEL_ANSWER_SKIP) {
        mel_history_skip(&f->history, pair);
        double row[3];
        mel_pivot_row(row, mel_spot_of(f->shares, asked.a), mel_spot_of(f->shares, asked.b));
        mel_avoided_add(&f->avoided, row);
        f->asked = false;
        return MEL_OK;
    }
    mel_status status = mel_history_reserve(&f->history, err);
    if (status != MEL_OK)
        return status;
    const bool about_direction = f->direction == MEL_DIRECTION_UNKNOWN;
    const double foreseen = predict(base, pair->a, pair->b);
    if (about_direction)
        judge_direction(f, answer);
    else
        status = hear(f, &asked, answer, err);
    if (status != MEL_OK)
        return status;
    if (!about_direction)
        mel_history_score(&f->history, answer, foreseen);
    mel_history_add(&f->history, pair, about_direction);
    mel_avoided_clear(&f->avoided);
    f->asked = false;
    return MEL_OK;
}

/* --- questions ---------------------------------------------------------------------------------- */

static mel_status ask_direction(fractional *f, mel_error *err)
{
    const double tilt = (double)(f->avoided.n % 5); /* another pair when it was not answered */
    const mel_status status = mel_face_support(&f->pair.a, f->face, 1.0, 1.0 + tilt, err);
    return status == MEL_OK ? mel_face_support(&f->pair.b, f->face, -1.0, -1.0 - tilt, err) : status;
}

static bool ask_again(fractional *f)
{
    double a[2], b[2];
    if (f->avoided.n > 0 || !mel_history_repeat(a, b, &f->history, &f->opt, predict, &f->base))
        return false;
    f->pair = (mel_face_pair){ .a = { a[0], a[1] }, .b = { b[0], b[1] }, .repeated = true };
    return true;
}

static void choose(fractional *f, mel_rng *rng)
{
    mel_spot a = { 0 }, b = { 0 };
    double information = 0.0;
    mel_chords_choose(&a, &b, &information, f->chords, f->sampler, &f->avoided, rng);
    if (information < MEL_LEAST_INFORMATION && f->avoided.n > 0) /* nothing else is worth asking */
        mel_chords_choose(&a, &b, &information, f->chords, f->sampler, NULL, rng);
    f->end = mel_end_of(&f->opt, mel_sampler_samples(f->sampler),
                        &(mel_outlook){ .information = information, .margin = INFINITY });
    if (f->end != MEL_END_NOT_YET)
        return;
    const bool swap = mel_rng_next(rng) >> 63 != 0; /* which is A is a coin toss */
    f->pair.a = mel_point_of(f->shares, swap ? b : a);
    f->pair.b = mel_point_of(f->shares, swap ? a : b);
}

static mel_status propose(fractional *f, mel_error *err)
{
    mel_rng rng;
    mel_history_stream(&rng, &f->history, f->opt.seed);
    f->pair = (mel_face_pair){ .repeated = false };
    f->end = MEL_END_NOT_YET;
    if (f->direction == MEL_DIRECTION_UNKNOWN)
        return ask_direction(f, err);
    if (mel_is_precise(f->radius, &f->opt, mel_sampler_samples(f->sampler)))
        f->end = MEL_END_TOLERANCE;
    else if (!ask_again(f))
        choose(f, &rng);
    return MEL_OK;
}

static mel_status fractional_next(mel_engine *base, mel_pair *pair, mel_end *end, mel_error *err)
{
    fractional *f = (fractional *)base;
    if (!f->asked) {
        const mel_status status = propose(f, err);
        if (status != MEL_OK)
            return status;
        f->asked = true;
    }
    mel_face_pair_write(pair, &f->pair);
    *end = f->end;
    return MEL_OK;
}

/* --- results ------------------------------------------------------------------------------------ */

static mel_status fractional_draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values,
                                   mel_error *err)
{
    const fractional *f = (const fractional *)base;
    const mel_samples *samples = mel_sampler_samples(f->sampler);
    double *draw = mel_alloc(samples->count, MEL_FRACTIONAL_COEFFICIENTS * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    for (size_t i = 0; i < samples->count; i++)
        mel_pivot_metric(draw + i * MEL_FRACTIONAL_COEFFICIENTS, f->shares, samples->w + 3 * i);
    *n = samples->count;
    *n_coefficients = MEL_FRACTIONAL_COEFFICIENTS;
    *values = draw;
    return MEL_OK;
}

typedef struct {
    double mean[MEL_FRACTIONAL_COEFFICIENTS], low[MEL_FRACTIONAL_COEFFICIENTS],
        high[MEL_FRACTIONAL_COEFFICIENTS];
} estimate;

static mel_status find_estimate(estimate *e, const fractional *f, mel_error *err)
{
    const mel_samples *samples = mel_sampler_samples(f->sampler);
    const size_t n = samples->count;
    double *column = mel_alloc(n * MEL_FRACTIONAL_COEFFICIENTS, sizeof *column);
    if (column == NULL)
        return mel_fail_memory(err, "the intervals");
    for (size_t i = 0; i < n; i++) {
        double coefficient[MEL_FRACTIONAL_COEFFICIENTS];
        mel_pivot_metric(coefficient, f->shares, samples->w + 3 * i);
        for (size_t k = 0; k < MEL_FRACTIONAL_COEFFICIENTS; k++)
            column[k * n + i] = coefficient[k];
    }
    mel_pivot_metric(e->mean, f->shares, samples->mean);
    const double level = mel_samples_level(samples, 0.975);
    for (size_t k = 0; k < MEL_FRACTIONAL_COEFFICIENTS; k++) {
        e->low[k] = fmin(e->mean[k], mel_quantile_select(n, column + k * n, 1.0 - level));
        e->high[k] = fmax(e->mean[k], mel_quantile_select(n, column + k * n, level));
    }
    free(column);
    return MEL_OK;
}

static mel_status fractional_result(mel_engine *base, mel_metric **metric, mel_summary *summary,
                                    mel_error *err)
{
    fractional *f = (fractional *)base;
    estimate e = { 0 };
    mel_status status = find_estimate(&e, f, err);
    if (status != MEL_OK)
        return status;
    const mel_orientation orientation = f->direction == MEL_DECREASING ? MEL_COST : MEL_UTILITY;
    mel_metric *made = NULL;
    status =
        mel_metric_fractional(&made, MEL_FAMILY_LINEAR_FRACTIONAL, &mel_binary_layout, f->opt.class_names,
                              orientation, e.mean, e.mean[2], e.mean + 3, e.mean[5], err);
    if (status == MEL_OK)
        status = mel_metric_set_intervals(made, e.low, e.high, err);
    if (status != MEL_OK) {
        mel_metric_free(made);
        return status;
    }
    summary->radius = f->radius;
    summary->error_rate = mel_sampler_samples(f->sampler)->error_rate;
    summary->evidence = mel_reported_evidence(f->history.evidence, &f->opt);
    *metric = made;
    return MEL_OK;
}

static mel_status fractional_posterior(mel_engine *base, size_t n, double *angle, double *density,
                                       mel_error *err)
{
    (void)base;
    (void)n;
    (void)angle;
    (void)density;
    return mel_fail(err, MEL_ESTATE, "a linear-fractional metric has no single angle");
}

/* Two numbers are sought, so halving the radius takes two bits. */
static uint32_t fractional_expected(mel_engine *base)
{
    const fractional *f = (const fractional *)base;
    const double bits =
        mel_bits_per_answer(mel_assumed(&f->opt.assume), mel_sampler_samples(f->sampler)->error_rate);
    double left = 0.0;
    if (f->radius > f->opt.tolerance)
        left = ceil(2.0 * log2(f->radius / f->opt.tolerance) / bits);
    if (f->direction == MEL_DIRECTION_UNKNOWN)
        left += (double)lead_needed(f);
    return (uint32_t)fmin(left, 1e6);
}

static void fractional_free(mel_engine *base)
{
    fractional *f = (fractional *)base;
    if (f == NULL)
        return;
    mel_sampler_free(f->sampler);
    mel_chords_free(f->chords);
    mel_avoided_free(&f->avoided);
    mel_history_free(&f->history);
    free(f);
}

static const mel_engine_ops fractional_ops = {
    .next = fractional_next,
    .tell = fractional_tell,
    .result = fractional_result,
    .posterior = fractional_posterior,
    .draws = fractional_draws,
    .expected = fractional_expected,
    .free = fractional_free,
};

/* The direction of the prior metric as the sampler sees it, which thinks of metrics that increase. */
static mel_status set_prior(mel_sampler_options *sampling, double w[3], const fractional *f, mel_error *err)
{
    const mel_metric *metric = f->opt.prior;
    if (metric == NULL)
        return MEL_OK;
    if (f->opt.direction == MEL_DIRECTION_UNKNOWN)
        return mel_fail(err, MEL_EINVAL, "with a prior metric the direction cannot be unknown");
    if (!mel_pivot_of(w, f->shares, mel_metric_coefficient(metric)))
        return mel_fail(err, MEL_EINVAL, "the prior metric does not tell any two classifiers apart");
    const bool cost = mel_metric_orientation(metric) == MEL_COST;
    if (cost != (f->opt.direction == MEL_DECREASING))
        for (size_t i = 0; i < 3; i++)
            w[i] = -w[i];
    sampling->prior = w;
    sampling->prior_strength = f->opt.prior_strength;
    return MEL_OK;
}

mel_status mel_engine_fractional(mel_engine **out, const mel_face *face, const mel_session_options *opt,
                                 mel_error *err)
{
    *out = NULL;
    fractional *f = mel_alloc_zero(1, sizeof *f);
    if (f == NULL)
        return mel_fail_memory(err, "the posterior");
    f->base.ops = &fractional_ops;
    f->face = face;
    f->opt = *opt;
    f->history.size = 2;
    f->direction = opt->direction;
    f->shares = (mel_shares){ mel_face_positives(face), mel_face_negatives(face) };
    double prior[3];
    const mel_noise_ops *noise = mel_assumed(&opt->assume);
    const bool costly = noise->errs == MEL_ERRS_BY_MARGIN && !noise->band;
    mel_sampler_options sampling = {
        .dimension = 3,
        .samples = costly ? COSTLY_SAMPLES : SAMPLES,
        .n_cone = MEL_PIVOT_CONE,
        .cone = mel_pivot_cone,
        .start = mel_pivot_start,
        .assume = opt->assume,
        .seed = opt->seed,
    };
    mel_status status = mel_avoided_new(&f->avoided, 3, err);
    if (status == MEL_OK)
        status = set_prior(&sampling, prior, f, err);
    if (status == MEL_OK)
        status = mel_sampler_new(&f->sampler, &sampling, err);
    if (status == MEL_OK)
        status = mel_chords_new(&f->chords, face, mel_sampler_samples(f->sampler)->count, err);
    if (status != MEL_OK) {
        fractional_free(&f->base);
        return status;
    }
    update_radius(f);
    *out = &f->base;
    return MEL_OK;
}
