/* Which row a decision is about: the number of the row in its file, and what the file calls it. */
#include "decide_ids.h"

#include "export.h"
#include "json_helpers.h"

#include "base/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whether every row has a text of its own: texts are numbered in the order in which they appear. */
static bool tells_apart(const mel_table *table, size_t column)
{
    const size_t n = mel_table_rows(table);
    const uint32_t *code = mel_table_codes(table, column);
    size_t i = 0;
    while (code != NULL && i < n && code[i] == i)
        i++;
    return n > 0 && i == n;
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
            if ((texts || is_called_id(mel_table_column_name(table, c))) && tells_apart(table, c))
                return c;
    return SIZE_MAX;
}

/* Numbers do not keep leading zeros, nor more than 15 digits. */
mel_status mel_ids_as_texts(mel_columns_as *out, const mel_table *table, const char *name, mel_error *err)
{
    const size_t n = mel_table_columns(table);
    *out = (mel_columns_as){ .column = mel_alloc(n, sizeof *out->column) };
    if (out->column == NULL)
        return mel_fail_memory(err, "ids of rows");
    for (size_t c = 0; c < n; c++) {
        const char *own = mel_table_column_name(table, c);
        if (mel_table_numbers(table, c) != NULL &&
            (name != NULL ? strcmp(own, name) == 0 : is_called_id(own)))
            out->column[out->n++] = (mel_column_override){ own, MEL_COLUMN_TEXT };
    }
    return MEL_OK;
}

const char *mel_ids_name(const mel_table *table, const mel_table *texts)
{
    const size_t column = find_ids(texts), n = mel_table_rows(table);
    const double *number = column != SIZE_MAX ? mel_table_numbers(table, column) : NULL;
    size_t whole = 0;
    while (number != NULL && whole < n && number[whole] == floor(number[whole]))
        whole++;
    return column != SIZE_MAX && (number == NULL || whole == n) ? mel_table_column_name(table, column) : NULL;
}

static mel_status read_ids(mel_ids *ids, mel_call *call, const mel_named_rows *named, const char *id)
{
    mel_columns_as as;
    mel_status status = mel_ids_as_texts(&as, named->table, id, &call->err);
    if (status == MEL_OK && as.n > 0)
        status = mel_upload_read(&ids->again, call, named->upload, &as);
    free(as.column);
    ids->table = ids->again != NULL ? ids->again : named->table;
    return status;
}

mel_status mel_ids_find(mel_ids *out, mel_call *call, const mel_named_rows *named, const json_t *body)
{
    const char *name = mel_json_string(body, "id");
    *out = (mel_ids){ .column = SIZE_MAX };
    if (named == NULL)
        return name == NULL ? MEL_OK : mel_fail(&call->err, MEL_EINVAL, "id: these rows have numbers only");
    if (name != NULL && mel_upload_column(named->table, name) == SIZE_MAX)
        return mel_fail(&call->err, MEL_EINVAL, "id: there is no column called \"%.80s\"", name);
    const mel_status status = read_ids(out, call, named, name);
    if (status == MEL_OK)
        out->column = name != NULL ? mel_upload_column(out->table, name) : find_ids(out->table);
    out->numbers = out->column != SIZE_MAX && mel_table_numbers(named->table, out->column) != NULL;
    return status;
}

void mel_ids_clear(mel_ids *ids)
{
    mel_table_free(ids->again);
    ids->again = NULL;
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
    const uint32_t *code = mel_table_codes(ids->table, ids->column);
    const bool known = row >= 1 && row <= mel_table_rows(ids->table) && code[row - 1] != MEL_MISSING;
    const char *text = known ? mel_table_category(ids->table, ids->column, code[row - 1]) : NULL;
    if (text != NULL && !ids->numbers)
        mel_csv_cell(out, text, false);
    else if (text != NULL)
        mel_buffer_printf(out, "\"%s\",", text);
    else
        mel_buffer_puts(out, ",");
}
