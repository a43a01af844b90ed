/* melicit/base.h: status codes, error records, progress.
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

/* What a code is called, "EDATA", and a text about it, "missing or malformed input". Unknown codes give
 * "EUNKNOWN" and a sentence. */
MEL_API const char *mel_status_name(mel_status status);
MEL_API const char *mel_status_text(mel_status status);

/* Sentences in another language than English. All borrowed. */
typedef struct {
    /* The template that stands for an English one (src/base/sentences.h has their grammar); NULL: there is
     * none, and the English one stays. */
    const char *(*sentence)(const void *catalogue, const char *english);
    const void *catalogue;
    char point, group; /* of numbers: ',' and '.' for "1.234,5" */
} mel_language;

/* The version of the library: "0.3.0". */
MEL_API const char *mel_version(void);

/* Called now and then during long work with the share that is done (0 to 1). Return nonzero to
 * stop: the call then returns MEL_ESTOPPED. Never called from two threads at once. */
typedef int (*mel_progress_fn)(void *user, const char *what, double share);

typedef struct {
    mel_progress_fn call; /* NULL: silent */
    void *user;
} mel_progress;

/* --- passes over rows --------------------------------------------------------------------------- */

typedef enum {
    MEL_PASS_FACTS = 1,     /* what rows there are to train on */
    MEL_PASS_LOSS = 2,      /* a logistic regression's log-loss, gradient and curvature */
    MEL_PASS_DECISIONS = 3, /* what plug-in rules decide, by class and group */
    MEL_PASS_MOMENTS = 4    /* sums of probabilities over the rows that a rule decides */
} mel_pass_kind;
/* What is to be added up over rows, as plain numbers, so that it can be sent to where the rows are. */
typedef struct {
    mel_pass_kind kind;
    size_t n_in, n_out;
    const double *in;
} mel_pass;
/* Rows that are somewhere: algorithms ask for sums and never see a row. Not called by two threads at once. */
typedef struct {
    /* Fills n_out sums over all rows: those of several parts of them are added. */
    mel_status (*run)(double *out, const mel_pass *pass, void *user, mel_error *err);
    void *user;
} mel_row_engine;

/* A SHA-256 digest as a text: 64 lower-case digits and a NUL. */
#define MEL_DIGEST_HEX 65

#ifdef __cplusplus
}
#endif
#endif
