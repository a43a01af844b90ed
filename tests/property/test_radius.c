/* Radii on random samples and populations: every ray stays in the set as far as the ball, nothing larger
 * fits, the bounds are in order, and threads make no difference. */
#include "base/layout.h"
#include "space/shared.h"
#include "support/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static const test_setting settings[] = {
    { 3, 0, 300, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 },
    { 3, 0, 300, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 2 },
    { 4, 0, 300, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 4 },
    { 4, 0, 300, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1 },
    { 5, 0, 300, MEL_RATES, MEL_DIAGONAL, MEL_BY_MODEL, 1 },
    { 5, 0, 300, MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_LABELS, 2 },
    { 3, 2, 400, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 },
    { 3, 3, 400, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 2 },
    { 2, 2, 200, MEL_RATES, MEL_BINARY, MEL_BY_MODEL, 1 },
    { 2, 0, 200, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1 },
};

static mel_ball *make_ball(mel_radius *how, const mel_space *space, mel_radius_method method)
{
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.method = method;
    opt.rays = 30;
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_of_space(&ball, how, space, &opt, &err), &err);
    assert_true(mel_ball_radius(ball) == how->radius);
    assert_true(mel_layout_equal(mel_ball_layout(ball), mel_space_layout(space)));
    return ball;
}

static size_t group_size(const mel_space *space)
{
    const size_t groups = mel_space_layout(space)->n_groups;
    return mel_space_size(space) / (groups > 1 ? groups : 1);
}

/* Points of the ball are achievable, in all groups at once. */
static void check_points(const mel_space *space, const mel_ball *ball, const mel_radius *how, uint64_t seed)
{
    const size_t q = group_size(space), size = mel_space_size(space);
    double point[MOST], direction[MOST];
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (int i = 0; i < 12; i++) {
        for (size_t g = 0; g < size / q; g++) {
            mel_rng_sphere(&rng, q, direction);
            const double toward = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : -3;
            double square = 0;
            for (size_t c = 0; c < q; c++) {
                direction[c] += toward * how->direction[c];
                square += direction[c] * direction[c];
            }
            for (size_t c = 0; c < q; c++)
                point[g * q + c] = mel_ball_centre(ball)[c] + how->radius * direction[c] / sqrt(square);
        }
        mel_feasibility found;
        mel_error err;
        assert_ok(mel_space_achieve(&found, space, point, 1e-3 * how->radius, NULL, &err), &err);
        assert_true(found.feasible);
        mel_feasibility_clear(&found);
    }
}

/* Rays of other seeds than the library's own. */
static void check_rays(const mel_space *space, const mel_radius *how, uint64_t seed)
{
    const size_t q = group_size(space), size = mel_space_size(space);
    double direction[MOST], a[MOST], b[MOST];
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (int i = 0; i < 20; i++) {
        const size_t group = mel_rng_below(&rng, size / q);
        memset(direction, 0, sizeof direction);
        mel_rng_sphere(&rng, q, direction + group * q);
        assert_ok(mel_space_segment(a, b, space, direction, 1e-6 * how->radius, NULL), NULL);
        double square[2] = { 0 }, centre[MOST];
        mel_space_centre(centre, space);
        for (size_t c = 0; c < size; c++) {
            square[0] += (a[c] - centre[c]) * (a[c] - centre[c]);
            square[1] += (b[c] - centre[c]) * (b[c] - centre[c]);
        }
        /* A ray that ends within delta of the set may end that much too early. */
        assert_true(sqrt(fmin(square[0], square[1])) >= how->radius * (1 - 1e-5));
    }
}

/* Nothing larger fits: the support of the set in the direction is what the descent says. */
static void check_thinnest(const mel_space *space, const mel_radius *how)
{
    const size_t q = group_size(space);
    double direction[MOST] = { 0 }, at[MOST], centre[MOST], support = 0, square = 0;
    memcpy(direction + how->group * q, how->direction, q * sizeof *direction);
    assert_ok(mel_space_linear(at, space, direction, NULL), NULL);
    mel_space_centre(centre, space);
    for (size_t c = 0; c < mel_space_size(space); c++) {
        support += direction[c] * (at[c] - centre[c]);
        square += direction[c] * direction[c];
    }
    assert_close(square, 1, 1e-12);
    assert_close(support, how->descent, 1e-12);
}

static void check_space(const mel_space *space, bool exact, uint64_t seed)
{
    mel_radius how, thesis;
    mel_ball *ball = make_ball(&how, space, MEL_RADIUS_INSCRIBED);
    mel_ball *other = make_ball(&thesis, space, MEL_RADIUS_THESIS);
    assert_true(how.certified > 0 && how.certified <= how.radius);
    assert_true(how.radius <= how.descent && how.radius <= how.rays);
    assert_true(thesis.radius <= how.radius);
    /* Lemmas B.2, C.1, D.1 */
    assert_true(thesis.radius * (double)mel_space_layout(space)->n_classes >= how.radius);
    assert_true(thesis.certified == how.certified);
    assert_true(how.steps > 0 && thesis.steps > 0);
    check_points(space, ball, &how, seed);
    check_rays(space, &how, seed);
    if (exact)
        check_thinnest(space, &how);
    mel_ball_free(ball);
    mel_ball_free(other);
    mel_radius_clear(&how);
    mel_radius_clear(&thesis);
}

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        test_classes classes;
        mel_rng rng;
        mel_rng_seed(&rng, 200 + i);
        mel_space *space = test_setting_open(&classes, &settings[i], &rng);
        check_space(space, settings[i].evidence == MEL_BY_MODEL, 300 + i);
        mel_space_free(space);
        test_classes_clear(&classes);
    }
}

static void test_populations(void **state)
{
    (void)state;
    static const double slope[] = { 1, 3, 6, 10 };
    for (size_t k = 2; k <= 4; k++)
        for (int coordinates = MEL_DIAGONAL; coordinates <= MEL_OFFDIAGONAL; coordinates++) {
            const mel_space_options opt =
                test_space_options(MEL_RATES, (mel_coordinates)coordinates, MEL_BY_LABELS, 1);
            mel_space *space = NULL;
            mel_error err;
            assert_ok(mel_space_from_softmax(&space, k, slope, &opt, &err), &err);
            check_space(space, true, k);
            mel_space_free(space);
        }
}

/* The ball of groups is the smallest of the balls of each. */
static void test_groups(void **state)
{
    (void)state;
    enum { N = 300, K = 3 };
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 9);
    test_classes_make(&classes, &rng, N, K, 2, 2, 0);
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 1);
    mel_space *space = test_classes_space(&classes, &opt);
    mel_radius how, alone[2];
    mel_ball_free(make_ball(&how, space, MEL_RADIUS_INSCRIBED));
    for (uint32_t g = 0; g < 2; g++) {
        static double p[N * K];
        static uint32_t y[N];
        size_t n = 0;
        for (size_t r = 0; r < N; r++)
            if (classes.group[r] == g) {
                memcpy(p + n * K, classes.probability + r * K, K * sizeof *p);
                y[n++] = classes.label[r];
            }
        const mel_rows part = { .n_rows = n, .n_classes = K, .probability = p, .label = y };
        mel_space *one = NULL;
        assert_ok(mel_space_from_sample(&one, &part, &opt, NULL), NULL);
        mel_ball_free(make_ball(&alone[g], one, MEL_RADIUS_INSCRIBED));
        mel_space_free(one);
    }
    assert_close(how.descent, fmin(alone[0].descent, alone[1].descent), 1e-3 * how.descent);
    assert_int_equal(how.group, alone[0].descent <= alone[1].descent ? 0 : 1);
    assert_close(how.certified, fmin(alone[0].certified, alone[1].certified), 1e-12);
    mel_radius_clear(&how);
    mel_radius_clear(&alone[0]);
    mel_radius_clear(&alone[1]);
    mel_space_free(space);
    test_classes_clear(&classes);
}

static void test_threads(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    test_classes_make(&classes, &rng, 2500, 3, 0, 2, 0);
    for (int evidence = 0; evidence < 2; evidence++)
        for (int method = 0; method < 2; method++) {
            mel_radius how[2];
            for (int i = 0; i < 2; i++) {
                const mel_space_options opt = test_space_options(MEL_CONFUSION, MEL_OFFDIAGONAL,
                                                                 (mel_evidence)evidence, i == 0 ? 1 : 3);
                mel_space *space = test_classes_space(&classes, &opt);
                mel_ball_free(make_ball(&how[i], space, (mel_radius_method)method));
                mel_space_free(space);
            }
            assert_true(how[0].radius == how[1].radius && how[0].rays == how[1].rays);
            assert_true(how[0].descent == how[1].descent && how[0].certified == how[1].certified);
            assert_int_equal(how[0].steps, how[1].steps);
            assert_memory_equal(how[0].direction, how[1].direction, 6 * sizeof *how[0].direction);
            mel_radius_clear(&how[0]);
            mel_radius_clear(&how[1]);
        }
    test_classes_clear(&classes);
}

/* More coordinates than are searched one by one: 132 of them. */
static void test_many_classes(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    test_classes_make(&classes, &rng, 400, 12, 0, 4, 0);
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 0);
    mel_space *space = test_classes_space(&classes, &opt);
    for (int method = 0; method < 2; method++) {
        mel_radius_options options;
        mel_radius_options_init(&options);
        options.method = (mel_radius_method)method;
        options.rays = 10;
        options.restarts = 12;
        mel_radius how;
        mel_ball *ball = NULL;
        mel_error err;
        assert_ok(mel_ball_of_space(&ball, &how, space, &options, &err), &err);
        assert_true(how.certified > 0 && how.rays >= how.radius && how.radius <= 1 / (12 * sqrt(11)) + 1e-9);
        assert_true(method == 1 || how.radius >= how.certified);
        mel_ball_free(ball);
        mel_radius_clear(&how);
    }
    mel_space_free(space);
    test_classes_clear(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples), cmocka_unit_test(test_populations),  cmocka_unit_test(test_groups),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_many_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
