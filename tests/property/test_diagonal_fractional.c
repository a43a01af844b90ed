/* The searches of chapter 4 for linear-fractional and monotone metrics on two-class faces. */
#include "support/multiclass.h"

#include "base/stat.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 2000 }; /* 1000 pairs */
static const mel_noise exact = { .kind = MEL_NOISE_NONE };

static mel_space *diagonal_space(size_t n_classes)
{
    return test_softmax_space(n_classes, MEL_CONFUSION, MEL_DIAGONAL);
}

/* a >= 0, |a|_1 = 1 and assumption 4.3, at random. */
static void random_fractional(mel_rng *rng, size_t n, const double *corner, double *a, double *b, double *b0)
{
    mel_rng_dirichlet(rng, n, NULL, a);
    do {
        *b0 = 0.0;
        for (size_t i = 0; i < n; i++) {
            b[i] = a[i] - 1.2 * mel_rng_uniform(rng);
            *b0 += (a[i] - b[i]) * corner[i];
        }
    } while (*b0 < 0.1);
}

/* The level line of value t on the face of the classes r and i. */
static mel_line level_line(const double *a, const double *b, double b0, size_t r, size_t i, double t,
                           double sign)
{
    const double m11 = sign * (a[r] - t * b[r]), m00 = sign * (a[i] - t * b[i]), sum = fabs(m11) + fabs(m00);
    return (mel_line){ .m11 = m11 / sum, .m00 = m00 / sum, .c = sign * t * b0 / sum };
}

/* The metric's value at the classifiers of the upper boundary of the face of classes 0 and i that are best
 * for m TP + (1 - m) TN, m from 0 to 1. */
enum { ALONG = 401 };
static void values_along(double value[ALONG], const mel_space *space, size_t i, const mel_metric *metric)
{
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_space_face(&face, space, 0, i, &err), &err);
    for (size_t j = 0; j < ALONG; j++) {
        const double m = (double)j / (ALONG - 1.0);
        mel_point best;
        assert_ok(mel_face_support(&best, face, m, 1.0 - m, &err), &err);
        double at[5] = { best.tp };
        at[i] = best.tn;
        assert_ok(mel_metric_value(value + j, metric, at, &err), &err);
    }
    mel_face_free(face);
}

/* Lemma 4.2: up to the best one it rises, from there on it falls. Remark 4.1 is not so: it is not concave. */
static void test_unimodal_along_a_face(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 46);
    size_t bent_upwards = 0;
    for (size_t k = 3; k <= 5; k++) {
        mel_space *space = diagonal_space(k);
        for (size_t t = 0; t < 20; t++) {
            double a[5], b[5], b0, value[ALONG];
            random_fractional(&rng, k, mel_space_class_share(space), a, b, &b0);
            mel_metric *metric = test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL,
                                                        mel_space_layout(space), a, b, b0);
            values_along(value, space, 1 + t % (k - 1), metric);
            size_t top = 0;
            for (size_t j = 1; j < ALONG; j++)
                top = value[j] > value[top] ? j : top;
            for (size_t j = 1; j < ALONG; j++)
                assert_true(j <= top ? value[j] >= value[j - 1] - 1e-9 : value[j] <= value[j - 1] + 1e-9);
            for (size_t j = 2; j < ALONG; j++)
                bent_upwards += value[j - 1] != value[j - 2] && value[j] != value[j - 1] &&
                                value[j] - 2.0 * value[j - 1] + value[j - 2] > 1e-6;
            mel_metric_free(metric);
        }
        mel_space_free(space);
    }
    assert_true(bent_upwards > 0);
}

/* From exact level lines, of values that differ from face to face, the faces join to the metric exactly. */
static void test_closed_form_is_exact(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 44);
    for (size_t k = 2; k <= 6; k++) {
        mel_space *space = diagonal_space(k);
        const double *corner = mel_space_class_share(space);
        double *points = test_space_points(space, POINTS, k);
        for (size_t t = 0; t < 40; t++) {
            double a[6], b[6], b0, found_a[6], found_b[6], found_b0;
            mel_line upper[6], lower[6];
            random_fractional(&rng, k, corner, a, b, &b0);
            const size_t reference = mel_rng_below(&rng, k);
            for (size_t i = 0; i < k; i++) {
                upper[i] = level_line(a, b, b0, reference, i, 0.6 + 0.4 * mel_rng_uniform(&rng), 1.0);
                lower[i] = level_line(a, b, b0, reference, i, 0.5 * mel_rng_uniform(&rng), -1.0);
            }
            mel_error err;
            assert_ok(
                mel_fractional_faces(k, found_a, found_b, &found_b0, reference, upper, lower, corner, &err),
                &err);
            assert_true(test_max_error(k, a, found_a) <= 1e-9);
            const mel_layout *layout = mel_space_layout(space);
            mel_metric *truth =
                test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, layout, a, b, b0);
            mel_metric *found = test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, layout, found_a,
                                                       found_b, found_b0);
            assert_close(test_order_agreement(POINTS, k, points, found, truth), 1.0, 0.0);
            double perfect = 0.0;
            assert_ok(mel_metric_value(&perfect, found, corner, &err), &err);
            assert_close(perfect, 1.0, 1e-12);
            mel_metric_free(found);
            mel_metric_free(truth);
        }
        free(points);
        mel_space_free(space);
    }
}

static void test_degenerate_lines_are_refused(void **state)
{
    (void)state;
    const mel_line same[2] = { { 0.6, 0.4, 0.5 }, { 0.6, 0.4, 0.5 } };
    const mel_line opposite[2] = { { -0.6, -0.4, -0.5 }, { -0.6, -0.4, -0.5 } };
    const mel_line through_origin[2] = { { 0.6, 0.4, 0.0 }, { 0.6, 0.4, 0.0 } };
    const double corner[2] = { 0.5, 0.5 };
    double a[2], b[2], b0;
    mel_error err;
    assert_int_equal(mel_fractional_faces(2, a, b, &b0, 0, same, opposite, corner, &err), MEL_ENUMERIC);
    assert_non_null(strstr(err.text, "classes 1 and 2"));
    assert_int_equal(mel_fractional_faces(2, a, b, &b0, 1, through_origin, opposite, corner, &err),
                     MEL_ENUMERIC);
}

/* Order agreement on random achievable pairs, by the closed form. */
static void test_table_of_fractional_metrics(void **state)
{
    (void)state;
    for (size_t k = 3; k <= 4; k++) {
        mel_space *space = diagonal_space(k);
        const mel_domain domain = { .space = space };
        double *points = test_space_points(space, POINTS, 7);
        mel_session_options opt = test_search_options(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL);
        opt.tournament = true;
        mel_engine *closed = test_search_engine(&domain, &opt);
        for (size_t i = 0; i < TEST_DLFPM_ROWS; i++) {
            const test_fraction_row *row = &test_dlfpm_table[i];
            if (row->n_classes != k)
                continue;
            mel_metric *truth = test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL,
                                                       mel_space_layout(space), row->a, row->b, row->b0);
            const test_likeness c = test_compare_search(closed, truth, POINTS, points);
            print_message("  row %zu: %.3f (alpha %.2f, sigma %.3f); thesis (%.2f, %.2f)\n", i + 1,
                          c.agreement, c.alpha, c.sigma, row->alpha, row->sigma);
            assert_int_equal(c.questions, 57 * (k - 1));
            assert_true(c.agreement >= 0.99);
            mel_metric_free(truth);
        }
        closed->ops->free(closed);
        free(points);
        mel_space_free(space);
    }
}

static void test_random_fractional_metrics(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 45);
    for (size_t k = 3; k <= 5; k++) {
        mel_space *space = diagonal_space(k);
        const mel_domain domain = { .space = space };
        double *points = test_space_points(space, POINTS, 8);
        mel_session_options opt = test_search_options(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL);
        opt.tournament = true;
        mel_engine *engine = test_search_engine(&domain, &opt);
        double agreement[100];
        for (size_t t = 0; t < COUNT(agreement); t++) {
            double a[5], b[5], b0;
            random_fractional(&rng, k, mel_space_class_share(space), a, b, &b0);
            mel_metric *truth = test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL,
                                                       mel_space_layout(space), a, b, b0);
            agreement[t] = test_compare_search(engine, truth, POINTS, points).agreement;
            mel_metric_free(truth);
        }
        mel_sort(COUNT(agreement), agreement);
        print_message("  k = %zu: agreement at least %.3f, p5 %.3f, p50 %.3f\n", k, agreement[0],
                      agreement[5], agreement[50]);
        /* A metric in a few hundred bends so much that the tolerance shows. */
        assert_true(agreement[1] >= 0.99);
        engine->ops->free(engine);
        free(points);
        mel_space_free(space);
    }
}

static void test_decreasing_fractional(void **state)
{
    (void)state;
    mel_space *space = diagonal_space(3);
    const mel_domain domain = { .space = space };
    double *points = test_space_points(space, POINTS, 9);
    const double a[3] = { -0.5, -0.3, -0.2 }, b[3] = { 0.2, -0.3, 0.1 };
    mel_metric *truth =
        test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, mel_space_layout(space), a, b, 0.4);
    mel_session_options opt = test_search_options(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL);
    opt.direction = MEL_DIRECTION_UNKNOWN;
    opt.tournament = true;
    mel_engine *engine = test_search_engine(&domain, &opt);
    assert_true(test_compare_search(engine, truth, POINTS, points).agreement >= 0.99);
    engine->ops->free(engine);
    mel_metric_free(truth);
    free(points);
    mel_space_free(space);
}

/* Section 4.5.3: a monotone metric is returned as its linear approximation, without intervals. The truth here
 * is linear-fractional; around its optimum the approximation must order pairs nearly as it does. */
static void test_monotone(void **state)
{
    (void)state;
    mel_space *space = diagonal_space(3);
    const mel_domain domain = { .space = space };
    const double a[3] = { 0.35, 0.4, 0.25 }, b[3] = { 0.1, -0.1, 0.05 };
    mel_metric *truth =
        test_fractional_metric(MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, mel_space_layout(space), a, b, 0.4);
    const mel_session_options opt = test_search_options(MEL_FAMILY_MONOTONE);
    mel_summary summary;
    mel_metric *found = test_find(&summary, &domain, &opt, truth, exact, 1);
    assert_int_equal(summary.questions, 56);
    assert_int_equal(mel_metric_family(found), MEL_FAMILY_MONOTONE);
    double low = 0.0, high = 0.0;
    assert_false(mel_metric_interval(found, 0, &low, &high));
    /* The best point of the approximation is about as good as the best there is. */
    double best[3], value = 0.0, top = 0.0, *points = test_space_points(space, POINTS, 10);
    mel_error err;
    assert_ok(mel_space_linear(best, space, mel_metric_numerator(found, NULL), &err), &err);
    assert_ok(mel_metric_value(&value, truth, best, &err), &err);
    for (size_t i = 0; i < POINTS; i++) {
        double other = 0.0;
        assert_ok(mel_metric_value(&other, truth, points + 3 * i, &err), &err);
        top = fmax(top, other);
    }
    assert_true(value >= top);
    free(points);
    mel_metric_free(found);
    mel_metric_free(truth);
    mel_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unimodal_along_a_face),
        cmocka_unit_test(test_closed_form_is_exact),
        cmocka_unit_test(test_degenerate_lines_are_refused),
        cmocka_unit_test(test_table_of_fractional_metrics),
        cmocka_unit_test(test_random_fractional_metrics),
        cmocka_unit_test(test_decreasing_fractional),
        cmocka_unit_test(test_monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
