/* What every room, the program and the server share: raising errors, checked allocation. */
#ifndef MEL_BASE_INTERNAL_H
#define MEL_BASE_INTERNAL_H

#include "base/layout.h"
#include "base/names.h"
#include "base/number_text.h"
#include "base/rng.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Fills err (unless NULL) with a code and a sentence; the code. */
MEL_PRINTF(3, 4) mel_status mel_error_put(mel_error *err, mel_status code, const char *fmt, ...);
/* Prefixes the sentence already in err, e.g. with a file name. Returns err's code, or code when err is NULL.
 */
MEL_PRINTF(3, 4) mel_status mel_error_prefix(mel_error *err, mel_status code, const char *fmt, ...);
/* What failed is not MEL_OK. Said here, as compilers and clang's analyzer see one file at a time: they then
 * know that nothing behind a checked status uses what could not be made. */
static inline mel_status mel_failure(mel_status code)
{
    return code != MEL_OK ? code : MEL_EINVAL;
}
/* The same two as failures, so that these read `return mel_fail(err, ...)`. */
#define mel_fail(...) mel_failure(mel_error_put(__VA_ARGS__))
#define mel_fail_in(...) mel_failure(mel_error_prefix(__VA_ARGS__))
static inline mel_status mel_fail_memory(mel_error *err, const char *what)
{
    (void)mel_error_put(err, MEL_ENOMEM, "not enough memory for %s", what);
    return MEL_ENOMEM;
}

/* What there has to be memory for is there: TRY(MEL_NEED(x->name = mel_strdup(name), "a name", err)); */
#define MEL_NEED(there, what, err) ((there) ? MEL_OK : mel_fail_memory(err, what))

/* Returns from the caller with the status of a call that failed: steps that can fail read as a sequence. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        const mel_status try_status = (call);                                                                \
        if (try_status != MEL_OK)                                                                            \
            return try_status;                                                                               \
    } while (0)

/* A local pointer that is freed on every way out of its block; set it to NULL to hand the object over.
 *     MEL_AUTO(mel_table) *table = NULL;     freed by mel_table_free, which MEL_CLEANUP(mel_table) declares
 *     MEL_AUTO_MEMORY double *x = NULL;      freed by free */
#define MEL_AUTO(type) __attribute__((cleanup(type##_cleanup))) type
#define MEL_CLEANUP(type)                                                                                    \
    static inline void type##_cleanup(type **object) /* NOLINT(bugprone-macro-parentheses): a type */        \
    {                                                                                                        \
        type##_free(*object);                                                                                \
    }
/* What callers of the rooms own. */
#define MEL_OWNED(type)                                                                                      \
    typedef struct type type;                                                                                \
    MEL_API void type##_free(type *);                                                                        \
    MEL_CLEANUP(type)
MEL_OWNED(mel_table)
MEL_OWNED(mel_encoder)
MEL_OWNED(mel_model)
MEL_OWNED(mel_face)
MEL_OWNED(mel_comparisons)
MEL_OWNED(mel_space)
MEL_OWNED(mel_ball)
MEL_OWNED(mel_problem)
MEL_OWNED(mel_metric)
MEL_OWNED(mel_measure)
MEL_OWNED(mel_oracle)
MEL_OWNED(mel_session)
MEL_OWNED(mel_classifier)
MEL_OWNED(mel_ranking)
MEL_OWNED(mel_outcome)
/* A local struct, zeros or filled, that mel_x_clear empties on every way out: MEL_AUTO_CLEAR(mel_labels) y.
 */
#define MEL_AUTO_CLEAR(type) __attribute__((cleanup(type##_clear))) type
#define MEL_AUTO_MEMORY __attribute__((cleanup(mel_memory_cleanup)))
static inline void mel_memory_cleanup(void *pointer)
{
    void *memory; /* copied: the pointer has another type */
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}

/* calloc/malloc for n items of the given size; NULL on overflow or when memory runs out. n == 0 gives
 * a unique pointer, so that NULL always means failure. Freed with free(). */
void *mel_alloc(size_t n, size_t size);
void *mel_alloc_zero(size_t n, size_t size);
/* *block becomes n items; on failure *block is left as it was and false is returned. */
bool mel_grow(void **block, size_t n, size_t size);
/* The same for a pointer of any type: MEL_GROW(table->row_name, n). */
#define MEL_GROW(pointer, n) mel_grow_at(&(pointer), n, sizeof *(pointer))
bool mel_grow_at(void *pointer, size_t n, size_t size);
char *mel_strdup(const char *text);

/* A local array of n zeros that is freed on every way out; the caller returns with a sentence when there is
 * no memory for `what` it is. MEL_ARRAY(double, sum, k + 1, "sums", err); */
/* NOLINTBEGIN(bugprone-macro-parentheses): a declaration */
#define MEL_ARRAY(type, name, n, what, err)                                                                  \
    MEL_AUTO_MEMORY type *name = mel_alloc_zero(n, sizeof *name);                                            \
    if (name == NULL)                                                                                        \
    return mel_fail_memory(err, what)
/* NOLINTEND(bugprone-macro-parentheses) */
/* Hands a local object over to the caller, who frees it from now on: return MEL_GIVE(out, table); for structs
 * that are cleared on every way out MEL_GIVE_STRUCT(out, labels). */
#define MEL_GIVE(out, pointer) (*(out) = (pointer), (pointer) = NULL, MEL_OK)
#define MEL_GIVE_STRUCT(out, object) (*(out) = (object), memset(&(object), 0, sizeof(object)), MEL_OK)

/* Blocks of doubles that are made, or grow, together: so many for each of these. */
typedef struct {
    size_t n;
    double **at[8]; /* those that are used come first */
} mel_part;
#define MEL_PARTS(parts) (sizeof(parts) / sizeof *(parts)), (parts)
/* One zeroed block for all, which is the first one's: *parts[0].at[0] is to be freed. False: no memory. */
bool mel_parts_new(size_t n, const mel_part *parts);
/* mel_grow for each. */
bool mel_parts_grow(size_t n, const mel_part *parts);

/* Lays the caller's options over defaults of `size` bytes: both start with struct_size, and a caller built
 * against an older header knows fewer fields. from NULL: the defaults. MEL_EINVAL, with `what` they are, when
 * they were never initialised or hold fields that this library does not know. */
mel_status mel_options_take(void *to, size_t size, const void *from, const char *what, mel_error *err);

/* Reports progress; MEL_ESTOPPED with a sentence when the caller asked to stop. */
mel_status mel_report_progress(const mel_progress *progress, const char *what, double share, mel_error *err);
/* The same from where it may be called all the time: at most every 0.05 s, by mel_clock. *last begins with 0.
 */
mel_status mel_report_now_and_then(const mel_progress *progress, double *last, const char *what, double share,
                                   mel_error *err);
/* Seconds on a clock that only goes forward. */
double mel_clock(void);

/* Number of OpenMP threads to use for an option value (0: all cores), at most 64. Results never depend on it.
 */
int mel_thread_count(int threads);

/* While held, OpenBLAS runs on the calling thread only: our own loops own the parallelism, and sums
 * have one order. Re-entrant from any thread; the outermost release restores the caller's setting. */
void mel_blas_hold(void);
void mel_blas_release(void);
/* The program's exit code; 1 for unknown statuses. */
int mel_status_exit_code(mel_status status);

/* For sentences that a program writes itself: a character of UTF-8 that was cut at the end is left out, one
 * that was cut in the middle ("%.40s") becomes a question mark. The library's own sentences are like that. */
void mel_error_mend(mel_error *err);

#endif
