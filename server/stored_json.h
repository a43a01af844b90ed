/* JSON that was checked when it was stored. */
#ifndef MEL_SERVER_STORED_JSON_H
#define MEL_SERVER_STORED_JSON_H

#include "base/json.h"

#include <string.h>

/* A new reference; NULL without memory, and for NULL. jansson's own functions are not used for reading: what
 * they do when memory runs out src/base/json.c tells. */
static inline json_t *mel_stored_json(const char *text)
{
    json_t *out = NULL;
    return text != NULL && mel_json_parse(&out, text, strlen(text), NULL) == MEL_OK ? out : NULL;
}

#endif
