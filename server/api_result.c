/* What participants take home: the result, files that they can download, and links to share it. */
#include "app.h"
#include "json_helpers.h"
#include "manage.h"
#include "result.h"

#include "base/internal.h"

#include "melicit/report.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

bool mel_is_own(const mel_participant *participant)
{
    return strcmp(participant->row.study, MEL_NO_STUDY) == 0;
}

mel_participant *mel_call_take_for_result(mel_call *call)
{
    if (!mel_call_participant(call))
        return NULL;
    mel_participant *participant = mel_call_take(call);
    if (participant == NULL)
        mel_call_finish(call, call->err.code, NULL);
    if (participant == NULL || mel_is_own(participant) || mel_flow_shows_result(participant->flow))
        return participant;
    mel_participant_release(call->app->cache, participant, true);
    mel_call_error(call, 403, "not-now", "the study does not show a result here", NULL);
    return NULL;
}

typedef mel_status (*maker)(char **out, mel_flow *flow, bool own, mel_error *err);

/* What is made of the participant's session, as heavy work where it takes long; the participant is released.
 * NULL with the answer set. */
static char *make(mel_call *call, maker maker_of, mel_flow_work what)
{
    mel_participant *participant = mel_call_take_for_result(call);
    if (participant == NULL)
        return NULL;
    char *text = NULL;
    MEL_HELD(held);
    mel_status status =
        mel_cache_begin_flow(&held, call->app->cache, participant->open_study, what, &call->err);
    if (status == MEL_OK)
        status = maker_of(&text, participant->flow, mel_is_own(participant), &call->err);
    mel_participant_release(call->app->cache, participant, true);
    if (status != MEL_OK)
        mel_call_finish(call, status, NULL);
    return text;
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

void mel_api_result(mel_call *call)
{
    char *text = make(call, result_text, MEL_WORK_RESULT);
    if (text != NULL)
        mel_call_text(call, text);
}

/* A study's data are not the participant's: nothing says where they are, or what is in them. */
static mel_status session_text(char **out, mel_flow *flow, bool own, mel_error *err)
{
    const mel_problem *problem = mel_flow_problem(flow);
    char *space = own && problem->description != NULL
                      ? mel_json_text(problem->description, JSON_COMPACT | JSON_REAL_PRECISION(17))
                      : NULL;
    const mel_identity identity = { .space_json = space,
                                    .digest = own && problem->digest[0] != '\0' ? problem->digest : NULL };
    const mel_status status = mel_session_to_text(out, mel_flow_session(flow), &identity, err);
    mel_json_free_text(space);
    return status;
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

void mel_api_download(mel_call *call)
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
    size_t i = 0;
    while (i < 3 && strcmp(kinds[i].what, call->rest[0]) != 0)
        i++;
    if (i == 3)
        mel_call_error(call, 404, "not-found", "there is metric, session and report", NULL);
    char *text = i < 3 ? make(call, kinds[i].make, kinds[i].work) : NULL;
    if (text == NULL)
        return;
    mel_call_text(call, text);
    call->response->type = kinds[i].type;
    (void)snprintf(call->response->name, sizeof call->response->name, "%s", kinds[i].name);
}

/* --- shared links ----------------------------------------------------------------------------------- */

/* No study has such an id: what proves a link of ours is no personal link of a study. */
#define SHARED "shared result"

/* Whether the proof is that of the participant's link; then whose row it is, for the caller to clear. False
 * with the answer set. */
static bool find_shared(mel_participant_row *row, mel_call *call, const char *id, const char *proof)
{
    char right[MEL_LINK_TEXT];
    *row = (mel_participant_row){ .label = NULL };
    if (id != NULL && proof != NULL && strlen(id) < MEL_ID_TEXT) {
        mel_link_of(right, SHARED, id, call->app);
        const bool good = strlen(proof) == strlen(right) && sodium_memcmp(proof, right, strlen(right)) == 0;
        const mel_status status =
            good ? mel_store_participant(row, call->app->store, id, &call->err) : MEL_EINVAL;
        if (status == MEL_OK && strcmp(row->study, MEL_NO_STUDY) == 0)
            return true;
        if (status == MEL_OK)
            mel_participant_row_clear(row);
        if (status != MEL_OK && status != MEL_EINVAL) {
            mel_call_finish(call, status, NULL);
            return false;
        }
    }
    mel_call_wrong_token(call, "wrong-link", "this link shows no result, or the result was deleted");
    return false;
}

void mel_api_share(mel_call *call)
{
    json_t *body = mel_call_own_body(call, call->cookie);
    mel_participant *participant = body != NULL ? mel_call_take_for_result(call) : NULL;
    if (participant != NULL) {
        char proof[MEL_LINK_TEXT], path[MEL_ID_TEXT + MEL_LINK_TEXT + 8];
        const bool own = mel_is_own(participant);
        mel_link_of(proof, SHARED, participant->row.id, call->app);
        (void)snprintf(path, sizeof path, "/r/%s/%s", participant->row.id, proof);
        mel_participant_release(call->app->cache, participant, true);
        if (own)
            mel_call_json(call, json_pack("{s:s}", "path", path));
        else
            mel_call_error(call, 403, "not-now", "results of studies are not shared", NULL);
    }
    json_decref(body);
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
    const mel_status status = mel_result_json(&result, participant->flow, err);
    if (status != MEL_OK)
        return status;
    const mel_study *study = mel_flow_study(participant->flow);
    json_t *about = mel_stored_json(participant->row.about);
    *out = json_pack("{s:o, s:O?, s:b}", "result", result, "words", (json_t *)study->words, "askable",
                     !is_private(about));
    json_decref(about);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "a result");
}

void mel_api_shared(mel_call *call)
{
    mel_participant_row row;
    if (!find_shared(&row, call, call->rest[0], call->rest[1]))
        return;
    memcpy(call->participant, row.id, sizeof row.id);
    call->seen = row.seen;
    mel_participant_row_clear(&row);
    mel_participant *participant = mel_call_take(call);
    json_t *out = NULL;
    MEL_HELD(held);
    mel_status status = participant != NULL
                            ? mel_cache_begin_flow(&held, call->app->cache, participant->open_study,
                                                   MEL_WORK_RESULT, &call->err)
                            : call->err.code;
    if (status == MEL_OK && participant != NULL)
        status = shared_json(&out, participant, &call->err);
    mel_call_finish(call, status, out);
    mel_participant_release(call->app->cache, participant, true);
}

json_t *mel_share_start(mel_call *call, json_t *body)
{
    const json_t *like = json_object_get(body, "like");
    if (like == NULL)
        return body;
    mel_participant_row row;
    json_t *start = NULL;
    if (json_object_size(body) != 1)
        mel_call_error(call, 400, "bad-request", "like: what is asked is that of the link, nothing else",
                       NULL);
    else if (find_shared(&row, call, mel_json_string(like, "id"), mel_json_string(like, "proof"))) {
        json_t *about = row.about != NULL ? mel_stored_json(row.about) : NULL;
        const bool private = is_private(about);
        start = private ? NULL : json_incref(json_object_get(about, "start"));
        json_decref(about);
        mel_participant_row_clear(&row);
        if (private)
            mel_call_error(call, 403, "not-now",
                           "these questions are about a file that somebody uploaded; ask them for the file",
                           NULL);
        else if (start == NULL)
            mel_call_error(call, 503, "memory", "the questions of the link cannot be read now", NULL);
    }
    json_decref(body);
    return start;
}
