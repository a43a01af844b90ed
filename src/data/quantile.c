/* A column of numbers recoded into classes at its quantiles. */
#include "data/labels.h"

#include "base/stat.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return mel_labels_name(out, k, name, err);
}

/* Class k would have no rows because too many share the value just below it, sorted[below - 1]. */
static mel_status fail_empty(const double *sorted, size_t n, size_t below, size_t n_classes, size_t k,
                             mel_error *err)
{
    const double tied = sorted[below - 1];
    const size_t ties = below - mel_rank_of(sorted, n, tied);
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
        size_t below = k == 0 ? 0 : mel_rank_of(sorted, n, cut[k - 1]);
        while (k != 0 && below < n && sorted[below] == cut[k - 1])
            below++;
        if (below == n || (k + 1 < n_classes && sorted[below] > cut[k]))
            return fail_empty(sorted, n, below, n_classes, k, err);
    }
    mel_status status = mel_labels_new(out, n, n_classes, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        out->code[i] = (uint32_t)mel_rank_of(cut, n_classes - 1, numbers[i]);
    for (size_t k = 0; status == MEL_OK && k < n_classes; k++)
        status = name_interval(out, k, cut, err);
    return status;
}

mel_status mel_table_quantile_labels(mel_labels *out, const mel_table *table, const char *column,
                                     size_t n_classes, mel_error *err)
{
    *out = (mel_labels){ 0 };
    size_t j;
    mel_status status = mel_table_need(&j, table, column, err);
    if (status != MEL_OK)
        return status;
    if (n_classes < 2 || n_classes >= MEL_MISSING)
        return mel_fail(err, MEL_EINVAL, "%zu quantile classes; two or more are needed", n_classes);
    if (table->column[j].type != MEL_COLUMN_NUMBER)
        return mel_fail(err, MEL_EDATA, "%s: column %s is text; quantiles need numbers",
                        mel_quote_file(table->name).text, mel_quote_text(column).text);
    if (n_classes > table->n_rows)
        return mel_fail(err, MEL_EDATA, "%s: column %s: %zu rows cannot fill %zu quantile classes",
                        mel_quote_file(table->name).text, mel_quote_text(column).text, table->n_rows,
                        n_classes);
    status = mel_refuse_missing(table, j, err);
    if (status != MEL_OK)
        return status;
    double *sorted = mel_alloc(table->n_rows, sizeof *sorted), *cut = mel_alloc(n_classes, sizeof *cut);
    if (sorted == NULL || cut == NULL)
        status = mel_fail_memory(err, "quantiles");
    else if ((status = recode(out, table->column[j].numbers, table->n_rows, sorted, cut, n_classes, err)) ==
             MEL_EDATA)
        status = mel_fail_in(err, status, "%s: column %s", mel_quote_file(table->name).text,
                             mel_quote_text(column).text);
    free(sorted);
    free(cut);
    if (status != MEL_OK)
        mel_labels_clear(out);
    return status;
}
