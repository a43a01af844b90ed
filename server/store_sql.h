/* What the two stores have in common: the schema, the statements, and how work on rows reaches a database.
 * A driver (sqlite_store.c, postgres_store.c) knows connections and transactions; what is done inside a
 * transaction (store_rows.c, store_events.c, store_blobs.c) is written once. */
#ifndef MEL_SERVER_STORE_SQL_H
#define MEL_SERVER_STORE_SQL_H

#include "store.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/internal.h"

typedef enum {
    MEL_SQL_ADD_STUDY,
    MEL_SQL_STUDY,
    MEL_SQL_STUDIES,
    MEL_SQL_SET_STUDY_STATE,
    MEL_SQL_MARK_STUDY_DELETED,
    MEL_SQL_DELETED_STUDY,
    MEL_SQL_DELETE_STUDY,
    MEL_SQL_COUNT_STATES,
    MEL_SQL_HAS_STUDY,
    MEL_SQL_LOCK_STUDY,
    MEL_SQL_COUNT_QUOTA,
    MEL_SQL_ADD_PARTICIPANT,
    MEL_SQL_PARTICIPANT,
    MEL_SQL_PARTICIPANT_BY_TOKEN,
    MEL_SQL_PARTICIPANT_BY_LABEL,
    MEL_SQL_NEXT_PARTICIPANTS,
    MEL_SQL_UNSEEN_PARTICIPANTS,
    MEL_SQL_NEWEST,
    MEL_SQL_SET_TOKEN,
    MEL_SQL_REVOKE,
    MEL_SQL_LAST_EVENTS,
    MEL_SQL_DELETE_LAST_EVENTS,
    MEL_SQL_DELETE_PARTICIPANT,
    MEL_SQL_LOCK_PARTICIPANT,
    MEL_SQL_TOUCH_PARTICIPANT,
    MEL_SQL_EVENT_BY_KEY,
    MEL_SQL_LAST_SEQ,
    MEL_SQL_ADD_EVENT,
    MEL_SQL_EVENTS,
    MEL_SQL_PUT,
    MEL_SQL_PUT_ONCE,
    MEL_SQL_PUT_PIECE,
    MEL_SQL_GET,
    MEL_SQL_PIECES,
    MEL_SQL_BYTES_OF,
    MEL_SQL_ROOM_OF,
    MEL_SQL_KEEP,
    MEL_SQL_LIST,
    MEL_SQL_REMOVE,
    MEL_SQL_REMOVE_PIECES,
    MEL_SQL_REMOVE_LOST_PIECES,
    MEL_SQL_REMOVE_NOTES,
    MEL_SQL_ADD_USE,
    MEL_SQL_REMOVE_UNUSED,
    MEL_SQL_EXPIRED,
    MEL_SQL_LOST_PIECE,
    MEL_SQL_STATEMENTS /* how many there are */
} mel_sql_statement;

/* Most parameters and columns of a statement. */
enum { MEL_SQL_WIDTH = 9 };

/* Parameters $1, $2, ... first appear in this order, as both databases then agree. */
extern const char *const mel_sql_sources[MEL_SQL_STATEMENTS];

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
/* The text of a column in size bytes, "" for NULL; MEL_EDATA when it is longer. */
mel_status mel_sql_fixed(char *out, size_t size, const mel_sql_value *value, mel_error *err);
/* A copy for the caller to free; NULL for NULL. */
mel_status mel_sql_copied(char **out, const mel_sql_value *value, mel_error *err);

/* Called per row of a result; a failure ends the statement with it. */
typedef mel_status (*mel_sql_each)(void *context, const mel_sql_value *row, mel_error *err);
/* A connection inside a transaction. */
typedef struct mel_sql mel_sql;
struct mel_sql {
    mel_status (*run)(mel_sql *sql, mel_sql_statement statement, const mel_sql_value *parameters, size_t n,
                      mel_sql_each each, void *context, mel_error *err);
};
/* Counts the rows of a result: context is a size_t. */
mel_status mel_sql_count(void *context, const mel_sql_value *row, mel_error *err);
/* Keeps the first column: context is an int64_t. */
mel_status mel_sql_read_number(void *context, const mel_sql_value *row, mel_error *err);

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
mel_status mel_check_participant_state(const char *state, mel_error *err);

typedef struct {
    const char *name; /* "study" */
    size_t size;      /* bytes of a row */
    /* Into a zeroed row, which is cleared on failure too. */
    mel_status (*read)(void *row, const mel_sql_value *columns, mel_error *err);
    void (*clear)(void *row);
} mel_row_kind;
extern const mel_row_kind mel_study_kind, mel_participant_kind, mel_event_kind;
void mel_rows_free(const mel_row_kind *kind, void *rows, size_t n);

typedef struct {
    const mel_row_kind *kind;
    void *rows;
    size_t n, capacity;
} mel_row_list;
/* A mel_sql_each whose context is a list. */
mel_status mel_row_list_add(void *list, const mel_sql_value *row, mel_error *err);
void mel_row_list_clear(void *list);

/* One statement with its parameters, and what its rows add to. */
typedef struct {
    mel_sql_statement statement;
    const mel_sql_value *parameters;
    size_t n;
    mel_sql_each each;           /* or NULL */
    void *found;                 /* its context */
    void (*forget)(void *found); /* all that was found: a transaction may have to begin again; or NULL */
} mel_sql_request;
/* In one transaction; on failure everything found is forgotten. */
mel_status mel_store_read(mel_store *store, const mel_sql_request *request, mel_error *err);
mel_status mel_store_write(mel_store *store, const mel_sql_request *request, size_t n, mel_error *err);
/* A statement that gives a row for each of at most `most` that it deleted, in transactions of their own until
 * fewer are left: answers get their turn in between. */
mel_status mel_store_repeat(mel_store *store, mel_sql_statement statement, const mel_sql_value *parameters,
                            size_t n_parameters, size_t most, mel_error *err);
/* Rows of this kind, for mel_rows_free. */
mel_status mel_store_list(void **rows, size_t *n, mel_store *store, const mel_row_kind *kind,
                          mel_sql_statement statement, const mel_sql_value *parameters, size_t n_parameters,
                          mel_error *err);
/* The one row, for its clear function; MEL_EINVAL when there is none (id: its name, or NULL). */
mel_status mel_store_one(void *out, mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                         const mel_sql_value *parameters, size_t n_parameters, const char *id,
                         mel_error *err);
/* A statement that gives a row for each that it changed; MEL_EINVAL when there is none. */
mel_status mel_store_change(mel_store *store, const mel_row_kind *kind, mel_sql_statement statement,
                            const mel_sql_value *parameters, size_t n_parameters, const char *id,
                            mel_error *err);

enum { MEL_MOST_CONNECTIONS = 16 };

typedef struct {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t returned;
    size_t free[MEL_MOST_CONNECTIONS], n_free;
    uint64_t asked;  /* how many threads have asked: a thread waits until its own count ... */
    uint64_t served; /* ... is below this one */
} mel_connections;

/* n <= MEL_MOST_CONNECTIONS */
void mel_connections_init(mel_connections *connections, size_t n);
/* Nobody may have or need a number any more. */
void mel_connections_clear(mel_connections *connections);
/* The number returned last, if there is one: few threads use few numbers. Else it waits. */
size_t mel_connections_take(mel_connections *connections);
void mel_connections_return(mel_connections *connections, size_t number);

#endif
