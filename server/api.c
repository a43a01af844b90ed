/* What participants ask for. */
#include "app.h"

#include "manage.h"
#include "result.h"
#include "stored_json.h"

#include "base/buffer.h"
#include "base/internal.h"
#include "base/json.h"
#include "elicit/header.h"
#include "melicit/report.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COOKIE_DAYS = 30,
    MOST_SECONDS = 7 * 86400,
    MOST_LABEL = 120,
    MOST_SESSION_TEXT = 1 << 26,
    MOST_EVENTS = 5000 /* of one person: far more than any study has pages */
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* --- pages -------------------------------------------------------------------------------------- */

/* {"page": PAGE} of a participant; NULL with err. */
static json_t *page_of(mel_call *call, mel_participant *participant, const char *token, mel_error *err)
{
    json_t *page = NULL;
    mel_status status = mel_flow_page(&page, participant->flow, err);
    const char *kind = text_of(page, "kind");
    if (status == MEL_OK && kind != NULL && strcmp(kind, "result") == 0) {
        json_t *result = NULL;
        status = mel_result_json(&result, participant->flow, participant->open_study->study,
                                 participant->open_study->problem, err);
        if (status == MEL_OK &&
            (json_object_set_new(page, "result", result) != 0 ||
             json_object_set_new(page, "more", json_boolean(mel_flow_can_ask_more(participant->flow))) != 0))
            status = mel_fail_memory(err, "a page");
    }
    if (status != MEL_OK) {
        json_decref(page);
        return NULL;
    }
    char csrf[MEL_CSRF_TEXT];
    mel_csrf_of(csrf, token, call->app);
    const bool good =
        json_object_set_new(page, "seq", json_integer((json_int_t)participant->seq + 1)) == 0 &&
        json_object_set_new(page, "csrf", json_string(csrf)) == 0 &&
        json_object_set_new(
            page, "study",
            json_pack("{s:s, s:s?}", "title", participant->open_study->study->title, "id",
                      strcmp(participant->row.study, MEL_ALONE) != 0 ? participant->row.study : NULL)) == 0;
    json_t *out = good ? json_pack("{s:O}", "page", page) : NULL;
    json_decref(page);
    if (out == NULL)
        (void)mel_fail_memory(err, "a page");
    return out;
}

/* Answers with the page of a participant. */
static void give_page(mel_call *call, const char *id, const char *token)
{
    mel_participant *participant = NULL;
    mel_error err = { 0 };
    const mel_status status = mel_participant_take(&participant, call->app->cache, id, call->seen, &err);
    json_t *page = status == MEL_OK ? page_of(call, participant, token, &err) : NULL;
    const bool made = page != NULL;
    if (made) /* written out before others have the participant: a page holds parts of the study */
        mel_call_json(call, page);
    else
        mel_call_failed(call, err.code, &err);
    mel_participant_release(call->app->cache, participant, made);
}

void mel_api_page(mel_call *call)
{
    char id[MEL_ID_TEXT];
    if (mel_call_participant(call, id))
        give_page(call, id, mel_request_cookie(call->request, "melicit"));
}

/* --- coming ------------------------------------------------------------------------------------- */

/* A new participant, known by a new cookie. about is taken over. */
static void join_as_new(mel_call *call, const char *study, const char *label, json_t *about)
{
    mel_participant_row row = { .created = mel_now(), .seed = mel_new_seed(), .state = "active" };
    char token[MEL_TOKEN_TEXT];
    mel_error err = { 0 };
    mel_new_id(row.id);
    (void)snprintf(row.study, sizeof row.study, "%s", study);
    row.seen = row.created;
    row.label = label != NULL ? mel_strdup(label) : NULL;
    row.about = mel_json_text(about, JSON_COMPACT);
    json_decref(about);
    mel_token_new(token, row.token, call->app);
    mel_status status = row.about == NULL || (label != NULL && row.label == NULL)
                            ? mel_fail_memory(&err, "a participant")
                            : mel_store_add_participant(call->app->store, &row, &err);
    if (status == MEL_OK) {
        mel_call_cookie(call, "melicit", token, (int64_t)COOKIE_DAYS * 86400);
        give_page(call, row.id, token);
    } else {
        mel_call_failed(call, status, &err);
    }
    mel_participant_row_clear(&row);
}

/* Somebody who was here before gets a new cookie for the same session. */
static void join_again(mel_call *call, const char *id)
{
    char token[MEL_TOKEN_TEXT];
    unsigned char hash[MEL_HASH_BYTES];
    mel_error err = { 0 };
    mel_token_new(token, hash, call->app);
    const mel_status status = mel_store_set_token(call->app->store, id, hash, &err);
    if (status != MEL_OK) {
        mel_call_failed(call, status, &err);
        return;
    }
    mel_call_cookie(call, "melicit", token, (int64_t)COOKIE_DAYS * 86400);
    give_page(call, id, token);
}

/* Who wants to join. */
typedef struct {
    const char *study, *label;
    const json_t *prolific; /* or NULL */
    bool linked;            /* the label is not only claimed: its link says so */
    bool named;             /* the label is the id that Prolific gave */
} joiner;

/* Who the cookie says this is, in this study; MEL_EINVAL: nobody. */
static mel_status find_by_cookie(mel_participant_row *out, mel_call *call, const joiner *who, mel_error *err)
{
    const char *token = mel_request_cookie(call->request, "melicit");
    unsigned char hash[MEL_HASH_BYTES];
    if (token == NULL)
        return MEL_EINVAL;
    mel_token_hash(hash, token, call->app);
    const mel_status status = mel_store_participant_by_token(out, call->app->store, hash, err);
    if (status != MEL_OK ||
        (strcmp(out->study, who->study) == 0 &&
         (who->label == NULL || (out->label != NULL && strcmp(out->label, who->label) == 0))))
        return status;
    mel_participant_row_clear(out);
    return MEL_EINVAL;
}

/* Whether the one who has the label came from Prolific as well: its ids are no key to other labels. */
static bool came_from_prolific(const mel_participant_row *row)
{
    json_t *about = mel_stored_json(row->about);
    const char *id = text_of(json_object_get(about, "prolific"), "PROLIFIC_PID");
    const bool same = id != NULL && row->label != NULL && strcmp(id, row->label) == 0;
    json_decref(about);
    return same;
}

/* Who this is; MEL_EINVAL: nobody yet, MEL_ECONFLICT: the label is somebody else's, as far as one can tell.
 */
static mel_status find_earlier(mel_participant_row *out, mel_call *call, const joiner *who, mel_error *err)
{
    mel_status status = find_by_cookie(out, call, who, err);
    if (status != MEL_EINVAL || who->label == NULL)
        return status;
    status = mel_store_participant_by_label(out, call->app->store, who->study, who->label, err);
    if (status != MEL_OK || who->linked || (who->named && came_from_prolific(out)))
        return status;
    mel_participant_row_clear(out);
    return MEL_ECONFLICT;
}

/* Somebody new, if the study takes more, and takes them without a link. */
static void admit(mel_call *call, const mel_open_study *open_study, const joiner *who, const char *after)
{
    mel_study_counts counts = { 0 };
    bool linkless = false;
    mel_error err = { 0 };
    mel_status status =
        open_study->study->quota > 0 ? mel_store_counts(&counts, call->app->store, who->study, &err) : MEL_OK;
    if (status == MEL_OK && who->label != NULL && !who->linked)
        status = mel_links_wanted(&linkless, call->app, who->study, who->label, who->named, &err);
    if (strcmp(open_study->state, "open") != 0)
        mel_call_error(call, 409, "closed", "this study is closed", NULL);
    else if (status != MEL_OK)
        mel_call_failed(call, status, &err);
    else if (linkless)
        mel_call_wrong(call, "wrong-link", "this study is for those who have a personal link; use all of it");
    else if (open_study->study->quota > 0 && counts.complete - counts.simulated >= open_study->study->quota)
        mel_call_error(call, 409, "full", "this study has all the participants that it needs", NULL);
    else
        join_as_new(call, who->study, who->label,
                    json_pack("{s:s*, s:O*}", "after", after, "prolific", (json_t *)who->prolific));
}

/* Somebody comes back: as the study says. Who has sent nothing yet has not been here: the first answer may
 * have been lost on its way. */
static void rejoin(mel_call *call, const mel_open_study *open_study, const joiner *who,
                   const mel_participant_row *earlier)
{
    const bool fresh = (double)(mel_now() - earlier->seen) < 3.6e6 * open_study->study->resume_hours;
    const bool over = strcmp(earlier->state, "active") != 0, begun = earlier->seen != earlier->created;
    if (!begun || (open_study->study->resume == MEL_RESUME && (fresh || over)))
        join_again(call, earlier->id);
    else if (open_study->study->resume == MEL_RESTART && who->label == NULL)
        admit(call, open_study, who, earlier->id);
    else
        mel_call_error(call, 409, "taken", "you have taken part in this study already", NULL);
}

static void join(mel_call *call, const mel_open_study *open_study, const joiner *who)
{
    mel_participant_row earlier = { .label = NULL };
    mel_error err = { 0 };
    const mel_status status = find_earlier(&earlier, call, who, &err);
    if (status == MEL_OK) {
        rejoin(call, open_study, who, &earlier);
        mel_participant_row_clear(&earlier);
    } else if (status == MEL_EINVAL) {
        admit(call, open_study, who, NULL);
    } else if (status == MEL_ECONFLICT) {
        mel_call_error(call, 409, "taken", "somebody has taken part under this name already", NULL);
    } else {
        mel_call_failed(call, status, &err);
    }
}

/* Label and proof; false with the answer set. */
static bool read_joiner(joiner *out, mel_call *call, const json_t *body)
{
    const json_t *prolific = json_object_get(body, "prolific");
    const char *link = text_of(body, "link");
    char right[MEL_LINK_TEXT];
    *out = (joiner){ .study = text_of(body, "study"), .label = text_of(body, "label"), .prolific = prolific };
    if (out->label == NULL && text_of(prolific, "PROLIFIC_PID") != NULL) {
        out->label = text_of(prolific, "PROLIFIC_PID");
        out->named = true;
    }
    if (out->study == NULL || strlen(out->study) >= MEL_ID_TEXT ||
        (out->label != NULL && (strlen(out->label) > MOST_LABEL || out->label[0] == '\0')) ||
        (prolific != NULL && (!json_is_object(prolific) || json_object_size(prolific) > 5))) {
        mel_call_error(call, 400, "bad-request", "study: the id of a study is wanted", NULL);
        return false;
    }
    if (out->label == NULL || link == NULL)
        return true;
    mel_link_of(right, out->study, out->label, call->app);
    out->linked = strlen(link) == strlen(right) && sodium_memcmp(link, right, strlen(right)) == 0;
    if (!out->linked)
        mel_call_wrong(call, "wrong-link", "this link is not one of the study's");
    return out->linked;
}

void mel_api_join(mel_call *call)
{
    if (!mel_call_is_own(call, NULL))
        return;
    json_t *body = mel_call_body(call);
    joiner who;
    if (body != NULL && read_joiner(&who, call, body)) {
        mel_open_study *open_study = NULL;
        mel_error err = { 0 };
        const mel_status status = strcmp(who.study, MEL_ALONE) != 0
                                      ? mel_open_study_by_id(&open_study, call->app->cache, who.study, &err)
                                      : MEL_EINVAL;
        if (status == MEL_EINVAL)
            mel_call_error(call, 404, "no-study", "there is no such study", NULL);
        else if (status != MEL_OK)
            mel_call_failed(call, status, &err);
        else
            join(call, open_study, &who);
        mel_open_study_release(call->app->cache, open_study);
    }
    json_decref(body);
}

/* --- a session of one's own --------------------------------------------------------------------- */

void mel_api_start(mel_call *call)
{
    if (!mel_call_is_own(call, NULL))
        return;
    json_t *body = mel_call_body(call);
    if (body == NULL)
        return;
    mel_study *study = NULL;
    mel_open_study *open_study = NULL;
    mel_error err = { 0 };
    mel_status status =
        mel_space_is_harmless(json_object_get(body, "space"), call->app->datasets)
            ? mel_study_alone(&study, body, &err)
            : mel_fail(&err, MEL_EINVAL, "space: choose bundled data, an upload, a population or a ball");
    if (status == MEL_OK)
        status = mel_open_study_of(&open_study, call->app->cache, study, &err);
    mel_flow *flow = NULL;
    if (status == MEL_OK) /* whether the options go together */
        status = mel_flow_new(&flow, open_study->study, open_study->problem, 1, &err);
    mel_flow_free(flow);
    if (status == MEL_OK)
        status = mel_space_keep(call->app->store, json_object_get(body, "space"), &err);
    if (status == MEL_OK)
        join_as_new(call, MEL_ALONE, NULL, json_pack("{s:O}", "start", body));
    else
        mel_call_failed(call, status, &err);
    mel_open_study_release(call->app->cache, open_study);
    json_decref(body);
}

void mel_api_datasets(mel_call *call)
{
    mel_call_json(call, json_pack("{s:O}", "datasets", (json_t *)call->app->datasets));
}

/* --- answers ------------------------------------------------------------------------------------ */

/* 409 with the page that is current. */
static void give_conflict(mel_call *call, const char *id, const char *token, const char *message)
{
    mel_participant *participant = NULL;
    mel_error err = { 0 };
    json_t *page = mel_participant_take(&participant, call->app->cache, id, call->seen, &err) == MEL_OK
                       ? page_of(call, participant, token, &err)
                       : NULL;
    const bool made = page != NULL;
    mel_call_error(call, 409, "conflict", message, page);
    mel_participant_release(call->app->cache, participant, made);
}

/* What the log will say, and the answer to it. Changes the flow: on any failure the participant must be
 * forgotten.
 */
static mel_status take_value(mel_event_row *event, mel_call *call, mel_participant *participant,
                             const json_t *value, double seconds, const char *token, mel_error *err)
{
    json_t *line = mel_flow_event(participant->flow, value, seconds);
    event->body =
        line != NULL ? mel_json_text(line, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_SORT_KEYS) : NULL;
    json_decref(line);
    if (event->body == NULL)
        return mel_fail_memory(err, "an answer");
    const mel_status status = mel_flow_tell(participant->flow, value, seconds, err);
    if (status != MEL_OK)
        return status;
    participant->seq++;
    json_t *reply = page_of(call, participant, token, err);
    if (reply == NULL)
        return err->code;
    const bool said = json_object_set_new(reply, "saved", json_integer((json_int_t)event->seq)) == 0;
    event->reply = said ? mel_json_text(reply, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(reply);
    return event->reply != NULL ? MEL_OK : mel_fail_memory(err, "an answer");
}

static void answer_with(mel_call *call, const char *text)
{
    char *copy = mel_strdup(text);
    if (copy == NULL) {
        mel_call_json(call, NULL);
        return;
    }
    call->response->body = copy;
    call->response->n = strlen(copy);
}

/* The same request again: the log knows its key. The body must say the same value. False: nothing was
 * answered. */
static bool is_replay(mel_call *call, const char *id, const char *token, const char *key, const json_t *value)
{
    mel_event_row *event = NULL;
    size_t n = 0;
    bool found = false;
    mel_error err = { 0 };
    const mel_status status = mel_store_events(&event, &n, call->app->store, id, &err);
    if (status != MEL_OK) {
        mel_call_failed(call, status, &err);
        return true;
    }
    for (size_t i = 0; i < n && !found; i++) {
        if (strcmp(event[i].key, key) != 0)
            continue;
        json_t *line = mel_stored_json(event[i].body);
        if (json_equal(json_object_get(line, "value"), value) != 0)
            answer_with(call, event[i].reply);
        else
            give_conflict(call, id, token,
                          "this answer was given otherwise before; here is the current page");
        json_decref(line);
        found = true;
    }
    mel_event_rows_free(event, n);
    return found;
}

static void append(mel_call *call, mel_participant *participant, mel_event_row *event, double seconds,
                   const char *id, const char *token)
{
    mel_append outcome = MEL_STALE;
    mel_event_row stored = { .seq = 0 };
    mel_error err = { 0 };
    const mel_status status = mel_store_append(&outcome, &stored, call->app->store, id, event,
                                               mel_flow_state(participant->flow), &err);
    const bool appended = status == MEL_OK && outcome == MEL_APPENDED;
    if (appended) {
        participant->row.seen = event->time;
        participant->seconds += isfinite(seconds) ? seconds : 0.0;
    }
    mel_participant_release(call->app->cache, participant, appended);
    if (status != MEL_OK)
        mel_call_failed(call, status, &err);
    else if (outcome == MEL_APPENDED)
        answer_with(call, event->reply);
    else if (outcome == MEL_REPLAYED)
        answer_with(call, stored.reply);
    else
        give_conflict(call, id, token, "this page was answered elsewhere; here is the current one");
    mel_event_row_clear(&stored);
}

static void tell(mel_call *call, const json_t *body, const json_t *value)
{
    char id[MEL_ID_TEXT];
    const json_t *seq = json_object_get(body, "seq"), *seconds = json_object_get(body, "seconds");
    const char *key = text_of(body, "key"), *token = mel_request_cookie(call->request, "melicit");
    if (!mel_call_participant(call, id))
        return;
    if (!json_is_integer(seq) || key == NULL || strlen(key) < 8 || strlen(key) >= MEL_KEY_TEXT ||
        !json_is_object(value)) {
        mel_call_error(call, 400, "bad-request",
                       "seq (a whole number), key (8 to 63 characters) and value are wanted", NULL);
        return;
    }
    mel_participant *participant = NULL;
    mel_error err = { 0 };
    mel_status status = mel_participant_take(&participant, call->app->cache, id, call->seen, &err);
    if (status != MEL_OK) {
        mel_call_failed(call, status, &err);
        return;
    }
    if (json_integer_value(seq) != (json_int_t)participant->seq + 1) {
        mel_participant_release(call->app->cache, participant, true);
        if (!is_replay(call, id, token, key, value))
            give_conflict(call, id, token, "this page was answered elsewhere; here is the current one");
        return;
    }
    if (participant->seq >= MOST_EVENTS) {
        mel_participant_release(call->app->cache, participant, true);
        mel_call_error(call, 400, "too-many", "this is more than anybody can have to say here", NULL);
        return;
    }
    mel_event_row event = { .seq = participant->seq + 1, .time = mel_now() };
    (void)snprintf(event.key, sizeof event.key, "%s", key);
    const double taken = json_number_value(seconds);
    const bool timed = json_is_number(seconds) && taken >= 0.0 && taken <= MOST_SECONDS;
    const double spent = timed ? taken : (double)NAN;
    status = take_value(&event, call, participant, value, spent, token, &err);
    if (status == MEL_OK) {
        append(call, participant, &event, spent, id, token);
    } else {
        /* An answer that the page does not take has changed nothing. */
        mel_participant_release(call->app->cache, participant,
                                status == MEL_EINVAL && participant->seq + 1 == event.seq);
        mel_call_failed(call, status, &err);
    }
    mel_event_row_clear(&event);
}

void mel_api_event(mel_call *call)
{
    if (!mel_call_is_own(call, "melicit"))
        return;
    json_t *body = mel_call_body(call);
    if (body != NULL)
        tell(call, body, json_object_get(body, "value"));
    json_decref(body);
}

void mel_api_undo(mel_call *call)
{
    if (!mel_call_is_own(call, "melicit"))
        return;
    json_t *body = mel_call_body(call), *value = json_pack("{s:b}", "undo", 1);
    if (body != NULL && value != NULL)
        tell(call, body, value);
    json_decref(value);
    json_decref(body);
}

void mel_api_leave(mel_call *call)
{
    if (!mel_call_is_own(call, "melicit"))
        return;
    mel_call_cookie(call, "melicit", NULL, 0);
    mel_call_json(call, json_object());
}

/* --- results ------------------------------------------------------------------------------------ */

void mel_api_result(mel_call *call)
{
    char id[MEL_ID_TEXT];
    if (!mel_call_participant(call, id))
        return;
    mel_participant *participant = NULL;
    json_t *result = NULL;
    mel_error err = { 0 };
    mel_status status = mel_participant_take(&participant, call->app->cache, id, call->seen, &err);
    if (status == MEL_OK)
        status = mel_result_json(&result, participant->flow, participant->open_study->study,
                                 participant->open_study->problem, &err);
    if (status == MEL_OK)
        mel_call_json(call, json_pack("{s:o}", "result", result));
    else
        mel_call_failed(call, status, &err);
    mel_participant_release(call->app->cache, participant, true);
}

/* The first line of a session's file. */
static mel_status session_header(json_t **out, mel_participant *participant, mel_error *err)
{
    const mel_session *session = mel_flow_session(participant->flow);
    const mel_problem *problem = participant->open_study->problem;
    char *space = problem->description != NULL
                      ? mel_json_text(problem->description, JSON_COMPACT | JSON_REAL_PRECISION(17))
                      : NULL;
    const mel_identity identity = { .space_json = space,
                                    .digest = problem->digest[0] != '\0' ? problem->digest : NULL };
    const mel_status status =
        mel_header_make(out, mel_session_get_options(session),
                        problem->domain.face == NULL ? mel_session_layout(session) : NULL, &identity, err);
    mel_json_free_text(space);
    return status;
}

static json_t *point_json(size_t n, const double *point)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && list != NULL; i++)
        (void)json_array_append_new(list, json_real(point[i]));
    return list;
}

/* Takes the line over. */
static void add_line(mel_buffer *text, json_t *line)
{
    char *one = line != NULL ? mel_json_text(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(line);
    if (one == NULL)
        text->status = MEL_ENOMEM;
    else
        mel_buffer_printf(text, "%s\n", one);
    mel_json_free_text(one);
}

/* The session's file: its header and a line for each answer. */
static mel_status session_text(char **out, mel_participant *participant, mel_error *err)
{
    const mel_session *session = mel_flow_session(participant->flow);
    const size_t size = mel_layout_size(mel_session_layout(session));
    json_t *header = NULL;
    const mel_status status = session_header(&header, participant, err);
    if (status != MEL_OK)
        return status;
    mel_buffer text;
    mel_buffer_init(&text, MOST_SESSION_TEXT);
    add_line(&text, header);
    for (uint32_t i = 0; i < mel_session_answers(session); i++) {
        const mel_record record = mel_session_record(session, i);
        json_t *line = json_pack("{s:I, s:s, s:o, s:o}", "question", (json_int_t)i + 1, "answer",
                                 mel_answer_name(record.answer), "a", point_json(size, record.a), "b",
                                 point_json(size, record.b));
        if (line != NULL && isfinite(record.seconds))
            (void)json_object_set_new(line, "seconds", json_real(record.seconds));
        add_line(&text, line);
    }
    if (text.status == MEL_OK) {
        *out = text.data;
        return MEL_OK;
    }
    mel_buffer_free(&text);
    return mel_fail_memory(err, "the session's file");
}

static mel_status metric_text(char **out, mel_participant *participant, mel_error *err)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_status status = mel_session_result(&metric, &summary, mel_flow_session(participant->flow), err);
    if (status == MEL_OK)
        status = mel_metric_to_json(out, metric, err);
    mel_metric_free(metric);
    return status;
}

static mel_status report_text(char **out, mel_participant *participant, mel_error *err)
{
    mel_report_options opt;
    mel_report_options_init(&opt);
    const json_t *mistakes = json_object_get(participant->open_study->study->words, "mistakes");
    opt.missed = text_of(mistakes, "missed");
    opt.false_alarm = text_of(mistakes, "false_alarm");
    opt.people = text_of(participant->open_study->study->words, "people");
    opt.rows = participant->open_study->problem->rows;
    opt.space_options = participant->open_study->problem->typed;
    return mel_report_session(out, mel_flow_session(participant->flow), &opt, err);
}

void mel_api_download(mel_call *call)
{
    static const struct {
        const char *what, *name, *type;
        mel_status (*make)(char **out, mel_participant *participant, mel_error *err);
    } kinds[] = {
        { "metric", "metric.json", "application/json", metric_text },
        { "session", "session.jsonl", "application/x-ndjson", session_text },
        { "report", "report.html", "text/html; charset=utf-8", report_text },
    };
    size_t i = 0;
    while (i < 3 && strcmp(kinds[i].what, call->rest[0]) != 0)
        i++;
    char id[MEL_ID_TEXT];
    if (i == 3) {
        mel_call_error(call, 404, "not-found", "there is metric, session and report", NULL);
        return;
    }
    if (!mel_call_participant(call, id))
        return;
    mel_participant *participant = NULL;
    char *text = NULL;
    mel_error err = { 0 };
    mel_status status = mel_participant_take(&participant, call->app->cache, id, call->seen, &err);
    if (status == MEL_OK)
        status = kinds[i].make(&text, participant, &err);
    mel_participant_release(call->app->cache, participant, true);
    if (status != MEL_OK) {
        mel_call_failed(call, status, &err);
        return;
    }
    call->response->body = text;
    call->response->n = strlen(text);
    call->response->type = kinds[i].type;
    (void)snprintf(call->response->name, sizeof call->response->name, "%s", kinds[i].name);
}
