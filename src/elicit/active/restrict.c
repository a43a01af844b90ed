/* Families whose metrics are known to have more structure: equal weights for all pairs of groups, diagonal
 * matrices, known costs of mistakes, or everything known but the trade-off.
 *
 * Each is a linear restriction in which every coefficient of the whole vector is a multiple of one coordinate
 * of the restricted one, or nil: whole_i = factor_i w_column(i). Multiples are such that lengths stay the
 * same, so that the prior is again uniform on a part of the unit sphere, and radii mean what they did. */
#include "elicit/active/family.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t nil = SIZE_MAX;
/* Products of known coefficients below this, by rounding, are 0. */
static const double negligible = 1e-9;

typedef struct {
    mel_basis *whole;
    mel_basis_ops ops;
    size_t *column;   /* whole->dimension; nil: the coefficient is 0 */
    double *factor;   /* whole->dimension */
    double *room;     /* whole->dimension; work */
    size_t n_columns; /* of the restricted vector */
    size_t n_known;   /* the first so many columns are lengths of known vectors, at least 0 */
} restriction;

/* --- what is asked of a family ---------------------------------------------------------------------- */

static restriction *own(const mel_basis *f)
{
    return f->own;
}

static const double *widen(const mel_basis *f, const double *w)
{
    const restriction *r = own(f);
    for (size_t i = 0; i < r->whole->dimension; i++)
        r->room[i] = r->column[i] == nil ? 0.0 : r->factor[i] * w[r->column[i]];
    return r->room;
}

static void narrow(const restriction *r, const double *whole, double *out)
{
    memset(out, 0, r->n_columns * sizeof *out);
    for (size_t i = 0; i < r->whole->dimension; i++)
        if (r->column[i] != nil)
            out[r->column[i]] += r->factor[i] * whole[i];
}

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    const restriction *r = own(f);
    r->whole->ops->row(r->whole, a, b, r->room);
    narrow(r, r->room, x);
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    const mel_basis *whole = own(f)->whole;
    whole->ops->slope(whole, c, widen(f, w), out);
}

static void middle(const mel_basis *f, mel_rng *rng, double *c)
{
    const mel_basis *whole = own(f)->whole;
    whole->ops->middle(whole, rng, c);
}

static void nudge(const mel_basis *f, mel_rng *rng, double step, const double *from, double *c)
{
    const mel_basis *whole = own(f)->whole;
    whole->ops->nudge(whole, rng, step, from, c);
}

static mel_status pair(mel_basis *f, const double *c, const double *delta, double *a, double *b, bool *found,
                       mel_error *err)
{
    mel_basis *whole = own(f)->whole;
    return whole->ops->pair(whole, c, delta, a, b, found, err);
}

static double size(const mel_basis *f, const double *w)
{
    const mel_basis *whole = own(f)->whole;
    return whole->ops->size(whole, widen(f, w));
}

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    const mel_basis *whole = own(f)->whole;
    whole->ops->coefficients(whole, widen(f, w), out);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    const mel_basis *whole = own(f)->whole;
    return whole->ops->metric(out, whole, opt, coefficient, err);
}

static void free_restriction(mel_basis *f)
{
    restriction *r = own(f);
    mel_basis_free(r->whole);
    free(r->column);
    free(r->factor);
    free(r);
}

static void set_ops(restriction *r)
{
    const mel_basis_ops *whole = r->whole->ops;
    r->ops = (mel_basis_ops){
        .row = row,
        .slope = slope,
        .middle = whole->middle != NULL ? middle : NULL,
        .nudge = whole->nudge != NULL ? nudge : NULL,
        .pair = pair,
        .size = whole->size != NULL ? size : NULL,
        .coefficients = coefficients,
        .metric = metric,
        .free = free_restriction,
    };
}

/* --- which coefficients go together ----------------------------------------------------------------- */

/* Coefficients from..to-1 are a known vector times a length. */
static mel_status set_known(restriction *r, size_t from, size_t to, const char *what, mel_error *err)
{
    const double length = mel_norm2(to - from, r->room + from);
    if (!(length > 0.0))
        return mel_fail(err, MEL_EINVAL, "the known metric has no weights of %s", what);
    for (size_t i = from; i < to; i++) {
        r->column[i] = r->n_columns;
        r->factor[i] = r->room[i] / length;
    }
    r->n_columns++;
    r->n_known++;
    return MEL_OK;
}

/* a and b, or packed B, of the known metric. */
static void read_known(const restriction *r, const mel_metric *known)
{
    const mel_basis *f = r->whole;
    const size_t q = f->per_group, packed = mel_pack_size(q);
    const double *coefficient = mel_metric_coefficient(known);
    memcpy(r->room, coefficient, q * sizeof *r->room);
    if (f->matrices == 0)
        memcpy(r->room + q, coefficient + q, (f->dimension - q) * sizeof *r->room);
    for (size_t p = 0; p < f->matrices; p++)
        mel_pack(q, coefficient + q + p * q * q, r->room + q + p * packed);
}

/* Whether number i of a packed matrix is on its diagonal. */
static bool on_diagonal(size_t q, size_t i)
{
    for (size_t left = q; i > 0; left--) {
        if (i < left)
            return false;
        i -= left;
    }
    return true;
}

/* Behind the first per_group coefficients there is a block for each pair of groups, or one. */
static size_t n_blocks(const mel_basis *f)
{
    return f->pairs > 0 ? f->pairs : 1;
}

static void set_blocks(restriction *r, const mel_session_options *is)
{
    const mel_basis *f = r->whole;
    const size_t blocks = n_blocks(f), size = (f->dimension - f->per_group) / blocks;
    for (size_t j = 0; j < size; j++) {
        const bool absent = is->diagonal_b && f->matrices > 0 && !on_diagonal(f->per_group, j);
        for (size_t p = 0; p < blocks; p++) {
            const size_t i = f->per_group + p * size + j;
            r->column[i] = absent ? nil : r->n_columns;
            r->factor[i] = is->equal_pairs ? 1.0 / sqrt((double)blocks) : 1.0;
            r->n_columns += !absent && (!is->equal_pairs || p + 1 == blocks);
        }
    }
}

static mel_status set_columns(restriction *r, const mel_session_options *is, mel_error *err)
{
    const size_t q = r->whole->per_group;
    if (is->known != NULL) {
        read_known(r, is->known);
        TRY(set_known(r, 0, q, "mistakes", err));
    }
    for (size_t i = 0; i < q && is->known == NULL; i++) {
        r->column[i] = r->n_columns++;
        r->factor[i] = 1.0;
    }
    if (is->known != NULL && !is->known_costs_only)
        return set_known(r, q, r->whole->dimension, "differences between groups", err);
    set_blocks(r, is);
    return MEL_OK;
}

/* --- prior ------------------------------------------------------------------------------------------ */

/* Takes in half-space j of the whole family's cone, unless it says nothing new. */
static mel_status add_half_space(mel_basis *f, size_t j, bool equal_pairs, mel_error *err)
{
    const restriction *r = own(f);
    const mel_basis *whole = r->whole;
    const double *g = whole->cone + j * whole->dimension;
    double *out = f->cone + f->n_cone * f->dimension;
    size_t first = 0;
    while (first < whole->dimension && g[first] == 0.0)
        first++;
    const size_t block = (whole->dimension - whole->per_group) / n_blocks(whole);
    if (equal_pairs && first >= whole->per_group + block)
        return MEL_OK; /* as for the first pair */
    narrow(r, g, out);
    bool empty = true;
    for (size_t c = r->n_known; c < r->n_columns; c++)
        empty = empty && out[c] == 0.0;
    for (size_t c = 0; c < r->n_known && empty; c++)
        if (out[c] < -negligible)
            return mel_fail(
                err, MEL_EINVAL,
                "the known metric has other signs than the direction or the signs that are declared");
    if (!empty)
        f->n_cone++;
    else
        memset(out, 0, f->dimension * sizeof *out);
    return MEL_OK;
}

static mel_status set_prior(mel_basis *f, bool equal_pairs, mel_error *err)
{
    const restriction *r = own(f);
    f->cone = NULL;
    f->start = NULL;
    f->n_cone = 0;
    TRY(mel_basis_reserve_cone(f, r->whole->n_cone + r->n_known, err));
    narrow(r, r->whole->start, f->start);
    for (size_t c = 0; c < r->n_known; c++)
        mel_basis_add_sign(f, c, 1.0);
    for (size_t j = 0; j < r->whole->n_cone; j++)
        TRY(add_half_space(f, j, equal_pairs, err));
    return MEL_OK;
}

static mel_status set_units(mel_basis *f, mel_error *err)
{
    const restriction *r = own(f);
    f->unit = mel_alloc_zero(r->n_columns, sizeof *f->unit);
    if (f->unit == NULL)
        return mel_fail_memory(err, "the family");
    for (size_t i = 0; i < r->whole->dimension; i++)
        if (r->column[i] != nil)
            f->unit[r->column[i]] = fmax(f->unit[r->column[i]], fabs(r->factor[i]));
    return MEL_OK;
}

/* --- making one ------------------------------------------------------------------------------------- */

/* Takes the whole family over, whatever comes of it. */
static mel_status make(mel_basis **out, mel_basis *whole, mel_error *err)
{
    mel_basis *f = *out = mel_alloc_zero(1, sizeof *f);
    restriction *r = mel_alloc_zero(1, sizeof *r);
    if (f == NULL || r == NULL) {
        free(r);
        mel_basis_free(whole);
        (void)mel_fail_memory(err, "the family");
        return MEL_ENOMEM;
    }
    *f = *whole;
    f->prevalence = NULL;
    f->cone = f->start = f->unit = NULL;
    f->own = r;
    r->whole = whole;
    set_ops(r);
    f->ops = &r->ops;
    r->column = mel_alloc_zero(whole->dimension, sizeof *r->column);
    r->factor = mel_alloc_zero(whole->dimension, 2 * sizeof *r->factor);
    if (r->column == NULL || r->factor == NULL)
        return mel_fail_memory(err, "the family");
    r->room = r->factor + whole->dimension;
    return MEL_OK;
}

mel_status mel_basis_restrict(mel_basis **f, const mel_session_options *is, mel_error *err)
{
    if (!is->diagonal_b && !is->equal_pairs && is->known == NULL)
        return MEL_OK;
    if (is->known != NULL && !is->known_costs_only && (is->diagonal_b || is->equal_pairs))
        return mel_fail(err, MEL_EINVAL,
                        "the known metric gives all weights: equal-pairs and diagonal-b have nothing to add");
    TRY(make(f, *f, err));
    TRY(set_columns(own(*f), is, err));
    (*f)->dimension = own(*f)->n_columns;
    TRY(set_prior(*f, is->equal_pairs, err));
    return set_units(*f, err);
}
