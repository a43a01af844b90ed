#include "outcome/sheet.h"

#include "metric/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20 };

/* Names come from anywhere: bytes that are not UTF-8 become '?'. */
json_t *mel_sheet_text(const char *words)
{
    if (mel_text_is_utf8(words))
        return json_string(words);
    mel_buffer clean;
    mel_buffer_init(&clean, MOST_TEXT);
    (void)mel_text_add_clean(&clean, words, SIZE_MAX);
    char *taken = mel_buffer_take(&clean);
    json_t *value = taken != NULL ? json_string(taken) : NULL;
    free(taken);
    return value;
}

json_t *mel_sheet_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *mel_sheet_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *mel_sheet_pair(double first, double second)
{
    return json_pack("[o, o]", mel_sheet_number(first), mel_sheet_number(second));
}

json_t *mel_sheet_estimate(mel_estimate e)
{
    return json_pack("{s:o, s:o, s:o}", "value", mel_sheet_number(e.value), "low", mel_sheet_number(e.low),
                     "high", mel_sheet_number(e.high));
}

void mel_sheet_put(mel_sheet *s, const char *key, json_t *value)
{
    s->whole = mel_json_put(s->object, key, value) && s->whole;
}

void mel_sheet_put_known(mel_sheet *s, const char *key, double x)
{
    if (isfinite(x))
        mel_sheet_put(s, key, json_real(x));
}

void mel_sheet_add(mel_sheet *s, json_t *list, mel_sheet *one)
{
    s->whole = mel_json_add(list, mel_json_if(one->whole, one->object)) && s->whole;
}

mel_sheet mel_sheet_new(void)
{
    return (mel_sheet){ json_object(), true };
}

mel_status mel_sheet_take(char **out, mel_sheet *s, mel_error *err)
{
    char *whole = s->whole ? mel_json_text(s->object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(s->object);
    *out =
        whole != NULL ? mel_strdup(whole) : NULL; /* what jansson made is freed with jansson's own function */
    mel_json_free_text(whole);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the result");
}

void mel_sheet_put_statements(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_statements; i++) {
        const mel_statement *said = &o->statements[i];
        mel_sheet one = mel_sheet_new();
        mel_sheet_put(&one, "about", json_string(mel_topic_name(said->topic)));
        mel_sheet_put(&one, "key", json_string(said->key));
        mel_sheet_put(&one, "text", mel_sheet_text(said->text));
        if (said->grave)
            mel_sheet_put(&one, "grave", json_true());
        mel_sheet_add(s, list, &one);
    }
    mel_sheet_put(s, "statements", list);
}

void mel_sheet_put_ratio(mel_sheet *s, mel_estimate ratio)
{
    char shown[MEL_RANGE_TEXT];
    mel_ratio_text(shown, ratio);
    mel_sheet_put(s, "text", json_string(shown));
}

json_t *mel_sheet_parse(char *file)
{
    json_t *value = NULL;
    if (file != NULL && mel_json_parse(&value, file, strlen(file), NULL) != MEL_OK)
        value = NULL;
    free(file);
    return value;
}

mel_status mel_sheet_put_metric(mel_sheet *s, const mel_metric *metric, mel_error *err)
{
    char *file = NULL;
    const mel_status status = mel_metric_to_json(&file, metric, err);
    if (status == MEL_OK)
        mel_sheet_put(s, "metric", mel_sheet_parse(file));
    return status;
}
