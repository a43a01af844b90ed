/* The fitting objective against a naive twin, and what must not depend on threads or storage. */
#include "support/problem.h"
#include "support/test.h"

#include "model/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double value;
    double *gradient, *hessian;
} naive;

static double feature(const test_problem *p, size_t i, size_t j)
{
    return j == p->n_cols ? 1.0 : p->dense[i * p->stride + j];
}

/* Probabilities of row i; two classes: the second has all the coefficients. */
static void naive_softmax(const test_problem *p, const double *theta, size_t i, long double *prob)
{
    const size_t k = p->n_classes, m = k == 2 ? 1 : k;
    long double sum = 0.0L;
    for (size_t c = 0; c < k; c++) {
        long double z = 0.0L;
        for (size_t j = 0; j <= p->n_cols; j++)
            if (m > 1 || c == 1)
                z += (long double)feature(p, i, j) * theta[j * m + (m > 1 ? c : 0)];
        prob[c] = expl(z);
        sum += prob[c];
    }
    for (size_t c = 0; c < k; c++)
        prob[c] /= sum;
}

static void naive_row(const test_problem *p, const double *weight, const double *theta, size_t i, naive *out)
{
    const size_t k = p->n_classes, m = k <= 2 ? 1 : k, first = k - m, n_params = m * (p->n_cols + 1);
    long double prob[32] = { 0 };
    naive_softmax(p, theta, i, prob);
    const double w = weight != NULL ? weight[i] : 1.0;
    out->value += w * (double)-logl(prob[p->y[i]]);
    for (size_t a = 0; a < n_params; a++) {
        const size_t ca = a % m + first;
        const double xa = feature(p, i, a / m);
        out->gradient[a] += w * xa * (double)(prob[ca] - (p->y[i] == ca ? 1.0L : 0.0L));
        for (size_t b = 0; b < n_params; b++) {
            const size_t cb = b % m + first;
            const double xb = feature(p, i, b / m);
            out->hessian[a * n_params + b] +=
                w * xa * xb * (double)(prob[ca] * ((ca == cb ? 1.0L : 0.0L) - prob[cb]));
        }
    }
}

static void naive_eval(const test_problem *p, const double *weight, double l2, const double *theta,
                       naive *out)
{
    const size_t m = p->n_classes == 2 ? 1 : p->n_classes, n_params = m * (p->n_cols + 1);
    out->value = 0.0;
    memset(out->gradient, 0, n_params * sizeof *out->gradient);
    memset(out->hessian, 0, n_params * n_params * sizeof *out->hessian);
    for (size_t i = 0; i < p->n_rows; i++)
        naive_row(p, weight, theta, i, out);
    for (size_t a = 0; a < p->n_cols * m; a++) {
        out->value += 0.5 * l2 * theta[a] * theta[a];
        out->gradient[a] += l2 * theta[a];
        out->hessian[a * n_params + a] += l2;
    }
}

/* The Hessian times a vector without a part along equal shifts of the classes of a feature. */
static void compare_hessian(const mel_objective *obj, const naive *want, mel_rng *rng)
{
    const size_t p = obj->n_params;
    double *h = calloc(p * p, sizeof *h), *v = calloc(p, sizeof *v);
    assert_non_null(h);
    assert_non_null(v);
    mel_objective_hessian(obj, h);
    for (size_t a = 0; a < p; a++)
        for (size_t b = a + 1; b < p; b++)
            h[a * p + b] = h[b * p + a];
    for (size_t a = 0; a < p; a++)
        v[a] = mel_rng_normal(rng);
    mel_objective_centre(obj, v);
    for (size_t a = 0; a < p; a++) {
        double got = 0.0, expect = 0.0, size = 1.0;
        for (size_t b = 0; b < p; b++) {
            got += h[a * p + b] * v[b];
            expect += want->hessian[a * p + b] * v[b];
            size += fabs(want->hessian[a * p + b] * v[b]);
        }
        assert_close(got, expect, 1e-12 * size);
    }
    free(h);
    free(v);
}

static void compare(const test_problem *p, const mel_features *x, const double *weight, uint64_t seed)
{
    mel_error err;
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    mel_objective obj = {
        .x = x, .y = p->y, .weight = weight, .total = 1.0, .l2 = 0.7, .n_classes = p->n_classes, .threads = 2
    };
    assert_ok(mel_objective_init(&obj, true, &err), &err);
    const size_t n = obj.n_params;
    naive want = { .gradient = calloc(n, sizeof(double)), .hessian = calloc(n * n, sizeof(double)) };
    double *theta = calloc(n, sizeof *theta), *gradient = calloc(n, sizeof *gradient);
    double *again = calloc(n, sizeof *again);
    for (size_t i = 0; i < n; i++)
        theta[i] = mel_rng_normal(&rng);
    naive_eval(p, weight, 0.7, theta, &want);
    const double value = mel_objective_eval(&obj, theta, gradient, true);
    assert_close(value, want.value, 1e-13 * (1.0 + fabs(want.value)));
    for (size_t i = 0; i < n; i++)
        assert_close(gradient[i], want.gradient[i], 1e-12 * (1.0 + (double)p->n_rows));
    compare_hessian(&obj, &want, &rng);
    /* Collecting the Hessian changes nothing else. */
    assert_true(value == mel_objective_eval(&obj, theta, again, false));
    assert_memory_equal(gradient, again, n * sizeof *again);
    free(want.gradient);
    free(want.hessian);
    free(theta);
    free(gradient);
    free(again);
    mel_objective_clear(&obj);
}

static void test_naive_twin(void **state)
{
    (void)state;
    static const struct {
        size_t n, d, k;
        double density;
    } rows[] = {
        { 3, 0, 2, 1.0 },    { 5, 0, 3, 1.0 },   { 7, 1, 2, 1.0 },    { 40, 5, 2, 0.5 },  { 300, 12, 2, 0.3 },
        { 9, 1, 3, 1.0 },    { 600, 3, 3, 0.8 }, { 33, 6, 4, 0.4 },   { 257, 5, 5, 1.0 }, { 70, 4, 9, 0.5 },
        { 130, 70, 2, 0.2 }, { 64, 70, 3, 0.2 }, { 513, 66, 4, 0.1 }, { 65, 2, 20, 1.0 }, { 1, 4, 2, 1.0 },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        test_problem p;
        test_problem_make(&p, 100 + r, rows[r].n, rows[r].d, rows[r].k, rows[r].density);
        const mel_features dense = test_problem_dense(&p), sparse = test_problem_sparse(&p);
        print_message("  %zu x %zu, %zu classes\n", p.n_rows, p.n_cols, p.n_classes);
        compare(&p, &dense, NULL, r);
        compare(&p, &dense, p.weight, r);
        compare(&p, &sparse, NULL, r);
        compare(&p, &sparse, p.weight, r);
        p.weight[0] = 0.0;
        compare(&p, &dense, p.weight, r);
        test_problem_clear(&p);
    }
}

/* The value's slope along each parameter is the gradient: independent of any formula for it. */
static void test_finite_differences(void **state)
{
    (void)state;
    mel_error err;
    for (size_t k = 2; k <= 4; k++) {
        test_problem p;
        test_problem_make(&p, k, 50, 3, k, 0.7);
        const mel_features x = test_problem_sparse(&p);
        mel_objective obj = {
            .x = &x, .y = p.y, .weight = p.weight, .l2 = 0.3, .n_classes = k, .threads = 1
        };
        assert_ok(mel_objective_init(&obj, false, &err), &err);
        double theta[16] = { 0 }, gradient[16], unused[16];
        for (size_t i = 0; i < obj.n_params; i++)
            theta[i] = 0.1 * (double)i - 0.4;
        (void)mel_objective_eval(&obj, theta, gradient, false);
        const double h = 1e-5;
        for (size_t i = 0; i < obj.n_params; i++) {
            const double keep = theta[i];
            theta[i] = keep + h;
            const double above = mel_objective_eval(&obj, theta, unused, false);
            theta[i] = keep - h;
            const double below = mel_objective_eval(&obj, theta, unused, false);
            theta[i] = keep;
            assert_close((above - below) / (2.0 * h), gradient[i], 1e-6);
        }
        mel_objective_clear(&obj);
        test_problem_clear(&p);
    }
}

/* Value, gradient and Hessian have the same bits for any number of threads. */
static void test_threads(void **state)
{
    (void)state;
    static const struct {
        size_t n, d, k;
        double density;
    } rows[] = { { 5000, 9, 2, 0.4 }, { 5000, 9, 4, 0.4 }, { 4500, 70, 2, 0.1 }, { 6000, 4, 6, 1.0 } };
    mel_error err;
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int sparse = 0; sparse < 2; sparse++) {
            test_problem p;
            test_problem_make(&p, r, rows[r].n, rows[r].d, rows[r].k, rows[r].density);
            const mel_features x = sparse ? test_problem_sparse(&p) : test_problem_dense(&p);
            double *result[3] = { NULL, NULL, NULL };
            static const int threads[] = { 1, 2, 5 };
            size_t size = 0;
            for (size_t t = 0; t < 3; t++) {
                mel_objective obj = { .x = &x,
                                      .y = p.y,
                                      .weight = p.weight,
                                      .l2 = 1.0,
                                      .n_classes = p.n_classes,
                                      .threads = threads[t] };
                assert_ok(mel_objective_init(&obj, true, &err), &err);
                const size_t n = obj.n_params;
                size = 1 + n + n * n;
                result[t] = calloc(size, sizeof(double));
                double *theta = calloc(n, sizeof *theta);
                for (size_t i = 0; i < n; i++)
                    theta[i] = sin((double)i);
                result[t][0] = mel_objective_eval(&obj, theta, result[t] + 1, true);
                mel_objective_hessian(&obj, result[t] + 1 + n);
                free(theta);
                mel_objective_clear(&obj);
            }
            assert_memory_equal(result[0], result[1], size * sizeof(double));
            assert_memory_equal(result[0], result[2], size * sizeof(double));
            for (size_t t = 0; t < 3; t++)
                free(result[t]);
            test_problem_clear(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_naive_twin),
        cmocka_unit_test(test_finite_differences),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
