/* Class probabilities of any model, from a file. */
#include "base/stat.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/table.h"
#include "data/table_reader.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double sum_tolerance = 1e-3; /* three times 0.333: probabilities written with few digits */
static const double overshoot = 1e-9; /* sums of doubles that should be 1 come out as 1.0000000000000002 */
static const double rounding = 1e-6;  /* what is not worth a word: sums of float32 are off by 1e-7 */

void mel_proba_clear(mel_proba *proba)
{
    mel_names_free(proba->name, proba->n_columns);
    free(proba->value);
    *proba = (mel_proba){ 0 };
}

/* The first cell of a text column that is not a number made it one, unless the caller did. */
static mel_status refuse_text(const mel_table *table, size_t column, mel_error *err)
{
    const uint32_t *code = mel_table_codes(table, column);
    const char *text = "";
    size_t row = 0;
    for (double value; row < mel_table_rows(table); row++) {
        text = code[row] == MEL_MISSING ? "" : mel_table_category(table, column, code[row]);
        if (*text != '\0' && mel_number_parse(text, strlen(text), &value) != MEL_NUMBER_FINITE)
            break;
    }
    if (row == mel_table_rows(table))
        return mel_fail_column(err, table, column, " was read as text; probabilities are numbers");
    return mel_fail_cell(err, table, row, column, "%s is not a number", mel_quote_text(text).text);
}

/* Numbers from 0 to 1, none missing. */
static mel_status check_column(const mel_table *table, size_t column, mel_error *err)
{
    const double *p = mel_table_numbers(table, column);
    if (p == NULL)
        return refuse_text(table, column, err);
    for (size_t i = 0; i < mel_table_rows(table); i++) {
        if (p[i] >= -overshoot && p[i] <= 1.0 + overshoot)
            continue;
        if (isnan(p[i]))
            return mel_fail_cell(err, table, i, column, "no number");
        return mel_fail_cell(err, table, i, column, "%.17g is not within 0 and 1", p[i]);
    }
    return MEL_OK;
}

static mel_status check_table(const mel_table *table, mel_error *err)
{
    mel_features sparse;
    const char *file = mel_table_name(table);
    if (mel_table_sparse(&sparse, table))
        return mel_fail(err, MEL_EDATA, "%s: a LIBSVM file does not hold probabilities",
                        mel_quote_file(file).text);
    if (mel_table_rows(table) == 0 || mel_table_columns(table) == 0)
        return mel_fail(err, MEL_EDATA, "%s: no rows of probabilities", mel_quote_file(file).text);
    for (size_t c = 0; c < mel_table_columns(table); c++)
        TRY(check_column(table, c, err));
    return MEL_OK;
}

static double within_0_and_1(double p)
{
    return p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p;
}

/* One row of k probabilities that sum to 1 almost, then exactly; *off: how far they were from that. */
static mel_status take_row(double *to, double *off, const mel_table *table, size_t row, size_t k,
                           mel_error *err)
{
    mel_sum sum = { 0 };
    for (size_t c = 0; c < k; c++) {
        to[c] = within_0_and_1(mel_table_numbers(table, c)[row]);
        mel_sum_add(&sum, to[c]);
    }
    const double total = mel_sum_value(&sum);
    *off = fabs(total - 1.0);
    if (!(*off <= sum_tolerance + rounding))
        return mel_fail(err, MEL_EDATA, "%s: row %zu: %zu probabilities sum to %.9g, not 1",
                        mel_quote_file(mel_table_name(table)).text, mel_table_row_number(table, row), k,
                        total);
    for (size_t c = 0; c < k; c++)
        to[c] /= total;
    return MEL_OK;
}

typedef struct {
    size_t n, first; /* rows that were rescaled, the number of the first one */
    double farthest; /* from 1 */
} rescaled_rows;

static mel_status note_rescaled(const rescaled_rows *found, const mel_table *table, mel_notes *notes,
                                mel_error *err)
{
    return found->n == 0
               ? MEL_OK
               : mel_notes_warn(notes, err,
                                "the probabilities of %s of %s rows do not sum to 1 (first in row %zu, by "
                                "%.2g at most) and were rescaled",
                                mel_count_text(found->n).text, mel_count_text(mel_table_rows(table)).text,
                                found->first, found->farthest);
}

static mel_status take_values(mel_proba *out, rescaled_rows *found, const mel_table *table, mel_error *err)
{
    const size_t columns = mel_table_columns(table);
    out->n_rows = mel_table_rows(table);
    out->n_columns = columns;
    out->n_classes = columns == 1 ? 2 : columns;
    if (out->n_rows <= SIZE_MAX / out->n_classes)
        out->value = mel_alloc(out->n_rows * out->n_classes, sizeof *out->value);
    TRY(MEL_NEED(out->value, "the probabilities", err));
    for (size_t i = 0; i < out->n_rows; i++) {
        double *to = out->value + i * out->n_classes;
        if (columns == 1) {
            to[1] = within_0_and_1(mel_table_numbers(table, 0)[i]);
            to[0] = 1.0 - to[1];
            continue;
        }
        double off;
        TRY(take_row(to, &off, table, i, columns, err));
        found->farthest = off > found->farthest ? off : found->farthest;
        found->n += off > rounding;
        if (found->n == 1 && off > rounding)
            found->first = mel_table_row_number(table, i);
    }
    return MEL_OK;
}

mel_status mel_proba_of_table(mel_proba *out, const mel_table *table, const mel_read_options *opt,
                              mel_error *err)
{
    MEL_AUTO_CLEAR(mel_proba) proba = { 0 };
    MEL_AUTO_CLEAR(mel_notes) notes = { 0 };
    rescaled_rows found = { 0 };
    TRY(check_table(table, err));
    TRY(take_values(&proba, &found, table, err));
    if (mel_table_has_header(table)) {
        MEL_AUTO_MEMORY const char **name = mel_alloc(proba.n_columns, sizeof *name);
        for (size_t c = 0; name != NULL && c < proba.n_columns; c++)
            name[c] = mel_table_column_name(table, c);
        TRY(MEL_NEED(proba.name = name != NULL ? mel_names_copy(proba.n_columns, name, 0) : NULL,
                     "the class names", err));
    }
    TRY(note_rescaled(&found, table, &notes, err));
    const mel_status status = mel_notes_check(&notes, opt->strict, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "%s", mel_quote_file(table->name).text);
    mel_notes_say(&notes, table->name, table->format, &opt->notice);
    proba.n_rescaled = found.n;
    return MEL_GIVE_STRUCT(out, proba);
}

mel_status mel_proba_read(mel_proba *out, const char *path, const mel_read_options *opt, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    mel_read_options options;
    TRY(mel_read_options_take(&options, opt, err));
    TRY(mel_table_read(&table, path, &options, err));
    return mel_proba_of_table(out, table, &options, err);
}
