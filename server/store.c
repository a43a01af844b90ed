/* The store, whichever it is: opening and closing it, statements and how they are run, who has which
 * connection, copies. */
#include "sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE(name, text) text,
const char *const mel_sql_sources[MEL_SQL_STATEMENTS] = { MEL_SQL_STATEMENT_MAP(SOURCE) };
#undef SOURCE

/* What makes the tables of each version from those of the one before, so that a server of the version before
 * can still use them: servers are replaced one by one. Seeds are texts: neither database has unsigned 64-bit
 * numbers, and a negative seed would mislead. Tables end with the given text. */
#define SCHEMA_1(NUMBER, BYTES, END, END_CLUSTERED)                                                          \
    "CREATE TABLE study (id TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL,"                                  \
    " state TEXT NOT NULL CHECK (state IN ('open', 'closed')), created " NUMBER " NOT NULL)" END ";"         \
    "CREATE TABLE participant (id TEXT NOT NULL PRIMARY KEY,"                                                \
    " study TEXT NOT NULL REFERENCES study (id) ON DELETE CASCADE, token " BYTES " UNIQUE, label TEXT,"      \
    " about TEXT, state TEXT NOT NULL CHECK (state IN ('active', 'complete', 'left')),"                      \
    " created " NUMBER " NOT NULL, seen " NUMBER " NOT NULL, seed TEXT NOT NULL, UNIQUE (study, label))" END \
    ";"                                                                                                      \
    "CREATE TABLE event (participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE,"           \
    " seq " NUMBER " NOT NULL CHECK (seq >= 1), key TEXT NOT NULL, body TEXT NOT NULL, reply TEXT,"          \
    " time " NUMBER " NOT NULL, PRIMARY KEY (participant, seq), UNIQUE (participant, key))" END_CLUSTERED    \
    ";"                                                                                                      \
    "CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY, bytes " BYTES " NOT NULL,"                          \
    " expires " NUMBER " NOT NULL)" END

/* Replies are made anew when they are needed. */
#define SCHEMA_2 "ALTER TABLE event DROP COLUMN reply"

/* Large blobs are in pieces: thing.more counts the bytes in them. upload_use says which participants need an
 * upload. */
#define SCHEMA_3(NUMBER, BYTES, END)                                                                         \
    "ALTER TABLE study ADD COLUMN deleted " NUMBER " NOT NULL DEFAULT 0;"                                    \
    "ALTER TABLE thing ADD COLUMN more " NUMBER " NOT NULL DEFAULT 0;"                                       \
    "CREATE TABLE piece (name TEXT NOT NULL, number " NUMBER " NOT NULL, bytes " BYTES " NOT NULL,"          \
    " PRIMARY KEY (name, number))" END ";"                                                                   \
    "CREATE TABLE upload_use (name TEXT NOT NULL, participant TEXT NOT NULL"                                 \
    " REFERENCES participant (id) ON DELETE CASCADE, PRIMARY KEY (name, participant))" END ";"               \
    "INSERT INTO upload_use SELECT thing.name, participant.id FROM thing, participant"                       \
    " WHERE thing.name LIKE 'upload:%' AND about LIKE '%\"upload:%'"                                         \
    " AND about LIKE '%\"' || thing.name || '\"%';"                                                          \
    "CREATE INDEX upload_use_participant ON upload_use (participant);"                                       \
    "CREATE INDEX participant_created ON participant (study, created, id);"                                  \
    "CREATE INDEX participant_study_seen ON participant (study, seen);"                                      \
    "CREATE INDEX participant_seen ON participant (seen);"                                                   \
    "CREATE INDEX participant_state ON participant (study, state, seen);"                                    \
    "CREATE INDEX thing_expires ON thing (expires)"

/* Clustered by its key, SQLite's table of events took a page of its own for each body above 1 kB. */
#define SQLITE_EVENTS                                                                                        \
    "CREATE TABLE event_3 (participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE,"         \
    " seq INTEGER NOT NULL CHECK (seq >= 1), key TEXT NOT NULL, body TEXT NOT NULL, time INTEGER NOT NULL,"  \
    " PRIMARY KEY (participant, seq), UNIQUE (participant, key)) STRICT;"                                    \
    "INSERT INTO event_3 SELECT participant, seq, key, body, time FROM event;"                               \
    "DROP TABLE event; ALTER TABLE event_3 RENAME TO event;"

const char *const mel_sqlite_schema[MEL_SCHEMA_VERSION] = {
    SCHEMA_1("INTEGER", "BLOB", " STRICT", " STRICT, WITHOUT ROWID"),
    SCHEMA_2,
    SQLITE_EVENTS SCHEMA_3("INTEGER", "BLOB", " STRICT"),
};
const char *const mel_postgres_schema[MEL_SCHEMA_VERSION] = {
    SCHEMA_1("BIGINT", "BYTEA", "", ""),
    SCHEMA_2,
    SCHEMA_3("BIGINT", "BYTEA", "") "; CREATE INDEX thing_name ON thing (name text_pattern_ops)",
};

/* --- values and rows -------------------------------------------------------------------------------- */

mel_sql_value mel_sql_integer(int64_t value)
{
    return (mel_sql_value){ .kind = MEL_SQL_INTEGER, .integer = value };
}

mel_sql_value mel_sql_text(const char *text)
{
    if (text == NULL)
        return (mel_sql_value){ .kind = MEL_SQL_NULL };
    return (mel_sql_value){ .kind = MEL_SQL_TEXT, .data = text, .n = strlen(text) };
}

mel_sql_value mel_sql_bytes(const void *bytes, size_t n)
{
    return (mel_sql_value){ .kind = MEL_SQL_BYTES, .data = bytes, .n = n };
}

mel_status mel_sql_fixed(char *out, size_t size, const mel_sql_value *value, mel_error *err)
{
    const char *text = value->kind == MEL_SQL_TEXT ? value->data : "";
    const size_t n = value->kind == MEL_SQL_TEXT ? value->n : 0;
    if (n >= size)
        return mel_fail(err, MEL_EDATA, "the store holds \"%.80s\" where at most %zu bytes are allowed", text,
                        size - 1);
    memcpy(out, text, n);
    out[n] = '\0';
    return MEL_OK;
}

mel_status mel_sql_copied(char **out, const mel_sql_value *value, mel_error *err)
{
    *out = value->kind == MEL_SQL_TEXT ? mel_strdup(value->data) : NULL;
    return *out != NULL || value->kind != MEL_SQL_TEXT ? MEL_OK : mel_fail_memory(err, "a row of the store");
}

mel_status mel_sql_read_id(void *found, const mel_sql_value *row, mel_error *err)
{
    return mel_sql_fixed(found, MEL_ID_TEXT, &row[0], err);
}

mel_status mel_sql_read_number(void *found, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    *(int64_t *)found = row[0].integer;
    return MEL_OK;
}

mel_status mel_sql_count(void *found, const mel_sql_value *row, mel_error *err)
{
    (void)row;
    (void)err;
    ++*(size_t *)found;
    return MEL_OK;
}

void mel_rows_free(const mel_row_kind *kind, void *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kind->clear((char *)rows + i * kind->size);
    free(rows);
}

mel_status mel_row_list_add(void *found, const mel_sql_value *row, mel_error *err)
{
    mel_row_list *list = found;
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity < 8 ? 8 : 2 * list->capacity;
        if (!mel_grow(&list->rows, capacity, list->kind->size))
            return mel_fail_memory(err, "rows of the store");
        list->capacity = capacity;
    }
    void *next = (char *)list->rows + list->n++ * list->kind->size;
    memset(next, 0, list->kind->size);
    return list->kind->read(next, row, err);
}

void mel_row_list_clear(void *found)
{
    mel_row_list *list = found;
    mel_rows_free(list->kind, list->rows, list->n);
    *list = (mel_row_list){ .kind = list->kind };
}

/* --- a transaction of one statement ----------------------------------------------------------------- */

static mel_status run_request(mel_sql *sql, void *context, mel_error *err)
{
    const mel_sql_request *r = context;
    if (r->forget != NULL)
        r->forget(r->found);
    return sql->run(sql, r->statement, r->parameters, r->n, r->each, r->found, err);
}

static mel_status request(mel_store *store, bool writes, const mel_sql_request *what, mel_error *err)
{
    mel_sql_request r = *what; /* which the work only reads */
    const mel_status status =
        writes ? store->write(store, run_request, &r, false, err) : store->read(store, run_request, &r, err);
    if (status != MEL_OK && r.forget != NULL)
        r.forget(r.found);
    return status;
}

mel_status mel_store_read(mel_store *store, const mel_sql_request *what, mel_error *err)
{
    return request(store, false, what, err);
}

mel_status mel_store_write(mel_store *store, const mel_sql_request *what, mel_error *err)
{
    return request(store, true, what, err);
}

mel_status mel_store_list(void *rows, size_t *n, mel_store *store, const mel_row_kind *kind,
                          mel_sql_statement statement, const mel_sql_value *parameters, size_t n_parameters,
                          mel_error *err)
{
    mel_row_list list = { .kind = kind };
    const mel_sql_request what = { statement,        parameters, n_parameters,
                                   mel_row_list_add, &list,      mel_row_list_clear };
    const mel_status status = mel_store_read(store, &what, err);
    memcpy(rows, &list.rows, sizeof list.rows);
    *n = list.n;
    return status;
}

static mel_status there_is_no(const char *kind, const char *id, mel_error *err)
{
    return id != NULL ? mel_fail(err, MEL_EINVAL, "there is no %s %s", kind, id)
                      : mel_fail(err, MEL_EINVAL, "there is no such %s", kind);
}

mel_status mel_store_one(void *out, mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                         const mel_sql_value *parameters, size_t n_parameters, const char *id, mel_error *err)
{
    MEL_AUTO_MEMORY void *rows = NULL;
    size_t n = 0;
    memset(out, 0, kind->size);
    TRY(mel_store_list(&rows, &n, store, kind, statement, parameters, n_parameters, err));
    if (n == 0)
        return there_is_no(kind->name, id, err);
    memcpy(out, rows, kind->size);
    return MEL_OK;
}

static void forget_count(void *found)
{
    *(size_t *)found = 0;
}

mel_status mel_store_change(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, const char *kind, const char *id, mel_error *err)
{
    size_t changed = 0;
    const mel_sql_request what = {
        statement, parameters, n_parameters, mel_sql_count, &changed, forget_count
    };
    TRY(mel_store_write(store, &what, err));
    return changed > 0 ? MEL_OK : there_is_no(kind, id, err);
}

mel_status mel_store_repeat(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, size_t most, mel_error *err)
{
    size_t deleted = most;
    const mel_sql_request what = {
        statement, parameters, n_parameters, mel_sql_count, &deleted, forget_count
    };
    while (deleted >= most)
        TRY(mel_store_write(store, &what, err));
    return MEL_OK;
}

/* --- connections ------------------------------------------------------------------------------------ */

void mel_connections_init(mel_connections *c, size_t n)
{
    *c = (mel_connections){ .n_free = n, .served = n };
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->returned, NULL);
    for (size_t i = 0; i < n; i++)
        c->free[i] = n - 1 - i;
}

void mel_connections_clear(mel_connections *c)
{
    (void)pthread_cond_destroy(&c->returned);
    (void)pthread_mutex_destroy(&c->lock);
}

/* What is returned is for the thread that has waited longest; otherwise threads that never sleep would take
 * it again and again, and others starve. */
size_t mel_connections_take(mel_connections *c)
{
    (void)pthread_mutex_lock(&c->lock);
    const uint64_t mine = c->asked++;
    while (mine >= c->served)
        (void)pthread_cond_wait(&c->returned, &c->lock);
    const size_t number = c->free[--c->n_free];
    (void)pthread_mutex_unlock(&c->lock);
    return number;
}

void mel_connections_return(mel_connections *c, size_t number)
{
    (void)pthread_mutex_lock(&c->lock);
    c->free[c->n_free++] = number;
    c->served++;
    (void)pthread_cond_broadcast(&c->returned);
    (void)pthread_mutex_unlock(&c->lock);
}

/* --- opening and closing ---------------------------------------------------------------------------- */

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
