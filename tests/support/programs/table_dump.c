/* Shows how the library reads files, for tests that compare cells: one line of JSON per file with its
 * columns, `how` and `warnings`, or the refusal. Options stand before the file that they are for: table_dump
 * [--read NAME[=VALUE]] FILE ... */
#include "data/shared.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OVERRIDES = 8 };

typedef struct {
    mel_read_options options;
    mel_column_override overrides[MOST_OVERRIDES];
} reading;

static int wrong_usage(const char *word)
{
    (void)fprintf(stderr, "table_dump: cannot use \"%s\"\n", word);
    return 2;
}

static void reset(reading *r)
{
    mel_read_options_init(&r->options);
    r->options.overrides = r->overrides;
}

/* The place of `word` in a list that ends with NULL, or -1. */
static int place_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i] != NULL; i++)
        if (strcmp(word, list[i]) == 0)
            return i;
    return -1;
}

/* "zip:text"; the name is cut out of the word itself. */
static bool add_override(reading *r, char *word)
{
    static const char *const types[] = { "auto", "number", "text", NULL };
    char *colon = strrchr(word, ':');
    if (colon == NULL || r->options.n_overrides == MOST_OVERRIDES)
        return false;
    const int type = place_of(colon + 1, types);
    *colon = '\0';
    r->overrides[r->options.n_overrides++] =
        (mel_column_override){ .name = word, .type = (mel_column_type)type };
    return type > 0;
}

static bool set_choice(int *out, const char *value, const char *const *list)
{
    *out = place_of(value, list);
    return *out >= 0;
}

static bool set_flag(reading *r, const char *name)
{
    if (strcmp(name, "strict") == 0)
        r->options.strict = true;
    else if (strcmp(name, "zero-based") == 0)
        r->options.zero_based = true;
    else
        return false;
    return true;
}

static bool set_value(reading *r, const char *name, char *value)
{
    static const char *const headers[] = { "auto", "yes", "no", NULL };
    static const char *const formats[] = { "auto", "csv", "npy", "libsvm", "npz", NULL };
    int choice = 0;
    bool done = true;
    if (strcmp(name, "delimiter") == 0)
        r->options.delimiter = strcmp(value, "tab") == 0 ? '\t' : value[0];
    else if (strcmp(name, "decimal") == 0)
        r->options.decimal = value[0];
    else if (strcmp(name, "encoding") == 0)
        r->options.encoding = value;
    else if (strcmp(name, "member") == 0)
        r->options.member = value;
    else if (strcmp(name, "column") == 0)
        done = add_override(r, value);
    else if (strcmp(name, "header") == 0 && (done = set_choice(&choice, value, headers)))
        r->options.header = (mel_header)choice;
    else if (strcmp(name, "format") == 0 && (done = set_choice(&choice, value, formats)))
        r->options.format = (mel_format)choice;
    else
        done = false;
    return done;
}

static json_t *number_or_null(double x)
{
    return isnan(x) ? json_null() : json_real(x);
}

static json_t *cells_of(const mel_table *table, size_t j)
{
    json_t *cells = json_array();
    const double *numbers = mel_table_numbers(table, j);
    const uint32_t *codes = mel_table_codes(table, j);
    for (size_t i = 0; i < mel_table_rows(table); i++) {
        json_t *cell = numbers != NULL           ? number_or_null(numbers[i])
                       : codes[i] == MEL_MISSING ? json_null()
                                                 : json_string(mel_table_category(table, j, codes[i]));
        json_array_append_new(cells, cell);
    }
    return cells;
}

static json_t *columns_of(const mel_table *table)
{
    json_t *columns = json_array();
    for (size_t j = 0; j < mel_table_columns(table); j++) {
        const bool number = mel_table_column_type(table, j) == MEL_COLUMN_NUMBER;
        json_array_append_new(columns,
                              json_pack("{s:s, s:s, s:o}", "name", mel_table_column_name(table, j), "type",
                                        number ? "number" : "text", "cells", cells_of(table, j)));
    }
    return columns;
}

/* [row, column, value], both counted from 0; null for tables that are not sparse. */
static json_t *entries_of(const mel_table *table)
{
    mel_features view;
    if (!mel_table_sparse(&view, table))
        return json_null();
    json_t *entries = json_array();
    for (size_t i = 0; i < view.n_rows; i++)
        for (size_t e = view.row_start[i]; e < view.row_start[i + 1]; e++)
            json_array_append_new(
                entries, json_pack("[I, I, f]", (json_int_t)i, (json_int_t)view.col[e], view.value[e]));
    return entries;
}

static json_t *warnings_of(const mel_table *table)
{
    json_t *warnings = json_array();
    for (size_t i = 0; i < mel_table_warnings(table); i++)
        json_array_append_new(warnings, json_string(mel_table_warning(table, i)));
    return warnings;
}

static json_t *reading_of(const mel_table *table)
{
    return json_pack("{s:I, s:I, s:o, s:o, s:s, s:o}", "rows", (json_int_t)mel_table_rows(table), "first_row",
                     (json_int_t)mel_table_row_number(table, 0), "columns", columns_of(table), "entries",
                     entries_of(table), "how", mel_table_how(table), "warnings", warnings_of(table));
}

static int dump(const char *path, const reading *r)
{
    mel_table *table = NULL;
    mel_error err = { 0 };
    const mel_status status = mel_table_read(&table, path, &r->options, &err);
    json_t *shown = status == MEL_OK
                        ? reading_of(table)
                        : json_pack("{s:s, s:s}", "error", err.text, "code", mel_status_name(status));
    const bool written =
        shown != NULL && json_dumpf(shown, stdout, JSON_REAL_PRECISION(17)) == 0 && putchar('\n') != EOF;
    json_decref(shown);
    mel_table_free(table);
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    reading r = { 0 };
    reset(&r);
    int failed = argc < 2 ? wrong_usage("no file") : 0;
    for (int i = 1; i < argc && failed == 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            failed = dump(argv[i], &r);
            reset(&r);
        } else {
            char *setting = strcmp(argv[i], "--read") == 0 && i + 1 < argc ? argv[++i] : argv[i];
            char *value = strchr(setting, '=');
            if (value != NULL)
                *value++ = '\0';
            const bool done = value != NULL ? set_value(&r, setting, value) : set_flag(&r, setting);
            failed = done ? 0 : wrong_usage(setting);
        }
    }
    return failed;
}
