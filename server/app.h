/* The application behind the requests: what handlers share. */
#ifndef MEL_SERVER_APP_H
#define MEL_SERVER_APP_H

#include "app.h"
#include "base/buffer.h"
#include "cache.h"
#include "http.h"
#include "journal.h"
#include <jansson.h>
#include <stdlib.h>

#include "melicit/data.h"

enum {
    MEL_TOKEN_BYTES = 32,
    MEL_TOKEN_TEXT = 48,
    MEL_CSRF_TEXT = 33,
    MEL_TRIES = 20,
    MEL_KNOWN = 64,
    MEL_RESUME_TEXT = 13
};

typedef struct {
    mel_store *store;
    mel_cache *cache;
    unsigned char key[MEL_HASH_BYTES]; /* of all hashes; kept in the store */
    const char *public_url;            /* "https://study.example.org"; NULL: none was given */
    bool secure;                       /* that begins with https: cookies are for TLS only */
    _Atomic(const char *) url; /* what links begin with: that, or the address and port; NULL: not known yet */
    _Atomic int64_t upload_room;       /* bytes that uploads may take in the store */
    const char *const *folders;        /* where data sets are, as in mel_resources; borrowed */
    const json_t *datasets;            /* what /api/datasets lists; borrowed */
    mel_admission *admission;          /* limits on everything */
    _Atomic unsigned joins;            /* of one address within a minute; 0: any number of anything */
    _Atomic double processor;          /* seconds of computing per request; 0: any number */
    _Atomic size_t memory;             /* bytes of the process above which work is given up; 0: any number */
    bool closed;                       /* only researchers start sessions of their own and upload tables */
    _Atomic uint64_t known[MEL_KNOWN]; /* hashes of researchers' cookies that were right; 0: none */
    mel_journal *requests, *audit;     /* of all requests, and of what researchers did; or NULL */
    mel_metrics *metrics;              /* of all requests; NULL: nobody asks */
    _Atomic bool tidy_soon;            /* a study was deleted: housekeeping need not wait for its hour */
    _Atomic bool draining;             /* about to stop: the proxy should send nobody here any more */
} mel_app;

typedef struct {
    mel_response *response;
    const mel_request *request;
    mel_app *app;
    bool known;   /* there is a route of this method and path ... */
    size_t route; /* ... and this is its number */
    bool audited; /* it is something for the audit log: a login, or what a researcher who is logged in did */
    char rest[4][MEL_ID_TEXT + 40]; /* the parts of the path that match the stars of the route */
    mel_error err;                  /* why the last call failed */
    bool answered;                  /* the response is filled */
    /* The participant: id, token of the cookie, and when the store saw them last (0: not asked yet). */
    char participant[MEL_ID_TEXT];
    char cookie[MEL_ID_TEXT + 12]; /* its name: "melicit", or one of the study that the query names */
    const char *token;
    int64_t seen;
    char resume[MEL_RESUME_TEXT]; /* what lets them come back in another browser; empty: they have no label */
    char upload[MEL_ID_TEXT];     /* what was uploaded; or empty */
} mel_call;

/* --- answers -------------------------------------------------------------------------------------- */

/* Takes the value over; NULL becomes 503. */
void mel_call_json(mel_call *call, json_t *value);
/* {"error": {"code", "message"}} with what is in `more` (taken over, or NULL) beside it. Returns a failure,
 * for handlers to return. */
mel_status mel_call_refuse(mel_call *call, unsigned status, const char *code, const char *message);
mel_status mel_call_error(mel_call *call, unsigned status, const char *code, const char *message,
                          json_t *more);
/* Answers with the value (taken over) or, when the status is a failure, with the call's err; not if an answer
 * is there already. */
void mel_call_finish(mel_call *call, mel_status status, json_t *value);
/* Answers with a text (taken over); NULL becomes 503. */
void mel_call_text(mel_call *call, char *text);

/* --- who asks ------------------------------------------------------------------------------------- */

/* A new token and its keyed hash. */
void mel_token_new(char text[MEL_TOKEN_TEXT], unsigned char hash[MEL_HASH_BYTES], const mel_app *app);
void mel_token_hash(unsigned char hash[MEL_HASH_BYTES], const char *text, const mel_app *app);
/* A hash of the cookie, which every request that writes must send back. */
void mel_csrf_of(char csrf[MEL_CSRF_TEXT], const char *token, const mel_app *app);
/* Set-Cookie for a token; NULL: forget it. */
void mel_call_cookie(mel_call *call, const char *name, const char *token, int64_t seconds);
/* The functions that follow fail with the answer set, or with the call's err. */

/* The request must come from our own page: its Origin, and the CSRF header for the cookie of this name (NULL:
 * none is needed yet). If not, 403. */
mel_status mel_call_is_own(mel_call *call, const char *cookie);
/* The answer to a wrong token: 403 or, after too many of one client within a minute, 429. Right ones are
 * never held up. */
mel_status mel_call_wrong_token(mel_call *call, const char *code, const char *message);
/* One more of `what` by `who` must be within so many a minute, otherwise 429. */
mel_status mel_call_may(mel_call *call, const char *what, const char *who, unsigned most);
/* There must be room for it in the store, otherwise 503. */
mel_status mel_call_has_room(mel_call *call, mel_storing what);
/* The client may have more stored within this minute, otherwise 429. */
mel_status mel_call_may_store(mel_call *call);
/* So many bytes were stored for the client. */
void mel_call_stored(mel_call *call, size_t bytes);

/* The body as a JSON object, for the caller to release. mel_call_own_body checks mel_call_is_own first. */
mel_status mel_call_body(json_t **out, mel_call *call);
mel_status mel_call_own_body(json_t **out, mel_call *call, const char *cookie);
/* There must be a participant behind the cookie, otherwise 403. */
mel_status mel_call_participant(mel_call *call);
/* That participant, for the caller to release. */
mel_status mel_call_take(mel_participant **out, mel_call *call);
/* The same, if the study shows them the result now. In a session without a study (mel_is_own) they always see
 * it. */
mel_status mel_call_take_for_result(mel_participant **out, mel_call *call);
bool mel_is_own(const mel_participant *participant);
/* A researcher must be logged in, otherwise 403; and the request come from our own page, if it writes. */
mel_status mel_call_admin(mel_call *call);
mel_status mel_admin_may_write(mel_call *call);
/* Whether they are, quietly: MEL_EINVAL when not. */
mel_status mel_call_find_login(mel_call *call);
/* Sessions of one's own and uploads must be for everybody, or a researcher ask, otherwise 403. */
mel_status mel_call_is_open(mel_call *call);

int64_t mel_now(void); /* milliseconds since 1970 */
void mel_new_id(char id[MEL_ID_TEXT]);
uint64_t mel_new_seed(void);
/* The row of a new participant, for the caller to clear, on failure too. label may be NULL; about is taken
 * over. */
mel_status mel_new_participant(mel_participant_row *out, const char *study, const char *label, uint64_t seed,
                               json_t *about, mel_error *err);

/* The researcher's token: a new one replaces the old one and ends all logins or, unless `replace`, is only
 * made where there is none yet; *mine says whether it was. */
#define MEL_ADMIN_TOKEN "researcher" /* the name of its hash in the store */
#define MEL_URL_BLOB "url"           /* where the server that started last on the store is seen */
enum {
    MEL_ADMIN_NAME = 6 + 2 * MEL_HASH_BYTES + 1,
    MEL_LINK_TEXT = 23,
    MEL_MOST_LABEL = 120,
    MEL_MOST_URL = 2000
};
mel_status mel_admin_token_new(char token[MEL_TOKEN_TEXT], bool *mine, bool replace, const mel_app *app,
                               mel_error *err);
/* Ends all logins of researchers. */
mel_status mel_admin_logout_all(const mel_app *app, mel_error *err);
/* What a label's link carries, so that nobody can take part under a label by guessing it. */
void mel_link_of(char link[MEL_LINK_TEXT], const char *study, const char *label, const mel_app *app);
/* What lets somebody who takes part under a label come back in another browser: shown to them alone, and
 * another one each time they have left; without a label it is empty. */
void mel_resume_of(char code[MEL_RESUME_TEXT], const mel_participant_row *participant, const mel_app *app);
#define MEL_TIMES_LEFT "left" /* how often they have, in `about` */
/* The link of a label of a study, which is another one each time it was revoked. */
mel_status mel_link_now(char link[MEL_LINK_TEXT], const char *study, const char *label, const mel_app *app,
                        mel_error *err);
/* "?label=..&link=..", everything but letters and digits escaped; freed by the caller. */
mel_status mel_link_query(char **out, const char *study, const char *label, const mel_app *app,
                          mel_error *err);
/* The links that were made for these labels (texts) open nothing any more, nor do cookies and codes of those
 * who took part with them. */
mel_status mel_links_revoke(const mel_app *app, const char *study, const json_t *labels, mel_error *err);
/* Replaces the participant's token by one that nobody gets to know, and counts that they left, which makes
 * another code. */
mel_status mel_end_cookie(const mel_app *app, const mel_participant_row *participant, mel_error *err);
/* Under which name the store notes that a study has links; those of single links go on with a colon. */
mel_name mel_links_name(const char *study);
/* Links were made for these labels (texts): from now on a study takes nobody new under a label without its
 * link. */
mel_status mel_links_note(const mel_app *app, const char *study, const json_t *labels, mel_error *err);
/* Whether somebody new needs a link for this label: everybody does once the study has links; Prolific's ids
 * only where a link was made for the same text. */
mel_status mel_links_needed(bool *out, const mel_app *app, const char *study, const char *label,
                            bool from_prolific, mel_error *err);
/* [{"id", "title", "state", "created", "participants"}]; NULL with err. */
/* {"active": n, "complete": n, "left": n, "simulated": n} */
json_t *mel_counts_json(const mel_study_counts *counts);
json_t *mel_studies_json(mel_store *store, mel_error *err);

/* --- uploads -------------------------------------------------------------------------------------- */

#define MEL_UPLOAD "upload:" /* precedes the id of an upload, in a space and in the store */
bool mel_is_upload(const char *text);
/* The table of an upload, as heavy work. */
mel_status mel_upload_open(mel_table **out, mel_admission **held, mel_call *call, const char *id);
/* Columns that are to be read as texts or numbers, whatever they look like. */
typedef struct {
    mel_column_override *column;
    size_t n;
} mel_columns_as;
static inline void mel_columns_as_clear(mel_columns_as *as)
{
    free(as->column);
}
/* The table of an upload within work that has begun; as: or NULL. */
mel_status mel_upload_read(mel_table **out, mel_call *call, const char *id, const mel_columns_as *as);
/* The place of its column of that name; SIZE_MAX: there is none. */
size_t mel_upload_column(const mel_table *table, const char *name);
/* For mel_http_options: who wants to upload something. Asks memory alone. */
mel_sender mel_upload_sender(const mel_request *request, void *app);
/* Whether this process has seen that the cookie of the request is a researcher's. */
bool mel_request_is_known(const mel_request *request, mel_app *app);
/* Whether strangers may use this space: bundled data, uploads and models, never files of the server. */
bool mel_space_is_allowed(const json_t *space, const json_t *datasets);
/* Whether a space is about nobody's own files: its settings say nothing about them. */
bool mel_space_is_example(const json_t *space);
/* The uploads that a session of one's own is about, from what the store has about the participant; how many
 * there are. */
enum { MEL_SPACE_FILES = 16 }; /* room for all keys that name files */
size_t mel_own_uploads(const char *name[MEL_SPACE_FILES], const json_t *about);
/* Keeps the uploads that a space names until then; 0: for ever. */
mel_status mel_space_keep(mel_store *store, const json_t *space, int64_t expires, mel_error *err);

/* --- routes --------------------------------------------------------------------------------------- */

void mel_handle(mel_response *response, const mel_request *request, void *app);
/* Pages, the files that they need, health and metrics: what needs no worker. False: it is something else. */
bool mel_handle_at_once(mel_response *response, const mel_request *request, void *app);

/* Answers with the page of the call's participant. */
mel_status mel_api_give_page(mel_call *call);
/* What a session is started with: the body (taken over), or what the session of the link in "like" was
 * started with. */
mel_status mel_share_start(json_t **out, mel_call *call, json_t *body);
/* The token for writing, in answers to researchers. */
json_t *mel_admin_csrf(const mel_call *call);

/* What answers a request of a route: with *out, or by itself. */
typedef mel_status mel_endpoint(json_t **out, mel_call *call);
mel_endpoint mel_api_join, mel_api_start, mel_api_upload, mel_api_columns, mel_api_check, mel_api_datasets,
    mel_api_page, mel_api_event, mel_api_undo, mel_api_result, mel_api_download, mel_api_decide,
    mel_api_today, mel_api_share, mel_api_shared, mel_api_leave, mel_api_mine, mel_api_erase, mel_admin_login,
    mel_admin_logout, mel_admin_studies, mel_admin_create, mel_admin_preview, mel_admin_delete_study,
    mel_admin_person, mel_admin_study, mel_admin_state, mel_admin_links, mel_admin_revoke, mel_admin_export,
    mel_admin_delete, mel_admin_rehearse, mel_admin_plan, mel_admin_uploads, mel_admin_delete_upload;

/* The columns of numbers that are to be read as texts in order to find ids: the one of this name, else those
 * that are called id. For free(out->column); the names are the table's. */
mel_status mel_ids_as_texts(mel_columns_as *out, const mel_table *table, const char *name, mel_error *err);
/* The column of texts or whole numbers that the same search finds in `texts`, the table with these columns
 * read as texts: what tells rows apart and nothing else. NULL: none. */
const char *mel_ids_name(const mel_table *table, const mel_table *texts);

#endif
