/* A table as bytes, for another process of the same program. */
#ifndef MEL_DATA_TABLE_BYTES_H
#define MEL_DATA_TABLE_BYTES_H

#include "data/table.h"

/* *bytes is for free(). Without rows it is a table of the same columns, types and texts. */
mel_status mel_table_to_bytes(char **bytes, size_t *n, const mel_table *table, bool with_rows,
                              mel_error *err);
mel_status mel_table_of_bytes(mel_table **out, const char *bytes, mel_error *err);

#endif
