/* Files of a pattern are one table: order, columns, types, what belongs together, refusals. */
#include "support/test.h"

#include "data/shared.h"

#include <string.h>

static const char *put(const char *name, const char *text)
{
    return test_file(name, text, strlen(text));
}

/* "x=1 2 3;t=a b a", in the order of the columns. */
static void describe(const mel_table *table, char *out, size_t size)
{
    size_t n = 0;
    for (size_t c = 0; c < mel_table_columns(table); c++) {
        const double *numbers = mel_table_numbers(table, c);
        n += (size_t)snprintf(out + n, size - n, "%s%s=", c == 0 ? "" : ";", mel_table_column_name(table, c));
        for (size_t i = 0; i < mel_table_rows(table); i++) {
            const uint32_t code = numbers == NULL ? mel_table_codes(table, c)[i] : 0;
            n += (size_t)snprintf(out + n, size - n, i == 0 ? "" : " ");
            if (numbers != NULL)
                n += (size_t)snprintf(out + n, size - n, "%g", numbers[i]);
            else
                n += (size_t)snprintf(out + n, size - n, "%s",
                                      code == MEL_MISSING ? "?" : mel_table_category(table, c, code));
        }
    }
    assert_true(n < size);
}

static void test_joins(void **state)
{
    (void)state;
    static const struct {
        const char *what, *file[3], *want;
        size_t warnings;
    } cases[] = {
        { "by name", { "x,t\n1,a\n", "x,t\n2,b\n3,a\n", "x,t\n4,c\n" }, "x=1 2 3 4;t=a b a c", 0 },
        { "columns in another order", { "x,t\n1,a\n", "t,x\nb,2\n", "x,t\n4,b\n" }, "x=1 2 4;t=a b b", 0 },
        { "a text late", { "x,t\n1,7\n", "x,t\n2,8\n", "x,t\n3,b\n" }, "x=1 2 3;t=7 8 b", 1 },
        { "a text early", { "x,t\n1,b\n", "x,t\n2,8\n", "x,t\n3,\n" }, "x=1 2 3;t=b 8 ?", 1 },
        { "texts in two columns", { "x,t\n1,b\n", "x,t\nz,8\n", "x,t\n3,c\n" }, "x=1 z 3;t=b 8 c", 2 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("  %s\n", cases[i].what);
        /* 9 comes before 10: digits are compared as numbers */
        put("p-9.csv", cases[i].file[0]);
        put("p-10.csv", cases[i].file[1]);
        put("p-a.csv", cases[i].file[2]);
        mel_table *table;
        mel_error err;
        char got[256];
        assert_ok(mel_table_read(&table, test_path("p-*.csv"), NULL, &err), &err);
        describe(table, got, sizeof got);
        assert_string_equal(got, cases[i].want);
        assert_int_equal(mel_table_warnings(table), cases[i].warnings);
        mel_table_free(table);
    }
}

static void test_sparse(void **state)
{
    (void)state;
    put("s-1.svm", "1 1:0.5 3:2\n0 2:1\n");
    put("s-2.svm", "1 5:4\n0\n");
    mel_table *table;
    mel_error err;
    mel_features x;
    assert_ok(mel_table_read(&table, test_path("s-*.svm"), NULL, &err), &err);
    assert_true(mel_table_sparse(&x, table));
    assert_int_equal(x.n_rows, 4);
    assert_int_equal(x.n_cols, 5);
    static const size_t start[] = { 0, 2, 3, 4, 4 };
    assert_memory_equal(x.row_start, start, sizeof start);
    assert_int_equal(x.col[3], 4);
    assert_close(x.value[3], 4, 0);
    mel_table_free(table);
}

static void refuses(const char *pattern, const mel_read_options *opt, mel_status code, const char *part)
{
    mel_table *table;
    mel_error err;
    assert_int_equal(mel_table_read(&table, test_path(pattern), opt, &err), code);
    assert_null(table);
    if (strstr(err.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void test_refuses(void **state)
{
    (void)state;
    mel_read_options opt;
    mel_read_options_init(&opt);
    refuses("none-*.csv", NULL, MEL_EDATA, "no file matches");
    put("r-1.csv", "x,t\n1,a\n2,a\n");
    put("r-2.csv", "x,u\n2,b\n3,b\n");
    refuses("r-*.csv", NULL, MEL_EDATA, "r-2.csv: no column \"t\", which ");
    put("r-2.csv", "x,t,u\n2,b,1\n3,b,1\n");
    refuses("r-*.csv", NULL, MEL_EDATA, "r-2.csv: column \"u\", which ");
    put("r-2.csv", "x,t\n2,b\n3\n");
    refuses("r-*.csv", NULL, MEL_EDATA, "r-2.csv: row 3");
    put("r-2.csv", "x,t\n2,7\n3,8\n");
    opt.strict = true;
    refuses("r-*.csv", &opt, MEL_EDATA, "column \"t\": numbers in some files, texts in others");
    opt.strict = false;
    opt.max_rows = 3;
    refuses("r-*.csv", &opt, MEL_ELIMIT, "more than 3 rows in all files");
    opt.max_rows = 4;
    put("r-2.csv", "x,t\n2,b\n3,c\n");
    opt.max_categories = 2;
    refuses("r-*.csv", &opt, MEL_ELIMIT, "more than 2 different texts");
}

/* Files of two patterns belong together by what their * stands for. */
static void test_together(void **state)
{
    (void)state;
    mel_read_options opt;
    mel_shards shards = { 0 };
    mel_read_options_init(&opt);
    opt.shards = &shards;
    put("y-1.csv", "y\n1\n0\n");
    put("y-2.csv", "y\n1\n");
    put("g-1.csv", "g\na\nb\n");
    put("g-2.csv", "g\nb\n");
    mel_table *table;
    mel_error err;
    assert_ok(mel_table_read(&table, test_path("y-*.csv"), &opt, &err), &err);
    mel_table_free(table);
    assert_int_equal(shards.n, 2);
    assert_string_equal(shards.key[1], "2");
    assert_int_equal(shards.start[1], 2);
    assert_int_equal(shards.start[2], 3);
    assert_ok(mel_table_read(&table, test_path("g-*.csv"), &opt, &err), &err);
    mel_table_free(table);
    put("g-1.csv", "g\na\n"); /* as many rows in all, but not in each */
    put("g-2.csv", "g\nb\nb\n");
    refuses("g-*.csv", &opt, MEL_EDATA, "g-1.csv has 1 rows, the file that belongs to it has 2");
    put("g-3.csv", "g\nb\n");
    refuses("g-*.csv", &opt, MEL_EDATA, "\"3\" is here only");
    put("q-1.csv", "g\nb\n");
    refuses("q-*.csv", &opt, MEL_EDATA, "\"2\" is among the others only");
    mel_shards_clear(&shards);
}

static void test_digests(void **state)
{
    (void)state;
    mel_error err;
    char one[MEL_DIGEST_HEX], two[MEL_DIGEST_HEX];
    put("d-1.csv", "x\n1\n");
    put("d-2.csv", "x\n2\n");
    assert_ok(mel_digest_path(one, test_path("d-*.csv"), &err), &err);
    put("d-2.csv", "x\n3\n");
    assert_ok(mel_digest_path(two, test_path("d-*.csv"), &err), &err);
    assert_string_not_equal(one, two);
    assert_true(mel_pattern_is_files(test_path("d-*.csv")));
    assert_false(mel_pattern_is_files(test_path("e-*.csv")));
    assert_false(mel_is_pattern(put("odd[1].csv", "x\n1\n"))); /* there is such a file */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_joins, test_teardown),
        cmocka_unit_test_teardown(test_sparse, test_teardown),
        cmocka_unit_test_teardown(test_refuses, test_teardown),
        cmocka_unit_test_teardown(test_together, test_teardown),
        cmocka_unit_test_teardown(test_digests, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
