/* NPY files that do not fit in memory, block by block. */
#ifndef MEL_DATA_NPY_ROWS_H
#define MEL_DATA_NPY_ROWS_H

#include "data/shared.h"

/* Each block of rows is taken as a table, whose rows have their numbers among those of all files. */
typedef struct {
    size_t n_columns;   /* that the files must have */
    size_t block_bytes; /* of a block, about */
    mel_status (*take)(void *user, const mel_table *block, mel_error *err);
    void *user;
} mel_row_taker;

/* The rows of all files of a pattern that are to be here: those of opt->shards, which other files of these
 * rows have told. *taken: false when the files are not all plain NPY files of numbers with these rows;
 * nothing was read then, and reading them as a whole says what is wrong, if anything is. */
mel_status mel_read_pattern_rows(bool *taken, const char *pattern, const mel_read_options *opt,
                                 const mel_row_taker *taker, mel_error *err);

#endif
