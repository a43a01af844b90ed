/* Checked allocation. */
#include "base/internal.h"

#include <assert.h>
#include <stdio.h>
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

bool mel_grow_at(void *pointer, size_t n, size_t size)
{
    void *block; /* copied: the pointer has another type */
    memcpy(&block, pointer, sizeof block);
    const bool grown = mel_grow(&block, n, size);
    memcpy(pointer, &block, sizeof block);
    return grown;
}

void mel_names_free(char **name, size_t n)
{
    for (size_t i = 0; name != NULL && i < n; i++)
        free(name[i]);
    free(name);
}

char **mel_names_copy(size_t n, const char *const *name, size_t first)
{
    char **copy = mel_alloc_zero(n, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%zu", first + i);
        copy[i] = mel_strdup(name != NULL ? name[i] : number);
        if (copy[i] == NULL) {
            mel_names_free(copy, i);
            return NULL;
        }
    }
    return copy;
}

bool mel_parts_new(size_t n, const mel_part *parts)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        for (double **const *at = parts[i].at; *at != NULL; at++)
            total =
                parts[i].n > SIZE_MAX - total ? SIZE_MAX : total + parts[i].n; /* SIZE_MAX is refused below */
    assert(parts[0].at[0] != NULL);
    double *free_from = *parts[0].at[0] = mel_alloc_zero(total, sizeof *free_from);
    if (free_from == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        for (double **const *at = parts[i].at; *at != NULL; at++, free_from += parts[i].n)
            **at = free_from;
    return true;
}

bool mel_parts_grow(size_t n, const mel_part *parts)
{
    for (size_t i = 0; i < n; i++)
        for (double **const *at = parts[i].at; *at != NULL; at++)
            if (!MEL_GROW(**at, parts[i].n))
                return false;
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
