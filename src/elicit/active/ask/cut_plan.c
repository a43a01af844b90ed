/* Cuts that are planned together, fitted by L-BFGS. */
#include "elicit/active/ask/cut_plan.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY = 12,      /* steps that a fit remembers (L-BFGS) */
    SHORTENED = 8,    /* how often a step that leads up is shortened */
    STEPS = 15,       /* of a call */
    STEPS_SETTLED = 3 /* cuts that stay what they are make a better shape than the best ones of each mean */
};
/* First step of a call; how steps shrink. */
static const double first_step = 0.05, shorter = 0.4;
/* The power by which the largest spread counts. */
static const double power = 8.0;
/* Cuts with smaller pivots do not close the posterior in (deltas are of about length 1 all the time). */
static const double least_pivot = 1e-12;
/* Least share of a variance that is left once others are known. */
static const double least_share = 1e-9;
/* Bits: cuts from which a fit gains less are settled. */
static const double little = 0.3;
static const double ln_2 = 0.69314718055994530942;

struct mel_cut_plan {
    const mel_basis *f;
    size_t n;         /* cuts: D - 1 */
    size_t variables; /* n x 2 size: of each cut (middle - centre) / radius, and delta */
    const double *mean;
    double loss;
    bool settled;                        /* the last fit gained little */
    double *at, *there;                  /* variables: the cuts and a trial */
    double *uphill, *uphill_there, *way; /* variables */
    double *moved, *turned;              /* MEMORY x variables: differences of places and of gradients */
    double bend[MEMORY], share[MEMORY];
    size_t remembered;
    double *rows, *edges, *weighted, *between, *product; /* D x D */
    double *spread;                                      /* D */
    double *c, *slope, *turn, *zero, *a, *b;             /* size */
};

/* By hand, as all of this file: what decides on steps is the same on every machine, as far as log2 is. */
static double fourth_power(double x)
{
    return x * x * x * x;
}

void mel_cut_plan_free(mel_cut_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->at); /* and all that was made with it */
    free(plan);
}

static bool make_room(mel_cut_plan *plan)
{
    const size_t d = plan->f->dimension, v = plan->variables, s = plan->f->size;
    const mel_part parts[] = {
        { v, { &plan->at, &plan->there, &plan->uphill, &plan->uphill_there, &plan->way } },
        { MEMORY * v, { &plan->moved, &plan->turned } },
        { d * d, { &plan->rows, &plan->edges, &plan->weighted, &plan->between, &plan->product } },
        { d, { &plan->spread } },
        { s, { &plan->c, &plan->slope, &plan->turn, &plan->zero, &plan->a, &plan->b } }
    };
    return mel_parts_new(MEL_PARTS(parts));
}

mel_status mel_cut_plan_new(mel_cut_plan **out, const mel_basis *f, mel_error *err)
{
    *out = NULL;
    mel_cut_plan *plan = mel_alloc_zero(1, sizeof *plan);
    if (plan == NULL)
        return mel_fail_memory(err, "the planned cuts");
    plan->f = f;
    plan->n = f->dimension - 1;
    plan->variables = plan->n * 2 * f->size;
    plan->loss = INFINITY;
    if (!make_room(plan)) {
        mel_cut_plan_free(plan);
        return mel_fail_memory(err, "the planned cuts");
    }
    *out = plan;
    return MEL_OK;
}

size_t mel_cut_plan_count(const mel_cut_plan *plan)
{
    return plan->n;
}

bool mel_cut_plan_settled(const mel_cut_plan *plan)
{
    return isfinite(plan->loss) && plan->settled;
}

/* The mean is added, to close the direction that unit vectors do not vary in, next to variances of about 1:
 * the loss does not change with their scale. */
double mel_cut_plan_loss_of(mel_cut_plan *plan, const double *covariance, const double *mean)
{
    const size_t d = plan->f->dimension;
    double *factor = plan->rows, log_det = 0.0, sum = 0.0, greatest = 0.0;
    for (size_t i = 0; i < d; i++)
        greatest = fmax(greatest, covariance[i * d + i]);
    if (!(greatest > 0.0))
        return -INFINITY;
    memcpy(factor, covariance, d * d * sizeof(double));
    mel_scale(d * d, 1.0 / greatest, factor);
    for (size_t i = 0; i < d; i++) {
        sum += fourth_power(factor[i * d + i]);
        mel_axpy(d, mean[i], mean, factor + i * d);
    }
    mel_cholesky_raised(d, factor, least_share);
    for (size_t i = 0; i < d; i++)
        log_det += log2(factor[i * d + i]);
    return (double)plan->n / power * log2(sum / (double)d) - log_det;
}

/* --- cuts as variables ------------------------------------------------------------------------------ */

static void place_middle(const mel_basis *f, const double *cut, double *c)
{
    for (size_t i = 0; i < f->size; i++)
        c[i] = f->centre[i % f->per_group] + f->radius * cut[i];
}

void mel_cut_plan_get(const mel_cut_plan *plan, size_t i, double *c, double *delta)
{
    const size_t s = plan->f->size;
    const double *cut = plan->at + i * 2 * s;
    place_middle(plan->f, cut, c);
    memcpy(delta, cut + s, s * sizeof(double));
}

static void draw_cuts(mel_cut_plan *plan)
{
    const mel_basis *f = plan->f;
    mel_rng rng;
    mel_rng_seed(&rng, 1); /* any will do, but the same for the same answers */
    for (size_t j = 0; j < plan->n; j++) {
        double *cut = plan->at + j * 2 * f->size;
        f->ops->middle(f, &rng, plan->c);
        for (size_t i = 0; i < f->size; i++) {
            cut[i] = (plan->c[i] - f->centre[i % f->per_group]) / f->radius;
            cut[f->size + i] = mel_rng_normal(&rng);
        }
    }
}

/* Middles back to where they may be; deltas into the cut through the mean. */
static void keep_possible(mel_cut_plan *plan, double *variables)
{
    const mel_basis *f = plan->f;
    const size_t s = f->size, q = f->per_group;
    for (size_t j = 0; j < plan->n; j++) {
        double *cut = variables + j * 2 * s, *delta = cut + s;
        for (size_t g = 0; g < f->groups; g++) {
            const double out = mel_norm2(q, cut + g * q) * f->radius;
            if (out > f->outer)
                mel_scale(q, f->outer / out, cut + g * q);
        }
        place_middle(f, cut, plan->c);
        f->ops->slope(f, plan->c, plan->mean, plan->slope);
        const double steep = mel_dot(s, plan->slope, plan->slope);
        if (steep > 0.0)
            mel_axpy(s, -mel_dot(s, plan->slope, delta) / steep, plan->slope, delta);
    }
}

/* --- the loss --------------------------------------------------------------------------------------- */

static void lay_rows(mel_cut_plan *plan, const double *variables)
{
    const mel_basis *f = plan->f;
    const size_t d = f->dimension, s = f->size;
    for (size_t j = 0; j < plan->n; j++) {
        const double *cut = variables + j * 2 * s;
        place_middle(f, cut, plan->c);
        mel_basis_place(f, plan->c, 0.5, cut + s, plan->a, plan->b);
        f->ops->row(f, plan->a, plan->b, plan->rows + j * d);
    }
    memcpy(plan->rows + plan->n * d, plan->mean, d * sizeof(double));
}

static void swap_rows(size_t d, double *matrix, size_t i, size_t j)
{
    for (size_t k = 0; k < d; k++) {
        const double kept = matrix[i * d + k];
        matrix[i * d + k] = matrix[j * d + k];
        matrix[j * d + k] = kept;
    }
}

/* Clears column i below and above its pivot, in the rows and in what becomes their inverse. */
static void eliminate(size_t d, size_t i, double *x, double *inverse)
{
    const double scale = 1.0 / x[i * d + i];
    mel_scale(d, scale, x + i * d);
    mel_scale(d, scale, inverse + i * d);
    for (size_t j = 0; j < d; j++) {
        const double share = x[j * d + i];
        if (j == i || share == 0.0)
            continue;
        mel_axpy(d, -share, x + i * d, x + j * d);
        mel_axpy(d, -share, inverse + i * d, inverse + j * d);
    }
}

/* The edges, from the rows, which are lost; log2 |det X|, infinite when the cuts do not close the posterior
 * in. Without LAPACK: no room is needed, so that it cannot fail, and no machine rounds otherwise. */
static double find_edges(mel_cut_plan *plan)
{
    const size_t d = plan->f->dimension;
    double *x = plan->rows, *inverse = plan->edges, log_det = 0.0;
    memset(inverse, 0, d * d * sizeof(double));
    for (size_t i = 0; i < d; i++)
        inverse[i * d + i] = 1.0;
    for (size_t i = 0; i < d; i++) {
        size_t pivot = i;
        for (size_t j = i + 1; j < d; j++)
            if (fabs(x[j * d + i]) > fabs(x[pivot * d + i]))
                pivot = j;
        if (!(fabs(x[pivot * d + i]) > least_pivot))
            return INFINITY;
        log_det += log2(fabs(x[pivot * d + i]));
        if (pivot != i) {
            swap_rows(d, x, i, pivot);
            swap_rows(d, inverse, i, pivot);
        }
        eliminate(d, i, x, inverse);
    }
    return log_det;
}

/* Into product: how the loss changes with the rows, -A' W A' + A' / ln 2 with W the change with A. */
static void find_turns(mel_cut_plan *plan, double sum)
{
    const size_t d = plan->f->dimension, n = plan->n;
    for (size_t i = 0; i < d; i++) {
        const double square = plan->spread[i] * plan->spread[i];
        const double weight = (double)n / ln_2 * square * square * square / sum;
        for (size_t j = 0; j < n; j++)
            plan->weighted[i * d + j] = weight * plan->edges[i * d + j];
        plan->weighted[i * d + n] = 0.0;
    }
    double *between = plan->between;
    memset(between, 0, d * d * sizeof(double));
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < d; i++)
            mel_axpy(d, plan->edges[k * d + i], plan->weighted + k * d, between + i * d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            plan->product[i * d + j] =
                plan->edges[j * d + i] / ln_2 - mel_dot(d, between + i * d, plan->edges + j * d);
}

/* How the loss changes with one cut, given how it does with its row. A delta that is moved is brought back
 * into the cut through the mean, and so it is when the middle moves. That middles may not leave the ball is
 * left to keep_possible. */
static void find_cut_gradient(mel_cut_plan *plan, const double *cut, const double *turn, double *gradient)
{
    const mel_basis *f = plan->f;
    const size_t s = f->size;
    const double *delta = cut + s;
    double *by_middle = gradient, *by_delta = gradient + s;
    place_middle(f, cut, plan->c);
    f->ops->slope(f, plan->c, turn, by_delta);
    f->ops->slope(f, delta, turn, by_middle);
    f->ops->slope(f, plan->zero, turn, plan->a);
    f->ops->slope(f, plan->c, plan->mean, plan->slope);
    f->ops->slope(f, delta, plan->mean, plan->turn);
    f->ops->slope(f, plan->zero, plan->mean, plan->b);
    const double steep = mel_dot(s, plan->slope, plan->slope);
    const double back = steep > 0.0 ? mel_dot(s, plan->slope, by_delta) / steep : 0.0;
    for (size_t i = 0; i < s; i++) {
        by_middle[i] = f->radius * (by_middle[i] - plan->a[i] - back * (plan->turn[i] - plan->b[i]));
        by_delta[i] -= back * plan->slope[i];
    }
}

/* The loss, and how it changes; infinite where there is none. */
static double evaluate(mel_cut_plan *plan, const double *variables, double *gradient)
{
    const size_t d = plan->f->dimension, n = plan->n, s = plan->f->size;
    lay_rows(plan, variables);
    const double log_det = find_edges(plan), count = (double)n;
    if (!isfinite(log_det))
        return INFINITY;
    double sum = 0.0;
    for (size_t i = 0; i < d; i++) {
        plan->spread[i] = mel_norm2(n, plan->edges + i * d);
        sum += fourth_power(plan->spread[i] * plan->spread[i]);
    }
    const double loss = count / power * log2(sum / (double)d) + log_det;
    if (!isfinite(loss))
        return INFINITY;
    find_turns(plan, sum);
    for (size_t j = 0; j < n; j++)
        find_cut_gradient(plan, variables + j * 2 * s, plan->product + j * d, gradient + j * 2 * s);
    return loss;
}

/* --- descent ---------------------------------------------------------------------------------------- */

/* Not by NLopt: a few steps after every answer, without room. */

/* The way down, by the memory of the last steps. */
static void find_way(mel_cut_plan *plan)
{
    const size_t v = plan->variables, n = plan->remembered, from = n > MEMORY ? n - MEMORY : 0;
    double *way = plan->way;
    for (size_t i = 0; i < v; i++)
        way[i] = -plan->uphill[i];
    if (n == 0) {
        mel_scale(v, first_step / fmax(mel_norm2(v, way), 1e-280), way);
        return;
    }
    for (size_t k = n; k-- > from;) {
        const size_t m = k % MEMORY;
        plan->share[m] = mel_dot(v, plan->moved + m * v, way) / plan->bend[m];
        mel_axpy(v, -plan->share[m], plan->turned + m * v, way);
    }
    const double *last = plan->turned + (n - 1) % MEMORY * v;
    mel_scale(v, plan->bend[(n - 1) % MEMORY] / mel_dot(v, last, last), way);
    for (size_t k = from; k < n; k++) {
        const size_t m = k % MEMORY;
        const double other = mel_dot(v, plan->turned + m * v, way) / plan->bend[m];
        mel_axpy(v, plan->share[m] - other, plan->moved + m * v, way);
    }
}

/* Goes there and remembers the step, if the loss curves upwards along it. */
static void go(mel_cut_plan *plan, double loss)
{
    const size_t v = plan->variables, m = plan->remembered % MEMORY;
    double *moved = plan->moved + m * v, *turned = plan->turned + m * v;
    for (size_t i = 0; i < v; i++) {
        moved[i] = plan->there[i] - plan->at[i];
        turned[i] = plan->uphill_there[i] - plan->uphill[i];
    }
    plan->bend[m] = mel_dot(v, moved, turned);
    if (plan->bend[m] > 1e-12 * mel_norm2(v, moved) * mel_norm2(v, turned))
        plan->remembered++;
    else if (plan->remembered >= MEMORY) /* it took the place of the oldest */
        plan->remembered = 0;
    memcpy(plan->at, plan->there, v * sizeof(double));
    memcpy(plan->uphill, plan->uphill_there, v * sizeof(double));
    plan->loss = loss;
}

static bool step_down(mel_cut_plan *plan)
{
    double length = 1.0;
    find_way(plan);
    for (int tries = 0; tries < SHORTENED; tries++, length *= shorter) {
        for (size_t i = 0; i < plan->variables; i++)
            plan->there[i] = plan->at[i] + length * plan->way[i];
        keep_possible(plan, plan->there);
        const double loss = evaluate(plan, plan->there, plan->uphill_there);
        if (loss < plan->loss) {
            go(plan, loss);
            return true;
        }
    }
    return false;
}

static void descend(mel_cut_plan *plan, int steps)
{
    plan->remembered = 0;
    for (int i = 0; i < steps; i++) {
        const bool fresh = plan->remembered == 0, down = step_down(plan);
        if (!down && fresh)
            return;
        if (!down)
            plan->remembered = 0;
    }
}

double mel_cut_plan_fit(mel_cut_plan *plan, const double *mean)
{
    plan->mean = mean;
    if (!isfinite(plan->loss)) {
        draw_cuts(plan);
        plan->settled = false;
    }
    keep_possible(plan, plan->at);
    plan->loss = evaluate(plan, plan->at, plan->uphill);
    if (isfinite(plan->loss)) {
        const double before = plan->loss;
        descend(plan, plan->settled ? STEPS_SETTLED : STEPS);
        plan->settled = before - plan->loss < little;
    }
    plan->mean = NULL;
    return plan->loss;
}
