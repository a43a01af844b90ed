/* Writes model files. */
#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "data/encoder_json.h"
#include "model/model.h"

static json_t *fit_json(const mel_model *model)
{
    const mel_fit_report *r = &model->report;
    if (!model->fitted)
        return json_null();
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f}", "reason", mel_reason_words[r->reason], "solver",
                     mel_solver_words[r->solver], "iterations", (json_int_t)r->iterations, "l2", model->l2,
                     "objective", r->objective, "log_loss", r->log_loss, "gradient_norm", r->gradient_norm);
}

static mel_status model_json(json_t **out, const mel_model *model, mel_error *err)
{
    json_t *encoder = NULL;
    if (model->encoder != NULL) {
        TRY(mel_encoder_to_json(&encoder, model->encoder, err));
    } else {
        encoder = json_null();
    }
    *out = json_object();
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
    };
    bool whole = *out != NULL;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) /* takes each value over, or frees it */
        whole = json_object_set_new(*out, part[i].key, part[i].value) == 0 && whole;
    if (whole && model->number_texts)
        whole = json_object_set_new(*out, "text_labels", json_true()) == 0;
    if (whole)
        return MEL_OK;
    json_decref(*out);
    *out = NULL;
    return mel_fail_memory(err, "the model file");
}

static int collect(const char *bytes, size_t n, void *data)
{
    mel_buffer *buf = data;
    mel_buffer_add(buf, bytes, n);
    return buf->status == MEL_OK ? 0 : -1;
}

static mel_status model_text(mel_buffer *text, const mel_model *model, mel_error *err)
{
    json_t *json = NULL;
    const mel_status status = model_json(&json, model, err);
    if (status != MEL_OK)
        return status;
    const int failed = json_dump_callback(json, collect, text, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(json);
    mel_buffer_puts(text, "\n");
    return failed == 0 && text->status == MEL_OK ? MEL_OK : mel_fail_memory(err, "the model file");
}

mel_status mel_model_save(const mel_model *model, const char *path, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 4);
    mel_status status = model_text(&text, model, err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text.data, text.size, err);
    mel_buffer_free(&text);
    return status;
}
