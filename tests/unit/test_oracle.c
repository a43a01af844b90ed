/* Simulated oracles with every kind of noise, majorities, callbacks. */
#include "oracle/counts.h"
#include "support/test.h"

#include "metric/shared.h"
#include "oracle/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };

static mel_oracle *simulated(mel_noise noise, mel_tie ties, double width, uint64_t seed)
{
    const double a[] = { 1, 1 };
    mel_metric *metric = NULL;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    mel_simulated_options opt;
    mel_simulated_options_init(&opt);
    opt.noise = noise;
    opt.ties = ties;
    opt.tie_width = width;
    opt.seed = seed;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, a, &err), &err);
    assert_ok(mel_oracle_simulated(&oracle, metric, &opt, &err), &err);
    mel_metric_free(metric); /* the oracle has its own */
    return oracle;
}

/* A question on points whose accuracies differ by `difference`. */
static mel_reply ask(mel_oracle *oracle, uint32_t number, double difference)
{
    const double a[] = { 0.25 + difference, 0.5 }, b[] = { 0.25, 0.5 };
    const mel_question question = { .number = number, .layout = &binary, .a = a, .b = b };
    mel_reply reply = (mel_reply)77;
    mel_error err = { 0 };
    assert_ok(mel_oracle_ask(&reply, oracle, &question, &err), &err);
    return reply;
}

static void test_answers(void **state)
{
    (void)state;
    mel_answer answer = MEL_ANSWER_SAME;
    assert_ok(mel_answer_parse(&answer, "A", NULL), NULL);
    assert_int_equal(answer, MEL_ANSWER_A);
    assert_ok(mel_answer_parse(&answer, "B", NULL), NULL);
    assert_int_equal(answer, MEL_ANSWER_B);
    assert_ok(mel_answer_parse(&answer, "=", NULL), NULL);
    assert_int_equal(answer, MEL_ANSWER_SAME);
    assert_ok(mel_answer_parse(&answer, "?", NULL), NULL);
    assert_int_equal(answer, MEL_ANSWER_SKIP);
    static const char *const wrong[] = { "", "a", "AB", " A", "C", "??" };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        mel_error err = { 0 };
        assert_int_equal(mel_answer_parse(&answer, wrong[i], &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, "is not an answer"));
    }
    assert_string_equal(mel_answer_name(MEL_ANSWER_SAME), "=");
    assert_string_equal(mel_answer_name(MEL_ANSWER_SKIP), "?");
    assert_string_equal(mel_answer_name((mel_answer)9), "?");
}

static void test_noise_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_status status;
        mel_noise noise;
    } rows[] = {
        { "none", MEL_OK, { MEL_NOISE_NONE, 0, false } },
        { "band:0.01", MEL_OK, { MEL_NOISE_BAND, 0.01, false } },
        { "band:0.01,adversarial", MEL_OK, { MEL_NOISE_BAND, 0.01, true } },
        { "logistic:50", MEL_OK, { MEL_NOISE_LOGISTIC, 50, false } },
        { "flip:0.1", MEL_OK, { MEL_NOISE_FLIP, 0.1, false } },
        { "flip:0", MEL_OK, { MEL_NOISE_FLIP, 0, false } },
        { "flip:1", MEL_OK, { MEL_NOISE_FLIP, 1, false } },
        { "person", MEL_OK, { MEL_NOISE_PERSON, 0, false } },
        { "person:0.1", MEL_EINVAL, { 0 } },
        { "", MEL_EINVAL, { 0 } },
        { "none:1", MEL_EINVAL, { 0 } },
        { "flip", MEL_EINVAL, { 0 } },
        { "flip:", MEL_EINVAL, { 0 } },
        { "flip:1.1", MEL_EINVAL, { 0 } },
        { "flip:-0.1", MEL_EINVAL, { 0 } },
        { "flip:nan", MEL_EINVAL, { 0 } },
        { "flip:0.1 ", MEL_EINVAL, { 0 } },
        { "flip:0.1,adversarial", MEL_EINVAL, { 0 } },
        { "band:-1", MEL_EINVAL, { 0 } },
        { "band:0.1,adverse", MEL_EINVAL, { 0 } },
        { "band:,adversarial", MEL_EINVAL, { 0 } },
        { "logistic:1e999", MEL_EINVAL, { 0 } },
        { "gauss:1", MEL_EINVAL, { 0 } },
        { "flipper:0.1", MEL_EINVAL, { 0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_noise noise = { MEL_NOISE_FLIP, 0.125, false };
        mel_error err = { 0 };
        print_message("  \"%s\"\n", rows[i].text);
        assert_int_equal(mel_noise_parse(&noise, rows[i].text, &err), rows[i].status);
        if (rows[i].status != MEL_OK) {
            assert_true(noise.size == 0.125);
            assert_true(err.text[0] != '\0');
            continue;
        }
        assert_int_equal(noise.kind, rows[i].noise.kind);
        assert_true(noise.size == rows[i].noise.size && noise.adversarial == rows[i].noise.adversarial);
        char text[MEL_NOISE_TEXT];
        mel_noise_print(text, sizeof text, &noise);
        assert_string_equal(text, rows[i].text);
    }
    const mel_noise longest = { MEL_NOISE_BAND, 2.2250738585072014e-308, true };
    char text[MEL_NOISE_TEXT];
    mel_noise_print(text, sizeof text, &longest);
    assert_string_equal(text, "band:2.2250738585072014e-308,adversarial");
}

static void test_without_noise(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        mel_tie ties;
        mel_reply want;
        double width, difference;
    } rows[] = {
        { "A is better", MEL_TIE_SECOND, MEL_REPLY_A, 0, 0.01 },
        { "B is better", MEL_TIE_SECOND, MEL_REPLY_B, 0, -0.01 },
        { "neither: the second", MEL_TIE_SECOND, MEL_REPLY_B, 0, 0 },
        { "by a hair", MEL_TIE_SECOND, MEL_REPLY_A, 0, 1e-15 },
        { "width is for ties only", MEL_TIE_SECOND, MEL_REPLY_A, 0.5, 0.01 },
        { "exactly the same", MEL_TIE_SAME, MEL_REPLY_SAME, 0, 0 },
        { "not the same", MEL_TIE_SAME, MEL_REPLY_A, 0, 1e-15 },
        { "about the same", MEL_TIE_SAME, MEL_REPLY_SAME, 0.0125, -0.0078125 },
        { "beyond the width", MEL_TIE_SAME, MEL_REPLY_B, 0.0125, -0.015625 },
    };
    const mel_noise none = { MEL_NOISE_NONE, 0, false };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        mel_oracle *oracle = simulated(none, rows[i].ties, rows[i].width, 1);
        assert_int_equal(ask(oracle, 1, rows[i].difference), rows[i].want);
        mel_oracle_free(oracle);
    }
}

static void test_costs_are_turned_around(void **state)
{
    (void)state;
    const double a[] = { 1, 1 };
    mel_metric *metric = NULL;
    mel_oracle *oracle = NULL;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_COST, a, NULL), NULL);
    assert_ok(mel_oracle_simulated(&oracle, metric, NULL, NULL), NULL);
    assert_int_equal(ask(oracle, 1, 0.1), MEL_REPLY_B);
    assert_int_equal(ask(oracle, 1, -0.1), MEL_REPLY_A);
    mel_oracle_free(oracle);
    mel_metric_free(metric);
}

static double share_wrong(mel_oracle *oracle, double difference, uint32_t questions)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < questions; i++)
        wrong += ask(oracle, i, difference) != (difference > 0 ? MEL_REPLY_A : MEL_REPLY_B);
    return (double)wrong / questions;
}

static void test_how_often_noise_errs(void **state)
{
    (void)state;
    enum { QUESTIONS = 20000 };
    static const struct {
        const char *noise;
        double difference, want;
    } rows[] = {
        { "flip:0.1", 0.2, 0.1 },
        { "flip:0.1", -0.2, 0.1 },
        { "flip:0", 0.001, 0 },
        { "flip:1", 0.2, 1 },
        { "band:0.1", 0.0625, 0.5 },
        { "band:0.1", -0.0625, 0.5 },
        { "band:0.1", 0.125, 0 },
        { "band:0.0625", 0.0625, 0 },
        { "band:0.1,adversarial", 0.0625, 1 },
        { "band:0.1,adversarial", -0.0625, 1 },
        { "band:0.1,adversarial", 0.125, 0 },
        { "logistic:10", 0.125, 0.22270013882530884 },
        { "logistic:10", -0.125, 0.22270013882530884 },
        { "logistic:100", 0.125, 3.7266392841865614e-06 },
        { "logistic:0", 0.125, 0.5 },
        { "person", 0.02, 0.27587318 },
        { "person", -0.5, 0.015 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_noise noise = { 0 };
        assert_ok(mel_noise_parse(&noise, rows[i].noise, NULL), NULL);
        mel_oracle *oracle = simulated(noise, MEL_TIE_SECOND, 0, 5);
        const double got = share_wrong(oracle, rows[i].difference, QUESTIONS);
        print_message("  %s at %g: wrong %.4f, expected %.4f\n", rows[i].noise, rows[i].difference, got,
                      rows[i].want);
        /* Five standard deviations of a share, and nothing where it is certain. */
        assert_close(got, rows[i].want, 5 * sqrt(rows[i].want * (1 - rows[i].want) / QUESTIONS));
        mel_oracle_free(oracle);
    }
}

static void test_noise_depends_on_the_question_only(void **state)
{
    (void)state;
    enum { QUESTIONS = 500 };
    const mel_noise flip = { MEL_NOISE_FLIP, 0.5, false };
    mel_oracle *forward = simulated(flip, MEL_TIE_SECOND, 0, 9),
               *backward = simulated(flip, MEL_TIE_SECOND, 0, 9);
    mel_oracle *other = simulated(flip, MEL_TIE_SECOND, 0, 10);
    mel_reply replies[QUESTIONS];
    size_t differ = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++)
        replies[i] = ask(forward, i, 0.1);
    for (uint32_t i = QUESTIONS; i-- > 0;) {
        assert_int_equal(ask(backward, i, 0.1), replies[i]);
        assert_int_equal(ask(backward, i, 0.1), replies[i]); /* asked twice */
        differ += ask(other, i, 0.1) != replies[i];
    }
    assert_in_range(differ, QUESTIONS / 3, 2 * QUESTIONS / 3); /* another seed, other errors */
    mel_oracle_free(forward);
    mel_oracle_free(backward);
    mel_oracle_free(other);
}

/* Votes of one question are different draws: a majority of 2m+1 errs as the binomial says. */
static void test_majority_of_a_noisy_oracle(void **state)
{
    (void)state;
    enum { QUESTIONS = 20000 };
    static const struct {
        uint32_t votes;
        double want;
    } rows[] = { { 1, 0.3 }, { 3, 0.216 }, { 5, 0.16308 } };
    const mel_noise flip = { MEL_NOISE_FLIP, 0.3, false };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_oracle *oracle = NULL;
        assert_ok(mel_oracle_majority(&oracle, simulated(flip, MEL_TIE_SECOND, 0, 3), rows[i].votes, NULL),
                  NULL);
        const double got = share_wrong(oracle, 0.1, QUESTIONS);
        print_message("  %u votes: wrong %.4f, expected %.4f\n", rows[i].votes, got, rows[i].want);
        assert_close(got, rows[i].want, 5 * sqrt(rows[i].want * (1 - rows[i].want) / QUESTIONS));
        mel_oracle_free(oracle);
    }
    /* A majority of majorities uses draws of its own throughout. */
    mel_oracle *inner = NULL, *outer = NULL;
    assert_ok(mel_oracle_majority(&inner, simulated(flip, MEL_TIE_SECOND, 0, 3), 3, NULL), NULL);
    assert_ok(mel_oracle_majority(&outer, inner, 3, NULL), NULL);
    const double p = 0.216, want = 3 * p * p * (1 - p) + p * p * p;
    assert_close(share_wrong(outer, 0.1, QUESTIONS), want, 5 * sqrt(want * (1 - want) / QUESTIONS));
    mel_oracle_free(outer);
}

/* Replies from a script; counts how often it was asked and how often released. */
typedef struct {
    const char *script;
    size_t asked, released;
    uint32_t last_repetition;
} scripted;

static mel_status follow_script(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    scripted *s = user;
    const char c = s->script[s->asked++];
    s->last_repetition = question->repetition;
    if (c == '!') {
        if (err != NULL) {
            err->code = MEL_EIO;
            snprintf(err->text, sizeof err->text, "the script fails");
        }
        return MEL_EIO;
    }
    *reply = c == 'A'   ? MEL_REPLY_A
             : c == 'B' ? MEL_REPLY_B
             : c == '=' ? MEL_REPLY_SAME
             : c == 'u' ? MEL_REPLY_UNDO
             : c == 'q' ? MEL_REPLY_QUIT
                        : (mel_reply)42;
    return MEL_OK;
}

static void release_script(void *user)
{
    ((scripted *)user)->released++;
}

static void test_votes(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        uint32_t votes;
        mel_status status;
        mel_reply want;
        size_t asked;
    } rows[] = {
        { "A", 1, MEL_OK, MEL_REPLY_A, 1 },
        { "AAx", 3, MEL_OK, MEL_REPLY_A, 2 }, /* settled: the third is not asked */
        { "ABA", 3, MEL_OK, MEL_REPLY_A, 3 },
        { "BAB", 3, MEL_OK, MEL_REPLY_B, 3 },
        { "==x", 3, MEL_OK, MEL_REPLY_SAME, 2 },
        { "A=B", 3, MEL_OK, MEL_REPLY_SAME, 3 },
        { "A==BA", 5, MEL_OK, MEL_REPLY_A, 5 }, /* 2 : 1 : 2, somebody minds */
        { "A=B=B", 5, MEL_OK, MEL_REPLY_B, 5 },
        { "=A==x", 5, MEL_OK, MEL_REPLY_SAME, 4 },
        { "AB=AB", 5, MEL_OK, MEL_REPLY_SAME, 5 },
        { "Au", 3, MEL_OK, MEL_REPLY_UNDO, 2 },
        { "q", 3, MEL_OK, MEL_REPLY_QUIT, 1 },
        { "A!", 3, MEL_EIO, 0, 2 },
        { "Ax", 3, MEL_EINVAL, 0, 2 },
    };
    const double a[] = { 0.1, 0.2 };
    const mel_question question = { .number = 4, .layout = &binary, .a = a, .b = a };
    for (size_t i = 0; i < COUNT(rows); i++) {
        scripted script = { .script = rows[i].script };
        mel_oracle *inner = NULL, *oracle = NULL;
        mel_error err = { 0 };
        mel_reply reply = (mel_reply)77;
        print_message("  %s of %u\n", rows[i].script, rows[i].votes);
        assert_ok(mel_oracle_callback(&inner, follow_script, &script, release_script, &err), &err);
        assert_ok(mel_oracle_majority(&oracle, inner, rows[i].votes, &err), &err);
        assert_int_equal(mel_oracle_ask(&reply, oracle, &question, &err), rows[i].status);
        assert_int_equal(reply, rows[i].status == MEL_OK ? (int)rows[i].want : 77);
        assert_int_equal(script.asked, rows[i].asked);
        assert_int_equal(script.last_repetition, rows[i].asked - 1);
        mel_oracle_free(oracle);
        assert_int_equal(script.released, 1);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    mel_error err = { 0 };
    mel_oracle *oracle = NULL;
    scripted script = { .script = "A" };
    assert_int_equal(mel_oracle_callback(&oracle, NULL, &script, release_script, &err), MEL_EINVAL);
    assert_int_equal(script.released, 1);
    assert_null(oracle);
    static const uint32_t even[] = { 0, 2, 100 };
    for (size_t i = 0; i < COUNT(even); i++) {
        mel_oracle *inner = NULL;
        assert_ok(mel_oracle_callback(&inner, follow_script, &script, release_script, &err), &err);
        assert_int_equal(mel_oracle_majority(&oracle, inner, even[i], &err),
                         MEL_EINVAL); /* takes inner over */
        assert_int_equal(script.released, 2 + i);
        assert_non_null(strstr(err.text, "odd"));
    }
    assert_int_equal(mel_oracle_majority(&oracle, NULL, 3, &err), MEL_EINVAL);
    mel_oracle_free(NULL);

    const double a[] = { 1, 1 };
    mel_metric *metric = NULL;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, a, &err), &err);
    static const struct {
        const char *what;
        mel_noise noise;
        mel_tie ties;
        double width;
    } rows[] = {
        { "kind of noise", { (mel_noise_kind)9, 0, false }, MEL_TIE_SECOND, 0 },
        { "probability above one", { MEL_NOISE_FLIP, 1.5, false }, MEL_TIE_SECOND, 0 },
        { "scale not a number", { MEL_NOISE_LOGISTIC, (double)NAN, false }, MEL_TIE_SECOND, 0 },
        { "adversarial flips", { MEL_NOISE_FLIP, 0.1, true }, MEL_TIE_SECOND, 0 },
        { "kind of tie", { MEL_NOISE_NONE, 0, false }, (mel_tie)5, 0 },
        { "negative width", { MEL_NOISE_NONE, 0, false }, MEL_TIE_SAME, -1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_simulated_options opt;
        mel_simulated_options_init(&opt);
        opt.noise = rows[i].noise;
        opt.ties = rows[i].ties;
        opt.tie_width = rows[i].width;
        print_message("  %s\n", rows[i].what);
        assert_int_equal(mel_oracle_simulated(&oracle, metric, &opt, &err), MEL_EINVAL);
        assert_null(oracle);
    }
    const mel_simulated_options blank = { 0 };
    assert_int_equal(mel_oracle_simulated(&oracle, metric, &blank, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "not initialised"));
    mel_metric_free(metric);
}

static void test_questions_are_checked(void **state)
{
    (void)state;
    const mel_noise none = { MEL_NOISE_NONE, 0, false };
    mel_oracle *oracle = simulated(none, MEL_TIE_SECOND, 0, 1);
    const double fine[] = { 0.1, 0.2, 0.3 }, broken[] = { 0.1, (double)NAN, 0 };
    const mel_layout diagonal = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 },
                     wrong = { MEL_CONFUSION, MEL_BINARY, 5, 0 };
    const struct {
        const char *what;
        mel_question question;
        const char *says;
    } rows[] = {
        { "no layout", { .number = 7, .a = fine, .b = fine }, "question 7 has no layout" },
        { "no statistics", { .number = 7, .layout = &binary, .a = fine }, "no statistics" },
        { "bad layout", { .number = 7, .layout = &wrong, .a = fine, .b = fine }, "question 7: layout" },
        { "not a number",
          { .number = 7, .layout = &binary, .a = fine, .b = broken },
          "statistic 2 is 0.2 for A" },
        { "another layout", { .number = 7, .layout = &diagonal, .a = fine, .b = fine }, "different layouts" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_reply reply = (mel_reply)77;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].what);
        assert_int_equal(mel_oracle_ask(&reply, oracle, &rows[i].question, &err), MEL_EINVAL);
        assert_int_equal(reply, 77);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
    mel_oracle_free(oracle);
}

static void test_undefined_values(void **state)
{
    (void)state;
    mel_metric *precision = NULL;
    mel_oracle *oracle = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_named(&precision, "precision", 0.3, NULL, &err), &err);
    assert_ok(mel_oracle_simulated(&oracle, precision, NULL, &err), &err);
    const double never[] = { 0, 0.7 }, some[] = { 0.1, 0.6 };
    const mel_question question = { .number = 3, .layout = &binary, .a = never, .b = some };
    mel_reply reply = (mel_reply)77;
    assert_int_equal(mel_oracle_ask(&reply, oracle, &question, &err), MEL_ENUMERIC);
    assert_non_null(strstr(err.text, "question 3: the denominator is 0"));
    mel_oracle_free(oracle);
    mel_metric_free(precision);
}

static void test_rounding_to_a_total(void **state)
{
    (void)state;
    static const struct {
        double share[4];
        int64_t total, want[4];
    } rows[] = {
        { { 0.29, 0.71 }, 100, { 29, 71 } },
        { { 1, 1, 1 }, 100, { 34, 33, 33 } },
        { { 0.5, 0.25, 0.25 }, 1, { 1, 0, 0 } },
        { { 0.104, 0.104, 0.792 }, 100, { 11, 10, 79 } },
        { { 0, 0, 0, 1 }, 1000, { 0, 0, 0, 1000 } },
        { { -1e-17, 1 }, 10, { 0, 10 } },
        { { 0, 0 }, 0, { 0, 0 } },
        { { 0.3333, 0.3333, 0.3334 }, 10000, { 3333, 3333, 3334 } },
        { { 1e-9, 1 - 1e-9 }, 4294967295, { 4, 4294967291 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got[4];
        mel_round_to_total(got, rows[i].share, 4, rows[i].total);
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(got[j], rows[i].want[j]);
    }
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (int round = 0; round < 2000; round++) {
        double share[7];
        int64_t got[7], sum = 0;
        const int64_t total = (int64_t)mel_rng_below(&rng, 20000);
        mel_rng_dirichlet(&rng, COUNT(share), NULL, share);
        mel_round_to_total(got, share, COUNT(share), total);
        for (size_t j = 0; j < COUNT(share); j++) {
            assert_true(fabs((double)got[j] - share[j] * (double)total) < 1 + 1e-6);
            sum += got[j];
        }
        assert_int_equal(sum, total);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_noise_words),
        cmocka_unit_test(test_without_noise),
        cmocka_unit_test(test_costs_are_turned_around),
        cmocka_unit_test(test_how_often_noise_errs),
        cmocka_unit_test(test_noise_depends_on_the_question_only),
        cmocka_unit_test(test_majority_of_a_noisy_oracle),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_questions_are_checked),
        cmocka_unit_test(test_undefined_values),
        cmocka_unit_test(test_rounding_to_a_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
