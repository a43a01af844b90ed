/* Opening, closing and verifying a store, whichever it is. */
#include "store_sql.h"

#include <stdlib.h>
#include <string.h>

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

typedef struct {
    char participant[MEL_ID_TEXT];
    size_t n;
} gap;

static mel_status note_gap(void *context, const mel_sql_value *row, mel_error *err)
{
    gap *g = context;
    g->n++;
    return mel_sql_fixed(g->participant, sizeof g->participant, &row[0], err);
}

static mel_status find_gap(mel_sql *sql, void *context, mel_error *err)
{
    *(gap *)context = (gap){ 0 };
    return sql->run(sql, MEL_SQL_GAPS, NULL, 0, note_gap, context, err);
}

mel_status mel_store_verify(mel_store *store, mel_error *err)
{
    gap g = { 0 };
    mel_status status = store->verify(store, err);
    if (status == MEL_OK)
        status = store->read(store, find_gap, &g, err);
    if (status == MEL_OK && g.n > 0)
        return mel_fail(err, MEL_EDATA, "participant %s: the log has a gap", g.participant);
    return status;
}
