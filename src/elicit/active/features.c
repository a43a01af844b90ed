/* Active elicitation of every metric that is linear in known features: the posterior of its coefficient
 * vector by samples (posterior/sphere.h), the family's features, prior and domain (family.h), the next pair
 * (ask/pair.h).
 *
 * The session is done when the radius that it reports (mel_chooser_radius: 95% of the posterior is within it
 * of the mean in every coefficient, 97.5% with flips, and no 95% interval is wider than twice that) is at
 * most the tolerance, at the norm at which the family is judged (l1 for diagonal metrics, otherwise l2 over
 * all coefficients; of fair metrics (1 - lambda) a and lambda b). */
#include "elicit/active/ending.h"
#include "elicit/active/history.h"
#include "elicit/active/select.h"
#include "elicit/engine.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this an answer takes many seconds: time grows with the cube. */
enum { MOST_COEFFICIENTS = 300 };

typedef struct {
    mel_engine base;
    mel_session_options opt;
    mel_basis *f;
    mel_sampler *sampler;
    mel_chooser *chooser;
    mel_history history;
    mel_avoided avoided; /* questions put aside since the last answer */
    double radius, first_radius;
    double *row; /* dimension: work */
    bool asked;  /* a, b, repeated and end are those of the next question */
    double *a, *b;
    bool repeated;
    mel_end end;
} engine;

static void look(engine *e)
{
    mel_chooser_look(e->chooser, e->sampler);
    e->radius = mel_chooser_radius(e->chooser);
}

/* --- answers -------------------------------------------------------------------------------------- */

static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    e->f->ops->row(e->f, a, b, e->row);
    return mel_sampler_probability(e->sampler, e->row, mel_chooser_gain(e->chooser));
}

static mel_status engine_tell(mel_engine *base, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    engine *e = (engine *)base;
    mel_status status = mel_history_reserve(&e->history, err);
    if (status != MEL_OK)
        return status;
    if (answer == MEL_ANSWER_SKIP) {
        e->f->ops->row(e->f, pair->a, pair->b, e->row);
        mel_avoided_add(&e->avoided, e->row);
        mel_history_skip(&e->history, pair);
        e->asked = false;
        return MEL_OK;
    }
    const double foreseen = predict(base, pair->a, pair->b); /* leaves the row behind */
    const double gain = mel_chooser_gain(e->chooser);
    for (size_t i = 0; i < e->history.n; i++)
        mel_sampler_set_gain(e->sampler, i, gain);
    status = mel_sampler_tell(e->sampler, e->row, gain, answer, err);
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

/* The best pair. When questions were put aside: the best that is not like them; if all are, the best of the
 * other kind, one that is not just the same, and in the end the best again. */
static mel_status choose_pair(mel_outlook *outlook, engine *e, mel_rng *rng, mel_error *err)
{
    const bool simple = e->opt.simple_questions;
    const struct {
        bool simple;
        double alike;
        const mel_avoided *avoided;
    } tries[] = { { simple, MEL_ALIKE, &e->avoided },
                  { !simple, MEL_ALIKE, &e->avoided },
                  { simple, MEL_IDENTICAL, &e->avoided },
                  { simple, MEL_IDENTICAL, NULL } };
    const size_t n = e->avoided.n > 0 ? sizeof tries / sizeof *tries : 1;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        e->avoided.alike = tries[i].alike;
        status = mel_chooser_choose(e->a, e->b, outlook, e->chooser, e->sampler, tries[i].simple,
                                    tries[i].avoided, rng, err);
        if (outlook->information >= MEL_LEAST_INFORMATION)
            break;
    }
    return status;
}

static mel_status choose(engine *e, mel_rng *rng, mel_error *err)
{
    mel_outlook outlook;
    const mel_status status = choose_pair(&outlook, e, rng, err);
    if (status != MEL_OK)
        return status;
    e->end = mel_end_of(&e->opt, mel_sampler_samples(e->sampler), &outlook);
    mel_toss_sides(e->f->size, e->a, e->b, rng);
    return MEL_OK;
}

static mel_status propose(engine *e, mel_error *err)
{
    mel_rng rng;
    mel_history_stream(&rng, &e->history, e->opt.seed);
    e->repeated = false;
    e->end = MEL_END_NOT_YET;
    if (mel_is_precise(e->radius, &e->opt, mel_sampler_samples(e->sampler))) {
        e->end = MEL_END_TOLERANCE;
        return MEL_OK;
    }
    e->repeated =
        e->avoided.n == 0 && mel_history_repeat(e->a, e->b, &e->history, &e->opt, predict, &e->base);
    return e->repeated ? MEL_OK : choose(e, &rng, err);
}

static mel_status engine_next(mel_engine *base, mel_pair *pair, mel_end *end, mel_error *err)
{
    engine *e = (engine *)base;
    if (!e->asked) {
        const mel_status status = propose(e, err);
        if (status != MEL_OK)
            return status;
        e->asked = true;
    }
    memcpy(pair->a, e->a, e->f->size * sizeof(double));
    memcpy(pair->b, e->b, e->f->size * sizeof(double));
    pair->repeated = e->repeated;
    if (e->f->ops->note != NULL && e->end == MEL_END_NOT_YET && pair->note_a != NULL)
        e->f->ops->note(e->f, &e->opt, e->a, e->b, pair->note_a, pair->note_b);
    *end = e->end;
    return MEL_OK;
}

/* --- results -------------------------------------------------------------------------------------- */

typedef struct {
    size_t n;
    double *mean, *low, *high; /* n_reported */
    double *column;            /* samples: work */
    double *reported;          /* samples x n_reported, or NULL when coordinates map one by one */
    double *w_low, *w_high;    /* D */
} estimate;

static void clear_estimate(estimate *r)
{
    free(r->mean);
    free(r->low);
    free(r->high);
    free(r->column);
    free(r->reported);
    free(r->w_low);
    free(r->w_high);
}

static mel_status make_estimate(estimate *r, const engine *e, mel_error *err)
{
    const mel_basis *f = e->f;
    r->n = mel_sampler_samples(e->sampler)->count;
    r->mean = mel_alloc_zero(f->n_reported, sizeof(double));
    r->low = mel_alloc_zero(f->n_reported, sizeof(double));
    r->high = mel_alloc_zero(f->n_reported, sizeof(double));
    r->column = mel_alloc(r->n, sizeof(double));
    r->w_low = mel_alloc(f->dimension, sizeof(double));
    r->w_high = mel_alloc(f->dimension, sizeof(double));
    if (!f->coordinatewise)
        r->reported = mel_alloc_zero(r->n * f->n_reported, sizeof(double));
    return r->mean != NULL && r->low != NULL && r->high != NULL && r->column != NULL && r->w_low != NULL &&
                   r->w_high != NULL && (f->coordinatewise || r->reported != NULL)
               ? MEL_OK
               : mel_fail_memory(err, "the intervals");
}

static void find_estimate(estimate *r, const engine *e)
{
    const mel_basis *f = e->f;
    const double *w = mel_chooser_samples(e->chooser), *mean = mel_chooser_mean(e->chooser);
    const double level = mel_samples_level(mel_sampler_samples(e->sampler), 0.975);
    mel_column_intervals(r->n, f->dimension, w, mean, level, r->column, r->w_low, r->w_high);
    f->ops->coefficients(f, mean, r->mean);
    if (r->reported == NULL) {
        f->ops->coefficients(f, r->w_low, r->low);
        f->ops->coefficients(f, r->w_high, r->high);
    } else {
        for (size_t i = 0; i < r->n; i++)
            f->ops->coefficients(f, w + i * f->dimension, r->reported + i * f->n_reported);
        mel_column_intervals(r->n, f->n_reported, r->reported, r->mean, level, r->column, r->low, r->high);
    }
}

static mel_status engine_result(mel_engine *base, mel_metric **metric, mel_summary *summary, mel_error *err)
{
    engine *e = (engine *)base;
    estimate r = { 0 };
    mel_metric *made = NULL;
    mel_status status = make_estimate(&r, e, err);
    if (status == MEL_OK) {
        find_estimate(&r, e);
        status = e->f->ops->metric(&made, e->f, &e->opt, r.mean, err);
    }
    if (status == MEL_OK)
        status = mel_metric_set_intervals(made, r.low, r.high, err);
    clear_estimate(&r);
    if (status != MEL_OK) {
        mel_metric_free(made);
        return status;
    }
    summary->radius = e->radius;
    summary->error_rate = mel_sampler_samples(e->sampler)->error_rate;
    summary->evidence = mel_reported_evidence(e->history.evidence, &e->opt);
    *metric = made;
    return MEL_OK;
}

static mel_status engine_draws(mel_engine *base, size_t *n, size_t *n_coefficients, double **values,
                               mel_error *err)
{
    const engine *e = (const engine *)base;
    const mel_basis *f = e->f;
    const size_t count = mel_sampler_samples(e->sampler)->count;
    double *draw = mel_alloc_zero(count, f->n_reported * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    const double *w = mel_chooser_samples(e->chooser);
    for (size_t i = 0; i < count; i++)
        f->ops->coefficients(f, w + i * f->dimension, draw + i * f->n_reported);
    *n = count;
    *n_coefficients = f->n_reported;
    *values = draw;
    return MEL_OK;
}

static mel_status engine_posterior(mel_engine *base, size_t n, double *angle, double *density, mel_error *err)
{
    (void)base;
    (void)n;
    (void)angle;
    (void)density;
    return mel_fail(err, MEL_ESTATE, "only a linear metric on a face has a single angle");
}

static uint32_t engine_expected(mel_engine *base)
{
    const engine *e = (const engine *)base;
    const double bits =
        mel_bits_per_answer(mel_assumed(&e->opt.assume), mel_sampler_samples(e->sampler)->error_rate);
    return mel_history_expected(&e->history, (double)e->f->dimension - 1.0, e->first_radius, e->radius,
                                e->opt.tolerance, bits);
}

static void engine_free(mel_engine *base)
{
    engine *e = (engine *)base;
    if (e == NULL)
        return;
    mel_chooser_free(e->chooser);
    mel_sampler_free(e->sampler);
    mel_basis_free(e->f);
    mel_avoided_free(&e->avoided);
    mel_history_free(&e->history);
    free(e->row);
    free(e->a);
    free(e->b);
    free(e);
}

static const mel_engine_ops features_ops = {
    .next = engine_next,
    .tell = engine_tell,
    .result = engine_result,
    .posterior = engine_posterior,
    .draws = engine_draws,
    .expected = engine_expected,
    .free = engine_free,
};

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    mel_status status = mel_basis_new(&e->f, domain, &e->opt, err);
    if (status != MEL_OK)
        return status;
    if (e->f->dimension > MOST_COEFFICIENTS)
        return mel_fail(
            err, MEL_ELIMIT,
            "%zu coefficients: the active strategy follows at most %d; look for a diagonal metric "
            "or use the search strategy",
            e->f->dimension, MOST_COEFFICIENTS);
    mel_sampler_options sampling = {
        .dimension = e->f->dimension,
        .n_cone = e->f->n_cone,
        .cone = e->f->cone,
        .start = e->f->start,
        .assume = e->opt.assume,
        .seed = e->opt.seed,
    };
    e->history.size = e->f->size;
    e->row = mel_alloc_zero(e->f->dimension, sizeof(double));
    e->a = mel_alloc_zero(e->f->size, sizeof(double));
    e->b = mel_alloc_zero(e->f->size, sizeof(double));
    if (e->row == NULL || e->a == NULL || e->b == NULL)
        return mel_fail_memory(err, "the question");
    status = mel_avoided_new(&e->avoided, e->f->dimension, err);
    double *prior = NULL;
    if (status == MEL_OK && e->opt.prior != NULL)
        status = mel_basis_vector(&prior, e->f, e->opt.prior, err);
    sampling.prior = prior;
    sampling.prior_strength = prior != NULL ? e->opt.prior_strength : 0.0;
    if (status == MEL_OK)
        status = mel_sampler_new(&e->sampler, &sampling, err);
    free(prior);
    if (status == MEL_OK)
        status = mel_chooser_new(&e->chooser, e->f, mel_sampler_samples(e->sampler)->count, err);
    return status;
}

mel_status mel_engine_features(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                               mel_error *err)
{
    *out = NULL;
    engine *e = mel_alloc_zero(1, sizeof *e);
    if (e == NULL)
        return mel_fail_memory(err, "the posterior");
    e->base.ops = &features_ops;
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
