/* Fair linear metrics, costs (1 - lambda) <a, r> + lambda sum over u < v of <b^uv, |r^u - r^v|>, r = sum
 * tau^g r^g: w = ((1 - lambda) a, lambda b^12, lambda b^13, ...). A symmetric pair is exact as long as no
 * difference of groups changes its sign between A and B: middles put the groups on separate levels per
 * coordinate. */
#include "elicit/families/families.h"

#include "base/la.h"

#include <math.h>
#include <string.h>

/* How far the levels spread, as shares of the radius: tried for the longest pair. */
static const double spread_tried[] = { 0.2, 0.3, 0.4, 0.5, 0.6, 0.7 };
/* Differences of groups keep this share of what would make them vanish. */
static const double gap_share = 0.999;

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    const size_t q = f->per_group;
    memset(x, 0, f->dimension * sizeof *x);
    double *apart = x + q;
    for (size_t u = 0; u < f->groups; u++) {
        const double *au = a + u * q, *bu = b + u * q, *tau = f->prevalence + u * q;
        for (size_t i = 0; i < q; i++)
            x[i] += tau[i] * (bu[i] - au[i]);
        for (size_t v = u + 1; v < f->groups; v++, apart += q)
            for (size_t i = 0; i < q; i++)
                apart[i] = fabs(bu[i] - b[v * q + i]) - fabs(au[i] - a[v * q + i]);
    }
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    const size_t q = f->per_group;
    for (size_t i = 0; i < f->size; i++)
        out[i] = -f->prevalence[i] * w[i % q];
    const double *apart = w + q;
    for (size_t u = 0; u < f->groups; u++)
        for (size_t v = u + 1; v < f->groups; v++, apart += q)
            for (size_t i = 0; i < q; i++) {
                const double weight = c[u * q + i] > c[v * q + i] ? apart[i] : -apart[i];
                out[u * q + i] -= weight;
                out[v * q + i] += weight;
            }
}

/* Puts the groups on shuffled, equally spaced levels of coordinate i. */
static void shuffle_levels(const mel_basis *f, mel_rng *rng, size_t i, double *c)
{
    const size_t q = f->per_group, m = f->groups;
    const double spread = spread_tried[2] * f->radius / sqrt((double)q);
    for (size_t g = 0; g < m; g++)
        c[g * q + i] = f->centre[i] + spread * (2.0 * (double)g / (double)(m - 1) - 1.0);
    for (size_t g = m; g > 1; g--) {
        const size_t other = mel_rng_below(rng, g);
        const double held = c[(g - 1) * q + i];
        c[(g - 1) * q + i] = c[other * q + i];
        c[other * q + i] = held;
    }
}

static void middle(const mel_basis *f, mel_rng *rng, double *c)
{
    for (size_t i = 0; i < f->per_group; i++)
        shuffle_levels(f, rng, i, c);
}

static void nudge(const mel_basis *f, mel_rng *rng, double step, const double *from, double *c)
{
    memcpy(c, from, f->size * sizeof *c);
    const size_t changes = 1 + (size_t)(step * 0.5 * (double)f->per_group);
    for (size_t k = 0; k < changes; k++)
        shuffle_levels(f, rng, mel_rng_below(rng, f->per_group), c);
}

/* The largest step that leaves every difference of groups its sign. */
static double gap_reach(const mel_basis *f, const double *c, const double *delta)
{
    const size_t q = f->per_group;
    double reach = INFINITY;
    for (size_t u = 0; u < f->groups; u++)
        for (size_t v = u + 1; v < f->groups; v++)
            for (size_t i = 0; i < q; i++) {
                const double gap = fabs(c[u * q + i] - c[v * q + i]);
                const double change = fabs(delta[u * q + i] - delta[v * q + i]);
                if (change > 0.0)
                    reach = fmin(reach, gap_share * gap / change);
            }
    return reach;
}

/* Around the levels of c, spread as suits delta best. */
static mel_status pair(mel_basis *f, const double *c, const double *delta, double *a, double *b, bool *found,
                       mel_error *err)
{
    (void)err;
    double best = 0.0, spread = 1.0;
    for (size_t k = 0; k < sizeof spread_tried / sizeof *spread_tried; k++) {
        const double factor = spread_tried[k] / spread_tried[2];
        for (size_t i = 0; i < f->size; i++)
            a[i] = f->centre[i % f->per_group] + factor * (c[i] - f->centre[i % f->per_group]);
        const double reach = fmin(mel_basis_reach(f, a, delta), gap_reach(f, a, delta));
        if (reach > best && isfinite(reach)) {
            best = reach;
            spread = factor;
        }
    }
    *found = best > 0.0;
    for (size_t i = 0; i < f->size && *found; i++) {
        const double at = f->centre[i % f->per_group] + spread * (c[i] - f->centre[i % f->per_group]);
        a[i] = at + best * delta[i];
        b[i] = at - best * delta[i];
    }
    return MEL_OK;
}

/* Sum of the norms of the b. */
static double apart_of(const mel_basis *f, const double *w)
{
    double sum = 0.0;
    for (size_t p = 1; p <= f->pairs; p++)
        sum += mel_norm2(f->per_group, w + p * f->per_group);
    return sum;
}

static double size(const mel_basis *f, const double *w)
{
    return mel_norm2(f->per_group, w) + apart_of(f, w);
}

/* a and b at their own norms, lambda from the two. */
static void coefficients(const mel_basis *f, const double *w, double *out)
{
    const size_t q = f->per_group;
    const double mistakes = mel_norm2(q, w), apart = apart_of(f, w);
    memcpy(out, w, f->dimension * sizeof *out);
    mel_scale(q, mistakes > 0.0 ? 1.0 / mistakes : 1.0, out);
    mel_scale(f->pairs * q, apart > 0.0 ? 1.0 / apart : 1.0, out + q);
    out[f->dimension] = apart / (apart + mistakes);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_fair_linear(out, &f->layout, opt->class_names, opt->group_names, coefficient,
                                  coefficient + f->per_group, coefficient[f->dimension], f->class_prevalence,
                                  err);
}

static const mel_basis_ops fair_linear_ops = {
    .row = row,
    .slope = slope,
    .middle = middle,
    .nudge = nudge,
    .pair = pair,
    .size = size,
    .coefficients = coefficients,
    .metric = metric,
};

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    (void)domain;
    f->ops = &fair_linear_ops;
    f->dimension = f->per_group * (1 + f->pairs);
    f->n_reported = f->dimension + 1;
    TRY(mel_basis_reserve_cone(f, f->dimension, err));
    TRY(mel_basis_add_signs(f, opt, -1.0, true, err));
    for (size_t i = f->per_group; i < f->dimension; i++)
        if (opt->direction != MEL_DIRECTION_UNKNOWN)
            mel_basis_add_sign(f, i, 1.0);
    return MEL_OK;
}

const mel_elicit_ops mel_elicit_fair_linear = {
    .where = MEL_ON_GROUPS,
    .needs = "a ball of off-diagonal rates with groups",
    .reads = MEL_READS_PLACES | MEL_READS_PAIRS,
    .sloped = true,
    .near_best = true,
    .active = mel_engine_features,
    .search = mel_engine_search_fair,
    .basis = basis,
};
