/* Plans of cuts: they cut through the mean from where middles may be, their loss is what it is said to be, no
 * small change of them makes it less, and they keep up with a mean that moves. */
#include "support/curved.h"

#include "base/la.h"
#include "elicit/active/ask/cut_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, LONG = 60 };

typedef struct {
    mel_ball *ball;
    mel_basis *f;
    double mean[MOST];
    mel_cut_plan *cuts;
    mel_rng rng;
} fixture;

static void set_up(fixture *x, mel_family family, size_t classes, size_t groups, double radius, uint64_t seed)
{
    mel_error err;
    memset(x, 0, sizeof *x);
    test_curved_basis(&x->ball, &x->f, family, classes, groups, radius);
    assert_in_range(x->f->dimension, 2, MOST);
    mel_rng_seed(&x->rng, seed);
    mel_rng_sphere(&x->rng, x->f->dimension, x->mean);
    assert_ok(mel_cut_plan_new(&x->cuts, x->f, &err), &err);
}

static void tear_down(fixture *x)
{
    mel_cut_plan_free(x->cuts);
    mel_basis_free(x->f);
    mel_ball_free(x->ball);
}

static double fit(fixture *x, int calls)
{
    double loss = INFINITY;
    for (int i = 0; i < calls; i++)
        loss = mel_cut_plan_fit(x->cuts, x->mean);
    return loss;
}

static void get_rows(const fixture *x, double *rows)
{
    double c[MOST], delta[MOST], a[MOST], b[MOST];
    for (size_t j = 0; j < mel_cut_plan_count(x->cuts); j++) {
        mel_cut_plan_get(x->cuts, j, c, delta);
        mel_basis_place(x->f, c, 0.5, delta, a, b);
        x->f->ops->row(x->f, a, b, rows + j * x->f->dimension);
    }
}

/* The loss of rows in other words: volume and spreads of what is between |<row_j, w>| <= 1 from singular
 * values, both next to those of a cube. */
static double loss_of(const fixture *x, const double *rows)
{
    mel_error err;
    const size_t d = x->f->dimension, n = d - 1;
    double m[MOST * MOST], values[MOST], vt[MOST * MOST], volume = 0.0, sum = 0.0;
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
        sum += pow(variance, 4.0);
    }
    return (double)n * log2(pow(sum / (double)d, 0.125)) - volume;
}

enum { SEEDS = 4 };

static void set_up_family(fixture *x, size_t k)
{
    print_message("  %s\n", test_curved[k / SEEDS].name);
    set_up(x, test_curved[k / SEEDS].family, test_curved[k / SEEDS].classes, test_curved[k / SEEDS].groups,
           0.2, k + 1);
}

static void assert_possible(const fixture *x, const double *rows)
{
    const mel_basis *f = x->f;
    const size_t q = f->per_group;
    double c[MOST], delta[MOST];
    for (size_t j = 0; j < mel_cut_plan_count(x->cuts); j++) {
        const double *row = rows + j * f->dimension;
        assert_close(mel_dot(f->dimension, row, x->mean), 0.0, 1e-9 * mel_norm2(f->dimension, row));
        mel_cut_plan_get(x->cuts, j, c, delta);
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
    for (size_t k = 0; k < (size_t)TEST_CURVED * SEEDS; k++) {
        fixture x;
        double rows[MOST * MOST], before = INFINITY;
        set_up_family(&x, k);
        assert_int_equal(mel_cut_plan_count(x.cuts), x.f->dimension - 1);
        for (int calls = 0; calls < 12; calls++) {
            const double loss = mel_cut_plan_fit(x.cuts, x.mean);
            get_rows(&x, rows);
            assert_possible(&x, rows);
            assert_close(loss, loss_of(&x, rows), 1e-6);
            assert_true(loss <= before + 1e-9);
            before = loss;
        }
        tear_down(&x);
    }
}

/* A posterior between its cuts loses what they do. */
static void test_loss_of_posterior(void **state)
{
    (void)state;
    static const double sizes[] = { 1e-3, 1e-6, 1e-9 }; /* small next to the mean, as posteriors are */
    for (size_t k = 0; k < (size_t)TEST_CURVED * SEEDS; k++) {
        fixture x;
        mel_error err;
        double rows[MOST * MOST], covariance[MOST * MOST] = { 0 }, edge[MOST];
        set_up_family(&x, k);
        const size_t d = x.f->dimension;
        const double loss = fit(&x, LONG);
        get_rows(&x, rows);
        memcpy(rows + (d - 1) * d, x.mean, d * sizeof(double));
        for (size_t j = 0; j + 1 < d; j++) {
            double solved[MOST * MOST];
            memcpy(solved, rows, sizeof solved);
            memset(edge, 0, sizeof edge);
            edge[j] = sizes[k % 3];
            assert_ok(mel_solve(d, solved, d, 1, edge, 1, NULL, &err), &err);
            for (size_t i = 0; i < d; i++)
                mel_axpy(d, edge[i] / 3.0, edge, covariance + i * d);
        }
        assert_close(mel_cut_plan_loss_of(x.cuts, covariance, x.mean), loss, 1e-3);
        tear_down(&x);
    }
}

/* A cut near this one, from where cuts may be. */
static void nudge_cut(fixture *x, size_t j, double size, double *row)
{
    const mel_basis *f = x->f;
    double c[MOST], near[MOST], delta[MOST], slope[MOST], a[MOST], b[MOST];
    mel_cut_plan_get(x->cuts, j, c, delta);
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
    for (size_t k = 0; k < (size_t)TEST_CURVED * SEEDS; k++) {
        fixture x;
        double rows[MOST * MOST], changed[MOST * MOST];
        set_up_family(&x, k);
        const double loss = fit(&x, 3 * LONG);
        get_rows(&x, rows);
        const size_t d = x.f->dimension;
        for (int i = 0; i < 400; i++) {
            const size_t j = (size_t)i % mel_cut_plan_count(x.cuts);
            memcpy(changed, rows, sizeof rows);
            nudge_cut(&x, j, 0.01, changed + j * d);
            assert_true(loss_of(&x, changed) > loss - 0.02);
        }
        assert_true(fit(&x, LONG) > loss - 0.25);
        tear_down(&x);
    }
}

/* Whatever the mean, fitted cuts lose far less than random ones; a small ball takes longer. */
static void test_gain(void **state)
{
    (void)state;
    static const struct {
        double radius, most;
        int calls;
    } rows[] = { { 0.2, 24.0, 20 }, { 0.05, 44.0, 100 } };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t seed = 70; seed < 76; seed++) {
            fixture x;
            double random[MOST * MOST];
            set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, rows[r].radius, seed);
            const size_t d = x.f->dimension;
            fit(&x, 1);
            assert_false(mel_cut_plan_settled(x.cuts));
            for (size_t j = 0; j + 1 < d; j++)
                nudge_cut(&x, j, 3.0, random + j * d);
            const double loss = fit(&x, rows[r].calls), drawn = loss_of(&x, random);
            print_message("  random %.1f, fitted %.1f bits\n", drawn, loss);
            assert_true(loss < fmin(rows[r].most, drawn - 10.0));
            assert_true(mel_cut_plan_settled(x.cuts));
            tear_down(&x);
        }
}

/* A mean that moves a little moves the cuts a little, and they stay nearly as good as ones fitted anew. */
static void test_keeps_up(void **state)
{
    (void)state;
    fixture x;
    double before[MOST * MOST], after[MOST * MOST], loss = INFINITY;
    set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 0.2, 5);
    const size_t d = x.f->dimension;
    fit(&x, LONG);
    for (int moves = 0; moves < 40; moves++) {
        get_rows(&x, before);
        for (size_t i = 0; i < d; i++)
            x.mean[i] += 0.005 * mel_rng_normal(&x.rng);
        mel_scale(d, 1.0 / mel_norm2(d, x.mean), x.mean);
        loss = mel_cut_plan_fit(x.cuts, x.mean);
        get_rows(&x, after);
        assert_possible(&x, after);
        for (size_t j = 0; j + 1 < d; j++) {
            const double *one = before + j * d, *two = after + j * d;
            assert_true(mel_dot(d, one, two) > 0.8 * mel_norm2(d, one) * mel_norm2(d, two));
        }
    }
    const double kept = loss, better = fit(&x, LONG);
    print_message("  %.2f bits, %.2f after more steps\n", kept, better);
    assert_true(kept < better + 1.0);
    tear_down(&x);
}

/* Means that tell nothing, or turn round: no fit, or a new one, and no harm. */
static void test_strange_means(void **state)
{
    (void)state;
    fixture x;
    set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 0.2, 3);
    const size_t d = x.f->dimension;
    memset(x.mean, 0, sizeof x.mean);
    assert_true(fit(&x, 3) == INFINITY);
    x.mean[0] = NAN;
    assert_true(fit(&x, 3) == INFINITY);
    x.mean[0] = 1.0; /* no curvature: cuts through it do not see that of its own square */
    assert_true(fit(&x, 3) == INFINITY);
    assert_false(mel_cut_plan_settled(x.cuts));
    for (int turns = 0; turns < 3; turns++) {
        mel_rng_sphere(&x.rng, d, x.mean);
        assert_true(isfinite(fit(&x, 1)));
        assert_true(fit(&x, LONG) < 27.0);
    }
    tear_down(&x);
}

/* --- sessions --------------------------------------------------------------------------------------- */

enum { QUESTIONS = 110, FROM = 80 };

typedef struct {
    mel_session *session;
    mel_metric *metric;
    double row[QUESTIONS + 1][MOST];
} conversation;

static void open_conversation(conversation *c, const fixture *x)
{
    mel_error err;
    double coefficient[6 + 36];
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_QUADRATIC;
    opt.tolerance = 0.001;
    opt.max_questions = 1000;
    memset(c, 0, sizeof *c);
    x->f->ops->coefficients(x->f, x->mean, coefficient);
    assert_ok(x->f->ops->metric(&c->metric, x->f, &opt, coefficient, &err), &err);
    assert_ok(mel_session_new(&c->session, &(mel_domain){ .ball = x->ball }, &opt, &err), &err);
}

static void close_conversation(conversation *c)
{
    mel_session_free(c->session);
    mel_metric_free(c->metric);
}

static void answer(conversation *c, const fixture *x, uint32_t number)
{
    mel_error err;
    const mel_question *question = NULL;
    bool done = false;
    double better = 0.0;
    assert_ok(mel_session_ask(&question, &done, c->session, &err), &err);
    assert_false(done);
    x->f->ops->row(x->f, question->a, question->b, c->row[number]);
    assert_ok(mel_metric_compare(&better, c->metric, question->a, question->b, &err), &err);
    assert_ok(mel_session_tell(c->session, number, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, NAN, &err),
              &err);
}

/* Whether question n cuts along one of the n_earlier before it. */
static bool repeats(const conversation *c, size_t d, uint32_t n, uint32_t n_earlier)
{
    double closest = 0.0;
    for (uint32_t k = n - n_earlier; k < n; k++)
        closest = fmax(closest, fabs(mel_dot(d, c->row[n], c->row[k])) / mel_norm2(d, c->row[n]) /
                                    mel_norm2(d, c->row[k]));
    return closest > 0.99;
}

/* A session asks along its planned cuts again and again, and undoing answers does not change what it asks. */
static void test_session(void **state)
{
    (void)state;
    fixture x;
    conversation one;
    set_up(&x, MEL_FAMILY_QUADRATIC, 3, 0, 0.2, 11);
    open_conversation(&one, &x);
    size_t repeated = 0;
    for (uint32_t n = 1; n <= QUESTIONS; n++) {
        answer(&one, &x, n);
        repeated += n > FROM && repeats(&one, x.f->dimension, n, 60);
    }
    print_message("  %zu of %d cuts are repeated\n", repeated, QUESTIONS - FROM);
    assert_true(repeated >= (QUESTIONS - FROM) / 3); /* without a plan: none */
    const size_t back = test_repeats(4, 1, 1);       /* each reads all answers before it again */
    double before[QUESTIONS + 1][MOST];
    mel_error err;
    memcpy(before, one.row, sizeof before);
    for (size_t i = 0; i < back; i++)
        assert_ok(mel_session_undo(one.session, &err), &err);
    for (uint32_t n = QUESTIONS - (uint32_t)back + 1; n <= QUESTIONS; n++)
        answer(&one, &x, n);
    assert_memory_equal(one.row, before, sizeof before);
    close_conversation(&one);
    tear_down(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_loss_of_posterior),
        cmocka_unit_test(test_no_small_change_is_better),
        cmocka_unit_test(test_gain),
        cmocka_unit_test(test_keeps_up),
        cmocka_unit_test(test_strange_means),
        cmocka_unit_test(test_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
