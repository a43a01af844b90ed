/* Which row a decision is about: the number of the row in its file, and what the file calls it. */
#include "decide_ids.h"
#include "app.h"

#include "export.h"
#include "json_helpers.h"

#include "base/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Whether every row has a value of its own; false without memory, too: then rows have numbers. */
static bool tells_apart(const mel_table *table, size_t column)
{
    const size_t n = mel_table_rows(table);
    const double *number = mel_table_numbers(table, column);
    const uint32_t *code = mel_table_codes(table, column);
    double *sorted = mel_alloc(n, sizeof *sorted);
    bool apart = sorted != NULL && n > 0 && (number != NULL || code != NULL);
    for (size_t i = 0; i < n && apart; i++) {
        sorted[i] = number != NULL ? number[i] : (double)code[i];
        apart = number != NULL ? !isnan(number[i]) : code[i] != MEL_MISSING;
    }
    if (apart)
        qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 1; i < n && apart; i++)
        apart = sorted[i] != sorted[i - 1];
    free(sorted);
    return apart;
}

/* "id", "customer_id", "Customer ID", "customerId": not "paid". */
static bool is_called_id(const char *name)
{
    const size_t n = strlen(name);
    if (n < 2 || strcasecmp(name + n - 2, "id") != 0)
        return false;
    return n == 2 || !isalpha((unsigned char)name[n - 3]) ||
           (name[n - 2] == 'I' && islower((unsigned char)name[n - 3]));
}

/* A column that is called so, else the first one of texts, in which no two rows are alike. */
static size_t find_ids(const mel_table *table)
{
    for (int texts = 0; texts < 2; texts++)
        for (size_t c = 0; c < mel_table_columns(table); c++)
            if ((texts ? mel_table_codes(table, c) != NULL : is_called_id(mel_table_column_name(table, c))) &&
                tells_apart(table, c))
                return c;
    return SIZE_MAX;
}

mel_status mel_ids_find(mel_ids *out, const mel_table *table, const json_t *body, mel_error *err)
{
    const char *name = mel_json_string(body, "id");
    *out = (mel_ids){ .table = table, .column = SIZE_MAX };
    if (table == NULL)
        return name == NULL ? MEL_OK : mel_fail(err, MEL_EINVAL, "id: these rows have numbers only");
    out->column = name != NULL ? mel_upload_column(table, name) : find_ids(table);
    return name == NULL || out->column != SIZE_MAX
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL, "id: there is no column called \"%.80s\"", name);
}

void mel_ids_write_head(mel_buffer *out, const mel_ids *ids)
{
    mel_buffer_puts(out, "\"row\",");
    if (ids->column != SIZE_MAX)
        mel_csv_cell(out, mel_table_column_name(ids->table, ids->column), false);
}

void mel_ids_write(mel_buffer *out, const mel_ids *ids, size_t row)
{
    mel_buffer_printf(out, "%zu,", row);
    if (ids->column == SIZE_MAX)
        return;
    const double *number = mel_table_numbers(ids->table, ids->column);
    const uint32_t *code = mel_table_codes(ids->table, ids->column);
    const bool known = row >= 1 && row <= mel_table_rows(ids->table);
    if (known && number != NULL && !isnan(number[row - 1]))
        mel_buffer_printf(out, "%.17g,", number[row - 1]);
    else if (known && code != NULL && code[row - 1] != MEL_MISSING)
        mel_csv_cell(out, mel_table_category(ids->table, ids->column, code[row - 1]), false);
    else
        mel_buffer_puts(out, ",");
}
