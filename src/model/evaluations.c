/* Evaluations of an objective in a file: a fit does the same again where it finds the same sums, so that
 * after a kill it goes on where it was, without passes over rows. */
#include "model/evaluations.h"

#include "base/digest.h"
#include "base/team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char format[24] = "melicit-fit-1";

/* What comes before the sums of an evaluation. */
typedef struct {
    size_t n;
    char theta[MEL_DIGEST_HEX], sums[MEL_DIGEST_HEX];
} record;

struct mel_evaluations {
    char *path;
    FILE *file;   /* NULL: another rank has it */
    bool reading; /* there may be more */
    size_t number;
    record first; /* n 0: the file was empty */
    mel_status status;
};

static mel_status fail(const mel_evaluations *log, mel_error *err)
{
    return log->status == MEL_ECONFLICT
               ? mel_fail(err, MEL_ECONFLICT,
                          "%s: the checkpoint of another fit, with other rows or options; remove it to start "
                          "anew",
                          log->path)
               : mel_fail(err, MEL_EIO, "%s: cannot be written", log->path);
}

mel_status mel_evaluations_check(const mel_evaluations *log, mel_error *err)
{
    return log == NULL || log->status == MEL_OK ? MEL_OK : fail(log, err);
}

void mel_evaluations_close(mel_evaluations *log)
{
    if (log == NULL)
        return;
    if (log->file != NULL)
        (void)fclose(log->file);
    free(log->path);
    free(log);
}

/* Reads or writes the beginning. */
static mel_status begin(mel_evaluations *log, mel_error *err)
{
    char found[sizeof format] = { 0 };
    log->file = fopen(log->path, "rb+e");
    if (log->file == NULL && errno == ENOENT)
        log->file = fopen(log->path, "wb+e");
    if (log->file == NULL)
        return mel_fail(err, MEL_EIO, "%s: cannot be opened: %s", log->path, strerror(errno));
    const size_t n = fread(found, 1, sizeof found, log->file);
    if (n > 0 && memcmp(found, format, sizeof format) != 0)
        return mel_fail(err, MEL_EDATA, "%s: not a checkpoint", log->path);
    log->reading = n > 0;
    return n > 0 || fwrite(format, 1, sizeof format, log->file) == sizeof format
               ? MEL_OK
               : mel_fail(err, MEL_EIO, "%s: cannot be written", log->path);
}

mel_status mel_evaluations_open(mel_evaluations **out, const char *path, mel_error *err)
{
    mel_evaluations *log = mel_alloc_zero(1, sizeof *log);
    *out = NULL;
    if (log == NULL || (log->path = mel_strdup(path)) == NULL) {
        free(log);
        return mel_fail_memory(err, "a checkpoint");
    }
    const mel_status status = mel_team_leads() ? begin(log, err) : MEL_OK;
    if (status == MEL_OK)
        *out = log;
    else
        mel_evaluations_close(log);
    return status;
}

/* The next whole record; what a kill left of another is written over. */
static bool read_record(mel_evaluations *log, record *r, double *sum, size_t n)
{
    char sums[MEL_DIGEST_HEX];
    const long at = ftell(log->file);
    bool whole = log->reading && fread(r, sizeof *r, 1, log->file) == 1;
    if (whole && r->n != n)
        log->status = MEL_ECONFLICT;
    whole = whole && r->n == n && fread(sum, sizeof *sum, n, log->file) == n;
    if (whole)
        mel_digest(sum, n * sizeof *sum, sums);
    whole = whole && memcmp(sums, r->sums, sizeof sums) == 0;
    if (!whole && log->reading) {
        log->reading = false;
        if (log->status == MEL_OK && (at < 0 || fseek(log->file, at, SEEK_SET) != 0))
            log->status = MEL_EIO;
    }
    return whole;
}

bool mel_evaluations_next(mel_evaluations *log, double *sum, size_t n, const double *theta, size_t n_theta)
{
    record r = { 0 };
    char at[MEL_DIGEST_HEX];
    bool found = false;
    if (mel_team_leads() && log->status == MEL_OK) {
        mel_digest(theta, n_theta * sizeof *theta, at);
        found = read_record(log, &r, sum, n);
        if (found && memcmp(at, r.theta, sizeof at) != 0)
            log->status = MEL_ECONFLICT;
        if (found && log->number == 0)
            log->first = r;
        found = found && log->number > 0 && log->status == MEL_OK;
    }
    mel_team_share(&found, sizeof found);
    if (found)
        mel_team_share(sum, n * sizeof *sum);
    log->number += found;
    return found;
}

void mel_evaluations_add(mel_evaluations *log, const double *sum, size_t n, const double *theta,
                         size_t n_theta)
{
    record r;
    memset(&r, 0, sizeof r); /* all of it goes to the file */
    r.n = n;
    log->number++;
    if (!mel_team_leads() || log->status != MEL_OK)
        return;
    mel_digest(theta, n_theta * sizeof *theta, r.theta);
    mel_digest(sum, n * sizeof *sum, r.sums);
    if (log->number == 1 && log->first.n > 0) {
        if (strcmp(r.theta, log->first.theta) != 0 || strcmp(r.sums, log->first.sums) != 0)
            log->status = MEL_ECONFLICT;
        return;
    }
    if (fwrite(&r, sizeof r, 1, log->file) != 1 || fwrite(sum, sizeof *sum, n, log->file) != n ||
        fflush(log->file) != 0 || fsync(fileno(log->file)) != 0)
        log->status = MEL_EIO;
}
