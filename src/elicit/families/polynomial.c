/* Polynomial metrics, costs a.r + B[r,r]/2 + C[r,r,r]/6 + ...: w = entries of the symmetric tensors, each
 * once, times the root of how often it occurs, so that |w| is their common norm; f(r) = the monomials. Rows
 * are exact at any length of the pair, though from degree 3 on they are no longer 2 <delta, slope>. */
#include "elicit/families/families.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMENSION = 1200 };

size_t mel_monomials_add(size_t q, uint32_t degree, uint32_t order, size_t at, size_t *index,
                         uint32_t *orders, double *weight)
{
    size_t tuple[MEL_MAX_DEGREE] = { 0 };
    for (;;) {
        memcpy(index + at * degree, tuple, order * sizeof *tuple);
        orders[at] = order;
        double repeats = 1.0, run = 1.0;
        for (uint32_t i = 1; i < order; i++) {
            run = tuple[i] == tuple[i - 1] ? run + 1.0 : 1.0;
            repeats *= run;
        }
        weight[at++] = sqrt(mel_factorial(order) / repeats);
        uint32_t i = order;
        while (i > 0 && tuple[i - 1] + 1 == q)
            i--;
        if (i == 0)
            return at;
        const size_t value = tuple[i - 1] + 1;
        for (i--; i < order; i++)
            tuple[i] = value;
    }
}

typedef struct {
    uint32_t degree;
    size_t *index;   /* D x degree: the coordinates of a monomial, ascending */
    uint32_t *order; /* D: how many */
    double *weight;  /* D: root(times it occurs in the tensor) */
} monomials;

static double product_of(const monomials *own, size_t k, const double *r)
{
    const size_t *index = own->index + k * own->degree;
    double product = own->weight[k] / mel_factorial(own->order[k]);
    for (uint32_t i = 0; i < own->order[k]; i++)
        product *= r[index[i]];
    return product;
}

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    const monomials *own = f->own;
    for (size_t k = 0; k < f->dimension; k++)
        x[k] = product_of(own, k, b) - product_of(own, k, a);
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    const monomials *own = f->own;
    memset(out, 0, f->size * sizeof *out);
    for (size_t k = 0; k < f->dimension; k++) {
        const size_t *index = own->index + k * own->degree;
        const uint32_t order = own->order[k];
        const double scale = -w[k] * own->weight[k] / mel_factorial(order);
        for (uint32_t left_out = 0; left_out < order; left_out++) {
            double product = scale;
            for (uint32_t i = 0; i < order; i++)
                product *= i == left_out ? 1.0 : c[index[i]];
            out[index[left_out]] += product;
        }
    }
}

/* The next arrangement of ascending indices; false after the last. */
static bool next_arrangement(uint32_t n, size_t *at)
{
    uint32_t i = n - 1;
    while (i > 0 && at[i - 1] >= at[i])
        i--;
    if (i == 0)
        return false;
    uint32_t j = n - 1;
    while (at[j] <= at[i - 1])
        j--;
    const size_t held = at[i - 1];
    at[i - 1] = at[j];
    at[j] = held;
    for (uint32_t k = n - 1; i < k; i++, k--) {
        const size_t other = at[i];
        at[i] = at[k];
        at[k] = other;
    }
    return true;
}

/* One entry of w into all places of the full tensors, one tensor after the other. */
static void spread_entry(const mel_basis *f, const monomials *own, size_t k, double entry, double *out)
{
    size_t at[MEL_MAX_DEGREE], offset = 0, size = f->size;
    for (uint32_t order = 1; order < own->order[k]; order++, size *= f->size)
        offset += size;
    memcpy(at, own->index + k * own->degree, own->order[k] * sizeof *at);
    do {
        size_t place = 0;
        for (uint32_t i = 0; i < own->order[k]; i++)
            place = place * f->size + at[i];
        out[offset + place] = entry;
    } while (next_arrangement(own->order[k], at));
}

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    const monomials *own = f->own;
    for (size_t k = 0; k < f->dimension; k++)
        spread_entry(f, own, k, w[k] / own->weight[k], out);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    const monomials *own = f->own;
    const double *tensor[MEL_MAX_DEGREE] = { NULL };
    size_t size = f->size;
    for (uint32_t order = 0; order < own->degree; order++, size *= f->size) {
        tensor[order] = coefficient;
        coefficient += size;
    }
    return mel_metric_polynomial(out, own->degree, &f->layout, opt->class_names, MEL_COST, tensor, err);
}

static void free_monomials(mel_basis *f)
{
    monomials *own = f->own;
    if (own == NULL)
        return;
    free(own->index);
    free(own->order);
    free(own->weight);
    free(own);
}

static const mel_basis_ops polynomial_ops = {
    .row = row,
    .slope = slope,
    .middle = mel_basis_middle,
    .nudge = mel_basis_nudge,
    .pair = mel_basis_pair,
    .coefficients = coefficients,
    .metric = metric,
    .free = free_monomials,
};

/* Monomials of q coordinates of degree 1 to `degree`: C(q + degree, degree) - 1; 0 when too many. */
static size_t count_monomials(size_t q, uint32_t degree)
{
    double count = 1.0;
    for (uint32_t i = 1; i <= degree; i++)
        count = count * (double)(q + i) / (double)i;
    return count <= (double)MOST_DIMENSION + 1.0 ? (size_t)(count + 0.5) - 1 : 0;
}

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    (void)domain;
    if (opt->degree < 2 || opt->degree > MEL_MAX_DEGREE)
        return mel_fail(err, MEL_EINVAL, "polynomials have degree 2 to %d, not %u", MEL_MAX_DEGREE,
                        opt->degree);
    f->ops = &polynomial_ops;
    f->coordinatewise = true;
    f->dimension = count_monomials(f->size, opt->degree);
    if (f->dimension == 0)
        return mel_fail(err, MEL_ELIMIT, "a polynomial of degree %u in %zu statistics has more than %d terms",
                        opt->degree, f->size, MOST_DIMENSION);
    monomials *own = f->own = mel_alloc_zero(1, sizeof *own);
    if (own == NULL)
        return mel_fail_memory(err, "the polynomial");
    own->degree = opt->degree;
    own->index = mel_alloc_zero(f->dimension * opt->degree, sizeof *own->index);
    own->order = mel_alloc_zero(f->dimension, sizeof *own->order);
    own->weight = mel_alloc_zero(f->dimension, sizeof *own->weight);
    if (own->index == NULL || own->order == NULL || own->weight == NULL)
        return mel_fail_memory(err, "the polynomial");
    size_t k = 0, size = 1;
    for (uint32_t order = 1; order <= opt->degree; order++) {
        k = mel_monomials_add(f->size, own->degree, order, k, own->index, own->order, own->weight);
        size *= f->size;
        f->n_reported += size;
    }
    TRY(mel_basis_reserve_cone(f, f->size, err));
    return mel_basis_add_signs(f, opt, -1.0, false, err);
}

const mel_elicit_ops mel_elicit_polynomial = {
    .where = MEL_ON_BALL,
    .needs = "a ball of off-diagonal statistics",
    .reads = MEL_READS_PLACES | MEL_READS_DEGREE,
    .active = mel_engine_features,
    .search = mel_engine_search_curve,
    .basis = basis,
};
