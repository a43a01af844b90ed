/* What every test program includes: cmocka, comparisons of doubles, temporary files, data sets. */
#ifndef MEL_TEST_H
#define MEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "melicit/melicit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* cmocka's assert_float_equal casts to float; these compare doubles and print both with the place. */
#define assert_close(got, want, tolerance) test_close((got), (want), (tolerance), #got, __FILE__, __LINE__)
void test_close(double got, double want, double tolerance, const char *what, const char *file, int line);

/* Fails with the sentence of err unless status is MEL_OK. */
#define assert_ok(status, err) test_ok((status), (err), #status, __FILE__, __LINE__)
void test_ok(mel_status status, const mel_error *err, const char *what, const char *file, int line);

/* A file of the given bytes in a fresh temporary folder; the path is lent until test_cleanup(),
 * which removes every such file. */
const char *test_file(const char *name, const void *bytes, size_t n);
const char *test_path(const char *name); /* a path for output in the same folder */
void test_cleanup(void);
int test_teardown(void **state); /* the same, as cmocka calls it */

/* Path of a bundled data set by file name; fails the test when it is absent. Lent until the next call. */
const char *test_data(const char *name);

/* How often to repeat what is random: `full` times in make soak, `quick` times in make test. Under
 * sanitizers, where the memory is what is tested, `quick` times in make soak and `sanitized` times in make
 * test. */
size_t test_repeats(size_t full, size_t quick, size_t sanitized);

/* Asks the oracle until done, or until it quits (MEL_ESTOPPED). */
mel_status mel_session_run(mel_session *session, mel_oracle *oracle, mel_error *err);

#endif
