/* Structure that is known of a metric, under the active strategy: random hidden metrics that have it are
 * found, by fewer questions than without it, and what is found has it to the last digit. */
#include "base/la.h"
#include "base/rng.h"
#include "elicit/engine.h"
#include "metric/shared.h"
#include "space/shared.h"
#include "support/fair.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200, QUADRATIC_RATES = 6 };
static const double tolerance = 0.02;

static uint32_t answer_all(mel_metric **found, double *radius, const mel_domain *domain,
                           const mel_session_options *opt, const mel_metric *truth)
{
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, domain, opt, &err), &err);
    const mel_question *question = NULL;
    bool done = false;
    uint32_t n = 0;
    for (assert_ok(mel_session_ask(&question, &done, session, &err), &err); !done;
         assert_ok(mel_session_ask(&question, &done, session, &err), &err)) {
        double better = 0.0;
        assert_ok(mel_metric_compare(&better, truth, question->a, question->b, &err), &err);
        assert_ok(mel_session_tell(session, ++n, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err),
                  &err);
    }
    mel_summary summary;
    assert_ok(mel_session_result(found, &summary, session, &err), &err);
    *radius = summary.radius;
    mel_session_free(session);
    return n;
}

/* --- fair metrics ----------------------------------------------------------------------------------- */

/* (1 - lambda) a and lambda b or B, all at length 1, a matrix's numbers each once: what the tolerance is of.
 */
static size_t vector_of(double *w, test_fair_kind kind, const double *coefficient)
{
    const size_t q = test_fair_rates(kind), all = test_fair_coefficients(kind) - 1;
    const double lambda = coefficient[all];
    double squares = 0.0;
    size_t n = 0;
    for (size_t i = 0; i < all; i++) {
        const size_t at = i < q ? 0 : (i - q) % test_fair_block(kind);
        const bool twice = i >= q && kind.quadratic && at / q != at % q;
        if (twice && at / q > at % q)
            continue;
        w[n] = (i < q ? 1.0 - lambda : lambda) * coefficient[i] * (twice ? sqrt(2.0) : 1.0);
        squares += w[n] * w[n];
        n++;
    }
    mel_scale(n, 1.0 / sqrt(squares), w);
    return n;
}

static double fair_error(test_fair_kind kind, const double *found, const double *truth)
{
    double x[MOST], y[MOST], most = 0.0;
    const size_t n = vector_of(x, kind, found);
    assert_true(n <= MOST && vector_of(y, kind, truth) == n);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static void check_structure(test_fair_kind kind, const mel_session_options *is, const double *found,
                            const double *truth)
{
    const size_t q = test_fair_rates(kind), block = test_fair_block(kind), all = test_fair_coefficients(kind);
    for (size_t i = 0; i < all - 1 - q; i++) {
        if (is->equal_pairs)
            assert_true(found[q + i] == found[q + i % block]);
        if (is->diagonal_b && (i % block) / q != (i % block) % q)
            assert_true(found[q + i] == 0.0);
        if (is->known != NULL && !is->known_costs_only)
            assert_close(found[q + i], truth[q + i], 1e-9);
    }
    for (size_t i = 0; i < q && is->known != NULL; i++)
        assert_close(found[i], truth[i], 1e-9);
}

typedef struct {
    test_fair_kind kind;
    mel_session_options is;
    bool known; /* the hidden metric is */
    uint32_t most;
} fair_row;

static const fair_row fair_rows[] = {
    { { 2, 2, false }, { .known_costs_only = true }, true, 16 },
    { { 2, 2, false }, { .equal_pairs = false }, true, 7 },
    { { 2, 3, false }, { .equal_pairs = true }, false, 20 },
    { { 2, 3, false }, { .equal_pairs = true, .known_costs_only = true }, true, 14 },
    { { 3, 2, false }, { .equal_pairs = false }, true, 7 },
    { { 2, 2, true }, { .diagonal_b = true }, false, 18 },
    { { 2, 3, true }, { .equal_pairs = true }, false, 25 },
    { { 2, 3, true }, { .equal_pairs = true, .diagonal_b = true }, false, 18 },
    { { 2, 2, true }, { .known_costs_only = true }, true, 20 },
    { { 2, 3, true }, { .equal_pairs = false }, true, 7 },
};

/* Whether it was found to within the tolerance; the questions of a session that knows nothing are counted for
 * the first metric of a row. */
static bool find_fair(const fair_row *row, uint64_t seed, bool compared)
{
    const size_t n = test_fair_coefficients(row->kind);
    double truth[MOST], prevalence[MOST];
    assert_true(n <= MOST);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    test_fair_prevalence(prevalence, row->kind, &rng);
    mel_ball *ball = test_fair_ball(row->kind, prevalence);
    test_fair_draw(truth, row->kind, 0.1 + 0.8 * mel_rng_uniform(&rng), &rng);
    test_fair_simplify(truth, row->kind, &row->is);
    mel_metric *metric = test_fair_metric(row->kind, truth, prevalence), *found = NULL;
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = row->kind.quadratic ? MEL_FAMILY_FAIR_QUADRATIC : MEL_FAMILY_FAIR_LINEAR;
    opt.tolerance = tolerance;
    opt.seed = seed;
    const mel_session_options nothing = opt;
    opt.diagonal_b = row->is.diagonal_b;
    opt.equal_pairs = row->is.equal_pairs;
    opt.known = row->known ? metric : NULL;
    opt.known_costs_only = row->is.known_costs_only;
    const mel_domain domain = { .ball = ball };
    double radius = NAN;
    const uint32_t questions = answer_all(&found, &radius, &domain, &opt, metric);
    assert_true(questions <= row->most && radius <= tolerance);
    const double error = fair_error(row->kind, mel_metric_coefficient(found), truth);
    assert_true(error <= 2.0 * tolerance);
    check_structure(row->kind, &opt, mel_metric_coefficient(found), truth);
    mel_metric_free(found);
    if (compared) {
        opt = nothing;
        assert_true(answer_all(&found, &radius, &domain, &opt, metric) > questions);
        mel_metric_free(found);
    }
    mel_metric_free(metric);
    mel_ball_free(ball);
    return error <= tolerance;
}

static void test_fair(void **state)
{
    (void)state;
    const size_t metrics = test_repeats(40, 6, 2);
    size_t within = 0;
    for (size_t r = 0; r < COUNT(fair_rows); r++)
        for (size_t i = 0; i < metrics; i++)
            within += find_fair(&fair_rows[r], 100 * r + i + 1, i == 0);
    assert_true(10 * within >= 9 * metrics * COUNT(fair_rows));
}

/* --- quadratic metrics ------------------------------------------------------------------------------ */

static mel_metric *draw_diagonal(const mel_layout *layout, size_t q, double *truth, mel_rng *rng)
{
    double b[QUADRATIC_RATES * QUADRATIC_RATES] = { 0 };
    mel_metric *metric = NULL;
    mel_error err;
    for (size_t i = 0; i < 2 * q; i++)
        truth[i] = mel_rng_normal(rng);
    mel_scale(2 * q, 1.0 / mel_norm2(2 * q, truth), truth);
    for (size_t i = 0; i < q; i++)
        b[i * q + i] = truth[q + i];
    assert_ok(mel_metric_quadratic(&metric, layout, NULL, MEL_COST, truth, b, &err), &err);
    return metric;
}

static void find_diagonal(size_t classes, uint64_t seed, uint32_t most)
{
    const size_t q = classes * (classes - 1);
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, classes, 0 };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, NULL, &err), &err);
    double truth[2 * QUADRATIC_RATES], radius = NAN;
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    mel_metric *metric = draw_diagonal(&layout, q, truth, &rng), *found = NULL;
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_QUADRATIC;
    opt.tolerance = tolerance;
    opt.seed = seed;
    opt.diagonal_b = true;
    const mel_domain domain = { .ball = ball };
    assert_true(answer_all(&found, &radius, &domain, &opt, metric) <= most && radius <= tolerance);
    const double *a = mel_metric_tensor(found, 1), *b = mel_metric_tensor(found, 2);
    for (size_t i = 0; i < q; i++) {
        assert_close(a[i], truth[i], 2.0 * tolerance);
        for (size_t j = 0; j < q; j++)
            assert_close(b[i * q + j], i == j ? truth[q + i] : 0.0, i == j ? 2.0 * tolerance : 0.0);
    }
    mel_metric_free(found);
    mel_metric_free(metric);
    mel_ball_free(ball);
}

static void test_diagonal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_repeats(40, 6, 2); seed++)
        find_diagonal(2, seed, 30);
    find_diagonal(3, 1, 90);
}

/* --- linear-fractional metrics ---------------------------------------------------------------------- */

/* Increasing in TP and TN, with this p11: the denominator is a mix of the numerator's complement. */
static mel_metric *draw_fractional(const mel_face *face, double p11, mel_rng *rng)
{
    const double p[2] = { p11, 1.0 - p11 };
    const double q[2] = { p[0] * (1.0 - 1.6 * mel_rng_uniform(rng)),
                          p[1] * (1.0 - 1.6 * mel_rng_uniform(rng)) };
    const double q0 = (p[0] - q[0]) * mel_face_positives(face) + (p[1] - q[1]) * mel_face_negatives(face);
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &mel_binary_layout, NULL,
                                    MEL_UTILITY, p, 0.0, q, q0, &err),
              &err);
    return metric;
}

/* The share of random pairs of achievable points that both metrics put in the same order. */
static double agreement(const mel_face *face, const mel_metric *one, const mel_metric *other)
{
    enum { PAIRS = 400 };
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    size_t alike = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        double at[4], first = 0.0, second = 0.0;
        for (size_t j = 0; j < 2; j++) {
            const mel_point point = mel_face_random(face, &rng);
            at[2 * j] = point.tp;
            at[2 * j + 1] = point.tn;
        }
        mel_error err;
        assert_ok(mel_metric_compare(&first, one, at, at + 2, &err), &err);
        assert_ok(mel_metric_compare(&second, other, at, at + 2, &err), &err);
        alike += (first > 0.0) == (second > 0.0);
    }
    return (double)alike / PAIRS;
}

static void test_known_p11(void **state)
{
    (void)state;
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, 5.0, 1.0, &err), &err);
    const mel_domain domain = { .face = face };
    const double known[] = { 0.0, 0.2, 0.5, 0.9, 1.0 };
    for (size_t i = 0; i < COUNT(known); i++)
        for (uint64_t seed = 1; seed <= test_repeats(40, 6, 2); seed++) {
            mel_rng rng;
            mel_rng_seed_stream(&rng, seed, i);
            mel_metric *metric = draw_fractional(face, known[i], &rng), *found = NULL, *other = NULL;
            mel_session_options opt;
            mel_session_options_init(&opt);
            opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
            opt.tolerance = 0.01;
            opt.seed = seed;
            double radius = NAN;
            const uint32_t without = answer_all(&other, &radius, &domain, &opt, metric);
            opt.known_p11 = known[i];
            const uint32_t questions = answer_all(&found, &radius, &domain, &opt, metric);
            assert_true(questions < without && questions <= 10 && radius <= opt.tolerance);
            assert_close(mel_metric_coefficient(found)[0], known[i], 1e-12);
            assert_true(agreement(face, found, metric) >= 0.98);
            mel_metric_free(metric);
            mel_metric_free(found);
            mel_metric_free(other);
        }
    mel_face_free(face);
}

/* --- refusals --------------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    const test_fair_kind kind = { 2, 2, true };
    double prevalence[] = { 0.5, 0.5, 0.5, 0.5 };
    const double plain[] = { 0.6, 0.8, 1.0, 0.0, 0.0, 1.0, 0.5 }, no_costs[] = { 0, 0, 1, 0, 0, 1, 0.5 },
                 no_pairs[] = { 0.6, 0.8, 0, 0, 0, 0, 0.5 };
    const signed char signs[] = { -1, 1 };
    const struct {
        const double *known;
        bool costs_only, equal;
        const signed char *signs;
        const char *says;
    } rows[] = {
        { no_costs, true, false, NULL, "no weights of mistakes" },
        { no_pairs, false, false, NULL, "no weights of differences between groups" },
        { plain, false, true, NULL, "equal-pairs and diagonal-b have nothing to add" },
        { plain, true, false, signs, "other signs than the direction or the signs that are declared" },
    };
    mel_ball *ball = test_fair_ball(kind, prevalence);
    const mel_domain domain = { .ball = ball };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *known = test_fair_metric(kind, rows[i].known, prevalence);
        mel_session_options opt;
        mel_session_options_init(&opt);
        opt.family = MEL_FAMILY_FAIR_QUADRATIC;
        opt.known = known;
        opt.known_costs_only = rows[i].costs_only;
        opt.equal_pairs = rows[i].equal;
        opt.signs = rows[i].signs;
        mel_session *session = NULL;
        mel_error err;
        assert_int_equal(mel_session_new(&session, &domain, &opt, &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, rows[i].says));
        assert_null(session);
        mel_metric_free(known);
    }
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_known_p11),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
