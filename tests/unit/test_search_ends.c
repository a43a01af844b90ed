/* Searches that end at an end of their range: what is said of them, and of those that end inside. */
#include "support/binary.h"
#include "support/fair.h"
#include "support/multiclass.h"

#include <math.h>

static const mel_noise exact = { .kind = MEL_NOISE_NONE };

static mel_metric *find(mel_summary *summary, const mel_domain *domain, mel_family family,
                        mel_direction direction, const mel_metric *truth)
{
    mel_session_options opt = test_search_options(family);
    opt.direction = direction;
    return test_find(summary, domain, &opt, truth, exact, 1);
}

/* Whether an end is said exactly where it should be, and no precision claimed there. */
static void check(const char *what, const mel_domain *domain, mel_family family, mel_direction direction,
                  const mel_metric *truth, bool at_end)
{
    mel_summary summary;
    double low = NAN, high = NAN;
    mel_metric *found = find(&summary, domain, family, direction, truth);
    print_message("  %s, direction %d: %s\n", what, (int)direction, at_end ? "at an end" : "inside");
    assert_int_equal(summary.end, at_end ? MEL_END_RANGE : MEL_END_TOLERANCE);
    assert_int_equal(summary.finding, at_end ? MEL_FINDING_AT_END : MEL_FINDING_NONE);
    assert_true(isfinite(summary.radius) == !at_end);
    if (at_end)
        assert_false(mel_metric_interval(found, 0, &low, &high));
    mel_metric_free(found);
}

/* The metric (-0.94, -0.34) came out as 0.006 TP + 1.000 TN, "as precise as asked for". */
static void test_linear_on_a_face(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double angle;
        bool increasing, decreasing, unknown; /* at an end with this direction */
    } rows[] = {
        { "rewards", 0.4, false, true, false },
        { "rewards mistakes", 3.4886, true, false, false },
        { "mixed signs", -0.3, true, true, true },
        { "true positives alone", 0.0, true, true, true },
    };
    mel_face *face = test_logistic_face(5.0, 0.0);
    const mel_domain domain = { .face = face };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double a[2] = { cos(rows[i].angle), sin(rows[i].angle) };
        mel_metric *truth = test_linear_metric(MEL_FAMILY_LINEAR, &mel_binary_layout, a);
        check(rows[i].name, &domain, MEL_FAMILY_LINEAR, MEL_INCREASING, truth, rows[i].increasing);
        check(rows[i].name, &domain, MEL_FAMILY_LINEAR, MEL_DECREASING, truth, rows[i].decreasing);
        check(rows[i].name, &domain, MEL_FAMILY_LINEAR, MEL_DIRECTION_UNKNOWN, truth, rows[i].unknown);
        mel_metric_free(truth);
    }
    mel_face_free(face);
}

/* The worst classifiers by F1 have no true positive: the end of the second arc is where they belong, and is
 * only worth a word. */
static void test_fractional_on_a_face(void **state)
{
    (void)state;
    static const double p[2] = { 1.0, 0.0 }, q[3] = { 0.5, -0.5, 0.5 };
    mel_face *face = test_logistic_face(5.0, 0.0);
    const mel_domain domain = { .face = face };
    mel_metric *f1 = test_fractional(p, q);
    const struct test_fractional_row *row = &test_fractional_table[2];
    mel_metric *inside = test_fractional(row->p, row->q);
    check("table 3.2, row 3", &domain, MEL_FAMILY_LINEAR_FRACTIONAL, MEL_INCREASING, inside, false);
    check("table 3.2, row 3", &domain, MEL_FAMILY_LINEAR_FRACTIONAL, MEL_DECREASING, inside, true);
    check("F1", &domain, MEL_FAMILY_LINEAR_FRACTIONAL, MEL_INCREASING, f1, false);
    mel_summary summary;
    mel_metric_free(find(&summary, &domain, MEL_FAMILY_LINEAR_FRACTIONAL, MEL_INCREASING, f1));
    assert_int_equal(summary.signs, MEL_SIGNS_PRESSED);
    mel_metric_free(find(&summary, &domain, MEL_FAMILY_LINEAR_FRACTIONAL, MEL_INCREASING, inside));
    assert_int_equal(summary.signs, MEL_SIGNS_FREE);
    mel_metric_free(inside);
    mel_metric_free(f1);
    mel_face_free(face);
}

static void test_diagonal(void **state)
{
    (void)state;
    static const double a[3] = { 0.2, 0.3, 0.5 }, wrong[3] = { -0.2, -0.3, -0.5 };
    mel_space *space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    const mel_domain domain = { .space = space };
    mel_metric *usual = test_linear_metric(MEL_FAMILY_DIAGONAL_LINEAR, mel_space_layout(space), a);
    mel_metric *opposite = test_linear_metric(MEL_FAMILY_DIAGONAL_LINEAR, mel_space_layout(space), wrong);
    check("three classes", &domain, MEL_FAMILY_DIAGONAL_LINEAR, MEL_INCREASING, usual, false);
    check("three classes", &domain, MEL_FAMILY_DIAGONAL_LINEAR, MEL_INCREASING, opposite, true);
    check("three classes", &domain, MEL_FAMILY_DIAGONAL_LINEAR, MEL_DECREASING, opposite, false);
    check("three classes", &domain, MEL_FAMILY_DIAGONAL_LINEAR, MEL_DIRECTION_UNKNOWN, opposite, false);
    mel_metric_free(usual);
    mel_metric_free(opposite);
    mel_space_free(space);
}

/* A nil weight whose sign was asked for is known as well as any other. */
static void test_on_a_ball(void **state)
{
    (void)state;
    static const double a[6] = { -0.5, -0.4, -0.4, -0.3, -0.5, -0.3 },
                        mixed[6] = { -0.5, 0.4, -0.4, -0.3, -0.5, -0.3 },
                        nil[6] = { -0.5, 0.0, -0.4, -0.3, -0.5, -0.3 };
    mel_ball *ball = test_rates_ball(3, 0.2);
    const mel_domain domain = { .ball = ball };
    const double *const rows[] = { a, mixed, nil };
    static const char *const names[] = { "costs", "one reward", "one for nothing" };
    for (size_t i = 0; i < 3; i++) {
        mel_metric *truth = test_linear_metric(MEL_FAMILY_LINEAR, mel_ball_layout(ball), rows[i]);
        check(names[i], &domain, MEL_FAMILY_LINEAR, MEL_INCREASING, truth, i > 0);
        check(names[i], &domain, MEL_FAMILY_LINEAR, MEL_DECREASING, truth, true);
        check(names[i], &domain, MEL_FAMILY_LINEAR, MEL_DIRECTION_UNKNOWN, truth, false);
        mel_metric_free(truth);
    }
    mel_ball_free(ball);
}

/* A step along all declared signs is refused: no slope, or the opposite one. */
static void test_fair(void **state)
{
    (void)state;
    const test_fair_kind kind = { .k = 2, .m = 2 };
    double prevalence[4], truth[5];
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    test_fair_prevalence(prevalence, kind, &rng);
    test_fair_draw(truth, kind, 0.4, &rng);
    mel_ball *ball = test_fair_ball(kind, prevalence);
    mel_metric *metric = test_fair_metric(kind, truth, prevalence);
    const mel_domain domain = { .ball = ball };
    static const struct {
        mel_direction direction;
        mel_sign_check signs;
    } rows[] = { { MEL_INCREASING, MEL_SIGNS_FREE },
                 { MEL_DECREASING, MEL_SIGNS_PRESSED },
                 { MEL_DIRECTION_UNKNOWN, MEL_SIGNS_FREE } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mel_summary summary;
        mel_metric_free(find(&summary, &domain, MEL_FAMILY_FAIR_LINEAR, rows[i].direction, metric));
        assert_int_equal(summary.signs, rows[i].signs);
    }
    mel_metric_free(metric);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_on_a_face),
        cmocka_unit_test(test_fractional_on_a_face),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_on_a_ball),
        cmocka_unit_test(test_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
