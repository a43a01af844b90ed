/* Training by moments of files: the model of all rows, the same bits in any order, what is refused. */
#include "support/problem.h"
#include "support/test.h"

#include "model/shared.h"

#include <math.h>
#include <string.h>

enum { PARTS = 4 };
static const size_t cut[PARTS + 1] = { 0, 900, 901, 2100, 3000 };
static const char *const file[PARTS] = { "b", "a", "d", "c" };

static mel_features rows_of(const test_problem *p, size_t part, bool sparse)
{
    mel_features x = sparse ? test_problem_sparse(p) : test_problem_dense(p);
    if (sparse)
        x.row_start += cut[part];
    else
        x.dense += cut[part] * x.stride;
    x.n_rows = cut[part + 1] - cut[part];
    return x;
}

/* The moments of all parts, merged in an order. */
static mel_moments *all_moments(const mel_model *at, const test_problem *p, const size_t *order, bool sparse,
                                int threads)
{
    mel_moments *all = NULL;
    mel_error err;
    for (size_t i = 0; i < PARTS; i++) {
        const size_t part = order[i];
        const mel_features x = rows_of(p, part, sparse);
        mel_moments *one = NULL, *both = NULL;
        assert_ok(mel_moments_take(&one, at, file[part], &x, p->y + cut[part], p->weight + cut[part], threads,
                                   &err),
                  &err);
        if (all != NULL) {
            assert_ok(mel_moments_merge(&both, one, all, &err), &err);
            mel_moments_free(one);
            mel_moments_free(all);
            one = both;
        }
        all = one;
    }
    return all;
}

static void assert_same_model(const mel_model *a, const mel_model *b, double tolerance)
{
    const size_t k = mel_model_classes(a), outputs = k == 2 ? 1 : k, d = mel_model_features(a);
    for (size_t i = 0; i < outputs * d; i++)
        assert_close(mel_model_weights(a)[i], mel_model_weights(b)[i], tolerance);
    for (size_t i = 0; i < outputs; i++)
        assert_close(mel_model_intercepts(a)[i], mel_model_intercepts(b)[i], tolerance);
}

/* A model of the first rows, for the start. */
static mel_model *first_model(const test_problem *p, bool sparse)
{
    mel_model *model = NULL;
    mel_error err;
    const mel_features x = rows_of(p, 0, sparse);
    assert_ok(mel_model_fit(&model, NULL, &x, p->y, p->n_classes, p->weight, NULL, &err), &err);
    return model;
}

static void test_converges_to_all_rows(void **state)
{
    (void)state;
    static const size_t order[PARTS] = { 0, 1, 2, 3 };
    for (size_t k = 2; k <= 4; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            test_problem p;
            test_problem_make(&p, 7 + k, cut[PARTS], 5, k, 0.6);
            mel_model *model = first_model(&p, sparse != 0), *want = NULL;
            mel_error err;
            mel_fit_report report = { .reason = MEL_FIT_BUDGET }, whole;
            for (int round = 0; round < 20 && report.reason != MEL_FIT_CONVERGED; round++) {
                mel_moments *all = all_moments(model, &p, order, sparse != 0, 2);
                assert_int_equal(mel_moments_files(all), PARTS);
                assert_int_equal(mel_moments_rows(all), cut[PARTS]);
                assert_ok(mel_model_step(model, &report, all, NULL, &err), &err);
                mel_moments_free(all);
            }
            assert_int_equal(report.reason, MEL_FIT_CONVERGED);
            const mel_features x = sparse != 0 ? test_problem_sparse(&p) : test_problem_dense(&p);
            assert_ok(mel_model_fit(&want, &whole, &x, p.y, k, p.weight, NULL, &err), &err);
            assert_same_model(model, want, 1e-6);
            assert_close(report.objective, whole.objective, 1e-9 * whole.objective);
            mel_model_free(model);
            mel_model_free(want);
            test_problem_clear(&p);
        }
}

/* Through files, too. */
static void test_same_bits(void **state)
{
    (void)state;
    static const size_t orders[][PARTS] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 } };
    test_problem p;
    test_problem_make(&p, 3, cut[PARTS], 4, 3, 1.0);
    mel_model *start = first_model(&p, false), *first = NULL;
    mel_error err;
    assert_ok(mel_model_save(start, test_path("start.json"), &err), &err);
    for (size_t i = 0; i < COUNT(orders); i++)
        for (int threads = 1; threads <= 3; threads++) {
            mel_moments *all = all_moments(start, &p, orders[i], false, threads), *read = NULL;
            assert_ok(mel_moments_save(all, test_path("all.moments"), &err), &err);
            assert_ok(mel_moments_load(&read, test_path("all.moments"), &err), &err);
            mel_model *next = NULL;
            assert_ok(mel_model_load(&next, test_path("start.json"), &err), &err);
            assert_ok(mel_model_step(next, NULL, read, NULL, &err), &err);
            if (first == NULL)
                first = next;
            else
                assert_same_model(first, next, 0.0);
            if (first != next)
                mel_model_free(next);
            mel_moments_free(all);
            mel_moments_free(read);
        }
    mel_model_free(start);
    mel_model_free(first);
    test_problem_clear(&p);
}

static void test_refuses(void **state)
{
    (void)state;
    static const size_t order[PARTS] = { 0, 1, 2, 3 };
#define NO_FILES                                                                                             \
    "{\"format\": \"melicit-moments\", \"version\": 1, \"classes\": 2, \"features\": 1, \"at\": \"\", "      \
    "\"files\": []}"
    static const char *const bad[] = { "{}", "{\"format\": \"melicit-model\"}", NO_FILES };
    test_problem p;
    test_problem_make(&p, 5, cut[PARTS], 3, 2, 1.0);
    mel_model *start = first_model(&p, false), *other = NULL;
    mel_error err;
    mel_moments *all = all_moments(start, &p, order, false, 1), *both = NULL;
    assert_int_equal(mel_moments_merge(&both, all, all, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "the rows of a are there twice"));
    const mel_features x = test_problem_dense(&p);
    assert_ok(mel_model_fit(&other, NULL, &x, p.y, 2, p.weight, NULL, &err), &err);
    mel_moments *elsewhere = all_moments(other, &p, order, false, 1);
    assert_int_equal(mel_moments_merge(&both, all, elsewhere, &err), MEL_EDATA);
    assert_int_equal(mel_model_step(other, NULL, all, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "taken at another model"));
    for (size_t i = 0; i < COUNT(bad); i++) {
        mel_moments *read = NULL;
        assert_int_equal(mel_moments_load(&read, test_file("bad.moments", bad[i], strlen(bad[i])), &err),
                         MEL_EDATA);
        assert_null(read);
    }
    assert_ok(mel_model_calibrate(other, MEL_CALIBRATE_TEMPERATURE, &x, p.y, NULL, &err), &err);
    assert_int_equal(mel_moments_take(&both, other, "a", &x, p.y, NULL, 1, &err), MEL_EINVAL);
    mel_moments_free(all);
    mel_moments_free(elsewhere);
    mel_model_free(start);
    mel_model_free(other);
    test_problem_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converges_to_all_rows),
        cmocka_unit_test_teardown(test_same_bits, test_teardown),
        cmocka_unit_test_teardown(test_refuses, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
