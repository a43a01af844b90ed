/* The metric file, written. */
#include "base/buffer.h"
#include "base/file.h"
#include "metric/fields.h"
#include "metric/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28 };

size_t mel_metric_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    const size_t n = metric->size;
    if (!mel_family_is_fractional(metric->family)) {
        fields[0] = (mel_field){ "a", 0, n, false, false };
        return 1;
    }
    const bool binary = metric->layout.coordinates == MEL_BINARY;
    fields[0] = (mel_field){ binary ? "p" : "a", 0, n, false, false };
    fields[1] = (mel_field){ binary ? "p0" : "a0", n, 1, true, true };
    fields[2] = (mel_field){ binary ? "q" : "b", n + 1, n, false, false };
    fields[3] = (mel_field){ binary ? "q0" : "b0", 2 * n + 1, 1, true, false };
    return MEL_MAX_FIELDS;
}

static void add_names(mel_buffer *out, char *const *names, size_t n)
{
    mel_buffer_puts(out, "[");
    for (size_t i = 0; names != NULL && i < n; i++) {
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_json_string(out, names[i]);
    }
    mel_buffer_puts(out, "]");
}

static void add_coefficient(mel_buffer *out, const mel_metric *metric, size_t index, bool interval)
{
    if (!interval) {
        mel_text_add_number(out, metric->coefficient[index]);
        return;
    }
    mel_buffer_puts(out, "[");
    mel_text_add_number(out, metric->low[index]);
    mel_buffer_puts(out, ", ");
    mel_text_add_number(out, metric->high[index]);
    mel_buffer_puts(out, "]");
}

static void add_fields(mel_buffer *out, const mel_metric *metric, bool interval)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    mel_buffer_puts(out, "{");
    for (size_t f = 0; f < n_fields; f++) {
        mel_buffer_printf(out, "%s\"%s\": %s", f > 0 ? ", " : "", fields[f].key, fields[f].scalar ? "" : "[");
        for (size_t i = 0; i < fields[f].n; i++) {
            mel_buffer_puts(out, i > 0 ? ", " : "");
            add_coefficient(out, metric, fields[f].first + i, interval);
        }
        mel_buffer_puts(out, fields[f].scalar ? "" : "]");
    }
    mel_buffer_puts(out, "}");
}

static void add_elicited(mel_buffer *out, const mel_elicited *how)
{
    mel_buffer_printf(
        out, ",\n  \"elicited\": {\"questions\": %lu, \"strategy\": ", (unsigned long)how->questions);
    mel_text_add_json_string(out, how->strategy);
    if (!isnan(how->radius)) {
        mel_buffer_puts(out, ", \"radius\": ");
        mel_text_add_number(out, how->radius);
    }
    /* Numbers above 2^53 do not survive readers that keep numbers as doubles. */
    const char *quote = how->seed > (uint64_t)1 << 53 ? "\"" : "";
    mel_buffer_printf(out, ", \"seed\": %s%llu%s}", quote, (unsigned long long)how->seed, quote);
}

mel_status mel_metric_to_json(char **out, const mel_metric *metric, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, MAX_BYTES);
    mel_buffer_printf(&text,
                      "{\n  \"format\": \"melicit-metric\",\n  \"version\": 1,\n  \"family\": \"%s\",\n"
                      "  \"orientation\": \"%s\",\n"
                      "  \"layout\": {\"kind\": \"%s\", \"coordinates\": \"%s\", \"classes\": ",
                      mel_family_name(metric->family), metric->orientation == MEL_COST ? "cost" : "utility",
                      mel_kind_name(metric->layout.kind), mel_coordinates_name(metric->layout.coordinates));
    add_names(&text, metric->class_names, metric->layout.n_classes);
    mel_buffer_puts(&text, ", \"groups\": ");
    add_names(&text, metric->group_names, metric->layout.n_groups);
    mel_buffer_puts(&text, "},\n  \"coefficients\": ");
    add_fields(&text, metric, false);
    if (metric->low != NULL) {
        mel_buffer_puts(&text, ",\n  \"intervals\": ");
        add_fields(&text, metric, true);
    }
    if (metric->elicited.strategy != NULL)
        add_elicited(&text, &metric->elicited);
    mel_buffer_puts(&text, "\n}\n");
    return mel_text_take(out, &text, "the text of a metric", err);
}

mel_status mel_metric_save(const mel_metric *metric, const char *path, mel_error *err)
{
    char *text = NULL;
    mel_status status = mel_metric_to_json(&text, metric, err);
    if (status == MEL_OK)
        status = mel_file_replace(path, text, strlen(text), err);
    free(text);
    return status;
}
