/* Columns that cannot be features, judged by their values. */
#include "data/labels.h"
#include "data/money.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In fewer rows much is alike by chance. */
enum { LEAST_ROWS = 20 };

static bool is_number(const char *text, size_t n)
{
    char own[64]; /* what follows may continue a number: "12EUR" */
    if (n >= sizeof own)
        return false;
    memcpy(own, text, n);
    own[n] = '\0';
    return mel_number_styled(own, n, '.').shape != MEL_SHAPE_OTHER;
}

/* "2024-01-31", "31/1/24 10:30": three numbers with the same mark between them, then the end or a time. */
static bool is_date(const char *text, size_t n)
{
    size_t at = 0;
    char mark = '\0';
    for (int part = 0; part < 3; part++) {
        size_t digits = 0;
        for (; at < n && text[at] >= '0' && text[at] <= '9'; at++)
            digits++;
        if (digits == 0 || digits > 4)
            return false;
        if (part == 2)
            break;
        if (at == n || strchr("-/.", text[at]) == NULL || (mark != '\0' && text[at] != mark))
            return false;
        mark = text[at++];
    }
    return at == n || text[at] == ' ' || text[at] == 'T';
}

static size_t count_texts(bool (*is)(const char *text, size_t n), const mel_dict *dict,
                          const uint32_t *present, size_t n)
{
    size_t fits = 0;
    for (size_t i = 0; i < n; i++)
        fits += is(mel_dict_text(dict, present[i]), mel_dict_length(dict, present[i]));
    return fits;
}

/* Some with a currency and some without: nobody knows whether these are of the same. */
static bool has_money_and_numbers(const mel_dict *dict, const uint32_t *present, size_t n)
{
    const size_t money = count_texts(mel_is_money, dict, present, n);
    return money > 0 && 10 * (money + count_texts(is_number, dict, present, n)) >= 9 * n;
}

/* What at least nine of ten of the texts are, and what to do about it. */
static void judge_texts(mel_unfit *why, const char *name, const mel_dict *dict, const uint32_t *present,
                        size_t n, size_t n_rows)
{
    static const struct {
        bool (*is)(const char *text, size_t n);
        const char *what, *instead;
    } kinds[] = { { mel_is_money, "money", "write plain numbers (1234.5) to use it" },
                  { is_date, "dates", "write numbers (a year, days since then) to use it" },
                  { NULL, "names or ids", "write what they say as columns of their own to use it" } };
    size_t kind = 0;
    while (kinds[kind].is != NULL && 10 * count_texts(kinds[kind].is, dict, present, n) < 9 * n)
        kind++;
    if (has_money_and_numbers(dict, present, n))
        kind = 0;
    (void)snprintf(why->text, sizeof why->text,
                   "column %.80s looks like %s (%s): %s different texts in %s rows; left out; %s, or give "
                   "column=%.80s:text to keep it",
                   name, kinds[kind].what, mel_quote_text(mel_dict_text(dict, present[0])).text,
                   mel_count_text(n).text, mel_count_text(n_rows).text, kinds[kind].instead, name);
}

/* Nine of ten rows with a value have one of their own. The reader has told of numbers with other texts among
 * them. */
static mel_status look_at_texts(mel_unfit *why, const mel_table *table, size_t j, mel_error *err)
{
    const mel_column *column = &table->column[j];
    const size_t n_codes = column->dict->n;
    if (10 * n_codes < 9 * (size_t)LEAST_ROWS)
        return MEL_OK;
    MEL_ARRAY(uint32_t, present, n_codes, "the categories of a column", err);
    MEL_ARRAY(size_t, count, n_codes, "the categories of a column", err);
    const size_t n = mel_count_codes(table, column, present, count);
    size_t n_known = 0;
    for (size_t k = 0; k < n; k++)
        n_known += count[present[k]];
    if (n_known >= LEAST_ROWS && 10 * n >= 9 * n_known &&
        (2 * count_texts(is_number, column->dict, present, n) < n ||
         has_money_and_numbers(column->dict, present, n)))
        judge_texts(why, mel_table_column_name(table, j), column->dict, present, n, n_known);
    return MEL_OK;
}

/* 0, 1, 2, ... or 1, 2, 3, ... */
static bool counts_rows(const double *numbers, size_t n)
{
    size_t i = 0;
    while (i < n && (numbers[0] == 0 || numbers[0] == 1) && numbers[i] == numbers[0] + (double)i)
        i++;
    return i == n;
}

/* Does each class have one value of the column, and each of them one class? A value is a code or a number;
 * `of`: the row in which a class was first, or SIZE_MAX. */
static bool copies(const mel_column *column, const mel_labels *labels, size_t *of)
{
    const size_t n = labels->n_rows;
    for (size_t k = 0; k < labels->n_classes; k++)
        of[k] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (column->codes != NULL ? column->codes[i] == MEL_MISSING : isnan(column->numbers[i]))
            return false;
        const uint32_t own = labels->code[i];
        const bool first = of[own] == SIZE_MAX;
        of[own] = first ? i : of[own];
        for (size_t k = 0; k < labels->n_classes; k++) {
            if (of[k] == SIZE_MAX || (k == own ? first : !first))
                continue;
            const bool same = column->codes != NULL ? column->codes[i] == column->codes[of[k]]
                                                    : column->numbers[i] == column->numbers[of[k]];
            if (same != (k == own))
                return false;
        }
    }
    return true;
}

static mel_status look_at_copies(mel_unfit *why, const mel_table *table, size_t j, const mel_labels *labels,
                                 mel_error *err)
{
    MEL_ARRAY(size_t, of, labels->n_classes, "the classes of a column", err);
    const char *name = mel_table_column_name(table, j);
    if (copies(&table->column[j], labels, of))
        (void)snprintf(why->text, sizeof why->text,
                       "column %.80s is a copy of the label: each class has one value of its own in it; left "
                       "out; give column=%.80s:%s to keep it",
                       name, name, table->column[j].codes != NULL ? "text" : "number");
    return MEL_OK;
}

static mel_status look_at_column(mel_unfit *why, const mel_table *table, size_t j, const mel_labels *labels,
                                 mel_error *err)
{
    const mel_column *column = &table->column[j];
    const char *name = mel_table_column_name(table, j);
    mel_status status = look_at_copies(why, table, j, labels, err);
    if (status != MEL_OK || why->text[0] != '\0')
        return status;
    if (column->type == MEL_COLUMN_TEXT)
        return look_at_texts(why, table, j, err);
    if (counts_rows(column->numbers, table->n_rows))
        (void)snprintf(
            why->text, sizeof why->text,
            "column %.80s counts the rows (%s, ...); left out; give column=%.80s:number to keep it", name,
            column->numbers[0] == 0 ? "0, 1, 2" : "1, 2, 3", name);
    return MEL_OK;
}

mel_status mel_column_unfit(mel_unfit *why, const mel_table *table, size_t column, const mel_labels *labels,
                            mel_error *err)
{
    why->text[0] = '\0';
    const bool named = table->format == MEL_FORMAT_CSV || table->has_header; /* frames have names, too */
    if (!named || table->column[column].declared || labels->n_rows < LEAST_ROWS)
        return MEL_OK;
    return look_at_column(why, table, column, labels, err);
}

void mel_table_leave_out(mel_table *table, size_t column)
{
    table->column[column].left_out = true;
}
