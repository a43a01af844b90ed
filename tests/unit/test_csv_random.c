/* Random tables written as CSV in random ways: what is read is what was written, for any number of
 * threads. */
#include "support/test.h"

#include "base/buffer.h"
#include "data/csv.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cutting rows, against a walk over every byte ---- */

static void check_cut(const char *text, size_t n, size_t piece)
{
    mel_csv_cut cut;
    mel_csv_cut_rows(&cut, text, n, piece, n % 50 == 7 ? 3 : 1);
    size_t ends[512] = { 0 }, n_rows = 0;
    bool inside = false;
    for (size_t i = 0; i < n; i++) {
        inside ^= text[i] == '"';
        if (text[i] == '\n' && !inside)
            ends[n_rows++] = i + 1;
    }
    assert_int_equal(cut.n_rows, n_rows);
    assert_int_equal(cut.cut, n_rows != 0 ? ends[n_rows - 1] : 0);
    size_t at = 0, row = 0;
    for (size_t i = 0; i < cut.n_spans; i++) {
        assert_int_equal(cut.span[i].begin, at);
        assert_int_equal(cut.span[i].first_row, row);
        assert_true(cut.span[i].end > at);
        at = cut.span[i].end;
        while (row < n_rows && ends[row] <= at)
            row++;
        assert_int_equal(ends[row - 1], at);
    }
    assert_int_equal(at, cut.cut);
}

static void test_cut_rows(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int run = 0; run < 20000; run++) {
        char text[256];
        const size_t n = (size_t)mel_rng_below(&rng, sizeof text);
        const uint64_t quotes = mel_rng_below(&rng, 3); /* none, some, many */
        for (size_t i = 0; i < n; i++) {
            const uint64_t r = mel_rng_below(&rng, 10);
            text[i] = r < quotes ? '"' : r < quotes + 2 ? '\n' : 'x';
        }
        const size_t piece = n / MEL_CSV_PIECES + 1 + (size_t)mel_rng_below(&rng, 40);
        check_cut(text, n, piece);
        size_t end = 0;
        bool inside = false;
        while (end < n && (inside || text[end] != '\n'))
            inside ^= text[end++] == '"';
        assert_int_equal(mel_csv_first_row(text, n), end < n ? end + 1 : 0);
    }
}

/* ---- whole tables ---- */

enum { MOST_COLUMNS = 6, MOST_WORDS = 12 };

typedef struct {
    size_t rows, columns;
    bool text[MOST_COLUMNS];
    double *number[MOST_COLUMNS]; /* NaN: missing */
    uint32_t *word[MOST_COLUMNS]; /* MEL_MISSING: missing */
    char *words[MOST_COLUMNS][MOST_WORDS];
    bool crlf, last_line_end;
} made;

static void write_quoted(mel_buffer *out, const char *text)
{
    mel_buffer_puts(out, "\"");
    for (; *text != '\0'; text++) {
        mel_buffer_add(out, text, 1);
        if (*text == '"')
            mel_buffer_puts(out, "\"");
    }
    mel_buffer_puts(out, "\"");
}

static void random_word(char *out, size_t size, size_t number, mel_rng *rng)
{
    static const char *const bits[] = {
        "a", "b", ",", "\n", "\"", "\r\n", " ", "é", "日", "NA", "?", "x", "1"
    };
    (void)snprintf(out, size, "w%zu", number); /* makes words different, and none a number or missing */
    const size_t n = (size_t)mel_rng_below(rng, mel_rng_below(rng, 20) == 0 ? 40 : 5);
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s", bits[mel_rng_below(rng, COUNT(bits))]);
    }
}

static double random_number(mel_rng *rng)
{
    switch (mel_rng_below(rng, 4)) {
    case 0:
        return (double)mel_rng_below(rng, 1000) - 500;
    case 1:
        return mel_rng_normal(rng);
    case 2:
        return mel_rng_normal(rng) * pow(10, (double)mel_rng_below(rng, 60) - 30);
    default:
        return (double)mel_rng_below(rng, 100) / 10;
    }
}

/* A text column that looks like numbers in its first rows, so that it is found out late. */
static made make_table(mel_rng *rng, size_t rows)
{
    made t = { .rows = rows, .columns = 1 + (size_t)mel_rng_below(rng, MOST_COLUMNS) };
    t.crlf = mel_rng_below(rng, 2) == 0;
    t.last_line_end = mel_rng_below(rng, 2) == 0;
    for (size_t j = 0; j < t.columns; j++) {
        t.text[j] = mel_rng_below(rng, 2) == 0;
        const size_t n_words = 1 + (size_t)mel_rng_below(rng, MOST_WORDS);
        const bool late = mel_rng_below(rng, 3) == 0;
        const size_t from = late ? rows / 2 : 0;
        for (size_t k = 0; k < n_words; k++) {
            t.words[j][k] = malloc(512);
            if (late && k < n_words / 2)
                (void)snprintf(t.words[j][k], 512, "%zu", k);
            else
                random_word(t.words[j][k], 512, k, rng);
        }
        t.number[j] = malloc(rows * sizeof(double));
        t.word[j] = malloc(rows * sizeof(uint32_t));
        for (size_t i = 0; i < rows; i++) {
            const bool missing = mel_rng_below(rng, 8) == 0;
            const size_t range = late && i < from && n_words >= 2 ? n_words / 2 : n_words;
            t.number[j][i] = missing ? NAN : random_number(rng);
            t.word[j][i] = missing ? MEL_MISSING : (uint32_t)mel_rng_below(rng, range);
        }
        t.word[j][rows - 1] = (uint32_t)n_words - 1; /* at least one word: the column is text */
    }
    return t;
}

static void free_table(made *t)
{
    for (size_t j = 0; j < t->columns; j++) {
        free(t->number[j]);
        free(t->word[j]);
        for (size_t k = 0; k < MOST_WORDS; k++)
            free(t->words[j][k]);
    }
}

static void write_cell(mel_buffer *out, const made *t, size_t i, size_t j, mel_rng *rng)
{
    static const char *const missing[] = { "", "?", "NA", " NA", "\"\"" };
    const bool is_missing = t->text[j] ? t->word[j][i] == MEL_MISSING : isnan(t->number[j][i]);
    const bool quoted = mel_rng_below(rng, 5) == 0;
    char text[512];
    if (is_missing) {
        /* an empty line would end a table of one column early */
        mel_buffer_puts(out, missing[t->columns == 1 ? 1 + mel_rng_below(rng, 4) : mel_rng_below(rng, 5)]);
        return;
    }
    if (t->text[j])
        (void)snprintf(text, sizeof text, "%s", t->words[j][t->word[j][i]]);
    else
        (void)snprintf(text, sizeof text, "%.17g", t->number[j][i]);
    if (quoted || strpbrk(text, ",\"\r\n") != NULL)
        write_quoted(out, text);
    else
        mel_buffer_printf(out, "%s%s%s", !t->text[j] && text[0] == '1' ? " " : "", text,
                          !t->text[j] && text[0] == '2' ? "\t" : "");
}

static void write_table(mel_buffer *out, const made *t, mel_rng *rng)
{
    const char *line_end = t->crlf ? "\r\n" : "\n";
    mel_buffer_init(out, SIZE_MAX / 2);
    for (size_t j = 0; j < t->columns; j++)
        mel_buffer_printf(out, "%sname %zu", j == 0 ? "" : ",", j);
    for (size_t i = 0; i < t->rows; i++) {
        mel_buffer_puts(out, line_end);
        for (size_t j = 0; j < t->columns; j++) {
            mel_buffer_puts(out, j == 0 ? "" : ",");
            write_cell(out, t, i, j, rng);
        }
    }
    if (t->last_line_end)
        mel_buffer_puts(out, line_end);
    assert_int_equal(out->status, MEL_OK);
}

/* Rows from .. from + n of what was made are those of the table. */
static void check_rows(const mel_table *table, const made *t, size_t from)
{
    assert_int_equal(mel_table_columns(table), t->columns);
    for (size_t j = 0; j < t->columns; j++) {
        const double *x = mel_table_numbers(table, j);
        const uint32_t *codes = mel_table_codes(table, j);
        assert_int_equal(mel_table_column_type(table, j), t->text[j] ? MEL_COLUMN_TEXT : MEL_COLUMN_NUMBER);
        for (size_t i = 0; i < mel_table_rows(table); i++) {
            if (!t->text[j]) {
                assert_true(x[i] == t->number[j][from + i] || (isnan(x[i]) && isnan(t->number[j][from + i])));
                continue;
            }
            const uint32_t word = t->word[j][from + i];
            assert_int_equal(codes[i] == MEL_MISSING, word == MEL_MISSING);
            if (word != MEL_MISSING)
                assert_string_equal(mel_table_category(table, j, codes[i]), t->words[j][word]);
        }
    }
}

/* Codes count up in the order of first appearance. */
static void check_codes(const mel_table *table)
{
    for (size_t j = 0; j < mel_table_columns(table); j++) {
        const uint32_t *codes = mel_table_codes(table, j);
        uint32_t next = 0;
        for (size_t i = 0; codes != NULL && i < mel_table_rows(table); i++) {
            if (codes[i] != MEL_MISSING && codes[i] == next)
                next++;
            assert_true(codes[i] == MEL_MISSING || codes[i] < next);
        }
        assert_int_equal(next, mel_table_categories(table, j));
    }
}

static void check_table(mel_rng *rng, size_t rows)
{
    made t = make_table(rng, rows);
    mel_buffer text;
    write_table(&text, &t, rng);
    const char *path = test_file("random.csv", text.data, text.size);
    mel_table *table = NULL;
    mel_error err;
    for (int threads = 1; threads <= 3; threads++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.threads = threads;
        mel_table_free(table);
        assert_ok(mel_table_read(&table, path, &opt, &err), &err);
        assert_int_equal(mel_table_rows(table), t.rows);
        check_rows(table, &t, 0);
        check_codes(table);
    }
    mel_table_free(table);
    mel_buffer_free(&text);
    free_table(&t);
}

static void test_small_tables(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (int run = 0; run < 300; run++)
        check_table(&rng, 1 + (size_t)mel_rng_below(&rng, 300));
}

static void test_tables_of_many_chunks(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int run = 0; run < 4; run++)
        check_table(&rng, 40000 + (size_t)mel_rng_below(&rng, 20000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_rows),
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_tables_of_many_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
