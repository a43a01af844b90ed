/* How the columns of a table become features: the object and its names. */
#include "data/encoder.h"
#include "data/shared.h"

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
    if (encoder->feature_name == NULL || !name_features(encoder))
        return mel_fail_memory(err, "the names of features");
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
