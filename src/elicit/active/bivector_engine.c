/* Active elicitation of linear-fractional metrics on a ball and, of the diagonal, on two-class faces: the
 * posterior of the bivector that preferences see (bivector.h, posterior/bivector.h), the next line
 * (ask/line.h).
 *
 * The session is done when the radius that it reports (mel_lines_radius) is at most the tolerance: 95% of the
 * posterior (with flips 97.5%) have their level hyperplanes within it, in radians, of the
 * mean metric's. */
#include "elicit/active/ask/line.h"
#include "elicit/active/ending.h"
#include "elicit/active/history.h"
#include "elicit/active/select.h"
#include "elicit/engine.h"

#include "base/la.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this an answer takes many seconds. */
enum { MOST_COORDINATES = 60 };

typedef struct {
    mel_engine base;
    mel_session_options opt;
    mel_layout layout;
    mel_region region;
    mel_bivector_sampler *sampler;
    mel_lines *lines;
    mel_history history;
    mel_avoided avoided; /* questions put aside since the last answer */
    double radius, first_radius;
    double *inside;  /* 4n: ends of a pair, inside the region; its row */
    double *numbers; /* 2n + 2: of the mean metric, for gains */
    bool asked;      /* a, b, repeated and end are those of the next question */
    double *a, *b;
    bool repeated;
    mel_end end;
} engine;

static const mel_samples *samples_of(const engine *e)
{
    return mel_bivector_sampler_samples(e->sampler);
}

/* What turns margins of a pair inside the region into differences of the reported metric. */
static double gain_of(const engine *e, const double *a, const double *b)
{
    const double gain = mel_bivector_gain(&e->region, samples_of(e)->mean, e->numbers, a, b);
    return isfinite(gain) && gain > 0.0 ? gain : 1.0;
}

static void look(engine *e)
{
    const size_t n = e->region.n;
    e->radius = mel_lines_radius(e->lines);
    if (mel_bivector_metric(&e->region, samples_of(e)->mean, e->numbers, NULL) == MEL_OK)
        return;
    memset(e->numbers, 0, (2 * n + 2) * sizeof(double)); /* margins are taken as they are */
}

/* --- answers -------------------------------------------------------------------------------------- */

/* The mean metric's values have changed: margins are measured in them. */
static void refresh_gains(engine *e)
{
    const size_t n = e->region.n;
    double *a = e->inside, *b = e->inside + n;
    for (size_t i = 0; i < e->history.n; i++) {
        mel_region_inside(&e->region, e->history.points + 2 * n * i, a);
        mel_region_inside(&e->region, e->history.points + 2 * n * i + n, b);
        mel_bivector_sampler_set_gain(e->sampler, i, gain_of(e, a, b));
    }
}

static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    const mel_samples *samples = samples_of(e);
    const size_t n = e->region.n;
    double *first = e->inside, *second = first + n, sum = 0.0;
    mel_region_inside(&e->region, a, first);
    mel_region_inside(&e->region, b, second);
    const double gain = gain_of(e, first, second);
    for (size_t i = 0; i < samples->count; i++)
        sum += mel_bivector_sampler_predict(
            e->sampler, i, gain * mel_bivector_margin(n, samples->w + i * samples->dimension, first, second));
    return sum / (double)samples->count;
}

static mel_status engine_tell(mel_engine *base, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    engine *e = (engine *)base;
    const size_t n = e->region.n;
    double *a = e->inside, *b = a + n, *row = a + 2 * n;
    mel_status status = mel_history_reserve(&e->history, err);
    if (status != MEL_OK)
        return status;
    refresh_gains(e);
    mel_region_inside(&e->region, pair->a, a);
    mel_region_inside(&e->region, pair->b, b);
    if (answer == MEL_ANSWER_SKIP) {
        mel_lines_row(e->lines, a, b, row);
        mel_avoided_add(&e->avoided, row);
        mel_history_skip(&e->history, pair);
        e->asked = false;
        return MEL_OK;
    }
    const double foreseen = predict(base, pair->a, pair->b); /* a and b stay as they are */
    status = mel_bivector_sampler_tell(e->sampler, a, b, gain_of(e, a, b), answer, err);
    if (status != MEL_OK)
        return status;
    mel_history_score(&e->history, answer, foreseen);
    mel_history_add(&e->history, pair, false);
    mel_avoided_clear(&e->avoided);
    e->asked = false;
    look(e);
    return MEL_OK;
}

/* --- questions ------------------------------------------------------------------------------------ */

static void choose(engine *e, mel_rng *rng)
{
    mel_outlook outlook;
    const size_t n = e->region.n;
    const bool simple = e->opt.simple_questions;
    memset(e->inside, 0, 2 * n * sizeof(double));
    const double gain = gain_of(e, e->inside, e->inside + n);
    mel_lines_choose(e->a, e->b, &outlook, e->lines, gain, simple, &e->avoided, rng);
    if (e->avoided.n > 0 && outlook.information < MEL_LEAST_INFORMATION)
        mel_lines_choose(e->a, e->b, &outlook, e->lines, gain, simple, NULL, rng);
    e->end = mel_end_of(&e->opt, samples_of(e), &outlook);
    mel_toss_sides(n, e->a, e->b, rng);
}

static void propose(engine *e)
{
    mel_rng rng;
    mel_history_stream(&rng, &e->history, e->opt.seed);
    e->repeated = false;
    e->end = MEL_END_NOT_YET;
    if (mel_is_precise(e->radius, &e->opt, samples_of(e))) {
        e->end = MEL_END_TOLERANCE;
        return;
    }
    e->repeated =
        e->avoided.n == 0 && mel_history_repeat(e->a, e->b, &e->history, &e->opt, predict, &e->base);
    if (!e->repeated)
        choose(e, &rng);
}

static void note(const engine *e, mel_pair *pair)
{
    size_t classes[2] = { 0, 1 };
    const mel_face *face = mel_lines_face(e->lines, e->a, e->b, classes);
    if (face == NULL || pair->note_a == NULL)
        return;
    char number[2][24];
    const char *name[2];
    double share[2];
    for (size_t side = 0; side < 2; side++) {
        const size_t k = classes[side];
        (void)snprintf(number[side], sizeof number[side], "%zu", k);
        name[side] = e->opt.class_names != NULL ? e->opt.class_names[k] : number[side];
        share[side] = mel_lines_share(e->lines, k);
    }
    const mel_point a = { e->a[classes[0]] * share[0], e->a[classes[1]] * share[1] };
    const mel_point b = { e->b[classes[0]] * share[0], e->b[classes[1]] * share[1] };
    mel_note_point(pair->note_a, face, a, name[0], name[1]);
    mel_note_point(pair->note_b, face, b, name[0], name[1]);
}

static mel_status engine_next(mel_engine *base, mel_pair *pair, mel_end *end, mel_error *err)
{
    (void)err;
    engine *e = (engine *)base;
    if (!e->asked)
        propose(e);
    e->asked = true;
    memcpy(pair->a, e->a, e->region.n * sizeof(double));
    memcpy(pair->b, e->b, e->region.n * sizeof(double));
    pair->repeated = e->repeated;
    if (e->end == MEL_END_NOT_YET)
        note(e, pair);
    *end = e->end;
    return MEL_OK;
}

/* --- results -------------------------------------------------------------------------------------- */

/* One row of coefficients per sample, those without a metric of the reported form left out; at least one. */
static mel_status engine_draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values,
                               mel_error *err)
{
    const engine *e = (const engine *)base;
    const mel_samples *samples = samples_of(e);
    const size_t width = 2 * e->region.n + 2;
    double *draw = mel_alloc_zero(samples->count, width * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    size_t kept = 0;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < samples->count; i++) {
        status =
            mel_bivector_metric(&e->region, samples->w + i * samples->dimension, draw + kept * width, err);
        kept += status == MEL_OK;
    }
    if (kept == 0) {
        free(draw);
        return status;
    }
    *n = kept;
    *n_coefficients = width;
    *values = draw;
    return MEL_OK;
}

/* The 95% interval of every coefficient, around the middle at least: low, then high. */
static mel_status find_intervals(const engine *e, const double *middle, double *low, double *high,
                                 mel_error *err)
{
    size_t n = 0, width = 0;
    double *draw = NULL;
    const mel_status status = engine_draws((mel_engine *)e, &n, &width, &draw, err);
    if (status != MEL_OK)
        return status;
    double *column = mel_alloc(n, sizeof *column);
    const double level = mel_samples_level(samples_of(e), 0.975);
    if (column != NULL)
        mel_column_intervals(n, width, draw, middle, level, column, low, high);
    free(draw);
    free(column);
    return column != NULL ? MEL_OK : mel_fail_memory(err, "the intervals");
}

static mel_status make_metric(mel_metric **out, const engine *e, double *room, mel_error *err)
{
    const size_t n = e->region.n, width = 2 * n + 2;
    double *middle = room, *low = room + width, *high = room + 2 * width;
    mel_status status = mel_bivector_metric(&e->region, samples_of(e)->mean, middle, err);
    if (status == MEL_OK)
        status = find_intervals(e, middle, low, high, err);
    if (status == MEL_OK)
        status = mel_metric_fractional(out, e->opt.family, &e->layout, e->opt.class_names, MEL_UTILITY,
                                       middle, 0.0, middle + n + 1, middle[2 * n + 1], err);
    return status == MEL_OK ? mel_metric_set_intervals(*out, low, high, err) : status;
}

static mel_status engine_result(mel_engine *base, mel_metric **metric, mel_summary *summary, mel_error *err)
{
    engine *e = (engine *)base;
    mel_metric *made = NULL;
    double *room = mel_alloc(3 * (2 * e->region.n + 2), sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    const mel_status status = make_metric(&made, e, room, err);
    free(room);
    if (status != MEL_OK) {
        mel_metric_free(made);
        return status;
    }
    summary->radius = e->radius;
    summary->error_rate = samples_of(e)->error_rate;
    summary->evidence = mel_reported_evidence(e->history.evidence, &e->opt);
    *metric = made;
    return MEL_OK;
}

static mel_status engine_posterior(mel_engine *base, size_t n, double *angle, double *density, mel_error *err)
{
    (void)base;
    (void)n;
    (void)angle;
    (void)density;
    return mel_fail(err, MEL_ESTATE, "a linear-fractional metric has no single angle");
}

/* 2(n - 1) numbers are sought. */
static uint32_t engine_expected(mel_engine *base)
{
    const engine *e = (const engine *)base;
    const double bits = mel_bits_per_answer(mel_assumed(&e->opt.assume), samples_of(e)->error_rate);
    return mel_history_expected(&e->history, 2.0 * ((double)e->region.n - 1.0), e->first_radius, e->radius,
                                e->opt.tolerance, bits);
}

static void engine_free(mel_engine *base)
{
    engine *e = (engine *)base;
    if (e == NULL)
        return;
    mel_lines_free(e->lines);
    mel_bivector_sampler_free(e->sampler);
    mel_region_clear(&e->region);
    mel_avoided_free(&e->avoided);
    mel_history_free(&e->history);
    free(e->inside);
    free(e->numbers);
    free(e->a);
    free(e->b);
    free(e);
}

static const mel_engine_ops bivector_ops = {
    .next = engine_next,
    .tell = engine_tell,
    .result = engine_result,
    .posterior = engine_posterior,
    .draws = engine_draws,
    .expected = engine_expected,
    .free = engine_free,
};

static mel_status make_sampler(engine *e, mel_error *err)
{
    mel_bivector_options sampling = { .region = &e->region, .assume = e->opt.assume, .seed = e->opt.seed };
    double *prior = e->inside; /* the sampler takes a copy */
    if (e->opt.prior != NULL) {
        if (!mel_bivector_of(prior, &e->region, e->opt.prior))
            return mel_fail(err, MEL_EINVAL,
                            "the prior metric does not tell the classifiers in question apart");
        sampling.prior = prior;
        sampling.prior_strength = e->opt.prior_strength;
    }
    return mel_bivector_sampler_new(&e->sampler, &sampling, err);
}

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    mel_status status = domain->ball != NULL ? mel_region_of_ball(&e->region, domain->ball, &e->opt, err)
                                             : mel_region_of_space(&e->region, domain->space, &e->opt, err);
    if (status != MEL_OK)
        return status;
    const size_t n = e->region.n;
    if (n > MOST_COORDINATES)
        return mel_fail(
            err, MEL_ELIMIT,
            "linear-fractional metrics of %zu numbers: the active strategy follows at most %d; use "
            "the search strategy",
            n, MOST_COORDINATES);
    e->layout = *(domain->ball != NULL ? mel_ball_layout(domain->ball) : mel_space_layout(domain->space));
    e->history.size = n;
    e->inside = mel_alloc_zero(4 * n, sizeof(double));
    e->numbers = mel_alloc_zero(2 * n + 2, sizeof(double));
    e->a = mel_alloc_zero(n, sizeof(double));
    e->b = mel_alloc_zero(n, sizeof(double));
    if (e->inside == NULL || e->numbers == NULL || e->a == NULL || e->b == NULL)
        return mel_fail_memory(err, "the question");
    status = mel_avoided_new(&e->avoided, 2 * n, err);
    if (status == MEL_OK)
        status = make_sampler(e, err);
    if (status == MEL_OK)
        status = mel_lines_new(&e->lines, &e->region, e->sampler, domain->space, err);
    return status;
}

mel_status mel_engine_bivector(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                               mel_error *err)
{
    *out = NULL;
    engine *e = mel_alloc_zero(1, sizeof *e);
    if (e == NULL)
        return mel_fail_memory(err, "the posterior");
    e->base.ops = &bivector_ops;
    e->opt = *opt;
    const mel_status status = set_up(e, domain, err);
    if (status != MEL_OK) {
        engine_free(&e->base);
        return status;
    }
    e->opt.signs = NULL; /* these are lent until here */
    e->opt.prior = NULL;
    e->opt.pool = NULL;
    look(e);
    e->first_radius = e->radius;
    *out = &e->base;
    return MEL_OK;
}
