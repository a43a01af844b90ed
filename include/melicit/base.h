/* melicit/base.h: status codes, error records, progress, random numbers, digests.
 *
 * Every call that can fail returns a mel_status and, where the caller passes one, fills a mel_error
 * with a sentence that names the place and the value. The library never prints, exits or aborts. */
#ifndef MELICIT_BASE_H
#define MELICIT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MEL_API __attribute__((visibility("default")))
#define MEL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MEL_API
#define MEL_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* name, code, sentence, exit code of the program. Codes are frozen: add, never renumber. */
#define MEL_STATUS_MAP(X)                                                                                    \
    X(OK, 0, "success", 0)                                                                                   \
    X(EINVAL, -1, "invalid argument", 2)                                                                     \
    X(ENOMEM, -2, "out of memory", 1)                                                                        \
    X(EDATA, -3, "missing or malformed input", 3)                                                            \
    X(ESTATE, -4, "not allowed now", 1)                                                                      \
    X(ECONFLICT, -5, "conflicts with what is recorded", 6)                                                   \
    X(EIO, -6, "cannot write or store", 4)                                                                   \
    X(ELIMIT, -7, "larger than the limit allows", 3)                                                         \
    X(ENUMERIC, -8, "numerical failure", 1)                                                                  \
    X(ESTOPPED, -9, "stopped before the end", 5)

#define MEL_STATUS_ENUM(name, code, text, exit_code) MEL_##name = (code),
typedef enum { MEL_STATUS_MAP(MEL_STATUS_ENUM) } mel_status;
#undef MEL_STATUS_ENUM

/* What went wrong, for a person. Owned by the caller; every function accepts NULL instead. */
typedef struct {
    mel_status code;
    char text[480];
} mel_error;

/* "EDATA", "missing or malformed input", 3. Unknown codes give "EUNKNOWN", a sentence and 1. */
MEL_API const char *mel_status_name(mel_status status);
MEL_API const char *mel_status_text(mel_status status);
MEL_API int mel_status_exit_code(mel_status status);

/* For sentences that a program writes itself: a character of UTF-8 that was cut at the end is left out, one
 * that was cut in the middle ("%.40s") becomes a question mark. The library's own sentences are like that. */
MEL_API void mel_error_mend(mel_error *err);

/* "0.1.0" */
MEL_API const char *mel_version(void);

/* Called now and then during long work with the share that is done (0 to 1). Return nonzero to
 * stop: the call then returns MEL_ESTOPPED. Never called from two threads at once. */
typedef int (*mel_progress_fn)(void *user, const char *what, double share);

typedef struct {
    mel_progress_fn call; /* NULL: silent */
    void *user;
} mel_progress;

/* The candidate nearest to a misspelt word by edit distance; NULL when none is near. `candidate` gives name
 * number i or NULL beyond the last. */
MEL_API const char *mel_nearest(const char *word, const char *(*candidate)(const void *user, size_t i),
                                const void *user);

/* n copies of names, or "first", "first + 1", ... where name is NULL; NULL when memory runs out, which
 * mel_names_free accepts. */
MEL_API char **mel_names_copy(size_t n, const char *const *name, size_t first);
MEL_API void mel_names_free(char **name, size_t n);

/* "1,2.5,-3e4" as *n finite decimal numbers, to be freed. MEL_EINVAL for any other text. */
MEL_API mel_status mel_parse_numbers(double **out, size_t *n, const char *text, mel_error *err);

/* PCG64 (XSL-RR 128/64), the bit generator of NumPy's numpy.random.PCG64: the same 128-bit state
 * and increment give the same 64-bit outputs. Plain data: copy it to fork a stream. */
typedef struct {
    uint64_t state_hi, state_lo;
    uint64_t inc_hi, inc_lo;
} mel_rng;

/* The stream that numpy.random.PCG64(seed) starts (its SeedSequence expansion included). */
MEL_API void mel_rng_seed(mel_rng *rng, uint64_t seed);
/* Statistically independent stream number `stream` of the same seed: PCG64(SeedSequence([seed, stream])).
 * Stream 0 is the stream of mel_rng_seed. */
MEL_API void mel_rng_seed_stream(mel_rng *rng, uint64_t seed, uint64_t stream);
MEL_API uint64_t mel_rng_next(mel_rng *rng);
/* Uniform on [0, 1) with 53 random bits, as numpy.random.Generator.random(). */
MEL_API double mel_rng_uniform(mel_rng *rng);
/* Uniform on {0, ..., bound-1} without bias (Lemire's multiplication with rejection); bound >= 1. */
MEL_API uint64_t mel_rng_below(mel_rng *rng, uint64_t bound);
/* Standard normal by Marsaglia's polar method; the second value of each pair is discarded so that
 * the state stays the four words above. */
MEL_API double mel_rng_normal(mel_rng *rng);
/* Gamma(shape, 1), shape > 0: Marsaglia and Tsang (2000), boosted below shape 1. NaN for other shapes. */
MEL_API double mel_rng_gamma(mel_rng *rng, double shape);
/* out[0..n) ~ Dirichlet(alpha[0..n)), 0 < alpha < infinity (otherwise NaN); alpha NULL means all ones
 * (uniform on the simplex). The tiniest alpha gives a vertex, never NaN. */
MEL_API void mel_rng_dirichlet(mel_rng *rng, size_t n, const double *alpha, double *out);
/* out[0..n): uniform on the unit sphere of R^n, n >= 1. */
MEL_API void mel_rng_sphere(mel_rng *rng, size_t n, double *out);
/* Fisher-Yates on index[0..n). */
MEL_API void mel_rng_shuffle(mel_rng *rng, size_t n, size_t *index);

/* SHA-256 over a sequence of bytes; hex receives 64 lower-case digits and a NUL. */
#define MEL_DIGEST_HEX 65
MEL_API void mel_digest(const void *bytes, size_t n, char hex[MEL_DIGEST_HEX]);
/* The digest of a file's bytes as stored (a .gz is not unpacked), in fixed memory. */
MEL_API mel_status mel_digest_file(char hex[MEL_DIGEST_HEX], const char *path, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
