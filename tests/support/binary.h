/* What tests of binary elicitation share: simulated respondents and runs to the end. */
#ifndef MEL_TEST_BINARY_H
#define MEL_TEST_BINARY_H

#include "support/test.h"

/* A linear metric (cos angle, sin angle) as an oracle with this noise. */
mel_oracle *test_linear_oracle(double angle, mel_noise noise, uint64_t seed);
mel_oracle *test_oracle(const mel_metric *metric, mel_noise noise, uint64_t seed);
/* p = (p11, p00), q = (q11, q00, q0). */
mel_metric *test_fractional(const double p[2], const double q[3]);
/* The elicited metric of a fresh session on the face, asked of the oracle; the caller frees it. */
mel_metric *test_elicit(mel_summary *summary, const mel_face *face, const mel_session_options *opt,
                        mel_oracle *oracle);
/* Largest coordinate difference of (cos, sin) at the two angles. */
double test_linf(double angle, double other);
/* Share of n random pairs of points of the face that both metrics order alike. */
double test_agreement(const mel_face *face, const mel_metric *one, const mel_metric *other, size_t n,
                      uint64_t seed);
/* The population logistic:a,b. */
mel_face *test_logistic_face(double a, double b);
/* The six linear-fractional metrics of the thesis' table 3.2: p11, p00; q11, q00, q0. */
#define TEST_FRACTIONAL_ROWS 6
extern const struct test_fractional_row {
    double p[2], q[3];
} test_fractional_table[TEST_FRACTIONAL_ROWS];
/* The point with slope number i of n on the upper boundary, its value, and the number of the best one. */
double test_value_on_boundary(const mel_face *face, const mel_metric *metric, size_t i, size_t n);
size_t test_argmax_on_boundary(const mel_face *face, const mel_metric *metric, size_t n);
/* Class probabilities of the held-out half of a data set by logistic regression, penalty l2, on the other
 * half. */
typedef struct {
    size_t n_rows, n_classes;
    double *probability;
    uint32_t *label;
} test_probabilities;
void test_probabilities_of(test_probabilities *out, const char *name, double l2, uint64_t seed);
void test_probabilities_clear(test_probabilities *p);
/* A face from such probabilities of two classes. */
mel_face *test_data_face(const char *name, double l2, uint64_t seed);

#endif
