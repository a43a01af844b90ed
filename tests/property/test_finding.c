/* Degenerate metrics that the active strategy recognises, and others that it must not take for them. */
#include "metric/shared.h"
#include "support/binary.h"
#include "support/multiclass.h"

#include <math.h>

static const mel_noise exact = { .kind = MEL_NOISE_NONE };
static const double prevalence[4] = { 0.4, 0.6, 0.6, 0.4 };

static mel_ball *groups_ball(void)
{
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, prevalence, &err), &err);
    return ball;
}

static mel_metric *find(mel_summary *summary, const mel_ball *ball, mel_family family,
                        const mel_metric *truth, uint32_t budget)
{
    const mel_domain domain = { .ball = ball };
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = family;
    opt.degree = 2;
    opt.max_questions = budget;
    return test_find(summary, &domain, &opt, truth, exact, 1);
}

static double width(const mel_metric *metric, size_t i)
{
    double low = NAN, high = NAN;
    assert_true(mel_metric_interval(metric, i, &low, &high));
    assert_true(low <= mel_metric_coefficient(metric)[i] && mel_metric_coefficient(metric)[i] <= high);
    return high - low;
}

/* Coefficients are a (2), b (2) or B (4), lambda; those without a meaning have the widest intervals. */
static void test_trade_off(void **state)
{
    (void)state;
    static const double a[2] = { 0.6, 0.8 }, b[2] = { 0.8, 0.6 }, curve[4] = { 1.8, 0.1, 0.1, 0.8 };
    static const struct {
        double lambda;
        mel_finding finding;
    } rows[] = {
        { 0.0, MEL_FINDING_NO_DIFFERENCES },
        { 1.0, MEL_FINDING_NO_MISTAKES },
        { 0.1, MEL_FINDING_NONE },
        { 0.9, MEL_FINDING_NONE },
    };
    mel_ball *ball = groups_ball();
    const mel_layout *layout = mel_ball_layout(ball);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int quadratic = 0; quadratic < 2; quadratic++) {
            const double lambda = rows[i].lambda;
            mel_metric *truth = NULL;
            mel_error err;
            assert_ok(quadratic ? mel_metric_fair_quadratic(&truth, layout, NULL, NULL, a, curve, lambda,
                                                            prevalence, &err)
                                : mel_metric_fair_linear(&truth, layout, NULL, NULL, a, b, lambda, prevalence,
                                                         &err),
                      &err);
            assert_ok(mel_metric_normalise(truth, &err), &err);
            const mel_family family = mel_metric_family(truth);
            mel_summary summary;
            mel_metric *found = find(&summary, ball, family, truth, 200);
            assert_int_equal(summary.finding, rows[i].finding);
            assert_int_equal(width(found, 0) >= 1.0, rows[i].finding == MEL_FINDING_NO_MISTAKES);
            assert_int_equal(width(found, 2) >= 1.0, rows[i].finding == MEL_FINDING_NO_DIFFERENCES);
            mel_metric_free(found);
            found = find(&summary, ball, family, truth, 4); /* next to nothing is known */
            assert_int_equal(summary.finding, MEL_FINDING_NONE);
            mel_metric_free(found);
            mel_metric_free(truth);
        }
    mel_ball_free(ball);
}

/* Growing functions of a linear one are linear to every respondent; the centre is (0.5, 0.5). */
static void test_curvature(void **state)
{
    (void)state;
    static const struct {
        double a[2], curve[4];
        mel_finding finding;
    } rows[] = {
        { { 0.6, 0.8 }, { 0.36, 0.48, 0.48, 0.64 }, MEL_FINDING_NO_CURVATURE },
        { { 0.6, 0.6 }, { 0.4, 0.1, 0.1, 0.3 }, MEL_FINDING_NONE },
        { { -0.25, -0.2 }, { 0.4, 0.1, 0.1, 0.3 }, MEL_FINDING_FLAT_CENTRE },
    };
    static const mel_family families[] = { MEL_FAMILY_QUADRATIC, MEL_FAMILY_POLYNOMIAL };
    mel_ball *ball = test_rates_ball(2, 0.2);
    /* Once nothing more can be told, which is late where there is no curvature. */
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t f = 0; f < (rows[i].finding == MEL_FINDING_NO_CURVATURE ? 1 : COUNT(families)); f++) {
            mel_metric *truth = NULL;
            mel_summary summary;
            mel_error err;
            assert_ok(mel_metric_quadratic(&truth, mel_ball_layout(ball), NULL, MEL_COST, rows[i].a,
                                           rows[i].curve, &err),
                      &err);
            mel_metric *found = find(&summary, ball, families[f], truth, 400);
            assert_int_equal(summary.finding, rows[i].finding);
            assert_int_equal(width(found, 2) == 2.0, rows[i].finding == MEL_FINDING_NO_CURVATURE);
            mel_metric_free(found);
            mel_metric_free(truth);
        }
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trade_off),
        cmocka_unit_test(test_curvature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
