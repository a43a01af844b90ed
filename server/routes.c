/* Which handler answers which path, and what every request goes through before it. */
#include "app.h"

#include "assets.h"
#include "clock.h"
#include "json_helpers.h"

#include "base/internal.h"

#include <arpa/inet.h>
#include <math.h>
#include <omp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits for one address within a minute; the first two are multiples of the allowed joins. Researchers'
 * pages poll, however few may join. */
enum {
    LINES_SHARE = 20 /* in the log of requests */,
    OTHER_SHARE = 5 /* for what is not there */,
    LEAST_ADMIN = 600
};

/* A star stands for one part of a path. share: how many such requests of one address are allowed within a
 * minute, per join that is; 0: any number. stores: joins find out themselves whether somebody is new. What
 * follows is for docs/openapi.json (tools/openapi.py): body and answer name their fields as mel_check_fields
 * takes them, with the name of a schema for a type. */
static const struct {
    const char *method, *path;
    mel_endpoint *answer;
    double share;
    mel_storing stores;
    const char *summary, *body, *reply; /* body NULL: none; "csv": a table */
} routes[] = {
    { "POST", "/api/join", mel_api_join, 1.0, MEL_STORES_NOTHING, "Join a study, or come back to it",
      "study! label link resume prolific:object", "page:Page!" },
    { "POST", "/api/start", mel_api_start, 0.5, MEL_STORES_NEW, "Start a session of one's own",
      "space:object words:object family options:object like:object", "page:Page!" },
    { "POST", "/api/check", mel_api_check, 1.0, MEL_STORES_NOTHING,
      "What a session would be about, without starting it",
      "space:object! words:object family options:object",
      "rows:number classes:list warnings:list auc:number found:number alarms:number classifiers:number" },
    { "POST", "/api/upload", mel_api_upload, 0.25, MEL_STORES_NEW, "Upload a table", "csv",
      "upload! rows:number! columns:list! head:list! ids:any! how! warnings:list!" },
    { "POST", "/api/columns", mel_api_columns, 0.25, MEL_STORES_NEW,
      "Make an upload of columns of another one", "upload! columns:list!",
      "upload! rows:number! columns:list! head:list! ids:any! how! warnings:list!" },
    { "GET", "/api/datasets", mel_api_datasets, 0.0, MEL_STORES_NOTHING,
      "What is bundled, and every family of metrics", NULL, "datasets:list! families:list!" },
    { "GET", "/api/page", mel_api_page, 100.0, MEL_STORES_NOTHING, "The current page", NULL, "page:Page!" },
    { "POST", "/api/event", mel_api_event, 100.0, MEL_STORES_ANSWERS, "Answer the current page",
      "seq:number! key! value:object! seconds:number", "page:Page! saved:number!" },
    { "POST", "/api/undo", mel_api_undo, 100.0, MEL_STORES_ANSWERS, "Take the last answer back",
      "seq:number! key! seconds:number", "page:Page! saved:number!" },
    { "GET", "/api/result", mel_api_result, 10.0, MEL_STORES_NOTHING, "What the answers tell so far", NULL,
      "result:object!" },
    { "GET", "/api/result/*", mel_api_download, 10.0, MEL_STORES_NOTHING,
      "The metric, session or report as a file", NULL, "file" },
    { "POST", "/api/decisions", mel_api_decide, 1.0, MEL_STORES_NOTHING,
      "Decisions about rows, with the best rule of the result",
      "upload columns:list calibrated:boolean group id", "csv! rows:number! decided:list!" },
    { "POST", "/api/today", mel_api_today, 1.0, MEL_STORES_NOTHING, "Count decisions that are made today",
      "upload! truth! decision! group", "counts:list! rows:number!" },
    { "POST", "/api/share", mel_api_share, 1.0, MEL_STORES_NOTHING,
      "A link that shows the result, or revokes it", "revoke:boolean", "path!" },
    { "GET", "/api/shared/*/*", mel_api_shared, 10.0, MEL_STORES_NOTHING, "The result that a link shows",
      NULL, "result:object! words:any! askable:boolean!" },
    { "POST", "/api/leave", mel_api_leave, 10.0, MEL_STORES_NOTHING, "Make the cookie worthless", "", "" },
    { "GET", "/api/mine", mel_api_mine, 1.0, MEL_STORES_NOTHING,
      "Everything that is stored about the participant who asks", NULL,
      "created:number! seen:number! study label about:object! uploads:list! events:list!" },
    { "POST", "/api/erase", mel_api_erase, 1.0, MEL_STORES_NOTHING,
      "Delete everything that is stored about the participant who asks", "", "" },
    { "POST", "/api/admin/login", mel_admin_login, 10.0, MEL_STORES_NOTHING, "Log a researcher in", "token!",
      "csrf!" },
    { "POST", "/api/admin/logout", mel_admin_logout, 10.0, MEL_STORES_NOTHING, "Log a researcher out", "",
      "" },
    { "GET", "/api/admin/studies", mel_admin_studies, 10.0, MEL_STORES_NOTHING, "All studies", NULL,
      "csrf! studies:list!" },
    { "POST", "/api/admin/studies", mel_admin_create, 10.0, MEL_STORES_NEW, "Make a study of a study file",
      "study file", "id! links:object!" },
    { "POST", "/api/admin/preview", mel_admin_preview, 10.0, MEL_STORES_NOTHING,
      "The pages of a study file, without making a study", "study file", "pages:list!" },
    { "GET", "/api/admin/studies/*", mel_admin_study, 10.0, MEL_STORES_NOTHING, "What goes on in a study",
      NULL,
      "csrf! id! state! created:number! file:object! links:object! live:list! pages:list! pooled:any! "
      "complete:boolean! times:any! forms:any! participants:object! next:any!" },
    { "DELETE", "/api/admin/studies/*", mel_admin_delete_study, 10.0, MEL_STORES_NOTHING,
      "Delete a study with its participants", "", "" },
    { "GET", "/api/admin/studies/*/participants/*", mel_admin_person, 10.0, MEL_STORES_NOTHING,
      "A participant with all that they said", NULL, "csrf! person:object! events:list! about:object" },
    { "POST", "/api/admin/studies/*/state", mel_admin_state, 10.0, MEL_STORES_NOTHING,
      "Open, close or archive a study", "state!", "state!" },
    { "POST", "/api/admin/studies/*/links", mel_admin_links, 10.0, MEL_STORES_NEW, "Make personal links",
      "labels:list!", "links:list!" },
    { "POST", "/api/admin/studies/*/revoke", mel_admin_revoke, 10.0, MEL_STORES_NOTHING,
      "Revoke personal links", "labels:list!", "" },
    { "GET", "/api/admin/studies/*/*", mel_admin_export, 10.0, MEL_STORES_NOTHING,
      "Export a study: export.csv, export.jsonl or export.sqlite", NULL, "file" },
    { "DELETE", "/api/admin/studies/*/participants/*", mel_admin_delete, 10.0, MEL_STORES_NOTHING,
      "Erase a participant", "", "" },
    { "POST", "/api/admin/studies/*/rehearse", mel_admin_rehearse, 10.0, MEL_STORES_NEW,
      "Let simulated participants walk through", "participants:number! metric:any noise",
      "participants:number!" },
    { "POST", "/api/admin/studies/*/plan", mel_admin_plan, 10.0, MEL_STORES_NOTHING,
      "How many questions and people it takes",
      "participants:number metric:any noise spread:number width:number",
      "measure! wanted:number! participants:number! by_questions:list! by_people:list! questions:any! "
      "people:any! asked:number! dominated:number! trivial:number!" },
    { "GET", "/api/admin/uploads", mel_admin_uploads, 10.0, MEL_STORES_NOTHING, "All uploads", NULL,
      "csrf! uploads:list!" },
    { "DELETE", "/api/admin/uploads/*", mel_admin_delete_upload, 10.0, MEL_STORES_NOTHING, "Delete an upload",
      "", "" },
};

_Static_assert(sizeof routes / sizeof *routes <= MEL_METRICS_ROUTES, "each route has its counters");

/* Only letters, digits, '-', '_' and '.' (not two in a row) may stand for a star. */
static bool take_part(char *out, size_t room, const char **path)
{
    const size_t n = strspn(*path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (n == 0 || n >= room)
        return false;
    memcpy(out, *path, n);
    out[n] = '\0';
    *path += n;
    return strstr(out, "..") == NULL;
}

static bool matches(mel_call *call, const char *pattern, const char *path)
{
    size_t star = 0;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '*') {
            if (star == 4 || !take_part(call->rest[star], sizeof call->rest[star], &path))
                return false;
            star++;
        } else if (*pattern != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

/* NULL when there is none of this path. */
static const mel_asset *find_asset(const char *path)
{
    for (size_t i = 0; i < mel_n_assets; i++)
        if (strcmp(mel_assets[i].path, path) == 0)
            return &mel_assets[i];
    return NULL;
}

static bool is_reading(const mel_request *request)
{
    return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

static mel_route_name route_name(size_t number)
{
    if (number >= sizeof routes / sizeof *routes)
        return (mel_route_name){ NULL, NULL };
    return (mel_route_name){ routes[number].method, routes[number].path };
}

/* Whether there is a server, and whether it wants visitors (it does not once it is about to stop). Neither
 * asks the store: a database that is away is no reason to take all servers away as well. */
static void answer_health(mel_response *response, bool draining)
{
    static const char healthy[] = "{\"ok\":true}", stopping[] = "{\"ok\":false,\"draining\":true}";
    response->lent = draining ? stopping : healthy;
    response->n = draining ? sizeof stopping - 1 : sizeof healthy - 1;
    response->status = draining ? 503 : 200;
}

/* Whether the request was sent to one of the server's own names: the public one, this machine's, or an
 * address. A page of another site whose name was made to lead here (DNS rebinding) has its own name in this
 * header. */
static bool is_our_host(const mel_request *request, const mel_app *app)
{
    const char *host = mel_request_header(request, "Host"), *url = app->public_url;
    const char *ours = url != NULL ? strstr(url, "://") : NULL;
    if (host == NULL || (ours != NULL && strcasecmp(host, ours + 3) == 0))
        return true;
    const bool six = host[0] == '[';
    const size_t n = six ? strcspn(host + 1, "]") : strcspn(host, ":");
    const char *rest = host + n + (six && host[n + 1] == ']' ? 2 : 0);
    char name[INET6_ADDRSTRLEN];
    struct in6_addr address; /* the larger one */
    if (n >= sizeof name ||
        (rest[0] != '\0' && (rest[0] != ':' || rest[1 + strspn(rest + 1, "0123456789")] != '\0')))
        return false;
    memcpy(name, host + six, n);
    name[n] = '\0';
    return strcasecmp(name, "localhost") == 0 || inet_pton(six ? AF_INET6 : AF_INET, name, &address) == 1;
}

/* Not for those who come through a proxy, nor for pages of other sites: monitoring asks each server itself.
 */
static bool answer_metrics(mel_response *response, const mel_request *request, const mel_app *app)
{
    if (app->metrics == NULL || !is_our_host(request, app) ||
        mel_request_header(request, "X-Real-IP") != NULL ||
        mel_request_header(request, "X-Forwarded-For") != NULL ||
        mel_request_header(request, "Forwarded") != NULL)
        return false;
    const mel_server_metrics server = {
        .draining = app->draining,
        .store_bytes = app->admission->store_bytes,
        .store_limit = app->admission->store_most,
        .disk_free = app->admission->disk_free,
        .lost = mel_journal_lost(app->requests) + mel_journal_lost(app->audit),
    };
    response->body = mel_metrics_text(app->metrics, route_name, &server);
    response->n = response->body != NULL ? strlen(response->body) : 0;
    response->type = "text/plain; version=0.0.4; charset=utf-8";
    response->status = response->body != NULL ? 200 : 503;
    return true;
}

bool mel_handle_at_once(mel_response *response, const mel_request *request, void *user)
{
    const mel_app *app = user;
    const char *path = request->path;
    if (!is_reading(request) || strncmp(path, "/api", 4) == 0)
        return false;
    if (strcmp(path, "/health") == 0 || strcmp(path, "/healthz") == 0) {
        answer_health(response, path[sizeof "/health" - 1] != '\0' && app->draining);
        return true;
    }
    if (strcmp(path, "/metrics") == 0 && answer_metrics(response, request, app))
        return true;
    const mel_asset *asset = find_asset(path);
    const bool page = asset == NULL && strchr(path, '.') == NULL && strchr(path, '%') == NULL;
    if (page)
        asset = find_asset("/index.html");
    if (asset == NULL)
        return false;
    response->type = asset->type;
    response->lent = asset->bytes;
    response->n = asset->n;
    response->gzipped = asset->gzipped;
    response->cache = asset->hashed ? "public, max-age=31536000, immutable" : "no-cache";
    return true;
}

/* A browser may take part in several studies: each has a cookie of its own where requests say which study
 * they are about. */
static void name_cookie(mel_call *call)
{
    const char *study = mel_request_query(call->request, "study");
    const size_t n = study != NULL ? strspn(study, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
    const bool known = n > 0 && study[n] == '\0' && n < MEL_ID_TEXT;
    (void)snprintf(call->cookie, sizeof call->cookie, "melicit%s%s", known ? "_s_" : "", known ? study : "");
}

static bool is_wanted(void *request)
{
    return mel_request_is_wanted(request);
}

static bool step_aside(void *request)
{
    return mel_request_step_aside(request);
}

static void step_back(void *request)
{
    mel_request_step_back(request);
}

/* Within the limits on requests of one address, and on the time that one of them may take; researchers' may
 * take longer, as theirs are few. */
static void answer(mel_call *call, size_t route)
{
    const bool researcher = strncmp(routes[route].path, "/api/admin", 10) == 0;
    const double most = fmax(routes[route].share * call->app->joins, researcher ? LEAST_ADMIN : 1.0);
    if ((routes[route].share > 0.0 &&
         mel_call_may(call, routes[route].path, call->request->client, (unsigned)most) != MEL_OK) ||
        mel_call_has_room(call, routes[route].stores) != MEL_OK)
        return;
    name_cookie(call);
    const double processor = (researcher ? 6.0 : 1.0) * call->app->processor;
    const mel_budget budget = { .processor = processor,
                                .seconds = 6.0 * processor,
                                .memory = call->app->memory,
                                .client = call->request->client,
                                .is_wanted = is_wanted,
                                .step_aside = step_aside,
                                .step_back = step_back,
                                .user = (void *)(uintptr_t)call->request };
    mel_budget_begin(&budget);
    json_t *out = NULL;
    const mel_status status = routes[route].answer(&out, call);
    mel_call_finish(call, status, out);
    mel_budget_end();
}

/* The path without the proof that a link of a shared result ends with. */
static const char *path_of(const mel_call *call)
{
    static const char shared[] = "/api/shared/";
    const char *path = call->known ? call->request->path : "other";
    return strncmp(path, shared, sizeof shared - 1) == 0 ? "/api/shared" : path;
}

/* Which of the researchers it was, if there are several, the beginning of a hash of the cookie tells. Paths
 * that no route has say nothing, and could be as long as anybody likes. */
static json_t *line_of(const mel_call *call, double begun)
{
    const mel_request *request = call->request;
    const char *token = call->audited ? mel_request_cookie(request, "melicit_admin") : NULL;
    char who[9] = "";
    if (token != NULL) {
        unsigned char hash[MEL_HASH_BYTES];
        mel_token_hash(hash, token, call->app);
        sodium_bin2hex(who, sizeof who, hash, (sizeof who - 1) / 2);
    }
    return json_pack("{s:I, s:s, s:s, s:s, s:i, s:i, s:s*, s:s*}", "time", (json_int_t)mel_now(), "client",
                     request->client, "method", call->known ? request->method : "other", "path",
                     path_of(call), "status", (int)call->response->status, "ms",
                     (int)(1000.0 * (mel_clock_seconds(CLOCK_MONOTONIC) - begun)), "researcher",
                     who[0] != '\0' ? who : NULL, "upload", call->upload[0] != '\0' ? call->upload : NULL);
}

/* Requests of one address have so many lines a minute, or anybody could fill the disk; the first one beyond
 * is a line that says so. */
static void note_request(const mel_call *call, json_t *line)
{
    const mel_app *app = call->app;
    const char *client = call->request->client;
    if (app->joins == 0 ||
        mel_admission_count(app->admission, "lines", client, LINES_SHARE * app->joins) == 0)
        mel_journal_add(app->requests, json_incref(line));
    else if (mel_admission_count(app->admission, "no lines", client, 1) == 0)
        mel_journal_add(app->requests, json_pack("{s:I, s:s, s:b}", "time", (json_int_t)mel_now(), "client",
                                                 client, "left_out", 1));
}

/* What researchers do goes into the audit log as well. */
static void note(const mel_call *call, double begun)
{
    const mel_app *app = call->app;
    const bool of_api = strncmp(call->request->path, "/api", 4) == 0;
    if (!of_api || (app->requests == NULL && (app->audit == NULL || !call->audited)))
        return;
    json_t *line = line_of(call, begun);
    if (call->audited)
        mel_journal_add(app->audit, json_incref(line));
    if (app->requests != NULL)
        note_request(call, line);
    json_decref(line);
}

static void dispatch(mel_call *call)
{
    const char *method = call->request->method, *path = call->request->path;
    bool there = false; /* something of this path, for this or another method */
    if (!is_our_host(call->request, call->app)) {
        (void)mel_call_refuse(call, 421, "wrong-host",
                              "this server does not go by that name; --public-url says what it is");
        return;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!matches(call, routes[i].path, path))
            continue;
        there = true;
        if (strcmp(routes[i].method, method) == 0) {
            call->known = true;
            call->route = i;
            answer(call, i);
            return;
        }
    }
    if (mel_call_may(call, "other", call->request->client, OTHER_SHARE * call->app->joins) != MEL_OK)
        return;
    if (there || !is_reading(call->request))
        (void)mel_call_refuse(call, 405, "method", "this cannot be done here");
    else if (!mel_handle_at_once(call->response, call->request, call->app))
        (void)mel_call_refuse(call, 404, "not-found", "there is nothing here");
}

void mel_handle(mel_response *response, const mel_request *request, void *app)
{
    mel_call call = { .response = response, .request = request, .app = app };
    omp_set_num_threads(1); /* for this worker: the other cores serve other requests */
    mel_metrics *metrics = call.app->metrics;
    const double begun = mel_clock_seconds(CLOCK_MONOTONIC);
    if (metrics != NULL)
        metrics->running++;
    dispatch(&call);
    if (metrics != NULL)
        metrics->running--;
    if (metrics != NULL && call.known)
        mel_metrics_count(&metrics->route[call.route], response->status,
                          mel_clock_seconds(CLOCK_MONOTONIC) - begun);
    note(&call, begun);
}
