/* What tests of fair metrics share: random metrics, balls with groups that differ. */
#ifndef MEL_TEST_FAIR_H
#define MEL_TEST_FAIR_H

#include "base/rng.h"
#include "support/test.h"

/* Classes and groups of a fair metric of off-diagonal rates. */
typedef struct {
    size_t k, m;
    bool quadratic;
} test_fair_kind;
size_t test_fair_rates(test_fair_kind kind);        /* of one group: k(k-1) */
size_t test_fair_block(test_fair_kind kind);        /* numbers of one pair of groups */
size_t test_fair_coefficients(test_fair_kind kind); /* a, all pairs, lambda */
mel_layout test_fair_layout(test_fair_kind kind);

/* P(G = g | Y = i), m x k, none below a quarter of the even share. */
void test_fair_prevalence(double *prevalence, test_fair_kind kind, mel_rng *rng);
/* The largest ball of such rates, but no larger than 0.2. */
mel_ball *test_fair_ball(test_fair_kind kind, const double *prevalence);
/* Normalised coefficients in file order: non-negative a and b, positive semidefinite B of full rank. */
void test_fair_draw(double *coefficients, test_fair_kind kind, double lambda, mel_rng *rng);
/* Makes pairs of groups alike, and B diagonal, where that is known; normalised again. */
void test_fair_simplify(double *truth, test_fair_kind kind, const mel_session_options *is);
mel_metric *test_fair_metric(test_fair_kind kind, const double *coefficients, const double *prevalence);

/* l2 errors of a, of all b or B together, and of lambda. */
typedef struct {
    double a, b, lambda;
} test_fair_errors;
test_fair_errors test_fair_compare(test_fair_kind kind, const double *found, const double *truth);

#endif
