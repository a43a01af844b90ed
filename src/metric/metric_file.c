/* The metric file: read strictly, every refusal naming the place in the file, and written. */
#include "metric/families/families.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "data/quote.h"
#include "data/source.h"
#include "metric/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 28, MAX_CLASSES = 10000 };

enum { PLACE_BYTES = 160 };

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

static const json_t *get_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value; /* null is as good as nothing */
}

static mel_status get_object(const json_t **out, const json_t *parent, const char *key, mel_error *err)
{
    *out = get_member(parent, key);
    if (*out == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", key);
    if (!json_is_object(*out))
        return mel_fail(err, MEL_EDATA, "%s: not an object", key);
    return MEL_OK;
}

static mel_status read_number(double *out, const json_t *value, const char *place, mel_error *err)
{
    if (!json_is_number(value))
        return mel_fail(err, MEL_EDATA, "%s: not a number", place);
    *out = json_number_value(value);
    return MEL_OK;
}

static mel_status read_pair(double *low, double *high, const json_t *value, const char *place, mel_error *err)
{
    if (!json_is_array(value) || json_array_size(value) != 2)
        return mel_fail(err, MEL_EDATA, "%s: not a pair [low, high]", place);
    TRY(read_number(low, json_array_get(value, 0), place, err));
    TRY(read_number(high, json_array_get(value, 1), place, err));
    return *low <= *high ? MEL_OK
                         : mel_fail(err, MEL_EDATA, "%s: [%g, %g] is not an interval", place, *low, *high);
}

/* Where numbers of a file are; turned into text only for a refusal. */
typedef struct {
    const char *object, *key;
    size_t u, v; /* pair of groups; 0: none */
    size_t side;
    uint32_t rank;
} file_place;

/* "coefficients.B.1-2[0][3]" for depth 2. */
static void show_file_place(char text[PLACE_BYTES], const file_place *at, size_t index, uint32_t depth)
{
    int used = at->u > 0 ? snprintf(text, PLACE_BYTES, "%s.%s.%zu-%zu", at->object, at->key, at->u, at->v)
                         : snprintf(text, PLACE_BYTES, "%s.%s", at->object, at->key);
    for (uint32_t d = 0; d < depth && used > 0 && used < PLACE_BYTES; d++) {
        const size_t block = mel_tensor_size(at->side, at->rank - 1 - d);
        used += snprintf(text + used, PLACE_BYTES - (size_t)used, "[%zu]", index / block % at->side);
    }
}

static mel_status find_entry(const json_t **out, const json_t *value, const file_place *at, size_t index,
                             mel_error *err)
{
    size_t block = at->rank > 0 ? mel_tensor_size(at->side, at->rank - 1) : 1;
    for (uint32_t d = 0; d < at->rank; d++) {
        if (!json_is_array(value) || json_array_size(value) != at->side) {
            char text[PLACE_BYTES];
            show_file_place(text, at, index, d);
            if (!json_is_array(value))
                return mel_fail(err, MEL_EDATA, "%s: not an array", text);
            return mel_fail(err, MEL_EDATA, "%s: %zu entries, not %zu", text, json_array_size(value),
                            at->side);
        }
        value = json_array_get(value, index / block % at->side);
        block /= at->side;
    }
    *out = value;
    return MEL_OK;
}

static mel_status read_entry(double *low, double *high, const json_t *entry, const char *text, mel_error *err)
{
    return high != NULL ? read_pair(low, high, entry, text, err) : read_number(low, entry, text, err);
}

/* side^rank numbers into low, or pairs into low and high when high is not NULL. */
static mel_status read_block(double *low, double *high, const json_t *value, const file_place *at,
                             mel_error *err)
{
    const size_t n = mel_tensor_size(at->side, at->rank);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = NULL;
        TRY(find_entry(&entry, value, at, i, err));
        double *end = high != NULL ? high + i : NULL;
        if (read_entry(low + i, end, entry, "", NULL) == MEL_OK)
            continue;
        char text[PLACE_BYTES];
        show_file_place(text, at, i, at->rank);
        return read_entry(low + i, end, entry, text, err);
    }
    return MEL_OK;
}

/* An object with a block for every pair of groups, and nothing else: a stray key means other groups. */
static mel_status read_pairs(double *low, double *high, const json_t *value, file_place at, size_t groups,
                             mel_error *err)
{
    if (!json_is_object(value))
        return mel_fail(err, MEL_EDATA, "%s.%s: not an object with a key for every pair of groups", at.object,
                        at.key);
    const size_t block = mel_tensor_size(at.side, at.rank);
    for (at.u = 1; at.u < groups; at.u++)
        for (at.v = at.u + 1; at.v <= groups; at.v++) {
            char key[2 * sizeof "18446744073709551615"];
            (void)snprintf(key, sizeof key, "%zu-%zu", at.u, at.v);
            const json_t *pair = get_member(value, key);
            if (pair == NULL)
                return mel_fail(err, MEL_EDATA, "%s.%s.%s: missing", at.object, at.key, key);
            const size_t first = block * mel_group_pair(groups, at.u - 1, at.v - 1);
            TRY(read_block(low + first, high != NULL ? high + first : NULL, pair, &at, err));
        }
    if (json_object_size(value) != mel_group_pairs(groups))
        return mel_fail(err, MEL_EDATA, "%s.%s: %zu keys for %zu pairs of groups", at.object, at.key,
                        json_object_size(value), mel_group_pairs(groups));
    return MEL_OK;
}

static mel_status read_fields(double *low, double *high, const mel_metric *metric, const json_t *object,
                              const char *object_name, mel_error *err)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    for (size_t f = 0; f < n_fields; f++) {
        const mel_field *field = &fields[f];
        const file_place at = { object_name, field->key, 0, 0, field->side, field->rank };
        double *to_low = low + field->first, *to_high = high != NULL ? high + field->first : NULL;
        const json_t *value = get_member(object, field->key);
        if (value == NULL && !field->optional)
            return mel_fail(err, MEL_EDATA, "%s.%s: missing", object_name, field->key);
        if (value != NULL)
            TRY(field->groups > 1 ? read_pairs(to_low, to_high, value, at, field->groups, err)
                                  : read_block(to_low, to_high, value, &at, err));
    }
    return MEL_OK;
}

/* Rows of k shares, one per group. */
static mel_status read_prevalence(mel_metric *metric, const json_t *coefficients, mel_error *err)
{
    if (metric->prevalence == NULL)
        return MEL_OK;
    static const char name[] = "coefficients.prevalence";
    const size_t m = metric->layout.n_groups, k = metric->layout.n_classes;
    const json_t *rows = get_member(coefficients, "prevalence");
    if (rows == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", name);
    if (!json_is_array(rows) || json_array_size(rows) != m)
        return mel_fail(err, MEL_EDATA, "%s: not an array with a row for each of %zu groups", name, m);
    for (size_t g = 0; g < m; g++) {
        char key[PLACE_BYTES];
        (void)snprintf(key, sizeof key, "prevalence[%zu]", g);
        const file_place at = { "coefficients", key, 0, 0, k, 1 };
        TRY(read_block(metric->prevalence + g * k, NULL, json_array_get(rows, g), &at, err));
    }
    return MEL_OK;
}

static mel_status read_intervals(mel_metric *metric, const json_t *root, mel_error *err)
{
    if (get_member(root, "intervals") == NULL)
        return MEL_OK;
    const json_t *object = NULL;
    const size_t n = metric->n_coefficients;
    TRY(get_object(&object, root, "intervals", err));
    MEL_AUTO_MEMORY double *low = mel_alloc_zero(2 * n, sizeof *low);
    if (low == NULL)
        return mel_fail_memory(err, "the intervals of a metric");
    TRY(read_fields(low, low + n, metric, object, "intervals", err));
    return in_file(err, mel_metric_set_intervals(metric, low, low + n, err), "intervals");
}

static mel_status read_coefficients(mel_metric *metric, const json_t *root, mel_error *err)
{
    const json_t *coefficients = NULL;
    TRY(get_object(&coefficients, root, "coefficients", err));
    TRY(read_fields(metric->coefficient, NULL, metric, coefficients, "coefficients", err));
    TRY(read_prevalence(metric, coefficients, err));
    TRY(in_file(err, mel_metric_settle(metric, err), "coefficients"));
    return read_intervals(metric, root, err);
}

/* --- the document ------------------------------------------------------------------------------------ */

static mel_status get_string(const char **out, const json_t *parent, const char *key, const char *place,
                             mel_error *err)
{
    const json_t *value = get_member(parent, key);
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
    const json_t *list = get_member(layout, key);
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

static void header_clear(header *h)
{
    free((void *)h->class_names);
    free((void *)h->group_names);
}

static mel_status read_version(const json_t *root, mel_error *err)
{
    TRY(mel_json_check_kind(root, "melicit-metric", NULL, err));
    const json_t *version = get_member(root, "version");
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
    return in_file(err, mel_family_parse_degree(&h->family, &h->degree, text, err), "family");
}

/* Right answers count as utility unless said otherwise; what is usually about rates, and is, as cost. */
static mel_status read_orientation(header *h, const json_t *root, mel_error *err)
{
    const char *text = "";
    const mel_family_facts *is = mel_family_about(h->family);
    h->orientation = is->groups || (is->rates && h->layout.kind == MEL_RATES) ? MEL_COST : MEL_UTILITY;
    if (get_member(root, "orientation") == NULL)
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
    TRY(get_object(&layout, root, "layout", err));
    TRY(get_string(&text, layout, "kind", "layout.kind", err));
    TRY(in_file(err, mel_kind_parse(&h->layout.kind, text, err), "layout.kind"));
    TRY(get_string(&text, layout, "coordinates", "layout.coordinates", err));
    TRY(in_file(err, mel_coordinates_parse(&h->layout.coordinates, text, err), "layout.coordinates"));
    TRY(get_names(&h->class_names, &h->layout.n_classes, layout, "classes", err));
    TRY(get_names(&h->group_names, &h->layout.n_groups, layout, "groups", err));
    if (h->layout.n_classes == 0)
        return mel_fail(err, MEL_EDATA, "layout.classes: missing");
    return in_file(err, mel_layout_check(&h->layout, err), NULL);
}

/* Before memory is asked for: a file of few bytes cannot hold many coefficients. */
static mel_status check_size(const header *h, mel_error *err)
{
    size_t n = mel_layout_size(&h->layout);
    TRY(in_file(err, mel_family_check(h->family, h->degree, &h->layout, err), "family"));
    TRY(in_file(err, mel_family_coefficients(&n, h->family, h->degree, &h->layout, err), "coefficients"));
    return n <= h->file_bytes
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "coefficients: fewer than the %zu that the layout asks for", n);
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
    if (get_member(root, "elicited") == NULL)
        return MEL_OK;
    mel_elicited how = { .radius = (double)NAN };
    TRY(get_object(&object, root, "elicited", err));
    TRY(get_string(&how.strategy, object, "strategy", "elicited.strategy", err));
    const json_t *questions = get_member(object, "questions"), *radius = get_member(object, "radius");
    if (questions != NULL) {
        const json_int_t n = json_is_integer(questions) ? json_integer_value(questions) : -1;
        if (n < 0 || n > UINT32_MAX)
            return mel_fail(err, MEL_EDATA, "elicited.questions: not a number of questions");
        how.questions = (uint32_t)n;
    }
    if (radius != NULL)
        TRY(read_number(&how.radius, radius, "elicited.radius", err));
    TRY(read_seed(&how.seed, get_member(object, "seed"), err));
    return in_file(err, mel_metric_set_elicited(metric, &how, err), "elicited");
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
    TRY(in_file(err, mel_metric_new(out, &kind, err), "layout"));
    TRY(read_coefficients(*out, root, err));
    TRY(check_weights(*out, err));
    return read_elicited(*out, root, err);
}

static mel_status read_text(mel_metric **out, const void *bytes, size_t n, mel_error *err)
{
    json_t *root = NULL;
    MEL_AUTO_CLEAR(header) h = { .file_bytes = n };
    MEL_AUTO(mel_metric) *metric = NULL;
    TRY(mel_json_parse(&root, bytes, n, err));
    const mel_status status = read_root(&metric, &h, root, err);
    json_decref(root);
    TRY(status);
    *out = metric;
    metric = NULL;
    return MEL_OK;
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
    MEL_AUTO_MEMORY char *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_source_whole(&bytes, &n, path, MAX_BYTES, err);
    if (status == MEL_OK)
        status = read_text(out, bytes, n, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s", mel_quote_file(path).text);
}

/* --- writing ----------------------------------------------------------------------------------------- */

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
    MEL_AUTO_MEMORY char *text = NULL;
    TRY(mel_metric_to_json(&text, metric, err));
    return mel_file_replace(path, text, strlen(text), err);
}
