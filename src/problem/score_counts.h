/* Rows of two classes by score, as the files of this room see them. */
#ifndef MEL_PROBLEM_SCORE_COUNTS_H
#define MEL_PROBLEM_SCORE_COUNTS_H

#include "base/internal.h"
#include "melicit/problem.h"

/* Cell c has the scores above edge c, which is c / MEL_SCORE_CELLS + mel_score_shift, up to edge c + 1. All
 * are of one width, and a threshold half-way between the middles of two of them is an edge or in an empty
 * one: no cell is cut, so that what is said of a threshold is exact. The shift keeps edges off the scores
 * that are common, such as 0.5, which some rules take as above a threshold that they equal and some as below.
 * Edges and middles are sums of few powers of two: nothing is rounded. Scores up to the first edge and less
 * than the shift from 1 are certain, and have places of their own, before the first cell and behind the last.
 */
enum { MEL_SCORE_CELLS = 1 << 20, MEL_SCORE_PLACES = MEL_SCORE_CELLS + 2 };
static const double mel_score_shift = 1.0 / ((double)MEL_SCORE_CELLS * MEL_SCORE_CELLS);

typedef struct {
    uint64_t key; /* group * MEL_SCORE_PLACES + place */
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
mel_score_counts *mel_score_counts_new(const char *const *class_name, size_t n_groups,
                                       const char *const *group_name);
/* One more name, at its place. MEL_EDATA where it is there already. */
mel_status mel_score_counts_add_file(mel_score_counts *counts, const char *file, mel_error *err);
/* Rows of a problem that has none yet, each with the number of rows that it stands for as its weight. */
mel_status mel_score_counts_rows_of(mel_problem *problem, const mel_score_counts *counts, mel_error *err);
/* As n bytes, for free(), and of such bytes again: for other ranks of the same program. */
mel_status mel_score_counts_pack(char **bytes, size_t *n, const mel_score_counts *counts, mel_error *err);
mel_status mel_score_counts_unpack(mel_score_counts **out, const char *bytes, mel_error *err);

#endif
