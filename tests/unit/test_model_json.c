/* The model file: what is written reads back to the same bits, and nothing else is accepted. */
#include "support/problem.h"
#include "support/test.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static mel_model *fitted(const test_problem *p)
{
    mel_model *model = NULL;
    mel_error err;
    const mel_features x = test_problem_dense(p);
    assert_ok(mel_model_fit(&model, NULL, &x, p->y, p->n_classes, NULL, NULL, &err), &err);
    return model;
}

static mel_model *round_trip(const mel_model *model)
{
    mel_model *back = NULL;
    mel_error err;
    const char *path = test_path("model.json");
    assert_ok(mel_model_save(model, path, &err), &err);
    assert_ok(mel_model_load(&back, path, &err), &err);
    return back;
}

static void assert_same_predictions(const mel_model *a, const mel_model *b, const mel_features *x)
{
    const size_t size = x->n_rows * mel_model_classes(a);
    double *pa = calloc(size, sizeof *pa), *pb = calloc(size, sizeof *pb);
    mel_error err;
    assert_ok(mel_model_predict(pa, a, x, 1, &err), &err);
    assert_ok(mel_model_predict(pb, b, x, 1, &err), &err);
    assert_memory_equal(pa, pb, size * sizeof *pa);
    free(pa);
    free(pb);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "\"quoted\"", "\xc3\xa4\n", "", "d" };
    for (size_t k = 2; k <= 5; k++) {
        test_problem p;
        test_problem_make(&p, k, 400, 6, k, 0.6);
        const mel_features x = test_problem_dense(&p);
        mel_model *model = fitted(&p);
        mel_error err;
        assert_ok(mel_model_set_classes(model, names, &err), &err);
        mel_model *back = round_trip(model);
        assert_int_equal(mel_model_classes(back), k);
        assert_int_equal(mel_model_features(back), 6);
        for (size_t c = 0; c < k; c++)
            assert_string_equal(mel_model_class_name(back, c), names[c]);
        assert_memory_equal(back->weights, model->weights, model->n_outputs * 6 * sizeof(double));
        assert_memory_equal(back->intercepts, model->intercepts, model->n_outputs * sizeof(double));
        assert_true(back->fitted && back->l2 == 1.0);
        assert_true(back->report.objective == model->report.objective);
        assert_int_equal(back->report.iterations, model->report.iterations);
        assert_same_predictions(model, back, &x);
        mel_model_free(back);
        mel_model_free(model);
        test_problem_clear(&p);
    }
}

/* Numbers at the ends of the range, and a model that was never fitted. */
static void test_extreme_numbers(void **state)
{
    (void)state;
    static const double numbers[] = {
        0.0, -0.0,      1.7976931348623157e308, -5e-324, 2.2250738585072014e-308,
        0.1, 1.0 / 3.0, 123456789012345678.0,   -1e-300
    };
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_new(&model, 2, COUNT(numbers), &err), &err);
    memcpy(model->weights, numbers, sizeof numbers);
    mel_model *back = round_trip(model);
    assert_memory_equal(back->weights, numbers, sizeof numbers);
    assert_false(back->fitted);
    mel_model_free(back);
    mel_model_free(model);
    assert_ok(mel_model_new(&model, 3, 0, &err), &err);
    back = round_trip(model);
    assert_int_equal(mel_model_features(back), 0);
    assert_string_equal(mel_model_class_name(back, 2), "2");
    mel_model_free(back);
    mel_model_free(model);
}

/* With its encoder a file is all it takes to predict from a table. */
static void test_encoder_travels(void **state)
{
    (void)state;
    static const char csv[] = "age,sex,label\n30,f,0\n41,m,1\n,f,0\n55,m,1\n62,?,1\n18,f,0\n";
    static const char *const skip[] = { "label" };
    mel_error err;
    mel_table *table = NULL;
    mel_labels labels = { 0 };
    mel_encoder *encoder = NULL;
    mel_encoded a = { 0 }, b = { 0 };
    mel_encoder_options opt;
    mel_encoder_options_init(&opt);
    opt.skip = skip;
    opt.n_skip = 1;
    assert_ok(mel_table_read_memory(&table, csv, sizeof csv - 1, "t.csv", NULL, &err), &err);
    assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
    assert_ok(mel_encoder_fit(&encoder, table, &opt, &err), &err);
    assert_ok(mel_encode(&a, encoder, table, &err), &err);
    mel_model *model = NULL;
    assert_ok(mel_model_fit(&model, NULL, &a.view, labels.code, 2, NULL, NULL, &err), &err);
    mel_model_set_encoder(model, encoder);
    assert_ptr_equal(mel_model_encoder(model), encoder);
    mel_model *back = round_trip(model);
    assert_non_null(mel_model_encoder(back));
    assert_ok(mel_encode(&b, mel_model_encoder(back), table, &err), &err);
    double pa[12], pb[12];
    assert_ok(mel_model_predict(pa, model, &a.view, 1, &err), &err);
    assert_ok(mel_model_predict(pb, back, &b.view, 1, &err), &err);
    assert_memory_equal(pa, pb, sizeof pa);
    mel_model_set_encoder(back, NULL);
    assert_null(mel_model_encoder(back));
    mel_model_free(back);
    mel_model_free(model);
    mel_encoded_clear(&a);
    mel_encoded_clear(&b);
    mel_labels_clear(&labels);
    mel_table_free(table);
}

#define HEAD "{\"format\":\"melicit-model\",\"version\":1,"
#define TAIL ",\"calibration\":{\"kind\":\"none\"},\"fit\":null}"
#define TWO "\"classes\":[\"a\",\"b\"],\"encoder\":null,"
#define COEF "\"intercepts\":[0.5],\"weights\":[[1,2]]"
#define CAL(text) HEAD TWO COEF ",\"calibration\":" text ",\"fit\":null}"
#define FIT(text) HEAD TWO COEF ",\"calibration\":{\"kind\":\"none\"},\"fit\":" text "}"
#define NUMBERS "\"l2\":1,\"objective\":2,\"log_loss\":0.1,\"gradient_norm\":0"

static const struct {
    const char *name, *json, *says; /* says NULL: accepted */
} files[] = {
    { "whole", HEAD TWO COEF TAIL, NULL },
    { "no features", HEAD TWO "\"intercepts\":[0.5],\"weights\":[[]]" TAIL, NULL },
    { "temperature", CAL("{\"kind\":\"temperature\",\"temperature\":2}"), NULL },
    { "fit", FIT("{\"reason\":\"converged\",\"solver\":\"newton\",\"iterations\":4," NUMBERS "}"), NULL },
    { "empty", "", "line 1, column 0" },
    { "not JSON", "weights: 1", "expected a JSON object" },
    { "cut off", HEAD TWO, "line 1, column" },
    { "trailing text", HEAD TWO COEF TAIL "x", "end of file expected" },
    { "doubled key", HEAD "\"version\":1," TWO COEF TAIL, "duplicate object key" },
    { "NaN", HEAD TWO "\"intercepts\":[NaN],\"weights\":[[1,2]]" TAIL, "invalid token" },
    { "overflow", HEAD TWO "\"intercepts\":[1e999],\"weights\":[[1,2]]" TAIL, "real number overflow" },
    { "bad UTF-8", HEAD "\"classes\":[\"\xff\",\"b\"]}", "column 50: unable to decode byte 0xff" },
    { "NUL in a name", HEAD "\"classes\":[\"a\\u0000\",\"b\"]}", "\\u0000" },
    { "an array", "[1,2]", "expected a model, a file with \"format\"" },
    { "another format", "{\"format\":\"melicit-metric\",\"version\":1}",
      "this is a metric; expected a model" },
    { "no version", "{\"format\":\"melicit-model\"}", "version: not a whole number" },
    { "version as text", "{\"format\":\"melicit-model\",\"version\":\"1\"}", "version: not a whole number" },
    { "later version", "{\"format\":\"melicit-model\",\"version\":2}", "version: 2, this program reads 1" },
    { "missing key", HEAD "\"classes\":[\"a\",\"b\"]," COEF TAIL, "\"encoder\" is missing" },
    { "unknown key", HEAD TWO "\"bias\":1," COEF TAIL, "unknown key \"bias\"" },
    { "one class", HEAD "\"classes\":[\"a\"],\"encoder\":null," COEF TAIL, "classes: not an array of two" },
    { "classes as text", HEAD "\"classes\":\"ab\",\"encoder\":null," COEF TAIL, "classes: not an array" },
    { "class as number", HEAD "\"classes\":[\"a\",1],\"encoder\":null," COEF TAIL, "classes[1]: not a text" },
    { "class twice", HEAD "\"classes\":[\"a\",\"a\"],\"encoder\":null," COEF TAIL,
      "classes[1]: \"a\" is given twice" },
    { "too many rows", HEAD TWO "\"intercepts\":[0],\"weights\":[[1],[2]]" TAIL,
      "weights: not an array of 1 rows" },
    { "too few rows",
      HEAD
      "\"classes\":[\"a\",\"b\",\"c\"],\"encoder\":null,\"intercepts\":[0,0,0],\"weights\":[[1],[2]]" TAIL,
      "weights: not an array of 3 rows" },
    { "ragged rows",
      HEAD "\"classes\":[\"a\",\"b\",\"c\"],\"encoder\":null,\"intercepts\":[0,0,0],\"weights\":[[1],[2],[1,"
           "2]]" TAIL,
      "weights[2]: not an array of 1 numbers" },
    { "row as number", HEAD TWO "\"intercepts\":[0],\"weights\":[3]" TAIL, "weights[0]: not an array" },
    { "weight as text", HEAD TWO "\"intercepts\":[0],\"weights\":[[1,\"2\"]]" TAIL,
      "weights[0][1]: not a number" },
    { "weight as null", HEAD TWO "\"intercepts\":[0],\"weights\":[[null,2]]" TAIL,
      "weights[0][0]: not a number" },
    { "intercepts short", HEAD TWO "\"intercepts\":[],\"weights\":[[1,2]]" TAIL,
      "intercepts: not an array of 1" },
    { "intercept as text", HEAD TWO "\"intercepts\":[\"x\"],\"weights\":[[1,2]]" TAIL,
      "intercepts[0]: not a number" },
    { "encoder as number", HEAD "\"classes\":[\"a\",\"b\"],\"encoder\":3," COEF TAIL, "encoder" },
    { "encoder of another width",
      HEAD
      "\"classes\":[\"a\",\"b\"],\"encoder\":{\"layout\":\"dense\",\"columns\":[{\"name\":\"x\",\"type\":"
      "\"number\",\"median\":0,\"mean\":0,\"deviation\":1}],\"dropped\":[]}," COEF TAIL,
      "encoder: gives 1 features, weights has 2" },
    { "calibration as text", CAL("\"none\""), "calibration: not an object" },
    { "no kind", CAL("{}"), "calibration.kind: not a text" },
    { "unknown kind", CAL("{\"kind\":\"platt\"}"), "calibration.kind: \"platt\" is not known" },
    { "too much", CAL("{\"kind\":\"none\",\"temperature\":1}"), "calibration: unknown key \"temperature\"" },
    { "no temperature", CAL("{\"kind\":\"temperature\"}"), "\"temperature\" is missing" },
    { "zero temperature", CAL("{\"kind\":\"temperature\",\"temperature\":0}"),
      "temperature: 0 is not positive" },
    { "tiny temperature", CAL("{\"kind\":\"temperature\",\"temperature\":1e-320}"), "is not positive" },
    { "negative temperature", CAL("{\"kind\":\"temperature\",\"temperature\":-2}"), "temperature: -2" },
    { "temperature too small", CAL("{\"kind\":\"temperature\",\"temperature\":1e-308}"),
      "1e-308 is too small for the weights" },
    { "isotonic", CAL("{\"kind\":\"isotonic\",\"from\":[0.2,0.4],\"to\":[0.3,0.3]}"), "train it again" },
    { "fit as number", FIT("1"), "fit: not an object" },
    { "fit without reason", FIT("{\"solver\":\"newton\",\"iterations\":4," NUMBERS "}"),
      "\"reason\" is missing" },
    { "unknown reason", FIT("{\"reason\":\"luck\",\"solver\":\"newton\",\"iterations\":4," NUMBERS "}"),
      "fit.reason: \"luck\"" },
    { "iterations below zero",
      FIT("{\"reason\":\"budget\",\"solver\":\"lbfgs\",\"iterations\":-1," NUMBERS "}"),
      "fit.iterations: not a count" },
    { "iterations as real",
      FIT("{\"reason\":\"budget\",\"solver\":\"lbfgs\",\"iterations\":1.5," NUMBERS "}"),
      "fit.iterations: not a count" },
};

static void test_table_of_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        mel_model *model = (mel_model *)&model;
        mel_error err = { MEL_OK, "" };
        const mel_status want = files[i].says == NULL ? MEL_OK : MEL_EDATA;
        print_message("  %s\n", files[i].name);
        const mel_status got =
            mel_model_load_memory(&model, files[i].json, strlen(files[i].json), "m.json", &err);
        if (got != want)
            fail_msg("%s: %s: %s", files[i].name, mel_status_name(got), err.text);
        if (want != MEL_OK) {
            assert_null(model);
            if (strncmp(err.text, "m.json: ", 8) != 0 || strstr(err.text, files[i].says) == NULL)
                fail_msg("%s: \"%s\" does not say \"%s\"", files[i].name, err.text, files[i].says);
        }
        mel_model_free(want == MEL_OK ? model : NULL);
    }
}

/* Every prefix of a file is refused, and no byte that is changed makes it crash. */
static void test_damaged_files(void **state)
{
    (void)state;
    char json[1024];
    const size_t n = strlen(files[3].json);
    for (size_t cut = 0; cut < n; cut++) {
        mel_model *model = NULL;
        mel_error err;
        assert_int_equal(mel_model_load_memory(&model, files[3].json, cut, "m.json", &err), MEL_EDATA);
        assert_null(model);
        memcpy(json, files[3].json, n);
        json[cut] ^= 5;
        if (mel_model_load_memory(&model, json, n, "m.json", &err) == MEL_OK)
            mel_model_free(model);
    }
}

static void test_no_such_file(void **state)
{
    (void)state;
    mel_model *model = NULL;
    mel_error err;
    assert_int_equal(mel_model_load(&model, "/nonexistent/model.json", &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "/nonexistent/model.json"));
    assert_null(model);
    assert_int_equal(mel_model_load(&model, "/", &err), MEL_EDATA);
    assert_null(model);
}

/* What cannot be written is an error with the path, and the old file stays. */
static void test_cannot_save(void **state)
{
    (void)state;
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_new(&model, 2, 1, &err), &err);
    assert_int_equal(mel_model_save(model, "/nonexistent/model.json", &err), MEL_EIO);
    assert_non_null(strstr(err.text, "/nonexistent/model.json"));
    assert_int_equal(mel_model_save(model, "/proc/model.json", &err), MEL_EIO);
    mel_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_extreme_numbers),
        cmocka_unit_test(test_encoder_travels), cmocka_unit_test(test_table_of_files),
        cmocka_unit_test(test_damaged_files),   cmocka_unit_test(test_no_such_file),
        cmocka_unit_test(test_cannot_save),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
