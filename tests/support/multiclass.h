/* What tests of elicitation with k classes share: populations, sessions to their end, the thesis' tables. */
#ifndef MEL_TEST_MULTICLASS_H
#define MEL_TEST_MULTICLASS_H

#include "support/test.h"

#include "base/rng.h"
#include "elicit/engine.h"

/* The most classes and off-diagonal entries of the tables. */
#define TEST_CLASSES 4
#define TEST_ENTRIES 12

/* The population softmax with slopes (1, 3, 5) for 3 classes, and 1, 3, 6, 10, 15, ... for any other number.
 */
mel_space *test_softmax_space(size_t n_classes, mel_statistics_kind kind, mel_coordinates coordinates);
/* An abstract ball of off-diagonal rates. */
mel_ball *test_rates_ball(size_t n_classes, double radius);
mel_metric *test_linear_metric(mel_family family, const mel_layout *layout, const double *a);
mel_metric *test_fractional_metric(mel_family family, const mel_layout *layout, const double *a,
                                   const double *b, double b0);
/* What people get by default, without an end before so many questions. */
mel_session_options test_person_options(mel_family family, uint32_t questions);
/* A hidden metric of the family, uniform on the unit vectors that its prior allows, all rows of which are
 * signs. */
mel_metric *test_draw_metric(mel_rng *rng, const mel_domain *domain, const mel_session_options *opt);
/* The metric that a fresh session finds by asking one that answers by `truth`; the caller frees it. */
mel_metric *test_find(mel_summary *summary, const mel_domain *domain, const mel_session_options *opt,
                      const mel_metric *truth, mel_noise noise, uint64_t seed);
/* Checks that each coefficient found has an interval, and that the true one, a[0] to a[n-1], lies in it. */
void test_intervals_hold(size_t n, const double *a, const mel_metric *found);
/* A session to its end and its result, for tests of failing allocations: nothing is left of either. */
mel_status test_try_session(const mel_domain *domain, const mel_session_options *opt, mel_oracle *oracle);
/* Many searches on one domain: the engine, and with it the faces that it makes, is made once (and freed with
 * mel_engine_ops.free); every call forgets the answers before. Checks that the number of questions to come is
 * foretold exactly. */
mel_engine *test_search_engine(const mel_domain *domain, const mel_session_options *opt);
mel_metric *test_search(mel_summary *summary, mel_engine *engine, const mel_layout *layout,
                        mel_oracle *oracle);
mel_metric *test_search_exact(mel_summary *summary, mel_engine *engine, const mel_metric *truth);
/* Options of the thesis' experiments: search, tolerance 0.01, no limit on questions. */
mel_session_options test_search_options(mel_family family);

/* n random achievable points (n x size): mixtures of rules that are best in random directions; of a ball:
 * uniform in it. For the caller to free. */
double *test_space_points(const mel_space *space, size_t n, uint64_t seed);
double *test_ball_points(const mel_ball *ball, size_t n, uint64_t seed);
/* Share of the n / 2 pairs of neighbours in points that both metrics order alike. */
double test_order_agreement(size_t n, size_t size, const double *points, const mel_metric *one,
                            const mel_metric *other);
/* Mean and standard deviation of found / truth over the points. */
void test_value_ratio(double *mean, double *deviation, size_t n, size_t size, const double *points,
                      const mel_metric *found, const mel_metric *truth);
/* How a search that never errs does on a metric: by the n points, and its questions. */
typedef struct {
    double agreement, alpha, sigma;
    uint32_t questions;
} test_likeness;
test_likeness test_compare_search(mel_engine *engine, const mel_metric *truth, size_t n,
                                  const double *points);
double test_max_error(size_t n, const double *x, const double *y);
double test_l2_error(size_t n, const double *x, const double *y);

/* Tables of the thesis' appendix B. */
typedef struct {
    size_t n_classes;
    double truth[TEST_ENTRIES], thesis[TEST_ENTRIES];
} test_linear_row;
typedef struct {
    size_t n_classes;
    double a[TEST_ENTRIES], b[TEST_ENTRIES], b0;
    double thesis_a[TEST_ENTRIES];
    double alpha, sigma; /* mean and standard deviation of the elicited over the true metric */
} test_fraction_row;
#define TEST_DLPM_ROWS 16
#define TEST_LPM_ROWS 10
#define TEST_DLFPM_ROWS 6
#define TEST_LFPM_ROWS 3
extern const test_linear_row test_dlpm_table[TEST_DLPM_ROWS], test_lpm_table[TEST_LPM_ROWS];
extern const test_fraction_row test_dlfpm_table[TEST_DLFPM_ROWS], test_lfpm_table[TEST_LFPM_ROWS];

#endif
