/* Quadratic, polynomial and fair metrics: values by hand, parts, scale, ratios, files, refusals. */
#include "metric/shared.h"
#include "support/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mel_layout two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
static const mel_layout three = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
static const mel_layout fair = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
static const mel_layout fair3 = { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 };

static void test_quadratic(void **state)
{
    (void)state;
    const double a[] = { 1, 2 }, b[] = { 4, 6, 6, 8 }, x[] = { 0.5, 0.25 }, y[] = { 0, 1 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_quadratic(&metric, &two, NULL, MEL_COST, a, b, &err), &err);
    assert_int_equal(mel_metric_family(metric), MEL_FAMILY_QUADRATIC);
    assert_int_equal(mel_metric_degree(metric), 2);
    assert_int_equal(mel_metric_coefficients(metric), 6);
    assert_memory_equal(mel_metric_tensor(metric, 1), a, sizeof a);
    assert_memory_equal(mel_metric_numerator(metric, NULL), a, sizeof a);
    assert_memory_equal(mel_metric_tensor(metric, 2), b, sizeof b);
    assert_null(mel_metric_tensor(metric, 3));
    assert_null(mel_metric_tensor(metric, 0));
    assert_null(mel_metric_denominator(metric, NULL));
    assert_null(mel_metric_pair(metric, 0, 1));
    assert_null(mel_metric_prevalence(metric));
    assert_true(isnan(mel_metric_lambda(metric)));
    /* 0.5 + 0.5 + (4/4 + 2*6/8 + 8/16)/2 = 2.5; at y: 2 + 8/2 = 6 */
    assert_close(test_value(metric, x), 2.5, 0);
    assert_close(test_value(metric, y), 6, 0);
    assert_close(test_compare(metric, x, y), 3.5, 0); /* cheaper is better */
    assert_close(test_compare(metric, y, x), -3.5, 0);
    double slope[2];
    assert_ok(mel_metric_gradient(slope, metric, x, &err), &err);
    assert_close(slope[0], 1 + 4 * 0.5 + 6 * 0.25, 0);
    assert_close(slope[1], 2 + 6 * 0.5 + 8 * 0.25, 0);
    mel_metric_free(metric);
}

/* C[x,x,x]/6 of the tensor x1 x2 x3 (all six permutations 1) is x1 x2 x3; one of degree four alike. */
static void test_polynomial(void **state)
{
    (void)state;
    enum { N = 6 };
    double a[N] = { 0 }, b[N * N] = { 0 }, c[N * N * N] = { 0 }, d[N * N * N * N] = { 0 };
    static const size_t order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (size_t i = 0; i < COUNT(order); i++)
        c[(order[i][0] * N + order[i][1]) * N + order[i][2]] = 1;
    d[((4 * N + 4) * N + 4) * N + 4] = 24; /* x5^4 */
    a[3] = 1;
    const double *const tensor[] = { a, b, c, d };
    const double x[N] = { 0.5, 0.25, 0.125, 0.75, 0.5, 1 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_polynomial(&metric, 3, &three, NULL, MEL_COST, tensor, &err), &err);
    assert_int_equal(mel_metric_coefficients(metric), 6 + 36 + 216);
    assert_close(test_value(metric, x), 0.75 + 0.5 * 0.25 * 0.125, 1e-15);
    assert_memory_equal(mel_metric_tensor(metric, 3), c, sizeof c);
    mel_metric_free(metric);
    assert_ok(mel_metric_polynomial(&metric, 4, &three, NULL, MEL_UTILITY, tensor, &err), &err);
    assert_int_equal(mel_metric_degree(metric), 4);
    assert_close(test_value(metric, x), 0.75 + 0.5 * 0.25 * 0.125 + 0.0625, 1e-15);
    double slope[N];
    const double want[N] = { 0.25 * 0.125, 0.5 * 0.125, 0.5 * 0.25, 1, 4 * 0.125, 0 };
    assert_ok(mel_metric_gradient(slope, metric, x, &err), &err);
    for (size_t i = 0; i < N; i++)
        assert_close(slope[i], want[i], 1e-15);
    mel_metric_free(metric);
}

/* Hand-made: k = 2, m = 2; a = (3, 4), group 1 is 1/4 of class 1 and 3/4 of class 2. */
static void test_fair(void **state)
{
    (void)state;
    static const char *const groups[] = { "men", "women" };
    const double a[] = { 3, 4 }, b[] = { 2, 5 }, prevalence[] = { 0.25, 0.75, 0.75, 0.25 };
    const double x[] = { 0.5, 0.25, 0.25, 0.75 }; /* rates of group 1, of group 2 */
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_fair_linear(&metric, &fair, NULL, groups, a, b, 0.25, prevalence, &err), &err);
    assert_int_equal(mel_metric_orientation(metric), MEL_COST);
    assert_string_equal(mel_metric_group_name(metric, 1), "women");
    assert_int_equal(mel_metric_coefficients(metric), 5);
    assert_memory_equal(mel_metric_pair(metric, 0, 1), b, sizeof b);
    assert_null(mel_metric_pair(metric, 1, 0));
    assert_null(mel_metric_pair(metric, 0, 2));
    assert_memory_equal(mel_metric_prevalence(metric), prevalence, sizeof prevalence);
    assert_close(mel_metric_lambda(metric), 0.25, 0);
    /* r = (0.25*0.5 + 0.75*0.25, 0.75*0.25 + 0.25*0.75) = (0.3125, 0.375) */
    const double mistakes = 3 * 0.3125 + 4 * 0.375;
    assert_close(test_value(metric, x), 0.75 * mistakes + 0.25 * (2 * 0.25 + 5 * 0.5), 1e-15);
    double slope[4];
    assert_ok(mel_metric_gradient(slope, metric, x, &err), &err);
    const double want[] = { 0.75 * 3 * 0.25 + 0.25 * 2, 0.75 * 4 * 0.75 - 0.25 * 5,
                            0.75 * 3 * 0.75 - 0.25 * 2, 0.75 * 4 * 0.25 + 0.25 * 5 };
    for (size_t i = 0; i < COUNT(want); i++)
        assert_close(slope[i], want[i], 1e-15);
    /* On the kink the subgradient of the gaps is zero. */
    const double level[] = { 0.5, 0.25, 0.5, 0.25 };
    assert_ok(mel_metric_gradient(slope, metric, level, &err), &err);
    assert_close(slope[0], 0.75 * 3 * 0.25, 1e-15);
    mel_metric_free(metric);

    const double square[] = { 2, 1, 1, 4 };
    assert_ok(mel_metric_fair_quadratic(&metric, &fair, NULL, NULL, a, square, 0.25, prevalence, &err), &err);
    assert_string_equal(mel_metric_group_name(metric, 1), "2");
    /* gap (0.25, -0.5): (2/16 - 2*0.125 + 4/4)/2 */
    assert_close(test_value(metric, x), 0.75 * mistakes + 0.25 * 0.5 * (0.125 - 0.25 + 1), 1e-15);
    mel_metric_free(metric);
}

/* True classes of coordinates decide which prevalence counts, in every kind of coordinates. */
static void test_fair_coordinates(void **state)
{
    (void)state;
    static const struct {
        mel_layout layout;
        size_t coordinate, true_class;
    } rows[] = {
        { { MEL_RATES, MEL_BINARY, 2, 2 }, 0, 1 },      { { MEL_RATES, MEL_BINARY, 2, 2 }, 1, 0 },
        { { MEL_RATES, MEL_DIAGONAL, 3, 2 }, 2, 2 },    { { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 }, 1, 0 },
        { { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 }, 2, 1 }, { { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 }, 5, 2 },
    };
    const double p[] = { 0.1, 0.2, 0.3, 0.9, 0.8, 0.7 }, p2[] = { 0.1, 0.2, 0.9, 0.8 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double *shares = rows[i].layout.n_classes == 2 ? p2 : p;
        double a[6] = { 0 }, x[12] = { 0 };
        const double zero[6] = { 0 };
        a[rows[i].coordinate] = 1;
        x[rows[i].coordinate] = 1; /* in group 1 */
        mel_metric *metric = NULL;
        mel_error err = { 0 };
        assert_ok(mel_metric_fair_linear(&metric, &rows[i].layout, NULL, NULL, a, zero, 0, shares, &err),
                  &err);
        assert_close(test_value(metric, x), shares[rows[i].true_class], 0);
        mel_metric_free(metric);
    }
}

static void test_pairs(void **state)
{
    (void)state;
    for (size_t m = 0; m < 12; m++) {
        size_t next = 0;
        for (size_t u = 0; u < m; u++)
            for (size_t v = u + 1; v < m; v++)
                assert_int_equal(mel_group_pair(m, u, v), next++);
        assert_int_equal(mel_group_pairs(m), next);
    }
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void test_scale(void **state)
{
    (void)state;
    const double a[] = { 3, 4 }, b[] = { 0, 12, 12, 0 }, even[] = { 0.5, 0.5, 0.25, 0.25, 0.25, 0.25 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_quadratic(&metric, &two, NULL, MEL_COST, a, b, &err), &err);
    assert_ok(mel_metric_set_intervals(metric, (double[]){ 2, 3, 0, 11, 11, 0 },
                                       (double[]){ 4, 5, 0, 13, 13, 0 }, &err),
              &err);
    assert_ok(mel_metric_normalise(metric, &err), &err);
    const double size = sqrt(25 + 288);
    double low = 0, high = 0;
    assert_close(mel_metric_tensor(metric, 1)[0], 3 / size, 1e-15);
    assert_close(mel_metric_tensor(metric, 2)[1], 12 / size, 1e-15);
    assert_true(mel_metric_interval(metric, 3, &low, &high));
    assert_close(low, 11 / size, 1e-15);
    assert_close(high, 13 / size, 1e-15);
    mel_metric_free(metric);

    /* Fair: norms 5 and 13, lambda = 0.5 becomes 13/18; the value is divided by (5 + 13)/2. */
    const double gaps[] = { 5, 0, 0, 5, 0, 3 }, x[] = { 0.5, 0.25, 0.125, 1, 0, 0.75 };
    assert_ok(mel_metric_fair_linear(&metric, &fair3, NULL, NULL, a, gaps, 0.5, even, &err), &err);
    assert_ok(mel_metric_set_intervals(metric, (double[]){ 3, 4, 4, 0, 0, 5, 0, 3, 0.25 },
                                       (double[]){ 3, 4, 6, 0, 0, 5, 0, 3, 0.75 }, &err),
              &err);
    const double before = test_value(metric, x);
    assert_ok(mel_metric_normalise(metric, &err), &err);
    assert_close(norm(mel_metric_tensor(metric, 1), 2), 1, 1e-15);
    assert_close(mel_metric_pair(metric, 0, 1)[0], 5.0 / 13, 1e-15);
    assert_close(mel_metric_lambda(metric), 13.0 / 18, 1e-15);
    assert_close(test_value(metric, x), before / 9, 1e-15);
    assert_true(mel_metric_interval(metric, 8, &low, &high));
    assert_close(low, 0.25 * 13 / (0.75 * 5 + 0.25 * 13), 1e-15);
    assert_close(high, 0.75 * 13 / (0.25 * 5 + 0.75 * 13), 1e-15);
    assert_true(mel_metric_interval(metric, 2, &low, &high));
    assert_close(high, 6.0 / 13, 1e-15);
    mel_metric_free(metric);

    /* Fair quadratic: half the sum of the Frobenius norms is 1, as in Definition 6.2. */
    const double squares[] = { 3, 0, 0, 4, 0, 0, 0, 0, 0, 1, 1, 0 };
    assert_ok(mel_metric_fair_quadratic(&metric, &fair3, NULL, NULL, a, squares, 0.5, even, &err), &err);
    assert_ok(mel_metric_normalise(metric, &err), &err);
    assert_close((norm(mel_metric_pair(metric, 0, 1), 4) + norm(mel_metric_pair(metric, 1, 2), 4)) / 2, 1,
                 1e-15);
    mel_metric_free(metric);
}

static void test_degenerate_scale(void **state)
{
    (void)state;
    const double even[] = { 0.5, 0.5, 0.5, 0.5 };
    static const struct {
        const char *what;
        double a[2], b[2], lambda;
        mel_status status;
        double want;
    } rows[] = {
        { "no gaps", { 3, 4 }, { 0, 0 }, 0.5, MEL_OK, 0 },
        { "no mistakes", { 0, 0 }, { 1, 2 }, 0.5, MEL_OK, 1 },
        { "lambda 0", { 3, 4 }, { 1, 2 }, 0, MEL_OK, 0 },
        { "lambda 1", { 3, 4 }, { 1, 2 }, 1, MEL_OK, 1 },
        { "nothing that counts", { 0, 0 }, { 1, 2 }, 0, MEL_ENUMERIC, 0 },
        { "nothing", { 0, 0 }, { 0, 0 }, 0.5, MEL_ENUMERIC, 0.5 },
        { "too large", { 1.7e308, 1.7e308 }, { 1, 2 }, 0.5, MEL_ENUMERIC, 0.5 },
        { "too small", { 5e-324, 0 }, { 1, 2 }, 0.5, MEL_OK, 1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        mel_metric *metric = NULL;
        mel_error err = { 0 };
        assert_ok(mel_metric_fair_linear(&metric, &fair, NULL, NULL, rows[i].a, rows[i].b, rows[i].lambda,
                                         even, &err),
                  &err);
        assert_int_equal(mel_metric_normalise(metric, &err), rows[i].status);
        assert_close(mel_metric_lambda(metric), rows[i].want, 1e-300);
        if (rows[i].status != MEL_OK) { /* nothing changed */
            assert_memory_equal(mel_metric_tensor(metric, 1), rows[i].a, sizeof rows[i].a);
            assert_memory_equal(mel_metric_pair(metric, 0, 1), rows[i].b, sizeof rows[i].b);
        }
        mel_metric_free(metric);
    }
}

static void test_weight_ratio(void **state)
{
    (void)state;
    const double a[] = { 1, 2, 0, 0, 5, -6 }, b[36] = { 0 }, even[] = { 0.5, 0.5, 0.5, 0.5 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    mel_cost_ratio ratio = { 0 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &three, NULL, MEL_COST, a, &err), &err);
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 4, 1, &err), &err);
    assert_close(ratio.ratio, 2.5, 0);
    assert_true(isnan(ratio.low) && isnan(ratio.high));
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 5, 1, &err), &err);
    assert_close(ratio.ratio, -3, 0);
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 0, 2, &err), &err);
    assert_true(ratio.ratio == (double)INFINITY);
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 5, 2, &err), &err);
    assert_true(ratio.ratio == -(double)INFINITY);
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 4, 4, &err), &err);
    assert_true(ratio.ratio == 1 && ratio.low == 1 && ratio.high == 1);
    const double low[] = { 1, 1, 0, 0, 4, -7 }, high[] = { 1, 2.5, 0, 0, 6, -5 };
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 4, 1, &err), &err);
    assert_close(ratio.low, 4 / 2.5, 1e-15);
    assert_close(ratio.high, 6, 1e-15);
    assert_int_equal(mel_metric_weight_ratio(&ratio, metric, 2, 3, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "statistics 3 and 4 are both zero"));
    assert_int_equal(mel_metric_weight_ratio(&ratio, metric, 0, 6, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "statistic 7 of 6"));
    mel_metric_free(metric);
    assert_ok(mel_metric_quadratic(&metric, &three, NULL, MEL_COST, a, b, &err), &err);
    assert_int_equal(mel_metric_weight_ratio(&ratio, metric, 0, 1, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "depends on the classifier"));
    mel_metric_free(metric);
    assert_ok(mel_metric_fair_linear(&metric, &fair, NULL, NULL, a, b, 0.5, even, &err), &err);
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 1, 0, &err), &err);
    assert_close(ratio.ratio, 2, 0);
    assert_int_equal(mel_metric_weight_ratio(&ratio, metric, 1, 2, &err), MEL_EINVAL);
    mel_metric_free(metric);
}

static void test_text(void **state)
{
    (void)state;
    const double a[] = { 1, 2 }, b[] = { 3, 4, 5, 6, 7, 8 }, square[] = { 1, 2, 2, 3 };
    const double c[] = { 1, 2, 2, 3, 2, 3, 3, 4 }, shares[] = { 0.5, 0.25, 0.25, 0.5, 0.25, 0.25 };
    mel_metric *metric = NULL;
    char *text = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_polynomial(&metric, 3, &two, NULL, MEL_COST, (const double *const[]){ a, square, c },
                                    &err),
              &err);
    assert_ok(mel_metric_to_json(&text, metric, &err), &err);
    assert_non_null(strstr(text, "\"family\": \"polynomial:3\""));
    assert_non_null(strstr(text, "\"coefficients\": {\"a\": [1, 2], \"B\": [[1, 2], [2, 3]], "
                                 "\"C\": [[[1, 2], [2, 3]], [[2, 3], [3, 4]]]}"));
    free(text);
    mel_metric_free(metric);
    assert_ok(mel_metric_fair_linear(&metric, &fair3, NULL, NULL, a, b, 0.25, shares, &err), &err);
    const double low[9] = { 0 }, high[] = { 1, 2, 3, 4, 5, 6, 7, 8, 0.5 };
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    assert_ok(mel_metric_to_json(&text, metric, &err), &err);
    assert_non_null(strstr(text, "\"orientation\": \"cost\""));
    assert_non_null(
        strstr(text, "\"coefficients\": {\"a\": [1, 2], \"b\": {\"1-2\": [3, 4], \"1-3\": [5, 6], \"2-3\": "
                     "[7, 8]}, \"lambda\": 0.25, \"prevalence\": [[0.5, 0.25], [0.25, 0.5], [0.25, 0.25]]}"));
    assert_non_null(
        strstr(text, "\"intervals\": {\"a\": [[0, 1], [0, 2]], \"b\": {\"1-2\": [[0, 3], [0, 4]], \"1-3\": "
                     "[[0, 5], [0, 6]], \"2-3\": [[0, 7], [0, 8]]}, \"lambda\": [0, 0.5]}"));
    free(text);
    mel_metric_free(metric);
}

static void test_refusals(void **state)
{
    (void)state;
    const double a[] = { 1, 2 }, lopsided[] = { 1, 2, 2.1, 1 }, nearly[] = { 1, 2, 2 + 1e-10, 1 };
    const double good[] = { 1, 2, 2, 1 }, broken[] = { 1, 2, 2, (double)INFINITY },
                 even[] = { 0.5, 0.5, 0.5, 0.5 };
    const double negative[] = { -0.5, 0.5, 1.5, 0.5 }, short_of[] = { 0.5, 0.5, 0.5, 0.25 };
    const mel_layout confusion = { MEL_CONFUSION, MEL_OFFDIAGONAL, 2, 2 },
                     huge = { MEL_RATES, MEL_OFFDIAGONAL, 300, 2 };
    mel_error err = { 0 };
    mel_metric *metric = (mel_metric *)&err; /* must become NULL */
    assert_int_equal(mel_metric_quadratic(&metric, &two, NULL, MEL_COST, a, lopsided, &err), MEL_EINVAL);
    assert_string_equal(err.text, "B[1][0] is 2.1, but B[0][1] is 2: not symmetric");
    assert_null(metric);
    assert_int_equal(mel_metric_quadratic(&metric, &two, NULL, MEL_COST, a, broken, &err), MEL_EINVAL);
    assert_string_equal(err.text, "coefficient 6 of a quadratic metric is inf");
    assert_ok(mel_metric_quadratic(&metric, &two, NULL, MEL_COST, a, nearly, &err), &err);
    assert_true(mel_metric_tensor(metric, 2)[2] == 2.0); /* levelled */
    mel_metric_free(metric);
    const double *const tensor[] = { a, good };
    assert_int_equal(mel_metric_polynomial(&metric, 10, &two, NULL, MEL_COST, tensor, &err), MEL_EINVAL);
    assert_string_equal(err.text, "polynomial: degree 10, expected 2 to 9");
    assert_int_equal(mel_metric_polynomial(&metric, 1, &two, NULL, MEL_COST, tensor, &err), MEL_EINVAL);
    assert_int_equal(mel_metric_quadratic(&metric, &huge, NULL, MEL_COST, a, good, &err), MEL_ELIMIT);
    assert_int_equal(mel_metric_fair_quadratic(&metric, &huge, NULL, NULL, a, good, 0.5, even, &err),
                     MEL_ELIMIT);
    static const struct {
        const char *what;
        const mel_layout *layout;
        double lambda;
        const char *says;
    } rows[] = {
        { "lambda", &fair, -0.5, "lambda is -0.5" },
        { "lambda above", &fair, 1.01, "lambda is 1.01" },
        { "no lambda", &fair, (double)NAN, "coefficient 5 of a fair-linear metric is" },
        { "no groups", &two, 0.5, "two groups at least" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        assert_int_equal(
            mel_metric_fair_linear(&metric, rows[i].layout, NULL, NULL, a, a, rows[i].lambda, even, &err),
            MEL_EINVAL);
        assert_null(metric);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
    assert_int_equal(mel_metric_fair_linear(&metric, &confusion, NULL, NULL, a, a, 0.5, even, &err),
                     MEL_EINVAL);
    assert_non_null(strstr(err.text, "needs rates"));
    assert_int_equal(mel_metric_fair_linear(&metric, &fair, NULL, NULL, a, a, 0.5, negative, &err),
                     MEL_EINVAL);
    assert_string_equal(err.text, "prevalence[0][0] is -0.5, not from 0 to 1");
    assert_int_equal(mel_metric_fair_linear(&metric, &fair, NULL, NULL, a, a, 0.5, short_of, &err),
                     MEL_EINVAL);
    assert_string_equal(err.text, "prevalence: the shares of class 2 over the groups sum to 0.75, not 1");
    assert_int_equal(mel_metric_fair_quadratic(&metric, &fair, NULL, NULL, a, lopsided, 0.5, even, &err),
                     MEL_EINVAL);
    assert_string_equal(err.text, "B.1-2[1][0] is 2.1, but B.1-2[0][1] is 2: not symmetric");
    assert_null(metric);
}

static void test_overflow_is_refused(void **state)
{
    (void)state;
    const double a[] = { 1, 1 }, b[] = { 1e308, 1e308, 1e308, 1e308 }, x[] = { 2, 2 }, zero[] = { 0, 0 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    double out = 7, slope[2];
    assert_ok(mel_metric_quadratic(&metric, &two, NULL, MEL_COST, a, b, &err), &err);
    assert_int_equal(mel_metric_value(&out, metric, x, &err), MEL_ENUMERIC);
    assert_int_equal(mel_metric_compare(&out, metric, x, zero, &err), MEL_ENUMERIC);
    assert_int_equal(mel_metric_gradient(slope, metric, x, &err), MEL_ENUMERIC);
    assert_true(out == 7);
    const double nothing[] = { (double)NAN, 0 };
    assert_int_equal(mel_metric_value(&out, metric, nothing, &err), MEL_ENUMERIC);
    mel_metric_free(metric);
}

/* The statistics of the new order, taken out of those of the old one. */
static void reorder_statistics(double *out, const double *in, const mel_layout *layout, const size_t *class,
                               const size_t *group)
{
    const size_t k = layout->n_classes == 2 ? 2 : 3, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t q = mel_layout_size(layout) / m;
    for (size_t g = 0; g < m; g++) {
        const double *from = in + (group != NULL ? group[g] : g) * q;
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) {
                if (layout->coordinates == MEL_DIAGONAL && i == j)
                    out[g * q + i] = from[class[i]];
                if (layout->coordinates == MEL_BINARY && i == j)
                    out[g * q + 1 - i] = from[1 - class[i]];
                if (layout->coordinates == MEL_OFFDIAGONAL && i != j)
                    out[g * q + i * (k - 1) + j - (j > i)] =
                        from[class[i] * (k - 1) + class[j] - (class[j] > class[i])];
            }
    }
}

/* A metric with classes and groups in another order has the same values, intervals and way back. */
static void check_order(mel_metric *metric)
{
    static const size_t two_classes[3] = { 1, 0 }, three_classes[] = { 2, 0, 1 }, back[] = { 1, 2, 0 };
    static const size_t two_groups[] = { 1, 0 }, three_groups[] = { 2, 0, 1 };
    const mel_layout *layout = mel_metric_layout(metric);
    const size_t n = mel_metric_coefficients(metric), size = mel_layout_size(layout);
    const size_t *class = layout->n_classes == 2 ? two_classes : three_classes;
    const size_t *group = layout->n_groups == 2 ? two_groups : layout->n_groups == 3 ? three_groups : NULL;
    double low[512], high[512], x[64], y[64];
    mel_error err = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    assert_true(n <= COUNT(low) && size <= COUNT(x));
    for (size_t i = 0; i < n; i++) {
        low[i] = mel_metric_coefficient(metric)[i] - 1.0;
        high[i] = mel_metric_coefficient(metric)[i] + 2.0;
    }
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    mel_metric *moved = NULL, *again = NULL;
    assert_ok(mel_metric_reorder(&moved, metric, class, group, &err), &err);
    assert_string_equal(mel_metric_class_name(moved, 0), mel_metric_class_name(metric, class[0]));
    for (size_t t = 0; t < 5; t++) {
        test_point(&rng, size, x);
        reorder_statistics(y, x, layout, class, group);
        assert_close(test_value(moved, y), test_value(metric, x), 1e-12);
    }
    for (size_t i = 0; i < n; i++) {
        double a = 0, b = 0;
        assert_true(mel_metric_interval(moved, i, &a, &b));
        assert_close(a, mel_metric_coefficient(moved)[i] - 1.0, 0);
        assert_close(b, mel_metric_coefficient(moved)[i] + 2.0, 0);
    }
    assert_ok(mel_metric_reorder(&again, moved, layout->n_classes == 2 ? class : back,
                                 layout->n_groups == 3 ? back : group, &err),
              &err);
    assert_memory_equal(mel_metric_coefficient(again), mel_metric_coefficient(metric), n * sizeof *low);
    mel_metric_free(again);
    const size_t bad[] = { 0, 0, 1 };
    assert_int_equal(mel_metric_reorder(&again, metric, bad, group, &err), MEL_EINVAL);
    assert_null(again);
    mel_metric_free(moved);
    mel_metric_free(metric);
}

static void test_reorder(void **state)
{
    (void)state;
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    static const mel_layout grouped = { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 };
    static const mel_layout diagonal = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 };
    static const double numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    double b[36], c[8] = { 1, 2, 2, 3, 2, 3, 3, 4 }, small[4] = { 1, 2, 2, 5 };
    const double pairs[12] = { 1, 2, 2, 5, 3, 4, 4, 6, 7, 1, 1, 8 };
    const double share[6] = { 0.5, 0.2, 0.3, 0.3, 0.2, 0.5 };
    const double *const tensor[] = { numbers, small, c };
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            b[6 * i + j] = numbers[i] * numbers[j];
    mel_metric *m = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_linear(&m, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, numbers, &err), &err);
    check_order(m);
    assert_ok(mel_metric_linear(&m, MEL_FAMILY_LINEAR, &grouped, NULL, MEL_COST, numbers, &err), &err);
    check_order(m);
    assert_ok(mel_metric_fractional(&m, MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, &diagonal, NULL, MEL_UTILITY,
                                    numbers, 1, numbers + 3, 2, &err),
              &err);
    check_order(m);
    assert_ok(mel_metric_quadratic(&m, &three, NULL, MEL_COST, numbers, b, &err), &err);
    check_order(m);
    assert_ok(mel_metric_polynomial(&m, 3, &two, NULL, MEL_COST, tensor, &err), &err);
    check_order(m);
    assert_ok(mel_metric_fair_linear(&m, &fair3, NULL, NULL, numbers, numbers, 0.3, share, &err), &err);
    check_order(m);
    assert_ok(mel_metric_fair_quadratic(&m, &fair3, NULL, NULL, numbers, pairs, 0.3, share, &err), &err);
    check_order(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_polynomial),
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_fair_coordinates),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_degenerate_scale),
        cmocka_unit_test(test_weight_ratio),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_reorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
