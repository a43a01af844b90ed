/* Well-known metrics: parsing, values in ordinary and degenerate cases, as metric objects. */
#include "support/test.h"

#include "metric/shared.h"

#include <math.h>
#include <string.h>

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_status status;
    } rows[] = {
        { "accuracy", MEL_OK },
        { "Accuracy", MEL_OK },
        { "balanced-accuracy", MEL_OK },
        { "balanced_accuracy", MEL_OK },
        { "balanced accuracy", MEL_OK },
        { "weighted-accuracy:7", MEL_OK },
        { "weighted-accuracy:0.5", MEL_OK },
        { "f1", MEL_OK },
        { "F2", MEL_OK },
        { "f0.5", MEL_OK },
        { "fbeta:0.5", MEL_OK },
        { "jaccard", MEL_OK },
        { "precision", MEL_OK },
        { "recall", MEL_OK },
        { "specificity", MEL_OK },
        { "gmean", MEL_OK },
        { "G-mean", MEL_OK },
        { "MCC", MEL_OK },
        { "", MEL_EINVAL },
        { "f", MEL_EINVAL },
        { "f0", MEL_EINVAL },
        { "f-1", MEL_EINVAL },
        { "f1x", MEL_EINVAL },
        { "finf", MEL_EINVAL },
        { "f1e300", MEL_EINVAL },
        { "fbeta", MEL_EINVAL },
        { "fbeta:", MEL_EINVAL },
        { "weighted-accuracy", MEL_EINVAL },
        { "weighted-accuracy:x", MEL_EINVAL },
        { "weighted-accuracy:-7", MEL_EINVAL },
        { "accuracy:2", MEL_EINVAL },
        { "auc", MEL_EINVAL },
        { "a name that is longer than any of the metrics that are known here by name", MEL_EINVAL },
        { "matthews_corrcoef", MEL_OK },
        { "cohen_kappa_score", MEL_OK },
        { "f1_score", MEL_OK },
        { "accuracy_score", MEL_OK },
        { "f1_macro", MEL_OK },
        { "jaccard_weighted", MEL_OK },
        { "precision_micro", MEL_OK },
        { "geometric_mean_score", MEL_OK },
        { "f1_samples", MEL_EINVAL },
        { "macro", MEL_EINVAL },
        { "_macro", MEL_EINVAL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_measure *measure = NULL;
        mel_error err = { 0 };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(mel_measure_named(&measure, rows[i].text, 2, 0, &err), rows[i].status);
        assert_true((measure != NULL) == (rows[i].status == MEL_OK) &&
                    (err.text[0] == '\0') == (measure != NULL));
        mel_measure_free(measure);
    }
}

static mel_status find_value(double *out, const char *name, const double c[4], mel_error *err)
{
    mel_measure *measure = NULL;
    const double confusion[] = { c[3], c[1], c[2], c[0] };
    assert_ok(mel_measure_named(&measure, name, 2, 0, err), err);
    const mel_status status = mel_measure_value(out, measure, confusion, err);
    mel_measure_free(measure);
    return status;
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *what, *name;
        double tp, fp, fn, tn, want;
    } rows[] = {
        { "accuracy", "accuracy", 30, 10, 5, 55, 0.85 },
        { "balanced", "balanced-accuracy", 30, 10, 10, 50, (0.75 + 50.0 / 60) / 2 },
        { "balanced, no positives", "balanced-accuracy", 0, 10, 0, 30, 0.75 },
        { "balanced, no negatives", "balanced-accuracy", 30, 0, 10, 0, 0.75 },
        { "weighted", "weighted-accuracy:3", 30, 10, 10, 50, 140.0 / 180 },
        { "F1", "f1", 30, 10, 20, 40, 60.0 / 90 },
        { "F2", "f2", 30, 10, 20, 40, 150.0 / (150 + 80 + 10) },
        { "F1 of nothing found", "f1", 0, 10, 20, 40, 0 },
        { "F1 of nothing at all", "f1", 0, 0, 0, 40, 0 },
        { "huge beta is recall", "f1e100", 30, 10, 20, 40, 0.6 },
        { "tiny beta is precision", "f1e-100", 30, 10, 20, 40, 0.75 },
        { "Jaccard", "jaccard", 30, 10, 20, 40, 0.5 },
        { "Jaccard of nothing", "jaccard", 0, 0, 0, 40, 0 },
        { "precision", "precision", 30, 10, 20, 40, 0.75 },
        { "precision of nothing", "precision", 0, 0, 20, 40, 0 },
        { "recall", "recall", 30, 10, 20, 40, 0.6 },
        { "recall without positives", "recall", 0, 10, 0, 40, 0 },
        { "specificity", "specificity", 30, 10, 20, 40, 0.8 },
        { "specificity without negatives", "specificity", 30, 0, 20, 0, 0 },
        { "G-mean", "g-mean", 30, 10, 20, 40, 0.69282032302755092 },
        { "MCC", "mcc", 30, 10, 20, 40, 1000 / 2449.4897427831781 },
        { "MCC perfect", "mcc", 37, 0, 0, 113, 1 },
        { "MCC reversed", "mcc", 0, 37, 113, 0, -1 },
        { "MCC one class predicted", "mcc", 30, 10, 0, 0, 0 },
        { "MCC one class true", "mcc", 30, 0, 10, 0, 0 },
        { "MCC of chance", "mcc", 10, 20, 30, 60, 0 },
        { "MCC of huge counts", "mcc", 30e300, 10e300, 20e300, 40e300, 1000 / 2449.4897427831781 },
        { "MCC of tiny shares", "mcc", 30e-300, 10e-300, 20e-300, 40e-300, 1000 / 2449.4897427831781 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        const double counts[] = { rows[i].tp, rows[i].fp, rows[i].fn, rows[i].tn };
        double out = (double)NAN;
        mel_error err = { 0 };
        assert_ok(find_value(&out, rows[i].name, counts, &err), &err);
        assert_close(out, rows[i].want, 1e-15);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *what, *name;
        double counts[4];
        const char *says;
    } rows[] = {
        { "all zero", "accuracy", { 0, 0, 0, 0 }, "is empty" },
        { "negative", "accuracy", { 1, -2, 0, 0 }, "entry 2 of the confusion matrix is -2" },
        { "not a number", "mcc", { 1, 0, (double)NAN, 0 }, "entry 3 of the confusion matrix is nan" },
        { "infinite", "mcc", { 1, 0, 0, (double)INFINITY }, "entry 1 of the confusion matrix is inf" },
        { "too large together", "accuracy", { 1e308, 0, 1e308, 0 }, "more than a number can hold" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double out = 42;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].what);
        assert_true(find_value(&out, rows[i].name, rows[i].counts, &err) != MEL_OK);
        assert_true(out == 42);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

static void test_objects(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double positives;
        const char *says; /* NULL: made */
    } rows[] = {
        { "accuracy", 0.3, NULL },
        { "f2", 0.3, NULL },
        { "g-mean", 0.3, "is not a weighted sum, ratio" },
        { "mcc", 0.3, "is not a weighted sum, ratio" },
        { "accuracy", 0, "share of positives is 0" },
        { "accuracy", 1, "share of positives is 1" },
        { "accuracy", (double)NAN, "share of positives is nan" },
        { "f-1", 0.3, "not a measure known by name" },
    };
    static const char *const names[] = { "no", "yes" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = (mel_metric *)&rows;
        mel_error err = { 0 };
        const mel_status status = mel_metric_named(&metric, rows[i].name, rows[i].positives, names, &err);
        if (rows[i].says == NULL) {
            assert_ok(status, &err);
            assert_string_equal(mel_metric_class_name(metric, 1), "yes");
        } else {
            assert_int_equal(status, MEL_EINVAL);
            assert_null(metric);
            if (strstr(err.text, rows[i].says) == NULL)
                fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        }
        mel_metric_free(metric);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
