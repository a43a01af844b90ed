/* A space measured on rows. */
#ifndef MEL_SPACE_SAMPLE_H
#define MEL_SPACE_SAMPLE_H

#include "space/space.h"

/* Rows of one group that one thread adds up; how rows are cut into slices depends on their number alone. */
typedef struct {
    size_t group;
    size_t first, n; /* positions in the order of groups */
} mel_slice;

typedef struct {
    mel_sample rows; /* lent */
    uint32_t *order; /* positions of rows by group; NULL without groups: as they are */
    mel_slice *slice;
    size_t *group_slice; /* n_groups + 1: the slices of group g are group_slice[g]..group_slice[g + 1] */
} mel_class_rows;

/* The order of rows, and the slices. */
mel_status mel_class_rows_arrange(mel_class_rows *rows, size_t n_groups, mel_error *err);

/* Sums over slices, `size` numbers of each, which are added to those of its group in the order of slices. */
typedef struct {
    const mel_slice *slice;
    size_t n, size;
    int threads;
    /* Sets the numbers of a slice; `thread` is below `threads`. */
    void (*fill)(double *sum, const mel_slice *slice, size_t thread, void *user);
    void *user;
} mel_slice_sums;

/* Slices whose sums are in memory at a time. */
size_t mel_slices_at_a_time(size_t n, size_t size);
/* out: `size` numbers of each group from `first_group` on, zeros before. room: `size` for each slice that is
 * summed up at a time. */
void mel_slices_sum(double *out, size_t first_group, const mel_class_rows *rows, const mel_slice_sums *sums,
                    double *room);

#endif
