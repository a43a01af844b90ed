/* Values of a session's options by the rows of their table: in the struct, as text, as JSON. */
#include "elicit/option_value.h"

#include "base/json.h"
#include "data/number.h"
#include "elicit/assumption.h"
#include "elicit/options.h"
#include "metric/shared.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- in the struct ------------------------------------------------------------------------------ */

mel_option_value mel_option_usual(const mel_option *row)
{
    if (row->type == MEL_OPTION_NUMBER)
        return (mel_option_value){ .number = row->usual };
    return (mel_option_value){ .whole = (uint64_t)row->usual };
}

mel_option_value mel_option_get(const mel_session_options *opt, const mel_option *row)
{
    const char *field = (const char *)opt + row->at;
    mel_option_value value = { .whole = 0 };
    uint32_t narrow = 0;
    if (row->type == MEL_OPTION_NUMBER)
        memcpy(&value.number, field, sizeof value.number);
    else if (row->type == MEL_OPTION_FLAG)
        value.whole = *(const bool *)field;
    else if (row->size == sizeof value.whole)
        memcpy(&value.whole, field, sizeof value.whole);
    else {
        memcpy(&narrow, field, sizeof narrow);
        value.whole = narrow;
    }
    return value;
}

void mel_option_put(mel_session_options *opt, const mel_option *row, mel_option_value value)
{
    char *field = (char *)opt + row->at;
    const uint32_t narrow = (uint32_t)value.whole;
    if (row->type == MEL_OPTION_NUMBER)
        memcpy(field, &value.number, sizeof value.number);
    else if (row->type == MEL_OPTION_FLAG)
        *(bool *)field = value.whole != 0;
    else if (row->size == sizeof value.whole)
        memcpy(field, &value.whole, sizeof value.whole);
    else
        memcpy(field, &narrow, sizeof narrow);
}

static const char *const *words_of(const mel_option *row)
{
    static const char *const flags[] = { "false", "true", NULL };
    return row->type == MEL_OPTION_FLAG ? flags : row->words;
}

static bool in_range(const mel_option *row, double value)
{
    return value >= row->low && value <= row->high && !(row->above_low && value <= row->low) &&
           !(row->below_high && value >= row->high);
}

bool mel_option_holds(const mel_option *row, mel_option_value value)
{
    uint64_t words = 0;
    if (row->type == MEL_OPTION_NUMBER)
        return in_range(row, value.number) || (isnan(value.number) && isnan(row->usual));
    if (row->type == MEL_OPTION_WHOLE)
        return in_range(row, (double)value.whole);
    while (words_of(row)[words] != NULL)
        words++;
    return value.whole < words;
}

bool mel_option_is_set(const mel_session_options *opt, const mel_option *row)
{
    const void *lent = NULL;
    const mel_option_value usual = mel_option_usual(row);
    switch (row->type) {
    case MEL_OPTION_NUMBER: {
        const double number = mel_option_get(opt, row).number;
        return !(number == usual.number || (isnan(number) && isnan(usual.number)));
    }
    case MEL_OPTION_WHOLE:
    case MEL_OPTION_FLAG:
    case MEL_OPTION_WORD:
        return mel_option_get(opt, row).whole != usual.whole;
    case MEL_OPTION_FAMILY:
        return true;
    case MEL_OPTION_ASSUMPTION:
        return !mel_assumption_is_none(&opt->assume);
    default:
        memcpy(&lent, (const char *)opt + row->at, sizeof lent);
        return lent != NULL && (row->type != MEL_OPTION_POOL || opt->until == MEL_UNTIL_RANK);
    }
}

/* --- what is expected --------------------------------------------------------------------------- */

void mel_option_name(char name[MEL_OPTION_NAME], const mel_option *row)
{
    (void)snprintf(name, MEL_OPTION_NAME, "%s", row->key);
    for (char *at = name; (at = strchr(at, '_')) != NULL;)
        *at = '-';
}

/* "a number from 0 to below 1", "a whole number above 0", "a number 2 or more" */
static void print_range(char *text, size_t size, const mel_option *row)
{
    const char *what = row->type == MEL_OPTION_WHOLE ? "a whole number" : "a number";
    const bool open_end = row->high >= 1e15;
    if (open_end && row->above_low)
        (void)mel_print(text, size, "%s above %.15g", what, row->low);
    else if (open_end)
        (void)mel_print(text, size, "%s %.15g or more", what, row->low);
    else
        (void)mel_print(text, size, "%s %s %.15g %s %.15g", what, row->above_low ? "above" : "from", row->low,
                        row->below_high ? "to below" : "to", row->high);
}

static void print_expected(char text[MEL_OPTION_EXPECTS], const mel_option *row)
{
    size_t used = 0;
    if (row->type <= MEL_OPTION_WHOLE)
        print_range(text, MEL_OPTION_EXPECTS, row);
    else if (mel_option_is_scalar(row))
        for (size_t i = 0; words_of(row)[i] != NULL && used < MEL_OPTION_EXPECTS; i++)
            used += (size_t)snprintf(text + used, MEL_OPTION_EXPECTS - used, "%s%s",
                                     i != 0 ? ", " : "one of ", words_of(row)[i]);
    else
        (void)snprintf(text, MEL_OPTION_EXPECTS, "a text");
}

static const char *word_at(const void *user, size_t i)
{
    const char *const *words = user;
    return words[i];
}

/* given: as it was written, where it is a text. */
static mel_status refuse(const mel_option *row, const char *given, mel_error *err)
{
    if (row->type >= MEL_OPTION_SIGNS)
        return mel_fail(err, MEL_EINVAL, "only numbers, words and flags can be set here");
    char expected[MEL_OPTION_EXPECTS];
    print_expected(expected, row);
    const bool word = given != NULL && row->type == MEL_OPTION_WORD;
    const char *near = word ? mel_nearest(given, word_at, row->words) : NULL;
    if (near == NULL || near[strspn(near, "0123456789+-.eE")] == '\0') /* nothing is a misspelt number */
        return mel_fail(err, MEL_EINVAL, "expected %s", expected);
    return mel_fail(err, MEL_EINVAL, "expected %s; did you mean %s?", expected, near);
}

mel_status mel_option_check(const mel_session_options *opt, const mel_option *row, mel_error *err)
{
    if (!mel_option_is_scalar(row) || mel_option_holds(row, mel_option_get(opt, row)))
        return MEL_OK;
    const mel_option_value value = mel_option_get(opt, row);
    char name[MEL_OPTION_NAME];
    mel_option_name(name, row);
    (void)refuse(row, NULL, err);
    if (row->type == MEL_OPTION_NUMBER)
        return mel_fail_in(err, MEL_EINVAL, "%s %g", name, value.number);
    return mel_fail_in(err, MEL_EINVAL, "%s %llu", name, (unsigned long long)value.whole);
}

/* --- as text ------------------------------------------------------------------------------------ */

static bool parse_whole(uint64_t *out, const char *text)
{
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0' && errno == 0;
}

static bool parse_word(uint64_t *out, const char *const *words, const char *text)
{
    for (*out = 0; words[*out] != NULL; ++*out)
        if (strcmp(words[*out], text) == 0)
            return true;
    return false;
}

mel_status mel_option_parse(mel_option_value *out, const mel_option *row, const char *text, mel_error *err)
{
    mel_option_value value = { .whole = 0 };
    bool read = false;
    if (row->type == MEL_OPTION_NUMBER)
        read = mel_number_parse(text, strlen(text), &value.number) == MEL_NUMBER_FINITE;
    else if (row->type == MEL_OPTION_WHOLE)
        read = parse_whole(&value.whole, text);
    else if (mel_option_is_scalar(row))
        read = parse_word(&value.whole, words_of(row), text);
    if (!read || !mel_option_holds(row, value))
        return refuse(row, text, err);
    *out = value;
    return MEL_OK;
}

/* Only polynomials have a degree that can be chosen. */
static mel_status set_family(mel_session_options *opt, const char *text, mel_error *err)
{
    const mel_option *row = mel_option_find("degree");
    uint32_t degree = 0;
    TRY(mel_family_parse_degree(&opt->family, &degree, text, err));
    opt->degree = mel_option_in_family(row, opt->family) ? degree : (uint32_t)row->usual;
    return MEL_OK;
}

/* "1.6x" */
static mel_status set_factor(mel_session_options *opt, const char *text, mel_error *err)
{
    double factor = 0.0;
    const mel_option *row = mel_option_find("tolerance_factor");
    if (mel_number_parse(text, strlen(text) - 1, &factor) != MEL_NUMBER_FINITE || !(factor > 1.0) ||
        factor > row->high)
        return mel_fail(err, MEL_EINVAL, "expected a factor above 1, up to %g, as in 1.6x", row->high);
    opt->tolerance_factor = factor;
    return MEL_OK;
}

static mel_status set_text(mel_session_options *opt, const mel_option *row, const char *text, mel_error *err)
{
    mel_option_value value = { .whole = 0 };
    if (row->type == MEL_OPTION_FAMILY)
        return set_family(opt, text, err);
    if (row->type == MEL_OPTION_ASSUMPTION)
        return mel_assumption_parse(&opt->assume, text, err);
    if (row->factor && text[0] != '\0' && text[strlen(text) - 1] == 'x')
        return set_factor(opt, text, err);
    const mel_status status = mel_option_parse(&value, row, text, err);
    if (status == MEL_OK)
        mel_option_put(opt, row, value);
    if (status == MEL_OK && row->factor)
        opt->tolerance_factor = 0.0;
    return status;
}

mel_status mel_signs_parse(signed char **out, const mel_layout *layout, const char *text, mel_error *err)
{
    const size_t n = mel_sign_count(layout);
    bool good = strlen(text) == 2 * n - 1;
    *out = NULL;
    for (size_t i = 0; i < n && good; i++)
        good = strchr("-+?", text[2 * i]) != NULL && (i + 1 == n || text[2 * i + 1] == ',');
    if (!good)
        return mel_fail(err, MEL_EINVAL,
                        "expected %zu signs -, + or ? with commas between them, one per coefficient", n);
    *out = mel_alloc_zero(n, sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "the signs");
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (signed char)((text[2 * i] == '+') - (text[2 * i] == '-'));
    return MEL_OK;
}

mel_status mel_prior_parse(char **path, double *strength, const char *text, mel_error *err)
{
    const mel_option *row = mel_option_find("prior_strength");
    const char *colon = strrchr(text, ':');
    mel_option_value value = { .number = 0.0 };
    *path = NULL;
    if (colon == NULL || colon == text || mel_option_parse(&value, row, colon + 1, NULL) != MEL_OK ||
        !(value.number > 0.0))
        return mel_fail(err, MEL_EINVAL,
                        "expected METRIC.json:S with S above 0 and at most %g; the metric is thought to be "
                        "within about 1/sqrt(S) radians",
                        row->high);
    *path = mel_strdup(text);
    if (*path == NULL)
        return mel_fail_memory(err, "the name of a file");
    (*path)[colon - text] = '\0';
    *strength = value.number;
    return MEL_OK;
}

static const char *key_at(const void *user, size_t i)
{
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    (void)user;
    return i < n ? rows[i].key : NULL;
}

static mel_status refuse_key(const char *key, mel_error *err)
{
    const char *near = mel_nearest(key, key_at, NULL);
    return mel_fail(err, MEL_EINVAL, "%.40s: there is no such option%s%s%s", key,
                    near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
}

mel_status mel_session_options_set(mel_session_options *opt, const char *key, const char *text,
                                   mel_error *err)
{
    const mel_option *row = mel_option_find(key);
    if (row == NULL)
        return refuse_key(key, err);
    const mel_status status = set_text(opt, row, text, err);
    return status == MEL_OK ? MEL_OK : mel_fail_in(err, status, "%s %.60s", key, text);
}

/* --- as JSON ------------------------------------------------------------------------------------ */

json_t *mel_option_to_json(const mel_option *row, mel_option_value value)
{
    switch (row->type) {
    case MEL_OPTION_NUMBER:
        return json_real(value.number);
    case MEL_OPTION_WHOLE:
        return json_integer((json_int_t)value.whole);
    case MEL_OPTION_WORD:
        return json_string(row->words[value.whole]);
    default:
        return json_boolean(value.whole != 0);
    }
}

static bool has_type(const json_t *json, mel_option_type type)
{
    return type <= MEL_OPTION_WHOLE  ? json_is_number(json)
           : type == MEL_OPTION_FLAG ? json_is_boolean(json)
                                     : json_is_string(json);
}

mel_status mel_option_from_json(mel_session_options *opt, const mel_option *row, const json_t *json,
                                mel_error *err)
{
    char text[MEL_NUMBER_TEXT] = "";
    if (!has_type(json, row->type) && !(row->factor && json_is_string(json)))
        return refuse(row, NULL, err);
    if (json_is_integer(json))
        (void)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    else if (json_is_real(json))
        mel_number_print(text, json_real_value(json)); /* 6.0 is whole, too */
    else if (json_is_boolean(json))
        (void)snprintf(text, sizeof text, "%s", json_is_true(json) ? "true" : "false");
    return set_text(opt, row, json_is_string(json) ? json_string_value(json) : text, err);
}

static mel_status set_members(mel_session_options *opt, const json_t *object, mel_error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return mel_fail(err, MEL_EINVAL, "the options are not a JSON object");
    json_object_foreach((json_t *)object, key, value)
    {
        const mel_option *row = mel_option_find(key);
        if (row == NULL)
            return refuse_key(key, err);
        const mel_status status = mel_option_from_json(opt, row, value, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "%s", key);
    }
    return MEL_OK;
}

mel_status mel_session_options_from_json(mel_session_options *opt, const char *text, mel_error *err)
{
    json_t *object = NULL;
    mel_status status = mel_json_parse(&object, text, strlen(text), err);
    if (status == MEL_OK)
        status = set_members(opt, object, err);
    json_decref(object);
    return status;
}
