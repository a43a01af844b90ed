/* Looking for the direction in which the set of a group is thinnest. */
#ifndef MEL_SPACE_RADIUS_H
#define MEL_SPACE_RADIUS_H

#include "space/feasible.h"

/* A ray to cast from the centre and what came of it. */
typedef struct {
    size_t column;  /* of the set (feasible.h) */
    bool follow;    /* go on along the normal where the ray ends, as long as that makes the set thinner */
    double wanted;  /* stop when so much of the ray is surely in the set */
    double *start;  /* of unit length, in coordinates of the set; the caller's, group_size numbers */
    double sure;    /* so much of the ray is in the set (the last ray, where normals are followed) */
    double width;   /* support in the direction of `normal` */
    double *normal; /* in coordinates of the group, of unit length; the caller's */
    uint64_t steps;
} mel_shot;

/* What all shots at a set have in common. */
typedef struct {
    const mel_space *space;
    size_t group;
    const mel_hull *hull; /* the set is that of these rules; NULL: of the rows */
    const mel_sure *sure;
    uint64_t budget; /* steps of one ray */
    size_t n_known;  /* statistics that steps are to find too (feasible.h) */
    const double *known;
    mel_halt *halt;
    double from, to; /* share of the whole work that is done before and after */
} mel_range;

typedef struct {
    size_t n;
    mel_shot *shot;
    uint64_t aiming; /* steps that it took to aim */
} mel_shots;

/* n shots with normals and starts to be filled in. To be freed with mel_shots_clear. */
mel_status mel_shots_new(mel_shots *out, size_t n, size_t group_size, mel_error *err);
void mel_shots_clear(mel_shots *shots);
uint64_t mel_shots_steps(const mel_shots *shots); /* of all, with those that it took to aim */
/* Fires them all, on the threads of the space; results do not depend on their number. */
mel_status mel_shots_fire(mel_shot *shots, size_t n, const mel_range *range, mel_error *err);

/* Labels: tries harder to find rules that go further along the normals of the thinnest shots, and fires these
 * again when it finds some, until the thinnest shot stands. Exact spaces: does nothing. */
mel_status mel_shots_confirm(mel_shot *shots, size_t n, const mel_range *range, mel_error *err);

/* The n simplest directions in which the set is thin, as starts of shots: out of those that favour or shun
 * the prediction of one class where one or two classes are the true ones. The best of every column before a
 * second one. steps
 * += what it took. */
mel_status mel_shots_aim(mel_shot *shots, size_t n, const mel_range *range, uint64_t *steps, mel_error *err);

/* --- radii -------------------------------------------------------------------------------------- */

/* The shots of a method: descents, or the axes. Cleared by the caller also after a failure, as those below.
 */
mel_status mel_radius_search(mel_shots *out, const mel_range *range, const mel_radius_options *opt,
                             mel_error *err);
/* Random rays, followed until so much of them is sure. */
mel_status mel_radius_rays(mel_shots *out, const mel_range *range, const mel_radius_options *opt,
                           double wanted, mel_error *err);
/* how->descent by the shots of the method, with its direction and the group of the range, when it is smaller.
 */
void mel_radius_take(mel_radius *how, const mel_shots *shots, const mel_range *range,
                     const mel_radius_options *opt);

/* Searches some rows of the range's group, proves what it finds on all of them, or makes it smaller. */
mel_status mel_radius_by_sample(mel_radius *how, const mel_range *range, const mel_some_rows *some,
                                const mel_radius_options *opt, mel_error *err);

#endif
