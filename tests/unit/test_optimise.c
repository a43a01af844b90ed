/* Black-box optimisation: against a naive twin that builds every probing classifier, and what ends it. */
#include "base/rng.h"
#include "support/test.h"
#include "support/weighted_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 4 };

/* --- the naive twin ----------------------------------------------------------------------------- */

/* h + eps u (e_c - h), row by row. */
static void naive_probe(size_t n, double *out, const double *h, const double *probability,
                        const double *basis, size_t l, size_t i, bool whole, size_t c, double eps)
{
    for (size_t r = 0; r < n; r++) {
        const double u = basis[r * L + l] * (whole ? probability[r * K + i] : 1.0);
        for (size_t j = 0; j < K; j++)
            out[r * K + j] = h[r * K + j] + eps * u * ((j == c ? 1.0 : 0.0) - h[r * K + j]);
    }
}

static double naive_value(const problem *p, const mel_black_box *box, const double *h)
{
    double confusion[2 * K * K] = { 0 }, value = 0.0;
    mel_error err = { 0 };
    for (size_t r = 0; r < VALIDATION; r++)
        for (size_t j = 0; j < K; j++)
            confusion[((box->group != NULL ? p->group[r] : 0) * K + p->validation_label[r]) * K + j] +=
                h[r * K + j] / VALIDATION;
    assert_ok(box->value(&value, box->user, confusion, &err), &err);
    return value;
}

/* Phi of basis function l and entry (i, j), divided by the sum of phi_l. */
static double naive_phi(const problem *p, const double *h, size_t l, size_t i, size_t j)
{
    double sum = 0.0, total = 0.0;
    for (size_t r = 0; r < TRAIN; r++) {
        total += p->train_basis[r * L + l];
        if (p->train_label[r] == i)
            sum += p->train_basis[r * L + l] * h[r * K + j];
    }
    return sum / total;
}

static void naive_rule(size_t n, double *h, const double *probability, const double *basis,
                       const double *gain)
{
    memset(h, 0, n * K * sizeof *h);
    for (size_t r = 0; r < n; r++) {
        double score[K] = { 0 };
        size_t best = 0;
        for (size_t l = 0; l < L; l++)
            for (size_t i = 0; i < K; i++)
                for (size_t j = 0; j < K; j++)
                    score[j] += gain[(l * K + i) * K + j] * basis[r * L + l] * probability[r * K + i];
        for (size_t j = 1; j < K; j++)
            best = score[j] > score[best] ? j : best;
        h[r * K + best] = 1.0;
    }
}

typedef struct {
    const problem *p;
    const mel_black_box *box;
    bool whole;
    double eps;
    double train[TRAIN * K], validation[VALIDATION * K];
    double gap; /* how far the weights of the library miss the probes */
} twin;

/* The weights that the library gave must explain every probe, as far as any can. */
static void check_weights(twin *t, const double *alpha)
{
    const double base = naive_value(t->p, t->box, t->validation);
    double probe_train[TRAIN * K], probe_validation[VALIDATION * K];
    const size_t sources = t->whole ? K : 1;
    for (size_t l = 0; l < L; l++)
        for (size_t s = 0; s < sources; s++)
            for (size_t c = 0; c < K; c++) {
                double explained = 0.0;
                naive_probe(TRAIN, probe_train, t->train, t->p->train_probability, t->p->train_basis, l, s,
                            t->whole, c, t->eps);
                naive_probe(VALIDATION, probe_validation, t->validation, t->p->validation_probability,
                            t->p->validation_basis, l, s, t->whole, c, t->eps);
                for (size_t m = 0; m < L; m++)
                    for (size_t i = 0; i < K; i++)
                        for (size_t j = 0; j < K; j++)
                            explained += alpha[(m * K + i) * K + j] * (naive_phi(t->p, probe_train, m, i, j) -
                                                                       naive_phi(t->p, t->train, m, i, j));
                t->gap = fmax(t->gap, fabs(explained - (naive_value(t->p, t->box, probe_validation) - base)));
            }
}

static void follow(void *user, uint32_t t, double value, double gap, const double *alpha)
{
    twin *self = user;
    double rule[TRAIN * K];
    const double step = t == 0 ? 1.0 : 2.0 / (t + 2.0); /* 2/(t+3) with t from 0 */
    if (t == 0)
        memset(self->train, 0, sizeof self->train), memset(self->validation, 0, sizeof self->validation);
    else
        check_weights(self, alpha);
    naive_rule(TRAIN, rule, self->p->train_probability, self->p->train_basis, alpha);
    for (size_t i = 0; i < TRAIN * K; i++)
        self->train[i] = (1.0 - step) * self->train[i] + step * rule[i];
    naive_rule(VALIDATION, rule, self->p->validation_probability, self->p->validation_basis, alpha);
    for (size_t i = 0; i < VALIDATION * K; i++)
        self->validation[i] = (1.0 - step) * self->validation[i] + step * rule[i];
    assert_close(value, naive_value(self->p, self->box, self->validation), 1e-12);
    assert_true(t == 0 || isfinite(gap));
}

static void harden(size_t n, double *basis)
{
    for (size_t i = 0; i < n; i++) {
        basis[i * L] = 1.0;
        basis[i * L + 1] = basis[i * L + 1] < 0.4 ? 1.0 : 0.0;
    }
}

static void test_against_naive_probes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        problem p = make_problem(seed);
        const bool groups = seed % 2 == 0;
        if (seed > 3) { /* hard clusters, which are packed another way */
            harden(TRAIN, p.train_basis);
            harden(VALIDATION, p.validation_basis);
        }
        mel_measure *m = measure_named("g-mean", K, groups ? 2 : 0);
        const mel_black_box box = mel_measure_box(m, groups ? p.group : NULL);
        const mel_weight_rows train = train_of(&p), validation = validation_of(&p);
        for (int whole = 0; whole < 2; whole++) {
            twin t = { .p = &p, .box = &box, .whole = whole == 1, .eps = 0.01 };
            mel_optimise_options opt;
            mel_optimise_options_init(&opt);
            opt.iterations = ITERATIONS;
            opt.epsilon = t.eps;
            opt.shape = t.whole ? MEL_WEIGHT_WHOLE : MEL_WEIGHT_DIAGONAL;
            opt.rank_tolerance = 1e-12;
            opt.trace = follow;
            opt.trace_user = &t;
            mel_optimise_result got = { 0 };
            mel_error err = { 0 };
            assert_ok(mel_optimise(&got, K, L, &train, &validation, &box, &opt, &err), &err);
            assert_int_equal(got.end, MEL_OPTIMISE_DONE);
            /* The diagonal has as many weights as probes; of the whole matrix, each row of weights may be
             * shifted, and eta sums to 1. */
            assert_int_equal(got.unknowns, t.whole ? L * K * K : L * K);
            assert_int_equal(got.rank, t.whole ? L * K * (K - 1) : L * K);
            assert_true(got.condition >= 1.0);
            assert_true(t.gap < (t.whole ? 3e-3 : 1e-12));
            mel_optimise_clear(&got);
        }
        mel_measure_free(m);
    }
}

/* --- other ways to the same result -------------------------------------------------------------- */

typedef struct {
    const problem *p;
    const mel_black_box *box;
    size_t calls, fail_at;
    double answer; /* instead of the value at call fail_at */
} judge_state;

static mel_status judge(double *out, void *user, const double *chance, mel_error *err)
{
    judge_state *j = user;
    (void)err;
    *out = ++j->calls == j->fail_at ? j->answer : naive_value(j->p, j->box, chance);
    return MEL_OK;
}

static mel_optimise_result solve(const problem *p, const mel_black_box *box, const mel_optimise_options *opt)
{
    mel_optimise_result got = { 0 };
    mel_error err = { 0 };
    mel_weight_rows train = train_of(p), validation = validation_of(p);
    if (box->judge != NULL)
        validation.label = NULL;
    assert_ok(mel_optimise(&got, K, L, &train, &validation, box, opt, &err), &err);
    return got;
}

static void test_judge_and_gradient(void **state)
{
    (void)state;
    const problem p = make_problem(11);
    mel_measure *m = measure_named("g-mean", K, 2);
    const mel_black_box box = mel_measure_box(m, p.group);
    judge_state js = { .p = &p, .box = &box };
    const mel_black_box judged = { .judge = judge, .user = &js };
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.iterations = 20;
    mel_optimise_result plain = solve(&p, &box, &opt), by_judge = solve(&p, &judged, &opt);
    assert_close(by_judge.value, plain.value, 1e-12);
    assert_int_equal(by_judge.queries, js.calls);
    assert_int_equal(plain.queries, 21 + 20 * L * K);
    opt.known = true;
    opt.epsilon = 0.5; /* slopes do not depend on it */
    mel_optimise_result known = solve(&p, &box, &opt);
    assert_close(known.value, plain.value, 0.01);
    assert_true(plain.value > 0.4);
    mel_optimise_clear(&plain);
    mel_optimise_clear(&by_judge);
    mel_optimise_clear(&known);
    mel_measure_free(m);
}

/* A linear metric: the system as printed, differences, and probes of the constraint problem agree; the
 * weights give the metric back. */
static void test_probes_of_a_linear_metric(void **state)
{
    (void)state;
    problem p = make_problem(12);
    for (size_t i = 0; i < TRAIN; i++) /* two clusters */
        for (size_t l = 0; l < L; l++)
            p.train_basis[i * L + l] = i % L == l ? 1.0 : 0.0;
    memcpy(p.validation_probability, p.train_probability, sizeof p.validation_probability);
    memcpy(p.validation_label, p.train_label, sizeof p.validation_label);
    memcpy(p.validation_basis, p.train_basis, sizeof p.validation_basis);
    mel_measure *m = measure_named("accuracy", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    const mel_weight_rows rows = { VALIDATION, p.validation_probability, p.validation_label,
                                   p.validation_basis };
    for (int way = 0; way < 4; way++) {
        mel_optimise_options opt;
        mel_optimise_options_init(&opt);
        opt.plug_in = true;
        opt.scale = MEL_SCALE_ROWS;
        opt.values = way == 1 || way == 3;
        opt.probes = way >= 2 ? MEL_PROBE_CONSTRAINED : MEL_PROBE_FIXED;
        opt.epsilon = 0.5;
        mel_optimise_result got = { 0 };
        mel_error err = { 0 };
        assert_ok(mel_optimise(&got, K, L, &rows, &rows, &box, &opt, &err), &err);
        assert_int_equal(got.mixture.n_rules, 1);
        assert_int_equal(got.rank, L * K);
        for (size_t l = 0; l < L; l++)
            for (size_t j = 0; j < K; j++) /* accuracy: every weight is 1 */
                assert_close(got.mixture.gain[(l * K + j) * K + j], 1.0, 1e-9);
        mel_optimise_clear(&got);
    }
    mel_measure_free(m);
}

static void test_overlapping_probes(void **state)
{
    (void)state;
    const problem p = make_problem(13);
    mel_measure *m = measure_named("balanced-accuracy", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.probes = MEL_PROBE_CONSTRAINED;
    mel_optimise_result got = solve(&p, &box, &opt);
    assert_int_equal(got.rank, L * K);
    assert_true(got.condition < 1e4);
    assert_true(got.value > 0.45);
    mel_optimise_clear(&got);
    mel_measure_free(m);
}

/* A basis function that is the sum of others: the rank says so, the result does not depend on epsilon. */
static void test_rank_loss(void **state)
{
    (void)state;
    problem p = make_problem(14);
    for (size_t i = 0; i < TRAIN; i++)
        p.train_basis[i * L + 1] = 0.5 * p.train_basis[i * L];
    for (size_t i = 0; i < VALIDATION; i++)
        p.validation_basis[i * L + 1] = 0.5 * p.validation_basis[i * L];
    mel_measure *m = measure_named("g-mean", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    double value[3];
    for (size_t e = 0; e < 3; e++) {
        mel_optimise_options opt;
        mel_optimise_options_init(&opt);
        opt.epsilon = pow(10.0, -2.0 - (double)e);
        mel_optimise_result got = solve(&p, &box, &opt);
        assert_int_equal(got.rank, K);
        assert_int_equal(got.unknowns, L * K);
        value[e] = got.value;
        mel_optimise_clear(&got);
    }
    assert_close(value[0], value[1], 0.01);
    assert_close(value[2], value[1], 0.01);
    mel_measure_free(m);
}

/* Hard decisions with shared random numbers: near what soft ones reach. */
static void test_labels_only(void **state)
{
    (void)state;
    const problem p = make_problem(15);
    mel_measure *m = measure_named("g-mean", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    judge_state js = { .p = &p, .box = &box };
    const mel_black_box judged = { .judge = judge, .user = &js };
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    mel_optimise_result soft = solve(&p, &box, &opt);
    opt.labels_only = true;
    opt.epsilon = 0.3;
    mel_optimise_result hard = solve(&p, &judged, &opt);
    assert_close(hard.value, soft.value, 0.06);
    assert_int_equal(hard.queries, 5 * (51 + 50 * L * K));
    mel_optimise_clear(&soft);
    mel_optimise_clear(&hard);
    mel_measure_free(m);
}

/* --- how it ends -------------------------------------------------------------------------------- */

static void test_metric_that_fails_later(void **state)
{
    (void)state;
    const problem p = make_problem(16);
    mel_measure *m = measure_named("g-mean", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    static const struct {
        const char *name, *says;
        double answer;
    } rows[] = { { "not a number", "iteration 3: the metric is nan", NAN },
                 { "infinite", "iteration 3: the metric is inf", INFINITY } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        judge_state js = {
            .p = &p, .box = &box, .fail_at = 1 + 2 * (L * K + 1) + 2, .answer = rows[i].answer
        };
        const mel_black_box judged = { .judge = judge, .user = &js };
        mel_optimise_result got = solve(&p, &judged, NULL);
        assert_int_equal(got.end, MEL_OPTIMISE_FAILED);
        assert_string_equal(got.failure.text, rows[i].says);
        assert_int_equal(got.failure.code, MEL_EDATA);
        assert_int_equal(got.iterations, 2);
        assert_true(got.mixture.n_rules >= 1 && got.mixture.n_rules <= 3);
        assert_close(got.value, got.best, 0.0);
        mel_optimise_clear(&got);
    }
    mel_measure_free(m);
}

static mel_status constant(double *out, void *user, const double *chance, mel_error *err)
{
    (void)user;
    (void)chance;
    (void)err;
    *out = 0.5;
    return MEL_OK;
}

static int stop_at_third(void *user, const char *what, double share)
{
    (void)share;
    int *calls = user;
    unsigned at = 0, of = 0;
    double value = NAN, gap = NAN;
    const int n = sscanf(what, "iteration %u of %u, value %lf, gap %lf", &at, &of, &value, &gap);
    assert_int_equal(n, *calls == 0 ? 3 : 4); /* no gap before the first */
    assert_int_equal((int)at, *calls + 1);
    assert_true(value > 0.0 && value < 1.0 && (n == 3 || isfinite(gap)));
    return ++*calls == 3;
}

static void test_flat_and_stopped(void **state)
{
    (void)state;
    const problem p = make_problem(17);
    const mel_black_box flat = { .judge = constant };
    mel_optimise_result got = solve(&p, &flat, NULL);
    assert_int_equal(got.end, MEL_OPTIMISE_FLAT);
    assert_int_equal(got.iterations, 0);
    mel_optimise_clear(&got);

    mel_measure *m = measure_named("macro-f1", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    int calls = 0;
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.progress = (mel_progress){ stop_at_third, &calls };
    got = solve(&p, &box, &opt);
    assert_int_equal(got.end, MEL_OPTIMISE_STOPPED);
    assert_int_equal(got.iterations, 2);
    assert_true(got.mixture.n_rules >= 1);
    mel_optimise_clear(&got);
    mel_measure_free(m);
}

/* Rises with the accuracy to a peak just above the first classifier's, then falls five times as fast. */
static mel_status peak(double *out, void *user, const double *confusion, mel_error *err)
{
    double *first = user, accuracy = 0.0;
    (void)err;
    for (size_t i = 0; i < K; i++)
        accuracy += i == 0 ? 3.0 * confusion[0] : confusion[i * K + i];
    if (isnan(*first))
        *first = accuracy;
    *out = fmin(accuracy - *first, 0.02 - 5.0 * (accuracy - *first));
    return MEL_OK;
}

/* A metric that turns down just beyond the first classifier: a long step is worse, a short one is not. */
static void test_never_worse_than_the_start(void **state)
{
    (void)state;
    const problem p = make_problem(19);
    const mel_weight_rows rows = { TRAIN, p.train_probability, p.train_label, NULL };
    double first = NAN;
    const mel_black_box box = { .value = peak, .user = &first };
    mel_optimise_options opt;
    mel_optimise_result got = { 0 };
    mel_error err = { 0 };
    mel_optimise_options_init(&opt);
    opt.iterations = 1;
    assert_ok(mel_optimise(&got, K, 1, &rows, &rows, &box, &opt, &err), &err);
    assert_int_equal(got.end, MEL_OPTIMISE_DONE);
    assert_true(got.fell_back);
    assert_int_equal(got.best_iteration, 0);
    assert_close(got.value, got.start, 0.0);
    assert_int_equal(got.mixture.n_rules, 1);
    mel_optimise_clear(&got);
    opt.step = MEL_STEP_LINE;
    assert_ok(mel_optimise(&got, K, 1, &rows, &rows, &box, &opt, &err), &err);
    assert_false(got.fell_back);
    assert_true(got.value > got.start);
    mel_optimise_clear(&got);
}

static void test_refusals(void **state)
{
    (void)state;
    problem p = make_problem(18);
    mel_measure *m = measure_named("min-recall", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL), none = { 0 };
    const mel_weight_rows validation = validation_of(&p);
    mel_weight_rows train = train_of(&p);
    mel_optimise_options opt;
    mel_optimise_result got = { 0 };
    mel_error err = { 0 };
    mel_optimise_options_init(&opt);
    opt.known = true;
    assert_int_equal(mel_optimise(&got, K, L, &train, &validation, &box, &opt, &err), MEL_EINVAL);
    assert_string_equal(err.text, "the gradient of this metric is not known");
    assert_int_equal(mel_optimise(&got, K, L, &train, &validation, &none, NULL, &err), MEL_EINVAL);
    mel_optimise_options_init(&opt);
    opt.epsilon = 0.0;
    assert_int_equal(mel_optimise(&got, K, L, &train, &validation, &box, &opt, &err), MEL_EINVAL);
    p.train_basis[7] = 1.5;
    assert_int_equal(mel_optimise(&got, K, L, &train, &validation, &box, NULL, &err), MEL_EDATA);
    assert_string_equal(err.text, "training row 4: basis function 2 is 1.5, expected a number from 0 to 1");
    p.train_basis[7] = 0.5;
    p.train_probability[4] = NAN;
    assert_int_equal(mel_optimise(&got, K, L, &train, &validation, &box, NULL, &err), MEL_EDATA);
    assert_string_equal(err.text, "training row 2: the probability nan is not finite");
    train.n_rows = 0;
    assert_int_equal(mel_optimise(&got, K, L, &train, &validation, &box, NULL, &err), MEL_EDATA);
    mel_measure_free(m);
    assert_int_equal(mel_measure_named(&m, "f2", 3, 0, &err), MEL_EINVAL);
    assert_int_equal(mel_measure_named(&m, "nonsense", 2, 0, &err), MEL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive_probes),
        cmocka_unit_test(test_judge_and_gradient),
        cmocka_unit_test(test_probes_of_a_linear_metric),
        cmocka_unit_test(test_overlapping_probes),
        cmocka_unit_test(test_rank_loss),
        cmocka_unit_test(test_labels_only),
        cmocka_unit_test(test_metric_that_fails_later),
        cmocka_unit_test(test_flat_and_stopped),
        cmocka_unit_test(test_never_worse_than_the_start),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
