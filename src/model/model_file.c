/* Reads and writes model files. */
#include "base/file.h"
#include "base/json.h"
#include "base/la.h"
#include "data/dict.h"
#include "data/encoder.h"
#include "data/quote.h"
#include "data/shared.h"
#include "data/source.h"
#include "model/model.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- writing -------------------------------------------------------------------------------------------- */

static json_t *fit_json(const mel_model *model)
{
    const mel_fit_report *r = &model->report;
    if (!model->fitted)
        return json_null();
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f}", "reason", mel_reason_words[r->reason], "solver",
                     mel_solver_words[r->solver], "iterations", (json_int_t)r->iterations, "l2", model->l2,
                     "objective", r->objective, "log_loss", r->log_loss, "gradient_norm", r->gradient_norm);
}

mel_status mel_model_save(const mel_model *model, const char *path, mel_error *err)
{
    json_t *encoder = json_null();
    if (model->encoder != NULL)
        TRY(mel_encoder_to_json(&encoder, model->encoder, err));
    json_t *root = json_object();
    const struct {
        const char *key;
        json_t *value;
    } part[] = {
        { "format", json_string(MEL_MODEL_FORMAT) },
        { "version", json_integer(MEL_MODEL_VERSION) },
        { "classes", mel_json_texts(model->n_classes, (const char *const *)model->names) },
        { "encoder", encoder },
        { "intercepts", mel_json_numbers(model->n_outputs, model->intercepts) },
        { "weights", mel_json_matrix(model->n_outputs, model->n_features, model->weights) },
        { "calibration", json_pack("{s:s}", "kind", "none") },
        { "fit", fit_json(model) },
        { "text_labels", json_true() },
    };
    const size_t n = sizeof part / sizeof *part - !model->number_texts;
    bool whole = root != NULL;
    for (size_t i = 0; i < n; i++) /* takes each value over, or frees it */
        whole = mel_json_put(root, part[i].key, part[i].value) && whole;
    MEL_AUTO_MEMORY char *text = NULL;
    TRY(mel_json_file_text(&text, mel_json_if(whole, root), "the model file", err));
    return mel_file_replace(path, text, strlen(text), err);
}

/* --- reading -------------------------------------------------------------------------------------------- */

static const uint64_t max_file_bytes = (uint64_t)1 << 31;
enum { PLACE_BYTES = 64 };

static mel_status check_keys(const json_t *object, const char *place, const char *const *keys, mel_error *err)
{
    const mel_status status = mel_json_members(object, keys, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", place);
}

static mel_status get_number(double *out, const json_t *value, const char *place, mel_error *err)
{
    if (!json_is_number(value))
        return mel_fail(err, MEL_EDATA, "%s: not a number", place);
    *out = json_number_value(value);
    return isfinite(*out) ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: not a finite number", place);
}

/* Exactly n numbers. */
static mel_status get_numbers(double *out, size_t n, const json_t *array, const char *place, mel_error *err)
{
    if (!json_is_array(array) || json_array_size(array) != n)
        return mel_fail(err, MEL_EDATA, "%s: not an array of %zu numbers", place, n);
    for (size_t i = 0; i < n; i++) {
        char inner[PLACE_BYTES + 24];
        (void)snprintf(inner, sizeof inner, "%s[%zu]", place, i);
        TRY(get_number(&out[i], json_array_get(array, i), inner, err));
    }
    return MEL_OK;
}

/* The position of a word in a list. */
static mel_status get_word(int *out, const json_t *value, const char *const *words, int n, const char *place,
                           mel_error *err)
{
    const char *text = json_string_value(value);
    for (int i = 0; text != NULL && i < n; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return MEL_OK;
        }
    if (text == NULL)
        return mel_fail(err, MEL_EDATA, "%s: not a text", place);
    return mel_fail(err, MEL_EDATA, "%s: %s is not known here", place, mel_quote_text(text).text);
}

static mel_status check_format(const json_t *root, mel_error *err)
{
    static const char *const keys[] = { "text_labels", "format",  "version",     "classes", "encoder",
                                        "intercepts",  "weights", "calibration", "fit",     NULL };
    const json_t *texts = json_object_get(root, "text_labels"); /* only where it is true */
    TRY(mel_json_check_kind(root, MEL_MODEL_FORMAT, NULL, err));
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version))
        return mel_fail(err, MEL_EDATA, "version: not a whole number");
    if (json_integer_value(version) != MEL_MODEL_VERSION)
        return mel_fail(err, MEL_EDATA, "version: %lld, this program reads %d",
                        (long long)json_integer_value(version), MEL_MODEL_VERSION);
    if (texts != NULL && !json_is_true(texts))
        return mel_fail(err, MEL_EDATA, "text_labels: expected true");
    return check_keys(root, "model", texts != NULL ? keys : keys + 1, err);
}

/* Shape first, so that memory is asked for only when the file holds as many numbers. */
static mel_status check_shape(size_t *n_classes, size_t *n_features, const json_t *root, mel_error *err)
{
    const json_t *classes = json_object_get(root, "classes"), *weights = json_object_get(root, "weights");
    const size_t k = json_array_size(classes);
    if (!json_is_array(classes) || k < 2)
        return mel_fail(err, MEL_EDATA, "classes: not an array of two texts or more");
    for (size_t i = 0; i < k; i++)
        if (!json_is_string(json_array_get(classes, i)))
            return mel_fail(err, MEL_EDATA, "classes[%zu]: not a text", i);
    const size_t rows = k == 2 ? 1 : k;
    if (!json_is_array(weights) || json_array_size(weights) != rows)
        return mel_fail(err, MEL_EDATA, "weights: not an array of %zu rows", rows);
    const size_t d = json_array_size(json_array_get(weights, 0));
    for (size_t c = 0; c < rows; c++) {
        const json_t *row = json_array_get(weights, c);
        if (!json_is_array(row) || json_array_size(row) != d)
            return mel_fail(err, MEL_EDATA, "weights[%zu]: not an array of %zu numbers", c, d);
    }
    *n_classes = k;
    *n_features = d;
    return MEL_OK;
}

static mel_status take_class(mel_model *model, mel_dict *seen, size_t code, const char *name, mel_error *err)
{
    const size_t length = strlen(name);
    const uint32_t before = seen->n;
    char *copy = mel_strdup(name);
    if (copy == NULL || mel_dict_add(seen, name, length, mel_dict_hash(name, length)) == MEL_MISSING) {
        free(copy);
        return mel_fail_memory(err, "the class names");
    }
    free(model->names[code]);
    model->names[code] = copy;
    return seen->n > before
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "classes[%zu]: %s is given twice", code, mel_quote_text(name).text);
}

static mel_status read_classes(mel_model *model, const json_t *classes, mel_error *err)
{
    MEL_AUTO(mel_dict) *seen = mel_dict_new();
    TRY(MEL_NEED(seen, "the class names", err));
    for (size_t i = 0; i < model->n_classes; i++)
        TRY(take_class(model, seen, i, json_string_value(json_array_get(classes, i)), err));
    return MEL_OK;
}

static mel_status read_coefficients(mel_model *model, const json_t *root, mel_error *err)
{
    const json_t *weights = json_object_get(root, "weights");
    for (size_t c = 0; c < model->n_outputs; c++) {
        char place[PLACE_BYTES];
        (void)snprintf(place, sizeof place, "weights[%zu]", c);
        TRY(get_numbers(model->weights + c * model->n_features, model->n_features, json_array_get(weights, c),
                        place, err));
    }
    return get_numbers(model->intercepts, model->n_outputs, json_object_get(root, "intercepts"), "intercepts",
                       err);
}

static mel_status read_encoder(mel_model *model, const json_t *value, mel_error *err)
{
    if (json_is_null(value))
        return MEL_OK;
    TRY(mel_encoder_from_json(&model->encoder, value, err));
    if (mel_encoder_features(model->encoder) != model->n_features)
        return mel_fail(err, MEL_EDATA, "encoder: gives %zu features, weights has %zu",
                        mel_encoder_features(model->encoder), model->n_features);
    return MEL_OK;
}

/* Earlier versions calibrated models themselves. A temperature divides all scores, so it becomes part of the
 * coefficients. */
static mel_status read_calibration(mel_model *model, const json_t *value, mel_error *err)
{
    static const char *const kinds[] = { "none", "temperature", "isotonic" };
    static const char *const none[] = { "kind", NULL }, *const with[] = { "kind", "temperature", NULL };
    int kind = 0;
    if (!json_is_object(value))
        return mel_fail(err, MEL_EDATA, "calibration: not an object");
    TRY(get_word(&kind, json_object_get(value, "kind"), kinds, 3, "calibration.kind", err));
    if (kind == 2)
        return mel_fail(err, MEL_EDATA,
                        "calibration: isotonic calibration of a model is no longer applied; train it again");
    TRY(check_keys(value, "calibration", kind == 0 ? none : with, err));
    if (kind == 0)
        return MEL_OK;
    double t = 1.0;
    TRY(get_number(&t, json_object_get(value, "temperature"), "calibration.temperature", err));
    if (!(t > 0.0 && isfinite(1.0 / t)))
        return mel_fail(err, MEL_EDATA, "calibration.temperature: %g is not positive", t);
    const size_t n = model->n_outputs * model->n_features;
    for (size_t i = 0; i < n; i++)
        model->weights[i] /= t;
    for (size_t c = 0; c < model->n_outputs; c++)
        model->intercepts[c] /= t;
    return mel_all_finite(n, model->weights) && mel_all_finite(model->n_outputs, model->intercepts)
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "calibration.temperature: %g is too small for the weights", t);
}

static mel_status read_fit(mel_model *model, const json_t *value, mel_error *err)
{
    static const char *const keys[] = { "reason",    "solver",   "iterations",    "l2",
                                        "objective", "log_loss", "gradient_norm", NULL };
    if (json_is_null(value))
        return MEL_OK;
    TRY(check_keys(value, "fit", keys, err));
    mel_fit_report *r = &model->report;
    int reason = 0, solver = 0;
    const struct {
        const char *key, *place;
        double *to;
    } number[] = { { "l2", "fit.l2", &model->l2 },
                   { "objective", "fit.objective", &r->objective },
                   { "log_loss", "fit.log_loss", &r->log_loss },
                   { "gradient_norm", "fit.gradient_norm", &r->gradient_norm } };
    TRY(get_word(&reason, json_object_get(value, "reason"), mel_reason_words, 3, "fit.reason", err));
    TRY(get_word(&solver, json_object_get(value, "solver"), mel_solver_words, 3, "fit.solver", err));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        TRY(get_number(number[i].to, json_object_get(value, number[i].key), number[i].place, err));
    const json_t *iterations = json_object_get(value, "iterations");
    if (!json_is_integer(iterations) || json_integer_value(iterations) < 0 ||
        json_integer_value(iterations) > UINT32_MAX)
        return mel_fail(err, MEL_EDATA, "fit.iterations: not a count");
    r->iterations = (uint32_t)json_integer_value(iterations);
    r->reason = (mel_fit_reason)reason;
    r->solver = (mel_solver)solver;
    model->fitted = true;
    return MEL_OK;
}

static mel_status read_model(mel_model **out, const json_t *root, mel_error *err)
{
    size_t n_classes = 0, n_features = 0;
    TRY(check_format(root, err));
    TRY(check_shape(&n_classes, &n_features, root, err));
    TRY(mel_model_new(out, n_classes, n_features, err));
    TRY(read_classes(*out, json_object_get(root, "classes"), err));
    mel_model_set_number_texts(*out, json_object_get(root, "text_labels") != NULL);
    TRY(read_coefficients(*out, root, err));
    TRY(read_encoder(*out, json_object_get(root, "encoder"), err));
    TRY(read_calibration(*out, json_object_get(root, "calibration"), err));
    return read_fit(*out, json_object_get(root, "fit"), err);
}

mel_status mel_model_load_memory(mel_model **out, const void *bytes, size_t n, const char *name,
                                 mel_error *err)
{
    *out = NULL;
    json_t *root = NULL;
    MEL_AUTO(mel_model) *model = NULL;
    mel_status status = mel_json_parse(&root, bytes, n, err);
    if (status == MEL_OK)
        status = read_model(&model, root, err);
    json_decref(root);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "%s", mel_quote_file(name).text);
    return MEL_GIVE(out, model);
}

mel_status mel_model_load(mel_model **out, const char *path, mel_error *err)
{
    *out = NULL;
    MEL_AUTO_MEMORY char *bytes = NULL;
    size_t n = 0;
    const mel_status status = mel_source_whole(&bytes, &n, path, max_file_bytes, err);
    return status == MEL_OK ? mel_model_load_memory(out, bytes, n, path, err)
                            : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
