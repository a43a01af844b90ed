/* What participants ask for: pages and answers. */
#include "app.h"

#include "json_helpers.h"
#include "languages.h"
#include "manage.h"

#include "base/internal.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_SECONDS = 7 * 86400,
    MOST_EVENTS = 5000,   /* of one person: far more than the pages of any study ... */
    MOST_BYTES = 4 << 20, /* ... and of what is stored of them */
    MOST_ANSWER = 4096    /* bytes of a request that answers anything but a form */
};
static const char answered_elsewhere[] = "this page was answered elsewhere; here is the current one";

/* --- pages -------------------------------------------------------------------------------------- */

static mel_status add_result(json_t *page, mel_flow *flow, mel_error *err)
{
    json_t *result = NULL;
    uint32_t number[MEL_OUTCOME_CALLS];
    TRY(mel_result_json(&result, flow, err));
    const size_t calls = mel_flow_close_calls(number, MEL_OUTCOME_CALLS, flow);
    return mel_json_put(page, "result", result) &&
                   mel_json_put(page, "again", json_integer((json_int_t)calls)) &&
                   mel_json_put(page, "more", json_boolean(mel_flow_can_ask_more(flow)))
               ? MEL_OK
               : mel_fail_memory(err, "a page");
}

/* The study's language, else the one that the browser asks for. */
static const char *language_of(const mel_call *call, const mel_flow *flow)
{
    const char *chosen = mel_flow_study(flow)->language;
    return chosen != NULL ? chosen
                          : mel_language_accepted(mel_request_header(call->request, "Accept-Language"));
}

/* The page of the flow, with the result where it shows one; heavy work where that takes long. */
static mel_status make_page(json_t **page, mel_call *call, mel_participant *participant)
{
    mel_flow *flow = participant->flow;
    const bool result = strcmp(mel_flow_where(flow), "result") == 0;
    MEL_HELD(held);
    TRY(mel_cache_begin_flow(&held, call->app->cache, participant->open_study,
                             result ? MEL_WORK_RESULT : MEL_WORK_ANSWER, &call->err));
    mel_flow_speak(flow, mel_language_called(language_of(call, flow)));
    TRY(mel_flow_page(page, flow, &call->err));
    return result ? add_result(*page, flow, &call->err) : MEL_OK;
}

/* {"page": PAGE} */
static mel_status page_of(json_t **out, mel_call *call, mel_participant *participant)
{
    json_auto_t *page = NULL;
    TRY(make_page(&page, call, participant));
    const char *study = participant->row.study;
    char csrf[MEL_CSRF_TEXT];
    mel_csrf_of(csrf, call->token, call->app);
    mel_json_set(&page, "language", json_string(language_of(call, participant->flow)));
    mel_json_set(&page, "seq", json_integer((json_int_t)participant->seq + 1));
    mel_json_set(&page, "csrf", json_string(csrf));
    mel_json_set(&page, "study",
                 json_pack("{s:s, s:s?}", "title", participant->open_study->study->title, "id",
                           strcmp(study, MEL_NO_STUDY) != 0 ? study : NULL));
    if (call->resume[0] != '\0')
        mel_json_set(&page, "resume", json_string(call->resume));
    *out = json_pack("{s:O}", "page", page);
    return *out != NULL ? MEL_OK : mel_fail_memory(&call->err, "a page");
}

/* Answers with the current page; conflict (or NULL): with this refusal and the page. The page is written out
 * before others can take the participant, because it holds parts of the study. */
static mel_status give_page(mel_call *call, const char *conflict)
{
    mel_participant *participant = NULL;
    json_t *page = NULL;
    mel_status status = mel_call_take(&participant, call);
    if (status == MEL_OK)
        status = page_of(&page, call, participant);
    if (conflict != NULL && status != MEL_BUSY)
        (void)mel_call_error(call, 409, "conflict", conflict, page);
    else
        mel_call_finish(call, status, page);
    mel_participant_release(call->app->cache, participant, status == MEL_OK || status == MEL_BUSY);
    return status;
}

mel_status mel_api_give_page(mel_call *call)
{
    return give_page(call, NULL);
}

mel_status mel_api_page(json_t **out, mel_call *call)
{
    (void)out; /* it is written out at once */
    TRY(mel_call_participant(call));
    return give_page(call, NULL);
}

/* [{"name": "linear", "shape": "a weighted sum"}, ..]: every family, as it is written; NULL: no memory. */
static json_t *families(void)
{
    json_t *list = json_array();
    const mel_family_facts *is = NULL;
    for (int f = 0; (is = mel_family_about((mel_family)f)) != NULL; f++)
        mel_json_push(&list, json_pack("{s:s, s:s}", "name", is->example != NULL ? is->example : is->name,
                                       "shape", is->shape));
    return list;
}

mel_status mel_api_datasets(json_t **out, mel_call *call)
{
    *out = json_pack("{s:O, s:o}", "datasets", (json_t *)call->app->datasets, "families", families());
    return MEL_OK;
}

/* --- answers ------------------------------------------------------------------------------------ */

/* {"page": PAGE, "saved": n}: what the participant's last event is answered with. */
static mel_status reply_of(json_t **out, mel_call *call, mel_participant *participant)
{
    TRY(page_of(out, call, participant));
    return mel_json_put(*out, "saved", json_integer((json_int_t)participant->seq))
               ? MEL_OK
               : mel_fail_memory(&call->err, "an answer");
}

/* Fills in the line of the log and the reply. Changes the flow: after a failure the participant must be
 * forgotten. */
static mel_status take_value(mel_event_row *event, json_t **reply, mel_call *call,
                             mel_participant *participant, const json_t *value, double seconds)
{
    event->body = mel_flow_event_text(participant->flow, value, seconds);
    if (event->body == NULL)
        return mel_fail_memory(&call->err, "an answer");
    if (participant->bytes + strlen(event->body) > MOST_BYTES)
        return mel_fail(&call->err, MEL_EINVAL, "value: this is too long");
    MEL_HELD(held);
    TRY(mel_cache_begin_flow(&held, call->app->cache, participant->open_study, MEL_WORK_ANSWER, &call->err));
    TRY(mel_flow_tell(participant->flow, value, seconds, &call->err));
    participant->seq++;
    return reply_of(reply, call, participant);
}

/* Answers as event `seq` was answered before: with the page that followed it. */
static mel_status give_saved(mel_call *call, uint32_t seq)
{
    mel_participant *participant = NULL, *past = NULL;
    json_t *reply = NULL;
    mel_status status = mel_call_take(&participant, call);
    const bool current = status == MEL_OK && participant->seq == seq;
    if (status == MEL_OK && !current)
        status = mel_participant_past(&past, call->app->cache, call->participant, seq, &call->err);
    if (status == MEL_OK)
        status = reply_of(&reply, call, current ? participant : past);
    mel_call_finish(call, status, reply);
    mel_past_free(past);
    mel_participant_release(call->app->cache, participant, true);
    return status;
}

/* Answers a request about another event than the next one: if it was sent before, the log has its key, and
 * the value must be the same. */
static mel_status answer_again(mel_call *call, const char *key, const json_t *value)
{
    MEL_ROW(mel_event_row) event = { .seq = 0 };
    const mel_status status = mel_store_event(&event, call->app->store, call->participant, key, &call->err);
    if (status == MEL_EINVAL)
        return give_page(call, answered_elsewhere);
    TRY(status);
    json_auto_t *line = mel_stored_json(event.body);
    return json_equal(json_object_get(line, "value"), value) != 0
               ? give_saved(call, event.seq)
               : give_page(call, "this was answered differently before; here is the current page");
}

/* Takes the reply over. */
static mel_status append(mel_call *call, mel_participant *participant, mel_event_row *event, json_t *reply,
                         double seconds)
{
    mel_append outcome = MEL_STALE;
    MEL_ROW(mel_event_row) stored = { .seq = 0 };
    const mel_status status = mel_store_append(&outcome, &stored, call->app->store, call->participant, event,
                                               mel_flow_state(participant->flow), &call->err);
    const bool appended = status == MEL_OK && outcome == MEL_APPENDED;
    if (appended) {
        participant->row.seen = event->time;
        participant->seconds += isfinite(seconds) ? seconds : 0.0;
        participant->bytes += strlen(event->body);
        mel_call_stored(call, strlen(event->body));
        mel_call_json(call, reply); /* it holds parts of the study */
    } else {
        json_decref(reply);
    }
    mel_participant_release(call->app->cache, participant, appended);
    if (status != MEL_OK || appended)
        return status;
    return outcome == MEL_REPLAYED ? give_saved(call, stored.seq) : give_page(call, answered_elsewhere);
}

/* Takes an answer to the current page. A value that the page refuses changes nothing. */
static mel_status tell_next(mel_call *call, mel_participant *participant, const char *key,
                            const json_t *value, double seconds)
{
    MEL_ROW(mel_event_row) event = { .seq = participant->seq + 1, .time = mel_now() };
    (void)snprintf(event.key, sizeof event.key, "%s", key);
    const double spent = seconds >= 0.0 && seconds <= MOST_SECONDS ? seconds : (double)NAN;
    json_t *reply = NULL;
    const mel_status status = take_value(&event, &reply, call, participant, value, spent);
    if (status == MEL_OK)
        return append(call, participant, &event, reply, spent);
    json_decref(reply);
    const bool unchanged = (status == MEL_EINVAL || status == MEL_BUSY) && participant->seq + 1 == event.seq;
    mel_participant_release(call->app->cache, participant, unchanged);
    return status;
}

static mel_status tell(mel_call *call, const json_t *body, const json_t *value)
{
    const json_t *seq = json_object_get(body, "seq");
    const char *key = mel_json_string(body, "key");
    TRY(mel_call_participant(call));
    TRY(mel_call_may_store(call));
    if (!json_is_integer(seq) || key == NULL || strlen(key) < 8 || strlen(key) >= MEL_KEY_TEXT ||
        !json_is_object(value))
        return mel_call_refuse(call, 400, "bad-request",
                               "expected seq (a whole number), key (8 to 63 characters) and value");
    mel_participant *participant = NULL;
    TRY(mel_call_take(&participant, call));
    const bool next = json_integer_value(seq) == (json_int_t)participant->seq + 1;
    const bool many = participant->seq >= MOST_EVENTS;
    const bool large =
        call->request->n > MOST_ANSWER && strcmp(mel_flow_where(participant->flow), "form") != 0;
    if (next && !many && !large)
        return tell_next(call, participant, key, value, mel_json_number(body, "seconds", -1.0));
    mel_participant_release(call->app->cache, participant, true);
    if (!next)
        return answer_again(call, key, value);
    return many ? mel_call_refuse(call, 400, "too-many", "these are too many answers")
                : mel_call_refuse(call, 413, "too-large", "an answer to this page has at most 4 kB");
}

mel_status mel_api_event(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL;
    (void)out; /* what is told is answered at once */
    TRY(mel_call_own_body(&body, call, call->cookie));
    return tell(call, body, json_object_get(body, "value"));
}

mel_status mel_api_undo(json_t **out, mel_call *call)
{
    json_auto_t *body = NULL, *value = json_pack("{s:b}", "undo", 1);
    (void)out;
    TRY(mel_call_own_body(&body, call, call->cookie));
    return tell(call, body, value);
}

/* The cookie and the code are of no use any more, wherever a copy of them may be. */
mel_status mel_api_leave(json_t **out, mel_call *call)
{
    TRY(mel_call_is_own(call, call->cookie));
    if (mel_request_cookie(call->request, call->cookie) != NULL) {
        MEL_ROW(mel_participant_row) row = { .label = NULL };
        TRY(mel_call_participant(call));
        TRY(mel_store_participant(&row, call->app->store, call->participant, &call->err));
        TRY(mel_end_cookie(call->app, &row, &call->err));
    }
    mel_call_cookie(call, call->cookie, NULL, 0);
    *out = json_object();
    return MEL_OK;
}

/* --- one's own data ----------------------------------------------------------------------------- */

/* A list of the uploads' ids; NULL without memory. */
static json_t *list_uploads(const json_t *about)
{
    const char *name[MEL_SPACE_FILES];
    const size_t n = mel_own_uploads(name, about);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        mel_json_push(&list, json_string(name[i] + sizeof MEL_UPLOAD - 1));
    return list;
}

/* {"created", "seen", "study"?, "label"?, "about", "uploads", "events": [what was sent, with its time]} */
static mel_status describe_own(json_t **out, const mel_call *call, const mel_participant_row *row,
                               mel_error *err)
{
    mel_event_row *event = NULL;
    size_t n = 0;
    TRY(mel_store_events(&event, &n, call->app->store, row->id, err));
    json_t *events = json_array();
    for (size_t i = 0; i < n; i++)
        mel_json_push(&events, json_pack("{s:I, s:o}", "time", (json_int_t)event[i].time, "event",
                                         mel_stored_json(event[i].body)));
    mel_event_rows_free(event, n);
    json_auto_t *about = mel_stored_json(row->about != NULL ? row->about : "{}");
    const char *study = strcmp(row->study, MEL_NO_STUDY) != 0 ? row->study : NULL;
    *out = json_pack("{s:I, s:I, s:s*, s:s*, s:O, s:o, s:o}", "created", (json_int_t)row->created, "seen",
                     (json_int_t)row->seen, "study", study, "label", row->label, "about", about, "uploads",
                     list_uploads(about), "events", events);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "your data");
}

/* Everything that is stored about the participant who asks. */
mel_status mel_api_mine(json_t **out, mel_call *call)
{
    enum { MOST_MINE = 8 * MOST_BYTES }; /* of the log as JSON */
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    MEL_HELD(held);
    TRY(mel_call_participant(call));
    TRY(mel_work_begin(&held, call->app->admission,
                       &(mel_work){ .own = true, .shared = true, .bytes = MOST_MINE }, &call->err));
    TRY(mel_store_participant(&row, call->app->store, call->participant, &call->err));
    TRY(describe_own(out, call, &row, &call->err));
    mel_call_finish(call, MEL_OK, *out); /* as part of the work */
    *out = NULL;
    (void)snprintf(call->response->name, sizeof call->response->name, "my-answers.json");
    return MEL_OK;
}

/* Deletes everything that the store has about the participant who asks. */
mel_status mel_api_erase(json_t **out, mel_call *call)
{
    mel_app *app = call->app;
    MEL_ROW(mel_participant_row) row = { .label = NULL };
    TRY(mel_call_is_own(call, call->cookie));
    TRY(mel_call_participant(call));
    TRY(mel_store_participant(&row, app->store, call->participant, &call->err));
    TRY(mel_manage_erase(app->store, app->cache, app->audit, &row, "participant", &call->err));
    mel_call_cookie(call, call->cookie, NULL, 0);
    *out = json_object();
    return MEL_OK;
}
