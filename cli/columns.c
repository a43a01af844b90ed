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
    for (size_t c = 0; c < proba->n_classes; c++) {
        char *usual = cli_format("c%zu", c + 1);
        const bool same = strcmp(usual, proba->name[c]) == 0;
        free(usual);
        if (!same)
            return false;
    }
    return true;
}

/* "a", "b" and "c" */
static char *list_names(size_t n, char *const *name)
{
    enum { SHOWN = 6 };
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        char *longer = cli_format("%s%s\"%s\"", text, i == 0 ? "" : i + 1 == n ? " and " : ", ", name[i]);
        free(text);
        text = longer;
    }
    if (n <= SHOWN)
        return text;
    char *longer = cli_format("%s, ...", text);
    free(text);
    return longer;
}

/* The column of --probs that belongs to each class: by the names in its header, which must be those of the
 * classes; in order without names and where they are just c1, c2, .... */
static mel_status match_columns(size_t *column, const char *path, const mel_proba *proba,
                                char *const *class_name, mel_error *err)
{
    const size_t k = proba->n_classes;
    const bool in_order = proba->name == NULL || are_numbered(proba);
    for (size_t c = 0; c < k; c++) {
        size_t at = in_order ? c : 0;
        while (!in_order && at < k && strcmp(proba->name[at], class_name[c]) != 0)
            at++;
        if (at == k) {
            char *columns = list_names(k, proba->name), *classes = list_names(k, class_name);
            (void)cli_fail(err, MEL_EDATA, "%s: the columns are %s, the classes %s", path, columns, classes);
            free(columns);
            free(classes);
            return MEL_EDATA;
        }
        column[c] = at;
    }
    return MEL_OK;
}

mel_status cli_order_columns(mel_proba *proba, const char *path, char *const *class_name, mel_error *err)
{
    const size_t k = proba->n_classes;
    size_t *column = cli_alloc_zero(k, sizeof *column);
    double *row = cli_alloc_zero(k, sizeof *row);
    const mel_status status = match_columns(column, path, proba, class_name, err);
    for (size_t i = 0; status == MEL_OK && i < proba->n_rows; i++) {
        memcpy(row, proba->value + i * k, k * sizeof *row);
        for (size_t c = 0; c < k; c++)
            proba->value[i * k + c] = row[column[c]];
    }
    free(row);
    free(column);
    return status;
}
