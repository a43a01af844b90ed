/* What some rules, measured on all rows of a group, achieve for sure: a space of its own, whose steps cost no
 * pass over the rows.
 *
 * It is the hull of what the rules achieve with their predictions exchanged in any way (again plug-in rules:
 * the columns of their gains exchanged) and of the constant rules. */
#ifndef MEL_SPACE_HULL_H
#define MEL_SPACE_HULL_H

#include "space/space.h"

/* The hull of the constant rules of one group, with room for `room` more. It has no groups itself and needs
 * `of` no more. To be freed with mel_space_free. */
mel_status mel_hull_new(mel_space **out, const mel_space *of, size_t group, size_t room, mel_error *err);
/* Adds what a rule achieves in the group (k x k confusion entries). There is room. */
void mel_hull_add(mel_space *hull, const double *confusion);

#endif
