/* What must hold for every metric, on random ones. */
#include "metric/shared.h"
#include "support/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 2000 };

static const mel_layout layouts[] = {
    { MEL_CONFUSION, MEL_BINARY, 2, 0 },   { MEL_RATES, MEL_BINARY, 2, 0 },
    { MEL_CONFUSION, MEL_DIAGONAL, 4, 0 }, { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
    { MEL_RATES, MEL_BINARY, 2, 3 },       { MEL_CONFUSION, MEL_OFFDIAGONAL, 2, 0 }
};
enum { MAX_SIZE = 8 };

/* A random metric: half of them fractional, with a denominator that is positive on [0, 1]^n. */
static mel_metric *random_metric(mel_rng *rng)
{
    const mel_layout *layout = &layouts[mel_rng_below(rng, COUNT(layouts))];
    const size_t n = mel_layout_size(layout);
    const bool fractional = mel_rng_below(rng, 2) == 1, diagonal = layout->coordinates == MEL_DIAGONAL;
    const mel_orientation orientation = mel_rng_below(rng, 2) == 1 ? MEL_COST : MEL_UTILITY;
    double p[MAX_SIZE], q[MAX_SIZE], negative = 0;
    for (size_t i = 0; i < n; i++) {
        p[i] = mel_rng_normal(rng);
        q[i] = mel_rng_normal(rng);
        negative += fmin(q[i], 0);
    }
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    if (fractional)
        assert_ok(mel_metric_fractional(&metric,
                                        diagonal ? MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL
                                                 : MEL_FAMILY_LINEAR_FRACTIONAL,
                                        layout, NULL, orientation, p, mel_rng_normal(rng), q,
                                        0.5 - negative + mel_rng_uniform(rng), &err),
                  &err);
    else
        assert_ok(mel_metric_linear(&metric, diagonal ? MEL_FAMILY_DIAGONAL_LINEAR : MEL_FAMILY_LINEAR,
                                    layout, NULL, orientation, p, &err),
                  &err);
    return metric;
}

static void test_gradient(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int round = 0; round < ROUNDS; round++) {
        mel_metric *metric = random_metric(&rng);
        const size_t n = mel_layout_size(mel_metric_layout(metric));
        double x[MAX_SIZE];
        test_point(&rng, n, x);
        test_check_gradient(metric, x, 1e-5);
        mel_metric_free(metric);
    }
}

static void test_comparison(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (int round = 0; round < ROUNDS; round++) {
        mel_metric *metric = random_metric(&rng);
        const size_t n = mel_layout_size(mel_metric_layout(metric));
        double a[MAX_SIZE], b[MAX_SIZE];
        test_point(&rng, n, a);
        test_point(&rng, n, b);
        test_check_comparison(metric, a, b);
        mel_metric_free(metric);
    }
}

static void test_scaling_keeps_the_order(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int round = 0; round < ROUNDS; round++) {
        mel_metric *metric = random_metric(&rng), *scaled = NULL;
        const mel_layout *layout = mel_metric_layout(metric);
        const size_t n = mel_layout_size(layout);
        double a[MAX_SIZE], b[MAX_SIZE];
        test_point(&rng, n, a);
        test_point(&rng, n, b);
        assert_ok(mel_metric_copy(&scaled, metric, NULL), NULL);
        assert_ok(mel_metric_normalise(scaled, NULL), NULL);
        const double before = test_compare(metric, a, b), after = test_compare(scaled, a, b);
        if (mel_metric_denominator(metric, NULL) != NULL)
            assert_close(after, before, 1e-10 * (1 + fabs(before)));
        else
            assert_true((before > 0) == (after > 0));
        const double *p = mel_metric_numerator(scaled, NULL);
        double l1 = 0, l2 = 0, sum = 0;
        for (size_t i = 0; i < n; i++) {
            l1 += fabs(p[i]);
            l2 += p[i] * p[i];
            sum += p[i];
        }
        if (layout->coordinates == MEL_DIAGONAL)
            assert_close(l1, 1, 1e-14);
        else if (mel_metric_denominator(metric, NULL) != NULL && layout->coordinates == MEL_BINARY && n == 2)
            assert_close(sum, 1, 1e-14);
        else
            assert_close(l2, 1, 1e-14);
        mel_metric_free(metric);
        mel_metric_free(scaled);
    }
}

/* Of counts TN, FP, FN, TP. */
static double named_value(const char *name, const double counts[4])
{
    double value = (double)NAN;
    mel_measure *measure = NULL;
    assert_ok(mel_measure_named(&measure, name, 2, 0, NULL), NULL);
    assert_ok(mel_measure_value(&value, measure, counts, NULL), NULL);
    mel_measure_free(measure);
    return value;
}

static void test_named_objects_equal_named_values(void **state)
{
    (void)state;
    static const char *const named[] = { "accuracy", "balanced-accuracy", "f%.17g", "weighted-accuracy:%.17g",
                                         "jaccard",  "precision",         "recall", "specificity" };
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (int round = 0; round < ROUNDS; round++) {
        const double share = 0.01 + 0.98 * mel_rng_uniform(&rng);
        const double parameter = exp(2 * mel_rng_normal(&rng));
        const double x[] = { share * mel_rng_uniform(&rng), (1 - share) * mel_rng_uniform(&rng) };
        const double counts[] = { x[1], 1 - share - x[1], share - x[0], x[0] };
        for (size_t i = 0; i < COUNT(named); i++) {
            mel_metric *metric = NULL;
            char name[64];
            (void)snprintf(name, sizeof name, "%s", named[i]);
            if (strchr(name, '%') != NULL)
                (void)snprintf(strchr(name, '%'), 32, "%.17g", parameter);
            assert_ok(mel_metric_named(&metric, name, share, NULL, NULL), NULL);
            assert_close(test_value(metric, x), named_value(name, counts), 1e-12);
            mel_metric_free(metric);
        }
    }
}

static void test_named_values_do_not_depend_on_scale(void **state)
{
    (void)state;
    static const char *const named[] = { "accuracy", "balanced-accuracy", "weighted-accuracy:2",
                                         "f2",       "jaccard",           "precision",
                                         "recall",   "specificity",       "g-mean",
                                         "mcc" };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (int round = 0; round < ROUNDS; round++) {
        double counts[4], scaled[4];
        const double scale = ldexp(1, (int)mel_rng_below(&rng, 1980) - 980);
        for (size_t i = 0; i < 4; i++) {
            counts[i] = mel_rng_uniform(&rng);
            scaled[i] = counts[i] * scale;
        }
        for (size_t i = 0; i < COUNT(named); i++) {
            const double one = named_value(named[i], counts), other = named_value(named[i], scaled);
            assert_true(one == other); /* a power of two changes no digit */
            assert_true(one >= (strcmp(named[i], "mcc") == 0 ? -1 : 0) && one <= 1);
        }
    }
}

/* The threshold that is best for a linear metric: on any people with known probabilities, deciding
 * at it is at least as good as at any other threshold. */
static void test_threshold_is_best(void **state)
{
    (void)state;
    enum { PEOPLE = 60 };
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (int round = 0; round < 500; round++) {
        const double a[] = { mel_rng_normal(&rng), mel_rng_normal(&rng) };
        mel_metric *metric = NULL;
        assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layouts[0], NULL, MEL_UTILITY, a, NULL),
                  NULL);
        double eta[PEOPLE], threshold = 0;
        test_point(&rng, PEOPLE, eta);
        if (a[0] <= 0 && a[1] <= 0) {
            assert_int_equal(mel_metric_threshold(&threshold, metric, NULL), MEL_EINVAL);
            mel_metric_free(metric);
            continue;
        }
        assert_ok(mel_metric_threshold(&threshold, metric, NULL), NULL);
        double best = 0;
        for (int other = -1; other <= PEOPLE; other++) {
            const double t = other < 0 ? threshold : other == PEOPLE ? 2 : eta[other];
            double point[2] = { 0, 0 };
            for (size_t i = 0; i < PEOPLE; i++)
                point[eta[i] >= t ? 0 : 1] += (eta[i] >= t ? eta[i] : 1 - eta[i]) / PEOPLE;
            if (other < 0)
                best = test_value(metric, point);
            else
                assert_true(test_value(metric, point) <= best + 1e-12);
        }
        mel_metric_free(metric);
    }
}

/* The interval of the cost ratio holds the ratio of every unit vector whose angle is in the angle's
 * interval, and its ends are reached. */
static void test_cost_ratio_interval(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    const double right = acos(0.0);
    for (int round = 0; round < ROUNDS; round++) {
        const double middle = right * (0.05 + 0.9 * mel_rng_uniform(&rng));
        const double room = fmin(middle, right - middle), half = 0.9 * room * mel_rng_uniform(&rng);
        const double from = middle - half, to = middle + half;
        const double a[] = { cos(middle), sin(middle) };
        const double low[] = { cos(to), sin(from) }, high[] = { cos(from), sin(to) };
        mel_metric *metric = NULL;
        mel_cost_ratio cost = { 0, 0, 0 };
        assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layouts[0], NULL, MEL_UTILITY, a, NULL),
                  NULL);
        assert_ok(mel_metric_set_intervals(metric, low, high, NULL), NULL);
        assert_ok(mel_metric_cost_ratio(&cost, metric, NULL), NULL);
        assert_close(cost.ratio, 1 / tan(middle), 1e-12 * (1 + cost.ratio));
        assert_close(cost.low, 1 / tan(to), 1e-12 * (1 + cost.ratio));
        assert_close(cost.high, 1 / tan(from), 1e-11 * (1 + cost.high));
        assert_true(cost.low <= cost.ratio && cost.ratio <= cost.high);
        mel_metric_free(metric);
    }
}

/* Agreement is what counting pairs by hand gives. */
static void test_neighbours_count(void **state)
{
    (void)state;
    enum { PAIRS = 100 };
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    for (int round = 0; round < 100; round++) {
        const double share = 0.05 + 0.9 * mel_rng_uniform(&rng);
        const double w[] = { mel_rng_uniform(&rng), mel_rng_uniform(&rng) };
        double a[2 * PAIRS], b[2 * PAIRS];
        for (size_t i = 0; i < COUNT(a); i++) {
            a[i] = (i % 2 == 0 ? share : 1 - share) * mel_rng_uniform(&rng);
            b[i] = (i % 2 == 0 ? share : 1 - share) * mel_rng_uniform(&rng);
        }
        mel_metric *metric = NULL;
        mel_neighbour found[12];
        size_t n = 0;
        assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layouts[0], NULL, MEL_UTILITY, w, NULL),
                  NULL);
        assert_ok(mel_metric_neighbours(found, COUNT(found), &n, metric, share, PAIRS, a, b, NULL, NULL),
                  NULL);
        for (size_t j = 0; j < n; j++) {
            size_t same = 0;
            for (size_t i = 0; i < PAIRS; i++) {
                const double ca[] = { a[2 * i + 1], 1 - share - a[2 * i + 1], share - a[2 * i], a[2 * i] };
                const double cb[] = { b[2 * i + 1], 1 - share - b[2 * i + 1], share - b[2 * i], b[2 * i] };
                const double va = named_value(found[j].measure, ca), vb = named_value(found[j].measure, cb);
                same += (va > vb) == (test_compare(metric, a + 2 * i, b + 2 * i) > 0);
            }
            assert_close(found[j].agreement, (double)same / PAIRS, 1e-15);
        }
        mel_metric_free(metric);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_scaling_keeps_the_order),
        cmocka_unit_test(test_named_objects_equal_named_values),
        cmocka_unit_test(test_named_values_do_not_depend_on_scale),
        cmocka_unit_test(test_threshold_is_best),
        cmocka_unit_test(test_cost_ratio_interval),
        cmocka_unit_test(test_neighbours_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
