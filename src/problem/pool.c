/* From the columns of a pool to statistics: shares, counts and rates become what the layout is about. */
#include "problem/pool_parts.h"

#include "base/layout.h"
#include "base/names.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void mel_pool_clear(mel_pool *pool)
{
    mel_names_free(pool->name, pool->n);
    free(pool->value);
    free(pool->positives);
    free(pool->class_rows);
    free(pool->matrix);
    free(pool->rows);
    *pool = (mel_pool){ 0 };
}

bool mel_pool_has_counts(const mel_pool *pool)
{
    const size_t parts = pool->layout.n_classes * (pool->layout.n_groups > 1 ? pool->layout.n_groups : 1);
    for (size_t i = 0; pool->class_rows != NULL && i < pool->n * parts; i++)
        if (isfinite(pool->class_rows[i]))
            return true;
    return false;
}

/* --- all classifiers ------------------------------------------------------------------------------ */

static mel_status refuse_missing(const mel_pool_reading *r, size_t row, size_t group, size_t truth,
                                 size_t said, mel_error *err)
{
    const char *const *name = r->about->class_name;
    const char *before = r->m > 1 ? r->about->group_name[group] : "", *colon = r->m > 1 ? ":" : "";
    if (r->k == 2)
        return mel_fail(
            err, MEL_EDATA,
            "%s: classifier %zu: its columns do not determine %s%sthe %s of \"%s\" called \"%s\"; give tp "
            "and tn, or rates with a prevalence (a column, or --prevalence)",
            mel_pool_file(r), row + 1, before, colon, r->about->layout.kind == MEL_RATES ? "rate" : "share",
            name[truth], name[said]);
    return truth == said ? mel_fail(err, MEL_EDATA,
                                    "%s: no column \"%s%s%s\", the share of right decisions about that class",
                                    mel_pool_file(r), before, colon, name[truth])
                         : mel_fail(err, MEL_EDATA, "%s: no column \"%s%s%s>%s\"", mel_pool_file(r), before,
                                    colon, name[truth], name[said]);
}

/* The layout's coordinates out of the matrix. */
static mel_status take_coordinates(double *out, const mel_pool_matrix *x, const mel_pool_reading *r,
                                   size_t row, mel_error *err)
{
    const mel_coordinates coordinates = r->about->layout.coordinates;
    size_t at = 0;
    for (size_t g = 0; g < r->m; g++)
        for (size_t i = 0; i < r->k; i++)
            for (size_t j = 0; j < r->k; j++) {
                if ((i == j) == (coordinates == MEL_OFFDIAGONAL))
                    continue;
                const size_t truth = coordinates == MEL_BINARY ? 1 - i : i;
                const size_t said = coordinates == MEL_BINARY ? 1 - j : j;
                const double value = x->entry[(g * r->k + truth) * r->k + said];
                if (!isfinite(value))
                    return refuse_missing(r, row, g, truth, said, err);
                out[at++] = value;
            }
    return MEL_OK;
}

/* How many rows there are, by columns n or by counts of everything; NaN: nobody says. */
static double rows_of(const mel_pool_reading *r, size_t row, const double *count)
{
    double said = NAN, sum = 0.0;
    for (size_t c = 0; c < r->n_columns; c++)
        if (r->column[c].kind == MEL_COLUMN_TOTAL)
            said = (isnan(said) ? 0.0 : said) + mel_pool_number(r, c, row);
    for (size_t i = 0; i < r->m * r->k * r->k; i++)
        sum += count[i];
    return !isnan(said) ? said : r->counts ? sum : NAN;
}

/* The confusion matrix: what was counted, or shares of all rows. Of rates alone there is none. */
static void keep_matrix(double *out, double *rows, const mel_pool_matrix *x, const mel_pool_reading *r,
                        size_t row)
{
    const size_t n = r->m * r->k * r->k;
    for (size_t c = 0; c < n; c++)
        out[c] = NAN;
    for (size_t c = 0; c < r->n_columns && r->counts; c++)
        if (mel_pool_is_entry(r->column[c].kind))
            out[(r->column[c].group * r->k + r->column[c].truth) * r->k + r->column[c].said] =
                mel_pool_number(r, c, row);
    *rows = rows_of(r, row, out);
    if (r->about->layout.kind == MEL_CONFUSION)
        for (size_t c = 0; c < n; c++)
            out[c] = x->entry[c] * (isnan(*rows) ? 1.0 : *rows);
}

static mel_status read_row(mel_pool *out, mel_pool_matrix *x, const mel_pool_reading *r, size_t row,
                           mel_error *err)
{
    double *positives = &out->positives[row];
    mel_status status = mel_pool_fill_matrix(x, r, row, err);
    const bool two = r->k == 2 && (r->m == 1 || r->about->layout.kind == MEL_RATES);
    *positives = NAN;
    if (status == MEL_OK && !two)
        status = mel_pool_settle_matrix(x, r, row, err);
    for (size_t g = 0; g < r->m && two && status == MEL_OK; g++)
        status = mel_pool_solve_two(x, positives, r, g, row, err);
    if (status == MEL_OK)
        keep_matrix(out->matrix + row * out->cells, &out->rows[row], x, r, row);
    return status == MEL_OK ? take_coordinates(out->value + row * out->size, x, r, row, err) : status;
}

/* For the caller to free(); NULL when memory runs out. */
static char *name_of(const mel_table *table, size_t row)
{
    size_t column = 0;
    while (column < mel_table_columns(table) && strcasecmp(mel_table_column_name(table, column), "name") != 0)
        column++;
    const bool there = column < mel_table_columns(table);
    const uint32_t *code = there ? mel_table_codes(table, column) : NULL;
    const double *value = there ? mel_table_numbers(table, column) : NULL;
    if (code != NULL && code[row] != MEL_MISSING)
        return mel_strdup(mel_table_category(table, column, code[row]));
    char number[32];
    if (value != NULL && isfinite(value[row]))
        (void)mel_print(number, sizeof number, "%.15g", value[row]);
    else
        (void)snprintf(number, sizeof number, "%zu", row + 1);
    return mel_strdup(number);
}

static mel_status read_rows(mel_pool *out, const mel_pool_reading *r, mel_pool_matrix *x, mel_error *err)
{
    const size_t n = mel_table_rows(r->table), parts = r->m * r->k;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        out->name[out->n] = name_of(r->table, i);
        if (out->name[out->n++] == NULL)
            return mel_fail_memory(err, "the names of classifiers");
        status = read_row(out, x, r, i, err);
        memcpy(out->class_rows + i * parts, x->rows, parts * sizeof *x->rows);
    }
    return status;
}

static mel_status make_rooms(mel_pool *out, const mel_pool_reading *r, mel_pool_matrix *x, mel_error *err)
{
    const size_t n = mel_table_rows(r->table), parts = r->m * r->k;
    out->name = mel_alloc_zero(n, sizeof *out->name);
    out->value = mel_alloc_zero(n, out->size * sizeof *out->value);
    out->positives = mel_alloc_zero(n, sizeof *out->positives);
    out->class_rows = mel_alloc_zero(n, parts * sizeof *out->class_rows);
    out->cells = parts * r->k;
    out->matrix = mel_alloc_zero(n, out->cells * sizeof *out->matrix);
    out->rows = mel_alloc_zero(n, sizeof *out->rows);
    x->entry = mel_alloc_zero(parts * r->k + parts + r->m, sizeof *x->entry);
    if (out->name == NULL || out->value == NULL || out->positives == NULL || out->class_rows == NULL ||
        out->matrix == NULL || out->rows == NULL || x->entry == NULL)
        return mel_fail_memory(err, "a pool of classifiers");
    x->rows = x->entry + parts * r->k;
    x->total = x->rows + parts;
    return MEL_OK;
}

/* --- from a file ---------------------------------------------------------------------------------- */

mel_status mel_pool_table(mel_table **out, const mel_input *input, size_t n_names, const char *const *name,
                          const mel_read_options *read, mel_error *err)
{
    mel_read_options expecting = *read;
    expecting.row_name = "name";
    expecting.matrices = true;
    TRY(mel_input_read_named(out, input, n_names, name, &expecting, err));
    return mel_pool_widen(out, err);
}

static mel_status understand_columns(mel_pool_reading *r, mel_error *err)
{
    const double prevalence = r->about->prevalence;
    if (!isnan(prevalence) && (r->k != 2 || r->m > 1))
        return mel_fail(err, MEL_EINVAL,
                        "--prevalence is the share of the positive one of two classes; here there are %zu "
                        "classes%s",
                        r->k, r->m > 1 ? ", in groups (columns group:prevalence may say it)" : "");
    TRY(mel_pool_columns(r->column, r->table, r->about, err));
    return mel_pool_check_cells(r, err);
}

mel_status mel_pool_of_table(mel_pool *out, const mel_table *table, const mel_pool_about *about,
                             mel_error *err)
{
    *out = (mel_pool){ .layout = about->layout, .size = mel_layout_size(&about->layout) };
    mel_pool_reading r = { .table = table,
                           .about = about,
                           .n_columns = mel_table_columns(table),
                           .k = about->layout.n_classes,
                           .m = about->layout.n_groups > 1 ? about->layout.n_groups : 1 };
    mel_pool_matrix x = { .entry = NULL };
    r.column = mel_alloc_zero(r.n_columns, sizeof *r.column);
    if (r.column == NULL)
        return mel_fail_memory(err, "the columns of a pool");
    mel_status status = understand_columns(&r, err);
    if (status == MEL_OK)
        status = make_rooms(out, &r, &x, err);
    if (status == MEL_OK && x.total != NULL)
        status = read_rows(out, &r, &x, err);
    free(r.column);
    free(x.entry);
    if (status != MEL_OK)
        mel_pool_clear(out);
    return status;
}

mel_status mel_pool_open(mel_table **out, const char *path, const mel_pool_about *about,
                         const mel_read_options *read, mel_error *err)
{
    const mel_input input = { .path = (char *)(uintptr_t)path };
    size_t n = 0;
    char **name = mel_pool_names(&n, about);
    const mel_status status = name != NULL
                                  ? mel_pool_table(out, &input, n, (const char *const *)name, read, err)
                                  : mel_fail_memory(err, "the names of columns");
    mel_names_free(name, n);
    return status;
}

mel_status mel_pool_read(mel_pool *out, const char *path, const mel_pool_about *about,
                         const mel_read_options *read, mel_error *err)
{
    *out = (mel_pool){ .n = 0 };
    mel_table *table = NULL;
    mel_status status = mel_pool_open(&table, path, about, read, err);
    if (status == MEL_OK)
        status = mel_pool_of_table(out, table, about, err);
    mel_table_free(table);
    return status;
}
