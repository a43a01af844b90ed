/* The thesis' searches of chapter 3: its tables, its question counts, its bounds. */
#include "support/binary.h"

#include "elicit/shared.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
enum { RANDOM_METRICS = 200 };
static const mel_noise exact = { .kind = MEL_NOISE_NONE };

static mel_session_options search_options(double tolerance)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.strategy = MEL_STRATEGY_SEARCH;
    opt.tolerance = tolerance;
    opt.max_questions = 1000;
    return opt;
}

static double elicited_angle(uint32_t *questions, const mel_face *face, const mel_session_options *opt,
                             double truth)
{
    mel_oracle *oracle = test_linear_oracle(truth, exact, 1);
    mel_summary summary;
    mel_metric *metric = test_elicit(&summary, face, opt, oracle);
    mel_metric_free(metric);
    mel_oracle_free(oracle);
    *questions = summary.questions;
    return summary.angle;
}

/* Table 3.1 / A.1: eight metrics at 0.02 radians. */
static void test_table_of_linear_metrics(void **state)
{
    (void)state;
    static const struct {
        double truth[2], thesis[2];
    } rows[] = {
        { { 0.98, 0.17 }, { 0.99, 0.17 } },     { { 0.87, 0.50 }, { 0.87, 0.50 } },
        { { 0.64, 0.77 }, { 0.64, 0.77 } },     { { 0.34, 0.94 }, { 0.34, 0.94 } },
        { { -0.94, -0.34 }, { -0.94, -0.34 } }, { { -0.77, -0.64 }, { -0.77, -0.64 } },
        { { -0.50, -0.87 }, { -0.50, -0.87 } }, { { -0.17, -0.98 }, { -0.17, -0.99 } },
    };
    mel_face *face = test_logistic_face(5.0, 0.0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = search_options(0.02);
        opt.direction = rows[i].truth[0] > 0.0 ? MEL_INCREASING : MEL_DECREASING;
        uint32_t questions = 0;
        const double angle =
            elicited_angle(&questions, face, &opt, atan2(rows[i].truth[1], rows[i].truth[0]));
        assert_int_equal(questions, 28); /* 4 ceil(log2(pi/2 / 0.02)) */
        assert_close(round(100.0 * cos(angle)) / 100.0, rows[i].thesis[0], 1e-9);
        assert_close(round(100.0 * sin(angle)) / 100.0, rows[i].thesis[1], 1e-9);
    }
    mel_face_free(face);
}

/* Theorem 3.2 without noise: |m - m^|_inf <= sqrt(2) eps, in exactly 4 ceil(log2(pi/2/eps)) questions; with
 * an unknown direction one more. */
static void test_linear_bound_and_count(void **state)
{
    (void)state;
    static const double tolerances[] = { 0.1, 0.02, 0.003 };
    mel_rng rng;
    mel_rng_seed(&rng, 31);
    mel_face *face = test_logistic_face(5.0, 0.3);
    for (size_t t = 0; t < COUNT(tolerances); t++)
        for (size_t i = 0; i < RANDOM_METRICS; i++) {
            const double in_arc = 0.5 * pi * mel_rng_uniform(&rng);
            const bool decreasing = mel_rng_uniform(&rng) < 0.5;
            const double truth = decreasing ? in_arc + pi : in_arc;
            mel_session_options opt = search_options(tolerances[t]);
            opt.direction = i % 2 == 0 ? MEL_DIRECTION_UNKNOWN : decreasing ? MEL_DECREASING : MEL_INCREASING;
            uint32_t questions = 0;
            const double angle = elicited_angle(&questions, face, &opt, truth);
            const uint32_t rounds = (uint32_t)ceil(log2(0.5 * pi / tolerances[t]));
            assert_int_equal(questions, 4 * rounds + (opt.direction == MEL_DIRECTION_UNKNOWN));
            assert_true(test_linf(angle, truth) <= sqrt(2.0) * tolerances[t]);
        }
    mel_face_free(face);
}

/* Without noise two questions a round find the same interval as four. */
static void test_fewer_questions_a_round(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 32);
    mel_face *face = test_logistic_face(3.0, -0.5);
    for (size_t i = 0; i < RANDOM_METRICS; i++) {
        const double truth = 0.5 * pi * mel_rng_uniform(&rng);
        mel_session_options opt = search_options(0.05);
        uint32_t questions = 0;
        const double thesis = elicited_angle(&questions, face, &opt, truth);
        for (opt.per_round = 3; opt.per_round >= 2; opt.per_round--) {
            const double angle = elicited_angle(&questions, face, &opt, truth);
            assert_int_equal(questions, opt.per_round * 5);
            assert_true(angle == thesis);
        }
    }
    mel_face_free(face);
}

/* Theorem 3.2 with noise of the respondent: wrong answers only where |difference| < eps_omega may cost
 * (2/k0) sqrt(2 k1 eps_omega) more. On logistic:5,0 the density of eta is 1/(2 a eta (1-eta)), between k0 =
 * 2/5 and, over thresholds 0.1 to 0.9, k1 = 1/(10 * 0.09). */
static void test_linear_bound_with_band_noise(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 33);
    mel_face *face = test_logistic_face(5.0, 0.0);
    const double eps = 0.02, band = 1e-4, k0 = 0.4, k1 = 1.0 / 0.9;
    const double bound = sqrt(2.0) * eps + 2.0 / k0 * sqrt(2.0 * k1 * band);
    for (size_t i = 0; i < RANDOM_METRICS; i++) {
        const double truth = 0.5 * pi * (0.1 + 0.8 * mel_rng_uniform(&rng));
        const mel_noise noise = { .kind = MEL_NOISE_BAND, .size = band, .adversarial = i % 2 == 0 };
        const mel_session_options opt = search_options(eps);
        mel_oracle *oracle = test_linear_oracle(truth, noise, i);
        mel_summary summary;
        mel_metric *metric = test_elicit(&summary, face, &opt, oracle);
        assert_true(test_linf(summary.angle, truth) <= bound);
        mel_metric_free(metric);
        mel_oracle_free(oracle);
    }
    mel_face_free(face);
}

/* Every question is a pair of points of the face. */
static void test_questions_are_feasible(void **state)
{
    (void)state;
    mel_face *face = test_data_face("breast_cancer_diagnostic.csv.gz", 1.0, 1);
    const mel_session_options opt = search_options(0.01);
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), &err);
    mel_oracle *oracle = test_linear_oracle(0.9, exact, 1);
    assert_ok(mel_session_run(session, oracle, &err), &err);
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record record = mel_session_record(session, i);
        assert_true(mel_face_contains(face, (mel_point){ record.a[0], record.a[1] }, 1e-9));
        assert_true(mel_face_contains(face, (mel_point){ record.b[0], record.b[1] }, 1e-9));
    }
    mel_oracle_free(oracle);
    mel_session_free(session);
    mel_face_free(face);
}

/* --- linear-fractional --------------------------------------------------------------------------- */

/* The exact supporting line of a metric at its maximum (sign = 1) or minimum (sign = -1) on the face, by a
 * golden-section search over the boundary's slope. */
static mel_line exact_line(const mel_face *face, const double p[2], const double q[3], double sign)
{
    /* phi(C) = t is a line with normal p - t q; at the optimum it supports the face: bisect on t. */
    double low = -10.0, high = 10.0;
    for (int i = 0; i < 200; i++) {
        const double t = 0.5 * (low + high);
        const double m11 = sign * (p[0] - t * q[0]), m00 = sign * (p[1] - t * q[1]);
        mel_point c;
        mel_error err;
        assert_ok(mel_face_support(&c, face, m11, m00, &err), &err);
        /* > 0: some point beats t (falls below t for the minimum) */
        const bool beaten = m11 * c.tp + m00 * c.tn - sign * t * q[2] > 0.0;
        if (beaten == (sign > 0.0))
            low = t;
        else
            high = t;
    }
    const double t = 0.5 * (low + high);
    const double m11 = sign * (p[0] - t * q[0]), m00 = sign * (p[1] - t * q[1]), norm = hypot(m11, m00);
    return (mel_line){ m11 / norm, m00 / norm, sign * t * q[2] / norm };
}

/* p0 = 0, p11 + p00 = 1 and assumption 3.2, at random. */
static void random_fractional(mel_rng *rng, const mel_face *face, double p[2], double q[3])
{
    const double positives = mel_face_positives(face), negatives = mel_face_negatives(face);
    p[0] = 0.05 + 0.9 * mel_rng_uniform(rng);
    p[1] = 1.0 - p[0];
    do {
        q[0] = p[0] - 1.2 * mel_rng_uniform(rng);
        q[1] = p[1] - 1.2 * mel_rng_uniform(rng);
        q[2] = (p[0] - q[0]) * positives + (p[1] - q[1]) * negatives;
    } while (q[2] < 0.1);
}

/* Lemma 3.1: along the upper boundary a metric rises to its maximum and then falls; along the lower one its
 * negation does. */
static void test_unimodal_along_the_boundary(void **state)
{
    (void)state;
    enum { PLACES = 400 };
    mel_rng rng;
    mel_rng_seed(&rng, 31);
    for (size_t i = 0; i < RANDOM_METRICS; i++) {
        mel_face *face = test_logistic_face(0.5 + 9.5 * mel_rng_uniform(&rng), mel_rng_uniform(&rng) - 0.5);
        double p[2], q[3];
        random_fractional(&rng, face, p, q);
        for (int upper = 0; upper < 2; upper++) {
            const double sign = upper ? 1.0 : -1.0;
            double before = -INFINITY;
            bool falls = false;
            for (int place = 0; place <= PLACES; place++) {
                const double angle = 0.5 * pi * place / PLACES;
                mel_point c;
                assert_ok(mel_face_support(&c, face, sign * cos(angle), sign * sin(angle), NULL), NULL);
                const double now = sign * (p[0] * c.tp + p[1] * c.tn) / (q[0] * c.tp + q[1] * c.tn + q[2]);
                assert_false(falls && now > before + 1e-12);
                falls = falls || now < before - 1e-12;
                before = now;
            }
        }
        mel_face_free(face);
    }
}

/* From exact lines the closed form gives p, and a metric that orders every pair as the truth. */
static void test_closed_form_is_exact(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 34);
    mel_face *face = test_logistic_face(5.0, 0.2);
    const double positives = mel_face_positives(face), negatives = mel_face_negatives(face);
    for (size_t i = 0; i < RANDOM_METRICS; i++) {
        double p[2], q[3], found_p[2], found_q[3];
        random_fractional(&rng, face, p, q);
        const mel_line upper = exact_line(face, p, q, 1.0), lower = exact_line(face, p, q, -1.0);
        mel_error err;
        assert_ok(
            mel_fractional_closed(found_p, found_q, &found_q[2], upper, lower, positives, negatives, &err),
            &err);
        assert_close(found_p[0], p[0], 1e-9);
        assert_close(found_p[1], p[1], 1e-9);
        mel_metric *truth = test_fractional(p, q), *found = test_fractional(found_p, found_q);
        assert_true(test_agreement(face, truth, found, 1000, i) >= 0.999);
        mel_metric_free(truth);
        mel_metric_free(found);
    }
    mel_face_free(face);
}

static void test_degenerate_lines_are_refused(void **state)
{
    (void)state;
    const mel_line line = { 0.6, 0.8, 0.5 }, through_origin = { 0.6, 0.8, 0.0 };
    double p[2], q[2], q0;
    mel_error err;
    assert_int_equal(mel_fractional_closed(p, q, &q0, line, line, 0.5, 0.5, &err), MEL_ENUMERIC);
    assert_int_equal(mel_fractional_closed(p, q, &q0, through_origin, through_origin, 0.5, 0.5, &err),
                     MEL_ENUMERIC);
}

/* Order agreement of the searched metric with the truth on 1000 random feasible pairs. */
static void check_table(const mel_face *face, double tolerance, double least)
{
    enum { STEPS = 100 };
    for (size_t i = 0; i < TEST_FRACTIONAL_ROWS; i++) {
        mel_metric *truth = test_fractional(test_fractional_table[i].p, test_fractional_table[i].q);
        mel_session_options opt = search_options(tolerance);
        opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
        mel_oracle *oracle = test_oracle(truth, exact, 1);
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        assert_true(test_agreement(face, truth, found, 1000, 7) >= least);
        const size_t want = test_argmax_on_boundary(face, truth, STEPS),
                     got = test_argmax_on_boundary(face, found, STEPS);
        assert_true(want + 1 >= got && got + 1 >= want);
        mel_metric_free(found);
        mel_metric_free(truth);
        mel_oracle_free(oracle);
    }
}

static void test_table_of_fractional_metrics(void **state)
{
    (void)state;
    mel_face *face = test_logistic_face(5.0, 0.0);
    check_table(face, 0.002, 0.995);
    mel_face_free(face);
}

/* F-beta with p11 = 1 known: only the upper search is needed. */
static void test_known_p11_needs_one_search(void **state)
{
    (void)state;
    mel_face *face = test_logistic_face(5.0, 0.0);
    for (size_t i = 0; i < 2; i++) {
        mel_metric *truth = test_fractional(test_fractional_table[i].p, test_fractional_table[i].q);
        mel_session_options opt = search_options(0.005);
        opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
        opt.known_p11 = 1.0;
        mel_oracle *oracle = test_oracle(truth, exact, 1);
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        assert_int_equal(summary.questions, 4 * (uint32_t)ceil(log2(0.5 * pi / 0.005)));
        assert_close(mel_metric_numerator(found, NULL)[0], 1.0, 1e-12);
        assert_true(test_agreement(face, truth, found, 1000, 7) >= 0.995);
        mel_metric_free(found);
        mel_metric_free(truth);
        mel_oracle_free(oracle);
    }
    mel_face_free(face);
}

/* A decreasing metric is found as the negative of an increasing one. */
static void test_decreasing_fractional(void **state)
{
    (void)state;
    mel_face *face = test_logistic_face(4.0, 0.1);
    const double p[2] = { -0.6, -0.4 }, q[3] = { 0.2, 0.1, 0.4 };
    mel_metric *truth = test_fractional(p, q);
    mel_session_options opt = search_options(0.002);
    opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
    opt.direction = MEL_DIRECTION_UNKNOWN;
    mel_oracle *oracle = test_oracle(truth, exact, 1);
    mel_summary summary;
    mel_metric *found = test_elicit(&summary, face, &opt, oracle);
    assert_true(test_agreement(face, truth, found, 1000, 7) >= 0.99);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_oracle_free(oracle);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_of_linear_metrics),
        cmocka_unit_test(test_linear_bound_and_count),
        cmocka_unit_test(test_fewer_questions_a_round),
        cmocka_unit_test(test_linear_bound_with_band_noise),
        cmocka_unit_test(test_questions_are_feasible),
        cmocka_unit_test(test_unimodal_along_the_boundary),
        cmocka_unit_test(test_closed_form_is_exact),
        cmocka_unit_test(test_degenerate_lines_are_refused),
        cmocka_unit_test(test_table_of_fractional_metrics),
        cmocka_unit_test(test_known_p11_needs_one_search),
        cmocka_unit_test(test_decreasing_fractional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
