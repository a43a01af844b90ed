/* Sums over rows that are from several files and, of several ranks, with the rank that read the file: made
 * file by file, added up in the order of files (base/reduce.h). For one list of files all ranks and any
 * number of them have the same bits; rows of one file are added one after the other. */
#ifndef MEL_DATA_ROW_SUMS_H
#define MEL_DATA_ROW_SUMS_H

#include "base/internal.h"
#include "melicit/data.h"

/* Files of rows, at least 1, whether ranks have rows of their own, and where those of file s begin among the
 * n_rows that are here. shards NULL or without files: one file. */
size_t mel_row_files(const mel_shards *shards);
bool mel_rows_divided(const mel_shards *shards);
size_t mel_row_file_start(const mel_shards *shards, size_t n_rows, size_t file);
/* Rows of all ranks. */
size_t mel_rows_of_all(const mel_shards *shards, size_t n_rows);
/* The place of a row that is here among those of all ranks. */
size_t mel_row_place(const mel_shards *shards, size_t row);

typedef struct {
    size_t n_rows;            /* that are here */
    const mel_shards *shards; /* NULL: one file */
    size_t size;              /* numbers to sum up */
    /* Adds rows from .. to; of several files by one thread after the other. */
    void (*add)(double *sum, size_t from, size_t to, const void *user);
    const void *user;
} mel_row_sums;
/* Adds the rows of all ranks to `sum`, which all of them have. */
mel_status mel_rows_sum(double *sum, const mel_row_sums *rows, mel_error *err);

/* Rows that are cut into slices within files, for passes by several threads: slices are in the order of
 * ranks, and rows from[p] .. to[p] are those of place p where its rank is this one. */
typedef struct {
    size_t n_slices, n_rows; /* of all ranks */
    size_t *place;           /* of each slice, in the order of files */
    size_t *from, *to;       /* by place */
    size_t *first;           /* where the slices of each rank begin; NULL: each rank has all rows */
} mel_row_slices;
/* rows: of each file, with whatever rank it is; begin: where its rows begin here. A file has a slice for
 * each slice_rows and one more; all together have at most `most`, or one for each file. */
mel_status mel_row_slices_make(mel_row_slices *out, size_t n_files, const size_t *rows, const size_t *begin,
                               bool divided, size_t slice_rows, size_t most, mel_error *err);
void mel_row_slices_clear(mel_row_slices *slices);

#endif
