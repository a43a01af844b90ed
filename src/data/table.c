/* Tables: columns of numbers and of categories, dense or sparse; what a reader has to say about them. */
#include "data/table.h"
#include "data/quote.h"
#include "data/shared.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mel_dict *mel_column_numbers(size_t n)
{
    mel_dict *names = mel_dict_new();
    for (size_t i = 0; names != NULL && i < n; i++) {
        char name[32];
        const int length = snprintf(name, sizeof name, "c%zu", i + 1);
        if (mel_dict_add(names, name, (size_t)length, mel_dict_hash(name, (size_t)length)) == MEL_MISSING) {
            mel_dict_free(names);
            return NULL;
        }
    }
    return names;
}

mel_table *mel_table_new(const char *name, mel_dict *names, size_t n_columns)
{
    mel_table *table = mel_alloc_zero(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->names = mel_dict_share(names);
    table->n_columns = n_columns;
    table->name = mel_strdup(name);
    table->column = mel_alloc_zero(n_columns, sizeof *table->column);
    if (table->name == NULL || table->column == NULL) {
        mel_table_free(table);
        return NULL;
    }
    return table;
}

void mel_table_free(mel_table *table)
{
    if (table == NULL)
        return;
    for (size_t j = 0; table->column != NULL && j < table->n_columns; j++) {
        free(table->column[j].numbers);
        free(table->column[j].codes);
        mel_dict_free(table->column[j].dict);
    }
    free(table->column);
    mel_dict_free(table->names);
    free(table->name);
    free(table->origin);
    free(table->row_name);
    free(table->sparse.row_start);
    free(table->sparse.col);
    free(table->sparse.value);
    mel_notes_clear(&table->notes);
    free(table);
}

const char *mel_table_how(const mel_table *table)
{
    return table->notes.how != NULL ? table->notes.how : "";
}

size_t mel_table_warnings(const mel_table *table)
{
    return table->notes.n_warnings;
}

const char *mel_table_warning(const mel_table *table, size_t i)
{
    return table->notes.warning[i];
}

size_t mel_table_rows(const mel_table *table)
{
    return table->n_rows;
}

size_t mel_table_columns(const mel_table *table)
{
    return table->n_columns;
}

const char *mel_table_name(const mel_table *table)
{
    return table->name;
}

size_t mel_table_row_number(const mel_table *table, size_t row)
{
    if (table->origin != NULL)
        return table->origin[row];
    return table->first_row + row;
}

const char *mel_table_column_name(const mel_table *table, size_t column)
{
    return mel_dict_text(table->names, column);
}

mel_column_type mel_table_column_type(const mel_table *table, size_t column)
{
    return table->column[column].type;
}

size_t mel_table_find(const mel_table *table, const char *column_name)
{
    const size_t n = strlen(column_name);
    const uint32_t code = mel_dict_find(table->names, column_name, n, mel_dict_hash(column_name, n));
    return code == MEL_MISSING ? SIZE_MAX : code;
}

static const char *name_number(const void *user, size_t i)
{
    const mel_dict *names = user;
    return i < names->n ? mel_dict_text(names, i) : NULL;
}

mel_status mel_fail_no_column(const mel_dict *names, const char *name, const char *option, mel_error *err)
{
    char what[160];
    const bool given = option != NULL;
    (void)snprintf(what, sizeof what, "%sno column %s%s%s%s", given ? "" : "there is ",
                   mel_quote_text(name).text, given ? " (" : "", given ? option : "", given ? ")" : "");
    const char *near = mel_nearest(name, name_number, names);
    if (near != NULL)
        return mel_fail(err, MEL_EDATA, "%s; did you mean %s?", what, mel_quote_text(near).text);
    enum { ROOM = 160, MARGIN = 8 };
    char list[ROOM] = "";
    size_t used = 0, i = 0;
    for (; i < names->n && used + mel_dict_length(names, i) + MARGIN < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i != 0 ? ", " : "",
                                 mel_dict_text(names, i));
    return mel_fail(err, MEL_EDATA, "%s; there are %s%s", what, list, i == names->n ? "" : ", ...");
}

/* The sentence in `text`, behind the place that it is about; row SIZE_MAX: the whole column. */
static mel_status fail_place(mel_error *err, const mel_table *table, size_t row, size_t column,
                             const char *text)
{
    const mel_quoted_file file = mel_quote_file(table->name);
    const mel_quoted name = mel_quote_text(mel_table_column_name(table, column));
    return row == SIZE_MAX ? mel_fail(err, MEL_EDATA, "%s: column %s%s", file.text, name.text, text)
                           : mel_fail(err, MEL_EDATA, "%s: row %zu, column %s: %s", file.text,
                                      mel_table_row_number(table, row), name.text, text);
}

mel_status mel_cell_error(mel_error *err, const mel_table *table, size_t row, size_t column, const char *fmt,
                          ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    (void)mel_vprint(text, sizeof text, fmt, args);
    va_end(args);
    return fail_place(err, table, row, column, text);
}

mel_status mel_column_error(mel_error *err, const mel_table *table, size_t column, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    (void)mel_vprint(text, sizeof text, fmt, args);
    va_end(args);
    return fail_place(err, table, SIZE_MAX, column, text);
}

mel_status mel_table_need(size_t *column, const mel_table *table, const char *name, mel_error *err)
{
    *column = mel_table_find(table, name);
    if (*column != SIZE_MAX)
        return MEL_OK;
    const mel_status status = mel_fail_no_column(table->names, name, NULL, err);
    return mel_fail_in(err, status, "%s", mel_quote_file(table->name).text);
}

mel_format mel_table_format(const mel_table *table)
{
    return table->format;
}

bool mel_table_has_header(const mel_table *table)
{
    return table->has_header;
}

const double *mel_table_numbers(const mel_table *table, size_t column)
{
    return table->column[column].numbers;
}

const uint32_t *mel_table_codes(const mel_table *table, size_t column)
{
    return table->column[column].codes;
}

bool mel_table_is_declared(const mel_table *table, size_t column)
{
    return table->column[column].declared;
}

size_t mel_table_categories(const mel_table *table, size_t column)
{
    const mel_dict *dict = table->column[column].dict;
    return dict != NULL ? dict->n : 0;
}

const char *mel_table_category(const mel_table *table, size_t column, uint32_t code)
{
    return mel_dict_text(table->column[column].dict, code);
}

size_t mel_table_matrix(const mel_table *table)
{
    return table->matrix;
}

bool mel_table_sparse(mel_features *out, const mel_table *table)
{
    if (!table->is_sparse)
        return false;
    *out = (mel_features){ .n_rows = table->n_rows,
                           .n_cols = table->sparse.n_features,
                           .row_start = table->sparse.row_start,
                           .col = table->sparse.col,
                           .value = table->sparse.value };
    return true;
}

static bool take_column(mel_column *out, const mel_column *from, const size_t *rows, size_t n)
{
    out->type = from->type;
    out->percent = from->percent;
    out->currency = from->currency;
    out->declared = from->declared;
    out->all_names = from->all_names;
    out->all_quoted = from->all_quoted;
    out->widths = from->widths;
    out->left_out = from->left_out;
    if (from->type == MEL_COLUMN_TEXT) {
        out->dict = mel_dict_share(from->dict);
        out->codes = mel_alloc(n, sizeof *out->codes);
        for (size_t i = 0; out->codes != NULL && i < n; i++)
            out->codes[i] = from->codes[rows[i]];
        return out->codes != NULL;
    }
    out->numbers = mel_alloc(n, sizeof *out->numbers);
    for (size_t i = 0; out->numbers != NULL && i < n; i++)
        out->numbers[i] = from->numbers[rows[i]];
    return out->numbers != NULL;
}

static bool take_sparse(mel_sparse *out, const mel_sparse *from, const size_t *rows, size_t n)
{
    out->zero_based = from->zero_based;
    out->n_features = from->n_features;
    out->row_start = mel_alloc(n + 1, sizeof *out->row_start);
    if (out->row_start == NULL)
        return false;
    out->row_start[0] = 0;
    for (size_t i = 0; i < n; i++)
        out->row_start[i + 1] = out->row_start[i] + (from->row_start[rows[i] + 1] - from->row_start[rows[i]]);
    out->col = mel_alloc(out->row_start[n], sizeof *out->col);
    out->value = mel_alloc(out->row_start[n], sizeof *out->value);
    if (out->col == NULL || out->value == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const size_t start = from->row_start[rows[i]], size = from->row_start[rows[i] + 1] - start;
        memcpy(out->col + out->row_start[i], from->col + start, size * sizeof *out->col);
        memcpy(out->value + out->row_start[i], from->value + start, size * sizeof *out->value);
    }
    return true;
}

static bool take_all(mel_table *out, const mel_table *table, const size_t *rows, size_t n)
{
    out->origin = mel_alloc(n, sizeof *out->origin);
    if (out->origin == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        out->origin[i] = mel_table_row_number(table, rows[i]);
    for (size_t j = 0; j < table->n_columns; j++)
        if (!take_column(&out->column[j], &table->column[j], rows, n))
            return false;
    out->n_rows = n;
    out->is_sparse = table->is_sparse;
    return !table->is_sparse || take_sparse(&out->sparse, &table->sparse, rows, n);
}

mel_status mel_table_take(mel_table **out, const mel_table *table, const size_t *rows, size_t n,
                          mel_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < n; i++)
        if (rows[i] >= table->n_rows)
            return mel_fail(err, MEL_EINVAL, "%s: row index %zu of a table with %zu rows",
                            mel_quote_file(table->name).text, rows[i], table->n_rows);
    mel_table *taken = mel_table_new(table->name, table->names, table->n_columns);
    if (taken == NULL || !take_all(taken, table, rows, n)) {
        mel_table_free(taken);
        return mel_fail_memory(err, "the rows of a table");
    }
    taken->has_header = table->has_header;
    *out = taken;
    return MEL_OK;
}

/* --- notes: how a file was read, and what may be a mistake; notices kept as bytes ----------------------- */

enum { LONGEST = 400 };

mel_count_words mel_count_text(size_t n)
{
    char digits[24];
    mel_count_words out;
    const int length = snprintf(digits, sizeof digits, "%zu", n);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0)
            out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

static mel_status add_warning(mel_notes *notes, const char *sentence, mel_error *err)
{
    TRY(MEL_NEED(MEL_GROW(notes->warning, notes->n_warnings + 1), "warnings", err));
    TRY(MEL_NEED(notes->warning[notes->n_warnings] = mel_strdup(sentence), "warnings", err));
    notes->n_warnings++;
    return MEL_OK;
}

mel_status mel_notes_warn(mel_notes *notes, mel_error *err, const char *fmt, ...)
{
    char sentence[LONGEST];
    va_list args;
    va_start(args, fmt);
    (void)mel_vprint(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return add_warning(notes, sentence, err);
}

mel_status mel_notes_how(mel_notes *notes, mel_error *err, const char *fmt, ...)
{
    char sentence[LONGEST];
    va_list args;
    va_start(args, fmt);
    (void)mel_vprint(sentence, sizeof sentence, fmt, args);
    va_end(args);
    free(notes->how);
    notes->how = mel_strdup(sentence);
    return notes->how != NULL ? MEL_OK : mel_fail_memory(err, "notes on a file");
}

void mel_notes_clear(mel_notes *notes)
{
    for (size_t i = 0; i < notes->n_warnings; i++)
        free(notes->warning[i]);
    free(notes->warning);
    free(notes->how);
    *notes = (mel_notes){ 0 };
}

mel_status mel_notes_check(const mel_notes *notes, bool strict, mel_error *err)
{
    return strict && notes->n_warnings != 0
               ? mel_fail(err, MEL_EDATA, "%s (refused: reading is strict)", notes->warning[0])
               : MEL_OK;
}

void mel_notes_say(const mel_notes *notes, const char *file, mel_format format, const mel_notice *notice)
{
    if (notice->call == NULL)
        return;
    if (notes->how != NULL)
        notice->call(notice->user, file, format, notes->how, false);
    for (size_t i = 0; i < notes->n_warnings; i++)
        notice->call(notice->user, file, format, notes->warning[i], true);
}

/* Before the name of a file and a sentence about it, each with its end. */
typedef struct {
    mel_format format;
    bool is_warning;
    size_t name, sentence; /* bytes */
} head;

void mel_kept_notices_clear(mel_kept_notices *kept)
{
    free(kept->bytes);
    *kept = (mel_kept_notices){ 0 };
}

void mel_kept_notices_add(mel_kept_notices *kept, const void *bytes, size_t n)
{
    kept->lost = kept->lost || !MEL_GROW(kept->bytes, kept->n + n);
    if (kept->lost)
        return;
    memcpy(kept->bytes + kept->n, bytes, n);
    kept->n += n;
}

static void keep_notice(void *user, const char *file, mel_format format, const char *sentence,
                        bool is_warning)
{
    mel_kept_notices *kept = user;
    const head h = { format, is_warning, strlen(file) + 1, strlen(sentence) + 1 };
    kept->formats |= 1U << format;
    mel_kept_notices_add(kept, &h, sizeof h);
    mel_kept_notices_add(kept, file, h.name);
    mel_kept_notices_add(kept, sentence, h.sentence);
}

mel_notice mel_notice_to_keep(mel_kept_notices *kept)
{
    return (mel_notice){ keep_notice, kept };
}

void mel_kept_notices_say(const char *bytes, size_t n, const mel_notice *notice)
{
    for (const char *at = bytes; at < bytes + n && notice->call != NULL;) {
        head h;
        memcpy(&h, at, sizeof h);
        at += sizeof h;
        notice->call(notice->user, at, h.format, at + h.name, h.is_warning);
        at += h.name + h.sentence;
    }
}
