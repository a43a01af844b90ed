/* Active elicitation by questions about given classifiers: the posterior of the coefficient vector by samples
 * (posterior/sphere.h), the family's features (family.h), the next pair out of the pool (ask/candidates.h).
 *
 * An answer is about the numbers that were shown, so that is how it is read: measured rates are exact here,
 * on however few rows they were measured. That the true rates may be others is for those who say which
 * classifier is the best in truth (outcome/order.c). */
#include "elicit/active/ask/candidates.h"
#include "elicit/active/engine.h"
#include "elicit/active/select.h"
#include "elicit/options.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_active base;
    const mel_pool *pool; /* lent */
    const mel_basis *f;   /* base.basis */
    mel_sampler *sampler;
    mel_candidates *chooser;
    double *prior;
    size_t n;        /* classifiers whose numbers differ: of equal ones the first */
    size_t *from;    /* n: its place in the pool */
    size_t d;        /* features */
    double *feature; /* n x d: of its row against the first one */
    size_t n_answers;
    double gain;
    mel_samples view; /* the samples as reported */
    double *w, *middle, *work;
    size_t *best, *favours; /* the best classifier of each sample; n: of how many it is */
} engine;

static const mel_samples *samples(const mel_active *base)
{
    return &((const engine *)base)->view;
}

/* --- what is known now -------------------------------------------------------------------------- */

static void find_middle(engine *e, bool median)
{
    const size_t d = e->d, n = e->view.count;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < n; i++)
            e->work[i] = e->w[i * d + j];
        e->middle[j] = median ? mel_quantile_select(n, e->work, 0.5) : mel_mean(n, e->work);
    }
}

static size_t best_for(const engine *e, const double *w)
{
    size_t best = 0;
    double most = -INFINITY;
    for (size_t c = 0; c < e->n; c++) {
        const double value = mel_dot(e->d, e->feature + c * e->d, w);
        if (value > most) {
            most = value;
            best = c;
        }
    }
    return best;
}

/* What most of the posterior finds best must come first by the metric that is reported: else that is the mean
 * of this part, which finds it best, too, as such vectors form a convex cone. */
static void side_with_most(engine *e)
{
    const size_t d = e->d, n = e->view.count;
    size_t most = 0;
    memset(e->favours, 0, e->n * sizeof *e->favours);
    for (size_t i = 0; i < n; i++)
        e->favours[e->best[i] = best_for(e, e->w + i * d)]++;
    for (size_t c = 1; c < e->n; c++)
        most = e->favours[c] > e->favours[most] ? c : most;
    if (2 * e->favours[most] <= n || best_for(e, e->middle) == most)
        return;
    memset(e->middle, 0, d * sizeof *e->middle);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d && e->best[i] == most; j++)
            e->middle[j] += e->w[i * d + j];
}

/* The samples at the norm at which they are judged. */
static void look(engine *e)
{
    const mel_samples *all = mel_sampler_samples(e->sampler);
    const size_t d = e->d;
    e->view = *all;
    e->view.w = e->w;
    e->view.mean = e->view.centre = e->middle;
    e->view.covariance = NULL;
    for (size_t i = 0; i < all->count; i++) {
        double *w = e->w + i * d;
        memcpy(w, all->w + i * d, d * sizeof *w);
        mel_scale(d, 1.0 / mel_basis_norm(e->f, w), w);
    }
    find_middle(e, all->noise->errs == MEL_ERRS_ALIKE);
    side_with_most(e);
    const double norm = mel_basis_norm(e->f, e->middle);
    if (norm > 0.0)
        mel_scale(d, 1.0 / norm, e->middle);
    e->gain = mel_basis_gain(e->f, e->middle, e->pool->value, e->pool->value);
    e->base.w = e->w;
    e->base.middle = e->middle;
    e->base.radius = mel_cloud_radius(all->count, d, e->w, e->middle, e->f->unit,
                                      mel_samples_level(all, 0.975), mel_samples_radius_level(all), e->work);
    const size_t left = mel_candidates_left(e->chooser);
    e->base.most_left = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

/* --- rows ---------------------------------------------------------------------------------------- */

static size_t place_of(const engine *e, const double *point)
{
    const size_t at = mel_pool_place(e->pool, point);
    size_t c = 0;
    while (c < e->n && e->from[c] != at)
        c++;
    return c < e->n ? c : 0;
}

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    const engine *e = (const engine *)base;
    const double *one = e->feature + place_of(e, a) * e->d, *other = e->feature + place_of(e, b) * e->d;
    for (size_t j = 0; j < e->d; j++)
        out[j] = one[j] - other[j];
}

static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    row(&e->base, a, b, e->base.row);
    return mel_sampler_probability(e->sampler, e->base.row, e->gain);
}

/* --- answers -------------------------------------------------------------------------------------- */

static mel_status make_sampler(engine *e, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    const mel_sampler_options sampling = {
        .dimension = e->d,
        .samples = MEL_CANDIDATE_SAMPLES,
        .n_cone = e->f->n_cone,
        .cone = e->f->cone,
        .start = e->f->start,
        .assume = opt->assume,
        .seed = opt->seed,
        .prior = e->prior,
        .prior_strength = e->prior != NULL ? opt->prior_strength : 0.0,
    };
    return mel_sampler_new(&e->sampler, &sampling, err);
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    engine *e = (engine *)base;
    mel_status status = mel_candidates_strike(e->chooser, place_of(e, pair->a), place_of(e, pair->b), err);
    if (status != MEL_OK)
        return status;
    row(base, pair->a, pair->b, base->row);
    for (size_t i = 0; i < e->n_answers; i++)
        mel_sampler_set_gain(e->sampler, i, e->gain);
    status = mel_sampler_tell(e->sampler, base->row, e->gain, answer, err);
    if (status == MEL_OK) {
        e->n_answers++;
        look(e);
    }
    return status;
}

/* --- questions ------------------------------------------------------------------------------------ */

/* The most informative pair; not one that was just put aside, unless there are no others. */
static mel_status choose(mel_active *base, mel_rng *rng, mel_error *err)
{
    (void)err;
    engine *e = (engine *)base;
    const size_t size = e->pool->size;
    size_t a = 0, b = 0;
    mel_outlook outlook = { 0 };
    base->avoided.alike = MEL_IDENTICAL;
    mel_candidates_view(e->chooser, e->gain, &base->avoided);
    mel_candidates_choose(&a, &b, &outlook, e->chooser, e->sampler);
    base->end = outlook.information >= MEL_LEAST_INFORMATION ? mel_end_of(&base->opt, &e->view, &outlook)
                                                             : MEL_END_EXHAUSTED;
    memcpy(base->a, e->pool->value + e->from[a] * size, size * sizeof *base->a);
    memcpy(base->b, e->pool->value + e->from[b] * size, size * sizeof *base->b);
    mel_toss_sides(size, base->a, base->b, rng);
    return MEL_OK;
}

/* In a session for the order, well-known weights alone are no end while the order is open. */
static bool precise(const mel_active *base)
{
    const engine *e = (const engine *)base;
    return base->opt.until != MEL_UNTIL_RANK && base->radius <= base->opt.tolerance &&
           e->view.scale_reduction <= MEL_POOR_MIXING;
}

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    mel_candidates_free(e->chooser);
    mel_sampler_free(e->sampler);
    free(e->prior);
    free(e->from);
    free(e->feature);
    free(e->best);
    free(e->favours);
    free(e->w); /* and all that was made with it */
}

static const mel_active_ops candidates_ops = {
    .precise = precise,
    .choose = choose,
    .predict = predict,
    .row = row,
    .hear = hear,
    .samples = samples,
    .clear = clear,
};

/* --- making one ----------------------------------------------------------------------------------- */

/* Classifiers with the same numbers are one question's side: the first of them. */
static mel_status list_classifiers(engine *e, mel_error *err)
{
    const size_t n = e->pool->n;
    e->from = mel_alloc(n, sizeof *e->from);
    if (e->from == NULL)
        return mel_fail_memory(err, "the candidates");
    for (size_t i = 0; i < n; i++)
        if (mel_pool_place(e->pool, e->pool->value + i * e->pool->size) == i)
            e->from[e->n++] = i;
    return e->n >= 2 ? MEL_OK : mel_fail(err, MEL_EINVAL, "all %zu classifiers have the same numbers", n);
}

static mel_status make_rooms(engine *e, mel_error *err)
{
    const size_t count = mel_sampler_samples(e->sampler)->count;
    const mel_part clouds[] = { { count * e->d, { &e->w } },
                                { e->d, { &e->middle } },
                                { count, { &e->work } } };
    e->feature = mel_alloc(e->n, e->d * sizeof *e->feature);
    e->best = mel_alloc(count, sizeof *e->best);
    e->favours = mel_alloc(e->n, sizeof *e->favours);
    const bool made =
        e->feature != NULL && e->best != NULL && e->favours != NULL && mel_parts_new(MEL_PARTS(clouds));
    return made ? MEL_OK : mel_fail_memory(err, "the candidates");
}

/* Features against the first classifier's: only differences count. */
static mel_status make_chooser(engine *e, mel_error *err)
{
    const double *value = e->pool->value;
    for (size_t c = 0; c < e->n; c++)
        e->f->ops->row(e->f, value + e->from[c] * e->pool->size, value, e->feature + c * e->d);
    return mel_candidates_new(&e->chooser, e->n, e->d, e->feature, mel_sampler_samples(e->sampler)->count,
                              err);
}

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    e->pool = domain->pool;
    TRY(mel_active_linear(&e->base, domain, err));
    TRY(list_classifiers(e, err));
    e->f = e->base.basis;
    e->d = e->f->dimension;
    TRY(mel_active_room(&e->base, e->pool->size, e->d, err));
    if (opt->prior != NULL)
        TRY(mel_basis_vector(&e->prior, e->f, opt, opt->prior, err));
    TRY(make_sampler(e, err));
    TRY(make_rooms(e, err));
    TRY(make_chooser(e, err));
    look(e);
    return MEL_OK;
}

mel_status mel_engine_candidates(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                 mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status =
        mel_active_new(&e, sizeof(engine), &mel_active_engine, &candidates_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, domain, err) : status);
}
