/* Sessions that search for fair metrics: degenerate ones, results on the way, what questions are about. */
#include "support/binary.h"
#include "support/fair.h"
#include "support/multiclass.h"

#include "base/la.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mel_noise exact = { .kind = MEL_NOISE_NONE };

static mel_session_options options(test_fair_kind kind)
{
    mel_session_options opt =
        test_search_options(kind.quadratic ? MEL_FAMILY_FAIR_QUADRATIC : MEL_FAMILY_FAIR_LINEAR);
    opt.tolerance = 1e-3;
    opt.per_round = 2;
    return opt;
}

typedef struct {
    test_fair_kind kind;
    size_t n, q; /* coefficients, those of a */
    double *truth, *prevalence;
    mel_ball *ball;
    mel_metric *metric;
} respondent;

static void respondent_init(respondent *r, test_fair_kind kind, double lambda, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    *r = (respondent){ .kind = kind, .n = test_fair_coefficients(kind), .q = test_fair_rates(kind) };
    r->truth = malloc(r->n * sizeof *r->truth);
    r->prevalence = malloc(kind.m * kind.k * sizeof *r->prevalence);
    test_fair_prevalence(r->prevalence, kind, &rng);
    test_fair_draw(r->truth, kind, lambda, &rng);
    r->ball = test_fair_ball(kind, r->prevalence);
    r->metric = test_fair_metric(kind, r->truth, r->prevalence);
}

static void respondent_clear(respondent *r)
{
    mel_metric_free(r->metric);
    mel_ball_free(r->ball);
    free(r->truth);
    free(r->prevalence);
}

static double width(const mel_metric *metric, size_t i)
{
    double low = NAN, high = NAN;
    assert_true(mel_metric_interval(metric, i, &low, &high));
    return high - low;
}

/* --- degenerate metrics -------------------------------------------------------------------------- */

typedef void check(const respondent *r, const mel_metric *found, const mel_summary *summary);

static void no_differences(const respondent *r, const mel_metric *found, const mel_summary *summary)
{
    assert_int_equal(summary->finding, MEL_FINDING_NO_DIFFERENCES);
    assert_true(mel_metric_lambda(found) == 0.0);
    assert_true(test_fair_compare(r->kind, mel_metric_coefficient(found), r->truth).a <= 0.001);
    assert_true(width(found, r->q) >= 1.0);
}

static void no_mistakes(const respondent *r, const mel_metric *found, const mel_summary *summary)
{
    assert_int_equal(summary->finding, MEL_FINDING_NO_MISTAKES);
    assert_true(mel_metric_lambda(found) == 1.0);
    assert_true(width(found, 0) == 1.0);
    const double off = test_fair_compare(r->kind, mel_metric_coefficient(found), r->truth).b;
    if (r->kind.m == 2)
        assert_true(off <= (r->kind.quadratic ? 0.02 : 0.002));
    else
        assert_true(width(found, r->q) >= 1.0);
}

static void nothing_found(const respondent *r, const mel_metric *found, const mel_summary *summary)
{
    if (summary->finding == MEL_FINDING_NO_CURVATURE) { /* B does not show, and is not said to */
        assert_true(r->kind.quadratic && r->truth[r->n - 1] < 0.1);
        assert_true(mel_metric_lambda(found) == 0.0 && width(found, r->n - 1) == 1.0);
        return;
    }
    assert_int_equal(summary->finding, MEL_FINDING_NONE);
    assert_true(mel_metric_lambda(found) > 0.0 && mel_metric_lambda(found) < 1.0);
}

static void test_degenerate(void **state)
{
    (void)state;
    static const struct {
        double lambda;
        check *expect;
    } rows[] = {
        { 0.0, no_differences }, { 1.0, no_mistakes }, { 0.05, nothing_found }, { 0.95, nothing_found }
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int quadratic = 0; quadratic < 2; quadratic++)
            for (size_t k = 2; k <= 3; k++)
                for (size_t m = 2; m <= 3; m++) {
                    respondent r;
                    respondent_init(&r, (test_fair_kind){ k, m, quadratic != 0 }, rows[i].lambda, 10 * k + m);
                    const mel_domain domain = { .ball = r.ball };
                    const mel_session_options opt = options(r.kind);
                    mel_summary summary;
                    mel_metric *found = test_find(&summary, &domain, &opt, r.metric, exact, 1);
                    for (size_t j = 0; j < r.n; j++)
                        assert_true(isfinite(mel_metric_coefficient(found)[j]));
                    rows[i].expect(&r, found, &summary);
                    mel_metric_free(found);
                    respondent_clear(&r);
                }
}

/* On balls whose points are no binary fractions rounding answers where groups do not differ (lambda = 1):
 * that there is no slope shows in what all places say together. */
static void test_rounding_answers(void **state)
{
    (void)state;
    static const struct {
        size_t k, m;
        bool diagonal;
        double radius, tolerance;
    } rows[] = {
        { 2, 2, false, 0.151, 0.02 }, { 2, 2, true, 0.163, 0.02 },  { 2, 3, false, 0.177, 0.001 },
        { 2, 3, true, 0.189, 0.001 }, { 3, 2, false, 0.151, 0.02 }, { 3, 2, true, 0.163, 0.001 },
        { 3, 3, true, 0.177, 0.02 },  { 2, 2, true, 0.171, 0.001 }, { 2, 2, false, 0.193, 0.001 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            respondent r;
            respondent_init(&r, (test_fair_kind){ rows[i].k, rows[i].m, true }, 1.0, seed);
            const mel_layout layout = test_fair_layout(r.kind);
            mel_ball *ball = NULL;
            mel_error err;
            assert_ok(mel_ball_new(&ball, &layout, rows[i].radius, NULL, r.prevalence, &err), &err);
            const mel_domain domain = { .ball = ball };
            mel_session_options opt = options(r.kind);
            opt.tolerance = rows[i].tolerance;
            opt.diagonal_b = rows[i].diagonal;
            mel_summary summary;
            mel_metric *found = test_find(&summary, &domain, &opt, r.metric, exact, 1);
            assert_int_equal(summary.finding, MEL_FINDING_NO_MISTAKES);
            assert_true(mel_metric_lambda(found) == 1.0);
            for (size_t j = 0; j < r.q; j++)
                assert_true(width(found, j) == 1.0);
            assert_true(mel_norm2(r.n - r.q - 1, mel_metric_coefficient(found) + r.q) > 0.0);
            mel_metric_free(found);
            mel_ball_free(ball);
            respondent_clear(&r);
        }
}

/* Where differences hardly turn the slopes, how much of them goes along the slopes does not show: the
 * trade-off is not known, and is not said to be. */
static void test_small_trade_off(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 3; k++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            respondent r;
            respondent_init(&r, (test_fair_kind){ k, 3, true }, 0.01, seed);
            const mel_domain domain = { .ball = r.ball };
            const mel_session_options opt = options(r.kind);
            mel_summary summary;
            double low = NAN, high = NAN;
            mel_metric *found = test_find(&summary, &domain, &opt, r.metric, exact, 1);
            assert_true(summary.finding == MEL_FINDING_NONE || summary.finding == MEL_FINDING_NO_CURVATURE ||
                        summary.finding == MEL_FINDING_NO_DIFFERENCES);
            assert_true(mel_metric_interval(found, r.n - 1, &low, &high));
            assert_true(low <= 0.01 && 0.01 <= high);
            mel_metric_free(found);
            respondent_clear(&r);
        }
}

/* Costs that are said to be known stay as they are, right or wrong: here the cheapest mistake is said to cost
 * the most, which the slopes may contradict so much that the opposite sign fits them better. */
static void test_known_costs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        respondent r;
        respondent_init(&r, (test_fair_kind){ 3, 3, false }, 0.7, seed);
        size_t cheapest = 0;
        for (size_t i = 1; i < r.q; i++)
            cheapest = r.truth[i] < r.truth[cheapest] ? i : cheapest;
        double *claimed = malloc(r.n * sizeof *claimed);
        memcpy(claimed, r.truth, r.n * sizeof *claimed);
        for (size_t i = 0; i < r.q; i++)
            claimed[i] = i == cheapest ? 1.0 : 0.0;
        mel_metric *known = test_fair_metric(r.kind, claimed, r.prevalence);
        const mel_domain domain = { .ball = r.ball };
        mel_session_options opt = options(r.kind);
        opt.known = known;
        opt.known_costs_only = true;
        mel_summary summary;
        mel_metric *found = test_find(&summary, &domain, &opt, r.metric, exact, 1);
        for (size_t i = 0; i < r.q; i++)
            assert_close(mel_metric_coefficient(found)[i], claimed[i], 1e-9);
        mel_metric_free(found);
        mel_metric_free(known);
        free(claimed);
        respondent_clear(&r);
    }
}

static mel_status always(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    (void)question;
    (void)err;
    *reply = *(const mel_reply *)user;
    return MEL_OK;
}

/* Whoever says "about the same" to everything is told so, and is not asked to tell A from A; whoever says A
 * or B to everything is not stuck. */
static void test_indifferent(void **state)
{
    (void)state;
    static mel_reply replies[] = { MEL_REPLY_SAME, MEL_REPLY_SKIP, MEL_REPLY_A, MEL_REPLY_B };
    for (size_t i = 0; i < COUNT(replies); i++)
        for (int quadratic = 0; quadratic < 2; quadratic++)
            for (int unknown = 0; unknown < 2; unknown++) {
                respondent r;
                respondent_init(&r, (test_fair_kind){ 3, 3, quadratic != 0 }, 0.5, 1);
                const mel_domain domain = { .ball = r.ball };
                mel_session_options opt = options(r.kind);
                opt.direction = unknown ? MEL_DIRECTION_UNKNOWN : MEL_INCREASING;
                opt.ask_trade_off = true;
                mel_oracle *oracle = NULL;
                mel_session *session = NULL;
                mel_metric *found = NULL;
                mel_summary summary;
                mel_error err;
                assert_ok(mel_oracle_callback(&oracle, always, &replies[i], NULL, &err), &err);
                assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
                assert_ok(mel_session_run(session, oracle, &err), &err);
                assert_ok(mel_session_result(&found, &summary, session, &err), &err);
                for (size_t j = 0; j < r.n; j++)
                    assert_true(isfinite(mel_metric_coefficient(found)[j]));
                for (uint32_t j = 0; j < mel_session_answers(session); j++) {
                    const mel_record record = mel_session_record(session, j);
                    assert_true(memcmp(record.a, record.b, r.kind.m * r.q * sizeof *record.a) != 0);
                }
                if (replies[i] != MEL_REPLY_A) {
                    assert_int_equal(summary.finding, MEL_FINDING_INDIFFERENT);
                    assert_true(width(found, 0) >= 1.0 && width(found, r.n - 1) == 1.0);
                }
                mel_metric_free(found);
                mel_session_free(session);
                mel_oracle_free(oracle);
                respondent_clear(&r);
            }
}

/* --- on the way ---------------------------------------------------------------------------------- */

/* A result after any number of answers: finite, with intervals that hold the truth, and the same when all
 * answers are replayed. */
static void check_on_the_way(respondent *r, const mel_session_options *opt, uint32_t every)
{
    const mel_domain domain = { .ball = r->ball };
    mel_oracle *oracle = test_oracle(r->metric, exact, 1);
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &domain, opt, &err), &err);
    double radius = INFINITY;
    for (uint32_t asked = 0;; asked++) {
        const mel_question *question = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        if (done || asked % every == 0) {
            mel_metric *found = NULL;
            mel_summary summary;
            assert_ok(mel_session_result(&found, &summary, session, &err), &err);
            for (size_t j = 0; j < r->n; j++) {
                double low = NAN, high = NAN;
                const double value = mel_metric_coefficient(found)[j];
                assert_true(mel_metric_interval(found, j, &low, &high));
                assert_true(isfinite(value) && low <= value + 1e-12 && value <= high + 1e-12);
                assert_true(low - 1e-9 <= r->truth[j] && r->truth[j] <= high + 1e-9);
            }
            radius = summary.radius;
            mel_metric_free(found);
        }
        if (done)
            break;
        mel_reply reply = MEL_REPLY_QUIT;
        assert_ok(mel_oracle_ask(&reply, oracle, question, &err), &err);
        assert_ok(mel_session_tell(session, question->number, (mel_answer)reply, NAN, &err), &err);
    }
    assert_true(radius < 0.2);
    mel_session_free(session);
    mel_oracle_free(oracle);
}

static void test_on_the_way(void **state)
{
    (void)state;
    static const struct {
        bool quadratic, ask, known;
    } rows[] = { { false, false, false }, { false, true, false }, { false, false, true },
                 { true, false, false },  { true, true, false },  { true, false, true } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        respondent r;
        respondent_init(&r, (test_fair_kind){ 2, 3, rows[i].quadratic }, 0.7, 3);
        mel_session_options opt = options(r.kind);
        opt.ask_trade_off = rows[i].ask;
        opt.known = rows[i].known ? r.metric : NULL;
        check_on_the_way(&r, &opt, 7);
        respondent_clear(&r);
    }
}

/* Undoing an answer and giving it again changes nothing. */
static void test_undo(void **state)
{
    (void)state;
    for (int quadratic = 0; quadratic < 2; quadratic++) {
        respondent r;
        respondent_init(&r, (test_fair_kind){ 2, 2, quadratic != 0 }, 0.5, 5);
        const mel_domain domain = { .ball = r.ball };
        mel_session_options opt = options(r.kind);
        opt.tolerance = 0.02;
        opt.ask_trade_off = true;
        mel_summary summary;
        mel_metric *once = test_find(&summary, &domain, &opt, r.metric, exact, 1), *twice = NULL;
        mel_oracle *oracle = test_oracle(r.metric, exact, 1);
        mel_session *session = NULL;
        mel_error err;
        assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
        for (uint32_t asked = 0;; asked++) {
            const mel_question *question = NULL;
            bool done = false;
            mel_reply reply = MEL_REPLY_QUIT;
            assert_ok(mel_session_ask(&question, &done, session, &err), &err);
            if (done)
                break;
            assert_ok(mel_oracle_ask(&reply, oracle, question, &err), &err);
            assert_ok(mel_session_tell(session, question->number, (mel_answer)reply, NAN, &err), &err);
            if (asked % 11 == 5)
                assert_ok(mel_session_undo(session, &err), &err);
        }
        assert_ok(mel_session_result(&twice, NULL, session, &err), &err);
        assert_memory_equal(mel_metric_coefficient(once), mel_metric_coefficient(twice),
                            r.n * sizeof(double));
        mel_session_free(session);
        mel_oracle_free(oracle);
        mel_metric_free(once);
        mel_metric_free(twice);
        respondent_clear(&r);
    }
}

/* --- questions ----------------------------------------------------------------------------------- */

/* In the ball, or the rates of a classifier that always predicts the same class. */
static bool achievable(const mel_ball *ball, const double *rates)
{
    const mel_layout *layout = mel_ball_layout(ball);
    const size_t k = layout->n_classes, q = mel_ball_size(ball) / layout->n_groups;
    double squares = 0.0;
    for (size_t i = 0; i < q; i++)
        squares += pow(rates[i] - mel_ball_centre(ball)[i], 2.0);
    if (sqrt(squares) <= mel_ball_radius(ball) * (1.0 + 1e-12))
        return true;
    for (size_t c = 0; c < k; c++) {
        bool always_c = true;
        for (size_t i = 0; i < q; i++) {
            const size_t of = i / (k - 1), j = i % (k - 1), predicted = j + (j >= of);
            always_c = always_c && rates[i] == (predicted == c ? 1.0 : 0.0);
        }
        if (always_c)
            return true;
    }
    return false;
}

/* Every point is achievable in every group, and A and B differ in one group at least. */
static void test_questions(void **state)
{
    (void)state;
    for (int quadratic = 0; quadratic < 2; quadratic++)
        for (size_t k = 2; k <= 3; k++) {
            respondent r;
            respondent_init(&r, (test_fair_kind){ k, 3, quadratic != 0 }, 0.5, 7);
            const mel_domain domain = { .ball = r.ball };
            mel_session_options opt = options(r.kind);
            opt.tolerance = 0.05;
            opt.ask_trade_off = true;
            mel_oracle *oracle = test_oracle(r.metric, exact, 1);
            mel_session *session = NULL;
            mel_error err;
            assert_ok(mel_session_new(&session, &domain, &opt, &err), &err);
            assert_ok(mel_session_run(session, oracle, &err), &err);
            for (uint32_t i = 0; i < mel_session_answers(session); i++) {
                const mel_record record = mel_session_record(session, i);
                for (size_t g = 0; g < r.kind.m; g++) {
                    assert_true(achievable(r.ball, record.a + g * r.q));
                    assert_true(achievable(r.ball, record.b + g * r.q));
                }
                assert_true(memcmp(record.a, record.b, r.kind.m * r.q * sizeof *record.a) != 0);
            }
            mel_session_free(session);
            mel_oracle_free(oracle);
            respondent_clear(&r);
        }
}

/* True-positive and true-negative rates: the costs are negative. */
static void test_binary_layout(void **state)
{
    (void)state;
    const mel_layout layout = { .kind = MEL_RATES, .coordinates = MEL_BINARY, .n_classes = 2, .n_groups = 3 };
    static const double prevalence[] = { 0.2, 0.5, 0.3, 0.3, 0.5, 0.2 };
    static const double a[] = { -0.6, -0.8 }, b[] = { 0.3, 0.0, 0.0, 0.2, 0.3, 0.4 };
    mel_ball *ball = NULL;
    mel_metric *truth = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, prevalence, &err), &err);
    assert_ok(mel_metric_fair_linear(&truth, &layout, NULL, NULL, a, b, 0.4, prevalence, &err), &err);
    const mel_domain domain = { .ball = ball };
    mel_session_options opt = options((test_fair_kind){ 2, 3, false });
    for (int ask = 0; ask < 2; ask++) {
        opt.ask_trade_off = ask != 0;
        mel_summary summary;
        mel_metric *found = test_find(&summary, &domain, &opt, truth, exact, 1);
        for (size_t i = 0; i < mel_metric_coefficients(truth); i++)
            assert_close(mel_metric_coefficient(found)[i], mel_metric_coefficient(truth)[i], 0.005);
        mel_metric_free(found);
    }
    mel_metric_free(truth);
    mel_ball_free(ball);
}

/* --- refusals ------------------------------------------------------------------------------------ */

/* A known metric that leaves nothing to ask, or whose trade-off no answer can tell. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        double a[2], b[2];
        bool costs_only;
        const char *sentence;
    } rows[] = {
        { { 0.0, 0.0 }, { 0.6, 0.8 }, false, "the known metric has no weights of mistakes" },
        { { 0.0, 0.0 }, { 0.6, 0.8 }, true, "the known metric has no weights of mistakes" },
        { { 0.6, 0.8 },
          { 0.0, 0.0 },
          false,
          "the known metric has no weights of differences between groups" },
        { { 0.6, 0.8 },
          { 0.3, 0.4 },
          false,
          "the trade-off of the known metric makes no difference: its weights of mistakes and of differences "
          "between groups are alike in every group" },
    };
    const test_fair_kind kind = { 2, 2, false };
    const mel_layout layout = test_fair_layout(kind);
    static const double prevalence[] = { 0.5, 0.5, 0.5, 0.5 };
    mel_ball *ball = test_fair_ball(kind, prevalence);
    const mel_domain domain = { .ball = ball };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *known = NULL;
        mel_session *session = NULL;
        mel_error err;
        assert_ok(
            mel_metric_fair_linear(&known, &layout, NULL, NULL, rows[i].a, rows[i].b, 0.5, prevalence, &err),
            &err);
        mel_session_options opt = options(kind);
        opt.known = known;
        opt.known_costs_only = rows[i].costs_only;
        assert_int_equal(mel_session_new(&session, &domain, &opt, &err), MEL_EINVAL);
        assert_null(session);
        assert_string_equal(err.text, rows[i].sentence);
        mel_metric_free(known);
    }
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degenerate),      cmocka_unit_test(test_rounding_answers),
        cmocka_unit_test(test_small_trade_off), cmocka_unit_test(test_indifferent),
        cmocka_unit_test(test_on_the_way),      cmocka_unit_test(test_undo),
        cmocka_unit_test(test_questions),       cmocka_unit_test(test_binary_layout),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_known_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
