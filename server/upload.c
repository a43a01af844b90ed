/* Uploaded tables: kept for a day, for a month once a session uses them, for ever once a study does. */
#include "app.h"

#include "json_helpers.h"

#include "base/buffer.h"
#include "base/internal.h"
#include "melicit/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UPLOAD_HOURS = 24,
    MOST_VALUES = 20,
    MOST_ROWS = 200000,
    MOST_COLUMNS = 500,
    MOST_CELLS = 4000000,
    HEAD_ROWS = 5,
    MOST_CHOSEN = 100 /* columns of an upload under other names */,
    MOST_CHOSEN_BYTES = 32 << 20
};

/* The different values of a column, in the order in which they come, and in how many rows each is; n is
 * MOST_VALUES + 1 when there are more. */
typedef struct {
    size_t n, missing;
    double number[MOST_VALUES]; /* of a text: its code */
    json_int_t rows[MOST_VALUES];
} values;

static void count_value(values *out, double number)
{
    size_t at = 0;
    while (at < out->n && at < MOST_VALUES && out->number[at] != number)
        at++;
    if (at == MOST_VALUES) {
        out->n = MOST_VALUES + 1;
        return;
    }
    if (at == out->n) {
        out->number[out->n] = number;
        out->rows[out->n++] = 0;
    }
    out->rows[at]++;
}

/* A number, the code of a text; NaN: missing, or a column of a sparse table, whose numbers are elsewhere. */
static double value_at(const mel_table *table, size_t column, size_t row)
{
    const double *number = mel_table_numbers(table, column);
    const uint32_t *code = mel_table_codes(table, column);
    if (number != NULL)
        return number[row];
    return code != NULL && code[row] != MEL_MISSING ? (double)code[row] : NAN;
}

static void count_values(values *out, const mel_table *table, size_t column)
{
    *out = (values){ .n = 0 };
    for (size_t i = 0; i < mel_table_rows(table); i++) {
        const double value = value_at(table, column, i);
        if (isnan(value))
            out->missing++;
        else if (out->n <= MOST_VALUES)
            count_value(out, value);
    }
}

/* NULL without memory. */
static json_t *cell_json(const mel_table *table, size_t column, double value)
{
    if (isnan(value))
        return json_null();
    return mel_table_codes(table, column) != NULL
               ? json_string(mel_table_category(table, column, (uint32_t)value))
               : json_real(value);
}

/* What a column looks like, for the page that asks which one is the label. */
static json_t *describe_column(const mel_table *table, size_t column)
{
    values found;
    count_values(&found, table, column);
    json_t *list = json_array(), *counts = json_array();
    for (size_t i = 0; i < found.n && found.n <= MOST_VALUES; i++) {
        mel_json_push(&list, cell_json(table, column, found.number[i]));
        mel_json_push(&counts, json_integer(found.rows[i]));
    }
    const bool text = mel_table_column_type(table, column) == MEL_COLUMN_TEXT;
    return json_pack("{s:s, s:s, s:o, s:o, s:I}", "name", mel_table_column_name(table, column), "kind",
                     text ? "text" : "number", "values", list, "counts", counts, "missing",
                     (json_int_t)found.missing);
}

static json_t *describe(const mel_table *table)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < mel_table_columns(table) && columns != NULL; i++)
        mel_json_push(&columns, mel_budget_check(NULL) == MEL_OK ? describe_column(table, i) : NULL);
    return columns;
}

/* The first rows, cell by cell. */
static json_t *first_rows(const mel_table *table)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < mel_table_rows(table) && i < HEAD_ROWS; i++) {
        json_t *row = json_array();
        for (size_t c = 0; c < mel_table_columns(table); c++)
            mel_json_push(&row, cell_json(table, c, value_at(table, c, i)));
        mel_json_push(&rows, row);
    }
    return rows;
}

static json_t *list_warnings(const mel_table *table)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mel_table_warnings(table); i++)
        mel_json_push(&list, json_string(mel_table_warning(table, i)));
    return list;
}

static mel_status read_table(mel_table **out, const char *bytes, size_t n, const mel_columns_as *as,
                             mel_error *err)
{
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.overrides = as != NULL ? as->column : NULL;
    opt.n_overrides = as != NULL ? as->n : 0;
    opt.format = MEL_FORMAT_CSV;
    opt.max_rows = MOST_ROWS;
    opt.max_columns = MOST_COLUMNS;
    opt.max_cells = MOST_CELLS;
    opt.max_bytes = n + 1; /* a packed table would be larger */
    opt.threads = 1;
    opt.progress = mel_budget_progress();
    return mel_budget_explain(mel_table_read_memory(out, bytes, n, "the file", &opt, err), err);
}

/* --- room --------------------------------------------------------------------------------------- */

/* The ids of strangers' uploads begin with this, and go on with a short hash of the client: the store then
 * says what all of them take, and what one client does. It is too short to tell who somebody was. */
#define STRANGER "s-"
enum { HASH_TEXT = 4 };

static void name_upload(char id[MEL_ID_TEXT], const mel_call *call, bool researcher)
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
    char rest[MEL_ID_TEXT], client[sizeof MEL_UPLOAD + MEL_CLIENT_TEXT] = MEL_UPLOAD, tag[HASH_TEXT + 1] = "";
    unsigned char hash[MEL_HASH_BYTES];
    mel_new_id(rest);
    mel_client_name(client + sizeof MEL_UPLOAD - 1, call->request->client);
    mel_token_hash(hash, client, call->app);
    for (size_t i = 0; i < HASH_TEXT; i++)
        tag[i] = letters[hash[i] % (sizeof letters - 1)];
    (void)snprintf(id, MEL_ID_TEXT, "%s%s%.16s", researcher ? "" : STRANGER, researcher ? "" : tag, rest);
}

/* Uploads have a limit, so that nobody can fill the disk: strangers have half of the room, one of them an
 * eighth. */
enum { ROOMS = 3 };
typedef struct {
    size_t n;
    char prefix[ROOMS][MEL_ID_TEXT + sizeof MEL_UPLOAD];
    mel_room room[ROOMS];
} rooms;

static void find_rooms(rooms *out, const mel_call *call, const char *id)
{
    static const struct {
        int letters; /* of the id, after which all that begin alike share the room */
        int64_t part;
    } shares[ROOMS] = { { 0, 1 }, { sizeof STRANGER - 1, 2 }, { sizeof STRANGER - 1 + HASH_TEXT, 8 } };
    out->n = strncmp(id, STRANGER, sizeof STRANGER - 1) == 0 ? ROOMS : 1;
    for (size_t i = 0; i < out->n; i++) {
        (void)snprintf(out->prefix[i], sizeof out->prefix[i], "%s%.*s", MEL_UPLOAD, shares[i].letters, id);
        out->room[i] = (mel_room){ out->prefix[i], call->app->upload_room / shares[i].part };
    }
}

/* A cookie that this process does not know is looked at by its name only: another server on the same store
 * may have given it, and the store may have to be waited for. */
mel_sender mel_upload_sender(const mel_request *request, void *user)
{
    mel_app *app = user;
    if (mel_request_is_known(request, app))
        return MEL_SENDER_KNOWN;
    return app->closed && mel_request_cookie(request, "melicit_admin") == NULL ? MEL_SENDER_REFUSED
                                                                               : MEL_SENDER_STRANGER;
}

/* The table with what may be ids as the file has them; *out stays NULL where it has them already. */
static mel_status read_texts(mel_table **out, mel_call *call, const mel_table *table, const char *bytes,
                             size_t n)
{
    MEL_AUTO_CLEAR(mel_columns_as) as = { 0 };
    TRY(mel_ids_as_texts(&as, table, NULL, &call->err));
    if (as.n == 0)
        return MEL_OK;
    TRY(mel_work_grow(call->app->admission, true, mel_table_work_bytes(n), &call->err));
    return read_table(out, bytes, n, &as, &call->err);
}

/* What the page is told of a table; NULL with the call's err. */
static json_t *describe_upload(mel_call *call, const char *id, const mel_table *table, const char *bytes,
                               size_t n)
{
    MEL_AUTO(mel_table) *again = NULL;
    if (read_texts(&again, call, table, bytes, n) != MEL_OK)
        return NULL;
    const mel_table *texts = again != NULL ? again : table;
    json_t *found = json_pack("{s:s, s:I, s:o, s:o, s:s?, s:s, s:o}", "upload", id, "rows",
                              (json_int_t)mel_table_rows(table), "columns", describe(table), "head",
                              first_rows(texts), "ids", mel_ids_name(table, texts), "how",
                              mel_table_how(table), "warnings", list_warnings(table));
    if (found == NULL && mel_budget_check(&call->err) == MEL_OK)
        (void)mel_fail_memory(&call->err, "a table");
    return found;
}

/* Keeps the bytes of a table under a new id and says what is in it. */
static mel_status keep_table(json_t **out, mel_call *call, const mel_table *table, const char *bytes,
                             size_t n)
{
    char id[MEL_ID_TEXT], name[MEL_ID_TEXT + sizeof MEL_UPLOAD];
    rooms all;
    bool full = false;
    name_upload(id, call, mel_call_find_login(call) == MEL_OK);
    (void)snprintf(name, sizeof name, "%s%s", MEL_UPLOAD, id);
    find_rooms(&all, call, id);
    *out = describe_upload(call, id, table, bytes, n);
    if (*out == NULL)
        return call->err.code;
    TRY(mel_store_put_within(&full, call->app->store, name, bytes, n,
                             mel_now() + (int64_t)UPLOAD_HOURS * 3600000, all.room, all.n, &call->err));
    if (full)
        return mel_call_refuse(call, 503, "storage",
                               "the server holds as many tables as it may; try again tomorrow");
    memcpy(call->upload, id, sizeof id);
    return MEL_OK;
}

mel_status mel_api_upload(json_t **out, mel_call *call)
{
    const size_t n = call->request->n;
    MEL_HELD(held);
    MEL_AUTO(mel_table) *table = NULL;
    TRY(mel_call_is_open(call));
    TRY(mel_call_is_own(call, NULL));
    TRY(mel_work_begin(&held, call->app->admission,
                       &(mel_work){ .own = true, .shared = true, .bytes = mel_table_work_bytes(n) },
                       &call->err));
    TRY(read_table(&table, call->request->body, n, NULL, &call->err));
    return keep_table(out, call, table, call->request->body, n);
}

/* --- columns of an upload, under other names ----------------------------------------------------- */

static void write_quoted(mel_buffer *out, const char *text)
{
    mel_buffer_puts(out, "\"");
    for (; *text != '\0'; text++)
        mel_buffer_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    mel_buffer_puts(out, "\"");
}

/* The place of the column that an entry {"name", "from"} is about; SIZE_MAX with the call's err. */
static size_t find_numbers(mel_call *call, const mel_table *table, const json_t *entry)
{
    const char *from = mel_json_string(entry, "from");
    const size_t at = from != NULL ? mel_upload_column(table, from) : SIZE_MAX;
    if (from == NULL || mel_json_string(entry, "name") == NULL)
        (void)mel_fail(&call->err, MEL_EINVAL, "columns: expected texts \"name\" and \"from\"");
    else if (at == SIZE_MAX)
        (void)mel_fail(&call->err, MEL_EINVAL, "columns: there is no column \"%.80s\"", from);
    else if (mel_table_numbers(table, at) == NULL)
        (void)mel_fail(&call->err, MEL_EINVAL, "columns: \"%.80s\" does not hold numbers", from);
    else
        return at;
    return SIZE_MAX;
}

/* The columns of numbers that the list names, as CSV. */
static mel_status write_columns(mel_buffer *out, mel_call *call, const mel_table *table, const json_t *list)
{
    size_t place[MOST_CHOSEN] = { 0 };
    const size_t n = json_array_size(list);
    if (n == 0 || n > MOST_CHOSEN)
        return mel_fail(&call->err, MEL_EINVAL, "columns: expected a list of 1 to %d columns", MOST_CHOSEN);
    for (size_t c = 0; c < n; c++) {
        place[c] = find_numbers(call, table, json_array_get(list, c));
        if (place[c] == SIZE_MAX)
            return call->err.code;
        for (size_t before = 0; before < c; before++)
            if (place[before] == place[c]) /* a small table would become a large one */
                return mel_fail(&call->err, MEL_EINVAL, "columns: \"%.80s\" is chosen twice",
                                mel_table_column_name(table, place[c]));
        write_quoted(out, mel_json_string(json_array_get(list, c), "name"));
        mel_buffer_puts(out, c + 1 < n ? "," : "\n");
    }
    mel_status status = MEL_OK;
    for (size_t i = 0; i < mel_table_rows(table) && status == MEL_OK && out->status == MEL_OK; i++) {
        status = mel_budget_check_row(i, &call->err);
        for (size_t c = 0; c < n; c++) {
            const double value = mel_table_numbers(table, place[c])[i];
            if (!isnan(value))
                mel_buffer_printf(out, "%.17g", value);
            mel_buffer_puts(out, c + 1 < n ? "," : "\n");
        }
    }
    if (out->status == MEL_ELIMIT)
        return mel_fail(&call->err, MEL_ELIMIT, "columns: together they are more than the 32 MB of a table");
    return out->status == MEL_OK ? status : mel_fail_memory(&call->err, "columns of a table");
}

static mel_status keep_columns(json_t **out, mel_call *call, const mel_table *table, const json_t *list)
{
    MEL_AUTO(mel_table) *chosen = NULL;
    __attribute__((cleanup(mel_buffer_free))) mel_buffer text;
    mel_buffer_init(&text, MOST_CHOSEN_BYTES);
    TRY(write_columns(&text, call, table, list));
    TRY(read_table(&chosen, text.data, text.size, NULL, &call->err));
    return keep_table(out, call, chosen, text.data, text.size);
}

/* What is made of the table may take as much memory again. */
mel_status mel_upload_read(mel_table **out, mel_call *call, const char *id, const mel_columns_as *as)
{
    char name[MEL_ID_TEXT + sizeof MEL_UPLOAD];
    MEL_AUTO_MEMORY void *bytes = NULL;
    size_t n = 0;
    (void)snprintf(name, sizeof name, "%s%s", MEL_UPLOAD, id != NULL ? id : "");
    TRY(mel_store_get(&bytes, &n, call->app->store, name, &call->err));
    TRY(mel_work_grow(call->app->admission, true, 2 * mel_table_work_bytes(n), &call->err));
    return read_table(out, bytes, n, as, &call->err);
}

mel_status mel_upload_open(mel_table **out, mel_admission **held, mel_call *call, const char *id)
{
    TRY(mel_work_begin(held, call->app->admission, &(mel_work){ .own = true, .shared = true }, &call->err));
    return mel_upload_read(out, call, id, NULL);
}

mel_status mel_api_columns(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    MEL_HELD(held);
    MEL_AUTO(mel_table) *table = NULL;
    TRY(mel_call_is_open(call));
    TRY(mel_call_own_body(&body, call, NULL));
    TRY(mel_upload_open(&table, &held, call, mel_json_string(body, "upload")));
    return keep_columns(out, call, table, json_object_get(body, "columns"));
}

/* --- spaces that strangers may name ------------------------------------------------------------- */

bool mel_is_upload(const char *text)
{
    return text != NULL && strncmp(text, MEL_UPLOAD, sizeof MEL_UPLOAD - 1) == 0 &&
           strlen(text) < MEL_ID_TEXT + sizeof MEL_UPLOAD - 1;
}

bool mel_space_is_allowed(const json_t *space, const json_t *datasets)
{
    const char *key = NULL;
    for (size_t i = 0; (key = mel_problem_file_key(i)) != NULL; i++) {
        const json_t *value = json_object_get(space, key);
        const bool table = strcmp(key, "data") == 0;
        bool known = value == NULL || mel_is_upload(json_string_value(value));
        for (size_t d = 0; table && d < json_array_size(datasets) && !known; d++)
            known = json_equal(json_object_get(json_array_get(datasets, d), "name"), value) != 0;
        if (!known)
            return false;
    }
    return true;
}

static size_t uploads_of(const char *name[MEL_SPACE_FILES], const json_t *space)
{
    size_t n = 0;
    const char *key = NULL;
    for (size_t i = 0; n < MEL_SPACE_FILES && (key = mel_problem_file_key(i)) != NULL; i++) {
        name[n] = json_string_value(json_object_get(space, key));
        n += mel_is_upload(name[n]);
    }
    return n;
}

size_t mel_own_uploads(const char *name[MEL_SPACE_FILES], const json_t *about)
{
    return uploads_of(name, json_object_get(json_object_get(about, "start"), "space"));
}

bool mel_space_is_example(const json_t *space)
{
    const char *name[MEL_SPACE_FILES];
    return uploads_of(name, space) == 0;
}

mel_status mel_space_keep(mel_store *store, const json_t *space, int64_t expires, mel_error *err)
{
    const char *name[MEL_SPACE_FILES];
    const size_t n = uploads_of(name, space);
    for (size_t i = 0; i < n; i++)
        TRY(mel_store_keep(store, name[i], expires, err));
    return MEL_OK;
}

/* --- what researchers see of them --------------------------------------------------------------- */

static mel_status list_upload(void *list, const char *name, int64_t bytes, int64_t expires, mel_error *err)
{
    json_t *line =
        json_pack("{s:s, s:I, s:o}", "id", name + sizeof MEL_UPLOAD - 1, "bytes", (json_int_t)bytes,
                  "expires", expires != 0 ? json_integer((json_int_t)expires) : json_null());
    return mel_json_add(list, line) ? MEL_OK : mel_fail_memory(err, "the uploads");
}

mel_status mel_admin_uploads(json_t **out, mel_call *call)
{
    json_auto_t *list = json_array();
    TRY(mel_call_admin(call));
    TRY(mel_store_blobs(call->app->store, MEL_UPLOAD, list_upload, list, &call->err));
    *out = json_pack("{s:o, s:O}", "csrf", mel_admin_csrf(call), "uploads", list);
    return MEL_OK;
}

mel_status mel_admin_delete_upload(json_t **out, mel_call *call)
{
    char name[sizeof MEL_UPLOAD + sizeof call->rest[0]];
    TRY(mel_admin_may_write(call));
    (void)snprintf(name, sizeof name, "%s%s", MEL_UPLOAD, call->rest[0]);
    TRY(mel_store_remove(call->app->store, name, &call->err));
    TRY(mel_store_forget_traces(call->app->store, &call->err));
    *out = json_object();
    return MEL_OK;
}
