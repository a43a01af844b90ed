/* Balls of rates, taken from a space or given by their prevalences. */
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_ball_free(mel_ball *ball)
{
    free(ball); /* one block */
}

mel_status mel_ball_make(mel_ball **out, const mel_layout *layout, double radius, const double *centre,
                         const double *class_share, const double *prevalence, mel_error *err)
{
    const size_t k = layout->n_classes, groups = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t size = mel_layout_size(layout), q = size / groups;
    mel_ball *ball = *out = mel_alloc(1, sizeof *ball + (q + k + groups * k) * sizeof(double));
    if (ball == NULL)
        return mel_fail_memory(err, "a ball");
    double *number = (double *)(ball + 1);
    *ball = (mel_ball){ .layout = *layout, .size = size, .group_size = q, .radius = radius };
    ball->centre = memcpy(number, centre, q * sizeof *centre);
    if (class_share != NULL)
        ball->class_share = memcpy(number + q, class_share, k * sizeof *class_share);
    if (prevalence != NULL)
        ball->prevalence = memcpy(number + q + k, prevalence, groups * k * sizeof *prevalence);
    return MEL_OK;
}

const mel_layout *mel_ball_layout(const mel_ball *ball)
{
    return &ball->layout;
}

void mel_ball_random(double *point, const mel_ball *ball, double radius, mel_rng *rng)
{
    const size_t q = ball->group_size;
    for (size_t first = 0; first < ball->size; first += q) {
        mel_rng_sphere(rng, q, point + first);
        const double length = radius * pow(mel_rng_uniform(rng), 1.0 / (double)q);
        for (size_t i = 0; i < q; i++)
            point[first + i] = ball->centre[i] + length * point[first + i];
    }
}

size_t mel_ball_size(const mel_ball *ball)
{
    return ball->size;
}

double mel_ball_radius(const mel_ball *ball)
{
    return ball->radius;
}

const double *mel_ball_centre(const mel_ball *ball)
{
    return ball->centre;
}

const double *mel_ball_class_share(const mel_ball *ball)
{
    return ball->class_share;
}

const double *mel_ball_prevalence(const mel_ball *ball)
{
    return ball->prevalence;
}

/* --- abstract balls ----------------------------------------------------------------------------- */

static const double sum_slack = 1e-6; /* of shares */

static bool is_share(double share)
{
    return share > 0.0 && share <= 1.0;
}

static mel_status check_class_shares(size_t k, const double *share, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        if (!is_share(share[i]))
            return mel_fail(err, MEL_EINVAL,
                            "the share of class %zu is %g, expected more than 0 and at most 1", i + 1,
                            share[i]);
        sum += share[i];
    }
    if (!(fabs(sum - 1.0) <= sum_slack))
        return mel_fail(err, MEL_EINVAL, "the shares of the %zu classes sum to %.9g, not 1", k, sum);
    return MEL_OK;
}

static mel_status check_prevalence(size_t groups, size_t k, const double *prevalence, mel_error *err)
{
    for (size_t i = 0; i < k; i++) {
        double sum = 0.0;
        for (size_t g = 0; g < groups; g++) {
            if (!is_share(prevalence[g * k + i]))
                return mel_fail(
                    err, MEL_EINVAL,
                    "the share of group %zu in class %zu is %g, expected more than 0 and at most 1", g + 1,
                    i + 1, prevalence[g * k + i]);
            sum += prevalence[g * k + i];
        }
        if (!(fabs(sum - 1.0) <= sum_slack))
            return mel_fail(err, MEL_EINVAL,
                            "the prevalences of class %zu in the %zu groups sum to %.9g, not 1", i + 1,
                            groups, sum);
    }
    return MEL_OK;
}

/* The largest radius with which every point of the ball has entries >= 0 that sum to no more than their
 * class: half-spaces at distance least/k, and for off-diagonal entries least/(k sqrt(k - 1)). */
static double largest_radius(const mel_layout *layout, double least_share)
{
    const double k = (double)layout->n_classes;
    return least_share / (layout->coordinates == MEL_OFFDIAGONAL ? k * sqrt(k - 1.0) : k);
}

static mel_status check_radius(const mel_layout *layout, double radius, double least_share, mel_error *err)
{
    const double rounding = 1e-12;
    const double most = largest_radius(layout, least_share);
    if (!(radius > 0.0) || !isfinite(radius))
        return mel_fail(err, MEL_EINVAL, "radius %g of a ball, expected more than 0", radius);
    if (radius > most * (1.0 + rounding))
        return mel_fail(
            err, MEL_EINVAL,
            "radius %.9g: some points of the ball are no %s %s; %.9g is the largest for %zu classes", radius,
            mel_coordinates_name(layout->coordinates), mel_kind_name(layout->kind), most, layout->n_classes);
    return MEL_OK;
}

static mel_status check_abstract(const mel_layout *layout, double radius, const double *class_share,
                                 const double *prevalence, mel_error *err)
{
    const size_t k = layout->n_classes;
    TRY(mel_layout_check(layout, err));
    if (layout->kind == MEL_CONFUSION && layout->n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "confusion entries of %zu groups have different centres: use rates",
                        layout->n_groups);
    if (class_share != NULL)
        TRY(check_class_shares(k, class_share, err));
    if (prevalence != NULL && layout->n_groups > 1)
        TRY(check_prevalence(layout->n_groups, k, prevalence, err));
    double least = 1.0;
    for (size_t i = 0; layout->kind == MEL_CONFUSION && i < k; i++)
        least = fmin(least, class_share != NULL ? class_share[i] : 1.0 / (double)k);
    return check_radius(layout, radius, least, err);
}

/* What the classifier that draws its prediction uniformly achieves. */
static void uniform_centre(double *centre, const mel_layout *layout, size_t group_size,
                           const double *class_share)
{
    const size_t k = layout->n_classes, mistakes = k > 1 ? k - 1 : 1;
    for (size_t c = 0; c < group_size; c++) {
        const size_t class = layout->coordinates == MEL_OFFDIAGONAL ? c / mistakes
                             : layout->coordinates == MEL_BINARY    ? 1 - c
                                                                    : c;
        double whole = 1.0;
        if (layout->kind == MEL_CONFUSION)
            whole = class_share != NULL ? class_share[class] : 1.0 / (double)k;
        centre[c] = whole / (double)k;
    }
}

mel_status mel_ball_new(mel_ball **out, const mel_layout *layout, double radius, const double *class_share,
                        const double *prevalence, mel_error *err)
{
    *out = NULL;
    TRY(check_abstract(layout, radius, class_share, prevalence, err));
    const size_t k = layout->n_classes, groups = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t group_size = mel_layout_size(layout) / groups;
    MEL_AUTO_MEMORY double *centre = mel_alloc(group_size + groups * k, sizeof *centre);
    if (centre == NULL)
        return mel_fail_memory(err, "a ball");
    double *alike = centre + group_size;
    for (size_t c = 0; c < groups * k; c++)
        alike[c] = 1.0 / (double)groups;
    uniform_centre(centre, layout, group_size, class_share);
    const double *known = prevalence != NULL ? prevalence : alike;
    return mel_ball_make(out, layout, radius, centre, class_share, groups > 1 ? known : NULL, err);
}
