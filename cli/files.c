#include "files.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Public data sets that are not bundled, under the names that the documentation gives them. */
static const struct {
    const char *file, *source;
} known[] = {
    { "cifar10_features_train", "features of CIFAR-10" },
    { "cifar10_features_test", "features of CIFAR-10" },
    { "compas_two_years", "ProPublica, compas-scores-two-years.csv" },
    { "covtype_sample", "UCI \"Covertype\"" },
    { "law_school", "LSAC National Longitudinal Bar Passage Study" },
    { "mnist_usps_16x16", "MNIST and USPS digits at 16 x 16" },
    { "office_caltech10_surf", "Office-Caltech10 SURF features" },
    { "sensit_vehicle_part", "SensIT vehicle data" },
};

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

/* The file called `name` in a folder, with or without its ending; NULL when there is none. */
static char *find_in(const char *folder, const char *name)
{
    static const char *const endings[] = { "", ".csv.gz", ".csv" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = cli_format("%s/%s%s", folder, name, endings[i]);
        if (cli_exists(path) && !is_folder(path))
            return path;
        free(path);
    }
    return NULL;
}

static mel_status refuse_missing(const char *given, mel_error *err)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i].file);
        const char *ending = strncmp(given, known[i].file, n) == 0 ? given + n : "x";
        if (*ending == '\0' || strcmp(ending, ".csv") == 0 || strcmp(ending, ".csv.gz") == 0)
            return cli_fail(
                err, MEL_EDATA,
                "%s: this public data set is not bundled; put %s.csv.gz (source: %s) into a folder and "
                "set MELICIT_DATA to that folder",
                given, known[i].file, known[i].source);
    }
    return cli_fail(err, MEL_EDATA, "%s: no such file", given);
}

mel_status cli_find_data(char **path, const char *given, mel_error *err)
{
    *path = NULL;
    if (strcmp(given, "-") == 0 || cli_exists(given))
        *path = cli_format("%s", given);
    if (*path == NULL && strchr(given, '/') == NULL) {
        *path = find_in(is_folder(MEL_BUILD_DATA) ? MEL_BUILD_DATA : MEL_INSTALL_DATA, given);
        const char *folder = getenv("MELICIT_DATA");
        if (*path == NULL && folder != NULL && *folder != '\0')
            *path = find_in(folder, given);
    }
    return *path != NULL ? MEL_OK : refuse_missing(given, err);
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

mel_status cli_out_check(const char *path, mel_error *err)
{
    if (is_folder(path))
        return cli_fail(err, MEL_EIO, "cannot write %s: it is a folder", path);
    if (is_special(path))
        return MEL_OK;
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? cli_format(".") : cli_format("%.*s", (int)(slash - path) + 1, path);
    const mel_status status = access(folder, W_OK) == 0 ? MEL_OK : refuse_writing(path, err);
    free(folder);
    return status;
}

/* Opens a new file next to the path, readable as the umask says. */
static FILE *open_temporary(char **temporary, const char *path)
{
    *temporary = cli_format("%s.XXXXXX", path);
    const int descriptor = mkstemp(*temporary);
    if (descriptor < 0)
        return NULL;
    const mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(descriptor, 0666 & ~mask);
    FILE *stream = fdopen(descriptor, "wb");
    if (stream == NULL) {
        (void)close(descriptor);
        (void)unlink(*temporary);
    }
    return stream;
}

mel_status cli_out_open(cli_out *out, const char *path, mel_error *err)
{
    *out = (cli_out){ 0 };
    const mel_status status = cli_out_check(path, err);
    if (status != MEL_OK)
        return status;
    if (strcmp(path, "-") == 0) {
        out->stream = stdout;
        if (isatty(STDOUT_FILENO))
            cli_bar_end();
    } else {
        out->stream = is_special(path) ? fopen(path, "wb") : open_temporary(&out->temporary, path);
    }
    if (out->stream == NULL) {
        free(out->temporary);
        out->temporary = NULL;
        return refuse_writing(path, err);
    }
    out->path = cli_format("%s", path);
    return MEL_OK;
}

mel_status cli_out_failed(const cli_out *out, mel_error *err)
{
    return refuse_writing(out->path, err);
}

/* Everything is on the disk (or through the pipe) when this returns true. */
static bool close_stream(cli_out *out)
{
    const bool written = ferror(out->stream) == 0 && fflush(out->stream) == 0;
    if (out->stream == stdout)
        return written;
    const bool synced = out->temporary == NULL || fsync(fileno(out->stream)) == 0;
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
    cli_out_abandon(out);
    return status;
}

void cli_out_abandon(cli_out *out)
{
    if (out->stream != NULL && out->stream != stdout)
        (void)fclose(out->stream);
    if (out->temporary != NULL)
        (void)unlink(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (cli_out){ 0 };
}

mel_status cli_store(const char *path,
                     mel_status (*write)(const void *user, const char *file, mel_error *err),
                     const void *user, mel_error *err)
{
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        cli_bar_end();
    errno = 0; /* stays what the failing call made it: nothing after it fails, and free() keeps it */
    const mel_status status = write(user, path, err);
    return status == MEL_EIO && errno == EPIPE ? refuse_writing(path, err) : status;
}
