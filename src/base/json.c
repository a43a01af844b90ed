#include "base/json.h"

#include <string.h>

static mel_status parse(json_t **out, const void *bytes, size_t n, mel_error *err)
{
    json_error_t where;
    *out = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &where);
    if (*out != NULL)
        return MEL_OK;
    if (json_error_code(&where) == json_error_out_of_memory)
        return mel_fail_memory(err, "a JSON document");
    /* Without the piece of the text that follows, which may hold any bytes. */
    const char *near = strstr(where.text, " near ");
    const int length = near != NULL ? (int)(near - where.text) : (int)strlen(where.text);
    return mel_fail(err, MEL_EDATA, "line %d, column %d: %.*s", where.line, where.column, length, where.text);
}

/* Parses twice: when memory runs out in the middle of a word or number, jansson 2.14 drops a character
 * and goes on. The same character is not lost twice. */
mel_status mel_json_parse(json_t **out, const void *bytes, size_t n, mel_error *err)
{
    json_t *again = NULL;
    *out = NULL;
    mel_status status = parse(out, bytes, n, err);
    if (status == MEL_OK)
        status = parse(&again, bytes, n, err);
    if (status == MEL_OK && json_equal(*out, again) == 0)
        status = mel_fail_memory(err, "a JSON document");
    json_decref(again);
    if (status != MEL_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}
