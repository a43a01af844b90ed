/* Metrics at points: values that must exist, and what holds for every metric. */
#ifndef MEL_TEST_METRICS_H
#define MEL_TEST_METRICS_H

#include "base/rng.h"
#include "support/test.h"

double test_value(const mel_metric *metric, const double *x);
double test_compare(const mel_metric *metric, const double *a, const double *b);
/* Uniform on [0, 1]^n. */
void test_point(mel_rng *rng, size_t n, double *x);

/* The gradient at x is what differences over h (exact to its square) say; x is the same afterwards. */
void test_check_gradient(const mel_metric *metric, double *x, double h);
/* Comparing is exactly antisymmetric and, within rounding, the difference of the values, better being more.
 */
void test_check_comparison(const mel_metric *metric, const double *a, const double *b);

#endif
