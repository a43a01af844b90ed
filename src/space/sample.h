/* A space measured on rows. */
#ifndef MEL_SPACE_SAMPLE_H
#define MEL_SPACE_SAMPLE_H

#include "base/team.h"
#include "space/space.h"

/* Rows of one group and file that one thread adds up; how rows are cut into slices depends on their number
 * and on their files alone. */
typedef struct {
    size_t group, file;
    size_t first, n; /* positions in the order of groups, where the file is here */
} mel_slice;

/* What rank 0 asks of the others where it goes on alone (space/crew.h). */
typedef enum {
    MEL_CREW_END,
    MEL_CREW_STEP,   /* in groups first .. first + n; numbers: their gains */
    MEL_CREW_MOMENT, /* of group `first` (space/feasible.h) */
    MEL_CREW_SWAP,   /* of classes one and two in group `first`; numbers: its gains */
    MEL_CREW_SOME,   /* about n rows, drawn with `seed` */
    MEL_CREW_PAIR,   /* scores of classes one and two */
    MEL_CREW_WHOLE   /* all probabilities */
} mel_crew_what;
typedef struct {
    mel_crew_what what;
    size_t first, n, one, two;
    uint64_t seed;
    double factor;
    const double *number; /* lent */
    size_t n_numbers;
} mel_crew_task;

typedef struct {
    mel_sample all;  /* lent; where files are divided its probabilities are those of `rows` */
    mel_sample rows; /* those that are here: all, or those of this rank's files */
    bool divided;    /* file s is with rank s % ranks of `team`, and each step is one of all ranks */
    const mel_team *team;
    bool leads;       /* the other ranks do what this one asks for */
    double *exchange; /* room for exchanges, where files are divided */
    size_t *exchange_first;
    uint32_t *own_label; /* of rows, where files are divided */
    double *whole;       /* all probabilities, once a search has asked for them, or where rows are few */
    bool has_whole;
    uint32_t *order; /* positions of rows by group; NULL without groups: as they are */
    mel_slice *slice;
    size_t *group_slice; /* n_groups + 1: the slices of group g are group_slice[g]..group_slice[g + 1] */
} mel_class_rows;

extern const mel_space_ops mel_sample_ops;

size_t mel_class_rows_files(const mel_class_rows *rows);
/* Where a file begins among all rows, and among those that are here. */
size_t mel_class_rows_start(const mel_class_rows *rows, size_t file);
size_t mel_class_rows_here(const mel_class_rows *rows, size_t file);
/* Rows of a group, here or not. */
size_t mel_class_rows_of_group(const mel_class_rows *rows, size_t group);

/* Labels of the rows that are here, their order, and the slices. */
mel_status mel_class_rows_arrange(mel_class_rows *rows, size_t n_groups, mel_error *err);

/* Sums over slices, `size` numbers of each, which are added to those of its group in the order of slices. */
typedef struct {
    const mel_slice *slice;
    size_t n, size;
    int threads;
    /* Sets the numbers of a slice; `thread` is below `threads`. */
    void (*fill)(double *sum, const mel_slice *slice, size_t thread, void *user);
    void *user;
    mel_crew_task task; /* that the other ranks are called for */
} mel_slice_sums;

/* Memory of the sums of as many slices as are made at a time. */
typedef struct {
    size_t room;
    double *sum;
    size_t *at, *place, *first; /* which slice is where, in the order of ranks, and where those begin */
} mel_sum_room;
size_t mel_sum_room_bytes(const mel_class_rows *rows, size_t n, size_t size);
void mel_sum_room_place(mel_sum_room *out, void *memory, size_t n, size_t size);

/* out: `size` numbers of each group from `first_group` on, zeros before. */
void mel_slices_sum(double *out, size_t first_group, const mel_class_rows *rows, const mel_slice_sums *sums,
                    const mel_sum_room *room);
/* The same where the rows of a file are added up one after the other, those of one group. `fill` and `user`
 * as above; out: `size` numbers. */
mel_status mel_files_sum(double *out, const mel_class_rows *rows, size_t group, const mel_slice_sums *sums,
                         mel_error *err);

#endif
