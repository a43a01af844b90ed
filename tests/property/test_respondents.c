/* Intervals that several respondents, or a prior metric, are behind: how often they hold what they should. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers from which on it means something what share of them lies in its interval: sanitizers get too few.
 */
enum { MOST = 6, ENOUGH = 30 };

typedef struct {
    const char *name;
    mel_domain domain;
    mel_ball *ball;
    mel_face *face;
    mel_layout layout;
    size_t n;
    uint32_t questions;
    size_t runs;
} problem;

static problem make_problem(int kind)
{
    problem p = { .name = kind == 0 ? "planar" : "linear, 6 mistakes", .n = kind == 0 ? 2 : 6 };
    mel_error err;
    p.layout = kind == 0 ? (mel_layout){ MEL_CONFUSION, MEL_BINARY, 2, 0 }
                         : (mel_layout){ MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    p.runs = kind == 0 ? test_repeats(100, 20, 6) : test_repeats(40, 6, 2);
    p.questions = kind == 0 ? 8 : 20;
    if (kind == 0)
        assert_ok(mel_face_from_logistic(&p.face, 5.0, 0.0, &err), &err);
    else
        assert_ok(mel_ball_new(&p.ball, &p.layout, 0.2, NULL, NULL, &err), &err);
    p.domain = (mel_domain){ .face = p.face, .ball = p.ball };
    return p;
}

static void clear(problem *p)
{
    mel_face_free(p->face);
    mel_ball_free(p->ball);
}

/* Uniform on the part of the sphere that the signs leave. */
static void random_weights(double *a, const problem *p, mel_rng *rng)
{
    mel_rng_sphere(rng, p->n, a);
    for (size_t i = 0; i < p->n; i++)
        a[i] = (p->n == 2 ? 1.0 : -1.0) * fabs(a[i]);
}

static mel_metric *metric_of(const problem *p, const double *a)
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &p->layout, NULL, MEL_UTILITY, a, &err), &err);
    return metric;
}

/* A person's session: one answer in ten is wrong, which is learned. */
static mel_session *ask(const problem *p, const mel_metric *truth, const mel_metric *prior, double strength,
                        uint64_t seed)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.assume.kind = MEL_NOISE_FLIP;
    opt.max_questions = p->questions;
    opt.seed = seed;
    opt.prior = prior;
    opt.prior_strength = strength;
    mel_simulated_options how;
    mel_simulated_options_init(&how);
    how.seed = seed;
    how.noise = (mel_noise){ .kind = MEL_NOISE_FLIP, .size = 0.1 };
    mel_oracle *oracle = NULL;
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_oracle_simulated(&oracle, truth, &how, &err), &err);
    assert_ok(mel_session_new(&session, &p->domain, &opt, &err), &err);
    assert_ok(mel_session_run(session, oracle, &err), &err);
    mel_oracle_free(oracle);
    return session;
}

/* Of 95 in 100 that should be inside, what chance leaves: few numbers are held to three deviations, of very
 * few as if every second one only repeated what the one before it says, since those of a session go together.
 */
static double least_inside(double n)
{
    return n >= 200.0 ? 0.92 * n : 0.95 * n - 3.0 * sqrt(0.95 * 0.05 * n * (n < 100.0 ? 2.0 : 1.0));
}

static size_t count_inside(const mel_metric *metric, const double *a, size_t n)
{
    size_t inside = 0;
    for (size_t i = 0; i < n; i++) {
        double low = 0.0, high = 0.0;
        assert_true(mel_metric_interval(metric, i, &low, &high));
        inside += a[i] >= low && a[i] <= high;
    }
    return inside;
}

/* Three who want the same: the joint intervals hold it, the angles' intervals reach down to 0, and few are
 * said to differ. Two who want different things: the interval holds the angle between them, and the joint
 * metric's warning comes the more often the farther they are apart. */
static void test_respondents(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        problem p = make_problem(kind);
        mel_rng rng;
        mel_rng_seed(&rng, 91);
        size_t inside = 0, zero = 0, angles = 0, alarms = 0, warned = 0;
        for (uint64_t run = 0; run < p.runs; run++) {
            double a[MOST], b[MOST];
            mel_session *session[4];
            random_weights(a, &p, &rng);
            random_weights(b, &p, &rng);
            mel_metric *one = metric_of(&p, a), *other = metric_of(&p, b);
            for (uint64_t k = 0; k < 4; k++)
                session[k] = ask(&p, k < 3 ? one : other, NULL, 0.0, 10 * run + k + 1);
            mel_pooled *alike = NULL, *apart = NULL;
            mel_error err;
            assert_ok(mel_respondents_join(&alike, 3, session, &err), &err);
            assert_ok(mel_respondents_join(&apart, 2, session + 2, &err), &err);
            inside += count_inside(alike->joint, a, p.n);
            zero += alike->disagreement[1].low == 0.0;
            alarms += alike->n_against > 0;
            const double angle = acos(fmin(1.0, mel_dot(p.n, a, b)));
            angles += angle >= apart->disagreement[1].low && angle <= apart->disagreement[1].high;
            warned += apart->n_against > 0;
            mel_pooled_free(alike);
            mel_pooled_free(apart);
            for (int k = 0; k < 4; k++)
                mel_session_free(session[k]);
            mel_metric_free(one);
            mel_metric_free(other);
        }
        print_message(
            "  %s, of %zu: joint intervals hold %.1f%%, %zu angles of the same metric may be 0, %zu "
            "said to differ; angles of two metrics %zu, warned %zu\n",
            p.name, p.runs, 100.0 * (double)inside / (double)(p.runs * p.n), zero, alarms, angles, warned);
        assert_true(p.runs * p.n < ENOUGH || (double)inside >= least_inside((double)(p.runs * p.n)));
        assert_true((double)zero >= 0.9 * (double)p.runs - 1.0);
        assert_true((double)angles >= 0.9 * (double)p.runs - 1.0);
        assert_true((double)alarms <= 0.05 * (double)p.runs + 1.0);
        assert_true(warned > alarms);
        clear(&p);
    }
}

/* The truth is as likely as the prior says: the intervals hold it. */
static void test_prior(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        problem p = make_problem(kind);
        p.questions /= 2;
        mel_rng rng;
        mel_rng_seed(&rng, 92);
        size_t inside = 0;
        for (uint64_t run = 0; run < p.runs; run++) {
            double a[MOST];
            random_weights(a, &p, &rng);
            mel_metric *prior = metric_of(&p, a);
            const double strength = run % 2 == 0 ? 10.0 : 100.0;
            mel_session_options opt;
            mel_session_options_init(&opt);
            opt.prior = prior;
            opt.prior_strength = strength;
            opt.seed = run + 1000;
            mel_session *before = NULL;
            mel_error err;
            size_t n = 0, width = 0;
            double *draw = NULL;
            assert_ok(mel_session_new(&before, &p.domain, &opt, &err), &err);
            assert_ok(mel_session_draws(&n, &width, &draw, before, &err), &err);
            const double *drawn = draw + mel_rng_below(&rng, n) * width;
            mel_metric *truth = metric_of(&p, drawn), *found = NULL;
            mel_session *session = ask(&p, truth, prior, strength, run + 1);
            assert_ok(mel_session_result(&found, NULL, session, &err), &err);
            inside += count_inside(found, drawn, p.n);
            mel_metric_free(found);
            mel_metric_free(truth);
            mel_metric_free(prior);
            mel_session_free(session);
            mel_session_free(before);
            free(draw);
        }
        print_message("  %s with a prior: intervals hold %.1f%%\n", p.name,
                      100.0 * (double)inside / (double)(p.runs * p.n));
        assert_true(p.runs * p.n < ENOUGH || (double)inside >= least_inside((double)(p.runs * p.n)));
        clear(&p);
    }
}

/* Two persons who declared opposite signs of a weight: of the joint metric nothing is declared. */
static void test_other_signs(void **state)
{
    (void)state;
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    static const signed char signs[2][2] = { { -1, -1 }, { 1, -1 } };
    static const double weights[2][2] = { { -0.4, -0.9 }, { 0.6, -0.8 } };
    mel_ball *ball = NULL;
    mel_session *sessions[2];
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, NULL, &err), &err);
    const mel_domain domain = { .ball = ball };
    for (size_t i = 0; i < 2; i++) {
        mel_session_options opt;
        mel_session_options_init(&opt);
        opt.signs = signs[i];
        mel_metric *truth = NULL;
        mel_oracle *oracle = NULL;
        mel_simulated_options how;
        mel_simulated_options_init(&how);
        assert_ok(mel_metric_linear(&truth, MEL_FAMILY_LINEAR, &layout, NULL, MEL_UTILITY, weights[i], &err),
                  &err);
        assert_ok(mel_oracle_simulated(&oracle, truth, &how, &err), &err);
        assert_ok(mel_session_new(&sessions[i], &domain, &opt, &err), &err);
        assert_ok(mel_session_run(sessions[i], oracle, &err), &err);
        mel_oracle_free(oracle);
        mel_metric_free(truth);
    }
    for (size_t first = 0; first < 2; first++) {
        mel_session *const order[2] = { sessions[first], sessions[1 - first] };
        mel_pooled *pooled = NULL;
        double low = NAN, high = NAN;
        assert_ok(mel_respondents_join(&pooled, 2, order, &err), &err);
        assert_true(mel_metric_interval(pooled->joint, 0, &low, &high));
        const double sign = mel_metric_orientation(pooled->joint) == MEL_COST ? -1.0 : 1.0;
        print_message("  the joint weight is within %.3f and %.3f\n", sign * low, sign * high);
        assert_true(low < 0.0 && high > 0.0);
        mel_pooled_free(pooled);
    }
    mel_session_free(sessions[0]);
    mel_session_free(sessions[1]);
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_respondents),
        cmocka_unit_test(test_prior),
        cmocka_unit_test(test_other_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
