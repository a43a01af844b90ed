/* Middles that climb: the delta found at a middle takes away what random ones do not exceed, cuts through the
 * mean, and the middle only gets better, up to a place from which no small step leads further up. */
#include "support/curved.h"

#include "base/la.h"
#include "elicit/active/ask/climb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, LONGEST = 600 };

/* A family, a random posterior and random weights. */
typedef struct {
    mel_ball *ball;
    mel_basis *f;
    double covariance[MOST * MOST], mean[MOST], weight[MOST];
    mel_pair_gain pairs;
    mel_climb climb;
    mel_rng rng;
} fixture;

static void set_up(fixture *x, mel_family family, size_t classes, size_t groups, uint64_t seed)
{
    mel_error err;
    memset(x, 0, sizeof *x);
    test_curved_basis(&x->ball, &x->f, family, classes, groups, 0.2);
    const size_t d = x->f->dimension;
    assert_in_range(d, 2, MOST);
    mel_rng_seed(&x->rng, seed);
    mel_rng_sphere(&x->rng, d, x->mean);
    for (size_t k = 0; k < d + 4; k++) {
        double v[MOST];
        const double size = 0.1 * mel_rng_uniform(&x->rng);
        for (size_t i = 0; i < d; i++)
            v[i] = size * mel_rng_normal(&x->rng);
        for (size_t i = 0; i < d; i++)
            mel_axpy(d, v[i], v, x->covariance + i * d);
    }
    for (size_t i = 0; i < d; i++)
        x->weight[i] = 0.1 + mel_rng_uniform(&x->rng);
    assert_ok(mel_pair_gain_new(&x->pairs, x->f, x->covariance, x->mean, &err), &err);
    assert_ok(mel_climb_new(&x->climb, &x->pairs, x->weight, &err), &err);
}

static void tear_down(fixture *x)
{
    mel_climb_free(&x->climb);
    mel_pair_gain_free(&x->pairs);
    mel_basis_free(x->f);
    mel_ball_free(x->ball);
}

/* What the pair c +- delta takes away, from its row: nothing but the definition. */
static double taken(const fixture *x, const double *c, const double *delta, double *margin)
{
    const size_t d = x->f->dimension;
    double a[MOST], b[MOST], row[MOST], sum = 0.0;
    mel_basis_place(x->f, c, 0.5, delta, a, b);
    x->f->ops->row(x->f, a, b, row);
    double below = 0.0;
    for (size_t i = 0; i < d; i++) {
        const double seen = mel_dot(d, x->covariance + i * d, row);
        sum += x->weight[i] * seen * seen;
        below += row[i] * seen;
    }
    *margin = mel_dot(d, row, x->mean) / sqrt(below);
    return sum / below;
}

/* A random delta at c through the mean. */
static void draw_through_mean(fixture *x, const double *c, double *delta)
{
    const size_t s = x->f->size;
    double slope[MOST];
    x->f->ops->slope(x->f, c, x->mean, slope);
    mel_rng_sphere(&x->rng, s, delta);
    mel_axpy(s, -mel_dot(s, slope, delta) / mel_dot(s, slope, slope), slope, delta);
}

enum { SEEDS = 4 };

static void test_best_delta(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)TEST_CURVED * SEEDS; k++) {
        print_message("  %s\n", test_curved[k / SEEDS].name);
        fixture x;
        double c[MOST], delta[MOST], margin = 0.0;
        set_up(&x, test_curved[k / SEEDS].family, test_curved[k / SEEDS].classes,
               test_curved[k / SEEDS].groups, k + 1);
        x.f->ops->middle(x.f, &x.rng, c);
        const double score = mel_climb_look(&x.climb, c);
        assert_close(taken(&x, c, x.climb.delta, &margin), score, 0.02 * score);
        assert_true(fabs(margin) < 0.05); /* standard deviations */
        for (int i = 0; i < LONGEST; i++) {
            draw_through_mean(&x, c, delta);
            assert_true(taken(&x, c, delta, &margin) <= 1.02 * score);
        }
        tear_down(&x);
    }
}

static void test_climbing(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)TEST_CURVED * SEEDS; k++) {
        print_message("  %s\n", test_curved[k / SEEDS].name);
        fixture x;
        double c[MOST], trial[MOST], margin = 0.0;
        set_up(&x, test_curved[k / SEEDS].family, test_curved[k / SEEDS].classes,
               test_curved[k / SEEDS].groups, k + 9);
        x.f->ops->middle(x.f, &x.rng, c);
        const double before = mel_climb_look(&x.climb, c);
        const double after = mel_climb_improve(&x.climb, c, before, trial, LONGEST);
        assert_true(after >= before);
        assert_true(mel_climb_look(&x.climb, c) == after);
        assert_close(taken(&x, c, x.climb.delta, &margin), after, 0.02 * after);
        for (int i = 0; i < LONGEST; i++) {
            x.f->ops->nudge(x.f, &x.rng, 0.01, c, trial);
            assert_true(mel_climb_look(&x.climb, trial) <= 1.01 * after);
        }
        tear_down(&x);
    }
}

/* Many starts reach about the same heights, above what as many random middles reach. */
static void test_climbing_pays(void **state)
{
    (void)state;
    fixture x;
    double c[MOST], trial[MOST], random = 0.0, climbed = 0.0;
    set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 77);
    for (int i = 0; i < 200; i++) {
        x.f->ops->middle(x.f, &x.rng, c);
        random = fmax(random, mel_climb_look(&x.climb, c));
    }
    for (int i = 0; i < 5; i++) {
        x.f->ops->middle(x.f, &x.rng, c);
        climbed = fmax(climbed, mel_climb_improve(&x.climb, c, mel_climb_look(&x.climb, c), trial, 20));
    }
    assert_true(climbed > random);
    tear_down(&x);
}

/* How far out middles are follows what is assumed of the answers: exact ones let A and B be close, blurred
 * ones do not. */
static void test_exact_answers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_family family;
        size_t classes;
        mel_noise_kind noise;
        double outer; /* share of the radius */
    } rows[] = {
        { "exact, many coefficients", MEL_FAMILY_QUADRATIC, 3, MEL_NOISE_NONE, 0.99 },
        { "exact, few coefficients", MEL_FAMILY_QUADRATIC, 2, MEL_NOISE_NONE, 0.99 },
        { "some may be wrong", MEL_FAMILY_QUADRATIC, 3, MEL_NOISE_FLIP, 0.97 },
        { "blurred", MEL_FAMILY_QUADRATIC, 3, MEL_NOISE_LOGISTIC, 0.8 },
        { "a family whose middles do not climb", MEL_FAMILY_LINEAR, 3, MEL_NOISE_NONE, 0.97 },
    };
    mel_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("  %s\n", rows[i].name);
        const mel_layout layout = { .kind = MEL_RATES,
                                    .coordinates = MEL_OFFDIAGONAL,
                                    .n_classes = rows[i].classes };
        mel_session_options opt;
        mel_session_options_init(&opt);
        opt.family = rows[i].family;
        opt.assume.kind = rows[i].noise;
        mel_ball *ball = NULL;
        mel_basis *f = NULL;
        assert_ok(mel_ball_new(&ball, &layout, 0.2, NULL, NULL, &err), &err);
        assert_ok(mel_basis_new(&f, &(mel_domain){ .ball = ball }, &opt, &err), &err);
        assert_close(f->outer, 0.2 * rows[i].outer, 1e-12);
        mel_basis_free(f);
        mel_ball_free(ball);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_delta),
        cmocka_unit_test(test_climbing),
        cmocka_unit_test(test_climbing_pays),
        cmocka_unit_test(test_exact_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
