/* What simulated participants send for the current page. */
#include "flow_internal.h"

#include "json_helpers.h"

#include <math.h>

static json_t *fill_form(const json_t *inputs)
{
    json_t *value = json_object();
    for (size_t i = 0; value != NULL && i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *type = mel_json_string(input, "type");
        json_t *choice = json_array_get(json_object_get(input, "choices"), 0);
        json_t *answer = strcmp(type, "choice") == 0   ? json_incref(choice)
                         : strcmp(type, "number") == 0 ? json_real(mel_json_number(input, "low", 0.0))
                                                       : json_string("simulated");
        (void)mel_json_put(value, mel_json_string(input, "name"), answer);
    }
    return value;
}

static json_t *solve_training(mel_flow *flow, mel_error *err)
{
    static const char *const letters[] = { "A", "B", "=" };
    const json_t *item = mel_training_item(flow);
    json_t *views = NULL, *found = NULL;
    if (mel_training_views(&views, flow, mel_training_is_definite(item), err) != MEL_OK)
        return NULL;
    for (size_t i = 0; i < 3 && found == NULL; i++) {
        json_t *letter = json_string(letters[i]);
        found = mel_json_if(mel_training_is_right(flow, item, views, letter), letter);
    }
    if (found == NULL)
        found = json_real(mel_training_number(item, views));
    json_decref(views);
    return json_pack("{s:o}", "answer", found);
}

/* Noise depends on the question's number: those of the evaluation come after all of the elicitation. */
static json_t *ask_oracle(mel_flow *flow, mel_oracle *oracle, mel_error *err)
{
    mel_question question;
    bool done = false;
    mel_reply reply = MEL_REPLY_SAME;
    mel_status status = mel_flow_question(&question, &done, flow, err);
    if (status != MEL_OK || done)
        return NULL;
    const bool swapped = mel_flow_is_swapped(flow, question.number);
    if (mel_flow_current(flow)->kind == MEL_PHASE_EVALUATION)
        question.number += flow->budget;
    status = mel_oracle_ask(&reply, oracle, &question, err);
    const mel_answer answer = swapped ? mel_answer_swapped((mel_answer)reply) : (mel_answer)reply;
    return status == MEL_OK ? json_pack("{s:s}", "answer", mel_answer_name(answer)) : NULL;
}

/* NULL also where there is no memory for the value, without err. */
static json_t *reply_of(mel_flow *flow, mel_oracle *oracle, double guess, mel_error *err)
{
    const mel_phase *phase = mel_flow_current(flow);
    if (mel_flow_asks(flow))
        return ask_oracle(flow, oracle, err);
    if (phase->kind == MEL_PHASE_CONSENT)
        return json_pack("{s:b, s:O}", "agreed", 1, "version", json_object_get(phase->json, "version"));
    if (phase->kind == MEL_PHASE_FORM)
        return fill_form(json_object_get(phase->json, "fields"));
    if (phase->kind == MEL_PHASE_TRAINING)
        return solve_training(flow, err);
    if (phase->kind == MEL_PHASE_GUESS)
        return json_pack("{s:o}", "ratio", isfinite(guess) ? json_real(guess) : json_null());
    return json_object();
}

json_t *mel_flow_simulated(mel_flow *flow, mel_oracle *oracle, double guess, mel_error *err)
{
    mel_error told = { .code = MEL_OK };
    json_t *value = reply_of(flow, oracle, guess, &told);
    if (value == NULL && told.code == MEL_OK)
        (void)mel_fail_memory(err, "an answer");
    else if (value == NULL)
        (void)mel_fail(err, told.code, "%s", told.text);
    return value;
}
