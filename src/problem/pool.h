/* Pools of classifiers: the numbers of a file, what its columns mean, and the confusion matrices they give.
 */
#ifndef MEL_PROBLEM_POOL_H
#define MEL_PROBLEM_POOL_H

#include "problem/problem.h"

/* How far numbers that were rounded may contradict each other. */
#define MEL_POOL_ROUNDING 1e-3

/* A file of a pool as a row of numbers per classifier, whatever its form was. */
typedef struct {
    char *file; /* in messages */
    size_t n, n_columns;
    char **classifier, **column; /* names */
    double *value;               /* n x n_columns; NaN: missing, or a text */
    bool *text;                  /* of each column: it holds texts, as that of the names does */
    bool named;                  /* the columns have names of their own */
    bool array;                  /* NPY: columns are in the order of the layout, */
    size_t matrix;               /* or those of k x k matrices, row by row; 0: they are not */
} mel_pool_sheet;
/* The file behind an option, as mel_input_table_named reads it. */
mel_status mel_pool_sheet_read(mel_pool_sheet *out, const char *key, const char *given,
                               const mel_resources *resources, size_t n_names, const char *const *name,
                               const mel_read_options *read, mel_error *err);
void mel_pool_sheet_clear(mel_pool_sheet *sheet);
mel_status mel_pool_of_sheet(mel_pool *out, const mel_pool_sheet *sheet, const mel_pool_about *about,
                             mel_error *err);

/* --- what columns mean (pool_columns.c) --------------------------------------------------------- */

typedef enum {
    MEL_COLUMN_NAME,    /* of the classifier */
    MEL_COLUMN_ENTRY,   /* an entry of the matrix, in the layout's kind or a count */
    MEL_COLUMN_SHARE,   /* an entry as a share of all rows, or a count */
    MEL_COLUMN_FORMULA, /* two classes: another number of the entries */
    MEL_COLUMN_TOTAL    /* how many rows there are */
} mel_pool_column_kind;
/* A number of two classes: a sum of TN, FP, FN, TP over another one. */
typedef struct {
    const char *name;
    double part[4], whole[4];
} mel_pool_formula;
typedef struct {
    mel_pool_column_kind kind;
    size_t group, truth, said; /* 0-based; group 0 also where there are none */
    const mel_pool_formula *formula;
} mel_pool_column;
/* One for each column of the sheet. */
mel_status mel_pool_columns(mel_pool_column *out, const mel_pool_sheet *sheet, const mel_pool_about *about,
                            mel_error *err);
/* The number of two classes that a column may be called after, in any case: tp, recall, ...; NULL: none. */
const mel_pool_formula *mel_pool_formula_of(const char *name);

/* Texts, each once. */
typedef struct {
    char **name;
    size_t n, capacity;
} mel_name_set;
mel_status mel_name_set_add(mel_name_set *set, const char *text, size_t length, mel_error *err);
/* Puts them into the order of class names. */
mel_status mel_name_set_sort(mel_name_set *set, mel_error *err);

/* What the names of columns say. */
typedef struct {
    mel_name_set classes, groups;
    bool entries; /* "true>predicted" */
    bool words;   /* tp, recall, ... */
} mel_pool_header;
/* Takes in the name of one column, without its group. */
mel_status mel_pool_header_name(mel_pool_header *out, const char *name, const char *file, mel_error *err);
void mel_pool_header_clear(mel_pool_header *header);

#endif
