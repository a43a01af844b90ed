/* Signs and directions that were declared wrongly are noticed: the answers press weights against zero. */
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
      .want = MEL_SIGNS_PRESSED },
    { "linear, one wrong sign",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, 1, -2, -1.5, -1 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
    { "linear, one wrong sign of a list",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, 2, 1, -2, -1.5, -1 },
      .signs = { -1, 1, -1, 0, -1, 0 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
    { "linear, no weight",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, -1e-4, -2, -1.5, -1 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED,
      .right = true },
    { "linear, wrong answers expected",
      'b',
      MEL_FAMILY_LINEAR,
      { -1, -2, 1, -2, -1.5, -1 },
      .assume = { MEL_NOISE_FLIP, 0.0 },
      .questions = 200,
      .want = MEL_SIGNS_PRESSED },
    { "linear, no question left",
      'b',
      MEL_FAMILY_LINEAR,
      { 1, 2, 3, 2, 1.5, 1 },
      .questions = 20,
      .want = MEL_SIGNS_PRESSED },
    { "linear-fractional",
      'b',
      MEL_FAMILY_LINEAR_FRACTIONAL,
      { .1, .2, .3, .2, .1, .1 },
      { .3, .1, -.2, .1, 0, .2 },
      .questions = 150,
      .want = MEL_SIGNS_PRESSED },
    { "diagonal",
      's',
      MEL_FAMILY_DIAGONAL_LINEAR,
      { -.2, -.3, -.5 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
    { "diagonal, one",
      's',
      MEL_FAMILY_DIAGONAL_LINEAR,
      { .2, -.3, .5 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
    { "diagonal fractional",
      's',
      MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL,
      { -.2, -.3, -.5 },
      { .2, -.1, .1 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
    { "planar", 'f', MEL_FAMILY_LINEAR, { -.9, -.3 }, .questions = 100, .want = MEL_SIGNS_PRESSED },
    { "planar, wrong answers expected",
      'f',
      MEL_FAMILY_LINEAR,
      { -.9, -.3 },
      .assume = { MEL_NOISE_FLIP, 0.0 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
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
      .want = MEL_SIGNS_PRESSED },
    { "fair",
      'g',
      MEL_FAMILY_FAIR_LINEAR,
      { -1, -2 },
      { 1, 1 },
      .questions = 100,
      .want = MEL_SIGNS_PRESSED },
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

/* By a metric, to the end. */
static void answer_all(mel_session *session, const mel_metric *truth)
{
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        double better = 0.0;
        mel_error err;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return;
        assert_ok(mel_metric_compare(&better, truth, q->a, q->b, &err), &err);
        assert_ok(mel_session_tell(session, q->number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err),
                  &err);
    }
}

/* Signs of a quadratic metric are those of its a. */
static void test_quadratic(void **state)
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
    answer_all(session, truth);
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    assert_int_equal(summary.signs, MEL_SIGNS_PRESSED);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(session);
}

/* Where only differences between groups count, mistakes are pressed against zero as if they counted the other
 * way: the answers do not tell which, and the warning stays. */
static void test_no_mistakes(void **state)
{
    (void)state;
    const mel_domain domain = domain_of('g');
    const double a[2] = { -1, -2 }, b[2] = { 1, 2 }, even[] = { .5, .5, .5, .5 };
    mel_metric *truth = NULL;
    mel_error err;
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
        answer_all(session, truth);
        assert_ok(mel_session_result(&found, &summary, session, &err), &err);
        print_message("  seed %d: %u questions, lambda %.3f, %s, signs %d\n", (int)seed, summary.questions,
                      mel_metric_lambda(found), mel_finding_name(summary.finding), (int)summary.signs);
        if (summary.end == MEL_END_TOLERANCE) {
            assert_int_equal(summary.finding, MEL_FINDING_NO_MISTAKES);
            assert_int_equal(summary.signs, MEL_SIGNS_PRESSED);
        }
        mel_metric_free(found);
        mel_session_free(session);
    }
    mel_metric_free(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_no_mistakes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
