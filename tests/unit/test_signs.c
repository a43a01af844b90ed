/* Signs and directions that were declared wrongly are noticed: a question about the weights that came out as
 * nothing, and the right metric in the end. */
#include "elicit/shared.h"
#include "metric/shared.h"
#include "space/shared.h"
#include "support/multiclass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    mel_face *face;
    mel_space *diagonal;
    mel_ball *three, *groups;
} made;

static int set_up(void **state)
{
    (void)state;
    const mel_layout groups = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
    assert_int_equal(mel_face_from_logistic(&made.face, 5.0, 0.0, NULL), MEL_OK);
    made.diagonal = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    made.three = test_rates_ball(3, 0.2);
    assert_int_equal(mel_ball_new(&made.groups, &groups, 0.3, NULL, NULL, NULL), MEL_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_face_free(made.face);
    mel_space_free(made.diagonal);
    mel_ball_free(made.three);
    mel_ball_free(made.groups);
    test_cleanup();
    return 0;
}

enum { MOST = 6 };
typedef struct {
    const char *name;
    char domain; /* f, s, b, g */
    mel_family family;
    double a[MOST], b[MOST]; /* b: below the line */
    signed char signs[MOST]; /* all 0: none given */
    mel_assumption assume;
    uint32_t questions;
    mel_sign_check want;
    bool right; /* the metric is found */
} row;

static const row rows[] = {
    { "linear, right",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, -3, -2, -1.5, -1 },
      .questions = 100,
      .want = MEL_SIGNS_FREE,
      .right = true },
    { "linear, wrong direction",
      'b',
      MEL_FAMILY_LINEAR,
      { 1, 2, 3, 2, 1.5, 1 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "linear, one wrong sign",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, 1, -2, -1.5, -1 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "linear, one wrong sign of a list",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, 2, 1, -2, -1.5, -1 },
      .signs = { -1, 1, -1, 0, -1, 0 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "linear, no weight",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, -1e-4, -2, -1.5, -1 },
      .questions = 100,
      .want = MEL_SIGNS_UPHELD,
      .right = true },
    { "linear, wrong answers expected",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, 1, -2, -1.5, -1 },
      .assume = { MEL_NOISE_FLIP, 0.0 },
      .questions = 200,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "linear, no question left",
      'b',
      MEL_FAMILY_LINEAR,
      { 1, 2, 3, 2, 1.5, 1 },
      .questions = 20,
      .want = MEL_SIGNS_CONTRADICTED },
    { "linear-fractional",
      'b',
      MEL_FAMILY_LINEAR_FRACTIONAL,
      { .1, .2, .3, .2, .1, .1 },
      { .3, .1, -.2, .1, 0, .2 },
      .questions = 150,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "diagonal",
      's',
      MEL_FAMILY_DIAGONAL_LINEAR,
      { -.2, -.3, -.5 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "diagonal, one",
      's',
      MEL_FAMILY_DIAGONAL_LINEAR,
      { .2, -.3, .5 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "diagonal fractional",
      's',
      MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL,
      { -.2, -.3, -.5 },
      { .2, -.1, .1 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "planar",
      'f',
      MEL_FAMILY_LINEAR,
      { -.9, -.3 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "planar, wrong answers expected",
      'f',
      MEL_FAMILY_LINEAR,
      { -.9, -.3 },
      .assume = { MEL_NOISE_FLIP, 0.0 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "planar, right",
      'f',
      MEL_FAMILY_LINEAR,
      { .9, .3 },
      .questions = 100,
      .want = MEL_SIGNS_FREE,
      .right = true },
    { "planar fractional",
      'f',
      MEL_FAMILY_LINEAR_FRACTIONAL,
      { -.7, -.3 },
      { .1, -.1 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
    { "fair",
      'g',
      MEL_FAMILY_FAIR_LINEAR,
      { -1, -2 },
      { 1, 1 },
      .questions = 100,
      .want = MEL_SIGNS_CONTRADICTED,
      .right = true },
};

static mel_domain domain_of(char kind)
{
    return (mel_domain){ .face = kind == 'f' ? made.face : NULL,
                         .space = kind == 's' ? made.diagonal : NULL,
                         .ball = kind == 'b'   ? made.three
                                 : kind == 'g' ? made.groups
                                               : NULL };
}

static const mel_layout *layout_of(char kind)
{
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const mel_domain domain = domain_of(kind);
    return domain.face != NULL    ? &binary
           : domain.space != NULL ? mel_space_layout(domain.space)
                                  : mel_ball_layout(domain.ball);
}

static mel_metric *truth_of(const row *r)
{
    const mel_layout *layout = layout_of(r->domain);
    const double even[] = { .5, .5, .5, .5 };
    mel_metric *metric = NULL;
    mel_error err;
    if (r->family == MEL_FAMILY_FAIR_LINEAR)
        assert_ok(mel_metric_fair_linear(&metric, layout, NULL, NULL, r->a, r->b, 0.4, even, &err), &err);
    else if (r->b[0] != 0.0)
        metric = test_fractional_metric(r->family, layout, r->a, r->b, 1.0);
    else
        metric = test_linear_metric(r->family, layout, r->a);
    return metric;
}

static mel_session_options options_of(const row *r)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = r->family;
    opt.assume = r->assume;
    opt.max_questions = r->questions;
    opt.signs = r->signs[0] != 0 ? r->signs : NULL;
    return opt;
}

static void check_row(const row *r)
{
    const mel_domain domain = domain_of(r->domain);
    const mel_session_options opt = options_of(r);
    mel_metric *truth = truth_of(r), *found = NULL;
    mel_oracle *oracle = NULL;
    mel_simulated_options how;
    mel_session *session = NULL;
    mel_summary summary;
    mel_error err;
    mel_simulated_options_init(&how);
    assert_ok(mel_oracle_simulated(&oracle, truth, &how, &err), &err);
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    assert_ok(mel_session_run(session, oracle, &err), &err);
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    const size_t size = mel_layout_size(mel_session_layout(session));
    double *points = domain.space != NULL  ? test_space_points(domain.space, 2000, 7)
                     : domain.ball != NULL ? test_ball_points(domain.ball, 2000, 7)
                                           : NULL;
    double agreement = 1.0;
    if (points != NULL)
        agreement = test_order_agreement(2000, size, points, found, truth);
    else
        for (size_t i = 0; i < 2; i++) {
            const double sense = mel_metric_orientation(found) == MEL_COST ? -1.0 : 1.0;
            agreement = fmin(agreement, sense * mel_metric_numerator(found, NULL)[i] * r->a[i] > 0.0);
        }
    print_message("  %s: %u questions, agreement %.3f\n", r->name, summary.questions, agreement);
    assert_int_equal(summary.signs, r->want);
    assert_true(!r->right || agreement >= 0.98);
    assert_true(summary.questions <= r->questions);
    free(points);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(session);
    mel_oracle_free(oracle);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&rows[i]);
}

/* By a metric; the numbers of the pending question once there are `stop` answers. */
static void answer(mel_session *session, const mel_metric *truth, uint32_t stop, double *pending)
{
    const size_t size = mel_layout_size(mel_session_layout(session));
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        double better = 0.0;
        mel_error err;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return;
        if (pending != NULL && mel_session_answers(session) == stop) {
            memcpy(pending, q->a, size * sizeof *pending);
            memcpy(pending + size, q->b, size * sizeof *pending);
            return;
        }
        assert_ok(mel_metric_compare(&better, truth, q->a, q->b, &err), &err);
        assert_ok(mel_session_tell(session, q->number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err),
                  &err);
    }
}

/* A log with a check in it is replayed, and taking the check back brings it back. */
static void test_log_and_undo(void **state)
{
    (void)state;
    const row *r = &rows[1];
    const mel_domain domain = domain_of(r->domain);
    const mel_session_options opt = options_of(r);
    const char *path = test_path("signs.jsonl");
    mel_metric *truth = truth_of(r), *whole = NULL, *again = NULL;
    mel_session *session = NULL;
    mel_summary summary;
    mel_error err;
    double before[2 * MOST], after[2 * MOST];
    assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
    answer(session, truth, UINT32_MAX, NULL);
    assert_ok(mel_session_result(&whole, &summary, session, &err), &err);
    const uint32_t all = summary.questions;
    mel_session_free(session);
    assert_ok(mel_session_open(&session, &domain, &opt, NULL, path, &err), &err);
    assert_ok(mel_session_result(&again, &summary, session, &err), &err);
    assert_int_equal(summary.questions, all);
    assert_int_equal(summary.signs, MEL_SIGNS_CONTRADICTED);
    assert_memory_equal(mel_metric_coefficient(whole), mel_metric_coefficient(again), MOST * sizeof(double));
    uint32_t check = 0; /* the question in which more than half of the numbers stay the same */
    for (uint32_t i = 0; i < all && check == 0; i++) {
        const mel_record record = mel_session_record(session, i);
        size_t same = 0;
        for (size_t j = 0; j < MOST; j++)
            same += record.a[j] == record.b[j];
        if (same > 0)
            check = i + 1;
    }
    assert_in_range(check, 10, all - 1);
    while (mel_session_answers(session) > check - 1)
        assert_ok(mel_session_undo(session, &err), &err);
    answer(session, truth, check - 1, before);
    answer(session, truth, check + 1, after);
    assert_ok(mel_session_undo(session, &err), &err);
    assert_ok(mel_session_undo(session, &err), &err);
    answer(session, truth, check - 1, after);
    assert_memory_equal(before, after, sizeof before);
    mel_metric_free(whole);
    mel_metric_free(again);
    mel_metric_free(truth);
    mel_session_free(session);
}

/* Signs of a quadratic metric's a are not slopes that a question could ask about: it is said, not asked. */
static void test_not_asked(void **state)
{
    (void)state;
    const mel_domain domain = { .ball = made.three };
    const signed char wrong[MOST] = { 1, 1, 1, 1, 1, 1 };
    const double a[MOST] = { 1, 2, 3, 2, 1.5, 1 };
    double b[MOST * MOST] = { 0 };
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_QUADRATIC;
    opt.max_questions = 40;
    opt.signs = wrong;
    mel_metric *truth = NULL, *found = NULL;
    mel_session *session = NULL;
    mel_summary summary;
    mel_error err;
    assert_ok(mel_metric_quadratic(&truth, mel_ball_layout(made.three), NULL, MEL_COST, a, b, &err), &err);
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    answer(session, truth, UINT32_MAX, NULL);
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    assert_int_equal(summary.signs, MEL_SIGNS_PRESSED);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(session);
}

/* Where only differences between groups count, signs of mistakes have no meaning: whatever a check was
 * answered, it is not said that the answers contradict them, nor, once they are dropped, that they may be
 * wrong. */
static void test_no_mistakes(void **state)
{
    (void)state;
    const mel_domain domain = domain_of('g');
    const double a[2] = { -1, -2 }, b[2] = { 1, 2 }, even[] = { .5, .5, .5, .5 };
    mel_metric *truth = NULL;
    mel_error err;
    size_t dropped = 0;
    assert_ok(mel_metric_fair_linear(&truth, layout_of('g'), NULL, NULL, a, b, 1.0, even, &err), &err);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        mel_session_options opt;
        mel_session_options_init(&opt);
        opt.family = MEL_FAMILY_FAIR_LINEAR;
        opt.seed = seed;
        opt.max_questions = seed % 2 == 0 ? 200 : 20;
        mel_metric *found = NULL;
        mel_session *session = NULL;
        mel_summary summary;
        assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
        answer(session, truth, UINT32_MAX, NULL);
        assert_ok(mel_session_result(&found, &summary, session, &err), &err);
        print_message("  seed %d: %u questions, lambda %.3f, %s, signs %d\n", (int)seed, summary.questions,
                      mel_metric_lambda(found), mel_finding_name(summary.finding), (int)summary.signs);
        assert_int_not_equal(summary.signs, MEL_SIGNS_CONTRADICTED);
        assert_int_not_equal(summary.signs, MEL_SIGNS_PRESSED);
        dropped += summary.signs == MEL_SIGNS_DROPPED;
        if (summary.end == MEL_END_TOLERANCE) {
            assert_int_equal(summary.finding, MEL_FINDING_NO_MISTAKES);
            assert_int_equal(summary.signs, MEL_SIGNS_FREE);
        }
        mel_metric_free(found);
        mel_session_free(session);
    }
    assert_true(dropped > 0);
    mel_metric_free(truth);
}

/* Whether one of a pair is better in every number in which they differ, by less or more of each. */
static bool is_check(const mel_record *q)
{
    size_t more = 0, less = 0;
    for (size_t i = 0; i < MOST; i++) {
        more += q->a[i] > q->b[i];
        less += q->a[i] < q->b[i];
    }
    return more == 0 || less == 0;
}

/* Where answers are wrong by how little is seen, weights that no check was about keep their signs. */
static void check_only_asked_dropped(const mel_session *session, const mel_metric *found)
{
    bool asked[MOST] = { false };
    size_t kept = 0;
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record q = mel_session_record(session, i);
        for (size_t j = 0; j < MOST && is_check(&q); j++)
            asked[j] = asked[j] || q.a[j] != q.b[j];
    }
    for (size_t j = 0; j < MOST; j++) {
        double low = 0.0, high = 0.0;
        assert_true(mel_metric_interval(found, j, &low, &high));
        assert_true(asked[j] || high <= 1e-9);
        kept += !asked[j];
    }
    assert_true(kept > 0 && kept < MOST);
}

/* Where questions are about classifiers that somebody might use, so is the check: whole numbers, close to
 * what was preferred just before, and never a negative one. */
static void test_near_best(void **state)
{
    (void)state;
    mel_space *space = test_softmax_space(3, MEL_RATES, MEL_OFFDIAGONAL);
    const mel_domain domain = { .ball = made.three, .frontier = space };
    const double a[MOST] = { -1, -2, 1, -2, -1.5, -1 };
    mel_session_options opt = test_person_options(MEL_FAMILY_LINEAR, 24);
    mel_session *session = NULL;
    mel_summary summary;
    mel_metric *truth = test_linear_metric(MEL_FAMILY_LINEAR, mel_ball_layout(made.three), a), *found = NULL;
    mel_error err;
    size_t checks = 0;
    opt.questions = MEL_QUESTIONS_REALISTIC;
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    answer(session, truth, UINT32_MAX, NULL);
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    for (uint32_t i = 1; i < mel_session_answers(session); i++) {
        const mel_record q = mel_session_record(session, i), last = mel_session_record(session, i - 1);
        if (!is_check(&q))
            continue;
        checks++;
        assert_int_equal(q.people, 1000);
        const double *best = last.answer == MEL_ANSWER_B ? last.b : last.a;
        for (size_t j = 0; j < MOST; j++) {
            assert_true(q.a[j] >= 0.0 && q.b[j] >= 0.0);
            assert_true(fabs(1000.0 * q.a[j] - round(1000.0 * q.a[j])) < 1e-9);
            if (checks == 1)
                assert_true(fabs(q.a[j] - best[j]) <= 0.1 && fabs(q.b[j] - best[j]) <= 0.1);
        }
    }
    print_message("  near the best: %zu checks, signs %d\n", checks, (int)summary.signs);
    assert_int_equal(checks, 4);
    assert_int_equal(summary.signs, MEL_SIGNS_CONTRADICTED);
    check_only_asked_dropped(session, found);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(session);
    mel_space_free(space);
}

/* Somebody by whom the signs hold, but who hardly sees the differences that a check shows: a few answers to
 * checks come out wrong. The signs stay in force. */
static void test_hardly_seen(void **state)
{
    (void)state;
    enum { WRONG = 3 };
    const mel_domain domain = { .ball = made.three };
    const double a[MOST] = { -1, -2, -0.01, -2, -1.5, -1 };
    const mel_session_options opt = test_person_options(MEL_FAMILY_LINEAR, 40);
    mel_session *session = NULL;
    mel_summary summary;
    mel_metric *truth = test_linear_metric(MEL_FAMILY_LINEAR, mel_ball_layout(made.three), a), *found = NULL;
    mel_error err;
    size_t checks = 0;
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        double better = 0.0;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            break;
        const mel_record asked = { .a = q->a, .b = q->b };
        assert_ok(mel_metric_compare(&better, truth, q->a, q->b, &err), &err);
        const bool wrong = is_check(&asked) && checks++ < WRONG;
        const mel_answer said = (better > 0.0) != wrong ? MEL_ANSWER_A : MEL_ANSWER_B;
        assert_ok(mel_session_tell(session, q->number, said, NAN, &err), &err);
    }
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    print_message("  hardly seen: %zu checks, signs %d\n", checks, (int)summary.signs);
    assert_int_equal(checks, WRONG + 1);
    assert_int_equal(summary.signs, MEL_SIGNS_PRESSED);
    for (size_t i = 0; i < MOST; i++) {
        double low = 0.0, high = 0.0;
        assert_true(mel_metric_interval(found, i, &low, &high) && high <= 1e-9);
    }
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_log_and_undo),
        cmocka_unit_test(test_not_asked), cmocka_unit_test(test_no_mistakes),
        cmocka_unit_test(test_near_best), cmocka_unit_test(test_hardly_seen),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
