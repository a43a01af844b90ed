/* Quadratic metrics, costs a.r + r'Br/2: w = (a, B packed), f(r) = (r, half of the packed products r_i r_j).
 * A symmetric pair shows the slope a + B c at its middle exactly, whatever its length. */
#include "elicit/families/families.h"

#include "base/la.h"
#include "elicit/assumption.h"

#include <string.h>

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    /* f(B) - f(A) = half of (b - a) (a + b)', symmetrised */
    const size_t q = f->size;
    double *packed = x + q;
    for (size_t i = 0; i < q; i++)
        x[i] = b[i] - a[i];
    for (size_t i = 0; i < q; i++) {
        *packed++ = 0.5 * x[i] * (a[i] + b[i]);
        for (size_t j = i + 1; j < q; j++)
            *packed++ = 0.5 * (x[i] * (a[j] + b[j]) + x[j] * (a[i] + b[i])) / 1.41421356237309504880;
    }
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    mel_pack_times(f->size, w + f->size, c, out);
    for (size_t i = 0; i < f->size; i++)
        out[i] = -(out[i] + w[i]);
}

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    memcpy(out, w, f->size * sizeof *out);
    mel_unpack(f->size, w + f->size, out + f->size);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_quadratic(out, &f->layout, opt->class_names, MEL_COST, coefficient,
                                coefficient + f->size, err);
}

static const mel_basis_ops quadratic_ops = {
    .row = row,
    .slope = slope,
    .middle = mel_basis_middle,
    .nudge = mel_basis_nudge,
    .pair = mel_basis_pair,
    .coefficients = coefficients,
    .metric = metric,
};

/* Share of the radius at which middles are where answers are exact, however close A and B: the farther out,
 * the better curvature shows against the slope at the centre. */
static const double outermost_exact = 0.99;

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    (void)domain;
    f->ops = &quadratic_ops;
    f->dimension = f->size + mel_pack_size(f->size);
    f->n_reported = f->size + f->size * f->size;
    f->matrices = 1;
    f->coordinatewise = true;
    if (mel_assumed(&opt->assume)->errs == MEL_ERRS_NEVER)
        f->outer = outermost_exact * f->radius;
    TRY(mel_basis_reserve_cone(f, f->size, err));
    return mel_basis_add_signs(f, opt, -1.0, false, err);
}

const mel_elicit_ops mel_elicit_quadratic = {
    .where = MEL_ON_BALL,
    .needs = "a ball of off-diagonal statistics",
    .reads = MEL_READS_PLACES | MEL_READS_DIAGONAL_B,
    .active = mel_engine_features,
    .search = mel_engine_search_curve,
    .basis = basis,
};
