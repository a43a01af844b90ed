/* What all active engines do alike, whatever their posterior: asking, hearing, ending, reporting. */
#include "elicit/active/engine.h"

#include "elicit/active/select.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this an answer takes many seconds: time grows with the cube. */
enum { MOST_COEFFICIENTS = 300 };

/* --- what was told so far, which question comes back, and how many remain ------------------------------ */

/* What a question of an unpromising kind is taken to tell at least, in bits, when guessing how many remain.
 */
static const double least_bits = 0.2;
/* Doubts about somebody's answers begin after so many. */
enum { DOUBTS_FROM = 5 };
/* Evidence that counts as against somebody: questions that were coin tosses leave 0, up to rounding, which
 * must not decide what is asked. */
static const double doubt = -1e-6;
/* Probability of an answer that no sample predicts. */
static const double least_probability = 1e-12;

static void history_free(mel_history *history)
{
    free(history->again);
    free(history->points);
}

static mel_status history_reserve(mel_history *history, mel_error *err)
{
    if (history->n < history->capacity)
        return MEL_OK;
    const size_t capacity = history->capacity == 0 ? 32 : 2 * history->capacity;
    void *again = history->again, *points = history->points;
    const bool grown = mel_grow(&again, capacity, sizeof *history->again);
    history->again = again;
    const bool more = grown && mel_grow(&points, capacity * 2 * history->size, sizeof *history->points);
    history->points = points;
    if (!more)
        return mel_fail_memory(err, "the answers");
    history->capacity = capacity;
    return MEL_OK;
}

/* What this one repeats has come back. */
static void mark_again(mel_history *history, const mel_pair *pair)
{
    const size_t size = history->size, bytes = size * sizeof(double);
    for (size_t i = 0; i < history->n && pair->repeated; i++) {
        const double *a = history->points + 2 * size * i, *b = a + size;
        if (memcmp(a, pair->b, bytes) == 0 && memcmp(b, pair->a, bytes) == 0)
            history->again[i] = true;
    }
}

static void history_skip(mel_history *history, const mel_pair *pair)
{
    mark_again(history, pair);
    history->n_skipped++;
    history->repeated = pair->repeated;
}

static void history_add(mel_history *history, const mel_pair *pair, bool once)
{
    const size_t size = history->size, bytes = size * sizeof(double);
    mark_again(history, pair);
    memcpy(history->points + 2 * size * history->n, pair->a, bytes);
    memcpy(history->points + 2 * size * history->n + size, pair->b, bytes);
    history->again[history->n++] = pair->repeated || once;
    history->n_repeats += pair->repeated;
    history->repeated = pair->repeated;
}

static void history_stream(mel_rng *rng, const mel_history *history, uint64_t seed)
{
    mel_rng_seed_stream(rng, seed, UINT64_C(3) << 62 | (history->n + history->n_skipped));
}

static void history_score(mel_history *history, mel_answer answer, double foreseen)
{
    if (answer != MEL_ANSWER_A && answer != MEL_ANSWER_B)
        return;
    const double probability = answer == MEL_ANSWER_A ? foreseen : 1.0 - foreseen;
    history->evidence += log(2.0 * fmax(probability, least_probability));
}

double mel_reported_evidence(double evidence, const mel_session_options *opt)
{
    return mel_assumed(&opt->assume)->slips ? evidence : NAN;
}

bool mel_active_may_repeat(const mel_active *e)
{
    return mel_assumed(&e->opt.assume)->errs != MEL_ERRS_NEVER && e->opt.repeat_every > 0;
}

/* Whether it is time to ask something again: every so often (opt->repeat_every, when answers may be wrong),
 * every second time as long as coin tosses would explain the answers just as well, and where the engine wants
 * it. */
static bool repeat_is_due(const mel_active *e)
{
    const mel_history *history = &e->history;
    const size_t questions = history->n + history->n_skipped;
    const uint32_t every = e->opt.repeat_every > 1 ? e->opt.repeat_every : 2; /* not all may be repeats */
    const bool doubtful = mel_assumed(&e->opt.assume)->slips && history->evidence < doubt;
    return mel_active_may_repeat(e) && (e->repeats_next || (questions + 1) % every == 0 ||
                                        (doubtful && !history->repeated && questions >= DOUBTS_FROM));
}

/* Into a and b: the pair that comes back; false: none. */
static bool find_repeat(mel_active *e)
{
    const mel_history *history = &e->history;
    if (e->avoided.n > 0 || !repeat_is_due(e))
        return false;
    const size_t size = history->size;
    const double *surest = NULL;
    double best = -1.0;
    for (size_t i = 0; i < history->n; i++) {
        const double *pair = history->points + 2 * size * i;
        const double sure =
            history->again[i] ? -1.0 : fabs(e->ops->predict(&e->base, pair, pair + size) - 0.5);
        if (sure > best) {
            best = sure;
            surest = pair;
        }
    }
    if (surest == NULL)
        return false;
    memcpy(e->b, surest, size * sizeof *e->b);
    memcpy(e->a, surest + size, size * sizeof *e->a);
    return true;
}

void mel_toss_sides(size_t size, double *a, double *b, mel_rng *rng)
{
    if (mel_rng_next(rng) >> 63 == 0)
        return;
    for (size_t i = 0; i < size; i++) {
        const double held = a[i];
        a[i] = b[i];
        b[i] = held;
    }
}

double mel_bits_per_answer(const mel_noise_ops *noise, double error_rate)
{
    const double wrong = noise->usual_errors > 0.0 ? noise->usual_errors
                         : isnan(error_rate)       ? 0.0
                                                   : fmin(error_rate, 0.45);
    if (wrong <= 0.0)
        return 1.0;
    return 1.0 + wrong * log2(wrong) + (1.0 - wrong) * log2(1.0 - wrong);
}

static uint32_t history_expected(const mel_history *history, double numbers, double first_radius,
                                 double radius, double tolerance, double bits_per_answer)
{
    if (radius <= tolerance)
        return 0;
    const double got = numbers * log2(fmax(first_radius / radius, 1.0));
    const double bits = fmin(1.0, (got + numbers * bits_per_answer) / ((double)history->n + numbers));
    const double left = numbers * log2(radius / tolerance) / fmax(bits, least_bits);
    return (uint32_t)fmin(ceil(fmax(left, 1.0)), 1e6);
}

/* --- making one --------------------------------------------------------------------------------- */

void mel_active_free(mel_engine *base)
{
    mel_active *e = (mel_active *)base;
    if (e == NULL)
        return;
    e->ops->clear(e);
    mel_avoided_free(&e->avoided);
    history_free(&e->history);
    mel_basis_free(e->basis);
    free(e->row);
    free(e);
}

mel_status mel_active_new(mel_active **out, size_t bytes, const mel_engine_ops *engine,
                          const mel_active_ops *ops, const mel_session_options *opt, mel_error *err)
{
    mel_active *e = *out = mel_alloc_zero(1, bytes);
    if (e == NULL)
        return mel_fail_memory(err, "the posterior");
    e->base.ops = engine;
    e->ops = ops;
    e->opt = *opt;
    return MEL_OK;
}

mel_status mel_active_linear(mel_active *e, const mel_domain *domain, mel_error *err)
{
    TRY(mel_basis_new(&e->basis, domain, &e->opt, err));
    if (e->basis->dimension > MOST_COEFFICIENTS)
        return mel_fail(
            err, MEL_ELIMIT,
            "%zu coefficients: the active strategy follows at most %d; look for a diagonal metric%s",
            e->basis->dimension, MOST_COEFFICIENTS,
            domain->pool == NULL ? " or use the search strategy" : "");
    e->numbers = (double)e->basis->dimension - 1.0;
    e->n_reported = e->basis->n_reported;
    e->coordinatewise = e->basis->coordinatewise;
    return MEL_OK;
}

mel_status mel_active_room(mel_active *e, size_t size, size_t dimension, mel_error *err)
{
    e->history.size = size;
    e->row = mel_alloc_zero(dimension + 2 * size, sizeof(double));
    if (e->row == NULL)
        return mel_fail_memory(err, "the question");
    e->a = e->row + dimension;
    e->b = e->a + size;
    return mel_avoided_new(&e->avoided, dimension, err);
}

mel_status mel_active_ready(mel_engine **out, mel_active *e, mel_status status)
{
    *out = NULL;
    if (status != MEL_OK) {
        mel_active_free((mel_engine *)e);
        return status;
    }
    e->opt.signs = NULL; /* borrowed pointers end here */
    e->opt.prior = NULL;
    e->opt.pool = NULL;
    e->opt.known = NULL;
    e->first_radius = e->radius;
    *out = &e->base;
    return MEL_OK;
}

/* --- answers ------------------------------------------------------------------------------------ */

mel_status mel_active_tell(mel_engine *base, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    mel_active *e = (mel_active *)base;
    mel_status status = history_reserve(&e->history, err);
    if (status != MEL_OK)
        return status;
    if (answer == MEL_ANSWER_SKIP) {
        e->ops->row(e, pair->a, pair->b, e->row);
        mel_avoided_add(&e->avoided, e->row);
        if (e->ops->put_aside != NULL)
            e->ops->put_aside(e, pair);
        history_skip(&e->history, pair);
        e->asked = false;
        return MEL_OK;
    }
    const double foreseen = e->ops->finds_evidence ? NAN : e->ops->predict(base, pair->a, pair->b);
    bool apart = false;
    status = e->ops->hear(e, pair, answer, &apart, err);
    if (status != MEL_OK)
        return status;
    if (!apart && !e->ops->finds_evidence)
        history_score(&e->history, answer, foreseen);
    history_add(&e->history, pair, apart);
    mel_avoided_clear(&e->avoided);
    e->asked = false;
    return MEL_OK;
}

/* --- questions ---------------------------------------------------------------------------------- */

/* Whether the radius that will be reported is as small as asked for, and samples mix well enough for that to
 * be trusted. */
static bool is_precise(const mel_active *e)
{
    if (e->ops->precise != NULL)
        return e->ops->precise(e);
    return e->radius <= e->opt.tolerance && e->ops->samples(e)->scale_reduction <= MEL_POOR_MIXING;
}

mel_end mel_end_of(const mel_session_options *opt, const mel_samples *samples, const mel_outlook *best)
{
    const bool hidden = samples->noise->band && (best->margin < MEL_LEAST_OF_BAND * opt->assume.size ||
                                                 samples->lately_in_band >= MEL_MOST_IN_BAND);
    if (!hidden && best->information >= MEL_LEAST_INFORMATION)
        return MEL_END_NOT_YET;
    return samples->noise->errs == MEL_ERRS_NEVER ? MEL_END_EXHAUSTED : MEL_END_NOISE;
}

static mel_status propose(mel_active *e, mel_error *err)
{
    mel_rng rng;
    history_stream(&rng, &e->history, e->opt.seed);
    e->repeated = false;
    e->end = MEL_END_NOT_YET;
    bool asked = false;
    const mel_status status = e->ops->prepare != NULL ? e->ops->prepare(e, &asked, err) : MEL_OK;
    if (status != MEL_OK || asked)
        return status;
    if (is_precise(e)) {
        e->end = MEL_END_TOLERANCE;
        return MEL_OK;
    }
    e->repeated = find_repeat(e);
    return e->repeated ? MEL_OK : e->ops->choose(e, &rng, err);
}

mel_status mel_active_next(mel_engine *base, mel_pair *pair, mel_end *end, mel_error *err)
{
    mel_active *e = (mel_active *)base;
    const size_t bytes = e->history.size * sizeof(double);
    TRY(e->asked ? MEL_OK : propose(e, err));
    e->asked = true;
    memcpy(pair->a, e->a, bytes);
    memcpy(pair->b, e->b, bytes);
    pair->repeated = e->repeated;
    if (e->ops->note != NULL && e->end == MEL_END_NOT_YET && pair->note_a != NULL)
        e->ops->note(e, pair);
    *end = e->end;
    return MEL_OK;
}

void mel_active_show(const mel_engine *base, mel_pair *pair)
{
    const mel_active *e = (const mel_active *)base;
    if (e->ops->show != NULL)
        e->ops->show(e, pair);
}

static uint32_t expected(mel_engine *base)
{
    const mel_active *e = (const mel_active *)base;
    if (e->ops->expected != NULL)
        return e->ops->expected(e);
    const double bits = mel_bits_per_answer(mel_assumed(&e->opt.assume), e->ops->samples(e)->error_rate);
    const uint32_t left =
        history_expected(&e->history, e->numbers, e->first_radius, e->radius, e->opt.tolerance, bits);
    return e->most_left > 0 && left > e->most_left ? e->most_left : left;
}

/* --- results ------------------------------------------------------------------------------------ */

static mel_status coefficients(const mel_active *e, const double *w, double *out, mel_error *err)
{
    if (e->ops->coefficients != NULL)
        return e->ops->coefficients(e, w, out, err);
    e->basis->ops->coefficients(e->basis, w, out);
    return MEL_OK;
}

static mel_status metric_of(mel_metric **out, const mel_active *e, const double *coefficient, mel_error *err)
{
    return e->ops->metric != NULL ? e->ops->metric(out, e, coefficient, err)
                                  : e->basis->ops->metric(out, e->basis, &e->opt, coefficient, err);
}

/* One row of coefficients per sample, those without a metric of the reported form left out; at least one. */
static mel_status draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values, mel_error *err)
{
    const mel_active *e = (const mel_active *)base;
    const mel_samples *samples = e->ops->samples(e);
    double *draw = mel_alloc_zero(samples->count, e->n_reported * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    size_t kept = 0;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < samples->count; i++) {
        status = coefficients(e, e->w + i * samples->dimension, draw + kept * e->n_reported, err);
        kept += status == MEL_OK;
    }
    if (kept == 0) {
        free(draw);
        return status;
    }
    *n = kept;
    *n_coefficients = e->n_reported;
    *values = draw;
    return MEL_OK;
}

mel_status mel_active_angle_draws(size_t *n, size_t *n_coefficients, double **values, const mel_active *e,
                                  mel_angle_quantile *angle, mel_error *err)
{
    enum { DRAWS = 2000 };
    double *draw = mel_alloc(DRAWS, 2 * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    for (size_t i = 0; i < DRAWS; i++) {
        const double t = angle(e, ((double)i + 0.5) / DRAWS);
        draw[2 * i] = cos(t);
        draw[2 * i + 1] = sin(t);
    }
    *n = DRAWS;
    *n_coefficients = 2;
    *values = draw;
    return MEL_OK;
}

/* 95% intervals of the vectors' coordinates, which those of the coefficients follow from. */
static mel_status map_intervals(const mel_active *e, double level, double *low, double *high, mel_error *err)
{
    const mel_samples *samples = e->ops->samples(e);
    const size_t d = samples->dimension;
    double *column = mel_alloc(samples->count + 2 * d, sizeof *column);
    if (column == NULL)
        return mel_fail_memory(err, "the intervals");
    double *least = column + samples->count, *most = least + d;
    mel_column_intervals(samples->count, d, e->w, e->middle, level, column, least, most);
    mel_status status = coefficients(e, least, low, err);
    if (status == MEL_OK)
        status = coefficients(e, most, high, err);
    free(column);
    return status;
}

/* The 95% interval of every coefficient, around the middle at least. */
static mel_status find_intervals(mel_active *e, const double *middle, double *low, double *high,
                                 mel_error *err)
{
    const double level = mel_samples_level(e->ops->samples(e), 0.975);
    if (e->coordinatewise)
        return map_intervals(e, level, low, high, err);
    size_t n = 0, width = 0;
    double *draw = NULL;
    const mel_status status = draws(&e->base, &n, &width, &draw, err);
    if (status != MEL_OK)
        return status;
    double *column = mel_alloc(n, sizeof *column);
    if (column != NULL)
        mel_column_intervals(n, width, draw, middle, level, column, low, high);
    free(draw);
    free(column);
    return column != NULL ? MEL_OK : mel_fail_memory(err, "the intervals");
}

static mel_status make_metric(mel_metric **out, mel_active *e, double *middle, mel_error *err)
{
    double *low = middle + e->n_reported, *high = low + e->n_reported;
    TRY(coefficients(e, e->middle, middle, err));
    TRY(find_intervals(e, middle, low, high, err));
    TRY(metric_of(out, e, middle, err));
    return mel_metric_set_intervals(*out, low, high, err);
}

static mel_status result(mel_engine *base, mel_metric **metric, mel_summary *summary, mel_error *err)
{
    mel_active *e = (mel_active *)base;
    double *room = mel_alloc_zero(3 * e->n_reported, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    const mel_status status = make_metric(metric, e, room, err);
    free(room);
    if (status != MEL_OK)
        return status;
    summary->radius = e->radius;
    summary->error_rate = e->ops->samples(e)->error_rate;
    summary->evidence = mel_reported_evidence(e->history.evidence, &e->opt);
    return MEL_OK;
}

const mel_engine_ops mel_active_engine = {
    .next = mel_active_next,
    .tell = mel_active_tell,
    .result = result,
    .draws = draws,
    .expected = expected,
    .show = mel_active_show,
    .free = mel_active_free,
};
