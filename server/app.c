/* What handlers share: answers, tokens, cookies, who asks; and which handler answers which path. */
#include "app.h"

#include "assets.h"
#include "budget.h"
#include "clock.h"
#include "json_helpers.h"

#include "base/internal.h"

#include <arpa/inet.h>
#include <omp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- small things ------------------------------------------------------------------------------- */

int64_t mel_now(void)
{
    return mel_clock_ms(CLOCK_REALTIME);
}

void mel_new_id(char id[MEL_ID_TEXT])
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
    for (size_t i = 0; i < 16; i++)
        id[i] = letters[randombytes_uniform(sizeof letters - 1)];
    id[16] = '\0';
}

uint64_t mel_new_seed(void)
{
    uint64_t seed;
    randombytes_buf(&seed, sizeof seed);
    return seed >> 1; /* fits a signed column */
}

mel_status mel_new_participant(mel_participant_row *out, const char *study, const char *label, uint64_t seed,
                               json_t *about, mel_error *err)
{
    *out = (mel_participant_row){ .created = mel_now(), .seed = seed, .state = "active" };
    out->seen = out->created;
    mel_new_id(out->id);
    (void)snprintf(out->study, sizeof out->study, "%s", study);
    out->label = label != NULL ? mel_strdup(label) : NULL;
    out->about = about != NULL ? mel_json_text(about, JSON_COMPACT) : NULL;
    json_decref(about);
    return out->about != NULL && (label == NULL || out->label != NULL)
               ? MEL_OK
               : mel_fail_memory(err, "a participant");
}

/* --- answers ------------------------------------------------------------------------------------ */

void mel_call_text(mel_call *call, char *text)
{
    if (text == NULL) {
        static const char busy[] =
            "{\"error\": {\"code\": \"memory\", \"message\": \"the server is short of memory; "
            "try again in a moment\"}}";
        call->response->status = 503;
        call->response->retry = 1;
        call->response->lent = busy;
        call->response->n = sizeof busy - 1;
        return;
    }
    call->response->body = text;
    call->response->n = strlen(text);
}

void mel_call_json(mel_call *call, json_t *value)
{
    char *text = value != NULL ? mel_json_text(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(value);
    mel_call_text(call, text);
}

void mel_call_error(mel_call *call, unsigned status, const char *code, const char *message, json_t *more)
{
    json_t *answer = json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message);
    if (answer != NULL && more != NULL)
        (void)json_object_update(answer, more);
    json_decref(more);
    call->response->status = status;
    if (status == 503 || status == 429)
        call->response->retry = status == 503 ? 2 : 60;
    mel_call_json(call, answer);
}

/* What the sentence is about, when it begins with a name: "age: expected a number". */
static void refuse_field(mel_call *call, const char *text)
{
    const size_t n = strcspn(text, ": ");
    json_t *error = json_pack("{s:s, s:s}", "code", "bad-request", "message", text);
    if (error != NULL && n > 0 && text[n] == ':')
        (void)json_object_set_new(error, "field", json_stringn(text, n));
    call->response->status = 400;
    mel_call_json(call, json_pack("{s:o}", "error", error));
}

/* Whether the request is a researcher's, who is told everything, or brings data of its own, which failures
 * are about. */
static bool may_hear_details(const mel_call *call)
{
    const char *path = call->request->path;
    return strncmp(path, "/api/admin", 10) == 0 || strcmp(path, "/api/start") == 0 ||
           strcmp(path, "/api/upload") == 0;
}

/* What a participant does not cause is told without details: they are about the server's files and others'
 * data. A store that is damaged is no fault of the request either. */
void mel_call_finish(mel_call *call, mel_status status, json_t *value)
{
    static const struct {
        mel_status status;
        unsigned http;
        const char *code, *told;
    } failures[] = {
        { MEL_ECONFLICT, 409, "conflict", "somebody else changed this at the same moment; try again" },
        { MEL_ELIMIT, 413, "too-large", "this is more than the server takes" },
        { MEL_EIO, 503, "storage",
          "the server cannot reach its store at the moment; what was saved is safe" },
        { MEL_BUSY, 503, "busy", "the server is busy with other people's data; try again in a moment" },
        { MEL_OK, 503, "unavailable", "the data that this is about are not available at the moment" },
    };
    if (status == MEL_OK) {
        mel_call_json(call, value);
        return;
    }
    json_decref(value);
    const bool details = may_hear_details(call);
    if (status == MEL_EINVAL || (status == MEL_EDATA && details)) {
        refuse_field(call, call->err.text);
        return;
    }
    if (status == MEL_EDATA)
        status = MEL_EIO;
    size_t i = 0;
    while (failures[i].status != MEL_OK && failures[i].status != status)
        i++;
    const bool storage = status == MEL_EIO; /* of which only researchers hear more */
    const bool said = storage ? strncmp(call->request->path, "/api/admin", 10) == 0 : details;
    mel_call_error(call, failures[i].http, failures[i].code, said ? call->err.text : failures[i].told, NULL);
}

/* --- tokens ------------------------------------------------------------------------------------- */

void mel_token_hash(unsigned char hash[MEL_HASH_BYTES], const char *text, const mel_app *app)
{
    crypto_generichash(hash, MEL_HASH_BYTES, (const unsigned char *)text, strlen(text), app->key,
                       sizeof app->key);
}

void mel_token_new(char text[MEL_TOKEN_TEXT], unsigned char hash[MEL_HASH_BYTES], const mel_app *app)
{
    unsigned char bytes[MEL_TOKEN_BYTES];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2base64(text, MEL_TOKEN_TEXT, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    mel_token_hash(hash, text, app);
}

void mel_csrf_of(char csrf[MEL_CSRF_TEXT], const char *token, const mel_app *app)
{
    unsigned char hash[16];
    crypto_generichash_state state;
    crypto_generichash_init(&state, app->key, sizeof app->key, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)"csrf:", 5);
    crypto_generichash_update(&state, (const unsigned char *)token, strlen(token));
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(csrf, MEL_CSRF_TEXT, hash, sizeof hash);
}

void mel_call_cookie(mel_call *call, const char *name, const char *token, int64_t seconds)
{
    const char *url = call->app->public_url;
    const bool secure = url != NULL && strncmp(url, "https://", 8) == 0;
    (void)snprintf(call->response->cookie, sizeof call->response->cookie,
                   "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s", name,
                   token != NULL ? token : "", token != NULL ? (long long)seconds : 0LL,
                   secure ? "; Secure" : "");
}

/* Compares the Origin header with the server's own scheme and host. */
static bool same_origin(const mel_call *call, const char *origin)
{
    const char *url = call->app->public_url, *host = mel_request_header(call->request, "Host");
    if (url != NULL)
        return strcmp(origin, url) == 0;
    const char *rest = strstr(origin, "://");
    return host != NULL && rest != NULL && strcmp(rest + 3, host) == 0;
}

bool mel_call_is_own(mel_call *call, const char *cookie)
{
    const char *origin = mel_request_header(call->request, "Origin");
    const char *type = mel_request_header(call->request, "Content-Type");
    const char *token = cookie != NULL ? mel_request_cookie(call->request, cookie) : NULL;
    const char *sent = mel_request_header(call->request, "X-Melicit-CSRF");
    char csrf[MEL_CSRF_TEXT];
    bool own = origin == NULL || same_origin(call, origin);
    const size_t n = call->request->n;
    /* Browsers send these types from another site only after asking the server. */
    own = own && (n == 0 || (type != NULL && (strncmp(type, "application/json", 16) == 0 ||
                                              strncmp(type, "text/csv", 8) == 0)));
    if (cookie == NULL)
        own = own && sent != NULL && sent[0] != '\0'; /* a form on another site cannot send it */
    if (cookie != NULL && token != NULL) {
        mel_csrf_of(csrf, token, call->app);
        own = own && sent != NULL && strlen(sent) == sizeof csrf - 1 &&
              sodium_memcmp(sent, csrf, sizeof csrf - 1) == 0;
    }
    if (!own)
        mel_call_error(call, 403, "refused",
                       "this request did not come from the page that the server gave; reload it", NULL);
    return own;
}

void mel_call_wrong_token(mel_call *call, const char *code, const char *message)
{
    if (mel_rate_count(call->app->rate, "token", call->request->client, MEL_TRIES) != 0)
        mel_call_error(call, 429, "too-many", "too many wrong tokens were tried; wait a minute", NULL);
    else
        mel_call_error(call, 403, code, message, NULL);
}

bool mel_call_may(mel_call *call, const char *what, const char *who, unsigned most)
{
    const unsigned wait = call->app->joins > 0 ? mel_rate_count(call->app->rate, what, who, most) : 0;
    if (wait == 0)
        return true;
    mel_call_error(call, 429, "too-many", "too many requests within a minute; wait until it is over", NULL);
    call->response->retry = wait;
    return false;
}

json_t *mel_call_body(mel_call *call)
{
    json_t *body = NULL;
    mel_status status = mel_json_parse(&body, call->request->body, call->request->n, &call->err);
    if (status == MEL_OK && !json_is_object(body))
        status = mel_fail(&call->err, MEL_EDATA, "expected a JSON object");
    if (status != MEL_OK)
        mel_call_finish(call, status == MEL_EDATA ? MEL_EINVAL : status, NULL);
    return mel_json_if(status == MEL_OK, body);
}

json_t *mel_call_own_body(mel_call *call, const char *cookie)
{
    return mel_call_is_own(call, cookie) ? mel_call_body(call) : NULL;
}

bool mel_call_is_open(mel_call *call)
{
    if (!call->app->closed || mel_request_cookie(call->request, "melicit_admin") != NULL)
        return !call->app->closed || mel_call_admin(call);
    mel_call_error(call, 403, "closed", "on this server only researchers start sessions and upload tables",
                   NULL);
    return false;
}

bool mel_call_participant(mel_call *call)
{
    static const char nobody[] = "no study or session is open in this browser";
    call->token = mel_request_cookie(call->request, call->cookie);
    if (call->token == NULL) {
        mel_call_error(call, 403, "no-session", nobody, NULL);
        return false;
    }
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_hash(hash, call->token, call->app);
    mel_participant_row row;
    const mel_status status = mel_store_participant_by_token(&row, call->app->store, hash, &call->err);
    if (status == MEL_EINVAL)
        mel_call_wrong_token(call, "no-session", nobody);
    else if (status != MEL_OK)
        mel_call_finish(call, status, NULL);
    memcpy(call->participant, row.id, sizeof row.id);
    call->seen = row.seen;
    mel_participant_row_clear(&row);
    return status == MEL_OK;
}

mel_participant *mel_call_take(mel_call *call)
{
    mel_participant *out = NULL;
    const mel_status status =
        mel_participant_take(&out, call->app->cache, call->participant, call->seen, &call->err);
    return status == MEL_OK ? out : NULL;
}

/* --- routes ------------------------------------------------------------------------------------- */

typedef void (*route_fn)(mel_call *call);
/* A star stands for one part of a path. share: how many such requests of one address are allowed within a
 * minute, per join that is; 0: any number. */
static const struct {
    const char *method, *path;
    route_fn answer;
    double share;
} routes[] = {
    { "POST", "/api/join", mel_api_join, 1.0 },
    { "POST", "/api/start", mel_api_start, 0.5 },
    { "POST", "/api/upload", mel_api_upload, 0.25 },
    { "GET", "/api/datasets", mel_api_datasets, 0.0 },
    { "GET", "/api/page", mel_api_page, 100.0 },
    { "POST", "/api/event", mel_api_event, 100.0 },
    { "POST", "/api/undo", mel_api_undo, 100.0 },
    { "GET", "/api/result", mel_api_result, 10.0 },
    { "GET", "/api/result/*", mel_api_download, 10.0 },
    { "POST", "/api/leave", mel_api_leave, 10.0 },
    { "GET", "/api/mine", mel_api_mine, 1.0 },
    { "POST", "/api/erase", mel_api_erase, 1.0 },
    { "POST", "/api/admin/login", mel_admin_login, 0.0 },
    { "POST", "/api/admin/logout", mel_admin_logout, 0.0 },
    { "GET", "/api/admin/studies", mel_admin_studies, 0.0 },
    { "POST", "/api/admin/studies", mel_admin_create, 0.0 },
    { "GET", "/api/admin/studies/*", mel_admin_study, 0.0 },
    { "POST", "/api/admin/studies/*/state", mel_admin_state, 0.0 },
    { "POST", "/api/admin/studies/*/links", mel_admin_links, 0.0 },
    { "GET", "/api/admin/studies/*/*", mel_admin_export, 0.0 },
    { "DELETE", "/api/admin/studies/*/participants/*", mel_admin_delete, 0.0 },
    { "POST", "/api/admin/studies/*/rehearse", mel_admin_rehearse, 0.0 },
    { "GET", "/api/admin/uploads", mel_admin_uploads, 0.0 },
    { "DELETE", "/api/admin/uploads/*", mel_admin_delete_upload, 0.0 },
};

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

bool mel_handle_at_once(mel_response *response, const mel_request *request)
{
    static const char healthy[] = "{\"ok\":true}";
    const char *path = request->path;
    if (!is_reading(request) || strncmp(path, "/api", 4) == 0)
        return false;
    if (strcmp(path, "/health") == 0) {
        response->lent = healthy;
        response->n = sizeof healthy - 1;
        return true;
    }
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

/* Whether the request was sent to one of the server's own names: the public one, this machine's, or an
 * address. A page of another site whose name was made to lead here (DNS rebinding) has its own name in this
 * header. */
static bool is_our_host(const mel_call *call)
{
    const char *host = mel_request_header(call->request, "Host"), *url = call->app->public_url;
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

static bool is_wanted(void *request)
{
    return mel_request_is_wanted(request);
}

/* Within the limits on requests of one address, and on the time that one of them may take; researchers' may
 * take longer, as theirs are few. */
static void answer(mel_call *call, size_t route)
{
    const double most = routes[route].share * call->app->joins;
    if (routes[route].share > 0.0 &&
        !mel_call_may(call, routes[route].path, call->request->client, most < 1.0 ? 1 : (unsigned)most))
        return;
    name_cookie(call);
    const bool researcher = strncmp(routes[route].path, "/api/admin", 10) == 0;
    const double processor = (researcher ? 6.0 : 1.0) * call->app->processor;
    const mel_budget budget = { .processor = processor,
                                .seconds = 6.0 * processor,
                                .memory = call->app->memory,
                                .client = call->request->client,
                                .is_wanted = is_wanted,
                                .user = (void *)(uintptr_t)call->request };
    mel_budget_begin(&budget);
    routes[route].answer(call);
    mel_budget_end();
}

/* What researchers ask for goes into the audit log as well. Which of them it was, if there are several, the
 * beginning of a hash of the cookie tells. */
static void note(const mel_call *call, double begun)
{
    const mel_request *request = call->request;
    char who[9] = "";
    const char *token = mel_request_cookie(request, "melicit_admin");
    const bool researcher = strncmp(request->path, "/api/admin", 10) == 0;
    if (call->app->requests == NULL && (call->app->audit == NULL || !researcher))
        return;
    if (researcher && token != NULL) {
        unsigned char hash[MEL_HASH_BYTES];
        mel_token_hash(hash, token, call->app);
        sodium_bin2hex(who, sizeof who, hash, (sizeof who - 1) / 2);
    }
    json_t *line = json_pack("{s:I, s:s, s:s, s:s, s:i, s:i, s:s*}", "time", (json_int_t)mel_now(), "client",
                             request->client, "method", request->method, "path", request->path, "status",
                             (int)call->response->status, "ms",
                             (int)(1000.0 * (mel_clock_seconds(CLOCK_MONOTONIC) - begun)), "researcher",
                             who[0] != '\0' ? who : NULL);
    if (researcher)
        mel_journal_add(call->app->audit, json_incref(line));
    mel_journal_add(call->app->requests, line);
}

static void dispatch(mel_call *call)
{
    const char *method = call->request->method, *path = call->request->path;
    bool known = false;
    if (!is_our_host(call)) {
        mel_call_error(call, 421, "wrong-host",
                       "this server does not go by that name; --public-url says what it is", NULL);
        return;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!matches(call, routes[i].path, path))
            continue;
        known = true;
        if (strcmp(routes[i].method, method) == 0) {
            answer(call, i);
            return;
        }
    }
    if (known || !is_reading(call->request))
        mel_call_error(call, 405, "method", "this cannot be done here", NULL);
    else if (!mel_handle_at_once(call->response, call->request))
        mel_call_error(call, 404, "not-found", "there is nothing here", NULL);
}

void mel_handle(mel_response *response, const mel_request *request, void *app)
{
    mel_call call = { .response = response, .request = request, .app = app };
    omp_set_num_threads(1); /* for this worker: the other cores serve other requests */
    const double begun = mel_clock_seconds(CLOCK_MONOTONIC);
    dispatch(&call);
    note(&call, begun);
}
