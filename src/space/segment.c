/* How far a set goes along a ray, and segments through the centre. */
#include "space/minnorm.h"
#include "space/ray_caster.h"

#include "base/la.h"
#include "space/shared.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- along a ray -------------------------------------------------------------------------------- */

enum { PATIENCE = 12 }; /* rounds without progress */

/* If o + t u + e and the ball around o are in a convex set, so is o + t u ball/(ball + |e|). */
static double sure_part(const mel_ray *how, double length, double error)
{
    if (how->inside > 0.0)
        return length * how->inside / (how->inside + error);
    return error <= fmax(how->near, how->precise * length) ? length : 0.0;
}

/* Cuts the ray at the plane that the linear step finds in a direction; keeps the shortest cut. */
static bool cut(mel_stretch *found, const mel_corral *corral, const mel_ray *how, const double *direction,
                double width)
{
    const double slope = mel_dot(corral->dim, direction, how->ray);
    if (!(slope > 0.0) || !(width < found->longest * slope * (1.0 - 4.0 * DBL_EPSILON)))
        return false;
    found->longest = fmax(width, 0.0) / slope;
    found->width = width;
    memcpy(found->normal, direction, corral->dim * sizeof *direction);
    return true;
}

/* The end stands unless trying harder finds something beyond the plane that makes it; then the plane is moved
 * there. */
static bool move_end(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how, double *spare)
{
    const double further = 1e-3; /* less is not worth it */
    const size_t dim = set->dim;
    double *target = spare, *atom = spare + 2 * dim, *tag = spare + 3 * dim, best = found->width;
    if (set->search == NULL || !(found->width > 0.0) ||
        !set->search(set->self, atom, tag, found->normal, found->width, found->width * (1.0 + further),
                     &best))
        return false;
    const double longer = best / mel_dot(dim, found->normal, how->ray);
    for (size_t i = 0; i < dim; i++)
        target[i] = longer * how->ray[i];
    (void)mel_corral_approach(corral, target); /* makes room when the old end was inside a full simplex */
    if (!mel_corral_add(corral, atom, tag))
        return false;
    found->longest = longer;
    found->width = best;
    return true;
}

/* One round toward the end of the ray as it is now: false when the set says no more about it. */
static bool approach_end(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how,
                         double *spare)
{
    const size_t dim = set->dim;
    double *target = spare, *direction = spare + dim, *atom = spare + 2 * dim, *tag = spare + 3 * dim;
    for (size_t i = 0; i < dim; i++)
        target[i] = found->longest * how->ray[i];
    found->error = mel_corral_approach(corral, target);
    found->sure = fmax(found->sure, sure_part(how, found->longest, found->error));
    if (found->error <= fmax(how->near, how->precise * found->longest) || found->sure >= how->wanted)
        return false;
    for (size_t i = 0; i < dim; i++)
        direction[i] = (target[i] - corral->closest[i]) / found->error;
    mel_set_step(set, atom, tag, direction);
    const double here = mel_dot(dim, direction, corral->closest), there = mel_dot(dim, direction, atom);
    const bool shorter = cut(found, corral, how, direction, fmax(here, there));
    const bool wider = there > here && mel_corral_add(corral, atom, tag);
    return shorter || wider;
}

void mel_set_stretch(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how, double *spare)
{
    enum { MOST_MOVES = 32 };
    const size_t dim = set->dim;
    const uint64_t last = set->steps + how->budget;
    double *atom = spare + 2 * dim, *tag = spare + 3 * dim;
    found->longest = INFINITY;
    found->sure = 0.0;
    mel_set_step(set, atom, tag, how->ray);
    (void)cut(found, corral, how, how->ray, mel_dot(dim, how->ray, atom));
    (void)mel_corral_add(corral, atom, tag);
    for (int move = 0; move <= MOST_MOVES; move++) {
        double shortest = INFINITY;
        for (int idle = 0; idle < PATIENCE && set->steps < last && !mel_set_halted(set);) {
            if (!approach_end(found, set, corral, how, spare))
                break;
            idle = found->error < shortest * (1.0 - 1e-9) ? 0 : idle + 1;
            shortest = fmin(shortest, found->error);
        }
        if (found->sure >= how->wanted || move == MOST_MOVES || mel_set_halted(set) ||
            !move_end(found, set, corral, how, spare))
            return;
    }
}

/* --- of a space --------------------------------------------------------------------------------- */

/* How many times `part` (not zero) can be gone from the centre of a group, for both of its signs. */
static mel_status reach(double *ahead, double *back, const mel_space *space, size_t group, const double *part,
                        double near, mel_error *err)
{
    const size_t q = space->group_size;
    const double length = mel_norm2(q, part);
    mel_sure sure = { 0 };
    mel_ray_caster g;
    mel_status status = mel_ray_caster_init(&g, space, group, MEL_ALL_COLUMNS, true, err);
    if (status == MEL_OK)
        status = mel_sure_init(&sure, space, group, err);
    for (int sign = 1; status == MEL_OK && sign >= -1; sign -= 2) {
        const mel_ray how = { g.ray, sure.radius, near, 0.0, INFINITY, 2000 + 200 * (uint64_t)q };
        mel_stretch found = { .normal = g.normal };
        for (size_t c = 0; c < q; c++)
            g.ray[c] = sign * part[c] / length;
        mel_corral_clear(g.corral);
        mel_set_stretch(&found, &g.set.set, g.corral, &how, g.spare);
        *(sign > 0 ? ahead : back) = (found.error <= near ? found.longest : found.sure) / length;
    }
    mel_sure_clear(&sure);
    mel_ray_caster_clear(&g);
    return status;
}

static mel_status check_segment(const mel_space *space, const double *direction, double delta, mel_error *err)
{
    const double least_delta = 1e-12;
    for (size_t c = 0; c < space->size; c++)
        if (!isfinite(direction[c]))
            return mel_fail(err, MEL_EINVAL, "direction[%zu] is %g, expected a finite number", c,
                            direction[c]);
    if (mel_norm_inf(space->size, direction) == 0.0)
        return mel_fail(err, MEL_EINVAL, "a direction of zeros has no segment");
    if (!(delta >= least_delta) || !isfinite(delta))
        return mel_fail(err, MEL_EINVAL, "delta %g, expected %g or more", delta, least_delta);
    return MEL_OK;
}

mel_status mel_space_segment(double *a, double *b, const mel_space *space, const double *direction,
                             double delta, mel_error *err)
{
    mel_status status = check_segment(space, direction, delta, err);
    if (status != MEL_OK)
        return status;
    const size_t q = space->group_size;
    const double largest = mel_norm_inf(space->size, direction);
    double ahead = INFINITY, back = INFINITY;
    double *unit = mel_alloc(space->size, sizeof *unit);
    if (unit == NULL)
        return mel_fail_memory(err, "a segment");
    for (size_t c = 0; c < space->size; c++)
        unit[c] = direction[c] / largest;
    mel_blas_hold();
    for (size_t g = 0; g < space->n_groups && status == MEL_OK; g++) {
        double one = INFINITY, other = INFINITY;
        if (mel_norm_inf(q, unit + g * q) == 0.0)
            continue;
        status = reach(&one, &other, space, g, unit + g * q, delta / sqrt((double)space->n_groups), err);
        ahead = fmin(ahead, one);
        back = fmin(back, other);
    }
    mel_blas_release();
    if (status == MEL_OK) {
        mel_space_centre(a, space);
        memcpy(b, a, space->size * sizeof *b);
        mel_axpy(space->size, ahead, unit, a);
        mel_axpy(space->size, -back, unit, b);
    }
    free(unit);
    return status;
}
