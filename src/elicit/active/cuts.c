#include "elicit/active/cuts.h"

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

struct mel_cuts {
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
    double *room;
};

/* By hand, as all of this file: what decides on steps is the same on every machine, as far as log2 is. */
static double fourth_power(double x)
{
    return x * x * x * x;
}

void mel_cuts_free(mel_cuts *cuts)
{
    if (cuts == NULL)
        return;
    free(cuts->room);
    free(cuts);
}

/* Divides the room, or, when there is none yet, counts what is needed. */
static size_t divide_room(mel_cuts *cuts)
{
    const size_t d = cuts->f->dimension, v = cuts->variables, s = cuts->f->size;
    const struct {
        double **block;
        size_t size;
    } parts[] = {
        { &cuts->at, v },
        { &cuts->there, v },
        { &cuts->uphill, v },
        { &cuts->uphill_there, v },
        { &cuts->way, v },
        { &cuts->moved, MEMORY * v },
        { &cuts->turned, MEMORY * v },
        { &cuts->rows, d * d },
        { &cuts->edges, d * d },
        { &cuts->weighted, d * d },
        { &cuts->between, d * d },
        { &cuts->product, d * d },
        { &cuts->spread, d },
        { &cuts->c, s },
        { &cuts->slope, s },
        { &cuts->turn, s },
        { &cuts->zero, s },
        { &cuts->a, s },
        { &cuts->b, s },
    };
    size_t total = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (cuts->room != NULL)
            *parts[i].block = cuts->room + total;
        total += parts[i].size;
    }
    return total;
}

mel_status mel_cuts_new(mel_cuts **out, const mel_basis *f, mel_error *err)
{
    *out = NULL;
    mel_cuts *cuts = mel_alloc_zero(1, sizeof *cuts);
    if (cuts == NULL)
        return mel_fail_memory(err, "the planned cuts");
    cuts->f = f;
    cuts->n = f->dimension - 1;
    cuts->variables = cuts->n * 2 * f->size;
    cuts->loss = INFINITY;
    cuts->room = mel_alloc_zero(divide_room(cuts), sizeof(double));
    if (cuts->room == NULL) {
        mel_cuts_free(cuts);
        return mel_fail_memory(err, "the planned cuts");
    }
    (void)divide_room(cuts);
    *out = cuts;
    return MEL_OK;
}

size_t mel_cuts_count(const mel_cuts *cuts)
{
    return cuts->n;
}

bool mel_cuts_settled(const mel_cuts *cuts)
{
    return isfinite(cuts->loss) && cuts->settled;
}

/* The mean is added, to close the direction that unit vectors do not vary in, next to variances of about 1:
 * the loss does not change with their scale. */
double mel_cuts_loss_of(mel_cuts *cuts, const double *covariance, const double *mean)
{
    const size_t d = cuts->f->dimension;
    double *factor = cuts->rows, log_det = 0.0, sum = 0.0, greatest = 0.0;
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
    return (double)cuts->n / power * log2(sum / (double)d) - log_det;
}

/* --- cuts as variables ------------------------------------------------------------------------------ */

static void place_middle(const mel_basis *f, const double *cut, double *c)
{
    for (size_t i = 0; i < f->size; i++)
        c[i] = f->centre[i % f->per_group] + f->radius * cut[i];
}

void mel_cuts_get(const mel_cuts *cuts, size_t i, double *c, double *delta)
{
    const size_t s = cuts->f->size;
    const double *cut = cuts->at + i * 2 * s;
    place_middle(cuts->f, cut, c);
    memcpy(delta, cut + s, s * sizeof(double));
}

static void draw_cuts(mel_cuts *cuts)
{
    const mel_basis *f = cuts->f;
    mel_rng rng;
    mel_rng_seed(&rng, 1); /* any will do, but the same for the same answers */
    for (size_t j = 0; j < cuts->n; j++) {
        double *cut = cuts->at + j * 2 * f->size;
        f->ops->middle(f, &rng, cuts->c);
        for (size_t i = 0; i < f->size; i++) {
            cut[i] = (cuts->c[i] - f->centre[i % f->per_group]) / f->radius;
            cut[f->size + i] = mel_rng_normal(&rng);
        }
    }
}

/* Middles back to where they may be; deltas into the cut through the mean. */
static void keep_possible(mel_cuts *cuts, double *variables)
{
    const mel_basis *f = cuts->f;
    const size_t s = f->size, q = f->per_group;
    for (size_t j = 0; j < cuts->n; j++) {
        double *cut = variables + j * 2 * s, *delta = cut + s;
        for (size_t g = 0; g < f->groups; g++) {
            const double out = mel_norm2(q, cut + g * q) * f->radius;
            if (out > f->outer)
                mel_scale(q, f->outer / out, cut + g * q);
        }
        place_middle(f, cut, cuts->c);
        f->ops->slope(f, cuts->c, cuts->mean, cuts->slope);
        const double steep = mel_dot(s, cuts->slope, cuts->slope);
        if (steep > 0.0)
            mel_axpy(s, -mel_dot(s, cuts->slope, delta) / steep, cuts->slope, delta);
    }
}

/* --- the loss --------------------------------------------------------------------------------------- */

static void lay_rows(mel_cuts *cuts, const double *variables)
{
    const mel_basis *f = cuts->f;
    const size_t d = f->dimension, s = f->size;
    for (size_t j = 0; j < cuts->n; j++) {
        const double *cut = variables + j * 2 * s;
        place_middle(f, cut, cuts->c);
        mel_basis_place(f, cuts->c, 0.5, cut + s, cuts->a, cuts->b);
        f->ops->row(f, cuts->a, cuts->b, cuts->rows + j * d);
    }
    memcpy(cuts->rows + cuts->n * d, cuts->mean, d * sizeof(double));
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
static double find_edges(mel_cuts *cuts)
{
    const size_t d = cuts->f->dimension;
    double *x = cuts->rows, *inverse = cuts->edges, log_det = 0.0;
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
static void find_turns(mel_cuts *cuts, double sum)
{
    const size_t d = cuts->f->dimension, n = cuts->n;
    for (size_t i = 0; i < d; i++) {
        const double square = cuts->spread[i] * cuts->spread[i];
        const double weight = (double)n / ln_2 * square * square * square / sum;
        for (size_t j = 0; j < n; j++)
            cuts->weighted[i * d + j] = weight * cuts->edges[i * d + j];
        cuts->weighted[i * d + n] = 0.0;
    }
    double *between = cuts->between;
    memset(between, 0, d * d * sizeof(double));
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < d; i++)
            mel_axpy(d, cuts->edges[k * d + i], cuts->weighted + k * d, between + i * d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            cuts->product[i * d + j] =
                cuts->edges[j * d + i] / ln_2 - mel_dot(d, between + i * d, cuts->edges + j * d);
}

/* How the loss changes with one cut, given how it does with its row. A delta that is moved is brought back
 * into the cut through the mean, and so it is when the middle moves. That middles may not leave the ball is
 * left to keep_possible. */
static void find_cut_gradient(mel_cuts *cuts, const double *cut, const double *turn, double *gradient)
{
    const mel_basis *f = cuts->f;
    const size_t s = f->size;
    const double *delta = cut + s;
    double *by_middle = gradient, *by_delta = gradient + s;
    place_middle(f, cut, cuts->c);
    f->ops->slope(f, cuts->c, turn, by_delta);
    f->ops->slope(f, delta, turn, by_middle);
    f->ops->slope(f, cuts->zero, turn, cuts->a);
    f->ops->slope(f, cuts->c, cuts->mean, cuts->slope);
    f->ops->slope(f, delta, cuts->mean, cuts->turn);
    f->ops->slope(f, cuts->zero, cuts->mean, cuts->b);
    const double steep = mel_dot(s, cuts->slope, cuts->slope);
    const double back = steep > 0.0 ? mel_dot(s, cuts->slope, by_delta) / steep : 0.0;
    for (size_t i = 0; i < s; i++) {
        by_middle[i] = f->radius * (by_middle[i] - cuts->a[i] - back * (cuts->turn[i] - cuts->b[i]));
        by_delta[i] -= back * cuts->slope[i];
    }
}

/* The loss, and how it changes; infinite where there is none. */
static double evaluate(mel_cuts *cuts, const double *variables, double *gradient)
{
    const size_t d = cuts->f->dimension, n = cuts->n, s = cuts->f->size;
    lay_rows(cuts, variables);
    const double log_det = find_edges(cuts), count = (double)n;
    if (!isfinite(log_det))
        return INFINITY;
    double sum = 0.0;
    for (size_t i = 0; i < d; i++) {
        cuts->spread[i] = mel_norm2(n, cuts->edges + i * d);
        sum += fourth_power(cuts->spread[i] * cuts->spread[i]);
    }
    const double loss = count / power * log2(sum / (double)d) + log_det;
    if (!isfinite(loss))
        return INFINITY;
    find_turns(cuts, sum);
    for (size_t j = 0; j < n; j++)
        find_cut_gradient(cuts, variables + j * 2 * s, cuts->product + j * d, gradient + j * 2 * s);
    return loss;
}

/* --- descent ---------------------------------------------------------------------------------------- */

/* Not by NLopt: a few steps after every answer, without room. */

/* The way down, by the memory of the last steps. */
static void find_way(mel_cuts *cuts)
{
    const size_t v = cuts->variables, n = cuts->remembered, from = n > MEMORY ? n - MEMORY : 0;
    double *way = cuts->way;
    for (size_t i = 0; i < v; i++)
        way[i] = -cuts->uphill[i];
    if (n == 0) {
        mel_scale(v, first_step / fmax(mel_norm2(v, way), 1e-280), way);
        return;
    }
    for (size_t k = n; k-- > from;) {
        const size_t m = k % MEMORY;
        cuts->share[m] = mel_dot(v, cuts->moved + m * v, way) / cuts->bend[m];
        mel_axpy(v, -cuts->share[m], cuts->turned + m * v, way);
    }
    const double *last = cuts->turned + (n - 1) % MEMORY * v;
    mel_scale(v, cuts->bend[(n - 1) % MEMORY] / mel_dot(v, last, last), way);
    for (size_t k = from; k < n; k++) {
        const size_t m = k % MEMORY;
        const double other = mel_dot(v, cuts->turned + m * v, way) / cuts->bend[m];
        mel_axpy(v, cuts->share[m] - other, cuts->moved + m * v, way);
    }
}

/* Goes there and remembers the step, if the loss curves upwards along it. */
static void go(mel_cuts *cuts, double loss)
{
    const size_t v = cuts->variables, m = cuts->remembered % MEMORY;
    double *moved = cuts->moved + m * v, *turned = cuts->turned + m * v;
    for (size_t i = 0; i < v; i++) {
        moved[i] = cuts->there[i] - cuts->at[i];
        turned[i] = cuts->uphill_there[i] - cuts->uphill[i];
    }
    cuts->bend[m] = mel_dot(v, moved, turned);
    if (cuts->bend[m] > 1e-12 * mel_norm2(v, moved) * mel_norm2(v, turned))
        cuts->remembered++;
    else if (cuts->remembered >= MEMORY) /* it took the place of the oldest */
        cuts->remembered = 0;
    memcpy(cuts->at, cuts->there, v * sizeof(double));
    memcpy(cuts->uphill, cuts->uphill_there, v * sizeof(double));
    cuts->loss = loss;
}

static bool step_down(mel_cuts *cuts)
{
    double length = 1.0;
    find_way(cuts);
    for (int tries = 0; tries < SHORTENED; tries++, length *= shorter) {
        for (size_t i = 0; i < cuts->variables; i++)
            cuts->there[i] = cuts->at[i] + length * cuts->way[i];
        keep_possible(cuts, cuts->there);
        const double loss = evaluate(cuts, cuts->there, cuts->uphill_there);
        if (loss < cuts->loss) {
            go(cuts, loss);
            return true;
        }
    }
    return false;
}

static void descend(mel_cuts *cuts, int steps)
{
    cuts->remembered = 0;
    for (int i = 0; i < steps; i++) {
        const bool fresh = cuts->remembered == 0, down = step_down(cuts);
        if (!down && fresh)
            return;
        if (!down)
            cuts->remembered = 0;
    }
}

double mel_cuts_fit(mel_cuts *cuts, const double *mean)
{
    cuts->mean = mean;
    if (!isfinite(cuts->loss)) {
        draw_cuts(cuts);
        cuts->settled = false;
    }
    keep_possible(cuts, cuts->at);
    cuts->loss = evaluate(cuts, cuts->at, cuts->uphill);
    if (isfinite(cuts->loss)) {
        const double before = cuts->loss;
        descend(cuts, cuts->settled ? STEPS_SETTLED : STEPS);
        cuts->settled = before - cuts->loss < little;
    }
    cuts->mean = NULL;
    return cuts->loss;
}
