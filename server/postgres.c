/* The store in a PostgreSQL database: connections that all threads share. */
#include "clock.h"
#include "store_sql.h"

#include <dlfcn.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of libpq, without PQ. It is loaded for the first connection: it and what it needs would be a
 * third of the time that every start of the program takes. */
#define MEL_LIBPQ_FUNCTIONS(row)                                                                             \
    row(clear) row(cmdStatus) row(connectdbParams) row(db) row(errorMessage) row(exec) row(execParams)       \
        row(finish) row(ftype) row(getisnull) row(getlength) row(getvalue) row(nfields) row(ntuples)         \
            row(resultErrorField) row(resultStatus) row(setNoticeProcessor) row(status)

typedef struct {
#define MEL_LIBPQ_MEMBER(name)                                                                               \
    __typeof__(PQ##name) *name; /* NOLINT(bugprone-macro-parentheses): a member                              \
                                 */
    MEL_LIBPQ_FUNCTIONS(MEL_LIBPQ_MEMBER)
#undef MEL_LIBPQ_MEMBER
} mel_libpq;

typedef struct {
    mel_sql sql; /* first: a mel_sql * of a connection is a mel_postgres * */
    PGconn *link;
    /* What the last failure was besides its status: others were in the way, or the server is gone. A
     * transaction can be tried again after either, as long as no commit was sent to a server that went. */
    enum { MEL_POSTGRES_NO_TROUBLE, MEL_POSTGRES_CONFLICT, MEL_POSTGRES_AWAY } trouble;
} mel_postgres;

/* --- the library ------------------------------------------------------------------------------------ */

/* Filled by libpq_load, which any number of threads may call; it stays loaded. */
static mel_libpq mel_pq;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char trouble[256]; /* empty: all is there */

static bool find_symbol(void *handle, const char *name, void *to)
{
    void *symbol = dlsym(handle, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load_libpq(void)
{
    void *handle = dlopen("libpq.so.5", RTLD_NOW);
    bool whole = handle != NULL;
#define FIND(name) whole = whole && find_symbol(handle, "PQ" #name, &mel_pq.name);
    MEL_LIBPQ_FUNCTIONS(FIND)
#undef FIND
    if (!whole)
        (void)snprintf(trouble, sizeof trouble, "%s", dlerror());
}

static mel_status libpq_load(mel_error *err)
{
    (void)pthread_once(&once, load_libpq);
    return trouble[0] == '\0' ? MEL_OK
                              : mel_fail(err, MEL_EIO,
                                         "PostgreSQL: its library libpq cannot be loaded (%s): install "
                                         "libpq5, or keep the store in a file",
                                         trouble);
}

/* Types as PostgreSQL numbers them (catalog pg_type). */
enum { BYTEA = 17, INT8 = 20, INT4 = 23 };
enum { NUMBER_TEXT = 24 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* From SQLSTATE, the five characters of an error. */
static mel_status status_of(const char *state)
{
    if (begins(state, "23505"))
        return MEL_ECONFLICT;
    if (begins(state, "22") || begins(state, "23"))
        return MEL_EINVAL;
    return MEL_EIO;
}

static bool lost(const mel_postgres *c)
{
    return mel_pq.status(c->link) != CONNECTION_OK;
}

/* An error without a state is not the server's: libpq could not write to it or read from it, even where it
 * still calls the connection good. */
static mel_status fail(mel_postgres *c, const PGresult *result, mel_error *err)
{
    const char *state = mel_pq.resultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = mel_pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == NULL || lost(c) || begins(state, "57P0") || begins(state, "08"))
        c->trouble = MEL_POSTGRES_AWAY;
    else if (begins(state, "40"))
        c->trouble = MEL_POSTGRES_CONFLICT;
    return mel_fail(err, state != NULL ? status_of(state) : MEL_EIO, "PostgreSQL database %s: %s",
                    mel_pq.db(c->link), text != NULL && state != NULL ? text : "the connection was lost");
}

/* wanted: what the server must say that it did; NULL: anything. */
static mel_status execute(mel_postgres *c, const char *text, const char *wanted, mel_error *err)
{
    c->trouble = MEL_POSTGRES_NO_TROUBLE;
    PGresult *result = mel_pq.exec(c->link, text);
    const ExecStatusType got = mel_pq.resultStatus(result);
    mel_status status = MEL_OK;
    if (got != PGRES_COMMAND_OK && got != PGRES_TUPLES_OK)
        status = fail(c, result, err);
    else if (wanted != NULL && strcmp(mel_pq.cmdStatus(result), wanted) != 0)
        status = mel_fail(err, MEL_EIO, "PostgreSQL database %s: %s instead of %s", mel_pq.db(c->link),
                          mel_pq.cmdStatus(result), wanted);
    mel_pq.clear(result);
    return status;
}

static mel_status postgres_execute(mel_postgres *c, const char *text, mel_error *err)
{
    return execute(c, text, NULL, err);
}

/* A transaction in which a statement failed is rolled back by COMMIT, without an error. */
static mel_status postgres_commit(mel_postgres *c, mel_error *err)
{
    return execute(c, "COMMIT", "COMMIT", err);
}

/* Numbers are sent as texts, everything else as it is. */
typedef struct {
    const char *value[MEL_SQL_WIDTH];
    int length[MEL_SQL_WIDTH], binary[MEL_SQL_WIDTH];
    char number[MEL_SQL_WIDTH][NUMBER_TEXT];
} arguments;

static void write_arguments(arguments *out, const mel_sql_value *parameters, size_t n)
{
    for (size_t i = 0; i < n && i < MEL_SQL_WIDTH; i++) {
        const mel_sql_value *p = &parameters[i];
        out->value[i] = p->kind == MEL_SQL_NULL ? NULL : p->n > 0 ? p->data : "";
        out->length[i] = (int)p->n;
        out->binary[i] = p->kind == MEL_SQL_BYTES;
        if (p->kind == MEL_SQL_INTEGER) {
            (void)snprintf(out->number[i], NUMBER_TEXT, "%lld", (long long)p->integer);
            out->value[i] = out->number[i];
        }
    }
}

/* Results come in binary: numbers with the highest byte first, texts and bytes as they are. */
static mel_sql_value read_column(const PGresult *result, int row, int column)
{
    const int n = mel_pq.getlength(result, row, column);
    const char *data = mel_pq.getvalue(result, row, column);
    if (mel_pq.getisnull(result, row, column) != 0)
        return (mel_sql_value){ .kind = MEL_SQL_NULL };
    const Oid type = mel_pq.ftype(result, column);
    if (type != INT8 && type != INT4)
        return (mel_sql_value){ type == BYTEA ? MEL_SQL_BYTES : MEL_SQL_TEXT, 0, data, (size_t)n };
    uint64_t bits = ((unsigned char)data[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (int i = 0; i < n; i++)
        bits = bits << 8 | (unsigned char)data[i];
    return mel_sql_integer((int64_t)bits);
}

static mel_status give_rows(const PGresult *result, mel_sql_each each, void *context, mel_error *err)
{
    const int rows = mel_pq.ntuples(result), columns = mel_pq.nfields(result);
    mel_status status = MEL_OK;
    for (int i = 0; i < rows && status == MEL_OK && each != NULL; i++) {
        mel_sql_value row[MEL_SQL_WIDTH];
        for (int j = 0; j < columns && j < MEL_SQL_WIDTH; j++)
            row[j] = read_column(result, i, j);
        status = each(context, row, err);
    }
    return status;
}

/* Parsed anew each time: behind a pooler the next transaction may run on another connection of the server,
 * where a statement that was prepared is not known. */
static mel_status run(mel_sql *sql, mel_sql_statement which, const mel_sql_value *parameters, size_t n,
                      mel_sql_each each, void *context, mel_error *err)
{
    mel_postgres *c = (mel_postgres *)sql;
    for (size_t i = 0; i < n; i++)
        if (parameters[i].n > INT32_MAX)
            return mel_fail(err, MEL_ELIMIT, "%zu bytes are too many for the database", parameters[i].n);
    /* The row stays as it is until the transaction ends; SQLite has one writer anyway. */
    const bool locks = which == MEL_SQL_LOCK_STUDY || which == MEL_SQL_LOCK_PARTICIPANT;
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s", mel_sql_sources[which], locks ? " FOR NO KEY UPDATE" : "");
    arguments a;
    write_arguments(&a, parameters, n);
    PGresult *result = mel_pq.execParams(c->link, text, (int)n, NULL, a.value, a.length, a.binary, 1);
    const ExecStatusType got = mel_pq.resultStatus(result);
    mel_status status = MEL_OK;
    if (got == PGRES_TUPLES_OK)
        status = give_rows(result, each, context, err);
    else if (got != PGRES_COMMAND_OK)
        status = fail(c, result, err);
    mel_pq.clear(result);
    return status;
}

static mel_status postgres_number(int64_t *out, mel_postgres *c, const char *text, mel_error *err)
{
    *out = 0;
    PGresult *result = mel_pq.execParams(c->link, text, 0, NULL, NULL, NULL, NULL, 1);
    mel_status status = MEL_OK;
    if (mel_pq.resultStatus(result) != PGRES_TUPLES_OK)
        status = fail(c, result, err);
    else if (mel_pq.ntuples(result) > 0)
        *out = read_column(result, 0, 0).integer;
    mel_pq.clear(result);
    return status;
}

static void postgres_disconnect(mel_postgres *c)
{
    if (c->link != NULL)
        mel_pq.finish(c->link);
    *c = (mel_postgres){ 0 };
}

/* Without this libpq prints the notices of the server. */
static void ignore_notice(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* The server's settings are overridden: an answered commit is on disk, waiting for a lock ends, and names
 * mean our tables. For this transaction alone, as a pooler gives the next one to another connection. */
static mel_status postgres_begin(mel_postgres *c, const char *how, mel_error *err)
{
    char text[320];
    (void)snprintf(text, sizeof text,
                   "BEGIN %s; SET LOCAL search_path TO melicit; SET LOCAL lock_timeout TO '60s';"
                   "SELECT set_config('synchronous_commit', 'on', true)"
                   " WHERE current_setting('synchronous_commit') = 'off'",
                   how);
    return postgres_execute(c, text, err);
}

static mel_status postgres_connect(mel_postgres *c, const char *url, mel_error *err)
{
    if (c->link != NULL && !lost(c))
        return MEL_OK;
    postgres_disconnect(c);
    const mel_status loaded = libpq_load(err);
    if (loaded != MEL_OK)
        return loaded;
    c->sql.run = run;
    /* The URL comes last and wins. */
    static const char *const keys[] = { "client_encoding",           "connect_timeout", "tcp_user_timeout",
                                        "fallback_application_name", "dbname",          NULL };
    const char *const values[] = { "UTF8", "10", "30000", "melicit", url, NULL };
    c->link = mel_pq.connectdbParams(keys, values, 1);
    if (c->link == NULL)
        return mel_fail_memory(err, "a connection to the database");
    if (lost(c)) {
        const char *text = mel_pq.errorMessage(c->link);
        const mel_status status = mel_fail(err, MEL_EIO, "PostgreSQL: %.*s", (int)strcspn(text, "\n"), text);
        postgres_disconnect(c);
        return status;
    }
    (void)mel_pq.setNoticeProcessor(c->link, ignore_notice, NULL);
    return MEL_OK;
}

/* --- the store -------------------------------------------------------------------------------------- */

enum {
    CONNECTIONS = MEL_MOST_CONNECTIONS,
    TRIES = 8,       /* of a transaction that others or a lost connection ended ... */
    MOST_SECONDS = 5 /* ... and for how long: a pooler lets each wait for a database that is away */
};

typedef struct {
    mel_store store; /* first: what callers hold */
    char *url;
    mel_connections connections;
    mel_postgres links[CONNECTIONS]; /* made when first used */
} postgres_store;

/* One try. *again: it failed for a reason that another try may not meet. If the server goes away before the
 * commit is sent, nothing was stored; afterwards that is unknown, and the caller is told so. */
static mel_status run_transaction(bool *again, mel_postgres *c, const char *how, mel_sql_work work,
                                  void *context, mel_error *err)
{
    *again = false;
    mel_status status = postgres_begin(c, how, err);
    if (status == MEL_OK)
        status = work(&c->sql, context, err);
    if (status == MEL_OK) {
        status = postgres_commit(c, err);
        *again = c->trouble == MEL_POSTGRES_CONFLICT;
        if (c->trouble == MEL_POSTGRES_AWAY) {
            postgres_disconnect(c);
            return mel_fail(err, MEL_EIO, "PostgreSQL: the server went away while this was stored");
        }
        return status;
    }
    *again = c->trouble != MEL_POSTGRES_NO_TROUBLE;
    mel_error ignored;
    if (c->trouble == MEL_POSTGRES_AWAY || postgres_execute(c, "ROLLBACK", &ignored) != MEL_OK)
        postgres_disconnect(c);
    return status;
}

static mel_status transact(mel_store *store, const char *how, mel_sql_work work, void *context,
                           mel_error *err)
{
    postgres_store *s = (postgres_store *)store;
    const size_t number = mel_connections_take(&s->connections);
    mel_postgres *c = &s->links[number];
    mel_status status = MEL_OK;
    bool again = true;
    const double end = mel_clock_seconds(CLOCK_MONOTONIC) + MOST_SECONDS;
    for (int n = 0; n < TRIES && again; n++) {
        again = false;
        status = postgres_connect(c, s->url, err);
        if (status == MEL_OK)
            status = run_transaction(&again, c, how, work, context, err);
        again = again && mel_clock_seconds(CLOCK_MONOTONIC) < end;
    }
    mel_connections_return(&s->connections, number);
    return status;
}

static mel_status read_snapshot(mel_store *store, mel_sql_work work, void *context, mel_error *err)
{
    return transact(store, "ISOLATION LEVEL REPEATABLE READ READ ONLY", work, context, err);
}

/* Rows that must not change meanwhile are locked, so that nobody is ever turned away. */
static mel_status write_durably(mel_store *store, mel_sql_work work, void *context, bool erases,
                                mel_error *err)
{
    (void)erases; /* the server decides when pages are overwritten */
    return transact(store, "ISOLATION LEVEL READ COMMITTED READ WRITE", work, context, err);
}

static mel_status sum_tables(mel_sql *sql, void *context, mel_error *err)
{
    return postgres_number(context, (mel_postgres *)sql,
                           "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT)"
                           " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                           " WHERE n.nspname = 'melicit' AND c.relkind = 'r'",
                           err);
}

static mel_status measure(mel_store *store, mel_disk *out, mel_error *err)
{
    return read_snapshot(store, sum_tables, &out->used, err);
}

static void close_store(mel_store *store)
{
    postgres_store *s = (postgres_store *)store;
    for (size_t i = 0; i < CONNECTIONS; i++)
        postgres_disconnect(&s->links[i]);
    mel_connections_clear(&s->connections);
    free(s->url);
    free(s);
}

static mel_status make_tables(mel_postgres *c, int64_t version, mel_error *err)
{
    if (version == 0)
        TRY(postgres_execute(c,
                             "CREATE TABLE schema_version (version BIGINT NOT NULL);"
                             "INSERT INTO schema_version VALUES (0)",
                             err));
    for (; version < MEL_SCHEMA_VERSION; version++) {
        TRY(postgres_execute(c, mel_postgres_schema[version], err));
        TRY(postgres_execute(c, "UPDATE schema_version SET version = version + 1", err));
    }
    return MEL_OK;
}

/* The version of the tables: context is an int64_t; 0: there are none. */
static mel_status find_version(mel_sql *sql, void *context, mel_error *err)
{
    mel_postgres *c = (mel_postgres *)sql;
    int64_t there = 0, *version = context;
    *version = 0;
    TRY(postgres_number(&there, c,
                        "SELECT count(*) FROM pg_tables"
                        " WHERE schemaname = 'melicit' AND tablename = 'schema_version'",
                        err));
    if (there > 0)
        TRY(postgres_number(version, c, "SELECT version FROM schema_version", err));
    if (*version > MEL_SCHEMA_VERSION)
        return mel_fail(err, MEL_EDATA,
                        "PostgreSQL database %s: made by a newer melicit (schema %lld, this one knows %d)",
                        mel_pq.db(c->link), (long long)*version, MEL_SCHEMA_VERSION);
    return MEL_OK;
}

/* One process at a time, by an advisory lock with an arbitrary number of our own. */
static mel_status upgrade(mel_sql *sql, void *context, mel_error *err)
{
    mel_postgres *c = (mel_postgres *)sql;
    int64_t there = 0;
    TRY(postgres_execute(c, "SELECT pg_advisory_xact_lock(7884955313)", err));
    TRY(postgres_number(&there, c, "SELECT count(*) FROM pg_namespace WHERE nspname = 'melicit'", err));
    if (there == 0)
        TRY(postgres_execute(c, "CREATE SCHEMA melicit", err));
    TRY(find_version(sql, context, err));
    return make_tables(c, *(int64_t *)context, err);
}

/* Nothing is written where the tables are as they should be: the user, or the whole server, may be for
 * reading only. */
static mel_status prepare_tables(mel_store *store, mel_error *err)
{
    int64_t version = 0;
    TRY(read_snapshot(store, find_version, &version, err));
    return version < MEL_SCHEMA_VERSION ? write_durably(store, upgrade, &version, false, err) : MEL_OK;
}

mel_status mel_postgres_store_open(mel_store **out, const char *url, mel_error *err)
{
    *out = NULL;
    postgres_store *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "the store");
    s->store = (mel_store){ NULL, false, read_snapshot, write_durably, measure, close_store };
    mel_connections_init(&s->connections, CONNECTIONS);
    s->url = mel_strdup(url);
    const mel_status status =
        s->url != NULL ? prepare_tables(&s->store, err) : mel_fail_memory(err, "the store's name");
    if (status != MEL_OK) {
        close_store(&s->store);
        return status;
    }
    *out = &s->store;
    return MEL_OK;
}
