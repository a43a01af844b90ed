/* Growing buffers: growth, caps, failures that stick, formatted text; allocation that checks sizes. */
#include "support/test.h"

#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_growth(void **state)
{
    (void)state;
    mel_buffer buf;
    mel_buffer_init(&buf, SIZE_MAX);
    assert_null(buf.data);
    char want[10000] = { 0 };
    for (size_t i = 0; i < sizeof want - 1; i++) {
        want[i] = (char)('a' + i % 26);
        mel_buffer_add(&buf, want + i, 1);
        assert_int_equal(buf.size, i + 1);
        assert_int_equal(buf.data[buf.size], '\0');
        assert_true(buf.capacity > buf.size);
    }
    assert_string_equal(buf.data, want);
    assert_int_equal(buf.status, MEL_OK);
    mel_buffer_free(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.size, 0);
    mel_buffer_puts(&buf, "again");
    assert_string_equal(buf.data, "again");
    mel_buffer_free(&buf);
    mel_buffer_free(&buf);
}

static void test_nothing_added_is_an_empty_text(void **state)
{
    (void)state;
    mel_buffer buf;
    mel_buffer_init(&buf, 10);
    mel_buffer_add(&buf, NULL, 0);
    assert_string_equal(buf.data, "");
    mel_buffer_free(&buf);
    mel_buffer_printf(&buf, "%s", "");
    assert_string_equal(buf.data, "");
    mel_buffer_free(&buf);
    mel_buffer_init(&buf, 0);
    mel_buffer_puts(&buf, "");
    assert_int_equal(buf.status, MEL_OK);
    assert_string_equal(buf.data, "");
    mel_buffer_puts(&buf, "x");
    assert_int_equal(buf.status, MEL_ELIMIT);
    assert_string_equal(buf.data, "");
    mel_buffer_free(&buf);
}

static void test_bytes_and_nul(void **state)
{
    (void)state;
    mel_buffer buf;
    mel_buffer_init(&buf, 100);
    mel_buffer_add(&buf, "a\0b", 3);
    mel_buffer_printf(&buf, "%c%d", '\0', 7);
    assert_int_equal(buf.size, 5);
    assert_memory_equal(buf.data,
                        "a\0b\0"
                        "7",
                        6);
    mel_buffer_free(&buf);
}

/* `first` bytes go in, then `second` more: what is kept, what is refused, what memory is held. */
static void test_cap(void **state)
{
    (void)state;
    static const struct {
        size_t cap, first, second, size;
        mel_status status;
    } rows[] = {
        { 10, 10, 0, 10, MEL_OK },       { 10, 11, 0, 0, MEL_ELIMIT },    { 10, 4, 6, 10, MEL_OK },
        { 10, 4, 7, 4, MEL_ELIMIT },     { 100, 63, 1, 64, MEL_OK },      { 100, 64, 36, 100, MEL_OK },
        { 100, 64, 37, 64, MEL_ELIMIT }, { 1000, 999, 1, 1000, MEL_OK },  { 1000, 1000, 1, 1000, MEL_ELIMIT },
        { 64, 64, 0, 64, MEL_OK },       { 127, 64, 64, 64, MEL_ELIMIT }, { 128, 64, 64, 128, MEL_OK },
    };
    char bytes[2000];
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int print = 0; print < 2; print++) {
            mel_buffer buf;
            mel_buffer_init(&buf, rows[i].cap);
            mel_buffer_add(&buf, bytes, rows[i].first);
            if (print)
                mel_buffer_printf(&buf, "%.*s", (int)rows[i].second, bytes);
            else
                mel_buffer_add(&buf, bytes, rows[i].second);
            assert_int_equal(buf.status, rows[i].status);
            assert_int_equal(buf.size, rows[i].size);
            assert_true(buf.capacity <= rows[i].cap + 1);
            if (buf.data != NULL)
                assert_int_equal(strlen(buf.data), rows[i].size);
            mel_buffer_free(&buf);
        }
}

static void test_failure_sticks_until_reset(void **state)
{
    (void)state;
    mel_buffer buf;
    mel_buffer_init(&buf, 5);
    mel_buffer_puts(&buf, "abc");
    mel_buffer_printf(&buf, "%d", 123456);
    assert_int_equal(buf.status, MEL_ELIMIT);
    mel_buffer_puts(&buf, "d");
    mel_buffer_printf(&buf, "d");
    assert_string_equal(buf.data, "abc");
    mel_buffer_reset(&buf);
    assert_int_equal(buf.status, MEL_OK);
    assert_int_equal(buf.size, 0);
    assert_string_equal(buf.data, "");
    mel_buffer_printf(&buf, "%s-%s", "12", "34");
    assert_string_equal(buf.data, "12-34");
    mel_buffer_free(&buf);
}

static void test_sizes_that_cannot_be(void **state)
{
    (void)state;
    mel_buffer buf;
    mel_buffer_init(&buf, SIZE_MAX);
    mel_buffer_puts(&buf, "abc");
    mel_buffer_add(&buf, "x", SIZE_MAX - 3);
    assert_int_equal(buf.status, MEL_ELIMIT);
    assert_string_equal(buf.data, "abc");
    mel_buffer_free(&buf);
}

static void test_printf_matches_a_plain_one(void **state)
{
    (void)state;
    mel_buffer buf;
    mel_buffer_init(&buf, 1 << 20);
    for (int n = 0; n < 300; n++) {
        char want[400];
        const int length = snprintf(want, sizeof want, "%*d|%.17g", n, n, 1.0 / (n + 1));
        const size_t before = buf.size;
        mel_buffer_printf(&buf, "%*d|%.17g", n, n, 1.0 / (n + 1));
        assert_int_equal(buf.size, before + (size_t)length);
        assert_string_equal(buf.data + before, want);
    }
    mel_buffer_free(&buf);
}

static void test_allocation_helpers(void **state)
{
    (void)state;
    void *block = mel_alloc(0, 8);
    assert_non_null(block);
    assert_null(mel_alloc(SIZE_MAX / 2, 3));
    assert_null(mel_alloc_zero(SIZE_MAX / 2, 3));
    void *before = block;
    assert_false(mel_grow(&block, SIZE_MAX / 2, 3));
    assert_ptr_equal(block, before);
    assert_true(mel_grow(&block, 3, 4));
    memset(block, 1, 12);
    assert_true(mel_grow(&block, 0, 4));
    free(block);
    unsigned char *zeros = mel_alloc_zero(5, 3);
    assert_non_null(zeros);
    for (size_t i = 0; i < 15; i++)
        assert_int_equal(zeros[i], 0);
    free(zeros);
    zeros = mel_alloc_zero(0, 3);
    assert_non_null(zeros);
    free(zeros);
    char *copy = mel_strdup("text");
    assert_string_equal(copy, "text");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_nothing_added_is_an_empty_text),
        cmocka_unit_test(test_bytes_and_nul),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_failure_sticks_until_reset),
        cmocka_unit_test(test_sizes_that_cannot_be),
        cmocka_unit_test(test_printf_matches_a_plain_one),
        cmocka_unit_test(test_allocation_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
