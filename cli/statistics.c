#include "statistics.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double sum_slack = 1e-9;

void cli_pool_clear(cli_pool *pool)
{
    for (size_t i = 0; pool->name != NULL && i < pool->n; i++)
        free(pool->name[i]);
    free(pool->name);
    free(pool->value);
    *pool = (cli_pool){ 0 };
}

/* --- columns ------------------------------------------------------------------------------------ */

static size_t find_any_case(const mel_table *table, const char *name)
{
    for (size_t i = 0; i < mel_table_columns(table); i++)
        if (strcasecmp(mel_table_column_name(table, i), name) == 0 && mel_table_numbers(table, i) != NULL)
            return i;
    return SIZE_MAX;
}

static mel_status refuse_columns(const char *path, size_t found, const mel_layout *layout, mel_error *err)
{
    const char *kind = layout->kind == MEL_RATES ? "rates" : "shares";
    if (layout->coordinates == MEL_BINARY && layout->n_groups < 2)
        return cli_fail(err, MEL_EDATA,
                        "%s: %zu columns of numbers; two are wanted, the %s of true positives and true "
                        "negatives, or columns called tp and tn",
                        path, found, kind);
    char *groups =
        layout->n_groups > 1 ? cli_format(" and %zu groups", layout->n_groups) : cli_format("%s", "");
    (void)cli_fail(err, MEL_EDATA, "%s: %zu columns of numbers; %zu are wanted, the %s %s of %zu classes%s",
                   path, found, mel_layout_size(layout), mel_coordinates_name(layout->coordinates), kind,
                   layout->n_classes, groups);
    free(groups);
    return MEL_EDATA;
}

/* The columns of the coordinates: all columns of numbers but the name; of binary ones tp and tn are enough.
 */
static mel_status find_coordinates(size_t *column, const mel_table *table, const char *path,
                                   const mel_layout *layout, mel_error *err)
{
    const size_t size = mel_layout_size(layout);
    size_t found = 0;
    for (size_t i = 0; i < mel_table_columns(table); i++) {
        if (mel_table_numbers(table, i) == NULL || strcmp(mel_table_column_name(table, i), "name") == 0)
            continue;
        if (found < size)
            column[found] = i;
        found++;
    }
    const size_t tp = find_any_case(table, "tp"), tn = find_any_case(table, "tn");
    if (layout->coordinates == MEL_BINARY && size == 2 && tp != SIZE_MAX && tn != SIZE_MAX) {
        column[0] = tp;
        column[1] = tn;
        return MEL_OK;
    }
    return found == size ? MEL_OK : refuse_columns(path, found, layout, err);
}

static char *name_of(const mel_table *table, size_t column, size_t row)
{
    const uint32_t *code = column != SIZE_MAX ? mel_table_codes(table, column) : NULL;
    const double *number = column != SIZE_MAX ? mel_table_numbers(table, column) : NULL;
    if (code != NULL && code[row] != MEL_MISSING)
        return cli_format("%s", mel_table_category(table, column, code[row]));
    return number != NULL ? cli_format("%g", number[row]) : cli_format("%zu", row + 1);
}

/* --- what statistics can be --------------------------------------------------------------------- */

static mel_status check_share(const char *path, size_t row, const char *column, double value, mel_error *err)
{
    if (value >= 0.0 && value <= 1.0)
        return MEL_OK;
    return cli_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: %g is not a share between 0 and 1", path,
                    row + 1, column, value);
}

/* Confusion entries of everybody, and the off-diagonal rates of one class, add up to 1 at most. */
static mel_status check_sums(const char *path, size_t row, const double *value, const mel_layout *layout,
                             mel_error *err)
{
    const size_t size = mel_layout_size(layout), k = layout->n_classes;
    const bool rates = layout->kind == MEL_RATES;
    const size_t together = !rates ? size : layout->coordinates == MEL_OFFDIAGONAL ? k - 1 : 1;
    for (size_t first = 0; first < size; first += together) {
        double sum = 0.0;
        for (size_t i = first; i < first + together; i++)
            sum += value[i];
        if (sum > 1.0 + sum_slack && size == 2)
            return cli_fail(err, MEL_EDATA, "%s: classifier %zu: shares %g and %g add up to more than 1",
                            path, row + 1, value[0], value[1]);
        if (sum > 1.0 + sum_slack)
            return cli_fail(err, MEL_EDATA,
                            "%s: classifier %zu: numbers %zu to %zu add up to %g, more than 1", path, row + 1,
                            first + 1, first + together, sum);
    }
    return MEL_OK;
}

/* --- pools -------------------------------------------------------------------------------------- */

static mel_status read_rows(cli_pool *out, const mel_table *table, const size_t *column, const char *path,
                            const mel_layout *layout, mel_error *err)
{
    const size_t n = mel_table_rows(table), size = out->size, names = mel_table_find(table, "name");
    out->name = cli_alloc_zero(n, sizeof *out->name);
    out->value = cli_alloc_zero(n * size, sizeof *out->value);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        double *value = out->value + i * size;
        out->name[out->n++] = name_of(table, names, i);
        for (size_t c = 0; c < size && status == MEL_OK; c++) {
            value[c] = mel_table_numbers(table, column[c])[i];
            status = check_share(path, i, mel_table_column_name(table, column[c]), value[c], err);
        }
        if (status == MEL_OK)
            status = check_sums(path, i, value, layout, err);
    }
    return status;
}

mel_status cli_pool_read(cli_pool *out, const char *path, const mel_layout *layout,
                         const mel_read_options *read, mel_error *err)
{
    *out = (cli_pool){ .size = mel_layout_size(layout) };
    mel_table *table = NULL;
    size_t *column = cli_alloc_zero(out->size, sizeof *column);
    mel_status status = mel_table_read(&table, path, read, err);
    if (status == MEL_OK)
        status = find_coordinates(column, table, path, layout, err);
    if (status == MEL_OK)
        status = read_rows(out, table, column, path, layout, err);
    free(column);
    mel_table_free(table);
    if (status != MEL_OK)
        cli_pool_clear(out);
    return status;
}

/* --- counting ----------------------------------------------------------------------------------- */

/* The coordinates of one group from its k x k counts: divided by all rows, or by those of the true class. */
static mel_status read_group(double *out, const mel_layout *layout, const double *count, double total,
                             mel_error *err)
{
    const size_t k = layout->n_classes;
    for (size_t i = 0, at = 0; i < k; i++) {
        double row = 0.0;
        for (size_t j = 0; j < k; j++)
            row += count[i * k + j];
        if (layout->kind == MEL_RATES && row == 0.0)
            return cli_fail(err, MEL_EDATA, "class number %zu has no rows: its rates are not known", i + 1);
        for (size_t j = 0; j < k; j++) {
            const double value = count[i * k + j] / (layout->kind == MEL_RATES ? row : total);
            if (layout->coordinates == MEL_OFFDIAGONAL ? i != j
                                                       : i == j && layout->coordinates == MEL_DIAGONAL)
                out[at++] = value;
            else if (i == j && layout->coordinates == MEL_BINARY)
                out[1 - i] = value;
        }
    }
    return MEL_OK;
}

mel_status cli_count_statistics(double *out, const mel_layout *layout, const cli_decided *rows,
                                const uint32_t *of, size_t only, mel_error *err)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t one = mel_layout_size(layout) / m;
    double *count = cli_alloc_zero(m * k * k, sizeof *count), total = 0.0;
    for (size_t i = 0; i < rows->n; i++) {
        if (only != SIZE_MAX && of[i] != only)
            continue;
        const size_t group = m > 1 ? rows->group[i] : 0;
        count[(group * k + rows->truth[i]) * k + rows->predicted[i]] += 1.0;
        total += 1.0;
    }
    mel_status status = total > 0.0 ? MEL_OK : cli_fail(err, MEL_EDATA, "there are no rows to count");
    for (size_t g = 0; g < m && status == MEL_OK; g++)
        status = read_group(out + g * one, layout, count + g * k * k, total, err);
    free(count);
    return status;
}
