/* Measures of confusion matrices as black boxes that are to be made large. */
#include "metric/shared.h"
#include "optimise/optimise.h"

static double sign_of(const mel_measure *m)
{
    return mel_measure_orientation(m) == MEL_COST ? -1.0 : 1.0;
}

static mel_status box_value(double *out, void *user, const double *confusion, mel_error *err)
{
    const mel_status status = mel_measure_value(out, user, confusion, err);
    *out *= sign_of(user);
    return status;
}

static mel_status box_gradient(double *out, void *user, const double *confusion, mel_error *err)
{
    const mel_status status = mel_measure_gradient(out, user, confusion, err);
    for (size_t c = 0; c < mel_measure_cells(user); c++)
        out[c] *= sign_of(user);
    return status;
}

mel_black_box mel_measure_box(mel_measure *m, const uint32_t *group)
{
    return (mel_black_box){ .value = box_value,
                            .gradient = mel_measure_has_gradient(m) ? box_gradient : NULL,
                            .user = m,
                            .n_groups = group != NULL ? mel_measure_groups(m) : 0,
                            .group = group };
}
