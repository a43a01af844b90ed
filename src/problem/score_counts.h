/* Rows of two classes by score, as the files of this room see them. */
#ifndef MEL_PROBLEM_SCORE_COUNTS_H
#define MEL_PROBLEM_SCORE_COUNTS_H

#include "base/internal.h"
#include "melicit/problem.h"

/* Scores s are counted in cells of (c / MEL_SCORE_CELLS, (c + 1) / MEL_SCORE_CELLS], the first one with 0.
 * All are of one width, a power of two, and a threshold half-way between the middles of two of them is an
 * edge or in an empty one: no cell is cut, so that what is said of a threshold is exact. */
enum { MEL_SCORE_CELLS = 1 << 20 };

typedef struct {
    uint64_t key; /* group * MEL_SCORE_CELLS + cell */
    uint64_t rows[2];
} mel_count_cell;

struct mel_score_counts {
    char **class_name; /* 2 */
    size_t n_groups;   /* 0: rows have none */
    char **group_name; /* in the order of their bytes */
    size_t n_files;
    char **file; /* in the order of their bytes */
    size_t n;
    mel_count_cell *cell; /* by key; none is empty */
};

/* Without cells and files; NULL when memory runs out. */
mel_score_counts *mel_score_counts_new(const char *const *class_name, size_t n_groups, const char *const *group_name);
/* One more name, at its place. MEL_EDATA where it is there already. */
mel_status mel_score_counts_add_file(mel_score_counts *counts, const char *file, mel_error *err);

#endif
