/* The metric file, written. */
#include "base/buffer.h"
#include "base/file.h"
#include "metric/families/families.h"
#include "metric/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28 };

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

/* The number at `index` of arrays nested `rank` deep, with the brackets that open before it and close behind
 * it. */
static void open_arrays(mel_buffer *out, size_t index, size_t side, uint32_t rank)
{
    mel_buffer_puts(out, index > 0 ? ", " : "");
    for (uint32_t d = 0; d < rank; d++) {
        if (index % side != 0)
            break;
        mel_buffer_puts(out, "[");
        index /= side;
    }
}

static void close_arrays(mel_buffer *out, size_t index, size_t side, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++) {
        if ((index + 1) % side != 0)
            break;
        mel_buffer_puts(out, "]");
        index /= side;
    }
}

static void add_block(mel_buffer *out, const mel_metric *metric, const mel_field *field, size_t first,
                      bool interval)
{
    const size_t n = mel_tensor_size(field->side, field->rank);
    for (size_t i = 0; i < n; i++) {
        open_arrays(out, i, field->side, field->rank);
        add_coefficient(out, metric, first + i, interval);
        close_arrays(out, i, field->side, field->rank);
    }
}

static void add_pairs(mel_buffer *out, const mel_metric *metric, const mel_field *field, bool interval)
{
    size_t first = field->first;
    for (size_t u = 1; u <= field->groups; u++)
        for (size_t v = u + 1; v <= field->groups; v++) {
            mel_buffer_printf(out, "%s\"%zu-%zu\": ", first > field->first ? ", " : "{", u, v);
            add_block(out, metric, field, first, interval);
            first += mel_tensor_size(field->side, field->rank);
        }
    mel_buffer_puts(out, "}");
}

static void add_prevalence(mel_buffer *out, const mel_metric *metric)
{
    const size_t k = metric->layout.n_classes, n = metric->layout.n_groups * k;
    mel_buffer_puts(out, ", \"prevalence\": [");
    for (size_t i = 0; i < n; i++) {
        open_arrays(out, i, k, 1);
        mel_text_add_number(out, metric->prevalence[i]);
        close_arrays(out, i, k, 1);
    }
    mel_buffer_puts(out, "]");
}

static void add_fields(mel_buffer *out, const mel_metric *metric, bool interval)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    mel_buffer_puts(out, "{");
    for (size_t f = 0; f < n_fields; f++) {
        mel_buffer_printf(out, "%s\"%s\": ", f > 0 ? ", " : "", fields[f].key);
        if (fields[f].groups > 1)
            add_pairs(out, metric, &fields[f], interval);
        else
            add_block(out, metric, &fields[f], fields[f].first, interval);
    }
    if (metric->prevalence != NULL && !interval)
        add_prevalence(out, metric);
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
    char family[MEL_FAMILY_TEXT];
    mel_family_print(family, metric->family, metric->degree);
    mel_buffer_init(&text, MAX_BYTES);
    mel_buffer_printf(&text,
                      "{\n  \"format\": \"melicit-metric\",\n  \"version\": 1,\n  \"family\": \"%s\",\n"
                      "  \"orientation\": \"%s\",\n"
                      "  \"layout\": {\"kind\": \"%s\", \"coordinates\": \"%s\", \"classes\": ",
                      family, metric->orientation == MEL_COST ? "cost" : "utility",
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
