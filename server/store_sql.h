/* What the two stores have in common: the schema, the statements, and how work on rows reaches a database.
 * A driver (sqlite_store.c, postgres.c) knows connections and transactions; what is done inside a transaction
 * (store_rows.c, store_blobs.c) is written once. */
#ifndef MEL_SERVER_STORE_SQL_H
#define MEL_SERVER_STORE_SQL_H

#include "store.h"

#include <pthread.h>

#include "base/internal.h"

#define MEL_SQL_STUDY_ROW "id, file, state, created"
#define MEL_SQL_PARTICIPANT_ROW "id, study, token, label, about, state, created, seen, seed"
#define MEL_SQL_EVENT_ROW "seq, key, body, time"
/* Not a simulated participant, of whom the column about begins with that key. */
#define MEL_SQL_REAL "substr(coalesce(about, ''), 1, 17) <> '{\"simulated\":true'"
/* A deleted study is out of sight at once; its participants and their events go in pieces. */
#define MEL_SQL_THERE " AND deleted = 0"
#define MEL_SQL_OF_STUDY_THERE                                                                               \
    " AND EXISTS (SELECT 1 FROM study WHERE study.id = participant.study AND deleted = 0)"

/* Every statement. Parameters $1, $2, ... first appear in this order, as both databases then agree. The last
 * events come first, so that what is left of a log that is erased has no gaps; a small blob counts as 32 kB
 * of a room (LEAST_ROOM). */
#define MEL_SQL_STATEMENT_MAP(X)                                                                             \
    X(ADD_STUDY, "INSERT INTO study (" MEL_SQL_STUDY_ROW                                                     \
                 ") VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id")                            \
    X(STUDY, "SELECT " MEL_SQL_STUDY_ROW " FROM study WHERE id = $1" MEL_SQL_THERE)                          \
    X(STUDIES, "SELECT " MEL_SQL_STUDY_ROW " FROM study WHERE deleted = 0 ORDER BY created, id")             \
    X(SET_STUDY_STATE, "UPDATE study SET state = $1 WHERE id = $2" MEL_SQL_THERE " RETURNING id")            \
    X(MARK_STUDY_DELETED,                                                                                    \
      "UPDATE study SET deleted = 1, state = 'closed' WHERE id = $1" MEL_SQL_THERE " RETURNING id")          \
    X(DELETED_STUDY, "SELECT id FROM study WHERE deleted <> 0 ORDER BY id LIMIT 1")                          \
    X(DELETE_STUDY, "DELETE FROM study WHERE id = $1 AND deleted <> 0")                                      \
    X(COUNT_STATES, "SELECT state, count(*), sum(CASE WHEN " MEL_SQL_REAL                                    \
                    " THEN 0 ELSE 1 END), max(seen) FROM participant WHERE study = $1 GROUP BY state")       \
    X(HAS_STUDY, "SELECT id FROM study WHERE id = $1" MEL_SQL_THERE)                                         \
    X(LOCK_STUDY, "SELECT id FROM study WHERE id = $1" MEL_SQL_THERE)                                        \
    X(COUNT_QUOTA,                                                                                           \
      "SELECT (SELECT count(*) FROM participant WHERE study = $1 AND state = 'complete' AND " MEL_SQL_REAL   \
      ") + (SELECT count(*) FROM participant WHERE study = $1 AND state = 'active' AND seen > $2 "           \
      "AND " MEL_SQL_REAL ")")                                                                               \
    X(ADD_PARTICIPANT, "INSERT INTO participant (" MEL_SQL_PARTICIPANT_ROW                                   \
                       ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id")  \
    X(PARTICIPANT,                                                                                           \
      "SELECT " MEL_SQL_PARTICIPANT_ROW " FROM participant WHERE id = $1" MEL_SQL_OF_STUDY_THERE)            \
    X(PARTICIPANT_BY_TOKEN,                                                                                  \
      "SELECT " MEL_SQL_PARTICIPANT_ROW " FROM participant WHERE token = $1" MEL_SQL_OF_STUDY_THERE)         \
    X(PARTICIPANT_BY_LABEL,                                                                                  \
      "SELECT " MEL_SQL_PARTICIPANT_ROW " FROM participant WHERE study = $1 AND label = $2")                 \
    X(NEXT_PARTICIPANTS,                                                                                     \
      "SELECT " MEL_SQL_PARTICIPANT_ROW                                                                      \
      " FROM participant WHERE study = $1 AND (created, id) > ($2, $3) ORDER BY created, id LIMIT $4")       \
    X(UNSEEN_PARTICIPANTS, "SELECT " MEL_SQL_PARTICIPANT_ROW                                                 \
                           " FROM participant WHERE study = $1 AND seen < $2 ORDER BY seen LIMIT $3")        \
    X(NEWEST, "SELECT coalesce(max(seen), 0) FROM participant")                                              \
    X(SET_TOKEN, "UPDATE participant SET token = $1 WHERE id = $2 RETURNING id")                             \
    X(REVOKE, "UPDATE participant SET token = $1, about = $2 WHERE id = $3 RETURNING id")                    \
    X(LAST_EVENTS, "SELECT seq, CAST(length(body) AS BIGINT) FROM event WHERE participant = $1 ORDER BY "    \
                   "seq DESC LIMIT $2")                                                                      \
    X(DELETE_LAST_EVENTS, "DELETE FROM event WHERE participant = $1 AND seq >= $2")                          \
    X(DELETE_PARTICIPANT, "DELETE FROM participant WHERE id = $1 RETURNING id")                              \
    X(LOCK_PARTICIPANT, "SELECT id FROM participant WHERE id = $1" MEL_SQL_OF_STUDY_THERE)                   \
    X(TOUCH_PARTICIPANT, "UPDATE participant SET seen = $1, state = coalesce($2, state) WHERE id = $3")      \
    X(EVENT_BY_KEY, "SELECT " MEL_SQL_EVENT_ROW " FROM event WHERE participant = $1 AND key = $2")           \
    X(LAST_SEQ, "SELECT coalesce(max(seq), 0) FROM event WHERE participant = $1")                            \
    X(ADD_EVENT, "INSERT INTO event (participant, " MEL_SQL_EVENT_ROW ") VALUES ($1, $2, $3, $4, $5)")       \
    X(EVENTS, "SELECT " MEL_SQL_EVENT_ROW " FROM event WHERE participant = $1 ORDER BY seq")                 \
    X(PUT, "INSERT INTO thing (name, bytes, expires, more) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO "   \
           "UPDATE SET bytes = excluded.bytes, expires = excluded.expires, more = excluded.more")            \
    X(PUT_ONCE,                                                                                              \
      "INSERT INTO thing (name, bytes, expires) VALUES ($1, $2, 0) ON CONFLICT (name) DO UPDATE SET bytes "  \
      "= excluded.bytes, expires = 0, more = 0 WHERE thing.expires <> 0 AND thing.expires <= $3")            \
    X(PUT_PIECE, "INSERT INTO piece (name, number, bytes) VALUES ($1, $2, $3)")                              \
    X(GET, "SELECT bytes, more FROM thing WHERE name = $1 AND (expires = 0 OR expires > $2)")                \
    X(PIECES, "SELECT bytes FROM piece WHERE name = $1 ORDER BY number")                                     \
    X(ROOM_OF, "SELECT CAST(coalesce(sum(CASE WHEN length(bytes) + more < 32768 THEN 32768 ELSE "            \
               "length(bytes) + more END), 0) AS BIGINT) FROM thing WHERE name LIKE $1")                     \
    X(KEEP, "UPDATE thing SET expires = CASE WHEN expires = 0 OR CAST($1 AS BIGINT) = 0 THEN 0 WHEN "        \
            "expires > $1 THEN expires ELSE $1 END WHERE name = $2 RETURNING name")                          \
    X(LIST_BLOBS,                                                                                            \
      "SELECT name, CAST(length(bytes) + more AS BIGINT), expires FROM thing WHERE name LIKE $1 "            \
      "ORDER BY name")                                                                                       \
    X(REMOVE, "DELETE FROM thing WHERE name = $1")                                                           \
    X(REMOVE_PIECES, "DELETE FROM piece WHERE name = $1 AND number IN (SELECT number FROM piece WHERE name " \
                     "= $1 ORDER BY number LIMIT $2) RETURNING number")                                      \
    X(REMOVE_LOST_PIECES,                                                                                    \
      "DELETE FROM piece WHERE name = $1 AND number IN (SELECT number FROM piece WHERE name = $1 ORDER BY "  \
      "number LIMIT $2) AND NOT EXISTS (SELECT 1 FROM thing WHERE thing.name = $1) RETURNING number")        \
    X(REMOVE_NOTES, "DELETE FROM thing WHERE name IN (SELECT name FROM thing WHERE name LIKE $1 AND (name "  \
                    "= $2 OR substr(name, 1, length($2) + 1) = $2 || ':') LIMIT $3) RETURNING name")         \
    X(ADD_USE, "INSERT INTO upload_use (name, participant) VALUES ($1, $2) ON CONFLICT DO NOTHING")          \
    X(REMOVE_UNUSED, "DELETE FROM thing WHERE name = $1 AND expires <> 0 AND NOT EXISTS (SELECT 1 FROM "     \
                     "upload_use WHERE upload_use.name = $1)")                                               \
    X(EXPIRED,                                                                                               \
      "SELECT name, CAST(length(bytes) AS BIGINT) FROM thing WHERE expires > 0 AND expires <= $1 LIMIT 1")   \
    X(LOST_PIECE,                                                                                            \
      "SELECT name FROM piece WHERE NOT EXISTS (SELECT 1 FROM thing WHERE thing.name = piece.name) LIMIT 1")
#define MEL_SQL_NAME(name, text) MEL_SQL_##name,
typedef enum {
    MEL_SQL_STATEMENT_MAP(MEL_SQL_NAME) MEL_SQL_STATEMENTS /* how many there are */
} mel_sql_statement;
#undef MEL_SQL_NAME
extern const char *const mel_sql_sources[MEL_SQL_STATEMENTS];

/* Most parameters and columns of a statement. */
enum { MEL_SQL_WIDTH = 9 };

/* What brings a schema from version i to i + 1, as statements separated by semicolons. */
enum { MEL_SCHEMA_VERSION = 3 };
extern const char *const mel_sqlite_schema[MEL_SCHEMA_VERSION];
extern const char *const mel_postgres_schema[MEL_SCHEMA_VERSION];

typedef enum { MEL_SQL_NULL, MEL_SQL_INTEGER, MEL_SQL_TEXT, MEL_SQL_BYTES } mel_sql_kind;
typedef struct {
    mel_sql_kind kind;
    int64_t integer;
    const void *data; /* of texts (with a NUL at the end) and bytes; borrowed */
    size_t n;         /* bytes, without the NUL */
} mel_sql_value;
mel_sql_value mel_sql_integer(int64_t value);
mel_sql_value mel_sql_text(const char *text); /* NULL gives NULL */
mel_sql_value mel_sql_bytes(const void *bytes, size_t n);
/* Parameters of a statement, and how many: two arguments. */
#define MEL_SQL_LIST(...)                                                                                    \
    (const mel_sql_value[]){ __VA_ARGS__ },                                                                  \
        sizeof((const mel_sql_value[]){ __VA_ARGS__ }) / sizeof(mel_sql_value)

/* Called per row of a result, with where to put what it found; a failure ends the statement with it. */
typedef mel_status (*mel_sql_each)(void *found, const mel_sql_value *row, mel_error *err);
/* The text of the first column in MEL_ID_TEXT bytes; the number there, an int64_t; how many rows, a size_t.
 */
mel_status mel_sql_read_id(void *found, const mel_sql_value *row, mel_error *err);
mel_status mel_sql_read_number(void *found, const mel_sql_value *row, mel_error *err);
mel_status mel_sql_count(void *found, const mel_sql_value *row, mel_error *err);
/* The text of a column in size bytes, "" for NULL; MEL_EDATA when it is longer. */
mel_status mel_sql_fixed(char *out, size_t size, const mel_sql_value *value, mel_error *err);
/* A copy for the caller to free; NULL for NULL. */
mel_status mel_sql_copied(char **out, const mel_sql_value *value, mel_error *err);

/* A connection inside a transaction. */
typedef struct mel_sql mel_sql;
struct mel_sql {
    mel_status (*run)(mel_sql *sql, mel_sql_statement statement, const mel_sql_value *parameters, size_t n,
                      mel_sql_each each, void *found, mel_error *err);
};
/* What is done in a transaction. It may be called again after a transaction that came to nothing, so it
 * begins by forgetting what it found before; it may run on another thread, while the caller waits. */
typedef mel_status (*mel_sql_work)(mel_sql *sql, void *context, mel_error *err);

struct mel_store {
    const char *path; /* of its file; NULL: it has none */
    bool read_only;   /* that file cannot be written */
    /* In one snapshot. */
    mel_status (*read)(mel_store *store, mel_sql_work work, void *context, mel_error *err);
    /* In one transaction that is on disk afterwards; erases: no trace of deleted rows may be left. */
    mel_status (*write)(mel_store *store, mel_sql_work work, void *context, bool erases, mel_error *err);
    mel_status (*measure)(mel_store *store, mel_disk *out, mel_error *err);
    void (*close)(mel_store *store);
};
mel_status mel_sqlite_store_open(mel_store **out, const char *path, mel_error *err);
mel_status mel_postgres_store_open(mel_store **out, const char *url, mel_error *err);

/* Rows of the one study, or of all, in the transaction of sql: each study first, then each participant, then
 * their events. NULL callbacks are left out. */
typedef struct {
    mel_status (*study)(void *user, const mel_study_row *row, mel_error *err);
    mel_visit participant;
    void *user;
} mel_walker;
mel_status mel_sql_walk(mel_sql *sql, const char *study, const mel_walker *walker, mel_error *err);
mel_status mel_sql_add_study(mel_sql *sql, const mel_study_row *row, mel_error *err);
mel_status mel_sql_add_participant(mel_sql *sql, const mel_participant_row *row, mel_error *err);
mel_status mel_sql_add_event(mel_sql *sql, const char *participant, const mel_event_row *row, mel_error *err);

typedef struct {
    const char *name;  /* "study" */
    size_t size;       /* bytes of a row */
    mel_sql_each read; /* into a zeroed row, which is cleared on failure too */
    void (*clear)(void *row);
} mel_row_kind;
typedef struct {
    const mel_row_kind *kind;
    void *rows;
    size_t n, capacity;
} mel_row_list;
void mel_rows_free(const mel_row_kind *kind, void *rows, size_t n);
void mel_row_list_clear(void *list);
mel_status mel_row_list_add(void *list, const mel_sql_value *row, mel_error *err);

/* One statement in a transaction of its own. forget (or NULL): all that was found, when the transaction has
 * to begin again, and on failure. */
typedef struct {
    mel_sql_statement statement;
    const mel_sql_value *parameters;
    size_t n;
    mel_sql_each each; /* or NULL */
    void *found;
    void (*forget)(void *found);
} mel_sql_request;
mel_status mel_store_read(mel_store *store, const mel_sql_request *request, mel_error *err);
mel_status mel_store_write(mel_store *store, const mel_sql_request *request, mel_error *err);
/* Rows of this kind, for mel_rows_free; `rows` is the address of a pointer to them. */
mel_status mel_store_list(void *rows, size_t *n, mel_store *store, const mel_row_kind *kind,
                          mel_sql_statement statement, const mel_sql_value *parameters, size_t n_parameters,
                          mel_error *err);
/* The one row, for its clear function; MEL_EINVAL when there is none (id: its name, or NULL). */
mel_status mel_store_one(void *out, mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                         const mel_sql_value *parameters, size_t n_parameters, const char *id,
                         mel_error *err);
/* A statement that gives a row for each that it changed; MEL_EINVAL when there is none: "there is no WHAT".
 */
mel_status mel_store_change(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, const char *kind, const char *id, mel_error *err);
/* A statement that gives a row for each of at most `most` that it deleted, in transactions of their own until
 * fewer are left: answers get their turn in between. */
mel_status mel_store_repeat(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, size_t most, mel_error *err);

/* Who has which of n connections, which all threads share. */
enum { MEL_MOST_CONNECTIONS = 16 };
typedef struct {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t returned;
    size_t free[MEL_MOST_CONNECTIONS], n_free;
    uint64_t asked;  /* how many threads have asked: a thread waits until its own count ... */
    uint64_t served; /* ... is below this one */
} mel_connections;
void mel_connections_init(mel_connections *connections, size_t n);
void mel_connections_clear(mel_connections *connections);
/* The number returned last, if there is one: few threads use few numbers. Else it waits. */
size_t mel_connections_take(mel_connections *connections);
void mel_connections_return(mel_connections *connections, size_t number);

#endif
