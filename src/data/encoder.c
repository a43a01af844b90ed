/* How the columns of a table become features: the object with its names, and learning it from a table. */
#include "data/encoder.h"

#include "base/stat.h"
#include "data/quote.h"
#include "data/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mel_encoder *mel_encoder_new(void)
{
    mel_encoder *encoder = mel_alloc_zero(1, sizeof *encoder);
    if (encoder != NULL && (encoder->dropped = mel_dict_new()) == NULL) {
        free(encoder);
        return NULL;
    }
    return encoder;
}

void mel_encoder_free(mel_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (size_t i = 0; encoder->input != NULL && i < encoder->n_inputs; i++) {
        free(encoder->input[i].name);
        mel_dict_free(encoder->input[i].categories);
    }
    mel_names_free(encoder->feature_name, encoder->n_features);
    free(encoder->input);
    free(encoder->deviation);
    mel_dict_free(encoder->dropped);
    free(encoder);
}

/* "column=category", or just "column" when category is NULL. */
static char *feature_name(const char *column, const char *category)
{
    if (category == NULL)
        return mel_strdup(column);
    const size_t n = strlen(column) + strlen(category) + 2;
    char *name = mel_alloc(n, 1);
    if (name != NULL)
        (void)snprintf(name, n, "%s=%s", column, category);
    return name;
}

static bool name_features(mel_encoder *encoder)
{
    char **name = encoder->feature_name;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const mel_encoder_input *input = &encoder->input[i];
        const size_t n = mel_input_features(input);
        for (size_t k = 0; k < n; k++, name++) {
            const char *category = input->type != MEL_COLUMN_TEXT ? NULL
                                   : k < input->categories->n     ? mel_dict_text(input->categories, k)
                                                                  : "?";
            if ((*name = feature_name(input->name, category)) == NULL)
                return false;
        }
    }
    for (size_t k = 0; encoder->libsvm && k < encoder->n_features; k++) {
        char text[32];
        (void)snprintf(text, sizeof text, "f%zu", k + !encoder->zero_based);
        if ((name[k] = mel_strdup(text)) == NULL)
            return false;
    }
    return true;
}

mel_status mel_encoder_complete(mel_encoder *encoder, mel_error *err)
{
    size_t n = encoder->libsvm ? encoder->n_features : 0;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        encoder->input[i].first_feature = n;
        n += mel_input_features(&encoder->input[i]);
    }
    if (n == 0)
        return mel_fail(err, MEL_EDATA, "no column is left to become a feature");
    if (n >= MEL_MISSING)
        return mel_fail(err, MEL_ELIMIT, "%zu features", n);
    encoder->n_features = n;
    encoder->feature_name = mel_alloc_zero(n, sizeof *encoder->feature_name);
    TRY(MEL_NEED(encoder->feature_name != NULL && name_features(encoder), "the names of features", err));
    return MEL_OK;
}

size_t mel_encoder_features(const mel_encoder *encoder)
{
    return encoder->n_features;
}

const char *mel_encoder_feature_name(const mel_encoder *encoder, size_t feature)
{
    return encoder->feature_name[feature];
}

size_t mel_encoder_columns(const mel_encoder *encoder)
{
    return encoder->n_inputs;
}

const char *mel_encoder_column_name(const mel_encoder *encoder, size_t column)
{
    return encoder->input[column].name;
}

mel_column_type mel_encoder_column_type(const mel_encoder *encoder, size_t column)
{
    return encoder->input[column].type;
}

bool mel_encoder_zero_based(const mel_encoder *encoder)
{
    return encoder->zero_based;
}

size_t mel_encoder_dropped(const mel_encoder *encoder)
{
    return encoder->dropped->n;
}

const char *mel_encoder_dropped_name(const mel_encoder *encoder, size_t i)
{
    return mel_dict_text(encoder->dropped, i);
}

enum { LEAST_EXPONENT = -1000 };

void mel_encoder_options_init(mel_encoder_options *opt)
{
    *opt = (mel_encoder_options){ .struct_size = sizeof *opt };
}

/* Changes the order of x; n >= 1. */
static double median(size_t n, double *x)
{
    const size_t k = (n - 1) / 2;
    mel_select(n, x, k);
    return n % 2 != 0 || x[k] == x[k + 1] ? x[k] : 0.5 * x[k] + 0.5 * x[k + 1];
}

/* A power of two that brings numbers up to `largest` to about 1 without rounding them, so that sums and
 * squares stay in range. Its own exponent is kept from overflowing. */
static double scale_for(double largest)
{
    int exponent;
    (void)frexp(largest, &exponent);
    return ldexp(1.0, -(exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent));
}

/* Mean and deviation of x and `missing` further cells with the median. */
static void describe(mel_encoder_input *input, size_t n, const double *x, size_t missing, double largest)
{
    const double scale = scale_for(largest), total = (double)n + (double)missing;
    mel_sum sum = { 0 }, squares = { 0 };
    for (size_t i = 0; i < n; i++)
        mel_sum_add(&sum, x[i] * scale);
    mel_sum_add(&sum, (double)missing * (input->median * scale));
    const double mean = mel_sum_value(&sum) / total;
    for (size_t i = 0; i < n; i++) {
        const double d = x[i] * scale - mean;
        mel_sum_add(&squares, d * d);
    }
    const double d = input->median * scale - mean;
    mel_sum_add(&squares, (double)missing * d * d);
    const double deviation = sqrt(mel_sum_value(&squares) / total) / scale;
    input->mean = mean / scale;
    if (deviation > 0.0)
        input->deviation = deviation;
}

/* work: room for n_rows numbers. Returns whether the column varies; if not, its deviation is called 1. */
static bool fit_numbers(mel_encoder_input *input, const double *numbers, size_t n_rows, double *work,
                        bool keep_scale)
{
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (!isnan(numbers[i]))
            work[n++] = numbers[i];
    input->median = median(n, work);
    n = 0; /* in the order of the rows again: the sum has one order */
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n_rows; i++)
        if (!isnan(numbers[i])) {
            low = fmin(low, numbers[i]);
            high = fmax(high, numbers[i]);
            work[n++] = numbers[i];
        }
    input->mean = keep_scale ? 0.0 : low;
    input->deviation = 1.0;
    if (!keep_scale && low < high)
        describe(input, n, work, n_rows - n, fmax(fabs(low), fabs(high)));
    return low < high;
}

/* order: the codes that occur, which are sorted in place. */
static mel_status fill_categories(mel_encoder_input *input, const mel_dict *dict, size_t n, uint32_t *order,
                                  const size_t *count, mel_error *err)
{
    TRY(MEL_NEED(input->categories = mel_dict_new(), "the categories of a column", err));
    TRY(mel_order_texts(dict, n, order, order, err));
    for (size_t k = 0; k < n; k++) {
        const uint32_t code = order[k];
        TRY(MEL_NEED(mel_dict_add(input->categories, mel_dict_text(dict, code), mel_dict_length(dict, code),
                                  dict->hash[code]) != MEL_MISSING,
                     "the categories of a column", err));
        if (count[code] > count[order[input->mode]])
            input->mode = (uint32_t)k;
    }
    return MEL_OK;
}

static mel_status fit_texts(mel_encoder_input *input, const mel_column *column, const mel_table *table,
                            bool missing_category, mel_error *err)
{
    const size_t n_codes = column->dict->n;
    MEL_ARRAY(uint32_t, present, n_codes, "the categories of a column", err);
    MEL_ARRAY(size_t, count, n_codes, "the categories of a column", err);
    size_t n_known = 0;
    const size_t n = mel_count_codes(table, column, present, count);
    for (size_t k = 0; k < n; k++)
        n_known += count[present[k]];
    input->missing_category = missing_category && n_known < table->n_rows;
    return fill_categories(input, column->dict, n, present, count, err);
}

static bool has_value(const mel_column *column, const mel_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (column->type == MEL_COLUMN_TEXT ? column->codes[i] != MEL_MISSING : !isnan(column->numbers[i]))
            return true;
    return false;
}

bool mel_column_is_meta(const char *name)
{
    return strncmp(name, "meta_", 5) == 0;
}

static bool is_skipped(const char *name, const mel_encoder_options *opt)
{
    for (size_t i = 0; i < opt->n_skip; i++)
        if (strcmp(name, opt->skip[i]) == 0)
            return true;
    return mel_column_is_meta(name);
}

/* *varies becomes true when the column does. */
static mel_status fit_column(mel_encoder *encoder, bool *varies, const mel_table *table, size_t j,
                             double *work, const mel_encoder_options *opt, mel_error *err)
{
    const mel_column *column = &table->column[j];
    const char *name = mel_table_column_name(table, j);
    if (column->left_out || is_skipped(name, opt))
        return MEL_OK;
    if (!has_value(column, table)) {
        const size_t n = strlen(name);
        return mel_dict_add(encoder->dropped, name, n, mel_dict_hash(name, n)) != MEL_MISSING
                   ? MEL_OK
                   : mel_fail_memory(err, "an encoder");
    }
    mel_encoder_input *input = &encoder->input[encoder->n_inputs++];
    input->type = column->type;
    input->percent = column->percent;
    input->currency = column->currency;
    TRY(MEL_NEED(input->name = mel_strdup(name), "an encoder", err));
    if (column->type == MEL_COLUMN_NUMBER) {
        *varies |= fit_numbers(input, column->numbers, table->n_rows, work, opt->keep_scale);
        return MEL_OK;
    }
    TRY(fit_texts(input, column, table, opt->missing_category, err));
    *varies |= mel_input_features(input) > 1;
    return MEL_OK;
}

static mel_status fail_constant(size_t n_rows, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "no feature varies over the %zu row%s: there is nothing to learn from",
                    n_rows, n_rows == 1 ? "" : "s");
}

static mel_status fit_columns(mel_encoder *encoder, const mel_table *table, double *work,
                              const mel_encoder_options *opt, mel_error *err)
{
    bool varies = false;
    for (size_t j = 0; j < table->n_columns; j++)
        TRY(fit_column(encoder, &varies, table, j, work, opt, err));
    TRY(mel_encoder_complete(encoder, err));
    /* Bytes of a row: 12 for each entry and 8 for its start, against 8 for each feature. */
    encoder->sparse = !opt->dense && 12 * encoder->n_inputs + 8 < 8 * encoder->n_features;
    return varies ? MEL_OK : fail_constant(table->n_rows, err);
}

static mel_status fit_table(mel_encoder *encoder, const mel_table *table, const mel_encoder_options *opt,
                            mel_error *err)
{
    MEL_AUTO_MEMORY double *work = mel_alloc(table->n_rows, sizeof *work);
    encoder->input = mel_alloc_zero(table->n_columns, sizeof *encoder->input);
    return encoder->input != NULL && work != NULL ? fit_columns(encoder, table, work, opt, err)
                                                  : mel_fail_memory(err, "an encoder");
}

/* What is known of one stored feature; the rows without an entry are zeros. */
typedef struct {
    size_t count;
    double low, high;
    double scale, mean; /* the mean and the sums are on this scale */
    mel_sum sum, squares;
} sparse_feature;

/* 0 when the feature does not vary. */
static double sparse_deviation(const sparse_feature *f, size_t n_rows)
{
    const bool zeros = f->count < n_rows;
    const double low = zeros ? fmin(f->low, 0.0) : f->low, high = zeros ? fmax(f->high, 0.0) : f->high;
    mel_sum squares = f->squares;
    mel_sum_add(&squares, (double)(n_rows - f->count) * f->mean * f->mean);
    return low == high ? 0.0 : sqrt(mel_sum_value(&squares) / (double)n_rows) / f->scale;
}

static void describe_sparse(sparse_feature *feature, const mel_sparse *s, size_t n_rows)
{
    const size_t n = s->row_start[n_rows];
    for (size_t i = 0; i < n; i++) {
        sparse_feature *f = &feature[s->col[i]];
        f->low = f->count != 0 ? fmin(f->low, s->value[i]) : s->value[i];
        f->high = f->count != 0 ? fmax(f->high, s->value[i]) : s->value[i];
        f->count++;
    }
    for (size_t j = 0; j < s->n_features; j++)
        feature[j].scale = scale_for(fmax(fabs(feature[j].low), fabs(feature[j].high)));
    for (size_t i = 0; i < n; i++) {
        sparse_feature *f = &feature[s->col[i]];
        mel_sum_add(&f->sum, s->value[i] * f->scale);
    }
    for (size_t j = 0; j < s->n_features; j++)
        feature[j].mean = mel_sum_value(&feature[j].sum) / (double)n_rows;
    for (size_t i = 0; i < n; i++) {
        sparse_feature *f = &feature[s->col[i]];
        const double d = s->value[i] * f->scale - f->mean;
        mel_sum_add(&f->squares, d * d);
    }
}

static mel_status fit_sparse(mel_encoder *encoder, const mel_table *table, const mel_encoder_options *opt,
                             mel_error *err)
{
    const mel_sparse *s = &table->sparse;
    const size_t d = s->n_features;
    encoder->libsvm = true;
    encoder->zero_based = s->zero_based;
    encoder->n_features = d;
    encoder->deviation = mel_alloc(d, sizeof *encoder->deviation);
    MEL_AUTO_MEMORY sparse_feature *feature = mel_alloc_zero(d, sizeof *feature);
    TRY(MEL_NEED(encoder->deviation != NULL && feature != NULL, "an encoder", err));
    describe_sparse(feature, s, table->n_rows);
    bool varies = false;
    for (size_t j = 0; j < d; j++) {
        const double deviation = sparse_deviation(&feature[j], table->n_rows);
        varies |= deviation > 0.0;
        encoder->deviation[j] = opt->keep_scale || !(deviation > 0.0) ? 1.0 : deviation;
    }
    const double n_rows = (double)table->n_rows, n_values = (double)s->row_start[table->n_rows];
    encoder->sparse = !opt->dense && 12 * n_values + 8 * n_rows < 8 * n_rows * (double)d;
    return varies ? mel_encoder_complete(encoder, err) : fail_constant(table->n_rows, err);
}

mel_status mel_encoder_fit(mel_encoder **out, const mel_table *table, const mel_encoder_options *opt,
                           mel_error *err)
{
    *out = NULL;
    mel_encoder_options options;
    mel_encoder_options_init(&options);
    TRY(mel_options_take(&options, sizeof options, opt, "encoder options", err));
    for (size_t i = 0, j; i < options.n_skip; i++)
        TRY(mel_table_need(&j, table, options.skip[i], err));
    if (table->n_rows == 0)
        return mel_fail(err, MEL_EDATA, "%s: no rows to learn an encoding from",
                        mel_quote_file(table->name).text);
    MEL_AUTO(mel_encoder) *encoder = mel_encoder_new();
    TRY(MEL_NEED(encoder, "an encoder", err));
    const mel_status status = table->is_sparse ? fit_sparse(encoder, table, &options, err)
                                               : fit_table(encoder, table, &options, err);
    if (status == MEL_EDATA)
        return mel_fail_in(err, status, "%s", mel_quote_file(table->name).text);
    TRY(status);
    return MEL_GIVE(out, encoder);
}
