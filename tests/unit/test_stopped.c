/* Work on a domain that is stopped by its progress: nothing is made, and nothing has changed. */
#include "elicit/shared.h"
#include "space/shared.h"
#include "support/test.h"

#include "melicit/classify.h"

#include <math.h>
#include <string.h>

enum { ROWS = 60, CLASSES = 3, NUMBERS = CLASSES * (CLASSES - 1) };

/* Lets the first `patience` reports pass. */
typedef struct {
    int patience, asked;
} stopper;

static int stop(void *user, const char *what, double share)
{
    stopper *s = user;
    assert_true(strlen(what) > 0 && share >= 0.0 && share <= 1.0);
    return s->asked++ >= s->patience;
}

static mel_space *make_space(void)
{
    static double probability[ROWS * CLASSES];
    static uint32_t label[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        label[i] = (uint32_t)(i % CLASSES);
        for (size_t j = 0; j < CLASSES; j++)
            probability[i * CLASSES + j] = j == (i * i / 7) % CLASSES ? 0.6 : 0.2;
    }
    mel_space *space = NULL;
    mel_error err;
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = MEL_RATES;
    const mel_rows sample = { ROWS, CLASSES, 0, probability, label, NULL, NULL, NULL };
    assert_ok(mel_space_from_sample(&space, &sample, &opt, &err), &err);
    return space;
}

static void test_classifiers(void **state)
{
    (void)state;
    mel_space *space = make_space();
    double centre[NUMBERS], a[NUMBERS], b[NUMBERS * NUMBERS] = { 0 };
    for (size_t i = 0; i < NUMBERS; i++) {
        a[i] = 0.1;
        b[i * NUMBERS + i] = 1.0;
    }
    mel_metric *metric = NULL;
    mel_classifier *c = NULL;
    mel_error err;
    assert_ok(mel_metric_quadratic(&metric, mel_space_layout(space), NULL, MEL_COST, a, b, &err), &err);
    mel_space_centre(centre, space);
    for (int work = 0; work < 2; work++) {
        stopper s = { 0 };
        const mel_domain domain = { .space = space, .progress = { stop, &s } };
        assert_int_equal(work == 0 ? mel_classifier_best(&c, &domain, metric, &err)
                                   : mel_classifier_at_point(&c, &domain, centre, 1e-6, &err),
                         MEL_ESTOPPED);
        assert_null(c);
        assert_int_equal(s.asked, 1);
        s.patience = 1000000;
        assert_ok(work == 0 ? mel_classifier_best(&c, &domain, metric, &err)
                            : mel_classifier_at_point(&c, &domain, centre, 1e-6, &err),
                  &err);
        mel_classifier_free(c);
    }
    mel_metric_free(metric);
    mel_space_free(space);
}

static void test_replay(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_session *session = NULL;
    mel_error err;
    mel_session_options opt;
    mel_session_options_init(&opt);
    assert_ok(mel_face_from_logistic(&face, 5.0, 0.0, &err), &err);
    stopper s = { .patience = 2 };
    const mel_domain domain = { .face = face, .progress = { stop, &s } };
    const mel_identity identity = { .space_json = "{}" };
    const char *path = test_path("stopped.jsonl");
    assert_ok(mel_session_open(&session, &domain, &opt, &identity, path, &err), &err);
    for (uint32_t i = 1; i <= 4; i++) {
        const mel_question *question = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        assert_ok(mel_session_tell(session, i, i % 2 == 0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err), &err);
    }
    assert_int_equal(s.asked, 0);
    assert_int_equal(mel_session_undo(session, &err), MEL_ESTOPPED);
    assert_int_equal(s.asked, 3);
    assert_int_equal(mel_session_answers(session), 4);
    s.patience = 1000;
    assert_ok(mel_session_undo(session, &err), &err);
    assert_int_equal(mel_session_answers(session), 3);
    mel_session_free(session);
    s = (stopper){ .patience = 2 };
    assert_int_equal(mel_session_open(&session, &domain, &opt, &identity, path, &err), MEL_ESTOPPED);
    assert_null(session);
    s.patience = 1000;
    assert_ok(mel_session_open(&session, &domain, &opt, &identity, path, &err), &err);
    assert_int_equal(mel_session_answers(session), 3);
    mel_session_free(session);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classifiers),
        cmocka_unit_test_teardown(test_replay, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
