/* Allocation failure by linker wrapping; see test_each_allocation in test.h. */
#include "support/test.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static atomic_bool armed;
static atomic_long countdown; /* allocations left before the failing one */
static atomic_long live;      /* blocks allocated minus freed while armed */

static bool fails_now(void)
{
    return atomic_load(&armed) && atomic_fetch_sub(&countdown, 1) == 0;
}

static void *counted(void *block)
{
    if (block != NULL && atomic_load(&armed))
        atomic_fetch_add(&live, 1);
    return block;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_now() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (fails_now())
        return NULL;
    void *bigger = __real_realloc(block, size);
    return block == NULL ? counted(bigger) : bigger;
}

void __wrap_free(void *block)
{
    if (block != NULL && atomic_load(&armed))
        atomic_fetch_sub(&live, 1);
    __real_free(block);
}

void test_each_allocation(const char *what, mel_status (*work)(void *context), void *context)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    for (long n = 0; n < 1000000; n++) {
        atomic_store(&countdown, n);
        atomic_store(&live, 0);
        atomic_store(&armed, true);
        const mel_status status = work(context);
        atomic_store(&armed, false);
        const bool reached = atomic_load(&countdown) < 0;
        if (atomic_load(&live) != 0)
            fail_msg("%s: %ld blocks leaked when allocation %ld failed", what, atomic_load(&live), n);
        if (!reached) {
            if (status != MEL_OK)
                fail_msg("%s: %s without a failing allocation", what, mel_status_name(status));
            print_message("  %s: %ld allocations\n", what, n);
            return;
        }
        if (status == MEL_OK)
            fail_msg("%s: success although allocation %ld failed", what, n);
    }
    fail_msg("%s: never ends", what);
}
