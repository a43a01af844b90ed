/* The first line of a session's file, and its comparison with today's settings. */
#include "elicit/header.h"

#include "base/json.h"
#include "elicit/engine.h"
#include "elicit/option_value.h"
#include "metric/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When a session goes on a budget may be raised, files may have moved (the digest says that they are the
 * same), and what comes after its end may be decided; everything else decides the questions. */
static const struct {
    const char *object, *key;
} may_change[] = {
    { "options", "max_questions" }, { "space", "table" },
    { "space", "probs" },           { "space", "labels" },
    { "space", "groups" },          { "space", "prevalence" },
    { "space", "candidates" },      { "options", "imagined_beyond" },
};

/* --- making ------------------------------------------------------------------------------------- */

/* The same object, or NULL, with it released, when the value (taken over) could not be set. */
static json_t *with(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *signs_array(size_t n, const signed char *signs)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n && array != NULL; i++)
        if (json_array_append_new(array, json_integer(signs[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

static json_t *metric_object(const mel_metric *metric)
{
    char *text = NULL;
    json_t *object = NULL;
    if (mel_metric_to_json(&text, metric, NULL) != MEL_OK)
        return NULL;
    const mel_status status = mel_json_parse(&object, text, strlen(text), NULL);
    free(text);
    return status == MEL_OK ? object : NULL;
}

/* {"strength": 25, "metric": {...}} */
static json_t *prior_object(const mel_session_options *opt)
{
    return json_pack("{s:f, s:o}", "strength", opt->prior_strength, "metric", metric_object(opt->prior));
}

static json_t *assumption_text(const mel_assumption *assumption)
{
    char text[MEL_ASSUMPTION_TEXT];
    mel_assumption_print(text, sizeof text, assumption);
    return json_string(text);
}

static json_t *value_of(const mel_option *row, const mel_session_options *opt, const mel_layout *layout)
{
    switch (row->type) {
    case MEL_OPTION_ASSUMPTION:
        return assumption_text(&opt->assume);
    case MEL_OPTION_SIGNS:
        return signs_array(mel_sign_count(layout), opt->signs);
    case MEL_OPTION_POOL:
        return mel_json_matrix(opt->n_pool, mel_layout_size(layout), opt->pool);
    case MEL_OPTION_PRIOR:
        return prior_object(opt);
    case MEL_OPTION_METRIC:
        return metric_object(opt->known);
    default:
        return mel_option_to_json(row, mel_option_get(opt, row));
    }
}

static bool is_kept(const mel_option *row, const mel_session_options *opt)
{
    switch (row->kept) {
    case MEL_KEPT_ALWAYS:
        return true;
    case MEL_KEPT_IN_FAMILY:
        return mel_option_in_family(row, opt->family);
    case MEL_KEPT_IF_SET:
        return mel_option_is_set(opt, row);
    case MEL_KEPT_IN_PRIOR:
    case MEL_KEPT_ON_TOP:
        break;
    }
    return false;
}

static json_t *options_object(const mel_session_options *opt, const mel_layout *layout)
{
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    json_t *object = json_object();
    for (size_t i = 0; i < n && object != NULL; i++)
        if (is_kept(&rows[i], opt))
            object = with(object, rows[i].key, value_of(&rows[i], opt, layout));
    return object;
}

static json_t *layout_object(const mel_layout *layout)
{
    return json_pack("{s:s, s:s, s:I, s:I}", "kind", mel_kind_name(layout->kind), "coordinates",
                     mel_coordinates_name(layout->coordinates), "classes", (json_int_t)layout->n_classes,
                     "groups", (json_int_t)layout->n_groups);
}

static mel_status read_space(json_t **out, const char *text, mel_error *err)
{
    const mel_status status = mel_json_parse(out, text, strlen(text), err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "the description of the space");
    if (json_is_object(*out))
        return MEL_OK;
    json_decref(*out);
    return mel_fail(err, MEL_EINVAL, "the description of the space is not a JSON object");
}

mel_status mel_header_make(json_t **out, const mel_session_options *opt, const mel_layout *layout,
                           const mel_identity *identity, mel_error *err)
{
    char digest[MEL_DIGEST_HEX + 8] = "none";
    if (identity != NULL && identity->digest != NULL)
        (void)snprintf(digest, sizeof digest, "sha256:%s", identity->digest);
    json_t *space = NULL;
    TRY(read_space(&space, identity != NULL && identity->space_json != NULL ? identity->space_json : "{}",
                   err));
    /* The seed by which data are split is written where it is not the session's. */
    if (json_integer_value(json_object_get(space, "seed")) == (json_int_t)opt->seed)
        (void)json_object_del(space, "seed");
    json_t *header = json_pack("{s:s, s:i, s:o, s:s, s:s, s:o, s:I, s:s}", "format", "melicit-session",
                               "version", 1, "space", space, "family", mel_family_name(opt->family),
                               "strategy", mel_strategy_name(opt->strategy), "options",
                               options_object(opt, layout != NULL ? layout : &mel_binary_layout), "seed",
                               (json_int_t)opt->seed, "data", digest);
    if (header != NULL && layout != NULL)
        header = with(header, "layout", layout_object(layout));
    *out = header;
    return header != NULL ? MEL_OK : mel_fail_memory(err, "the session's header");
}

/* --- comparing ---------------------------------------------------------------------------------- */

static bool is_allowed(const char *object, const char *key)
{
    for (size_t i = 0; i < sizeof may_change / sizeof *may_change; i++)
        if (strcmp(may_change[i].object, object) == 0 && strcmp(may_change[i].key, key) == 0)
            return true;
    return false;
}

/* A session whose decision is settled may go on for something else. */
static bool goes_on_for_more(const char *object, const char *key, const json_t *stored)
{
    const char *word = json_string_value(stored);
    return strcmp(object, "options") == 0 && strcmp(key, "until") == 0 && word != NULL &&
           strcmp(word, "decision") == 0;
}

/* Options that were removed, each with the value that is the only way now. */
static bool is_as_before(const char *key, const json_t *value)
{
    const char *word = json_string_value(value);
    return (strcmp(key, "first_angle_first") == 0 && json_is_false(value)) ||
           (strcmp(key, "boundary") == 0 && word != NULL && strcmp(word, "hull") == 0) ||
           (strcmp(key, "lfpm") == 0 && word != NULL && strcmp(word, "closed") == 0);
}

static void print_value(char *text, size_t n, const json_t *value)
{
    char *dump =
        value != NULL ? mel_json_text(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
    (void)snprintf(text, n, "%.80s", dump != NULL ? dump : "nothing");
    mel_json_free_text(dump);
}

/* Numbers that were written with 17 digits come back equal; integers and reals may differ in kind. */
static bool same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b) != 0;
}

/* Every field of `now` against the stored header, one level into objects so that the field can be named. */
static mel_status compare(const json_t *stored, const json_t *now, const char *path, const char *prefix,
                          mel_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        const json_t *old = json_object_get(stored, key);
        if (is_allowed(prefix, key) || same_value(old, value) || goes_on_for_more(prefix, key, old))
            continue;
        if (json_is_object(value) && json_is_object(old) && prefix[0] == '\0') {
            const mel_status status = compare(old, value, path, key, err);
            if (status != MEL_OK)
                return status;
            continue;
        }
        char before[96], after[96];
        print_value(before, sizeof before, old);
        print_value(after, sizeof after, value);
        return mel_fail(
            err, MEL_ECONFLICT,
            "%s, line 1: this session was started with %s%s%s = %s, not %s; go on with the same settings "
            "or choose another session file",
            path, prefix, prefix[0] != '\0' ? "." : "", key, before, after);
    }
    json_object_foreach((json_t *)stored, key, value)
    {
        if (json_object_get(now, key) != NULL || is_allowed(prefix, key) ||
            goes_on_for_more(prefix, key, value))
            continue;
        if (strcmp(prefix, "options") == 0 && mel_option_find(key) == NULL) {
            if (is_as_before(key, value))
                continue;
            return mel_fail(
                err, MEL_ECONFLICT,
                "%s, line 1: this session was started with options.%s, which this version does not "
                "have any more",
                path, key);
        }
        return mel_fail(err, MEL_ECONFLICT,
                        "%s, line 1: this session was started with %s%s%s, which is not set now", path,
                        prefix, prefix[0] != '\0' ? "." : "", key);
    }
    return MEL_OK;
}

static mel_status check_format(const json_t *stored, const char *wanted, const char *path, mel_error *err)
{
    const mel_status status = mel_json_check_kind(stored, wanted, NULL, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "%s, line 1", path);
    const json_t *version = json_object_get(stored, "version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return mel_fail(err, MEL_EDATA, "%s, line 1: expected a session file of version 1", path);
    return MEL_OK;
}

mel_status mel_header_check_format(const json_t *stored, const char *path, mel_error *err)
{
    return check_format(stored, "melicit-session", path, err);
}

mel_status mel_header_check(const json_t *stored, const json_t *now, const char *path, mel_error *err)
{
    const mel_status status =
        check_format(stored, json_string_value(json_object_get(now, "format")), path, err);
    return status == MEL_OK ? compare(stored, now, path, "", err) : status;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* [-1, 0, 1, ...] */
static mel_status read_signs(mel_kept_options *out, const json_t *array, const mel_layout *layout,
                             mel_error *err)
{
    const size_t n = mel_sign_count(layout);
    if (json_array_size(array) != n)
        return mel_fail(err, MEL_EDATA, "expected a list of %zu signs", n);
    out->signs = mel_alloc_zero(n, sizeof *out->signs);
    if (out->signs == NULL)
        return mel_fail_memory(err, "the signs");
    for (size_t i = 0; i < n; i++) {
        const json_int_t sign = json_integer_value(json_array_get(array, i));
        out->signs[i] = (signed char)((sign > 0) - (sign < 0));
    }
    out->values.signs = out->signs;
    return MEL_OK;
}

/* [[..], ..]: the classifiers whose order the session is about. */
static mel_status read_pool(mel_kept_options *out, const json_t *rows, const mel_layout *layout,
                            mel_error *err)
{
    const size_t n = json_array_size(rows), size = mel_layout_size(layout);
    out->pool = mel_alloc_zero(n, size * sizeof *out->pool);
    if (out->pool == NULL)
        return mel_fail_memory(err, "the pool");
    for (size_t i = 0; i < n * size; i++) {
        const json_t *row = json_array_get(rows, i / size), *value = json_array_get(row, i % size);
        if (json_array_size(row) != size || !json_is_number(value))
            return mel_fail(err, MEL_EDATA, "[%zu] is not %zu numbers", i / size, size);
        out->pool[i] = json_number_value(value);
    }
    out->values.pool = out->pool;
    out->values.n_pool = n;
    return MEL_OK;
}

static mel_status read_metric(mel_metric **out, const json_t *object, mel_error *err)
{
    char *text = mel_json_text(object, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    if (text == NULL)
        return object != NULL ? mel_fail_memory(err, "a metric")
                              : mel_fail(err, MEL_EDATA, "there is no metric");
    const mel_status status = mel_metric_load_memory(out, text, strlen(text), "the metric", err);
    mel_json_free_text(text);
    return status;
}

static mel_status read_value(mel_kept_options *out, const mel_option *row, const json_t *value,
                             const mel_layout *layout, mel_error *err)
{
    mel_status status = MEL_OK;
    switch (row->type) {
    case MEL_OPTION_FAMILY:
        return mel_family_parse(&out->values.family, json_is_string(value) ? json_string_value(value) : "",
                                err);
    case MEL_OPTION_SIGNS:
        return read_signs(out, value, layout, err);
    case MEL_OPTION_POOL:
        return read_pool(out, value, layout, err);
    case MEL_OPTION_PRIOR:
        status = read_metric(&out->prior, json_object_get(value, "metric"), err);
        out->values.prior = out->prior;
        out->values.prior_strength = json_number_value(json_object_get(value, "strength"));
        return status;
    case MEL_OPTION_METRIC:
        status = read_metric(&out->known, value, err);
        out->values.known = out->known;
        return status;
    default:
        return mel_option_from_json(&out->values, row, value, err);
    }
}

/* What no session can be made with is no header. */
static mel_status refuse_value(const char *key, mel_status status, mel_error *err)
{
    const mel_status code = status == MEL_EINVAL ? MEL_EDATA : status;
    if (err != NULL)
        err->code = code;
    return mel_fail_in(err, code, "line 1: %s", key);
}

mel_status mel_header_options(mel_kept_options *out, const json_t *header, const mel_layout *layout,
                              mel_error *err)
{
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    mel_session_options_init(&out->values);
    for (size_t i = 0; i < n; i++) {
        const json_t *from = rows[i].kept == MEL_KEPT_ON_TOP ? header : json_object_get(header, "options");
        const json_t *value = json_object_get(from, rows[i].key);
        const mel_status status = value != NULL ? read_value(out, &rows[i], value, layout, err) : MEL_OK;
        if (status != MEL_OK)
            return refuse_value(rows[i].key, status, err);
    }
    return MEL_OK;
}
