/* What a table is made of; readers fill it, the rest of the room reads it. */
#ifndef MEL_DATA_TABLE_H
#define MEL_DATA_TABLE_H

#include "melicit/data.h"

#include "data/dict.h"

typedef struct {
    mel_column_type type; /* NUMBER or TEXT once the table is finished */
    double *numbers;
    uint32_t *codes;
    mel_dict *dict; /* categories of a text column */
} mel_column;

/* Features of a LIBSVM file, compressed rows. */
typedef struct {
    size_t n_features;
    size_t *row_start;
    uint32_t *col;
    double *value;
} mel_sparse;

struct mel_table {
    char *name;
    size_t n_rows, n_columns;
    mel_dict *names; /* code = column */
    mel_column *column;
    mel_format format; /* what the file was; AUTO: not from a file */
    size_t first_row; /* number of row 0 in the file, as messages count */
    size_t *origin;   /* taken rows: the number of each; else NULL */
    bool is_sparse;
    mel_sparse sparse;
};

/* A table of n columns without cells; takes a hold on names. NULL when memory runs out. */
mel_table *mel_table_new(const char *name, mel_dict *names, size_t n_columns);
/* Names c1, c2, ... for files without a header; NULL when memory runs out. */
mel_dict *mel_column_numbers(size_t n);

/* The column of that name, or MEL_EDATA with the file and the name. */
mel_status mel_table_need(size_t *column, const mel_table *table, const char *name, mel_error *err);

#endif
