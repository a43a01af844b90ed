/* What it takes to cast rays from the centre of a group's set: the set, atoms that were met, room. */
#ifndef MEL_SPACE_RAY_CASTER_H
#define MEL_SPACE_RAY_CASTER_H

#include "space/feasible.h"

typedef struct {
    mel_group_set set; /* without tags */
    mel_corral *corral;
    double *ray, *normal; /* as many numbers as the set has dimensions */
    double *spare;        /* as mel_set_stretch wants it */
} mel_ray_caster;

/* column, search: as mel_group_set_init takes them. To be freed with mel_ray_caster_clear also after a
 * failure. */
mel_status mel_ray_caster_init(mel_ray_caster *out, const mel_space *space, size_t group, size_t column,
                               bool search, mel_error *err);
void mel_ray_caster_clear(mel_ray_caster *caster);

#endif
