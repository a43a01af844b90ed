/* Model files of any bytes: refused with a sentence, or loaded into a model that predicts. */
#include "melicit/melicit.h"
#include "model/shared.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A row of numbers that overflow, one of zeros, one of ordinary size. */
static void predict(const mel_model *model)
{
    enum { ROWS = 3 };
    const size_t d = mel_model_features(model), k = mel_model_classes(model);
    double *x = calloc(ROWS * d + 1, sizeof *x), *probs = calloc(ROWS * k, sizeof *probs);
    if (x == NULL || probs == NULL)
        abort();
    for (size_t j = 0; j < d; j++) {
        x[j] = j % 2 == 0 ? DBL_MAX : -DBL_MAX;
        x[2 * d + j] = (double)(j % 5) - 1.7;
    }
    const mel_features rows = { .n_rows = ROWS, .n_cols = d, .dense = x, .stride = d };
    if (mel_model_predict(probs, model, &rows, 1, NULL) != MEL_OK)
        abort();
    for (size_t i = 0; i < ROWS; i++) {
        long double sum = 0.0L;
        for (size_t c = 0; c < k; c++)
            sum += probs[i * k + c];
        if (!(fabsl(sum - 1.0L) <= 1e-12L))
            abort();
    }
    free(x);
    free(probs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_model *model = NULL;
    mel_error err = { MEL_OK, "" };
    const mel_status status = mel_model_load_memory(&model, data, size, "fuzz", &err);
    if ((status == MEL_OK) != (model != NULL))
        abort();
    if (status == MEL_OK)
        predict(model);
    else if (strncmp(err.text, "fuzz: ", 6) != 0 || err.code != status)
        abort();
    mel_model_free(model);
    return 0;
}
