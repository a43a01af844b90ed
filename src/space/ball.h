/* What the files of this room know about a ball. */
#ifndef MEL_SPACE_BALL_H
#define MEL_SPACE_BALL_H

#include "base/internal.h"
#include "melicit/space.h"

struct mel_ball {
    mel_layout layout;
    size_t size, group_size;
    double radius;
    double *centre;      /* group_size */
    double *class_share; /* k; NULL: unknown */
    double *prevalence;  /* n_groups x k; NULL without groups */
};

/* Copies everything; class_share and prevalence may be NULL. Nothing is checked. */
mel_status mel_ball_make(mel_ball **out, const mel_layout *layout, double radius, const double *centre,
                         const double *class_share, const double *prevalence, mel_error *err);

#endif
