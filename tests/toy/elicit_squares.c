/* How sessions look for the toy family: w = a, f(r) = -r^2, on a ball, by the active strategy alone. */
#include "elicit/families/families.h"
#include "metric/metric.h"

#include <string.h>

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    for (size_t i = 0; i < f->size; i++)
        x[i] = (b[i] - a[i]) * (b[i] + a[i]);
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    for (size_t i = 0; i < f->size; i++)
        out[i] = -2.0 * w[i] * c[i];
}

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    memcpy(out, w, f->size * sizeof *out);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    const mel_metric_kind kind = { opt->family, 1, f->layout, opt->class_names, NULL, MEL_COST };
    mel_metric *made = NULL;
    const mel_status status = mel_metric_new(&made, &kind, err);
    if (status != MEL_OK)
        return status;
    memcpy(made->coefficient, coefficient, f->size * sizeof *coefficient);
    return mel_metric_finish(out, made, err);
}

static const mel_basis_ops ops = {
    .row = row,
    .slope = slope,
    .middle = mel_basis_middle,
    .nudge = mel_basis_nudge,
    .pair = mel_basis_pair,
    .coefficients = coefficients,
    .metric = metric,
};

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    (void)domain;
    f->ops = &ops;
    f->dimension = f->n_reported = f->size;
    f->coordinatewise = true;
    const mel_status status = mel_basis_reserve_cone(f, f->size, err);
    return status == MEL_OK ? mel_basis_add_signs(f, opt, -1.0, false, err) : status;
}

const mel_elicit_ops mel_elicit_squares = {
    .where = MEL_ON_BALL,
    .needs = "a ball of off-diagonal statistics",
    .active = mel_engine_features,
    .basis = basis,
};
