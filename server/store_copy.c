/* A study, or all, as an SQLite file of its own. */
#include "sqlite.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* context: the new file's connection. */
static mel_status copy_study(void *user, const mel_study_row *row, mel_error *err)
{
    return mel_sql_add_study(user, row, err);
}

static mel_status copy_row(void *user, const mel_participant_row *participant, const mel_event_row *event,
                           mel_error *err)
{
    if (event != NULL)
        return mel_sql_add_event(user, participant->id, event, err);
    mel_participant_row row = *participant;
    memset(row.token, 0, sizeof row.token);
    return mel_sql_add_participant(user, &row, err);
}

typedef struct {
    const char *study;
    mel_sqlite *copy;
} copying;

/* The copy's transaction begins anew whenever that of the store does. */
static mel_status copy_rows(mel_sql *sql, void *context, mel_error *err)
{
    const copying *c = context;
    const mel_walker walker = { copy_study, copy_row, c->copy };
    mel_sqlite_rollback(c->copy);
    mel_status status = mel_sqlite_execute(c->copy, "BEGIN IMMEDIATE", err);
    if (status == MEL_OK)
        status = mel_sql_walk(sql, c->study, &walker, err);
    return status;
}

/* *copy: to be closed, on failure too. */
static mel_status fill(mel_sqlite **copy, const char *path, mel_store *store, const char *study,
                       mel_error *err)
{
    copying c = { .study = study };
    mel_status status = mel_sqlite_open(&c.copy, path, err);
    if (status == MEL_OK) /* it gets its name only once it is complete and synced */
        status = mel_sqlite_execute(c.copy, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", err);
    if (status == MEL_OK)
        status = mel_sqlite_upgrade(c.copy, err);
    if (status == MEL_OK)
        status = store->read(store, copy_rows, &c, err);
    if (status == MEL_OK)
        status = mel_sqlite_execute(c.copy, "COMMIT", err);
    *copy = c.copy;
    return status;
}

static mel_status sync_file(const char *path, mel_error *err)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    const int reason = file < 0 || fsync(file) != 0 ? errno : 0;
    if (file >= 0)
        (void)close(file);
    return reason == 0 ? MEL_OK : mel_sqlite_cannot(path, "be synced", reason, err);
}

static bool same_file(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

static mel_status copy_to(char *unfinished, mel_store *store, const char *study, const char *path,
                          mel_error *err)
{
    const int file = mkstemp(unfinished);
    if (file < 0)
        return mel_sqlite_cannot(unfinished, "be created", errno, err);
    (void)close(file);
    mel_sqlite *copy = NULL;
    mel_status status = fill(&copy, unfinished, store, study, err);
    mel_sqlite_close(copy);
    if (status == MEL_OK)
        status = sync_file(unfinished, err);
    if (status == MEL_OK && rename(unfinished, path) != 0)
        status = mel_sqlite_cannot(path, "be replaced", errno, err);
    if (status == MEL_OK)
        mel_file_sync_folder(path);
    else
        (void)unlink(unfinished);
    return status;
}

mel_status mel_store_copy(mel_store *store, const char *study, const char *path, mel_error *err)
{
    const mel_status named = mel_sqlite_check_name(path, err);
    if (named != MEL_OK)
        return named;
    if (store->path != NULL && same_file(path, store->path))
        return mel_fail(err, MEL_EINVAL, "%s: this is the store itself", path);
    const size_t size = strlen(path) + sizeof ".XXXXXX";
    char *unfinished = mel_alloc(size, 1);
    if (unfinished == NULL)
        return mel_fail_memory(err, "a file name");
    (void)snprintf(unfinished, size, "%s.XXXXXX", path);
    const mel_status status = copy_to(unfinished, store, study, path, err);
    free(unfinished);
    return status;
}

mel_status mel_store_image(char **out, size_t *n, mel_store *store, const char *study, mel_error *err)
{
    *out = NULL;
    *n = 0;
    mel_sqlite *copy = NULL;
    mel_status status = fill(&copy, ":memory:", store, study, err);
    sqlite3_int64 size = 0;
    unsigned char *bytes = status == MEL_OK ? sqlite3_serialize(copy->db, "main", &size, 0) : NULL;
    *out = bytes != NULL ? mel_alloc((size_t)size, 1) : NULL;
    if (status == MEL_OK && *out == NULL)
        status = mel_fail_memory(err, "the copy of a study");
    if (*out != NULL) {
        memcpy(*out, bytes, (size_t)size);
        *n = (size_t)size;
    }
    sqlite3_free(bytes);
    mel_sqlite_close(copy);
    return status;
}
