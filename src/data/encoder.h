/* What an encoder has learned. */
#ifndef MEL_DATA_ENCODER_H
#define MEL_DATA_ENCODER_H

#include "data/shared.h"
#include "data/table.h"
#include <jansson.h>

/* One column that becomes features. */
typedef struct {
    char *name;
    mel_column_type type;
    mel_percent_signs percent;
    const char *currency;           /* of a column of money, never freed; NULL */
    double median, mean, deviation; /* numbers; 0, 1 for mean and deviation when the scale is kept */
    mel_dict *categories;           /* text: in the order of their features */
    uint32_t mode;                  /* code in categories for missing cells */
    bool missing_category;          /* a last feature says that the cell was missing */
    size_t first_feature;
} mel_encoder_input;

struct mel_encoder {
    bool sparse; /* layout of the features */
    size_t n_inputs;
    mel_encoder_input *input;
    bool libsvm;       /* no inputs but stored features, */
    bool zero_based;   /* which the file counted from 0, */
    double *deviation; /* one for each */
    size_t n_features;
    char **feature_name;
    mel_dict *dropped; /* names of columns without a value */
};

static inline size_t mel_input_features(const mel_encoder_input *input)
{
    return input->type == MEL_COLUMN_TEXT ? (size_t)input->categories->n + input->missing_category : 1;
}

mel_encoder *mel_encoder_new(void);
/* Numbers and names the features once the inputs are complete. MEL_EDATA when there are none. */
mel_status mel_encoder_complete(mel_encoder *encoder, mel_error *err);

/* --- as JSON -------------------------------------------------------------------------------------------- */

/* *out is the caller's reference. */
mel_status mel_encoder_to_json(json_t **out, const mel_encoder *encoder, mel_error *err);
/* Refuses (MEL_EDATA, with the place) whatever mel_encoder_to_json would not write. */
mel_status mel_encoder_from_json(mel_encoder **out, const json_t *json, mel_error *err);

#endif
