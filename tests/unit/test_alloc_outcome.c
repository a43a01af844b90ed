/* Every allocation of an outcome and of its JSON fails once. */
#include "support/test.h"

#include "melicit/outcome.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

static const double pair[] = { 0.2, 0.3, 0.3, 0.2 };
static const mel_answer answer = MEL_ANSWER_A;
static const mel_evaluation evaluation = { 1, pair, &answer, 2.0 }; /* two classes */
static mel_outcome_options about = { .struct_size = sizeof about,
                                     .missed = "missed cancer",
                                     .rows = 6,
                                     .treatments = true,
                                     .today_threshold = 0.4 };

static mel_status describe(void *context)
{
    mel_outcome *outcome = NULL;
    mel_error err;
    const mel_status status = mel_outcome_of_session(&outcome, context, &about, &err);
    mel_outcome_free(outcome);
    return status;
}

static mel_status write_json(void *context)
{
    char *text = NULL;
    mel_error err;
    const mel_status status = mel_outcome_to_json(&text, context, &err);
    free(text);
    return status;
}

static void run(const char *name, const mel_domain *domain, const mel_session_options *opt)
{
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, domain, opt, &err), &err);
    for (int i = 0; i < 2; i++) {
        const mel_question *question = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        assert_false(done);
        assert_ok(mel_session_tell(session, question->number, MEL_ANSWER_A, NAN, &err), &err);
    }
    about.evaluation = domain->face != NULL ? &evaluation : NULL;
    test_each_allocation(name, describe, session);
    mel_outcome *outcome = NULL;
    assert_ok(mel_outcome_of_session(&outcome, session, &about, &err), &err);
    test_each_allocation("as JSON", write_json, outcome);
    mel_outcome_free(outcome);
    mel_session_free(session);
}

/* The best rule is searched beside a ball. */
static void run_groups(void)
{
    enum { ROWS = 12 };
    double probability[2 * ROWS];
    uint32_t label[ROWS], group[ROWS];
    mel_space *space = NULL;
    mel_ball *ball = NULL;
    mel_space_options so;
    mel_session_options opt;
    mel_error err;
    for (size_t r = 0; r < ROWS; r++) {
        probability[2 * r + 1] = 0.05 + 0.9 * (double)(r * 7 % ROWS) / ROWS;
        probability[2 * r] = 1.0 - probability[2 * r + 1];
        label[r] = probability[2 * r + 1] > 0.3 + 0.1 * (double)(r % 5);
        group[r] = (uint32_t)(r / 2 % 2);
    }
    const mel_sample sample = { ROWS, 2, 2, probability, label, group, NULL };
    mel_space_options_init(&so);
    so.kind = MEL_RATES;
    so.threads = 1;
    assert_ok(mel_space_from_sample(&space, &sample, &so, &err), &err);
    assert_ok(mel_ball_of_space(&ball, NULL, space, NULL, &err), &err);
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_FAIR_LINEAR;
    run("groups", &(mel_domain){ .ball = ball, .frontier = space }, &opt);
    mel_ball_free(ball);
    mel_space_free(space);
}

static void test_allocations(void **state)
{
    (void)state;
    static const double score[] = { 0.1, 0.3, 0.2, 0.6, 0.4, 0.9 }, slope[] = { 1.0, 3.0, 5.0 };
    static const uint8_t role[] = { 0, 0, 1, 0, 1, 1 };
    mel_face *face = NULL;
    mel_space *space = NULL;
    mel_space_options so;
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    assert_ok(mel_face_from_scores(&face, COUNT(score), score, role, NULL, &err), &err);
    run("two classes", &(mel_domain){ .face = face }, &opt);
    mel_space_options_init(&so);
    so.coordinates = MEL_DIAGONAL;
    opt.family = MEL_FAMILY_DIAGONAL_LINEAR;
    opt.strategy = MEL_STRATEGY_SEARCH;
    assert_ok(mel_space_from_softmax(&space, 3, slope, &so, &err), &err);
    run("several classes", &(mel_domain){ .space = space }, &opt);
    mel_space_free(space);
    run_groups();
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
