/* What participants take home: the result, files that they can download, and links to share it. */
#include "app.h"
#include "json_helpers.h"
#include "languages.h"
#include "manage.h"

#include "base/internal.h"

#include "melicit/report.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

bool mel_is_own(const mel_participant *participant)
{
    return strcmp(participant->row.study, MEL_NO_STUDY) == 0;
}

mel_status mel_call_take_for_result(mel_participant **out, mel_call *call)
{
    TRY(mel_call_participant(call));
    TRY(mel_call_take(out, call));
    if (mel_is_own(*out) || mel_flow_shows_result((*out)->flow))
        return MEL_OK;
    mel_participant_release(call->app->cache, *out, true);
    *out = NULL;
    return mel_call_refuse(call, 403, "not-now", "the study does not show a result here");
}

typedef mel_status (*maker)(char **out, mel_flow *flow, bool own, mel_error *err);

/* Answers with what is made of the participant's session, as heavy work where it takes long. */
static mel_status give_text(mel_call *call, maker make, mel_flow_work what)
{
    mel_participant *participant = NULL;
    char *text = NULL;
    TRY(mel_call_take_for_result(&participant, call));
    MEL_HELD(held);
    mel_status status =
        mel_cache_begin_flow(&held, call->app->cache, participant->open_study, what, &call->err);
    if (status == MEL_OK)
        status = make(&text, participant->flow, mel_is_own(participant), &call->err);
    mel_participant_release(call->app->cache, participant, true);
    TRY(status);
    mel_call_text(call, text);
    return MEL_OK;
}

static mel_status result_text(char **out, mel_flow *flow, bool own, mel_error *err)
{
    (void)own;
    json_t *result = NULL;
    mel_status status = mel_result_json(&result, flow, err);
    result = status == MEL_OK ? json_pack("{s:o}", "result", result) : NULL;
    *out = mel_json_text(result, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(result);
    return status == MEL_OK && *out == NULL ? mel_fail_memory(err, "the result") : status;
}

mel_status mel_api_result(json_t **out, mel_call *call)
{
    (void)out;
    return give_text(call, result_text, MEL_WORK_RESULT);
}

/* A study's data are not the participant's: nothing says where they are, or what is in them. */
static mel_status session_text(char **out, mel_flow *flow, bool own, mel_error *err)
{
    const mel_problem *problem = mel_flow_problem(flow);
    const mel_identity identity = { .space_json = own ? problem->description : NULL,
                                    .digest = own && problem->digest[0] != '\0' ? problem->digest : NULL };
    return mel_session_to_text(out, mel_flow_session(flow), &identity, err);
}

static mel_status metric_text(char **out, mel_flow *flow, bool own, mel_error *err)
{
    (void)own;
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_status status = mel_session_result(&metric, &summary, mel_flow_session(flow), err);
    if (status == MEL_OK)
        status = mel_metric_to_json(out, metric, err);
    mel_metric_free(metric);
    return status;
}

static mel_status report_text(char **out, mel_flow *flow, bool own, mel_error *err)
{
    mel_report_options opt;
    mel_report_options_init(&opt);
    mel_outcome_options names = mel_result_options(mel_flow_study(flow), mel_flow_problem(flow));
    names.treatments = true;
    mel_flow_put_today(&names, flow);
    opt.about = &names;
    opt.space_options = own ? mel_flow_problem(flow)->typed : NULL;
    return mel_report_session(out, mel_flow_session(flow), &opt, err);
}

mel_status mel_api_download(json_t **out, mel_call *call)
{
    static const struct {
        const char *what, *name, *type;
        maker make;
        mel_flow_work work;
    } kinds[] = {
        { "metric", "metric.json", "application/json", metric_text, MEL_WORK_RESULT },
        { "session", "session.jsonl", "application/x-ndjson", session_text, MEL_WORK_RESULT },
        { "report", "report.html", "text/html; charset=utf-8", report_text, MEL_WORK_REPORT },
    };
    (void)out;
    size_t i = 0;
    while (i < 3 && strcmp(kinds[i].what, call->rest[0]) != 0)
        i++;
    if (i == 3)
        return mel_call_refuse(call, 404, "not-found", "there is metric, session and report");
    TRY(give_text(call, kinds[i].make, kinds[i].work));
    call->response->type = kinds[i].type;
    (void)snprintf(call->response->name, sizeof call->response->name, "%s", kinds[i].name);
    return MEL_OK;
}

/* --- shared links ----------------------------------------------------------------------------------- */

/* No study has such an id: what proves a link of ours is no personal link of a study. */
#define SHARED "shared result"

/* In what is stored about somebody: how often they revoked their link. */
#define TIMES_REVOKED "revoked"

/* What proves the link of a result; after it was revoked, another one. */
static void proof_of(char proof[MEL_LINK_TEXT], const mel_participant_row *row, const mel_app *app)
{
    char text[MEL_ID_TEXT + 24];
    json_auto_t *about = row->about != NULL ? mel_stored_json(row->about) : NULL;
    const double times = mel_json_number(about, TIMES_REVOKED, 0.0);
    (void)snprintf(text, sizeof text, times > 0.0 ? "%s %.0f" : "%s", row->id, times);
    mel_link_of(proof, SHARED, text, app);
}

/* Whose result a link shows, if the proof is that of the link. */
static mel_status find_shared(mel_participant_row *row, mel_call *call, const char *id, const char *proof)
{
    char right[MEL_LINK_TEXT] = "";
    const bool asked = id != NULL && proof != NULL && strlen(id) < MEL_ID_TEXT;
    mel_status status = asked ? mel_store_participant(row, call->app->store, id, &call->err) : MEL_EINVAL;
    if (status == MEL_OK)
        proof_of(right, row, call->app);
    if (status == MEL_OK && (strcmp(row->study, MEL_NO_STUDY) != 0 || strlen(proof) != strlen(right) ||
                             sodium_memcmp(proof, right, strlen(right)) != 0))
        status = MEL_EINVAL;
    if (status == MEL_EINVAL)
        return mel_call_wrong_token(call, "no-result",
                                    "this link shows no result, or it was revoked or deleted");
    return status;
}

static mel_status revoke_link(const mel_participant_row *row, mel_call *call)
{
    json_auto_t *about = row->about != NULL ? mel_stored_json(row->about) : json_object();
    const double times = mel_json_number(about, TIMES_REVOKED, 0.0) + 1.0;
    char *text = mel_json_put(about, TIMES_REVOKED, json_integer((json_int_t)times))
                     ? mel_json_text(about, JSON_COMPACT)
                     : NULL;
    const mel_status status = text != NULL
                                  ? mel_store_revoke(call->app->store, row->id, row->token, text, &call->err)
                                  : mel_fail_memory(&call->err, "a link");
    mel_json_free_text(text);
    return status;
}

mel_status mel_api_share(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    mel_participant *participant = NULL;
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    char id[MEL_ID_TEXT], proof[MEL_LINK_TEXT], path[MEL_ID_TEXT + MEL_LINK_TEXT + 8];
    TRY(mel_call_own_body(&body, call, call->cookie));
    TRY(mel_call_take_for_result(&participant, call));
    const bool own = mel_is_own(participant);
    memcpy(id, participant->row.id, sizeof id);
    mel_participant_release(call->app->cache, participant, true);
    if (!own)
        return mel_call_refuse(call, 403, "not-now", "results of studies are not shared");
    TRY(mel_store_participant(&row, call->app->store, id, &call->err)); /* with what was revoked meanwhile */
    if (mel_json_is_true(body, "revoke")) {
        *out = json_object();
        return revoke_link(&row, call);
    }
    proof_of(proof, &row, call->app);
    (void)snprintf(path, sizeof path, "/r/%s/%s", id, proof);
    *out = json_pack("{s:s}", "path", path);
    return MEL_OK;
}

/* The link gives no rows away. */
static bool is_private(const json_t *about)
{
    const char *upload[MEL_SPACE_FILES];
    return mel_own_uploads(upload, about) > 0;
}

static mel_status shared_json(json_t **out, mel_participant *participant, mel_error *err)
{
    json_t *result = NULL;
    if (strcmp(mel_flow_where(participant->flow), "result") != 0)
        return mel_fail(err, MEL_EINVAL, "there is no result yet: the questions are not answered");
    TRY(mel_result_json(&result, participant->flow, err));
    const mel_study *study = mel_flow_study(participant->flow);
    json_t *about = mel_stored_json(participant->row.about);
    *out = json_pack("{s:o, s:O?, s:b}", "result", result, "words", (json_t *)study->words, "askable",
                     !is_private(about));
    json_decref(about);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "a result");
}

mel_status mel_api_shared(json_t **out, mel_call *call)
{
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    mel_participant *participant = NULL;
    TRY(find_shared(&row, call, call->rest[0], call->rest[1]));
    memcpy(call->participant, row.id, sizeof row.id);
    call->seen = row.seen;
    TRY(mel_call_take(&participant, call));
    MEL_HELD(held);
    mel_status status =
        mel_cache_begin_flow(&held, call->app->cache, participant->open_study, MEL_WORK_RESULT, &call->err);
    mel_flow_speak(participant->flow, mel_language_called(mel_language_accepted(
                                          mel_request_header(call->request, "Accept-Language"))));
    if (status == MEL_OK)
        status = shared_json(out, participant, &call->err);
    mel_call_finish(call, status, *out); /* it holds parts of the study */
    *out = NULL;
    mel_participant_release(call->app->cache, participant, true);
    return status;
}

mel_status mel_share_start(json_t **out, mel_call *call, json_t *sent)
{
    json_auto_t *body = sent;
    const json_t *like = json_object_get(body, "like");
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    if (like == NULL) {
        *out = json_incref(body);
        return MEL_OK;
    }
    if (json_object_size(body) != 1)
        return mel_call_refuse(call, 400, "bad-request",
                               "like: what is asked is that of the link, nothing else");
    TRY(find_shared(&row, call, mel_json_string(like, "id"), mel_json_string(like, "proof")));
    json_auto_t *about = row.about != NULL ? mel_stored_json(row.about) : NULL;
    if (is_private(about))
        return mel_call_refuse(call, 403, "not-now",
                               "these questions are about a file that somebody uploaded; ask them for the "
                               "file");
    *out = json_incref(json_object_get(about, "start"));
    return *out != NULL
               ? MEL_OK
               : mel_call_refuse(call, 503, "memory", "the questions of the link cannot be read now");
}
