/* Files of classifiers with basis functions, of any bytes: refused with a sentence, or loaded into a
 * classifier that decides about rows and reads back from its own text as the same file. */
#include "melicit/melicit.h"
#include "optimise/shared.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 3 };

/* Rows whose features are all 1/2, under the names that the basis asks for. */
static void decide(const mel_weighted *w)
{
    const mel_weighted_parts of = mel_weighted_get(w);
    const size_t k = of.mixture->n_classes, d = mel_weight_basis_columns(of.basis);
    double *probability = calloc(ROWS * k, sizeof *probability), *chance = calloc(ROWS * k, sizeof *chance),
           *value = calloc(ROWS * (d + 1), sizeof *value);
    const char **name = calloc(d + 1, sizeof *name);
    if (probability == NULL || chance == NULL || value == NULL || name == NULL)
        abort();
    for (size_t i = 0; i < ROWS * k; i++)
        probability[i] = 1.0 / (double)k;
    for (size_t i = 0; i < ROWS * d; i++)
        value[i] = 0.5;
    for (size_t c = 0; c < d; c++)
        name[c] = mel_weight_basis_column(of.basis, c);
    const mel_feature_rows features = { ROWS, d, value, name };
    if (mel_weighted_apply(chance, w, ROWS, probability, &features, NULL) == MEL_OK)
        for (size_t i = 0; i < ROWS * k; i++)
            if (!(chance[i] >= 0.0 && chance[i] <= 1.0 + 1e-6))
                abort();
    free(probability);
    free(chance);
    free(value);
    free(name);
}

/* Rules on probabilities alone are written as an ordinary classifier file. */
static void read_back(const mel_weighted *w)
{
    char *text = NULL, *again = NULL;
    mel_weighted *read = NULL;
    if (mel_weighted_to_json(&text, w, NULL) != MEL_OK)
        abort();
    if (strstr(text, "melicit-weighted-classifier") != NULL &&
        (mel_weighted_from_json(&read, text, strlen(text), NULL) != MEL_OK ||
         mel_weighted_to_json(&again, read, NULL) != MEL_OK || strcmp(text, again) != 0))
        abort();
    mel_weighted_free(read);
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_weighted *w = NULL;
    mel_error err = { 0 };
    if (mel_weighted_from_json(&w, (const char *)data, size, &err) != MEL_OK) {
        if (w != NULL || err.text[0] == '\0')
            abort();
        return 0;
    }
    decide(w);
    read_back(w);
    mel_weighted_free(w);
    return 0;
}
