/* Any bytes as LIBSVM text: refused with a sentence, or read into rows of ascending columns, which encode
 * to finite features. */
#include "data/shared.h"
#include "melicit/melicit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_features(const mel_features *x)
{
    for (size_t i = 0; x->dense == NULL && i < x->n_rows; i++)
        for (size_t k = x->row_start[i]; k < x->row_start[i + 1]; k++) {
            demand(isfinite(x->value[k]) && x->col[k] < x->n_cols);
            demand(k == x->row_start[i] || x->col[k - 1] < x->col[k]);
        }
    for (size_t i = 0; x->dense != NULL && i < x->n_rows * x->n_cols; i++)
        demand(isfinite(x->dense[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.format = MEL_FORMAT_LIBSVM;
    opt.threads = 1;
    opt.max_bytes = 1 << 16;
    opt.max_columns = 500;
    mel_table *table;
    mel_error err = { 0 };
    const mel_status status = mel_table_read_memory(&table, data, size, "fuzz.svm", &opt, &err);
    if (status != MEL_OK) {
        demand(table == NULL && err.code == status && strncmp(err.text, "fuzz.svm: ", 10) == 0);
        demand(status == MEL_EDATA || status == MEL_ELIMIT);
        return 0;
    }
    mel_features x;
    mel_encoder *encoder;
    mel_encoded encoded;
    demand(mel_table_sparse(&x, table));
    check_features(&x);
    if (mel_encoder_fit(&encoder, table, NULL, &err) == MEL_OK) {
        if (mel_encode(&encoded, encoder, table, &err) == MEL_OK)
            check_features(&encoded.view);
        mel_encoded_clear(&encoded);
        mel_encoder_free(encoder);
    }
    mel_table_free(table);
    return 0;
}
