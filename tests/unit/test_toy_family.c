/* A family of metrics that the library does not know, added by its files (tests/toy/family_squares.c and
 * elicit_squares.c) and one row (tests/toy/metric/families/rows.h): names, values, its file, words, sessions,
 * their file, the report. */
#include "support/binary.h"
#include "support/multiclass.h"

#include "classify/shared.h"
#include "elicit/shared.h"
#include "melicit/report.h"
#include "metric/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text_of_truth[] =
    "{\"format\": \"melicit-metric\", \"version\": 1, \"family\": \"squares\", \"layout\": {\"kind\": "
    "\"rates\", "
    "\"coordinates\": \"offdiagonal\", \"classes\": [\"0\", \"1\", \"2\"]}, \"coefficients\": "
    "{\"a\": [0.6, 0.1, 0.4, 0.2, 0.5, 0.4]}}";

static mel_metric *make_truth(void)
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_load_memory(&metric, text_of_truth, sizeof text_of_truth - 1, "truth", &err), &err);
    return metric;
}

static mel_family squares(void)
{
    mel_family family = MEL_FAMILY_LINEAR;
    mel_error err;
    assert_ok(mel_family_parse(&family, "squares", &err), &err);
    return family;
}

static void test_names(void **state)
{
    (void)state;
    mel_family family = squares();
    uint32_t degree = 0;
    char text[MEL_FAMILY_TEXT];
    mel_error err;
    assert_int_equal(family, MEL_FAMILY_POLYNOMIAL + 1);
    assert_null(mel_family_about((mel_family)(family + 1)));
    assert_string_equal(mel_family_name(family), "squares");
    assert_ok(mel_family_parse_degree(&family, &degree, "squares", &err), &err);
    mel_family_print(text, family, degree);
    assert_string_equal(text, "squares");
    assert_int_equal(mel_family_parse(&family, "squares:3", &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "polynomial:D with D from 2 to 9, squares"));
    assert_false(mel_classifier_has_best(squares()));
}

static void test_metric(void **state)
{
    (void)state;
    static const double here[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6 }, there[] = { 0.2, 0.1, 0.3, 0.4, 0.5, 0.6 };
    mel_metric *metric = make_truth(), *copy = NULL;
    double value = 0.0, gradient[6], better = 0.0;
    char *text = NULL, *again = NULL;
    mel_error err;
    assert_int_equal(mel_metric_orientation(metric), MEL_COST); /* as it is about rates */
    assert_ok(mel_metric_value(&value, metric, here, &err), &err);
    assert_close(value, 0.347, 1e-15);
    assert_ok(mel_metric_gradient(gradient, metric, here, &err), &err);
    assert_close(gradient[5], 0.48, 1e-15);
    assert_ok(mel_metric_compare(&better, metric, here, there, &err), &err);
    assert_close(better, 0.015, 1e-15);
    assert_ok(mel_metric_to_json(&text, metric, &err), &err);
    assert_ok(mel_metric_load_memory(&copy, text, strlen(text), "copy", &err), &err);
    assert_ok(mel_metric_to_json(&again, copy, &err), &err);
    assert_string_equal(text, again);
    free(text);
    assert_ok(mel_metric_words(&text, metric, &err), &err);
    assert_non_null(strstr(text, "Weight of the square of each mistake (as a rate within its class): "
                                 "0 taken for 1 27%"));
    mel_cost_ratio ratio;
    assert_int_equal(mel_metric_weight_ratio(&ratio, metric, 0, 1, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "depends on the classifier"));
    free(text);
    free(again);
    mel_metric_free(copy);
    mel_metric_free(metric);
}

static mel_session_options options_of(uint32_t questions)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = squares();
    opt.max_questions = questions;
    return opt;
}

/* Found without errors, with some, and with a prior. */
static void test_sessions(void **state)
{
    (void)state;
    enum { POINTS = 4000, N = 6 };
    mel_ball *ball = test_rates_ball(3, 0.2);
    mel_metric *truth = make_truth();
    double *points = test_ball_points(ball, POINTS, 1);
    const mel_domain domain = { .ball = ball };
    const struct {
        const char *name, *noise;
        const mel_metric *prior;
        double agree;
    } rows[] = {
        { "exact answers", "none", NULL, 0.98 },
        { "one answer in twenty wrong", "flip:0.05", NULL, 0.98 },
        { "exact answers, prior", "none", truth, 0.98 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = options_of(60);
        mel_noise noise;
        mel_summary summary;
        mel_error err;
        assert_ok(mel_noise_parse(&noise, rows[i].noise, &err), &err);
        assert_ok(mel_assumption_parse(&opt.assume, rows[i].noise, &err), &err);
        opt.prior = rows[i].prior;
        opt.prior_strength = rows[i].prior != NULL ? 20.0 : 0.0;
        mel_metric *found = test_find(&summary, &domain, &opt, truth, noise, 5);
        const double share = test_order_agreement(POINTS, N, points, found, truth);
        print_message("  %s: %u questions, %.3f of pairs alike\n", rows[i].name, summary.questions, share);
        assert_int_equal(mel_metric_family(found), squares());
        assert_true(share >= rows[i].agree);
        mel_metric_free(found);
    }
    free(points);
    mel_metric_free(truth);
    mel_ball_free(ball);
}

/* What the family's row says is not for it, in words. */
static void test_refusals(void **state)
{
    (void)state;
    mel_ball *ball = test_rates_ball(3, 0.2);
    mel_face *face = test_logistic_face(5.0, 0.0);
    mel_session_options opt = options_of(5);
    mel_session *session = NULL;
    mel_error err;
    assert_int_equal(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), MEL_EINVAL);
    assert_string_equal(err.text,
                        "family squares needs a ball of off-diagonal statistics, not a planar face");
    opt.strategy = MEL_STRATEGY_SEARCH;
    assert_int_equal(mel_session_new(&session, &(mel_domain){ .ball = ball }, &opt, &err), MEL_EINVAL);
    assert_string_equal(err.text, "squares metrics are found by the active strategy, not by the search one");
    opt.diagonal_b = true;
    assert_int_equal(mel_session_new(&session, &(mel_domain){ .ball = ball }, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "here a search looks for squares metrics"));
    mel_face_free(face);
    mel_ball_free(ball);
}

/* A session file knows the family by its word and goes on where it stopped; the report says what it is. */
static void test_file_and_report(void **state)
{
    (void)state;
    mel_ball *ball = test_rates_ball(3, 0.2);
    mel_metric *truth = make_truth();
    const mel_domain domain = { .ball = ball };
    const mel_session_options opt = options_of(8);
    const char *path = test_path("toy_family.jsonl");
    char *found[2] = { NULL, NULL }, *html = NULL;
    mel_error err;
    for (size_t i = 0; i < 2; i++) {
        mel_session *session = NULL;
        mel_metric *metric = NULL;
        mel_oracle *oracle = test_oracle(truth, (mel_noise){ 0 }, 1);
        assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
        assert_int_equal(mel_session_answers(session), i == 0 ? 0 : 8);
        assert_ok(mel_session_run(session, oracle, &err), &err);
        assert_ok(mel_session_result(&metric, NULL, session, &err), &err);
        assert_ok(mel_metric_to_json(&found[i], metric, &err), &err);
        mel_report_options page;
        mel_report_options_init(&page);
        if (i == 1)
            assert_ok(mel_report_session(&html, session, &page, &err), &err);
        mel_metric_free(metric);
        mel_oracle_free(oracle);
        mel_session_free(session);
    }
    assert_string_equal(found[0], found[1]);
    assert_non_null(strstr(html, "a weighted sum of squares was assumed"));
    free(found[0]);
    free(found[1]);
    free(html);
    mel_metric_free(truth);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),           cmocka_unit_test(test_metric),
        cmocka_unit_test(test_sessions),        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_file_and_report),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
