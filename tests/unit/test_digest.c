/* SHA-256: the examples of FIPS 180-2 and files against the bytes in them. */
#include "base/digest.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static void test_known_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char hex[MEL_DIGEST_HEX];
        memset(hex, 'z', sizeof hex);
        mel_digest(rows[i].text, strlen(rows[i].text), hex);
        assert_string_equal(hex, rows[i].hex);
        mel_error err = { 0 };
        const char *path = test_file("known", rows[i].text, strlen(rows[i].text));
        memset(hex, 'z', sizeof hex);
        assert_ok(mel_digest_file(hex, path, &err), &err);
        assert_string_equal(hex, rows[i].hex);
    }
    char hex[MEL_DIGEST_HEX];
    mel_digest(NULL, 0, hex);
    assert_string_equal(hex, rows[0].hex);
}

static void test_million_bytes(void **state)
{
    (void)state;
    const size_t n = 1000000;
    char *bytes = malloc(n);
    assert_non_null(bytes);
    memset(bytes, 'a', n);
    char hex[MEL_DIGEST_HEX];
    mel_digest(bytes, n, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(bytes);
}

/* Sizes around those of the read buffer, with every byte value. */
static void test_file_equals_its_bytes(void **state)
{
    (void)state;
    const size_t sizes[] = { 1, 55, 56, 64, 4096, 65535, 65536, 65537, 131072, 200001 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        unsigned char *bytes = malloc(sizes[i]);
        assert_non_null(bytes);
        for (size_t j = 0; j < sizes[i]; j++)
            bytes[j] = (unsigned char)(j * 31 + i);
        char want[MEL_DIGEST_HEX], got[MEL_DIGEST_HEX];
        mel_error err = { 0 };
        mel_digest(bytes, sizes[i], want);
        assert_ok(mel_digest_file(got, test_file("bytes", bytes, sizes[i]), &err), &err);
        assert_string_equal(got, want);
        free(bytes);
    }
}

static void test_unreadable(void **state)
{
    (void)state;
    const struct {
        const char *path, *reason;
    } rows[] = {
        { test_path("missing"), "No such file or directory" },
        { "/", "Is a directory" },
        { "", "No such file or directory" },
        { "/dev/null/x", "Not a directory" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char hex[MEL_DIGEST_HEX] = "untouched";
        mel_error err = { 0 };
        assert_int_equal(mel_digest_file(hex, rows[i].path, &err), MEL_EDATA);
        assert_int_equal(err.code, MEL_EDATA);
        assert_string_equal(hex, "untouched");
        assert_memory_equal(err.text, rows[i].path, strlen(rows[i].path));
        assert_non_null(strstr(err.text, rows[i].reason));
        assert_int_equal(mel_digest_file(hex, rows[i].path, NULL), MEL_EDATA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_million_bytes),
        cmocka_unit_test(test_file_equals_its_bytes),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
