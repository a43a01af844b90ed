/* Whole files: read at once, written beside the old one and then put in its place. */
#include "base/file.h"

#include "base/team.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mel_status mel_file_cannot(const char *path, const char *what, int reason, mel_error *err)
{
    char text[128];
    if (strerror_r(reason, text, sizeof text) != 0)
        (void)snprintf(text, sizeof text, "error %d", reason);
    return mel_fail(err, MEL_EIO, "%s: cannot %s: %s", path, what, text);
}

/* 0, or why not. */
static int write_all(int file, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(file, bytes, n);
        if (done < 0 && errno != EINTR)
            return errno;
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

/* Fills, syncs and closes a new file. */
static int write_and_sync(int file, const void *bytes, size_t n)
{
    int reason = write_all(file, bytes, n);
    if (reason == 0 && fsync(file) != 0)
        reason = errno;
    if (close(file) != 0 && reason == 0)
        reason = errno;
    return reason;
}

void mel_file_sync_folder(const char *path)
{
    char folder[PATH_MAX]; /* no allocation: nobody could be told that it failed */
    if ((size_t)snprintf(folder, sizeof folder, "%s", path) >= sizeof folder)
        return;
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        slash++;
    if (slash != NULL)
        *slash = '\0';
    const int opened = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
        (void)fsync(opened);
        (void)close(opened);
    }
}

/* A device or a pipe is written to, never replaced. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static mel_status write_special(const char *path, const void *bytes, size_t n, mel_error *err)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return mel_file_cannot(path, "open", errno, err);
    int reason = write_all(file, bytes, n);
    if (close(file) != 0 && reason == 0)
        reason = errno;
    return reason == 0 ? MEL_OK : mel_file_cannot(path, "write", reason, err);
}

static mel_status replace(const char *path, const char *temporary, const void *bytes, size_t n,
                          mel_error *err)
{
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return mel_file_cannot(path, "create a file next to it", errno, err);
    int reason = write_and_sync(file, bytes, n);
    if (reason == 0 && rename(temporary, path) != 0)
        reason = errno;
    if (reason != 0) {
        (void)unlink(temporary);
        return mel_file_cannot(path, "write", reason, err);
    }
    mel_file_sync_folder(path);
    return MEL_OK;
}

mel_status mel_file_replace(const char *path, const void *bytes, size_t n, mel_error *err)
{
    if (!mel_team_leads())
        return MEL_OK;
    if (strcmp(path, "-") == 0) {
        if (fwrite(bytes, 1, n, stdout) != n || fflush(stdout) != 0)
            return mel_file_cannot("standard output", "write", errno, err);
        return MEL_OK;
    }
    if (is_special(path))
        return write_special(path, bytes, n, err);
    const size_t room = strlen(path) + 64;
    MEL_AUTO_MEMORY char *temporary = mel_alloc(room, 1);
    TRY(MEL_NEED(temporary, "the name of a file", err));
    /* The address tells the threads of a process apart. */
    (void)snprintf(temporary, room, "%s.%ld-%zx.tmp", path, (long)getpid(), (size_t)temporary);
    return replace(path, temporary, bytes, n, err);
}
