/* Active elicitation by questions about given classifiers: the posterior of the coefficient vector by samples
 * (posterior/sphere.h), the family's features (family.h), the next pair out of the pool (ask/candidates.h).
 *
 * Measured statistics differ from a classifier's true ones, by which people who know it answer. To first
 * order the utility of classifier c is <w, f_c> + u_c, |w| = 1, with a normal error u_c of known standard
 * deviation s_c, the same in every question about c. The sampler knows nothing of it: it gets D + S
 * coordinates, one more for each classifier that is asked about, and the answer to "A or B" is the row (f_A -
 * f_B, sqrt(D) s_A at A's coordinate, -sqrt(D) s_B at B's). A uniform direction in D + S dimensions has a
 * uniform direction in the first D, and next to them each of the others over |w| is sqrt(D) times smaller
 * than a t variable with D degrees of freedom: the errors have the right scale and tails that are somewhat
 * too long. What is reported is the direction of the first D. */
#include "elicit/active/ask/candidates.h"
#include "elicit/active/engine.h"
#include "elicit/active/select.h"
#include "elicit/options.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ERRORS = 40, /* classifiers whose errors are followed; others are then not asked about */
    LOOKED_AT = 64,   /* samples that standard errors are averaged over */
    FIRST_REFRESH = 4 /* after so many answers, and twice as many, ... they are found anew */
};

typedef struct {
    size_t a, b; /* of the engine's classifiers */
    mel_answer answer;
} told;

typedef struct {
    mel_active base;
    const mel_pool *pool; /* lent */
    const mel_basis *f;   /* base.basis */
    mel_sampler *sampler;
    mel_candidates *chooser;
    double *prior;
    size_t n;                   /* classifiers whose numbers differ: of equal ones the first */
    size_t *from;               /* n: its place in the pool */
    size_t d, slots, dimension; /* D, S, D + S */
    double *feature;            /* n x D: of its row against the first one */
    size_t n_used, *slot;       /* n: coordinate of its error; SIZE_MAX: none yet */
    size_t n_counted;           /* how many have an error */
    bool *counted, *left_out;   /* n: has an error; is not to be asked about */
    double *error;              /* n: sqrt(D) s, where it has a coordinate */
    double *fresh;              /* n */
    told *answers;
    size_t n_answers, capacity;
    double gain;
    mel_samples view; /* the samples as reported */
    double *w, *middle, *work, *vector;
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
    const double norm = mel_basis_norm(e->f, e->middle);
    if (norm > 0.0)
        mel_scale(d, 1.0 / norm, e->middle);
}

/* The direction of the reported coordinates, at the norm at which they are judged. */
static void look(engine *e)
{
    const mel_samples *all = mel_sampler_samples(e->sampler);
    const size_t d = e->d;
    e->view = *all;
    e->view.dimension = d;
    e->view.w = e->w;
    e->view.mean = e->view.centre = e->middle;
    e->view.covariance = NULL;
    for (size_t i = 0; i < all->count; i++) {
        double *w = e->w + i * d;
        memcpy(w, all->w + i * e->dimension, d * sizeof *w);
        mel_scale(d, 1.0 / mel_basis_norm(e->f, w), w);
    }
    find_middle(e, all->noise->errs == MEL_ERRS_ALIKE);
    e->gain = mel_basis_gain(e->f, e->middle);
    e->base.w = e->w;
    e->base.middle = e->middle;
    e->base.radius = mel_cloud_radius(all->count, d, e->w, e->middle, e->f->unit,
                                      mel_samples_level(all, 0.975), mel_samples_radius_level(all), e->work);
    const size_t left = mel_candidates_left(e->chooser);
    e->base.most_left = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

/* The sampler's w has unit length with the errors, the answers' margins are per unit of the reported part. */
static double sampler_gain(const engine *e)
{
    return e->gain * sqrt((double)e->dimension / (double)e->d);
}

/* --- how well a classifier is measured ------------------------------------------------------------ */

/* Variance of <slope, statistics> of one true class of a group: its k rates are multinomial, and by Jeffreys'
 * prior their posterior is Dirichlet's. first, n, stride: where its coordinates are; share: of the class,
 * where the statistics are shares of all rows. */
static double class_variance(const double *slope, const double *value, size_t n, size_t k, double rows,
                             double share)
{
    const double all = rows + 0.5 * (double)k;
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double p = (rows * fmin(value[i] / share, 1.0) + 0.5) / all, g = slope[i] * share;
        sum += g * p;
        squares += g * g * p;
    }
    return fmax(0.0, squares - sum * sum) / (all + 1.0);
}

/* Of the utility whose gradient at the classifier is this slope. */
static double variance(const mel_pool *pool, size_t at, const double *slope)
{
    const mel_layout *layout = &pool->layout;
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t per_group = pool->size / m, each = per_group / k;
    const double *rows = pool->class_rows + at * m * k, *value = pool->value + at * pool->size;
    double all = 0.0, sum = 0.0;
    for (size_t i = 0; i < m * k; i++)
        all += rows[i];
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < k; i++) {
            const size_t place = layout->coordinates == MEL_BINARY ? 1 - i : i;
            const size_t first = g * per_group + place * each;
            const double here = rows[g * k + i], share = layout->kind == MEL_RATES ? 1.0 : here / all;
            if (here > 0.0)
                sum += class_variance(slope + first, value + first, each, k, here, share);
        }
    return sum;
}

/* sqrt(D) times the standard error of a classifier's utility, on average over what is believed. */
static double error_of(engine *e, size_t c)
{
    const double *point = e->pool->value + e->from[c] * e->pool->size;
    const size_t stride = (e->view.count + LOOKED_AT - 1) / LOOKED_AT;
    double sum = 0.0;
    size_t n = 0;
    for (size_t i = 0; i < e->view.count; i += stride, n++) {
        const double *w = e->w + i * e->d, length2 = mel_dot(e->d, w, w);
        e->f->ops->slope(e->f, point, w, e->vector);
        sum += variance(e->pool, e->from[c], e->vector) / length2;
    }
    return sqrt((double)e->d * sum / (double)n);
}

static bool is_counted(const mel_pool *pool, size_t at)
{
    const size_t parts = pool->layout.n_classes * (pool->layout.n_groups > 1 ? pool->layout.n_groups : 1);
    double all = pool->class_rows != NULL ? 0.0 : NAN;
    for (size_t i = 0; i < parts && pool->class_rows != NULL; i++)
        all += pool->class_rows[at * parts + i];
    return all > 0.0;
}

/* Gives a classifier its coordinate. */
static void follow(engine *e, size_t c)
{
    if (!e->counted[c] || e->slot[c] != SIZE_MAX || e->n_used == e->slots)
        return;
    e->slot[c] = e->n_used++;
    e->error[c] = error_of(e, c);
}

/* Where not all get a coordinate, no further classifier is asked about without two that are free: a pair may
 * need both. */
static void leave_out(engine *e)
{
    const bool scarce = e->n_counted > e->slots && e->slots - e->n_used < 2;
    for (size_t c = 0; c < e->n; c++)
        e->left_out[c] = scarce && e->counted[c] && e->slot[c] == SIZE_MAX;
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

static void point_of(const engine *e, const double *error, size_t c, double *out)
{
    memcpy(out, e->feature + c * e->d, e->d * sizeof *out);
    memset(out + e->d, 0, e->slots * sizeof *out);
    if (e->slot[c] != SIZE_MAX)
        out[e->d + e->slot[c]] = error[c];
}

static void row_of(const engine *e, const double *error, size_t a, size_t b, double *out)
{
    for (size_t j = 0; j < e->d; j++)
        out[j] = e->feature[a * e->d + j] - e->feature[b * e->d + j];
    memset(out + e->d, 0, e->slots * sizeof *out);
    if (e->slot[a] != SIZE_MAX)
        out[e->d + e->slot[a]] += error[a];
    if (e->slot[b] != SIZE_MAX)
        out[e->d + e->slot[b]] -= error[b];
}

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    const engine *e = (const engine *)base;
    row_of(e, e->error, place_of(e, a), place_of(e, b), out);
}

static double predict(mel_engine *base, const double *a, const double *b)
{
    engine *e = (engine *)base;
    row(&e->base, a, b, e->base.row);
    return mel_sampler_probability(e->sampler, e->base.row, sampler_gain(e));
}

/* --- answers -------------------------------------------------------------------------------------- */

static mel_status make_sampler(mel_sampler **out, const engine *e, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    const mel_basis *f = e->f;
    const size_t rows = f->n_cone * e->dimension;
    double *cone = mel_alloc_zero(rows + 2 * e->dimension, sizeof *cone);
    if (cone == NULL)
        return mel_fail_memory(err, "the prior");
    double *start = cone + rows, *prior = start + e->dimension;
    for (size_t i = 0; i < f->n_cone; i++)
        memcpy(cone + i * e->dimension, f->cone + i * e->d, e->d * sizeof *cone);
    memcpy(start, f->start, e->d * sizeof *start);
    if (e->prior != NULL)
        memcpy(prior, e->prior, e->d * sizeof *prior);
    const mel_sampler_options sampling = {
        .dimension = e->dimension,
        .samples = MEL_CANDIDATE_SAMPLES,
        .n_cone = f->n_cone,
        .cone = cone,
        .start = start,
        .assume = opt->active.assume,
        .seed = opt->seed,
        .prior = e->prior != NULL ? prior : NULL,
        .prior_strength =
            e->prior != NULL ? opt->active.prior_strength * sqrt((double)e->dimension / (double)e->d) : 0.0,
    };
    const mel_status status = mel_sampler_new(out, &sampling, err);
    free(cone);
    return status;
}

/* The standard errors as they look now, and a sampler that has heard all answers with them. */
static mel_status refresh(engine *e, mel_error *err)
{
    mel_sampler *fresh = NULL;
    for (size_t c = 0; c < e->n; c++)
        e->fresh[c] = e->slot[c] != SIZE_MAX ? error_of(e, c) : 0.0;
    mel_status status = make_sampler(&fresh, e, err);
    for (size_t i = 0; i < e->n_answers && status == MEL_OK; i++) {
        row_of(e, e->fresh, e->answers[i].a, e->answers[i].b, e->base.row);
        status = mel_sampler_tell(fresh, e->base.row, sampler_gain(e), e->answers[i].answer, err);
    }
    if (status != MEL_OK) {
        mel_sampler_free(fresh);
        return status;
    }
    mel_sampler_free(e->sampler);
    e->sampler = fresh;
    memcpy(e->error, e->fresh, e->n * sizeof *e->error);
    return MEL_OK;
}

static bool is_refresh_due(const engine *e)
{
    size_t next = FIRST_REFRESH;
    while (next < e->n_answers)
        next *= 2;
    return e->n_used > 0 && next == e->n_answers;
}

static mel_status reserve(engine *e, mel_error *err)
{
    if (e->n_answers < e->capacity)
        return MEL_OK;
    const size_t capacity = e->capacity == 0 ? 32 : 2 * e->capacity;
    void *answers = e->answers;
    if (!mel_grow(&answers, capacity, sizeof *e->answers))
        return mel_fail_memory(err, "the answers");
    e->answers = answers;
    e->capacity = capacity;
    return MEL_OK;
}

static mel_status hear_pair(engine *e, told now, mel_error *err)
{
    follow(e, now.a);
    follow(e, now.b);
    row_of(e, e->error, now.a, now.b, e->base.row);
    const double gain = sampler_gain(e);
    for (size_t i = 0; i < e->n_answers; i++)
        mel_sampler_set_gain(e->sampler, i, gain);
    mel_status status = mel_sampler_tell(e->sampler, e->base.row, gain, now.answer, err);
    if (status != MEL_OK)
        return status;
    e->answers[e->n_answers++] = now;
    look(e);
    status = is_refresh_due(e) ? refresh(e, err) : MEL_OK;
    if (status == MEL_OK)
        look(e);
    return status;
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    engine *e = (engine *)base;
    const told now = { .a = place_of(e, pair->a), .b = place_of(e, pair->b), .answer = answer };
    mel_status status = reserve(e, err);
    if (status == MEL_OK)
        status = mel_candidates_strike(e->chooser, now.a, now.b, err);
    if (status == MEL_OK)
        status = hear_pair(e, now, err);
    for (size_t c = 0; c < e->n && status == MEL_OK; c++)
        if (e->slot[c] != SIZE_MAX) {
            point_of(e, e->error, c, e->base.row);
            mel_candidates_move(e->chooser, c, e->base.row);
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
    leave_out(e);
    mel_candidates_view(e->chooser, (mel_candidate_view){ .reported = e->d, .gain = e->gain });
    base->avoided.alike = MEL_IDENTICAL;
    mel_candidates_leave_out(e->chooser, e->left_out, &base->avoided);
    mel_candidates_choose(&a, &b, &outlook, e->chooser, e->sampler);
    base->end = outlook.information >= MEL_LEAST_INFORMATION ? mel_end_of(&base->opt, &e->view, &outlook)
                                                             : MEL_END_EXHAUSTED;
    memcpy(base->a, e->pool->value + e->from[a] * size, size * sizeof *base->a);
    memcpy(base->b, e->pool->value + e->from[b] * size, size * sizeof *base->b);
    mel_toss_sides(size, base->a, base->b, rng);
    return MEL_OK;
}

static void clear(mel_active *base)
{
    engine *e = (engine *)base;
    mel_candidates_free(e->chooser);
    mel_sampler_free(e->sampler);
    free(e->prior);
    free(e->from);
    free(e->slot);
    free(e->counted);
    free(e->left_out);
    free(e->answers);
    free(e->feature); /* and all that was made with it */
    free(e->w);
}

static const mel_active_ops candidates_ops = {
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
    e->slot = mel_alloc(n, sizeof *e->slot);
    e->counted = mel_alloc_zero(n, sizeof *e->counted);
    e->left_out = mel_alloc_zero(n, sizeof *e->left_out);
    if (e->from == NULL || e->slot == NULL || e->counted == NULL || e->left_out == NULL)
        return mel_fail_memory(err, "the candidates");
    for (size_t i = 0; i < n; i++) {
        if (mel_pool_place(e->pool, e->pool->value + i * e->pool->size) != i)
            continue;
        e->slot[e->n] = SIZE_MAX;
        e->counted[e->n] = is_counted(e->pool, i);
        e->n_counted += e->counted[e->n];
        e->from[e->n++] = i;
    }
    e->slots = e->n_counted < MOST_ERRORS ? e->n_counted : MOST_ERRORS;
    return e->n >= 2 ? MEL_OK : mel_fail(err, MEL_EINVAL, "all %zu classifiers have the same numbers", n);
}

static mel_status make_rooms(engine *e, mel_error *err)
{
    const size_t count = mel_sampler_samples(e->sampler)->count;
    const mel_part parts[] = { { e->n * e->d, { &e->feature } }, { e->n, { &e->error, &e->fresh } } };
    const mel_part clouds[] = { { count * e->d, { &e->w } },
                                { e->d, { &e->middle } },
                                { count, { &e->work } },
                                { e->pool->size, { &e->vector } } };
    if (!mel_parts_new(MEL_PARTS(parts)) || !mel_parts_new(MEL_PARTS(clouds)))
        return mel_fail_memory(err, "the candidates");
    return MEL_OK;
}

/* Features against the first classifier's: only differences count. The room is that of the points. */
static mel_status make_chooser(engine *e, mel_error *err)
{
    const double *value = e->pool->value;
    const size_t size = e->pool->size;
    double *point = mel_alloc_zero(e->n, e->dimension * sizeof *point);
    if (point == NULL)
        return mel_fail_memory(err, "the candidates");
    for (size_t c = 0; c < e->n; c++) {
        e->f->ops->row(e->f, value + e->from[c] * size, value, e->feature + c * e->d);
        memcpy(point + c * e->dimension, e->feature + c * e->d, e->d * sizeof *point);
    }
    const mel_status status = mel_candidates_new(&e->chooser, e->n, e->dimension, point,
                                                 mel_sampler_samples(e->sampler)->count, err);
    free(point);
    return status;
}

static mel_status set_up(engine *e, const mel_domain *domain, mel_error *err)
{
    const mel_session_options *opt = &e->base.opt;
    e->pool = domain->pool;
    mel_status status = mel_active_linear(&e->base, domain, err);
    if (status == MEL_OK)
        status = list_classifiers(e, err);
    if (status != MEL_OK)
        return status;
    e->f = e->base.basis;
    e->d = e->f->dimension;
    e->dimension = e->d + e->slots;
    status = mel_active_room(&e->base, e->pool->size, e->dimension, err);
    if (status == MEL_OK && opt->active.prior != NULL)
        status = mel_basis_vector(&e->prior, e->f, opt->active.prior, err);
    if (status == MEL_OK)
        status = make_sampler(&e->sampler, e, err);
    if (status == MEL_OK)
        status = make_rooms(e, err);
    if (status == MEL_OK)
        status = make_chooser(e, err);
    if (status == MEL_OK)
        look(e);
    return status;
}

mel_status mel_engine_candidates(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                 mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status =
        mel_active_new(&e, sizeof(engine), &mel_active_engine, &candidates_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((engine *)e, domain, err) : status);
}
