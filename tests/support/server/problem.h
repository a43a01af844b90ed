/* A problem without the program: a logistic population of two classes. */
#ifndef MEL_TEST_PROBLEM_H
#define MEL_TEST_PROBLEM_H

#include "server/problem.h"

/* A mel_problem_maker; user is NULL or a size_t that counts how many were made. The space is
 * {"population": "made up"}; any other population is refused. */
mel_status test_make_problem(mel_problem **out, void *user, const json_t *space, mel_family family,
                             uint64_t seed, mel_error *err);

/* A study with every phase; to be cut up by the tests. */
extern const char test_study_text[];

#endif
