/* The model: coefficients, class names, encoder; checks of what it is given. */
#include "model/model.h"

#include "base/stat.h"
#include "data/quote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mel_model_free(mel_model *model)
{
    if (model == NULL)
        return;
    free(model->weights);
    free(model->intercepts);
    mel_names_free(model->names, model->n_classes);
    mel_encoder_free(model->encoder);
    free(model);
}

mel_status mel_model_new(mel_model **out, size_t n_classes, size_t n_features, mel_error *err)
{
    *out = NULL;
    mel_model *model = mel_alloc_zero(1, sizeof *model);
    TRY(MEL_NEED(model, "the model", err));
    model->n_classes = n_classes;
    model->n_features = n_features;
    model->n_outputs = n_classes == 2 ? 1 : n_classes;
    model->names = mel_names_copy(n_classes, NULL, 0);
    model->intercepts = mel_alloc_zero(model->n_outputs, sizeof *model->intercepts);
    if (n_features == 0 || model->n_outputs <= SIZE_MAX / n_features)
        model->weights = mel_alloc_zero(model->n_outputs * n_features, sizeof *model->weights);
    if (model->names == NULL || model->intercepts == NULL || model->weights == NULL) {
        mel_model_free(model);
        return mel_fail_memory(err, "the coefficients");
    }
    *out = model;
    return MEL_OK;
}

size_t mel_model_classes(const mel_model *model)
{
    return model->n_classes;
}

size_t mel_model_features(const mel_model *model)
{
    return model->n_features;
}

const double *mel_model_weights(const mel_model *model)
{
    return model->weights;
}

const double *mel_model_intercepts(const mel_model *model)
{
    return model->intercepts;
}

mel_status mel_model_set_classes(mel_model *model, const char *const *names, mel_error *err)
{
    for (size_t i = 0; i < model->n_classes; i++)
        if (mel_utf8_valid(names[i], strlen(names[i])) != strlen(names[i]))
            return mel_fail(err, MEL_EDATA, "the name of class %zu is not UTF-8", i);
    char **copy = mel_names_copy(model->n_classes, names, 0);
    TRY(MEL_NEED(copy, "the class names", err));
    mel_names_free(model->names, model->n_classes);
    model->names = copy;
    return MEL_OK;
}

void mel_model_set_encoder(mel_model *model, mel_encoder *encoder)
{
    if (encoder == model->encoder)
        return;
    mel_encoder_free(model->encoder);
    model->encoder = encoder;
}

const char *mel_model_class_name(const mel_model *model, size_t code)
{
    return code < model->n_classes ? model->names[code] : NULL;
}

void mel_model_set_number_texts(mel_model *model, bool yes)
{
    model->number_texts = yes;
}

bool mel_model_number_texts(const mel_model *model)
{
    return model->number_texts;
}

const mel_encoder *mel_model_encoder(const mel_model *model)
{
    return model->encoder;
}

static mel_status check_value(double value, double limit, size_t row, size_t column, const char *what,
                              mel_error *err)
{
    if (!isfinite(value))
        return mel_fail(err, MEL_EDATA, "%s: row %zu, feature %zu: %g is not a finite number", what, row + 1,
                        column + 1, value);
    if (fabs(value) > limit)
        return mel_fail(err, MEL_EDATA, "%s: row %zu, feature %zu: %g is too large (limit %g); rescale it",
                        what, row + 1, column + 1, value, limit);
    return MEL_OK;
}

static mel_status check_sparse_row(const mel_features *x, size_t row, double limit, const char *what,
                                   mel_error *err)
{
    const size_t begin = x->row_start[row], end = x->row_start[row + 1];
    if (end < begin)
        return mel_fail(err, MEL_EINVAL, "%s: row %zu ends before it starts", what, row + 1);
    for (size_t at = begin; at < end; at++) {
        const size_t column = x->col[at];
        if (column >= x->n_cols || (at > begin && column <= x->col[at - 1]))
            return mel_fail(err, MEL_EINVAL, "%s: row %zu: feature index %zu is out of order or range", what,
                            row + 1, column);
        if (!(fabs(x->value[at]) <= limit))
            return check_value(x->value[at], limit, row, column, what, err);
    }
    return MEL_OK;
}

/* Whether n numbers are, none of them NaN. */
MEL_VECTORISED
static bool within(size_t n, const double *value, double limit)
{
    size_t outside = 0;
    for (size_t i = 0; i < n; i++)
        outside += fabs(value[i]) <= limit ? 0U : 1U;
    return outside == 0;
}

mel_status mel_features_check(const mel_features *x, double limit, const char *what, mel_error *err)
{
    if (x == NULL)
        return mel_fail(err, MEL_EINVAL, "%s: no features", what);
    if (x->dense != NULL) {
        if (x->stride < x->n_cols)
            return mel_fail(err, MEL_EINVAL, "%s: stride %zu is below %zu columns", what, x->stride,
                            x->n_cols);
        if (x->stride == x->n_cols && within(x->n_rows * x->n_cols, x->dense, limit))
            return MEL_OK;
        for (size_t i = 0; i < x->n_rows; i++)
            for (size_t j = 0; j < x->n_cols && !within(x->n_cols, x->dense + i * x->stride, limit); j++)
                if (!(fabs(x->dense[i * x->stride + j]) <= limit))
                    return check_value(x->dense[i * x->stride + j], limit, i, j, what, err);
        return MEL_OK;
    }
    if (x->n_rows == 0 || x->n_cols == 0)
        return MEL_OK;
    if (x->row_start == NULL || (x->row_start[x->n_rows] > 0 && (x->col == NULL || x->value == NULL)))
        return mel_fail(err, MEL_EINVAL, "%s: neither dense nor sparse values", what);
    for (size_t i = 0; i < x->n_rows; i++) {
        TRY(check_sparse_row(x, i, limit, what, err));
    }
    return MEL_OK;
}

mel_status mel_weights_check(double *total, const double *weight, size_t n, mel_error *err)
{
    *total = (double)n;
    if (weight == NULL)
        return MEL_OK;
    for (size_t i = 0; i < n; i++)
        if (!(weight[i] >= 0.0 && isfinite(weight[i])))
            return mel_fail(err, MEL_EDATA, "row %zu: weight %g is not a finite number from 0 up", i + 1,
                            weight[i]);
    *total = mel_total(n, weight);
    if (!(*total > 0.0 && isfinite(*total)))
        return mel_fail(err, MEL_EDATA, "the weights of %zu rows sum to %g", n, *total);
    return MEL_OK;
}
