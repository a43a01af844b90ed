/* The first line of a session's file, and its comparison with today's settings. */
#include "elicit/header.h"

#include "base/json.h"
#include "elicit/engine.h"
#include "elicit/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A budget may be raised and files may have moved (the digest says that they are the same) when a session
 * goes on; everything else decides the questions. */
static const struct {
    const char *object, *key;
} may_change[] = {
    { "options", "max_questions" }, { "space", "table" },  { "space", "probs" },
    { "space", "labels" },          { "space", "groups" }, { "space", "prevalence" },
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

/* Those of the searches of slopes, where they are not as usual. */
static json_t *with_places(json_t *object, const mel_session_options *opt)
{
    const struct {
        const char *key;
        bool set;
    } flags[] = {
        { "diagonal_b", opt->diagonal_b },
        { "equal_pairs", opt->equal_pairs },
        { "ask_trade_off", opt->ask_trade_off },
        { "known_costs_only", opt->known_costs_only },
    };
    if (object != NULL && opt->local != MEL_LOCAL_SYMMETRIC)
        object = with(object, "local", json_string(mel_local_name(opt->local)));
    if (object != NULL && opt->join != MEL_JOIN_SQUARES)
        object = with(object, "solve", json_string(mel_join_name(opt->join)));
    if (object != NULL && opt->inner_radius != 0.0)
        object = with(object, "inner_radius", json_real(opt->inner_radius));
    for (size_t i = 0; i < sizeof flags / sizeof *flags && object != NULL; i++)
        if (flags[i].set)
            object = with(object, flags[i].key, json_true());
    if (object != NULL && opt->known != NULL)
        object = with(object, "known", metric_object(opt->known));
    return object;
}

/* size: numbers in a point. */
static json_t *options_object(const mel_session_options *opt, size_t size, size_t n_signs)
{
    char assume[MEL_ASSUMPTION_TEXT];
    mel_assumption_print(assume, sizeof assume, &opt->assume);
    json_t *object =
        json_pack("{s:f, s:I, s:s, s:s, s:I, s:b, s:s, s:I, s:I, s:b, s:b, s:s}", "tolerance", opt->tolerance,
                  "max_questions", (json_int_t)opt->max_questions, "direction",
                  mel_direction_name(opt->direction), "assume", assume, "repeat_every",
                  (json_int_t)opt->repeat_every, "simple_questions", opt->simple_questions ? 1 : 0,
                  "boundary", mel_boundary_name(opt->boundary), "per_round", (json_int_t)opt->per_round,
                  "cycles", (json_int_t)opt->cycles, "first_angle_first", opt->first_angle_first ? 1 : 0,
                  "tournament", opt->tournament ? 1 : 0, "lfpm", mel_lfpm_name(opt->lfpm));
    if (object != NULL && mel_family_about(opt->family)->degree == 0)
        object = with(object, "degree", json_integer((json_int_t)opt->degree));
    if (object != NULL && opt->signs != NULL)
        object = with(object, "signs", signs_array(n_signs, opt->signs));
    if (object != NULL && isfinite(opt->known_p11))
        object = with(object, "known_p11", json_real(opt->known_p11));
    if (object != NULL && opt->until != MEL_UNTIL_TOLERANCE)
        object = with(object, "until", json_string(mel_until_name(opt->until)));
    if (object != NULL && opt->until == MEL_UNTIL_RANK)
        object = with(object, "pool", mel_json_matrix(opt->n_pool, size, opt->pool));
    if (object != NULL && opt->prior != NULL)
        object = with(object, "prior", prior_object(opt));
    return with_places(object, opt);
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
    const mel_status status = read_space(
        &space, identity != NULL && identity->space_json != NULL ? identity->space_json : "{}", err);
    if (status != MEL_OK)
        return status;
    const size_t n_signs = layout != NULL ? mel_sign_count(layout) : 0;
    const size_t size = mel_layout_size(layout != NULL ? layout : &mel_binary_layout);
    json_t *header = json_pack(
        "{s:s, s:i, s:o, s:s, s:s, s:o, s:I, s:s}", "format", "melicit-session", "version", 1, "space", space,
        "family", mel_family_name(opt->family), "strategy", mel_strategy_name(opt->strategy), "options",
        options_object(opt, size, n_signs), "seed", (json_int_t)opt->seed, "data", digest);
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

static void print_value(char *text, size_t n, const json_t *value)
{
    char *dump =
        value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
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
        if (is_allowed(prefix, key) || same_value(old, value))
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
        if (json_object_get(now, key) == NULL && !is_allowed(prefix, key))
            return mel_fail(err, MEL_ECONFLICT,
                            "%s, line 1: this session was started with %s%s%s, which is not set now", path,
                            prefix, prefix[0] != '\0' ? "." : "", key);
    }
    return MEL_OK;
}

/* Options that did not exist when the file was written have their defaults, which do what was done then. So
 * have those that such a session does not read: once they were kept in the header as given.
 * "three_questions" is what "per_round": 3 was called. */
static mel_status bring_up_to_date(json_t *options, const char *const *unread, mel_error *err)
{
    for (size_t i = 0; unread[i] != NULL; i++)
        (void)json_object_del(options, unread[i]);
    const bool three = json_is_true(json_object_get(options, "three_questions"));
    (void)json_object_del(options, "three_questions");
    mel_session_options otherwise;
    mel_session_options_init(&otherwise);
    otherwise.per_round = three ? 3 : otherwise.per_round;
    json_t *defaults = options_object(&otherwise, 0, 0);
    const bool filled = defaults != NULL && json_object_update_missing(options, defaults) == 0;
    json_decref(defaults);
    return filled ? MEL_OK : mel_fail_memory(err, "the session's header");
}

mel_status mel_header_check(json_t *stored, const json_t *now, const char *const *unread, const char *path,
                            mel_error *err)
{
    const char *format = json_string_value(json_object_get(stored, "format"));
    if (format == NULL || strcmp(format, "melicit-session") != 0)
        return mel_fail(err, MEL_EDATA, "%s, line 1: not a session file (no \"format\": \"melicit-session\")",
                        path);
    const json_t *version = json_object_get(stored, "version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return mel_fail(err, MEL_EDATA,
                        "%s, line 1: session files of version 1 are understood, not of this one", path);
    json_t *options = json_object_get(stored, "options");
    const mel_status status = json_is_object(options) ? bring_up_to_date(options, unread, err) : MEL_OK;
    return status == MEL_OK ? compare(stored, now, path, "", err) : status;
}
