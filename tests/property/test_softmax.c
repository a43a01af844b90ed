/* Whatever finite numbers come in, probabilities are finite, within [0, 1], sum to 1 and agree with a
 * careful computation where that is possible. */
#include "support/problem.h"
#include "support/test.h"

#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_CLASSES = 60, MAX_FEATURES = 12 };

static const double extremes[] = { 0.0,     -0.0,     1.0,     -1.0,     1e308,          -1e308,
                                   DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 5e-324,         1e-300,
                                   1e200,   -1e200,   1.5e154, 710.0,    -745.0,         1e16,
                                   -1e16,   3.7,      -0.0001, 1.7e308,  -DBL_MAX / 2.0, 36.7 };

static double pick(mel_rng *rng, double share)
{
    return mel_rng_uniform(rng) < share ? extremes[mel_rng_below(rng, COUNT(extremes))] : mel_rng_normal(rng);
}

static mel_model *random_model(mel_rng *rng, size_t k, size_t d, double share)
{
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_new(&model, k, d, &err), &err);
    for (size_t i = 0; i < model->n_outputs * d; i++)
        model->weights[i] = pick(rng, share);
    for (size_t c = 0; c < model->n_outputs; c++)
        model->intercepts[c] = pick(rng, share);
    return model;
}

static void check_row(const double *p, size_t k)
{
    long double sum = 0.0L;
    for (size_t c = 0; c < k; c++) {
        assert_true(p[c] >= 0.0 && p[c] <= 1.0); /* NaN is neither */
        sum += p[c];
    }
    assert_close((double)sum, 1.0, 1e-12);
}

static void test_extreme_input(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    for (int round = 0; round < 3000; round++) {
        const size_t k = 2 + mel_rng_below(&rng, round % 10 == 0 ? MAX_CLASSES - 1 : 4);
        const size_t d = mel_rng_below(&rng, MAX_FEATURES + 1), n = 5;
        mel_model *model = random_model(&rng, k, d, round % 2 == 0 ? 0.3 : 0.0);
        double x[5 * MAX_FEATURES], probs[5 * MAX_CLASSES];
        for (size_t i = 0; i < n * d; i++)
            x[i] = pick(&rng, 0.4);
        const mel_features features = { .n_rows = n, .n_cols = d, .dense = x, .stride = d };
        mel_error err;
        assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
        for (size_t i = 0; i < n; i++)
            check_row(probs + i * k, k);
        mel_model_free(model);
    }
}

/* The largest score wins even when every score overflows. */
static void test_overflow_keeps_the_order(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double weights[3], x, want[3];
    } rows[] = {
        { "two infinities", { 2.0, 3.0, 1.0 }, 1e308, { 0.0, 1.0, 0.0 } },
        { "opposite signs", { -2.0, 1.0, 3.0 }, -1e308, { 1.0, 0.0, 0.0 } },
        { "a tie", { 4.0, 4.0, -4.0 }, 1.7e308, { 0.5, 0.5, 0.0 } },
        { "differences overflow", { 1.0, -1.0, 0.0 }, 1.7e308, { 1.0, 0.0, 0.0 } },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        mel_model *model = NULL;
        mel_error err;
        assert_ok(mel_model_new(&model, 3, 1, &err), &err);
        for (size_t c = 0; c < 3; c++)
            model->weights[c] = rows[r].weights[c];
        const mel_features x = { .n_rows = 1, .n_cols = 1, .dense = &rows[r].x, .stride = 1 };
        double probs[3];
        print_message("  %s\n", rows[r].name);
        assert_ok(mel_model_predict(probs, model, &x, 1, &err), &err);
        for (size_t c = 0; c < 3; c++)
            assert_close(probs[c], rows[r].want[c], 1e-15);
        mel_model_free(model);
    }
}

/* inf - inf inside one score: terms that cancel leave the rest to decide. */
static void test_cancelling_infinities(void **state)
{
    (void)state;
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_new(&model, 2, 3, &err), &err);
    const double w[] = { 10.0, -10.0, 5.0 }, x[] = { 1e308, 1e308, 1e308 };
    for (size_t j = 0; j < 3; j++)
        model->weights[j] = w[j];
    const mel_features features = { .n_rows = 1, .n_cols = 3, .dense = x, .stride = 3 };
    double probs[2];
    assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
    assert_close(probs[1], 1.0, 1e-15);
    model->weights[2] = -5.0;
    assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
    assert_close(probs[1], 0.0, 1e-15);
    model->weights[2] = 0.0;
    assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
    assert_close(probs[1], 0.5, 1e-15);
    mel_model_free(model);
}

/* Ordinary input: equal to softmax in long double, small probabilities to full relative precision. */
static void test_accuracy(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int round = 0; round < 500; round++) {
        const size_t k = 2 + mel_rng_below(&rng, 5), d = 1 + mel_rng_below(&rng, 5);
        mel_model *model = random_model(&rng, k, d, 0.0);
        double x[5], probs[8];
        for (size_t j = 0; j < d; j++)
            x[j] = 20.0 * mel_rng_normal(&rng);
        const mel_features features = { .n_rows = 1, .n_cols = d, .dense = x, .stride = d };
        mel_error err;
        assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
        long double want[8], sum = 0.0L;
        for (size_t c = 0; c < k; c++) {
            const size_t row = k == 2 ? 0 : c;
            long double z = model->intercepts[row];
            for (size_t j = 0; j < d; j++)
                z += (long double)model->weights[row * d + j] * x[j];
            want[c] = k == 2 && c == 0 ? 1.0L : expl(z);
            sum += want[c];
        }
        for (size_t c = 0; c < k; c++)
            assert_close(probs[c], (double)(want[c] / sum), 1e-12 * (double)(want[c] / sum));
        mel_model_free(model);
    }
}

/* A row's probabilities do not depend on how it is stored or on the rows around it. */
static void test_storage_and_company(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 7; k += 5) {
        test_problem p;
        test_problem_make(&p, k, 700, 9, k, 0.4);
        const mel_features dense = test_problem_dense(&p), sparse = test_problem_sparse(&p);
        mel_model *model = NULL;
        mel_error err;
        assert_ok(mel_model_fit(&model, NULL, &dense, p.y, k, NULL, NULL, &err), &err);
        double *a = calloc(700 * k, sizeof *a), *b = calloc(700 * k, sizeof *b);
        assert_ok(mel_model_predict(a, model, &dense, 1, &err), &err);
        assert_ok(mel_model_predict(b, model, &sparse, 2, &err), &err);
        assert_memory_equal(a, b, 700 * k * sizeof *a);
        for (size_t i = 0; i < 700; i += 97) {
            const mel_features one = {
                .n_rows = 1, .n_cols = 9, .dense = p.dense + i * p.stride, .stride = 9
            };
            assert_ok(mel_model_predict(b, model, &one, 1, &err), &err);
            assert_memory_equal(a + i * k, b, k * sizeof *a);
        }
        free(a);
        free(b);
        mel_model_free(model);
        test_problem_clear(&p);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_new(&model, 2, 2, &err), &err);
    double x[4] = { 1.0, 2.0, 3.0, NAN }, probs[4];
    const mel_features features = { .n_rows = 2, .n_cols = 2, .dense = x, .stride = 2 };
    assert_int_equal(mel_model_predict(probs, model, &features, 1, &err), MEL_EDATA);
    assert_string_equal(err.text, "predicting: row 2, feature 2: nan is not a finite number");
    x[3] = INFINITY;
    assert_int_equal(mel_model_predict(probs, model, &features, 1, &err), MEL_EDATA);
    const mel_features none = { .n_rows = 0, .n_cols = 2, .dense = x, .stride = 2 };
    assert_ok(mel_model_predict(probs, model, &none, 1, &err), &err);
    mel_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extreme_input),         cmocka_unit_test(test_overflow_keeps_the_order),
        cmocka_unit_test(test_cancelling_infinities), cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_storage_and_company),   cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
