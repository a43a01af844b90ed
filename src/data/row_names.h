/* Names of rows, which say how files that belong together row by row fit together. */
#ifndef MEL_DATA_ROW_NAMES_H
#define MEL_DATA_ROW_NAMES_H

#include "data/table.h"

/* A hash of a row's name, the same in every process. */
uint64_t mel_row_name(const char *text, size_t n);
/* Compares the rows of a table, read from n_files files, with those of the files that were read before, and
 * puts them into their order where names say that it is another one; `shards` remembers the first names.
 * NULL: the table is on its own. */
mel_status mel_match_rows(mel_table **table, mel_shards *shards, size_t n_files, const char *path,
                          mel_error *err);

#endif
