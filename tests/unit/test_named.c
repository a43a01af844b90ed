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
        mel_named metric;
        double parameter;
    } rows[] = {
        { "accuracy", MEL_OK, MEL_NAMED_ACCURACY, 1 },
        { "Accuracy", MEL_OK, MEL_NAMED_ACCURACY, 1 },
        { "balanced-accuracy", MEL_OK, MEL_NAMED_BALANCED_ACCURACY, 1 },
        { "balanced_accuracy", MEL_OK, MEL_NAMED_BALANCED_ACCURACY, 1 },
        { "balanced accuracy", MEL_OK, MEL_NAMED_BALANCED_ACCURACY, 1 },
        { "weighted-accuracy:7", MEL_OK, MEL_NAMED_WEIGHTED_ACCURACY, 7 },
        { "weighted-accuracy:0.5", MEL_OK, MEL_NAMED_WEIGHTED_ACCURACY, 0.5 },
        { "f1", MEL_OK, MEL_NAMED_FBETA, 1 },
        { "F2", MEL_OK, MEL_NAMED_FBETA, 2 },
        { "f0.5", MEL_OK, MEL_NAMED_FBETA, 0.5 },
        { "fbeta:0.5", MEL_OK, MEL_NAMED_FBETA, 0.5 },
        { "jaccard", MEL_OK, MEL_NAMED_JACCARD, 1 },
        { "precision", MEL_OK, MEL_NAMED_PRECISION, 1 },
        { "recall", MEL_OK, MEL_NAMED_RECALL, 1 },
        { "specificity", MEL_OK, MEL_NAMED_SPECIFICITY, 1 },
        { "gmean", MEL_OK, MEL_NAMED_GMEAN, 1 },
        { "G-mean", MEL_OK, MEL_NAMED_GMEAN, 1 },
        { "MCC", MEL_OK, MEL_NAMED_MCC, 1 },
        { "", MEL_EINVAL, 0, 0 },
        { "f", MEL_EINVAL, 0, 0 },
        { "f0", MEL_EINVAL, 0, 0 },
        { "f-1", MEL_EINVAL, 0, 0 },
        { "f1x", MEL_EINVAL, 0, 0 },
        { "finf", MEL_EINVAL, 0, 0 },
        { "f1e300", MEL_EINVAL, 0, 0 },
        { "fbeta", MEL_EINVAL, 0, 0 },
        { "fbeta:", MEL_EINVAL, 0, 0 },
        { "weighted-accuracy", MEL_EINVAL, 0, 0 },
        { "weighted-accuracy:x", MEL_EINVAL, 0, 0 },
        { "weighted-accuracy:-7", MEL_EINVAL, 0, 0 },
        { "accuracy:2", MEL_EINVAL, 0, 0 },
        { "auc", MEL_EINVAL, 0, 0 },
        { "a name that is longer than any of the metrics that are known here by name", MEL_EINVAL, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_named metric = (mel_named)99;
        double parameter = -5;
        mel_error err = { 0 };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(mel_named_parse(&metric, &parameter, rows[i].text, &err), rows[i].status);
        if (rows[i].status == MEL_OK) {
            assert_int_equal(metric, rows[i].metric);
            assert_true(parameter == rows[i].parameter);
        } else {
            assert_true(metric == (mel_named)99 && parameter == -5 && err.text[0] != '\0');
        }
    }
}

static double value(mel_named metric, double parameter, double tp, double fp, double fn, double tn)
{
    const mel_counts counts = { tp, fp, fn, tn };
    double out = (double)NAN;
    mel_error err = { 0 };
    assert_ok(mel_named_value(&out, metric, parameter, &counts, &err), &err);
    return out;
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        mel_named metric;
        double parameter, tp, fp, fn, tn, want;
    } rows[] = {
        { "accuracy", MEL_NAMED_ACCURACY, 1, 30, 10, 5, 55, 0.85 },
        { "balanced", MEL_NAMED_BALANCED_ACCURACY, 1, 30, 10, 10, 50, (0.75 + 50.0 / 60) / 2 },
        { "balanced, no positives", MEL_NAMED_BALANCED_ACCURACY, 1, 0, 10, 0, 30, 0.75 },
        { "balanced, no negatives", MEL_NAMED_BALANCED_ACCURACY, 1, 30, 0, 10, 0, 0.75 },
        { "weighted", MEL_NAMED_WEIGHTED_ACCURACY, 3, 30, 10, 10, 50, 140.0 / 180 },
        { "F1", MEL_NAMED_FBETA, 1, 30, 10, 20, 40, 60.0 / 90 },
        { "F2", MEL_NAMED_FBETA, 2, 30, 10, 20, 40, 150.0 / (150 + 80 + 10) },
        { "F1 of nothing found", MEL_NAMED_FBETA, 1, 0, 10, 20, 40, 0 },
        { "F1 of nothing at all", MEL_NAMED_FBETA, 1, 0, 0, 0, 40, 0 },
        { "huge beta is recall", MEL_NAMED_FBETA, 1e100, 30, 10, 20, 40, 0.6 },
        { "tiny beta is precision", MEL_NAMED_FBETA, 1e-100, 30, 10, 20, 40, 0.75 },
        { "Jaccard", MEL_NAMED_JACCARD, 1, 30, 10, 20, 40, 0.5 },
        { "Jaccard of nothing", MEL_NAMED_JACCARD, 1, 0, 0, 0, 40, 0 },
        { "precision", MEL_NAMED_PRECISION, 1, 30, 10, 20, 40, 0.75 },
        { "precision of nothing", MEL_NAMED_PRECISION, 1, 0, 0, 20, 40, 0 },
        { "recall", MEL_NAMED_RECALL, 1, 30, 10, 20, 40, 0.6 },
        { "recall without positives", MEL_NAMED_RECALL, 1, 0, 10, 0, 40, 0 },
        { "specificity", MEL_NAMED_SPECIFICITY, 1, 30, 10, 20, 40, 0.8 },
        { "specificity without negatives", MEL_NAMED_SPECIFICITY, 1, 30, 0, 20, 0, 0 },
        { "G-mean", MEL_NAMED_GMEAN, 1, 30, 10, 20, 40, 0.69282032302755092 },
        { "MCC", MEL_NAMED_MCC, 1, 30, 10, 20, 40, 1000 / 2449.4897427831781 },
        { "MCC perfect", MEL_NAMED_MCC, 1, 37, 0, 0, 113, 1 },
        { "MCC reversed", MEL_NAMED_MCC, 1, 0, 37, 113, 0, -1 },
        { "MCC one class predicted", MEL_NAMED_MCC, 1, 30, 10, 0, 0, 0 },
        { "MCC one class true", MEL_NAMED_MCC, 1, 30, 0, 10, 0, 0 },
        { "MCC of chance", MEL_NAMED_MCC, 1, 10, 20, 30, 60, 0 },
        { "MCC of huge counts", MEL_NAMED_MCC, 1, 30e300, 10e300, 20e300, 40e300, 1000 / 2449.4897427831781 },
        { "MCC of tiny shares", MEL_NAMED_MCC, 1, 30e-300, 10e-300, 20e-300, 40e-300,
          1000 / 2449.4897427831781 },
        { "accuracy of huge counts", MEL_NAMED_ACCURACY, 1, 1e308, 0, 1e308, 0, 0.5 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        assert_close(value(rows[i].metric, rows[i].parameter, rows[i].tp, rows[i].fp, rows[i].fn, rows[i].tn),
                     rows[i].want, 1e-15);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        mel_named metric;
        double parameter;
        mel_counts counts;
        const char *says;
    } rows[] = {
        { "all zero", MEL_NAMED_ACCURACY, 1, { 0, 0, 0, 0 }, "all four" },
        { "negative", MEL_NAMED_ACCURACY, 1, { 1, -2, 0, 0 }, "FP is -2" },
        { "not a number", MEL_NAMED_MCC, 1, { 1, 0, (double)NAN, 0 }, "FN is nan" },
        { "infinite", MEL_NAMED_MCC, 1, { 1, 0, 0, (double)INFINITY }, "TN is inf" },
        { "beta of zero", MEL_NAMED_FBETA, 0, { 1, 1, 1, 1 }, "beta 0" },
        { "beta not a number", MEL_NAMED_FBETA, (double)NAN, { 1, 1, 1, 1 }, "beta nan" },
        { "negative weight", MEL_NAMED_WEIGHTED_ACCURACY, -1, { 1, 1, 1, 1 }, "weight -1" },
        { "no such metric", (mel_named)99, 1, { 1, 1, 1, 1 }, "no named metric 99" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double out = 42;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].what);
        assert_int_equal(mel_named_value(&out, rows[i].metric, rows[i].parameter, &rows[i].counts, &err),
                         MEL_EINVAL);
        assert_true(out == 42);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

static void test_objects(void **state)
{
    (void)state;
    static const struct {
        mel_named metric;
        double parameter, positives;
        const char *says; /* NULL: made */
    } rows[] = {
        { MEL_NAMED_ACCURACY, 1, 0.3, NULL },
        { MEL_NAMED_FBETA, 2, 0.3, NULL },
        { MEL_NAMED_GMEAN, 1, 0.3, "gmean is neither linear" },
        { MEL_NAMED_MCC, 1, 0.3, "mcc is neither linear" },
        { MEL_NAMED_ACCURACY, 1, 0, "share of positives is 0" },
        { MEL_NAMED_ACCURACY, 1, 1, "share of positives is 1" },
        { MEL_NAMED_ACCURACY, 1, (double)NAN, "share of positives is nan" },
        { MEL_NAMED_FBETA, -1, 0.3, "beta -1" },
    };
    static const char *const names[] = { "no", "yes" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = (mel_metric *)&rows;
        mel_error err = { 0 };
        const mel_status status =
            mel_metric_named(&metric, rows[i].metric, rows[i].parameter, rows[i].positives, names, &err);
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
