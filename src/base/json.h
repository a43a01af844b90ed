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
/* Frees what mel_json_text or json_dumps gave. NULL is fine. */
void mel_json_free_text(char *text);

#endif
