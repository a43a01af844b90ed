/* A fit that keeps its evaluations goes on from them: the same bits, fewer passes; other fits are refused. */
#include "support/problem.h"
#include "support/test.h"

#include "melicit/model.h"

#include <string.h>

static int evaluations_left;

/* Ends a fit from outside, as a kill does. */
static int stop_after(void *user, const char *what, double share)
{
    (void)user;
    (void)what;
    (void)share;
    return evaluations_left-- <= 0;
}

static mel_status fit(mel_model **model, mel_fit_report *report, const test_problem *p, const mel_features *x,
                      mel_fit_options *opt, int left, mel_error *err)
{
    evaluations_left = left;
    opt->progress.call = stop_after;
    return mel_model_fit(model, report, x, p->y, 4, NULL, opt, err);
}

static void test_goes_on(void **state)
{
    (void)state;
    for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
        test_problem p;
        test_problem_make(&p, 3, 1500, 10, 4, 0.6);
        const mel_features x = test_problem_sparse(&p);
        mel_fit_options opt;
        mel_fit_options_init(&opt);
        opt.solver = (mel_solver)solver;
        mel_fit_report whole, again;
        mel_model *first = NULL, *second = NULL;
        mel_error err;
        assert_ok(fit(&first, &whole, &p, &x, &opt, 1000000, &err), &err);
        opt.checkpoint = test_path(solver == MEL_SOLVER_NEWTON ? "newton" : "lbfgs");
        for (int left = 1; left < 4; left++)
            assert_int_equal(fit(&second, &again, &p, &x, &opt, left, &err), MEL_ESTOPPED);
        assert_ok(fit(&second, &again, &p, &x, &opt, 1000000, &err), &err);
        assert_int_equal(again.iterations, whole.iterations);
        assert_close(again.objective, whole.objective, 0);
        static double probs[2][1500 * 4];
        assert_ok(mel_model_predict(probs[0], first, &x, 1, &err), &err);
        assert_ok(mel_model_predict(probs[1], second, &x, 1, &err), &err);
        assert_memory_equal(probs[0], probs[1], sizeof probs[0]);
        mel_model_free(second);
        opt.l2 = 2.0;
        assert_int_equal(fit(&second, NULL, &p, &x, &opt, 1000000, &err), MEL_ECONFLICT);
        opt.l2 = 1.0;
        p.y[7] = (p.y[7] + 1) % 4;
        assert_int_equal(fit(&second, NULL, &p, &x, &opt, 1000000, &err), MEL_ECONFLICT);
        assert_non_null(strstr(err.text, "another fit"));
        opt.checkpoint = test_file("other", "not one of ours", 15);
        assert_int_equal(fit(&second, NULL, &p, &x, &opt, 1000000, &err), MEL_EDATA);
        opt.checkpoint = test_path("nowhere/file");
        assert_int_equal(fit(&second, NULL, &p, &x, &opt, 1000000, &err), MEL_EIO);
        mel_model_free(first);
        test_problem_clear(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(test_goes_on, test_teardown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
