/* Status codes are a contract with every caller: frozen here row by row. */
#include "support/test.h"

#include "base/internal.h"

#include <stdio.h>
#include <string.h>

static const struct {
    mel_status status;
    int code;
    const char *name, *text;
    int exit_code;
} frozen[] = {
    { MEL_OK, 0, "OK", "success", 0 },
    { MEL_EINVAL, -1, "EINVAL", "invalid argument", 2 },
    { MEL_ENOMEM, -2, "ENOMEM", "out of memory", 1 },
    { MEL_EDATA, -3, "EDATA", "missing or malformed input", 3 },
    { MEL_ESTATE, -4, "ESTATE", "not allowed now", 1 },
    { MEL_ECONFLICT, -5, "ECONFLICT", "conflicts with what is recorded", 6 },
    { MEL_EIO, -6, "EIO", "cannot write or store", 4 },
    { MEL_ELIMIT, -7, "ELIMIT", "larger than the limit allows", 3 },
    { MEL_ENUMERIC, -8, "ENUMERIC", "numerical failure", 1 },
    { MEL_ESTOPPED, -9, "ESTOPPED", "stopped before the end", 5 },
};

static void test_frozen_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(frozen); i++) {
        assert_int_equal((int)frozen[i].status, frozen[i].code);
        assert_string_equal(mel_status_name(frozen[i].status), frozen[i].name);
        assert_string_equal(mel_status_text(frozen[i].status), frozen[i].text);
        assert_int_equal(mel_status_exit_code(frozen[i].status), frozen[i].exit_code);
    }
}

#define COUNT_ROW(name, code, text, exit_code) 'x',

static void test_no_code_is_missing_from_the_table(void **state)
{
    (void)state;
    static const char each[] = { MEL_STATUS_MAP(COUNT_ROW) };
    assert_int_equal(COUNT(frozen), COUNT(each));
}

static void test_unknown_codes(void **state)
{
    (void)state;
    const int unknown[] = { 1, -10, 1000000, -2147483647 };
    for (size_t i = 0; i < COUNT(unknown); i++) {
        const mel_status status = (mel_status)unknown[i];
        assert_string_equal(mel_status_name(status), "EUNKNOWN");
        assert_string_equal(mel_status_text(status), "unknown status");
        assert_int_equal(mel_status_exit_code(status), 1);
    }
}

static void test_version(void **state)
{
    (void)state;
    assert_string_equal(mel_version(), "0.3.0");
}

static void test_fail(void **state)
{
    (void)state;
    mel_error err = { 0 };
    assert_int_equal(mel_fail(&err, MEL_EDATA, "row %d, column %s", 17, "tp"), MEL_EDATA);
    assert_int_equal(err.code, MEL_EDATA);
    assert_string_equal(err.text, "row 17, column tp");
    assert_int_equal(mel_fail(NULL, MEL_EIO, "row %d", 1), MEL_EIO);
    assert_int_equal(mel_fail_memory(&err, "a table"), MEL_ENOMEM);
    assert_int_equal(err.code, MEL_ENOMEM);
    assert_string_equal(err.text, "not enough memory for a table");
    assert_int_equal(mel_fail_memory(NULL, "a table"), MEL_ENOMEM);
}

static void test_fail_in(void **state)
{
    (void)state;
    mel_error err;
    (void)mel_fail(&err, MEL_EDATA, "row %d", 3);
    /* The code that was raised first wins. */
    assert_int_equal(mel_fail_in(&err, MEL_EINVAL, "file %s", "a.csv"), MEL_EDATA);
    assert_int_equal(err.code, MEL_EDATA);
    assert_string_equal(err.text, "file a.csv: row 3");
    assert_int_equal(mel_fail_in(&err, MEL_EDATA, "training"), MEL_EDATA);
    assert_string_equal(err.text, "training: file a.csv: row 3");
    assert_int_equal(mel_fail_in(NULL, MEL_EINVAL, "file"), MEL_EINVAL);
}

/* A long text of `unit`s after `lead` bytes, through mel_fail or as a prefix, leaves `kept` bytes. */
static void test_truncation(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit;
        size_t lead, kept;
    } rows[] = {
        { "one byte", "x", 0, 479 },
        { "two bytes, odd room", "\xC3\xA9", 0, 478 },
        { "two bytes, even room", "\xC3\xA9", 1, 479 },
        { "three bytes, one over", "\xE2\x82\xAC", 0, 477 },
        { "three bytes, none over", "\xE2\x82\xAC", 2, 479 },
        { "four bytes, three over", "\xF0\x9F\x8D\x8B", 0, 476 },
        { "four bytes, none over", "\xF0\x9F\x8D\x8B", 3, 479 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        char text[2000] = { 0 };
        memset(text, '.', rows[i].lead);
        for (size_t at = rows[i].lead; at + 5 < sizeof text; at += strlen(rows[i].unit))
            memcpy(text + at, rows[i].unit, strlen(rows[i].unit));
        mel_error err;
        memset(&err, 'y', sizeof err);
        assert_int_equal(mel_fail(&err, MEL_EDATA, "%s", text), MEL_EDATA);
        assert_int_equal(strlen(err.text), rows[i].kept);
        assert_memory_equal(err.text, text, rows[i].kept);
        (void)mel_fail(&err, MEL_EDATA, "inner");
        assert_int_equal(mel_fail_in(&err, MEL_EDATA, "%s", text), MEL_EDATA);
        assert_int_equal(strlen(err.text), rows[i].kept);
        assert_memory_equal(err.text, text, rows[i].kept);
    }
}

static void test_prefix_that_leaves_little_room(void **state)
{
    (void)state;
    for (size_t n = 470; n < 490; n++) {
        char prefix[512] = { 0 };
        memset(prefix, 'p', n);
        mel_error err;
        (void)mel_fail(&err, MEL_EDATA, "inner \xC3\xA9");
        assert_int_equal(mel_fail_in(&err, MEL_EDATA, "%s", prefix), MEL_EDATA);
        char want[600];
        snprintf(want, sizeof want, "%s: inner \xC3\xA9", prefix);
        const size_t kept = strlen(err.text);
        assert_memory_equal(err.text, want, kept);
        if (strlen(want) < sizeof err.text)
            assert_int_equal(kept, strlen(want));
        else /* all of it, less a split character */
            assert_true(kept == sizeof err.text - 1 || kept == sizeof err.text - 2);
        assert_int_not_equal((unsigned char)err.text[kept - 1], 0xC3);
    }
}

typedef struct {
    int answer, calls;
    const char *what;
    double share;
} listener;

static int listen(void *user, const char *what, double share)
{
    listener *l = user;
    l->calls++;
    l->what = what;
    l->share = share;
    return l->answer;
}

static void test_progress(void **state)
{
    (void)state;
    mel_error err = { 0 };
    listener l = { 0 };
    const mel_progress silent = { 0 }, heard = { listen, &l };
    assert_ok(mel_report_progress(&silent, "reading", 0.5, &err), &err);
    assert_ok(mel_report_progress(&heard, "reading", 0.25, &err), &err);
    assert_int_equal(l.calls, 1);
    assert_string_equal(l.what, "reading");
    assert_close(l.share, 0.25, 0.0);
    l.answer = 1;
    assert_int_equal(mel_report_progress(&heard, "fitting", 1.0, &err), MEL_ESTOPPED);
    assert_string_equal(err.text, "stopped on request while fitting");
    assert_int_equal(mel_report_progress(&heard, "fitting", 1.0, NULL), MEL_ESTOPPED);
}

/* As a caller of this header, of an older one and of a newer one would pass them. */
static void test_options(void **state)
{
    (void)state;
    typedef struct {
        size_t struct_size;
        double first, second;
    } options;
    static const struct {
        const char *name;
        size_t size;
        mel_status code;
        double first, second;
    } rows[] = {
        { "all fields", sizeof(options), MEL_OK, 10, 20 },
        { "an older caller", offsetof(options, second), MEL_OK, 10, 2 },
        { "the size alone", sizeof(size_t), MEL_OK, 1, 2 },
        { "a newer caller", sizeof(options) + 8, MEL_EINVAL, 1, 2 },
        { "never initialised", 0, MEL_EINVAL, 1, 2 },
        { "less than the size itself", sizeof(size_t) - 1, MEL_EINVAL, 1, 2 },
        { "rubbish", SIZE_MAX, MEL_EINVAL, 1, 2 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        options to = { sizeof to, 1, 2 };
        const options from = { rows[i].size, 10, 20 };
        mel_error err = { 0 };
        assert_int_equal(mel_options_take(&to, sizeof to, &from, "test options", &err), rows[i].code);
        assert_string_equal(err.text, rows[i].code == MEL_OK ? "" : "the test options were not initialised");
        assert_int_equal(to.struct_size, sizeof to);
        assert_close(to.first, rows[i].first, 0.0);
        assert_close(to.second, rows[i].second, 0.0);
    }
    options to = { sizeof to, 1, 2 };
    assert_int_equal(mel_options_take(&to, sizeof to, NULL, "test options", NULL), MEL_OK);
    assert_close(to.first, 1, 0.0);
}

/* Whatever is cut, a sentence is whole characters. */
static void test_characters_are_not_cut(void **state)
{
    (void)state;
    static const struct {
        const char *format, *value, *want;
    } rows[] = {
        { "'%.3s': no", "gr\xC3\xBCn", "'gr?': no" },
        { "'%.4s': no", "gr\xC3\xBCn", "'gr\xC3\xBC': no" },
        { "%.3s", "gr\xC3\xBCn", "gr" },
        { "%.5s!", "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80?!" },
        { "%.7s!", "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80?!" },
        { "%.2s.csv", "\xE2\x82\xAC", "?.csv" },
        { "%s.csv", "\xFF\xC0", "??.csv" },
        { "%s", "\xC3", "" },
        { "%s.csv", "\x80\x80", "??.csv" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mel_error err;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)mel_fail(&err, MEL_EDATA, rows[i].format, rows[i].value);
#pragma GCC diagnostic pop
        assert_string_equal(err.text, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen_codes),  cmocka_unit_test(test_no_code_is_missing_from_the_table),
        cmocka_unit_test(test_unknown_codes), cmocka_unit_test(test_version),
        cmocka_unit_test(test_fail),          cmocka_unit_test(test_fail_in),
        cmocka_unit_test(test_truncation),    cmocka_unit_test(test_prefix_that_leaves_little_room),
        cmocka_unit_test(test_progress),      cmocka_unit_test(test_characters_are_not_cut),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
