/* Pools in long form: a row for each true class of each classifier, turned into one row each. */
#include "base/buffer.h"
#include "data/shared.h"
#include "problem/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The columns "name" and "true"; all others are predicted classes. */
typedef struct {
    const mel_table *table;
    size_t name, truth, n_columns;
    size_t *place; /* n_names x n_columns: the row for that true class, or SIZE_MAX */
} long_form;

static size_t find_column(const mel_table *table, const char *name)
{
    size_t column = 0;
    while (column < mel_table_columns(table) && strcasecmp(mel_table_column_name(table, column), name) != 0)
        column++;
    return column;
}

static bool is_class(const long_form *f, size_t column)
{
    return column != f->name && column != f->truth;
}

/* What a cell of column "true" says. */
static const char *true_class(char number[32], const long_form *f, size_t row)
{
    const uint32_t *code = mel_table_codes(f->table, f->truth);
    if (code != NULL)
        return code[row] != MEL_MISSING ? mel_table_category(f->table, f->truth, code[row]) : "";
    (void)mel_print(number, 32, "%.15g", mel_table_numbers(f->table, f->truth)[row]);
    return number;
}

/* The column of the row's true class; n_columns: there is none. */
static size_t class_column(const long_form *f, size_t row)
{
    char number[32];
    const char *truth = true_class(number, f, row);
    for (size_t any = 0; any < 2; any++)
        for (size_t c = 0; c < f->n_columns; c++) {
            const char *name = mel_table_column_name(f->table, c);
            if (is_class(f, c) && (any ? mel_same_class_name(truth, name) : strcmp(truth, name) == 0))
                return c;
        }
    return f->n_columns;
}

/* Numbers under "true" may also be shares of a class that is called so. */
static bool is_long(const long_form *f)
{
    if (!mel_table_has_header(f->table) || f->name == f->n_columns || f->truth == f->n_columns ||
        mel_table_codes(f->table, f->name) == NULL)
        return false;
    bool classes = true;
    for (size_t i = 0; i < mel_table_rows(f->table); i++)
        classes = classes && class_column(f, i) < f->n_columns;
    return classes || mel_table_codes(f->table, f->truth) != NULL;
}

/* --- which row is what ---------------------------------------------------------------------------- */

static mel_status place_row(const long_form *f, size_t row, mel_error *err)
{
    char number[32];
    const char *file = mel_table_name(f->table), *truth = true_class(number, f, row);
    const uint32_t code = mel_table_codes(f->table, f->name)[row];
    const size_t at = mel_table_row_number(f->table, row), column = class_column(f, row);
    if (code == MEL_MISSING)
        return mel_fail(err, MEL_EDATA, "%s: row %zu: the classifier has no name", file, at);
    if (column == f->n_columns)
        return mel_fail(err, MEL_EDATA,
                        "%s: row %zu, column \"%s\": \"%s\" is not one of the predicted classes that the "
                        "columns behind name",
                        file, at, mel_table_column_name(f->table, f->truth), truth);
    size_t *place = &f->place[code * f->n_columns + column];
    if (*place != SIZE_MAX)
        return mel_fail(
            err, MEL_EDATA, "%s: rows %zu and %zu are both of classifier \"%s\" and true class \"%s\"", file,
            mel_table_row_number(f->table, *place), at, mel_table_category(f->table, f->name, code), truth);
    *place = row;
    return MEL_OK;
}

static mel_status place_rows(const long_form *f, mel_error *err)
{
    const size_t n = mel_table_categories(f->table, f->name);
    for (size_t i = 0; i < n * f->n_columns; i++)
        f->place[i] = SIZE_MAX;
    for (size_t i = 0; i < mel_table_rows(f->table); i++)
        TRY(place_row(f, i, err));
    for (size_t i = 0; i < n * f->n_columns; i++)
        if (is_class(f, i % f->n_columns) && f->place[i] == SIZE_MAX)
            return mel_fail(err, MEL_EDATA, "%s: classifier \"%s\" has no row with true class \"%s\"",
                            mel_table_name(f->table),
                            mel_table_category(f->table, f->name, (uint32_t)(i / f->n_columns)),
                            mel_table_column_name(f->table, i % f->n_columns));
    for (size_t c = 0; c < f->n_columns; c++)
        if (is_class(f, c) && mel_table_numbers(f->table, c) == NULL)
            return mel_fail(err, MEL_EDATA, "%s: column \"%s\" holds texts, not numbers",
                            mel_table_name(f->table), mel_table_column_name(f->table, c));
    return MEL_OK;
}

/* --- one row each --------------------------------------------------------------------------------- */

static void add_quoted(mel_buffer *out, const char *text)
{
    for (; *text != '\0'; text++)
        mel_buffer_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
}

/* The same in every locale. */
static void add_number(mel_buffer *out, double value)
{
    char text[40];
    (void)mel_print(text, sizeof text, "%.17g", value);
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    mel_buffer_puts(out, text);
}

static void write_header(mel_buffer *out, const long_form *f)
{
    mel_buffer_puts(out, "name");
    for (size_t t = 0; t < f->n_columns; t++)
        for (size_t c = 0; c < f->n_columns; c++) {
            if (!is_class(f, t) || !is_class(f, c))
                continue;
            mel_buffer_puts(out, ",\"");
            add_quoted(out, mel_table_column_name(f->table, t));
            mel_buffer_puts(out, ">");
            add_quoted(out, mel_table_column_name(f->table, c));
            mel_buffer_puts(out, "\"");
        }
    mel_buffer_puts(out, "\n");
}

static void write_classifier(mel_buffer *out, const long_form *f, uint32_t code)
{
    mel_buffer_puts(out, "\"");
    add_quoted(out, mel_table_category(f->table, f->name, code));
    mel_buffer_puts(out, "\"");
    for (size_t t = 0; t < f->n_columns; t++)
        for (size_t c = 0; c < f->n_columns; c++) {
            if (!is_class(f, t) || !is_class(f, c))
                continue;
            const double value = mel_table_numbers(f->table, c)[f->place[code * f->n_columns + t]];
            mel_buffer_puts(out, ",");
            if (!isnan(value))
                add_number(out, value);
        }
    mel_buffer_puts(out, "\n");
}

static mel_status write_wide(mel_table **out, const long_form *f, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 4);
    write_header(&text, f);
    for (uint32_t code = 0; code < mel_table_categories(f->table, f->name); code++)
        write_classifier(&text, f, code);
    mel_read_options options;
    mel_read_options_init(&options);
    options.format = MEL_FORMAT_CSV;
    options.delimiter = ',';
    options.decimal = '.';
    options.header = MEL_HEADER_YES;
    options.encoding = "utf-8";
    options.row_name = "name";
    options.threads = 1;
    const mel_status status =
        text.status == MEL_OK
            ? mel_table_read_memory(out, text.data, text.size, mel_table_name(f->table), &options, err)
            : mel_fail_memory(err, "a pool of classifiers");
    mel_buffer_free(&text);
    return status;
}

mel_status mel_pool_widen(mel_table **table, mel_error *err)
{
    long_form f = { .table = *table,
                    .name = find_column(*table, "name"),
                    .truth = find_column(*table, "true"),
                    .n_columns = mel_table_columns(*table) };
    if (!is_long(&f))
        return MEL_OK;
    mel_table *wide = NULL;
    f.place = mel_alloc(mel_table_categories(f.table, f.name) * f.n_columns, sizeof *f.place);
    mel_status status =
        f.place != NULL ? place_rows(&f, err) : mel_fail_memory(err, "the rows of a pool of classifiers");
    if (status == MEL_OK)
        status = write_wide(&wide, &f, err);
    free(f.place);
    if (status == MEL_OK) {
        mel_table_free(*table);
        *table = wide;
    }
    return status;
}
