/* How precise a session was on its way, and answers that contradict a metric. */
#include "support/metrics.h"
#include "support/test.h"

#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

enum { QUESTIONS = 6 };

typedef struct {
    mel_domain domain;
    mel_metric *truth;
    mel_session *session;
    mel_outcome *outcome;
} fixture;

static mel_metric *linear(const mel_layout *layout, const double *a)
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, layout, NULL, MEL_UTILITY, a, &err), &err);
    return metric;
}

static void answer(fixture *f)
{
    mel_error err;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const mel_question *question = NULL;
        bool done = false;
        double better = 0.0;
        assert_ok(mel_session_ask(&question, &done, f->session, &err), &err);
        assert_false(done);
        assert_ok(mel_metric_compare(&better, f->truth, question->a, question->b, &err), &err);
        assert_ok(mel_session_tell(f->session, question->number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B,
                                   NAN, &err),
                  &err);
    }
}

/* After a few answers of a random metric. */
static fixture open_fixture(mel_domain domain, const mel_layout *layout, uint64_t seed)
{
    fixture f = { .domain = domain };
    mel_session_options opt;
    mel_rng rng;
    mel_error err;
    double a[16];
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < mel_layout_size(layout); i++)
        a[i] = 0.1 + mel_rng_uniform(&rng);
    f.truth = linear(layout, a);
    mel_session_options_init(&opt);
    opt.seed = seed;
    opt.tolerance = 1e-4;
    if (domain.ball != NULL)
        opt.direction = MEL_DIRECTION_UNKNOWN;
    assert_ok(mel_session_new(&f.session, &f.domain, &opt, &err), &err);
    answer(&f);
    assert_ok(mel_outcome_of_session(&f.outcome, f.session, NULL, &err), &err);
    return f;
}

static void close_fixture(fixture *f)
{
    mel_outcome_free(f->outcome);
    mel_session_free(f->session);
    mel_metric_free(f->truth);
    mel_face_free((mel_face *)f->domain.face);
    mel_ball_free((mel_ball *)f->domain.ball);
}

static mel_domain make_face(void)
{
    static const double score[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 };
    static const uint8_t role[] = { 0, 0, 0, 1, 0, 0, 1, 1, 1 };
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_scores(&face, COUNT(score), score, role, NULL, &err), &err);
    return (mel_domain){ .face = face };
}

static void test_radii(void **state)
{
    (void)state;
    fixture f = open_fixture(make_face(), &(mel_layout){ MEL_CONFUSION, MEL_BINARY, 2, 0 }, 2);
    double *radius = NULL;
    size_t n = 0;
    mel_error err;
    assert_ok(mel_session_radii(&radius, &n, f.session, &err), &err);
    assert_int_equal(n, QUESTIONS + 1);
    for (size_t i = 1; i < n; i++)
        assert_true(radius[i] < radius[i - 1]);
    assert_close(radius[QUESTIONS], f.outcome->summary.radius, 0.0);
    free(radius);
    close_fixture(&f);
}

/* Answers by accuracy agree with it everywhere, and so does somebody who guesses that both mistakes count
 * alike; "about the same" agrees with nothing. */
static void test_agreed(void **state)
{
    (void)state;
    enum { PAIRS = 20, UNDECIDED = 3 };
    fixture f = open_fixture(make_face(), &(mel_layout){ MEL_CONFUSION, MEL_BINARY, 2, 0 }, 3);
    mel_session_options opt;
    double pairs[4 * PAIRS];
    mel_answer answers[PAIRS];
    uint32_t people = 1;
    mel_error err;
    mel_session_options_init(&opt);
    assert_int_equal(mel_evaluation_pairs(pairs, &people, &f.domain, &opt, 1e6, PAIRS, 1, &err), MEL_EDATA);
    assert_ok(mel_evaluation_pairs(pairs, &people, &f.domain, &opt, 0.05, PAIRS, 1, &err), &err);
    assert_int_equal(people, 0);
    for (size_t i = 0; i < PAIRS; i++) {
        const double *a = pairs + 4 * i, *b = a + 2;
        assert_true(mel_face_contains(f.domain.face, (mel_point){ a[0], a[1] }, 0.0));
        answers[i] = i < UNDECIDED               ? MEL_ANSWER_SAME
                     : a[0] + a[1] > b[0] + b[1] ? MEL_ANSWER_A
                                                 : MEL_ANSWER_B;
    }
    const mel_evaluation evaluation = { PAIRS, pairs, answers, 1.0 };
    mel_outcome_options about;
    mel_outcome *o = NULL;
    mel_outcome_options_init(&about);
    about.evaluation = &evaluation;
    assert_ok(mel_outcome_of_session(&o, f.session, &about, &err), &err);
    assert_int_equal(o->agreed.n, PAIRS - UNDECIDED);
    assert_int_equal(o->agreed.accuracy, PAIRS - UNDECIDED);
    assert_true(o->agreed.planar && o->agreed.guessed);
    assert_int_equal(o->agreed.guess, PAIRS - UNDECIDED);
    assert_true(o->agreed.elicited > 0 && o->agreed.f1 < PAIRS - UNDECIDED);
    mel_outcome_free(o);
    close_fixture(&f);
}

/* A metric that finds both the same contradicts neither answer. */
static void test_contradictions(void **state)
{
    (void)state;
    static const double low[] = { 0.1, 0.3 }, high[] = { 0.2, 0.4 }, other[] = { 0.4, 0.2 };
    static const struct {
        const double *a, *b;
        mel_answer answer;
        bool contradicts;
    } rows[] = {
        { high, low, MEL_ANSWER_A, false },    { high, low, MEL_ANSWER_B, true },
        { low, high, MEL_ANSWER_A, true },     { low, high, MEL_ANSWER_B, false },
        { low, high, MEL_ANSWER_SAME, false }, { low, high, MEL_ANSWER_SKIP, false },
        { high, other, MEL_ANSWER_A, false },  { high, other, MEL_ANSWER_B, false },
    };
    mel_metric *metric = linear(&(mel_layout){ MEL_CONFUSION, MEL_BINARY, 2, 0 }, (const double[]){ 1, 1 });
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(mel_answer_contradicts(metric, rows[i].a, rows[i].b, rows[i].answer),
                         rows[i].contradicts);
    mel_metric_free(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(test_radii),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_agreed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
