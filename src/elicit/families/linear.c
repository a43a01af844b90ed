/* Linear metrics: w = a, the utility's weights; f(r) = r. */
#include "elicit/families/families.h"
#include "elicit/options.h"

#include <string.h>

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    memcpy(out, w, f->size * sizeof *out);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_linear(out, opt->family, &f->layout, opt->class_names, MEL_UTILITY, coefficient, err);
}

static const mel_basis_ops linear_ops = {
    .row = mel_basis_difference,
    .slope = mel_basis_same_slope,
    .pair = mel_basis_pair_central,
    .coefficients = coefficients,
    .metric = metric,
};

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    (void)domain;
    f->ops = &linear_ops;
    f->dimension = f->n_reported = f->size;
    const mel_status status = mel_basis_reserve_cone(f, f->size, err);
    return status == MEL_OK ? mel_basis_add_signs(f, opt, 1.0, true, err) : status;
}

static mel_status active(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                         mel_error *err)
{
    if (domain->face == NULL)
        return mel_engine_features(out, domain, opt, err);
    return mel_asks_exchange(opt, domain) ? mel_engine_exchange(out, domain->face, opt, err)
                                          : mel_engine_planar(out, domain->face, opt, err);
}

const mel_elicit_ops mel_elicit_linear = {
    .where = MEL_ON_FACE | MEL_ON_BALL,
    .needs = "a planar face or a ball of off-diagonal statistics",
    .sloped = true,
    .near_best = true,
    .active = active,
    .search = mel_search_face_or_ball,
    .basis = basis,
};
