/* Columns of money: "$1,234.50", "1.234,50 €". */
#ifndef MEL_DATA_MONEY_H
#define MEL_DATA_MONEY_H

#include "data/table.h"

/* Is it an amount: a currency before or behind a number? */
bool mel_is_money(const char *text, size_t n);
/* A column of texts as numbers: for the caller to free(). numbers NULL: these are not all amounts of one
 * currency with decimals marked in one way. */
typedef struct {
    double *numbers;
    const char *currency; /* never freed */
    uint32_t example;     /* the code of an amount that shows how it is written */
    bool comma;           /* decimals follow one */
} mel_money;
mel_status mel_money_numbers(mel_money *out, const mel_table *table, const mel_column *column,
                             mel_error *err);
/* The currency of that text, never freed; NULL: it is none. */
const char *mel_currency_named(const char *text);

#endif
