/* What handlers share: answers, tokens, cookies, who asks. */
#include "app.h"

#include "clock.h"
#include "json_helpers.h"

#include "base/internal.h"

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
    call->answered = true;
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

mel_status mel_call_error(mel_call *call, unsigned status, const char *code, const char *message,
                          json_t *more)
{
    json_t *answer = json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", message);
    if (answer != NULL && more != NULL)
        (void)json_object_update(answer, more);
    json_decref(more);
    call->response->status = status;
    if (status == 503 || status == 429)
        call->response->retry = status == 503 ? 2 : 60;
    mel_call_json(call, answer);
    return MEL_ESTATE;
}

mel_status mel_call_refuse(mel_call *call, unsigned status, const char *code, const char *message)
{
    return mel_call_error(call, status, code, message, NULL);
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

static bool is_researchers(const mel_call *call)
{
    return strncmp(call->request->path, "/api/admin", 10) == 0;
}

/* Whether the request is a researcher's, who is told everything, or brings data of its own, which failures
 * are about. */
static bool may_hear_details(const mel_call *call)
{
    static const char *const own[] = { "/api/start", "/api/check", "/api/upload", "/api/columns" };
    bool brings = false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        brings = brings || strcmp(call->request->path, own[i]) == 0;
    return brings || is_researchers(call);
}

/* Where the server has its data is nobody's business: the name of a file is enough. */
static void cut_folders(mel_call *call)
{
    char *text = call->err.text;
    for (const char *const *folder = call->app->folders; folder != NULL && *folder != NULL; folder++) {
        const size_t n = strlen(*folder);
        for (char *at = text; n > 0 && (at = strstr(at, *folder)) != NULL;) {
            const size_t slash = strspn(at + n, "/");
            memmove(at, at + n + slash, strlen(at + n + slash) + 1);
        }
    }
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
    if (call->answered) {
        json_decref(value);
        return;
    }
    if (status == MEL_OK) {
        mel_call_json(call, value);
        return;
    }
    json_decref(value);
    const bool details = may_hear_details(call);
    if (!is_researchers(call))
        cut_folders(call);
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
    const bool said = storage ? is_researchers(call) : details;
    (void)mel_call_refuse(call, failures[i].http, failures[i].code, said ? call->err.text : failures[i].told);
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
    const bool secure = call->app->secure;
    (void)snprintf(call->response->cookie, sizeof call->response->cookie,
                   "%s%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s",
                   secure ? MEL_HOST_COOKIE : "", name, token != NULL ? token : "",
                   token != NULL ? (long long)seconds : 0LL, secure ? "; Secure" : "");
}

/* Compares the Origin header with the server's own scheme and host. */
static bool same_origin(const mel_call *call, const char *origin)
{
    const char *url = call->app->public_url, *host = mel_request_header(call->request, "Host");
    if (url != NULL)
        return strcmp(origin, url) == 0;
    const size_t scheme = strncmp(origin, "https://", 8) == 0  ? 8
                          : strncmp(origin, "http://", 7) == 0 ? 7
                                                               : 0;
    return host != NULL && scheme > 0 && strcmp(origin + scheme, host) == 0;
}

mel_status mel_call_is_own(mel_call *call, const char *cookie)
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
    return own ? MEL_OK
               : mel_call_refuse(call, 403, "refused",
                                 "this request did not come from the page that the server gave; reload it");
}

mel_status mel_call_wrong_token(mel_call *call, const char *code, const char *message)
{
    if (mel_admission_count(call->app->admission, "token", call->request->client, MEL_TRIES) != 0)
        return mel_call_refuse(call, 429, "too-many", "too many wrong tokens were tried; wait a minute");
    return mel_call_refuse(call, 403, code, message);
}

mel_status mel_call_may(mel_call *call, const char *what, const char *who, unsigned most)
{
    const unsigned wait =
        call->app->joins > 0 ? mel_admission_count(call->app->admission, what, who, most) : 0;
    if (wait == 0)
        return MEL_OK;
    const mel_status refused =
        mel_call_refuse(call, 429, "too-many", "too many requests within a minute; wait until it is over");
    call->response->retry = wait;
    return refused;
}

mel_status mel_call_has_room(mel_call *call, mel_storing what)
{
    mel_admission *disk = call->app->admission;
    if (mel_disk_has_room(disk, what, call->request->n))
        return MEL_OK;
    char text[320] = "the server has no room for more at the moment; what was saved is safe";
    if (is_researchers(call))
        (void)snprintf(text, sizeof text,
                       "there is no room for more: the store takes %lld MB (store-room), and %lld MB of the "
                       "disk are free (keep-free); delete studies, participants or uploads",
                       (long long)disk->store_bytes / 1000000, (long long)disk->disk_free / 1000000);
    const mel_status refused = mel_call_refuse(call, 503, "no-room", text);
    call->response->retry = 60;
    return refused;
}

/* kB of one address within a minute, per join that is allowed; each answer or start is one at least. */
enum { STORED_SHARE = 100 };
static const char stored_kilobytes[] = "stored";

mel_status mel_call_may_store(mel_call *call)
{
    return mel_call_may(call, stored_kilobytes, call->request->client, STORED_SHARE * call->app->joins);
}

void mel_call_stored(mel_call *call, size_t bytes)
{
    mel_admission_add(call->app->admission, stored_kilobytes, call->request->client,
                      (unsigned)(bytes / 1024));
}

mel_status mel_call_body(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    mel_status status = mel_json_parse(&body, call->request->body, call->request->n, &call->err);
    if (status == MEL_OK && !json_is_object(body))
        status = mel_fail(&call->err, MEL_EDATA, "expected a JSON object");
    *out = status == MEL_OK ? json_incref(body) : NULL;
    return status == MEL_EDATA ? MEL_EINVAL : status;
}

mel_status mel_call_own_body(json_t **out, mel_call *call, const char *cookie)
{
    TRY(mel_call_is_own(call, cookie));
    return mel_call_body(out, call);
}

mel_status mel_call_is_open(mel_call *call)
{
    if (!call->app->closed) {
        (void)mel_call_find_login(call); /* for the audit log alone */
        return MEL_OK;
    }
    if (mel_request_cookie(call->request, "melicit_admin") != NULL)
        return mel_call_admin(call);
    return mel_call_refuse(call, 403, "closed",
                           "on this server only researchers start sessions and upload tables");
}

mel_status mel_call_participant(mel_call *call)
{
    static const char nobody[] = "no study or session is open in this browser";
    call->token = mel_request_cookie(call->request, call->cookie);
    if (call->token == NULL)
        return mel_call_refuse(call, 403, "no-session", nobody);
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_hash(hash, call->token, call->app);
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    const mel_status status = mel_store_participant_by_token(&row, call->app->store, hash, &call->err);
    if (status == MEL_EINVAL)
        return mel_call_wrong_token(call, "no-session", nobody);
    TRY(status);
    memcpy(call->participant, row.id, sizeof row.id);
    call->seen = row.seen;
    mel_resume_of(call->resume, &row, call->app);
    return MEL_OK;
}

mel_status mel_call_take(mel_participant **out, mel_call *call)
{
    return mel_participant_take(out, call->app->cache, call->participant, call->seen, &call->err);
}
