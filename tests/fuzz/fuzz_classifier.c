/* Classifier files of any bytes: refused with a sentence, or loaded into a classifier that decides about rows
 * and reads back from its own text as the same file. */
#include "classify/shared.h"
#include "melicit/melicit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 3 };

/* Predictions are classes, and the chances of a row are probabilities. Features are all 1/2, under the names
 * that the basis asks for. */
static void decide(const mel_classifier *c)
{
    const mel_classifier_parts of = mel_classifier_get(c);
    const size_t k = of.n_classes, d = of.n_decisions,
                 columns = of.basis != NULL ? mel_weight_basis_columns(of.basis) : 0;
    double *probability = calloc(ROWS * k, sizeof *probability), *chance = calloc(ROWS * d, sizeof *chance),
           *value = calloc(ROWS * (columns + 1), sizeof *value);
    const char **name = calloc(columns + 1, sizeof *name);
    uint32_t group[ROWS] = { 0, 0, 0 }, prediction[ROWS];
    if (probability == NULL || chance == NULL || value == NULL || name == NULL)
        abort();
    for (size_t i = 0; i < ROWS * k; i++)
        probability[i] = 1.0 / (double)k;
    for (size_t i = 0; i < ROWS * columns; i++)
        value[i] = 0.5;
    for (size_t i = 0; i < columns; i++)
        name[i] = mel_weight_basis_column(of.basis, i);
    const mel_feature_rows features = { ROWS, columns, value, name };
    const mel_undecided rows = {
        .n = ROWS, .probability = probability, .group = group, .features = &features, .seed = 1
    };
    if (mel_classifier_decide(prediction, c, &rows, NULL) == MEL_OK)
        for (size_t i = 0; i < ROWS; i++)
            if (prediction[i] >= d)
                abort();
    if (mel_classifier_chances(chance, c, &rows, NULL) == MEL_OK)
        for (size_t i = 0; i < ROWS * d; i++)
            if (!(chance[i] >= 0.0 && chance[i] <= 1.0 + 1e-6))
                abort();
    free(probability);
    free(chance);
    free(value);
    free(name);
}

static void read_back(const mel_classifier *c)
{
    char *text = NULL, *again = NULL, *words = NULL;
    mel_classifier *read = NULL;
    if (mel_classifier_to_json(&text, c, NULL) != MEL_OK ||
        mel_classifier_words(&words, c, 0, NULL) != MEL_OK ||
        mel_classifier_from_json(&read, text, strlen(text), NULL) != MEL_OK ||
        mel_classifier_to_json(&again, read, NULL) != MEL_OK || strcmp(text, again) != 0)
        abort();
    mel_classifier_free(read);
    free(words);
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    if (mel_classifier_from_json(&c, (const char *)data, size, &err) != MEL_OK) {
        if (c != NULL || err.text[0] == '\0')
            abort();
        return 0;
    }
    decide(c);
    read_back(c);
    mel_classifier_free(c);
    return 0;
}
