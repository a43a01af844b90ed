/* Loads libpq. */
#include "postgres_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

mel_libpq mel_pq;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char trouble[256]; /* empty: all is there */

static bool find(void *handle, const char *name, void *to)
{
    void *symbol = dlsym(handle, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load(void)
{
    void *handle = dlopen("libpq.so.5", RTLD_NOW);
    bool whole = handle != NULL;
#define FIND(name) whole = whole && find(handle, "PQ" #name, &mel_pq.name);
    MEL_LIBPQ_FUNCTIONS(FIND)
#undef FIND
    if (!whole)
        (void)snprintf(trouble, sizeof trouble, "%s", dlerror());
}

mel_status mel_libpq_load(mel_error *err)
{
    (void)pthread_once(&once, load);
    return trouble[0] == '\0' ? MEL_OK
                              : mel_fail(err, MEL_EIO,
                                         "PostgreSQL: its library libpq cannot be loaded (%s): install "
                                         "libpq5, or keep the store in a file",
                                         trouble);
}
