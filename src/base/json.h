/* Reading JSON, strictly. */
#ifndef MEL_BASE_JSON_H
#define MEL_BASE_JSON_H

#include "base/internal.h"

#include <jansson.h>

/* The document in bytes[0..n); *out is the caller's reference. Refuses (MEL_EDATA, with line and column)
 * doubled keys, trailing text, invalid UTF-8, NUL characters and numbers that are not finite. */
mel_status mel_json_parse(json_t **out, const void *bytes, size_t n, mel_error *err);

/* Frees what json_dumps gave. NULL is fine. */
void mel_json_free_text(char *text);

#endif
