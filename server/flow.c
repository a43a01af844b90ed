/* One participant's way through a study: where it is, which question comes, how it moves on. */
#include "flow.h"

#include "flow_internal.h"
#include "json_helpers.h"

#include "base/internal.h"

#include "melicit/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what others want ------------------------------------------------------------------------------- */

enum { LEAST_LEARNED = 10 }; /* people before a new one starts from what they want */

json_t *mel_prior_json(const json_t *community)
{
    json_t *prior = json_object_get(community, "prior");
    return mel_json_number(prior, "people", 0.0) < LEAST_LEARNED ? NULL : json_incref(prior);
}

static mel_status read_prior(mel_metric **metric, double *strength, const json_t *prior, mel_error *err)
{
    *metric = NULL;
    *strength = mel_json_number(prior, "strength", 0.0);
    char *text = mel_json_exact(json_object_get(prior, "metric"));
    if (text == NULL)
        return mel_fail_memory(err, "what others want");
    const mel_status status = mel_metric_load_memory(metric, text, strlen(text), "what others want", err);
    mel_json_free_text(text);
    return status;
}

/* --- making ------------------------------------------------------------------------------------- */

static mel_status make_session(mel_session **out, const mel_flow *flow, mel_error *err)
{
    const mel_problem *problem = flow->problem;
    mel_session_options opt;
    TRY(mel_study_options(&opt, flow->study, &problem->domain, err));
    opt.max_questions = flow->budget;
    opt.class_names = problem->class_name;
    opt.group_names = problem->n_groups > 1 ? problem->group_name : NULL;
    opt.decisions = mel_decisions_usual();
    opt.prior = flow->prior;
    opt.prior_strength = flow->prior_strength;
    return mel_session_new(out, &problem->domain, &opt, err);
}

static const mel_layout *layout_of(const mel_domain *domain)
{
    return domain->pool != NULL   ? &domain->pool->layout
           : domain->ball != NULL ? mel_ball_layout(domain->ball)
                                  : mel_space_layout(domain->space);
}

/* The numbers that a session looks for: of a polynomial each product counts once, in whichever order. */
static mel_status unknowns(size_t *out, const mel_session_options *opt, const mel_layout *layout,
                           mel_error *err)
{
    const mel_family_facts *is = mel_family_about(opt->family);
    const uint32_t degree = is->degree > 0 ? is->degree : opt->degree;
    if (degree == 1 || is->groups)
        return mel_family_coefficients(out, opt->family, degree, layout, err);
    double all = 1.0;
    for (uint32_t d = 1; d <= degree; d++)
        all *= ((double)mel_layout_size(layout) + d) / d;
    *out = (size_t)(all - 0.5); /* without the constant */
    return MEL_OK;
}

/* Sessions on the web are of a size that answers within a moment and takes little memory: refused before
 * anything is allocated. */
static mel_status check_size(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    enum {
        MOST_NUMBERS = 512,
        MOST_ACTIVE = 100,
        MOST_SEARCHED = 10000,
        MOST_FACES = 190, /* 20 classes */
        MOST_CANDIDATES = 500
    };
    if (domain->face != NULL)
        return MEL_OK;
    const mel_layout *layout = layout_of(domain);
    const size_t numbers = mel_layout_size(layout);
    const size_t most = opt->strategy == MEL_STRATEGY_ACTIVE ? MOST_ACTIVE : MOST_SEARCHED;
    size_t n = 0;
    if (numbers > MOST_NUMBERS)
        return mel_fail(err, MEL_ELIMIT, "space: questions of %zu numbers; on the web they have at most %d",
                        numbers, MOST_NUMBERS);
    if (domain->pool != NULL && domain->pool->n > MOST_CANDIDATES)
        return mel_fail(err, MEL_ELIMIT, "space.candidates: %zu classifiers; on the web there are at most %d",
                        domain->pool->n, MOST_CANDIDATES);
    if (domain->space != NULL && layout->n_classes * (layout->n_classes - 1) / 2 > MOST_FACES)
        return mel_fail(err, MEL_ELIMIT,
                        "space: %zu classes have more pairs than questions on the web are about (%d)",
                        layout->n_classes, MOST_FACES);
    TRY(unknowns(&n, opt, layout, err));
    if (n > most)
        return mel_fail(
            err, MEL_ELIMIT,
            "family: a %s metric has %zu coefficients here; on the web the %s strategy follows at "
            "most %zu",
            mel_family_name(opt->family), n, mel_strategy_name(opt->strategy), most);
    return MEL_OK;
}

/* What is light takes some 10 ms: answers by the number of coefficients that the active strategy follows (the
 * faces of a space make it dearer, and take memory by the number of classes). A report draws and tries much
 * more. The bytes are about those of the largest that were measured. */
bool mel_flow_is_heavy(size_t *bytes, const mel_study *study, const mel_problem *problem, mel_flow_work what)
{
    enum {
        LIGHT_CLASSES = 8,
        LIGHT_IN_SPACE = 12,
        LIGHT = 20,
        LIGHT_SEARCHED = 240,
        FACE_BYTES = 4 << 20,
        BYTES = 16 << 20
    };
    const mel_domain *domain = &problem->domain;
    const mel_session_options *opt = &study->options;
    size_t n = 0;
    *bytes = BYTES;
    if (domain->face != NULL)
        return what == MEL_WORK_REPORT;
    const mel_layout *layout = layout_of(domain);
    if (domain->space != NULL)
        *bytes = layout->n_classes * FACE_BYTES;
    if (what == MEL_WORK_REPORT || domain->pool != NULL ||
        mel_family_coefficients(&n, opt->family, opt->degree, layout, NULL) != MEL_OK)
        return true;
    if (domain->space != NULL)
        return layout->n_classes > LIGHT_CLASSES || n > LIGHT_IN_SPACE;
    return n > (opt->strategy == MEL_STRATEGY_ACTIVE ? LIGHT : LIGHT_SEARCHED);
}

mel_status mel_flow_new(mel_flow **out, const mel_study *study, const mel_problem *problem, uint64_t seed,
                        const json_t *prior, mel_error *err)
{
    *out = NULL;
    TRY(check_size(&study->options, &problem->domain, err));
    MEL_AUTO(mel_flow) *flow = mel_alloc_zero(1, sizeof *flow);
    if (flow == NULL)
        return mel_fail_memory(err, "a participant");
    flow->study = study;
    flow->problem = problem;
    flow->seed = seed;
    flow->guess = flow->today_threshold = NAN;
    flow->budget = study->options.max_questions;
    if (prior != NULL)
        TRY(read_prior(&flow->prior, &flow->prior_strength, prior, err));
    TRY(make_session(&flow->session, flow, err));
    flow->size = mel_layout_size(mel_session_layout(flow->session));
    for (size_t i = 0; i < study->n_phases; i++)
        if (study->phase[i].kind == MEL_PHASE_EVALUATION)
            TRY(flow->pair != NULL
                    ? mel_fail(err, MEL_EDATA, "phases[%zu]: a study has at most one evaluation", i)
                    : mel_flow_draw_evaluation(flow, study->phase[i].json, err));
    *out = flow;
    flow = NULL;
    return MEL_OK;
}

void mel_flow_free(mel_flow *flow)
{
    if (flow == NULL)
        return;
    mel_session_free(flow->session);
    mel_metric_free(flow->prior);
    json_decref(flow->forms);
    free(flow->today_counts);
    free(flow->pair);
    free(flow->answer);
    free(flow);
}

/* --- questions ---------------------------------------------------------------------------------- */

const mel_phase *mel_flow_current(const mel_flow *flow)
{
    return &flow->study->phase[flow->phase];
}

bool mel_flow_asks(const mel_flow *flow)
{
    const mel_phase_kind kind = mel_flow_current(flow)->kind;
    return kind == MEL_PHASE_ELICITATION || kind == MEL_PHASE_EVALUATION;
}

/* Active sessions toss a coin for every question themselves, and show a repeated question the other way
 * round; one more coin for all of them keeps that, and makes participants differ. */
bool mel_flow_is_swapped(const mel_flow *flow, uint32_t number)
{
    const bool session_swaps = mel_flow_current(flow)->kind == MEL_PHASE_ELICITATION &&
                               flow->study->options.strategy == MEL_STRATEGY_ACTIVE;
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed,
                        (uint64_t)MEL_STREAM_SIDES << 32 | (uint64_t)flow->phase << 24 |
                            (session_swaps ? 0 : number));
    return mel_rng_next(&rng) >> 63 != 0;
}

mel_answer mel_answer_swapped(mel_answer answer)
{
    return answer == MEL_ANSWER_A ? MEL_ANSWER_B : answer == MEL_ANSWER_B ? MEL_ANSWER_A : answer;
}

uint32_t mel_flow_shown_people(const mel_flow *flow)
{
    return (uint32_t)mel_json_number(flow->study->show, "people", 0.0);
}

/* The name of a candidate; NULL without candidates. */
static const char *name_of(const mel_pool *pool, const double *point)
{
    return pool != NULL ? pool->name[mel_pool_place(pool, point)] : NULL;
}

mel_status mel_flow_question(mel_question *out, bool *done, mel_flow *flow, mel_error *err)
{
    *done = false;
    if (mel_flow_current(flow)->kind == MEL_PHASE_ELICITATION) {
        const mel_question *question = NULL;
        const mel_status status = mel_session_ask(&question, done, flow->session, err);
        if (status == MEL_OK && !*done)
            *out = *question;
        return status;
    }
    const mel_pool *pool = flow->problem->domain.pool;
    const double *pair = flow->pair + 2 * flow->size * flow->item;
    *out = (mel_question){
        .number = (uint32_t)flow->item + 1,
        .expected = flow->n_evaluation,
        .layout = mel_session_layout(flow->session),
        .class_names = flow->problem->class_name,
        .group_names = flow->problem->n_groups > 1 ? flow->problem->group_name : NULL,
        .a = pair,
        .b = pair + flow->size,
        .class_share = flow->problem->class_share,
        .people = pool != NULL ? mel_pool_people(pool, pair, pair + flow->size) : flow->evaluation_people,
        .classifier_a = name_of(pool, pair),
        .classifier_b = name_of(pool, pair + flow->size),
        .named = pool != NULL,
    };
    return MEL_OK;
}

/* --- moving on ---------------------------------------------------------------------------------- */

mel_status mel_flow_skip_finished(mel_flow *flow, mel_error *err)
{
    while (!flow->left && mel_flow_current(flow)->kind == MEL_PHASE_ELICITATION) {
        const mel_question *question = NULL;
        bool done = false;
        const mel_status status = mel_session_ask(&question, &done, flow->session, err);
        if (status != MEL_OK || !done)
            return status;
        flow->phase++;
        flow->item = 0;
    }
    flow->complete = mel_flow_current(flow)->kind == MEL_PHASE_DONE;
    return MEL_OK;
}

mel_status mel_flow_next_phase(mel_flow *flow, mel_error *err)
{
    flow->phase++;
    flow->item = 0;
    flow->wrong = 0;
    return mel_flow_skip_finished(flow, err);
}

bool mel_flow_can_undo(const mel_flow *flow)
{
    const mel_phase_kind kind = mel_flow_current(flow)->kind;
    return (kind == MEL_PHASE_ELICITATION && mel_session_answers(flow->session) > 0) ||
           (kind == MEL_PHASE_EVALUATION && flow->item > 0);
}

bool mel_flow_shows_result(const mel_flow *flow)
{
    bool shown = false;
    for (size_t i = 0; i <= flow->phase; i++)
        shown = shown || flow->study->phase[i].kind == MEL_PHASE_RESULT;
    const mel_phase_kind kind = mel_flow_current(flow)->kind;
    return shown && !flow->left && (kind == MEL_PHASE_RESULT || kind == MEL_PHASE_DONE);
}

/* The result must follow the elicitation: phases in between would come again. */
static bool can_go_back(const mel_flow *flow)
{
    return !flow->left && mel_flow_current(flow)->kind == MEL_PHASE_RESULT && flow->phase > 0 &&
           flow->study->phase[flow->phase - 1].kind == MEL_PHASE_ELICITATION;
}

size_t mel_flow_close_calls(uint32_t *number, size_t most, mel_flow *flow)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    if (!can_go_back(flow) || flow->study->options.strategy == MEL_STRATEGY_SEARCH ||
        mel_session_answers(flow->session) + most > MEL_MOST_QUESTIONS ||
        mel_session_result(&metric, &summary, flow->session, NULL) != MEL_OK)
        return 0;
    const size_t n = mel_session_close_calls(number, most, flow->session, metric);
    mel_metric_free(metric);
    return n;
}

bool mel_flow_can_ask_more(mel_flow *flow)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    if (!can_go_back(flow) || flow->budget + MEL_MORE_QUESTIONS > MEL_MOST_QUESTIONS ||
        mel_session_result(&metric, &summary, flow->session, NULL) != MEL_OK)
        return false;
    mel_metric_free(metric);
    return summary.end == MEL_END_BUDGET || (summary.end == MEL_END_DECIDED && isfinite(summary.settled));
}

/* --- where it is -------------------------------------------------------------------------------- */

const char *mel_flow_state(const mel_flow *flow)
{
    return flow->left ? "left" : flow->complete ? "complete" : "active";
}

const char *mel_flow_where(const mel_flow *flow)
{
    return flow->left ? "left" : mel_phase_name(mel_flow_current(flow)->kind);
}

size_t mel_flow_phase(const mel_flow *flow)
{
    return flow->phase;
}

void mel_flow_describe(char *text, size_t n, const mel_flow *flow)
{
    const char *where = mel_flow_where(flow);
    const mel_phase_kind kind = mel_flow_current(flow)->kind;
    const size_t questions = kind == MEL_PHASE_ELICITATION ? mel_session_answers(flow->session) : flow->item;
    if (!flow->left && mel_flow_asks(flow))
        (void)snprintf(text, n, "question %zu of %s", questions + 1, where);
    else if (!flow->left && kind == MEL_PHASE_TRAINING)
        (void)snprintf(text, n, "exercise %zu of training", flow->item + 1);
    else
        (void)snprintf(text, n, "%s", where);
}

void mel_flow_speak(mel_flow *flow, const mel_language *language)
{
    flow->language = language;
}

const mel_language *mel_flow_language(const mel_flow *flow)
{
    return flow->language;
}

const mel_study *mel_flow_study(const mel_flow *flow)
{
    return flow->study;
}

const mel_problem *mel_flow_problem(const mel_flow *flow)
{
    return flow->problem;
}

mel_session *mel_flow_session(mel_flow *flow)
{
    return flow->session;
}
