/* Tables: looking columns up, taking rows, dictionaries, quoting text. */
#include "support/test.h"

#include "data/dict.h"
#include "data/quote.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mel_table *read_text(const char *text, const char *name)
{
    mel_table *table;
    mel_error err;
    assert_ok(mel_table_read_memory(&table, text, strlen(text), name, NULL, &err), &err);
    return table;
}

static void test_lookup(void **state)
{
    (void)state;
    mel_table *table = read_text("age,sex\n31,f\n42,m\n", "people.csv");
    assert_string_equal(mel_table_name(table), "people.csv");
    assert_int_equal(mel_table_find(table, "age"), 0);
    assert_int_equal(mel_table_find(table, "sex"), 1);
    assert_true(mel_table_find(table, "Age") == SIZE_MAX);
    assert_true(mel_table_find(table, "") == SIZE_MAX);
    assert_null(mel_table_codes(table, 0));
    assert_null(mel_table_numbers(table, 1));
    assert_int_equal(mel_table_categories(table, 0), 0);
    assert_int_equal(mel_table_categories(table, 1), 2);
    assert_string_equal(mel_table_category(table, 1, 1), "m");
    mel_features x;
    assert_false(mel_table_sparse(&x, table));
    mel_table_free(table);
    mel_table_free(NULL);
}

/* Taken rows keep codes and row numbers, also when taken again and when the first table is gone. */
static void test_take(void **state)
{
    (void)state;
    mel_table *table = read_text("a,t\n1,x\n2,y\n?,z\n4,?\n", "t.csv"), *taken, *again;
    const size_t rows[] = { 3, 0, 0, 2 }, second[] = { 3, 1 };
    mel_error err;
    assert_ok(mel_table_take(&taken, table, rows, 4, &err), &err);
    mel_table_free(table);
    const double *a = mel_table_numbers(taken, 0);
    const uint32_t *t = mel_table_codes(taken, 1);
    assert_int_equal(mel_table_rows(taken), 4);
    assert_true(a[0] == 4 && a[1] == 1 && a[2] == 1 && isnan(a[3]));
    assert_true(t[0] == MEL_MISSING && t[1] == 0 && t[2] == 0 && t[3] == 2);
    assert_int_equal(mel_table_categories(taken, 1), 3);
    assert_int_equal(mel_table_row_number(taken, 0), 5);
    assert_ok(mel_table_take(&again, taken, second, 2, &err), &err);
    assert_int_equal(mel_table_row_number(again, 0), 4);
    assert_int_equal(mel_table_row_number(again, 1), 2);
    assert_string_equal(mel_table_column_name(again, 1), "t");
    mel_table_free(again);
    assert_ok(mel_table_take(&again, taken, NULL, 0, &err), &err);
    assert_int_equal(mel_table_rows(again), 0);
    mel_table_free(again);
    const size_t beyond = 4;
    assert_int_equal(mel_table_take(&again, taken, &beyond, 1, &err), MEL_EINVAL);
    assert_null(again);
    mel_table_free(taken);
}

static void test_take_sparse(void **state)
{
    (void)state;
    mel_table *table = read_text("1 1:1 3:3\n0\n1 2:2\n", "t.svm"), *taken;
    const size_t rows[] = { 2, 1, 0, 2 };
    mel_error err;
    mel_features x;
    assert_ok(mel_table_take(&taken, table, rows, 4, &err), &err);
    mel_table_free(table);
    assert_true(mel_table_sparse(&x, taken));
    static const size_t starts[] = { 0, 1, 1, 3, 4 };
    static const uint32_t cols[] = { 1, 0, 2, 1 };
    static const double values[] = { 2, 1, 3, 2 };
    assert_int_equal(x.n_cols, 3);
    assert_memory_equal(x.row_start, starts, sizeof starts);
    assert_memory_equal(x.col, cols, sizeof cols);
    assert_memory_equal(x.value, values, sizeof values);
    mel_table_free(taken);
}

/* Against the definition: every text is found under its number, no other is. */
static void test_dict(void **state)
{
    (void)state;
    mel_dict *dict = mel_dict_new();
    assert_non_null(dict);
    char text[64];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            /* lengths from 0 up, differing in the first, middle and last bytes */
            const int n = i == 0 ? 0
                                 : snprintf(text, sizeof text, "%.*s%u%.*s", (int)(i % 7), "aaaaaaa", i,
                                            (int)(i % 23), "bbbbbbbbbbbbbbbbbbbbbbb");
            const uint64_t hash = mel_dict_hash(text, (size_t)n);
            assert_int_equal(mel_dict_find(dict, text, (size_t)n, hash), MEL_MISSING);
            assert_int_equal(mel_dict_add(dict, text, (size_t)n, hash), i);
            assert_int_equal(mel_dict_add(dict, text, (size_t)n, hash), i);
            assert_int_equal(mel_dict_find(dict, text, (size_t)n, hash), i);
            assert_int_equal(mel_dict_length(dict, i), n);
        }
        assert_string_equal(mel_dict_text(dict, 0), "");
        mel_dict_reset(dict);
        assert_int_equal(dict->n, 0);
    }
    mel_dict *same = mel_dict_share(dict);
    mel_dict_free(dict);
    mel_dict_free(same);
}

/* Texts of eight bytes that a fixed hash (xor with a constant, times another, folded) puts into one place of
 * 65,536: text i is the one whose hash is i << 16. */
static uint64_t colliding_text(uint64_t i)
{
    const uint64_t factor = 0x9E3779B97F4A7C15U, begin = 8 * 0xD6E8FEB86659FD93U;
    uint64_t inverse = factor;
    for (int step = 0; step < 6; step++)
        inverse *= 2 - factor * inverse;
    uint64_t h = i << 16;
    h ^= h >> 32;
    h ^= h >> 29 ^ h >> 58;
    return h * inverse ^ begin;
}

/* Nobody can choose texts that make a dictionary slow: 4,096 of them fall into about as many places. */
static void test_dict_is_keyed(void **state)
{
    (void)state;
    enum { TEXTS = 4096, PLACES = 65536 };
    static bool taken[PLACES];
    size_t places = 0;
    for (uint64_t i = 0; i < TEXTS; i++) {
        const uint64_t text = colliding_text(i), hash = mel_dict_hash((const char *)&text, sizeof text);
        places += !taken[hash % PLACES];
        taken[hash % PLACES] = true;
    }
    print_message("%zu places\n", places);
    assert_in_range(places, 3800, TEXTS); /* expected: 3,971 */
}

static void test_show(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "\"\"" },
        { "plain", "\"plain\"" },
        { "a\nb\tc\x7f\x01", "\"a\\x0ab\\x09c\\x7f\\x01\"" },
        { "gr\xC3\xB6\xC3\x9F\xC3\xA9", "\"gr\xC3\xB6\xC3\x9F\xC3\xA9\"" },
        { "\xFF\xC3", "\"\\xff\\xc3\"" },
        { "0123456789012345678901234567890123456789012345678901234567",
          "\"0123456789012345678901234567890123456789012345678901234567\"" },
        { "01234567890123456789012345678901234567890123456789012345678",
          "\"0123456789012345678901234567890123456789012345678901234567...\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(mel_quote_text(rows[i].text).text, rows[i].want);
    assert_string_equal(mel_quote_file("-").text, "standard input");
    assert_string_equal(mel_quote_file("a\nb.csv").text, "a?b.csv");
    char path[400];
    memset(path, 'd', sizeof path);
    memcpy(path + sizeof path - 7, "/x.csv", 7);
    const mel_quoted_file shown = mel_quote_file(path);
    assert_int_equal(strlen(shown.text), sizeof shown.text - 1);
    assert_memory_equal(shown.text, "...d", 4);
    assert_string_equal(shown.text + strlen(shown.text) - 6, "/x.csv");
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n, valid;
    } rows[] = {
        { "plain ascii, longer than a word", 31, 31 },
        { "\x7F", 1, 1 },
        { "\x80", 1, 0 },
        { "\xC1\xBF", 2, 0 },
        { "\xC2\x80", 2, 2 },
        { "\xDF\xBF", 2, 2 },
        { "\xDF\x7F", 2, 0 },
        { "\xE0\x9F\xBF", 3, 0 },
        { "\xE0\xA0\x80", 3, 3 },
        { "\xED\x9F\xBF", 3, 3 },
        { "\xED\xA0\x80", 3, 0 },
        { "\xEE\x80\x80", 3, 3 },
        { "\xEF\xBF\xBF", 3, 3 },
        { "\xF0\x8F\xBF\xBF", 4, 0 },
        { "\xF0\x90\x80\x80", 4, 4 },
        { "\xF4\x8F\xBF\xBF", 4, 4 },
        { "\xF4\x90\x80\x80", 4, 0 },
        { "\xF5\x80\x80\x80", 4, 0 },
        { "abcdefgh\xE2\x82", 10, 8 },
        { "abcdefgh\xE2\x82\xAC", 11, 11 },
        { "12345678abcdefg\xFFxyzxyz", 22, 15 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(mel_utf8_valid(rows[i].bytes, rows[i].n), rows[i].valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),        cmocka_unit_test(test_take),
        cmocka_unit_test(test_take_sparse),   cmocka_unit_test(test_dict),
        cmocka_unit_test(test_dict_is_keyed), cmocka_unit_test(test_show),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
