/* Linear-fractional metrics as bivectors, and the region in which they are asked about. */
#include "elicit/active/bivector.h"

#include "base/la.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- regions -------------------------------------------------------------------------------------- */

void mel_region_clear(mel_region *region)
{
    free(region->origin);
    free(region->sign);
    *region = (mel_region){ .n = 0 };
}

static mel_status make_region(mel_region *region, size_t n, const mel_layout *layout,
                              const mel_session_options *opt, mel_error *err)
{
    *region = (mel_region){ .n = n };
    const mel_part parts[] = { { n, { &region->origin, &region->unit } }, { 2 * n, { &region->room } } };
    region->sign = mel_alloc_zero(n, sizeof *region->sign);
    if (region->sign == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the region");
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "linear-fractional metrics need at least 2 statistics, not %zu", n);
    if (layout->n_groups > 1)
        return mel_fail(err, MEL_EINVAL,
                        "linear-fractional metrics are for statistics without groups, not %zu",
                        layout->n_groups);
    const int better = layout->coordinates == MEL_OFFDIAGONAL ? -1 : 1;
    for (size_t i = 0; i < n; i++)
        region->sign[i] = opt->signs != NULL                        ? opt->signs[i]
                          : opt->direction == MEL_DIRECTION_UNKNOWN ? (signed char)0
                          : opt->direction == MEL_INCREASING        ? (signed char)better
                                                                    : (signed char)-better;
    return MEL_OK;
}

mel_status mel_region_of_ball(mel_region *region, const mel_ball *ball, const mel_session_options *opt,
                              mel_error *err)
{
    TRY(make_region(region, mel_ball_size(ball), mel_ball_layout(ball), opt, err));
    for (size_t i = 0; i < region->n; i++) {
        region->origin[i] = mel_ball_centre(ball)[i];
        region->unit[i] = mel_ball_radius(ball);
    }
    return MEL_OK;
}

mel_status mel_region_of_space(mel_region *region, const mel_space *space, const mel_session_options *opt,
                               mel_error *err)
{
    const mel_layout *layout = mel_space_layout(space);
    TRY(make_region(region, mel_layout_size(layout), layout, opt, err));
    region->box = true;
    for (size_t i = 0; i < region->n; i++)
        region->origin[i] = region->unit[i] =
            layout->kind == MEL_RATES ? 0.5 : 0.5 * mel_space_class_share(space)[i];
    return MEL_OK;
}

void mel_region_inside(const mel_region *region, const double *statistics, double *x)
{
    for (size_t i = 0; i < region->n; i++)
        x[i] = (statistics[i] - region->origin[i]) / region->unit[i];
}

static double l1_along(size_t n, const double *s, const double *t, double lambda)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(t[i] + lambda * s[i]);
    return sum;
}

/* The lambda for which |t + lambda s|_1 is least: 1 + <t + lambda s, x> is then as positive on the box as can
 * be. The minimum is where one of the terms vanishes. */
static double best_lambda(size_t n, const double *s, const double *t)
{
    double best = 0.0, least = l1_along(n, s, t, 0.0);
    for (size_t i = 0; i < n; i++) {
        const double lambda = s[i] != 0.0 ? -t[i] / s[i] : 0.0, sum = l1_along(n, s, t, lambda);
        if (sum < least) {
            least = sum;
            best = lambda;
        }
    }
    return best;
}

/* g_i(x) = s_i + <s_i t - t_i s, x> keeps its sign in the region when the dual norm of that slope is below
 * s_i. */
static bool keeps_sign(const mel_region *region, const double *s, const double *t, double t2, size_t i)
{
    const double own = region->sign[i] * s[i];
    if (!(own > 0.0))
        return false;
    if (!region->box)
        return own * own * (1.0 - t2) >= t[i] * t[i];
    double swing = 0.0;
    for (size_t j = 0; j < region->n; j++)
        swing += fabs(s[i] * t[j] - t[i] * s[j]);
    return own >= swing;
}

bool mel_region_allows(const mel_region *region, const double *theta)
{
    const size_t n = region->n;
    const double *s = theta, *t = theta + n, t2 = mel_dot(n, t, t);
    bool all = true; /* signs of all coordinates, which make a denominator positive by themselves */
    for (size_t i = 0; i < n; i++) {
        all = all && region->sign[i] != 0;
        if (region->sign[i] != 0 && !keeps_sign(region, s, t, t2, i))
            return false;
    }
    if (!region->box)
        return t2 < 1.0;
    return all || l1_along(n, s, t, best_lambda(n, s, t)) < 1.0;
}

/* --- algebra -------------------------------------------------------------------------------------- */

void mel_bivector_settle(size_t n, double *theta)
{
    double *s = theta, *t = theta + n;
    const double length = mel_norm2(n, s);
    if (length > 0.0)
        mel_scale(n, 1.0 / length, s);
    mel_axpy(n, -mel_dot(n, s, t), s, t);
}

/* The numerator less a multiple of the denominator vanishes at the centre. */
bool mel_bivector_of(double *theta, const mel_region *region, const mel_metric *metric)
{
    const size_t n = region->n;
    double top = 0.0, below = 0.0;
    const double *a = mel_metric_numerator(metric, &top), *b = mel_metric_denominator(metric, &below);
    const double sense = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    for (size_t i = 0; i < n; i++) {
        top += a[i] * region->origin[i];
        below += b[i] * region->origin[i];
    }
    double length = 0.0, scale = 0.0;
    for (size_t i = 0; i < n; i++) {
        theta[i] = sense * (a[i] * below - b[i] * top) * region->unit[i];
        theta[n + i] = b[i] * region->unit[i] / below;
        length += theta[i] * theta[i];
        scale += pow((fabs(a[i] * below) + fabs(b[i] * top)) * region->unit[i], 2.0);
    }
    if (!(below > 0.0) || !(length > 1e-24 * scale))
        return false;
    mel_bivector_settle(n, theta);
    return true;
}

/* <N ^ D, N' ^ D'> = <N, N'><D, D'> - <N, D'><D, N'>, and |N ^ D|^2 = 1 + |t|^2 of a settled theta. */
double mel_bivector_cosine(size_t n, const double *one, const double *other)
{
    const double *s = one, *t = one + n, *s2 = other, *t2 = other + n;
    const double product =
        mel_dot(n, s, s2) * (1.0 + mel_dot(n, t, t2)) - mel_dot(n, s, t2) * mel_dot(n, t, s2);
    return product / sqrt((1.0 + mel_dot(n, t, t)) * (1.0 + mel_dot(n, t2, t2)));
}

double mel_bivector_margin(size_t n, const double *theta, const double *a, const double *b)
{
    const double sa = mel_dot(n, theta, a), sb = mel_dot(n, theta, b);
    const double ta = mel_dot(n, theta + n, a), tb = mel_dot(n, theta + n, b);
    return sa * (1.0 + tb) - sb * (1.0 + ta);
}

void mel_bivector_slope(size_t n, const double *theta, const double *x, double *g)
{
    const double along = mel_dot(n, theta, x), below = 1.0 + mel_dot(n, theta + n, x);
    for (size_t i = 0; i < n; i++)
        g[i] = below * theta[i] - along * theta[n + i];
}

void mel_bivector_jacobian(size_t n, const double *theta, const double *x, double *jacobian)
{
    const double *s = theta, *t = theta + n;
    const double along = mel_dot(n, s, x), below = 1.0 + mel_dot(n, t, x);
    for (size_t i = 0; i < n; i++) {
        double *row = jacobian + i * 2 * n;
        for (size_t j = 0; j < n; j++) {
            row[j] = -t[i] * x[j];
            row[n + j] = s[i] * x[j];
        }
        row[i] += below;
        row[n + i] -= along;
    }
}

/* --- metrics -------------------------------------------------------------------------------------- */

/* The level hyperplanes that touch the unit ball have the outward slopes +-sqrt(1 - |t|^2) s - t. */
static mel_status ball_metric(const mel_region *region, const double *theta, double *a, double *b, double *b0,
                              mel_error *err)
{
    const size_t n = region->n;
    const double *s = theta, *t = theta + n, radius = region->unit[0];
    const double height = sqrt(fmax(1.0 - mel_dot(n, t, t), 0.0));
    double *upper = region->room, *lower = upper + n;
    for (size_t i = 0; i < n; i++) {
        upper[i] = height * s[i] - t[i];
        lower[i] = -height * s[i] - t[i];
    }
    const double c_upper = mel_dot(n, upper, region->origin) + radius;
    const double c_lower = mel_dot(n, lower, region->origin) + radius;
    return mel_fractional_ball(n, a, b, b0, upper, c_upper, lower, c_lower, err);
}

/* D + lambda N, with the slopes of the box; lambda makes it the same at both ends of the diagonal where that
 * is positive on the whole box. */
static double box_lambda(size_t n, const double *s, const double *t)
{
    double sum_s = 0.0, sum_t = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum_s += s[i];
        sum_t += t[i];
    }
    const double lambda = -sum_t / sum_s;
    return isfinite(lambda) && l1_along(n, s, t, lambda) <= 1.0 ? lambda : best_lambda(n, s, t);
}

static mel_status box_metric(const mel_region *region, const double *theta, double *a, double *b, double *b0,
                             mel_error *err)
{
    const size_t n = region->n;
    const double *s = theta, *t = theta + n, lambda = box_lambda(n, s, t);
    double sum_s = 0.0, sum_d = 0.0, norm = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum_s += s[i];
        sum_d += t[i] + lambda * s[i];
    }
    const double share = sum_s / (1.0 - sum_d); /* N + share D vanishes at the corner where all is wrong */
    double perfect = 0.0;
    for (size_t i = 0; i < n; i++) {
        b[i] = (t[i] + lambda * s[i]) / region->unit[i];
        a[i] = s[i] / region->unit[i] + share * b[i];
        norm += fabs(a[i]);
        perfect += 2.0 * region->unit[i] * a[i];
    }
    if (!isfinite(norm) || !(norm > 0.0) || !(1.0 - sum_d > 0.0))
        return mel_fail(err, MEL_ENUMERIC, "no numerator without a constant fits the level hyperplanes");
    const double scale =
        fabs(perfect) > 1e-9 * norm && 1.0 + sum_d > 0.0 ? fabs(perfect) / (norm * (1.0 + sum_d)) : 1.0;
    mel_scale(n, 1.0 / norm, a);
    mel_scale(n, scale, b);
    *b0 = scale * (1.0 - sum_d);
    return MEL_OK;
}

mel_status mel_bivector_metric(const mel_region *region, const double *theta, double *coefficient,
                               mel_error *err)
{
    const size_t n = region->n;
    coefficient[n] = 0.0;
    double *b = coefficient + n + 1, *b0 = coefficient + 2 * n + 1;
    return region->box ? box_metric(region, theta, coefficient, b, b0, err)
                       : ball_metric(region, theta, coefficient, b, b0, err);
}

static double denominator_at(const mel_region *region, const double *coefficient, const double *x)
{
    const size_t n = region->n;
    double sum = coefficient[2 * n + 1];
    for (size_t i = 0; i < n; i++)
        sum += coefficient[n + 1 + i] * (region->origin[i] + region->unit[i] * x[i]);
    return sum;
}

/* The bivector of the reported N and D is kappa times theta's: N D' - D N' at the origin is kappa s. */
double mel_bivector_gain(const mel_region *region, const double *theta, const double *coefficient,
                         const double *a, const double *b)
{
    const size_t n = region->n;
    double top = 0.0, below = coefficient[2 * n + 1], along_a = 0.0, along_b = 0.0;
    for (size_t i = 0; i < n; i++) {
        top += coefficient[i] * region->origin[i];
        below += coefficient[n + 1 + i] * region->origin[i];
        along_a += coefficient[i] * region->unit[i] * theta[i];
        along_b += coefficient[n + 1 + i] * region->unit[i] * theta[i];
    }
    const double kappa = below * along_a - top * along_b;
    return kappa / (denominator_at(region, coefficient, a) * denominator_at(region, coefficient, b));
}
