/* A slope f of a place is its gradient divided by an unknown length. Where the lengths are known, W follows
 * from steps along the axes, (length * f) less the gradient at the centre, and the right lengths are those
 * that make it symmetric and the step back along the first axis fit; all of this is linear in the lengths and
 * in x. x is chosen to leave the least over in all sets together, the lengths of a set then to suit it. */
#include "elicit/search/fair.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As for fair linear metrics, but lengths far from that at the centre are badly known. */
enum { REWEIGHTED = 1 };
static const double least_length = 0.05;

typedef struct {
    const mel_fair_sets *sets;
    const double *slope;
    size_t n_lengths; /* of a set: q + 2 */
    size_t n_rows;    /* of a set's equations */
    size_t width;     /* of its rows: lengths, then x */
    bool no_x;        /* no set has a slope at the centre: x is nil */
    double *rows;     /* n_rows x width */
    double *narrow;   /* (n_rows + width) x width: without the lengths of nil slopes */
    double *r;        /* width x width */
    double *left;     /* (n_sets q) x q: what x leaves over */
    double *right;    /* n_rows */
    double *x;        /* q */
    double *length;   /* n_sets x n_lengths */
    double *scale;    /* likewise: how long, about */
    double *sum;      /* n_sets x q x q: W */
    double *values, *vt;
} fit;

static const double *slope_at(const fit *f, size_t set, size_t place)
{
    return f->slope + (set * f->n_lengths + place) * f->sets->q;
}

static bool nil(const fit *f, size_t set, size_t place)
{
    return mel_norm2(f->sets->q, slope_at(f, set, place)) == 0.0;
}

static mel_status fit_init(fit *f, const mel_fair_sets *sets, const double *slope, mel_error *err)
{
    const size_t q = sets->q, n = sets->n_sets, lengths = q + 2, rows = q * (q - 1) / 2 + 2 * q;
    const size_t width = lengths + q, tall = rows + width;
    *f = (fit){ .sets = sets, .slope = slope, .n_lengths = lengths, .n_rows = rows, .width = width };
    const mel_part parts[] = { { rows * width, { &f->rows } },
                               { tall * width, { &f->narrow } },
                               { width * width, { &f->r, &f->vt } },
                               { n * q * q, { &f->left, &f->sum } },
                               { tall, { &f->right } },
                               { q, { &f->x } },
                               { n * lengths, { &f->length, &f->scale } },
                               { width, { &f->values } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the weights of a fair metric");
    f->no_x = true;
    for (size_t s = 0; s < n; s++)
        f->no_x = f->no_x && nil(f, s, 0);
    for (size_t i = 0; i < n * lengths; i++)
        f->scale[i] = 1.0;
    return MEL_OK;
}

/* --- equations of a set -------------------------------------------------------------------------- */

static void fill_rows(const fit *f, size_t set)
{
    const size_t q = f->sets->q, back = q + 1;
    const double *share = f->sets->share + set * q, *scale = f->scale + set * f->n_lengths;
    memset(f->rows, 0, f->n_rows * f->width * sizeof *f->rows);
    double *row = f->rows, error = scale[0];
    for (size_t i = 0; i < q; i++, row += f->width) {
        row[0] = slope_at(f, set, 0)[i] / error;
        row[f->n_lengths + i] = -share[i] / error;
    }
    for (size_t i = 0; i < q; i++)
        for (size_t j = i + 1; j < q; j++, row += f->width) {
            error = hypot(scale[1 + i], scale[1 + j]);
            row[1 + j] = slope_at(f, set, 1 + j)[i] / error;
            row[1 + i] = -slope_at(f, set, 1 + i)[j] / error;
            row[f->n_lengths + i] = -share[i] / error;
            row[f->n_lengths + j] = share[j] / error;
        }
    error = hypot(scale[1], scale[back]);
    for (size_t i = 0; i < q; i++, row += f->width) {
        row[1] = slope_at(f, set, 1)[i] / error;
        row[back] = slope_at(f, set, back)[i] / error;
        row[f->n_lengths + i] = -2.0 * share[i] / error;
    }
}

/* The rows without the columns of nil slopes, x last where wanted, with zeros below; how many columns. */
static size_t narrow_rows(const fit *f, size_t set, bool with_x)
{
    size_t n = 0, keep[2] = { 0, with_x ? f->width : f->n_lengths };
    for (size_t c = 0; c < keep[1]; c++)
        n += c >= f->n_lengths || !nil(f, set, c) ? 1 : 0;
    memset(f->narrow, 0, (f->n_rows + f->width) * n * sizeof *f->narrow);
    for (size_t c = 0; c < keep[1]; c++) {
        if (c < f->n_lengths && nil(f, set, c))
            continue;
        for (size_t row = 0; row < f->n_rows; row++)
            f->narrow[row * n + keep[0]] = f->rows[row * f->width + c];
        keep[0]++;
    }
    return n;
}

/* What is left over in this set, as a function of x, when the lengths suit it best. */
static mel_status leave_over(const fit *f, size_t set, mel_error *err)
{
    const size_t q = f->sets->q;
    fill_rows(f, set);
    const size_t n = narrow_rows(f, set, true);
    TRY(mel_qr(f->n_rows + f->width, n, f->narrow, n, f->r, n, err));
    for (size_t i = 0; i < q; i++)
        memcpy(f->left + (set * q + i) * q, f->r + (n - q + i) * n + n - q, q * sizeof *f->left);
    return MEL_OK;
}

/* The lengths that suit x. */
static mel_status suit_lengths(const fit *f, size_t set, mel_error *err)
{
    fill_rows(f, set);
    const size_t n = narrow_rows(f, set, false), q = f->sets->q;
    double *found = f->values, *length = f->length + set * f->n_lengths;
    for (size_t row = 0; row < f->n_rows; row++)
        f->right[row] = -mel_dot(q, f->rows + row * f->width + f->n_lengths, f->x);
    size_t rank = 0;
    const mel_status status =
        n > 0 ? mel_least_squares(f->n_rows, n, f->narrow, n, f->right, 0.0, found, &rank, err) : MEL_OK;
    if (status != MEL_OK)
        return status;
    for (size_t c = 0; c < f->n_lengths; c++)
        length[c] = nil(f, set, c) ? 0.0 : *found++;
    return MEL_OK;
}

static mel_status find_x(fit *f, mel_error *err)
{
    const size_t q = f->sets->q, n = f->sets->n_sets;
    if (f->sets->known != NULL) {
        memcpy(f->x, f->sets->known, q * sizeof *f->x);
        return MEL_OK;
    }
    for (size_t s = 0; s < n; s++)
        TRY(leave_over(f, s, err));
    TRY(mel_svd(n * q, q, f->left, q, f->values, f->vt, err));
    memcpy(f->x, f->vt + (q - 1) * q, q * sizeof *f->x);
    return MEL_OK;
}

/* x and -x leave the same over: lengths are positive. */
static void turn(fit *f)
{
    const size_t n = f->sets->n_sets * f->n_lengths;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += f->length[i];
    if (sum >= 0.0 || f->sets->known != NULL)
        return;
    mel_scale(f->sets->q, -1.0, f->x);
    mel_scale(n, -1.0, f->length);
}

static void reweigh(fit *f)
{
    const size_t q = f->sets->q;
    for (size_t s = 0; s < f->sets->n_sets; s++) {
        double centre = 0.0;
        for (size_t i = 0; i < q; i++)
            centre = hypot(centre, f->sets->share[s * q + i] * f->x[i]);
        for (size_t c = 0; c < f->n_lengths; c++)
            f->scale[s * f->n_lengths + c] =
                fmax(fabs(f->length[s * f->n_lengths + c]), least_length * centre);
    }
}

static mel_status find_lengths(fit *f, mel_error *err)
{
    for (size_t round = 0;; round++) {
        mel_status status = find_x(f, err);
        for (size_t s = 0; s < f->sets->n_sets && status == MEL_OK; s++)
            status = suit_lengths(f, s, err);
        if (status != MEL_OK)
            return status;
        turn(f);
        if (round == REWEIGHTED)
            return MEL_OK;
        reweigh(f);
    }
}

/* Without x the lengths of a set are known up to a factor, which is taken to be such that pairs of groups
 * count alike. */
static mel_status lengths_without_x(fit *f, size_t set, mel_error *err)
{
    fill_rows(f, set);
    const size_t n = narrow_rows(f, set, false);
    double *length = f->length + set * f->n_lengths;
    if (n == 0)
        return MEL_OK;
    TRY(mel_svd(f->n_rows, n, f->narrow, n, f->values, f->vt, err));
    const double *found = f->vt + (n - 1) * n;
    double sum = 0.0, squares = 0.0, cuts = 0.0;
    for (size_t c = 0; c < f->n_lengths; c++) {
        length[c] = nil(f, set, c) ? 0.0 : *found++;
        sum += length[c] * (c <= f->sets->q ? 1.0 : 0.0);
        squares += c <= f->sets->q ? length[c] * length[c] : 0.0;
    }
    for (size_t p = 0; p < f->sets->n_blocks; p++)
        cuts += f->sets->cut[set * f->sets->n_blocks + p];
    if (squares > 0.0)
        mel_scale(f->n_lengths, (sum < 0.0 ? -cuts : cuts) / sqrt(squares), length);
    return MEL_OK;
}

/* --- blocks -------------------------------------------------------------------------------------- */

/* W of a set, its two halves averaged. */
static void curve(const fit *f, size_t set)
{
    const size_t q = f->sets->q;
    const double *share = f->sets->share + set * q, *length = f->length + set * f->n_lengths;
    double *sum = f->sum + set * q * q;
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++) {
            const double at_j = length[1 + j] * slope_at(f, set, 1 + j)[i] - share[i] * f->x[i];
            const double at_i = length[1 + i] * slope_at(f, set, 1 + i)[j] - share[j] * f->x[j];
            sum[i * q + j] = 0.5 * (at_i + at_j) / f->sets->step;
        }
}

mel_status mel_fair_make_positive(size_t q, double *block, mel_error *err)
{
    double *vector = mel_alloc(q * q + q, sizeof *vector);
    if (vector == NULL)
        return mel_fail_memory(err, "the weights of a fair metric");
    double *value = vector + q * q;
    memcpy(vector, block, q * q * sizeof *vector);
    const mel_status status = mel_eigen(q, vector, q, value, err);
    for (size_t v = 0; v < q && status == MEL_OK && value[v] < 0.0; v++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < q; j++)
                block[i * q + j] -= value[v] * (vector[i * q + v] * vector[j * q + v]);
    free(vector);
    return status;
}

/* weights from x and the sums of all sets. */
static mel_status finish(double *weights, const mel_fair_sets *sets, const double *x, const double *sum,
                         mel_error *err)
{
    const size_t q = sets->q;
    memcpy(weights, x, q * sizeof *weights);
    TRY(mel_fair_split(weights + q, sets->n_sets, sets->n_blocks, sets->cut, q * q, sum, err));
    for (size_t p = 0; p < sets->n_blocks && sets->apart_positive; p++)
        TRY(mel_fair_make_positive(q, weights + q + p * q * q, err));
    return MEL_OK;
}

mel_status mel_fair_quadratic_squares(double *weights, const mel_fair_sets *sets, const double *slope,
                                      mel_error *err)
{
    fit f;
    mel_status status = fit_init(&f, sets, slope, err);
    if (status == MEL_OK && !f.no_x)
        status = find_lengths(&f, err);
    for (size_t s = 0; s < sets->n_sets && status == MEL_OK; s++) {
        if (f.no_x)
            status = lengths_without_x(&f, s, err);
        curve(&f, s);
    }
    if (status == MEL_OK)
        status = finish(weights, sets, f.x, f.sum, err);
    free(f.rows); /* and all that was made with it */
    return status;
}

/* --- from a quadratic function per set ----------------------------------------------------------- */

/* x, from the gradients at the centres of all sets, which count alike. */
static void join_x(double *x, const mel_fair_sets *sets, const double *found)
{
    const size_t q = sets->q, size = q + q * q;
    memset(x, 0, q * sizeof *x);
    for (size_t s = 0; s < sets->n_sets; s++) {
        const double *gradient = found + s * size, *share = sets->share + s * q;
        double length = 0.0;
        for (size_t i = 0; i < q; i++)
            length = hypot(length, gradient[i] / share[i]);
        for (size_t i = 0; i < q && length > 0.0; i++)
            x[i] += gradient[i] / (share[i] * length);
    }
}

/* The factor that brings a set's gradient at the centre next to share * x. Without x it is taken to be such
 * that pairs of groups count alike. */
static double factor_of(const mel_fair_sets *sets, size_t set, const double *x, const double *found)
{
    const size_t q = sets->q;
    double both = 0.0, squares = 0.0, cuts = 0.0;
    for (size_t i = 0; i < q; i++) {
        both += sets->share[set * q + i] * x[i] * found[i];
        squares += found[i] * found[i];
    }
    if (squares > 0.0)
        return both / squares;
    for (size_t p = 0; p < sets->n_blocks; p++)
        cuts += sets->cut[set * sets->n_blocks + p];
    const double curved = mel_norm2(q * q, found + q);
    return mel_norm2(q, x) == 0.0 && curved > 0.0 ? cuts / curved : 0.0;
}

mel_status mel_fair_quadratic_join(double *weights, const mel_fair_sets *sets, const double *found,
                                   mel_error *err)
{
    const size_t q = sets->q, size = q + q * q;
    double *x = mel_alloc(q + sets->n_sets * q * q, sizeof *x);
    if (x == NULL)
        return mel_fail_memory(err, "the weights of a fair metric");
    double *sum = x + q;
    bool level = true; /* no set has a gradient at the centre: x is nil */
    for (size_t s = 0; s < sets->n_sets; s++)
        level = level && mel_norm2(q, found + s * size) == 0.0;
    if (sets->known != NULL && !level)
        memcpy(x, sets->known, q * sizeof *x);
    else
        join_x(x, sets, found);
    for (size_t s = 0; s < sets->n_sets; s++) {
        const double *own = found + s * size, factor = factor_of(sets, s, x, own);
        for (size_t i = 0; i < q * q; i++)
            sum[s * q * q + i] = factor * own[q + i];
    }
    const mel_status status = finish(weights, sets, x, sum, err);
    free(x);
    return status;
}
