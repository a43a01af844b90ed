/* Allocation failure by linker wrapping; see test_each_allocation in test.h. */
#include "support/test.h"

#include <execinfo.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

static bool each_place; /* fails once per place; else once per allocation */
static atomic_bool armed;
static atomic_bool failed; /* an allocation of this run did */
static long made;          /* allocations of this run before the failing one */
static long skipped;       /* so many of them do not fail, whatever their place */
static atomic_long live;   /* blocks allocated minus freed while armed */

/* Places where an allocation failed, as hashes of the calls that led there, in an open table. */
enum { PLACES = 1 << 16, CALLS = 24 };
static uint64_t places[PLACES];
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_of_calls(void)
{
    void *calls[CALLS];
    const int n = backtrace(calls, CALLS);
    uint64_t hash = 14695981039346656037u; /* FNV-1a, a call at a time */
    for (int i = 0; i < n; i++)
        hash = (hash ^ (uintptr_t)calls[i]) * 1099511628211u;
    return hash | 1; /* 0 is an empty entry */
}

static bool is_new_place(void)
{
    const uint64_t place = hash_of_calls();
    size_t at = (place >> 16) % PLACES;
    while (places[at] != 0 && places[at] != place)
        at = (at + 1) % PLACES;
    const bool is_new = places[at] == 0;
    places[at] = place;
    return is_new;
}

static bool fails_now(void)
{
    if (!atomic_load(&armed) || atomic_load(&failed))
        return false;
    pthread_mutex_lock(&places_lock);
    const bool fails = !atomic_load(&failed) && made >= skipped && (!each_place || is_new_place());
    if (fails)
        atomic_store(&failed, true);
    else
        made++;
    pthread_mutex_unlock(&places_lock);
    return fails;
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

/* Never fails: where it does, other memory is asked for. */
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *block)
{
    if (block != NULL && atomic_load(&armed))
        atomic_fetch_sub(&live, 1);
    __real_free(block);
}

/* One run of work, in which an allocation fails unless all are skipped or known. */
static void run_once(const char *what, mel_status (*work)(void *context), void *context)
{
    made = 0;
    atomic_store(&failed, false);
    atomic_store(&live, 0);
    atomic_store(&armed, true);
    const mel_status status = work(context);
    atomic_store(&armed, false);
    if (atomic_load(&live) != 0)
        fail_msg("%s: %ld blocks leaked when allocation %ld failed", what, atomic_load(&live), made);
    if (atomic_load(&failed) && status == MEL_OK)
        fail_msg("%s: success although allocation %ld failed", what, made);
    if (!atomic_load(&failed) && status != MEL_OK)
        fail_msg("%s: %s without a failing allocation", what, mel_status_name(status));
}

void test_each_allocation(const char *what, mel_status (*work)(void *context), void *context)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    each_place = getenv("MELICIT_SOAK") == NULL;
    memset(places, 0, sizeof places);
    skipped = 0;
    /* What the objects of the context note for later runs is theirs and no leak. */
    assert_int_equal(work(context), MEL_OK);
    for (long n = 0; n < 1000000; n++) {
        run_once(what, work, context);
        if (!atomic_load(&failed) && (skipped == 0 || !each_place)) {
            print_message("  %s: %ld %s\n", what, n, each_place ? "places" : "allocations");
            return;
        }
        /* All before the one that failed are known; a last run from the first on finds what that passed over.
         */
        skipped = atomic_load(&failed) ? made + 1 : 0;
    }
    fail_msg("%s: never ends", what);
}
