/* What participants take home: the result, and the files that they can download. */
#include "app.h"

#include "json_helpers.h"
#include "manage.h"
#include "result.h"

#include "base/internal.h"
#include "melicit/report.h"

#include <stdio.h>

static bool is_own(const mel_participant *participant)
{
    return strcmp(participant->row.study, MEL_NO_STUDY) == 0;
}

/* The participant, if the study shows them the result now; in a session without a study they always see it.
 * NULL with the answer set. */
static mel_participant *take_for_result(mel_call *call)
{
    if (!mel_call_participant(call))
        return NULL;
    mel_participant *participant = mel_call_take(call);
    if (participant == NULL)
        mel_call_finish(call, call->err.code, NULL);
    if (participant == NULL || is_own(participant) || mel_flow_shows_result(participant->flow))
        return participant;
    mel_participant_release(call->app->cache, participant, true);
    mel_call_error(call, 403, "not-now", "the study does not show a result here", NULL);
    return NULL;
}

void mel_api_result(mel_call *call)
{
    mel_participant *participant = take_for_result(call);
    if (participant == NULL)
        return;
    json_t *result = NULL;
    const mel_status status = mel_result_json(&result, participant->flow, &call->err);
    mel_call_finish(call, status, status == MEL_OK ? json_pack("{s:o}", "result", result) : NULL);
    mel_participant_release(call->app->cache, participant, true);
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
    opt.about = mel_result_options(mel_flow_study(flow), mel_flow_problem(flow));
    opt.space_options = own ? mel_flow_problem(flow)->typed : NULL;
    return mel_report_session(out, mel_flow_session(flow), &opt, err);
}

void mel_api_download(mel_call *call)
{
    static const struct {
        const char *what, *name, *type;
        mel_status (*make)(char **out, mel_flow *flow, bool own, mel_error *err);
    } kinds[] = {
        { "metric", "metric.json", "application/json", metric_text },
        { "session", "session.jsonl", "application/x-ndjson", session_text },
        { "report", "report.html", "text/html; charset=utf-8", report_text },
    };
    size_t i = 0;
    while (i < 3 && strcmp(kinds[i].what, call->rest[0]) != 0)
        i++;
    if (i == 3)
        mel_call_error(call, 404, "not-found", "there is metric, session and report", NULL);
    mel_participant *participant = i < 3 ? take_for_result(call) : NULL;
    if (participant == NULL)
        return;
    char *text = NULL;
    const mel_status status = kinds[i].make(&text, participant->flow, is_own(participant), &call->err);
    mel_participant_release(call->app->cache, participant, true);
    if (status != MEL_OK) {
        mel_call_finish(call, status, NULL);
        return;
    }
    mel_call_text(call, text);
    call->response->type = kinds[i].type;
    (void)snprintf(call->response->name, sizeof call->response->name, "%s", kinds[i].name);
}
