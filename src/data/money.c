/* Money in cells: which texts are amounts, and what number each of them is. */
#include "data/money.h"
#include "data/labels.h"
#include "data/number.h"
#include "data/quote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool mel_is_money(const char *text, size_t n)
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
