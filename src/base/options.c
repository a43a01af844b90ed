/* Options of which a caller compiled with an older header knows only the first part. */
#include "base/internal.h"

#include <string.h>

mel_status mel_options_take(void *to, size_t size, const void *from, const char *what, mel_error *err)
{
    size_t given = 0;
    if (from == NULL)
        return MEL_OK;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > size)
        return mel_fail(err, MEL_EINVAL, "the %s were not initialised", what);
    memcpy(to, from, given);
    memcpy(to, &size, sizeof size);
    return MEL_OK;
}
