/* Fitting: known optima, agreement of solvers and storages, degenerate data, refusals. */
#include "support/problem.h"
#include "support/test.h"

#include "base/internal.h"
#include "model/shared.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_fit_options defaults(void)
{
    mel_fit_options opt;
    mel_fit_options_init(&opt);
    return opt;
}

static mel_model *fit(mel_fit_report *report, const mel_features *x, const uint32_t *y, size_t k,
                      const double *weight, const mel_fit_options *opt)
{
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_fit(&model, report, x, y, k, weight, opt, &err), &err);
    assert_non_null(model);
    return model;
}

static size_t outputs(const mel_model *model)
{
    return mel_model_classes(model) == 2 ? 1 : mel_model_classes(model);
}

static void assert_same_model(const mel_model *a, const mel_model *b, double tolerance)
{
    const size_t m = outputs(a), d = mel_model_features(a);
    assert_int_equal(m, outputs(b));
    assert_int_equal(d, mel_model_features(b));
    for (size_t i = 0; i < m * d; i++)
        assert_close(mel_model_weights(a)[i], mel_model_weights(b)[i], tolerance);
    for (size_t c = 0; c < m; c++)
        assert_close(mel_model_intercepts(a)[c], mel_model_intercepts(b)[c], tolerance);
}

static void assert_same_bits(const mel_model *a, const mel_model *b)
{
    const size_t m = outputs(a), d = mel_model_features(a);
    assert_memory_equal(mel_model_weights(a), mel_model_weights(b), m * d * sizeof(double));
    assert_memory_equal(mel_model_intercepts(a), mel_model_intercepts(b), m * sizeof(double));
}

/* Without features the optimum is the observed frequencies. */
static void test_frequencies(void **state)
{
    (void)state;
    static const uint32_t two[] = { 0, 1, 1, 1 }, three[] = { 0, 1, 2, 2, 2, 2, 1, 2 };
    static const double weight[] = { 1.0, 2.0, 0.5, 0.0 };
    mel_fit_report report;
    const mel_features x4 = { .n_rows = 4 }, x8 = { .n_rows = 8 };
    mel_model *model = fit(&report, &x4, two, 2, NULL, NULL);
    assert_close(mel_model_intercepts(model)[0], log(3.0), 1e-9);
    assert_close(report.log_loss, -(log(0.25) + 3.0 * log(0.75)) / 4.0, 1e-12);
    assert_close(report.objective, 4.0 * report.log_loss, 1e-12);
    assert_int_equal(report.reason, MEL_FIT_CONVERGED);
    mel_model_free(model);
    model = fit(&report, &x4, two, 2, weight, NULL);
    assert_close(mel_model_intercepts(model)[0], log(2.5), 1e-9);
    mel_model_free(model);
    model = fit(&report, &x8, three, 3, NULL, NULL);
    const double mean = (log(1.0) + log(2.0) + log(5.0)) / 3.0;
    assert_close(mel_model_intercepts(model)[0], log(1.0) - mean, 1e-8);
    assert_close(mel_model_intercepts(model)[1], log(2.0) - mean, 1e-8);
    assert_close(mel_model_intercepts(model)[2], log(5.0) - mean, 1e-8);
    double probs[24];
    mel_error err;
    assert_ok(mel_model_predict(probs, model, &x8, 1, &err), &err);
    assert_close(probs[0], 0.125, 1e-9);
    assert_close(probs[23], 0.625, 1e-9);
    mel_model_free(model);
}

/* One binary feature, no penalty: log odds of a two by two table. */
static void test_two_by_two(void **state)
{
    (void)state;
    enum { N = 40 };
    double x[N];
    uint32_t y[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = i < 20 ? 0.0 : 1.0;
        y[i] = i < 20 ? i < 5 : i < 32; /* 5 of 20, then 12 of 20 */
    }
    const mel_features features = { .n_rows = N, .n_cols = 1, .dense = x, .stride = 1 };
    mel_fit_options opt = defaults();
    opt.l2 = 0.0;
    mel_model *model = fit(NULL, &features, y, 2, NULL, &opt);
    assert_close(mel_model_intercepts(model)[0], log(5.0 / 15.0), 1e-7);
    assert_close(mel_model_weights(model)[0], log(12.0 / 8.0) - log(5.0 / 15.0), 1e-7);
    mel_model_free(model);
}

static void test_solvers_and_storages_agree(void **state)
{
    (void)state;
    static const struct {
        size_t n, d, k;
        double density, l2;
        bool weighted;
    } rows[] = {
        { 400, 8, 2, 1.0, 1.0, false },  { 400, 8, 2, 0.3, 0.01, true },  { 900, 6, 3, 0.5, 1.0, true },
        { 700, 5, 6, 1.0, 10.0, false }, { 300, 80, 2, 0.1, 1.0, false }, { 500, 70, 4, 0.1, 2.0, true },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        test_problem p;
        test_problem_make(&p, r + 1, rows[r].n, rows[r].d, rows[r].k, rows[r].density);
        const mel_features dense = test_problem_dense(&p), sparse = test_problem_sparse(&p);
        const double *weight = rows[r].weighted ? p.weight : NULL;
        mel_fit_options opt = defaults();
        opt.l2 = rows[r].l2;
        mel_fit_report a, b, c, d;
        mel_model *newton = fit(&a, &dense, p.y, p.n_classes, weight, &opt);
        mel_model *rows_sparse = fit(&b, &sparse, p.y, p.n_classes, weight, &opt);
        opt.solver = MEL_SOLVER_LBFGS;
        mel_model *lbfgs = fit(&c, &dense, p.y, p.n_classes, weight, &opt);
        mel_model *lbfgs_sparse = fit(&d, &sparse, p.y, p.n_classes, weight, &opt);
        assert_int_equal(a.solver, MEL_SOLVER_NEWTON);
        assert_int_equal(c.solver, MEL_SOLVER_LBFGS);
        const mel_fit_report reports[] = { a, b, c, d };
        for (size_t i = 0; i < COUNT(reports); i++) {
            assert_int_equal(reports[i].reason, MEL_FIT_CONVERGED);
            assert_true(reports[i].gradient_norm <= 1e-9);
            assert_close(reports[i].objective, a.objective, 1e-11 * a.objective);
            assert_true(reports[i].log_loss > 0.0 && reports[i].log_loss < log((double)p.n_classes));
        }
        assert_same_model(newton, rows_sparse, 1e-6);
        assert_same_model(newton, lbfgs, 1e-5);
        assert_same_model(newton, lbfgs_sparse, 1e-5);
        mel_model_free(newton);
        mel_model_free(rows_sparse);
        mel_model_free(lbfgs);
        mel_model_free(lbfgs_sparse);
        test_problem_clear(&p);
    }
}

/* Coefficients of all classes of a feature sum to zero, as those of a fit from zero do elsewhere. */
static void test_classes_sum_to_zero(void **state)
{
    (void)state;
    test_problem p;
    test_problem_make(&p, 5, 800, 4, 5, 0.8);
    const mel_features x = test_problem_dense(&p);
    mel_fit_options opt = defaults();
    for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
        for (int penalised = 0; penalised < 2; penalised++) {
            opt.solver = (mel_solver)solver;
            opt.l2 = penalised ? 1.0 : 0.0;
            mel_model *model = fit(NULL, &x, p.y, 5, NULL, &opt);
            for (size_t j = 0; j <= 4; j++) {
                double sum = 0.0;
                for (size_t c = 0; c < 5; c++)
                    sum += j < 4 ? mel_model_weights(model)[c * 4 + j] : mel_model_intercepts(model)[c];
                assert_close(sum, 0.0, 1e-9);
            }
            mel_model_free(model);
        }
    }
    test_problem_clear(&p);
}

static void test_threads_give_the_same_bits(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 5; k += 3)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
                test_problem p;
                test_problem_make(&p, k, 4000, 7, k, 0.5);
                const mel_features x = sparse ? test_problem_sparse(&p) : test_problem_dense(&p);
                mel_fit_options opt = defaults();
                opt.solver = (mel_solver)solver;
                mel_fit_report one, many;
                opt.threads = 1;
                mel_model *a = fit(&one, &x, p.y, k, p.weight, &opt);
                opt.threads = 3;
                mel_model *b = fit(&many, &x, p.y, k, p.weight, &opt);
                assert_same_bits(a, b);
                assert_memory_equal(&one.objective, &many.objective, sizeof one.objective);
                assert_int_equal(one.iterations, many.iterations);
                double *pa = calloc(p.n_rows * k, sizeof *pa), *pb = calloc(p.n_rows * k, sizeof *pb);
                assert_ok(mel_model_predict(pa, a, &x, 1, NULL), NULL);
                assert_ok(mel_model_predict(pb, b, &x, 3, NULL), NULL);
                assert_memory_equal(pa, pb, p.n_rows * k * sizeof *pa);
                free(pa);
                free(pb);
                mel_model_free(a);
                mel_model_free(b);
                test_problem_clear(&p);
            }
}

/* A weight of two is a row written twice, a weight of zero a row left out. */
static void test_weights_are_counts(void **state)
{
    (void)state;
    test_problem p;
    test_problem_make(&p, 9, 300, 4, 3, 1.0);
    double *twice = calloc(2400, sizeof *twice), *weight = calloc(300, sizeof *weight);
    uint32_t *y = calloc(600, sizeof *y);
    size_t n = 0;
    for (size_t i = 0; i < 300; i++) {
        weight[i] = i < 3 ? 1.0 : (double)(i % 3);
        for (size_t copy = 0; copy < (size_t)weight[i]; copy++, n++) {
            memcpy(twice + n * 4, p.dense + i * p.stride, 4 * sizeof *twice);
            y[n] = p.y[i];
        }
    }
    const mel_features x = test_problem_dense(&p);
    const mel_features expanded = { .n_rows = n, .n_cols = 4, .dense = twice, .stride = 4 };
    mel_fit_report a, b;
    mel_model *weighted = fit(&a, &x, p.y, 3, weight, NULL), *counted = fit(&b, &expanded, y, 3, NULL, NULL);
    assert_same_model(weighted, counted, 1e-8);
    assert_close(a.log_loss, b.log_loss, 1e-12);
    mel_model_free(weighted);
    mel_model_free(counted);
    free(twice);
    free(weight);
    free(y);
    test_problem_clear(&p);
}

static void test_warm_start(void **state)
{
    (void)state;
    for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
        test_problem p;
        test_problem_make(&p, 3, 1500, 10, 4, 0.6);
        const mel_features x = test_problem_sparse(&p);
        mel_fit_options opt = defaults();
        opt.solver = (mel_solver)solver;
        mel_fit_report cold, again, near;
        mel_model *first = fit(&cold, &x, p.y, 4, NULL, &opt);
        opt.warm = first;
        mel_model *second = fit(&again, &x, p.y, 4, NULL, &opt);
        assert_int_equal(again.iterations, 0);
        assert_same_model(first, second, 1e-12);
        mel_model_free(second);
        mel_fit_report far;
        opt.warm = NULL;
        opt.l2 = 1.1;
        second = fit(&far, &x, p.y, 4, NULL, &opt);
        mel_model_free(second);
        opt.warm = first;
        second = fit(&near, &x, p.y, 4, NULL, &opt);
        assert_true(near.iterations < far.iterations);
        assert_close(near.objective, far.objective, 1e-11 * far.objective);
        mel_model_free(second);
        mel_model_free(first);
        test_problem_clear(&p);
    }
}

/* Data that leave the optimum open, at infinity, or at the end of floating point: the fit ends, says
 * why, and everything stays finite. */
static void test_degenerate(void **state)
{
    (void)state;
    enum { N = 60, D = 4 };
    static const char *const names[] = { "separable", "constant column", "same column twice", "zero columns",
                                         "huge and tiny columns" };
    for (size_t k = 2; k <= 3; k++)
        for (size_t kind = 0; kind < COUNT(names); kind++)
            for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
                test_problem p;
                test_problem_make(&p, 11 + kind, N, D, k, 1.0);
                for (size_t i = 0; i < N; i++) {
                    double *x = p.dense + i * p.stride;
                    x[0] = kind == 0 ? 3.0 * p.y[i] + 0.1 * x[0] : x[0];
                    x[1] = kind == 1 ? 5.0 : (kind == 2 ? x[0] : (kind == 3 ? 0.0 : x[1]));
                    x[2] = kind == 3 ? 0.0 : (kind == 4 ? x[2] * 1e6 : x[2]);
                    x[3] = kind == 4 ? x[3] * 1e-6 : x[3];
                }
                const mel_features x = test_problem_dense(&p);
                mel_fit_options opt = defaults();
                opt.l2 = 0.0;
                opt.solver = (mel_solver)solver;
                mel_fit_report report;
                mel_model *model = fit(&report, &x, p.y, k, NULL, &opt);
                print_message("  %s, %zu classes, solver %d: %u iterations, reason %d, gradient %g\n",
                              names[kind], k, solver, report.iterations, (int)report.reason,
                              report.gradient_norm);
                if (solver == MEL_SOLVER_NEWTON)
                    assert_int_equal(report.reason, MEL_FIT_CONVERGED);
                /* L-BFGS compares values, which rounds off sooner; gradients are in units of columns. */
                assert_true(report.gradient_norm < (kind == 4 ? 1e-8 * 1e6 : 1e-8));
                for (size_t i = 0; i < outputs(model) * D; i++)
                    assert_true(isfinite(mel_model_weights(model)[i]));
                if (kind == 0)
                    assert_true(report.log_loss < 1e-4);
                mel_model_free(model);
                test_problem_clear(&p);
            }
}

/* The numbers of a fit at the end of floating point are those of the fit that stopped earlier. */
static void test_reasons(void **state)
{
    (void)state;
    test_problem p;
    test_problem_make(&p, 21, 500, 5, 3, 1.0);
    const mel_features x = test_problem_dense(&p);
    for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
        mel_fit_options opt = defaults();
        opt.solver = (mel_solver)solver;
        mel_fit_report report, best;
        mel_model *good = fit(&best, &x, p.y, 3, NULL, &opt);
        opt.tolerance = 1e-40;
        mel_model *model = fit(&report, &x, p.y, 3, NULL, &opt);
        assert_int_equal(report.reason, MEL_FIT_STALLED);
        assert_same_model(good, model, 1e-6);
        assert_true(report.gradient_norm <= best.gradient_norm);
        mel_model_free(model);
        mel_model_free(good);
        opt.tolerance = 1e-9;
        for (uint32_t most = 1; most <= 12; most++) { /* L-BFGS: also evaluations that were no progress */
            opt.max_iterations = most;
            model = fit(&report, &x, p.y, 3, NULL, &opt);
            if (report.reason != MEL_FIT_CONVERGED || most <= 2) {
                assert_int_equal(report.reason, MEL_FIT_BUDGET);
                assert_int_equal(report.iterations, most);
            }
            mel_model_free(model);
        }
    }
    test_problem_clear(&p);
}

static int stop_at_second_call(void *user, const char *what, double share)
{
    int *calls = user;
    assert_string_equal(what, "fitting");
    assert_true(share >= 0.0 && share <= 1.0);
    return ++*calls == 2;
}

static void test_progress_stops(void **state)
{
    (void)state;
    test_problem p;
    test_problem_make(&p, 2, 300, 5, 3, 1.0);
    const mel_features x = test_problem_dense(&p);
    for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
        int calls = 0;
        mel_fit_options opt = defaults();
        opt.solver = (mel_solver)solver;
        opt.progress = (mel_progress){ stop_at_second_call, &calls };
        mel_model *model = (mel_model *)&calls;
        mel_error err;
        assert_int_equal(mel_model_fit(&model, NULL, &x, p.y, 3, NULL, &opt, &err), MEL_ESTOPPED);
        assert_null(model);
        assert_int_equal(calls, 2);
    }
    test_problem_clear(&p);
}

/* Above so many parameters the solver is L-BFGS. */
static void test_solver_choice(void **state)
{
    (void)state;
    test_problem p;
    test_problem_make(&p, 8, 120, 900, 3, 0.02);
    const mel_features x = test_problem_sparse(&p);
    mel_fit_report report;
    mel_model *model = fit(&report, &x, p.y, 3, NULL, NULL);
    assert_int_equal(report.solver, MEL_SOLVER_LBFGS);
    assert_int_equal(report.reason, MEL_FIT_CONVERGED);
    mel_model_free(model);
    mel_fit_options opt = defaults();
    opt.solver = MEL_SOLVER_NEWTON;
    mel_fit_report other;
    model = fit(&other, &x, p.y, 3, NULL, &opt);
    assert_close(other.objective, report.objective, 1e-11 * report.objective);
    mel_model_free(model);
    test_problem_clear(&p);
}

static void test_names(void **state)
{
    (void)state;
    static const uint32_t y[] = { 0, 1, 1 };
    const mel_features x = { .n_rows = 3 };
    mel_model *model = fit(NULL, &x, y, 2, NULL, NULL);
    assert_string_equal(mel_model_class_name(model, 0), "0");
    assert_string_equal(mel_model_class_name(model, 1), "1");
    assert_null(mel_model_class_name(model, 2));
    static const char *const names[] = { "healthy", "cancer" }, *const bad[] = { "a", "\xff" };
    mel_error err;
    assert_ok(mel_model_set_classes(model, names, &err), &err);
    assert_int_equal(mel_model_set_classes(model, bad, &err), MEL_EDATA);
    assert_string_equal(mel_model_class_name(model, 1), "cancer");
    assert_null(mel_model_encoder(model));
    mel_model_free(model);
    mel_model_free(NULL);
}

enum { FIT_ROWS = 6 };
typedef struct {
    const char *name;
    void (*change)(mel_features *x, uint32_t *y, size_t *k, double *weight, mel_fit_options *opt,
                   double *dense);
    mel_status want;
    const char *says;
} refusal;

#define CHANGE(name, ...)                                                                                    \
    static void name(mel_features *x, uint32_t *y, size_t *k, double *weight, mel_fit_options *opt,          \
                     double *dense)                                                                          \
    {                                                                                                        \
        (void)x, (void)y, (void)k, (void)weight, (void)opt, (void)dense;                                     \
        __VA_ARGS__;                                                                                         \
    }
CHANGE(no_rows, x->n_rows = 0)
CHANGE(no_class, *k = 0)
CHANGE(one_class, *k = 1)
CHANGE(one_label, memset(y, 0, FIT_ROWS * sizeof *y))
CHANGE(empty_class, *k = 4)
CHANGE(code_too_large, y[4] = 3)
CHANGE(negative_weight, weight[2] = -0.5)
CHANGE(nan_weight, weight[1] = NAN)
CHANGE(infinite_weight, weight[5] = INFINITY)
CHANGE(zero_weights, memset(weight, 0, FIT_ROWS * sizeof *weight))
CHANGE(overflowing_weights, for (size_t i = 0; i < FIT_ROWS; i++) weight[i] = DBL_MAX)
CHANGE(class_without_weight, weight[2] = weight[5] = 0.0)
CHANGE(one_class_with_weight, weight[1] = weight[2] = weight[4] = weight[5] = 0.0)
CHANGE(nan_feature, dense[7] = NAN)
CHANGE(infinite_feature, dense[10] = -INFINITY)
CHANGE(huge_feature, dense[10] = 1e200)
CHANGE(narrow_stride, x->stride = 1)
CHANGE(no_values, x->dense = NULL)
CHANGE(negative_l2, opt->l2 = -1.0)
CHANGE(nan_l2, opt->l2 = NAN)
CHANGE(zero_tolerance, opt->tolerance = 0.0)
CHANGE(nan_tolerance, opt->tolerance = NAN)
CHANGE(unknown_solver, opt->solver = (mel_solver)7)
CHANGE(no_options, opt->struct_size = 0)
#undef CHANGE

static void test_refusals(void **state)
{
    (void)state;
    static const refusal rows[] = {
        { "no rows", no_rows, MEL_EDATA, "no rows" },
        { "no class", no_class, MEL_EINVAL, "0 classes" },
        { "one class", one_class, MEL_EDATA, "only one class" },
        { "one label", one_label, MEL_EDATA, "only one class" },
        { "class without rows", empty_class, MEL_EDATA, "class 3 of 4 has no rows" },
        { "code too large", code_too_large, MEL_EINVAL, "row 5: class code 3" },
        { "negative weight", negative_weight, MEL_EDATA, "row 3: weight -0.5" },
        { "NaN weight", nan_weight, MEL_EDATA, "row 2: weight" },
        { "infinite weight", infinite_weight, MEL_EDATA, "row 6: weight inf" },
        { "zero weights", zero_weights, MEL_EDATA, "sum to 0" },
        { "weights that overflow", overflowing_weights, MEL_EDATA, "sum to inf" },
        { "class without weight", class_without_weight, MEL_EDATA, "class 2 of 3 has no rows of positive" },
        { "one class with weight", one_class_with_weight, MEL_EDATA,
          "only one class: every row of positive weight has the same label" },
        { "NaN feature", nan_feature, MEL_EDATA, "row 4, feature 2: nan" },
        { "infinite feature", infinite_feature, MEL_EDATA, "row 6, feature 1: -inf" },
        { "huge feature", huge_feature, MEL_EDATA, "row 6, feature 1: 1e+200 is too large" },
        { "narrow stride", narrow_stride, MEL_EINVAL, "stride 1" },
        { "no values", no_values, MEL_EINVAL, "neither dense nor sparse" },
        { "negative l2", negative_l2, MEL_EINVAL, "l2 -1" },
        { "NaN l2", nan_l2, MEL_EINVAL, "l2 " },
        { "zero tolerance", zero_tolerance, MEL_EINVAL, "tolerance 0" },
        { "NaN tolerance", nan_tolerance, MEL_EINVAL, "tolerance" },
        { "unknown solver", unknown_solver, MEL_EINVAL, "solver 7" },
        { "options not initialised", no_options, MEL_EINVAL, "not initialised" },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        double dense[FIT_ROWS * 2], weight[FIT_ROWS];
        uint32_t y[FIT_ROWS] = { 0, 1, 2, 0, 1, 2 };
        for (size_t i = 0; i < FIT_ROWS; i++) {
            weight[i] = 1.0;
            dense[2 * i] = (double)(i * i % 5);
            dense[2 * i + 1] = (double)(i % 4) - 1.5;
        }
        mel_features x = { .n_rows = FIT_ROWS, .n_cols = 2, .dense = dense, .stride = 2 };
        mel_fit_options opt = defaults();
        size_t k = 3;
        print_message("  %s\n", rows[r].name);
        rows[r].change(&x, y, &k, weight, &opt, dense);
        mel_model *model = (mel_model *)&opt;
        mel_error err = { MEL_OK, "" };
        assert_int_equal(mel_model_fit(&model, NULL, &x, y, k, weight, &opt, &err), rows[r].want);
        assert_null(model);
        assert_int_equal(err.code, rows[r].want);
        if (strstr(err.text, rows[r].says) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[r].name, err.text, rows[r].says);
    }
}

static void test_sparse_refusals(void **state)
{
    (void)state;
    static const uint32_t y[] = { 0, 1, 1 };
    static const struct {
        const char *name;
        size_t start[4];
        uint32_t col[4];
        double value[4];
        mel_status want;
        const char *says;
    } rows[] = {
        { "backwards row", { 0, 2, 1, 3 }, { 0, 1, 0 }, { 1, 1, 1 }, MEL_EINVAL, "row 2 ends before" },
        { "column too large",
          { 0, 1, 2, 3 },
          { 0, 3, 0 },
          { 1, 1, 1 },
          MEL_EINVAL,
          "row 2: feature index 3" },
        { "columns not ascending", { 0, 1, 3, 3 }, { 0, 1, 1 }, { 1, 1, 1 }, MEL_EINVAL, "row 2" },
        { "NaN", { 0, 1, 2, 3 }, { 0, 1, 2 }, { 1, 1, NAN }, MEL_EDATA, "row 3, feature 3" },
        { "fine", { 0, 1, 2, 3 }, { 0, 1, 2 }, { 1, 1, 1 }, MEL_OK, "" },
        { "empty rows", { 0, 0, 0, 0 }, { 0 }, { 0 }, MEL_OK, "" },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        const mel_features x = {
            .n_rows = 3, .n_cols = 3, .row_start = rows[r].start, .col = rows[r].col, .value = rows[r].value
        };
        mel_model *model = NULL;
        mel_error err = { MEL_OK, "" };
        print_message("  %s\n", rows[r].name);
        assert_int_equal(mel_model_fit(&model, NULL, &x, y, 2, NULL, NULL, &err), rows[r].want);
        assert_non_null(strstr(err.text, rows[r].says));
        mel_model_free(model);
    }
}

static void test_warm_of_another_shape(void **state)
{
    (void)state;
    static const uint32_t y[] = { 0, 1, 1, 2 };
    static const double x1[] = { 1, 2, 3, 4 };
    const mel_features none = { .n_rows = 4 }, one = { .n_rows = 4, .n_cols = 1, .dense = x1, .stride = 1 };
    mel_model *model = fit(NULL, &none, y, 3, NULL, NULL), *other = NULL;
    mel_fit_options opt = defaults();
    opt.warm = model;
    mel_error err;
    assert_int_equal(mel_model_fit(&other, NULL, &one, y, 3, NULL, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "3 classes and 0 features, not 3 and 1"));
    assert_int_equal(
        mel_model_fit(&other, NULL, &none, (const uint32_t[]){ 0, 1, 1, 1 }, 2, NULL, &opt, &err),
        MEL_EINVAL);
    double probs[12];
    assert_int_equal(mel_model_predict(probs, model, &one, 1, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "rows have 1 features, the model has 0"));
    mel_model_free(model);
}

static void test_log_loss(void **state)
{
    (void)state;
    static const double probs[] = { 0.25, 0.75, 1.0, 0.0, 0.5, 0.5 };
    static const uint32_t y[] = { 1, 0, 0 }, wrong[] = { 0, 1, 0 };
    static const double weight[] = { 1.0, 0.0, 3.0 };
    assert_close(mel_log_loss(3, 2, probs, y, NULL), (-log(0.75) - log(0.5)) / 3.0, 1e-15);
    assert_close(mel_log_loss(3, 2, probs, y, weight), (-log(0.75) - 3.0 * log(0.5)) / 4.0, 1e-15);
    assert_close(mel_log_loss(3, 2, probs, wrong, NULL), (-log(0.25) - log(1e-15) - log(0.5)) / 3.0, 1e-13);
    static const double nothing[] = { 0.0, 0.0, 0.0 };
    assert_true(isnan(mel_log_loss(3, 2, probs, y, nothing)));
    assert_true(isnan(mel_log_loss(0, 2, probs, y, NULL)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_two_by_two),
        cmocka_unit_test(test_solvers_and_storages_agree),
        cmocka_unit_test(test_classes_sum_to_zero),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_weights_are_counts),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_progress_stops),
        cmocka_unit_test(test_solver_choice),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sparse_refusals),
        cmocka_unit_test(test_warm_of_another_shape),
        cmocka_unit_test(test_log_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
