#include "space/radius.h"

#include "base/la.h"
#include "space/ball.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COORDINATES = 120, /* up to here rays are followed to their end, and the whole set is searched;
                             * beyond, a ray is only followed until it has left the ball, */
    AXIS_STEPS = 50         /* and an axis for so many steps, of which the sure part counts */
};
static const double least_radius = 1e-9;

void mel_radius_options_init(mel_radius_options *opt)
{
    *opt = (mel_radius_options){
        .struct_size = sizeof *opt, .method = MEL_RADIUS_INSCRIBED, .rays = 100, .seed = 1
    };
}

void mel_radius_clear(mel_radius *how)
{
    free(how->direction);
    *how = (mel_radius){ 0 };
}

/* --- one group ---------------------------------------------------------------------------------- */

/* Takes over what is thinner than all before. */
static void take_thinnest(mel_radius *how, const mel_shot *shots, size_t n, const mel_range *range)
{
    for (size_t i = 0; i < n; i++) {
        how->steps += shots[i].steps;
        if (!(shots[i].width < how->descent))
            continue;
        how->descent = shots[i].width;
        how->group = range->group;
        memcpy(how->direction, shots[i].normal, range->space->group_size * sizeof *how->direction);
    }
}

/* Most columns of many classes are alike: more starts than these find nothing thinner. */
static size_t count_restarts(const mel_space *space, const mel_radius_options *opt)
{
    enum { SOME = 12 };
    const size_t k = space->n_classes;
    return opt->restarts > 0 ? opt->restarts : SOME + (k < SOME ? k : SOME);
}

/* Starts that need no aim: the thinnest direction so far and random ones, in all coordinates. */
static void start_anywhere(mel_shot *shots, size_t n, const mel_shot *columns, size_t n_columns,
                           const mel_range *range, uint64_t seed)
{
    const size_t q = range->space->group_size;
    const mel_shot *best = columns;
    for (size_t i = 1; i < n_columns; i++)
        best = columns[i].width < best->width ? &columns[i] : best;
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 1 + 2 * range->group);
    for (size_t i = 0; i < n; i++)
        if (i == 0)
            memcpy(shots[i].start, best->normal, q * sizeof *best->normal);
        else
            mel_rng_sphere(&rng, q, shots[i].start);
}

/* Descents from simple directions, within the directions of one column each, and from random ones in all
 * coordinates. */
static mel_status descend(mel_radius *how, const mel_range *range, const mel_radius_options *opt,
                          mel_error *err)
{
    const size_t q = range->space->group_size, n = count_restarts(range->space, opt);
    const size_t more = q <= MOST_COORDINATES ? n / 2 + 1 : 0;
    mel_shot *shots = mel_shots_new(n + more, q);
    if (shots == NULL)
        return mel_fail_memory(err, "directions");
    const double middle = (range->from + range->to) / 2.0;
    mel_range first = *range, second = *range;
    first.to = second.from = middle;
    for (size_t i = 0; i < n + more; i++) {
        shots[i].follow = true;
        shots[i].wanted = INFINITY;
        shots[i].start[0] = 1.0;
    }
    mel_status status = mel_shots_aim(shots, n, range, &how->steps, err);
    if (status == MEL_OK)
        status = mel_shots_fire(shots, n, &first, err);
    if (status == MEL_OK && more > 0) {
        start_anywhere(shots + n, more, shots, n, range, opt->seed);
        status = mel_shots_fire(shots + n, more, &second, err);
    }
    if (status == MEL_OK)
        status = mel_shots_confirm(shots, n + more, range, err);
    if (status == MEL_OK)
        take_thinnest(how, shots, n + more, range);
    free(shots);
    return status;
}

/* Rays at random: a check that owes nothing to where the search looked. */
static mel_status shoot_rays(mel_radius *how, const mel_range *range, const mel_radius_options *opt,
                             mel_error *err)
{
    const size_t q = range->space->group_size, n = opt->rays;
    mel_shot *shots = mel_shots_new(n, q);
    if (shots == NULL)
        return mel_fail_memory(err, "rays");
    mel_rng rng;
    mel_rng_seed_stream(&rng, opt->seed, 2 + 2 * range->group);
    for (size_t i = 0; i < n; i++) {
        shots[i].wanted = q <= MOST_COORDINATES ? INFINITY : how->descent;
        mel_rng_sphere(&rng, q, shots[i].start);
    }
    const mel_status status = mel_shots_fire(shots, n, range, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        how->rays = fmin(how->rays, shots[i].sure);
    /* By labels the planes that end a ray are not proved. */
    if (status == MEL_OK && opt->method == MEL_RADIUS_INSCRIBED && mel_space_exact(range->space))
        take_thinnest(how, shots, n, range);
    else
        for (size_t i = 0; i < n; i++)
            how->steps += shots[i].steps;
    free(shots);
    return status;
}

/* How far the axes surely go, both signs of each. */
static mel_status measure_ends(mel_shot *shots, const mel_range *range, mel_error *err)
{
    const size_t q = range->space->group_size, k = range->space->n_classes;
    for (size_t i = 0; i < 2 * q; i++) {
        shots[i].wanted = INFINITY;
        shots[i].start[i / 2] = i % 2 == 0 ? 1.0 : -1.0;
    }
    if (q <= MOST_COORDINATES)
        return mel_shots_fire(shots, 2 * q, range, err);
    double *spare = mel_alloc(2 * k * k, sizeof *spare);
    if (spare == NULL)
        return mel_fail_memory(err, "axes");
    for (size_t i = 0; i < 2 * q; i++)
        shots[i].sure = mel_sure_stretch(range->sure, shots[i].start, spare);
    free(spare);
    return MEL_OK;
}

/* Algorithm B.1 with both signs: the ball in the hull of what is feasible along every axis. */
static mel_status measure_axes(mel_radius *how, const mel_range *range, mel_error *err)
{
    const size_t q = range->space->group_size;
    mel_shot *shots = mel_shots_new(2 * q, q);
    if (shots == NULL)
        return mel_fail_memory(err, "axes");
    const mel_status status = measure_ends(shots, range, err);
    double sum = 0.0;
    for (size_t i = 0; status == MEL_OK && i < 2 * q; i += 2) {
        const double shorter = fmin(shots[i].sure, shots[i + 1].sure);
        sum += 1.0 / (shorter * shorter);
        how->steps += shots[i].steps + shots[i + 1].steps;
    }
    const double radius = 1.0 / sqrt(sum);
    if (status == MEL_OK && radius < how->descent) {
        how->descent = radius;
        how->group = range->group;
        /* The facet of the hull that the ball touches, where all axes have their signs positive. */
        for (size_t c = 0; c < q; c++)
            how->direction[c] = radius / fmin(shots[2 * c].sure, shots[2 * c + 1].sure);
    }
    free(shots);
    return status;
}

static mel_status measure_group(mel_radius *how, const mel_range *whole, const mel_radius_options *opt,
                                mel_error *err)
{
    mel_range range = *whole;
    const double length = whole->to - whole->from;
    mel_status status = MEL_OK;
    range.to = whole->from + 0.6 * length;
    if (opt->method == MEL_RADIUS_THESIS)
        status = measure_axes(how, &range, err);
    else
        status = descend(how, &range, opt, err);
    range.from = range.to;
    range.to = whole->to;
    if (status == MEL_OK && opt->rays > 0)
        status = shoot_rays(how, &range, opt, err);
    return status;
}

/* --- all groups --------------------------------------------------------------------------------- */

/* Steps that take about a millisecond together. */
static uint64_t steps_unasked(const mel_space *space)
{
    const double some = 5e5, k = (double)space->n_classes; /* multiplications */
    const double rows = space->n_rows > 0 ? (double)space->n_rows : 100.0 * k;
    return 1 + (uint64_t)(some / (rows * k * (k + 4.0)));
}

static mel_status measure(mel_radius *how, const mel_space *space, const mel_radius_options *opt,
                          mel_error *err)
{
    const size_t groups = space->n_groups, q = space->group_size;
    how->direction = mel_alloc_zero(q, sizeof *how->direction);
    if (how->direction == NULL)
        return mel_fail_memory(err, "a radius");
    how->descent = how->rays = how->certified = INFINITY;
    how->group = SIZE_MAX;
    mel_halt halt = { .progress = &opt->progress,
                      .what = "measuring a radius",
                      .every = steps_unasked(space) };
    mel_status status = MEL_OK;
    for (size_t g = 0; g < groups && status == MEL_OK; g++) {
        mel_sure sure;
        status = mel_sure_init(&sure, space, g, err);
        const mel_range range = { .space = space,
                                  .group = g,
                                  .sure = &sure,
                                  .budget = 1000 + 100 * (uint64_t)(q < MOST_COORDINATES ? q : 0),
                                  .halt = &halt,
                                  .from = (double)g / (double)groups,
                                  .to = (double)(g + 1) / (double)groups };
        how->certified = fmin(how->certified, sure.radius);
        if (status == MEL_OK)
            status = measure_group(how, &range, opt, err);
        mel_sure_clear(&sure);
    }
    if (status == MEL_OK)
        status = mel_halt_report(&halt, 1.0, err);
    return status;
}

static mel_status check(mel_radius_options *out, const mel_space *space, const mel_radius_options *opt,
                        mel_error *err)
{
    mel_radius_options_init(out);
    const mel_status status = mel_options_take(out, sizeof *out, opt, "radius options", err);
    if (status != MEL_OK)
        return status;
    if (out->method != MEL_RADIUS_INSCRIBED && out->method != MEL_RADIUS_THESIS)
        return mel_fail(err, MEL_EINVAL, "%d is no way to find a radius", (int)out->method);
    if (space->layout.kind == MEL_CONFUSION && space->n_groups > 1)
        return mel_fail(
            err, MEL_EINVAL,
            "confusion entries of %zu groups have different centres and no common ball: use rates",
            space->n_groups);
    return MEL_OK;
}

static mel_status refuse_if_flat(const mel_radius *how, const mel_space *space, mel_error *err)
{
    if (how->radius >= least_radius)
        return MEL_OK;
    return mel_fail(err, MEL_EDATA,
                    "the largest ball of achievable statistics has radius %.3g%s: some combination of them "
                    "is the same for every classifier, as when class probabilities are constant or "
                    "determine each other, and no question can vary it",
                    how->radius, space->n_groups > 1 ? " in one of the groups" : "");
}

mel_status mel_ball_of_space(mel_ball **out, mel_radius *how, const mel_space *space,
                             const mel_radius_options *opt, mel_error *err)
{
    *out = NULL;
    if (how != NULL)
        *how = (mel_radius){ 0 };
    mel_radius found = { 0 };
    mel_radius_options options;
    double *centre = mel_alloc(space->size, sizeof *centre);
    mel_status status = check(&options, space, opt, err);
    if (status == MEL_OK && centre == NULL)
        status = mel_fail_memory(err, "a ball");
    mel_blas_hold();
    if (status == MEL_OK)
        status = measure(&found, space, &options, err);
    mel_blas_release();
    if (status == MEL_OK) {
        found.radius = fmin(found.descent, found.rays);
        if (options.method == MEL_RADIUS_INSCRIBED)
            found.radius = fmax(found.radius, found.certified);
        status = refuse_if_flat(&found, space, err);
    }
    if (status == MEL_OK) {
        mel_space_centre(centre, space);
        status = mel_ball_make(out, &space->layout, found.radius, centre, space->class_share,
                               space->prevalence, err);
    }
    free(centre);
    if (status == MEL_OK && how != NULL)
        *how = found;
    else
        mel_radius_clear(&found);
    return status;
}
