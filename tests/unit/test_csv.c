/* Reading CSV files: dialects, types, options, limits, rows that come late. */
#include "support/tables.h"
#include "support/test.h"

#include "base/buffer.h"
#include "data/csv.h"
#include "data/shared.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static mel_table *read_text(const char *text, const mel_read_options *opt)
{
    mel_table *table;
    mel_error err;
    assert_ok(mel_table_read_memory(&table, text, strlen(text), "t.csv", opt, &err), &err);
    return table;
}

static void test_accepts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *want;
    } rows[] = {
        { "numbers and text", "a,b\n1,x\n2.5,y\n", "a:n=1,2.5 b:t=x,y" },
        { "no line end at the end", "a,b\n1,2", "a:n=1 b:n=2" },
        { "CRLF", "a,b\r\n1,x\r\n2,y\r\n", "a:n=1,2 b:t=x,y" },
        { "CRLF, then nothing", "a,b\r\n1,x\r\n2,y", "a:n=1,2 b:t=x,y" },
        { "line ends mixed", "a,b\n1,x\r\n2,y\n", "a:n=1,2 b:t=x,y" },
        { "byte order mark",
          "\xEF\xBB\xBF"
          "a,b\n1,2\n",
          "a:n=1 b:n=2" },
        { "byte order mark and quotes", "\xEF\xBB\xBF\"a\",b\n1,2\n", "a:n=1 b:n=2" },
        { "missing numbers", "a,b\n1,?\nNA,2\n,3\n", "a:n=1,_,_ b:n=_,2,3" },
        { "missing texts", "a,b\nx,?\nNA,y\n,z\n", "a:t=x,_,_ b:t=_,y,z" },
        { "missing between blanks", "a,b\n 1 , ? \n\t2,  NA\n3,   \n", "a:n=1,2,3 b:n=_,_,_" },
        { "missing text between blanks", "a,b\nx, ?\ny,NA \nz,w\n", "a:t=x,y,z b:t=_,_,w" },
        { "blanks belong to text", "a,b\n x ,1\ny,2\n", "a:t= x ,y b:n=1,2" },
        { "blanks in names", " a , b\n1,2\n", "a:n=1 b:n=2" },
        { "quoted cells", "a,b\n\"x\",\"1\"\n\"y,z\",\"2\"\n", "a:t=x,y,z b:n=1,2" },
        { "doubled quotes", "a,b\n\"x\"\"y\",1\n\"\"\"\",2\n", "a:t=x\"y,\" b:n=1,2" },
        { "line ends inside quotes", "a,b\n\"x\ny\",1\n\"p\r\nq\",2\n", "a:t=x\ny,p\r\nq b:n=1,2" },
        { "carriage return inside quotes", "a,b\n\"x\ry\",1\nz,2\n", "a:t=x\ry,z b:n=1,2" },
        { "quoted names", "\"a,1\",\"b\"\"2\"\n1,2\n", "a,1:n=1 b\"2:n=2" },
        { "a quoted NA is text", "a,b\n\"NA\",1\n\"?\",2\nNA,3\n", "a:t=NA,?,_ b:n=1,2,3" },
        { "a quoted nothing is missing", "a,b\n\"\",\"\"\n1,x\n", "a:n=_,1 b:t=_,x" },
        { "quoted last cell with CRLF", "a,b\r\n1,\"x\"\r\n2,\"y\"\r\n", "a:n=1,2 b:t=x,y" },
        { "numbers in many forms", "a\n1\n-2\n+3\n.5\n5.\n1e3\n-1.5E-2\n007\n",
          "a:n=1,-2,3,0.5,5,1000,-0.014999999999999999,7" },
        { "one text makes a column of text", "a\n1\n2\nx\n03\n", "a:t=1,2,x,03" },
        { "hexadecimal is text", "a\n0x10\n1\n", "a:t=0x10,1" },
        { "nan among texts is missing", "a\nnan\nx\n1e999\n", "a:t=_,x,1e999" },
        { "a column without values", "a,b\n1,\n2,?\n", "a:n=1,2 b:n=_,_" },
        { "one column", "a\n1\n2\n", "a:n=1,2" },
        { "one column, empty lines are cells", "a\n1\n\n2\n\n", "a:n=1,_,2,_" },
        { "one column with CRLF, empty lines", "a\r\n1\r\n\r\n2\r\n", "a:n=1,_,2" },
        { "empty lines at the end", "a,b\n1,2\n\n\n", "a:n=1 b:n=2" },
        { "empty lines at the end, CRLF", "a,b\r\n1,2\r\n\r\n\r\n", "a:n=1 b:n=2" },
        { "empty line after a quoted cell that ends in one", "a,b\n1,\"x\n\"\n\n", "a:n=1 b:t=x\n" },
        { "empty cells only", "a,b\n,\n,\n", "a:n=_,_ b:n=_,_" },
        { "UTF-8", "größe,b\n1,naïve\n2,日本\n", "größe:n=1,2 b:t=naïve,日本" },
        { "negative zero", "a\n-0\n1\n", "a:n=-0,1" },
        { "more digits than a word holds",
          "a\n123456789012345678901234567890\n0.1000000000000000055511151231257827\n",
          "a:n=1.2345678901234568e+29,0.10000000000000001" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_table *table = read_text(rows[i].text, NULL);
        char got[512];
        test_describe(table, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        mel_table_free(table);
    }
}

static void test_options(void **state)
{
    (void)state;
    static const mel_column_override text_a[] = { { "a", MEL_COLUMN_TEXT } };
    static const mel_column_override number_b[] = { { "b", MEL_COLUMN_NUMBER }, { "a", MEL_COLUMN_AUTO } };
    static const mel_column_override text_c1[] = { { "c1", MEL_COLUMN_TEXT } };
    static const struct {
        const char *name, *text, *want;
        char delimiter;
        mel_header header;
        const mel_column_override *overrides;
        size_t n_overrides;
    } rows[] = {
        { "semicolons", "a;b\n1,5;2\n", "a:n=1.5 b:n=2", ';', MEL_HEADER_YES, NULL, 0 },
        { "tabs", "a\tb\n1\t 2\n", "a:n=1 b:n=2", '\t', MEL_HEADER_YES, NULL, 0 },
        { "tabs and missing cells", "a\tb\n\t\n1\tx\n", "a:n=_,1 b:t=_,x", '\t', MEL_HEADER_YES, NULL, 0 },
        { "bars", "a|b\n\"1|2\"|2\n", "a:t=1|2 b:n=2", '|', MEL_HEADER_YES, NULL, 0 },
        { "no header", "1,x\n2,y\n", "c1:n=1,2 c2:t=x,y", ',', MEL_HEADER_NO, NULL, 0 },
        { "no header, one row", "1,x", "c1:n=1 c2:t=x", ',', MEL_HEADER_NO, NULL, 0 },
        { "no header, quoted first cell", "\"1,2,3\",x\n", "c1:t=1,2,3 c2:t=x", ',', MEL_HEADER_NO, NULL, 0 },
        { "numbers as text", "a,b\n1,2\n01,3\n", "a:t=1,01 b:n=2,3", ',', MEL_HEADER_YES, text_a, 1 },
        { "declared numbers", "a,b\n1,2\n2,NA\n", "a:n=1,2 b:n=2,_", ',', MEL_HEADER_YES, number_b, 2 },
        { "nan in a declared text", "a,b\nnan,2\n1,3\n", "a:t=nan,1 b:n=2,3", ',', MEL_HEADER_YES, text_a,
          1 },
        { "text without a header", "1,2\n1,3\n", "c1:t=1,1 c2:n=2,3", ',', MEL_HEADER_NO, text_c1, 1 },
        { "declared text without values", "a,b\n,2\n?,3\n", "a:t=_,_ b:n=2,3", ',', MEL_HEADER_YES, text_a,
          1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.delimiter = rows[i].delimiter;
        opt.header = rows[i].header;
        opt.overrides = rows[i].overrides;
        opt.n_overrides = rows[i].n_overrides;
        mel_table *table = read_text(rows[i].text, &opt);
        char got[512];
        test_describe(table, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        mel_table_free(table);
    }
}

static void test_refused_options(void **state)
{
    (void)state;
    static const char delimiters[] = { 'a', '1', '"', '\n', '\r', '.', '-', '+', '_', '?', (char)0xC3 };
    mel_read_options opt;
    mel_error err;
    mel_table *table;
    for (size_t i = 0; i < COUNT(delimiters); i++) {
        mel_read_options_init(&opt);
        opt.delimiter = delimiters[i];
        assert_int_equal(mel_table_read_memory(&table, "a\n1\n", 4, "t", &opt, &err), MEL_EINVAL);
        assert_null(table);
    }
    opt = (mel_read_options){ 0 };
    assert_int_equal(mel_table_read_memory(&table, "a\n1\n", 4, "t", &opt, &err), MEL_EINVAL);
    mel_read_options_init(&opt);
    opt.threads = -1;
    assert_int_equal(mel_table_read_memory(&table, "a\n1\n", 4, "t", &opt, NULL), MEL_EINVAL);
    mel_read_options_init(&opt);
    opt.format = (mel_format)9;
    assert_int_equal(mel_table_read_memory(&table, "a\n1\n", 4, "t", &opt, NULL), MEL_EINVAL);
    const mel_column_override nameless = { NULL, MEL_COLUMN_TEXT };
    mel_read_options_init(&opt);
    opt.overrides = &nameless;
    opt.n_overrides = 1;
    assert_int_equal(mel_table_read_memory(&table, "a\n1\n", 4, "t", &opt, NULL), MEL_EINVAL);
}

/* A caller that was built against an older, shorter options struct. */
static void test_short_options(void **state)
{
    (void)state;
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.struct_size = offsetof(mel_read_options, header);
    opt.delimiter = ';';
    opt.header = MEL_HEADER_NO; /* not known to that caller: must be ignored */
    mel_table *table = read_text("a;b\n1;2\n", &opt);
    assert_int_equal(mel_table_rows(table), 1);
    assert_int_equal(mel_table_find(table, "b"), 1);
    mel_table_free(table);
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t max_rows, max_columns, max_bytes, max_categories;
        mel_status want;
        const char *part;
    } rows[] = {
        { "everything just fits", 3, 2, 18, 3, MEL_OK, "" },
        { "rows", 2, 2, 18, 3, MEL_ELIMIT, "more than 2 rows" },
        { "columns", 3, 1, 18, 3, MEL_ELIMIT, "more than 1 columns" },
        { "bytes", 3, 2, 17, 3, MEL_ELIMIT, "more than 17 bytes" },
        { "categories", 3, 2, 18, 2, MEL_ELIMIT, "column \"b\": more than 2 different texts (\"z\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.max_rows = rows[i].max_rows;
        opt.max_columns = rows[i].max_columns;
        opt.max_bytes = rows[i].max_bytes;
        opt.max_categories = rows[i].max_categories;
        mel_table *table;
        mel_error err = { 0 };
        const char *text = "a,b\n1,x\n22,y\n3,z\n\n";
        assert_int_equal(mel_table_read_memory(&table, text, strlen(text), "t.csv", &opt, &err),
                         rows[i].want);
        if (strstr(err.text, rows[i].part) == NULL)
            fail_msg("%s", err.text);
        mel_table_free(table);
    }
}

/* A text far behind the first rows turns a column into text after all, with codes in the order of
 * appearance; the other columns are not disturbed. */
static void test_late_text(void **state)
{
    (void)state;
    enum { ROWS = 60000 };
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 2);
    mel_buffer_puts(&text, "n,late,t\n");
    for (int i = 0; i < ROWS; i++)
        mel_buffer_printf(&text, "%d,%s%d,%s\n", i, i == ROWS - 2 ? "x" : "", i % 7, i % 3 == 0 ? "p" : "q");
    for (int threads = 1; threads <= 3; threads++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.threads = threads;
        mel_table *table = read_text(text.data, &opt);
        assert_int_equal(mel_table_rows(table), ROWS);
        assert_int_equal(mel_table_column_type(table, 1), MEL_COLUMN_TEXT);
        assert_int_equal(mel_table_categories(table, 1), 8);
        assert_int_equal(mel_table_categories(table, 2), 2);
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_true(mel_table_numbers(table, 0)[i] == i);
            assert_int_equal(mel_table_codes(table, 1)[i], i == ROWS - 2 ? 7 : i % 7);
            assert_int_equal(mel_table_codes(table, 2)[i], i % 3 != 0);
        }
        assert_string_equal(mel_table_category(table, 1, 7), "x1");
        mel_table_free(table);
    }
    mel_buffer_free(&text);
}

/* Points in the first rows of a column that turns out to be one of texts say nothing about the commas of
 * another, however many different ones these are. */
static void test_late_mark(void **state)
{
    (void)state;
    enum { ROWS = 400, FIRST = 120 };
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 2);
    mel_buffer_puts(&text, "t;n\n");
    for (int i = 0; i < ROWS; i++)
        mel_buffer_printf(&text, "%s;%d,5\n", i < FIRST ? "1.5" : "x", i);
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.max_categories = 3;
    mel_table *table = read_text(text.data, &opt);
    assert_int_equal(mel_table_column_type(table, 0), MEL_COLUMN_TEXT);
    assert_int_equal(mel_table_column_type(table, 1), MEL_COLUMN_NUMBER);
    for (int i = 0; i < ROWS; i++)
        assert_true(mel_table_numbers(table, 1)[i] == i + 0.5);
    mel_table_free(table);
    mel_buffer_puts(&text, "x;1.2.3\n"); /* now they are categories */
    mel_error err = { 0 };
    assert_int_equal(mel_table_read_memory(&table, text.data, text.size, "t.csv", &opt, &err), MEL_ELIMIT);
    assert_non_null(strstr(err.text, "column \"n\": more than 3 different texts"));
    mel_buffer_free(&text);
}

/* A column of percentages stays one when decimals that come late have it read again. */
static void test_late_decimals(void **state)
{
    (void)state;
    enum { ROWS = 300, FIRST = 200 };
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 2);
    mel_buffer_puts(&text, "a;b;c\n");
    for (int i = 0; i < ROWS; i++)
        mel_buffer_puts(&text, i < FIRST ? "45%;3;1\n" : "4,5%;2,5%;1,5\n");
    mel_table *table = read_text(text.data, NULL);
    static const mel_percent_signs want[] = { MEL_PERCENT_ALL, MEL_PERCENT_SOME, MEL_PERCENT_NONE };
    static const double last[] = { 0.045, 0.025, 1.5 };
    for (size_t j = 0; j < COUNT(want); j++) {
        assert_int_equal(table->column[j].percent, want[j]);
        assert_close(mel_table_numbers(table, j)[ROWS - 1], last[j], 1e-15);
    }
    mel_table_free(table);
    mel_buffer_free(&text);
}

/* Whole numbers in quotes after a chunk of plain ones are the same numbers. */
static void test_late_quotes(void **state)
{
    (void)state;
    const size_t plain = MEL_CSV_PIECE, n = plain + 10; /* a row has four bytes or more */
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 2);
    mel_buffer_puts(&text, "x,y\n");
    for (size_t i = 0; i < n; i++)
        mel_buffer_printf(&text, i < plain ? "%zu,1\n" : "\"%zu\",1\n", i % 7);
    mel_table *table = read_text(text.data, NULL);
    assert_int_equal(mel_table_rows(table), n);
    assert_int_equal(mel_table_column_type(table, 0), MEL_COLUMN_NUMBER);
    for (size_t i = plain - 10; i < n; i++)
        assert_true(mel_table_numbers(table, 0)[i] == (double)(i % 7));
    mel_table_free(table);
    mel_buffer_free(&text);
}

/* Texts that appear first in different chunks, among them one longer than a chunk. */
static void test_long_cells(void **state)
{
    (void)state;
    const size_t n = MEL_CSV_PIECE + MEL_CSV_PIECE / 2;
    mel_buffer text;
    mel_buffer_init(&text, SIZE_MAX / 2);
    mel_buffer_puts(&text, "a,b\n");
    for (int i = 0; i < 6; i++) {
        mel_buffer_puts(&text, "\"");
        for (size_t k = 0; k < n; k++)
            mel_buffer_add(&text, k % 50 == 49 ? "\n" : k % 50 == 25 ? "\"\"" : "x", k % 50 == 25 ? 2 : 1);
        mel_buffer_printf(&text, "%d\",%d\n", i % 3, i);
    }
    for (int threads = 1; threads <= 3; threads++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.threads = threads;
        mel_table *table = read_text(text.data, &opt);
        assert_int_equal(mel_table_rows(table), 6);
        assert_int_equal(mel_table_categories(table, 0), 3);
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(mel_table_codes(table, 0)[i], i % 3);
            assert_true(mel_table_numbers(table, 1)[i] == i);
        }
        assert_int_equal(strlen(mel_table_category(table, 0, 2)), n + 1);
        mel_table_free(table);
    }
    mel_buffer_free(&text);
}

/* An open quote does not swallow a file of any size. */
static void test_endless_row(void **state)
{
    (void)state;
    static const char *const starts[] = { "a,b\n1,2\n3,\"", "\"a,b\n1,2\n3," };
    static const char *const parts[] = {
        "f.csv: row 3: more than 67108864 bytes in one row; is a quote left open?",
        "f.csv: row 1: more than 67108864 bytes in one row"
    };
    const size_t n = MEL_CSV_ROW_CAP + 100;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    for (size_t i = 0; i < COUNT(starts); i++) {
        mel_table *table;
        mel_error err;
        for (size_t k = 0; starts[i][k] != '\0'; k++)
            text[k] = starts[i][k];
        assert_int_equal(mel_table_read_memory(&table, text, n, "f.csv", NULL, &err), MEL_ELIMIT);
        assert_non_null(strstr(err.text, parts[i]));
    }
    free(text);
}

/* Deep in a file of many chunks the row is still counted right, whatever the number of threads. */
static void test_far_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name, *row, *part;
    } rows[] = {
        { "ragged", "1,2\n", "row 250002: 2 cells; expected 3" },
        { "stray quote", "1,2\"3,4\n", "row 250002, column \"b\": \"2\"3\"" },
        { "open quote", "1,2,\"3\n", "row 250002, column \"c\": the quote before" },
        { "junk after a quote", "\"1\"x,2,3\n", "row 250002, column \"a\": \"x\" follows the closing quote" },
        { "no encoding", "1,2,\x81\n", "line 250002: byte \\x81 is neither UTF-8 nor Windows-1252" },
        { "infinite", "1,-inf,3\n", "row 250002, column \"b\": \"-inf\" is not a finite number" },
        { "empty line", "\n", "row 250002: the line is empty" },
    };
    for (size_t k = 0; k < COUNT(rows); k++) {
        print_message("  %s\n", rows[k].name);
        mel_buffer text;
        mel_buffer_init(&text, SIZE_MAX / 2);
        mel_buffer_puts(&text, "a,b,c\n");
        for (int i = 0; i < 250000; i++)
            mel_buffer_puts(&text, i % 5 == 0 ? "\"1\",2,3.5\n" : "1,2,3.5\n");
        mel_buffer_puts(&text, rows[k].row);
        for (int i = 0; i < 100000; i++)
            mel_buffer_puts(&text, "1,2,3\n");
        for (int threads = 1; threads <= 3; threads++) {
            mel_read_options opt;
            mel_read_options_init(&opt);
            opt.threads = threads;
            mel_table *table;
            mel_error err = { 0 };
            assert_int_equal(mel_table_read_memory(&table, text.data, text.size, "f.csv", &opt, &err),
                             MEL_EDATA);
            assert_null(table);
            if (strstr(err.text, rows[k].part) == NULL)
                fail_msg("%s instead of %s", err.text, rows[k].part);
        }
        mel_buffer_free(&text);
    }
}

/* bytes packed as one gzip member. */
static size_t pack(unsigned char *to, size_t room, const char *text)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)strlen(text);
    z.next_out = to;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n = room - z.avail_out;
    deflateEnd(&z);
    return n;
}

static void check_file(const char *path, const char *want)
{
    mel_table *table;
    mel_error err;
    char got[512];
    assert_ok(mel_table_read(&table, path, NULL, &err), &err);
    assert_string_equal(mel_table_name(table), path);
    test_describe(table, got, sizeof got);
    assert_string_equal(got, want);
    mel_table_free(table);
}

static void test_files(void **state)
{
    (void)state;
    unsigned char packed[512];
    const char *want = "a:n=1,2 b:t=x,y";
    check_file(test_file("plain.csv", "a,b\n1,x\n2,y\n", 12), want);
    check_file(test_file("UPPER.CSV", "a,b\n1,x\n2,y\n", 12), want);
    check_file(test_file("unknown.data", "a,b\n1,x\n2,y\n", 12), want);
    size_t n = pack(packed, sizeof packed, "a,b\n1,x\n2,y\n");
    check_file(test_file("packed.csv.gz", packed, n), want);
    check_file(test_file("packed-unsaid.csv", packed, n), want);
    n = pack(packed, sizeof packed, "a,b\n1,");
    n += pack(packed + n, sizeof packed - n, "");
    n += pack(packed + n, sizeof packed - n, "x\n2,y\n");
    check_file(test_file("members.csv.gz", packed, n), want);
}

static void test_standard_input(void **state)
{
    (void)state;
    const char *path = test_file("in.csv", "a,b\n1,x\n2,y\n", 12);
    const int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    assert_true(saved >= 0 && fd >= 0 && dup2(fd, STDIN_FILENO) >= 0);
    check_file("-", "a:n=1,2 b:t=x,y");
    int pipe_end[2];
    assert_int_equal(pipe(pipe_end), 0);
    assert_int_equal(write(pipe_end[1], "a\n1\nx\n", 6), 6);
    close(pipe_end[1]);
    assert_true(dup2(pipe_end[0], STDIN_FILENO) >= 0);
    check_file("-", "a:t=1,x"); /* a pipe, and a column that has to be read twice */
    assert_true(dup2(saved, STDIN_FILENO) >= 0);
    close(pipe_end[0]);
    close(saved);
    close(fd);
}

static void test_absent(void **state)
{
    (void)state;
    mel_table *table;
    mel_error err;
    assert_int_equal(mel_table_read(&table, "/no/such/file.csv", NULL, &err), MEL_EDATA);
    assert_null(table);
    assert_non_null(strstr(err.text, "/no/such/file.csv: cannot be opened: No such file"));
    assert_int_equal(mel_table_read(&table, "/tmp", NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "/tmp: is a folder"));
    assert_int_equal(mel_table_read(&table, "/no/such/file.csv", NULL, NULL), MEL_EDATA);
    char path[1200];
    memset(path, 'x', sizeof path);
    (void)snprintf(path + 1000, 16, ".csv");
    assert_int_equal(mel_table_read(&table, path, NULL, &err), MEL_EDATA);
    assert_non_null(
        strstr(err.text, "xxx.csv: cannot be opened")); /* the end of the name and the reason are there */
}

static int stop_at_once(void *user, const char *what, double share)
{
    assert_true(share >= 0.0 && share <= 1.0);
    assert_string_equal(what, "reading");
    ++*(int *)user;
    return 1;
}

static void test_stopped(void **state)
{
    (void)state;
    int calls = 0;
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.progress = (mel_progress){ stop_at_once, &calls };
    mel_table *table;
    mel_error err;
    assert_int_equal(mel_table_read_memory(&table, "a\n1\n", 4, "t.csv", &opt, &err), MEL_ESTOPPED);
    assert_null(table);
    assert_int_equal(calls, 1);
}

/* Data sets that come with the program. */
static void test_real_data(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t rows, columns, texts, missing;
    } sets[] = { { "breast_cancer_original.csv.gz", 699, 11, 0, 16 },
                 { "breast_cancer_diagnostic.csv.gz", 569, 31, 0, 0 },
                 { "adult_train.csv.gz", 32561, 15, 8, 4262 },
                 { "communities_crime.csv.gz", 1994, 130, 1, 39202 },
                 { "covtype.csv.gz", 20000, 13, 2, 0 } };
    for (size_t k = 0; k < COUNT(sets); k++) {
        const char *path = test_data(sets[k].name);
        mel_table *table;
        mel_error err;
        assert_ok(mel_table_read(&table, path, NULL, &err), &err);
        size_t texts = 0, missing = 0;
        for (size_t j = 0; j < mel_table_columns(table); j++) {
            const double *x = mel_table_numbers(table, j);
            const uint32_t *codes = mel_table_codes(table, j);
            texts += x == NULL;
            for (size_t i = 0; i < mel_table_rows(table); i++)
                missing += (x != NULL ? isnan(x[i]) != 0 : codes[i] == MEL_MISSING) ? 1 : 0;
        }
        assert_int_equal(mel_table_rows(table), sets[k].rows);
        assert_int_equal(mel_table_columns(table), sets[k].columns);
        assert_int_equal(texts, sets[k].texts);
        assert_int_equal(missing, sets[k].missing);
        mel_table_free(table);
    }
}

/* Empty lines at the end may fall between two windows. */
static void test_empty_lines(void **state)
{
    (void)state;
    mel_buffer file;
    mel_buffer_init(&file, SIZE_MAX / 2);
    mel_buffer_puts(&file, "a,b\n1,2\n3,4\n");
    for (int i = 0; i < 9000000; i++)
        mel_buffer_puts(&file, "\r\n");
    mel_table *table;
    mel_error err = { 0 };
    const char *path = test_file("empty-lines.csv", file.data, file.size);
    assert_ok(mel_table_read(&table, path, NULL, &err), &err);
    assert_int_equal(mel_table_rows(table), 2);
    mel_table_free(table);
    mel_buffer_puts(&file, "5,6\n");
    path = test_file("late-row.csv", file.data, file.size);
    assert_int_equal(mel_table_read(&table, path, NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "late-row.csv: row 4: the line is empty; expected 2 cells"));
    mel_buffer_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),         cmocka_unit_test(test_options),
        cmocka_unit_test(test_refused_options), cmocka_unit_test(test_short_options),
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_late_text),
        cmocka_unit_test(test_late_mark),       cmocka_unit_test(test_late_quotes),
        cmocka_unit_test(test_late_decimals),   cmocka_unit_test(test_long_cells),
        cmocka_unit_test(test_far_rows),        cmocka_unit_test(test_endless_row),
        cmocka_unit_test(test_files),           cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_absent),          cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_real_data),       cmocka_unit_test(test_empty_lines),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
