/* Opening, closing and copying a store, whichever it is. */
#include "sqlite.h"
#include "store_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mel_store_has_postgres(void)
{
#ifdef MEL_HAS_POSTGRES
    return true;
#else
    return false;
#endif
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static mel_status open_postgres(mel_store **out, const char *url, mel_error *err)
{
#ifdef MEL_HAS_POSTGRES
    return mel_postgres_store_open(out, url, err);
#else
    (void)out;
    (void)url; /* may hold a password */
    return mel_fail(err, MEL_EINVAL, "this melicit was built without PostgreSQL");
#endif
}

mel_status mel_store_open(mel_store **out, const char *url, mel_error *err)
{
    *out = NULL;
    if (begins(url, "postgres://") || begins(url, "postgresql://"))
        return open_postgres(out, url, err);
    const char *path = begins(url, "sqlite:") ? url + strlen("sqlite:") : url;
    if (path[0] == '\0' || path[0] == ':')
        return mel_fail(err, MEL_EINVAL, "the store \"%s\" has no file name", url);
    const char *scheme_end = strstr(url, "://");
    if (scheme_end != NULL)
        return mel_fail(err, MEL_EINVAL,
                        "the store must be a file, sqlite:FILE or postgres://..., not %.*s://",
                        (int)(scheme_end - url), url);
    return mel_sqlite_store_open(out, path, err);
}

void mel_store_close(mel_store *store)
{
    if (store != NULL)
        store->close(store);
}

mel_status mel_store_measure(mel_disk *out, mel_store *store, mel_error *err)
{
    *out = (mel_disk){ -1, -1 };
    return store->measure(store, out, err);
}

bool mel_store_is_read_only(const mel_store *store)
{
    return store->read_only;
}

/* --- copies ----------------------------------------------------------------------------------------- */

typedef struct {
    const char *study;
    mel_sqlite *copy;
    const mel_progress *progress; /* or NULL */
} copying;

static mel_status copy_study(void *user, const mel_study_row *row, mel_error *err)
{
    const copying *c = user;
    return mel_sql_add_study(&c->copy->sql, row, err);
}

static mel_status copy_row(void *user, const mel_participant_row *participant, const mel_event_row *event,
                           mel_error *err)
{
    const copying *c = user;
    if (event != NULL)
        return mel_sql_add_event(&c->copy->sql, participant->id, event, err);
    const mel_progress *progress = c->progress;
    if (progress != NULL && progress->call != NULL &&
        progress->call(progress->user, "copying", (double)NAN) != 0)
        return mel_fail(err, MEL_ESTOPPED, "stopped");
    mel_participant_row row = *participant;
    memset(row.token, 0, sizeof row.token);
    return mel_sql_add_participant(&c->copy->sql, &row, err);
}

/* The copy's transaction begins anew whenever that of the store does. */
static mel_status copy_rows(mel_sql *sql, void *context, mel_error *err)
{
    copying *c = context;
    const mel_walker walker = { copy_study, copy_row, c };
    mel_sqlite_rollback(c->copy);
    TRY(mel_sqlite_execute(c->copy, "BEGIN IMMEDIATE", err));
    return mel_sql_walk(sql, c->study, &walker, err);
}

/* Fills a file that was opened. */
static mel_status fill(copying *c, mel_store *store, mel_error *err)
{
    TRY(mel_sqlite_execute(c->copy, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", err));
    TRY(mel_sqlite_upgrade(c->copy, err));
    TRY(store->read(store, copy_rows, c, err));
    return mel_sqlite_execute(c->copy, "COMMIT", err);
}

/* --- files without a name ------------------------------------------------------------------------- */

/* A new file and its name, for the caller to unlink() and free(). */
static mel_status make_scratch(int *file, char **name, const mel_store *store, mel_error *err)
{
    static const char ending[] = ".export-XXXXXX";
    const char *folder = getenv("TMPDIR"), *path = store->read_only ? NULL : store->path;
    folder = folder != NULL && folder[0] != '\0' ? folder : "/var/tmp";
    const size_t size = strlen(path != NULL ? path : folder) + sizeof "/melicit" + sizeof ending;
    *name = mel_alloc(size, 1);
    if (*name == NULL)
        return mel_fail_memory(err, "a file name");
    (void)snprintf(*name, size, "%s%s%s", path != NULL ? path : folder, path != NULL ? "" : "/melicit",
                   ending);
    *file = mkstemp(*name);
    if (*file >= 0)
        return MEL_OK;
    const mel_status status = mel_failure(mel_sqlite_cannot(*name, "be created", errno, err));
    free(*name);
    *name = NULL;
    return status;
}

mel_status mel_store_scratch(int *file, const mel_store *store, mel_error *err)
{
    char *name = NULL;
    const mel_status status = make_scratch(file, &name, store, err);
    if (status == MEL_OK)
        (void)unlink(name);
    free(name);
    return status;
}

/* SQLite goes on with a file that has lost its name, as its journal is in memory. */
mel_status mel_store_image(int *file, mel_store *store, const char *study, const mel_progress *progress,
                           mel_error *err)
{
    copying c = { .study = study, .progress = progress };
    char *name = NULL;
    mel_status status = make_scratch(file, &name, store, err);
    if (status != MEL_OK)
        return status;
    status = mel_sqlite_open(&c.copy, name, err);
    (void)unlink(name);
    free(name);
    if (status == MEL_OK)
        status = fill(&c, store, err);
    mel_sqlite_close(c.copy);
    if (status != MEL_OK)
        (void)close(*file);
    return status;
}
