/* Reading LIBSVM files: what is accepted, detected and refused. */
#include "support/test.h"

#include "base/buffer.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "label|col=value col=value;label|..." with columns from 0. */
static void describe(const mel_table *table, char *out, size_t size)
{
    mel_features x;
    assert_true(mel_table_sparse(&x, table));
    assert_null(x.dense);
    assert_int_equal(x.n_rows, mel_table_rows(table));
    size_t n = 0;
    for (size_t i = 0; i < x.n_rows; i++) {
        n += (size_t)snprintf(out + n, size - n, "%s%g|", i == 0 ? "" : ";", mel_table_numbers(table, 0)[i]);
        for (size_t k = x.row_start[i]; k < x.row_start[i + 1]; k++)
            n += (size_t)snprintf(out + n, size - n, "%s%u=%g", k == x.row_start[i] ? "" : " ", x.col[k],
                                  x.value[k]);
    }
    assert_true(n < size);
}

static void test_accepts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *want;
        size_t features;
    } rows[] = {
        { "plain", "1 1:0.5 3:2\n-1 2:1e3\n", "1|0=0.5 2=2;-1|1=1000", 3 },
        { "no line end", "1 1:0.5", "1|0=0.5", 1 },
        { "plus signs", "+1 1:+0.5\n", "1|0=0.5", 1 },
        { "CRLF", "1 1:0.5\r\n0 2:1\r\n", "1|0=0.5;0|1=1", 2 },
        { "blanks and tabs", "  1\t1:0.5   2:1 \n", "1|0=0.5 1=1", 2 },
        { "comments", "# head\n1 1:0.5 # tail 9:9\n0 2:1#x\n", "1|0=0.5;0|1=1", 2 },
        { "empty lines", "\n1 1:0.5\n\n  \n0 2:1\n\n", "1|0=0.5;0|1=1", 2 },
        { "rows without entries", "1\n0 2:1\n2 # nothing\n", "1|;0|1=1;2|", 2 },
        { "stored zeros", "1 1:0 2:0\n", "1|0=0 1=0", 2 },
        { "regression labels", "1.5 1:1\n-2e3 1:2\n", "1.5|0=1;-2000|0=2", 1 },
        { "largest index", "1 100000:1\n", "1|99999=1", 100000 },
        { "leading zeros", "1 007:1\n", "1|6=1", 7 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *table;
        mel_error err;
        mel_features x;
        char got[256];
        assert_ok(mel_table_read_memory(&table, rows[i].text, strlen(rows[i].text), "t.svm", NULL, &err),
                  &err);
        describe(table, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        assert_true(mel_table_sparse(&x, table));
        assert_int_equal(x.n_cols, rows[i].features);
        assert_int_equal(mel_table_columns(table), 1);
        assert_int_equal(mel_table_find(table, "label"), 0);
        mel_table_free(table);
    }
}

/* Without a known ending the first line decides. */
static void test_detected(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        bool sparse;
    } rows[] = {
        { "data.txt", "1 1:0.5 2:3\n0 1:1\n", true },
        { "data.txt", "a,b\n1,2\n", false },
        { "data.txt", "time 12:30\nx 1\n", true /* refused then, with the line */ },
        { "data.libsvm", "1 1:0.5\n0 1:2\n", true },
        { "data.svm.gz", "1 1:0.5\n0 1:2\n", true },
        { "data.csv", "1 1:0.5\n0 1:2\n", false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_table *table;
        mel_error err = { 0 };
        mel_features x;
        const mel_status status =
            mel_table_read_memory(&table, rows[i].text, strlen(rows[i].text), rows[i].name, NULL, &err);
        if (status != MEL_OK) {
            assert_int_equal(status, MEL_EDATA);
            assert_non_null(strstr(err.text, "data.txt: line 1, label: \"time\""));
            continue;
        }
        assert_true(mel_table_sparse(&x, table) == rows[i].sparse);
        mel_table_free(table);
    }
}

static void test_limits(void **state)
{
    (void)state;
    static const char text[] = "1 1:1\n0 3:1\n";
    for (int which = 0; which < 4; which++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.max_rows = which == 0 ? 1 : 2;
        opt.max_columns = which == 1 ? 2 : 3;
        opt.max_bytes = which == 2 ? sizeof text - 2 : sizeof text - 1;
        mel_table *table;
        mel_error err;
        assert_int_equal(mel_table_read_memory(&table, text, sizeof text - 1, "t.svm", &opt, &err),
                         which == 3 ? MEL_OK : MEL_ELIMIT);
        mel_table_free(table);
    }
}

static void test_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 100000 };
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 2);
    for (int i = 0; i < ROWS; i++)
        mel_buffer_printf(&text, "%d %d:%d.25 %d:1\n", i % 2, i % 50 + 1, i, i % 50 + 100);
    mel_table *table;
    mel_error err;
    mel_features x;
    assert_ok(mel_table_read_memory(&table, text.data, text.size, "t.svm", NULL, &err), &err);
    assert_true(mel_table_sparse(&x, table));
    assert_int_equal(x.n_rows, ROWS);
    assert_int_equal(x.n_cols, 149);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(x.row_start[i], 2 * i);
        assert_int_equal(x.col[2 * i], i % 50);
        assert_true(x.value[2 * i] == (double)i + 0.25);
    }
    mel_table_free(table);
    mel_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_accepts), cmocka_unit_test(test_detected),
                                        cmocka_unit_test(test_limits), cmocka_unit_test(test_many_rows) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
