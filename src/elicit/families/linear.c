/* Linear metrics: w = a, the utility's weights; f(r) = r. */
#include "elicit/families/families.h"
#include "elicit/options.h"
#include "metric/shared.h"

#include <math.h>
#include <string.h>

const mel_layout mel_binary_layout = {
    .kind = MEL_CONFUSION,
    .coordinates = MEL_BINARY,
    .n_classes = 2,
    .n_groups = 0,
};

/* What engines of two classes share: the metric and its intervals from an angle and its interval. */
mel_status mel_linear_result(mel_metric **metric, mel_summary *summary, const mel_session_options *opt,
                             double angle, double low, double high, mel_error *err)
{
    const double a[2] = { cos(angle), sin(angle) };
    /* Cosine and sine are monotone within a quadrant, so the ends of the angle give the ends. */
    const double first[2] = { cos(low), sin(low) }, last[2] = { cos(high), sin(high) };
    double least[2], most[2];
    summary->radius = 0.0;
    for (size_t i = 0; i < 2; i++) {
        least[i] = fmin(first[i], last[i]);
        most[i] = fmax(first[i], last[i]);
        summary->radius = fmax(summary->radius, 0.5 * (most[i] - least[i]));
    }
    summary->angle = angle;
    summary->angle_low = low;
    summary->angle_high = high;
    TRY(mel_metric_linear(metric, opt->family, &mel_binary_layout, opt->class_names, MEL_UTILITY, a, err));
    return mel_metric_set_intervals(*metric, least, most, err);
}

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
    TRY(mel_basis_reserve_cone(f, f->size, err));
    return mel_basis_add_signs(f, opt, 1.0, true, err);
}

static mel_status active(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                         mel_error *err)
{
    if (domain->face == NULL)
        return mel_engine_features(out, domain, opt, err);
    return mel_asks_exchange(opt, domain) ? mel_engine_exchange(out, domain, opt, err)
                                          : mel_engine_planar(out, domain, opt, err);
}

const mel_elicit_ops mel_elicit_linear = {
    .where = MEL_ON_FACE | MEL_ON_BALL,
    .needs = "a planar face or a ball of off-diagonal statistics",
    .sloped = true,
    .near_best = true,
    .active = active,
    .search = mel_engine_search,
    .basis = basis,
};
