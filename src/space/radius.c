/* The inscribed ball: shots along normals, random rays; the thesis' bound from the axes. */
#include "space/radius.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Up to here rays are followed to their end, and the whole set is searched; beyond, a ray is only
     * followed until it has left the ball, and an axis for AXIS_STEPS, of which the sure part counts. */
    MOST_COORDINATES = 120,
    AXIS_STEPS = 50
};
static const double least_radius = 1e-9;

void mel_radius_options_init(mel_radius_options *opt)
{
    *opt = (mel_radius_options){ .struct_size = sizeof *opt,
                                 .method = MEL_RADIUS_INSCRIBED,
                                 .rays = 100,
                                 .seed = 1,
                                 .sample_rows = 10000 };
}

void mel_radius_clear(mel_radius *how)
{
    free(how->direction);
    *how = (mel_radius){ 0 };
}

/* --- shots ---------------------------------------------------------------------------------------- */

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
static mel_status descend_from_starts(mel_shots *out, const mel_range *range, const mel_radius_options *opt,
                                      mel_error *err)
{
    const size_t q = range->space->group_size, n = count_restarts(range->space, opt);
    const size_t more = q <= MOST_COORDINATES ? n / 2 + 1 : 0;
    TRY(mel_shots_new(out, n + more, q, err));
    mel_shot *shots = out->shot;
    const double middle = (range->from + range->to) / 2.0;
    mel_range first = *range, second = *range;
    first.to = second.from = middle;
    for (size_t i = 0; i < n + more; i++) {
        shots[i].follow = true;
        shots[i].wanted = INFINITY;
        shots[i].start[0] = 1.0;
    }
    TRY(mel_shots_aim(shots, n, range, &out->aiming, err));
    TRY(mel_shots_fire(shots, n, &first, err));
    if (more == 0)
        return MEL_OK;
    start_anywhere(shots + n, more, shots, n, range, opt->seed);
    return mel_shots_fire(shots + n, more, &second, err);
}

/* How far the axes surely go, both signs of each. */
static mel_status measure_axes(mel_shots *out, const mel_range *range, mel_error *err)
{
    const size_t q = range->space->group_size, k = range->space->n_classes;
    TRY(mel_shots_new(out, 2 * q, q, err));
    mel_shot *shots = out->shot;
    for (size_t i = 0; i < 2 * q; i++) {
        shots[i].wanted = INFINITY;
        shots[i].start[i / 2] = i % 2 == 0 ? 1.0 : -1.0;
    }
    if (q <= MOST_COORDINATES)
        return mel_shots_fire(shots, 2 * q, range, err);
    MEL_AUTO_MEMORY double *spare = mel_alloc(2 * k * k, sizeof *spare);
    if (spare == NULL)
        return mel_fail_memory(err, "axes");
    for (size_t i = 0; i < 2 * q; i++)
        shots[i].sure = mel_sure_stretch(range->sure, shots[i].start, spare);
    return MEL_OK;
}

mel_status mel_radius_search(mel_shots *out, const mel_range *range, const mel_radius_options *opt,
                             mel_error *err)
{
    return opt->method == MEL_RADIUS_THESIS ? measure_axes(out, range, err)
                                            : descend_from_starts(out, range, opt, err);
}

mel_status mel_radius_rays(mel_shots *out, const mel_range *range, const mel_radius_options *opt,
                           double wanted, mel_error *err)
{
    const size_t q = range->space->group_size, n = opt->rays;
    TRY(mel_shots_new(out, n, q, err));
    mel_rng rng;
    mel_rng_seed_stream(&rng, opt->seed, 2 + 2 * range->group);
    for (size_t i = 0; i < n; i++) {
        out->shot[i].wanted = wanted;
        mel_rng_sphere(&rng, q, out->shot[i].start);
    }
    return mel_shots_fire(out->shot, n, range, err);
}

/* --- what they say about a radius ----------------------------------------------------------------- */

static void take_thinnest(mel_radius *how, const mel_shots *shots, const mel_range *range)
{
    for (size_t i = 0; i < shots->n; i++) {
        if (!(shots->shot[i].width < how->descent))
            continue;
        how->descent = shots->shot[i].width;
        how->group = range->group;
        memcpy(how->direction, shots->shot[i].normal, range->space->group_size * sizeof *how->direction);
    }
}

/* Algorithm B.1 with both signs: the ball in the hull of what is feasible along every axis. */
static void take_axes(mel_radius *how, const mel_shots *axes, const mel_range *range)
{
    const mel_shot *shots = axes->shot;
    double sum = 0.0;
    for (size_t i = 0; i < axes->n; i += 2) {
        const double shorter = fmin(shots[i].sure, shots[i + 1].sure);
        sum += 1.0 / (shorter * shorter);
    }
    const double radius = 1.0 / sqrt(sum);
    if (!(radius < how->descent))
        return;
    how->descent = radius;
    how->group = range->group;
    /* The facet of the hull that the ball touches, where all axes have their signs positive. */
    for (size_t c = 0; c < range->space->group_size; c++)
        how->direction[c] = radius / fmin(shots[2 * c].sure, shots[2 * c + 1].sure);
}

void mel_radius_take(mel_radius *how, const mel_shots *shots, const mel_range *range,
                     const mel_radius_options *opt)
{
    if (opt->method == MEL_RADIUS_THESIS)
        take_axes(how, shots, range);
    else
        take_thinnest(how, shots, range);
}

/* Rays at random: a check that owes nothing to where the search looked. */
static mel_status check_by_rays(mel_radius *how, const mel_range *range, const mel_radius_options *opt,
                                mel_error *err)
{
    const bool whole = range->space->group_size <= MOST_COORDINATES;
    MEL_AUTO_CLEAR(mel_shots) rays = { 0 };
    const mel_status status = mel_radius_rays(&rays, range, opt, whole ? INFINITY : how->descent, err);
    how->steps += mel_shots_steps(&rays);
    TRY(status);
    for (size_t i = 0; i < rays.n; i++)
        how->rays = fmin(how->rays, rays.shot[i].sure);
    /* By labels the planes that end a ray are not proved. */
    if (opt->method == MEL_RADIUS_INSCRIBED && mel_space_exact(range->space))
        take_thinnest(how, &rays, range);
    return MEL_OK;
}

/* With steps over all rows. */
static mel_status measure_directly(mel_radius *how, const mel_range *whole, const mel_radius_options *opt,
                                   mel_error *err)
{
    mel_range range = *whole;
    MEL_AUTO_CLEAR(mel_shots) shots = { 0 };
    range.to = whole->from + 0.6 * (whole->to - whole->from);
    TRY(mel_radius_search(&shots, &range, opt, err));
    if (opt->method == MEL_RADIUS_INSCRIBED)
        TRY(mel_shots_confirm(shots.shot, shots.n, &range, err));
    mel_radius_take(how, &shots, &range, opt);
    how->steps += mel_shots_steps(&shots);
    range.from = range.to;
    range.to = whole->to;
    return opt->rays > 0 ? check_by_rays(how, &range, opt, err) : MEL_OK;
}

/* --- all groups --------------------------------------------------------------------------------- */

static mel_status measure_group(mel_radius *how, const mel_space *space, size_t group,
                                const mel_some_rows *some, mel_halt *halt, const mel_radius_options *opt,
                                mel_error *err)
{
    const size_t q = space->group_size;
    const double groups = (double)space->n_groups;
    MEL_AUTO_CLEAR(mel_sure) sure = { 0 };
    TRY(mel_sure_init(&sure, space, group, err));
    const mel_range range = { .space = space,
                              .group = group,
                              .sure = &sure,
                              .budget = 1000 + 100 * (uint64_t)(q < MOST_COORDINATES ? q : 0),
                              .halt = halt,
                              .from = (double)group / groups,
                              .to = (double)(group + 1) / groups };
    how->certified = fmin(how->certified, sure.radius);
    return some->space != NULL ? mel_radius_by_sample(how, &range, some, opt, err)
                               : measure_directly(how, &range, opt, err);
}

static mel_status measure_all_groups(mel_radius *how, const mel_space *space, const mel_radius_options *opt,
                                     mel_error *err)
{
    enum { WORTH = 4 }; /* as many rows as are searched, at least */
    MEL_AUTO_CLEAR(mel_some_rows) some = { 0 };
    how->direction = mel_alloc_zero(space->group_size, sizeof *how->direction);
    if (how->direction == NULL)
        return mel_fail_memory(err, "a radius");
    how->descent = how->rays = how->certified = how->inner = INFINITY;
    how->group = SIZE_MAX;
    /* In more coordinates steps in the hull cost too much. */
    if (opt->sample_rows > 0 && space->n_rows / WORTH > opt->sample_rows &&
        space->group_size <= MOST_COORDINATES)
        TRY(mel_some_rows_take(&some, space, opt->sample_rows, opt->seed, err));
    mel_halt halt = { .progress = &opt->progress,
                      .what = "measuring a radius",
                      .every = mel_steps_unasked(some.space != NULL ? some.space : space) };
    for (size_t g = 0; g < space->n_groups; g++)
        TRY(measure_group(how, space, g, &some, &halt, opt, err));
    if (some.space == NULL)
        how->passes = how->steps;
    return mel_halt_report(&halt, 1.0, err);
}

static mel_status check(mel_radius_options *out, const mel_space *space, const mel_radius_options *opt,
                        mel_error *err)
{
    mel_radius_options_init(out);
    TRY(mel_options_take(out, sizeof *out, opt, "radius options", err));
    if (out->method != MEL_RADIUS_INSCRIBED && out->method != MEL_RADIUS_THESIS)
        return mel_fail(err, MEL_EINVAL, "%d is not a way to find a radius", (int)out->method);
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
    MEL_AUTO_CLEAR(mel_radius) found = { 0 };
    MEL_AUTO_MEMORY double *centre = mel_alloc(space->size, sizeof *centre);
    mel_radius_options options;
    *out = NULL;
    if (how != NULL)
        *how = found;
    TRY(check(&options, space, opt, err));
    if (centre == NULL)
        return mel_fail_memory(err, "a ball");
    mel_blas_hold();
    const mel_status status = measure_all_groups(&found, space, &options, err);
    mel_blas_release();
    TRY(status);
    found.radius = fmin(fmin(found.descent, found.rays), found.inner);
    if (options.method == MEL_RADIUS_INSCRIBED)
        found.radius = fmax(found.radius, found.certified);
    TRY(refuse_if_flat(&found, space, err));
    mel_space_centre(centre, space);
    TRY(mel_ball_make(out, &space->layout, found.radius, centre, space->class_share, space->prevalence, err));
    if (how != NULL) {
        *how = found;
        found = (mel_radius){ 0 };
    }
    return MEL_OK;
}
