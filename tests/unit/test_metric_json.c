/* The metric file: exact round trips, tidy text, refusals with the place. */
#include "support/test.h"

#include "base/layout.h"
#include "base/rng.h"
#include "metric/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mel_metric *read_text(const char *text)
{
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_load_memory(&metric, text, strlen(text), "metric.json", &err), &err);
    return metric;
}

static void test_written_text(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "breast \"cancer\"\n" };
    const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double a[] = { 0.98, 0.1 }, low[] = { 0.97, 0.1 }, high[] = { 0.99, 1e-300 + 0.2 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, names, MEL_UTILITY, a, &err), &err);
    assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
    const mel_elicited how = { 9, "active", 0.05, UINT64_MAX };
    assert_ok(mel_metric_set_elicited(metric, &how, &err), &err);
    char *text = NULL;
    assert_ok(mel_metric_to_json(&text, metric, &err), &err);
    assert_string_equal(text,
                        "{\n"
                        "  \"format\": \"melicit-metric\",\n"
                        "  \"version\": 1,\n"
                        "  \"family\": \"linear\",\n"
                        "  \"orientation\": \"utility\",\n"
                        "  \"layout\": {\"kind\": \"confusion\", \"coordinates\": \"binary\", \"classes\": "
                        "[\"healthy\", \"breast \\\"cancer\\\"\\u000a\"], \"groups\": []},\n"
                        "  \"coefficients\": {\"a\": [0.98, 0.1]},\n"
                        "  \"intervals\": {\"a\": [[0.97, 0.99], [0.1, 0.2]]},\n"
                        "  \"elicited\": {\"questions\": 9, \"strategy\": \"active\", \"radius\": 0.05, "
                        "\"seed\": \"18446744073709551615\"}\n"
                        "}\n");
    mel_metric_free(metric);
    metric = read_text(text);
    free(text);
    assert_string_equal(mel_metric_class_name(metric, 1), names[1]);
    assert_true(mel_metric_elicited(metric).seed == UINT64_MAX);
    assert_true(mel_metric_elicited(metric).radius == 0.05);
    mel_metric_free(metric);
}

static void test_fractional_text(void **state)
{
    (void)state;
    const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const mel_layout diagonal = { MEL_RATES, MEL_DIAGONAL, 3, 0 };
    const double p[] = { 1, 0, 0.5 }, q[] = { 0.25, -0.25, 2 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    char *text = NULL;
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &binary, NULL, MEL_UTILITY, p, 0,
                                    q, 0.75, &err),
              &err);
    assert_ok(mel_metric_to_json(&text, metric, &err), &err);
    assert_non_null(strstr(
        text, "\"coefficients\": {\"p\": [1, 0], \"p0\": 0, \"q\": [0.25, -0.25], \"q0\": 0.75}\n}\n"));
    mel_metric_free(metric);
    free(text);
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, &diagonal, NULL, MEL_COST,
                                    p, 0, q, 0.75, &err),
              &err);
    assert_ok(mel_metric_to_json(&text, metric, &err), &err);
    assert_non_null(strstr(text, "\"orientation\": \"cost\""));
    assert_non_null(strstr(
        text, "\"coefficients\": {\"a\": [1, 0, 0.5], \"a0\": 0, \"b\": [0.25, -0.25, 2], \"b0\": 0.75}"));
    mel_metric_free(metric);
    free(text);
}

/* Any finite doubles, of any magnitude. */
static double wild(mel_rng *rng)
{
    for (;;) {
        const uint64_t bits = mel_rng_next(rng);
        double x = 0;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x))
            return x;
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    static const struct {
        mel_family family;
        mel_layout layout;
    } rows[] = {
        { MEL_FAMILY_LINEAR, { MEL_CONFUSION, MEL_BINARY, 2, 0 } },
        { MEL_FAMILY_LINEAR, { MEL_RATES, MEL_OFFDIAGONAL, 4, 0 } },
        { MEL_FAMILY_LINEAR, { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 } },
        { MEL_FAMILY_DIAGONAL_LINEAR, { MEL_CONFUSION, MEL_DIAGONAL, 5, 0 } },
        { MEL_FAMILY_LINEAR_FRACTIONAL, { MEL_CONFUSION, MEL_BINARY, 2, 0 } },
        { MEL_FAMILY_LINEAR_FRACTIONAL, { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 } },
        { MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, { MEL_CONFUSION, MEL_DIAGONAL, 4, 0 } },
    };
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    for (int round = 0; round < 200; round++) {
        const size_t row = (size_t)round % COUNT(rows), n = mel_layout_size(&rows[row].layout);
        double x[64], y[64], low[64], high[64];
        for (size_t i = 0; i < COUNT(x); i++) {
            x[i] = wild(&rng);
            y[i] = wild(&rng);
            low[i] = fmin(x[i], y[i]);
            high[i] = fmax(x[i], y[i]);
        }
        mel_metric *metric = NULL, *again = NULL;
        mel_error err = { 0 };
        if (rows[row].family == MEL_FAMILY_LINEAR || rows[row].family == MEL_FAMILY_DIAGONAL_LINEAR)
            assert_ok(
                mel_metric_linear(&metric, rows[row].family, &rows[row].layout, NULL, MEL_COST, x, &err),
                &err);
        else
            assert_ok(mel_metric_fractional(&metric, rows[row].family, &rows[row].layout, NULL, MEL_UTILITY,
                                            x, x[40], y, y[40], &err),
                      &err);
        assert_ok(mel_metric_set_intervals(metric, low, high, &err), &err);
        char *text = NULL;
        assert_ok(mel_metric_to_json(&text, metric, &err), &err);
        assert_ok(mel_metric_load_memory(&again, text, strlen(text), "again", &err), &err);
        double c0 = 0, c1 = 0;
        assert_memory_equal(mel_metric_numerator(again, &c0), mel_metric_numerator(metric, &c1),
                            n * sizeof *x);
        assert_true(c0 == c1);
        const double *q = mel_metric_denominator(metric, &c1), *q_again = mel_metric_denominator(again, &c0);
        if (q != NULL)
            assert_memory_equal(q_again, q, n * sizeof *x);
        else
            assert_null(q_again);
        assert_true(c0 == c1);
        for (size_t i = 0; i < mel_metric_coefficients(metric); i++) {
            double l = 0, h = 0;
            assert_true(mel_metric_interval(again, i, &l, &h));
            assert_true(l == low[i] && h == high[i]);
        }
        assert_int_equal(mel_metric_orientation(again), mel_metric_orientation(metric));
        assert_true(mel_layout_equal(mel_metric_layout(again), mel_metric_layout(metric)));
        char *text_again = NULL;
        assert_ok(mel_metric_to_json(&text_again, again, &err), &err);
        assert_string_equal(text_again, text);
        free(text);
        free(text_again);
        mel_metric_free(metric);
        mel_metric_free(again);
    }
}

#define HEAD "{\"format\": \"melicit-metric\", \"version\": 1, "
#define LAYOUT                                                                                               \
    "\"layout\": {\"kind\": \"confusion\", \"coordinates\": \"binary\", \"classes\": [\"n\", \"y\"]}, "
#define START HEAD "\"family\": \"linear\", " LAYOUT
#define FAIR(family)                                                                                         \
    "\"family\": \"" family                                                                                  \
    "\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"offdiagonal\", \"classes\": "                  \
    "[\"n\", \"y\"], \"groups\": [\"men\", \"women\"]}, "
#define START_FAIR "\"coefficients\": {\"a\": [1, 0.5], \"b\": {\"1-2\": [1, 1]}, \"lambda\": 0.5, "

static void test_accepted(void **state)
{
    (void)state;
    static const char *const rows[] = {
        START "\"coefficients\": {\"a\": [1, 0.5]}}",
        START "\"orientation\": \"cost\", \"coefficients\": {\"a\": [1, 0.5]}, \"comment\": {\"x\": [null]}}",
        START "\"coefficients\": {\"a\": [1, 0.5], \"unit\": 7}, \"intervals\": null, \"elicited\": null}",
        START "\"coefficients\": {\"a\": [1, 0.5]}, \"elicited\": {\"strategy\": \"search\"}}",
        HEAD "\"family\": \"linear-fractional\", " LAYOUT
             "\"coefficients\": {\"p\": [1, 0.5], \"q\": [0, 0], \"q0\": 1}}",
        HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"offdiagonal\", "
             "\"classes\": [\"n\", \"y\"], \"groups\": [\"men\", \"women\"]}, "
             "\"coefficients\": {\"a\": [1, 0.5, -1e-5, 1E5]}}",
        HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.333, 0.5], [0.666, 0.5]]}}",
        HEAD "\"family\": \"quadratic\", " LAYOUT
             "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 3]]}}",
        HEAD "\"family\": \"monotone\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"diagonal\", "
             "\"classes\": [\"n\", \"y\"]}, \"coefficients\": {\"a\": [1, 0.5]}}",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = read_text(rows[i]);
        const double *a = mel_metric_numerator(metric, NULL);
        assert_true(a[0] == 1.0 && a[1] == 0.5);
        char *text = NULL;
        assert_ok(mel_metric_to_json(&text, metric, NULL), NULL);
        mel_metric *again = read_text(text);
        if (mel_metric_group_name(metric, 1) != NULL)
            assert_string_equal(mel_metric_group_name(again, 1), "women");
        mel_metric_free(again);
        mel_metric_free(metric);
        free(text);
    }
}

/* Fair metrics are costs, and so are polynomials of rates, unless the file says otherwise. */
static void test_default_orientation(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_orientation want;
    } rows[] = {
        { START "\"coefficients\": {\"a\": [1, 0.5]}}", MEL_UTILITY },
        { HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.5, 0.5], [0.5, 0.5]]}}", MEL_COST },
        { HEAD "\"family\": \"quadratic\", " LAYOUT
               "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 3]]}}",
          MEL_UTILITY },
        { HEAD
          "\"family\": \"quadratic\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"offdiagonal\", "
          "\"classes\": [\"n\", \"y\"]}, \"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 3]]}}",
          MEL_COST },
        { HEAD
          "\"family\": \"quadratic\", \"orientation\": \"utility\", \"layout\": {\"kind\": \"rates\", "
          "\"coordinates\": \"diagonal\", \"classes\": [\"n\", \"y\"]}, \"coefficients\": {\"a\": [1, 0.5], "
          "\"B\": [[1, 2], [2, 3]]}}",
          MEL_UTILITY },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = read_text(rows[i].text);
        assert_int_equal(mel_metric_orientation(metric), rows[i].want);
        mel_metric_free(metric);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "line 1" },
        { "{", "line 1" },
        { "[]", "not a JSON object" },
        { "null", "expected a JSON object" },
        { "name,tp\na,1\n", "expected a JSON object" },
        { START "\"coefficients\": {\"a\": [1, 0.5]}} x", "end of file expected" },
        { START "\"coefficients\": {\"a\": [1, 0.5]}}, {}", "end of file expected" },
        { START "\"coefficients\": {\"a\": [1, 0.5]}}], [{}", "end of file expected" },
        { "\n\n" START "\"coefficients\": {\"a\": [1 0.5]}}", "line 3, column 172: ']' expected" },
        { START "\"family\": \"linear\", \"coefficients\": {\"a\": [1, 2]}}", "duplicate" },
        { "{\"version\": 1}", "expected a metric, a file with \"format\": \"melicit-metric\"" },
        { "{\"format\": 3}", "expected a metric" },
        { "{\"format\": \"melicit-model\"}", "this is a model; expected a metric" },
        { "{\"format\": \"melicit-metric\"}", "version: missing" },
        { "{\"format\": \"melicit-metric\", \"version\": 1.5}", "version: not a whole number" },
        { "{\"format\": \"melicit-metric\", \"version\": 2}", "version: 2; this program reads version 1" },
        { HEAD LAYOUT "\"x\": 1}", "family: missing" },
        { HEAD "\"family\": \"cubic\"}", "family: \"cubic\" is not a family of metrics" },
        { HEAD "\"family\": \"lin\\u0000ear\"}", "line 1" },
        { HEAD "\"family\": \"quadratic\", " LAYOUT "\"coefficients\": {\"a\": [1, 0.5]}}",
          "coefficients.B: missing" },
        { HEAD "\"family\": \"quadratic\", " LAYOUT "\"coefficients\": {\"a\": [1, 0.5], \"B\": [1, 2]}}",
          "coefficients.B[0]: not an array" },
        { HEAD "\"family\": \"quadratic\", " LAYOUT
               "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 1, 3]]}}",
          "coefficients.B[1]: 3 entries, not 2" },
        { HEAD "\"family\": \"quadratic\", " LAYOUT
               "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [\"2\", 1]]}}",
          "coefficients.B[1][0]: not a number" },
        { HEAD "\"family\": \"quadratic\", " LAYOUT
               "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2.5, 1]]}}",
          "coefficients: B[1][0] is 2.5, but B[0][1] is 2: not symmetric" },
        { HEAD
          "\"family\": \"quadratic\", " LAYOUT
          "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 1]]}, \"intervals\": {\"a\": [[0, 1], "
          "[0, 1]], \"B\": [[[0, 1], [0, 3]], [[0, 3], [2, 1]]]}}",
          "intervals.B[1][1]: [2, 1] is not an interval" },
        { HEAD "\"family\": \"polynomial\", " LAYOUT "\"coefficients\": {}}",
          "family: polynomial: the degree" },
        { HEAD
          "\"family\": \"polynomial:3\", " LAYOUT
          "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 1]], \"C\": [[[1, 2], [2, 3]], [[2, 3], "
          "[3.5, 4]]]}}",
          "coefficients: C[1][1][0] is 3.5, but C[0][1][1] is 3: not symmetric" },
        { HEAD
          "\"family\": \"polynomial:3\", " LAYOUT
          "\"coefficients\": {\"a\": [1, 0.5], \"B\": [[1, 2], [2, 1]], \"C\": [[[1, 2], [2, 3]], [[2, 3], "
          "7]]}}",
          "coefficients.C[1][1]: not an array" },
        { HEAD "\"family\": \"fair-linear\", " LAYOUT "\"coefficients\": {}}",
          "family: a metric of the family fair-linear needs rates, not confusion statistics" },
        { HEAD
          "\"family\": \"fair-linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"offdiagonal\", "
          "\"classes\": [\"n\", \"y\"], \"groups\": [\"m\"]}, \"coefficients\": {}}",
          "needs two groups at least" },
        { HEAD FAIR("fair-linear") "\"orientation\": \"utility\", \"coefficients\": {}}",
          "m.json: orientation: a fair-linear metric is a cost" },
        { HEAD FAIR("fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": [1, 1]}}",
          "coefficients.b: not an object with a key for every pair of groups" },
        { HEAD FAIR("fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": {\"2-1\": [1, 1]}}}",
          "coefficients.b.1-2: missing" },
        { HEAD FAIR("fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": {\"1-2\": [1, 1], \"1-3\": 0}}}",
          "coefficients.b: 2 keys for 1 pairs of groups" },
        { HEAD FAIR("fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": {\"1-2\": [1, null]}}}",
          "coefficients.b.1-2[1]: not a number" },
        { HEAD FAIR("fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": {\"1-2\": [1, 1]}}}",
          "coefficients.lambda: missing" },
        { HEAD FAIR(
              "fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": {\"1-2\": [1, 1]}, \"lambda\": 0.5}}",
          "coefficients.prevalence: missing" },
        { HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.5, 0.5]]}}",
          "coefficients.prevalence: not an array with a row for each of 2 groups" },
        { HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.5, 0.5], [0.5]]}}",
          "coefficients.prevalence[1]: 1 entries, not 2" },
        { HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.5, 0.5], [0.5, \"x\"]]}}",
          "coefficients.prevalence[1][1]: not a number" },
        { HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.5, -0.5], [0.5, 1.5]]}}",
          "coefficients: prevalence[0][1] is -0.5, not from 0 to 1" },
        { HEAD FAIR("fair-linear") START_FAIR "\"prevalence\": [[0.5, 0.5], [0.5, 0.4]]}}",
          "coefficients: prevalence: the shares of class 2 over the groups sum to 0.9, not 1" },
        { HEAD FAIR(
              "fair-linear") "\"coefficients\": {\"a\": [1, 1], \"b\": {\"1-2\": [1, 1]}, \"lambda\": 1.5, "
                             "\"prevalence\": [[0.5, 0.5], [0.5, 0.5]]}}",
          "coefficients: lambda is 1.5, not from 0 to 1" },
        { HEAD FAIR("fair-quadratic") "\"coefficients\": {\"a\": [1, 1], \"B\": {\"1-2\": [[1, 2], [3, 1]]}, "
                                      "\"lambda\": 0.5, \"prevalence\": [[0.5, 0.5], [0.5, 0.5]]}}",
          "coefficients: B.1-2[1][0] is 3, but B.1-2[0][1] is 2: not symmetric" },
        { HEAD "\"family\": \"polynomial:9\", \"layout\": {\"kind\": \"rates\", \"coordinates\": "
               "\"offdiagonal\", \"classes\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}, \"coefficients\": {}}",
          "coefficients: a polynomial metric of 5 classes and 20 statistics has more than" },
        { HEAD "\"family\": \"polynomial:4\", \"layout\": {\"kind\": \"rates\", \"coordinates\": "
               "\"offdiagonal\", \"classes\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}, \"coefficients\": {}}",
          "coefficients: fewer than the 168420 that the layout asks for" },
        { HEAD "\"family\": \"monotone\", " LAYOUT "\"coefficients\": {}}", "monotone needs diagonal" },
        { HEAD "\"family\": \"diagonal-linear\", " LAYOUT "\"coefficients\": {\"a\": [1, 1]}}",
          "family: a metric of the family diagonal-linear needs diagonal coordinates, not binary" },
        { START "\"orientation\": \"profit\", \"coefficients\": {\"a\": [1, 0.5]}}",
          "orientation: \"profit\" is neither" },
        { START "\"orientation\": 1}", "orientation: not a string" },
        { HEAD "\"family\": \"linear\"}", "layout: missing" },
        { HEAD "\"family\": \"linear\", \"layout\": []}", "layout: not an object" },
        { HEAD "\"family\": \"linear\", \"layout\": {}}", "layout.kind: missing" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"counts\"}}", "layout.kind: " },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\"}}", "layout.coordinates: missing" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"all\"}}",
          "layout.coordinates: " },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"binary\"}}",
          "layout.classes: missing" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"binary\", "
               "\"classes\": 2}}",
          "layout.classes: not an array" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"binary\", "
               "\"classes\": [\"a\", 2]}}",
          "layout.classes[1]: not a name" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"binary\", "
               "\"classes\": [\"a\", \"b\", \"c\"]}}",
          "binary coordinates with 3 classes" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"binary\", "
               "\"classes\": [\"a\", \"a\"]}, \"coefficients\": {\"a\": [1, 2]}}",
          "layout: class 1 and 2 are both called \"a\"" },
        { HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", \"coordinates\": \"binary\", "
               "\"classes\": [\"a\", \"\"]}, \"coefficients\": {\"a\": [1, 2]}}",
          "layout: class 2" },
        { START "\"x\": 1}", "coefficients: missing" },
        { START "\"coefficients\": [1, 2]}", "coefficients: not an object" },
        { START "\"coefficients\": {}}", "coefficients.a: missing" },
        { START "\"coefficients\": {\"a\": 1}}", "coefficients.a: not an array" },
        { START "\"coefficients\": {\"a\": [1, 2, 3]}}", "coefficients.a: 3 entries, not 2" },
        { START "\"coefficients\": {\"a\": [1, \"2\"]}}", "coefficients.a[1]: not a number" },
        { START "\"coefficients\": {\"a\": [1, 1e999]}}", "line 1" },
        { START "\"coefficients\": {\"a\": [1, NaN]}}", "line 1" },
        { HEAD "\"family\": \"linear-fractional\", " LAYOUT "\"coefficients\": {\"p\": [1, true]}}",
          "coefficients.p[1]: not a number" },
        { HEAD "\"family\": \"linear-fractional\", " LAYOUT
               "\"coefficients\": {\"p\": [1, 1], \"p0\": [0], \"q\": [1, 1], \"q0\": 1}}",
          "coefficients.p0: not a number" },
        { HEAD "\"family\": \"linear-fractional\", " LAYOUT
               "\"coefficients\": {\"p\": [1, 1], \"q\": [1, 1]}}",
          "coefficients.q0: missing" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"intervals\": 7}", "intervals: not an object" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"intervals\": {\"a\": [[0, 1]]}}",
          "intervals.a: 1 entries" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"intervals\": {\"a\": [[0, 1], 2]}}",
          "intervals.a[1]: not a pair" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"intervals\": {\"a\": [[0, 1], [3, 1]]}}",
          "intervals.a[1]: [3, 1] is not an interval" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {}}", "elicited.strategy: missing" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {\"strategy\": \"s\", \"questions\": -1}}",
          "elicited.questions: " },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {\"strategy\": \"s\", \"radius\": \"x\"}}",
          "elicited.radius: not a number" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {\"strategy\": \"s\", \"radius\": -1}}",
          "elicited: radius -1" },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {\"strategy\": \"s\", \"seed\": -1}}",
          "elicited.seed: " },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {\"strategy\": \"s\", "
                "\"seed\": \"18446744073709551616\"}}",
          "elicited.seed: " },
        { START "\"coefficients\": {\"a\": [1, 2]}, \"elicited\": {\"strategy\": \"s\", \"seed\": \"12x\"}}",
          "elicited.seed: " },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *metric = (mel_metric *)&rows;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].says);
        assert_int_equal(mel_metric_load_memory(&metric, rows[i].text, strlen(rows[i].text), "m.json", &err),
                         MEL_EDATA);
        assert_int_equal(mel_metric_load_memory(&metric, rows[i].text, strlen(rows[i].text), "m.json", NULL),
                         MEL_EDATA);
        assert_null(metric);
        if (strncmp(err.text, "m.json: ", 8) != 0 || strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

static void test_few_bytes_ask_for_little_memory(void **state)
{
    (void)state;
    /* 300 classes and 300 groups want 26.9 million coefficients. */
    char *text = malloc(1 << 16);
    assert_non_null(text);
    int n = snprintf(text, 1 << 16,
                     HEAD "\"family\": \"linear\", \"layout\": {\"kind\": \"rates\", "
                          "\"coordinates\": \"offdiagonal\", \"classes\": [\"0\"");
    for (int i = 1; i < 300; i++)
        n += snprintf(text + n, (size_t)((1 << 16) - n), ", \"%d\"", i);
    n += snprintf(text + n, (size_t)((1 << 16) - n), "], \"groups\": [\"0\"");
    for (int i = 1; i < 300; i++)
        n += snprintf(text + n, (size_t)((1 << 16) - n), ", \"%d\"", i);
    n += snprintf(text + n, (size_t)((1 << 16) - n), "]}, \"coefficients\": {\"a\": []}}");
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_int_equal(mel_metric_load_memory(&metric, text, (size_t)n, "m.json", &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "26910000"));
    free(text);
}

static void test_files(void **state)
{
    (void)state;
    mel_metric *metric = read_text(START "\"coefficients\": {\"a\": [1, 0.5]}}"), *again = NULL;
    mel_error err = { 0 };
    const char *path = test_path("metric.json");
    assert_ok(mel_metric_save(metric, path, &err), &err);
    assert_ok(mel_metric_save(metric, path, &err), &err); /* over itself */
    assert_ok(mel_metric_load(&again, path, &err), &err);
    assert_string_equal(mel_metric_class_name(again, 1), "y");
    mel_metric_free(again);
    assert_int_equal(mel_metric_load(&again, "/nonexistent/metric.json", &err), MEL_EDATA);
    assert_null(again);
    assert_non_null(strstr(err.text, "/nonexistent/metric.json"));
    assert_int_equal(mel_metric_save(metric, "/nonexistent/metric.json", &err), MEL_EIO);
    assert_non_null(strstr(err.text, "/nonexistent/metric.json"));
    const char *bad = test_file("bad.json", "{]", 2);
    assert_int_equal(mel_metric_load(&again, bad, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "bad.json: line 1, column 2"));
    mel_metric_free(metric);
    test_cleanup();
}

/* Every example of the manual page is read, and the first, which is what the program writes, unchanged. */
static void test_manual(void **state)
{
    (void)state;
    FILE *file = fopen(MEL_TEST_SOURCE "/docs/metric-file.md", "r");
    assert_non_null(file);
    static char page[1 << 16];
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    static const char fence[] = "```json\n";
    size_t examples = 0;
    for (char *at = strstr(page, fence); at != NULL; at = strstr(at, fence)) {
        at += strlen(fence);
        char *end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        mel_metric *metric = read_text(at);
        char *text = NULL;
        assert_ok(mel_metric_to_json(&text, metric, NULL), NULL);
        if (examples++ == 0)
            assert_string_equal(text, at);
        free(text);
        mel_metric_free(metric);
        at = end + 1;
    }
    assert_int_equal(examples, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_text),
        cmocka_unit_test(test_fractional_text),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_default_orientation),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_few_bytes_ask_for_little_memory),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_manual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
