/* Decisions about classes: columns of them in files, and the numbers that stand for them. */
#include "data/shared.h"
#include "problem/names.h"
#include "problem/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Decimal digits only, as label columns have them. */
static bool parse_value(double *out, const char *text)
{
    char *end;
    *out = mel_to_double(text, &end);
    return *text != '\0' && text[strspn(text, "0123456789+-.eE")] == '\0' && *end == '\0' && isfinite(*out);
}

/* Are all names numbers, and all different? */
static bool are_numbers(double *value, size_t n, const char *const *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!parse_value(&value[i], name[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (value[j] == value[i])
                return false;
    }
    return true;
}

mel_status mel_class_values(double *value, bool *whole, size_t n, const char *const *label, mel_error *err)
{
    const double exact = 9007199254740992.0; /* whole numbers beyond 2^53 are not all doubles */
    *whole = true;
    if (are_numbers(value, n, label)) {
        for (size_t i = 0; i < n; i++)
            *whole = *whole && value[i] == floor(value[i]) && fabs(value[i]) < exact;
        return MEL_OK;
    }
    size_t *order = mel_alloc(n, sizeof *order);
    if (order == NULL)
        return mel_fail_memory(err, "an order of classes");
    const mel_status status = mel_sort_class_names(order, n, label, false, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        value[order[i]] = (double)i;
    free(order);
    return status;
}

/* Numbers 0, 1, ... that stand for labels in sorted order. *row: the first one that does not. */
static bool decode_rows(size_t *row, uint32_t *out, const mel_table *table, size_t column,
                        const mel_classes *c)
{
    const double *number = mel_table_numbers(table, column);
    for (*row = 0; *row < mel_table_rows(table); ++*row) {
        const double place = number[*row];
        if (!(place >= 0.0 && place < (double)c->n && place == floor(place)))
            return false;
        uint32_t code = 0;
        while (c->place[code] != (size_t)place)
            code++;
        out[*row] = code;
    }
    return true;
}

static mel_status decode(mel_labels *out, const mel_table *table, size_t column, const mel_classes *c,
                         mel_error *err)
{
    const size_t rows = mel_table_rows(table);
    *out = (mel_labels){ .n_rows = rows,
                         .n_classes = c->n,
                         .code = mel_alloc(rows, sizeof *out->code),
                         .name = mel_names_copy(c->n, (const char *const *)c->label, 0) };
    size_t row = 0;
    mel_status status = MEL_OK;
    if (out->code == NULL || out->name == NULL)
        status = mel_fail_memory(err, "decisions");
    else if (!decode_rows(&row, out->code, table, column, c))
        status = mel_fail(
            err, MEL_EDATA,
            "%s: row %zu: %g; decisions between %s in an NPY file are their numbers 0 to %zu in sorted "
            "order; a CSV file has their names; where the labels lack a class, --classes gives all of them",
            mel_table_name(table), mel_table_row_number(table, row), mel_table_numbers(table, column)[row],
            mel_name_list(c->n, (const char *const *)c->label).text, c->n - 1);
    if (status != MEL_OK)
        mel_labels_clear(out);
    return status;
}

bool mel_decisions_are_places(const mel_table *table, const char *column, const mel_classes *c)
{
    const size_t at = mel_table_find(table, column);
    const mel_format format = mel_table_format(table);
    if (at == SIZE_MAX || mel_table_numbers(table, at) == NULL ||
        (format != MEL_FORMAT_NPY && format != MEL_FORMAT_NPZ))
        return false;
    double value, other;
    for (size_t i = 0; i < c->n; i++) { /* new names do not count: see the writer */
        if (!parse_value(&value, c->label[i]))
            return true;
        for (size_t j = 0; j < i; j++)
            if (parse_value(&other, c->label[j]) && other == value)
                return true;
    }
    return false;
}

mel_status mel_classes_decisions(mel_labels *out, const mel_table *table, const char *column,
                                 const mel_classes *c, mel_error *err)
{
    const char *const *label = (const char *const *)c->label, *const *name = (const char *const *)c->name;
    if (mel_decisions_are_places(table, column, c))
        return decode(out, table, mel_table_find(table, column), c, err);
    mel_error why = { .code = MEL_OK }, other;
    const mel_status status = mel_table_labels_as(out, table, column, c->n, label, &why);
    if (status == MEL_OK || mel_table_labels_as(out, table, column, c->n, name, &other) == MEL_OK)
        return MEL_OK;
    return status == MEL_EDATA
               ? mel_fail(err, status, "%s: the classes are %s", why.text, mel_name_list(c->n, label).text)
               : mel_fail(err, status, "%s", why.text);
}
