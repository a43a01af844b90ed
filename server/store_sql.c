/* What both stores share: the schema, statements and how they are run, and who has which connection. */
#include "store_sql.h"

#include <stdlib.h>
#include <string.h>

#define STUDY "id, file, state, created"
#define PARTICIPANT "id, study, token, label, about, state, created, seen, seed"
#define EVENT "seq, key, body, time"

/* Not a simulated participant, of whom the column about begins with that key. */
#define REAL "substr(coalesce(about, ''), 1, 17) <> '{\"simulated\":true'"

/* A deleted study is out of sight at once; its participants and their events go in pieces. */
#define THERE " AND deleted = 0"
#define OF_STUDY_THERE " AND EXISTS (SELECT 1 FROM study WHERE study.id = participant.study AND deleted = 0)"

const char *const mel_sql_sources[MEL_SQL_STATEMENTS] = {
    [MEL_SQL_ADD_STUDY] = "INSERT INTO study (" STUDY ") VALUES ($1, $2, $3, $4)"
                          " ON CONFLICT DO NOTHING RETURNING id",
    [MEL_SQL_STUDY] = "SELECT " STUDY " FROM study WHERE id = $1" THERE,
    [MEL_SQL_STUDIES] = "SELECT " STUDY " FROM study WHERE deleted = 0 ORDER BY created, id",
    [MEL_SQL_SET_STUDY_STATE] = "UPDATE study SET state = $1 WHERE id = $2" THERE " RETURNING id",
    [MEL_SQL_MARK_STUDY_DELETED] =
        "UPDATE study SET deleted = 1, state = 'closed' WHERE id = $1" THERE " RETURNING id",
    [MEL_SQL_DELETED_STUDY] = "SELECT id FROM study WHERE deleted <> 0 ORDER BY id LIMIT 1",
    [MEL_SQL_DELETE_STUDY] = "DELETE FROM study WHERE id = $1 AND deleted <> 0",
    /* The column about of simulated participants begins with that key. */
    [MEL_SQL_COUNT_STATES] = "SELECT state, count(*),"
                             " coalesce(sum(CASE WHEN about LIKE '{\"simulated\":true%' THEN 1 ELSE 0 "
                             "END), 0), max(seen)"
                             " FROM participant WHERE study = $1 GROUP BY state",
    [MEL_SQL_HAS_STUDY] = "SELECT id FROM study WHERE id = $1" THERE,
    [MEL_SQL_LOCK_STUDY] = "SELECT id FROM study WHERE id = $1" THERE,
    [MEL_SQL_COUNT_QUOTA] = "SELECT (SELECT count(*) FROM participant WHERE study = $1"
                            " AND state = 'complete' AND " REAL ") + (SELECT count(*) FROM participant"
                            " WHERE study = $1 AND state = 'active' AND seen > $2 AND " REAL ")",
    [MEL_SQL_ADD_PARTICIPANT] =
        "INSERT INTO participant (" PARTICIPANT ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
        " ON CONFLICT DO NOTHING RETURNING id",
    [MEL_SQL_PARTICIPANT] = "SELECT " PARTICIPANT " FROM participant WHERE id = $1" OF_STUDY_THERE,
    [MEL_SQL_PARTICIPANT_BY_TOKEN] =
        "SELECT " PARTICIPANT " FROM participant WHERE token = $1" OF_STUDY_THERE,
    [MEL_SQL_PARTICIPANT_BY_LABEL] =
        "SELECT " PARTICIPANT " FROM participant WHERE study = $1 AND label = $2",
    [MEL_SQL_NEXT_PARTICIPANTS] = "SELECT " PARTICIPANT " FROM participant WHERE study = $1"
                                  " AND (created, id) > ($2, $3) ORDER BY created, id LIMIT $4",
    [MEL_SQL_UNSEEN_PARTICIPANTS] = "SELECT " PARTICIPANT " FROM participant WHERE study = $1"
                                    " AND seen < $2 ORDER BY seen LIMIT $3",
    [MEL_SQL_NEWEST] = "SELECT coalesce(max(seen), 0) FROM participant",
    [MEL_SQL_SET_TOKEN] = "UPDATE participant SET token = $1 WHERE id = $2 RETURNING id",
    [MEL_SQL_REVOKE] = "UPDATE participant SET token = $1, about = $2 WHERE id = $3 RETURNING id",
    /* From the end, so that what is left is a log without gaps. */
    [MEL_SQL_LAST_EVENTS] = "SELECT seq, CAST(length(body) AS BIGINT) FROM event WHERE participant = $1"
                            " ORDER BY seq DESC LIMIT $2",
    [MEL_SQL_DELETE_LAST_EVENTS] = "DELETE FROM event WHERE participant = $1 AND seq >= $2",
    [MEL_SQL_DELETE_PARTICIPANT] = "DELETE FROM participant WHERE id = $1 RETURNING id",
    [MEL_SQL_LOCK_PARTICIPANT] = "SELECT id FROM participant WHERE id = $1" OF_STUDY_THERE,
    [MEL_SQL_TOUCH_PARTICIPANT] = "UPDATE participant SET seen = $1, state = coalesce($2, state)"
                                  " WHERE id = $3",
    [MEL_SQL_EVENT_BY_KEY] = "SELECT " EVENT " FROM event WHERE participant = $1 AND key = $2",
    [MEL_SQL_LAST_SEQ] = "SELECT coalesce(max(seq), 0) FROM event WHERE participant = $1",
    [MEL_SQL_ADD_EVENT] = "INSERT INTO event (participant, " EVENT ") VALUES ($1, $2, $3, $4, $5)",
    [MEL_SQL_EVENTS] = "SELECT " EVENT " FROM event WHERE participant = $1 ORDER BY seq",
    [MEL_SQL_PUT] = "INSERT INTO thing (name, bytes, expires, more) VALUES ($1, $2, $3, $4)"
                    " ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes, expires = excluded.expires,"
                    " more = excluded.more",
    [MEL_SQL_PUT_ONCE] = "INSERT INTO thing (name, bytes, expires) VALUES ($1, $2, 0) ON CONFLICT (name)"
                         " DO UPDATE SET bytes = excluded.bytes, expires = 0, more = 0"
                         " WHERE thing.expires <> 0 AND thing.expires <= $3",
    [MEL_SQL_PUT_PIECE] = "INSERT INTO piece (name, number, bytes) VALUES ($1, $2, $3)",
    [MEL_SQL_GET] = "SELECT bytes, more FROM thing WHERE name = $1 AND (expires = 0 OR expires > $2)",
    [MEL_SQL_PIECES] = "SELECT bytes FROM piece WHERE name = $1 ORDER BY number",
    [MEL_SQL_BYTES_OF] = "SELECT CAST(coalesce(sum(length(bytes) + more), 0) AS BIGINT) FROM thing"
                         " WHERE name LIKE $1",
    /* A small one counts as LEAST_ROOM. */
    [MEL_SQL_ROOM_OF] = "SELECT CAST(coalesce(sum(CASE WHEN length(bytes) + more < 32768 THEN 32768"
                        " ELSE length(bytes) + more END), 0) AS BIGINT) FROM thing WHERE name LIKE $1",
    [MEL_SQL_KEEP] = "UPDATE thing SET expires = CASE WHEN expires = 0 OR CAST($1 AS BIGINT) = 0 THEN 0"
                     " WHEN expires > $1 THEN expires ELSE $1 END WHERE name = $2 RETURNING name",
    [MEL_SQL_LIST] = "SELECT name, CAST(length(bytes) + more AS BIGINT), expires FROM thing"
                     " WHERE name LIKE $1 ORDER BY name",
    [MEL_SQL_REMOVE] = "DELETE FROM thing WHERE name = $1",
    [MEL_SQL_REMOVE_PIECES] = "DELETE FROM piece WHERE name = $1 AND number IN (SELECT number FROM piece"
                              " WHERE name = $1 ORDER BY number LIMIT $2) RETURNING number",
    [MEL_SQL_REMOVE_LOST_PIECES] = "DELETE FROM piece WHERE name = $1 AND number IN (SELECT number"
                                   " FROM piece WHERE name = $1 ORDER BY number LIMIT $2)"
                                   " AND NOT EXISTS (SELECT 1 FROM thing WHERE thing.name = $1)"
                                   " RETURNING number",
    [MEL_SQL_REMOVE_NOTES] = "DELETE FROM thing WHERE name IN (SELECT name FROM thing WHERE name LIKE $1"
                             " AND (name = $2 OR substr(name, 1, length($2) + 1) = $2 || ':') LIMIT $3)"
                             " RETURNING name",
    [MEL_SQL_ADD_USE] = "INSERT INTO upload_use (name, participant) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    [MEL_SQL_REMOVE_UNUSED] = "DELETE FROM thing WHERE name = $1 AND expires <> 0 AND NOT EXISTS"
                              " (SELECT 1 FROM upload_use WHERE upload_use.name = $1)",
    [MEL_SQL_EXPIRED] = "SELECT name, CAST(length(bytes) AS BIGINT) FROM thing"
                        " WHERE expires > 0 AND expires <= $1 LIMIT 1",
    [MEL_SQL_LOST_PIECE] = "SELECT name FROM piece WHERE NOT EXISTS"
                           " (SELECT 1 FROM thing WHERE thing.name = piece.name) LIMIT 1",
};

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
    *out = NULL;
    if (value->kind != MEL_SQL_TEXT)
        return MEL_OK;
    *out = mel_strdup(value->data);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "a row of the store");
}

mel_status mel_sql_count(void *context, const mel_sql_value *row, mel_error *err)
{
    (void)row;
    (void)err;
    ++*(size_t *)context;
    return MEL_OK;
}

mel_status mel_sql_read_number(void *context, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    *(int64_t *)context = row[0].integer;
    return MEL_OK;
}

/* --- rows --------------------------------------------------------------------------------------- */

void mel_rows_free(const mel_row_kind *kind, void *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kind->clear((char *)rows + i * kind->size);
    free(rows);
}

mel_status mel_row_list_add(void *context, const mel_sql_value *row, mel_error *err)
{
    mel_row_list *list = context;
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

void mel_row_list_clear(void *context)
{
    mel_row_list *list = context;
    mel_rows_free(list->kind, list->rows, list->n);
    *list = (mel_row_list){ .kind = list->kind };
}

/* --- requests ----------------------------------------------------------------------------------- */

typedef struct {
    const mel_sql_request *request;
    size_t n;
} requests;

static void forget(const requests *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->request[i].forget != NULL)
            all->request[i].forget(all->request[i].found);
}

static mel_status run_requests(mel_sql *sql, void *context, mel_error *err)
{
    const requests *all = context;
    mel_status status = MEL_OK;
    forget(all);
    for (size_t i = 0; i < all->n && status == MEL_OK; i++) {
        const mel_sql_request *r = &all->request[i];
        status = sql->run(sql, r->statement, r->parameters, r->n, r->each, r->found, err);
    }
    return status;
}

mel_status mel_store_read(mel_store *store, const mel_sql_request *request, mel_error *err)
{
    requests one = { request, 1 };
    const mel_status status = store->read(store, run_requests, &one, err);
    if (status != MEL_OK)
        forget(&one);
    return status;
}

mel_status mel_store_write(mel_store *store, const mel_sql_request *request, size_t n, mel_error *err)
{
    requests all = { request, n };
    const mel_status status = store->write(store, run_requests, &all, false, err);
    if (status != MEL_OK)
        forget(&all);
    return status;
}

mel_status mel_store_list(void **rows, size_t *n, mel_store *store, const mel_row_kind *kind,
                          mel_sql_statement statement, const mel_sql_value *parameters, size_t n_parameters,
                          mel_error *err)
{
    mel_row_list list = { .kind = kind };
    const mel_sql_request request = { statement,        parameters, n_parameters,
                                      mel_row_list_add, &list,      mel_row_list_clear };
    const mel_status status = mel_store_read(store, &request, err);
    *rows = list.rows;
    *n = list.n;
    return status;
}

static mel_status none(const mel_row_kind *kind, const char *id, mel_error *err)
{
    return id != NULL ? mel_fail(err, MEL_EINVAL, "there is no %s %s", kind->name, id)
                      : mel_fail(err, MEL_EINVAL, "there is no such %s", kind->name);
}

mel_status mel_store_one(void *out, mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                         const mel_sql_value *parameters, size_t n_parameters, const char *id, mel_error *err)
{
    void *rows = NULL;
    size_t n = 0;
    memset(out, 0, kind->size);
    const mel_status status =
        mel_store_list(&rows, &n, store, kind, statement, parameters, n_parameters, err);
    if (status == MEL_OK && n > 0)
        memcpy(out, rows, kind->size);
    free(rows);
    return status == MEL_OK && n == 0 ? none(kind, id, err) : status;
}

static void forget_count(void *found)
{
    *(size_t *)found = 0;
}

mel_status mel_store_repeat(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, size_t most, mel_error *err)
{
    size_t deleted = most;
    const mel_sql_request request = { statement,     parameters, n_parameters,
                                      mel_sql_count, &deleted,   forget_count };
    while (deleted >= most)
        TRY(mel_store_write(store, &request, 1, err));
    return MEL_OK;
}

mel_status mel_store_change(mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                            const mel_sql_value *parameters, size_t n_parameters, const char *id,
                            mel_error *err)
{
    size_t changed = 0;
    const mel_sql_request request = { statement,     parameters, n_parameters,
                                      mel_sql_count, &changed,   forget_count };
    const mel_status status = mel_store_write(store, &request, 1, err);
    return status == MEL_OK && changed == 0 ? none(kind, id, err) : status;
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
