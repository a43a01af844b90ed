/* Layouts of statistics: sizes, checks, names of coordinates. */
#include "support/test.h"

#include "base/layout.h"
#include "melicit/layout.h"

#include <string.h>

static void test_size(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_layout layout;
        size_t want;
    } rows[] = {
        { "binary", { MEL_CONFUSION, MEL_BINARY, 2, 0 }, 2 },
        { "binary, one group", { MEL_RATES, MEL_BINARY, 2, 1 }, 2 },
        { "binary, two groups", { MEL_RATES, MEL_BINARY, 2, 2 }, 4 },
        { "diagonal", { MEL_CONFUSION, MEL_DIAGONAL, 4, 0 }, 4 },
        { "diagonal, groups", { MEL_CONFUSION, MEL_DIAGONAL, 4, 3 }, 12 },
        { "offdiagonal", { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 }, 2 },
        { "offdiagonal, five classes", { MEL_RATES, MEL_OFFDIAGONAL, 5, 0 }, 20 },
        { "offdiagonal, groups", { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 }, 12 },
        { "no classes", { MEL_RATES, MEL_OFFDIAGONAL, 0, 2 }, 0 },
        { "no coordinates", { MEL_RATES, (mel_coordinates)9, 3, 2 }, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_layout_size(&rows[i].layout), rows[i].want);
    }
}

static void test_check(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_layout layout;
        mel_status want;
        const char *says;
    } rows[] = {
        { "binary", { MEL_CONFUSION, MEL_BINARY, 2, 0 }, MEL_OK, "" },
        { "the most classes", { MEL_CONFUSION, MEL_OFFDIAGONAL, 10000, 10000 }, MEL_OK, "" },
        { "one class", { MEL_CONFUSION, MEL_DIAGONAL, 1, 0 }, MEL_EINVAL, "1 classes" },
        { "too many classes", { MEL_CONFUSION, MEL_DIAGONAL, 10001, 0 }, MEL_EINVAL, "10001 classes" },
        { "binary of three", { MEL_CONFUSION, MEL_BINARY, 3, 0 }, MEL_EINVAL, "binary coordinates with 3" },
        { "too many groups", { MEL_RATES, MEL_DIAGONAL, 3, 10001 }, MEL_EINVAL, "10001 groups" },
        { "unknown kind",
          { (mel_statistics_kind)2, MEL_DIAGONAL, 3, 0 },
          MEL_EINVAL,
          "2 is not a kind of stat" },
        { "negative kind",
          { (mel_statistics_kind)-1, MEL_DIAGONAL, 3, 0 },
          MEL_EINVAL,
          "is not a kind of stat" },
        { "unknown coordinates",
          { MEL_RATES, (mel_coordinates)3, 3, 0 },
          MEL_EINVAL,
          "3 is not a kind of coord" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_layout_check(&rows[i].layout, &err), rows[i].want);
        assert_non_null(strstr(err.text, rows[i].says));
        assert_int_equal(mel_layout_check(&rows[i].layout, NULL), rows[i].want);
    }
}

static void test_equal(void **state)
{
    (void)state;
    const mel_layout base = { MEL_RATES, MEL_DIAGONAL, 3, 0 };
    static const struct {
        mel_layout layout;
        bool want;
    } rows[] = {
        { { MEL_RATES, MEL_DIAGONAL, 3, 0 }, true },      { { MEL_RATES, MEL_DIAGONAL, 3, 1 }, true },
        { { MEL_RATES, MEL_DIAGONAL, 3, 2 }, false },     { { MEL_RATES, MEL_DIAGONAL, 4, 0 }, false },
        { { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 }, false }, { { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 }, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(mel_layout_equal(&base, &rows[i].layout), rows[i].want);
        assert_int_equal(mel_layout_equal(&rows[i].layout, &base), rows[i].want);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const mel_statistics_kind kinds[] = { MEL_CONFUSION, MEL_RATES };
    static const mel_coordinates coordinates[] = { MEL_BINARY, MEL_DIAGONAL, MEL_OFFDIAGONAL };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        mel_statistics_kind back = (mel_statistics_kind)7;
        assert_ok(mel_kind_parse(&back, mel_kind_name(kinds[i]), NULL), NULL);
        assert_int_equal(back, kinds[i]);
    }
    for (size_t i = 0; i < COUNT(coordinates); i++) {
        mel_coordinates back = (mel_coordinates)7;
        assert_ok(mel_coordinates_parse(&back, mel_coordinates_name(coordinates[i]), NULL), NULL);
        assert_int_equal(back, coordinates[i]);
    }
    assert_string_equal(mel_kind_name(MEL_CONFUSION), "confusion");
    assert_string_equal(mel_kind_name(MEL_RATES), "rates");
    assert_string_equal(mel_coordinates_name(MEL_BINARY), "binary");
    assert_string_equal(mel_coordinates_name(MEL_DIAGONAL), "diagonal");
    assert_string_equal(mel_coordinates_name(MEL_OFFDIAGONAL), "offdiagonal");
    assert_string_equal(mel_kind_name((mel_statistics_kind)2), "unknown");
    assert_string_equal(mel_coordinates_name((mel_coordinates)-1), "unknown");
}

static void test_other_words(void **state)
{
    (void)state;
    static const char *const words[] = { "", "Rates", "rates ", "binary2", "off-diagonal", "confusio" };
    for (size_t i = 0; i < COUNT(words); i++) {
        mel_error err = { 0 };
        mel_statistics_kind kind = MEL_RATES;
        mel_coordinates coordinates = MEL_DIAGONAL;
        assert_int_equal(mel_kind_parse(&kind, words[i], &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, words[i]));
        assert_int_equal(mel_coordinates_parse(&coordinates, words[i], &err), MEL_EINVAL);
        assert_non_null(strstr(err.text, words[i]));
        assert_int_equal(kind, MEL_RATES);
        assert_int_equal(coordinates, MEL_DIAGONAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),  cmocka_unit_test(test_check),       cmocka_unit_test(test_equal),
        cmocka_unit_test(test_names), cmocka_unit_test(test_other_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
