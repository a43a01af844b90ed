/* A noise model that the library does not know, added by one file (tests/toy/noise_hasty.c) and one row
 * (tests/toy/oracle/noise/models.h): words, simulated answers, sessions of every kind of posterior, their
 * file. */
#include "elicit/shared.h"
#include "oracle/shared.h"
#include "support/binary.h"
#include "support/multiclass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_words(void **state)
{
    (void)state;
    mel_error err;
    mel_noise noise;
    mel_assumption assumption;
    char text[MEL_ASSUMPTION_TEXT];
    assert_ok(mel_noise_parse(&noise, "hasty:0.25", &err), &err);
    mel_noise_print(text, sizeof text, &noise);
    assert_string_equal(text, "hasty:0.25");
    assert_ok(mel_assumption_parse(&assumption, "hasty", &err), &err);
    assert_true(assumption.kind == noise.kind && assumption.size == 0.0);
    mel_assumption_print(text, sizeof text, &assumption);
    assert_string_equal(text, "hasty");
    assert_int_equal(mel_noise_parse(&noise, "hasty:-1", &err), MEL_EINVAL);
    assert_string_equal(err.text, "noise hasty:-1: not a probability");
    assert_int_equal(mel_noise_parse(&noise, "gauss:1", &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, ", hasty:P"));
}

/* Errors at the rate that the model says: at a large difference half of the lapses. */
static void test_simulated(void **state)
{
    (void)state;
    enum { QUESTIONS = 4000 };
    const double a[] = { 0.5, 0.5 }, b[] = { 0.3, 0.5 };
    mel_noise noise;
    mel_error err;
    assert_ok(mel_noise_parse(&noise, "hasty:0.4", &err), &err);
    mel_oracle *oracle = test_linear_oracle(0.0, noise, 3);
    size_t wrong = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const mel_question question = { .number = i + 1, .a = a, .b = b, .layout = &mel_binary_layout };
        mel_reply reply;
        assert_ok(mel_oracle_ask(&reply, oracle, &question, &err), &err);
        wrong += reply == MEL_REPLY_B;
    }
    mel_oracle_free(oracle);
    assert_close((double)wrong / QUESTIONS, 0.2, 4.0 * sqrt(0.2 * 0.8 / QUESTIONS));
}

static mel_session_options assuming(mel_family family, const char *assume, uint32_t questions)
{
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    opt.family = family;
    opt.max_questions = questions;
    opt.tolerance = 0.005;
    assert_ok(mel_assumption_parse(&opt.assume, assume, &err), &err);
    return opt;
}

/* The posterior on a grid, by unit vectors on a face and on a ball, and by bivectors. */
static void test_sessions(void **state)
{
    (void)state;
    enum { POINTS = 4000 };
    static const double fraction_p[] = { 1.0, 0.0 }, fraction_q[] = { 0.8, -0.2, 0.2 };
    static const double a[] = { -0.6, -0.1, -0.4, -0.2, -0.5, -0.4 }, flat[] = { 0.2, 0, 0, 0.1, 0, 0 },
                        weights[] = { 0.8, 0.6 };
    mel_face *face = test_logistic_face(5.0, 0.0);
    mel_ball *ball = test_rates_ball(3, 0.2);
    mel_metric *on_face = test_fractional(fraction_p, fraction_q);
    mel_metric *on_ball = test_linear_metric(MEL_FAMILY_LINEAR, mel_ball_layout(ball), a);
    mel_metric *bent =
        test_fractional_metric(MEL_FAMILY_LINEAR_FRACTIONAL, mel_ball_layout(ball), a, flat, 1.0);
    mel_metric *line = test_linear_metric(MEL_FAMILY_LINEAR, &mel_binary_layout, weights);
    mel_error err;
    const struct {
        const char *name, *assume;
        mel_domain domain;
        mel_family family;
        const mel_metric *truth;
        double agree;
    } rows[] = {
        { "grid", "hasty:0.1", { .face = face }, MEL_FAMILY_LINEAR, line, 0.95 },
        { "grid, learned", "hasty", { .face = face }, MEL_FAMILY_LINEAR, line, 0.95 },
        { "pivot", "hasty:0.1", { .face = face }, MEL_FAMILY_LINEAR_FRACTIONAL, on_face, 0.95 },
        { "sphere", "hasty:0.1", { .ball = ball }, MEL_FAMILY_LINEAR, on_ball, 0.93 },
        { "sphere, learned", "hasty", { .ball = ball }, MEL_FAMILY_LINEAR, on_ball, 0.93 },
        { "bivector", "hasty", { .ball = ball }, MEL_FAMILY_LINEAR_FRACTIONAL, bent, 0.93 },
    };
    double *points = test_ball_points(ball, POINTS, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_session_options opt = assuming(rows[i].family, rows[i].assume, 40);
        mel_noise noise;
        mel_summary summary;
        assert_ok(mel_noise_parse(&noise, "hasty:0.1", &err), &err);
        mel_metric *found = test_find(&summary, &rows[i].domain, &opt, rows[i].truth, noise, 5);
        const double share = rows[i].domain.face != NULL
                                 ? test_agreement(face, found, rows[i].truth, POINTS, 2)
                                 : test_order_agreement(POINTS, 6, points, found, rows[i].truth);
        print_message("  %s: %u questions, %.3f of pairs alike\n", rows[i].name, summary.questions, share);
        assert_true(share >= rows[i].agree);
        mel_metric_free(found);
    }
    free(points);
    mel_metric_free(line);
    mel_metric_free(bent);
    mel_metric_free(on_ball);
    mel_metric_free(on_face);
    mel_ball_free(ball);
    mel_face_free(face);
}

/* A session file knows the model by its word and goes on where it stopped. */
static void test_file_of_a_session(void **state)
{
    (void)state;
    mel_face *face = test_logistic_face(5.0, 0.0);
    const mel_domain domain = { .face = face };
    const mel_session_options opt = assuming(MEL_FAMILY_LINEAR, "hasty:0.1", 6);
    const char *path = test_path("toy.jsonl");
    double angle[2] = { 0.0, 1.0 };
    mel_error err;
    mel_noise noise;
    assert_ok(mel_noise_parse(&noise, "hasty:0.1", &err), &err);
    for (size_t i = 0; i < 2; i++) {
        mel_session *session = NULL;
        mel_metric *metric = NULL;
        mel_summary summary;
        mel_oracle *oracle = test_linear_oracle(0.6, noise, 1);
        assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
        assert_int_equal(mel_session_answers(session), i == 0 ? 0 : 6);
        assert_ok(mel_session_run(session, oracle, &err), &err);
        assert_ok(mel_session_result(&metric, &summary, session, &err), &err);
        angle[i] = summary.angle;
        mel_metric_free(metric);
        mel_oracle_free(oracle);
        mel_session_free(session);
    }
    assert_true(angle[0] == angle[1]);
    char line[4096] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "\"hasty:0.1\""));
    (void)fclose(file);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_file_of_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
