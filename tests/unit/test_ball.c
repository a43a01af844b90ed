/* Balls, refusals of feasibility, and the closest-point method on sets whose answers are known. */
#include "support/classes.h"

#include "space/feasible.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

/* --- abstract balls ----------------------------------------------------------------------------- */

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_layout layout;
        double limit;
    } rows[] = {
        { "binary rates", { MEL_RATES, MEL_BINARY, 2, 0 }, 0.5 },
        { "diagonal rates", { MEL_RATES, MEL_DIAGONAL, 4, 0 }, 0.25 },
        { "two classes off the diagonal", { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 }, 0.5 },
        { "three classes", { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 }, 0.235702260395516 },
        { "ten classes, groups", { MEL_RATES, MEL_OFFDIAGONAL, 10, 3 }, 0.0333333333333333 },
        { "diagonal confusion, equal shares", { MEL_CONFUSION, MEL_DIAGONAL, 4, 0 }, 0.0625 },
        { "off-diagonal confusion", { MEL_CONFUSION, MEL_OFFDIAGONAL, 3, 0 }, 0.078567420131839 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_ball *ball = NULL;
        mel_error err;
        print_message("  %s\n", rows[i].name);
        assert_ok(mel_ball_new(&ball, &rows[i].layout, rows[i].limit, NULL, NULL, &err), &err);
        assert_true(mel_ball_radius(ball) == rows[i].limit);
        assert_true(mel_layout_equal(mel_ball_layout(ball), &rows[i].layout));
        assert_int_equal(mel_ball_size(ball), mel_layout_size(&rows[i].layout));
        mel_ball_free(ball);
        assert_int_equal(mel_ball_new(&ball, &rows[i].layout, rows[i].limit * 1.000001, NULL, NULL, &err),
                         MEL_EINVAL);
        assert_null(ball);
        assert_non_null(strstr(err.text, "is the largest for"));
        assert_ok(mel_ball_new(&ball, &rows[i].layout, 2.5e-12, NULL, NULL, &err), &err);
        mel_ball_free(ball);
    }
}

static void test_shares(void **state)
{
    (void)state;
    static const double share[3] = { 0.5, 0.3, 0.2 }, bad_sum[3] = { 0.5, 0.3, 0.3 }, zero[3] = { 1, 0, 0 };
    static const double prevalence[6] = { 0.25, 0.5, 0.9, 0.75, 0.5, 0.1 };
    static const double bad_prevalence[6] = { 0.25, 0.5, 0.9, 0.75, 0.6, 0.1 };
    static const double no_rows[6] = { 0.25, 0.5, 1, 0.75, 0.5, 0 };
    const mel_layout groups = { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 };
    const mel_layout confusion = { MEL_CONFUSION, MEL_OFFDIAGONAL, 3, 0 };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &groups, 0.1, share, prevalence, &err), &err);
    for (size_t c = 0; c < 6; c++) {
        assert_true(mel_ball_prevalence(ball)[c] == prevalence[c]);
        assert_close(mel_ball_centre(ball)[c], 1.0 / 3.0, 1e-15);
    }
    assert_true(mel_ball_class_share(ball)[1] == 0.3);
    mel_ball_free(ball);
    assert_ok(mel_ball_new(&ball, &groups, 0.1, NULL, NULL, &err), &err);
    assert_null(mel_ball_class_share(ball));
    assert_close(mel_ball_prevalence(ball)[5], 0.5, 0);
    mel_ball_free(ball);
    assert_ok(mel_ball_new(&ball, &confusion, 0.04, share, NULL, &err), &err);
    assert_close(mel_ball_centre(ball)[0], 0.5 / 3, 1e-15);
    assert_close(mel_ball_centre(ball)[5], 0.2 / 3, 1e-15);
    assert_null(mel_ball_prevalence(ball));
    mel_ball_free(ball);
    assert_int_equal(mel_ball_new(&ball, &confusion, 0.05, share, NULL, &err), MEL_EINVAL); /* 0.2 of it */
    assert_int_equal(mel_ball_new(&ball, &groups, 0.1, bad_sum, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_ball_new(&ball, &groups, 0.1, zero, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_ball_new(&ball, &groups, 0.1, share, bad_prevalence, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "class 2"));
    assert_int_equal(mel_ball_new(&ball, &groups, 0.1, share, no_rows, &err), MEL_EINVAL);
    assert_string_equal(err.text, "the share of group 2 in class 3 is 0, expected more than 0 and at most 1");
}

static void test_refused_balls(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_layout layout;
        double radius;
    } rows[] = {
        { "zero", { MEL_RATES, MEL_DIAGONAL, 3, 0 }, 0.0 },
        { "negative", { MEL_RATES, MEL_DIAGONAL, 3, 0 }, -0.1 },
        { "not a number", { MEL_RATES, MEL_DIAGONAL, 3, 0 }, NAN },
        { "infinite", { MEL_RATES, MEL_DIAGONAL, 3, 0 }, INFINITY },
        { "one class", { MEL_RATES, MEL_DIAGONAL, 1, 0 }, 0.1 },
        { "confusion entries of groups", { MEL_CONFUSION, MEL_DIAGONAL, 3, 2 }, 0.01 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_ball *ball = NULL;
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_ball_new(&ball, &rows[i].layout, rows[i].radius, NULL, NULL, NULL), MEL_EINVAL);
        assert_null(ball);
    }
    mel_ball_free(NULL);
}

/* --- the closest point of known sets ------------------------------------------------------------ */

/* A box or an octahedron with these half-widths, moved by `middle`; the tag is the number of the step. */
typedef struct {
    size_t dim;
    bool octahedron;
    double half[MOST], middle[MOST];
    double steps;
} body;

static void body_step(void *self, double *atom, double *tag, const double *direction)
{
    body *b = self;
    size_t best = 0;
    memcpy(atom, b->middle, b->dim * sizeof *atom);
    for (size_t i = 0; i < b->dim; i++) {
        if (fabs(direction[i]) * b->half[i] > fabs(direction[best]) * b->half[best])
            best = i;
        if (!b->octahedron)
            atom[i] += direction[i] < 0.0 ? -b->half[i] : b->half[i];
    }
    if (b->octahedron)
        atom[best] += direction[best] < 0.0 ? -b->half[best] : b->half[best];
    *tag = ++b->steps;
}

static void random_body(body *b, mel_rng *rng, size_t dim, bool octahedron)
{
    *b = (body){ .dim = dim, .octahedron = octahedron };
    for (size_t i = 0; i < dim; i++) {
        b->half[i] = 0.1 + mel_rng_uniform(rng);
        b->middle[i] = 0.05 * mel_rng_normal(rng);
    }
}

static double distance(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* The closest point of a box is known coordinate by coordinate; whatever the set, the plane through the
 * closest point keeps all of it on one side, and the shares blend to the point. */
static void check_closest(mel_rng *rng, size_t dim, bool octahedron)
{
    body b;
    random_body(&b, rng, dim, octahedron);
    mel_set set = { .dim = dim, .n_tag = 1, .self = &b, .step = body_step };
    mel_corral *corral = NULL;
    double target[MOST], direction[MOST], spare[MOST + 1], atom[MOST], tag;
    assert_ok(mel_corral_new(&corral, dim, 1, NULL), NULL);
    for (int trial = 0; trial < 20; trial++) { /* the corral of the target before is the start */
        for (size_t i = 0; i < dim; i++)
            target[i] = (trial % 4 == 0 ? 0.1 : 1.0) * mel_rng_normal(rng);
        const mel_approach how = { 1e-9, 1e-12, 100000 };
        mel_approached found = { .direction = direction };
        mel_set_approach(&found, &set, corral, target, &how, spare);
        assert_true(corral->n <= dim + 1);
        assert_close(found.distance, distance(dim, corral->closest, target), 1e-15);
        double mix[MOST] = { 0 }, sum = 0;
        for (size_t a = 0; a < corral->n; a++) {
            assert_true(corral->share[a] >= 0);
            sum += corral->share[a];
            for (size_t i = 0; i < dim; i++)
                mix[i] += corral->share[a] * corral->atom[a * dim + i];
        }
        assert_close(sum, 1, 1e-14);
        assert_close(distance(dim, mix, corral->closest), 0, 1e-14);
        if (!octahedron) {
            double want[MOST];
            for (size_t i = 0; i < dim; i++)
                want[i] = b.middle[i] + fmin(fmax(target[i] - b.middle[i], -b.half[i]), b.half[i]);
            assert_close(distance(dim, want, corral->closest), 0, 2e-9);
        }
        assert_int_equal(found.close, found.distance <= 1e-9);
        if (!found.close) {
            double level = 0, support = 0;
            body_step(&b, atom, &tag, direction);
            for (size_t i = 0; i < dim; i++) {
                level += direction[i] * target[i];
                support += direction[i] * atom[i];
            }
            assert_close(found.support, support, 1e-14);
            assert_close(level - support, found.distance, 1e-9);
        }
    }
    mel_corral_free(corral);
}

static void test_closest_points(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 12);
    for (size_t dim = 1; dim <= MOST; dim += dim < 4 ? 1 : 4)
        for (int octahedron = 0; octahedron < 2; octahedron++)
            check_closest(&rng, dim, octahedron == 1);
}

static void test_stretches(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 13);
    for (int trial = 0; trial < 40; trial++) {
        const size_t dim = 2 + (size_t)trial % (MOST - 1);
        body b;
        random_body(&b, &rng, dim, trial % 2 == 1);
        memset(b.middle, 0, sizeof b.middle);
        double ray[MOST], normal[MOST], spare[3 * MOST + 1], want = trial % 2 == 1 ? 0 : INFINITY, inside = 0;
        mel_rng_sphere(&rng, dim, ray);
        for (size_t i = 0; i < dim; i++) {
            inside += 1 / (b.half[i] * b.half[i]);
            if (trial % 2 == 1)
                want += fabs(ray[i]) / b.half[i];
            else
                want = fmin(want, b.half[i] / fabs(ray[i]));
        }
        want = trial % 2 == 1 ? 1 / want : want;
        inside = 1 / sqrt(inside); /* in the octahedron, so in the box */
        mel_set set = { .dim = dim, .n_tag = 1, .self = &b, .step = body_step };
        mel_corral *corral = NULL;
        mel_stretch found = { .normal = normal };
        assert_ok(mel_corral_new(&corral, dim, 1, NULL), NULL);
        const mel_ray how = { ray, inside, 1e-10, 0, INFINITY, 100000 };
        mel_set_stretch(&found, &set, corral, &how, spare);
        assert_close(found.longest, want, 1e-8);
        assert_true(found.sure <= want * (1 + 1e-12) && found.sure > want * (1 - 1e-6));
        double slope = 0;
        for (size_t i = 0; i < dim; i++)
            slope += normal[i] * ray[i];
        assert_close(found.width / slope, found.longest, 1e-12);
        const mel_ray less = { ray, inside, 1e-10, 0, want / 10, 100000 };
        mel_corral_clear(corral);
        mel_set_stretch(&found, &set, corral, &less, spare);
        assert_true(found.sure >= want / 10 && found.sure <= want * (1 + 1e-12));
        mel_corral_free(corral);
    }
}

/* --- refusals on spaces ------------------------------------------------------------------------- */

static mel_space *perfect(test_classes *classes, size_t m, mel_statistics_kind kind,
                          mel_coordinates coordinates, bool constant)
{
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    test_classes_make(classes, &rng, 120, 3, m, 1, 0);
    for (size_t r = 0; r < 120; r++)
        for (size_t i = 0; i < 3; i++)
            classes->probability[r * 3 + i] = constant ? 0.25 + 0.25 * (i == 1) : i == classes->label[r];
    const mel_space_options opt = test_space_options(kind, coordinates, MEL_BY_LABELS, 1);
    return test_classes_space(classes, &opt);
}

/* Classes that are told apart without error: the ball is as large as rates allow, and the thesis' bound is
 * half of it (axes end at 1/3, so (1/3)/sqrt(6)). */
static void test_perfect_classes(void **state)
{
    (void)state;
    test_classes classes;
    mel_space *space = perfect(&classes, 0, MEL_RATES, MEL_OFFDIAGONAL, false);
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    mel_radius how;
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_of_space(&ball, &how, space, &opt, &err), &err);
    assert_close(mel_ball_radius(ball), 1 / (3 * sqrt(2)), 1e-7);
    assert_close(how.certified, 1 / (3 * sqrt(2)), 1e-12);
    assert_true(how.rays >= how.radius && mel_ball_size(ball) == 6);
    assert_close(mel_ball_centre(ball)[3], 1.0 / 3, 1e-15);
    mel_ball_free(ball);
    mel_radius_clear(&how);
    opt.method = MEL_RADIUS_THESIS;
    assert_ok(mel_ball_of_space(&ball, &how, space, &opt, &err), &err);
    assert_close(mel_ball_radius(ball), 1 / (3 * sqrt(6)), 2e-4);
    mel_ball_free(ball);
    mel_radius_clear(&how);
    mel_space_free(space);
    test_classes_clear(&classes);
}

static int stop_at_once(void *user, const char *what, double share)
{
    ++*(int *)user;
    assert_non_null(what);
    assert_true(share >= 0 && share <= 1);
    return 1;
}

static void test_refused_spaces(void **state)
{
    (void)state;
    test_classes flat, fine, grouped;
    mel_space *constant = perfect(&flat, 0, MEL_RATES, MEL_OFFDIAGONAL, true);
    mel_space *space = perfect(&fine, 0, MEL_CONFUSION, MEL_OFFDIAGONAL, false);
    mel_space *groups = perfect(&grouped, 2, MEL_CONFUSION, MEL_OFFDIAGONAL, false);
    mel_ball *ball = NULL;
    mel_error err;
    mel_radius_options opt = { 0 };
    assert_int_equal(mel_ball_of_space(&ball, NULL, constant, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "constant"));
    assert_null(ball);
    assert_int_equal(mel_ball_of_space(&ball, NULL, groups, NULL, &err), MEL_EINVAL);
    assert_int_equal(mel_ball_of_space(&ball, NULL, space, &opt, &err), MEL_EINVAL);
    mel_radius_options_init(&opt);
    opt.method = (mel_radius_method)7;
    assert_int_equal(mel_ball_of_space(&ball, NULL, space, &opt, &err), MEL_EINVAL);
    mel_radius_options_init(&opt);
    int calls = 0;
    opt.progress = (mel_progress){ stop_at_once, &calls };
    assert_int_equal(mel_ball_of_space(&ball, NULL, space, &opt, &err), MEL_ESTOPPED);
    assert_int_equal(calls, 1);
    double point[6] = { 0.1, 0.1, 0.1, 0.1, 0.1, NAN }, a[6], b[6];
    mel_feasibility found;
    assert_int_equal(mel_space_achieve(&found, space, point, 0.01, NULL, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "point[5]"));
    assert_int_equal(mel_space_segment(a, b, space, point, 0.01, &err), MEL_EINVAL);
    memset(point, 0, sizeof point);
    assert_int_equal(mel_space_segment(a, b, space, point, 0.01, &err), MEL_EINVAL);
    static const double deltas[] = { 0, -1, NAN, INFINITY, 1e-13 };
    point[0] = 0.1;
    for (size_t i = 0; i < COUNT(deltas); i++) {
        assert_int_equal(mel_space_achieve(&found, space, point, deltas[i], NULL, &err), MEL_EINVAL);
        assert_int_equal(mel_space_segment(a, b, space, point, deltas[i], &err), MEL_EINVAL);
        assert_null(found.closest);
    }
    mel_space_free(constant);
    mel_space_free(space);
    mel_space_free(groups);
    test_classes_clear(&flat);
    test_classes_clear(&fine);
    test_classes_clear(&grouped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_shares),
        cmocka_unit_test(test_refused_balls),  cmocka_unit_test(test_closest_points),
        cmocka_unit_test(test_stretches),      cmocka_unit_test(test_perfect_classes),
        cmocka_unit_test(test_refused_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
