/* Metrics as objects: making, refusing, evaluating, comparing, scaling, trading mistakes. */
#include "support/test.h"

#include "base/layout.h"
#include "base/rng.h"
#include "metric/shared.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
static const mel_layout binary_rates = { MEL_RATES, MEL_BINARY, 2, 0 };
static const mel_layout diagonal = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 };
static const mel_layout offdiagonal = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
static const mel_layout grouped = { MEL_RATES, MEL_BINARY, 2, 2 };

static mel_metric *linear(const mel_layout *layout, mel_orientation orientation, const double *a)
{
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    const mel_family family =
        layout->coordinates == MEL_DIAGONAL ? MEL_FAMILY_DIAGONAL_LINEAR : MEL_FAMILY_LINEAR;
    assert_ok(mel_metric_linear(&metric, family, layout, NULL, orientation, a, &err), &err);
    return metric;
}

static mel_metric *binary_linear(double m11, double m00)
{
    const double a[] = { m11, m00 };
    return linear(&binary, MEL_UTILITY, a);
}

static mel_metric *binary_fraction(double p11, double p00, double p0, double q11, double q00, double q0)
{
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    const double p[] = { p11, p00 }, q[] = { q11, q00 };
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &binary, NULL, MEL_UTILITY, p, p0,
                                    q, q0, &err),
              &err);
    return metric;
}

static void test_families(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_status status;
        mel_family family;
    } rows[] = {
        { "linear", MEL_OK, MEL_FAMILY_LINEAR },
        { "linear-fractional", MEL_OK, MEL_FAMILY_LINEAR_FRACTIONAL },
        { "diagonal-linear", MEL_OK, MEL_FAMILY_DIAGONAL_LINEAR },
        { "diagonal-linear-fractional", MEL_OK, MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL },
        { "monotone", MEL_OK, MEL_FAMILY_MONOTONE },
        { "fair-linear", MEL_OK, MEL_FAMILY_FAIR_LINEAR },
        { "quadratic", MEL_OK, MEL_FAMILY_QUADRATIC },
        { "fair-quadratic", MEL_OK, MEL_FAMILY_FAIR_QUADRATIC },
        { "polynomial", MEL_OK, MEL_FAMILY_POLYNOMIAL },
        { "polynomial:3", MEL_OK, MEL_FAMILY_POLYNOMIAL },
        { "polynomial:0", MEL_EINVAL, 0 },
        { "polynomial:", MEL_EINVAL, 0 },
        { "polynomial:12", MEL_EINVAL, 0 },
        { "Linear", MEL_EINVAL, 0 },
        { "", MEL_EINVAL, 0 },
        { "linear ", MEL_EINVAL, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_family family = MEL_FAMILY_LINEAR;
        mel_error err = { 0 };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(mel_family_parse(&family, rows[i].text, &err), rows[i].status);
        if (rows[i].status == MEL_OK)
            assert_int_equal(family, rows[i].family);
        else
            assert_non_null(strstr(err.text, "is not a family"));
    }
    static const struct {
        const char *text;
        mel_status status;
        mel_family family;
        uint32_t degree;
    } degrees[] = {
        { "linear", MEL_OK, MEL_FAMILY_LINEAR, 1 },
        { "fair-linear", MEL_OK, MEL_FAMILY_FAIR_LINEAR, 1 },
        { "quadratic", MEL_OK, MEL_FAMILY_QUADRATIC, 2 },
        { "fair-quadratic", MEL_OK, MEL_FAMILY_FAIR_QUADRATIC, 2 },
        { "polynomial:2", MEL_OK, MEL_FAMILY_POLYNOMIAL, 2 },
        { "polynomial:9", MEL_OK, MEL_FAMILY_POLYNOMIAL, 9 },
        { "polynomial", MEL_EINVAL, 0, 0 },
        { "polynomial:1", MEL_EINVAL, 0, 0 },
        { "polynomial:3 ", MEL_EINVAL, 0, 0 },
        { "quadratic:2", MEL_EINVAL, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(degrees); i++) {
        mel_family family = (mel_family)77;
        uint32_t degree = 77;
        mel_error err = { 0 };
        print_message("  \"%s\"\n", degrees[i].text);
        assert_int_equal(mel_family_parse_degree(&family, &degree, degrees[i].text, &err), degrees[i].status);
        assert_int_equal(family, degrees[i].status == MEL_OK ? degrees[i].family : 77);
        assert_int_equal(degree, degrees[i].status == MEL_OK ? degrees[i].degree : 77);
        char text[MEL_FAMILY_TEXT] = "";
        mel_family_print(text, family, degree);
        if (degrees[i].status == MEL_OK)
            assert_string_equal(text, degrees[i].text);
    }
    assert_string_equal(mel_family_name(MEL_FAMILY_DIAGONAL_LINEAR), "diagonal-linear");
    assert_string_equal(mel_family_name((mel_family)99), "unknown");
}

static void test_refusals(void **state)
{
    (void)state;
    static const double fine[6] = { 1, 2, 3, 4, 5, 6 };
    static const double broken[6] = { 1, (double)NAN, 3, 4, 5, 6 };
    static const char *const twins[] = { "x", "x" };
    static const char *const latin[] = { "x", "\xe9t\xe9" };
    static const char *const empty[] = { "x", "" };
    static const mel_layout three_binary = { MEL_CONFUSION, MEL_BINARY, 3, 0 };
    static const struct {
        const char *what;
        mel_family family;
        mel_orientation orientation;
        const mel_layout *layout;
        const char *const *names;
        const double *a;
        const char *says;
    } rows[] = {
        { "not a number", MEL_FAMILY_LINEAR, MEL_UTILITY, &binary, NULL, broken, "coefficient 2" },
        { "not a sum", MEL_FAMILY_QUADRATIC, MEL_COST, &binary, NULL, fine,
          "a quadratic metric is not linear in its statistics" },
        { "fair", MEL_FAMILY_FAIR_LINEAR, MEL_COST, &grouped, NULL, fine,
          "a fair-linear metric is not linear in its statistics" },
        { "no family", (mel_family)99, MEL_UTILITY, &binary, NULL, fine, "no family of metrics 99" },
        { "monotone", MEL_FAMILY_MONOTONE, MEL_UTILITY, &offdiagonal, NULL, fine,
          "monotone needs diagonal coordinates, not offdiagonal" },
        { "wrong coordinates", MEL_FAMILY_DIAGONAL_LINEAR, MEL_UTILITY, &binary, NULL, fine,
          "diagonal coordinates" },
        { "needs a denominator", MEL_FAMILY_LINEAR_FRACTIONAL, MEL_UTILITY, &binary, NULL, fine,
          "denominator" },
        { "bad layout", MEL_FAMILY_LINEAR, MEL_UTILITY, &three_binary, NULL, fine, "3 classes" },
        { "orientation", MEL_FAMILY_LINEAR, (mel_orientation)7, &binary, NULL, fine, "orientation 7" },
        { "same names", MEL_FAMILY_LINEAR, MEL_UTILITY, &binary, twins, fine, "both called \"x\"" },
        { "not UTF-8", MEL_FAMILY_LINEAR, MEL_UTILITY, &binary, latin, fine, "class 2" },
        { "no name", MEL_FAMILY_LINEAR, MEL_UTILITY, &binary, empty, fine, "class 2" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = (mel_metric *)&rows; /* must become NULL */
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].what);
        assert_int_equal(mel_metric_linear(&metric, rows[i].family, rows[i].layout, rows[i].names,
                                           rows[i].orientation, rows[i].a, &err),
                         MEL_EINVAL);
        assert_null(metric);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        assert_int_equal(err.code, MEL_EINVAL);
    }
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_int_equal(
        mel_metric_fractional(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, fine, 0, fine, 1, &err),
        MEL_EINVAL);
    assert_non_null(strstr(err.text, "no denominator"));
    assert_int_equal(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &binary, NULL, MEL_UTILITY,
                                           fine, 0, fine, (double)INFINITY, NULL),
                     MEL_EINVAL);
    assert_null(metric);
}

static void test_parts(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "cancer" };
    const double p[] = { 1, 2 }, q[] = { 3, 4 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &binary, names, MEL_COST, p, 5, q,
                                    6, &err),
              &err);
    double p0 = 0, q0 = 0;
    assert_memory_equal(mel_metric_numerator(metric, &p0), p, sizeof p);
    assert_memory_equal(mel_metric_denominator(metric, &q0), q, sizeof q);
    assert_true(p0 == 5 && q0 == 6);
    assert_int_equal(mel_metric_family(metric), MEL_FAMILY_LINEAR_FRACTIONAL);
    assert_int_equal(mel_metric_orientation(metric), MEL_COST);
    assert_true(mel_layout_equal(mel_metric_layout(metric), &binary));
    assert_string_equal(mel_metric_class_name(metric, 1), "cancer");
    assert_null(mel_metric_class_name(metric, 2));
    assert_null(mel_metric_group_name(metric, 0));
    assert_int_equal(mel_metric_coefficients(metric), 6);
    mel_metric_free(metric);
    metric = binary_linear(1, 1);
    assert_string_equal(mel_metric_class_name(metric, 0), "0");
    assert_null(mel_metric_denominator(metric, &q0));
    assert_true(q0 == 1.0 && mel_metric_numerator(metric, &p0) != NULL && p0 == 0.0);
    mel_metric_free(metric);
    const double four[] = { 1, 2, 3, 4 };
    metric = linear(&grouped, MEL_UTILITY, four);
    assert_int_equal(mel_metric_coefficients(metric), 4);
    assert_string_equal(mel_metric_group_name(metric, 1), "2");
    mel_metric_free(metric);
    mel_metric_free(NULL);
}

static void test_values(void **state)
{
    (void)state;
    mel_metric *f1 = binary_fraction(1, 0, 0, 0.5, -0.5, 0.5); /* F1: 2TP/(TP - TN + 1) at any share */
    const double point[] = { 0.3, 0.5 };
    double value = 0, gradient[2] = { 0, 0 };
    mel_error err = { 0 };
    assert_ok(mel_metric_value(&value, f1, point, &err), &err);
    assert_close(value, 0.6 / 0.8, 1e-15);
    assert_ok(mel_metric_gradient(gradient, f1, point, &err), &err);
    assert_close(gradient[0], (1 - 0.75 * 0.5) / 0.4, 1e-14);
    assert_close(gradient[1], 0.75 * 0.5 / 0.4, 1e-14);
    mel_metric_free(f1);

    mel_metric *precision =
        binary_fraction(1, 0, 0, 1, -1, 0.7); /* 0/0 where nothing is predicted positive */
    static const struct {
        const char *what;
        double tp, tn;
        mel_status status;
    } rows[] = {
        { "nothing predicted positive", 0, 0.7, MEL_ENUMERIC },
        { "the same with rounding", 1e-17, 0.7 + 1.1e-16, MEL_ENUMERIC },
        { "one in ten million", 1e-7, 0.7, MEL_OK },
        { "not a number", (double)NAN, 0.5, MEL_ENUMERIC },
        { "infinite", 0.3, (double)INFINITY, MEL_ENUMERIC },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double at[] = { rows[i].tp, rows[i].tn };
        print_message("  %s\n", rows[i].what);
        value = -7;
        assert_int_equal(mel_metric_value(&value, precision, at, &err), rows[i].status);
        assert_int_equal(mel_metric_gradient(gradient, precision, at, &err), rows[i].status);
        if (rows[i].status != MEL_OK)
            assert_true(value == -7);
        else
            assert_close(value, 1.0, 1e-9);
    }
    mel_metric_free(precision);

    mel_metric *huge = binary_linear(1e308, 1e308);
    const double two[] = { 2, 2 }, minus_two[] = { -2, -2 };
    assert_int_equal(mel_metric_value(&value, huge, two, &err), MEL_ENUMERIC);
    assert_int_equal(mel_metric_compare(&value, huge, two, minus_two, &err), MEL_ENUMERIC);
    mel_metric_free(huge);
    huge = binary_fraction(1e300, 0, 0, 1e-300, 0, 0);
    assert_int_equal(mel_metric_value(&value, huge, point, &err), MEL_ENUMERIC);
    mel_metric_free(huge);
}

static void test_compare(void **state)
{
    (void)state;
    const double a[] = { 0.4, 0.3 }, b[] = { 0.3, 0.5 };
    double difference = 0;
    mel_error err = { 0 };
    const double weights[] = { 3, 1 };
    for (int orientation = MEL_UTILITY; orientation <= MEL_COST; orientation++) {
        mel_metric *metric = linear(&binary, (mel_orientation)orientation, weights);
        const double sign = orientation == MEL_COST ? -1 : 1;
        assert_ok(mel_metric_compare(&difference, metric, a, b, &err), &err);
        assert_close(difference, sign * 0.1, 1e-15);
        assert_ok(mel_metric_compare(&difference, metric, b, a, &err), &err);
        assert_close(difference, sign * -0.1, 1e-15);
        assert_ok(mel_metric_compare(&difference, metric, a, a, &err), &err);
        assert_true(difference == 0.0);
        mel_metric_free(metric);
    }
    mel_metric *fraction = binary_fraction(1, 0, 0, 0, -1, 1); /* Jaccard */
    assert_ok(mel_metric_compare(&difference, fraction, a, b, &err), &err);
    assert_close(difference, 0.4 / 0.7 - 0.3 / 0.5, 1e-15);
    const double all_negative[] = { 0, 1 };
    difference = 5;
    assert_int_equal(mel_metric_compare(&difference, fraction, a, all_negative, &err), MEL_ENUMERIC);
    assert_true(difference == 5);
    mel_metric_free(fraction);
    /* Closer than one rounding of the values, yet in order. */
    mel_metric *metric = binary_linear(1, 1);
    const double near[] = { 0.4, nextafter(0.3, 1) };
    assert_ok(mel_metric_compare(&difference, metric, near, a, &err), &err);
    assert_true(difference > 0);
    mel_metric_free(metric);
}

static void test_normalise(void **state)
{
    (void)state;
    mel_error err = { 0 };
    mel_metric *metric = binary_linear(3, -4);
    const double low[] = { 2, -5 }, high[] = { 4, -3 };
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    assert_ok(mel_metric_normalise(metric, &err), &err);
    const double *a = mel_metric_numerator(metric, NULL);
    assert_close(a[0], 0.6, 1e-16);
    assert_close(a[1], -0.8, 1e-16);
    double from = 0, to = 0;
    assert_true(mel_metric_interval(metric, 1, &from, &to));
    assert_close(from, -1.0, 1e-16);
    assert_close(to, -0.6, 1e-16);
    mel_metric_free(metric);

    const double three[] = { 1, -2, 1 };
    metric = linear(&diagonal, MEL_UTILITY, three);
    assert_ok(mel_metric_normalise(metric, &err), &err);
    assert_close(mel_metric_numerator(metric, NULL)[1], -0.5, 1e-16);
    mel_metric_free(metric);

    /* Binary fraction: p11 + p00 = 1 keeps every value, also when that turns signs and intervals around. */
    metric = binary_fraction(-1, -3, 0.5, 2, 1, 4);
    const double lows[] = { -2, -4, 0, 1, 0, 3 }, highs[] = { 0, -2, 1, 3, 2, 5 };
    assert_ok(mel_metric_set_intervals(metric, lows, highs, &err), &err);
    const double point[] = { 0.2, 0.3 };
    double before = 0, after = 0, constant = 0;
    assert_ok(mel_metric_value(&before, metric, point, &err), &err);
    assert_ok(mel_metric_normalise(metric, &err), &err);
    assert_ok(mel_metric_value(&after, metric, point, &err), &err);
    assert_close(after, before, 1e-15);
    a = mel_metric_numerator(metric, &constant);
    assert_close(a[0] + a[1], 1.0, 1e-15);
    assert_close(constant, -0.125, 1e-16);
    assert_true(mel_metric_interval(metric, 0, &from, &to) && from == 0.0 && to == 0.5);
    mel_metric_free(metric);

    static const struct {
        const char *what;
        double p11, p00;
    } rows[] = { { "sum is zero", 1, -1 }, { "all zero", 0, 0 }, { "overflow", 1e308, 1e308 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        metric = binary_fraction(rows[i].p11, rows[i].p00, 0, 1, 1, 1);
        assert_int_equal(mel_metric_normalise(metric, &err), MEL_ENUMERIC);
        assert_true(mel_metric_numerator(metric, NULL)[0] == rows[i].p11); /* untouched */
        mel_metric_free(metric);
    }
    metric = binary_fraction(1e-10, 0, 0, 1e300, 1, 1);
    assert_int_equal(mel_metric_normalise(metric, &err), MEL_ENUMERIC);
    assert_non_null(strstr(err.text, "coefficient 4 is too large"));
    mel_metric_free(metric);
    metric = binary_linear(0, 0);
    assert_int_equal(mel_metric_normalise(metric, &err), MEL_ENUMERIC);
    mel_metric_free(metric);
    metric = binary_linear(1e-320, 0); /* subnormal, yet a direction */
    assert_ok(mel_metric_normalise(metric, &err), &err);
    assert_close(mel_metric_numerator(metric, NULL)[0], 1.0, 1e-12);
    mel_metric_free(metric);
}

static void test_intervals(void **state)
{
    (void)state;
    mel_metric *metric = binary_linear(0.9, 0.4);
    mel_error err = { 0 };
    double from = 0, to = 0;
    assert_false(mel_metric_interval(metric, 0, &from, &to));
    const double low[] = { 0.8, 0.3 }, high[] = { 1.0, 0.5 };
    const double crossed[] = { 0.8, 0.6 }, nan_low[] = { (double)NAN, 0 };
    assert_int_equal(mel_metric_set_intervals(metric, crossed, high, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "coefficient 2"));
    assert_int_equal(mel_metric_set_intervals(metric, nan_low, high, &err), MEL_EINVAL);
    assert_int_equal(mel_metric_set_intervals(metric, low, NULL, &err), MEL_EINVAL);
    assert_false(mel_metric_interval(metric, 0, &from, &to));
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    assert_true(mel_metric_interval(metric, 1, &from, &to));
    assert_true(from == 0.3 && to == 0.5);
    assert_false(mel_metric_interval(metric, 2, &from, &to));
    assert_ok(mel_metric_set_intervals(metric, NULL, NULL, &err), &err);
    assert_false(mel_metric_interval(metric, 0, &from, &to));
    mel_metric_free(metric);
}

static void test_copy(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "cancer" };
    mel_metric *metric = NULL, *copy = NULL;
    mel_error err = { 0 };
    const double a[] = { 0.9, 0.4 }, low[] = { 0.8, 0.3 }, high[] = { 1.0, 0.5 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, names, MEL_UTILITY, a, &err), &err);
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    char strategy[] = "active";
    const mel_elicited how = { 9, strategy, 0.02, 77 };
    assert_ok(mel_metric_set_elicited(metric, &how, &err), &err);
    strategy[0] = 'x'; /* the metric has its own */
    assert_ok(mel_metric_copy(&copy, metric, &err), &err);
    mel_metric_free(metric);
    assert_string_equal(mel_metric_class_name(copy, 1), "cancer");
    assert_memory_equal(mel_metric_numerator(copy, NULL), a, sizeof a);
    double from = 0, to = 0;
    assert_true(mel_metric_interval(copy, 0, &from, &to) && from == 0.8 && to == 1.0);
    assert_string_equal(mel_metric_elicited(copy).strategy, "active");
    assert_int_equal(mel_metric_elicited(copy).questions, 9);
    assert_int_equal(mel_metric_elicited(copy).seed, 77);
    const mel_elicited bad = { 9, "active", -1, 77 }, none = { 0, NULL, (double)NAN, 0 };
    assert_int_equal(mel_metric_set_elicited(copy, &bad, &err), MEL_EINVAL);
    const mel_elicited latin = { 9, "\xe9", 0.1, 77 };
    assert_int_equal(mel_metric_set_elicited(copy, &latin, &err), MEL_EINVAL);
    assert_string_equal(mel_metric_elicited(copy).strategy, "active"); /* as before */
    assert_ok(mel_metric_set_elicited(copy, &none, &err), &err);
    assert_null(mel_metric_elicited(copy).strategy);
    mel_metric_free(copy);
}

static void test_cost_ratio(void **state)
{
    (void)state;
    const double inf = (double)INFINITY;
    const struct {
        const char *what;
        double m11, m00;
        double low[2], high[2];
        double ratio, from, to;
    } rows[] = {
        { "six to one", 0.6, 0.1, { 0.5, 0.08 }, { 0.7, 0.125 }, 6, 4, 8.75 },
        { "alarms matter more", 0.1, 0.4, { 0.1, 0.4 }, { 0.1, 0.4 }, 0.25, 0.25, 0.25 },
        { "alarms may not matter", 0.9, 0.1, { 0.8, 0 }, { 1, 0.2 }, 9, 4, inf },
        { "alarms may even help", 0.9, 0.1, { 0.8, -0.1 }, { 1, 0.2 }, 9, 4, inf },
        { "alarms do not matter", 1, 0, { 1, 0 }, { 1, 0 }, inf, -inf, inf },
        { "missed may not matter", 0.1, 0.9, { 0, 0.8 }, { 0.2, 1 }, 1.0 / 9, 0, 0.25 },
        { "missed may even help", 0.1, 0.8, { -0.1, 0.5 }, { 0.2, 1 }, 0.125, -0.2, 0.4 },
        { "rewards mistakes", -0.6, -0.1, { -0.7, -0.125 }, { -0.5, -0.08 }, 6, 4, 8.75 },
        { "opposite signs", 0.6, -0.1, { 0.5, -0.125 }, { 0.7, -0.08 }, -6, -8.75, -4 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_error err = { 0 };
        mel_cost_ratio cost = { 0, 0, 0 };
        mel_metric *metric = binary_linear(rows[i].m11, rows[i].m00);
        print_message("  %s\n", rows[i].what);
        assert_ok(mel_metric_cost_ratio(&cost, metric, &err), &err);
        assert_true(isnan(cost.low) && isnan(cost.high));
        assert_ok(mel_metric_set_intervals(metric, rows[i].low, rows[i].high, &err), &err);
        assert_ok(mel_metric_cost_ratio(&cost, metric, &err), &err);
        assert_close(cost.ratio, rows[i].ratio, 1e-12);
        assert_close(cost.low, rows[i].from, 1e-12);
        assert_close(cost.high, rows[i].to, 1e-12);
        mel_metric_free(metric);
    }
}

static void test_threshold(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        double m11, m00;
        mel_orientation orientation;
        mel_status status;
        double threshold;
    } rows[] = {
        { "equal", 1, 1, MEL_UTILITY, MEL_OK, 0.5 },
        { "seven to one", 7, 1, MEL_UTILITY, MEL_OK, 0.125 },
        { "as a cost", -7, -1, MEL_COST, MEL_OK, 0.125 },
        { "only missed matter", 1, 0, MEL_UTILITY, MEL_OK, 0 },
        { "only alarms matter", 0, 1, MEL_UTILITY, MEL_OK, 1 },
        { "always positive", 1, -0.2, MEL_UTILITY, MEL_OK, 0 },
        { "never positive", -0.2, 1, MEL_UTILITY, MEL_OK, 1 + DBL_EPSILON },
        { "always, sum negative", 0.1, -1, MEL_UTILITY, MEL_OK, 0 },
        { "rewards mistakes", -1, -1, MEL_UTILITY, MEL_EINVAL, 0 },
        { "rewards missed", -1, 0, MEL_UTILITY, MEL_EINVAL, 0 },
        { "nothing matters", 0, 0, MEL_UTILITY, MEL_EINVAL, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double a[] = { rows[i].m11, rows[i].m00 };
        mel_metric *metric = linear(&binary, rows[i].orientation, a);
        double threshold = -1;
        print_message("  %s\n", rows[i].what);
        assert_int_equal(mel_metric_threshold(&threshold, metric, NULL), rows[i].status);
        if (rows[i].status == MEL_OK)
            assert_true(threshold == rows[i].threshold);
        else
            assert_true(threshold == -1);
        mel_metric_free(metric);
    }
}

static void test_only_binary_linear_trades(void **state)
{
    (void)state;
    const double a[] = { 1, 1, 1, 1, 1, 1 };
    enum { N_METRICS = 5 };
    mel_metric *metrics[N_METRICS] = { linear(&diagonal, MEL_UTILITY, a), linear(&offdiagonal, MEL_COST, a),
                                       linear(&binary_rates, MEL_UTILITY, a),
                                       linear(&grouped, MEL_UTILITY, a), binary_fraction(1, 0, 0, 0, -1, 1) };
    for (size_t i = 0; i < N_METRICS; i++) {
        mel_cost_ratio cost = { 0, 0, 0 };
        double threshold = 0;
        mel_error err = { 0 };
        assert_int_equal(mel_metric_cost_ratio(&cost, metrics[i], &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, "the cost ratio is defined for linear metrics of two classes"));
        assert_int_equal(mel_metric_threshold(&threshold, metrics[i], &err), MEL_EINVAL);
        mel_metric_free(metrics[i]);
    }
}

/* n random confusion points at a share of positives. */
static void random_points(mel_rng *rng, double positives, size_t n, double *points)
{
    for (size_t i = 0; i < n; i++) {
        points[2 * i] = positives * mel_rng_uniform(rng);
        points[2 * i + 1] = (1 - positives) * mel_rng_uniform(rng);
    }
}

static void test_neighbours(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double a[2 * N], b[2 * N];
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    const double share = 0.3;
    random_points(&rng, share, N, a);
    random_points(&rng, share, N, b);
    static const struct {
        const char *named;
        const char *first, *second; /* second: agrees in order everywhere too, or NULL */
    } rows[] = {
        { "accuracy", "accuracy", NULL },
        { "balanced-accuracy", "balanced accuracy", NULL },
        { "f1", "F1", "Jaccard" },
        { "jaccard", "F1", "Jaccard" },
        { "f0.5", "F0.5", NULL },
        { "f2", "F2", NULL },
        { "precision", "precision", NULL },
        { "recall", "recall", NULL },
        { "specificity", "specificity", NULL },
        { "weighted-accuracy:7", "weighted accuracy 7:1", NULL },
        { "weighted-accuracy:0.25", "weighted accuracy 0.25:1", NULL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = NULL;
        mel_error err = { 0 };
        mel_neighbour found[12];
        size_t n = 0;
        print_message("  %s\n", rows[i].first);
        assert_ok(mel_metric_named(&metric, rows[i].named, share, NULL, &err), &err);
        assert_ok(mel_metric_neighbours(found, COUNT(found), &n, metric, share, N, a, b, NULL, &err), &err);
        assert_true(n >= 11);
        assert_string_equal(found[0].name, rows[i].first);
        assert_true(found[0].agreement == 1.0);
        if (rows[i].second != NULL)
            assert_string_equal(found[1].name, rows[i].second);
        else
            assert_true(found[1].agreement < 1.0);
        for (size_t j = 1; j < n; j++)
            assert_true(found[j].agreement <= found[j - 1].agreement && found[j].agreement >= 0.0);
        mel_metric_free(metric);
    }
}

static void test_neighbours_of_others(void **state)
{
    (void)state;
    const double a[] = { 0.3, 0.4, 0.1, 0.2 }, b[] = { 0.2, 0.4, 0.2, 0.3 };
    mel_error err = { 0 };
    mel_neighbour found[3];
    size_t n = 0;
    /* Scale is irrelevant, costs are turned around, 6.11 is said as 6.1. */
    const double tiny[] = { -6.11e-20, -1e-20 };
    mel_metric *metric = linear(&binary, MEL_COST, tiny);
    assert_ok(mel_metric_neighbours(found, 3, &n, metric, 0.4, 2, a, b, NULL, &err), &err);
    assert_int_equal(n, 3);
    assert_true(found[0].agreement == 1.0);
    mel_neighbour all[12];
    assert_ok(mel_metric_neighbours(all, 12, &n, metric, 0.4, 2, a, b, NULL, &err), &err);
    assert_int_equal(n, 12);
    bool said = false;
    for (size_t i = 0; i < n; i++)
        said = said || strcmp(all[i].name, "weighted accuracy 6.1:1") == 0;
    assert_true(said);
    assert_int_equal(mel_metric_neighbours(found, 3, &n, metric, 0.0, 2, a, b, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_metric_neighbours(found, 3, &n, metric, 1.0, 2, a, b, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_metric_neighbours(found, 3, &n, metric, 0.4, 0, a, b, NULL, &err), MEL_EINVAL);
    mel_metric_free(metric);
    /* Pairs where the metric has no value do not count; none left is refused. */
    metric = binary_fraction(1, 0, 0, 1, -1, 0.6);
    const double with_hole[] = { 0, 0.6, 0.3, 0.4 }, others[] = { 0.1, 0.3, 0.1, 0.3 };
    assert_ok(mel_metric_neighbours(found, 1, &n, metric, 0.4, 2, with_hole, others, NULL, &err), &err);
    assert_int_equal(mel_metric_neighbours(found, 1, &n, metric, 0.4, 1, with_hole, others, NULL, &err),
                     MEL_EINVAL);
    assert_non_null(strstr(err.text, "not defined on any"));
    mel_metric_free(metric);
    /* Rates are read as shares of their class. */
    const double equal[] = { 1, 1 };
    metric = linear(&binary_rates, MEL_UTILITY, equal);
    const double rate_a[] = { 0.9, 0.3, 0.5, 0.7 }, rate_b[] = { 0.5, 0.6, 0.6, 0.9 };
    assert_ok(mel_metric_neighbours(all, 12, &n, metric, 0.1, 2, rate_a, rate_b, NULL, &err), &err);
    assert_int_equal(n, 11);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, "balanced accuracy") == 0)
            assert_true(all[i].agreement == 1.0);
        else if (strcmp(all[i].name, "accuracy") == 0)
            assert_true(all[i].agreement == 0.5);
    mel_metric_free(metric);
    const double six[] = { 1, 1, 1, 1, 1, 1 };
    metric = linear(&diagonal, MEL_UTILITY, six);
    assert_int_equal(mel_metric_neighbours(found, 1, &n, metric, 0.4, 1, a, b, NULL, &err), MEL_EINVAL);
    mel_metric_free(metric);
}

static void test_wide_ratios(void **state)
{
    (void)state;
    static const struct {
        mel_cost_ratio ratio;
        bool wide;
    } cases[] = {
        { { 1.5, 1.0, 2.0 }, false },   { { 1.5, 1.0, 2.1 }, true },      { { -1.5, -2.0, -1.0 }, false },
        { { -1.5, -2.1, -1.0 }, true }, { { 0.5, -0.1, 0.6 }, true },     { { 0.5, 0.0, 0.6 }, true },
        { { 1.5, NAN, NAN }, true },    { { 2.0, 1.5, INFINITY }, true },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(mel_cost_ratio_is_wide(&cases[i].ratio), cases[i].wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_ratios), cmocka_unit_test(test_families),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_values),      cmocka_unit_test(test_compare),
        cmocka_unit_test(test_normalise),   cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_copy),        cmocka_unit_test(test_cost_ratio),
        cmocka_unit_test(test_threshold),   cmocka_unit_test(test_only_binary_linear_trades),
        cmocka_unit_test(test_neighbours),  cmocka_unit_test(test_neighbours_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
