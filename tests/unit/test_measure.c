/* Measures of confusion matrices, and the metric objects that have their values. */
#include "support/test.h"

#include "base/rng.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 * 5 * 5 };

static void draw_confusion(double *confusion, size_t n, mel_rng *rng)
{
    for (size_t c = 0; c < n; c++)
        confusion[c] = floor(1.0 + 99.0 * mel_rng_uniform(rng));
}

static double value_of(const mel_measure *measure, const double *confusion)
{
    double value = (double)NAN;
    mel_error err = { 0 };
    assert_ok(mel_measure_value(&value, measure, confusion, &err), &err);
    return value;
}

/* Makes the metric at the shares of a random confusion and compares both there. */
static void compare(const char *name, size_t k, size_t m, mel_rng *rng)
{
    double confusion[MOST], share[20] = { 0 };
    const size_t groups = m > 1 ? m : 1;
    mel_error err = { 0 };
    mel_metric *metric = NULL;
    mel_measure *named = NULL, *same = NULL;
    draw_confusion(confusion, groups * k * k, rng);
    for (size_t c = 0; c < groups * k * k; c++)
        share[c / k] += confusion[c];
    const mel_people people = { .n_classes = k, .n_groups = m, .shares = share };
    print_message("  %s, %zu classes, %zu groups\n", name, k, m);
    assert_ok(mel_metric_of_name(&metric, name, &people, &err), &err);
    assert_ok(mel_measure_named(&named, name, k, m, &err), &err);
    assert_ok(mel_measure_metric(&same, metric, k, m, &err), &err);
    assert_close(value_of(same, confusion), value_of(named, confusion), 1e-12);
    assert_int_equal(mel_measure_orientation(same), mel_measure_orientation(named));
    mel_measure_free(named);
    mel_measure_free(same);
    mel_metric_free(metric);
}

static void test_metric_objects(void **state)
{
    (void)state;
    static const char *const two[] = { "accuracy",
                                       "balanced-accuracy",
                                       "weighted-accuracy:7",
                                       "f1",
                                       "f0.5",
                                       "F2",
                                       "jaccard",
                                       "precision",
                                       "recall",
                                       "specificity",
                                       "kappa",
                                       "q-mean",
                                       "micro-f1",
                                       "macro-recall",
                                       "distribution-matching" };
    static const char *const any[] = {
        "accuracy", "balanced-accuracy", "kappa",           "q-mean",       "q-mean:absolute",
        "micro-f1", "micro-precision",   "weighted-recall", "macro-recall", "Distribution_Matching"
    };
    static const char *const fair[] = { "equalised-odds:squared", "equalized-odds:absolute" };
    static const char *const fair_two[] = { "equal-opportunity:squared",  "equal-opportunity:absolute",
                                            "negative-balance:squared",   "negative-balance:absolute",
                                            "error-rate-balance:squared", "error-rate-balance:absolute" };
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t i = 0; i < COUNT(two); i++)
        compare(two[i], 2, 0, &rng);
    for (size_t i = 0; i < COUNT(any); i++)
        for (size_t k = 3; k <= 5; k++)
            compare(any[i], k, 0, &rng);
    for (size_t m = 2; m <= 4; m++) {
        for (size_t i = 0; i < COUNT(fair); i++)
            compare(fair[i], m, m, &rng);
        for (size_t i = 0; i < COUNT(fair_two); i++)
            compare(fair_two[i], 2, m, &rng);
    }
}

static void test_no_metric_object(void **state)
{
    (void)state;
    static const double share[] = { 0.2, 0.3, 0.5 };
    static const struct {
        const char *name;
        size_t k, m;
        bool shares;
        const char *sentence;
    } rows[] = {
        { "mcc", 2, 0, true, "by its name" },
        { "g-mean", 3, 0, true, "by its name" },
        { "macro-f1", 3, 0, true, "by its name" },
        { "min-recall", 2, 0, true, "by its name" },
        { "demographic-parity", 2, 2, false, "by its name" },
        { "equalised-odds", 2, 2, false, ":squared or :absolute" },
        { "accuracy:difference", 2, 2, false, "by its name" },
        { "q-mean:largest", 3, 0, true, "by its name" },
        { "f1", 2, 0, false, "how frequent" },
        { "kappa", 3, 0, false, "how frequent" },
        { "f1", 3, 0, true, "two classes" },
        { "nothing", 3, 0, true, "not a measure" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_people people = { .n_classes = rows[i].k,
                                    .n_groups = rows[i].m,
                                    .shares = rows[i].shares ? share : NULL };
        mel_metric *metric = NULL;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_metric_of_name(&metric, rows[i].name, &people, &err), MEL_EINVAL);
        assert_null(metric);
        assert_non_null(strstr(err.text, rows[i].sentence));
    }
}

/* The mean cost per case beyond that of right answers, for any number of classes. */
static void test_costs(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (size_t k = 2; k <= 5; k++) {
        double cost[25], a[25], right[25], want = 0.0;
        mel_error err = { 0 };
        mel_metric *metric = NULL;
        mel_measure *measure = NULL;
        for (size_t i = 0; i < k * k; i++)
            cost[i] = mel_rng_uniform(&rng) + (i / k == i % k ? -1.0 : 0.0);
        assert_ok(mel_metric_costs(&metric, k, cost, NULL, &err), &err);
        assert_ok(mel_measure_metric(&measure, metric, k, 0, &err), &err);
        draw_confusion(a, k * k, &rng);
        double all = 0.0;
        for (size_t i = 0; i < k * k; i++) {
            const size_t truth = i / k;
            want += (cost[i] - cost[truth * k + truth]) * a[i];
            all += a[i];
            right[i] = truth == i % k ? 1.0 : 0.0;
        }
        assert_int_equal(mel_measure_orientation(measure), MEL_COST);
        assert_close(value_of(measure, a), want / all, 1e-12);
        assert_close(value_of(measure, right), 0.0, 0.0);
        mel_measure_free(measure);
        mel_metric_free(metric);
    }
}

static void test_refused_costs(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        double cost[4];
        const char *sentence;
    } rows[] = {
        { "a mistake that pays", { 0, 1, -2, 0 }, "reward" },
        { "a right answer that costs more", { 3, 1, 2, 0 }, "reward" },
        { "nothing matters", { 1, 1, 2, 2 }, "no mistake" },
        { "no number", { 0, NAN, 1, 0 }, "not a number" },
    };
    static const char *const names[] = { "healthy", "cancer" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = NULL;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].what);
        assert_int_equal(mel_metric_costs(&metric, 2, rows[i].cost, names, &err), MEL_EDATA);
        assert_null(metric);
        assert_non_null(strstr(err.text, rows[i].sentence));
    }
}

/* Along changes of predictions, where every class keeps its rows. */
static void test_gradients(void **state)
{
    (void)state;
    static const char *const names[] = { "accuracy",
                                         "balanced-accuracy",
                                         "g-mean",
                                         "q-mean",
                                         "macro-f1",
                                         "macro-f2",
                                         "macro-recall",
                                         "group-f1",
                                         "weighted-f1",
                                         "macro-jaccard",
                                         "weighted-precision",
                                         "mcc",
                                         "kappa",
                                         "micro-jaccard",
                                         "q-mean:1,2",
                                         "selection-rate",
                                         "specificity",
                                         "weighted-accuracy:7",
                                         "false-positive-rate",
                                         "equalised-odds:squared",
                                         "equalised-odds:squared:1,4",
                                         "demographic-parity:squared",
                                         "error-rate-balance:squared",
                                         "distribution-matching",
                                         "distribution-matching:0.2,0.8",
                                         "psd-q:2,1,1,3",
                                         "q-mean:absolute" };
    static const struct {
        size_t k, m;
    } shapes[] = { { 2, 0 }, { 3, 0 }, { 3, 2 }, { 2, 3 } };
    size_t used = 0;
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (size_t i = 0; i < COUNT(names) * COUNT(shapes); i++) {
        const size_t k = shapes[i % COUNT(shapes)].k, m = shapes[i % COUNT(shapes)].m;
        mel_measure *measure = NULL;
        double c[18], slope[18], move[18], up[18], down[18], want = 0.0, all = 0.0;
        const double h = 1e-6;
        mel_error err = { 0 };
        used = i % COUNT(shapes) == 0 ? 0 : used;
        const mel_status status = mel_measure_named(&measure, names[i / COUNT(shapes)], k, m, &err);
        used += status == MEL_OK;
        assert_true(i % COUNT(shapes) + 1 < COUNT(shapes) || used > 0);
        if (status != MEL_OK)
            continue; /* for other numbers of classes or groups */
        const size_t n = mel_measure_cells(measure);
        assert_true(mel_measure_has_gradient(measure));
        draw_confusion(c, n, &rng);
        for (size_t x = 0; x < n; x++)
            all += c[x];
        for (size_t x = 0; x < n; x++) {
            c[x] /= all;
            move[x] = mel_rng_normal(&rng);
        }
        for (size_t row = 0; row < n; row += k) {
            double mean = 0.0;
            for (size_t j = 0; j < k; j++)
                mean += move[row + j] / (double)k;
            for (size_t j = 0; j < k; j++)
                move[row + j] -= mean;
        }
        assert_ok(mel_measure_gradient(slope, measure, c, &err), &err);
        for (size_t x = 0; x < n; x++) {
            want += slope[x] * move[x];
            up[x] = c[x] + h * move[x];
            down[x] = c[x] - h * move[x];
        }
        assert_close((value_of(measure, up) - value_of(measure, down)) / (2.0 * h), want, 1e-6);
        mel_measure_free(measure);
    }
}

static void test_positive_class(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t k, m;
        bool has;
    } rows[] = {
        { "accuracy", 2, 0, false },
        { "balanced-accuracy", 2, 0, false },
        { "g-mean", 2, 0, false },
        { "mcc", 2, 0, false },
        { "kappa", 2, 0, false },
        { "macro-f1", 2, 0, false },
        { "min-recall", 2, 0, false },
        { "f1", 2, 0, true },
        { "precision", 2, 0, true },
        { "recall", 2, 0, true },
        { "specificity", 2, 0, true },
        { "jaccard", 2, 0, true },
        { "selection-rate", 2, 0, true },
        { "weighted-accuracy:7", 2, 0, true },
        { "weighted-accuracy:1", 2, 0, false },
        { "equalised-odds", 2, 3, false },
        { "equal-opportunity", 2, 2, true },
        { "demographic-parity:largest", 2, 2, false },
        { "recall:difference", 2, 3, true },
        { "accuracy:ratio", 2, 2, false },
        { "macro-recall", 3, 0, false },
        { "micro-f1", 4, 2, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mel_error err = { 0 };
        mel_measure *measure = NULL;
        print_message("  %s\n", rows[i].name);
        assert_ok(mel_measure_named(&measure, rows[i].name, rows[i].k, rows[i].m, &err), &err);
        assert_int_equal(mel_measure_has_positive(measure), rows[i].has);
        mel_measure_free(measure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric_objects),   cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_no_metric_object), cmocka_unit_test(test_costs),
        cmocka_unit_test(test_refused_costs),    cmocka_unit_test(test_positive_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
