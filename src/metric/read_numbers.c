/* The numbers of a metric file: nested arrays, one for each pair of groups, and their intervals. */
#include "metric/families/families.h"
#include "metric/metric_reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLACE_BYTES = 160 };

mel_status mel_read_in_file(mel_error *err, mel_status status, const char *place)
{
    if (status == MEL_OK || status == MEL_ENOMEM)
        return status;
    if (err == NULL)
        return MEL_EDATA;
    const mel_error inner = *err;
    return mel_fail(err, MEL_EDATA, "%s%s%s", place != NULL ? place : "", place != NULL ? ": " : "",
                    inner.text);
}

const json_t *mel_read_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value; /* null is as good as nothing */
}

mel_status mel_read_object(const json_t **out, const json_t *parent, const char *key, mel_error *err)
{
    *out = mel_read_member(parent, key);
    if (*out == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", key);
    if (!json_is_object(*out))
        return mel_fail(err, MEL_EDATA, "%s: not an object", key);
    return MEL_OK;
}

mel_status mel_read_number(double *out, const json_t *value, const char *place, mel_error *err)
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
    mel_status status = mel_read_number(low, json_array_get(value, 0), place, err);
    if (status == MEL_OK)
        status = mel_read_number(high, json_array_get(value, 1), place, err);
    if (status == MEL_OK && !(*low <= *high))
        return mel_fail(err, MEL_EDATA, "%s: [%g, %g] is not an interval", place, *low, *high);
    return status;
}

/* Where numbers of a file are; turned into text only for a refusal. */
typedef struct {
    const char *object, *key;
    size_t u, v; /* pair of groups; 0: none */
    size_t side;
    uint32_t rank;
} place;

/* "coefficients.B.1-2[0][3]" for depth 2. */
static void show_place(char text[PLACE_BYTES], const place *at, size_t index, uint32_t depth)
{
    int used = at->u > 0 ? snprintf(text, PLACE_BYTES, "%s.%s.%zu-%zu", at->object, at->key, at->u, at->v)
                         : snprintf(text, PLACE_BYTES, "%s.%s", at->object, at->key);
    for (uint32_t d = 0; d < depth && used > 0 && used < PLACE_BYTES; d++) {
        const size_t block = mel_tensor_size(at->side, at->rank - 1 - d);
        used += snprintf(text + used, PLACE_BYTES - (size_t)used, "[%zu]", index / block % at->side);
    }
}

static mel_status find_entry(const json_t **out, const json_t *value, const place *at, size_t index,
                             mel_error *err)
{
    size_t block = at->rank > 0 ? mel_tensor_size(at->side, at->rank - 1) : 1;
    for (uint32_t d = 0; d < at->rank; d++) {
        if (!json_is_array(value) || json_array_size(value) != at->side) {
            char text[PLACE_BYTES];
            show_place(text, at, index, d);
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
    return high != NULL ? read_pair(low, high, entry, text, err) : mel_read_number(low, entry, text, err);
}

/* side^rank numbers into low, or pairs into low and high when high is not NULL. */
static mel_status read_block(double *low, double *high, const json_t *value, const place *at, mel_error *err)
{
    const size_t n = mel_tensor_size(at->side, at->rank);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = NULL;
        TRY(find_entry(&entry, value, at, i, err));
        double *end = high != NULL ? high + i : NULL;
        if (read_entry(low + i, end, entry, "", NULL) == MEL_OK)
            continue;
        char text[PLACE_BYTES];
        show_place(text, at, i, at->rank);
        return read_entry(low + i, end, entry, text, err);
    }
    return MEL_OK;
}

/* An object with a block for every pair of groups, and nothing else: a stray key means other groups. */
static mel_status read_pairs(double *low, double *high, const json_t *value, place at, size_t groups,
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
            const json_t *pair = mel_read_member(value, key);
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
    mel_status status = MEL_OK;
    for (size_t f = 0; status == MEL_OK && f < n_fields; f++) {
        const mel_field *field = &fields[f];
        const place at = { object_name, field->key, 0, 0, field->side, field->rank };
        double *to_low = low + field->first, *to_high = high != NULL ? high + field->first : NULL;
        const json_t *value = mel_read_member(object, field->key);
        if (value == NULL && !field->optional)
            status = mel_fail(err, MEL_EDATA, "%s.%s: missing", object_name, field->key);
        else if (value != NULL && field->groups > 1)
            status = read_pairs(to_low, to_high, value, at, field->groups, err);
        else if (value != NULL)
            status = read_block(to_low, to_high, value, &at, err);
    }
    return status;
}

/* Rows of k shares, one per group. */
static mel_status read_prevalence(mel_metric *metric, const json_t *coefficients, mel_error *err)
{
    if (metric->prevalence == NULL)
        return MEL_OK;
    static const char name[] = "coefficients.prevalence";
    const size_t m = metric->layout.n_groups, k = metric->layout.n_classes;
    const json_t *rows = mel_read_member(coefficients, "prevalence");
    if (rows == NULL)
        return mel_fail(err, MEL_EDATA, "%s: missing", name);
    if (!json_is_array(rows) || json_array_size(rows) != m)
        return mel_fail(err, MEL_EDATA, "%s: not an array with a row for each of %zu groups", name, m);
    for (size_t g = 0; g < m; g++) {
        char key[PLACE_BYTES];
        (void)snprintf(key, sizeof key, "prevalence[%zu]", g);
        const place at = { "coefficients", key, 0, 0, k, 1 };
        TRY(read_block(metric->prevalence + g * k, NULL, json_array_get(rows, g), &at, err));
    }
    return MEL_OK;
}

static mel_status read_intervals(mel_metric *metric, const json_t *root, mel_error *err)
{
    if (mel_read_member(root, "intervals") == NULL)
        return MEL_OK;
    const json_t *object = NULL;
    mel_status status = mel_read_object(&object, root, "intervals", err);
    if (status != MEL_OK)
        return status;
    double *low = mel_alloc_zero(metric->n_coefficients, sizeof *low);
    double *high = mel_alloc_zero(metric->n_coefficients, sizeof *high);
    if (low == NULL || high == NULL)
        status = mel_fail_memory(err, "the intervals of a metric");
    else
        status = read_fields(low, high, metric, object, "intervals", err);
    if (status == MEL_OK)
        status = mel_read_in_file(err, mel_metric_set_intervals(metric, low, high, err), "intervals");
    free(low);
    free(high);
    return status;
}

mel_status mel_read_coefficients(mel_metric *metric, const json_t *root, mel_error *err)
{
    const json_t *coefficients = NULL;
    TRY(mel_read_object(&coefficients, root, "coefficients", err));
    TRY(read_fields(metric->coefficient, NULL, metric, coefficients, "coefficients", err));
    TRY(read_prevalence(metric, coefficients, err));
    TRY(mel_read_in_file(err, mel_metric_settle(metric, err), "coefficients"));
    return read_intervals(metric, root, err);
}
