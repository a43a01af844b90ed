/* Replacing files as a whole. */
#include "support/test.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_holds(const char *path, const char *text)
{
    char bytes[64] = { 0 };
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(n, strlen(text));
    assert_string_equal(bytes, text);
}

static void test_replace(void **state)
{
    (void)state;
    mel_error err;
    const char *path = test_path("f.txt");
    assert_ok(mel_file_replace(path, "one\n", 4, &err), &err);
    assert_holds(path, "one\n");
    assert_ok(mel_file_replace(path, "second\n", 7, &err), &err);
    assert_holds(path, "second\n");
    assert_ok(mel_file_replace(path, "", 0, &err), &err);
    assert_holds(path, "");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    const mode_t mask = umask(0);
    (void)umask(mask);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask); /* as any program's new file */
}

static void test_failures_leave_the_old_file(void **state)
{
    (void)state;
    mel_error err;
    assert_int_equal(mel_file_replace("/nonexistent/f.txt", "x", 1, &err), MEL_EIO);
    assert_string_equal(err.text,
                        "/nonexistent/f.txt: cannot create a file next to it: No such file or directory");
    /* A folder cannot be replaced by a file. */
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s.d", test_path("folder"));
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mel_file_replace(folder, "x", 1, &err), MEL_EIO);
    assert_non_null(strstr(err.text, "cannot write: Is a directory"));
    assert_int_equal(rmdir(folder), 0);
    /* The disk is always full there. */
    assert_int_equal(mel_file_replace("/proc/f.txt", "x", 1, &err), MEL_EIO);
}

/* A pipe gets the bytes and stays a pipe; a full device is a failure. */
static void test_devices_are_not_replaced(void **state)
{
    (void)state;
    mel_error err;
    const char *path = test_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(mel_file_replace(path, "hello", 5, &err), &err);
    char bytes[8] = { 0 };
    assert_int_equal(read(reader, bytes, sizeof bytes), 5);
    assert_string_equal(bytes, "hello");
    assert_int_equal(close(reader), 0);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(mel_file_replace("/dev/full", "x", 1, &err), MEL_EIO);
    assert_int_equal(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static int cleanup(void **state)
{
    (void)state;
    test_cleanup(); /* its rmdir fails, and leaves the folder, if a temporary file was left behind */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_replace),
                                        cmocka_unit_test(test_failures_leave_the_old_file),
                                        cmocka_unit_test(test_devices_are_not_replaced) };
    return cmocka_run_group_tests(tests, NULL, cleanup);
}
