/* Radii of many rows, searched on some of them: the ball is inside of the set, as large as the search of all
 * rows finds it, found with few passes, and the same for any number of threads; the hull of measured rules is
 * in the set. */
#include "support/classes.h"

#include "space/feasible.h"
#include "space/shared.h"

#include <math.h>
#include <string.h>

enum { MOST = 64, MOST_PASSES = 200 };

static const test_setting settings[] = {
    { 3, 0, 900, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 },
    { 4, 0, 1200, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 4 },
    { 5, 0, 900, MEL_RATES, MEL_DIAGONAL, MEL_BY_MODEL, 1 },
    { 3, 2, 900, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 },
    { 2, 2, 600, MEL_RATES, MEL_BINARY, MEL_BY_MODEL, 1 },
    { 3, 0, 3000, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 2 },
    { 4, 0, 3000, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1 },
    { 5, 0, 3000, MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_LABELS, 2 },
    { 2, 0, 2000, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1 },
};

static mel_ball *find(mel_radius *how, const mel_space *space, mel_radius_method method, size_t sample_rows)
{
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.method = method;
    opt.rays = 30;
    opt.sample_rows = sample_rows;
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_of_space(&ball, how, space, &opt, &err), &err);
    assert_true(mel_ball_radius(ball) == how->radius);
    assert_true(how->radius <= how->descent && how->radius <= how->rays && how->radius <= how->inner);
    return ball;
}

/* Points on the edge of the ball, at random, toward the thinnest direction and away from it, are achieved by
 * mixtures of rules on all rows: by Wolfe's method with steps over all rows, which knows nothing of hulls and
 * samples. */
static void check_inside(const mel_space *space, const mel_ball *ball, const mel_radius *how, uint64_t seed)
{
    const size_t size = mel_space_size(space), groups = mel_space_layout(space)->n_groups;
    const size_t q = groups > 1 ? size / groups : size;
    double point[MOST], direction[MOST], mixed[MOST];
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (int i = 0; i < 15; i++) {
        for (size_t g = 0; g < size / q; g++) {
            mel_rng_sphere(&rng, q, direction);
            const double toward = i % 3 == 0 ? 0 : i % 3 == 1 ? 2 : -2;
            double square = 0;
            for (size_t c = 0; c < q; c++) {
                direction[c] = i == 1 ? how->direction[c] : direction[c] + toward * how->direction[c];
                square += direction[c] * direction[c];
            }
            for (size_t c = 0; c < q; c++)
                point[g * q + c] = mel_ball_centre(ball)[c] + how->radius * direction[c] / sqrt(square);
        }
        mel_feasibility found;
        mel_error err;
        assert_ok(mel_space_achieve(&found, space, point, 1e-6 + 1e-4 * how->radius, NULL, &err), &err);
        assert_true(found.feasible);
        test_space_blend(mixed, space, &found.blend);
        for (size_t c = 0; c < size; c++)
            assert_close(mixed[c], point[c], 1e-6 + 1e-4 * how->radius);
        mel_feasibility_clear(&found);
    }
}

/* Exact steps: no larger ball than `descent` fits. */
static void check_bound(const mel_space *space, const mel_radius *how)
{
    const size_t size = mel_space_size(space), groups = mel_space_layout(space)->n_groups;
    const size_t q = groups > 1 ? size / groups : size;
    double direction[MOST] = { 0 }, at[MOST], centre[MOST], support = 0;
    memcpy(direction + how->group * q, how->direction, q * sizeof *direction);
    assert_ok(mel_space_linear(at, space, direction, NULL), NULL);
    mel_space_centre(centre, space);
    for (size_t c = 0; c < size; c++)
        support += direction[c] * (at[c] - centre[c]);
    assert_close(support, how->descent, 1e-12);
}

static void test_against_all_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        const bool exact = settings[i].evidence == MEL_BY_MODEL;
        test_classes classes;
        mel_rng rng;
        mel_rng_seed(&rng, 700 + i);
        mel_space *space = test_setting_open(&classes, &settings[i], &rng);
        mel_radius all, some;
        mel_ball_free(find(&all, space, MEL_RADIUS_INSCRIBED, 0));
        mel_ball *ball = find(&some, space, MEL_RADIUS_INSCRIBED, settings[i].n / 5);
        print_message("  radius %.6g of all rows, %.6g of some (%.4f), %llu passes instead of %llu\n",
                      all.radius, some.radius, some.radius / all.radius, (unsigned long long)some.passes,
                      (unsigned long long)all.passes);
        assert_true(isinf(all.inner) && all.passes == all.steps && all.passes > MOST_PASSES);
        assert_true(some.passes > 0 && some.passes <= MOST_PASSES && some.passes < some.steps);
        assert_true(some.certified == all.certified && some.certified <= some.radius);
        assert_true(some.radius >= (exact ? 0.99 : 0.95) * all.radius);
        if (exact) {
            check_bound(space, &some);
            assert_true(some.radius <= all.descent * (1 + 1e-9) && some.descent <= all.descent * 1.01);
        }
        check_inside(space, ball, &some, 900 + i);
        mel_ball_free(ball);
        mel_radius_clear(&all);
        mel_radius_clear(&some);
        mel_space_free(space);
        test_classes_clear(&classes);
    }
}

/* Labels that the probabilities are wrong about: too sure of themselves, and of the last class least. */
static void test_wrong_probabilities(void **state)
{
    (void)state;
    enum { N = 20004, K = 3 };
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 21);
    test_classes_make(&classes, &rng, N, K, 0, 2, 0);
    for (size_t r = 0; r < N; r++) {
        double *p = classes.probability + r * K, sum = 0;
        for (size_t i = 0; i < K; i++)
            sum += p[i] = pow(p[i], 1.5) / (double)(1 + i);
        for (size_t i = 0; i < K; i++)
            p[i] /= sum;
    }
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 0);
    mel_space *space = test_classes_space(&classes, &opt);
    mel_radius all, some;
    mel_ball_free(find(&all, space, MEL_RADIUS_INSCRIBED, 0));
    mel_ball *ball = find(&some, space, MEL_RADIUS_INSCRIBED, N / 4 - 1);
    print_message("  radius %.6g of all rows, %.6g of some (%.4f)\n", all.radius, some.radius,
                  some.radius / all.radius);
    assert_true(some.passes <= MOST_PASSES && all.passes > MOST_PASSES);
    assert_true(some.radius >= 0.98 * all.radius);
    check_inside(space, ball, &some, 22);
    mel_ball_free(ball);
    mel_radius_clear(&all);
    mel_radius_clear(&some);
    mel_space_free(space);
    test_classes_clear(&classes);
}

/* By default all of 40,000 rows are searched, and a sample of more. */
static void test_default(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 23);
    test_classes_make(&classes, &rng, 40004, 2, 0, 2, 0);
    for (size_t n = 40000; n <= 40004; n += 4) {
        const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 1);
        classes.sample.n_rows = n;
        mel_space *space = test_classes_space(&classes, &opt);
        mel_radius_options quick;
        mel_radius_options_init(&quick);
        quick.restarts = quick.rays = 1;
        mel_ball *ball = NULL;
        mel_radius how;
        assert_ok(mel_ball_of_space(&ball, &how, space, &quick, NULL), NULL);
        assert_true(isinf(how.inner) == (n == 40000));
        mel_ball_free(ball);
        mel_radius_clear(&how);
        mel_space_free(space);
    }
    test_classes_clear(&classes);
}

static void test_thesis(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    mel_space *space = test_setting_open(&classes, &settings[0], &rng);
    mel_radius all, some;
    mel_ball_free(find(&all, space, MEL_RADIUS_THESIS, 0));
    mel_ball *ball = find(&some, space, MEL_RADIUS_THESIS, 200);
    assert_true(some.passes <= MOST_PASSES);
    assert_true(some.radius >= 0.98 * all.radius && some.radius <= 1.001 * all.radius);
    check_inside(space, ball, &some, 5);
    mel_ball_free(ball);
    mel_radius_clear(&all);
    mel_radius_clear(&some);
    mel_space_free(space);
    test_classes_clear(&classes);
}

static void test_threads(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    test_classes_make(&classes, &rng, 6000, 3, 0, 2, 0);
    for (int evidence = 0; evidence < 2; evidence++) {
        mel_radius how[2];
        for (int i = 0; i < 2; i++) {
            const mel_space_options opt =
                test_space_options(MEL_CONFUSION, MEL_OFFDIAGONAL, (mel_evidence)evidence, i == 0 ? 1 : 3);
            mel_space *space = test_classes_space(&classes, &opt);
            mel_ball_free(find(&how[i], space, MEL_RADIUS_INSCRIBED, 1000));
            mel_space_free(space);
        }
        assert_true(how[0].radius == how[1].radius && how[0].rays == how[1].rays);
        assert_true(how[0].descent == how[1].descent && how[0].inner == how[1].inner);
        assert_true(how[0].steps == how[1].steps && how[0].passes == how[1].passes);
        assert_memory_equal(how[0].direction, how[1].direction, 6 * sizeof *how[0].direction);
        mel_radius_clear(&how[0]);
        mel_radius_clear(&how[1]);
    }
    test_classes_clear(&classes);
}

/* A class with three rows, all at the end: the sample has one of them at least. */
static void test_rare_class(void **state)
{
    (void)state;
    enum { N = 2000 };
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    test_classes_make(&classes, &rng, N, 3, 0, 2, 0);
    for (size_t r = 0; r < N; r++)
        classes.label[r] = r + 3 >= N ? 2 : (uint32_t)(r % 2);
    const mel_space_options opt = test_space_options(MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1);
    mel_space *space = test_classes_space(&classes, &opt);
    mel_radius how;
    mel_ball *ball = find(&how, space, MEL_RADIUS_INSCRIBED, 100);
    check_inside(space, ball, &how, 8);
    mel_ball_free(ball);
    mel_radius_clear(&how);
    mel_radius_options no_rays;
    mel_radius_options_init(&no_rays);
    no_rays.rays = 0;
    no_rays.sample_rows = 100;
    assert_ok(mel_ball_of_space(&ball, &how, space, &no_rays, NULL), NULL);
    assert_true(isinf(how.rays) && how.radius == fmin(how.descent, how.inner));
    mel_ball_free(ball);
    mel_radius_clear(&how);
    mel_space_free(space);
    test_classes_clear(&classes);
}

/* Probabilities that say nothing: a flat set is refused on a sample as it is on all rows. */
static void test_flat(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    test_classes_make(&classes, &rng, 1000, 3, 0, 2, 0);
    for (size_t r = 0; r < 1000; r++)
        for (size_t i = 0; i < 3; i++)
            classes.probability[r * 3 + i] = 0.25 + 0.25 * (i == 1);
    for (int evidence = 0; evidence < 2; evidence++) {
        const mel_space_options opt =
            test_space_options(MEL_RATES, MEL_OFFDIAGONAL, (mel_evidence)evidence, 1);
        mel_space *space = test_classes_space(&classes, &opt);
        mel_radius_options few;
        mel_radius_options_init(&few);
        few.sample_rows = 100;
        mel_ball *ball = NULL;
        mel_error err;
        assert_int_equal(mel_ball_of_space(&ball, NULL, space, &few, &err), MEL_EDATA);
        assert_null(ball);
        mel_space_free(space);
    }
    test_classes_clear(&classes);
}

typedef struct {
    int calls, stop_at;
    double share;
} listener;

static int listen(void *user, const char *what, double share)
{
    listener *l = user;
    assert_true(what != NULL && share >= l->share && share <= 1);
    l->share = share;
    return ++l->calls >= l->stop_at;
}

/* Progress only grows, to 1; the search stops wherever it is told to. */
static void test_progress(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 31);
    mel_space *space = test_setting_open(&classes, &settings[6], &rng);
    mel_radius_options few;
    mel_radius_options_init(&few);
    few.sample_rows = 200;
    listener all = { .stop_at = 1 << 30 };
    few.progress = (mel_progress){ listen, &all };
    mel_ball *ball = NULL;
    mel_radius how;
    assert_ok(mel_ball_of_space(&ball, &how, space, &few, NULL), NULL);
    assert_true(all.share == 1 && (uint64_t)all.calls > how.passes);
    mel_ball_free(ball);
    mel_radius_clear(&how);
    for (int i = 1; i < 8; i++) {
        listener some = { .stop_at = 1 + all.calls * i / 8 };
        few.progress = (mel_progress){ listen, &some };
        assert_int_equal(mel_ball_of_space(&ball, &how, space, &few, NULL), MEL_ESTOPPED);
        assert_true(ball == NULL && how.direction == NULL && some.calls == some.stop_at);
    }
    mel_space_free(space);
    test_classes_clear(&classes);
}

/* --- the hull ------------------------------------------------------------------------------------- */

/* The largest sum of gain x confusion over all exchanges of four predictions, one by one. */
static double best_exchange(const double *confusion, const double *gain)
{
    double best = -INFINITY;
    for (size_t code = 0; code < 256; code++) {
        const size_t to[4] = { code % 4, code / 4 % 4, code / 16 % 4, code / 64 };
        unsigned seen = 0;
        double sum = 0;
        for (size_t j = 0; j < 4; j++) {
            seen |= 1U << to[j];
            for (size_t i = 0; i < 4; i++)
                sum += confusion[i * 4 + j] * gain[i * 4 + to[j]];
        }
        best = seen == 15 ? fmax(best, sum) : best;
    }
    return best;
}

/* Its step is the best of all exchanges of all rules, and no further than the set's own. */
static void test_hull(void **state)
{
    (void)state;
    enum { K = 4, RULES = 6, Q = K * (K - 1) };
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 12);
    const test_setting setting = { K, 0, 500, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 };
    mel_space *space = test_setting_open(&classes, &setting, &rng);
    mel_hull *hull = NULL;
    mel_group_set set;
    mel_workspace *ws = NULL;
    assert_ok(mel_hull_new(&hull, space, 0, RULES, NULL), NULL);
    assert_ok(mel_workspace_new(&ws, space, NULL), NULL);
    assert_ok(mel_group_set_init(&set, space, 0, hull, MEL_ALL_COLUMNS, false, false, NULL), NULL);
    double rule[RULES + 1][K * K] = { { 0 } }, direction[Q], gain[K * K], in_set[Q];
    for (size_t i = 0; i < K; i++)
        rule[RULES][i * K] = mel_space_class_share(space)[i];
    for (size_t r = 0; r < RULES; r++) {
        mel_rng_sphere(&rng, Q, direction);
        mel_space_step(in_set, NULL, space, 0, direction, ws);
        memcpy(rule[r], ws->confusion, sizeof rule[r]);
        mel_hull_add(hull, ws->confusion);
    }
    for (int trial = 0; trial < 200; trial++) {
        mel_rng_sphere(&rng, Q, direction);
        const size_t column = (size_t)trial % (2 * (size_t)K); /* every other time gains of one column */
        for (size_t c = 0; column < K && c < Q; c++) {
            const size_t i = c / (K - 1), j = c % (K - 1) + (c % (K - 1) >= i);
            direction[c] = i == column ? direction[i * (K - 1)] : j == column ? direction[c] : 0;
        }
        mel_space_gains(gain, space, direction);
        mel_group_set_step(&set, direction);
        assert_ok(mel_space_linear(in_set, space, direction, NULL), NULL);
        double best = -INFINITY, hull_width = 0, set_width = 0;
        for (size_t r = 0; r <= RULES; r++)
            best = fmax(best, best_exchange(rule[r], gain));
        for (size_t c = 0; c < Q; c++) {
            hull_width += direction[c] * set.statistics[c];
            set_width += direction[c] * in_set[c];
        }
        assert_close(hull_width, best, 1e-14);
        assert_true(hull_width <= set_width + 1e-14);
    }
    mel_workspace_free(ws);
    mel_group_set_clear(&set);
    mel_hull_free(hull);
    mel_space_free(space);
    test_classes_clear(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_rows),
        cmocka_unit_test(test_wrong_probabilities),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_thesis),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rare_class),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_hull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
