/* How participants come: they join a study, come back to it, or start a session of their own. */
#include "app.h"
#include "json_helpers.h"
#include "manage.h"

#include "base/internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>

enum {
    COOKIE_DAYS = 30,
    QUOTA_MINUTES = 60, /* that somebody who says nothing counts towards a quota */
    UPLOAD_DAYS = 30,   /* that the table of a session of one's own is kept, as long as its cookie */
    STUDY_SHARE = 10    /* joins of a study within a minute, per join of one address that is allowed */
};

/* --- with a new cookie -------------------------------------------------------------------------- */

static mel_status let_in(mel_call *call, const mel_participant_row *who, const char *token)
{
    (void)snprintf(call->participant, sizeof call->participant, "%s", who->id);
    mel_resume_of(call->resume, who, call->app);
    call->token = token;
    mel_call_cookie(call, call->cookie, token, (int64_t)COOKIE_DAYS * 86400);
    return mel_api_give_page(call);
}

/* A new participant, unless the study is full (most: its quota, 0: none). */
static mel_status join_as_new(mel_call *call, const char *study, const char *label, uint32_t most,
                              json_t *about)
{
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    char token[MEL_TOKEN_TEXT];
    TRY(mel_call_has_room(call, MEL_STORES_NEW));
    TRY(mel_new_participant(&row, study, label, mel_new_seed(), json_incref(about), &call->err));
    mel_token_new(token, row.token, call->app);
    const mel_quota quota = { .most = most, .since = mel_now() - (int64_t)QUOTA_MINUTES * 60000 };
    bool full = false;
    TRY(mel_store_admit_participant(&full, call->app->store, &row, &quota, &call->err));
    if (full)
        return mel_call_refuse(call, 409, "full", "this study has all the participants that it needs");
    mel_call_stored(call, strlen(row.about));
    return let_in(call, &row, token);
}

/* Somebody who was here before. */
static mel_status join_again(mel_call *call, const mel_participant_row *earlier)
{
    char token[MEL_TOKEN_TEXT];
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_new(token, hash, call->app);
    TRY(mel_store_set_token(call->app->store, earlier->id, hash, &call->err));
    return let_in(call, earlier, token);
}

/* --- studies ------------------------------------------------------------------------------------ */

typedef struct {
    const char *study, *label;
    const char *resume;     /* a code that was shown to the person; or NULL */
    const json_t *prolific; /* or NULL */
    bool linked;            /* a valid link proves the label */
    bool named;             /* the label is Prolific's id of the person */
} joiner;

/* The participant of this study whom the cookie names; MEL_EINVAL: nobody. */
static mel_status find_by_cookie(mel_participant_row *out, mel_call *call, const joiner *who)
{
    const char *token = mel_request_cookie(call->request, call->cookie);
    unsigned char hash[MEL_HASH_BYTES];
    if (token == NULL) /* once all studies shared one cookie */
        token = mel_request_cookie(call->request, "melicit");
    if (token == NULL)
        return MEL_EINVAL;
    mel_token_hash(hash, token, call->app);
    const mel_status status = mel_store_participant_by_token(out, call->app->store, hash, &call->err);
    if (status != MEL_OK || strcmp(out->study, who->study) == 0)
        return status;
    mel_participant_row_clear(out);
    return MEL_EINVAL;
}

static bool has_code(const mel_call *call, const joiner *who, const mel_participant_row *row)
{
    char right[MEL_RESUME_TEXT];
    mel_resume_of(right, row, call->app);
    return who->resume != NULL && right[0] != '\0' && strlen(who->resume) == strlen(right) &&
           sodium_memcmp(who->resume, right, strlen(right)) == 0;
}

/* The participant under the label; MEL_EINVAL: nobody yet, MEL_ECONFLICT: nothing proves that it is theirs.
 * The first visit bound the label to that browser's cookie: another one needs the personal link or the code
 * that was shown. */
static mel_status find_by_label(mel_participant_row *out, mel_call *call, const joiner *who)
{
    const mel_status status =
        mel_store_participant_by_label(out, call->app->store, who->study, who->label, &call->err);
    if (status != MEL_OK || who->linked || has_code(call, who, out))
        return status;
    mel_participant_row_clear(out);
    return MEL_ECONFLICT;
}

static bool same_label(const mel_participant_row *row, const char *label)
{
    return row->label != NULL && strcmp(row->label, label) == 0;
}

/* The participant who comes back; MEL_EINVAL: somebody new, MEL_ECONFLICT: nothing proves that the label is
 * theirs, MEL_ESTATE: somebody else is in the middle of the study in this browser. */
static mel_status find_earlier(mel_participant_row *out, mel_call *call, const joiner *who)
{
    mel_status status = find_by_cookie(out, call, who);
    if (who->label == NULL || (status == MEL_OK && same_label(out, who->label)))
        return status;
    const bool other = status == MEL_OK && strcmp(out->state, "active") == 0 && out->seen != out->created;
    mel_participant_row_clear(out);
    if (status != MEL_OK && status != MEL_EINVAL)
        return status;
    return other ? MEL_ESTATE : find_by_label(out, call, who);
}

/* Admits somebody new if the study is open, not full, and needs no link from them. after: whom they were
 * before, or NULL. */
static mel_status admit(mel_call *call, const mel_open_study *open_study, const joiner *who,
                        const char *after)
{
    bool linkless = false;
    if (strcmp(open_study->state, "open") != 0)
        return mel_call_refuse(call, 409, "closed", "this study is closed");
    if (who->label != NULL && !who->linked)
        TRY(mel_links_needed(&linkless, call->app, who->study, who->label, who->named, &call->err));
    if (linkless)
        return mel_call_wrong_token(call, "wrong-link",
                                    "this study is for those who have a personal link; use all of it");
    json_auto_t *about = json_pack("{s:s*, s:O*}", "after", after, "prolific", (json_t *)who->prolific);
    if (about == NULL)
        return mel_fail_memory(&call->err, "a participant");
    if (open_study->study->learns)
        TRY(mel_manage_put_prior(about, call->app->cache, who->study, &call->err));
    return join_as_new(call, who->study, who->label, open_study->study->quota, about);
}

/* Admits somebody who comes back, as the study says. No events yet: treat as new, because the first reply may
 * have been lost. */
static mel_status rejoin(mel_call *call, const mel_open_study *open_study, const joiner *who,
                         const mel_participant_row *earlier)
{
    const mel_study *study = open_study->study;
    const bool fresh = (double)(mel_now() - earlier->seen) < 3.6e6 * study->resume_hours;
    const bool over = strcmp(earlier->state, "active") != 0, begun = earlier->seen != earlier->created;
    if (!begun || (study->resume == MEL_RESUME && (fresh || over)))
        return join_again(call, earlier);
    if (study->resume == MEL_RESTART && who->label == NULL)
        return admit(call, open_study, who, earlier->id);
    return mel_call_refuse(call, 409, "taken", "you have taken part in this study already");
}

/* Codes are not to be guessed. */
static mel_status refuse_label(mel_call *call, const joiner *who)
{
    if (who->resume != NULL)
        return mel_call_wrong_token(call, "wrong-code",
                                    "this is not the code that was shown in the other browser");
    return mel_call_refuse(
        call, 409, "taken",
        "somebody has taken part under this name already; if it was you, enter the code that was shown to "
        "you, or ask the researchers for your personal link");
}

static mel_status join(mel_call *call, const mel_open_study *open_study, const joiner *who)
{
    MEL_ROW(mel_participant_row) earlier = { .label = NULL };
    const mel_status status = find_earlier(&earlier, call, who);
    if (status == MEL_EINVAL)
        return admit(call, open_study, who, NULL);
    if (status == MEL_ECONFLICT)
        return refuse_label(call, who);
    if (status == MEL_ESTATE)
        return mel_call_refuse(
            call, 409, "somebody-else",
            "somebody else is in the middle of this study in this browser; let them finish, or use another "
            "browser");
    TRY(status);
    return rejoin(call, open_study, who, &earlier);
}

/* Texts that Prolific adds to its links; they are kept. */
static bool is_prolific(const json_t *object)
{
    enum { MOST = 5, MOST_TEXT = 120 };
    const char *name;
    json_t *value;
    if (!json_is_object(object) || json_object_size(object) > MOST)
        return false;
    json_object_foreach((json_t *)object, name, value)
    {
        if (strlen(name) > MOST_TEXT || !json_is_string(value) || json_string_length(value) > MOST_TEXT)
            return false;
    }
    return true;
}

/* Label and proof. */
static mel_status read_joiner(joiner *out, mel_call *call, const json_t *body)
{
    const json_t *prolific = json_object_get(body, "prolific");
    const char *id = mel_json_string(prolific, "PROLIFIC_PID"), *link = mel_json_string(body, "link");
    *out = (joiner){ .study = mel_json_string(body, "study"),
                     .label = mel_json_string(body, "label"),
                     .resume = mel_json_string(body, "resume"),
                     .prolific = prolific };
    out->named = out->label == NULL && id != NULL;
    if (out->named)
        out->label = id;
    if (out->study == NULL || strlen(out->study) >= MEL_ID_TEXT ||
        (out->label != NULL && (strlen(out->label) > MEL_MOST_LABEL || out->label[0] == '\0')))
        return mel_call_refuse(call, 400, "bad-request", "study: expected the id of a study");
    if (prolific != NULL && !is_prolific(prolific))
        return mel_call_refuse(call, 400, "bad-request", "prolific: expected at most five short texts");
    if (out->label == NULL || link == NULL)
        return MEL_OK;
    char right[MEL_LINK_TEXT];
    TRY(mel_link_now(right, out->study, out->label, call->app, &call->err));
    out->linked = strlen(link) == strlen(right) && sodium_memcmp(link, right, strlen(right)) == 0;
    return out->linked ? MEL_OK
                       : mel_call_wrong_token(call, "wrong-link", "this link is not one of the study's");
}

mel_status mel_api_join(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    joiner who;
    (void)out; /* the page is written out at once */
    TRY(mel_call_own_body(&body, call, NULL));
    TRY(read_joiner(&who, call, body));
    TRY(mel_call_may(call, "study", who.study, STUDY_SHARE * call->app->joins));
    MEL_AUTO(mel_open_study) *open_study = NULL;
    const mel_status status = strcmp(who.study, MEL_NO_STUDY) != 0
                                  ? mel_open_study_by_id(&open_study, call->app->cache, who.study, &call->err)
                                  : MEL_EINVAL;
    if (status == MEL_EINVAL)
        return mel_call_refuse(call, 404, "no-study", "there is no such study");
    TRY(status);
    return join(call, open_study, &who);
}

/* --- a session of one's own --------------------------------------------------------------------- */

/* What a session of one's own would be about, from the body of a request to start one; checks that strangers
 * may use the space, that it can be made, and that the options fit together. Failures are in the call's err.
 */
static mel_status open_own(mel_open_study **out, mel_call *call, const json_t *body)
{
    mel_study *study = NULL;
    MEL_AUTO(mel_flow) *flow = NULL;
    MEL_HELD(held);
    *out = NULL;
    if (!mel_space_is_allowed(json_object_get(body, "space"), call->app->datasets))
        return mel_fail(&call->err, MEL_EINVAL,
                        "space: choose bundled data, an upload, a population or a ball");
    TRY(mel_study_for_session(&study, body, &call->err));
    const mel_status fit = mel_study_check_new(study, &call->err);
    if (fit != MEL_OK)
        mel_study_free(study);
    TRY(fit);
    TRY(mel_open_study_of(out, call->app->cache, study, &call->err));
    TRY(mel_cache_begin_flow(&held, call->app->cache, *out, MEL_WORK_ANSWER, &call->err));
    return mel_flow_new(&flow, (*out)->study, (*out)->problem, 1, NULL, &call->err);
}

mel_status mel_api_start(json_t **out, mel_call *call)
{
    json_t *sent = NULL;
    json_auto_t *body = NULL;
    (void)out; /* the page is written out at once */
    TRY(mel_call_is_open(call));
    TRY(mel_call_may_store(call));
    TRY(mel_call_own_body(&sent, call, NULL));
    TRY(mel_share_start(&body, call, sent));
    MEL_AUTO(mel_open_study) *open_study = NULL;
    TRY(open_own(&open_study, call, body));
    TRY(mel_space_keep(call->app->store, json_object_get(body, "space"),
                       mel_now() + (int64_t)UPLOAD_DAYS * 86400000, &call->err));
    json_auto_t *about = json_pack("{s:O}", "start", body);
    return join_as_new(call, MEL_NO_STUDY, NULL, 0, about);
}

/* --- checking before starting ----------------------------------------------------------------------- */

static const double usual_alarms = 0.1; /* the false alarms at which the page says how many are found */

/* The rows of each class, and how many of them their most probable class is right about. */
static mel_status count_rows(json_t **classes, const mel_problem *problem, mel_error *err)
{
    const size_t k = problem->n_classes;
    MEL_AUTO_MEMORY size_t *rows = mel_alloc_zero(2 * k, sizeof *rows);
    if (rows == NULL)
        return mel_fail_memory(err, "rows of classes");
    size_t *right = rows + k;
    for (size_t i = 0; i < problem->n_rows; i++) {
        const double *p = problem->probability + i * k;
        size_t best = 0;
        for (size_t c = 1; c < k; c++)
            best = p[c] > p[best] ? c : best;
        rows[problem->label[i]]++;
        right[problem->label[i]] += best == problem->label[i];
    }
    for (size_t c = 0; c < k; c++)
        mel_json_push(classes, json_pack("{s:s, s:I, s:I}", "name", problem->class_name[c], "rows",
                                         (json_int_t)rows[c], "right", (json_int_t)right[c]));
    return MEL_OK;
}

/* {"rows", "classes": [{"name", "rows", "right"}], "auc"?, "found"?, "alarms"?} */
static mel_status describe_rows(json_t **out, const mel_problem *problem, mel_error *err)
{
    json_t *classes = json_array();
    const mel_status counted = count_rows(&classes, problem, err);
    mel_json_set(out, "classes", classes);
    TRY(counted);
    mel_separation separation = { .auc = (double)NAN };
    if (problem->n_classes == 2)
        TRY(mel_separation_of(&separation, problem->n_rows, problem->probability, problem->label,
                              usual_alarms, err));
    mel_json_set(out, "rows", json_integer((json_int_t)problem->n_rows));
    if (isfinite(separation.auc)) {
        mel_json_set(out, "auc", json_real(separation.auc));
        mel_json_set(out, "found", json_real(separation.found));
        mel_json_set(out, "alarms", json_real(separation.alarms));
    }
    return MEL_OK;
}

/* {"classifiers", "classes": [{"name"}]} */
static void describe_pool(json_t **out, const mel_problem *problem)
{
    json_t *classes = json_array();
    for (size_t c = 0; c < problem->n_classes; c++)
        mel_json_push(&classes, json_pack("{s:s}", "name", problem->class_name[c]));
    mel_json_set(out, "classes", classes);
    mel_json_set(out, "classifiers", json_integer((json_int_t)problem->pool->n));
}

static void keep_warning(void *user, const char *file, mel_format format, const char *sentence,
                         bool is_warning)
{
    (void)file;
    (void)format;
    if (is_warning)
        (void)json_array_append_new(user, json_string(sentence));
}

static mel_status check_rows(json_t **out, mel_call *call, const mel_study *study)
{
    MEL_AUTO(mel_problem) *rows = NULL;
    MEL_HELD(held);
    TRY(mel_work_begin(&held, call->app->admission, &(mel_work){ .own = true, .shared = true }, &call->err));
    json_auto_t *warnings = json_array();
    TRY(mel_cache_read_rows(&rows, call->app->cache, study, false, (mel_notice){ keep_warning, warnings },
                            &call->err));
    TRY(describe_rows(out, rows, &call->err));
    mel_json_set(out, "warnings", json_incref(warnings));
    return MEL_OK;
}

mel_status mel_api_check(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    MEL_AUTO(mel_open_study) *open_study = NULL;
    TRY(mel_call_is_open(call));
    TRY(mel_call_own_body(&body, call, NULL));
    TRY(open_own(&open_study, call, body));
    *out = json_object();
    if (open_study->problem->n_rows > 0)
        TRY(check_rows(out, call, open_study->study));
    if (open_study->problem->pool != NULL)
        describe_pool(out, open_study->problem);
    return *out != NULL ? MEL_OK : mel_fail_memory(&call->err, "a check");
}
