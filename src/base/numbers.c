/* Lists of numbers as they are typed: "1,2.5,-3e4". */
#include "base/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool parse(double *value, size_t n, const char *text)
{
    if (text[strspn(text, "0123456789+-.eE,")] != '\0')
        return false;
    const char *at = text;
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        errno = 0;
        value[i] = mel_to_double(at, &end);
        if (end == at || errno != 0 || !isfinite(value[i]) || *end != (i + 1 < n ? ',' : '\0'))
            return false;
        at = end + 1;
    }
    return true;
}

mel_status mel_parse_numbers(double **out, size_t *n, const char *text, mel_error *err)
{
    size_t commas = 0;
    for (const char *c = text; *c != '\0'; c++)
        commas += *c == ',';
    *n = 0;
    *out = mel_alloc(commas + 1, sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "numbers");
    if (parse(*out, commas + 1, text)) {
        *n = commas + 1;
        return MEL_OK;
    }
    free(*out);
    *out = NULL;
    return mel_fail(err, MEL_EINVAL, "%s: expected numbers with commas between them", text);
}
