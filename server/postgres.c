/* One connection to a PostgreSQL server. */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

mel_status mel_postgres_execute(mel_postgres *c, const char *text, mel_error *err)
{
    return execute(c, text, NULL, err);
}

/* A transaction in which a statement failed is rolled back by COMMIT, without an error. */
mel_status mel_postgres_commit(mel_postgres *c, mel_error *err)
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
    const mel_sql_source *source = &mel_sql_sources[which];
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s", source->text, source->lock ? " FOR NO KEY UPDATE" : "");
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

mel_status mel_postgres_number(int64_t *out, mel_postgres *c, const char *text, mel_error *err)
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

void mel_postgres_disconnect(mel_postgres *c)
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
mel_status mel_postgres_begin(mel_postgres *c, const char *how, mel_error *err)
{
    char text[320];
    (void)snprintf(text, sizeof text,
                   "BEGIN %s; SET LOCAL search_path TO melicit; SET LOCAL lock_timeout TO '60s';"
                   "SELECT set_config('synchronous_commit', 'on', true)"
                   " WHERE current_setting('synchronous_commit') = 'off'",
                   how);
    return mel_postgres_execute(c, text, err);
}

mel_status mel_postgres_connect(mel_postgres *c, const char *url, mel_error *err)
{
    if (c->link != NULL && !lost(c))
        return MEL_OK;
    mel_postgres_disconnect(c);
    const mel_status loaded = mel_libpq_load(err);
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
        mel_postgres_disconnect(c);
        return status;
    }
    (void)mel_pq.setNoticeProcessor(c->link, ignore_notice, NULL);
    return MEL_OK;
}
