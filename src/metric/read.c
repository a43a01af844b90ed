/* The metric file, read strictly: every refusal names the place in the file. */
#include "base/json.h"
#include "data/show.h"
#include "data/source.h"
#include "metric/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28, MAX_CLASSES = 10000, PLACE_BYTES = 64 };

/* What a maker refused, as a fault of the file; place NULL when the sentence names it already. */
static mel_status in_file(mel_error *err, mel_status status, const char *place)
{
    if (status == MEL_OK || status == MEL_ENOMEM)
        return status;
    if (err == NULL)
        return MEL_EDATA;
    const mel_error inner = *err;
    return mel_fail(err, MEL_EDATA, "%s%s%s", place != NULL ? place : "", place != NULL ? ": " : "",
                    inner.text);
}

static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value; /* null is as good as nothing */
}

static mel_status get_object(const json_t **out, const json_t *parent, const char *key, mel_error *err)
{
    *out = member(parent, key);
    if (*out == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", key);
    if (!json_is_object(*out))
        return mel_fail(err, MEL_EDATA, "%s: not an object", key);
    return MEL_OK;
}

static mel_status get_string(const char **out, const json_t *parent, const char *key, const char *place,
                             mel_error *err)
{
    const json_t *value = member(parent, key);
    if (value == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", place);
    if (!json_is_string(value))
        return mel_fail(err, MEL_EDATA, "%s: not a string", place);
    *out = json_string_value(value);
    return MEL_OK;
}

static mel_status get_number(double *out, const json_t *value, const char *place, mel_error *err)
{
    if (!json_is_number(value))
        return mel_fail(err, MEL_EDATA, "%s: not a number", place);
    *out = json_number_value(value);
    return MEL_OK;
}

/* A list of names; *n is 0 and *names NULL when the key is missing or the list empty. The strings are
 * the document's. */
static mel_status get_names(const char ***names, size_t *n, const json_t *layout, const char *key,
                            mel_error *err)
{
    *names = NULL;
    *n = 0;
    const json_t *list = member(layout, key);
    if (list == NULL)
        return MEL_OK;
    if (!json_is_array(list))
        return mel_fail(err, MEL_EDATA, "layout.%s: not an array", key);
    const size_t count = json_array_size(list);
    if (count > MAX_CLASSES)
        return mel_fail(err, MEL_EDATA, "layout.%s: %zu names, more than %d", key, count, MAX_CLASSES);
    if (count == 0)
        return MEL_OK;
    const char **found = mel_alloc(count, sizeof *found);
    if (found == NULL)
        return mel_fail_memory(err, "the names of a metric");
    for (size_t i = 0; i < count; i++) {
        found[i] = json_string_value(json_array_get(list, i));
        if (found[i] == NULL) {
            free((void *)found);
            return mel_fail(err, MEL_EDATA, "layout.%s[%zu]: not a name", key, i);
        }
    }
    *names = found;
    *n = count;
    return MEL_OK;
}

typedef struct {
    mel_family family;
    mel_orientation orientation;
    mel_layout layout;
    const char **class_names, **group_names;
    size_t file_bytes;
} header;

static mel_status read_version(const json_t *root, mel_error *err)
{
    const char *format = "";
    const mel_status status = get_string(&format, root, "format", "format", err);
    if (status != MEL_OK)
        return status;
    if (strcmp(format, "melicit-metric") != 0)
        return mel_fail(err, MEL_EDATA, "format: %s, not \"melicit-metric\"", mel_show_text(format).text);
    const json_t *version = member(root, "version");
    if (!json_is_integer(version))
        return mel_fail(err, MEL_EDATA, "version: %s", version == NULL ? "missing" : "not a whole number");
    if (json_integer_value(version) != 1)
        return mel_fail(err, MEL_EDATA, "version: %lld; this program reads version 1",
                        (long long)json_integer_value(version));
    return MEL_OK;
}

static mel_status read_family(header *h, const json_t *root, mel_error *err)
{
    const char *text = "";
    mel_status status = get_string(&text, root, "family", "family", err);
    if (status == MEL_OK)
        status = in_file(err, mel_family_parse(&h->family, text, err), "family");
    if (status != MEL_OK)
        return status;
    h->orientation = MEL_UTILITY;
    if (member(root, "orientation") == NULL)
        return MEL_OK;
    status = get_string(&text, root, "orientation", "orientation", err);
    if (status != MEL_OK)
        return status;
    if (strcmp(text, "cost") == 0)
        h->orientation = MEL_COST;
    else if (strcmp(text, "utility") != 0)
        return mel_fail(err, MEL_EDATA, "orientation: %s is neither \"utility\" nor \"cost\"",
                        mel_show_text(text).text);
    return MEL_OK;
}

static mel_status read_layout(header *h, const json_t *root, mel_error *err)
{
    const json_t *layout = NULL;
    const char *text = "";
    mel_status status = get_object(&layout, root, "layout", err);
    if (status == MEL_OK)
        status = get_string(&text, layout, "kind", "layout.kind", err);
    if (status == MEL_OK)
        status = in_file(err, mel_kind_parse(&h->layout.kind, text, err), "layout.kind");
    if (status == MEL_OK)
        status = get_string(&text, layout, "coordinates", "layout.coordinates", err);
    if (status == MEL_OK)
        status = in_file(err, mel_coordinates_parse(&h->layout.coordinates, text, err), "layout.coordinates");
    if (status == MEL_OK)
        status = get_names(&h->class_names, &h->layout.n_classes, layout, "classes", err);
    if (status == MEL_OK)
        status = get_names(&h->group_names, &h->layout.n_groups, layout, "groups", err);
    if (status == MEL_OK && h->layout.n_classes == 0)
        return mel_fail(err, MEL_EDATA, "layout.classes: missing");
    if (status == MEL_OK)
        status = in_file(err, mel_layout_check(&h->layout, err), NULL);
    /* Before memory is asked for: a file of few bytes cannot hold many coefficients. */
    if (status == MEL_OK && mel_layout_size(&h->layout) > h->file_bytes)
        return mel_fail(err, MEL_EDATA, "coefficients: fewer than the %zu that the layout asks for",
                        mel_layout_size(&h->layout));
    return status;
}

static mel_status read_pair(double *low, double *high, const json_t *value, const char *place, mel_error *err)
{
    if (!json_is_array(value) || json_array_size(value) != 2)
        return mel_fail(err, MEL_EDATA, "%s: not a pair [low, high]", place);
    mel_status status = get_number(low, json_array_get(value, 0), place, err);
    if (status == MEL_OK)
        status = get_number(high, json_array_get(value, 1), place, err);
    if (status == MEL_OK && !(*low <= *high))
        return mel_fail(err, MEL_EDATA, "%s: [%g, %g] is not an interval", place, *low, *high);
    return status;
}

/* Numbers into low, or pairs into low and high when high is not NULL. */
static mel_status read_field(double *low, double *high, const json_t *object, const char *object_name,
                             const mel_field *field, mel_error *err)
{
    char place[PLACE_BYTES];
    (void)snprintf(place, sizeof place, "%s.%s", object_name, field->key);
    const json_t *value = member(object, field->key);
    if (value == NULL)
        return field->optional ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: missing", place);
    if (!field->scalar && !json_is_array(value))
        return mel_fail(err, MEL_EDATA, "%s: not an array", place);
    if (!field->scalar && json_array_size(value) != field->n)
        return mel_fail(err, MEL_EDATA, "%s: %zu entries, not %zu", place, json_array_size(value), field->n);
    mel_status status = MEL_OK;
    for (size_t i = 0; status == MEL_OK && i < field->n; i++) {
        const json_t *entry = field->scalar ? value : json_array_get(value, i);
        const size_t to = field->first + i;
        if (!field->scalar)
            (void)snprintf(place, sizeof place, "%s.%s[%zu]", object_name, field->key, i);
        status = high != NULL ? read_pair(&low[to], &high[to], entry, place, err)
                              : get_number(&low[to], entry, place, err);
    }
    return status;
}

static mel_status read_fields(double *low, double *high, const mel_metric *metric, const json_t *object,
                              const char *object_name, mel_error *err)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    mel_status status = MEL_OK;
    for (size_t f = 0; status == MEL_OK && f < n_fields; f++)
        status = read_field(low, high, object, object_name, &fields[f], err);
    return status;
}

static mel_status read_intervals(mel_metric *metric, const json_t *root, mel_error *err)
{
    if (member(root, "intervals") == NULL)
        return MEL_OK;
    const json_t *object = NULL;
    mel_status status = get_object(&object, root, "intervals", err);
    if (status != MEL_OK)
        return status;
    double *low = mel_alloc_zero(metric->n_coefficients, sizeof *low);
    double *high = mel_alloc_zero(metric->n_coefficients, sizeof *high);
    if (low == NULL || high == NULL)
        status = mel_fail_memory(err, "the intervals of a metric");
    else
        status = read_fields(low, high, metric, object, "intervals", err);
    if (status == MEL_OK)
        status = in_file(err, mel_metric_set_intervals(metric, low, high, err), "intervals");
    free(low);
    free(high);
    return status;
}

static mel_status read_seed(uint64_t *out, const json_t *value, mel_error *err)
{
    *out = 0;
    if (value == NULL)
        return MEL_OK;
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return MEL_OK;
    }
    /* Above 2^53 seeds are written as digits in quotes. */
    const char *digits = json_string_value(value);
    uint64_t seed = 0;
    bool good = digits != NULL && digits[0] != '\0';
    for (; good && *digits != '\0'; digits++) {
        const uint64_t digit = (uint64_t)(unsigned char)*digits - '0';
        good = digit <= 9 && seed <= (UINT64_MAX - digit) / 10;
        seed = 10 * seed + digit;
    }
    if (!good)
        return mel_fail(err, MEL_EDATA, "elicited.seed: not a whole number from 0 to 2^64 - 1");
    *out = seed;
    return MEL_OK;
}

static mel_status read_elicited(mel_metric *metric, const json_t *root, mel_error *err)
{
    const json_t *object = NULL;
    if (member(root, "elicited") == NULL)
        return MEL_OK;
    mel_elicited how = { .radius = (double)NAN };
    mel_status status = get_object(&object, root, "elicited", err);
    if (status == MEL_OK)
        status = get_string(&how.strategy, object, "strategy", "elicited.strategy", err);
    if (status != MEL_OK)
        return status;
    const json_t *questions = member(object, "questions"), *radius = member(object, "radius");
    if (questions != NULL) {
        const json_int_t n = json_is_integer(questions) ? json_integer_value(questions) : -1;
        if (n < 0 || n > UINT32_MAX)
            return mel_fail(err, MEL_EDATA, "elicited.questions: not a number of questions");
        how.questions = (uint32_t)n;
    }
    if (radius != NULL)
        status = get_number(&how.radius, radius, "elicited.radius", err);
    if (status == MEL_OK)
        status = read_seed(&how.seed, member(object, "seed"), err);
    if (status == MEL_OK)
        status = in_file(err, mel_metric_set_elicited(metric, &how, err), "elicited");
    return status;
}

static mel_status read_root(mel_metric **out, header *h, const json_t *root, mel_error *err)
{
    if (!json_is_object(root))
        return mel_fail(err, MEL_EDATA, "not a JSON object");
    mel_status status = read_version(root, err);
    if (status == MEL_OK)
        status = read_family(h, root, err);
    if (status == MEL_OK)
        status = read_layout(h, root, err);
    if (status == MEL_OK)
        status = in_file(err, mel_family_check(h->family, &h->layout, err), "family");
    if (status == MEL_OK)
        status = in_file(
            err,
            mel_metric_new(out, h->family, &h->layout, h->class_names, h->group_names, h->orientation, err),
            "layout");
    const json_t *coefficients = NULL;
    if (status == MEL_OK)
        status = get_object(&coefficients, root, "coefficients", err);
    if (status == MEL_OK)
        status = read_fields((*out)->coefficient, NULL, *out, coefficients, "coefficients", err);
    if (status == MEL_OK)
        status = in_file(err, mel_metric_check_coefficients(*out, err), "coefficients");
    if (status == MEL_OK)
        status = read_intervals(*out, root, err);
    if (status == MEL_OK)
        status = read_elicited(*out, root, err);
    return status;
}

static mel_status read_text(mel_metric **out, const void *bytes, size_t n, mel_error *err)
{
    json_t *root = NULL;
    mel_status status = mel_json_parse(&root, bytes, n, err);
    if (status != MEL_OK)
        return status;
    header h = { .file_bytes = n };
    mel_metric *metric = NULL;
    status = read_root(&metric, &h, root, err);
    free((void *)h.class_names);
    free((void *)h.group_names);
    json_decref(root);
    if (status == MEL_OK)
        *out = metric;
    else
        mel_metric_free(metric);
    return status;
}

mel_status mel_metric_load_memory(mel_metric **out, const void *bytes, size_t n, const char *name,
                                  mel_error *err)
{
    *out = NULL;
    const mel_status status = read_text(out, bytes, n, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_show_file(name).text);
}

mel_status mel_metric_load(mel_metric **out, const char *path, mel_error *err)
{
    *out = NULL;
    mel_source *source = NULL;
    char *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_source_open(&source, path, MAX_BYTES, err);
    if (status == MEL_OK)
        status = mel_source_all(&bytes, &n, source, 0, err);
    mel_source_free(source);
    if (status == MEL_OK)
        status = read_text(out, bytes, n, err);
    free(bytes);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_show_file(path).text);
}
