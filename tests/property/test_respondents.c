/* Intervals that several respondents, or a prior metric, are behind: how often they hold what they should. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/shared.h"
#include "melicit/outcome.h"
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

/* Three who want the same: the common intervals hold it, the angles' intervals reach down to 0, and few are
 * said to differ. Two who want different things: the interval holds the angle between them, and the common
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
            inside += count_inside(alike->common, a, p.n);
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
            "  %s, of %zu: common intervals hold %.1f%%, %zu angles of the same metric may be 0, %zu "
            "said to differ; angles of two metrics %zu, warned %zu\n",
            p.name, p.runs, 100.0 * (double)inside / (double)(p.runs * p.n), zero, alarms, angles, warned);
        assert_true(p.runs * p.n < ENOUGH || (double)inside >= least_inside((double)(p.runs * p.n)));
        assert_true((double)zero >= 0.9 * (double)p.runs - 1.0);
        assert_true((double)angles >= 0.9 * (double)p.runs - 1.0);
        assert_true((double)alarms <= 0.05 * (double)p.runs + 1.0);
        assert_true(p.runs * p.n < ENOUGH || warned > alarms);
        clear(&p);
    }
}

/* --- people who are asked about two classes ------------------------------------------------------ */

enum { TOGETHER = 12 };

/* Somebody whose exchange rate varies from answer to answer, and who slips now and then. */
static mel_session *ask_person(const mel_face *face, double rate, uint64_t seed, double seconds)
{
    const mel_domain domain = { .face = face };
    mel_session_options opt;
    mel_session *session = NULL;
    mel_error err;
    mel_session_options_init(&opt);
    assert_ok(mel_session_options_suit(&opt, NULL, MEL_BY_PERSON, NULL, 1, &err), &err);
    opt.seed = seed;
    assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&q, &done, session, &err), &err);
        if (done)
            return session;
        mel_rng rng;
        mel_rng_seed_stream(&rng, seed, q->number);
        const double own = rate + 0.4 * mel_rng_normal(&rng);
        const bool a_first = q->a[0] > q->b[0];
        const bool more =
            (own > log(fabs(q->a[1] - q->b[1]) / fabs(q->a[0] - q->b[0]))) != (mel_rng_uniform(&rng) < 0.03);
        assert_ok(mel_session_tell(session, q->number, more == a_first ? MEL_ANSWER_A : MEL_ANSWER_B,
                                   seconds * q->number, &err),
                  &err);
    }
}

/* Whether the pooled interval holds it; adds the error of the pooled ratio and of the mean of people's own.
 */
static bool pool_holds(size_t n, mel_session *const *sessions, double truth, double errors[2])
{
    mel_outcome *found = NULL;
    mel_error err;
    double napkin = 0.0;
    assert_ok(mel_outcome_of_sessions(&found, n, sessions, NULL, &err), &err);
    for (size_t i = 0; i < n; i++)
        napkin += log(found->pooled->respondent[i].summary.ratio) / (double)n;
    const bool holds = truth >= log(found->cost.low) - 1e-9 && truth <= log(found->cost.high) + 1e-9;
    errors[0] += fabs(log(found->cost.value) - truth);
    errors[1] += fabs(napkin - truth);
    mel_outcome_free(found);
    return holds;
}

/* Groups of 2, 3, 6 and 12 who all want the same, and who differ around a mean (bench/people.py --pool): the
 * interval holds it as often as it says. The more people, the closer; no worse than a mean of their own
 * medians. */
static void test_people(void **state)
{
    (void)state;
    static const size_t sizes[] = { 2, 3, 6, TOGETHER };
    const size_t rates = test_repeats(100, 4, 1);
    mel_face *face = NULL;
    mel_rng rng;
    mel_error err;
    double errors[4][2] = { { 0.0 } };
    size_t held[4] = { 0 }, pools[4] = { 0 };
    mel_rng_seed(&rng, 94);
    assert_ok(mel_face_from_logistic(&face, 3.0, 0.7, &err), &err);
    for (uint64_t run = 0; run < 2 * rates; run++) {
        const double spread = run % 2 == 0 ? 0.0 : 0.5;
        const double mean = -2.0 + 5.0 * ((double)run + 0.5) / (2.0 * (double)rates);
        mel_session *session[TOGETHER];
        for (uint64_t i = 0; i < TOGETHER; i++)
            session[i] = ask_person(face, mean + spread * mel_rng_normal(&rng), 100 * run + i + 1, NAN);
        for (size_t s = 0; s < 4; s++)
            for (size_t first = 0; first + sizes[s] <= TOGETHER; first += sizes[s], pools[s]++)
                held[s] += pool_holds(sizes[s], session + first, mean, errors[s]);
        for (size_t i = 0; i < TOGETHER; i++)
            mel_session_free(session[i]);
    }
    for (size_t s = 0; s < 4; s++) {
        const double n = (double)pools[s];
        print_message(
            "  %zu people: %zu of %zu intervals hold, mean error %.3f, of the mean of medians %.3f\n",
            sizes[s], held[s], pools[s], errors[s][0] / n, errors[s][1] / n);
        assert_true((double)held[s] >= 0.92 * n - 2.0 * sqrt(0.92 * 0.08 * n));
        assert_true(rates < 4 || errors[s][0] < 1.2 * errors[s][1]);
    }
    assert_true(rates < 4 || errors[3][0] / (double)pools[3] < errors[0][0] / (double)pools[0]);
    mel_face_free(face);
}

/* One session twice, or a copy of it, is one person: it has the same times. Others may answer alike. */
static void test_copies(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_session *session[4];
    mel_outcome *found = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 3.0, 0.7, &err), &err);
    for (size_t i = 0; i < 4; i++) /* of the last two one copies the other */
        session[i] = ask_person(face, 1.0, i < 2 ? 1 : 2, i < 2 ? NAN : 3.25);
    mel_session *const twice[] = { session[0], session[2], session[0] };
    assert_int_equal(mel_outcome_of_sessions(&found, 3, twice, NULL, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "session 3 is session 1 again"));
    assert_int_equal(mel_outcome_of_sessions(&found, 4, session, NULL, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "session 4 is session 3 again"));
    assert_non_null(strstr(err.text, "one person counts once"));
    assert_ok(mel_outcome_of_sessions(&found, 3, session, NULL, &err), &err);
    mel_outcome_free(found);
    for (size_t i = 0; i < 4; i++)
        mel_session_free(session[i]);
    mel_face_free(face);
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

/* Two persons who declared opposite signs of a weight: of the common metric nothing is declared. */
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
        assert_true(mel_metric_interval(pooled->common, 0, &low, &high));
        const double sign = mel_metric_orientation(pooled->common) == MEL_COST ? -1.0 : 1.0;
        print_message("  the common weight is within %.3f and %.3f\n", sign * low, sign * high);
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
        cmocka_unit_test(test_respondents), cmocka_unit_test(test_people),      cmocka_unit_test(test_copies),
        cmocka_unit_test(test_prior),       cmocka_unit_test(test_other_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
