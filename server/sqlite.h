/* One connection to an SQLite file, used by one thread at a time. */
#ifndef MEL_SERVER_SQLITE_H
#define MEL_SERVER_SQLITE_H

#include "store_sql.h"

#include <sqlite3.h>

typedef struct {
    mel_sql sql; /* first: a mel_sql * of a connection is a mel_sqlite * */
    sqlite3 *db;
    sqlite3_stmt *statements[MEL_SQL_STATEMENTS]; /* prepared at their first use */
    char *path;
    int64_t patience;     /* milliseconds to wait for other connections */
    int64_t waits_till;   /* on the monotonic clock, while it waits */
    int64_t truncates_at; /* when a long log may next be emptied, on the same clock */
    size_t written;       /* bytes of texts and blobs that statements had, for who counts them */
} mel_sqlite;

/* MEL_EIO: "PATH: cannot be created: no space left", with the text of an errno. */
mel_status mel_sqlite_cannot(const char *path, const char *what, int reason, mel_error *err);
/* Debian's SQLite would take options from names that begin with file: */
mel_status mel_sqlite_check_name(const char *path, mel_error *err);
/* Opens an existing file; where it cannot be written, for reading. */
mel_status mel_sqlite_open(mel_sqlite **out, const char *path, mel_error *err);
/* Opens a file in a folder where nothing can be written, as it is: nobody may change it meanwhile. */
mel_status mel_sqlite_open_frozen(mel_sqlite **out, const char *path, mel_error *err);
void mel_sqlite_close(mel_sqlite *connection);
/* Statements without results. */
mel_status mel_sqlite_execute(mel_sqlite *connection, const char *text, mel_error *err);
/* A transaction that other connections cannot interrupt any more: a write transaction, or a snapshot. */
mel_status mel_sqlite_begin(mel_sqlite *connection, bool write, mel_error *err);
/* Ends a transaction if there is one. */
void mel_sqlite_rollback(mel_sqlite *connection);
/* The one number, or text of at most size - 1 bytes, that a pragma gives. */
mel_status mel_sqlite_number(int64_t *out, mel_sqlite *connection, const char *text, mel_error *err);
mel_status mel_sqlite_line(char *out, size_t size, mel_sqlite *connection, const char *text, mel_error *err);
/* Copies the log into the file and empties it; false when readers are in the way or it fails. */
bool mel_sqlite_truncate_log(mel_sqlite *connection);

/* Refuses another program's file and a newer schema or, where it must be up to date, an older one. */
mel_status mel_sqlite_recognise(mel_sqlite *connection, bool up_to_date, mel_error *err);
/* Makes the tables, or brings them up to date. */
mel_status mel_sqlite_upgrade(mel_sqlite *connection, mel_error *err);

#endif
