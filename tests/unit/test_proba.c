/* Probabilities of other models: what is accepted, and the sentence for what is not. */
#include "data/shared.h"
#include "model/shared.h"
#include "support/tables.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mel_status read_text(mel_proba *out, const char *name, const char *text, mel_error *err)
{
    return mel_proba_read(out, test_file(name, text, strlen(text)), NULL, err);
}

static void test_csv(void **state)
{
    (void)state;
    mel_proba proba = { 0 };
    mel_error err;
    assert_ok(read_text(&proba, "p.csv",
                        "cat,dog,fish\n0.5,0.25,0.25\n1,0,0\n0.3333333,0.3333333,0.3333334\n", &err),
              &err);
    assert_int_equal(proba.n_rows, 3);
    assert_int_equal(proba.n_classes, 3);
    assert_string_equal(proba.name[0], "cat");
    assert_string_equal(proba.name[2], "fish");
    assert_true(proba.value[0] == 0.5 && proba.value[1] == 0.25 && proba.value[3] == 1.0);
    for (size_t i = 0; i < 3; i++)
        assert_close(proba.value[3 * i] + proba.value[3 * i + 1] + proba.value[3 * i + 2], 1.0, 1e-15);
    mel_proba_clear(&proba);
    assert_null(proba.value);
    mel_proba_clear(&proba);
}

static void test_one_column(void **state)
{
    (void)state;
    mel_proba proba = { 0 };
    mel_error err;
    assert_ok(read_text(&proba, "one.csv", "p\n0.25\n1\n0\n", &err), &err);
    assert_int_equal(proba.n_rows, 3);
    assert_int_equal(proba.n_classes, 2);
    assert_int_equal(proba.n_columns, 1);
    assert_string_equal(proba.name[0], "p");
    static const double want[] = { 0.75, 0.25, 0.0, 1.0, 1.0, 0.0 };
    assert_memory_equal(proba.value, want, sizeof want);
    mel_proba_clear(&proba);
}

static void test_npy(void **state)
{
    (void)state;
    static const double value[] = { 0.25, 0.75, 0.9999999, 0.0 };
    mel_proba proba = { 0 };
    mel_error err;
    const char *path = test_path("p.npy");
    test_write_npy(path, 2, 2, value);
    assert_ok(mel_proba_read(&proba, path, NULL, &err), &err);
    assert_int_equal(proba.n_rows, 2);
    assert_int_equal(proba.n_classes, 2);
    assert_null(proba.name);
    assert_true(proba.value[1] == 0.75 && proba.value[2] == 1.0); /* rescaled */
    mel_proba_clear(&proba);
    test_write_npy(path, 4, 1, value);
    assert_ok(mel_proba_read(&proba, path, NULL, &err), &err);
    assert_int_equal(proba.n_classes, 2);
    assert_true(proba.value[0] == 0.75 && proba.value[1] == 0.25);
    mel_proba_clear(&proba);
    static const double bad[] = { 0.25, 0.75, 0.5, NAN };
    test_write_npy(path, 2, 2, bad);
    assert_int_equal(mel_proba_read(&proba, path, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "row 2"));
    assert_null(proba.value);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        { "negative.csv", "a,b\n0.5,0.5\n1.5,-0.5\n", "row 3, column \"a\": 1.5 is not within 0 and 1" },
        { "above.csv", "a,b\n0.2,0.8\n0.4,0.6\n-0.1,1\n", "row 4, column \"a\": -0.1" },
        { "sum.csv", "a,b\n0.5,0.5\n0.5,0.4989\n", "row 3: 2 probabilities sum to 0.9989, not 1" },
        { "sum2e-3.csv", "a,b\n0.5,0.502\n", "row 2: 2 probabilities sum to 1.002" },
        { "zeros.csv", "a,b,c\n0,0,0\n", "row 2: 3 probabilities sum to 0" },
        { "missing.csv", "a,b\n0.5,0.5\n0.5,\n", "row 3, column \"b\": no number" },
        { "text.csv", "a,b\n0.5,0.5\n0.5,half\n", "row 3, column \"b\": \"half\" is not a number" },
        { "name.csv", "id,a,b\nx1,0.5,0.5\n", "row 2, column \"id\": \"x1\" is not a number" },
        { "single.csv", "p\n0.5\n1.0000001\n", "row 3, column \"p\": 1.0000001" },
        { "empty.csv", "a,b\n", "empty.csv" },
        { "features.svm", "1 1:0.5 2:0.5\n", "LIBSVM" },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        mel_proba proba = { 0 };
        mel_error err = { MEL_OK, "" };
        print_message("  %s\n", rows[r].name);
        assert_int_equal(read_text(&proba, rows[r].name, rows[r].text, &err), MEL_EDATA);
        assert_null(proba.value);
        if (strstr(err.text, rows[r].says) == NULL || strstr(err.text, rows[r].name) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[r].says);
    }
    mel_proba proba = { 0 };
    mel_error err;
    assert_int_equal(mel_proba_read(&proba, "/nonexistent/p.csv", NULL, &err), MEL_EDATA);
}

/* A column of numbers that the caller wanted as text has no row to blame. */
static void test_numbers_as_text(void **state)
{
    (void)state;
    static const char text[] = "a,b\n0.5,0.5\n0.25,0.75\n";
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.overrides = &(mel_column_override){ "b", MEL_COLUMN_TEXT };
    opt.n_overrides = 1;
    mel_proba proba = { 0 };
    mel_error err;
    assert_int_equal(mel_proba_read(&proba, test_file("t.csv", text, strlen(text)), &opt, &err), MEL_EDATA);
    assert_null(proba.value);
    assert_non_null(strstr(err.text, "t.csv: column \"b\" was read as text"));
    assert_null(strstr(err.text, "row"));
}

/* By hand: six rows, two of them tied across the classes. */
static void test_separation(void **state)
{
    (void)state;
    static const double p[] = { 0.9, 0.8, 0.6, 0.6, 0.3, 0.1 };
    static const uint32_t y[] = { 1, 0, 1, 0, 1, 0 };
    static const struct {
        double most, found, alarms;
    } rows[] = {
        { 0.0, 1.0 / 3.0, 0.0 }, { 0.34, 1.0 / 3.0, 1.0 / 3.0 }, { 0.7, 1.0, 2.0 / 3.0 }, { 1.0, 1.0, 1.0 }
    };
    double both[12];
    mel_separation found;
    mel_error err;
    for (size_t i = 0; i < 6; i++) {
        both[2 * i] = 1.0 - p[i];
        both[2 * i + 1] = p[i];
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ok(mel_separation_of(&found, 6, both, y, rows[i].most, &err), &err);
        assert_close(found.auc, 5.5 / 9.0, 1e-15);
        assert_close(found.found, rows[i].found, 1e-15);
        assert_close(found.alarms, rows[i].alarms, 1e-15);
    }
    static const uint32_t alike[] = { 1, 1, 1, 1, 1, 1 };
    assert_ok(mel_separation_of(&found, 6, both, alike, 0.5, &err), &err);
    assert_true(isnan(found.auc) && isnan(found.found) && isnan(found.alarms));
    assert_ok(mel_separation_of(&found, 0, both, y, 0.5, &err), &err);
    assert_true(isnan(found.auc));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_one_column),
        cmocka_unit_test(test_npy),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_numbers_as_text),
        cmocka_unit_test(test_separation),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
