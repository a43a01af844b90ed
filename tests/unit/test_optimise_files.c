/* Basis functions of black-box optimisation, and its classifiers with their files. */
#include "base/rng.h"
#include "optimise/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- basis functions ---------------------------------------------------------------------------- */

static const char *const feature_names[] = { "a", "b" };
static const double feature_values[] = { 0.0, 0.0, 0.1, 0.0, 1.0, 1.0, 1.0, 0.9 };
static const mel_feature_rows features = { 4, 2, feature_values, feature_names };

static void test_basis_values(void **state)
{
    (void)state;
    mel_weight_basis *basis = NULL;
    mel_error err = { 0 };
    const uint32_t of[] = { 0, 0, 1, 1 };
    const char *const b[] = { "b" };
    double value[4 * 8];
    assert_ok(mel_weight_basis_new(&basis, &err), &err);
    assert_ok(mel_weight_basis_add_default(basis, &err), &err);
    assert_false(mel_weight_basis_reads_features(basis));
    assert_ok(mel_weight_basis_add_columns(basis, 1, b, &err), &err);
    assert_ok(mel_weight_basis_add_kmeans(basis, &features, 2, 1, &err), &err);
    assert_ok(mel_weight_basis_add_rbf(basis, &features, of, 2, 0.5, true, &err), &err);
    assert_ok(mel_weight_basis_add_rbf(basis, &features, of, 2, 0.5, false, &err), &err);
    assert_int_equal(mel_weight_basis_size(basis), 8);
    assert_string_equal(mel_weight_basis_name(basis, 1), "b");
    assert_string_equal(mel_weight_basis_name(basis, 2), "kmeans 1");
    assert_ok(mel_weight_basis_values(value, basis, &features, 4, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        assert_close(value[i * 8], 1.0, 0.0);
        assert_close(value[i * 8 + 1], feature_values[2 * i + 1], 0.0);
        assert_close(value[i * 8 + 2] + value[i * 8 + 3], 1.0, 0.0);
        assert_close(value[i * 8 + 2], value[(i ^ 1) * 8 + 2], 0.0); /* 0 and 1, 2 and 3 together */
    }
    assert_close(value[0 * 8 + 2] + value[2 * 8 + 2], 1.0, 0.0);
    assert_close(value[4], (1.0 + exp(-0.01 / 0.5)) / 2.0, 1e-15); /* squared */
    assert_close(value[6], (1.0 + exp(-0.1 / 0.5)) / 2.0, 1e-15);  /* the thesis' */
    assert_close(value[5], (exp(-2.0 / 0.5) + exp(-1.81 / 0.5)) / 2.0, 1e-15);
    /* Centres themselves: only the other row of the class counts, and nothing else changes. */
    double own[4 * 8];
    assert_ok(mel_weight_basis_values_of_centres(own, basis, &features, 4, &err), &err);
    for (size_t i = 0; i < 4; i++)
        for (size_t f = 0; f < 8; f++)
            if (f < 4 || f % 2 != of[i])
                assert_close(own[i * 8 + f], value[i * 8 + f], 0.0);
    assert_close(own[4], exp(-0.01 / 0.5), 1e-15);
    assert_close(own[3 * 8 + 7], exp(-0.1 / 0.5), 1e-15);
    mel_weight_basis_free(basis);
}

static void test_basis_refusals(void **state)
{
    (void)state;
    mel_weight_basis *basis = NULL;
    mel_error err = { 0 };
    const char *const wrong[] = { "c" }, *const twice[] = { "a", "a" }, *const a[] = { "a" };
    const double big[] = { 0.0, 2.0 };
    const mel_feature_rows rows = { 2, 1, big, feature_names };
    double value[8];
    assert_ok(mel_weight_basis_new(&basis, &err), &err);
    assert_int_equal(mel_weight_basis_add_columns(basis, 2, twice, &err), MEL_EINVAL);
    assert_int_equal(mel_weight_basis_add_kmeans(basis, &features, 5, 1, &err), MEL_EINVAL);
    assert_int_equal(
        mel_weight_basis_add_rbf(basis, &features, (const uint32_t[]){ 0, 0, 0, 0 }, 2, 1.0, true, &err),
        MEL_EDATA);
    assert_int_equal(
        mel_weight_basis_add_rbf(basis, &features, (const uint32_t[]){ 0, 0, 1, 1 }, 2, 0.0, true, &err),
        MEL_EINVAL);
    assert_int_equal(mel_weight_basis_size(basis), 0);
    assert_ok(mel_weight_basis_add_columns(basis, 1, a, &err), &err);
    assert_int_equal(mel_weight_basis_values(value, basis, &rows, 2, &err), MEL_EDATA);
    assert_string_equal(err.text, "row 2, column \"a\": 2, expected a number from 0 to 1");
    assert_ok(mel_weight_basis_add_columns(basis, 1, wrong, &err), &err);
    assert_int_equal(mel_weight_basis_values(value, basis, &features, 4, &err), MEL_EDATA);
    assert_string_equal(err.text, "the features have no column \"c\"");
    mel_weight_basis_free(basis);
}

/* --- classifiers -------------------------------------------------------------------------------- */

static mel_classifier *make_weighted(bool majority)
{
    mel_weight_basis *basis = NULL;
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    const char *const names[] = { "healthy", "cancer" };
    double gain[] = { 1, 0, 0, 1, 0, 0, 0, 1, /* rule 1 */ 1, 0, 0, 3, 0, 0, 0, -2 };
    double share[] = { 0.75, 0.25 };
    const mel_blend mixture = { 2, 2, 2, gain, share };
    const mel_classifier_source source = { .class_name = names };
    assert_ok(mel_weight_basis_new(&basis, &err), &err);
    assert_ok(mel_weight_basis_add_columns(basis, 2, feature_names, &err), &err);
    assert_ok(mel_classifier_of_blend(&c, &mixture, basis, majority, 0.625, &err), &err);
    assert_ok(mel_classifier_set_source(c, &source, &err), &err);
    return c;
}

static void test_weighted_files(void **state)
{
    (void)state;
    const double probability[] = { 0.4, 0.6, 0.4, 0.6, 0.6, 0.4, 0.7, 0.3 };
    const mel_undecided rows = { .n = 4, .probability = probability, .features = &features, .seed = 3 };
    const mel_undecided without = { .n = 4, .probability = probability };
    for (int majority = 0; majority < 2; majority++) {
        mel_classifier *w = make_weighted(majority == 1), *read = NULL;
        mel_error err = { 0 };
        double chance[8], again[8];
        uint32_t decided[4];
        char *text = NULL, *text2 = NULL;
        assert_ok(mel_classifier_chances(chance, w, &rows, &err), &err);
        assert_ok(mel_classifier_to_json(&text, w, &err), &err);
        assert_ok(mel_classifier_from_json(&read, text, strlen(text), &err), &err);
        assert_ok(mel_classifier_to_json(&text2, read, &err), &err);
        assert_string_equal(text, text2);
        assert_close(mel_classifier_get(read).value, 0.625, 0.0);
        assert_ok(mel_classifier_chances(again, read, &rows, &err), &err);
        assert_memory_equal(chance, again, sizeof chance);
        /* Row 0 has no basis function: its most probable class. Row 2: rule 1 says cancer (.4 x 2 > .6), rule
         * 2 healthy (.4 x 1 < .6). */
        assert_close(chance[1], 1.0, 1e-15);
        assert_close(chance[5], majority == 1 ? 1.0 : 0.75, 1e-15);
        assert_ok(mel_classifier_decide(decided, w, &rows, &err), &err);
        assert_int_equal(decided[0], 1);
        assert_int_equal(mel_classifier_chances(chance, w, &without, &err), MEL_EINVAL);
        free(text);
        free(text2);
        mel_classifier_free(w);
        mel_classifier_free(read);
    }
}

/* One function, 1 everywhere, is none. */
static void test_plain_file(void **state)
{
    (void)state;
    double gain[] = { 1, 0, 0, 2, 1, 0, 0, 1 }, share[] = { 0.6, 0.4 };
    const mel_blend mixture = { 2, 2, 0, gain, share };
    const double probability[] = { 0.6, 0.4, 0.3, 0.7 };
    mel_weight_basis *basis = NULL;
    mel_classifier *w = NULL, *c = NULL;
    mel_error err = { 0 };
    double chance[4], ours[4];
    assert_ok(mel_weight_basis_new(&basis, &err), &err);
    assert_ok(mel_weight_basis_add_default(basis, &err), &err);
    assert_ok(mel_classifier_of_blend(&w, &mixture, basis, false, (double)NAN, &err), &err);
    assert_null(mel_classifier_get(w).basis);
    const char *path = test_path("plain.json");
    assert_ok(mel_classifier_save(w, path, &err), &err);
    assert_ok(mel_classifier_load(&c, path, &err), &err);
    assert_ok(mel_classifier_chances(chance, c, &(mel_undecided){ .n = 2, .probability = probability }, &err),
              &err);
    assert_ok(mel_weighted_chances(ours, &mixture, 2, probability, NULL, &err), &err);
    for (size_t i = 0; i < 4; i++)
        assert_close(chance[i], ours[i], 0.0);
    assert_close(chance[1], 0.6, 1e-15);
    mel_classifier_free(c);
    mel_classifier_free(w);
}

static void test_bad_files(void **state)
{
    (void)state;
    mel_classifier *w = make_weighted(true);
    mel_error err = { 0 };
    char *text = NULL;
    assert_ok(mel_classifier_to_json(&text, w, &err), &err);
    mel_classifier_free(w);
    static const struct {
        const char *from, *to, *says;
    } rows[] = {
        { "\"version\": 2", "\"version\": 3", "version: expected 1 or 2" },
        { "melicit-classifier", "melicit-lighted", "expected a classifier" },
        { "\"majority\"", "\"dice\"", "decide: expected" },
        { "\"columns\",", "\"pillars\",", "basis.kind" },
        { "\"a\"", "\"b\"", "basis.columns[1]: \"b\" appears a second time" },
        { "\"healthy\"", "17", "classes[0]: not a text" },
        { "\"groups\": []", "\"groups\": [\"x\", \"y\"]", "basis: not together with groups" },
        { "\"basis\"", "\"basics\"", "rules[0].gain: not a number" },
        { "0.75", "0.85", "the shares add up to" },
        { "0.75", "-0.75", "rules[0].share" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *at = strstr(text, rows[i].from), *bad = calloc(strlen(text) + 64, 1);
        assert_non_null(at);
        assert_non_null(bad);
        memcpy(bad, text, (size_t)(at - text));
        (void)strncat(bad, rows[i].to, 32);
        (void)strncat(bad, at + strlen(rows[i].from), strlen(text));
        print_message("  %s\n", rows[i].to);
        assert_int_equal(mel_classifier_from_json(&w, bad, strlen(bad), &err), MEL_EDATA);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        assert_null(w);
        free(bad);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basis_values),   cmocka_unit_test(test_basis_refusals),
        cmocka_unit_test(test_weighted_files), cmocka_unit_test_teardown(test_plain_file, test_teardown),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
