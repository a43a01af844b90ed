/* The thesis' grid for a linear-fractional metric of k classes. */
#include "elicit/search/grid.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>

/* The propositions of sections 4.5.1 and 4.5.2 in one: with a known, the hyperplane a - tau b = alpha s,
 * tau b0 = alpha c and the value at the corner, <a, corner> = value (<b, corner> + b0), give b = (a - alpha
 * s) / tau and b0 = alpha c / tau. */
typedef struct {
    double alpha, tau;
} solution;

/* at_corner and slope_at_corner: <a, corner> and <s, corner>; alpha is the thesis' 1. */
static solution solve_system(double value, double at_corner, double slope_at_corner, double c)
{
    return (solution){ .alpha = 1.0, .tau = (at_corner - slope_at_corner + c) / (at_corner * value) };
}

/* Where alpha = 1 would turn the sign of tau, and so the order of all points, alpha is smaller. */
static solution solve_in_order(double value, double at_corner, double slope_at_corner, double c)
{
    const double gap = (slope_at_corner - c) / at_corner;
    if (gap < 1.0)
        return solve_system(value, at_corner, slope_at_corner, c);
    return (solution){ .alpha = 0.5 / gap, .tau = 0.5 / value };
}

static double sign_of(const mel_grid *grid, size_t i)
{
    return grid->sign != NULL && grid->sign[i] < 0 ? -1.0 : 1.0;
}

/* Standard deviation of the ratio of the two solutions over the points when the reference has weight
 * 1 - share and the other coordinate weight share; infinite when it is not defined. */
static double ratio_spread(double share, size_t other, const mel_grid *grid, const mel_grid_point *points,
                           double *ratio)
{
    const size_t reference = grid->reference;
    const double own = sign_of(grid, reference) * (1.0 - share), rest = sign_of(grid, other) * share;
    const double at_corner = own * grid->corner[reference] + rest * grid->corner[other];
    const solution up =
        solve_system(grid->value, at_corner, mel_dot(grid->n, grid->upper, grid->corner), grid->c_upper);
    /* The right-hand sides of the lower system carry a minus sign that the thesis leaves out. */
    const solution low =
        solve_system(grid->value, at_corner, -mel_dot(grid->n, grid->lower, grid->corner), -grid->c_lower);
    for (size_t i = 0; i < MEL_GRID_POINTS; i++) {
        const double numerator = own * points[i].own + rest * points[i].other;
        /* The numerators are the same, the ratio of the metrics is that of the denominators. */
        ratio[i] = (numerator + points[i].lower - grid->c_lower) * up.tau /
                   ((numerator - points[i].upper + grid->c_upper) * low.tau);
        if (!isfinite(ratio[i]))
            return INFINITY;
    }
    return sqrt(mel_variance(MEL_GRID_POINTS, ratio));
}

static mel_status fill_ratios(double *a, const mel_grid *grid, mel_grid_point *points, double *ratio,
                              mel_error *err)
{
    for (size_t j = 0; j < grid->n; j++) {
        a[j] = 1.0;
        if (j == grid->reference)
            continue;
        const mel_status status = grid->sample(points, grid->context, j, err);
        if (status != MEL_OK)
            return status;
        double best = INFINITY, share = 0.5;
        /* A share of 1 would leave nothing for the reference. */
        for (size_t i = 0; i < MEL_GRID_STEPS; i++) {
            const double candidate = (double)i / MEL_GRID_STEPS;
            const double spread = ratio_spread(candidate, j, grid, points, ratio);
            if (spread < best) {
                best = spread;
                share = candidate;
            }
        }
        a[j] = share / (1.0 - share);
    }
    return MEL_OK;
}

mel_status mel_grid_solve(double *a, double *b, double *b0, const mel_grid *grid, mel_error *err)
{
    mel_grid_point *points = mel_alloc(MEL_GRID_POINTS, sizeof *points);
    double *ratio = mel_alloc(MEL_GRID_POINTS, sizeof *ratio);
    mel_status status = MEL_OK;
    if (points == NULL || ratio == NULL)
        status = mel_fail_memory(err, "the grid of ratios");
    else
        status = fill_ratios(a, grid, points, ratio, err);
    free(points);
    free(ratio);
    if (status != MEL_OK)
        return status;
    double sum = 0.0;
    for (size_t i = 0; i < grid->n; i++)
        sum += a[i];
    for (size_t i = 0; i < grid->n; i++)
        a[i] *= sign_of(grid, i) / sum;
    const solution up = solve_in_order(grid->value, mel_dot(grid->n, a, grid->corner),
                                       mel_dot(grid->n, grid->upper, grid->corner), grid->c_upper);
    for (size_t i = 0; i < grid->n; i++)
        b[i] = (a[i] - up.alpha * grid->upper[i]) / up.tau;
    *b0 = up.alpha * grid->c_upper / up.tau;
    return isfinite(*b0) ? MEL_OK
                         : mel_fail(err, MEL_ENUMERIC, "the grid gives a metric without a denominator");
}
