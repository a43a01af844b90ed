/* Linear metrics: w = a, the utility's weights; f(r) = r. */
#include "elicit/active/family.h"

#include <string.h>

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    memcpy(out, w, f->size * sizeof *out);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_linear(out, MEL_FAMILY_LINEAR, &f->layout, opt->class_names, MEL_UTILITY, coefficient,
                             err);
}

static const mel_basis_ops linear_ops = {
    .row = mel_basis_difference,
    .slope = mel_basis_same_slope,
    .pair = mel_basis_pair_central,
    .coefficients = coefficients,
    .metric = metric,
};

mel_status mel_basis_linear(mel_basis *f, const mel_session_options *opt, mel_error *err)
{
    f->ops = &linear_ops;
    f->dimension = f->n_reported = f->size;
    const mel_status status = mel_basis_reserve_cone(f, f->size, err);
    return status == MEL_OK ? mel_basis_add_signs(f, opt, 1.0, true, err) : status;
}
