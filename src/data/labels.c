/* Class labels of a table: found, ordered, named, recoded, made of numbers at their quantiles, split; names
 * that look the same. */
#include "base/internal.h"
#include "base/stat.h"
#include "base/team.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/table.h"
#include "melicit/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- names that look the same --------------------------------------------------------------------------- */

/* Combining marks with the letters that have a character of their own with them (Unicode's canonical
 * compositions of Latin letters, U+00C0 to U+017F). */
static const struct {
    uint32_t mark;
    char letter[25];
    uint16_t composed[24];
} accents[] = {
    { 0x300, "AEIOUaeiou", { 0x0C0, 0x0C8, 0x0CC, 0x0D2, 0x0D9, 0x0E0, 0x0E8, 0x0EC, 0x0F2, 0x0F9 } },
    { 0x301, "AEIOUYaeiouyCcLlNnRrSsZz", { 0x0C1, 0x0C9, 0x0CD, 0x0D3, 0x0DA, 0x0DD, 0x0E1, 0x0E9,
                                           0x0ED, 0x0F3, 0x0FA, 0x0FD, 0x106, 0x107, 0x139, 0x13A,
                                           0x143, 0x144, 0x154, 0x155, 0x15A, 0x15B, 0x179, 0x17A } },
    { 0x302, "AEIOUaeiouCcGgHhJjSsWwYy", { 0x0C2, 0x0CA, 0x0CE, 0x0D4, 0x0DB, 0x0E2, 0x0EA, 0x0EE,
                                           0x0F4, 0x0FB, 0x108, 0x109, 0x11C, 0x11D, 0x124, 0x125,
                                           0x134, 0x135, 0x15C, 0x15D, 0x174, 0x175, 0x176, 0x177 } },
    { 0x303, "ANOanoIiUu", { 0x0C3, 0x0D1, 0x0D5, 0x0E3, 0x0F1, 0x0F5, 0x128, 0x129, 0x168, 0x169 } },
    { 0x304, "AaEeIiOoUu", { 0x100, 0x101, 0x112, 0x113, 0x12A, 0x12B, 0x14C, 0x14D, 0x16A, 0x16B } },
    { 0x306,
      "AaEeGgIiOoUu",
      { 0x102, 0x103, 0x114, 0x115, 0x11E, 0x11F, 0x12C, 0x12D, 0x14E, 0x14F, 0x16C, 0x16D } },
    { 0x307, "CcEeGgIZz", { 0x10A, 0x10B, 0x116, 0x117, 0x120, 0x121, 0x130, 0x17B, 0x17C } },
    { 0x308,
      "AEIOUaeiouyY",
      { 0x0C4, 0x0CB, 0x0CF, 0x0D6, 0x0DC, 0x0E4, 0x0EB, 0x0EF, 0x0F6, 0x0FC, 0x0FF, 0x178 } },
    { 0x30A, "AaUu", { 0x0C5, 0x0E5, 0x16E, 0x16F } },
    { 0x30B, "OoUu", { 0x150, 0x151, 0x170, 0x171 } },
    { 0x30C,
      "CcDdEeLlNnRrSsTtZz",
      { 0x10C, 0x10D, 0x10E, 0x10F, 0x11A, 0x11B, 0x13D, 0x13E, 0x147, 0x148, 0x158, 0x159, 0x160, 0x161,
        0x164, 0x165, 0x17D, 0x17E } },
    { 0x327,
      "CcGgKkLlNnRrSsTt",
      { 0x0C7, 0x0E7, 0x122, 0x123, 0x136, 0x137, 0x13B, 0x13C, 0x145, 0x146, 0x156, 0x157, 0x15E, 0x15F,
        0x162, 0x163 } },
    { 0x328, "AaEeIiUu", { 0x104, 0x105, 0x118, 0x119, 0x12E, 0x12F, 0x172, 0x173 } },
};

static uint32_t compose(uint32_t letter, uint32_t mark)
{
    for (size_t i = 0; i < sizeof accents / sizeof *accents && letter < 0x80; i++) {
        const char *at = accents[i].mark == mark ? strchr(accents[i].letter, (int)letter) : NULL;
        if (at != NULL && *at != '\0')
            return accents[i].composed[at - accents[i].letter];
    }
    return 0;
}

static uint32_t decode_utf8(const char *p, size_t n)
{
    const unsigned char *b = (const unsigned char *)p;
    return n == 1   ? b[0]
           : n == 2 ? (uint32_t)(b[0] & 0x1F) << 6 | (b[1] & 0x3F)
           : n == 3 ? (uint32_t)(b[0] & 0x0F) << 12 | (uint32_t)(b[1] & 0x3F) << 6 | (b[2] & 0x3F)
                    : 0x10000;
}

static bool is_unicode_blank(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

static bool has_no_width(uint32_t c)
{
    return c == 0xAD || (c >= 0x200B && c <= 0x200F) || c == 0x2060 || c == 0xFEFF;
}

/* What remains of a name, which is never longer: for the caller to free(); NULL if out of memory. */
static char *fold_name(const char *name)
{
    const size_t n = strlen(name);
    char *out = mel_alloc(n + MEL_UTF8_LONGEST + 1, 1);
    size_t used = 0, last = 0; /* last: where the character before this one began */
    bool gap = false;
    for (size_t i = 0, length = 0; out != NULL && i < n; i += length) {
        length = mel_utf8_length(name + i, n - i);
        const uint32_t c = length > 0 ? decode_utf8(name + i, length) : 0x10000;
        length = length > 0 ? length : 1;
        if (has_no_width(c))
            continue;
        gap = gap || is_unicode_blank(c);
        if (is_unicode_blank(c))
            continue;
        const uint32_t whole = used > 0 && !gap ? compose((unsigned char)out[last], c) : 0;
        if (whole != 0) {
            used = last + mel_utf8_put(out + last, whole);
            continue;
        }
        if (gap && used > 0)
            out[used++] = ' ';
        gap = false;
        last = used;
        memcpy(out + used, name + i, length);
        used += length;
    }
    if (out == NULL)
        return NULL;
    out[used] = '\0';
    static const char *const words[] = { "true", "false" };
    for (size_t w = 0; w < 2; w++)
        if (strcasecmp(out, words[w]) == 0)
            memcpy(out, words[w], used);
    return out;
}

typedef struct {
    char *folded;
    const char *name;
} folded_name;

static int compare_folded(const void *a, const void *b)
{
    return strcmp(((const folded_name *)a)->folded, ((const folded_name *)b)->folded);
}

mel_status mel_names_differ(size_t n, const char *const *name, const char *what, mel_error *err)
{
    folded_name *all = mel_alloc_zero(n + 1, sizeof *all);
    bool enough = all != NULL;
    for (size_t i = 0; i < n && enough; i++) {
        all[i] = (folded_name){ fold_name(name[i]), name[i] };
        enough = all[i].folded != NULL;
    }
    mel_status status = enough ? MEL_OK : mel_fail_memory(err, "names");
    if (enough)
        qsort(all, n, sizeof *all, compare_folded);
    for (size_t i = 1; i < n && status == MEL_OK; i++)
        if (strcmp(all[i - 1].folded, all[i].folded) == 0)
            status =
                mel_fail(err, MEL_EDATA,
                         "%s: %s and %s look the same: they differ only in blanks, invisible characters, the "
                         "case of true and false or how accents are stored; write them alike",
                         what, mel_quote_text(all[i - 1].name).text, mel_quote_text(all[i].name).text);
    for (size_t i = 0; all != NULL && i < n; i++)
        free(all[i].folded);
    free(all);
    return status;
}

/* --- labels --------------------------------------------------------------------------------------------- */

/* From 2^53 on different whole numbers are one double. */
static const double exact = 9007199254740992.0;

typedef struct {
    double value; /* 0 unless all are numbers */
    const char *text;
    size_t code;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* By value when all texts are numbers and may be taken for such, else by byte. Says whether they are numbers.
 */
static bool sort_keyed(keyed *key, size_t n, bool by_value)
{
    bool numbers = true;
    for (size_t i = 0; i < n; i++)
        numbers =
            numbers && mel_number_parse(key[i].text, strlen(key[i].text), &key[i].value) == MEL_NUMBER_FINITE;
    for (size_t i = 0; i < n && !(numbers && by_value); i++)
        key[i].value = 0.0;
    qsort(key, n, sizeof *key, compare_keyed);
    return numbers;
}

static mel_status order_texts(bool *numbers, const mel_dict *dict, size_t n, bool by_value,
                              const uint32_t *present, uint32_t *order, mel_error *err)
{
    MEL_ARRAY(keyed, key, n, "sorting class names", err);
    for (size_t i = 0; i < n; i++)
        key[i] = (keyed){ .text = mel_dict_text(dict, present[i]), .code = present[i] };
    *numbers = sort_keyed(key, n, by_value);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)key[i].code;
    return MEL_OK;
}

mel_status mel_order_texts(const mel_dict *dict, size_t n, const uint32_t *present, uint32_t *order,
                           mel_error *err)
{
    bool numbers;
    return order_texts(&numbers, dict, n, true, present, order, err);
}

mel_status mel_sort_class_names(size_t *order, size_t n, const char *const *names, bool texts, mel_error *err)
{
    MEL_ARRAY(keyed, key, n, "sorting class names", err);
    for (size_t i = 0; i < n; i++)
        key[i] = (keyed){ .text = names[i], .code = i };
    (void)sort_keyed(key, n, !texts);
    for (size_t i = 0; i < n; i++)
        order[i] = key[i].code;
    return MEL_OK;
}

bool mel_same_name(const char *text, size_t n, const char *name)
{
    const size_t m = strlen(name);
    double a, b;
    if (n == m && memcmp(text, name, n) == 0)
        return true;
    if (mel_has_zeros_in_front(text, n) || mel_has_zeros_in_front(name, m))
        return false;
    return mel_number_parse(text, n, &a) == MEL_NUMBER_FINITE &&
           mel_number_parse(name, m, &b) == MEL_NUMBER_FINITE && a == b && fabs(a) < exact;
}

bool mel_same_class_name(const char *a, const char *b)
{
    return mel_same_name(a, strlen(a), b);
}

size_t mel_count_codes(const mel_table *table, const mel_column *column, uint32_t *present, size_t *count)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (column->codes[i] != MEL_MISSING)
            count[column->codes[i]]++;
    for (size_t k = 0; k < column->dict->n; k++)
        if (count[k] != 0)
            present[n++] = (uint32_t)k;
    return n;
}

void mel_labels_clear(mel_labels *labels)
{
    mel_names_free(labels->name, labels->n_classes);
    free(labels->code);
    *labels = (mel_labels){ 0 };
}

static mel_status new_labels(mel_labels *out, size_t n_rows, size_t n_classes, mel_error *err)
{
    *out = (mel_labels){ .n_rows = n_rows, .n_classes = n_classes };
    out->code = mel_alloc(n_rows, sizeof *out->code);
    out->name = mel_alloc_zero(n_classes, sizeof *out->name);
    return out->code != NULL && out->name != NULL ? MEL_OK : mel_fail_memory(err, "class labels");
}

static mel_status name_label(mel_labels *out, size_t k, const char *name, mel_error *err)
{
    out->name[k] = mel_strdup(name);
    return out->name[k] != NULL ? MEL_OK : mel_fail_memory(err, "class names");
}

/* Does the text stand for a missing value? A "-" does, unless there is a "+" as well. A word that is missing
 * in every column would not be here had it not been quoted: it is a name. */
static bool is_missing_label(const mel_dict *dict, uint32_t code)
{
    const char *text = mel_dict_text(dict, code);
    size_t n = mel_dict_length(dict, code);
    mel_trim(&text, &n);
    if (!mel_missing_number(text, n) || mel_missing_text(text, n))
        return false;
    return n != 1 || *text != '-' || mel_dict_find(dict, "+", 1, mel_dict_hash("+", 1)) == MEL_MISSING;
}

/* A class is not called None by accident: only in quotes, or in a column that the caller declared to be text.
 */
static mel_status refuse_missing_words(const mel_table *table, size_t column, mel_error *err)
{
    const mel_column *c = &table->column[column];
    bool any = false;
    for (uint32_t code = 0; !c->all_names && code < c->dict->n; code++)
        any |= is_missing_label(c->dict, code);
    for (size_t i = 0; any && i < table->n_rows; i++) {
        if (!is_missing_label(c->dict, c->codes[i]))
            continue;
        const char *name = mel_table_column_name(table, column);
        return mel_fail_cell(
            err, table, i, column,
            "%s stands for a missing value; if it is meant as a name, read the column as text "
            "(column=%s:text), or put it in quotes",
            mel_quote_text(mel_dict_text(c->dict, c->codes[i])).text, name);
    }
    return MEL_OK;
}

/* Names the first missing cell of a column. */
static mel_status refuse_missing_cells(const mel_table *table, size_t column, mel_error *err)
{
    const double *numbers = table->column[column].numbers;
    const uint32_t *codes = table->column[column].codes;
    for (size_t i = 0; i < table->n_rows; i++)
        if (codes != NULL ? codes[i] == MEL_MISSING : isnan(numbers[i]))
            return mel_fail_cell(err, table, i, column, "the value is missing");
    return codes != NULL ? refuse_missing_words(table, column, err) : MEL_OK;
}

/* Whole numbers from 2^53 on that were different in the file may be the same double. */
static mel_status refuse_huge(const mel_table *table, size_t column, mel_error *err)
{
    const double *numbers = table->column[column].numbers;
    size_t row = 0;
    while (row < table->n_rows && !(fabs(numbers[row]) >= exact))
        row++;
    if (row == table->n_rows)
        return MEL_OK;
    const char *name = mel_table_column_name(table, column);
    const bool csv = table->format == MEL_FORMAT_CSV;
    return mel_fail_cell(
        err, table, row, column, "names that are numbers of 2^53 and beyond are not told apart; %s%s%s",
        csv ? "read the column as text (column=" : "store them as text, or with fewer digits",
        csv ? name : "", csv ? ":text)" : "");
}

/* Codes that were different in the file and are one number: beyond 2^53, or 01 and 1. */
static mel_status refuse_inexact(const mel_table *table, size_t column, mel_error *err)
{
    const mel_digit_widths *w = &table->column[column].widths;
    const bool mixed = w->shortest_padded < w->longest_padded ||
                       (w->shortest_other != 0 && w->shortest_other < w->longest_padded);
    if (!mixed || table->column[column].declared)
        return refuse_huge(table, column, err);
    const char *name = mel_table_column_name(table, column);
    return mel_fail_column(err, table, column,
                           ": some names have zeros in front and others are shorter, as 01 and 1, which are "
                           "different codes but one number; read the column as text (column=%s:text), or as "
                           "numbers (column=%s:number)",
                           name, name);
}

static size_t rank_of(const double *values, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* As the file has it: with zeros in front where the codes of the column do. */
static void print_code(char out[MEL_NUMBER_TEXT], const mel_column *column, double value)
{
    const size_t width = column->declared ? 0 : column->widths.longest_padded;
    if (width != 0 && width < MEL_NUMBER_TEXT && value >= 0.0 && value < exact && value == floor(value))
        (void)snprintf(out, MEL_NUMBER_TEXT, "%0*llu", (int)width, (unsigned long long)value);
    else
        mel_number_print(out, value);
}

/* Sorts n numbers and leaves one of each; how many there are. */
static size_t sort_distinct(double *numbers, size_t n)
{
    mel_sort(n, numbers);
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || numbers[i] != numbers[left - 1])
            numbers[left++] = numbers[i];
    return left;
}

enum { FEW = 64 };

/* The different values where they are FEW at most, as classes are: no copy of the column is sorted then. 0:
 * they are more, or there are none. */
static size_t few_distinct(double few[FEW], const double *numbers, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < found && few[at] != numbers[i])
            at++;
        if (at == FEW)
            return 0;
        if (at == found)
            few[found++] = numbers[i] == 0.0 ? 0.0 : numbers[i]; /* -0 is 0 */
    }
    return found;
}

static mel_status distinct_numbers(double **out, size_t *n, const double *numbers, const mel_table *table,
                                   mel_error *err)
{
    double few[FEW];
    const size_t n_few = few_distinct(few, numbers, table->n_rows), n_all = n_few > 0 ? n_few : table->n_rows;
    const double *from = n_few > 0 ? few : numbers;
    double *sorted = mel_alloc(n_all, sizeof *sorted);
    TRY(MEL_NEED(sorted, "sorting a column", err));
    for (size_t i = 0; i < n_all; i++)
        sorted[i] = from[i] == 0.0 ? 0.0 : from[i];
    *n = sort_distinct(sorted, n_all);
    *out = sorted;
    return MEL_OK;
}

static mel_status label_numbers(mel_labels *out, const mel_column *column, size_t n_rows,
                                const double *values, size_t n_values, mel_error *err)
{
    TRY(new_labels(out, n_rows, n_values, err));
    for (size_t i = 0; i < n_rows; i++)
        out->code[i] = (uint32_t)rank_of(values, n_values, column->numbers[i]);
    for (size_t k = 0; k < n_values; k++) {
        char name[MEL_NUMBER_TEXT];
        print_code(name, column, values[k]);
        TRY(name_label(out, k, name, err));
    }
    return MEL_OK;
}

static mel_status label_texts(mel_labels *out, const mel_column *column, const mel_table *table,
                              mel_error *err)
{
    const size_t n_codes = column->dict->n;
    MEL_ARRAY(size_t, count, n_codes, "class labels", err);
    MEL_ARRAY(uint32_t, order, n_codes, "class labels", err);
    MEL_ARRAY(uint32_t, rank, n_codes, "class labels", err);
    bool numbers = false;
    const size_t n = mel_count_codes(table, column, order, count);
    TRY(order_texts(&numbers, column->dict, n, false, order, order, err));
    TRY(new_labels(out, table->n_rows, n, err));
    out->number_texts = numbers;
    for (size_t k = 0; k < n; k++) {
        rank[order[k]] = (uint32_t)k;
        TRY(name_label(out, k, mel_dict_text(column->dict, order[k]), err));
    }
    for (size_t i = 0; i < table->n_rows; i++)
        out->code[i] = rank[column->codes[i]];
    return MEL_OK;
}

/* Numbers in quotes are texts, unless the column is declared or the file has quotes around all its numbers.
 */
static bool are_quoted_texts(const mel_table *table, size_t column)
{
    const mel_column *c = table->column;
    size_t others = 0, quoted = 0;
    for (size_t j = 0; j < table->n_columns; j++) {
        others += j != column && c[j].type == MEL_COLUMN_NUMBER;
        quoted += j != column && c[j].all_quoted;
    }
    return c[column].all_quoted && !c[column].declared && (others == 0 || quoted < others);
}

/* From the order of values into that of texts. */
static mel_status sort_as_texts(mel_labels *labels, mel_error *err)
{
    const size_t n = labels->n_classes;
    MEL_ARRAY(size_t, order, n, "sorting class names", err);
    MEL_ARRAY(uint32_t, rank, n, "sorting class names", err);
    MEL_ARRAY(char *, name, n, "sorting class names", err);
    TRY(mel_sort_class_names(order, n, (const char *const *)labels->name, true, err));
    for (size_t i = 0; i < n; i++) {
        name[i] = labels->name[order[i]];
        rank[order[i]] = (uint32_t)i;
    }
    memcpy(labels->name, name, n * sizeof *name);
    for (size_t i = 0; i < labels->n_rows; i++)
        labels->code[i] = rank[labels->code[i]];
    labels->number_texts = true;
    return MEL_OK;
}

static mel_status label_column(mel_labels *out, const mel_table *table, size_t column, mel_error *err)
{
    const mel_column *c = &table->column[column];
    MEL_AUTO_MEMORY double *values = NULL;
    size_t n_values = 0;
    TRY(refuse_missing_cells(table, column, err));
    if (c->type == MEL_COLUMN_TEXT)
        return label_texts(out, c, table, err);
    TRY(refuse_inexact(table, column, err));
    TRY(distinct_numbers(&values, &n_values, c->numbers, table, err));
    TRY(label_numbers(out, c, table->n_rows, values, n_values, err));
    return are_quoted_texts(table, column) ? sort_as_texts(out, err) : MEL_OK;
}

mel_status mel_table_groups(mel_labels *out, const mel_table *table, const char *column, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_labels) labels = { 0 };
    size_t j;
    *out = labels;
    TRY(mel_table_need(&j, table, column, err));
    TRY(label_column(&labels, table, j, err));
    char what[400];
    (void)snprintf(what, sizeof what, "%s: column %s", mel_quote_file(table->name).text,
                   mel_quote_text(column).text);
    if (table->column[j].type == MEL_COLUMN_TEXT)
        TRY(mel_names_differ(labels.n_classes, (const char *const *)labels.name, what, err));
    return MEL_GIVE_STRUCT(out, labels);
}

mel_status mel_table_labels(mel_labels *out, const mel_table *table, const char *column, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_labels) labels = { 0 };
    *out = labels;
    TRY(mel_table_groups(&labels, table, column, err));
    const size_t n = labels.n_classes, j = mel_table_find(table, column);
    if (n < 2)
        return mel_fail_column(err, table, j, " has one class only, %s; two are needed",
                               n == 1 ? mel_quote_text(labels.name[0]).text : "none");
    if (n > 2 && 2 * n > table->n_rows)
        return mel_fail_column(
            err, table, j,
            " has %zu different values in %zu rows, fewer than two rows for each; it does not "
            "hold classes",
            n, table->n_rows);
    return MEL_GIVE_STRUCT(out, labels);
}

static mel_status unknown_class(const mel_table *table, size_t column, size_t row, const char *text,
                                mel_error *err)
{
    return mel_fail_cell(err, table, row, column, "%s is not one of the known names",
                         mel_quote_text(text).text);
}

/* A number that is no known name, or one but for the zeros in front. */
static mel_status unknown_number(const mel_labels *labels, const mel_table *table, size_t column, size_t row,
                                 mel_error *err)
{
    const double x = table->column[column].numbers[row];
    char text[MEL_NUMBER_TEXT];
    print_code(text, &table->column[column], x);
    for (size_t k = 0; k < labels->n_classes; k++) {
        double value;
        if (mel_number_parse(labels->name[k], strlen(labels->name[k]), &value) == MEL_NUMBER_FINITE &&
            value == x)
            return mel_fail_cell(
                err, table, row, column,
                "%s is not the known name %s, as codes with zeros in front are others; if they "
                "are numbers, declare the column as such wherever it is (column=%s:number)",
                text, mel_quote_text(labels->name[k]).text, mel_table_column_name(table, column));
    }
    return unknown_class(table, column, row, text, err);
}

static mel_status numbers_as(mel_labels *out, const mel_table *table, size_t column, mel_error *err)
{
    const mel_column *c = &table->column[column];
    MEL_ARRAY(double, value, out->n_classes, "class labels", err); /* of the names that the column may have */
    for (size_t k = 0; k < out->n_classes; k++) {
        char text[MEL_NUMBER_TEXT];
        if (mel_number_parse(out->name[k], strlen(out->name[k]), &value[k]) != MEL_NUMBER_FINITE)
            value[k] = NAN;
        print_code(text, c, value[k]);
        if (!mel_same_class_name(text, out->name[k]))
            value[k] = NAN;
    }
    for (size_t i = 0; i < out->n_rows; i++) {
        size_t k = 0;
        while (k < out->n_classes && value[k] != c->numbers[i])
            k++;
        out->code[i] = (uint32_t)k;
        if (k == out->n_classes)
            return unknown_number(out, table, column, i, err);
    }
    return MEL_OK;
}

/* The only class that a text names in another spelling, or MEL_MISSING. */
static uint32_t find_same(const mel_labels *labels, const char *text)
{
    uint32_t found = MEL_MISSING;
    for (size_t k = 0; k < labels->n_classes; k++) {
        if (!mel_same_class_name(text, labels->name[k]))
            continue;
        if (found != MEL_MISSING)
            return MEL_MISSING;
        found = (uint32_t)k;
    }
    return found;
}

static mel_status texts_as(mel_labels *out, const mel_table *table, size_t column, mel_error *err)
{
    const mel_column *c = &table->column[column];
    MEL_ARRAY(uint32_t, map, c->dict->n, "class labels", err);
    for (uint32_t code = 0; code < c->dict->n; code++)
        map[code] = MEL_MISSING;
    for (size_t k = 0; k < out->n_classes; k++) {
        const size_t n = strlen(out->name[k]);
        const uint32_t code = mel_dict_find(c->dict, out->name[k], n, mel_dict_hash(out->name[k], n));
        if (code != MEL_MISSING)
            map[code] = (uint32_t)k;
    }
    for (uint32_t code = 0; code < c->dict->n; code++)
        if (map[code] == MEL_MISSING)
            map[code] = find_same(out, mel_dict_text(c->dict, code));
    for (size_t i = 0; i < out->n_rows; i++) {
        out->code[i] = map[c->codes[i]];
        if (out->code[i] == MEL_MISSING)
            return unknown_class(table, column, i, mel_dict_text(c->dict, c->codes[i]), err);
    }
    return MEL_OK;
}

mel_status mel_table_labels_as(mel_labels *out, const mel_table *table, const char *column, size_t n_classes,
                               const char *const *names, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_labels) labels = { 0 };
    size_t j = 0;
    *out = labels;
    TRY(mel_table_need(&j, table, column, err));
    TRY(refuse_missing_cells(table, j, err));
    const bool numbers = table->column[j].type == MEL_COLUMN_NUMBER;
    if (numbers)
        TRY(refuse_inexact(table, j, err));
    TRY(new_labels(&labels, table->n_rows, n_classes, err));
    for (size_t k = 0; k < n_classes; k++)
        TRY(name_label(&labels, k, names[k], err));
    TRY(numbers ? numbers_as(&labels, table, j, err) : texts_as(&labels, table, j, err));
    return MEL_GIVE_STRUCT(out, labels);
}

/* --- classes at quantiles ---------------------------------------------------------------------------- */

static mel_status name_interval(mel_labels *out, size_t k, const double *cut, mel_error *err)
{
    char low[MEL_NUMBER_TEXT], high[MEL_NUMBER_TEXT], name[2 * MEL_NUMBER_TEXT + 8];
    if (k != 0)
        mel_number_print(low, cut[k - 1]);
    if (k + 1 != out->n_classes)
        mel_number_print(high, cut[k]);
    if (k == 0)
        (void)snprintf(name, sizeof name, "<= %s", high);
    else if (k + 1 == out->n_classes)
        (void)snprintf(name, sizeof name, "> %s", low);
    else
        (void)snprintf(name, sizeof name, "(%s, %s]", low, high);
    return name_label(out, k, name, err);
}

/* Class k would have no rows because too many share the value just below it, sorted[below - 1]. */
static mel_status fail_empty(const double *sorted, size_t n, size_t below, size_t n_classes, size_t k,
                             mel_error *err)
{
    const double tied = sorted[below - 1];
    const size_t ties = below - rank_of(sorted, n, tied);
    char text[MEL_NUMBER_TEXT];
    mel_number_print(text, tied);
    return mel_fail(err, MEL_EDATA,
                    "quantile class %zu of %zu would be empty: %zu of %zu rows have the value %s", k + 1,
                    n_classes, ties, n, text);
}

/* sorted and cut are working memory for n_rows and n_classes numbers. */
static mel_status recode(mel_labels *out, const double *numbers, size_t n, double *sorted, double *cut,
                         size_t n_classes, mel_error *err)
{
    memcpy(sorted, numbers, n * sizeof *sorted);
    mel_sort(n, sorted);
    for (size_t k = 1; k < n_classes; k++)
        cut[k - 1] = mel_quantile_sorted(n, sorted, (double)k / (double)n_classes);
    for (size_t k = 0; k < n_classes; k++) {
        /* Class k has the rows above cut k - 1 and not above cut k; count from the sorted column. */
        size_t below = k == 0 ? 0 : rank_of(sorted, n, cut[k - 1]);
        while (k != 0 && below < n && sorted[below] == cut[k - 1])
            below++;
        if (below == n || (k + 1 < n_classes && sorted[below] > cut[k]))
            return fail_empty(sorted, n, below, n_classes, k, err);
    }
    TRY(new_labels(out, n, n_classes, err));
    for (size_t i = 0; i < n; i++)
        out->code[i] = (uint32_t)rank_of(cut, n_classes - 1, numbers[i]);
    for (size_t k = 0; k < n_classes; k++)
        TRY(name_interval(out, k, cut, err));
    return MEL_OK;
}

mel_status mel_table_quantile_labels(mel_labels *out, const mel_table *table, const char *column,
                                     size_t n_classes, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_labels) labels = { 0 };
    size_t j;
    *out = labels;
    TRY(mel_table_need(&j, table, column, err));
    if (n_classes < 2 || n_classes >= MEL_MISSING)
        return mel_fail(err, MEL_EINVAL, "%zu quantile classes; two or more are needed", n_classes);
    if (table->column[j].type != MEL_COLUMN_NUMBER)
        return mel_fail_column(err, table, j, " is text; quantiles need numbers");
    if (n_classes > table->n_rows)
        return mel_fail_column(err, table, j, ": %zu rows cannot fill %zu quantile classes", table->n_rows,
                               n_classes);
    TRY(refuse_missing_cells(table, j, err));
    MEL_ARRAY(double, sorted, table->n_rows + n_classes, "quantiles", err);
    const mel_status status = recode(&labels, table->column[j].numbers, table->n_rows, sorted,
                                     sorted + table->n_rows, n_classes, err);
    if (status == MEL_EDATA)
        return mel_fail_in(err, status, "%s: column %s", mel_quote_file(table->name).text,
                           mel_quote_text(column).text);
    TRY(status);
    return MEL_GIVE_STRUCT(out, labels);
}

/* --- a seeded stratified split ----------------------------------------------------------------------- */

typedef struct {
    uint64_t cell; /* class, then group */
    size_t row;
} stratum_row;

static int compare_strata(const void *a, const void *b)
{
    const stratum_row *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Rows of the first part among n that follow `before` others. Rounding the running total rather than
 * each cell keeps the parts of a class, and of the whole, within one row too. */
static size_t first_part(size_t before, size_t n, double share)
{
    const double due = share * (double)n;
    double take = floor(share * (double)(before + n) + 0.5) - floor(share * (double)before + 0.5);
    take = fmin(fmax(take, floor(due)), ceil(due));
    return (size_t)take;
}

static void split_sorted(bool *first, size_t n, const stratum_row *rows, size_t *index, double share,
                         uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && rows[to].cell == rows[from].cell; to++)
            index[to - from] = rows[to].row;
        mel_rng_shuffle(&rng, to - from, index);
        const size_t take = first_part(from, to - from, share);
        for (size_t i = 0; i < to - from; i++)
            first[index[i]] = i < take;
    }
}

mel_status mel_split(bool *first, size_t n, const uint32_t *label, const uint32_t *group, double share,
                     uint64_t seed, mel_error *err)
{
    if (!(share >= 0.0 && share <= 1.0))
        return mel_fail(err, MEL_EINVAL, "a share of %g rows; it must be from 0 to 1", share);
    MEL_ARRAY(stratum_row, rows, n, "splitting rows", err);
    MEL_ARRAY(size_t, index, n, "splitting rows", err);
    for (size_t i = 0; i < n; i++)
        rows[i] = (stratum_row){ (uint64_t)label[i] << 32 | (group != NULL ? group[i] : 0), i };
    qsort(rows, n, sizeof *rows, compare_strata);
    split_sorted(first, n, rows, index, share, seed);
    return MEL_OK;
}
