/* The store in an SQLite file: one thread writes, readers have connections of their own. */
#include "clock.h"
#include "sqlite.h"
#include "store_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- the thread that writes ------------------------------------------------------------------------- */

/* A transaction ends after so many jobs, milliseconds or bytes, which bound how long the first of its jobs
 * waits and how much memory it takes; each job by itself is small. */
enum { MOST_JOBS = 256, MOST_MS = 25, MOST_BYTES = 4 << 20 };

/* On the stack of the caller, who waits until it is done. */
typedef struct job {
    struct job *next;
    mel_sql_work work;
    void *context;
    mel_error *err;
    mel_status status;
    bool erases, done;
    pthread_cond_t finished;
} job;

typedef struct {
    mel_sqlite *connection;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t woken;
    job *first, **end;
    bool stopping;
    bool traces; /* the log still holds deleted rows; only the thread uses it */
} sqlite_writer;

/* One job in the batch's transaction; a failure leaves no trace, but may have ended the transaction. */
static void run_job(mel_sqlite *c, job *j)
{
    j->status = mel_sqlite_execute(c, "SAVEPOINT job", j->err);
    if (j->status != MEL_OK)
        return;
    j->status = j->work(&c->sql, j->context, j->err);
    if (sqlite3_get_autocommit(c->db) != 0)
        return;
    const char *end = j->status == MEL_OK ? "RELEASE job" : "ROLLBACK TO job; RELEASE job";
    mel_error ignored;
    const mel_status ended = mel_sqlite_execute(c, end, j->status == MEL_OK ? j->err : &ignored);
    if (j->status == MEL_OK)
        j->status = ended;
    if (ended != MEL_OK) /* part of the job may be there: nothing of the batch may stay */
        mel_sqlite_rollback(c);
}

static void fail_all(job *jobs, mel_status status, const mel_error *why)
{
    for (job *j = jobs; j != NULL; j = j->next) {
        j->status = status;
        if (j->err != NULL)
            *j->err = *why;
    }
}

/* The jobs in one transaction, as many as fit: *left are the others. False: it came to nothing, why says why;
 * no job is done, whatever its status. */
static bool run_transaction(mel_sqlite *c, job *jobs, job **left, mel_error *why)
{
    const int64_t end = mel_clock_ms(CLOCK_MONOTONIC) + MOST_MS;
    c->written = 0;
    for (job *j = jobs; j != NULL; j = j->next) {
        run_job(c, j);
        if (j->next != NULL && (c->written > MOST_BYTES || mel_clock_ms(CLOCK_MONOTONIC) >= end)) {
            *left = j->next;
            j->next = NULL;
        }
        if (sqlite3_get_autocommit(c->db) != 0) {
            *why = (mel_error){ .code = j->status };
            if (j->err != NULL)
                *why = *j->err;
            return false;
        }
    }
    const bool stored = mel_sqlite_execute(c, "COMMIT", why) == MEL_OK;
    mel_sqlite_rollback(c);
    return stored;
}

/* False: a job spoilt the transaction, and none is done. */
static bool run_together(mel_sqlite *c, job *jobs, job **left, mel_error *why)
{
    *why = (mel_error){ 0 };
    const mel_status status = mel_sqlite_begin(c, true, why);
    if (status != MEL_OK)
        fail_all(jobs, status, why);
    return status != MEL_OK || run_transaction(c, jobs, left, why);
}

/* As many as fit in one transaction, the others are returned; if one of them spoils it, each in its own, so
 * that it harms no other. */
static job *run_batch(mel_sqlite *c, job *jobs)
{
    mel_error why;
    job *left = NULL;
    bool done = run_together(c, jobs, &left, &why);
    const bool alone = jobs->next == NULL;
    for (job *j = done ? NULL : jobs, *next; j != NULL; j = next) {
        next = j->next;
        j->next = NULL;
        done = !alone && run_together(c, j, &left, &why);
        if (!done)
            fail_all(j, why.code != MEL_OK ? why.code : MEL_EIO, &why);
        j->next = next;
    }
    return left;
}

/* Waits for jobs; with traces left not longer than a second. NULL: none. */
static job *take_batch(sqlite_writer *w)
{
    while (w->first == NULL && !w->stopping && !w->traces)
        (void)pthread_cond_wait(&w->woken, &w->lock);
    if (w->first == NULL && !w->stopping)
        mel_wait(&w->woken, &w->lock, 1);
    job *first = w->first, *last = first;
    if (first == NULL)
        return NULL;
    for (int n = 1; n < MOST_JOBS && last->next != NULL; n++)
        last = last->next;
    w->first = last->next;
    last->next = NULL;
    if (w->first == NULL)
        w->end = &w->first;
    return first;
}

/* Jobs that did not fit come before those that were queued meanwhile. */
static void put_back(sqlite_writer *w, job *jobs)
{
    job **end = &jobs;
    while (*end != NULL)
        end = &(*end)->next;
    if (jobs == NULL)
        return;
    *end = w->first;
    if (w->first == NULL)
        w->end = end;
    w->first = jobs;
}

static bool erases(const job *jobs)
{
    while (jobs != NULL && !(jobs->erases && jobs->status == MEL_OK))
        jobs = jobs->next;
    return jobs != NULL;
}

/* A job is gone as soon as its caller sees that it is done. */
static void finish(job *jobs)
{
    while (jobs != NULL) {
        job *next = jobs->next;
        jobs->done = true;
        (void)pthread_cond_signal(&jobs->finished);
        jobs = next;
    }
}

static void *run_writer(void *context)
{
    sqlite_writer *w = context;
    (void)pthread_mutex_lock(&w->lock);
    for (;;) {
        job *jobs = take_batch(w);
        if (jobs == NULL && w->stopping)
            break;
        (void)pthread_mutex_unlock(&w->lock);
        job *left = jobs != NULL ? run_batch(w->connection, jobs) : NULL;
        w->traces |= erases(jobs);
        if (w->traces)
            w->traces = !mel_sqlite_truncate_log(w->connection);
        (void)pthread_mutex_lock(&w->lock);
        finish(jobs);
        put_back(w, left);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

static mel_status writer_do(sqlite_writer *w, mel_sql_work work, void *context, bool erasing, mel_error *err)
{
    job mine = { .work = work, .context = context, .err = err, .erases = erasing };
    (void)pthread_cond_init(&mine.finished, NULL);
    (void)pthread_mutex_lock(&w->lock);
    *w->end = &mine;
    w->end = &mine.next;
    (void)pthread_cond_signal(&w->woken);
    while (!mine.done)
        (void)pthread_cond_wait(&mine.finished, &w->lock);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_cond_destroy(&mine.finished);
    return mine.status;
}

static void writer_free(sqlite_writer *w)
{
    mel_sqlite_close(w->connection);
    (void)pthread_cond_destroy(&w->woken);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

static mel_status writer_start(sqlite_writer **out, mel_sqlite *connection, mel_error *err)
{
    *out = NULL;
    sqlite_writer *w = mel_alloc_zero(1, sizeof *w);
    if (w == NULL) {
        mel_sqlite_close(connection);
        return mel_fail_memory(err, "the store's writer");
    }
    w->connection = connection;
    w->end = &w->first;
    (void)pthread_mutex_init(&w->lock, NULL);
    mel_cond_init(&w->woken);
    sigset_t all, before; /* signals are for the program's other threads */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, run_writer, w);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        writer_free(w);
        return mel_fail(err, MEL_ENOMEM, "the store's writer cannot start");
    }
    *out = w;
    return MEL_OK;
}

static void writer_stop(sqlite_writer *w)
{
    if (w == NULL)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->stopping = true;
    (void)pthread_cond_signal(&w->woken);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    writer_free(w);
}

enum { READERS = 8 };

typedef struct {
    mel_store store; /* first: what callers hold */
    char *path;
    sqlite_writer *writer; /* NULL: it cannot be written */
    bool frozen;           /* there is not even a log next to it that could be read */
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
               ? writer_do(s->writer, work, context, erases, err)
               : mel_fail(err, MEL_EIO, "%s: cannot be written; it can be listed, shown and exported",
                          s->path);
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

static void close_store(mel_store *store)
{
    sqlite_store *s = (sqlite_store *)store;
    for (size_t i = 0; i < READERS; i++)
        mel_sqlite_close(s->readers[i]);
    writer_stop(s->writer); /* the last connection to go copies the log into the file */
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
    TRY(mel_sqlite_recognise(c, false, err));
    TRY(mel_sqlite_execute(c, "PRAGMA journal_mode=WAL", err));
    TRY(mel_sqlite_line(mode, sizeof mode, c, "PRAGMA journal_mode", err));
    if (strcmp(mode, "wal") != 0)
        return mel_fail(err, MEL_EIO, "%s: this file system allows no write-ahead log", c->path);
    return mel_sqlite_upgrade(c, err);
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
    TRY(mel_sqlite_check_name(path, err));
    if (cannot_write(path))
        return open_for_reading(s, err);
    TRY(create_file(path, err));
    mel_status status = mel_sqlite_open(&c, path, err);
    if (status == MEL_OK)
        status = prepare_file(c, err);
    if (status != MEL_OK) {
        mel_sqlite_close(c);
        return status;
    }
    return writer_start(&s->writer, c, err);
}

mel_status mel_sqlite_store_open(mel_store **out, const char *path, mel_error *err)
{
    *out = NULL;
    sqlite_store *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "the store");
    s->store = (mel_store){ NULL, false, read_snapshot, write_durably, measure, close_store };
    mel_connections_init(&s->connections, READERS);
    const mel_status status = open_store(s, path, err);
    if (status != MEL_OK) {
        close_store(&s->store);
        return status;
    }
    *out = &s->store;
    return MEL_OK;
}
