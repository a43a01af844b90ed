/* What researchers ask for over HTTP. */
#include "app.h"

#include "json_helpers.h"
#include "manage.h"

#include "base/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADMIN_HOURS = 12, MOST_LABELS = 1000 };
static const double monitor_seconds = 2.0;

/* --- logging in and out ------------------------------------------------------------------------- */

mel_status mel_admin_token_new(char token[MEL_TOKEN_TEXT], bool *mine, bool replace, const mel_app *app,
                               mel_error *err)
{
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_new(token, hash, app);
    *mine = true;
    if (replace) {
        TRY(mel_store_put(app->store, MEL_ADMIN_TOKEN, hash, sizeof hash, 0, err));
        return mel_admin_logout_all(app, err);
    }
    MEL_AUTO_MEMORY void *stored = NULL;
    size_t n = 0;
    *mine = false;
    TRY(mel_store_put_once(&stored, &n, app->store, MEL_ADMIN_TOKEN, hash, sizeof hash, err));
    *mine = n == sizeof hash && sodium_memcmp(stored, hash, n) == 0;
    return MEL_OK;
}

mel_status mel_admin_logout_all(const mel_app *app, mel_error *err)
{
    static const mel_name logins = { "admin" };
    return mel_store_remove_notes(app->store, &logins, err);
}

/* Whether it is the token that was printed at the start. */
static mel_status is_token(bool *right, const mel_call *call, const char *token, mel_error *err)
{
    unsigned char hash[MEL_HASH_BYTES];
    MEL_AUTO_MEMORY void *stored = NULL;
    size_t n = 0;
    *right = false;
    mel_token_hash(hash, token, call->app);
    const mel_status status = mel_store_get(&stored, &n, call->app->store, MEL_ADMIN_TOKEN, err);
    if (status == MEL_OK)
        *right = n == sizeof hash && sodium_memcmp(stored, hash, n) == 0;
    return status == MEL_EINVAL ? MEL_OK : status;
}

static void admin_name(char name[MEL_ADMIN_NAME], const char *token, const mel_app *app)
{
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_hash(hash, token, app);
    (void)snprintf(name, MEL_ADMIN_NAME, "admin:");
    sodium_bin2hex(name + 6, MEL_ADMIN_NAME - 6, hash, sizeof hash);
}

/* What stands for a cookie among those that were right. */
static uint64_t mark_of(const char *token, const mel_app *app)
{
    unsigned char hash[MEL_HASH_BYTES];
    uint64_t mark;
    mel_token_hash(hash, token, app);
    memcpy(&mark, hash, sizeof mark);
    return mark;
}

static void know(const char *token, mel_app *app)
{
    const uint64_t mark = mark_of(token, app);
    app->known[mark % MEL_KNOWN] = mark;
}

static mel_status log_in(json_t **out, mel_call *call)
{
    char token[MEL_TOKEN_TEXT], name[MEL_ADMIN_NAME], csrf[MEL_CSRF_TEXT];
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_new(token, hash, call->app);
    admin_name(name, token, call->app);
    TRY(mel_store_put(call->app->store, name, "1", 1, mel_now() + (int64_t)ADMIN_HOURS * 3600000,
                      &call->err));
    mel_csrf_of(csrf, token, call->app);
    know(token, call->app);
    mel_call_cookie(call, "melicit_admin", token, (int64_t)ADMIN_HOURS * 3600);
    call->audited = true;
    *out = json_pack("{s:s}", "csrf", csrf);
    return MEL_OK;
}

mel_status mel_admin_login(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    TRY(mel_call_own_body(&body, call, NULL));
    const char *token = mel_json_string(body, "token");
    if (token == NULL)
        return mel_call_refuse(call, 400, "bad-request", "token: expected a text");
    bool right = false;
    TRY(is_token(&right, call, token, &call->err));
    if (right)
        return log_in(out, call);
    const mel_status refused =
        mel_call_wrong_token(call, "wrong-token", "this is not the researcher's token");
    call->audited = call->response->status == 403; /* those that are too many would fill the log */
    return refused;
}

mel_status mel_admin_logout(json_t **out, mel_call *call)
{
    const char *token = mel_request_cookie(call->request, "melicit_admin");
    TRY(mel_call_is_own(call, "melicit_admin"));
    if (token != NULL) {
        char name[MEL_ADMIN_NAME];
        (void)mel_call_find_login(call); /* for the audit log alone */
        admin_name(name, token, call->app);
        TRY(mel_store_remove(call->app->store, name, &call->err));
    }
    mel_call_cookie(call, "melicit_admin", NULL, 0);
    *out = json_object();
    return MEL_OK;
}

bool mel_request_is_known(const mel_request *request, mel_app *app)
{
    const char *token = mel_request_cookie(request, "melicit_admin");
    const uint64_t mark = token != NULL ? mark_of(token, app) : 0;
    return mark != 0 && app->known[mark % MEL_KNOWN] == mark;
}

mel_status mel_call_find_login(mel_call *call)
{
    const char *token = mel_request_cookie(call->request, "melicit_admin");
    char name[MEL_ADMIN_NAME];
    MEL_AUTO_MEMORY void *bytes = NULL;
    size_t n = 0;
    call->audited = false;
    if (token == NULL)
        return MEL_EINVAL;
    admin_name(name, token, call->app);
    TRY(mel_store_get(&bytes, &n, call->app->store, name, &call->err));
    call->audited = true;
    know(token, call->app);
    return MEL_OK;
}

mel_status mel_call_admin(mel_call *call)
{
    static const char first[] = "log in with the researcher's token first";
    if (mel_request_cookie(call->request, "melicit_admin") == NULL)
        return mel_call_refuse(call, 403, "not-logged-in", first);
    const mel_status status = mel_call_find_login(call);
    return status == MEL_EINVAL ? mel_call_wrong_token(call, "not-logged-in", first) : status;
}

mel_status mel_admin_may_write(mel_call *call)
{
    TRY(mel_call_is_own(call, "melicit_admin"));
    return mel_call_admin(call);
}

/* 404 when there is no such study. */
static mel_status find_study(mel_study_row *row, mel_call *call)
{
    const char *id = call->rest[0];
    const mel_status status =
        strcmp(id, MEL_NO_STUDY) != 0 ? mel_store_study(row, call->app->store, id, &call->err) : MEL_EINVAL;
    return status == MEL_EINVAL ? mel_call_refuse(call, 404, "no-study", "there is no such study") : status;
}

json_t *mel_admin_csrf(const mel_call *call)
{
    char csrf[MEL_CSRF_TEXT];
    mel_csrf_of(csrf, mel_request_cookie(call->request, "melicit_admin"), call->app);
    return json_string(csrf);
}

/* --- links -------------------------------------------------------------------------------------- */

/* "https://study.example.org/s/ID", then the query; NULL without memory. */
static json_t *link_to(const mel_call *call, const char *study, const char *query)
{
    const char *base = call->app->url;
    char url[MEL_MOST_URL];
    (void)snprintf(url, sizeof url, "%s/s/%s%s", base != NULL ? base : "", study, query);
    return json_string(url);
}

static json_t *links_of(const mel_call *call, const char *study)
{
    return json_pack(
        "{s:o, s:o}", "anonymous", link_to(call, study, ""), "prolific",
        link_to(call, study,
                "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"));
}

/* The body of a request that changes an existing study. */
static mel_status body_about_study(json_t **body, mel_call *call)
{
    MEL_ROW(mel_study_row) row = { .file = NULL };
    TRY(mel_admin_may_write(call));
    TRY(find_study(&row, call));
    return mel_call_body(body, call);
}

static mel_status check_labels(const json_t *labels, mel_error *err)
{
    const size_t n = json_array_size(labels);
    bool right = n >= 1 && n <= MOST_LABELS;
    for (size_t i = 0; i < n && right; i++)
        right = json_string_length(json_array_get(labels, i)) >= 1 &&
                json_string_length(json_array_get(labels, i)) <= MEL_MOST_LABEL;
    return right ? MEL_OK
                 : mel_fail(err, MEL_EINVAL, "labels: expected 1 to 1,000 texts of at most 120 bytes");
}

static mel_status add_link(json_t *list, const mel_call *call, const char *label, mel_error *err)
{
    MEL_AUTO_MEMORY char *query = NULL;
    TRY(mel_link_query(&query, call->rest[0], label, call->app, err));
    return mel_json_add(list,
                        json_pack("{s:s, s:o}", "label", label, "url", link_to(call, call->rest[0], query)))
               ? MEL_OK
               : mel_fail_memory(err, "links");
}

mel_status mel_admin_links(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL, *list = json_array();
    TRY(body_about_study(&body, call));
    const json_t *labels = json_object_get(body, "labels");
    TRY(check_labels(labels, &call->err));
    TRY(mel_links_note(call->app, call->rest[0], labels, &call->err));
    for (size_t i = 0; i < json_array_size(labels); i++)
        TRY(add_link(list, call, json_string_value(json_array_get(labels, i)), &call->err));
    *out = json_pack("{s:O}", "links", list);
    return MEL_OK;
}

mel_status mel_admin_revoke(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    TRY(body_about_study(&body, call));
    const json_t *labels = json_object_get(body, "labels");
    TRY(check_labels(labels, &call->err));
    TRY(mel_links_revoke(call->app, call->rest[0], labels, &call->err));
    *out = json_object();
    return MEL_OK;
}

/* --- studies ------------------------------------------------------------------------------------ */

json_t *mel_counts_json(const mel_study_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "active", (json_int_t)counts->active, "complete",
                     (json_int_t)counts->complete, "left", (json_int_t)counts->left, "simulated",
                     (json_int_t)counts->simulated);
}

static json_t *study_line(const mel_study_row *row, mel_store *store)
{
    mel_study_counts counts = { 0 };
    (void)mel_store_counts(&counts, store, row->id, NULL);
    json_auto_t *file = mel_stored_json(row->file);
    return json_pack("{s:s, s:s?, s:s, s:I, s:o}", "id", row->id, "title", mel_json_string(file, "title"),
                     "state", mel_manage_is_archived(store, row) ? "archived" : row->state, "created",
                     (json_int_t)row->created, "participants", mel_counts_json(&counts));
}

json_t *mel_studies_json(mel_store *store, mel_error *err)
{
    mel_study_row *row = NULL;
    size_t n = 0;
    if (mel_store_studies(&row, &n, store, err) != MEL_OK)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (strcmp(row[i].id, MEL_NO_STUDY) != 0)
            mel_json_push(&list, study_line(&row[i], store));
    mel_study_rows_free(row, n);
    if (list == NULL)
        (void)mel_fail_memory(err, "the studies");
    return list;
}

mel_status mel_admin_studies(json_t **out, mel_call *call)
{
    TRY(mel_call_admin(call));
    json_t *list = mel_studies_json(call->app->store, &call->err);
    if (list == NULL)
        return call->err.code;
    *out = json_pack("{s:o, s:o}", "csrf", mel_admin_csrf(call), "studies", list);
    return MEL_OK;
}

/* Whether the study file's space may be used over the web; with the call's err. */
static mel_status check_space(mel_call *call, const json_t *file)
{
    return mel_space_is_allowed(json_object_get(file, "space"), call->app->datasets)
               ? MEL_OK
               : mel_fail(&call->err, MEL_EINVAL,
                          "space: over the web choose bundled data, an upload, a population or a ball; "
                          "`melicit study create` takes files");
}

mel_status mel_admin_preview(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL, *pages = json_array();
    mel_study *study = NULL;
    TRY(mel_admin_may_write(call));
    TRY(mel_call_body(&body, call));
    TRY(check_space(call, body));
    TRY(mel_study_take(&study, json_incref(body), &call->err));
    TRY(mel_manage_check(pages, call->app->cache, study, &call->err));
    *out = json_pack("{s:O}", "pages", pages);
    return MEL_OK;
}

mel_status mel_admin_create(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    char id[MEL_ID_TEXT];
    TRY(mel_admin_may_write(call));
    TRY(mel_call_body(&body, call));
    TRY(check_space(call, body));
    TRY(mel_manage_create(id, call->app->store, call->app->cache, call->request->body, &call->err));
    *out = json_pack("{s:s, s:o}", "id", id, "links", links_of(call, id));
    return MEL_OK;
}

mel_status mel_admin_study(json_t **out, mel_call *call)
{
    MEL_ROW(mel_study_row) row = { .file = NULL };
    TRY(mel_call_admin(call));
    TRY(find_study(&row, call));
    TRY(mel_manage_monitor(out, call->app->store, call->app->cache, row.id,
                           mel_request_query(call->request, "after"), monitor_seconds, &call->err));
    (void)json_object_update_new(
        *out, json_pack("{s:o, s:s, s:s, s:I, s:o, s:o}", "csrf", mel_admin_csrf(call), "id", row.id, "state",
                        mel_manage_is_archived(call->app->store, &row) ? "archived" : row.state, "created",
                        (json_int_t)row.created, "file", mel_stored_json(row.file), "links",
                        links_of(call, row.id)));
    return MEL_OK;
}

mel_status mel_admin_state(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    TRY(body_about_study(&body, call));
    const char *state = mel_json_string(body, "state");
    if (state == NULL ||
        (strcmp(state, "open") != 0 && strcmp(state, "closed") != 0 && strcmp(state, "archived") != 0))
        return mel_call_refuse(call, 400, "bad-request", "state: expected open, closed or archived");
    TRY(mel_manage_set_state(call->app->store, call->rest[0], state, &call->err));
    *out = json_pack("{s:s}", "state", state);
    return MEL_OK;
}

mel_status mel_admin_export(json_t **out, mel_call *call)
{
    static const char *const types[] = { "text/csv; charset=utf-8", "application/x-ndjson",
                                         "application/vnd.sqlite3" };
    static const char prefix[] = "export.";
    MEL_ROW(mel_study_row) row = { .file = NULL };
    mel_export_format format = MEL_EXPORT_CSV;
    (void)out; /* a file is sent */
    TRY(mel_call_admin(call));
    if (strncmp(call->rest[1], prefix, sizeof prefix - 1) != 0 ||
        mel_export_parse(&format, call->rest[1] + sizeof prefix - 1, NULL) != MEL_OK)
        return mel_call_refuse(call, 404, "not-found", "there is export.csv, export.jsonl and export.sqlite");
    TRY(find_study(&row, call));
    MEL_HELD(held);
    TRY(mel_work_begin(&held, call->app->admission, &(mel_work){ .shared = true }, &call->err));
    TRY(mel_export(&call->response->file, &call->response->n, call->app->store, row.id, format, &call->err));
    call->answered = true;
    call->response->type = types[format];
    (void)snprintf(call->response->name, sizeof call->response->name, "%s%s", row.id,
                   call->rest[1] + sizeof prefix - 2);
    return MEL_OK;
}

mel_status mel_admin_delete_study(json_t **out, mel_call *call)
{
    MEL_ROW(mel_study_row) row = { .file = NULL };
    TRY(mel_admin_may_write(call));
    TRY(find_study(&row, call));
    TRY(mel_manage_delete(call->app->store, call->app->cache, row.id, &call->err));
    call->app->tidy_soon = true;
    *out = json_object();
    return MEL_OK;
}

/* --- participants ------------------------------------------------------------------------------- */

/* The participant of the study that the path names. */
static mel_status find_person(mel_participant_row *row, mel_call *call)
{
    mel_status status = mel_store_participant(row, call->app->store, call->rest[1], &call->err);
    if (status == MEL_OK && strcmp(row->study, call->rest[0]) != 0)
        status = MEL_EINVAL;
    return status == MEL_EINVAL ? mel_call_refuse(call, 404, "no-participant", "there is no such participant")
                                : status;
}

mel_status mel_admin_delete(json_t **out, mel_call *call)
{
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    TRY(mel_admin_may_write(call));
    TRY(find_person(&row, call));
    TRY(mel_manage_erase(call->app->store, call->app->cache, call->app->audit, &row, "researcher",
                         &call->err));
    mel_cache_forget(call->app->cache, call->rest[0]); /* the findings about all participants together */
    *out = json_object();
    return MEL_OK;
}

mel_status mel_admin_person(json_t **out, mel_call *call)
{
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    TRY(mel_call_admin(call));
    TRY(find_person(&row, call));
    TRY(mel_manage_person(out, call->app->store, call->app->cache, &row, &call->err));
    (void)mel_json_put(*out, "csrf", mel_admin_csrf(call));
    return MEL_OK;
}

mel_status mel_admin_rehearse(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    TRY(body_about_study(&body, call));
    const double wanted = json_number_value(json_object_get(body, "participants"));
    const mel_rehearsal how = {
        .participants = wanted >= 1.0 && wanted <= MEL_MOST_REHEARSED ? (uint32_t)wanted : 0,
        .metric = json_object_get(body, "metric"),
        .noise = mel_json_string(body, "noise"),
    };
    uint32_t done = 0;
    TRY(mel_manage_rehearse(&done, call->app->store, call->app->cache, call->rest[0], &how, &call->err));
    *out = json_pack("{s:I}", "participants", (json_int_t)done);
    return MEL_OK;
}

mel_status mel_admin_plan(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    TRY(body_about_study(&body, call));
    const double wanted = mel_json_number(body, "participants", 20.0);
    const mel_plan plan = { .how = { .participants = wanted >= 1.0 && wanted <= 1e6 ? (uint32_t)wanted : 0,
                                     .metric = json_object_get(body, "metric"),
                                     .noise = mel_json_string(body, "noise") },
                            .spread = mel_json_number(body, "spread", 0.0),
                            .width = mel_json_number(body, "width", MEL_USUAL_WIDTH) };
    return mel_manage_plan(out, call->app->cache, call->rest[0], &plan, &call->err);
}
