/* Blobs in the store: bytes by name, which may expire. */
#include "clock.h"
#include "store_sql.h"

#include <stdio.h>

typedef struct {
    char *bytes;
    size_t n, size; /* that are there; that must be */
    const mel_sql_value *name_and_time;
} blob;

static mel_status copy_bytes(void *context, const mel_sql_value *row, mel_error *err)
{
    blob *b = context;
    b->size = row->n + (size_t)row[1].integer;
    b->bytes = mel_alloc(b->size, 1);
    if (b->bytes == NULL)
        return mel_fail_memory(err, "stored bytes");
    if (row->n > 0)
        memcpy(b->bytes, row->data, row->n);
    b->n = row->n;
    return MEL_OK;
}

static mel_status add_piece(void *context, const mel_sql_value *row, mel_error *err)
{
    blob *b = context;
    if (row->n > b->size - b->n)
        return mel_fail(err, MEL_EDATA, "the store holds more pieces of a blob than it has bytes");
    memcpy(b->bytes + b->n, row->data, row->n);
    b->n += row->n;
    return MEL_OK;
}

static void forget_blob(void *context)
{
    blob *b = context;
    free(b->bytes);
    *b = (blob){ .name_and_time = b->name_and_time };
}

static mel_status get_blob(mel_sql *sql, void *context, mel_error *err)
{
    blob *b = context;
    forget_blob(b);
    TRY(sql->run(sql, MEL_SQL_GET, b->name_and_time, 2, copy_bytes, b, err));
    return b->size > b->n ? sql->run(sql, MEL_SQL_PIECES, b->name_and_time, 1, add_piece, b, err) : MEL_OK;
}

/* --- writing ------------------------------------------------------------------------------------ */

/* A larger blob is stored in pieces of this size, each in a transaction of its own: answers get their turn in
 * between, and no transaction holds much memory. */
enum { PIECE = 1 << 20, PIECES_AT_ONCE = 2 };

/* What a name that begins with prefix is like. */
static mel_status pattern_of(char pattern[64], const char *prefix, mel_error *err)
{
    if (strlen(prefix) + 2 > 64)
        return mel_fail(err, MEL_EINVAL, "the beginning of a name is at most %d bytes", 62);
    (void)snprintf(pattern, 64, "%s%%", prefix);
    return MEL_OK;
}

/* What a small blob counts of a room, as in MEL_SQL_ROOM_OF: few enough fit to count them each time. */
enum { LEAST_ROOM = 32 << 10 };

typedef struct {
    const mel_sql_value *put; /* name, bytes, expires, bytes in pieces */
    const mel_room *room;
    size_t n_rooms;
    bool full;
} put_within;

/* Others who want to know whether there is room wait for the row of this name, which has no bytes. */
static mel_status put_if_room(mel_sql *sql, void *context, mel_error *err)
{
    put_within *p = context;
    if (p->n_rooms > 0)
        TRY(sql->run(
            sql, MEL_SQL_PUT,
            MEL_SQL_LIST(mel_sql_text("turn"), mel_sql_bytes("", 0), mel_sql_integer(0), mel_sql_integer(0)),
            NULL, NULL, err));
    p->full = false;
    for (size_t i = 0; i < p->n_rooms && !p->full; i++) {
        char pattern[64];
        int64_t stored = 0;
        TRY(pattern_of(pattern, p->room[i].prefix, err));
        TRY(sql->run(sql, MEL_SQL_ROOM_OF, MEL_SQL_LIST(mel_sql_text(pattern)), mel_sql_read_number, &stored,
                     err));
        const int64_t mine = (int64_t)p->put[1].n + p->put[3].integer;
        p->full = stored + (mine > LEAST_ROOM ? mine : LEAST_ROOM) > p->room[i].most;
    }
    return p->full ? MEL_OK : sql->run(sql, MEL_SQL_PUT, p->put, 4, NULL, NULL, err);
}

static mel_status remove_pieces(mel_store *store, mel_sql_statement statement, const char *name,
                                mel_error *err)
{
    return mel_store_repeat(store, statement,
                            MEL_SQL_LIST(mel_sql_text(name), mel_sql_integer(PIECES_AT_ONCE)), PIECES_AT_ONCE,
                            err);
}

mel_status mel_store_remove_lost(mel_store *store, const char *name, mel_error *err)
{
    return remove_pieces(store, MEL_SQL_REMOVE_LOST_PIECES, name, err);
}

static mel_status put_pieces(mel_store *store, const char *name, const char *bytes, size_t n, mel_error *err)
{
    for (size_t i = 0; i * PIECE < n; i++) {
        const size_t size = n - i * PIECE < PIECE ? n - i * PIECE : PIECE;
        const mel_sql_request put = { MEL_SQL_PUT_PIECE,
                                      MEL_SQL_LIST(mel_sql_text(name), mel_sql_integer((int64_t)i),
                                                   mel_sql_bytes(bytes + i * PIECE, size)),
                                      NULL, NULL, NULL };
        TRY(mel_store_write(store, &put, err));
    }
    return MEL_OK;
}

/* A blob whose pieces are not all there does not exist for mel_store_get; if the process ends before they
 * are, it is gone when it expires. */
mel_status mel_store_put_within(bool *full, mel_store *store, const char *name, const void *bytes, size_t n,
                                int64_t expires, const mel_room *room, size_t n_rooms, mel_error *err)
{
    const bool small = n <= PIECE;
    const mel_sql_value put[] = { mel_sql_text(name), mel_sql_bytes(small ? bytes : "", small ? n : 0),
                                  mel_sql_integer(expires), mel_sql_integer(small ? 0 : (int64_t)n) };
    put_within p = { .put = put, .room = room, .n_rooms = n_rooms };
    *full = false;
    if (!small)
        TRY(remove_pieces(store, MEL_SQL_REMOVE_PIECES, name, err)); /* of a blob that is replaced */
    TRY(store->write(store, put_if_room, &p, false, err));
    *full = p.full;
    if (p.full || small)
        return MEL_OK;
    const mel_status status = put_pieces(store, name, bytes, n, err);
    if (status != MEL_OK)
        (void)mel_store_remove(store, name, NULL);
    return status;
}

mel_status mel_store_put(mel_store *store, const char *name, const void *bytes, size_t n, int64_t expires,
                         mel_error *err)
{
    bool full;
    return mel_store_put_within(&full, store, name, bytes, n, expires, NULL, 0, err);
}

typedef struct {
    const mel_name *name;
    size_t n;
} names;

static mel_status put_names(mel_sql *sql, void *context, mel_error *err)
{
    const names *all = context;
    for (size_t i = 0; i < all->n; i++)
        TRY(sql->run(sql, MEL_SQL_PUT,
                     MEL_SQL_LIST(mel_sql_text(all->name[i].text), mel_sql_bytes("1", 1), mel_sql_integer(0),
                                  mel_sql_integer(0)),
                     NULL, NULL, err));
    return MEL_OK;
}

mel_status mel_store_put_names(mel_store *store, const mel_name *name, size_t n, mel_error *err)
{
    names all = { name, n };
    return store->write(store, put_names, &all, false, err);
}

/* What is there stays, so that it can be read in a transaction of its own. */
mel_status mel_store_put_once(void **bytes, size_t *n_stored, mel_store *store, const char *name,
                              const void *mine, size_t n, mel_error *err)
{
    const mel_sql_request put = { MEL_SQL_PUT_ONCE,
                                  MEL_SQL_LIST(mel_sql_text(name), mel_sql_bytes(mine, n),
                                               mel_sql_integer(mel_clock_ms(CLOCK_REALTIME))),
                                  NULL, NULL, NULL };
    *bytes = NULL;
    TRY(mel_store_write(store, &put, err));
    return mel_store_get(bytes, n_stored, store, name, err);
}

mel_status mel_store_keep(mel_store *store, const char *name, int64_t expires, mel_error *err)
{
    return mel_store_change(store, MEL_SQL_KEEP, MEL_SQL_LIST(mel_sql_integer(expires), mel_sql_text(name)),
                            "blob", name, err);
}

mel_status mel_store_remove(mel_store *store, const char *name, mel_error *err)
{
    const mel_sql_request row = { MEL_SQL_REMOVE, MEL_SQL_LIST(mel_sql_text(name)), NULL, NULL, NULL };
    TRY(mel_store_write(store, &row, err));
    return remove_pieces(store, MEL_SQL_REMOVE_PIECES, name, err);
}

/* --- what expired ------------------------------------------------------------------------------- */

enum { MOST_EXPIRED = 64, MOST_EXPIRED_BYTES = 4 << 20 };

typedef struct {
    int64_t now;
    size_t removed;
} expiry;

typedef struct {
    char name[96];
    int64_t bytes;
} expired;

static mel_status read_name(void *found, const mel_sql_value *row, mel_error *err)
{
    expired *e = found;
    return mel_sql_fixed(e->name, sizeof e->name, &row[0], err);
}

static mel_status read_expired(void *found, const mel_sql_value *row, mel_error *err)
{
    ((expired *)found)->bytes = row[1].integer;
    return read_name(found, row, err);
}

/* Rows without their pieces, which are then found to be without a row. */
static mel_status expire_some(mel_sql *sql, void *context, mel_error *err)
{
    expiry *x = context;
    x->removed = 0;
    for (int64_t bytes = 0; x->removed < MOST_EXPIRED && bytes < MOST_EXPIRED_BYTES; x->removed++) {
        expired next = { "", 0 };
        TRY(sql->run(sql, MEL_SQL_EXPIRED, MEL_SQL_LIST(mel_sql_integer(x->now)), read_expired, &next, err));
        if (next.name[0] == '\0')
            return MEL_OK;
        TRY(sql->run(sql, MEL_SQL_REMOVE, MEL_SQL_LIST(mel_sql_text(next.name)), NULL, NULL, err));
        bytes += next.bytes;
    }
    return MEL_OK;
}

mel_status mel_store_expire(bool *more, mel_store *store, int64_t now, mel_error *err)
{
    expiry x = { .now = now };
    expired lost = { "", 0 };
    const mel_sql_request find = { .statement = MEL_SQL_LOST_PIECE, .each = read_name, .found = &lost };
    *more = false;
    TRY(store->write(store, expire_some, &x, false, err));
    TRY(mel_store_read(store, &find, err));
    const mel_sql_request some = { MEL_SQL_REMOVE_PIECES,
                                   MEL_SQL_LIST(mel_sql_text(lost.name), mel_sql_integer(PIECES_AT_ONCE)),
                                   NULL, NULL, NULL };
    if (lost.name[0] != '\0') /* the others with the next call, after a rest */
        TRY(mel_store_write(store, &some, err));
    *more = x.removed > 0 || lost.name[0] != '\0';
    return MEL_OK;
}

/* --- reading ------------------------------------------------------------------------------------ */

mel_status mel_store_get(void **bytes, size_t *n, mel_store *store, const char *name, mel_error *err)
{
    const mel_sql_value p[] = { mel_sql_text(name), mel_sql_integer(mel_clock_ms(CLOCK_REALTIME)) };
    blob found = { .name_and_time = p };
    mel_status status = store->read(store, get_blob, &found, err);
    if (status == MEL_OK && (found.bytes == NULL || found.n < found.size))
        status = mel_fail(err, MEL_EINVAL, "there is nothing named %s", name);
    if (status != MEL_OK)
        forget_blob(&found);
    *bytes = found.bytes;
    *n = found.n;
    return status;
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
    TRY(pattern_of(pattern, prefix, err));
    blob_visitor visitor = { visit, user };
    const mel_sql_request list = { MEL_SQL_LIST_BLOBS, MEL_SQL_LIST(mel_sql_text(pattern)), visit_blob,
                                   &visitor, NULL };
    return mel_store_read(store, &list, err);
}
