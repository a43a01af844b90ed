/* Bounds for people: rounded to the side on which they hold, never less than one of a kind, in one grammar.
 */
#include "support/test.h"

#include "base/digits.h"
#include "metric/shared.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_digits(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *more, *less;
    } rows[] = { { 202.0, "200", "210" },        { 14.04, "14", "15" },       { 14.0, "14", "14" },
                 { 0.0832, "0.083", "0.084" },   { 0.083, "0.083", "0.083" }, { 99.6, "99", "100" },
                 { 9.96, "9.9", "10" },          { 1.0, "1", "1" },           { 7.3, "7.3", "7.3" },
                 { 12345.0, "12,000", "13,000" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(mel_digits_more_than(rows[i].x).text, rows[i].more);
        assert_string_equal(mel_digits_less_than(rows[i].x).text, rows[i].less);
    }
    for (double x = 1e-4; x < 1e6; x *= 1.0173) { /* the bound holds wherever the number does */
        char text[64] = "";
        size_t n = 0;
        for (const char *p = mel_digits_more_than(x).text; *p != '\0'; p++)
            if (*p != ',')
                text[n++] = *p;
        const double more = strtod(text, NULL);
        assert_true(more <= x * (1.0 + 1e-9) && more > 0.9 * x);
    }
}

static mel_outcome *found(double ratio, double low, double high)
{
    static const char *const names[] = { "healthy", "cancer" };
    static const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    mel_outcome_options opt;
    mel_outcome *out = NULL;
    mel_metric *metric = NULL;
    mel_error err;
    mel_outcome_options_init(&opt);
    opt.missed = "missed cancer";
    opt.missed_plural = "missed cancers";
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, names, MEL_UTILITY,
                                (double[]){ ratio, 1.0 }, &err),
              &err);
    assert_ok(mel_metric_set_intervals(metric, (double[]){ low, isinf(high) ? 0.0 : 1.0 },
                                       (double[]){ isinf(high) ? low : high, 1.0 }, &err),
              &err);
    assert_ok(mel_outcome_of_metric(&out, metric, &opt, &err), &err);
    mel_metric_free(metric);
    return out;
}

static void test_comparisons(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        const char *want;
    } rows[] = {
        { 5.8, 9.2, "one missed cancer counts as much as 5.8 to 9.2 false alarms" },
        { 202.0, INFINITY, "one missed cancer counts more than 200 false alarms" },
        { 0.0, 14.04, "one missed cancer counts less than 15 false alarms" },
        { 0.0, 0.083, "one false alarm counts more than 12 missed cancers" },
        { 0.0, 0.97, "one false alarm counts more than 1 missed cancer" },
        { 0.08, INFINITY, "one false alarm counts less than 13 missed cancers" },
        { 0.1, 0.25, "one false alarm counts as much as 4 to 10 missed cancers" },
        { 0.5, 2.0, "one missed cancer counts as much as 0.5 to 2 false alarms" },
        { 0.0, INFINITY, "whatever the two mistakes count" },
    };
    mel_outcome *out = found(7.0, 5.0, 9.0);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(mel_outcome_compare((mel_outcome_work *)out, rows[i].low, rows[i].high),
                            rows[i].want);
    assert_string_equal(mel_outcome_weigh((mel_outcome_work *)out, 10.0, 3.0), "as much as 73 false alarms");
    assert_string_equal(mel_outcome_weigh((mel_outcome_work *)out, 0.0, 1.0), "as much as 1 false alarm");
    assert_string_equal(mel_outcome_weigh((mel_outcome_work *)out, 0.0, 0.0), "nothing");
    mel_outcome_free(out);
    out = found(300.0, 202.0, INFINITY);
    assert_string_equal(mel_outcome_weigh((mel_outcome_work *)out, 1.0, 9.0), "more than 210 false alarms");
    assert_string_equal(mel_outcome_weigh((mel_outcome_work *)out, 0.0, 9.0), "as much as 9 false alarms");
    assert_non_null(strstr(out->words, "95% at least 200."));
    mel_outcome_free(out);
    out = found(3.0, 0.0, 14.04);
    assert_string_equal(mel_outcome_weigh((mel_outcome_work *)out, 1.0, 0.0), "less than 15 false alarms");
    assert_non_null(strstr(out->words, "95% at most 15."));
    mel_outcome_free(out);
}

static void test_ranges(void **state)
{
    (void)state;
    char text[MEL_RANGE_TEXT];
    mel_ratio_text(text, (mel_estimate){ 7.31, 5.84, 9.21 });
    assert_string_equal(text, "7.3 (5.8 to 9.2)");
    mel_ratio_text(text, (mel_estimate){ 400.0, 202.0, INFINITY });
    assert_string_equal(text, "more than 200");
    mel_ratio_text(text, (mel_estimate){ 3.0, 0.0, 14.04 });
    assert_string_equal(text, "less than 15");
    mel_ratio_text(text, (mel_estimate){ 3.0, NAN, NAN });
    assert_string_equal(text, "3");
    mel_ratio_text(text, (mel_estimate){ 3.0, 0.0, INFINITY });
    assert_string_equal(text, "not known");
    mel_chance_text(text, (mel_estimate){ 0.05, 0.0, 0.121 });
    assert_string_equal(text, "less than 13%");
    mel_chance_text(text, (mel_estimate){ 0.5, 0.428, 1.0 });
    assert_string_equal(text, "more than 42%");
    mel_chance_text(text, (mel_estimate){ 0.096, 0.081, 0.12 });
    assert_string_equal(text, "9.6% (8.1% to 12%)");
}

/* Shares of two weights: (x/y in r) is (share in r/(1 + r)), whatever the intervals of each are. */
static void test_shares(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "flu" };
    const mel_layout two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    mel_metric *metric = NULL;
    mel_outcome *out = NULL;
    mel_error err;
    assert_ok(
        mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &two, names, MEL_COST, (double[]){ 1.0, 3.2 }, &err),
        &err);
    assert_ok(mel_metric_set_intervals(metric, (double[]){ 1.0, 3.0 }, (double[]){ 1.25, 4.0 }, &err), &err);
    assert_ok(mel_outcome_of_metric(&out, metric, NULL, &err), &err);
    mel_cost_ratio ratio;
    assert_ok(mel_metric_weight_ratio(&ratio, metric, 1, 0, &err), &err);
    const mel_estimate heavy = out->weights[1].share, light = out->weights[0].share;
    assert_close(heavy.low, ratio.low / (1.0 + ratio.low), 1e-12);
    assert_close(heavy.high, ratio.high / (1.0 + ratio.high), 1e-12);
    assert_close(light.low, 1.0 - heavy.high, 1e-12);
    assert_close(light.high, 1.0 - heavy.low, 1e-12);
    mel_outcome_free(out);
    /* One of them may be a gain. */
    assert_ok(mel_metric_set_intervals(metric, (double[]){ -1.0, 3.0 }, (double[]){ 1.0, 4.0 }, &err), &err);
    double ends[2];
    assert_true(mel_metric_share_interval(ends, metric, 0, 2, 0, 1.0));
    assert_close(ends[0], -0.25, 1e-12);
    assert_close(ends[1], 0.25, 1e-12);
    assert_true(mel_metric_share_interval(ends, metric, 0, 2, 1, 1.0));
    assert_close(ends[0], 0.75, 1e-12);
    assert_close(ends[1], 1.0, 1e-12);
    mel_metric_free(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
