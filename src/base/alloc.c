#include "base/internal.h"

#include <stdlib.h>
#include <string.h>

void *mel_alloc(size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size)
        return NULL;
    const size_t bytes = n * size;
    return malloc(bytes != 0 ? bytes : 1);
}

void *mel_alloc_zero(size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size)
        return NULL;
    return n != 0 && size != 0 ? calloc(n, size) : calloc(1, 1);
}

bool mel_grow(void **block, size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size)
        return false;
    const size_t bytes = n * size;
    void *bigger = realloc(*block, bytes != 0 ? bytes : 1);
    if (bigger == NULL)
        return false;
    *block = bigger;
    return true;
}

char *mel_strdup(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy != NULL)
        memcpy(copy, text, n);
    return copy;
}
