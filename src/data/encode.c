/* Tables to feature matrices, as an encoder learned it. */
#include "data/encoder.h"
#include "data/number.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BLOCK = 64 }; /* rows of a column side by side */
static const uint32_t stands_for_missing = MEL_MISSING - 1;

/* How one input reads its column of the table at hand. */
typedef struct {
    const mel_encoder_input *input;
    size_t column;
    const double *numbers;
    double *own;           /* the same, of a column of money */
    const uint32_t *codes; /* NULL for a text input: every cell is missing */
    uint32_t *feature;     /* of each code: relative to first_feature, MEL_MISSING or stands_for_missing */
} binding;

typedef struct {
    const mel_encoder *encoder;
    const mel_table *table;
    binding *bound;
    mel_encoded *out;
    mel_error *err;
} encoding;

void mel_encoded_clear(mel_encoded *encoded)
{
    free(encoded->memory);
    *encoded = (mel_encoded){ 0 };
}

/* A column of text where numbers are due: names the first cell that is none. */
static mel_status fail_text(const encoding *e, const binding *b, const mel_column *column)
{
    for (size_t i = 0; i < e->table->n_rows; i++) {
        double value;
        if (column->codes[i] == MEL_MISSING)
            continue;
        const char *text = mel_dict_text(column->dict, column->codes[i]);
        if (mel_number_parse(text, mel_dict_length(column->dict, column->codes[i]), &value) !=
            MEL_NUMBER_FINITE)
            return mel_fail_cell(e->err, e->table, i, b->column, "%s is not a number",
                                 mel_quote_text(text).text);
    }
    return mel_fail_column(e->err, e->table, b->column, " was read as text where training had numbers");
}

static mel_status bind_text(const encoding *e, binding *b, const mel_column *column)
{
    if (column->type == MEL_COLUMN_NUMBER) { /* fine when it has no value at all */
        for (size_t i = 0; i < e->table->n_rows; i++)
            if (!isnan(column->numbers[i]))
                return mel_fail_column(e->err, e->table, b->column,
                                       " has numbers where training had text; read it as text");
        return MEL_OK;
    }
    b->codes = column->codes;
    TRY(MEL_NEED(b->feature = mel_alloc(column->dict->n, sizeof *b->feature), "an encoding", e->err));
    for (uint32_t code = 0; code < column->dict->n; code++) {
        const char *text = mel_dict_text(column->dict, code);
        const size_t n = mel_dict_length(column->dict, code);
        b->feature[code] = mel_dict_find(b->input->categories, text, n, column->dict->hash[code]);
        /* A column that is declared to be text keeps words that training took as missing. */
        if (b->feature[code] == MEL_MISSING && column->declared && mel_missing_text(text, n))
            b->feature[code] = stands_for_missing;
    }
    return MEL_OK;
}

/* 45 is not what 45% was in training, nor the other way round. */
static mel_status check_percent(const encoding *e, const binding *b, const mel_column *column)
{
    const mel_percent_signs before = b->input->percent, now = column->percent;
    size_t row = 0;
    while (row < e->table->n_rows && isnan(column->numbers[row]))
        row++;
    if (before == now || before == MEL_PERCENT_SOME || now == MEL_PERCENT_SOME || row == e->table->n_rows)
        return MEL_OK;
    char text[MEL_NUMBER_TEXT];
    mel_number_print(text, column->numbers[row]);
    return mel_fail_cell(
        e->err, e->table, row, b->column, "%s %s", text,
        now == MEL_PERCENT_NONE
            ? "has no percent sign, as every number of the column had in training; write them "
              "with the sign (45% for 0.45), or train on numbers without"
            : "had a percent sign in the file, which no number of the column had in training; "
              "write them without (0.45 for 45%), or train on numbers with the sign");
}

/* Amounts of the currency of training are numbers. */
static mel_status bind_money(const encoding *e, binding *b, const mel_column *column)
{
    mel_money money = { 0 };
    if (b->input->currency != NULL)
        TRY(mel_money_numbers(&money, e->table, column, e->err));
    b->numbers = b->own = money.numbers;
    if (money.numbers == NULL)
        return fail_text(e, b, column);
    if (money.currency == b->input->currency)
        return MEL_OK;
    return mel_fail_column(e->err, e->table, b->column, ": %s is no amount in %s, as in training",
                           mel_quote_text(mel_dict_text(column->dict, money.example)).text,
                           b->input->currency);
}

static mel_status bind_input(const encoding *e, binding *b)
{
    TRY(mel_table_need(&b->column, e->table, b->input->name, e->err));
    const mel_column *column = &e->table->column[b->column];
    if (b->input->type == MEL_COLUMN_TEXT)
        return bind_text(e, b, column);
    if (column->type == MEL_COLUMN_TEXT)
        return bind_money(e, b, column);
    b->numbers = column->numbers;
    return check_percent(e, b, column);
}

static mel_status standardise(const encoding *e, const binding *b, size_t row, double *z)
{
    const mel_encoder_input *input = b->input;
    double x = b->numbers[row];
    if (isnan(x)) {
        x = input->median;
        e->out->imputed++;
    }
    *z = (x - input->mean) / input->deviation;
    if (isfinite(*z))
        return MEL_OK;
    *z = x / input->deviation - input->mean / input->deviation; /* when only the difference overflows */
    if (isfinite(*z))
        return MEL_OK;
    char text[MEL_NUMBER_TEXT];
    mel_number_print(text, x);
    return mel_fail_cell(e->err, e->table, row, b->column, "%s is too far from the values in training", text);
}

/* The feature that is 1, relative to the input's first, or MEL_MISSING for none. */
static uint32_t hot_feature(const encoding *e, const binding *b, size_t row)
{
    uint32_t code = b->codes != NULL ? b->codes[row] : MEL_MISSING;
    if (code != MEL_MISSING && b->feature[code] == stands_for_missing)
        code = MEL_MISSING;
    if (code == MEL_MISSING && b->input->missing_category)
        return b->input->categories->n;
    e->out->imputed += code == MEL_MISSING;
    const uint32_t feature = code == MEL_MISSING ? b->input->mode : b->feature[code];
    e->out->unseen += feature == MEL_MISSING;
    return feature;
}

static mel_status fill_dense(const encoding *e, double *dense)
{
    const size_t n = e->table->n_rows, d = e->encoder->n_features;
    for (size_t from = 0; from < n; from += ROW_BLOCK) {
        const size_t to = n - from < ROW_BLOCK ? n : from + ROW_BLOCK;
        for (size_t k = 0; k < e->encoder->n_inputs; k++) {
            const binding *b = &e->bound[k];
            for (size_t i = from; i < to; i++) {
                double *cell = dense + i * d + b->input->first_feature;
                if (b->input->type == MEL_COLUMN_TEXT) {
                    const uint32_t hot = hot_feature(e, b, i);
                    if (hot != MEL_MISSING)
                        cell[hot] = 1.0;
                    continue;
                }
                TRY(standardise(e, b, i, cell));
            }
        }
    }
    return MEL_OK;
}

static mel_status fill_sparse(const encoding *e, size_t *row_start, uint32_t *col, double *value)
{
    size_t n = 0;
    for (size_t i = 0; i < e->table->n_rows; i++) {
        row_start[i] = n;
        for (size_t k = 0; k < e->encoder->n_inputs; k++) {
            const binding *b = &e->bound[k];
            double x = 1.0;
            uint32_t feature = 0;
            if (b->input->type == MEL_COLUMN_TEXT) {
                feature = hot_feature(e, b, i);
                if (feature == MEL_MISSING)
                    continue;
            } else {
                TRY(standardise(e, b, i, &x));
                if (x == 0.0)
                    continue;
            }
            col[n] = (uint32_t)b->input->first_feature + feature;
            value[n++] = x;
        }
    }
    row_start[e->table->n_rows] = n;
    return MEL_OK;
}

static mel_status scale_stored(const encoding *e, size_t row, size_t entry, double *z)
{
    const mel_sparse *s = &e->table->sparse;
    *z = s->value[entry] / e->encoder->deviation[s->col[entry]];
    if (isfinite(*z))
        return MEL_OK;
    return mel_fail(e->err, MEL_EDATA, "%s: row %zu, index %zu: %g is too far from the values in training",
                    mel_quote_file(e->table->name).text, mel_table_row_number(e->table, row),
                    (size_t)s->col[entry] + 1, s->value[entry]);
}

/* Stored features, into a dense matrix when there is one, else into compressed rows. */
static mel_status fill_stored(const encoding *e, double *dense, size_t *row_start, uint32_t *col,
                              double *value)
{
    const mel_sparse *s = &e->table->sparse;
    const size_t d = e->encoder->n_features;
    size_t n = 0;
    for (size_t i = 0; i < e->table->n_rows; i++) {
        if (dense == NULL)
            row_start[i] = n;
        for (size_t k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
            double z;
            if (s->col[k] >= d) {
                e->out->unseen++;
                continue;
            }
            TRY(scale_stored(e, i, k, &z));
            if (dense != NULL) {
                dense[i * d + s->col[k]] = z;
            } else {
                col[n] = s->col[k];
                value[n++] = z;
            }
        }
    }
    if (dense == NULL)
        row_start[e->table->n_rows] = n;
    return MEL_OK;
}

static mel_status encode_dense(const encoding *e)
{
    const size_t n = e->table->n_rows, d = e->encoder->n_features;
    mel_features *view = &e->out->view;
    double *dense = d != 0 && n > SIZE_MAX / d ? NULL : mel_alloc_zero(n * d, sizeof *dense);
    TRY(MEL_NEED(dense, "the features of a table", e->err));
    e->out->memory = dense;
    *view = (mel_features){ .n_rows = n, .n_cols = d, .dense = dense, .stride = d };
    return e->encoder->libsvm ? fill_stored(e, dense, NULL, NULL, NULL) : fill_dense(e, dense);
}

/* One block holds the row starts, the values and the columns, in falling order of alignment. */
static mel_status encode_sparse(const encoding *e)
{
    const size_t n = e->table->n_rows, per_row = e->encoder->n_inputs,
                 entry = sizeof(double) + sizeof(uint32_t);
    const bool stored = e->encoder->libsvm;
    const size_t most = SIZE_MAX / entry / 2;
    if (!stored && per_row != 0 && n > most / per_row)
        return mel_fail_memory(e->err, "the features of a table");
    const size_t n_values = stored ? e->table->sparse.row_start[n] : n * per_row;
    char *memory = mel_alloc((n + 1) * sizeof(size_t) + n_values * entry, 1);
    TRY(MEL_NEED(memory, "the features of a table", e->err));
    e->out->memory = memory;
    size_t *row_start = (void *)memory;
    double *value = (void *)(memory + (n + 1) * sizeof *row_start);
    uint32_t *col = (void *)(memory + (n + 1) * sizeof *row_start + n_values * sizeof *value);
    e->out->view = (mel_features){
        .n_rows = n, .n_cols = e->encoder->n_features, .row_start = row_start, .col = col, .value = value
    };
    return stored ? fill_stored(e, NULL, row_start, col, value) : fill_sparse(e, row_start, col, value);
}

static mel_status bind_and_encode(encoding *e)
{
    for (size_t k = 0; k < e->encoder->n_inputs; k++) {
        e->bound[k].input = &e->encoder->input[k];
        TRY(bind_input(e, &e->bound[k]));
    }
    return e->encoder->sparse ? encode_sparse(e) : encode_dense(e);
}

mel_status mel_encode(mel_encoded *out, const mel_encoder *encoder, const mel_table *table, mel_error *err)
{
    *out = (mel_encoded){ 0 };
    if (encoder->libsvm != table->is_sparse)
        return mel_fail(err, MEL_EDATA, "%s: %s where training had %s", mel_quote_file(table->name).text,
                        table->is_sparse ? "numbered features" : "named columns",
                        table->is_sparse ? "named columns" : "numbered features");
    if (encoder->libsvm && encoder->zero_based != table->sparse.zero_based)
        return mel_fail(err, MEL_EDATA, "%s: indices were read from %d where training had them from %d",
                        mel_quote_file(table->name).text, table->sparse.zero_based ? 0 : 1,
                        encoder->zero_based ? 0 : 1);
    encoding e = { .encoder = encoder, .table = table, .out = out, .err = err };
    TRY(MEL_NEED(e.bound = mel_alloc_zero(encoder->n_inputs, sizeof *e.bound), "an encoding", err));
    const mel_status status = bind_and_encode(&e);
    for (size_t k = 0; k < encoder->n_inputs; k++) {
        free(e.bound[k].own);
        free(e.bound[k].feature);
    }
    free(e.bound);
    if (status != MEL_OK)
        mel_encoded_clear(out);
    return status;
}
