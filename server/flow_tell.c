/* What participants send for the current page: checked, taken, taken back; and what simulated ones send. */
#include "flow_internal.h"
#include "json_helpers.h"

#include <math.h>
#include <string.h>

enum { MOST_WRONG = 3, MOST_VALUE = 5000, MOST_CHOICE = 8 };

static mel_status tell_consent(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *agreed = json_object_get(value, "agreed");
    const char *version = mel_json_string(value, "version");
    const char *own = mel_json_string(mel_flow_current(flow)->json, "version");
    if (!json_is_boolean(agreed))
        return mel_fail(err, MEL_EINVAL, "agreed: expected true or false");
    if (json_is_false(agreed)) {
        flow->left = true;
        return MEL_OK;
    }
    if (version == NULL || own == NULL || strcmp(version, own) != 0)
        return mel_fail(err, MEL_EINVAL, "version: the text that was agreed to is not the current one");
    return mel_flow_next_phase(flow, err);
}

/* Whether the number is within the object's "low" and "high", where it has them. */
static bool is_within(const json_t *limits, double number)
{
    return !(number < mel_json_number(limits, "low", number)) &&
           !(number > mel_json_number(limits, "high", number));
}

static mel_status check_input(const json_t *input, const json_t *value, mel_error *err)
{
    const char *name = mel_json_string(input, "name"), *type = mel_json_string(input, "type");
    if (value == NULL || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0))
        return mel_json_is_true(input, "required")
                   ? mel_fail(err, MEL_EINVAL, "%.40s: please answer this one", name)
                   : MEL_OK;
    if (strcmp(type, "number") == 0)
        return json_is_number(value) && is_within(input, json_number_value(value))
                   ? MEL_OK
                   : mel_fail(err, MEL_EINVAL, "%.40s: expected a number in the range", name);
    if (!json_is_string(value) || json_string_length(value) > MOST_VALUE)
        return mel_fail(err, MEL_EINVAL, "%.40s: expected a text of at most %d bytes", name, MOST_VALUE);
    const json_t *choices = json_object_get(input, "choices");
    bool known = strcmp(type, "choice") != 0;
    for (size_t i = 0; i < json_array_size(choices) && !known; i++)
        known = json_equal(json_array_get(choices, i), value) != 0;
    return known ? MEL_OK : mel_fail(err, MEL_EINVAL, "%.40s: this is none of the choices", name);
}

enum { PHASE_KEY = 24 };

const json_t *mel_flow_forms(const mel_flow *flow)
{
    return flow->forms;
}

const json_t *mel_flow_form(const json_t *forms, size_t phase)
{
    char key[PHASE_KEY];
    (void)snprintf(key, sizeof key, "%zu", phase);
    return json_object_get(forms, key);
}

/* Texts are for the export alone. */
static bool keep_form(mel_flow *flow, const json_t *value)
{
    const json_t *inputs = json_object_get(mel_flow_current(flow)->json, "fields");
    json_t *kept = json_object();
    bool good = kept != NULL;
    for (size_t i = 0; i < json_array_size(inputs) && good; i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *name = mel_json_string(input, "name"), *type = mel_json_string(input, "type");
        json_t *given = json_object_get(value, name);
        const bool whole = strcmp(type, "choice") == 0 || strcmp(type, "number") == 0;
        if (given != NULL && !json_is_null(given))
            good = mel_json_put(kept, name, whole ? json_incref(given) : json_true());
    }
    char key[PHASE_KEY];
    (void)snprintf(key, sizeof key, "%zu", flow->phase);
    if (flow->forms == NULL)
        flow->forms = json_object();
    return mel_json_put(flow->forms, key, mel_json_if(good, kept));
}

static mel_status tell_form(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *inputs = json_object_get(mel_flow_current(flow)->json, "fields");
    size_t answered = 0;
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const json_t *given = json_object_get(value, mel_json_string(input, "name"));
        TRY(check_input(input, given, err));
        answered += given != NULL;
    }
    if (json_object_size(value) > answered)
        return mel_fail(err, MEL_EINVAL, "there are answers to fields that the form does not have");
    return keep_form(flow, value) ? mel_flow_next_phase(flow, err) : mel_fail_memory(err, "a form");
}

static mel_status tell_training(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *answer = json_object_get(value, "answer"), *item = mel_training_item(flow);
    if (!json_is_number(answer) && (!json_is_string(answer) || json_string_length(answer) > MOST_CHOICE))
        return mel_fail(err, MEL_EINVAL, "answer: expected a number, or A, B or =");
    json_auto_t *views = NULL;
    TRY(mel_training_views(&views, flow, mel_training_is_definite(item), err));
    const bool right = mel_training_is_right(flow, item, views, answer);
    if (!right && ++flow->wrong < MOST_WRONG)
        return MEL_OK;
    flow->wrong = 0;
    flow->item++;
    const size_t n = json_array_size(json_object_get(mel_flow_current(flow)->json, "items"));
    return flow->item < n ? MEL_OK : mel_flow_next_phase(flow, err);
}

/* null: "I cannot say". */
static mel_status tell_guess(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *ratio = json_object_get(value, "ratio");
    const double number = json_number_value(ratio);
    if (json_is_null(ratio))
        return mel_flow_next_phase(flow, err);
    if (!json_is_number(ratio) || !(number > 0.0) || !isfinite(number))
        return mel_fail(err, MEL_EINVAL, "ratio: expected a number above 0");
    if (!is_within(mel_flow_current(flow)->json, number))
        return mel_fail(err, MEL_EINVAL, "ratio: expected a number in the range");
    flow->guess = number;
    return mel_flow_next_phase(flow, err);
}

static mel_status tell_question(mel_flow *flow, const json_t *value, double seconds, mel_error *err)
{
    const char *text = mel_json_string(value, "answer");
    mel_answer answer = MEL_ANSWER_SAME;
    mel_question question;
    bool done = false;
    TRY(mel_answer_parse(&answer, text != NULL ? text : "", err));
    TRY(mel_flow_question(&question, &done, flow, err));
    if (done)
        return mel_fail(err, MEL_ESTATE, "there is no further question");
    if (mel_flow_is_swapped(flow, question.number))
        answer = mel_answer_swapped(answer);
    if (mel_flow_current(flow)->kind == MEL_PHASE_EVALUATION)
        flow->answer[flow->item] = answer;
    else
        TRY(mel_session_tell(flow->session, question.number, answer, seconds, err));
    return mel_flow_answered(flow, err);
}

mel_status mel_flow_answered(mel_flow *flow, mel_error *err)
{
    if (mel_flow_current(flow)->kind == MEL_PHASE_EVALUATION)
        return ++flow->item < flow->n_evaluation ? MEL_OK : mel_flow_next_phase(flow, err);
    if (flow->at_again + 1 < flow->n_again)
        return mel_session_ask_again(flow->session, flow->again[++flow->at_again], err);
    flow->n_again = 0;
    return mel_flow_skip_finished(flow, err);
}

/* Takes back the last answer; a repeated question leads back to the one before it. */
static mel_status undo_elicited(mel_flow *flow, mel_error *err)
{
    TRY(mel_session_undo(flow->session, err));
    if (flow->at_again == 0)
        flow->n_again = 0;
    return flow->n_again > 0 ? mel_session_ask_again(flow->session, flow->again[--flow->at_again], err)
                             : MEL_OK;
}

static mel_status undo(mel_flow *flow, mel_error *err)
{
    if (!mel_flow_can_undo(flow))
        return mel_fail(err, MEL_EINVAL, "there is no answer to take back");
    if (mel_flow_current(flow)->kind == MEL_PHASE_ELICITATION)
        return undo_elicited(flow, err);
    flow->answer[--flow->item] =
        MEL_ANSWER_SKIP; /* counts for nothing until the question is answered again */
    return MEL_OK;
}

/* A larger budget. */
static mel_status ask_more(mel_flow *flow, mel_error *err)
{
    if (!flow->replaying && !mel_flow_can_ask_more(flow))
        return mel_fail(err, MEL_EINVAL, "more: further questions would tell nothing here");
    TRY(mel_session_set_budget(flow->session, flow->budget + MEL_MORE_QUESTIONS, err));
    flow->budget += MEL_MORE_QUESTIONS;
    flow->phase--;
    return mel_flow_skip_finished(flow, err);
}

mel_status mel_flow_ask_again(mel_flow *flow, size_t n, const uint32_t *number, mel_error *err)
{
    if (n == 0)
        return mel_fail(err, MEL_EINVAL, "again: there is no answer that can be given again here");
    TRY(mel_session_ask_again(flow->session, number[0], err));
    memcpy(flow->again, number, n * sizeof *number);
    flow->n_again = n;
    flow->at_again = 0;
    flow->phase--;
    return MEL_OK;
}

/* The closest calls once more. */
static mel_status ask_again(mel_flow *flow, mel_error *err)
{
    uint32_t number[MEL_OUTCOME_CALLS];
    return mel_flow_ask_again(flow, mel_flow_close_calls(number, MEL_OUTCOME_CALLS, flow), number, err);
}

/* --- what is done today ------------------------------------------------------------------------- */

void mel_flow_put_today(mel_outcome_options *opt, const mel_flow *flow)
{
    opt->today_threshold = flow->today_threshold;
    opt->today_counts = flow->today_counts;
}

/* Counted decisions, a list of groups x classes x classes numbers. */
static mel_status take_counts(double **out, const mel_flow *flow, const json_t *list, mel_error *err)
{
    const size_t k = flow->problem->n_classes, m = flow->problem->n_groups > 1 ? flow->problem->n_groups : 1;
    const size_t n = m * k * k;
    if (json_array_size(list) != n)
        return mel_fail(err, MEL_EINVAL, "today.counts: expected %zu numbers", n);
    double *count = mel_alloc_zero(n, sizeof *count);
    if (count == NULL)
        return mel_fail_memory(err, "counts");
    bool good = true;
    for (size_t row = 0; row < n; row += k) {
        double total = 0.0;
        for (size_t j = row; j < row + k; j++) {
            const json_t *one = json_array_get(list, j);
            count[j] = json_number_value(one);
            total += count[j];
            good = good && json_is_number(one) && count[j] >= 0.0 && isfinite(count[j]);
        }
        good = good && total >= 1.0;
    }
    if (!good) {
        free(count);
        return mel_fail(err, MEL_EINVAL,
                        "today.counts: expected counts from 0 up, and rows of each class in each group");
    }
    *out = count;
    return MEL_OK;
}

/* {"threshold"}, {"counts"}, or {}: nothing is known. */
static mel_status tell_today(mel_flow *flow, const json_t *today, mel_error *err)
{
    const json_t *list = json_object_get(today, "counts"), *from = json_object_get(today, "threshold");
    const double threshold = from != NULL ? json_number_value(from) : (double)NAN;
    double *count = NULL;
    mel_status status = MEL_OK;
    if (json_object_size(today) > 1)
        status = mel_fail(err, MEL_EINVAL, "today: expected a threshold or counts");
    else if (from != NULL && (flow->problem->n_classes != 2 || !(threshold >= 0.0 && threshold <= 1.0)))
        status = mel_fail(err, MEL_EINVAL, "today.threshold: expected a number from 0 to 1, of two classes");
    else if (list != NULL)
        status = take_counts(&count, flow, list, err);
    if (status != MEL_OK)
        return status;
    free(flow->today_counts);
    flow->today_counts = count;
    flow->today_threshold = threshold;
    return MEL_OK;
}

static mel_status tell_result(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *today = json_object_get(value, "today");
    if (today != NULL)
        return tell_today(flow, today, err);
    if (mel_json_is_true(value, "again"))
        return ask_again(flow, err);
    return mel_json_is_true(value, "more") ? ask_more(flow, err) : mel_flow_next_phase(flow, err);
}

/* What is sent is kept: a value has the fields of its page and no others. Those of a form are the study's. */
static mel_status check_value(const mel_flow *flow, const json_t *value, mel_error *err)
{
    static const char *const fields[] = {
        [MEL_PHASE_CONSENT] = "agreed:any version",
        [MEL_PHASE_TEXT] = "",
        [MEL_PHASE_TRAINING] = "answer:any",
        [MEL_PHASE_GUESS] = "ratio:any",
        [MEL_PHASE_ELICITATION] = "answer shown:object",
        [MEL_PHASE_EVALUATION] = "answer shown:object",
        [MEL_PHASE_RESULT] = "more:boolean again:boolean today:object",
        [MEL_PHASE_DONE] = "",
    };
    const mel_phase_kind kind = mel_flow_current(flow)->kind;
    if (kind == MEL_PHASE_FORM)
        return MEL_OK;
    const bool undoing = mel_json_is_true(value, "undo");
    const json_t *shown = undoing ? NULL : json_object_get(value, "shown");
    mel_status status = mel_check_fields(value, "value", undoing ? "undo:boolean" : fields[kind], err);
    if (status == MEL_OK && shown != NULL)
        status = mel_check_fields(shown, "value.shown", "picture rates:boolean", err);
    const json_t *today = undoing || kind != MEL_PHASE_RESULT ? NULL : json_object_get(value, "today");
    if (status == MEL_OK && today != NULL)
        status = mel_check_fields(today, "value.today", "threshold:number counts:list", err);
    if (status == MEL_EDATA && err != NULL)
        err->code = MEL_EINVAL;
    return status == MEL_EDATA ? MEL_EINVAL : status;
}

mel_status mel_flow_tell(mel_flow *flow, const json_t *value, double seconds, mel_error *err)
{
    /* By mel_phase_kind; NULL: any value leads to the next phase. */
    static mel_status (*const tell[])(mel_flow * flow, const json_t *value, mel_error *err) = {
        [MEL_PHASE_CONSENT] = tell_consent,   [MEL_PHASE_FORM] = tell_form,
        [MEL_PHASE_TRAINING] = tell_training, [MEL_PHASE_GUESS] = tell_guess,
        [MEL_PHASE_RESULT] = tell_result,     [MEL_PHASE_DONE] = NULL,
    };
    if (!json_is_object(value))
        return mel_fail(err, MEL_EINVAL, "value: expected an object");
    if (flow->left || flow->complete)
        return mel_fail(err, MEL_EINVAL, "this study is over");
    TRY(check_value(flow, value, err));
    if (mel_json_is_true(value, "undo"))
        return undo(flow, err);
    if (mel_flow_asks(flow))
        return tell_question(flow, value, seconds, err);
    const mel_phase_kind kind = mel_flow_current(flow)->kind;
    return tell[kind] != NULL ? tell[kind](flow, value, err) : mel_flow_next_phase(flow, err);
}

/* --- simulated participants ------------------------------------------------------------------------- */

static json_t *fill_form(const json_t *inputs)
{
    json_t *value = json_object();
    bool whole = value != NULL;
    for (size_t i = 0; whole && i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *type = mel_json_string(input, "type");
        json_t *choice = json_array_get(json_object_get(input, "choices"), 0);
        json_t *answer = strcmp(type, "choice") == 0   ? json_incref(choice)
                         : strcmp(type, "number") == 0 ? json_real(mel_json_number(input, "low", 0.0))
                                                       : json_string("simulated");
        whole = mel_json_put(value, mel_json_string(input, "name"), answer);
    }
    return mel_json_if(whole, value);
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
