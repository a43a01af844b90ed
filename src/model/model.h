/* The model object, as the files of this room see it. */
#ifndef MEL_MODEL_MODEL_H
#define MEL_MODEL_MODEL_H

#include "base/internal.h"
#include "base/vector.h"
#include "data/shared.h"
#include "model/shared.h"

enum { MEL_LANES = 4 }; /* rows of per-class numbers are padded to a multiple of this */

struct mel_model {
    size_t n_classes, n_features;
    size_t n_outputs;   /* rows of coefficients: 1 for two classes, else n_classes */
    double *weights;    /* n_outputs x n_features */
    double *intercepts; /* n_outputs */
    char **names;       /* n_classes */
    bool number_texts;  /* names that look like numbers are texts, sorted by byte */
    mel_encoder *encoder;
    bool fitted; /* report and l2 are known */
    mel_fit_report report;
    double l2;
};

/* mel_proba_read for a table that was read with these options. */
mel_status mel_proba_of_table(mel_proba *out, const mel_table *table, const mel_read_options *opt,
                              mel_error *err);

/* Zero coefficients, classes named "0", "1", ...; n_classes >= 2. */
mel_status mel_model_new(mel_model **out, size_t n_classes, size_t n_features, mel_error *err);

/* Shape and values of a feature matrix: sparse rows in order, every value finite and no larger than
 * limit in magnitude. `what` says what the rows are for. */
mel_status mel_features_check(const mel_features *x, double limit, const char *what, mel_error *err);

/* Sum of weights (n when weight is NULL); refuses a negative or non-finite one and a sum of 0. */
mel_status mel_weights_check(double *total, const double *weight, size_t n, mel_error *err);

/* The entries of a row, whichever way it is stored; col is NULL for a dense row. */
typedef struct {
    size_t n;
    const uint32_t *col;
    const double *value;
} mel_feature_row;

static inline mel_feature_row mel_row_of(const mel_features *x, size_t i)
{
    if (x->n_cols == 0)
        return (mel_feature_row){ 0 };
    if (x->dense != NULL)
        return (mel_feature_row){ .n = x->n_cols, .value = x->dense + i * x->stride };
    const size_t begin = x->row_start[i], n = x->row_start[i + 1] - begin;
    return n == 0 ? (mel_feature_row){ 0 } : (mel_feature_row){ n, x->col + begin, x->value + begin };
}

/* Words of the model file; README.md shows a whole file. */
#define MEL_MODEL_FORMAT "melicit-model"
enum { MEL_MODEL_VERSION = 1 };

#endif
