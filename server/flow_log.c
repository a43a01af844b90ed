/* Lines of a participant's log: what was sent with what it answered, and their replay. */
#include "flow_internal.h"

#include "json_helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What was asked: the pair and how it was shown. */
static void put_question(json_t **event, const mel_flow *flow, const mel_question *question)
{
    mel_json_set(event, "number", json_integer((json_int_t)question->number));
    mel_json_set(event, "swapped", json_boolean(mel_flow_is_swapped(flow, question->number)));
    mel_json_set(event, "people", json_integer((json_int_t)question->people));
    if (question->repeated)
        mel_json_set(event, "repeated", json_true());
    if (question->imagined)
        mel_json_set(event, "imagined", json_true());
    mel_json_set(event, "a", mel_json_numbers(flow->size, question->a));
    mel_json_set(event, "b", mel_json_numbers(flow->size, question->b));
}

/* Which answers will be given again. */
static void put_calls(json_t **event, mel_flow *flow)
{
    uint32_t number[MEL_OUTCOME_CALLS];
    const size_t n = mel_flow_close_calls(number, MEL_OUTCOME_CALLS, flow);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        mel_json_push(&list, json_integer((json_int_t)number[i]));
    mel_json_set(event, "calls", list);
}

json_t *mel_flow_event(mel_flow *flow, const json_t *value, double seconds)
{
    json_t *event =
        json_pack("{s:s, s:I, s:I, s:O}", "page", mel_flow_page_name(flow), "phase", (json_int_t)flow->phase,
                  "item", (json_int_t)flow->item, "value", (json_t *)value);
    if (isfinite(seconds))
        mel_json_set(&event, "seconds", json_real(seconds));
    mel_question question;
    bool done = true;
    if (mel_flow_asks(flow) && !mel_json_is_true(value, "undo") &&
        mel_flow_question(&question, &done, flow, NULL) == MEL_OK && !done)
        put_question(&event, flow, &question);
    if (mel_flow_current(flow)->kind == MEL_PHASE_RESULT && mel_json_is_true(value, "again"))
        put_calls(&event, flow);
    return event;
}

char *mel_flow_event_text(mel_flow *flow, const json_t *value, double seconds)
{
    json_auto_t *event = mel_flow_event(flow, value, seconds);
    return mel_json_exact(event);
}

static mel_status read_point(double *out, size_t n, const char *side, const json_t *event, mel_error *err)
{
    const json_t *recorded = json_object_get(event, side);
    if (json_array_size(recorded) != n)
        return mel_fail(err, MEL_ESTATE, "the log has an answer whose %s is not %zu numbers", side, n);
    for (size_t i = 0; i < n; i++)
        out[i] = json_number_value(json_array_get(recorded, i));
    return MEL_OK;
}

/* Where the participant was is what the log says: on another machine a session may have ended one question
 * earlier or later. */
static mel_status go_there(mel_flow *flow, const json_t *event, mel_error *err)
{
    const json_int_t phase = json_integer_value(json_object_get(event, "phase"));
    const json_int_t item = json_integer_value(json_object_get(event, "item"));
    const char *page = mel_json_string(event, "page");
    if (json_object_get(event, "phase") == NULL || (size_t)phase == flow->phase)
        return MEL_OK;
    if (phase < 0 || (size_t)phase >= flow->study->n_phases || item < 0)
        return mel_fail(err, MEL_ESTATE, "the log is of another study: it has a phase %lld",
                        (long long)phase);
    flow->phase = (size_t)phase;
    flow->item = (size_t)item;
    flow->wrong = 0;
    flow->complete = false;
    if (page == NULL || strcmp(page, mel_flow_page_name(flow)) != 0)
        return mel_fail(err, MEL_ESTATE, "the log is of another study: phase %lld is no %.40s there",
                        (long long)phase, page != NULL ? page : "page");
    return MEL_OK;
}

/* The answer counts for the pair that was shown, which is told as it was. pair: room for two points. */
static mel_status replay_question(mel_flow *flow, const json_t *event, double *pair, mel_error *err)
{
    const bool evaluation = mel_flow_current(flow)->kind == MEL_PHASE_EVALUATION;
    const char *text = mel_json_string(json_object_get(event, "value"), "answer");
    const uint32_t number = evaluation ? (uint32_t)flow->item + 1 : mel_session_answers(flow->session) + 1;
    const json_t *swapped = json_object_get(event, "swapped"), *people = json_object_get(event, "people");
    mel_answer answer = MEL_ANSWER_SAME;
    TRY(mel_answer_parse(&answer, text != NULL ? text : "", err));
    TRY(read_point(pair, flow->size, "a", event, err));
    TRY(read_point(pair + flow->size, flow->size, "b", event, err));
    if (json_is_boolean(swapped) ? json_is_true(swapped) : mel_flow_is_swapped(flow, number))
        answer = mel_answer_swapped(answer);
    if (evaluation) {
        if (flow->item >= flow->n_evaluation)
            return mel_fail(err, MEL_ESTATE, "the log has more answers than the evaluation has questions");
        memcpy(flow->pair + 2 * flow->size * flow->item, pair, 2 * flow->size * sizeof *pair);
        flow->answer[flow->item] = answer;
        return mel_flow_answered(flow, err);
    }
    const mel_record said = {
        .a = pair,
        .b = pair + flow->size,
        .answer = answer,
        .seconds = mel_json_number(event, "seconds", (double)NAN),
        .people = json_is_integer(people) ? (uint32_t)json_integer_value(people) : MEL_NOT_RECORDED,
        .repeated = mel_json_is_true(event, "repeated"),
        .imagined = mel_json_is_true(event, "imagined"),
        .again = flow->n_again > 0 ? flow->again[flow->at_again] : 0,
    };
    TRY(mel_session_replay(flow->session, &said, err));
    return mel_flow_answered(flow, err);
}

static mel_status replay_calls(mel_flow *flow, const json_t *calls, mel_error *err)
{
    uint32_t number[MEL_OUTCOME_CALLS];
    const size_t n = json_array_size(calls);
    for (size_t i = 0; i < n && i < MEL_OUTCOME_CALLS; i++)
        number[i] = (uint32_t)json_integer_value(json_array_get(calls, i));
    return mel_flow_ask_again(flow, n < MEL_OUTCOME_CALLS ? n : MEL_OUTCOME_CALLS, number, err);
}

static mel_status replay_event(mel_flow *flow, const json_t *event, mel_error *err)
{
    const json_t *value = json_object_get(event, "value"), *calls = json_object_get(event, "calls");
    TRY(go_there(flow, event, err));
    if (calls != NULL && mel_flow_current(flow)->kind == MEL_PHASE_RESULT && flow->phase > 0)
        return replay_calls(flow, calls, err);
    if (!mel_flow_asks(flow) || flow->left || flow->complete || mel_json_is_true(value, "undo"))
        return mel_flow_tell(flow, value, mel_json_number(event, "seconds", (double)NAN), err);
    MEL_AUTO_MEMORY double *pair = mel_alloc(2 * flow->size, sizeof *pair);
    return pair != NULL ? replay_question(flow, event, pair, err) : mel_fail_memory(err, "a recorded pair");
}

mel_status mel_flow_replay(mel_flow *flow, const json_t *event, mel_error *err)
{
    flow->replaying = true;
    const mel_status status = replay_event(flow, event, err);
    flow->replaying = false;
    if (status == MEL_OK || status == MEL_ENOMEM || status == MEL_ESTOPPED)
        return status;
    if (err != NULL) /* not the fault of the next answer */
        err->code = MEL_ESTATE;
    return MEL_ESTATE;
}
