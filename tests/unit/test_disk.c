/* Rows on disk: what was added comes back, from memory or from the disk; what fails is said. */
#undef _FORTIFY_SOURCE /* under which pread is an inline function */
#define _GNU_SOURCE    /* O_DIRECT, syscall */
#include "base/disk.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Reads past the page cache and through it. Some file systems let files be opened past it and then refuse. */
static size_t n_direct, n_cached;
static bool refuse_direct;

ssize_t pread(int file, void *bytes, size_t n, off_t at)
{
    const bool direct = (fcntl(file, F_GETFL) & O_DIRECT) != 0;
    n_direct += direct ? 1 : 0;
    n_cached += direct ? 0 : 1;
    if (direct && refuse_direct) {
        errno = EINVAL;
        return -1;
    }
    return syscall(SYS_pread64, file, bytes, n, at);
}

enum { N = 3000017 }; /* more than is written at a time, and no whole page */

static const char *scratch(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : "/var/tmp";
}

/* Where nothing is ever forgotten. */
static bool is_in_memory(void)
{
    enum { TMPFS = 0x01021994 };
    struct statfs of;
    assert_int_equal(statfs(scratch(), &of), 0);
    return of.f_type == TMPFS;
}

static unsigned char byte_at(size_t i)
{
    return (unsigned char)((i * 2654435761U) >> 13);
}

static mel_disk *filled(void)
{
    mel_disk *disk = NULL;
    mel_error err = { 0 };
    unsigned char *bytes = malloc(N);
    assert_non_null(bytes);
    for (size_t i = 0; i < N; i++)
        bytes[i] = byte_at(i);
    assert_ok(mel_disk_new(&disk, &err), &err);
    for (size_t at = 0, n = 1; at < N; at += n, n = n * 3 + 1) {
        n = n < N - at ? n : N - at;
        assert_ok(mel_disk_add(disk, bytes + at, n, &err), &err);
    }
    assert_ok(mel_disk_finish(disk, &err), &err);
    free(bytes);
    return disk;
}

/* The kernel no longer keeps the files that have no name; how many there are. */
static size_t forget_files(void)
{
    size_t n = 0;
    for (int fd = 3; fd < 256; fd++) {
        char name[64], file[4096];
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(name, file, sizeof file - 1);
        file[length > 0 ? length : 0] = '\0';
        if (strstr(file, "/melicit-") == NULL || strstr(file, "(deleted)") == NULL)
            continue;
        assert_int_equal(fdatasync(fd), 0);
        assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
        n++;
    }
    return n;
}

static void check_reads(const mel_disk *disk)
{
    static const struct {
        size_t at, n;
    } piece[] = {
        { 0, 1 }, { 0, N }, { 4095, 2 }, { 8192, 4096 }, { 123456, 1048576 }, { N - 1, 1 }, { N, 0 }
    };
    mel_disk_buffer buffer = { 0 };
    mel_error err = { 0 };
    for (size_t p = 0; p < COUNT(piece); p++) {
        const void *out = NULL;
        assert_ok(mel_disk_read(&out, disk, piece[p].at, piece[p].n, &buffer, &err), &err);
        const unsigned char *got = out;
        for (size_t i = 0; i < piece[p].n; i++)
            if (got[i] != byte_at(piece[p].at + i))
                fail_msg("byte %zu of %zu is another", i, piece[p].at);
    }
    const void *none = NULL;
    assert_int_equal(mel_disk_read(&none, disk, N - 1, 2, &buffer, &err), MEL_EINVAL);
    assert_int_equal(mel_disk_read(&none, disk, SIZE_MAX, 1, &buffer, &err), MEL_EINVAL);
    mel_disk_buffer_clear(&buffer);
}

static void test_what_was_added(void **state)
{
    (void)state;
    mel_disk_set(scratch(), 10);
    assert_true(mel_disk_wanted(10));
    assert_false(mel_disk_wanted(9));
    mel_disk *disk = filled();
    /* Before they are read where the kernel keeps them: it does not forget pages that somebody has mapped. */
    assert_true(forget_files() > 0);
    for (size_t turn = 0; turn < 2; turn++) {
        n_direct = n_cached = 0;
        refuse_direct = turn == 1;
        check_reads(disk);
        assert_true(is_in_memory() || n_direct + n_cached > 0);
        assert_true(!refuse_direct || n_direct == 0 || n_cached > 0);
    }
    refuse_direct = false;
    mel_disk_free(disk);
    assert_int_equal(forget_files(), 0);
    disk = filled();
    check_reads(disk);
    mel_disk_free(disk);
    mel_disk_set(NULL, 0);
    assert_false(mel_disk_wanted(SIZE_MAX));
}

static void test_failures(void **state)
{
    (void)state;
    mel_disk *disk = NULL;
    mel_error err = { 0 };
    mel_disk_set("/nowhere/at/all", 0);
    assert_int_equal(mel_disk_new(&disk, &err), MEL_EIO);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_non_null(strstr(err.text, "TMPDIR"));
    assert_null(disk);

    /* A file that may not grow stands for a disk that is full. */
    const struct rlimit small = { 1 << 20, RLIM_INFINITY };
    struct rlimit had;
    char *bytes = calloc(N, 1);
    assert_non_null(bytes);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &had), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    mel_disk_set(scratch(), 0);
    assert_ok(mel_disk_new(&disk, &err), &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const mel_status status = mel_disk_add(disk, bytes, N, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &had), 0);
    assert_int_equal(status, MEL_EIO);
    assert_non_null(strstr(err.text, "cannot keep rows"));
    free(bytes);
    mel_disk_free(disk);
    mel_disk_set(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_was_added),
                                        cmocka_unit_test(test_failures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
