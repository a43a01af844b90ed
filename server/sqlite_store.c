/* The store in an SQLite file: one thread writes (sqlite_writer.c), readers have connections of their own. */
#include "sqlite.h"
#include "store_connections.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { READERS = 8 };

typedef struct {
    mel_store store; /* first: what callers hold */
    char *path;
    mel_writer *writer; /* NULL: it cannot be written */
    bool frozen;        /* there is not even a log next to it that could be read */
    mel_connections connections;
    mel_sqlite *readers[READERS]; /* opened when first used */
} sqlite_store;

static mel_status open_reader(mel_sqlite **out, const sqlite_store *s, mel_error *err)
{
    if (*out != NULL)
        return MEL_OK;
    mel_status status =
        s->frozen ? mel_sqlite_open_frozen(out, s->path, err) : mel_sqlite_open(out, s->path, err);
    if (status == MEL_OK)
        status = mel_sqlite_execute(*out, "PRAGMA query_only=ON", err);
    if (status != MEL_OK) {
        mel_sqlite_close(*out);
        *out = NULL;
    }
    return status;
}

static mel_status read_snapshot(mel_store *store, mel_sql_work work, void *context, mel_error *err)
{
    sqlite_store *s = (sqlite_store *)store;
    const size_t number = mel_connections_take(&s->connections);
    mel_sqlite **reader = &s->readers[number];
    mel_status status = open_reader(reader, s, err);
    if (status == MEL_OK)
        status = mel_sqlite_begin(*reader, false, err);
    if (status == MEL_OK)
        status = work(&(*reader)->sql, context, err);
    if (*reader != NULL)
        mel_sqlite_rollback(*reader);
    mel_connections_return(&s->connections, number);
    return status;
}

static mel_status write_durably(mel_store *store, mel_sql_work work, void *context, bool erases,
                                mel_error *err)
{
    const sqlite_store *s = (sqlite_store *)store;
    return s->writer != NULL
               ? mel_writer_do(s->writer, work, context, erases, err)
               : mel_fail(err, MEL_EIO, "%s: cannot be written; it can be listed, shown and exported",
                          s->path);
}

static mel_status check_file(mel_sql *sql, void *context, mel_error *err)
{
    (void)context;
    mel_sqlite *c = (mel_sqlite *)sql;
    char line[256];
    mel_status status = mel_sqlite_line(line, sizeof line, c, "PRAGMA integrity_check(1)", err);
    if (status == MEL_OK && strcmp(line, "ok") != 0)
        return mel_fail(err, MEL_EDATA, "%s: %s", c->path, line);
    if (status == MEL_OK)
        status = mel_sqlite_line(line, sizeof line, c,
                                 "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1", err);
    if (status == MEL_OK && line[0] != '\0')
        return mel_fail(err, MEL_EDATA, "%s: a row of table %s refers to nothing", c->path, line);
    return status;
}

/* Pages that deleted rows left behind are there for others. */
static mel_status count_pages(mel_sql *sql, void *context, mel_error *err)
{
    mel_sqlite *c = (mel_sqlite *)sql;
    mel_disk *out = context;
    int64_t pages = 0, left = 0, size = 0;
    TRY(mel_sqlite_number(&pages, c, "PRAGMA page_count", err));
    TRY(mel_sqlite_number(&left, c, "PRAGMA freelist_count", err));
    TRY(mel_sqlite_number(&size, c, "PRAGMA page_size", err));
    struct statvfs disk;
    *out = (mel_disk){ (pages - left) * size, -1 };
    if (statvfs(c->path, &disk) == 0)
        out->free = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize + left * size;
    return MEL_OK;
}

static mel_status measure(mel_store *store, mel_disk *out, mel_error *err)
{
    return read_snapshot(store, count_pages, out, err);
}

static mel_status verify(mel_store *store, mel_error *err)
{
    return read_snapshot(store, check_file, NULL, err);
}

static void close_store(mel_store *store)
{
    sqlite_store *s = (sqlite_store *)store;
    for (size_t i = 0; i < READERS; i++)
        mel_sqlite_close(s->readers[i]);
    mel_writer_stop(s->writer); /* the last connection to go copies the log into the file */
    mel_connections_clear(&s->connections);
    free(s->path);
    free(s);
}

/* Only for the owner: it holds what participants said, and the server's hash key. A file that is there is
 * not opened: closing it again would end the locks of this process on it. */
static mel_status create_file(const char *path, mel_error *err)
{
    const int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file >= 0) {
        (void)close(file);
        return MEL_OK;
    }
    return errno == EEXIST ? MEL_OK : mel_sqlite_cannot(path, "be created", errno, err);
}

static mel_status prepare_file(mel_sqlite *c, mel_error *err)
{
    char mode[16];
    mel_status status = mel_sqlite_recognise(c, false, err);
    if (status == MEL_OK)
        status = mel_sqlite_execute(c, "PRAGMA journal_mode=WAL", err);
    if (status == MEL_OK)
        status = mel_sqlite_line(mode, sizeof mode, c, "PRAGMA journal_mode", err);
    if (status == MEL_OK && strcmp(mode, "wal") != 0)
        return mel_fail(err, MEL_EIO, "%s: this file system allows no write-ahead log", c->path);
    return status == MEL_OK ? mel_sqlite_upgrade(c, err) : status;
}

/* Whether the file, or the folder with its log, cannot be written. A file that is not there yet can. */
static bool cannot_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    const size_t n =
        slash != NULL ? (size_t)(slash - path) + 1 : 1; /* with the slash: it may be the first one */
    if (access(path, F_OK) != 0 || n >= sizeof folder)
        return false;
    memcpy(folder, slash != NULL ? path : ".", n);
    folder[n] = '\0';
    return access(path, W_OK) != 0 || access(folder, W_OK | X_OK) != 0;
}

/* A log that has not been copied into the file, or that a server keeps, is read along with it. */
static bool has_log(const char *path)
{
    char name[PATH_MAX];
    const int n = snprintf(name, sizeof name, "%s-wal", path);
    return n > 0 && (size_t)n < sizeof name && access(name, F_OK) == 0;
}

static mel_status check_readable(mel_sql *sql, void *context, mel_error *err)
{
    (void)context;
    return mel_sqlite_recognise((mel_sqlite *)sql, true, err);
}

static mel_status open_for_reading(sqlite_store *s, mel_error *err)
{
    s->store.read_only = true;
    s->frozen = !has_log(s->path);
    return read_snapshot(&s->store, check_readable, NULL, err);
}

static mel_status open_store(sqlite_store *s, const char *path, mel_error *err)
{
    s->path = mel_strdup(path);
    if (s->path == NULL)
        return mel_fail_memory(err, "the store's name");
    s->store.path = s->path;
    mel_sqlite *c = NULL;
    mel_status status = mel_sqlite_check_name(path, err);
    if (status == MEL_OK && cannot_write(path))
        return open_for_reading(s, err);
    if (status == MEL_OK)
        status = create_file(path, err);
    if (status == MEL_OK)
        status = mel_sqlite_open(&c, path, err);
    if (status == MEL_OK)
        status = prepare_file(c, err);
    if (status != MEL_OK) {
        mel_sqlite_close(c);
        return status;
    }
    return mel_writer_start(&s->writer, c, err);
}

mel_status mel_sqlite_store_open(mel_store **out, const char *path, mel_error *err)
{
    *out = NULL;
    sqlite_store *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "the store");
    s->store = (mel_store){ NULL, false, read_snapshot, write_durably, measure, verify, close_store };
    mel_connections_init(&s->connections, READERS);
    const mel_status status = open_store(s, path, err);
    if (status != MEL_OK) {
        close_store(&s->store);
        return status;
    }
    *out = &s->store;
    return MEL_OK;
}
