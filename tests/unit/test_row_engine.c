/* Rows in parts: what an engine adds up is what rows in one place say, and what it refuses ends the search.
 */
#include "support/problem.h"
#include "support/test.h"

#include "classify/shared.h"
#include "melicit/engine.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3, MOST_SUMS = 4000 };

typedef struct {
    mel_held_rows *held[PARTS];
    size_t passes, fails_at; /* the pass that fails; 0: none */
} parts;

static mel_status add_parts(double *out, const mel_pass *pass, void *user, mel_error *err)
{
    parts *p = user;
    double one[MOST_SUMS];
    assert_true(pass->n_out <= MOST_SUMS);
    memset(out, 0, pass->n_out * sizeof *out);
    if (++p->passes == p->fails_at) {
        (void)snprintf(err->text, sizeof err->text, "the third machine is off");
        return MEL_EIO;
    }
    for (size_t i = 0; i < PARTS; i++) {
        assert_ok(mel_rows_pass(one, p->held[i], pass, err), err);
        for (size_t c = 0; c < pass->n_out; c++)
            out[c] += one[c];
    }
    return MEL_OK;
}

/* Rows 0 .. 40 per cent, none, and the rest. */
static void hold_parts(parts *out, mel_features x[PARTS], const mel_features *all, const test_problem *p,
                       const double *probability)
{
    const size_t cut[PARTS + 1] = { 0, p->n_rows * 2 / 5, p->n_rows * 2 / 5, p->n_rows };
    *out = (parts){ .fails_at = 0 };
    for (size_t i = 0; i < PARTS; i++) {
        x[i] = *all;
        x[i].n_rows = cut[i + 1] - cut[i];
        if (all->dense != NULL)
            x[i].dense = all->dense + cut[i] * all->stride;
        else
            x[i].row_start = all->row_start + cut[i];
        const mel_rows rows = { .n_rows = x[i].n_rows,
                                .n_classes = p->n_classes,
                                .x = &x[i],
                                .probability =
                                    probability != NULL ? probability + cut[i] * p->n_classes : NULL,
                                .label = p->y + cut[i] };
        mel_error err;
        assert_ok(mel_rows_hold(&out->held[i], &rows, 1, &err), &err);
    }
}

static void let_go(parts *p)
{
    for (size_t i = 0; i < PARTS; i++)
        mel_held_rows_free(p->held[i]);
}

/* Both solvers, any number of classes, dense and sparse rows. */
static void test_fits(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 5; k++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
                test_problem p;
                test_problem_make(&p, 10 + k, 700, 5, k, 0.6);
                const mel_features all = sparse != 0 ? test_problem_sparse(&p) : test_problem_dense(&p);
                mel_features x[PARTS];
                parts spread;
                hold_parts(&spread, x, &all, &p, NULL);
                const mel_row_engine engine = { add_parts, &spread };
                mel_fit_options opt;
                mel_fit_options_init(&opt);
                opt.solver = (mel_solver)solver;
                mel_model *one = NULL, *two = NULL;
                mel_error err;
                assert_ok(mel_model_fit(&one, NULL, &all, p.y, k, NULL, &opt, &err), &err);
                opt.engine = &engine;
                opt.n_features = all.n_cols;
                assert_ok(mel_model_fit(&two, NULL, NULL, NULL, k, NULL, &opt, &err), &err);
                for (size_t i = 0; i < (k == 2 ? 1 : k) * all.n_cols; i++)
                    assert_close(mel_model_weights(two)[i], mel_model_weights(one)[i], 1e-7);
                mel_model_free(one);
                mel_model_free(two);
                let_go(&spread);
                test_problem_clear(&p);
            }
}

/* Rules for a metric, and Frank-Wolfe steps on weights of the diagonal and of the whole matrix. */
static void test_rules(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 4; k++) {
        test_problem p;
        test_problem_make(&p, 30 + k, 900, 4, k, 0.6);
        const mel_features all = test_problem_dense(&p);
        double *probability = calloc(p.n_rows * k, sizeof *probability);
        mel_model *model = NULL;
        mel_error err;
        assert_ok(mel_model_fit(&model, NULL, &all, p.y, k, NULL, NULL, &err), &err);
        assert_ok(mel_model_predict(probability, model, &all, 1, &err), &err);
        mel_features x[PARTS];
        parts spread;
        hold_parts(&spread, x, &all, &p, probability);
        const mel_row_engine engine = { add_parts, &spread };
        mel_rule_options how;
        mel_rule_options_init(&how);
        const mel_rule_rows here = {
            .n_rows = p.n_rows, .n_classes = k, .probability = probability, .label = p.y
        };
        const mel_rule_rows there = { .n_classes = k, .engine = &engine };
        mel_classifier *one = NULL, *two = NULL;
        mel_rule_report first = { 0 }, second = { 0 };
        assert_ok(mel_rule_find(&one, &first, &here, NULL, "f1-macro", &how, &err), &err);
        assert_ok(mel_rule_find(&two, &second, &there, NULL, "f1-macro", &how, &err), &err);
        assert_close(second.value, first.value, k == 2 ? 1e-3 : 1e-9); /* two classes are sorted here */
        mel_classifier_free(two);
        spread.passes = 0;
        spread.fails_at = 3;
        assert_int_equal(mel_rule_find(&two, NULL, &there, NULL, "f1-macro", &how, &err), MEL_EIO);
        assert_string_equal(err.text, "the third machine is off");
        assert_null(two);
        spread.fails_at = 0;
        mel_adjustment adjustment = { 0 };
        assert_int_equal(mel_rule_calibrate(&adjustment, &there, NULL, "f1-macro", &how, &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, "all rows in one place"));
        mel_trust trust = { 0 };
        assert_int_equal(mel_rule_trust(&trust, one, &there, NULL, "f1-macro", &how, NULL, &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, "all rows in one place"));

        mel_measure *measure = NULL;
        assert_ok(mel_measure_named(&measure, "f1-macro", k, 0, &err), &err);
        const mel_black_box box = mel_measure_box(measure, NULL);
        const mel_weight_rows rows = { .n_rows = p.n_rows, .probability = probability, .label = p.y },
                              none = { 0 };
        for (int shape = 0; shape < 2; shape++) {
            mel_optimise_options opt;
            mel_optimise_options_init(&opt);
            opt.iterations = 5;
            opt.shape = (mel_weight_shape)shape;
            mel_optimise_result a = { 0 }, b = { 0 };
            assert_ok(mel_optimise(&a, k, 1, &rows, &rows, &box, &opt, &err), &err);
            opt.engine = &engine;
            assert_ok(mel_optimise(&b, k, 1, &none, &rows, &box, &opt, &err), &err);
            assert_close(b.value, a.value, 1e-9);
            assert_int_equal(b.mixture.n_rules, a.mixture.n_rules);
            for (size_t i = 0; i < a.mixture.n_rules * k * k; i++)
                assert_close(b.mixture.gain[i], a.mixture.gain[i], 1e-6);
            mel_optimise_clear(&a);
            mel_optimise_clear(&b);
        }
        mel_measure_free(measure);
        mel_rule_report_clear(&first);
        mel_rule_report_clear(&second);
        mel_classifier_free(one);
        mel_model_free(model);
        free(probability);
        let_go(&spread);
        test_problem_clear(&p);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const double x[] = { 0, 1, 2, 3 }, p[] = { 0.5, 0.5, 0.2, 0.8, 1, 0, 0.1, 0.9 };
    static const uint32_t y[] = { 0, 1, 0, 1 };
    const mel_features features = { .n_rows = 4, .n_cols = 1, .dense = x, .stride = 1 };
    const mel_rows rows = { .n_rows = 4, .n_classes = 2, .x = &features, .probability = p, .label = y };
    static const struct {
        const char *name;
        mel_pass_kind kind;
        size_t n_in, n_out;
        double in[16];
        const char *says;
    } wrong[] = {
        { "facts of three classes", MEL_PASS_FACTS, 2, 7, { 3, 1 }, "3 classes" },
        { "facts of other features", MEL_PASS_FACTS, 2, 7, { 2, 2 }, "2 features" },
        { "a loss without parameters", MEL_PASS_LOSS, 3, 3, { 2, 1, 0 }, "2 classes" },
        { "no loss", MEL_PASS_LOSS, 0, 3, { 0 }, "0 classes" },
        { "decisions of three classes", MEL_PASS_DECISIONS, 15, 9, { 3, 3, 1 }, "other classes" },
        { "no decisions", MEL_PASS_DECISIONS, 0, 4, { 0 }, "other classes" },
        { "moments of three classes", MEL_PASS_MOMENTS, 6, 3, { 3, 1, 0, 1, 1, 1 }, "moments" },
        { "another kind", (mel_pass_kind)9, 0, 1, { 0 }, "9 is not a kind of pass" },
    };
    double out[16];
    mel_error err;
    mel_held_rows *held = NULL;
    assert_ok(mel_rows_hold(&held, &rows, 1, &err), &err);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        print_message("  %s\n", wrong[i].name);
        const mel_pass pass = { wrong[i].kind, wrong[i].n_in, wrong[i].n_out, wrong[i].in };
        assert_int_equal(mel_rows_pass(out, held, &pass, &err), MEL_EINVAL);
        if (strstr(err.text, wrong[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, wrong[i].says);
    }
    mel_held_rows_free(held);
    mel_rows bad = rows;
    bad.label = NULL;
    assert_int_equal(mel_rows_hold(&held, &bad, 1, &err), MEL_EINVAL);
    static const uint32_t far[] = { 0, 1, 2, 1 };
    bad.label = far;
    assert_int_equal(mel_rows_hold(&held, &bad, 1, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "row 3"));
    mel_held_rows_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
