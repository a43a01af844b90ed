/* What every test program includes: cmocka, comparisons of doubles, temporary files, data sets. */
#include "support/test.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The program that the library is part of may have chosen a locale (tests/system/test_locale.py). */
__attribute__((constructor)) static void choose_locale(void)
{
    const char *name = getenv("MELICIT_TEST_LOCALE");
    if (name != NULL && setlocale(LC_NUMERIC, name) == NULL)
        abort();
}

void test_close(double got, double want, double tolerance, const char *what, const char *file, int line)
{
    if (fabs(got - want) <= tolerance || got == want)
        return;
    print_error("%s: got %.17g, want %.17g within %g\n", what, got, want, tolerance);
    _fail(file, line);
}

void test_ok(mel_status status, const mel_error *err, const char *what, const char *file, int line)
{
    if (status == MEL_OK)
        return;
    print_error("%s: %s: %s\n", what, mel_status_name(status), err != NULL ? err->text : "");
    _fail(file, line);
}

enum { MAX_PATHS = 4096, PATH_BYTES = 512 };
static char folder[PATH_BYTES / 2];
static char *paths[MAX_PATHS];
static size_t n_paths;

const char *test_path(const char *name)
{
    if (folder[0] == '\0') {
        const char *tmp = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/melicit-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
        if (mkdtemp(folder) == NULL || n_paths == MAX_PATHS)
            abort();
    }
    for (size_t i = 0; i < n_paths; i++)
        if (strcmp(strrchr(paths[i], '/') + 1, name) == 0)
            return paths[i];
    char *path = malloc(PATH_BYTES);
    if (path == NULL || n_paths == MAX_PATHS)
        abort();
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    paths[n_paths++] = path;
    return path;
}

const char *test_file(const char *name, const void *bytes, size_t n)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        abort();
    return path;
}

void test_cleanup(void)
{
    for (size_t i = 0; i < n_paths; i++) {
        (void)unlink(paths[i]);
        free(paths[i]);
    }
    n_paths = 0;
    if (folder[0] != '\0')
        (void)rmdir(folder);
    folder[0] = '\0';
}

int test_teardown(void **state)
{
    (void)state;
    test_cleanup();
    return 0;
}

size_t test_repeats(size_t full, size_t quick, size_t sanitized)
{
    const bool soak = getenv("MELICIT_SOAK") != NULL;
#ifdef __SANITIZE_ADDRESS__
    (void)full;
    return soak ? quick : sanitized;
#else
    (void)sanitized;
    return soak ? full : quick;
#endif
}

const char *test_data(const char *name)
{
    static char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/data/%s", MEL_TEST_SOURCE, name);
    if (access(path, R_OK) != 0)
        fail_msg("%s is not in data/", name);
    return path;
}

static double seconds_now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : NAN;
}

static mel_status one_question(mel_session *session, mel_oracle *oracle, const mel_question *question,
                               mel_error *err)
{
    mel_reply reply;
    const double start = seconds_now();
    const mel_status status = mel_oracle_ask(&reply, oracle, question, err);
    if (status != MEL_OK)
        return status;
    if (reply == MEL_REPLY_QUIT)
        return MEL_ESTOPPED;
    if (reply == MEL_REPLY_UNDO)
        return mel_session_answers(session) > 0 ? mel_session_undo(session, err) : MEL_OK;
    return mel_session_tell(session, question->number, (mel_answer)reply, seconds_now() - start, err);
}

mel_status mel_session_run(mel_session *session, mel_oracle *oracle, mel_error *err)
{
    for (;;) {
        const mel_question *question = NULL;
        bool done = false;
        mel_status status = mel_session_ask(&question, &done, session, err);
        if (status != MEL_OK || done)
            return status;
        status = one_question(session, oracle, question, err);
        if (status != MEL_OK)
            return status;
    }
}
