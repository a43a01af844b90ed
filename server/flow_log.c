/* Lines of a participant's log: what was sent with what it answered, and their replay. */
#include "flow_internal.h"

#include "json_helpers.h"

#include <math.h>
#include <stdlib.h>

json_t *mel_flow_event(mel_flow *flow, const json_t *value, double seconds)
{
    json_t *event =
        json_pack("{s:s, s:I, s:I, s:O}", "page", mel_flow_page_name(flow), "phase", (json_int_t)flow->phase,
                  "item", (json_int_t)flow->item, "value", (json_t *)value);
    bool good = event != NULL && (!isfinite(seconds) || mel_json_put(event, "seconds", json_real(seconds)));
    mel_question question;
    bool done = true;
    if (good && mel_flow_asks(flow) && !mel_json_is_true(value, "undo") &&
        mel_flow_question(&question, &done, flow, NULL) == MEL_OK && !done)
        good = mel_json_put(event, "number", json_integer((json_int_t)question.number)) &&
               mel_json_put(event, "swapped", json_boolean(mel_flow_is_swapped(flow, question.number))) &&
               mel_json_put(event, "a", mel_json_numbers(flow->size, question.a)) &&
               mel_json_put(event, "b", mel_json_numbers(flow->size, question.b));
    return mel_json_if(good, event);
}

char *mel_flow_event_text(mel_flow *flow, const json_t *value, double seconds)
{
    json_t *event = mel_flow_event(flow, value, seconds);
    char *text = mel_json_exact(event);
    json_decref(event);
    return text;
}

/* A missing number becomes NaN, which equals nothing. */
static void read_point(double *out, size_t n, const json_t *recorded)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(recorded, i);
        out[i] = json_is_number(number) ? json_number_value(number) : (double)NAN;
    }
}

static mel_status check_recorded(const mel_question *question, size_t n, const json_t *a, const json_t *b,
                                 mel_error *err)
{
    double *recorded = mel_alloc(2 * n, sizeof *recorded);
    if (recorded == NULL)
        return mel_fail_memory(err, "a recorded pair");
    read_point(recorded, n, a);
    read_point(recorded + n, n, b);
    const mel_status status = mel_question_check_pair(question, recorded, recorded + n, err);
    free(recorded);
    return status;
}

/* An answer counts for the pair that was shown: it must be the one that the replay asks about. If not, the
 * session cannot go on, which is not the fault of the next answer. */
static mel_status check_pair(mel_flow *flow, const json_t *event, mel_error *err)
{
    const json_t *a = json_object_get(event, "a"), *b = json_object_get(event, "b");
    if (a == NULL || b == NULL)
        return MEL_OK;
    mel_question question;
    bool done = !mel_flow_asks(flow);
    mel_status status = done ? MEL_OK : mel_flow_question(&question, &done, flow, err);
    if (status != MEL_OK)
        return status;
    if (done)
        return mel_fail(err, MEL_ESTATE, "the log has an answer where nothing is asked now");
    status = check_recorded(&question, flow->size, a, b, err);
    if (status == MEL_ECONFLICT && err != NULL)
        err->code = MEL_ESTATE;
    return status == MEL_ECONFLICT ? MEL_ESTATE : status;
}

mel_status mel_flow_replay(mel_flow *flow, const json_t *event, mel_error *err)
{
    const mel_status status = check_pair(flow, event, err);
    if (status != MEL_OK)
        return status;
    return mel_flow_tell(flow, json_object_get(event, "value"),
                         mel_json_number(event, "seconds", (double)NAN), err);
}
