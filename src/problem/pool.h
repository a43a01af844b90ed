/* What the columns of a pool of classifiers mean, and reading one of them from any input. */
#ifndef MEL_PROBLEM_POOL_H
#define MEL_PROBLEM_POOL_H

#include "problem/files.h"
#include "problem/shared.h"

/* How far numbers that were rounded may contradict each other. */
#define MEL_POOL_ROUNDING 1e-3

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
/* One for each column of the table. */
mel_status mel_pool_columns(mel_pool_column *out, const mel_table *table, const mel_pool_about *about,
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

/* A table of columns "name", "true" and the predicted classes, with a row for each true class of each
 * classifier, becomes one of columns "true>predicted"; others stay as they are. */
mel_status mel_pool_widen(mel_table **table, mel_error *err);

/* The table with one row per classifier, for what its header says about classes. */
mel_status mel_pool_table(mel_table **out, const mel_input *input, size_t n_names, const char *const *name,
                          const mel_read_options *read, mel_error *err);
/* The table of a file whose header may have the names of `about`. */
mel_status mel_pool_open(mel_table **out, const char *path, const mel_pool_about *about,
                         const mel_read_options *read, mel_error *err);
mel_status mel_pool_of_table(mel_pool *out, const mel_table *table, const mel_pool_about *about,
                             mel_error *err);

#endif
