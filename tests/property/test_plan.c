/* Plans of cuts: they cut through the mean from where middles may be, their loss is what it is said to be, no
 * small change of them makes it less, and they keep up with a mean that moves. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/active/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, READY = 10, LONG = 60 };

typedef struct {
    mel_ball *ball;
    mel_basis *f;
    double mean[MOST];
    mel_plan *plan;
    mel_rng rng;
} fixture;

static void set_up(fixture *x, mel_family family, size_t classes, size_t groups, uint64_t seed)
{
    mel_error err;
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = classes, .n_groups = groups
    };
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = family;
    memset(x, 0, sizeof *x);
    assert_ok(mel_ball_new(&x->ball, &layout, 0.2, NULL, NULL, &err), &err);
    assert_ok(mel_basis_new(&x->f, &(mel_domain){ .ball = x->ball }, &opt, &err), &err);
    assert_in_range(x->f->dimension, 2, MOST);
    mel_rng_seed(&x->rng, seed);
    mel_rng_sphere(&x->rng, x->f->dimension, x->mean);
    assert_ok(mel_plan_new(&x->plan, x->f, &err), &err);
}

static void tear_down(fixture *x)
{
    mel_plan_free(x->plan);
    mel_basis_free(x->f);
    mel_ball_free(x->ball);
}

static bool fit(fixture *x, int calls)
{
    bool ready = false;
    for (int i = 0; i < calls; i++)
        ready = mel_plan_fit(x->plan, x->mean);
    return ready;
}

static void get_rows(const fixture *x, double *rows)
{
    double c[MOST], delta[MOST], a[MOST], b[MOST];
    for (size_t j = 0; j < mel_plan_count(x->plan); j++) {
        mel_plan_cut(x->plan, j, c, delta);
        mel_basis_place(x->f, c, 0.5, delta, a, b);
        x->f->ops->row(x->f, a, b, rows + j * x->f->dimension);
    }
}

/* The loss of rows, in other words: the posterior between |<row_j, w>| <= 1 is the image of a cube, whose
 * deviations are 1/sqrt(3) along each edge; all volumes and spreads from singular values. */
static double loss_of(const fixture *x, const double *rows)
{
    mel_error err;
    const size_t d = x->f->dimension, n = d - 1;
    double m[MOST * MOST], values[MOST], vt[MOST * MOST], volume = (double)n, sum = 0.0;
    memcpy(m, rows, n * d * sizeof(double));
    memcpy(m + n * d, x->mean, d * sizeof(double));
    assert_ok(mel_svd(d, d, m, d, values, vt, &err), &err);
    /* one singular value is that of the mean, 1, which is orthogonal to all rows */
    for (size_t i = 0; i < d; i++)
        volume -= log2(values[i]);
    for (size_t i = 0; i < d; i++) {
        double variance = -x->mean[i] * x->mean[i]; /* what the mean's own row adds */
        for (size_t k = 0; k < d; k++)
            variance += vt[k * d + i] * vt[k * d + i] / (values[k] * values[k]);
        sum += pow(variance / 3.0, 4.0);
    }
    return (double)n * log2(pow(sum / (double)d, 0.125)) - volume;
}

static const struct {
    const char *name;
    mel_family family;
    size_t classes, groups;
} families[] = {
    { "quadratic, 2 rates", MEL_FAMILY_QUADRATIC, 2, 0 },
    { "quadratic, 6 rates", MEL_FAMILY_QUADRATIC, 3, 0 },
    { "fair quadratic (2, 2)", MEL_FAMILY_FAIR_QUADRATIC, 2, 2 },
    { "fair quadratic (2, 3)", MEL_FAMILY_FAIR_QUADRATIC, 2, 3 },
};
enum { FAMILIES = sizeof families / sizeof *families, SEEDS = 4 };

static void set_up_family(fixture *x, size_t k)
{
    print_message("  %s\n", families[k / SEEDS].name);
    set_up(x, families[k / SEEDS].family, families[k / SEEDS].classes, families[k / SEEDS].groups, k + 1);
}

static void assert_possible(const fixture *x, const double *rows)
{
    const mel_basis *f = x->f;
    const size_t q = f->per_group;
    double c[MOST], delta[MOST];
    for (size_t j = 0; j < mel_plan_count(x->plan); j++) {
        const double *row = rows + j * f->dimension;
        assert_close(mel_dot(f->dimension, row, x->mean), 0.0, 1e-9 * mel_norm2(f->dimension, row));
        mel_plan_cut(x->plan, j, c, delta);
        for (size_t g = 0; g < f->groups; g++) {
            for (size_t i = 0; i < q; i++)
                c[g * q + i] -= f->centre[i];
            assert_true(mel_norm2(q, c + g * q) <= f->outer * (1.0 + 1e-9));
        }
    }
}

static void test_loss(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)FAMILIES * SEEDS; k++) {
        fixture x;
        double rows[MOST * MOST];
        set_up_family(&x, k);
        assert_int_equal(mel_plan_count(x.plan), x.f->dimension - 1);
        double before = INFINITY;
        for (int calls = 1; calls <= READY + 2; calls++) {
            assert_int_equal(fit(&x, 1), calls >= READY);
            get_rows(&x, rows);
            assert_possible(&x, rows);
            assert_close(mel_plan_loss(x.plan), loss_of(&x, rows), 1e-6);
            assert_true(mel_plan_loss(x.plan) <= before + 1e-9);
            before = mel_plan_loss(x.plan);
        }
        tear_down(&x);
    }
}

/* A cut near this one, from where cuts may be. */
static void nudge_cut(fixture *x, size_t j, double size, double *row)
{
    const mel_basis *f = x->f;
    double c[MOST], near[MOST], delta[MOST], slope[MOST], a[MOST], b[MOST];
    mel_plan_cut(x->plan, j, c, delta);
    f->ops->nudge(f, &x->rng, size, c, near);
    const double length = mel_norm2(f->size, delta);
    for (size_t i = 0; i < f->size; i++)
        delta[i] += size * length * mel_rng_normal(&x->rng);
    f->ops->slope(f, near, x->mean, slope);
    mel_axpy(f->size, -mel_dot(f->size, slope, delta) / mel_dot(f->size, slope, slope), slope, delta);
    mel_basis_place(f, near, 0.5, delta, a, b);
    f->ops->row(f, a, b, row);
}

static void test_no_small_change_is_better(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)FAMILIES * SEEDS; k++) {
        fixture x;
        double rows[MOST * MOST], changed[MOST * MOST];
        set_up_family(&x, k);
        fit(&x, READY + 10 * LONG);
        get_rows(&x, rows);
        const size_t d = x.f->dimension;
        for (int i = 0; i < 400; i++) {
            const size_t j = (size_t)i % mel_plan_count(x.plan);
            memcpy(changed, rows, sizeof rows);
            nudge_cut(&x, j, 0.01, changed + j * d);
            assert_true(loss_of(&x, changed) > mel_plan_loss(x.plan) - 0.02);
        }
        tear_down(&x);
    }
}

/* Whatever the mean, a plan is far better than random cuts. */
static void test_gain(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        fixture x;
        set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 70 + seed);
        fit(&x, 1);
        const double first = mel_plan_loss(x.plan);
        fit(&x, READY + LONG);
        print_message("  %.2f, then %.2f bits\n", first, mel_plan_loss(x.plan));
        assert_true(mel_plan_loss(x.plan) < fmin(-22.0, first));
        tear_down(&x);
    }
}

/* A mean that moves a little moves the plan a little, and it gets ready again. */
static void test_keeps_up(void **state)
{
    (void)state;
    fixture x;
    double before[MOST * MOST], after[MOST * MOST];
    set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 5);
    const size_t d = x.f->dimension;
    fit(&x, READY + LONG);
    for (int moves = 0; moves < 20; moves++) {
        get_rows(&x, before);
        for (size_t i = 0; i < d; i++)
            x.mean[i] += 0.002 * mel_rng_normal(&x.rng);
        mel_scale(d, 1.0 / mel_norm2(d, x.mean), x.mean);
        assert_true(fit(&x, 1));
        get_rows(&x, after);
        assert_possible(&x, after);
        for (size_t j = 0; j + 1 < d; j++) {
            const double *one = before + j * d, *two = after + j * d;
            const double along = mel_dot(d, one, two) / mel_norm2(d, one) / mel_norm2(d, two);
            assert_true(along > 0.9);
        }
    }
    tear_down(&x);
}

/* Nothing is known of the mean: no plan, and no harm. */
static void test_no_mean(void **state)
{
    (void)state;
    fixture x;
    set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 3);
    memset(x.mean, 0, sizeof x.mean);
    assert_false(fit(&x, READY + 1));
    mel_rng_sphere(&x.rng, x.f->dimension, x.mean);
    assert_true(fit(&x, READY));
    assert_true(isfinite(mel_plan_loss(x.plan)));
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
        bool plans;
    } rows[] = {
        { "exact, many coefficients", MEL_FAMILY_QUADRATIC, 3, MEL_NOISE_NONE, 0.99, true },
        { "exact, few coefficients", MEL_FAMILY_QUADRATIC, 2, MEL_NOISE_NONE, 0.99, false },
        { "some may be wrong", MEL_FAMILY_QUADRATIC, 3, MEL_NOISE_FLIP, 0.97, false },
        { "blurred", MEL_FAMILY_QUADRATIC, 3, MEL_NOISE_LOGISTIC, 0.8, false },
        { "a family without plans", MEL_FAMILY_LINEAR, 3, MEL_NOISE_NONE, 0.97, false },
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
        assert_int_equal(f->plans, rows[i].plans);
        mel_basis_free(f);
        mel_ball_free(ball);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),    cmocka_unit_test(test_no_small_change_is_better),
        cmocka_unit_test(test_gain),    cmocka_unit_test(test_keeps_up),
        cmocka_unit_test(test_no_mean), cmocka_unit_test(test_exact_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
