/* One connection to an SQLite file. */
#include "sqlite.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 60000,         /* milliseconds */
    CHECKPOINT_PATIENCE = 50, /* writers wait meanwhile */
    APPLICATION = 0x6d656c69, /* "meli", in the file's header */
    CHECKPOINT_PAGES = 1000,
    LONG_LOG_PAGES = 8192, /* 64 MiB of a new file: readers kept it from starting again */
    TRUNCATE_EVERY = 500   /* milliseconds: writers wait for it */
};

/* Called when another connection holds a lock; n: how many times before. */
static int wait_for_lock(void *context, int n)
{
    mel_sqlite *c = context;
    const int64_t now = mel_clock_ms(CLOCK_MONOTONIC);
    if (n == 0)
        c->waits_till = now + c->patience;
    if (now >= c->waits_till)
        return 0;
    const struct timespec pause = { 0, n < 20 ? 1000000 : 5000000 };
    (void)nanosleep(&pause, NULL);
    return 1;
}

static mel_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return MEL_ENOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return MEL_EDATA;
    case SQLITE_TOOBIG:
        return MEL_ELIMIT;
    case SQLITE_CONSTRAINT:
        return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ? MEL_ECONFLICT
                                                                                        : MEL_EINVAL;
    default:
        return code == SQLITE_IOERR_NOMEM ? MEL_ENOMEM : MEL_EIO;
    }
}

static mel_status fail(const mel_sqlite *c, int code, mel_error *err)
{
    if ((code & 0xff) == SQLITE_BUSY)
        return mel_fail(err, MEL_EIO, "%s: another program kept it locked for %d s", c->path,
                        PATIENCE / 1000);
    const bool known = c->db != NULL && (sqlite3_errcode(c->db) & 0xff) == (code & 0xff);
    const char *text = known ? sqlite3_errmsg(c->db) : sqlite3_errstr(code);
    return mel_fail(err, status_of(code), "%s: %s", c->path, text);
}

static int bind(sqlite3_stmt *statement, int position, const mel_sql_value *value)
{
    switch (value->kind) {
    case MEL_SQL_INTEGER:
        return sqlite3_bind_int64(statement, position, value->integer);
    case MEL_SQL_TEXT:
        return sqlite3_bind_text64(statement, position, value->data, value->n, SQLITE_STATIC, SQLITE_UTF8);
    case MEL_SQL_BYTES: /* a NULL pointer would bind NULL instead of no bytes */
        return sqlite3_bind_blob64(statement, position, value->n > 0 ? value->data : "", value->n,
                                   SQLITE_STATIC);
    case MEL_SQL_NULL:
    default:
        return sqlite3_bind_null(statement, position);
    }
}

/* False without memory (SQLite may have to convert). */
static bool read_column(mel_sql_value *out, sqlite3_stmt *statement, int column)
{
    *out = (mel_sql_value){ 0 };
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        *out = mel_sql_integer(sqlite3_column_int64(statement, column));
        return true;
    case SQLITE_TEXT:
        out->kind = MEL_SQL_TEXT;
        out->data = sqlite3_column_text(statement, column);
        out->n = (size_t)sqlite3_column_bytes(statement, column);
        return out->data != NULL;
    case SQLITE_BLOB:
        out->kind = MEL_SQL_BYTES;
        out->data = sqlite3_column_blob(statement, column);
        out->n = (size_t)sqlite3_column_bytes(statement, column);
        return out->data != NULL || out->n == 0;
    default:
        return true;
    }
}

static mel_status give_row(const mel_sqlite *c, sqlite3_stmt *statement, mel_sql_each each, void *context,
                           mel_error *err)
{
    mel_sql_value row[MEL_SQL_WIDTH];
    const int n = sqlite3_column_count(statement);
    for (int i = 0; i < n && i < MEL_SQL_WIDTH; i++)
        if (!read_column(&row[i], statement, i))
            return fail(c, SQLITE_NOMEM, err);
    return each != NULL ? each(context, row, err) : MEL_OK;
}

static mel_status prepare(sqlite3_stmt **out, mel_sqlite *c, mel_sql_statement which, mel_error *err)
{
    if (c->statements[which] == NULL) {
        const int code = sqlite3_prepare_v3(c->db, mel_sql_sources[which], -1, SQLITE_PREPARE_PERSISTENT,
                                            &c->statements[which], NULL);
        if (code != SQLITE_OK)
            return fail(c, code, err);
    }
    *out = c->statements[which];
    return MEL_OK;
}

static mel_status run(mel_sql *sql, mel_sql_statement which, const mel_sql_value *parameters, size_t n,
                      mel_sql_each each, void *context, mel_error *err)
{
    mel_sqlite *c = (mel_sqlite *)sql;
    sqlite3_stmt *statement = NULL;
    mel_status status = MEL_OK;
    int code = SQLITE_OK;
    TRY(prepare(&statement, c, which, err));
    for (size_t i = 0; i < n && code == SQLITE_OK; i++) {
        code = bind(statement, (int)i + 1, &parameters[i]);
        c->written += parameters[i].n;
    }
    if (code == SQLITE_OK)
        code = SQLITE_ROW;
    while (code == SQLITE_ROW && status == MEL_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW)
            status = give_row(c, statement, each, context, err);
    }
    if (status == MEL_OK && code != SQLITE_DONE)
        status = fail(c, code, err);
    (void)sqlite3_reset(statement); /* repeats the result of the last step */
    (void)sqlite3_clear_bindings(statement);
    return status;
}

/* After each commit: what sqlite3_wal_autocheckpoint does, and an end to a log that readers kept growing. */
static int after_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    mel_sqlite *c = context;
    if (pages >= LONG_LOG_PAGES && mel_clock_ms(CLOCK_MONOTONIC) >= c->truncates_at) {
        (void)mel_sqlite_truncate_log(c);
        c->truncates_at = mel_clock_ms(CLOCK_MONOTONIC) + TRUNCATE_EVERY;
    } else if (pages >= CHECKPOINT_PAGES)
        (void)sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK; /* the commit itself is done */
}

bool mel_sqlite_truncate_log(mel_sqlite *c)
{
    c->patience = CHECKPOINT_PATIENCE;
    const int code = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    c->patience = PATIENCE;
    return code == SQLITE_OK;
}

void mel_sqlite_close(mel_sqlite *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < MEL_SQL_STATEMENTS; i++)
        (void)sqlite3_finalize(c->statements[i]);
    (void)sqlite3_close(c->db);
    free(c->path);
    free(c);
}

mel_status mel_sqlite_cannot(const char *path, const char *what, int reason, mel_error *err)
{
    char text[128];
    if (strerror_r(reason, text, sizeof text) != 0)
        (void)sqlite3_snprintf(sizeof text, text, "error %d", reason);
    return mel_fail(err, MEL_EIO, "%s: cannot %s: %s", path, what, text);
}

mel_status mel_sqlite_check_name(const char *path, mel_error *err)
{
    if (strncmp(path, "file:", strlen("file:")) == 0)
        return mel_fail(err, MEL_EINVAL, "%s: a database's name cannot begin with file:", path);
    return MEL_OK;
}

/* The name as a URI, for sqlite3_free; NULL without memory. */
static char *frozen_name(const char *path)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "file:");
    for (; *path != '\0'; path++)
        if (strchr("%?#", *path) != NULL)
            sqlite3_str_appendf(text, "%%%02X", (unsigned)(unsigned char)*path);
        else
            sqlite3_str_appendchar(text, 1, *path);
    sqlite3_str_appendall(text, "?immutable=1");
    return sqlite3_str_finish(text);
}

static int open_frozen(mel_sqlite *c)
{
    char *name = frozen_name(c->path);
    if (name == NULL)
        return SQLITE_NOMEM;
    const int code =
        sqlite3_open_v2(name, &c->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    sqlite3_free(name);
    return code;
}

static mel_status open_database(mel_sqlite *c, bool frozen, mel_error *err)
{
    const int code =
        frozen ? open_frozen(c)
               : sqlite3_open_v2(c->path, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return fail(c, code, err);
    (void)sqlite3_extended_result_codes(c->db, 1);
    (void)sqlite3_busy_handler(c->db, wait_for_lock, c);
    (void)sqlite3_wal_hook(c->db, after_commit, c);
    /* No temporary files: a full disk elsewhere must not matter. The page size is that of a new file: several
     * answers of a few kilobytes fit into one. */
    return mel_sqlite_execute(
        c,
        "PRAGMA page_size=8192; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;"
        "PRAGMA case_sensitive_like=ON;"
        "PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA journal_size_limit=67108864",
        err);
}

static mel_status open_file(mel_sqlite **out, const char *path, bool frozen, mel_error *err)
{
    *out = NULL;
    mel_sqlite *c = mel_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return mel_fail_memory(err, "a connection to the store");
    c->sql.run = run;
    c->patience = PATIENCE;
    c->path = mel_strdup(path);
    const mel_status status =
        c->path != NULL ? open_database(c, frozen, err) : mel_fail_memory(err, "the store's name");
    if (status != MEL_OK) {
        mel_sqlite_close(c);
        return status;
    }
    *out = c;
    return MEL_OK;
}

mel_status mel_sqlite_open(mel_sqlite **out, const char *path, mel_error *err)
{
    return open_file(out, path, false, err);
}

mel_status mel_sqlite_open_frozen(mel_sqlite **out, const char *path, mel_error *err)
{
    return open_file(out, path, true, err);
}

/* Some conflicts between connections do not reach the busy handler; the statement is then tried again. */
static int execute(mel_sqlite *c, const char *text)
{
    const int64_t till = mel_clock_ms(CLOCK_MONOTONIC) + c->patience;
    int code = SQLITE_BUSY;
    for (int n = 0; (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_PROTOCOL; n++) {
        const struct timespec pause = { 0, 1000000 };
        if (n > 0)
            (void)nanosleep(&pause, NULL);
        code = sqlite3_exec(c->db, text, NULL, NULL, NULL);
        if (mel_clock_ms(CLOCK_MONOTONIC) >= till)
            break;
    }
    return code;
}

mel_status mel_sqlite_execute(mel_sqlite *c, const char *text, mel_error *err)
{
    const int code = execute(c, text);
    return code == SQLITE_OK ? MEL_OK : fail(c, code, err);
}

void mel_sqlite_rollback(mel_sqlite *c)
{
    if (sqlite3_get_autocommit(c->db) == 0)
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
}

mel_status mel_sqlite_begin(mel_sqlite *c, bool write, mel_error *err)
{
    if (write)
        return mel_sqlite_execute(c, "BEGIN IMMEDIATE", err);
    mel_status status = mel_sqlite_execute(c, "BEGIN", err);
    if (status == MEL_OK) /* the snapshot begins with the first row read */
        status = mel_sqlite_execute(c, "SELECT 1 FROM study LIMIT 1", err);
    if (status != MEL_OK)
        mel_sqlite_rollback(c);
    return status;
}

/* What a statement with one row and one column gives. */
typedef struct {
    int64_t number;
    char *text;
    size_t size;
} answer;

static mel_status read_answer(answer *out, mel_sqlite *c, const char *text, mel_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(c->db, text, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    mel_status status = MEL_OK;
    if (code == SQLITE_ROW && out->text != NULL) {
        const unsigned char *line = sqlite3_column_text(statement, 0);
        if (line == NULL)
            status = fail(c, SQLITE_NOMEM, err);
        for (size_t i = 0; line != NULL && i < out->size; i++) {
            out->text[i] = i + 1 < out->size ? (char)line[i] : '\0';
            if (line[i] == '\0')
                break;
        }
    } else if (code == SQLITE_ROW)
        out->number = sqlite3_column_int64(statement, 0);
    else if (code != SQLITE_DONE)
        status = fail(c, code, err);
    (void)sqlite3_finalize(statement);
    return status;
}

mel_status mel_sqlite_number(int64_t *out, mel_sqlite *c, const char *text, mel_error *err)
{
    answer a = { 0 };
    const mel_status status = read_answer(&a, c, text, err);
    *out = a.number;
    return status;
}

mel_status mel_sqlite_line(char *out, size_t size, mel_sqlite *c, const char *text, mel_error *err)
{
    answer a = { .text = out, .size = size };
    out[0] = '\0';
    return read_answer(&a, c, text, err);
}

static mel_status read_version(int64_t *version, mel_sqlite *c, mel_error *err)
{
    int64_t application = 0, tables = 0;
    TRY(mel_sqlite_number(version, c, "PRAGMA user_version", err));
    TRY(mel_sqlite_number(&application, c, "PRAGMA application_id", err));
    TRY(mel_sqlite_number(&tables, c, "SELECT count(*) FROM sqlite_schema", err));
    if (application != APPLICATION && (tables > 0 || *version != 0 || application != 0))
        return mel_fail(err, MEL_EDATA, "%s: a database of another program", c->path);
    if (*version < 0 || *version > MEL_SCHEMA_VERSION)
        return mel_fail(err, MEL_EDATA, "%s: made by a newer melicit (schema %lld, this one knows %d)",
                        c->path, (long long)*version, MEL_SCHEMA_VERSION);
    return MEL_OK;
}

mel_status mel_sqlite_recognise(mel_sqlite *c, bool up_to_date, mel_error *err)
{
    int64_t version;
    TRY(read_version(&version, c, err));
    return version == MEL_SCHEMA_VERSION || !up_to_date
               ? MEL_OK
               : mel_fail(err, MEL_EDATA,
                          "%s: made by an older melicit (schema %lld), and it cannot be written: open a copy "
                          "of it",
                          c->path, (long long)version);
}

static mel_status upgrade(mel_sqlite *c, mel_error *err)
{
    int64_t version;
    char text[96];
    TRY(read_version(&version, c, err));
    if (version == MEL_SCHEMA_VERSION)
        return MEL_OK;
    for (; version < MEL_SCHEMA_VERSION; version++)
        TRY(mel_sqlite_execute(c, mel_sqlite_schema[version], err));
    (void)sqlite3_snprintf(sizeof text, text, "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION,
                           MEL_SCHEMA_VERSION);
    return mel_sqlite_execute(c, text, err);
}

mel_status mel_sqlite_upgrade(mel_sqlite *c, mel_error *err)
{
    TRY(mel_sqlite_begin(c, true, err));
    mel_status status = upgrade(c, err);
    if (status == MEL_OK)
        status = mel_sqlite_execute(c, "COMMIT", err);
    mel_sqlite_rollback(c);
    return status;
}
