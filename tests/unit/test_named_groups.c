/* Well-known measures of rates: values by hand, names, refusals. */
#include "support/test.h"

#include "metric/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double value(const char *name, const char *gap, size_t k, size_t m, const double *confusion)
{
    char text[100];
    double out = (double)NAN;
    mel_error err = { 0 };
    mel_measure *measure = NULL;
    (void)snprintf(text, sizeof text, "%s%s", name, gap);
    assert_ok(mel_measure_named(&measure, text, k, m, &err), &err);
    assert_ok(mel_measure_value(&out, measure, confusion, &err), &err);
    mel_measure_free(measure);
    return out;
}

/* Confusions of groups from rates off the diagonal and P(Y=i | G=g); group g counts g + 1 times as much. */
static void fill(double *confusion, size_t k, size_t m, const double *off, const double *shares)
{
    for (size_t g = 0; g < m; g++)
        for (size_t i = 0; i < k; i++) {
            const double mass = shares[g * k + i] * (double)(g + 1);
            double wrong = 0, *row = confusion + (g * k + i) * k;
            for (size_t j = 0; j < k; j++)
                if (j != i) {
                    const double rate = off[(g * k + i) * (k - 1) + (j < i ? j : j - 1)];
                    row[j] = mass * rate;
                    wrong += rate;
                }
            row[i] = mass * (1 - wrong);
        }
}

/* Three groups, two classes: false alarms 0.1, 0.2, 0.4; missed positives 0.5, 0.25, 0.25. */
static const double three_groups[] = { 0.1, 0.5, 0.2, 0.25, 0.4, 0.25 };
/* P(Y=i | G=g) */
static const double three_shares[] = { 0.5, 0.5, 0.75, 0.25, 0.25, 0.75 };

static void test_groups(void **state)
{
    (void)state;
    double c[12];
    fill(c, 2, 3, three_groups, three_shares);
    /* false alarms: gaps 0.1, 0.3, 0.2; missed: 0.25, 0.25, 0 */
    const double fp2 = 0.01 + 0.09 + 0.04, fn2 = 2 * 0.0625, fp1 = 0.6, fn1 = 0.5;
    /* positive predictions: 0.5*0.1 + 0.5*0.5, 0.75*0.2 + 0.25*0.75, 0.25*0.4 + 0.75*0.75 */
    const double s[] = { 0.3, 0.3375, 0.6625 };
    const double d[] = { s[1] - s[0], s[2] - s[0], s[2] - s[1] };
    const struct {
        const char *name;
        double squared, absolute, largest;
    } rows[] = {
        { "equalised-odds", fp2 + fn2, fp1 + fn1, 0.3 },
        { "equal-opportunity", fn2, fn1, 0.25 },
        { "negative-balance", fp2, fp1, 0.3 },
        { "error-rate-balance", (fp2 + fn2) / 2, (fp1 + fn1) / 2, 0.275 },
        { "demographic-parity", d[0] * d[0] + d[1] * d[1] + d[2] * d[2], d[0] + d[1] + d[2], d[1] },
        { "equalised-odds:1,4", fp2 + 4 * fn2, fp1 + 4 * fn1, 1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_close(value(rows[i].name, ":squared", 2, 3, c), rows[i].squared, 1e-15);
        assert_close(value(rows[i].name, ":absolute", 2, 3, c), rows[i].absolute, 1e-15);
        assert_close(value(rows[i].name, ":largest", 2, 3, c), rows[i].largest, 1e-15);
        assert_close(value(rows[i].name, "", 2, 3, c), rows[i].largest, 1e-15);
    }
}

static void test_no_groups(void **state)
{
    (void)state;
    /* errors 0.3, 0.5, 0.1; predictions 0.5*(0.7, 0.1, 0.2) + 0.25*(0.25, 0.5, 0.25) + 0.25*(0, 0.1, 0.9) */
    const double off[] = { 0.1, 0.2, 0.25, 0.25, 0, 0.1 };
    const double shares[] = { 0.5, 0.25, 0.25 }, target[] = { 0.4, 0.2, 0.4 };
    const double predicted[] = { 0.4125, 0.2, 0.3875 };
    double c[9];
    fill(c, 3, 1, off, shares);
    assert_close(value("q-mean", "", 3, 0, c), (0.09 + 0.25 + 0.01) / 3, 1e-15);
    assert_close(value("q-mean", ":absolute", 3, 0, c), 0.3, 1e-15);
    assert_close(value("q-mean", ":largest", 3, 0, c), 0.5, 1e-15);
    assert_close(value("q-mean", ":1,0,3", 3, 0, c), (0.09 + 3 * 0.01) / 4, 1e-15);
    double own = 0, other = 0, own_abs = 0, largest = 0;
    for (size_t i = 0; i < 3; i++) {
        own += pow(predicted[i] - shares[i], 2);
        own_abs += fabs(predicted[i] - shares[i]);
        largest = fmax(largest, fabs(predicted[i] - shares[i]));
        other += pow(predicted[i] - target[i], 2);
    }
    assert_close(value("distribution-matching", "", 3, 0, c), own, 1e-15);
    assert_close(value("distribution-matching", ":absolute", 3, 0, c), own_abs, 1e-15);
    assert_close(value("distribution-matching", ":largest", 3, 0, c), largest, 1e-15);
    assert_close(value("distribution-matching", ":0.4,0.2,0.4", 3, 1, c), other, 1e-15);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text, *same; /* same: as this one; NULL: refused */
        size_t groups;
    } rows[] = {
        { "Q_Mean", "q-mean:squared", 0 },
        { "distribution matching", "distribution-matching:squared", 0 },
        { "equalised-odds", "equalised-odds:largest", 3 },
        { "Equalized Odds", "equalised-odds:largest", 3 },
        { "equalized_odds_difference", "equalised-odds:largest", 3 },
        { "equal-opportunity", "recall:difference", 3 },
        { "demographic_parity_difference", "selection-rate:difference", 3 },
        { "false_positive_rate_difference", "negative-balance", 3 },
        { "error-rate-balance", "error-rate-balance:largest", 3 },
        { "q_mean_difference", "q-mean:difference", 3 },
        { "g_mean_difference", "g-mean:difference", 3 },
        { "recall:difference:ratio", NULL, 3 },
        { "recall_difference:ratio", NULL, 3 },
        { "g-mean:every-group:difference", NULL, 3 },
        { "g-mean:every-group:every-group", NULL, 3 },
        { "demographic-parity:squared:absolute", NULL, 3 },
        { "demographic-parity:", NULL, 3 },
        { "demographic-parity:cubed", NULL, 3 },
        { "parity", NULL, 3 },
        { "", NULL, 3 },
        { "q-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-mean", NULL, 0 },
    };
    double c[12];
    fill(c, 2, 3, three_groups, three_shares);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  \"%s\"\n", rows[i].text);
        mel_measure *measure = NULL;
        mel_error err = { 0 };
        if (rows[i].same == NULL) {
            assert_int_equal(mel_measure_named(&measure, rows[i].text, 2, rows[i].groups, &err), MEL_EINVAL);
            assert_non_null(strstr(err.text, "is not a measure known by name"));
        } else {
            assert_close(value(rows[i].text, "", 2, rows[i].groups, c),
                         value(rows[i].same, "", 2, rows[i].groups, c), 1e-15);
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t k, m;
        const char *says;
    } rows[] = {
        { "distribution-matching", 2, 2, "without groups" },
        { "equalised-odds", 2, 1, "needs groups" },
        { "equal-opportunity", 3, 2, "two classes, not 3" },
        { "distribution-matching:0.5,0.6", 2, 0, "the shares sum to 1.1" },
        { "distribution-matching:-0.5,1.5", 2, 0, "number 1 is not one of at least 0" },
        { "q-mean:0,0", 2, 0, "all are 0" },
        { "q-mean", 1, 0, "1 classes" },
        { "psd-q", 2, 0, "a matrix row by row" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_measure *measure = NULL;
        mel_error err = { 0 };
        assert_int_equal(mel_measure_named(&measure, rows[i].name, rows[i].k, rows[i].m, &err), MEL_EINVAL);
        assert_null(measure);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_no_groups),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
