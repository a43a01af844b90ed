/* What it takes to shoot rays from the centre of a group's set: the set, atoms that were met, room. */
#ifndef MEL_SPACE_GUN_H
#define MEL_SPACE_GUN_H

#include "space/feasible.h"

typedef struct {
    mel_group_set set; /* without tags */
    mel_corral *corral;
    double *ray, *normal; /* as many numbers as the set has dimensions */
    double *spare;        /* as mel_set_stretch wants it */
} mel_gun;

/* column, search: as mel_group_set_init takes them. To be freed with mel_gun_clear also after a failure. */
mel_status mel_gun_init(mel_gun *out, const mel_space *space, size_t group, size_t column, bool search,
                        mel_error *err);
void mel_gun_clear(mel_gun *gun);

#endif
