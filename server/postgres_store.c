/* The store in a PostgreSQL database: connections that all threads share. */
#include "clock.h"
#include "postgres.h"
#include "store_connections.h"

#include <stdlib.h>

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
    mel_status status = mel_postgres_begin(c, how, err);
    if (status == MEL_OK)
        status = work(&c->sql, context, err);
    if (status == MEL_OK) {
        status = mel_postgres_commit(c, err);
        *again = c->trouble == MEL_POSTGRES_CONFLICT;
        if (c->trouble == MEL_POSTGRES_AWAY) {
            mel_postgres_disconnect(c);
            return mel_fail(err, MEL_EIO, "PostgreSQL: the server went away while this was stored");
        }
        return status;
    }
    *again = c->trouble != MEL_POSTGRES_NO_TROUBLE;
    mel_error ignored;
    if (c->trouble == MEL_POSTGRES_AWAY || mel_postgres_execute(c, "ROLLBACK", &ignored) != MEL_OK)
        mel_postgres_disconnect(c);
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
        status = mel_postgres_connect(c, s->url, err);
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
    return mel_postgres_number(context, (mel_postgres *)sql,
                               "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT)"
                               " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                               " WHERE n.nspname = 'melicit' AND c.relkind = 'r'",
                               err);
}

static mel_status measure(mel_store *store, mel_disk *out, mel_error *err)
{
    return read_snapshot(store, sum_tables, &out->used, err);
}

/* The server checks its references and pages itself. */
static mel_status verify(mel_store *store, mel_error *err)
{
    (void)store;
    (void)err;
    return MEL_OK;
}

static void close_store(mel_store *store)
{
    postgres_store *s = (postgres_store *)store;
    for (size_t i = 0; i < CONNECTIONS; i++)
        mel_postgres_disconnect(&s->links[i]);
    mel_connections_clear(&s->connections);
    free(s->url);
    free(s);
}

static mel_status make_tables(mel_postgres *c, int64_t version, mel_error *err)
{
    mel_status status = MEL_OK;
    if (version == 0)
        status = mel_postgres_execute(c,
                                      "CREATE TABLE schema_version (version BIGINT NOT NULL);"
                                      "INSERT INTO schema_version VALUES (0)",
                                      err);
    for (; version < MEL_SCHEMA_VERSION && status == MEL_OK; version++) {
        status = mel_postgres_execute(c, mel_postgres_schema[version], err);
        if (status == MEL_OK)
            status = mel_postgres_execute(c, "UPDATE schema_version SET version = version + 1", err);
    }
    return status;
}

/* The version of the tables: context is an int64_t; 0: there are none. */
static mel_status find_version(mel_sql *sql, void *context, mel_error *err)
{
    mel_postgres *c = (mel_postgres *)sql;
    int64_t there = 0, *version = context;
    *version = 0;
    TRY(mel_postgres_number(&there, c,
                            "SELECT count(*) FROM pg_tables"
                            " WHERE schemaname = 'melicit' AND tablename = 'schema_version'",
                            err));
    if (there > 0)
        TRY(mel_postgres_number(version, c, "SELECT version FROM schema_version", err));
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
    TRY(mel_postgres_execute(c, "SELECT pg_advisory_xact_lock(7884955313)", err));
    TRY(mel_postgres_number(&there, c, "SELECT count(*) FROM pg_namespace WHERE nspname = 'melicit'", err));
    if (there == 0)
        TRY(mel_postgres_execute(c, "CREATE SCHEMA melicit", err));
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
    s->store = (mel_store){ NULL, false, read_snapshot, write_durably, measure, verify, close_store };
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
