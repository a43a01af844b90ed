/* Encoders as JSON, out and in. */

#include "base/json.h"
#include "data/encoder.h"
#include "data/quote.h"
#include "data/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const percent_words[] = { [MEL_PERCENT_SOME] = "some", [MEL_PERCENT_ALL] = "all" };

static json_t *texts_json(const mel_dict *texts)
{
    json_t *list = json_array();
    bool whole = list != NULL;
    for (size_t k = 0; k < texts->n && whole; k++)
        whole = mel_json_add(list, json_string(mel_dict_text(texts, k)));
    return mel_json_if(whole, list);
}

static json_t *column_json(const mel_encoder_input *input)
{
    if (input->type == MEL_COLUMN_TEXT)
        return json_pack("{s:s, s:s, s:o, s:s, s:b}", "name", input->name, "type", "text", "categories",
                         texts_json(input->categories), "mode", mel_dict_text(input->categories, input->mode),
                         "missing_category", (int)input->missing_category);
    const char *percent = input->percent != MEL_PERCENT_NONE ? percent_words[input->percent] : NULL;
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:s*, s:s*}", "name", input->name, "type", "number", "median",
                     input->median, "mean", input->mean, "deviation", input->deviation, "percent", percent,
                     "currency", input->currency);
}

static json_t *columns_json(const mel_encoder *encoder)
{
    json_t *columns = json_array();
    bool whole = columns != NULL;
    for (size_t i = 0; i < encoder->n_inputs && whole; i++)
        whole = mel_json_add(columns, column_json(&encoder->input[i]));
    return mel_json_if(whole, columns);
}

mel_status mel_encoder_to_json(json_t **out, const mel_encoder *encoder, mel_error *err)
{
    json_t *json = json_object();
    bool whole = mel_json_put(json, "layout", json_string(encoder->sparse ? "sparse" : "dense"));
    if (encoder->libsvm)
        whole = mel_json_put(json, "deviations", mel_json_numbers(encoder->n_features, encoder->deviation)) &&
                whole;
    else
        whole = mel_json_put(json, "columns", columns_json(encoder)) &&
                mel_json_put(json, "dropped", texts_json(encoder->dropped)) && whole;
    if (encoder->zero_based)
        whole = mel_json_put(json, "zero_based", json_true()) && whole;
    *out = mel_json_if(whole, json);
    return MEL_NEED(*out, "the JSON of an encoder", err);
}

/* A text without NUL bytes; lent by the document. */
static mel_status get_text(const char **out, const json_t *value, const char *what, mel_error *err)
{
    *out = json_string_value(value);
    if (*out == NULL || strlen(*out) != json_string_length(value))
        return mel_fail(err, MEL_EDATA, "\"%s\" must be a text", what);
    return MEL_OK;
}

static mel_status get_number(double *out, const json_t *object, const char *name, mel_error *err)
{
    const json_t *value = json_object_get(object, name);
    *out = json_number_value(value);
    if (!json_is_number(value) || !isfinite(*out))
        return mel_fail(err, MEL_EDATA, "\"%s\" must be a finite number", name);
    return MEL_OK;
}

static mel_status check_deviation(double deviation, mel_error *err)
{
    return deviation > 0.0 && isfinite(deviation)
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "a deviation of %g; it must be positive", deviation);
}

/* Adds a text that must be new to a set. */
static mel_status add_unique(mel_dict *dict, const json_t *value, const char *what, mel_error *err)
{
    const char *text;
    TRY(get_text(&text, value, what, err));
    const size_t n = strlen(text);
    const uint32_t before = dict->n;
    TRY(MEL_NEED(mel_dict_add(dict, text, n, mel_dict_hash(text, n)) != MEL_MISSING, "an encoder", err));
    return dict->n > before
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "\"%s\": %s is given twice", what, mel_quote(text, n).text);
}

static mel_status add_all(mel_dict *dict, const json_t *list, const char *what, mel_error *err)
{
    if (!json_is_array(list))
        return mel_fail(err, MEL_EDATA, "\"%s\" must be an array", what);
    for (size_t k = 0; k < json_array_size(list); k++)
        TRY(add_unique(dict, json_array_get(list, k), what, err));
    return MEL_OK;
}

static mel_status read_text_column(mel_encoder_input *input, const json_t *column, mel_error *err)
{
    static const char *const names[] = { "name", "type", "categories", "mode", "missing_category", NULL };
    const char *mode = NULL;
    TRY(mel_json_members(column, names, err));
    TRY(MEL_NEED(input->categories = mel_dict_new(), "an encoder", err));
    TRY(add_all(input->categories, json_object_get(column, "categories"), "categories", err));
    TRY(get_text(&mode, json_object_get(column, "mode"), "mode", err));
    input->mode = mel_dict_find(input->categories, mode, strlen(mode), mel_dict_hash(mode, strlen(mode)));
    if (input->mode == MEL_MISSING)
        return mel_fail(err, MEL_EDATA, "the mode %s is not one of the categories",
                        mel_quote_text(mode).text);
    const json_t *missing = json_object_get(column, "missing_category");
    if (!json_is_boolean(missing))
        return mel_fail(err, MEL_EDATA, "\"missing_category\" must be true or false");
    input->missing_category = json_is_true(missing);
    return MEL_OK;
}

static mel_status read_percent(mel_percent_signs *out, const json_t *value, mel_error *err)
{
    const char *word = json_string_value(value);
    for (*out = MEL_PERCENT_SOME; *out <= MEL_PERCENT_ALL; ++*out)
        if (word != NULL && strcmp(word, percent_words[*out]) == 0)
            return MEL_OK;
    return mel_fail(err, MEL_EDATA, "\"percent\" must be \"some\" or \"all\"");
}

static mel_status read_number_column(mel_encoder_input *input, const json_t *column, mel_error *err)
{
    const json_t *percent = json_object_get(column, "percent");   /* there only where some had the sign */
    const json_t *currency = json_object_get(column, "currency"); /* of money, which has no percent sign */
    const char *sign = percent != NULL ? "percent" : currency != NULL ? "currency" : NULL;
    const char *const names[] = { "name", "type", "median", "mean", "deviation", sign, NULL };
    TRY(mel_json_members(column, names, err));
    if (currency != NULL && json_is_string(currency))
        input->currency = mel_currency_named(json_string_value(currency));
    if (currency != NULL && input->currency == NULL)
        return mel_fail(err, MEL_EDATA, "\"currency\" must be the sign of a currency");
    if (percent != NULL)
        TRY(read_percent(&input->percent, percent, err));
    TRY(get_number(&input->median, column, "median", err));
    TRY(get_number(&input->mean, column, "mean", err));
    TRY(get_number(&input->deviation, column, "deviation", err));
    return check_deviation(input->deviation, err);
}

static mel_status read_input_column(mel_encoder_input *input, mel_dict *seen, const json_t *column,
                                    mel_error *err)
{
    const char *type = NULL;
    TRY(add_unique(seen, json_object_get(column, "name"), "name", err));
    TRY(get_text(&type, json_object_get(column, "type"), "type", err));
    TRY(MEL_NEED(input->name = mel_strdup(mel_dict_text(seen, seen->n - 1)), "an encoder", err));
    if (input->name[0] == '\0')
        return mel_fail(err, MEL_EDATA, "the name is empty");
    input->type = strcmp(type, "text") == 0 ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER;
    if (input->type == MEL_COLUMN_TEXT)
        return read_text_column(input, column, err);
    if (strcmp(type, "number") != 0)
        return mel_fail(err, MEL_EDATA, "type %s is not known", mel_quote_text(type).text);
    return read_number_column(input, column, err);
}

static mel_status read_input_columns(mel_encoder *encoder, const json_t *json, mel_error *err)
{
    static const char *const names[] = { "layout", "columns", "dropped", NULL };
    const json_t *columns = json_object_get(json, "columns");
    const size_t n = json_array_size(columns);
    TRY(mel_json_members(json, names, err));
    if (!json_is_array(columns))
        return mel_fail(err, MEL_EDATA, "\"columns\" must be an array");
    TRY(add_all(encoder->dropped, json_object_get(json, "dropped"), "dropped", err));
    MEL_AUTO(mel_dict) *seen = mel_dict_new();
    encoder->input = mel_alloc_zero(n, sizeof *encoder->input);
    TRY(MEL_NEED(seen != NULL && encoder->input != NULL, "an encoder", err));
    for (size_t i = 0; i < n; i++) {
        encoder->n_inputs = i + 1;
        const mel_status status =
            read_input_column(&encoder->input[i], seen, json_array_get(columns, i), err);
        if (status != MEL_OK)
            return status == MEL_EDATA ? mel_fail_in(err, status, "column %zu", i + 1) : status;
    }
    return MEL_OK;
}

static mel_status read_deviations(mel_encoder *encoder, const json_t *json, mel_error *err)
{
    const json_t *base = json_object_get(json, "zero_based"); /* there only where it is true */
    const char *const names[] = { "layout", "deviations", base != NULL ? "zero_based" : NULL, NULL };
    const json_t *list = json_object_get(json, "deviations");
    TRY(mel_json_members(json, names, err));
    if (!json_is_array(list))
        return mel_fail(err, MEL_EDATA, "\"deviations\" must be an array");
    if (base != NULL && !json_is_boolean(base))
        return mel_fail(err, MEL_EDATA, "\"zero_based\" must be true or false");
    encoder->libsvm = true;
    encoder->zero_based = json_is_true(base);
    encoder->n_features = json_array_size(list);
    TRY(MEL_NEED(encoder->deviation = mel_alloc(encoder->n_features, sizeof *encoder->deviation),
                 "an encoder", err));
    for (size_t k = 0; k < encoder->n_features; k++) {
        encoder->deviation[k] = json_number_value(json_array_get(list, k)); /* 0 when it is no number */
        const mel_status status = check_deviation(encoder->deviation[k], err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "feature %zu", k + 1);
    }
    return MEL_OK;
}

static mel_status read_encoder(mel_encoder *encoder, const json_t *json, mel_error *err)
{
    const char *layout = NULL;
    if (!json_is_object(json))
        return mel_fail(err, MEL_EDATA, "not an object");
    TRY(get_text(&layout, json_object_get(json, "layout"), "layout", err));
    encoder->sparse = strcmp(layout, "sparse") == 0;
    if (!encoder->sparse && strcmp(layout, "dense") != 0)
        return mel_fail(err, MEL_EDATA, "layout %s is not known", mel_quote_text(layout).text);
    TRY(json_object_get(json, "deviations") != NULL ? read_deviations(encoder, json, err)
                                                    : read_input_columns(encoder, json, err));
    return mel_encoder_complete(encoder, err);
}

mel_status mel_encoder_from_json(mel_encoder **out, const json_t *json, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_encoder) *encoder = mel_encoder_new();
    TRY(MEL_NEED(encoder, "an encoder", err));
    const mel_status status = read_encoder(encoder, json, err);
    if (status == MEL_EDATA)
        return mel_fail_in(err, status, "encoder");
    TRY(status);
    return MEL_GIVE(out, encoder);
}
