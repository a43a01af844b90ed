/* The thread that writes to an SQLite file: whatever is queued goes into one transaction. */
#include "clock.h"
#include "sqlite.h"

#include <signal.h>
#include <stdlib.h>

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

struct mel_writer {
    mel_sqlite *connection;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t woken;
    job *first, **end;
    bool stopping;
    bool traces; /* the log still holds deleted rows; only the thread uses it */
};

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
static job *take_batch(mel_writer *w)
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
static void put_back(mel_writer *w, job *jobs)
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
    mel_writer *w = context;
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

mel_status mel_writer_do(mel_writer *w, mel_sql_work work, void *context, bool erasing, mel_error *err)
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

static void writer_free(mel_writer *w)
{
    mel_sqlite_close(w->connection);
    (void)pthread_cond_destroy(&w->woken);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

mel_status mel_writer_start(mel_writer **out, mel_sqlite *connection, mel_error *err)
{
    *out = NULL;
    mel_writer *w = mel_alloc_zero(1, sizeof *w);
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

void mel_writer_stop(mel_writer *w)
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
