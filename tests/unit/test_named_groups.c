/* Well-known measures of rates: values by hand, names, refusals. */
#include "support/test.h"

#include "metric/shared.h"

#include <math.h>
#include <string.h>

static double value(mel_named_rates metric, mel_gap gap, const mel_group_rates *rates)
{
    double out = (double)NAN;
    mel_error err = { 0 };
    assert_ok(mel_named_rates_value(&out, metric, gap, rates, &err), &err);
    return out;
}

/* Three groups, two classes: false alarms 0.1, 0.2, 0.4; missed positives 0.5, 0.25, 0.25. */
static const double three_groups[] = { 0.1, 0.5, 0.2, 0.25, 0.4, 0.25 };
/* P(Y=i | G=g) */
static const double three_shares[] = { 0.5, 0.5, 0.75, 0.25, 0.25, 0.75 };

static void test_groups(void **state)
{
    (void)state;
    const mel_group_rates r = {
        { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 }, three_groups, three_shares, NULL, NULL
    };
    /* false alarms: gaps 0.1, 0.3, 0.2; missed: 0.25, 0.25, 0 */
    const double fp2 = 0.01 + 0.09 + 0.04, fn2 = 2 * 0.0625, fp1 = 0.6, fn1 = 0.5;
    /* positive predictions: 0.5*0.1 + 0.5*0.5, 0.75*0.2 + 0.25*0.75, 0.25*0.4 + 0.75*0.75 */
    const double s[] = { 0.3, 0.3375, 0.6625 };
    const double d[] = { s[1] - s[0], s[2] - s[0], s[2] - s[1] };
    const struct {
        mel_named_rates metric;
        double squared, absolute, largest;
    } rows[] = {
        { MEL_RATES_EQUALISED_ODDS, fp2 + fn2, fp1 + fn1, 0.3 },
        { MEL_RATES_EQUAL_OPPORTUNITY, fn2, fn1, 0.25 },
        { MEL_RATES_NEGATIVE_BALANCE, fp2, fp1, 0.3 },
        { MEL_RATES_ERROR_RATE_BALANCE, (fp2 + fn2) / 2, (fp1 + fn1) / 2, 0.275 },
        { MEL_RATES_DEMOGRAPHIC_PARITY, d[0] * d[0] + d[1] * d[1] + d[2] * d[2], d[0] + d[1] + d[2], d[1] },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  measure %d\n", (int)rows[i].metric);
        assert_close(value(rows[i].metric, MEL_GAP_SQUARED, &r), rows[i].squared, 1e-15);
        assert_close(value(rows[i].metric, MEL_GAP_ABSOLUTE, &r), rows[i].absolute, 1e-15);
        assert_close(value(rows[i].metric, MEL_GAP_LARGEST, &r), rows[i].largest, 1e-15);
    }
}

/* The same classifier in the three kinds of coordinates. */
static void test_coordinates(void **state)
{
    (void)state;
    const double binary[] = { 0.5, 0.9, 0.75, 0.8, 0.75, 0.6 },
                 diagonal[] = { 0.9, 0.5, 0.8, 0.75, 0.6, 0.75 };
    const mel_group_rates same[] = {
        { { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 }, three_groups, three_shares, NULL, NULL },
        { { MEL_RATES, MEL_BINARY, 2, 3 }, binary, three_shares, NULL, NULL },
        { { MEL_RATES, MEL_DIAGONAL, 2, 3 }, diagonal, three_shares, NULL, NULL },
    };
    for (int metric = MEL_RATES_EQUALISED_ODDS; metric <= MEL_RATES_DEMOGRAPHIC_PARITY; metric++)
        for (int gap = MEL_GAP_SQUARED; gap <= MEL_GAP_LARGEST; gap++) {
            const double want = value((mel_named_rates)metric, (mel_gap)gap, &same[0]);
            assert_close(value((mel_named_rates)metric, (mel_gap)gap, &same[1]), want, 1e-15);
            assert_close(value((mel_named_rates)metric, (mel_gap)gap, &same[2]), want, 1e-15);
        }
}

static void test_no_groups(void **state)
{
    (void)state;
    /* errors 0.3, 0.5, 0.1; predictions 0.5*(0.7, 0.1, 0.2) + 0.25*(0.25, 0.5, 0.25) + 0.25*(0, 0.1, 0.9) */
    const double off[] = { 0.1, 0.2, 0.25, 0.25, 0, 0.1 }, right[] = { 0.7, 0.5, 0.9 };
    const double shares[] = { 0.5, 0.25, 0.25 }, target[] = { 0.4, 0.2, 0.4 };
    const double predicted[] = { 0.4125, 0.2, 0.3875 };
    const mel_group_rates r = { { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 }, off, shares, NULL, NULL };
    const mel_group_rates to = { { MEL_RATES, MEL_OFFDIAGONAL, 3, 1 }, off, shares, target, NULL };
    const mel_group_rates diagonal = { { MEL_RATES, MEL_DIAGONAL, 3, 0 }, right, NULL, NULL, NULL };
    assert_close(value(MEL_RATES_Q_MEAN, MEL_GAP_SQUARED, &r), (0.09 + 0.25 + 0.01) / 3, 1e-15);
    assert_close(value(MEL_RATES_Q_MEAN, MEL_GAP_ABSOLUTE, &r), 0.3, 1e-15);
    assert_close(value(MEL_RATES_Q_MEAN, MEL_GAP_LARGEST, &r), 0.5, 1e-15);
    assert_close(value(MEL_RATES_Q_MEAN, MEL_GAP_SQUARED, &diagonal), (0.09 + 0.25 + 0.01) / 3, 1e-15);
    double own = 0, other = 0, own_abs = 0, largest = 0;
    for (size_t i = 0; i < 3; i++) {
        own += pow(predicted[i] - shares[i], 2);
        own_abs += fabs(predicted[i] - shares[i]);
        largest = fmax(largest, fabs(predicted[i] - shares[i]));
        other += pow(predicted[i] - target[i], 2);
    }
    assert_close(value(MEL_RATES_DISTRIBUTION_MATCHING, MEL_GAP_SQUARED, &r), own, 1e-15);
    assert_close(value(MEL_RATES_DISTRIBUTION_MATCHING, MEL_GAP_ABSOLUTE, &r), own_abs, 1e-15);
    assert_close(value(MEL_RATES_DISTRIBUTION_MATCHING, MEL_GAP_LARGEST, &r), largest, 1e-15);
    assert_close(value(MEL_RATES_DISTRIBUTION_MATCHING, MEL_GAP_SQUARED, &to), other, 1e-15);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_status status;
        mel_named_rates metric;
        mel_gap gap;
    } rows[] = {
        { "q-mean", MEL_OK, MEL_RATES_Q_MEAN, MEL_GAP_SQUARED },
        { "Q_Mean:absolute", MEL_OK, MEL_RATES_Q_MEAN, MEL_GAP_ABSOLUTE },
        { "distribution matching", MEL_OK, MEL_RATES_DISTRIBUTION_MATCHING, MEL_GAP_SQUARED },
        { "equalised-odds:largest", MEL_OK, MEL_RATES_EQUALISED_ODDS, MEL_GAP_LARGEST },
        { "Equalized Odds", MEL_OK, MEL_RATES_EQUALISED_ODDS, MEL_GAP_SQUARED },
        { "equal-opportunity:squared", MEL_OK, MEL_RATES_EQUAL_OPPORTUNITY, MEL_GAP_SQUARED },
        { "negative-balance", MEL_OK, MEL_RATES_NEGATIVE_BALANCE, MEL_GAP_SQUARED },
        { "error-rate-balance", MEL_OK, MEL_RATES_ERROR_RATE_BALANCE, MEL_GAP_SQUARED },
        { "demographic-parity", MEL_OK, MEL_RATES_DEMOGRAPHIC_PARITY, MEL_GAP_SQUARED },
        { "demographic-parity:", MEL_EINVAL, 0, 0 },
        { "demographic-parity:cubed", MEL_EINVAL, 0, 0 },
        { "parity", MEL_EINVAL, 0, 0 },
        { "", MEL_EINVAL, 0, 0 },
        { "q-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-meanq-mean", MEL_EINVAL, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  \"%s\"\n", rows[i].text);
        mel_named_rates metric = MEL_RATES_Q_MEAN;
        mel_gap gap = MEL_GAP_SQUARED;
        mel_error err = { 0 };
        assert_int_equal(mel_named_rates_parse(&metric, &gap, rows[i].text, &err), rows[i].status);
        assert_int_equal(metric, rows[i].metric);
        assert_int_equal(gap, rows[i].gap);
        if (rows[i].status != MEL_OK)
            assert_non_null(strstr(err.text, "is not a measure of rates known by name"));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const double rates[12] = { 0.1, 0.2, 0.1, 0.2, 0.1, 0.2 }, above[2] = { 0.5, 1.5 };
    static const double none[2] = { 0.5, (double)NAN }, shares[] = { 0.5, 0.6, 0.5, 0.5 },
                        half[] = { 0.5, 0.5 };
    static const double negative[] = { -0.5, 1.5 };
    static const struct {
        const char *what;
        mel_named_rates metric;
        mel_group_rates rates;
        const char *says;
    } rows[] = {
        { "confusion",
          MEL_RATES_Q_MEAN,
          { { MEL_CONFUSION, MEL_DIAGONAL, 2, 0 }, rates, NULL, NULL, NULL },
          "not of confusion" },
        { "one class",
          MEL_RATES_Q_MEAN,
          { { MEL_RATES, MEL_DIAGONAL, 1, 0 }, rates, NULL, NULL, NULL },
          "1 classes" },
        { "groups",
          MEL_RATES_Q_MEAN,
          { { MEL_RATES, MEL_DIAGONAL, 2, 2 }, rates, NULL, NULL, NULL },
          "without groups, not for 2" },
        { "no groups",
          MEL_RATES_EQUALISED_ODDS,
          { { MEL_RATES, MEL_BINARY, 2, 1 }, rates, NULL, NULL, NULL },
          "for two or more groups, not for 1" },
        { "three classes",
          MEL_RATES_EQUAL_OPPORTUNITY,
          { { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 }, rates, NULL, NULL, NULL },
          "two classes, not 3" },
        { "diagonal",
          MEL_RATES_EQUALISED_ODDS,
          { { MEL_RATES, MEL_DIAGONAL, 3, 2 }, rates, NULL, NULL, NULL },
          "off-diagonal" },
        { "no shares",
          MEL_RATES_DEMOGRAPHIC_PARITY,
          { { MEL_RATES, MEL_BINARY, 2, 2 }, rates, NULL, NULL, NULL },
          "needs the shares" },
        { "bad shares",
          MEL_RATES_DEMOGRAPHIC_PARITY,
          { { MEL_RATES, MEL_BINARY, 2, 2 }, rates, shares, NULL, NULL },
          "the shares sum to 1.1" },
        { "negative",
          MEL_RATES_DISTRIBUTION_MATCHING,
          { { MEL_RATES, MEL_BINARY, 2, 0 }, rates, half, negative, NULL },
          "target share of class 1: -0.5" },
        { "above 1",
          MEL_RATES_Q_MEAN,
          { { MEL_RATES, MEL_BINARY, 2, 0 }, above, NULL, NULL, NULL },
          "rate 2 is 1.5" },
        { "no number",
          MEL_RATES_Q_MEAN,
          { { MEL_RATES, MEL_BINARY, 2, 0 }, none, NULL, NULL, NULL },
          "rate 2 is" },
        { "unknown",
          (mel_named_rates)99,
          { { MEL_RATES, MEL_BINARY, 2, 0 }, rates, NULL, NULL, NULL },
          "no named measure" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        double out = 7;
        mel_error err = { 0 };
        assert_int_equal(mel_named_rates_value(&out, rows[i].metric, MEL_GAP_SQUARED, &rows[i].rates, &err),
                         MEL_EINVAL);
        assert_true(out == 7);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups), cmocka_unit_test(test_coordinates), cmocka_unit_test(test_no_groups),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
