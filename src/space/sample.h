/* A space measured on rows. */
#ifndef MEL_SPACE_SAMPLE_H
#define MEL_SPACE_SAMPLE_H

#include "space/space.h"

/* Rows that one thread adds up; how rows are cut into slices depends on their number alone. */
typedef struct {
    size_t group, first, n; /* positions in the order of groups */
} mel_slice;

typedef struct {
    mel_sample rows; /* lent arrays */
    uint32_t *order; /* rows by group; NULL without groups: as they are */
    mel_slice *slice;
    size_t *group_slice; /* n_groups + 1: the slices of group g are group_slice[g]..group_slice[g + 1] */
} mel_class_rows;

extern const mel_space_ops mel_sample_ops;

#endif
