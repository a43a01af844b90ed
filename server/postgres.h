/* One connection to a PostgreSQL server, used by one thread at a time. */
#ifndef MEL_SERVER_POSTGRES_H
#define MEL_SERVER_POSTGRES_H

#include "postgres_library.h"
#include "store_sql.h"

typedef struct {
    mel_sql sql; /* first: a mel_sql * of a connection is a mel_postgres * */
    PGconn *link;
    /* What the last failure was besides its status: others were in the way, or the server is gone. A
     * transaction can be tried again after either, as long as no commit was sent to a server that went. */
    enum { MEL_POSTGRES_NO_TROUBLE, MEL_POSTGRES_CONFLICT, MEL_POSTGRES_AWAY } trouble;
} mel_postgres;

/* Makes sure that the connection works. */
mel_status mel_postgres_connect(mel_postgres *connection, const char *url, mel_error *err);
void mel_postgres_disconnect(mel_postgres *connection);
/* Statements without results. */
mel_status mel_postgres_execute(mel_postgres *connection, const char *text, mel_error *err);
/* how: isolation and access, as SQL says it. */
mel_status mel_postgres_begin(mel_postgres *connection, const char *how, mel_error *err);
mel_status mel_postgres_commit(mel_postgres *connection, mel_error *err);
/* The one number that a statement gives, 0 for no row. */
mel_status mel_postgres_number(int64_t *out, mel_postgres *connection, const char *text, mel_error *err);

#endif
