/* Columns that hold money, or cannot be features: which texts are amounts and what number each is; ids,
 * names, dates, counts of rows, copies of the label. */
#include "data/number.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- money ---------------------------------------------------------------------------------------------- */

static const char *const currencies[] = { "$",   "€",   "£",   "¥",   "US$", "USD", "EUR",
                                          "GBP", "CHF", "JPY", "CAD", "AUD", "SEK", "INR" };
enum { N_CURRENCIES = sizeof currencies / sizeof *currencies, LONGEST = 60 };

/* "-$1,234.50": the currency, and the number without it. */
typedef struct {
    size_t currency;
    char number[LONGEST + 2];
    size_t n;
} amount;

static size_t blank_at(const char *p, size_t left)
{
    static const char *const blanks[] = { " ", "\xC2\xA0", "\xE2\x80\xAF" };
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (left >= strlen(blanks[i]) && memcmp(p, blanks[i], strlen(blanks[i])) == 0)
            return strlen(blanks[i]);
    return 0;
}

/* Without the blanks that follow, or come before, a currency. */
static void trim(const char **p, size_t *n)
{
    for (size_t blank; (blank = blank_at(*p, *n)) != 0; *n -= blank)
        *p += blank;
    for (size_t size = 1; size <= 3; size++)
        while (*n >= size && blank_at(*p + *n - size, size) == size)
            *n -= size;
}

/* The currency is before the number, behind a sign or before it, or after the number. */
static bool take_amount(amount *out, const char *text, size_t n)
{
    if (n == 0 || n > LONGEST)
        return false;
    const bool negative = *text == '-';
    const char *p = text + negative;
    size_t left = n - negative;
    trim(&p, &left);
    for (size_t i = 0; i < N_CURRENCIES; i++) {
        const size_t m = strlen(currencies[i]);
        if (left <= m)
            continue;
        const bool before = memcmp(p, currencies[i], m) == 0;
        if (!before && memcmp(p + left - m, currencies[i], m) != 0)
            continue;
        const char *rest = before ? p + m : p;
        size_t length = left - m;
        trim(&rest, &length);
        if (length == 0 || (negative && (*rest == '-' || *rest == '+')))
            continue;
        const int written =
            snprintf(out->number, sizeof out->number, "%s%.*s", negative ? "-" : "", (int)length, rest);
        out->n = (size_t)written;
        out->currency = i;
        return true;
    }
    return false;
}

/* How decimals are marked: by a point or a comma, 0: it does not say; false: it is no amount. Three digits
 * behind a single mark are thousands, as amounts have no thousandths. */
static bool take_mark(char *mark, const amount *a)
{
    const mel_styled_number number = mel_number_styled(a->number, a->n, '.');
    *mark = 0;
    if (number.percent || memchr(a->number, 'e', a->n) != NULL || memchr(a->number, 'E', a->n) != NULL)
        return false;
    switch (number.shape) {
    case MEL_SHAPE_POINT:
    case MEL_SHAPE_COMMA_OR_THOUSANDS:
        *mark = '.';
        return true;
    case MEL_SHAPE_COMMA:
    case MEL_SHAPE_POINT_OR_THOUSANDS:
        *mark = ',';
        return true;
    default:
        return number.shape == MEL_SHAPE_WHOLE;
    }
}

/* Is it an amount: a currency before or behind a number? */
static bool is_money(const char *text, size_t n)
{
    amount a;
    char mark;
    return take_amount(&a, text, n) && take_mark(&mark, &a);
}

/* The one currency and mark of all texts of a column; false: these are not all amounts, or of several
 * currencies, or marked in both ways. Words for a missing cell do not count. */
static bool find_style(char *decimal, mel_money *money, const mel_dict *dict, const uint32_t *present,
                       size_t n)
{
    size_t currency = N_CURRENCIES;
    *decimal = 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = mel_dict_text(dict, present[i]);
        const size_t length = mel_dict_length(dict, present[i]);
        amount a;
        char mark;
        if (mel_missing_text(text, length))
            continue;
        if (!take_amount(&a, text, length) || !take_mark(&mark, &a) ||
            (currency != N_CURRENCIES && a.currency != currency) ||
            (mark != 0 && *decimal != 0 && mark != *decimal))
            return false;
        if (currency == N_CURRENCIES || (mark != 0 && *decimal == 0))
            money->example = present[i]; /* the first one, or the first that shows a mark */
        currency = a.currency;
        *decimal = mark != 0 ? mark : *decimal;
    }
    money->currency = currency != N_CURRENCIES ? currencies[currency] : NULL;
    money->comma = *decimal == ',';
    return currency != N_CURRENCIES;
}

static double value_of(const mel_dict *dict, size_t code, char decimal)
{
    amount a;
    if (mel_missing_text(mel_dict_text(dict, code), mel_dict_length(dict, code)) ||
        !take_amount(&a, mel_dict_text(dict, code), mel_dict_length(dict, code)))
        return (double)NAN;
    return mel_number_styled(a.number, a.n, decimal == ',' ? ',' : '.').value;
}

const char *mel_currency_named(const char *text)
{
    for (size_t i = 0; i < N_CURRENCIES; i++)
        if (strcmp(text, currencies[i]) == 0)
            return currencies[i];
    return NULL;
}

mel_status mel_money_numbers(mel_money *out, const mel_table *table, const mel_column *column, mel_error *err)
{
    *out = (mel_money){ 0 };
    if (column->dict == NULL)
        return MEL_OK;
    const size_t n_codes = column->dict->n;
    MEL_ARRAY(uint32_t, present, n_codes, "the categories of a column", err);
    MEL_ARRAY(size_t, count, n_codes, "the categories of a column", err);
    MEL_ARRAY(double, value, n_codes, "the categories of a column", err);
    const size_t n = mel_count_codes(table, column, present, count);
    char decimal;
    if (!find_style(&decimal, out, column->dict, present, n))
        return MEL_OK;
    TRY(MEL_NEED(out->numbers = mel_alloc(table->n_rows, sizeof *out->numbers), "a column of numbers", err));
    for (size_t i = 0; i < n; i++)
        value[present[i]] = value_of(column->dict, present[i], decimal);
    for (size_t row = 0; row < table->n_rows; row++)
        out->numbers[row] = column->codes[row] == MEL_MISSING ? (double)NAN : value[column->codes[row]];
    return MEL_OK;
}

mel_status mel_table_read_money(char said[MEL_MONEY_WORDS], mel_table *table, size_t j, mel_error *err)
{
    mel_column *column = &table->column[j];
    mel_money money;
    said[0] = '\0';
    TRY(mel_money_numbers(&money, table, column, err));
    if (money.numbers == NULL)
        return MEL_OK;
    const double example = value_of(column->dict, money.example, money.comma ? ',' : '.');
    char number[MEL_NUMBER_TEXT];
    mel_number_print(number, example);
    (void)snprintf(said, MEL_MONEY_WORDS, "column %.80s looks like money: %.80s read as %s",
                   mel_table_column_name(table, j), mel_dict_text(column->dict, money.example), number);
    free(column->codes);
    mel_dict_free(column->dict);
    column->codes = NULL;
    column->dict = NULL;
    column->numbers = money.numbers;
    column->currency = money.currency;
    column->type = MEL_COLUMN_NUMBER;
    return MEL_OK;
}

/* --- columns that cannot be features -------------------------------------------------------------------- */

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
    const size_t money = count_texts(is_money, dict, present, n);
    return money > 0 && 10 * (money + count_texts(is_number, dict, present, n)) >= 9 * n;
}

/* What at least nine of ten of the texts are, and what to do about it. */
static void judge_texts(mel_unfit *why, const char *name, const mel_dict *dict, const uint32_t *present,
                        size_t n, size_t n_rows)
{
    static const struct {
        bool (*is)(const char *text, size_t n);
        const char *what, *instead;
    } kinds[] = { { is_money, "money", "write plain numbers (1234.5) to use it" },
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
