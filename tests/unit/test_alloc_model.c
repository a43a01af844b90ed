/* Every allocation of this room fails once: a status comes back, nothing leaks, nothing changes. */
#include "data/shared.h"
#include "model/shared.h"
#include "support/problem.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    test_problem problem;
    mel_model *model;
    mel_fit_options fit;
    mel_features x;
    const char *path, *csv, *npy;
} fixture;

static mel_status fit_and_free(void *context)
{
    fixture *f = context;
    mel_model *model = (mel_model *)context;
    mel_error err;
    const mel_status status = mel_model_fit(&model, NULL, &f->x, f->problem.y, f->problem.n_classes,
                                            f->problem.weight, &f->fit, &err);
    if (status != MEL_OK)
        assert_null(model);
    mel_model_free(model);
    return status;
}

static mel_status predict(void *context)
{
    fixture *f = context;
    static double probs[400];
    mel_error err;
    return mel_model_predict(probs, f->model, &f->x, 1, &err);
}

static mel_status save(void *context)
{
    fixture *f = context;
    mel_error err;
    return mel_model_save(f->model, f->path, &err);
}

static mel_status load(void *context)
{
    fixture *f = context;
    mel_model *model = (mel_model *)context;
    mel_error err;
    const mel_status status = mel_model_load(&model, f->path, &err);
    if (status != MEL_OK)
        assert_null(model);
    mel_model_free(model);
    return status;
}

static mel_status rename_classes(void *context)
{
    static const char *const one[] = { "x", "y", "z" }, *const other[] = { "u", "v", "w" };
    fixture *f = context;
    mel_error err;
    const bool is_one = strcmp(mel_model_class_name(f->model, 0), "x") == 0;
    const mel_status status = mel_model_set_classes(f->model, is_one ? other : one, &err);
    if (status != MEL_OK) /* the old names stay, all of them */
        assert_string_equal(mel_model_class_name(f->model, 1), is_one ? "y" : "v");
    return status;
}

static mel_status temperature(void *context)
{
    fixture *f = context;
    mel_error err;
    const mel_calibration before = mel_model_calibration(f->model);
    const mel_status status =
        mel_model_calibrate(f->model, MEL_CALIBRATE_TEMPERATURE, &f->x, f->problem.y, NULL, &err);
    if (status != MEL_OK)
        assert_int_equal(mel_model_calibration(f->model), before);
    return status;
}

static mel_status isotonic(void *context)
{
    fixture *f = context;
    mel_error err;
    return mel_model_calibrate(f->model, MEL_CALIBRATE_ISOTONIC, &f->x, f->problem.y, NULL, &err);
}

/* From no calibration to isotonic and back: as many blocks before as after. */
static mel_status isotonic_and_back(void *context)
{
    fixture *f = context;
    mel_status status = isotonic(f);
    if (status == MEL_OK)
        status = mel_model_calibrate(f->model, MEL_CALIBRATE_NONE, &f->x, f->problem.y, NULL, NULL);
    return status;
}

static mel_status read_proba(void *context)
{
    fixture *f = context;
    mel_proba proba = { 0 };
    mel_error err;
    mel_status status = mel_proba_read(&proba, f->csv, NULL, &err);
    if (status != MEL_OK)
        assert_null(proba.value);
    mel_proba_clear(&proba);
    if (status == MEL_OK)
        status = mel_proba_read(&proba, f->npy, NULL, &err);
    mel_proba_clear(&proba);
    return status;
}

static void start(fixture *f, size_t k, bool sparse, mel_solver solver)
{
    *f = (fixture){ 0 };
    test_problem_make(&f->problem, 3, 60, 4, k, 0.7);
    f->x = sparse ? test_problem_sparse(&f->problem) : test_problem_dense(&f->problem);
    mel_fit_options_init(&f->fit);
    f->fit.solver = solver;
    f->fit.threads = 1;
    mel_error err;
    assert_ok(mel_model_fit(&f->model, NULL, &f->x, f->problem.y, k, NULL, &f->fit, &err), &err);
    static const char csv[] = "a,b,c\n0.5,0.25,0.25\n0,1,0\n";
    static const double value[] = { 0.5, 0.5, 1.0, 0.0 };
    f->csv = test_file("p.csv", csv, sizeof csv - 1);
    f->npy = test_path("p.npy");
    assert_ok(mel_npy_write(f->npy, 2, 2, value, &err), &err);
    f->path = test_path("model.json");
}

static void end(fixture *f)
{
    mel_model_free(f->model);
    test_problem_clear(&f->problem);
}

/* NLopt allocates inside its own library, which is not wrapped: its failures are not injected. */
static void test_fit(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 3; k++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int solver = MEL_SOLVER_NEWTON; solver <= MEL_SOLVER_LBFGS; solver++) {
                fixture f;
                start(&f, k, sparse != 0, (mel_solver)solver);
                test_each_allocation(solver == MEL_SOLVER_NEWTON ? "Newton" : "L-BFGS", fit_and_free, &f);
                f.fit.warm = f.model;
                test_each_allocation("warm start", fit_and_free, &f);
                end(&f);
            }
}

static void test_rest(void **state)
{
    (void)state;
    fixture f;
    start(&f, 3, false, MEL_SOLVER_NEWTON);
    test_each_allocation("predict", predict, &f);
    assert_int_equal(rename_classes(&f), MEL_OK);
    test_each_allocation("class names", rename_classes, &f);
    test_each_allocation("temperature", temperature, &f);
    test_each_allocation("save", save, &f);
    test_each_allocation("load", load, &f);
    test_each_allocation("probabilities", read_proba, &f);
    end(&f);
    start(&f, 2, true, MEL_SOLVER_NEWTON);
    test_each_allocation("isotonic", isotonic_and_back, &f);
    assert_int_equal(isotonic(&f), MEL_OK);
    test_each_allocation("isotonic again", isotonic, &f);
    test_each_allocation("save with steps", save, &f);
    test_each_allocation("load with steps", load, &f);
    end(&f);
}

/* A model file with an encoder in it. */
static void test_encoder(void **state)
{
    (void)state;
    static const char csv[] = "age,sex,label\n30,f,0\n41,m,1\n,f,0\n55,m,1\n62,?,1\n18,f,0\n";
    static const char *const skip[] = { "label" };
    fixture f;
    start(&f, 2, false, MEL_SOLVER_NEWTON);
    mel_error err;
    mel_table *table = NULL;
    mel_labels labels = { 0 };
    mel_encoder *encoder = NULL;
    mel_encoded encoded = { 0 };
    mel_encoder_options opt;
    mel_encoder_options_init(&opt);
    opt.skip = skip;
    opt.n_skip = 1;
    assert_ok(mel_table_read_memory(&table, csv, sizeof csv - 1, "t.csv", NULL, &err), &err);
    assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
    assert_ok(mel_encoder_fit(&encoder, table, &opt, &err), &err);
    assert_ok(mel_encode(&encoded, encoder, table, &err), &err);
    mel_model_free(f.model);
    assert_ok(mel_model_fit(&f.model, NULL, &encoded.view, labels.code, 2, NULL, NULL, &err), &err);
    mel_model_set_encoder(f.model, encoder);
    test_each_allocation("save with encoder", save, &f);
    test_each_allocation("load with encoder", load, &f);
    mel_encoded_clear(&encoded);
    mel_labels_clear(&labels);
    mel_table_free(table);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fit), cmocka_unit_test(test_rest),
                                        cmocka_unit_test(test_encoder) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
