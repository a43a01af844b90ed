/* A metric from what mistakes cost: on the command line, or in a file. */
#include "metric_costs.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const roles[] = { "negative", "positive" };

const char *const *cli_about_class_names(const cli_metric_about *a)
{
    return a->counted.classes.n > 0 ? (const char *const *)a->counted.classes.name
           : a->column != NULL      ? a->column
           : a->class_name != NULL  ? (const char *const *)a->class_name
                                    : roles;
}

static const char *class_name(const cli_metric_about *a, size_t i)
{
    const char *const *all = cli_about_class_names(a);
    return all != roles || i < sizeof roles / sizeof *roles ? all[i] : "";
}

/* --- costs on the command line ------------------------------------------------------------------ */

/* "missed" and "false-alarm" of two classes, or "true>predicted". */
static bool find_entry(size_t *truth, size_t *said, const char *text, size_t length,
                       const cli_metric_about *a)
{
    static const struct {
        const char *name;
        size_t truth, said;
    } words[] = { { "missed", 1, 0 }, { "false-alarm", 0, 1 }, { "found", 1, 1 }, { "cleared", 0, 0 } };
    for (size_t w = 0; w < sizeof words / sizeof *words && a->k == 2; w++)
        if (strlen(words[w].name) == length && strncmp(words[w].name, text, length) == 0) {
            *truth = words[w].truth;
            *said = words[w].said;
            return true;
        }
    char *name = cli_format("%.*s", (int)length, text);
    bool found = false;
    for (char *at = strchr(name, '>'); at != NULL && !found; at = strchr(at + 1, '>')) {
        *at = '\0';
        *truth = mel_name_place(name, a->k, cli_about_class_names(a));
        *said = mel_name_place(at + 1, a->k, cli_about_class_names(a));
        found = *truth < a->k && *said < a->k;
        *at = '>';
    }
    free(name);
    return found;
}

static mel_status take_cost(double *cost, const char *item, const cli_metric_about *a, mel_error *err)
{
    const char *sign = strrchr(item, '=');
    size_t truth = 0, said = 0, n = 0;
    double *value = NULL;
    if (sign == NULL || !find_entry(&truth, &said, item, (size_t)(sign - item), a))
        return cli_fail(err, MEL_EINVAL, "--cost: \"%s\" is not the cost of a mistake; expected %s", item,
                        a->k == 2 ? "missed=7,false-alarm=1, or true>predicted=COST with names of --classes"
                                  : "true>predicted=COST with names of --classes");
    const bool number = cli_parse_numbers(&value, &n, sign + 1) && n == 1;
    const double to = number ? value[0] : NAN;
    free(value);
    if (!number)
        return cli_fail(err, MEL_EINVAL, "--cost: \"%s\" is not a number", sign + 1);
    if (!isnan(cost[truth * a->k + said]))
        return cli_fail(err, MEL_EINVAL, "--cost: \"%s\" is given twice", item);
    cost[truth * a->k + said] = to;
    return MEL_OK;
}

static mel_status fill_costs(double *cost, const char *text, const cli_metric_about *a, mel_error *err)
{
    MEL_AUTO_MEMORY char **item = NULL;
    size_t n = 0;
    for (size_t i = 0; i < a->k * a->k; i++)
        cost[i] = NAN;
    TRY(mel_names_split(&item, &n, text, "cost", err));
    for (size_t i = 0; i < n; i++)
        TRY(take_cost(cost, item[i], a, err));
    for (size_t i = 0; i < a->k; i++)
        for (size_t j = 0; j < a->k; j++) {
            double *one = &cost[i * a->k + j];
            if (isnan(*one) && i != j)
                return cli_fail(err, MEL_EINVAL, "--cost: what does predicting \"%s\" for \"%s\" cost?",
                                class_name(a, j), class_name(a, i));
            *one = isnan(*one) ? 0.0 : *one;
        }
    return MEL_OK;
}

mel_status cli_metric_of_cost(mel_metric **out, const char *text, const cli_metric_about *a, mel_error *err)
{
    MEL_AUTO_MEMORY double *cost = cli_alloc_zero(a->k * a->k, sizeof *cost);
    TRY(fill_costs(cost, text, a, err));
    return mel_metric_costs(out, a->k, cost, cli_about_class_names(a), err);
}

/* --- costs in a file ---------------------------------------------------------------------------- */

/* The true class that a row of the matrix is about: by the first column, which has no costs then. */
static mel_status row_class(size_t *out, const mel_table *table, size_t row, const cli_metric_about *a,
                            mel_error *err)
{
    const uint32_t *code = mel_table_codes(table, 0);
    const double *value = mel_table_numbers(table, 0);
    char *name = code != NULL && code[row] != MEL_MISSING
                     ? cli_format("%s", mel_table_category(table, 0, code[row]))
                     : cli_format("%.15g", value != NULL ? value[row] : NAN);
    *out = mel_name_place(name, a->k, cli_about_class_names(a));
    const mel_status status =
        *out < a->k
            ? MEL_OK
            : cli_fail(err, MEL_EDATA,
                       "%s: row %zu is about \"%s\", but no column is called so; true classes are in rows",
                       mel_table_name(table), mel_table_row_number(table, row), name);
    free(name);
    return status;
}

static mel_status fill_matrix(double *cost, const mel_table *table, const cli_metric_about *a, bool named,
                              mel_error *err)
{
    for (size_t row = 0; row < a->k; row++) {
        size_t truth = row;
        TRY(named ? row_class(&truth, table, row, a, err) : MEL_OK);

        for (size_t j = 0; j < a->k; j++) {
            const double *column = mel_table_numbers(table, j + named);
            double *one = &cost[truth * a->k + j];
            if (column == NULL || isnan(column[row]))
                return cli_fail(err, MEL_EDATA, "%s: row %zu, column %s: not a number", mel_table_name(table),
                                mel_table_row_number(table, row), mel_table_column_name(table, j + named));
            if (!isnan(*one))
                return cli_fail(err, MEL_EDATA, "%s: two rows are about \"%s\"", mel_table_name(table),
                                class_name(a, truth));
            *one = column[row];
        }
    }
    return MEL_OK;
}

/* The names of the columns, unless the file has none; then those of --classes, in their order. */
static mel_status name_matrix(cli_metric_about *a, const mel_table *table, bool named, mel_error *err)
{
    const size_t k = mel_table_rows(table);
    if (mel_table_has_header(table)) {
        if (a->class_name != NULL)
            return cli_fail(err, MEL_EINVAL, "--classes: the columns of %s are named already",
                            mel_table_name(table));
        a->column = cli_alloc_zero(k, sizeof *a->column);
        for (size_t j = 0; j < k; j++)
            a->column[j] = mel_table_column_name(table, j + named);
        a->k = k;
        return MEL_OK;
    }
    if (named || a->class_name == NULL || a->k != k)
        return cli_fail(
            err, MEL_EDATA,
            "%s: give its columns names, the predicted classes, or name all %zu classes with --classes",
            mel_table_name(table), k);
    return MEL_OK;
}

static mel_status make_from_table(mel_metric **out, const mel_table *table, cli_metric_about *a,
                                  mel_error *err)
{
    const size_t rows = mel_table_rows(table), columns = mel_table_columns(table);
    const bool named = columns == rows + 1;
    if (rows < 2 || (!named && columns != rows))
        return cli_fail(err, MEL_EDATA,
                        "%s: %zu rows and %zu columns; expected a square of costs, true classes in rows, "
                        "predicted classes in columns, the first column may name the rows",
                        mel_table_name(table), rows, columns);
    mel_status status = name_matrix(a, table, named, err);
    double *cost = cli_alloc_zero(rows * rows, sizeof *cost);
    for (size_t i = 0; i < rows * rows; i++)
        cost[i] = NAN;
    if (status == MEL_OK)
        status = fill_matrix(cost, table, a, named, err);
    if (status == MEL_OK) {
        status = mel_metric_costs(out, rows, cost, cli_about_class_names(a), err);
        if (status == MEL_EDATA)
            status = cli_fail_in(err, status, mel_table_name(table));
    }
    free(cost);
    return status;
}

mel_status cli_metric_of_costs(mel_metric **out, const char *path, cli_metric_about *a,
                               const mel_read_options *read, mel_error *err)
{
    mel_table *table = NULL;
    mel_read_options options = *read;
    options.row_name = "true";
    mel_status status = mel_table_read(&table, path, &options, err);
    if (status == MEL_OK)
        status = make_from_table(out, table, a, err);
    free(a->column);
    a->column = NULL;
    mel_table_free(table);
    return status;
}
