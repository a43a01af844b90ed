/* Any bytes as CSV (or gzip of it): refused with a sentence, or read; then two threads must give the same
 * rows, and labels and features must come out whole. The first byte chooses the options. */
#include "melicit/melicit.h"

#include "data/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_encoding(const mel_table *table)
{
    mel_encoder *encoder;
    mel_encoded encoded;
    mel_error err;
    if (mel_encoder_fit(&encoder, table, NULL, &err) != MEL_OK)
        return;
    if (mel_encode(&encoded, encoder, table, &err) == MEL_OK) {
        const mel_features *x = &encoded.view;
        demand(x->n_rows == mel_table_rows(table) && x->n_cols == mel_encoder_features(encoder));
        for (size_t i = 0; x->dense != NULL && i < x->n_rows * x->n_cols; i++)
            demand(isfinite(x->dense[i]));
        for (size_t k = 0; x->dense == NULL && k < x->row_start[x->n_rows]; k++)
            demand(isfinite(x->value[k]) && x->col[k] < x->n_cols);
        demand(encoded.unseen == 0);
        mel_encoded_clear(&encoded);
    }
    mel_encoder_free(encoder);
}

static void check_labels(const mel_table *table)
{
    for (size_t j = 0; j < mel_table_columns(table); j++) {
        mel_labels labels;
        mel_error err;
        const char *name = mel_table_column_name(table, j);
        if (mel_table_labels(&labels, table, name, &err) == MEL_OK)
            for (size_t i = 0; i < labels.n_rows; i++)
                demand(labels.code[i] < labels.n_classes);
        mel_labels_clear(&labels);
        (void)mel_table_quantile_labels(&labels, table, name, 3, &err);
        mel_labels_clear(&labels);
    }
}

/* Another number of threads reads the same. */
static void check_again(const uint8_t *data, size_t size, const mel_read_options *opt, const mel_table *table)
{
    mel_read_options other = *opt;
    other.threads = 2;
    mel_table *again;
    mel_error err;
    demand(mel_table_read_memory(&again, data, size, "fuzz.csv", &other, &err) == MEL_OK);
    const size_t n = mel_table_rows(table);
    demand(mel_table_rows(again) == n && strcmp(mel_table_how(again), mel_table_how(table)) == 0);
    demand(mel_table_warnings(again) == mel_table_warnings(table));
    for (size_t j = 0; j < mel_table_columns(table); j++) {
        const double *a = mel_table_numbers(table, j), *b = mel_table_numbers(again, j);
        const uint32_t *p = mel_table_codes(table, j), *q = mel_table_codes(again, j);
        demand((a != NULL) == (b != NULL) && (p != NULL) == (q != NULL));
        demand(a == NULL || memcmp(a, b, n * sizeof *a) == 0);
        demand(p == NULL || memcmp(p, q, n * sizeof *p) == 0);
    }
    mel_table_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = { 0, ',', ';', ' ' }, decimals[] = { 0, '.', ',', 0 };
    if (size == 0)
        return 0;
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.format = MEL_FORMAT_CSV;
    opt.delimiter = delimiters[data[0] & 3];
    opt.header = (data[0] & 4) != 0 ? MEL_HEADER_NO : MEL_HEADER_AUTO;
    opt.decimal = decimals[data[0] >> 3 & 3];
    opt.threads = 1;
    opt.max_rows = 2000;
    opt.max_columns = 64;
    opt.max_bytes = 1 << 16;
    opt.max_categories = 500;
    mel_table *table;
    mel_error err = { 0 };
    const mel_status status = mel_table_read_memory(&table, data + 1, size - 1, "fuzz.csv", &opt, &err);
    if (status != MEL_OK) {
        demand(table == NULL && err.code == status && strncmp(err.text, "fuzz.csv: ", 10) == 0);
        demand(status == MEL_EDATA || status == MEL_ELIMIT);
        return 0;
    }
    demand(mel_table_rows(table) > 0 && mel_table_rows(table) <= opt.max_rows);
    check_again(data + 1, size - 1, &opt, table);
    check_labels(table);
    check_encoding(table);
    mel_table_free(table);
    return 0;
}
