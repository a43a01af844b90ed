/* The problem of a study without a server: a logistic population. */
#ifndef MEL_TEST_PROBLEM_H
#define MEL_TEST_PROBLEM_H

#include "server/study.h"

/* Other problems are refused: they would need files. */
mel_status test_make_problem(mel_problem **out, const mel_study *study, mel_error *err);

/* A study with every phase; to be cut up by the tests. */
extern const char test_study_text[];

#endif
