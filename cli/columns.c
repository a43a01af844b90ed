/* Columns of files by their names. */
#include "columns.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

mel_status cli_read_column(mel_table **table, const char **column, const char *path, const char *name,
                           const char *option, const mel_read_options *read, mel_error *err)
{
    const mel_status status = mel_table_read(table, path, read, err);
    if (status != MEL_OK)
        return status;
    const size_t named = name != NULL ? mel_table_find(*table, name) : SIZE_MAX;
    if (named == SIZE_MAX && mel_table_columns(*table) != 1)
        return cli_fail(err, MEL_EDATA, "%s: %zu columns and none called \"%s\"; %s says which one is meant",
                        path, mel_table_columns(*table), name != NULL ? name : "group", option);
    *column = mel_table_column_name(*table, named != SIZE_MAX ? named : 0);
    return MEL_OK;
}

/* "c1", "c2", ... say nothing about the classes. */
static bool are_numbered(const mel_proba *proba)
{
    for (size_t c = 0; c < proba->n_columns; c++) {
        char *usual = cli_format("c%zu", c + 1);
        const bool same = strcmp(usual, proba->name[c]) == 0;
        free(usual);
        if (!same)
            return false;
    }
    return true;
}

static mel_status refuse_columns(size_t n, const char *const *column, const char *path, const cli_classes *c,
                                 mel_error *err)
{
    char *columns = cli_name_list(n, column), *classes = cli_name_list(c->n, (const char *const *)c->label);
    (void)cli_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", path, columns, classes);
    free(columns);
    free(classes);
    return MEL_EDATA;
}

/* column[c] of class c, all of them under what the labels or all of them under what the options call them. */
static mel_status match_names(size_t *column, size_t n, const char *const *name, const char *path,
                              const cli_classes *classes, mel_error *err)
{
    const char *const *const called[] = { (const char *const *)classes->label,
                                          (const char *const *)classes->name };
    for (size_t way = 0; way < 2; way++) {
        size_t found = 0;
        for (size_t c = 0; c < classes->n; c++) {
            column[c] = cli_name_place(called[way][c], n, name);
            found += column[c] < n;
        }
        if (found == classes->n)
            return MEL_OK;
    }
    return refuse_columns(n, name, path, classes, err);
}

/* The class that one column of two is about: the one it is named after, else the positive one. */
static mel_status match_one(size_t *at, const mel_proba *proba, const char *given, const char *path,
                            const cli_classes *c, mel_error *err)
{
    const char *name = given != NULL ? given : proba->name != NULL ? proba->name[0] : NULL;
    *at = name != NULL ? cli_name_place(name, 2, (const char *const *)c->label) : 2;
    if (name != NULL && *at == 2)
        *at = cli_name_place(name, 2, (const char *const *)c->name);
    if (*at == 2 && given != NULL)
        return refuse_columns(1, &given, path, c, err);
    *at = *at == 2 ? 1 : *at;
    return MEL_OK;
}

/* The column of each class: by --columns, by the names in a header, else in sorted order. */
static mel_status match_columns(size_t *column, const mel_proba *proba, const char *given, const char *path,
                                const cli_classes *c, mel_error *err)
{
    const bool named = proba->name != NULL && !are_numbered(proba);
    if (given != NULL && named)
        return cli_fail(err, MEL_EINVAL, "--columns %s: %s names its columns itself", given, path);
    if (named)
        return match_names(column, c->n, (const char *const *)proba->name, path, c, err);
    for (size_t i = 0; i < c->n; i++)
        column[i] = c->place[i];
    if (given == NULL)
        return MEL_OK;
    char **name = NULL;
    size_t n = 0;
    mel_status status = cli_names_split(&name, &n, given, "columns", err);
    if (status == MEL_OK && n != c->n)
        status = cli_fail(err, MEL_EINVAL, "--columns %s: %zu names, but %s has %zu columns", given, n, path,
                          c->n);
    if (status == MEL_OK)
        status = match_names(column, n, (const char *const *)name, path, c, err);
    cli_names_free(name, n);
    return status;
}

mel_status cli_order_columns(mel_proba *proba, const char *path, const char *given,
                             const cli_classes *classes, mel_error *err)
{
    const size_t k = proba->n_classes;
    size_t *column = cli_alloc_zero(k, sizeof *column);
    double *row = cli_alloc_zero(k, sizeof *row);
    mel_status status = MEL_OK;
    if (proba->n_columns == 1) {
        size_t at = 1; /* the values are P(second class) */
        status = match_one(&at, proba, given, path, classes, err);
        column[at] = 1;
        column[1 - at] = 0;
    } else {
        status = match_columns(column, proba, given, path, classes, err);
    }
    for (size_t i = 0; status == MEL_OK && i < proba->n_rows; i++) {
        memcpy(row, proba->value + i * k, k * sizeof *row);
        for (size_t c = 0; c < k; c++)
            proba->value[i * k + c] = row[column[c]];
    }
    free(row);
    free(column);
    return status;
}
