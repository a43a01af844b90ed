/* JSON that the server builds, reads and keeps. Without memory everything here gives false or NULL. */
#ifndef MEL_SERVER_JSON_HELPERS_H
#define MEL_SERVER_JSON_HELPERS_H

#include "base/json.h"

#include <string.h>

/* Building values that fail as a whole: without memory, or where the value (which is taken over) is missing,
 * the list or object is released and becomes NULL, and so does what is added to it afterwards. */
static inline void mel_json_push(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

static inline void mel_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0) {
        json_decref(*object);
        *object = NULL;
    }
}

/* Puts those of the n keys into `to` that `from` has. */
static inline bool mel_json_copy(json_t *to, const json_t *from, const char *const *keys, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        if (json_object_get(from, keys[i]) != NULL)
            good = json_object_set(to, keys[i], json_object_get(from, keys[i])) == 0;
    return good;
}

/* NULL when there is no such text. */
static inline const char *mel_json_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* `otherwise` when there is no such number. */
static inline double mel_json_number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static inline bool mel_json_is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* Any value as text that gives the same numbers when it is read, the same for equal values. */
static inline char *mel_json_exact(const json_t *value)
{
    return value == NULL ? NULL
                         : mel_json_text(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17) |
                                                    JSON_SORT_KEYS);
}

/* Text that was checked when it was stored; NULL for NULL. jansson's own functions are not used for reading:
 * src/base/json.c says what they do when memory runs out. */
static inline json_t *mel_stored_json(const char *text)
{
    json_t *out = NULL;
    return text != NULL && mel_json_parse(&out, text, strlen(text), NULL) == MEL_OK ? out : NULL;
}

#endif
