/* What participants take home: the result, and the files that they can download. */
#include "app.h"

#include "json_helpers.h"
#include "manage.h"
#include "result.h"

#include "base/internal.h"
#include "melicit/report.h"

#include <stdio.h>

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
