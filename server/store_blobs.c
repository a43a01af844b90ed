/* Small things by name. */
#include "store_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

typedef struct {
    const char *name;
    const void *mine;
    size_t n;
    int64_t time; /* when it expires, or now */
    void *bytes;  /* found */
    size_t n_stored;
} blob;

static mel_status copy_bytes(void *context, const mel_sql_value *row, mel_error *err)
{
    blob *t = context;
    t->bytes = mel_alloc(row->n, 1);
    if (t->bytes == NULL)
        return mel_fail_memory(err, "a stored thing");
    if (row->n > 0)
        memcpy(t->bytes, row->data, row->n);
    t->n_stored = row->n;
    return MEL_OK;
}

static void forget(blob *t)
{
    free(t->bytes);
    t->bytes = NULL;
    t->n_stored = 0;
}

static mel_status get_blob(mel_sql *sql, void *context, mel_error *err)
{
    blob *t = context;
    forget(t);
    const mel_sql_value p[] = { mel_sql_text(t->name), mel_sql_integer(t->time) };
    return sql->run(sql, MEL_SQL_GET, p, 2, copy_bytes, t, err);
}

static mel_status put_blob(mel_sql *sql, void *context, mel_error *err)
{
    const blob *t = context;
    const mel_sql_value p[] = { mel_sql_text(t->name), mel_sql_bytes(t->mine, t->n),
                                mel_sql_integer(t->time) };
    return sql->run(sql, MEL_SQL_PUT, p, 3, NULL, NULL, err);
}

static mel_status put_once(mel_sql *sql, void *context, mel_error *err)
{
    const blob *t = context;
    const mel_sql_value p[] = { mel_sql_text(t->name), mel_sql_bytes(t->mine, t->n),
                                mel_sql_integer(t->time) };
    const mel_status status = sql->run(sql, MEL_SQL_PUT_ONCE, p, 3, NULL, NULL, err);
    return status == MEL_OK ? get_blob(sql, context, err) : status;
}

static mel_status note_bytes(void *context, const mel_sql_value *row, mel_error *err)
{
    (void)err;
    ((blob *)context)->time = row->integer;
    return MEL_OK;
}

static mel_status sum_bytes(mel_sql *sql, void *context, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(((const blob *)context)->name);
    return sql->run(sql, MEL_SQL_BYTES_OF, &p, 1, note_bytes, context, err);
}

static mel_status remove_blob(mel_sql *sql, void *context, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(((const blob *)context)->name);
    return sql->run(sql, MEL_SQL_REMOVE, &p, 1, NULL, NULL, err);
}

static mel_status expire_blobs(mel_sql *sql, void *context, mel_error *err)
{
    const mel_sql_value p = mel_sql_integer(((const blob *)context)->time);
    return sql->run(sql, MEL_SQL_EXPIRE, &p, 1, NULL, NULL, err);
}

static mel_status put_and_remove(mel_sql *sql, void *context, mel_error *err)
{
    const mel_status status = put_blob(sql, context, err);
    return status == MEL_OK ? remove_blob(sql, context, err) : status;
}

mel_status mel_store_put(mel_store *store, const char *name, const void *bytes, size_t n, int64_t expires,
                         mel_error *err)
{
    blob t = { .name = name, .mine = bytes, .n = n, .time = expires };
    return store->write(store, put_blob, &t, false, err);
}

typedef struct {
    const mel_name *name;
    size_t n;
} names;

static mel_status put_names(mel_sql *sql, void *context, mel_error *err)
{
    const names *all = context;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < all->n && status == MEL_OK; i++) {
        blob t = { .name = all->name[i].text, .mine = "1", .n = 1 };
        status = put_blob(sql, &t, err);
    }
    return status;
}

mel_status mel_store_put_names(mel_store *store, const mel_name *name, size_t n, mel_error *err)
{
    names all = { name, n };
    return store->write(store, put_names, &all, false, err);
}

/* Hands the found bytes to the caller. */
static mel_status found(void **bytes, size_t *n, blob *t, mel_status status, mel_error *err)
{
    *bytes = NULL;
    *n = 0;
    if (status == MEL_OK && t->bytes == NULL)
        return mel_fail(err, MEL_EINVAL, "there is nothing named %s", t->name);
    if (status != MEL_OK) {
        forget(t);
        return status;
    }
    *bytes = t->bytes;
    *n = t->n_stored;
    return MEL_OK;
}

mel_status mel_store_get(void **bytes, size_t *n, mel_store *store, const char *name, mel_error *err)
{
    blob t = { .name = name, .time = now_ms() };
    return found(bytes, n, &t, store->read(store, get_blob, &t, err), err);
}

mel_status mel_store_put_once(void **bytes, size_t *n_stored, mel_store *store, const char *name,
                              const void *mine, size_t n, mel_error *err)
{
    blob t = { .name = name, .mine = mine, .n = n, .time = now_ms() };
    return found(bytes, n_stored, &t, store->write(store, put_once, &t, false, err), err);
}

mel_status mel_store_bytes(int64_t *out, mel_store *store, const char *prefix, mel_error *err)
{
    char pattern[64];
    *out = 0;
    if (strlen(prefix) + 2 > sizeof pattern)
        return mel_fail(err, MEL_EINVAL, "the beginning of a name is at most %zu bytes", sizeof pattern - 2);
    (void)snprintf(pattern, sizeof pattern, "%s%%", prefix);
    blob t = { .name = pattern };
    const mel_status status = store->read(store, sum_bytes, &t, err);
    if (status == MEL_OK)
        *out = t.time;
    return status;
}

mel_status mel_store_remove(mel_store *store, const char *name, mel_error *err)
{
    blob t = { .name = name };
    return store->write(store, remove_blob, &t, false, err);
}

mel_status mel_store_expire(mel_store *store, int64_t now, mel_error *err)
{
    blob t = { .time = now };
    return store->write(store, expire_blobs, &t, false, err);
}

mel_status mel_store_check(mel_store *store, mel_error *err)
{
    blob t = { .name = "check", .mine = "", .n = 0, .time = 0 };
    return store->write(store, put_and_remove, &t, false, err);
}
