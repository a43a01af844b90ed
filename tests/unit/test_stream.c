/* Reading a table block by block: any block size, compressed files, files that change. */
#include "support/test.h"

#include "base/buffer.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static const char text[] = "a,t\n1,x\n2,y\n?,x\n4,?\n5,z\n";

static mel_stream *open_stream(const char *path)
{
    mel_stream *stream;
    mel_error err;
    assert_ok(mel_stream_open(&stream, path, NULL, &err), &err);
    return stream;
}

static mel_table *next(mel_stream *stream, size_t max_rows)
{
    mel_table *block;
    mel_error err;
    assert_ok(mel_stream_next(&block, stream, max_rows, &err), &err);
    return block;
}

static void check_blocks(mel_stream *stream)
{
    assert_int_equal(mel_stream_rows(stream), 5);
    mel_table *one = next(stream, 2), *two = next(stream, 2), *three = next(stream, 2);
    assert_null(next(stream, 2));
    assert_null(next(stream, 2)); /* and stays at the end */
    assert_int_equal(mel_table_rows(one), 2);
    assert_int_equal(mel_table_rows(three), 1);
    assert_int_equal(mel_table_row_number(two, 0), 4);
    assert_true(isnan(mel_table_numbers(two, 0)[0]));
    assert_int_equal(mel_table_codes(two, 1)[1], MEL_MISSING);
    assert_int_equal(mel_table_categories(one, 1), 3); /* of the whole file */
    assert_int_equal(mel_table_codes(three, 1)[0], 2);
    mel_table_free(one);
    mel_table_free(two);
    mel_table_free(three);
}

static void test_blocks(void **state)
{
    (void)state;
    mel_stream *stream = open_stream(test_file("s.csv", text, sizeof text - 1));
    check_blocks(stream);
    mel_error err;
    assert_ok(mel_stream_rewind(stream, &err), &err);
    check_blocks(stream);
    assert_ok(mel_stream_rewind(stream, &err), &err);
    mel_table *whole = next(stream, SIZE_MAX);
    assert_int_equal(mel_table_rows(whole), 5);
    mel_stream_free(stream);
    assert_string_equal(mel_table_category(whole, 1, 2), "z"); /* blocks outlive the stream */
    assert_true(strstr(mel_table_name(whole), "s.csv") != NULL);
    mel_table_free(whole);
    mel_stream_free(NULL);
}

static void test_packed(void **state)
{
    (void)state;
    const char *path = test_path("s.csv.gz");
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, sizeof text - 1), sizeof text - 1);
    gzclose(file);
    mel_stream *stream = open_stream(path);
    check_blocks(stream);
    mel_stream_free(stream);
}

/* Empty lines at the end may fall between two blocks, or between two windows. */
static void test_empty_lines(void **state)
{
    (void)state;
    mel_buffer file;
    mel_buffer_init(&file, SIZE_MAX / 2);
    mel_buffer_puts(&file, "a,b\n1,2\n3,4\n");
    for (int i = 0; i < 3000000; i++)
        mel_buffer_puts(&file, "\r\n");
    mel_stream *stream = open_stream(test_file("empty-lines.csv", file.data, file.size));
    assert_int_equal(mel_stream_rows(stream), 2);
    for (int i = 0; i < 2; i++) {
        mel_table *block = next(stream, 1);
        assert_int_equal(mel_table_rows(block), 1);
        mel_table_free(block);
    }
    assert_null(next(stream, 1));
    mel_stream_free(stream);
    mel_buffer_puts(&file, "5,6\n");
    mel_error err;
    assert_int_equal(mel_stream_open(&stream, test_file("late-row.csv", file.data, file.size), NULL, &err),
                     MEL_EDATA);
    assert_null(stream);
    assert_non_null(strstr(err.text, "late-row.csv: row 4: the line is empty; expected 2 cells"));
    mel_buffer_free(&file);
}

/* The file is another one at the second pass. */
static void test_changed_file(void **state)
{
    (void)state;
    static const struct {
        const char *name, *after, *part;
    } rows[] = {
        { "fewer rows", "a,t\n1,x\n2,y\n", "the file changed while it was read: 5 rows, then 2" },
        { "a new text", "a,t\n1,x\n2,y\n?,x\n4,?\n5,w\n",
          "column \"t\": the file changed while it was read" },
        { "no number any more", "a,t\n1,x\nb,y\n?,x\n4,?\n5,z\n",
          "row 3, column \"a\": \"b\" is not a number" },
        { "not finite any more", "a,t\n1,x\ninf,y\n?,x\n4,?\n5,z\n",
          "row 3, column \"a\": \"inf\" is not a finite" },
        { "ragged", "a,t\n1,x\n2,y,3\n?,x\n4,?\n5,z\n", "row 3: 3 cells; expected 2" },
        { "nothing left", "", "the file is empty" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_stream *stream = open_stream(test_file("changing.csv", text, sizeof text - 1));
        (void)test_file("changing.csv", rows[i].after, strlen(rows[i].after));
        mel_error err = { 0 };
        mel_status status = mel_stream_rewind(stream, &err);
        mel_table *block = NULL;
        do {
            mel_table_free(block);
            block = NULL;
            if (status == MEL_OK)
                status = mel_stream_next(&block, stream, 10, &err);
        } while (status == MEL_OK && block != NULL);
        assert_int_equal(status, MEL_EDATA);
        assert_null(block);
        if (strstr(err.text, rows[i].part) == NULL)
            fail_msg("%s", err.text);
        mel_stream_free(stream);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    mel_stream *stream;
    mel_error err;
    mel_read_options opt;
    mel_read_options_init(&opt);
    assert_int_equal(mel_stream_open(&stream, "-", &opt, &err), MEL_EINVAL);
    assert_int_equal(mel_stream_open(&stream, "x.npy", &opt, &err), MEL_EINVAL);
    assert_int_equal(mel_stream_open(&stream, "x.svm.gz", &opt, &err), MEL_EINVAL);
    opt.format = MEL_FORMAT_LIBSVM;
    assert_int_equal(mel_stream_open(&stream, "x.csv", &opt, &err), MEL_EINVAL);
    mel_read_options_init(&opt);
    assert_int_equal(mel_stream_open(&stream, "/no/such.csv", &opt, &err), MEL_EDATA);
    assert_null(stream);
    assert_non_null(strstr(err.text, "/no/such.csv: cannot be opened"));
    opt.max_rows = 4;
    assert_int_equal(mel_stream_open(&stream, test_file("s.csv", text, sizeof text - 1), &opt, &err),
                     MEL_ELIMIT);
    opt.max_rows = 5;
    const mel_column_override as_text = { "a", MEL_COLUMN_TEXT };
    opt.overrides = &as_text;
    opt.n_overrides = 1;
    assert_ok(mel_stream_open(&stream, test_file("s.csv", text, sizeof text - 1), &opt, &err), &err);
    mel_table *block;
    assert_int_equal(mel_stream_next(&block, stream, 0, &err), MEL_EINVAL);
    assert_null(block);
    assert_ok(mel_stream_next(&block, stream, 9, &err), &err);
    assert_int_equal(mel_table_column_type(block, 0), MEL_COLUMN_TEXT);
    mel_table_free(block);
    mel_stream_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),      cmocka_unit_test(test_packed),
        cmocka_unit_test(test_empty_lines), cmocka_unit_test(test_changed_file),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
