/* Where files are found, and results that are stored as a whole or not at all. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "files.h"
#include "base/team.h"
#include "melicit/classify.h"
#include "output.h"
#include "problem/shared.h"
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcasecmp(name + n - m, ending) == 0;
}

bool cli_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The bundled data: share/melicit beside the program's bin, wherever both were moved to; else the source's.
 */
static const char *bundled_data(void)
{
    static char folder[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - sizeof "/../share/melicit");
    char *end = n > 0 ? memrchr(folder, '/', (size_t)n) : NULL;
    if (end == NULL)
        return MEL_SOURCE_DATA;
    memcpy(end, "/../share/melicit", sizeof "/../share/melicit");
    return is_folder(folder) ? folder : MEL_SOURCE_DATA;
}

const char *const *cli_data_folders(void)
{
    static const char *folders[3];
    const char *own = getenv("MELICIT_DATA");
    folders[0] = bundled_data();
    folders[1] = own != NULL && *own != '\0' ? own : NULL;
    return folders;
}

mel_status cli_find_data(char **path, const char *given, mel_error *err)
{
    return mel_find_table(path, given, cli_data_folders(), err);
}

/* ---- results ---- */

/* No sentence when the reader of a pipe has gone: that is how `| head` ends. */
static mel_status refuse_writing(const char *path, mel_error *err)
{
    if (errno == EPIPE)
        (void)cli_fail(err, MEL_EIO, "%s", "");
    else if (strcmp(path, "-") == 0)
        (void)cli_fail(err, MEL_EIO, "cannot write to standard output: %s", strerror(errno));
    else
        (void)cli_fail(err, MEL_EIO, "cannot write %s: %s", path, strerror(errno));
    return MEL_EIO;
}

/* Must the bytes go straight to where the path leads? A rename over /dev/null would replace it. */
static bool is_special(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

/* The folder of a path, for free(). */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? cli_format(".") : cli_format("%.*s", (int)(slash - path) + 1, path);
}

mel_status cli_out_check(const char *path, mel_error *err)
{
    if (is_folder(path))
        return cli_fail(err, MEL_EIO, "cannot write %s: it is a folder", path);
    if (is_special(path))
        return MEL_OK;
    char *folder = folder_of(path);
    const mel_status status = access(folder, W_OK) == 0 ? MEL_OK : refuse_writing(path, err);
    free(folder);
    return status;
}

/* A file in the folder of the path that has no name as yet: whatever ends the process, nothing is left of it.
 * -1: there are none here. */
static int open_nameless(const char *path)
{
    char *folder = folder_of(path);
    const int descriptor =
        access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(folder);
    return descriptor;
}

static int open_named(char *temporary)
{
    const int descriptor = mkstemp(temporary);
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (descriptor >= 0)
        (void)fchmod(descriptor, 0666 & ~mask);
    return descriptor;
}

/* Opens a new file next to the path, readable as the umask says. */
static FILE *open_temporary(cli_out *out, const char *path)
{
    out->temporary = cli_format("%s.XXXXXX", path);
    int descriptor = open_nameless(path);
    out->nameless = descriptor >= 0;
    if (descriptor < 0)
        descriptor = open_named(out->temporary);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (stream == NULL && descriptor >= 0) {
        (void)close(descriptor);
        if (!out->nameless)
            (void)unlink(out->temporary);
    }
    return stream;
}

/* The temporary name that a file without one gets at the end; true: it has one. */
static bool give_name(cli_out *out)
{
    if (!out->nameless)
        return true;
    char *file = cli_format("/proc/self/fd/%d", fileno(out->stream));
    const int taken = mkstemp(out->temporary);
    if (taken >= 0)
        (void)close(taken);
    const bool named = taken >= 0 && unlink(out->temporary) == 0 &&
                       linkat(AT_FDCWD, file, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0;
    out->nameless = !named;
    free(file);
    return named;
}

mel_status cli_out_open(cli_out *out, const char *path, mel_error *err)
{
    *out = (cli_out){ 0 };
    if (!mel_team_leads())
        path = "/dev/null";
    TRY(cli_out_check(path, err));
    if (strcmp(path, "-") == 0) {
        out->stream = stdout;
        if (isatty(STDOUT_FILENO))
            cli_bar_end();
    } else {
        out->stream = is_special(path) ? fopen(path, "wb") : open_temporary(out, path);
    }
    if (out->stream == NULL) {
        free(out->temporary);
        out->temporary = NULL;
        return refuse_writing(path, err);
    }
    out->path = cli_format("%s", path);
    return MEL_OK;
}

mel_status cli_out_private(const cli_out *out, mel_error *err)
{
    if (out->temporary == NULL) /* a pipe, or somebody else's file */
        return MEL_OK;
    return fchmod(fileno(out->stream), S_IRUSR | S_IWUSR) == 0 ? MEL_OK : cli_out_failed(out, err);
}

mel_status cli_out_failed(const cli_out *out, mel_error *err)
{
    return refuse_writing(out->path, err);
}

mel_status cli_out_copy(const cli_out *out, int file, mel_error *err)
{
    char piece[16384];
    ssize_t n = 0;
    while ((n = read(file, piece, sizeof piece)) > 0)
        if (fwrite(piece, 1, (size_t)n, out->stream) != (size_t)n)
            return cli_out_failed(out, err);
    return n == 0 ? MEL_OK : cli_fail(err, MEL_EIO, "%s: what is to be written cannot be read", out->path);
}

/* Everything is on the disk (or through the pipe) when this returns true. */
static bool close_stream(cli_out *out)
{
    const bool written = ferror(out->stream) == 0 && fflush(out->stream) == 0;
    if (out->stream == stdout)
        return written;
    const bool synced =
        out->temporary == NULL || (fsync(fileno(out->stream)) == 0 && written && give_name(out));
    const int reason = errno;
    const bool closed = fclose(out->stream) == 0;
    if (!written || !synced)
        errno = reason;
    return written && synced && closed;
}

mel_status cli_out_commit(cli_out *out, mel_error *err)
{
    mel_status status = MEL_OK;
    errno = 0;
    const bool complete = close_stream(out);
    out->stream = NULL;
    if (!complete || (out->temporary != NULL && rename(out->temporary, out->path) != 0))
        status = refuse_writing(out->path, err);
    else {
        free(out->temporary);
        out->temporary = NULL;
    }
    cli_out_clear(out);
    return status;
}

void cli_out_clear(cli_out *out)
{
    if (out->stream != NULL && out->stream != stdout)
        (void)fclose(out->stream);
    if (out->temporary != NULL && !out->nameless)
        (void)unlink(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (cli_out){ 0 };
}

mel_status cli_store_text(const char *path, const char *text, mel_error *err)
{
    MEL_AUTO_CLEAR(cli_out) out = { 0 };
    TRY(cli_out_open(&out, path, err));
    return fputs(text, out.stream) != EOF ? cli_out_commit(&out, err) : cli_out_failed(&out, err);
}

/* The library's own writers replace files as a whole and know "-", devices and pipes. */
#define STORE(what)                                                                                          \
    mel_status cli_store_##what(const char *path, const mel_##what *object, mel_error *err)                  \
    {                                                                                                        \
        if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))                                                 \
            cli_bar_end();                                                                                   \
        errno = 0; /* stays what the failing call made it: nothing after it fails, and free() keeps it */    \
        const mel_status status = mel_##what##_save(object, path, err);                                      \
        return status == MEL_EIO && errno == EPIPE ? refuse_writing(path, err) : status;                     \
    }
STORE(metric)
STORE(classifier)
STORE(model)
