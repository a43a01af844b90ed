/* Random classification problems with a known origin, as a dense and as a sparse matrix at once. */
#ifndef MEL_TEST_PROBLEM_H
#define MEL_TEST_PROBLEM_H

#include "melicit/melicit.h"

typedef struct {
    size_t n_rows, n_cols, n_classes, stride;
    double *dense; /* n_rows x stride; columns from n_cols up hold a NaN that nobody may read */
    size_t *row_start;
    uint32_t *col;
    double *value;
    uint32_t *y;
    double *weight; /* uniform on [0.5, 1.5) */
    double *truth;  /* n_classes x (n_cols + 1): softmax model that drew y, intercepts last */
} test_problem;

/* Features are standard normal with probability density, else zero. Every class is present. */
void test_problem_make(test_problem *out, uint64_t seed, size_t n_rows, size_t n_cols, size_t n_classes,
                       double density);
void test_problem_clear(test_problem *problem);
mel_features test_problem_dense(const test_problem *problem);
mel_features test_problem_sparse(const test_problem *problem);

#endif
