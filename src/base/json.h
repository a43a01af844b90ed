/* Reading JSON, strictly, and writing all of it or nothing. */
#ifndef MEL_BASE_JSON_H
#define MEL_BASE_JSON_H

#include "base/internal.h"

#include <jansson.h>

/* The document in bytes[0..n); *out is the caller's reference. Refuses (MEL_EDATA, with line and column)
 * doubled keys, trailing text, invalid UTF-8, NUL characters and numbers that are not finite. */
mel_status mel_json_parse(json_t **out, const void *bytes, size_t n, mel_error *err);

/* As json_dumps, whose text lacks pieces when memory runs out while it grows (jansson 2.14): NULL then. */
char *mel_json_text(const json_t *value, size_t flags);
/* The text of a file with this value, which is taken over (NULL: memory ran out while it was made): indented
 * and exact, for the caller to free(). `what` it is, for the error. */
mel_status mel_json_file_text(char **out, json_t *value, const char *what, mel_error *err);
/* Frees what mel_json_text or json_dumps gave. NULL is fine. */
void mel_json_free_text(char *text);

/* Building values: without memory these give false or NULL, and nothing is lost or freed twice. */

/* Both take the value over. */
static inline bool mel_json_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static inline bool mel_json_add(json_t *list, json_t *value)
{
    return json_array_append_new(list, value) == 0;
}

/* Lists of finite numbers, of lists of them, and of texts in UTF-8. */
json_t *mel_json_numbers(size_t n, const double *value);
json_t *mel_json_matrix(size_t n_rows, size_t n_columns, const double *value);
json_t *mel_json_texts(size_t n, const char *const *text);

/* The value or, when something is missing from it, NULL: it is released then. */
static inline json_t *mel_json_if(bool whole, json_t *value)
{
    if (whole)
        return value;
    json_decref(value);
    return NULL;
}

/* MEL_EDATA unless the document says that it is of this "format", or of the former one (NULL: there is none);
 * the sentence says what it is instead. */
mel_status mel_json_check_kind(const json_t *file, const char *format, const char *former, mel_error *err);

/* MEL_EDATA unless it is an object with exactly these keys (the list ends with NULL). */
mel_status mel_json_members(const json_t *object, const char *const *keys, mel_error *err);

#endif
