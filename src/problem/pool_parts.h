/* A pool being read: from the numbers of a row of its file to a confusion matrix. */
#ifndef MEL_PROBLEM_POOL_PARTS_H
#define MEL_PROBLEM_POOL_PARTS_H

#include "problem/pool.h"

typedef struct {
    const mel_table *table;
    const mel_pool_about *about;
    size_t n_columns, k, m; /* columns, classes, groups (1 where there are none) */
    mel_pool_column *column;
    bool counts; /* entries are counts of rows */
} mel_pool_reading;

/* The k x k entries per group of one classifier, NaN where they are not known, as shares of all rows or as
 * rates. */
typedef struct {
    double *entry;
    bool shares;
    /* Of counts: how many rows of each class in each group, NaN where that is not known; and of all of them,
     * or of each group where the layout asks for rates. */
    double *rows, *total;
} mel_pool_matrix;

static inline const char *mel_pool_file(const mel_pool_reading *r)
{
    return mel_table_name(r->table);
}

static inline double mel_pool_number(const mel_pool_reading *r, size_t column, size_t row)
{
    return mel_table_numbers(r->table, column)[row];
}

static inline bool mel_pool_is_entry(mel_pool_column_kind kind)
{
    return kind == MEL_COLUMN_ENTRY || kind == MEL_COLUMN_SHARE;
}

static inline double *mel_pool_entry(const mel_pool_reading *r, const mel_pool_matrix *x,
                                     const mel_pool_column *c)
{
    return &x->entry[(c->group * r->k + c->truth) * r->k + c->said];
}

/* Whether the numbers are shares or counts, and each of them can be. */
mel_status mel_pool_check_cells(mel_pool_reading *r, mel_error *err);
/* The entries that the columns of a row give, and how many rows they are of. */
mel_status mel_pool_fill_matrix(mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err);
/* Two classes: the four entries of one group, in the layout's kind, and the share of positives, by all that
 * the columns say. */
mel_status mel_pool_solve_two(mel_pool_matrix *x, double *positives, const mel_pool_reading *r, size_t group,
                              size_t row, mel_error *err);
/* More classes: checks the entries, and turns them into rates where the layout asks for those. */
mel_status mel_pool_settle_matrix(mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err);

#endif
