/* Metrics in plain words, and the text helpers behind them. */
#include "metric/text.h"
#include "support/test.h"

#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_words(const mel_metric *metric, const char *want)
{
    char *words = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_words(&words, metric, &err), &err);
    assert_string_equal(words, want);
    free(words);
}

static void test_binary_linear(void **state)
{
    (void)state;
    static const struct {
        const char *positive;
        double m11, m00;
        double low[2], high[2]; /* all zero: none */
        const char *want;
    } rows[] = {
        { "cancer",
          6.1,
          1,
          { 5.2, 1 },
          { 7.4, 1 },
          "One missed cancer case counts as much as 6.1 false alarms; 95% between 5.2 and 7.4." },
        { "cancer", 6.1, 1, { 0 }, { 0 }, "One missed cancer case counts as much as 6.1 false alarms." },
        { "cancer", 1, 3, { 0 }, { 0 }, "One false alarm counts as much as 3 missed cancer cases." },
        { "cancer",
          1,
          3,
          { 0.8, 2.5 },
          { 1.2, 3.5 },
          "One false alarm counts as much as 3 missed cancer cases; 95% between 2.1 and 4.4." },
        { "cancer", 1, 1, { 0 }, { 0 }, "One missed cancer case counts as much as one false alarm." },
        { "cancer",
          1.02,
          1,
          { 0.9, 1 },
          { 1.2, 1 },
          "One missed cancer case counts as much as one false alarm; 95% between 0.9 and 1.2." },
        { "cancer", 0.996, 1, { 0 }, { 0 }, "One missed cancer case counts as much as one false alarm." },
        { "cancer",
          123.4,
          1,
          { 100, 1 },
          { 160, 1 },
          "One missed cancer case counts as much as 123 false alarms; 95% between 100 and 160." },
        { "cancer",
          12345678901,
          1,
          { 0 },
          { 0 },
          "One missed cancer case counts as much as 1.2e+10 false alarms." },
        { "cancer", 12345, 1, { 0 }, { 0 }, "One missed cancer case counts as much as 12,300 false alarms." },
        { "cancer",
          5,
          1,
          { 4.999, 1 },
          { 5.001, 1 },
          "One missed cancer case counts as much as 5 false alarms; 95% between 4.999 and 5.001." },
        { "cancer",
          0.9,
          0.1,
          { 0.8, 0 },
          { 1, 0.2 },
          "One missed cancer case counts as much as 9 false alarms; 95% at least 4." },
        { "cancer",
          0.9,
          0.45,
          { -0.1, 0.4 },
          { 1, 0.5 },
          "One missed cancer case counts as much as 2 false alarms; 95% at most 2.5." },
        { "cancer",
          0.3,
          0.9,
          { 0, 0.8 },
          { 0.4, 1 },
          "One false alarm counts as much as 3 missed cancer cases; 95% at least 2." },
        { "cancer", 1, 0, { 0 }, { 0 }, "Only missed cancer cases matter; false alarms do not." },
        { "cancer", 0, 1, { 0 }, { 0 }, "Only false alarms matter; missed cancer cases do not." },
        { "cancer",
          -1,
          0,
          { 0 },
          { 0 },
          "This metric rewards missed cancer cases; false alarms do not matter." },
        { "cancer",
          0,
          -1,
          { 0 },
          { 0 },
          "This metric rewards false alarms; missed cancer cases do not matter." },
        { "cancer",
          1,
          -1,
          { 0 },
          { 0 },
          "This metric punishes missed cancer cases and rewards false alarms: predicting the positive class "
          "always "
          "is best." },
        { "cancer",
          -1,
          1,
          { 0 },
          { 0 },
          "This metric punishes false alarms and rewards missed cancer cases: predicting the positive class "
          "never "
          "is best." },
        { "cancer",
          -4,
          -1,
          { 0 },
          { 0 },
          "This metric rewards mistakes: one missed cancer case is worth as much as 4 false alarms." },
        { "cancer",
          0,
          0,
          { 0 },
          { 0 },
          "This metric does not tell classifiers apart: every weight is zero." },
        { "1", 4, 1, { 0 }, { 0 }, "One missed positive counts as much as 4 false alarms." },
        { "1", 1, 4, { 0 }, { 0 }, "One false alarm counts as much as 4 missed positives." },
        { "malignant", 1, 4, { 0 }, { 0 }, "One false alarm counts as much as 4 missed malignant cases." },
        { "M", 1, 4, { 0 }, { 0 }, "One false alarm counts as much as 4 missed cases of \"M\"." },
        { "spam", 1, 4, { 0 }, { 0 }, "One false alarm counts as much as 4 missed spam cases." },
    };
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const names[] = { "0", rows[i].positive };
        for (int orientation = MEL_UTILITY; orientation <= MEL_COST; orientation++) {
            const double sign = orientation == MEL_COST ? -1 : 1;
            const double a[] = { sign * rows[i].m11, sign * rows[i].m00 };
            double low[2], high[2];
            for (size_t j = 0; j < 2; j++) {
                low[j] = orientation == MEL_COST ? -rows[i].high[j] : rows[i].low[j];
                high[j] = orientation == MEL_COST ? -rows[i].low[j] : rows[i].high[j];
            }
            mel_metric *metric = NULL;
            assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, names,
                                        (mel_orientation)orientation, a, NULL),
                      NULL);
            if (rows[i].high[0] != 0.0)
                assert_ok(mel_metric_set_intervals(metric, low, high, NULL), NULL);
            assert_words(metric, rows[i].want);
            mel_metric_free(metric);
        }
    }
}

static void test_binary_fractional(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "cancer" };
    static const struct {
        const char *what;
        double p[2], p0, q[2], q0;
        const char *want;
    } rows[] = {
        { "F1",
          { 1, 0 },
          0,
          { 0.5, -0.5 },
          0.5,
          "How much a missed cancer case counts depends on how good the classifier is: as much as 9 false "
          "alarms "
          "where "
          "the metric is 0.2, 3 where it is 0.5, 1.5 where it is 0.8." },
        { "precision",
          { 1, 0 },
          0,
          { 1, -1 },
          0.7,
          "How much a missed cancer case counts depends on how good the classifier is: as much as 4 false "
          "alarms "
          "where "
          "the metric is 0.2, 1 where it is 0.5, 0.25 where it is 0.8." },
        { "no level in reach",
          { 1, -1 },
          0,
          { 0.1, 0.2 },
          1,
          "How much a missed cancer case counts depends on how good the classifier is." },
        { "parallel: orders like a linear metric",
          { 3, 1 },
          0.5,
          { -1.5, -0.5 },
          4,
          "One missed cancer case counts as much as 3 false alarms." },
        { "constant denominator",
          { 1, 4 },
          0,
          { 0, 0 },
          2,
          "One false alarm counts as much as 4 missed cancer cases." },
        { "constant numerator",
          { 0, 0 },
          1,
          { 2, 1 },
          3,
          "This metric rewards mistakes: one missed cancer case is worth as much as 2 false alarms." },
        { "constant",
          { 0, 0 },
          1,
          { 0, 0 },
          3,
          "This metric does not tell classifiers apart: every weight is zero." },
    };
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = NULL;
        print_message("  %s\n", rows[i].what);
        assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &layout, names, MEL_UTILITY,
                                        rows[i].p, rows[i].p0, rows[i].q, rows[i].q0, NULL),
                  NULL);
        assert_words(metric, rows[i].want);
        mel_metric_free(metric);
    }
}

static void test_more_classes(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "flu", "pneumonia" };
    const mel_layout diagonal = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 };
    const mel_layout offdiagonal = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    const mel_layout rates = { MEL_RATES, MEL_BINARY, 2, 2 };
    mel_metric *metric = NULL;
    const double a[] = { 0.2, 0.3, 0.5 }, low[] = { 0.15, 0.25, 0.45 }, high[] = { 0.25, 0.35, 0.55 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_DIAGONAL_LINEAR, &diagonal, names, MEL_UTILITY, a, NULL),
              NULL);
    assert_words(metric, "Weight of getting each class right: pneumonia 50%, flu 30%, healthy 20%. Getting "
                         "pneumonia right counts 2.5 times as much as getting healthy right.");
    assert_ok(mel_metric_set_intervals(metric, low, high, NULL), NULL);
    assert_words(metric,
                 "Weight of getting each class right: pneumonia 50% (95% between 45% and 55%), flu 30% "
                 "(95% between 25% and 35%), healthy 20% (95% between 15% and 25%). Getting pneumonia right "
                 "counts 2.5 times as much as getting healthy right; 95% between 1.8 and 3.7.");
    mel_metric_free(metric);
    const double mixed[] = { 0.2, -0.2, 0.6 };
    assert_ok(
        mel_metric_linear(&metric, MEL_FAMILY_DIAGONAL_LINEAR, &diagonal, names, MEL_UTILITY, mixed, NULL),
        NULL);
    assert_words(metric,
                 "Weight of getting each class right: pneumonia 60%, healthy 20%, flu -20%. A minus sign "
                 "marks right answers that make a classifier worse.");
    mel_metric_free(metric);
    const double costs[] = { 1, 2, 31, 4, 5, -6 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &offdiagonal, names, MEL_COST, costs, NULL),
              NULL);
    assert_words(metric,
                 "Weight of each mistake (as a rate within its class): flu taken for healthy 63%, "
                 "pneumonia taken for flu -12%, pneumonia taken for healthy 10%, flu taken for "
                 "pneumonia 8.2%, healthy taken for pneumonia 4.1%, healthy taken for flu 2%. A minus "
                 "sign marks mistakes that make a classifier better.");
    mel_metric_free(metric);
    const double four[] = { 4, 3, 2, 1 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &rates, names, MEL_UTILITY, four, NULL), NULL);
    assert_words(metric,
                 "Weight of getting each class right (as a rate within its class): flu in group 1 40%, "
                 "healthy in group 1 30%, flu in group 2 20%, healthy in group 2 10%.");
    mel_metric_free(metric);
    const double zero[] = { 0, 0, 0 };
    assert_ok(
        mel_metric_linear(&metric, MEL_FAMILY_DIAGONAL_LINEAR, &diagonal, names, MEL_UTILITY, zero, NULL),
        NULL);
    assert_words(metric, "This metric does not tell classifiers apart: every weight is zero.");
    mel_metric_free(metric);
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, &diagonal, names,
                                    MEL_UTILITY, a, 0, zero, 1, NULL),
              NULL);
    assert_words(metric, "A ratio of two weighted sums. Weight of getting each class right above the line: "
                         "pneumonia 50%, flu 30%, healthy 20%; below the line: nothing.");
    mel_metric_free(metric);
}

/* One row per family: made, said. */
static void test_more_families(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "flu", "pneumonia" };
    static const char *const groups[] = { "men", "women", "other" };
    const mel_layout diagonal = { MEL_RATES, MEL_DIAGONAL, 3, 0 }, two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    const mel_layout fair = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 },
                     fair3 = { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 };
    const double even[] = { 0.5, 0.5, 0.5, 0.5 }, thirds[] = { 0.5, 0.5, 0.25, 0.25, 0.25, 0.25 };
    mel_metric *metric = NULL;

    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &two, names, MEL_COST, (double[]){ 1, 1 }, NULL),
              NULL);
    assert_words(metric,
                 "Weight of each mistake (as a rate within its class): healthy taken for flu 50%, flu "
                 "taken for healthy 50%. All mistakes cost about the same.");
    mel_metric_free(metric);
    assert_ok(
        mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &two, names, MEL_UTILITY, (double[]){ -1, -3.2 }, NULL),
        NULL);
    assert_ok(mel_metric_set_intervals(metric, (double[]){ -1.25, -4 }, (double[]){ -1, -3 }, NULL), NULL);
    assert_words(metric,
                 "Weight of each mistake (as a rate within its class): flu taken for healthy 76% (95% "
                 "between 71% and 80%), healthy taken for flu 24% (95% between 20% and 29%). Predicting "
                 "healthy when it is flu costs 3.2 times as much as predicting flu when it is healthy; "
                 "95% between 2.4 and 4.");
    mel_metric_free(metric);
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_MONOTONE, &diagonal, names, MEL_UTILITY,
                                (double[]){ 0.25, 0.25, 0.5 }, NULL),
              NULL);
    assert_words(metric, "Weight of getting each class right (as a rate within its class): pneumonia 50%, "
                         "healthy 25%, flu 25%. Getting pneumonia right counts 2 times as much as getting "
                         "healthy right. These weights describe small changes; how good a classifier is may "
                         "depend on them in a more curved way.");
    mel_metric_free(metric);

    const double a[] = { 0.6, 0.2 }, b[] = { 0, 0.3, 0.3, 0.1 }, zero[4] = { 0 };
    assert_ok(mel_metric_quadratic(&metric, &two, names, MEL_COST, a, b, NULL), NULL);
    assert_words(metric,
                 "The weight is 68% in plain sums of statistics and 32% in products of two. Weight "
                 "of the first little bit of each mistake (as a rate within its class): healthy taken "
                 "for flu 75%, flu taken for healthy 25%. Strongest pair: healthy taken for flu and flu "
                 "taken for healthy, which together count more than their sum.");
    mel_metric_free(metric);
    const double curved[] = { 0, 0, 0, -2 }, cube[8] = { 1 };
    assert_ok(mel_metric_polynomial(&metric, 3, &two, names, MEL_COST,
                                    (const double *const[]){ zero, curved, cube }, NULL),
              NULL);
    assert_words(metric,
                 "The weight is 0% in plain sums of statistics, 80% in products of two and 20% in "
                 "products of three. The first little bit of anything counts nothing. Most curved: flu "
                 "taken for healthy, which counts less the more there is of it.");
    mel_metric_free(metric);
    assert_ok(mel_metric_quadratic(&metric, &two, names, MEL_COST, zero, zero, NULL), NULL);
    assert_words(metric, "This metric does not tell classifiers apart: every weight is zero.");
    mel_metric_free(metric);

    assert_ok(mel_metric_fair_linear(&metric, &fair, names, groups, (double[]){ 3, 4 }, (double[]){ 0, 5 },
                                     0.3, even, NULL),
              NULL);
    assert_words(metric,
                 "On a common scale mistakes count 70% and differences between groups 30%. Weight of "
                 "each mistake (as a rate within its class): flu taken for healthy 57%, healthy taken "
                 "for flu 43%. Predicting healthy when it is flu costs 1.3 times as much as predicting "
                 "flu when it is healthy. The difference between men and women weighs most in flu taken "
                 "for healthy (100%).");
    const double low[] = { 3, 4, 0, 5, 0.2 }, high[] = { 3, 4, 0, 5, 0.4 };
    assert_ok(mel_metric_set_intervals(metric, low, high, NULL), NULL);
    char *words = NULL;
    assert_ok(mel_metric_words(&words, metric, NULL), NULL);
    assert_non_null(strstr(words, "differences between groups 30% (95% between 20% and 40%). "));
    free(words);
    mel_metric_free(metric);
    assert_ok(mel_metric_fair_quadratic(&metric, &fair3, names, groups, (double[]){ 0, 1 },
                                        (double[]){ 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0 }, 1, thirds, NULL),
              NULL);
    assert_words(metric,
                 "Only differences between groups matter; mistakes do not. Among the differences, the one "
                 "between men and other weighs most (60% of their weight), above all in flu taken for "
                 "healthy (100%); differences are squared, so that small ones hardly count.");
    mel_metric_free(metric);
    assert_ok(
        mel_metric_fair_linear(&metric, &fair, names, groups, (double[]){ 1, 1 }, zero, 0.5, even, NULL),
        NULL);
    assert_words(metric,
                 "Only mistakes matter; differences between groups do not. Weight of each mistake (as a "
                 "rate within its class): healthy taken for flu 50%, flu taken for healthy 50%. All "
                 "mistakes cost about the same.");
    mel_metric_free(metric);
    assert_ok(mel_metric_fair_linear(&metric, &fair, names, groups, zero, (double[]){ 1, 1 }, 0, even, NULL),
              NULL);
    assert_words(metric, "This metric does not tell classifiers apart: every weight that counts is zero.");
    mel_metric_free(metric);
    assert_ok(mel_metric_fair_linear(&metric, &fair, names, groups, (double[]){ 1.7e308, 1.7e308 },
                                     (double[]){ 1, 1 }, 0.5, even, NULL),
              NULL);
    assert_words(metric, "The weights of this metric are too large to be put into words.");
    mel_metric_free(metric);
}

static void test_long_lists_are_cut(void **state)
{
    (void)state;
    const mel_layout layout = { MEL_CONFUSION, MEL_DIAGONAL, 26, 0 };
    double a[26];
    for (size_t i = 0; i < COUNT(a); i++)
        a[i] = i < 5 ? 0.1 : 0.5 / 21;
    mel_metric *metric = NULL;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_DIAGONAL_LINEAR, &layout, NULL, MEL_UTILITY, a, NULL),
              NULL);
    assert_words(metric,
                 "Weight of getting each class right: 0 10%, 1 10%, 2 10%, 3 10%, 4 10%, 5 2.4% and 20 "
                 "more with 48% together. Getting 0 right counts 4.2 times as much as getting 5 right.");
    mel_metric_free(metric);
}

static void test_missed(void **state)
{
    (void)state;
    static const struct {
        const char *name, *one, *many;
    } rows[] = {
        { "cancer", "missed cancer case", "missed cancer cases" },
        { "breast cancer", "missed breast cancer case", "missed breast cancer cases" },
        { "Cancer", "missed Cancer case", "missed Cancer cases" },
        { "defaulted", "missed defaulted case", "missed defaulted cases" },
        { "box", "missed box case", "missed box cases" },
        { "crash", "missed crash case", "missed crash cases" },
        { "loss", "missed loss case", "missed loss cases" },
        { "pregnancy", "missed pregnancy case", "missed pregnancy cases" },
        { "delay", "missed delay case", "missed delay cases" },
        { "fraud", "missed fraud case", "missed fraud cases" },
        { "pneumonia", "missed pneumonia case", "missed pneumonia cases" },
        { "malignant", "missed malignant case", "missed malignant cases" },
        { "Malignant", "missed Malignant case", "missed Malignant cases" },
        { "infected", "missed infected case", "missed infected cases" },
        { "dangerous", "missed dangerous case", "missed dangerous cases" },
        { "1", "missed positive", "missed positives" },
        { "2.5", "missed positive", "missed positives" },
        { "yes", "missed positive", "missed positives" },
        { "True", "missed positive", "missed positives" },
        { "+", "missed positive", "missed positives" },
        { "g", "missed case of \"g\"", "missed cases of \"g\"" },
        { ">50K", "missed case of \">50K\"", "missed cases of \">50K\"" },
        { "ICU", "missed case of \"ICU\"", "missed cases of \"ICU\"" },
        { "trailing ", "missed case of \"trailing \"", "missed cases of \"trailing \"" },
        { "Krebs\x1b[31m", "missed case of \"Krebs?[31m\"", "missed cases of \"Krebs?[31m\"" },
        { "\xc3\xa9t\xc3\xa9", "missed case of \"\xc3\xa9t\xc3\xa9\"",
          "missed cases of \"\xc3\xa9t\xc3\xa9\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer text;
        mel_buffer_init(&text, 1000);
        mel_text_add_missed(&text, rows[i].name, false);
        assert_string_equal(text.data, rows[i].one);
        mel_buffer_reset(&text);
        mel_text_add_missed(&text, rows[i].name, true);
        assert_string_equal(text.data, rows[i].many);
        mel_buffer_free(&text);
    }
}

static void test_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        bool valid;
        const char *three; /* cut to three columns */
    } rows[] = {
        { "", 0, true, "" },
        { "abc", 3, true, "abc" },
        { "abcd", 4, true, "abc" },
        { "\xc3\xa9t\xc3\xa9s", 4, true, "\xc3\xa9t\xc3\xa9" },
        { "e\xcc\x81t\xc3\xa9s", 4, true, "e\xcc\x81t\xc3\xa9" }, /* a combining accent */
        { "\xe5\x81\xa5\xe5\xba\xb7", 4, true, "\xe5\x81\xa5" },  /* two wide characters */
        { "\xf0\x9f\x98\x80!", 3, true, "\xf0\x9f\x98\x80!" },    /* an emoji is wide */
        { "a\tb", 3, true, "a?b" },                               /* control characters do not get through */
        { "\x1b[1m", 4, true, "?[1" },
        { "a\xe2\x80\xae"
          "b",
          3, true, "a?b" }, /* nor does a change of direction */
        { "\xff\xfe", 2, false, "??" },
        { "\xc3", 1, false, "?" },
        { "\xe2\x82", 2, false, "??" },
        { "\xed\xa0\x80", 3, false, "???" }, /* a surrogate */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer text;
        mel_buffer_init(&text, 100);
        mel_buffer_puts(&text, "");
        assert_int_equal(mel_text_columns(rows[i].text), rows[i].columns);
        assert_int_equal(mel_text_is_utf8(rows[i].text), rows[i].valid);
        const size_t used = mel_text_add_clean(&text, rows[i].text, 3);
        assert_string_equal(text.data, rows[i].three);
        assert_int_equal(used, mel_text_columns(rows[i].three));
        mel_buffer_free(&text);
    }
}

static void test_json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "\"\"" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\"" },
        { "\xc3\xa9\xff", "\"\xc3\xa9\\ufffd\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer text;
        mel_buffer_init(&text, 100);
        mel_text_add_json_string(&text, rows[i].text);
        assert_string_equal(text.data, rows[i].want);
        mel_buffer_free(&text);
    }
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *want;
    } rows[] = {
        { 0, "0" },          { 999, "999" },           { 1000, "1,000" },
        { 10000, "10,000" }, { 1234567, "1,234,567" }, { UINT64_MAX, "18,446,744,073,709,551,615" }
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer text;
        mel_buffer_init(&text, 100);
        mel_text_add_count(&text, rows[i].n);
        assert_string_equal(text.data, rows[i].want);
        mel_buffer_free(&text);
    }
}

static void test_take(void **state)
{
    (void)state;
    mel_buffer text;
    char *out = NULL;
    mel_error err = { 0 };
    mel_buffer_init(&text, 3);
    mel_buffer_puts(&text, "abcd");
    assert_int_equal(mel_text_take(&out, &text, "a word", &err), MEL_ELIMIT);
    assert_null(out);
    assert_non_null(strstr(err.text, "a word is longer than 3 bytes"));
    mel_buffer_puts(&text, "abc");
    assert_ok(mel_text_take(&out, &text, "a word", &err), &err);
    assert_string_equal(out, "abc");
    assert_null(text.data);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary_linear),
        cmocka_unit_test(test_binary_fractional),
        cmocka_unit_test(test_more_classes),
        cmocka_unit_test(test_more_families),
        cmocka_unit_test(test_long_lists_are_cut),
        cmocka_unit_test(test_missed),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
