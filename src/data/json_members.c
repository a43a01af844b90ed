/* JSON objects of which every member must be known. */
#include "data/json_members.h"

#include "data/quote.h"

#include <string.h>

mel_status mel_json_members(const json_t *object, const char *const *keys, mel_error *err)
{
    if (!json_is_object(object))
        return mel_fail(err, MEL_EDATA, "not an object");
    size_t n = 0;
    for (; keys[n] != NULL; n++)
        if (json_object_get(object, keys[n]) == NULL)
            return mel_fail(err, MEL_EDATA, "\"%s\" is missing", keys[n]);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (i < n && strcmp(keys[i], key) != 0)
            i++;
        if (i == n)
            return mel_fail(err, MEL_EDATA, "unknown key %s", mel_quote_text(key).text);
    }
    return MEL_OK;
}
