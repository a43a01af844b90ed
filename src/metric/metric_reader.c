/* The metric file, read strictly: every refusal names the place in the file. */
#include "metric/metric_reader.h"
#include "base/json.h"
#include "data/quote.h"
#include "data/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28, MAX_CLASSES = 10000 };

static mel_status get_string(const char **out, const json_t *parent, const char *key, const char *place,
                             mel_error *err)
{
    const json_t *value = mel_read_member(parent, key);
    if (value == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", place);
    if (!json_is_string(value))
        return mel_fail(err, MEL_EDATA, "%s: not a string", place);
    *out = json_string_value(value);
    return MEL_OK;
}

/* A list of names; *n is 0 and *names NULL when the key is missing or the list empty. The strings are
 * the document's. */
static mel_status get_names(const char ***names, size_t *n, const json_t *layout, const char *key,
                            mel_error *err)
{
    *names = NULL;
    *n = 0;
    const json_t *list = mel_read_member(layout, key);
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
    uint32_t degree;
    mel_orientation orientation;
    mel_layout layout;
    const char **class_names, **group_names;
    size_t file_bytes;
} header;

static mel_status read_version(const json_t *root, mel_error *err)
{
    const char *format = "";
    TRY(get_string(&format, root, "format", "format", err));
    if (strcmp(format, "melicit-metric") != 0)
        return mel_fail(err, MEL_EDATA, "format: %s, not \"melicit-metric\"", mel_quote_text(format).text);
    const json_t *version = mel_read_member(root, "version");
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
    TRY(get_string(&text, root, "family", "family", err));
    return mel_read_in_file(err, mel_family_parse_degree(&h->family, &h->degree, text, err), "family");
}

/* Right answers count as utility unless said otherwise; what is usually about rates, and is, as cost. */
static mel_status read_orientation(header *h, const json_t *root, mel_error *err)
{
    const char *text = "";
    const mel_family_facts *is = mel_family_about(h->family);
    h->orientation = is->groups || (is->rates && h->layout.kind == MEL_RATES) ? MEL_COST : MEL_UTILITY;
    if (mel_read_member(root, "orientation") == NULL)
        return MEL_OK;
    TRY(get_string(&text, root, "orientation", "orientation", err));
    if (strcmp(text, "cost") != 0 && strcmp(text, "utility") != 0)
        return mel_fail(err, MEL_EDATA, "orientation: %s is neither \"utility\" nor \"cost\"",
                        mel_quote_text(text).text);
    h->orientation = strcmp(text, "cost") == 0 ? MEL_COST : MEL_UTILITY;
    if (is->groups && h->orientation != MEL_COST)
        return mel_fail(err, MEL_EDATA, "orientation: a %s metric is a cost", mel_family_name(h->family));
    return MEL_OK;
}

static mel_status read_layout(header *h, const json_t *root, mel_error *err)
{
    const json_t *layout = NULL;
    const char *text = "";
    mel_status status = mel_read_object(&layout, root, "layout", err);
    if (status == MEL_OK)
        status = get_string(&text, layout, "kind", "layout.kind", err);
    if (status == MEL_OK)
        status = mel_read_in_file(err, mel_kind_parse(&h->layout.kind, text, err), "layout.kind");
    if (status == MEL_OK)
        status = get_string(&text, layout, "coordinates", "layout.coordinates", err);
    if (status == MEL_OK)
        status = mel_read_in_file(err, mel_coordinates_parse(&h->layout.coordinates, text, err),
                                  "layout.coordinates");
    if (status == MEL_OK)
        status = get_names(&h->class_names, &h->layout.n_classes, layout, "classes", err);
    if (status == MEL_OK)
        status = get_names(&h->group_names, &h->layout.n_groups, layout, "groups", err);
    if (status == MEL_OK && h->layout.n_classes == 0)
        return mel_fail(err, MEL_EDATA, "layout.classes: missing");
    if (status == MEL_OK)
        status = mel_read_in_file(err, mel_layout_check(&h->layout, err), NULL);
    return status;
}

/* Before memory is asked for: a file of few bytes cannot hold many coefficients. */
static mel_status check_size(const header *h, mel_error *err)
{
    size_t n = mel_layout_size(&h->layout);
    mel_status status =
        mel_read_in_file(err, mel_family_check(h->family, h->degree, &h->layout, err), "family");
    if (status == MEL_OK)
        status = mel_read_in_file(err, mel_family_coefficients(&n, h->family, h->degree, &h->layout, err),
                                  "coefficients");
    if (status == MEL_OK && n > h->file_bytes)
        return mel_fail(err, MEL_EDATA, "coefficients: fewer than the %zu that the layout asks for", n);
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
    if (mel_read_member(root, "elicited") == NULL)
        return MEL_OK;
    mel_elicited how = { .radius = (double)NAN };
    TRY(mel_read_object(&object, root, "elicited", err));
    TRY(get_string(&how.strategy, object, "strategy", "elicited.strategy", err));
    const json_t *questions = mel_read_member(object, "questions"),
                 *radius = mel_read_member(object, "radius");
    if (questions != NULL) {
        const json_int_t n = json_is_integer(questions) ? json_integer_value(questions) : -1;
        if (n < 0 || n > UINT32_MAX)
            return mel_fail(err, MEL_EDATA, "elicited.questions: not a number of questions");
        how.questions = (uint32_t)n;
    }
    if (radius != NULL)
        TRY(mel_read_number(&how.radius, radius, "elicited.radius", err));
    TRY(read_seed(&how.seed, mel_read_member(object, "seed"), err));
    return mel_read_in_file(err, mel_metric_set_elicited(metric, &how, err), "elicited");
}

/* A metric of zeros: all classifiers have the same value. */
static mel_status check_weights(const mel_metric *metric, mel_error *err)
{
    const mel_family_facts *is = mel_family_about(mel_metric_family(metric));
    const double *weight = mel_metric_coefficient(metric);
    const size_t n = is->ratio    ? mel_layout_size(mel_metric_layout(metric)) + 1
                     : is->groups ? mel_metric_coefficients(metric) - 1
                                  : mel_metric_coefficients(metric);
    for (size_t i = 0; i < n; i++)
        if (weight[i] != 0.0)
            return MEL_OK;
    return mel_fail(err, MEL_EDATA,
                    "coefficients: all weights are 0: such a metric finds all classifiers alike");
}

static mel_status read_root(mel_metric **out, header *h, const json_t *root, mel_error *err)
{
    if (!json_is_object(root))
        return mel_fail(err, MEL_EDATA, "not a JSON object");
    TRY(read_version(root, err));
    TRY(read_family(h, root, err));
    TRY(read_layout(h, root, err));
    TRY(read_orientation(h, root, err));
    TRY(check_size(h, err));
    const mel_metric_kind kind = { h->family,      h->degree,      h->layout,
                                   h->class_names, h->group_names, h->orientation };
    TRY(mel_read_in_file(err, mel_metric_new(out, &kind, err), "layout"));
    TRY(mel_read_coefficients(*out, root, err));
    TRY(check_weights(*out, err));
    return read_elicited(*out, root, err);
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
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(name).text);
}

mel_status mel_metric_load(mel_metric **out, const char *path, mel_error *err)
{
    *out = NULL;
    char *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_source_whole(&bytes, &n, path, MAX_BYTES, err);
    if (status == MEL_OK)
        status = read_text(out, bytes, n, err);
    free(bytes);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}
