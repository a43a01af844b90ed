/* What it takes to cast rays at the set of one group. */
#include "space/ray_caster.h"

#include <stdlib.h>

void mel_ray_caster_clear(mel_ray_caster *caster)
{
    mel_group_set_clear(&caster->set);
    mel_corral_free(caster->corral);
    free(caster->ray);
    free(caster->normal);
    free(caster->spare);
    *caster = (mel_ray_caster){ 0 };
}

mel_status mel_ray_caster_init(mel_ray_caster *out, const mel_space *space, size_t group, size_t column,
                               bool search, mel_error *err)
{
    *out = (mel_ray_caster){ 0 };
    mel_status status = mel_group_set_init(&out->set, space, group, column, false, search, err);
    if (status == MEL_OK)
        status = mel_corral_new(&out->corral, out->set.set.dim, 0, err);
    if (status != MEL_OK)
        return status;
    const size_t dim = out->set.set.dim;
    out->ray = mel_alloc(dim, sizeof *out->ray);
    out->normal = mel_alloc(dim, sizeof *out->normal);
    out->spare = mel_alloc(3 * dim, sizeof *out->spare);
    return out->ray != NULL && out->normal != NULL && out->spare != NULL ? MEL_OK
                                                                         : mel_fail_memory(err, "a ray");
}
