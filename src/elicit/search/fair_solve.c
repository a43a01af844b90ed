/* Each slope f of a place is its gradient divided by an unknown length d: d f_i = share_i x_i + side_i sum of
 * the y_i that are cut. Once the lengths are known the equations of one coordinate have nothing to do with
 * those of another: its weights are the least-squares solution, linear in the lengths, and what they leave
 * over must vanish for the right lengths: a homogeneous system in one unknown per place. */
#include "elicit/search/fair.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- sums over the pairs of groups that sets cut, taken apart --------------------------------------- */

/* Pivots below this share of the largest are rounding errors. */
static const double smallest_pivot = 1e-12;

bool mel_back_substitute(size_t n, const double *r, size_t n_columns, double *x)
{
    double largest = 0.0;
    bool regular = true;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(r[i * n + i]));
    for (size_t i = n; i-- > 0;) {
        double *row = x + i * n_columns;
        for (size_t j = i + 1; j < n; j++)
            mel_axpy(n_columns, -r[i * n + j], x + j * n_columns, row);
        const double pivot = r[i * n + i];
        if (fabs(pivot) > smallest_pivot * largest) {
            mel_scale(n_columns, 1.0 / pivot, row);
            continue;
        }
        memset(row, 0, n_columns * sizeof *row);
        regular = false;
    }
    return regular;
}

mel_status mel_fair_split(double *block, size_t n_sets, size_t n_blocks, const double *cut, size_t n,
                          const double *sum, mel_error *err)
{
    double *a = mel_alloc(n_sets * n_blocks + n_blocks * n_blocks, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "the differences of groups");
    double *r = a + n_sets * n_blocks;
    memcpy(a, cut, n_sets * n_blocks * sizeof *a);
    mel_status status = mel_qr(n_sets, n_blocks, a, n_blocks, r, n_blocks, err);
    if (status == MEL_OK) {
        mel_gemm(true, false, n_blocks, n, n_sets, 1.0, a, n_blocks, sum, n, 0.0, block, n);
        if (!mel_back_substitute(n_blocks, r, n, block))
            status = mel_fail(err, MEL_ENUMERIC, "these sets of groups do not tell all pairs apart");
    }
    free(a);
    return status;
}

/* --- slopes of unknown length ------------------------------------------------------------------------ */

/* The error of a slope times its length is what is left over: equations are weighted by the lengths of the
 * round before, so often. */
enum { REWEIGHTED = 2 };
static const double least_length = 1e-6; /* of the largest one, in these weights */
/* In the first round x is taken to be as the slope of the first place tells, or nearly. */
static const double first_length = 1e-3;
/* How far x may be from the slope of the first place, in radians. */
static const double most_astray = 0.02;
/* Weights are against the rules when they are that far on the wrong side, as a share of the largest. */
static const double rounding = 1e-13;

typedef struct {
    const mel_fair_places *places;
    const double *slope;
    size_t n_columns;    /* of the equations of one coordinate: x and the blocks */
    size_t n_lengths;    /* of the slopes that are not nil, then the factor of a known x */
    size_t *place;       /* n_lengths: whose; the factor of x has none */
    bool *wanted;        /* q x n_columns: weights that are not fixed at zero */
    double *scale;       /* n_places: how long slopes are, about */
    double *length;      /* n_lengths: found; before, how large they are, about */
    double *system;      /* (q n_places) x n_lengths */
    double *design, *r;  /* n_places x n_columns, n_columns x n_columns */
    double *right;       /* n_places x n_lengths */
    double *part;        /* n_columns x n_lengths */
    double *back;        /* q x n_columns x n_lengths: weights per length */
    double *values, *vt; /* singular values, vectors */
} fit;

static void fit_clear(fit *f)
{
    free(f->place);
    free(f->wanted);
    free(f->scale); /* and all that was made with it */
}

static mel_status fit_room(fit *f, mel_error *err)
{
    const size_t q = f->places->q, n = f->places->n_places, columns = f->n_columns, most = n + 1;
    const mel_part parts[] = { { n, { &f->scale } },
                               { most, { &f->length, &f->values } },
                               { q * n * most, { &f->system } },
                               { n * columns, { &f->design } },
                               { columns * columns, { &f->r } },
                               { n * most, { &f->right } },
                               { columns * most, { &f->part } },
                               { q * columns * most, { &f->back } },
                               { most * most, { &f->vt } } };
    f->place = mel_alloc(most, sizeof *f->place);
    f->wanted = mel_alloc(q * columns, sizeof *f->wanted);
    const bool room = f->place != NULL && f->wanted != NULL && mel_parts_new(MEL_PARTS(parts));
    return room ? MEL_OK : mel_fail_memory(err, "the weights of a fair metric");
}

static mel_status fit_init(fit *f, const mel_fair_places *places, const double *slope, mel_error *err)
{
    *f = (fit){ .places = places, .slope = slope, .n_columns = 1 + places->n_blocks };
    TRY(fit_room(f, err));
    for (size_t i = 0; i < places->q * f->n_columns; i++)
        f->wanted[i] = places->known == NULL || i % f->n_columns != 0;
    for (size_t s = 0; s < places->n_places; s++) {
        f->scale[s] = s == 0 && places->known == NULL ? first_length : 1.0;
        if (mel_norm2(places->q, slope + s * places->q) > 0.0)
            f->place[f->n_lengths++] = s;
    }
    if (places->known != NULL)
        f->place[f->n_lengths++] = SIZE_MAX;
    for (size_t c = 0; c < f->n_lengths; c++)
        f->length[c] = 1.0;
    return MEL_OK;
}

/* --- one coordinate ------------------------------------------------------------------------------ */

/* The columns of the wanted weights; how many. */
static size_t fill_design(const fit *f, size_t i)
{
    const mel_fair_places *p = f->places;
    const bool *wanted = f->wanted + i * f->n_columns;
    size_t n = 0;
    for (size_t c = 0; c < f->n_columns; c++)
        n += wanted[c] ? 1 : 0;
    for (size_t s = 0; s < p->n_places; s++) {
        double *row = f->design + s * n;
        for (size_t c = 0; c < f->n_columns; c++)
            if (wanted[c])
                *row++ = (c == 0 ? p->share[s * p->q + i]
                                 : p->side[s * p->q + i] * p->cut[s * p->n_blocks + c - 1]) /
                         f->scale[s];
    }
    return n;
}

static void fill_right(const fit *f, size_t i)
{
    const mel_fair_places *p = f->places;
    memset(f->right, 0, p->n_places * f->n_lengths * sizeof *f->right);
    for (size_t c = 0; c < f->n_lengths; c++) {
        const size_t s = f->place[c];
        if (s != SIZE_MAX) {
            f->right[s * f->n_lengths + c] = f->slope[s * p->q + i] / f->scale[s];
            continue;
        }
        for (size_t t = 0; t < p->n_places; t++)
            f->right[t * f->n_lengths + c] = -p->share[t * p->q + i] * p->known[i] / f->scale[t];
    }
}

/* Its rows of the system, and how its weights come from the lengths. */
static mel_status eliminate(const fit *f, size_t i, mel_error *err)
{
    const size_t places = f->places->n_places, lengths = f->n_lengths, n = fill_design(f, i);
    double *back = f->back + i * f->n_columns * lengths;
    memset(back, 0, f->n_columns * lengths * sizeof *back);
    fill_right(f, i);
    if (n > 0) {
        const mel_status status = mel_qr(places, n, f->design, n, f->r, n, err);
        if (status != MEL_OK)
            return status;
        mel_gemm(true, false, n, lengths, places, 1.0, f->design, n, f->right, lengths, 0.0, f->part,
                 lengths);
        mel_gemm(false, false, places, lengths, n, -1.0, f->design, n, f->part, lengths, 1.0, f->right,
                 lengths);
        (void)mel_back_substitute(n, f->r, lengths, f->part);
    }
    const double *part = f->part;
    for (size_t c = 0; c < f->n_columns; c++)
        if (f->wanted[i * f->n_columns + c]) {
            memcpy(back + c * lengths, part, lengths * sizeof *back);
            part += lengths;
        }
    double *row = f->system + i * places * lengths;
    for (size_t k = 0; k < places * lengths; k++)
        row[k] = f->right[k] * f->length[k % lengths];
    return MEL_OK;
}

/* --- all of them --------------------------------------------------------------------------------- */

/* The lengths that leave the least over. */
static mel_status find_lengths(fit *f, mel_error *err)
{
    const size_t n = f->n_lengths;
    for (size_t i = 0; i < f->places->q; i++)
        TRY(eliminate(f, i, err));
    TRY(mel_svd(f->places->q * f->places->n_places, n, f->system, n, f->values, f->vt, err));
    double sum = 0.0;
    for (size_t c = 0; c < n; c++) {
        f->length[c] *= f->vt[(n - 1) * n + c];
        sum += f->length[c];
    }
    if (sum < 0.0)
        mel_scale(n, -1.0, f->length);
    return MEL_OK;
}

static void find_weights(const fit *f, double *weights)
{
    const size_t q = f->places->q, n = f->n_lengths;
    for (size_t i = 0; i < q; i++) {
        for (size_t c = 0; c < f->n_columns; c++)
            weights[c * q + i] = mel_dot(n, f->back + (i * f->n_columns + c) * n, f->length);
        if (f->places->known != NULL)
            weights[i] = f->length[n - 1] * f->places->known[i];
    }
}

static double against_rules(const mel_fair_places *p, size_t i, size_t column, double weight)
{
    const int sign = column > 0 ? p->apart_positive : p->sign != NULL && p->known == NULL ? p->sign[i] : 0;
    return fmax(-sign * weight, 0.0);
}

/* Weights against the rules are no longer wanted; whether there were any. */
static bool drop(fit *f, const double *weights)
{
    const size_t q = f->places->q;
    const double allowed = rounding * mel_norm_inf(q * f->n_columns, weights);
    bool any = false;
    for (size_t i = 0; i < q; i++)
        for (size_t c = 0; c < f->n_columns; c++)
            if (against_rules(f->places, i, c, weights[c * q + i]) > allowed) {
                f->wanted[i * f->n_columns + c] = false;
                any = true;
            }
    return any;
}

static void reweigh(fit *f)
{
    const double least = least_length * mel_norm_inf(f->n_lengths, f->length);
    for (size_t s = 0; s < f->places->n_places; s++)
        f->scale[s] = least;
    for (size_t c = 0; c < f->n_lengths; c++) {
        f->length[c] = fmax(fabs(f->length[c]), least);
        if (f->place[c] != SIZE_MAX)
            f->scale[f->place[c]] = f->length[c];
    }
}

/* Every round but REWEIGHTED + 1 fixes a weight at zero. */
static mel_status run(fit *f, double *weights, mel_error *err)
{
    for (size_t round = 0;;) {
        const mel_status status = find_lengths(f, err);
        if (status != MEL_OK)
            return status;
        find_weights(f, weights);
        const bool dropped = round >= REWEIGHTED && drop(f, weights);
        if (!dropped && round++ == REWEIGHTED)
            return MEL_OK;
        reweigh(f);
    }
}

/* Without mistakes nothing relates the lengths at the places of one set of groups to those of another: they
 * are taken to be such that all pairs of groups count alike. */
static mel_status only_apart(double *weights, const mel_fair_places *places, const double *slope,
                             mel_error *err)
{
    const size_t q = places->q, blocks = places->n_blocks, n_sets = (places->n_places - 1) / 2;
    double *sum = mel_alloc_zero(n_sets * (q + blocks), sizeof *sum), *cut = sum + n_sets * q;
    if (sum == NULL)
        return mel_fail_memory(err, "the weights of a fair metric");
    for (size_t s = 1; s <= 2 * n_sets; s++) {
        const size_t set = (s - 1) / 2;
        double cuts = 0.0;
        for (size_t p = 0; p < blocks; p++)
            cuts += cut[set * blocks + p] = places->cut[s * blocks + p];
        for (size_t i = 0; i < q; i++)
            sum[set * q + i] += 0.5 * cuts * places->side[s * q + i] * slope[s * q + i];
    }
    const mel_status status = mel_fair_split(weights + q, n_sets, blocks, cut, q, sum, err);
    free(sum);
    return status;
}

static mel_status solve(double *weights, const mel_fair_places *places, const double *slope, mel_error *err)
{
    MEL_AUTO_CLEAR(fit) f = { 0 };
    TRY(fit_init(&f, places, slope, err));
    const size_t known = places->known != NULL ? 1 : 0;
    return f.n_lengths > known ? run(&f, weights, err) : MEL_OK;
}

/* Whether x has left the slope of the first place, where nothing else counts: where slopes say next to
 * nothing of some lengths (lambda near 1), the least squares may put the blame on x. */
static bool astray(size_t q, const double *x, const double *slope)
{
    const double norm = mel_norm2(q, x);
    double squares = 0.0;
    for (size_t i = 0; i < q; i++) {
        const double off = (norm > 0.0 ? x[i] / norm : 0.0) - slope[i];
        squares += off * off;
    }
    return !(sqrt(squares) <= most_astray);
}

mel_status mel_fair_linear_squares(double *weights, const mel_fair_places *places, const double *slope,
                                   mel_error *err)
{
    const size_t q = places->q, n = q * (1 + places->n_blocks);
    mel_fair_places pinned = *places;
    memset(weights, 0, n * sizeof *weights);
    mel_status status = MEL_OK;
    if (places->known == NULL && mel_norm2(q, slope) == 0.0) {
        status = only_apart(weights, places, slope, err);
    } else {
        status = solve(weights, places, slope, err);
        pinned.known = slope;
        if (status == MEL_OK && places->known == NULL && astray(q, weights, slope))
            status = solve(weights, &pinned, slope, err);
    }
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        if (against_rules(places, i % q, i / q, weights[i]) > 0.0)
            weights[i] = 0.0;
    return status;
}
