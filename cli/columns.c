/* Columns of tables by name: features of basis functions, and what says how much a row counts. */
#include "columns.h"
#include "optimise/shared.h"
#include "output.h"
#include "problem/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_features_clear(cli_features *f)
{
    mel_names_free(f->name, f->view.n_columns);
    free(f->value);
    *f = (cli_features){ 0 };
}

static mel_status take_numbers(cli_features *f, size_t at, const mel_table *table, size_t column,
                               mel_error *err)
{
    const double *number = mel_table_numbers(table, column);
    for (size_t i = 0; i < f->view.n_rows; i++) {
        if (!isfinite(number[i]))
            return cli_fail(err, MEL_EDATA, "%s: row %zu, column \"%s\": the value is missing",
                            mel_table_name(table), mel_table_row_number(table, i), f->name[at]);
        f->value[i * f->view.n_columns + at] = number[i];
    }
    return MEL_OK;
}

/* "column=text". */
static bool take_texts(cli_features *f, size_t at, const mel_table *table)
{
    const char *text = strchr(f->name[at], '=');
    if (text == NULL)
        return false;
    char *name = cli_format("%.*s", (int)(text - f->name[at]), f->name[at]);
    const size_t column = mel_table_find(table, name);
    free(name);
    const uint32_t *code = column != SIZE_MAX ? mel_table_codes(table, column) : NULL;
    for (size_t i = 0; code != NULL && i < f->view.n_rows; i++)
        f->value[i * f->view.n_columns + at] =
            code[i] != MEL_MISSING && strcmp(mel_table_category(table, column, code[i]), text + 1) == 0 ? 1.0
                                                                                                        : 0.0;
    return code != NULL;
}

static mel_status take_column(cli_features *f, size_t at, const mel_table *table, mel_error *err)
{
    const size_t column = mel_table_find(table, f->name[at]);
    if (column != SIZE_MAX && mel_table_numbers(table, column) != NULL)
        return take_numbers(f, at, table, column, err);
    if (take_texts(f, at, table))
        return MEL_OK;
    if (column != SIZE_MAX)
        return cli_fail(err, MEL_EDATA,
                        "%s: column \"%s\" is text; \"%s=TEXT\" is 1 where it has a certain one",
                        mel_table_name(table), f->name[at], f->name[at]);
    return mel_need_column(table, f->name[at], "features", err);
}

/* Names of all columns of numbers. */
static char **number_columns(size_t *n, const mel_table *table)
{
    const char **name = cli_alloc_zero(mel_table_columns(table) + 1, sizeof *name);
    *n = 0;
    for (size_t c = 0; c < mel_table_columns(table); c++)
        if (mel_table_numbers(table, c) != NULL)
            name[(*n)++] = mel_table_column_name(table, c);
    char **copy = mel_names_copy(*n, name, 0);
    free(name);
    return copy;
}

static mel_status take_all(cli_features *out, const mel_table *table, size_t n, const char *const *name,
                           mel_error *err)
{
    size_t columns = n;
    out->name = n > 0 ? mel_names_copy(n, name, 0) : number_columns(&columns, table);
    if (out->name == NULL && columns > 0)
        return cli_fail(err, MEL_ENOMEM, "out of memory for the names of features");
    out->view.n_columns = columns;
    out->view.n_rows = mel_table_rows(table);
    if (columns == 0)
        return cli_fail(err, MEL_EDATA, "%s: no column holds numbers", mel_table_name(table));
    out->value = cli_alloc_zero(out->view.n_rows, columns * sizeof *out->value);
    out->view.value = out->value;
    out->view.name = (const char *const *)out->name;
    for (size_t c = 0; c < columns; c++)
        TRY(take_column(out, c, table, err));
    return MEL_OK;
}

mel_status cli_features_read(cli_features *out, const char *path, size_t n, const char *const *name,
                             size_t expected, const char *like, const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    TRY(mel_table_read(&table, path, read, err));
    if (expected > 0 && mel_table_rows(table) != expected)
        return cli_fail(err, MEL_EDATA, "%s has %zu rows, %s has %zu: expected one row of features for each",
                        path, mel_table_rows(table), like, expected);
    return take_all(out, table, n, name, err);
}

mel_status cli_features_of_basis(cli_features *out, const char *path, const mel_weight_basis *basis,
                                 size_t expected, const char *like, const mel_read_options *read,
                                 mel_error *err)
{
    const size_t n = mel_weight_basis_columns(basis);
    const char **name = cli_alloc_zero(n, sizeof *name);
    size_t different = 0;
    for (size_t i = 0; i < n; i++) {
        const char *column = mel_weight_basis_column(basis, i);
        size_t j = 0;
        while (j < different && strcmp(name[j], column) != 0)
            j++;
        name[j] = column;
        different = j == different ? different + 1 : different;
    }
    const mel_status status = cli_features_read(out, path, different, name, expected, like, read, err);
    free(name);
    return status;
}

/* --- columns that say how much decisions about a row count --- */

static const char *column_of(const char *text)
{
    const char *sign = strchr(text, '=');
    return sign != NULL ? sign + 1 : text;
}

mel_text_list cli_cost_columns(const mel_text_list *given)
{
    mel_text_list out = { .item = cli_alloc_zero(given->n + 1, sizeof *out.item), .n = given->n };
    for (size_t i = 0; i < given->n; i++)
        out.item[i] = column_of(given->item[i]);
    return out;
}

/* The class before '=', n_classes: all of them. */
static mel_status find_class(size_t *at, const char *text, size_t n_classes, const char *const *class_name,
                             mel_error *err)
{
    const size_t length = (size_t)(column_of(text) - text);
    *at = n_classes;
    if (length == 0)
        return MEL_OK;
    char *name = cli_format("%.*s", (int)(length - 1), text);
    *at = mel_name_place(name, n_classes, class_name);
    free(name);
    return *at < n_classes ? MEL_OK
                           : cli_fail(err, MEL_EINVAL, "--row-cost %s: there is no such class; there are %s",
                                      text, mel_name_list(n_classes, class_name).text);
}

mel_status cli_cost_of_classes(const char ***column, const mel_text_list *given, size_t n_classes,
                               const char *const *class_name, mel_error *err)
{
    *column = cli_alloc_zero(n_classes, sizeof **column);
    for (size_t c = 0; c < n_classes; c++)
        (*column)[c] = "";
    for (size_t i = 0; i < given->n; i++) {
        size_t at = 0;
        TRY(find_class(&at, given->item[i], n_classes, class_name, err));
        for (size_t c = 0; c < n_classes; c++) {
            if (at != n_classes && at != c)
                continue;
            if ((*column)[c][0] != '\0')
                return cli_fail(err, MEL_EINVAL, "--row-cost: \"%s\" has two columns", class_name[c]);
            (*column)[c] = column_of(given->item[i]);
        }
    }
    return MEL_OK;
}

void cli_row_costs(double **cost, size_t n, size_t n_classes, const char *const *column,
                   const mel_text_list *names, const double *numbers)
{
    *cost = cli_alloc_zero(n * n_classes, sizeof **cost);
    for (size_t c = 0; c < n_classes; c++) {
        size_t from = 0;
        while (from < names->n && strcmp(names->item[from], column[c]) != 0)
            from++;
        for (size_t r = 0; r < n; r++)
            (*cost)[r * n_classes + c] = from < names->n ? numbers[r * names->n + from] : 1.0;
    }
}
