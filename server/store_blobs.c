/* Blobs in the store: bytes by name, which may expire. */
#include "clock.h"
#include "store_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *bytes;
    size_t n;
} blob;

static mel_status copy_bytes(void *context, const mel_sql_value *row, mel_error *err)
{
    blob *b = context;
    b->bytes = mel_alloc(row->n, 1);
    if (b->bytes == NULL)
        return mel_fail_memory(err, "stored bytes");
    if (row->n > 0)
        memcpy(b->bytes, row->data, row->n);
    b->n = row->n;
    return MEL_OK;
}

static void forget_blob(void *context)
{
    free(((blob *)context)->bytes);
    *(blob *)context = (blob){ 0 };
}

/* --- writing ------------------------------------------------------------------------------------ */

mel_status mel_store_put(mel_store *store, const char *name, const void *bytes, size_t n, int64_t expires,
                         mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(name), mel_sql_bytes(bytes, n), mel_sql_integer(expires) };
    return mel_store_write(store, &(mel_sql_request){ MEL_SQL_PUT, p, 3, NULL, NULL, NULL }, 1, err);
}

/* What a name that begins with prefix is like. */
static mel_status pattern_of(char pattern[64], const char *prefix, mel_error *err)
{
    if (strlen(prefix) + 2 > 64)
        return mel_fail(err, MEL_EINVAL, "the beginning of a name is at most %d bytes", 62);
    (void)snprintf(pattern, 64, "%s%%", prefix);
    return MEL_OK;
}

typedef struct {
    const mel_sql_value *put; /* name, bytes, expires */
    const mel_room *room;
    size_t n_rooms;
    bool full;
} put_within;

/* Others who want to know whether there is room wait for the row of this name, which has no bytes. */
static mel_status put_if_room(mel_sql *sql, void *context, mel_error *err)
{
    put_within *p = context;
    const mel_sql_value turn[] = { mel_sql_text("turn"), mel_sql_bytes("", 0), mel_sql_integer(0) };
    mel_status status = sql->run(sql, MEL_SQL_PUT, turn, 3, NULL, NULL, err);
    p->full = false;
    for (size_t i = 0; i < p->n_rooms && status == MEL_OK && !p->full; i++) {
        char pattern[64];
        int64_t stored = 0;
        status = pattern_of(pattern, p->room[i].prefix, err);
        const mel_sql_value like = mel_sql_text(pattern);
        if (status == MEL_OK)
            status = sql->run(sql, MEL_SQL_BYTES_OF, &like, 1, mel_sql_read_number, &stored, err);
        p->full = stored + (int64_t)p->put[1].n > p->room[i].most;
    }
    return status == MEL_OK && !p->full ? sql->run(sql, MEL_SQL_PUT, p->put, 3, NULL, NULL, err) : status;
}

mel_status mel_store_put_within(bool *full, mel_store *store, const char *name, const void *bytes, size_t n,
                                int64_t expires, const mel_room *room, size_t n_rooms, mel_error *err)
{
    const mel_sql_value put[] = { mel_sql_text(name), mel_sql_bytes(bytes, n), mel_sql_integer(expires) };
    put_within p = { .put = put, .room = room, .n_rooms = n_rooms };
    const mel_status status = store->write(store, put_if_room, &p, false, err);
    *full = status == MEL_OK && p.full;
    return status;
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
        const mel_sql_value p[] = { mel_sql_text(all->name[i].text), mel_sql_bytes("1", 1),
                                    mel_sql_integer(0) };
        status = sql->run(sql, MEL_SQL_PUT, p, 3, NULL, NULL, err);
    }
    return status;
}

mel_status mel_store_put_names(mel_store *store, const mel_name *name, size_t n, mel_error *err)
{
    names all = { name, n };
    return store->write(store, put_names, &all, false, err);
}

mel_status mel_store_put_once(void **bytes, size_t *n_stored, mel_store *store, const char *name,
                              const void *mine, size_t n, mel_error *err)
{
    const int64_t now = mel_clock_ms(CLOCK_REALTIME);
    const mel_sql_value put[] = { mel_sql_text(name), mel_sql_bytes(mine, n), mel_sql_integer(now) };
    const mel_sql_value get[] = { mel_sql_text(name), mel_sql_integer(now) };
    blob found = { 0 };
    const mel_sql_request requests[] = { { MEL_SQL_PUT_ONCE, put, 3, NULL, NULL, NULL },
                                         { MEL_SQL_GET, get, 2, copy_bytes, &found, forget_blob } };
    const mel_status status = mel_store_write(store, requests, 2, err);
    *bytes = found.bytes;
    *n_stored = found.n;
    return status;
}

mel_status mel_store_keep(mel_store *store, const char *name, int64_t expires, mel_error *err)
{
    size_t kept = 0;
    const mel_sql_value p[] = { mel_sql_integer(expires), mel_sql_text(name) };
    const mel_status status =
        mel_store_write(store, &(mel_sql_request){ MEL_SQL_KEEP, p, 2, mel_sql_count, &kept, NULL }, 1, err);
    return status == MEL_OK && kept == 0 ? mel_fail(err, MEL_EINVAL, "there is nothing named %s", name)
                                         : status;
}

mel_status mel_store_remove(mel_store *store, const char *name, mel_error *err)
{
    const mel_sql_value p = mel_sql_text(name);
    return mel_store_write(store, &(mel_sql_request){ MEL_SQL_REMOVE, &p, 1, NULL, NULL, NULL }, 1, err);
}

mel_status mel_store_expire(mel_store *store, int64_t now, mel_error *err)
{
    const mel_sql_value p = mel_sql_integer(now);
    return mel_store_write(store, &(mel_sql_request){ MEL_SQL_EXPIRE, &p, 1, NULL, NULL, NULL }, 1, err);
}

mel_status mel_store_check(mel_store *store, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text("check"), mel_sql_bytes("", 0), mel_sql_integer(0) };
    const mel_sql_request requests[] = { { MEL_SQL_PUT, p, 3, NULL, NULL, NULL },
                                         { MEL_SQL_REMOVE, p, 1, NULL, NULL, NULL } };
    return mel_store_write(store, requests, 2, err);
}

/* --- reading ------------------------------------------------------------------------------------ */

mel_status mel_store_get(void **bytes, size_t *n, mel_store *store, const char *name, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(name), mel_sql_integer(mel_clock_ms(CLOCK_REALTIME)) };
    blob found = { 0 };
    const mel_sql_request request = { MEL_SQL_GET, p, 2, copy_bytes, &found, forget_blob };
    const mel_status status = mel_store_read(store, &request, err);
    *bytes = found.bytes;
    *n = found.n;
    return status == MEL_OK && found.bytes == NULL
               ? mel_fail(err, MEL_EINVAL, "there is nothing named %s", name)
               : status;
}

mel_status mel_store_bytes(int64_t *out, mel_store *store, const char *prefix, mel_error *err)
{
    char pattern[64];
    *out = 0;
    const mel_status status = pattern_of(pattern, prefix, err);
    if (status != MEL_OK)
        return status;
    const mel_sql_value p = mel_sql_text(pattern);
    const mel_sql_request request = { MEL_SQL_BYTES_OF, &p, 1, mel_sql_read_number, out, NULL };
    return mel_store_read(store, &request, err);
}

typedef struct {
    mel_visit_blob visit;
    void *user;
} blob_visitor;

static mel_status visit_blob(void *context, const mel_sql_value *row, mel_error *err)
{
    const blob_visitor *v = context;
    return v->visit(v->user, row[0].data, row[1].integer, row[2].integer, err);
}

mel_status mel_store_blobs(mel_store *store, const char *prefix, mel_visit_blob visit, void *user,
                           mel_error *err)
{
    char pattern[64];
    const mel_status status = pattern_of(pattern, prefix, err);
    if (status != MEL_OK)
        return status;
    blob_visitor visitor = { visit, user };
    const mel_sql_value p = mel_sql_text(pattern);
    const mel_sql_request request = { MEL_SQL_LIST, &p, 1, visit_blob, &visitor, NULL };
    return mel_store_read(store, &request, err);
}
