/* People with more than two classes, with groups and with curved metrics: whether the intervals of `--assume
 * person` hold for respondents who err in ways that nobody declared, and what "about the same" and "can't
 * say" do. */
#include "support/multiclass.h"

#include "oracle/shared.h"

#include <math.h>

static mel_ball *ball_of(size_t classes, size_t groups, double radius)
{
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = classes, .n_groups = groups
    };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, radius, NULL, NULL, &err), &err);
    return ball;
}

/* How many of the 95% intervals of a session hold, and of how many. */
static void count_held(size_t *held, size_t *all, const mel_metric *found, const mel_metric *truth)
{
    const size_t n = mel_metric_coefficients(found);
    for (size_t i = 0; i < n; i++) {
        const double want = mel_metric_coefficient(truth)[i];
        double low = 0.0, high = 0.0;
        assert_true(mel_metric_interval(found, i, &low, &high));
        *held += want >= low && want <= high;
    }
    *all += n;
}

static const char *const respondents[] = { "flip:0.1", "logistic:50", "logistic:200", "band:0.01" };

/* The intervals of one session go together: as if each session were two independent ones. */
static void check_coverage(const char *name, mel_family family, const mel_ball *ball, size_t sessions)
{
    const mel_domain domain = { .ball = ball };
    size_t held = 0, all = 0;
    for (size_t r = 0; r < COUNT(respondents); r++)
        for (size_t i = 0; i < sessions; i++) {
            mel_session_options opt = test_person_options(family, 40);
            mel_rng rng;
            mel_error err;
            mel_noise noise;
            mel_summary summary;
            opt.seed = 100 * r + i + 1;
            mel_rng_seed_stream(&rng, opt.seed, 77);
            mel_metric *truth = test_draw_metric(&rng, &domain, &opt);
            assert_ok(mel_noise_parse(&noise, respondents[r], &err), &err);
            mel_metric *found = test_find(&summary, &domain, &opt, truth, noise, opt.seed);
            count_held(&held, &all, found, truth);
            assert_true(summary.error_rate >= 0.0 && summary.error_rate < 0.5);
            mel_metric_free(found);
            mel_metric_free(truth);
        }
    const size_t asked = 2 * sessions * COUNT(respondents);
    const double share = (double)held / (double)all, n = (double)asked;
    print_message("  %s: %zu of %zu intervals hold\n", name, held, all);
    assert_true(share >= 0.92 - 2.0 * sqrt(0.92 * 0.08 / n));
}

static void test_coverage(void **state)
{
    (void)state;
    const size_t sessions = test_repeats(20, 1, 1);
    mel_ball *six = ball_of(3, 0, 0.2), *two = ball_of(2, 0, 0.2), *groups = ball_of(2, 2, 0.2);
    check_coverage("q = 6", MEL_FAMILY_LINEAR, six, sessions);
    check_coverage("quadratic k = 2", MEL_FAMILY_QUADRATIC, two, sessions);
    check_coverage("fair linear (2, 2)", MEL_FAMILY_FAIR_LINEAR, groups, sessions);
    mel_ball_free(six);
    mel_ball_free(two);
    mel_ball_free(groups);
}

/* Somebody who never errs but answers differences below `width` in one way, or tosses a coin (-1). */
static double error_after(const mel_ball *ball, uint64_t seed, double width, int within, size_t *held,
                          size_t *all)
{
    const mel_domain domain = { .ball = ball };
    mel_session_options opt = test_person_options(MEL_FAMILY_LINEAR, 40);
    mel_session *session = NULL;
    mel_metric *found = NULL;
    mel_summary summary;
    mel_error err;
    mel_rng rng;
    opt.seed = seed;
    mel_rng_seed_stream(&rng, seed, 78);
    mel_metric *truth = test_draw_metric(&rng, &domain, &opt);
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    for (bool done = false; !done;) {
        const mel_question *question = NULL;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        if (done)
            break;
        double better = 0.0;
        assert_ok(mel_metric_compare(&better, truth, question->a, question->b, &err), &err);
        mel_answer answer = better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B;
        if (fabs(better) < width)
            answer = within >= 0                   ? (mel_answer)within
                     : mel_rng_uniform(&rng) < 0.5 ? MEL_ANSWER_A
                                                   : MEL_ANSWER_B;
        assert_ok(mel_session_tell(session, question->number, answer, NAN, &err), &err);
    }
    assert_ok(mel_session_result(&found, &summary, session, &err), &err);
    const double error = test_max_error(mel_metric_coefficients(found), mel_metric_coefficient(found),
                                        mel_metric_coefficient(truth));
    count_held(held, all, found, truth);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_session_free(session);
    return error;
}

static void test_about_the_same(void **state)
{
    (void)state;
    enum { WAYS = 3 };
    static const int within[WAYS] = { MEL_ANSWER_SAME, MEL_ANSWER_SKIP, -1 };
    const size_t sessions = test_repeats(40, 4, 2);
    mel_ball *ball = ball_of(2, 0, 0.2);
    double error[WAYS] = { 0.0 };
    size_t held = 0, all = 0;
    for (size_t k = 0; k < WAYS; k++)
        for (size_t i = 0; i < sessions; i++)
            error[k] += error_after(ball, i + 1, 0.02, within[k], &held, &all) / (double)sessions;
    print_message("  mean error: about the same %.4f, can't say %.4f, coin %.4f; %zu of %zu intervals hold\n",
                  error[0], error[1], error[2], held, all);
    for (size_t k = 0; k < WAYS; k++) /* a difference of 0.02 is 0.05 of a coefficient in pairs this long */
        assert_true(error[k] < 0.04);
    assert_true((double)held >= 0.85 * (double)all);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_about_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
