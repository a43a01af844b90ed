/* The pages of a study: what the browser shows for the current phase. */
#include "flow_internal.h"

#include "json_helpers.h"

#include <math.h>
#include <stdlib.h>

const char *mel_flow_page_name(const mel_flow *flow)
{
    return mel_flow_asks(flow) ? "question" : mel_phase_name(mel_flow_current(flow)->kind);
}

static mel_status whole(bool good, mel_error *err)
{
    return good ? MEL_OK : mel_fail_memory(err, "a page");
}

/* --- phases ------------------------------------------------------------------------------------- */

static mel_status fill_question(json_t *page, mel_flow *flow, mel_error *err)
{
    mel_question question;
    bool done = false;
    TRY(mel_flow_question(&question, &done, flow, err));
    if (done)
        return mel_fail(err, MEL_ESTATE, "there is no further question");
    json_t *shown =
        mel_question_to_json(&question, flow->problem, flow->language, flow->study->words,
                             mel_flow_shown_people(flow), mel_flow_is_swapped(flow, question.number), err);
    return shown != NULL ? whole(mel_json_put(page, "question", shown), err) : MEL_ENOMEM;
}

static mel_status fill_training(json_t *page, mel_flow *flow, mel_error *err)
{
    static const char *const texts[] = { "question", "explain" };
    const json_t *item = mel_training_item(flow);
    const bool definite = mel_training_is_definite(item);
    json_auto_t *views = NULL;
    TRY(mel_training_views(&views, flow, definite, err));
    TRY(mel_training_check(item, views, flow, err));
    const bool letters = definite || json_object_get(item, "compare") != NULL;
    json_t *choices = !letters   ? json_null()
                      : definite ? json_pack("[s, s]", "A", "B")
                                 : json_pack("[s, s, s]", "A", "B", "=");
    return whole(mel_json_put(page, "view", json_incref(views)) && mel_json_put(page, "choices", choices) &&
                     mel_json_put(page, "type", json_string(letters ? "choice" : "number")) &&
                     mel_json_put(page, "wrong", json_integer((json_int_t)flow->wrong)) &&
                     mel_json_copy(page, item, texts, flow->wrong > 0 ? 2 : 1),
                 err);
}

static mel_status fill_guess(json_t *page, mel_flow *flow, mel_error *err)
{
    MEL_AUTO_MEMORY char *missed = mel_mistake_name(flow->problem, flow->study->words, 1, 0, false);
    MEL_AUTO_MEMORY char *alarm = mel_mistake_name(flow->problem, flow->study->words, 0, 1, false);
    MEL_AUTO_MEMORY char *alarms = mel_mistake_name(flow->problem, flow->study->words, 0, 1, true);
    return whole(missed != NULL && alarm != NULL && alarms != NULL &&
                     mel_json_put(page, "labels",
                                  json_pack("{s:s, s:s, s:s}", "missed", missed, "false_alarm", alarm,
                                            "false_alarms", alarms)),
                 err);
}

/* Letters and digits without those that look alike, the same for the same participant. */
static void completion_code(char code[9], uint64_t seed)
{
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, MEL_STREAM_CODE);
    for (size_t i = 0; i < 8; i++)
        code[i] = letters[mel_rng_below(&rng, 32)];
    code[8] = '\0';
}

static mel_status fill_done(json_t *page, mel_flow *flow, mel_error *err)
{
    char code[9];
    completion_code(code, flow->seed);
    json_t *url = json_object_get(json_object_get(flow->study->file, "prolific"), "completion_url");
    const bool with_code = mel_json_is_true(mel_flow_current(flow)->json, "code");
    return whole((!with_code || mel_json_put(page, "code", json_string(code))) &&
                     (url == NULL || json_object_set(page, "redirect", url) == 0),
                 err);
}

static mel_status fill_text(json_t *page, mel_flow *flow, mel_error *err)
{
    if (!mel_json_is_true(mel_flow_current(flow)->json, "view"))
        return MEL_OK;
    json_t *views = NULL;
    TRY(mel_training_views(&views, flow, false, err));
    return whole(mel_json_put(page, "view", views), err);
}

/* By mel_phase_kind; NULL: the texts of the phase are all. */
static mel_status (*const fill[])(json_t *page, mel_flow *flow, mel_error *err) = {
    [MEL_PHASE_TEXT] = fill_text,           [MEL_PHASE_TRAINING] = fill_training,
    [MEL_PHASE_GUESS] = fill_guess,         [MEL_PHASE_ELICITATION] = fill_question,
    [MEL_PHASE_EVALUATION] = fill_question, [MEL_PHASE_DONE] = fill_done,
};

/* --- the whole page ----------------------------------------------------------------------------- */

/* Pages done and about how many are left, this one among them; what is only read at the end, a result, is
 * none of them. After the question was chosen: how much it tells is what the engine expects by. */
static json_t *progress(mel_flow *flow)
{
    double done = 0.0, left = 0.0;
    bool sure = true;
    for (size_t i = 0; i < flow->study->n_phases; i++) {
        const mel_phase *phase = &flow->study->phase[i];
        const bool passed = i < flow->phase;
        double pages = phase->kind == MEL_PHASE_DONE || phase->kind == MEL_PHASE_RESULT ? 0.0
                       : phase->kind == MEL_PHASE_EVALUATION ? (double)flow->n_evaluation
                       : phase->kind == MEL_PHASE_TRAINING
                           ? (double)json_array_size(json_object_get(phase->json, "items"))
                           : 1.0;
        double seen = passed ? pages : i == flow->phase ? (double)flow->item : 0.0;
        if (phase->kind == MEL_PHASE_ELICITATION) {
            seen = mel_session_answers(flow->session);
            const double more = passed ? 0.0 : (double)mel_session_expected(flow->session);
            pages = seen + (flow->n_again > 0 ? (double)(flow->n_again - flow->at_again)
                                              : fmin(more, (double)flow->budget - seen));
            sure = passed;
        }
        done += seen;
        left += pages - seen;
    }
    return json_pack("{s:I, s:I, s:b}", "done", (json_int_t)done, "left", (json_int_t)fmax(left, 0.0), "sure",
                     sure);
}

static mel_status refusal_page(json_t **page, mel_error *err)
{
    *page = json_pack("{s:s, s:s, s:s}", "kind", "bye", "title", "Thank you for your time", "text",
                      "You did not agree to take part. Nothing further is asked or kept.");
    return whole(*page != NULL, err);
}

mel_status mel_flow_page(json_t **page, mel_flow *flow, mel_error *err)
{
    static const char *const texts[] = { "title",  "text",   "version", "agree",
                                         "refuse", "fields", "low",     "high" };
    static const char *const settings[] = { "show", "words" };
    *page = NULL;
    if (flow->left)
        return refusal_page(page, err);
    const mel_phase *phase = mel_flow_current(flow);
    json_t *out =
        json_pack("{s:s, s:b}", "kind", mel_flow_page_name(flow), "can_undo", mel_flow_can_undo(flow));
    mel_status status = whole(mel_json_copy(out, phase->json, texts, sizeof texts / sizeof *texts) &&
                                  mel_json_copy(out, flow->study->file, settings, 2),
                              err);
    if (status == MEL_OK && fill[phase->kind] != NULL)
        status = fill[phase->kind](out, flow, err);
    if (status == MEL_OK)
        status = whole(mel_json_put(out, "progress", progress(flow)), err);
    *page = mel_json_if(status == MEL_OK, out);
    return status;
}
