/* What the columns of a pool of classifiers mean, and reading one of them from any input. */
#ifndef MEL_PROBLEM_POOL_H
#define MEL_PROBLEM_POOL_H

#include "problem/files.h"
#include "problem/shared.h"

typedef enum {
    MEL_COLUMN_NAME,       /* of the classifier */
    MEL_COLUMN_ENTRY,      /* an entry of the matrix, in the layout's kind or a count */
    MEL_COLUMN_SHARE,      /* an entry as a share of all rows, or a count */
    MEL_COLUMN_RATE,       /* an entry as a share of its true class */
    MEL_COLUMN_PRECISION,  /* two classes */
    MEL_COLUMN_PREVALENCE, /* two classes */
    MEL_COLUMN_TOTAL       /* how many rows there are */
} mel_pool_column_kind;
typedef struct {
    mel_pool_column_kind kind;
    size_t group, truth, said; /* 0-based; group 0 also where there are none */
} mel_pool_column;
/* One for each column of the table. */
mel_status mel_pool_columns(mel_pool_column *out, const mel_table *table, const mel_pool_about *about,
                            mel_error *err);
/* Whether a column of two classes may be called so: tp, recall, ... */
bool mel_pool_is_word(const char *name);

/* The table as it is, for what its header says about classes. */
mel_status mel_pool_table(mel_table **out, const mel_input *input, size_t n_names, const char *const *name,
                          const mel_read_options *read, mel_error *err);
mel_status mel_pool_of_table(mel_pool *out, const mel_table *table, const mel_pool_about *about,
                             mel_error *err);

#endif
