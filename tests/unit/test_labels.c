/* Labels of rows: the order of classes, groups, known classes, names that mean the same. */
#include "data/shared.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static mel_table *read_text(const char *text, mel_column_type type)
{
    mel_table *table;
    mel_error err;
    mel_read_options opt;
    mel_read_options_init(&opt);
    const mel_column_override y = { "y", type };
    opt.overrides = &y;
    opt.n_overrides = 1;
    assert_ok(mel_table_read_memory(&table, text, strlen(text), "t.csv", &opt, &err), &err);
    return table;
}

/* "a,b,c|0120": class names, then the code of each row. */
static void describe(const mel_labels *labels, char *out, size_t size)
{
    size_t n = 0;
    for (size_t k = 0; k < labels->n_classes; k++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", k == 0 ? "" : ";", labels->name[k]);
    n += (size_t)snprintf(out + n, size - n, "|");
    for (size_t i = 0; i < labels->n_rows; i++)
        n += (size_t)snprintf(out + n, size - n, "%u", labels->code[i]);
    assert_true(n < size);
}

static void test_order(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *want;
        mel_column_type type;
    } rows[] = {
        { "texts by byte", "x,y\n1,b\n1,B\n1,a\n1,b\n1,a\n1,B\n", "B;a;b|201210", MEL_COLUMN_AUTO },
        { "numbers by value", "x,y\n1,10\n1,2\n1,-1\n1,2\n1,10\n1,-1\n", "-1;2;10|210120", MEL_COLUMN_AUTO },
        { "numbers declared as text by byte", "x,y\n1,10\n1,2\n1,-1\n1,2\n1,10\n1,-1\n", "-1;10;2|120210",
          MEL_COLUMN_TEXT },
        { "one name that is no number", "x,y\n1,10\n1,2\n1,a\n1,2\n1,10\n1,a\n", "10;2;a|012102",
          MEL_COLUMN_AUTO },
        { "equal values, different texts", "x,y\n1,1.0\n1,1\n1,0\n1,0\n1,1\n1,1.0\n", "0;1;1.0|210012",
          MEL_COLUMN_TEXT },
        { "fractions", "x,y\n1,0.5\n1,0.1\n1,0.5\n1,0.1\n", "0.1;0.5|1010", MEL_COLUMN_AUTO },
        { "spellings of one number", "x,y\n1,1\n1,1.0\n1,1.00\n1,0\n", "0;1|1110", MEL_COLUMN_AUTO },
        { "codes with zeros in front", "x,y\n1,01\n1,10\n1,02\n1,10\n1,01\n1,02\n", "01;02;10|021201",
          MEL_COLUMN_AUTO },
        { "codes declared as text", "x,y\n1,01\n1,1\n1,01\n1,1\n", "01;1|0101", MEL_COLUMN_TEXT },
        { "codes declared as numbers", "x,y\n1,01\n1,1\n1,2\n1,2\n", "1;2|0011", MEL_COLUMN_NUMBER },
        { "zeros of both signs", "x,y\n1,-0\n1,0\n1,1\n1,1\n", "0;1|0011", MEL_COLUMN_AUTO },
        { "two rows, two classes", "x,y\n1,b\n1,a\n", "a;b|10", MEL_COLUMN_AUTO },
        { "UTF-8", "x,y\n1,é\n1,z\n", "z;é|10", MEL_COLUMN_AUTO },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *table = read_text(rows[i].text, rows[i].type);
        mel_labels labels;
        mel_error err;
        char got[128];
        assert_ok(mel_table_labels(&labels, table, "y", &err), &err);
        describe(&labels, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        mel_labels_clear(&labels);
        mel_table_free(table);
    }
}

/* 01 and 1 are different codes, which a column of numbers does not tell apart. */
static void test_codes(void **state)
{
    (void)state;
    static const char *const texts[] = { "x,y\n1,01\n1,1\n1,2\n1,2\n", "x,y\n1,1\n1,2\n1,\"01\"\n1,2\n",
                                         "x,y\n1,01\n1,001\n1,02\n1,002\n" };
    static const char *const known[] = { "01", "1" };
    mel_labels labels;
    mel_error err = { 0 };
    for (size_t i = 0; i < COUNT(texts); i++) {
        mel_table *table = read_text(texts[i], MEL_COLUMN_AUTO);
        assert_int_equal(mel_table_labels(&labels, table, "y", &err), MEL_EDATA);
        assert_non_null(strstr(err.text, "different codes"));
        assert_int_equal(mel_table_groups(&labels, table, "y", &err), MEL_EDATA);
        mel_table_free(table);
    }
    mel_table *table = read_text("x,y\n1,1\n1,1.0\n", MEL_COLUMN_AUTO);
    assert_ok(mel_table_labels_as(&labels, table, "y", COUNT(known), known, &err), &err);
    assert_true(labels.code[0] == 1 && labels.code[1] == 1);
    mel_labels_clear(&labels);
    mel_table_free(table);
}

/* Categories that no taken row has are no classes. */
static void test_taken_rows(void **state)
{
    (void)state;
    mel_table *table = read_text("x,y\n1,a\n1,b\n1,c\n1,?\n", MEL_COLUMN_AUTO), *taken;
    const size_t rows[] = { 2, 0, 2, 0 }, holes[] = { 0, 1, 3 };
    mel_labels labels;
    mel_error err;
    char got[64];
    assert_ok(mel_table_take(&taken, table, rows, 4, &err), &err);
    assert_ok(mel_table_labels(&labels, taken, "y", &err), &err);
    describe(&labels, got, sizeof got);
    assert_string_equal(got, "a;c|1010");
    mel_labels_clear(&labels);
    mel_table_free(taken);
    assert_ok(mel_table_take(&taken, table, holes, 3, &err), &err);
    assert_int_equal(mel_table_labels(&labels, taken, "y", &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "t.csv: row 5, column \"y\": the value is missing"));
    mel_table_free(taken);
    mel_table_free(table);
}

static void test_groups(void **state)
{
    (void)state;
    mel_table *table = read_text("x,y\n1,f\n2,f\n3,f\n", MEL_COLUMN_AUTO);
    mel_labels groups;
    mel_error err;
    assert_ok(mel_table_groups(&groups, table, "y", &err), &err);
    assert_int_equal(groups.n_classes, 1);
    mel_labels_clear(&groups);
    assert_ok(mel_table_groups(&groups, table, "x", &err), &err); /* a group for each row */
    assert_int_equal(groups.n_classes, 3);
    mel_labels_clear(&groups);
    assert_int_equal(mel_table_groups(&groups, table, "z", &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "t.csv: there is no column \"z\""));
    mel_table_free(table);
}

static void test_known_classes(void **state)
{
    (void)state;
    static const char *const abc[] = { "c", "a", "b" }, *const numbers[] = { "10", "2.0", "x" };
    static const struct {
        const char *name, *text;
        const char *const *classes;
        mel_column_type type;
        mel_status want;
        const char *codes, *part;
    } rows[] = {
        { "texts", "x,y\n1,a\n1,c\n1,a\n", abc, MEL_COLUMN_AUTO, MEL_OK, "101", "" },
        { "one class is enough", "x,y\n1,b\n", abc, MEL_COLUMN_AUTO, MEL_OK, "2", "" },
        { "numbers by value", "x,y\n1,2\n1,10\n1,1e1\n", numbers, MEL_COLUMN_AUTO, MEL_OK, "100", "" },
        { "numbers as text by spelling", "x,y\n1,2.0\n1,x\n", numbers, MEL_COLUMN_TEXT, MEL_OK, "12", "" },
        { "unknown text", "x,y\n1,a\n1,d\n", abc, MEL_COLUMN_AUTO, MEL_EDATA, NULL,
          "row 3, column \"y\": \"d\" is not one of the known names" },
        { "unknown number", "x,y\n1,2\n1,3.5\n", numbers, MEL_COLUMN_AUTO, MEL_EDATA, NULL,
          "row 3, column \"y\": \"3.5\" is not one of the known names" },
        { "missing", "x,y\n1,a\n1,?\n", abc, MEL_COLUMN_AUTO, MEL_EDATA, NULL, "row 3, column \"y\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *table = read_text(rows[i].text, rows[i].type);
        mel_labels labels;
        mel_error err = { 0 };
        assert_int_equal(mel_table_labels_as(&labels, table, "y", 3, rows[i].classes, &err), rows[i].want);
        assert_non_null(strstr(err.text, rows[i].part));
        for (size_t k = 0; rows[i].codes != NULL && k < labels.n_rows; k++)
            assert_int_equal(labels.code[k], rows[i].codes[k] - '0');
        if (rows[i].codes != NULL)
            assert_string_equal(labels.name[0], rows[i].classes[0]);
        else
            assert_null(labels.code);
        mel_labels_clear(&labels);
        mel_table_free(table);
    }
}

static void test_quantiles(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        size_t n_classes;
        mel_status want;
        const char *described;
    } rows[] = {
        { "halves", "y\n4\n1\n3\n2\n", 2, MEL_OK, "<= 2.5;> 2.5|1010" },
        { "a value on the cut goes down", "y\n1\n2\n3\n", 2, MEL_OK, "<= 2;> 2|001" },
        { "thirds", "y\n1\n2\n3\n4\n5\n6\n7\n", 3, MEL_OK, "<= 3;(3, 5];> 5|0001122" },
        { "ties below the cut", "y\n0\n0\n0\n1\n1\n", 2, MEL_OK, "<= 0;> 0|00011" },
        { "upper class empty", "y\n0\n1\n1\n1\n", 2, MEL_EDATA,
          "t.csv: column \"y\": quantile class 2 of 2 would be empty: 3 of 4 rows have the value 1" },
        { "cuts that coincide", "y\n0\n0\n0\n0\n0\n1\n", 3, MEL_EDATA,
          "quantile class 2 of 3 would be empty: 5 of 6 rows have the value 0" },
        { "nothing between two cuts", "y\n0\n0\n1\n", 3, MEL_EDATA,
          "quantile class 2 of 3 would be empty: 2 of 3 rows have the value 0" },
        { "constant", "y\n5\n5\n5\n", 2, MEL_EDATA, "3 of 3 rows have the value 5" },
        { "more classes than rows", "y\n1\n2\n", 3, MEL_EDATA, "2 rows cannot fill 3 quantile classes" },
        { "one class", "y\n1\n2\n", 1, MEL_EINVAL, "1 quantile classes" },
        { "missing", "y\n1\n?\n2\n", 2, MEL_EDATA, "row 3, column \"y\": the value is missing" },
        { "text", "y\na\nb\nc\n", 2, MEL_EDATA, "column \"y\" is text; quantiles need numbers" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *table = read_text(rows[i].text, MEL_COLUMN_AUTO);
        mel_labels labels;
        mel_error err;
        char got[128];
        assert_int_equal(mel_table_quantile_labels(&labels, table, "y", rows[i].n_classes, &err),
                         rows[i].want);
        if (rows[i].want == MEL_OK) {
            describe(&labels, got, sizeof got);
            assert_string_equal(got, rows[i].described);
        } else if (strstr(err.text, rows[i].described) == NULL) {
            fail_msg("%s", err.text);
        }
        mel_labels_clear(&labels);
        mel_table_free(table);
    }
}

/* As the labels of a column would be sorted. */
static void test_sorted_names(void **state)
{
    (void)state;
    static const char *const numbers[] = { "10", "9", "-1", "2.5" };
    static const char *const texts[] = { "10", "9", "b", "B" };
    size_t order[4];
    mel_error err = { 0 };
    assert_ok(mel_sort_class_names(order, 4, numbers, false, &err), &err);
    assert_true(order[0] == 2 && order[1] == 3 && order[2] == 1 && order[3] == 0);
    assert_ok(mel_sort_class_names(order, 4, numbers, true, &err), &err);
    assert_true(order[0] == 2 && order[1] == 0 && order[2] == 3 && order[3] == 1);
    assert_ok(mel_sort_class_names(order, 4, texts, false, &err), &err);
    assert_true(order[0] == 0 && order[1] == 1 && order[2] == 3 && order[3] == 2);
}

static void test_same_names(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        { "1", "1.0", true },
        { "-1", "-1e0", true },
        { "0", "-0", true },
        { "007", "7", false },
        { "yes", "yes", true },
        { "yes", "Yes", false },
        { "1", "2", false },
        { "", "0", false },
        { "nan", "NaN", false },
        { "1x", "1", false },
        { "9007199254740993", "9007199254740992", false },
        { "9007199254740993", "9007199254740993", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("  %s, %s\n", rows[i].a, rows[i].b);
        assert_int_equal(mel_same_class_name(rows[i].a, rows[i].b), rows[i].same);
        assert_int_equal(mel_same_class_name(rows[i].b, rows[i].a), rows[i].same);
    }
}

/* Texts that are numbers in another spelling are the known class, unless two are. */
static void test_known_numbers_in_texts(void **state)
{
    (void)state;
    static const char *const known[] = { "1", "2" }, *const twice[] = { "1", "1.00" };
    static const char bytes[] = "a\n1.0\n2.0\n2\n";
    const mel_column_override text = { .name = "a", .type = MEL_COLUMN_TEXT };
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.overrides = &text;
    opt.n_overrides = 1;
    mel_table *table;
    mel_labels labels;
    mel_error err = { 0 };
    assert_ok(mel_table_read_memory(&table, bytes, sizeof bytes - 1, "t.csv", &opt, &err), &err);
    assert_ok(mel_table_labels_as(&labels, table, "a", 2, known, &err), &err);
    assert_true(labels.code[0] == 0 && labels.code[1] == 1 && labels.code[2] == 1);
    mel_labels_clear(&labels);
    assert_int_equal(mel_table_labels_as(&labels, table, "a", 2, twice, &err), MEL_EDATA);
    mel_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_taken_rows),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_known_classes),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_sorted_names),
        cmocka_unit_test(test_same_names),
        cmocka_unit_test(test_known_numbers_in_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
