#include "flow.h"

#include "question_json.h"

#include "base/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WRONG = 3,
    MORE_QUESTIONS = 10,
    MOST_QUESTIONS = 1000,
    MOST_EVALUATION = 200,
    MOST_VALUE = 5000,
    MOST_DRAWS = 2000
};
/* Streams of the participant's seed. */
enum { STREAM_SIDES = 1, STREAM_EVALUATION = 2, STREAM_CODE = 3, STREAM_TRAINING = 4 };

struct mel_flow {
    const mel_study *study;
    const mel_problem *problem;
    uint64_t seed;
    size_t phase, item; /* where: item of a training, question of an evaluation */
    uint32_t wrong;     /* tries at this training item */
    bool left, complete;
    double guess;
    mel_session *session;
    uint32_t budget; /* of the elicitation */
    size_t size;     /* numbers in a point */
    uint32_t n_evaluation;
    double *pair;       /* n_evaluation x 2 x size */
    mel_answer *answer; /* n_evaluation; as the pair's A and B */
};

/* --- making ------------------------------------------------------------------------------------- */

static const mel_phase *phase_of(const mel_flow *flow)
{
    return &flow->study->phase[flow->phase];
}

static mel_status make_session(mel_session **out, const mel_flow *flow, mel_error *err)
{
    mel_session_options opt = flow->study->options;
    opt.max_questions = flow->budget;
    opt.class_names = flow->problem->class_name;
    opt.group_names = flow->problem->n_groups > 1 ? flow->problem->group_name : NULL;
    if (flow->problem->domain.face != NULL)
        opt.simple_questions = false;
    return mel_session_new(out, &flow->problem->domain, &opt, err);
}

/* A point of the ball around the middle of what is feasible; of a face only where it is. */
static bool draw_point(double *point, const mel_flow *flow, double radius, mel_rng *rng)
{
    const mel_face *face = flow->problem->domain.face;
    const mel_ball *ball = flow->problem->domain.ball;
    const size_t q =
        face != NULL ? 2 : flow->size / (flow->problem->n_groups > 1 ? flow->problem->n_groups : 1);
    for (size_t start = 0; start < flow->size; start += q) {
        mel_rng_sphere(rng, q, point + start);
        const double length = radius * pow(mel_rng_uniform(rng), 1.0 / (double)q);
        const mel_point middle = face != NULL ? mel_face_centre(face) : (mel_point){ 0 };
        for (size_t i = 0; i < q; i++) {
            const double centre = face == NULL ? mel_ball_centre(ball)[i] : i == 0 ? middle.tp : middle.tn;
            point[start + i] = centre + length * point[start + i];
        }
    }
    return face == NULL || mel_face_contains(face, (mel_point){ point[0], point[1] }, 0.0);
}

static mel_status draw_evaluation(mel_flow *flow, const json_t *phase, mel_error *err)
{
    const json_t *n = json_object_get(phase, "questions"), *r = json_object_get(phase, "radius");
    const double wanted = n != NULL ? json_number_value(n) : 15.0;
    double radius = r != NULL ? json_number_value(r) : 0.1;
    if (flow->problem->domain.space != NULL)
        return mel_fail(err, MEL_EDATA,
                        "evaluation: pairs can be drawn for two classes or on a ball, not for this family");
    if (!(wanted >= 1.0 && wanted <= MOST_EVALUATION) || !(radius > 0.0))
        return mel_fail(err, MEL_EDATA, "evaluation: 1 to %d questions and a radius above 0 are wanted",
                        MOST_EVALUATION);
    if (flow->problem->domain.ball != NULL)
        radius = fmin(radius, mel_ball_radius(flow->problem->domain.ball));
    flow->n_evaluation = (uint32_t)wanted;
    const size_t n_points = 2 * (size_t)flow->n_evaluation;
    flow->pair = mel_alloc(n_points * flow->size, sizeof *flow->pair);
    flow->answer = mel_alloc_zero(flow->n_evaluation, sizeof *flow->answer);
    if (flow->pair == NULL || flow->answer == NULL)
        return mel_fail_memory(err, "the evaluation");
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed, STREAM_EVALUATION);
    for (size_t i = 0; i < n_points; i++) {
        size_t tries = 0;
        while (!draw_point(flow->pair + i * flow->size, flow, radius, &rng) && ++tries < MOST_DRAWS)
            ;
        if (tries == MOST_DRAWS)
            return mel_fail(err, MEL_EDATA, "evaluation: radius %g leaves what is achievable here", radius);
    }
    return MEL_OK;
}

mel_status mel_flow_new(mel_flow **out, const mel_study *study, const mel_problem *problem, uint64_t seed,
                        mel_error *err)
{
    *out = NULL;
    mel_flow *flow = mel_alloc_zero(1, sizeof *flow);
    if (flow == NULL)
        return mel_fail_memory(err, "a participant");
    flow->study = study;
    flow->problem = problem;
    flow->seed = seed;
    flow->guess = NAN;
    flow->budget = study->options.max_questions;
    mel_status status = make_session(&flow->session, flow, err);
    if (status == MEL_OK)
        flow->size = mel_layout_size(mel_session_layout(flow->session));
    for (size_t i = 0; i < study->n_phases && status == MEL_OK; i++)
        if (study->phase[i].kind == MEL_PHASE_EVALUATION)
            status = flow->pair != NULL
                         ? mel_fail(err, MEL_EDATA, "phases[%zu]: there is one evaluation in a study", i)
                         : draw_evaluation(flow, study->phase[i].json, err);
    if (status != MEL_OK) {
        mel_flow_free(flow);
        return status;
    }
    *out = flow;
    return MEL_OK;
}

void mel_flow_free(mel_flow *flow)
{
    if (flow == NULL)
        return;
    mel_session_free(flow->session);
    free(flow->pair);
    free(flow->answer);
    free(flow);
}

/* --- questions ---------------------------------------------------------------------------------- */

/* Which side A is on. Active sessions toss a coin for every question themselves, and show a repeated question
 * the other way round; one more coin for all of them keeps that, and makes participants differ. */
static bool is_swapped(const mel_flow *flow, uint32_t number)
{
    const bool own =
        phase_of(flow)->kind == MEL_PHASE_ELICITATION && flow->study->options.strategy == MEL_STRATEGY_ACTIVE;
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed,
                        (uint64_t)STREAM_SIDES << 32 | (uint64_t)flow->phase << 24 | (own ? 0 : number));
    return mel_rng_next(&rng) >> 63 != 0;
}

static uint32_t shown_people(const mel_flow *flow)
{
    const json_t *people = json_object_get(flow->study->show, "people");
    return people != NULL ? (uint32_t)json_number_value(people) : 0;
}

/* The current question of the elicitation or evaluation. *done: there is none. */
static mel_status current_question(mel_question *out, bool *done, mel_flow *flow, mel_error *err)
{
    *done = false;
    if (phase_of(flow)->kind == MEL_PHASE_ELICITATION) {
        const mel_question *question = NULL;
        const mel_status status = mel_session_ask(&question, done, flow->session, err);
        if (status == MEL_OK && !*done)
            *out = *question;
        return status;
    }
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
    };
    return MEL_OK;
}

/* --- training ----------------------------------------------------------------------------------- */

static const json_t *training_item(const mel_flow *flow)
{
    return json_array_get(json_object_get(phase_of(flow)->json, "items"), flow->item);
}

static bool is_definite(const json_t *item)
{
    return json_is_true(json_object_get(json_object_get(item, "of"), "definite"));
}

/* Whether B is the better one of a definite question: a coin of the participant's, so that nobody learns to
 * prefer a side. */
static bool is_b_better(const mel_flow *flow)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed, (uint64_t)STREAM_TRAINING << 32 | flow->item);
    return mel_rng_next(&rng) >> 63 != 0;
}

/* Two systems that trade one mistake for the other or, for a definite question, of which the second is worse
 * in all. */
static mel_status training_pair(double *a, double *b, const mel_flow *flow, bool definite, mel_error *err)
{
    const mel_face *face = flow->problem->domain.face;
    if (face != NULL) {
        mel_point first, second;
        mel_status status = mel_face_support(&first, face, 0.45, 0.9, err);
        if (status == MEL_OK)
            status = mel_face_support(&second, face, 0.95, 0.3, err);
        if (status != MEL_OK)
            return status;
        const mel_point middle = mel_face_centre(face);
        if (definite)
            second = (mel_point){ first.tp + 0.4 * (middle.tp - first.tp),
                                  first.tn + 0.4 * (middle.tn - first.tn) };
        memcpy(a, (double[]){ first.tp, first.tn }, 2 * sizeof *a);
        memcpy(b, (double[]){ second.tp, second.tn }, 2 * sizeof *b);
        return MEL_OK;
    }
    const mel_ball *ball = flow->problem->domain.ball;
    if (ball == NULL)
        return mel_fail(err, MEL_EDATA,
                        "training: pictures can be made for two classes or on a ball, not for this family");
    const size_t q = flow->size / (flow->problem->n_groups > 1 ? flow->problem->n_groups : 1);
    const double right = mel_session_layout(flow->session)->coordinates == MEL_OFFDIAGONAL ? -1.0 : 1.0;
    const double far = mel_ball_radius(ball) / sqrt((double)q);
    for (size_t i = 0; i < flow->size; i++) {
        const double centre = mel_ball_centre(ball)[i % q];
        const double step = i / q % 2 == 0 ? far : 0.6 * far; /* groups are told apart */
        a[i] = centre + right * step * (definite || i % 2 == 0 ? 1.0 : -0.6);
        b[i] = centre + right * step * (definite ? 0.1 : i % 2 == 0 ? -0.6 : 1.0);
    }
    return MEL_OK;
}

static mel_status training_views(json_t **out, const mel_flow *flow, bool definite, mel_error *err)
{
    *out = NULL;
    double *room = mel_alloc(2 * flow->size, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "two pictures");
    const bool turn = definite && is_b_better(flow);
    mel_status status = training_pair(room, room + flow->size, flow, definite, err);
    if (status == MEL_OK) {
        const mel_question question = {
            .layout = mel_session_layout(flow->session),
            .a = turn ? room + flow->size : room,
            .b = turn ? room : room + flow->size,
            .class_share = flow->problem->class_share,
        };
        const uint32_t people = shown_people(flow);
        *out = mel_views_to_json(&question, flow->problem, people != 0 ? people : 100, err);
        status = *out != NULL ? MEL_OK : MEL_ENOMEM;
    }
    free(room);
    return status;
}

static size_t index_of(const json_t *of, const char *name)
{
    return (size_t)json_number_value(json_object_get(of, name));
}

/* NaN where nothing is shown. */
static double shown_count(const json_t *counts, size_t truth, size_t predicted)
{
    const json_t *cell = json_array_get(json_array_get(counts, truth), predicted);
    return json_is_number(cell) ? json_number_value(cell) : (double)NAN;
}

/* A cell, a total or a share of one system, in people or percent; NaN: there is no such number. */
static double training_number(const json_t *view, const json_t *of)
{
    const json_t *counts = json_object_get(view, "counts");
    if (json_object_get(of, "group") != NULL)
        counts = json_array_get(counts, index_of(of, "group"));
    const size_t n = json_array_size(counts);
    const char *total = json_string_value(json_object_get(of, "total"));
    const size_t class_code = index_of(of, "class"), truth = index_of(of, "true");
    double sum = 0.0, row = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += total != NULL && strcmp(total, "predicted") == 0 ? shown_count(counts, i, class_code)
                                                                : shown_count(counts, class_code, i);
        row += shown_count(counts, truth, i);
    }
    if (total != NULL)
        return n > 0 ? sum : (double)NAN;
    const double cell = shown_count(counts, truth, index_of(of, "predicted"));
    return !json_is_true(json_object_get(of, "rate")) ? cell : row > 0.0 ? 100.0 * cell / row : (double)NAN;
}

/* Whether what is asked for can be seen. */
static mel_status check_item(const json_t *item, const json_t *views, const mel_flow *flow, mel_error *err)
{
    const json_t *of = json_object_get(item, "of");
    if (is_definite(item) || (isfinite(training_number(json_array_get(views, 0), of)) &&
                              isfinite(training_number(json_array_get(views, 1), of))))
        return MEL_OK;
    return mel_fail(err, MEL_EDATA,
                    "phases[%zu].items[%zu].of: the picture has no such number (classes and, where there are "
                    "some, groups are counted from 0)",
                    flow->phase, flow->item);
}

static bool training_right(const mel_flow *flow, const json_t *item, const json_t *views,
                           const json_t *answer)
{
    const json_t *of = json_object_get(item, "of");
    const char *letter = json_string_value(answer),
               *system = json_string_value(json_object_get(of, "system"));
    if (is_definite(item))
        return letter != NULL && strcmp(letter, is_b_better(flow) ? "B" : "A") == 0;
    const double a = training_number(json_array_get(views, 0), of),
                 b = training_number(json_array_get(views, 1), of);
    if (json_object_get(item, "compare") != NULL) {
        const char *right = a == b ? "=" : a > b ? "A" : "B";
        return letter != NULL && strcmp(letter, right) == 0;
    }
    const double wanted = system != NULL && strcmp(system, "B") == 0 ? b : a;
    return json_is_number(answer) && fabs(json_number_value(answer) - wanted) <= 0.5 + 1e-9;
}

/* --- pages -------------------------------------------------------------------------------------- */

static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* The texts that the phase has, under the same names. */
static bool copy_texts(json_t *page, const json_t *phase)
{
    static const char *const names[] = { "title",  "text",   "version", "agree",
                                         "refuse", "fields", "low",     "high" };
    bool good = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && good; i++)
        if (json_object_get(phase, names[i]) != NULL)
            good = json_object_set(page, names[i], json_object_get(phase, names[i])) == 0;
    return good;
}

static mel_status question_page(json_t *page, mel_flow *flow, mel_error *err)
{
    mel_question question;
    bool done = false;
    const mel_status status = current_question(&question, &done, flow, err);
    if (status != MEL_OK || done)
        return status != MEL_OK ? status : mel_fail(err, MEL_ESTATE, "there is no further question");
    json_t *shown = mel_question_to_json(&question, flow->problem, flow->study->words, shown_people(flow),
                                         is_swapped(flow, question.number), err);
    return shown == NULL                  ? MEL_ENOMEM
           : put(page, "question", shown) ? MEL_OK
                                          : mel_fail_memory(err, "a page");
}

static mel_status training_page(json_t *page, mel_flow *flow, mel_error *err)
{
    const json_t *item = training_item(flow);
    json_t *views = NULL;
    mel_status status = training_views(&views, flow, is_definite(item), err);
    if (status == MEL_OK)
        status = check_item(item, views, flow, err);
    if (status != MEL_OK) {
        json_decref(views);
        return status;
    }
    const bool letters = is_definite(item) || json_object_get(item, "compare") != NULL;
    json_t *choices = !letters            ? json_null()
                      : is_definite(item) ? json_pack("[s, s]", "A", "B")
                                          : json_pack("[s, s, s]", "A", "B", "=");
    const bool good = put(page, "view", views) && put(page, "choices", choices) &&
                      put(page, "type", json_string(letters ? "choice" : "number")) &&
                      put(page, "wrong", json_integer((json_int_t)flow->wrong)) &&
                      json_object_set(page, "question", json_object_get(item, "question")) == 0 &&
                      (json_object_get(item, "explain") == NULL || flow->wrong == 0 ||
                       json_object_set(page, "explain", json_object_get(item, "explain")) == 0);
    return good ? MEL_OK : mel_fail_memory(err, "a page");
}

static mel_status guess_page(json_t *page, const mel_flow *flow, mel_error *err)
{
    char *missed = mel_mistake_name(flow->problem, flow->study->words, 1, 0, false);
    char *alarm = mel_mistake_name(flow->problem, flow->study->words, 0, 1, true);
    const bool good = missed != NULL && alarm != NULL &&
                      put(page, "labels", json_pack("{s:s, s:s}", "missed", missed, "false_alarms", alarm));
    free(missed);
    free(alarm);
    return good ? MEL_OK : mel_fail_memory(err, "a page");
}

/* Seven letters and digits without those that look alike, the same for the same participant. */
static void completion_code(char code[9], uint64_t seed)
{
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, STREAM_CODE);
    for (size_t i = 0; i < 8; i++)
        code[i] = letters[mel_rng_below(&rng, 32)];
    code[8] = '\0';
}

static mel_status done_page(json_t *page, const mel_flow *flow, mel_error *err)
{
    char code[9];
    completion_code(code, flow->seed);
    const json_t *url = json_object_get(json_object_get(flow->study->file, "prolific"), "completion_url");
    const bool with_code = json_is_true(json_object_get(phase_of(flow)->json, "code"));
    const bool good = (!with_code || put(page, "code", json_string(code))) &&
                      (url == NULL || json_object_set(page, "redirect", (json_t *)url) == 0);
    return good ? MEL_OK : mel_fail_memory(err, "a page");
}

static const char *const kind_names[] = { "consent",  "form",     "text",   "training", "guess",
                                          "question", "question", "result", "done" }; /* as mel_phase_kind */

/* Pages done and about how many are left. */
static json_t *progress(mel_flow *flow)
{
    double done = 0.0, left = 0.0;
    bool sure = true;
    for (size_t i = 0; i < flow->study->n_phases; i++) {
        const mel_phase *phase = &flow->study->phase[i];
        double pages = 1.0, passed = i < flow->phase ? 1.0 : 0.0;
        if (phase->kind == MEL_PHASE_TRAINING) {
            pages = (double)json_array_size(json_object_get(phase->json, "items"));
            passed = i < flow->phase ? pages : i == flow->phase ? (double)flow->item : 0.0;
        } else if (phase->kind == MEL_PHASE_EVALUATION) {
            pages = flow->n_evaluation;
            passed = i < flow->phase ? pages : i == flow->phase ? (double)flow->item : 0.0;
        } else if (phase->kind == MEL_PHASE_ELICITATION) {
            const double asked = mel_session_answers(flow->session);
            const double more = i < flow->phase ? 0.0 : (double)mel_session_expected(flow->session);
            pages = asked + fmin(more, (double)flow->budget - asked);
            passed = asked;
            sure = i < flow->phase;
        } else if (phase->kind == MEL_PHASE_DONE) {
            pages = 0.0;
        }
        done += passed;
        left += pages - passed;
    }
    return json_pack("{s:I, s:I, s:b}", "done", (json_int_t)done, "left", (json_int_t)fmax(left, 0.0), "sure",
                     sure);
}

static bool can_undo(const mel_flow *flow)
{
    const mel_phase_kind kind = phase_of(flow)->kind;
    return (kind == MEL_PHASE_ELICITATION && mel_session_answers(flow->session) > 0) ||
           (kind == MEL_PHASE_EVALUATION && flow->item > 0);
}

static mel_status fill_page(json_t *page, mel_flow *flow, mel_error *err)
{
    const mel_phase *phase = phase_of(flow);
    switch (phase->kind) {
    case MEL_PHASE_ELICITATION:
    case MEL_PHASE_EVALUATION:
        return question_page(page, flow, err);
    case MEL_PHASE_TRAINING:
        return training_page(page, flow, err);
    case MEL_PHASE_GUESS:
        return guess_page(page, flow, err);
    case MEL_PHASE_DONE:
        return done_page(page, flow, err);
    case MEL_PHASE_TEXT:
        if (json_is_true(json_object_get(phase->json, "view"))) {
            json_t *views = NULL;
            const mel_status status = training_views(&views, flow, false, err);
            if (status != MEL_OK)
                return status;
            return put(page, "view", views) ? MEL_OK : mel_fail_memory(err, "a page");
        }
        return MEL_OK;
    case MEL_PHASE_CONSENT:
    case MEL_PHASE_FORM:
    case MEL_PHASE_RESULT:
        return MEL_OK;
    }
    return MEL_OK;
}

static mel_status bye_page(json_t **page, mel_error *err)
{
    *page = json_pack("{s:s, s:s, s:s}", "kind", "bye", "title", "Thank you for your time", "text",
                      "You did not agree to take part. Nothing further is asked or kept.");
    return *page != NULL ? MEL_OK : mel_fail_memory(err, "a page");
}

mel_status mel_flow_page(json_t **page, mel_flow *flow, mel_error *err)
{
    *page = NULL;
    if (flow->left)
        return bye_page(page, err);
    const mel_phase *phase = phase_of(flow);
    json_t *out = json_pack("{s:s, s:b}", "kind", kind_names[phase->kind], "can_undo", can_undo(flow));
    mel_status status = out != NULL && copy_texts(out, phase->json) && put(out, "progress", progress(flow)) &&
                                (flow->study->show == NULL ||
                                 json_object_set(out, "show", (json_t *)flow->study->show) == 0) &&
                                (flow->study->words == NULL ||
                                 json_object_set(out, "words", (json_t *)flow->study->words) == 0)
                            ? fill_page(out, flow, err)
                            : mel_fail_memory(err, "a page");
    if (status != MEL_OK) {
        json_decref(out);
        return status;
    }
    *page = out;
    return MEL_OK;
}

/* --- what was sent ------------------------------------------------------------------------------ */

/* An elicitation that has nothing more to ask ends at once. */
static mel_status skip_finished(mel_flow *flow, mel_error *err)
{
    while (!flow->left && phase_of(flow)->kind == MEL_PHASE_ELICITATION) {
        const mel_question *question = NULL;
        bool done = false;
        const mel_status status = mel_session_ask(&question, &done, flow->session, err);
        if (status != MEL_OK || !done)
            return status;
        flow->phase++;
        flow->item = 0;
    }
    flow->complete = phase_of(flow)->kind == MEL_PHASE_DONE;
    return MEL_OK;
}

static mel_status next_phase(mel_flow *flow, mel_error *err)
{
    flow->phase++;
    flow->item = 0;
    flow->wrong = 0;
    return skip_finished(flow, err);
}

static mel_status tell_consent(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *agreed = json_object_get(value, "agreed");
    const char *version = json_string_value(json_object_get(value, "version"));
    const char *own = json_string_value(json_object_get(phase_of(flow)->json, "version"));
    if (!json_is_boolean(agreed))
        return mel_fail(err, MEL_EINVAL, "agreed: true or false is wanted");
    if (json_is_false(agreed)) {
        flow->left = true;
        return MEL_OK;
    }
    if (version == NULL || own == NULL || strcmp(version, own) != 0)
        return mel_fail(err, MEL_EINVAL, "version: the text that was agreed to is not the current one");
    return next_phase(flow, err);
}

static mel_status check_input(const json_t *input, const json_t *value, mel_error *err)
{
    const char *name = json_string_value(json_object_get(input, "name"));
    const char *type = json_string_value(json_object_get(input, "type"));
    const json_t *low = json_object_get(input, "low"), *high = json_object_get(input, "high");
    if (value == NULL || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0))
        return json_is_true(json_object_get(input, "required"))
                   ? mel_fail(err, MEL_EINVAL, "%.40s: please answer this one", name)
                   : MEL_OK;
    if (strcmp(type, "number") == 0) {
        const double number = json_number_value(value);
        if (!json_is_number(value) || (low != NULL && number < json_number_value(low)) ||
            (high != NULL && number > json_number_value(high)))
            return mel_fail(err, MEL_EINVAL, "%.40s: a number in the range is wanted", name);
        return MEL_OK;
    }
    if (!json_is_string(value) || json_string_length(value) > MOST_VALUE)
        return mel_fail(err, MEL_EINVAL, "%.40s: a text of at most %d bytes is wanted", name, MOST_VALUE);
    const json_t *choices = json_object_get(input, "choices");
    bool known = strcmp(type, "choice") != 0;
    for (size_t i = 0; i < json_array_size(choices) && !known; i++)
        known = json_equal(json_array_get(choices, i), value) != 0;
    return known ? MEL_OK : mel_fail(err, MEL_EINVAL, "%.40s: this is none of the choices", name);
}

static mel_status tell_form(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *inputs = json_object_get(phase_of(flow)->json, "fields");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *name = json_string_value(json_object_get(input, "name"));
        const mel_status status = check_input(input, json_object_get(value, name), err);
        if (status != MEL_OK)
            return status;
    }
    if (json_object_size(value) > json_array_size(inputs))
        return mel_fail(err, MEL_EINVAL, "there are answers to fields that the form does not have");
    return next_phase(flow, err);
}

static mel_status tell_training(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *answer = json_object_get(value, "answer"), *item = training_item(flow);
    if (!json_is_number(answer) && !json_is_string(answer))
        return mel_fail(err, MEL_EINVAL, "answer: a number, or A, B or = is wanted");
    json_t *views = NULL;
    const mel_status status = training_views(&views, flow, is_definite(item), err);
    if (status != MEL_OK)
        return status;
    const bool right = training_right(flow, item, views, answer);
    json_decref(views);
    flow->wrong = right ? 0 : flow->wrong + 1;
    if (!right && flow->wrong < MOST_WRONG)
        return MEL_OK;
    flow->wrong = 0;
    flow->item++;
    const size_t n = json_array_size(json_object_get(phase_of(flow)->json, "items"));
    return flow->item < n ? MEL_OK : next_phase(flow, err);
}

static mel_status tell_guess(mel_flow *flow, const json_t *value, mel_error *err)
{
    const json_t *ratio = json_object_get(value, "ratio");
    const double number = json_number_value(ratio);
    if (json_is_null(ratio)) /* cannot say */
        return next_phase(flow, err);
    const json_t *low = json_object_get(phase_of(flow)->json, "low"),
                 *high = json_object_get(phase_of(flow)->json, "high");
    if (!json_is_number(ratio) || !(number > 0.0) || !isfinite(number))
        return mel_fail(err, MEL_EINVAL, "ratio: a number above 0 is wanted");
    if ((low != NULL && number < json_number_value(low)) ||
        (high != NULL && number > json_number_value(high)))
        return mel_fail(err, MEL_EINVAL, "ratio: a number in the range is wanted");
    flow->guess = number;
    return next_phase(flow, err);
}

static mel_answer turned(mel_answer answer)
{
    return answer == MEL_ANSWER_A ? MEL_ANSWER_B : answer == MEL_ANSWER_B ? MEL_ANSWER_A : answer;
}

static mel_status tell_question(mel_flow *flow, const json_t *value, double seconds, mel_error *err)
{
    const char *text = json_string_value(json_object_get(value, "answer"));
    mel_answer answer = MEL_ANSWER_SAME;
    mel_question question;
    bool done = false;
    mel_status status = mel_answer_parse(&answer, text != NULL ? text : "", err);
    if (status == MEL_OK)
        status = current_question(&question, &done, flow, err);
    if (status != MEL_OK || done)
        return status != MEL_OK ? status : mel_fail(err, MEL_ESTATE, "there is no further question");
    if (is_swapped(flow, question.number))
        answer = turned(answer);
    if (phase_of(flow)->kind == MEL_PHASE_EVALUATION) {
        flow->answer[flow->item++] = answer;
        return flow->item < flow->n_evaluation ? MEL_OK : next_phase(flow, err);
    }
    status = mel_session_tell(flow->session, question.number, answer, seconds, err);
    return status == MEL_OK ? skip_finished(flow, err) : status;
}

static mel_status undo(mel_flow *flow, mel_error *err)
{
    if (!can_undo(flow))
        return mel_fail(err, MEL_EINVAL, "there is no answer that could be taken back");
    if (phase_of(flow)->kind == MEL_PHASE_ELICITATION)
        return mel_session_undo(flow->session, err);
    flow->answer[--flow->item] = MEL_ANSWER_SKIP; /* it counts for nothing until it is given again */
    return MEL_OK;
}

/* The result must follow the elicitation: phases in between would come again. */
bool mel_flow_can_ask_more(mel_flow *flow)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    if (flow->left || phase_of(flow)->kind != MEL_PHASE_RESULT || flow->phase == 0 ||
        flow->study->phase[flow->phase - 1].kind != MEL_PHASE_ELICITATION ||
        flow->budget + MORE_QUESTIONS > MOST_QUESTIONS ||
        mel_session_result(&metric, &summary, flow->session, NULL) != MEL_OK)
        return false;
    mel_metric_free(metric);
    return summary.end == MEL_END_BUDGET;
}

/* A larger budget: a new session that hears the same answers. */
static mel_status ask_more(mel_flow *flow, mel_error *err)
{
    mel_session *longer = NULL;
    if (!mel_flow_can_ask_more(flow))
        return mel_fail(err, MEL_EINVAL, "more: further questions would tell nothing here");
    flow->budget += MORE_QUESTIONS;
    mel_status status = make_session(&longer, flow, err);
    for (uint32_t i = 0; i < mel_session_answers(flow->session) && status == MEL_OK; i++) {
        const mel_record record = mel_session_record(flow->session, i);
        const mel_question *question = NULL;
        bool done = false;
        status = mel_session_ask(&question, &done, longer, err);
        if (status == MEL_OK && !done)
            status = mel_session_tell(longer, question->number, record.answer, record.seconds, err);
    }
    if (status != MEL_OK) {
        flow->budget -= MORE_QUESTIONS;
        mel_session_free(longer);
        return status;
    }
    mel_session_free(flow->session);
    flow->session = longer;
    flow->phase--;
    return skip_finished(flow, err);
}

mel_status mel_flow_tell(mel_flow *flow, const json_t *value, double seconds, mel_error *err)
{
    if (!json_is_object(value))
        return mel_fail(err, MEL_EINVAL, "value: an object is wanted");
    if (flow->left || flow->complete)
        return mel_fail(err, MEL_EINVAL, "this study is over");
    if (json_is_true(json_object_get(value, "undo")))
        return undo(flow, err);
    switch (phase_of(flow)->kind) {
    case MEL_PHASE_CONSENT:
        return tell_consent(flow, value, err);
    case MEL_PHASE_FORM:
        return tell_form(flow, value, err);
    case MEL_PHASE_TRAINING:
        return tell_training(flow, value, err);
    case MEL_PHASE_GUESS:
        return tell_guess(flow, value, err);
    case MEL_PHASE_ELICITATION:
    case MEL_PHASE_EVALUATION:
        return tell_question(flow, value, seconds, err);
    case MEL_PHASE_RESULT:
        return json_is_true(json_object_get(value, "more")) ? ask_more(flow, err) : next_phase(flow, err);
    case MEL_PHASE_TEXT:
    case MEL_PHASE_DONE:
        break;
    }
    return next_phase(flow, err);
}

/* --- the log ------------------------------------------------------------------------------------ */

static json_t *numbers(size_t n, const double *x)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; i < n && good; i++)
        good = json_array_append_new(list, json_real(x[i])) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

json_t *mel_flow_event(mel_flow *flow, const json_t *value, double seconds)
{
    const mel_phase *phase = phase_of(flow);
    json_t *event =
        json_pack("{s:s, s:I, s:I, s:O}", "page", kind_names[phase->kind], "phase", (json_int_t)flow->phase,
                  "item", (json_int_t)flow->item, "value", (json_t *)value);
    bool good = event != NULL && (!isfinite(seconds) || put(event, "seconds", json_real(seconds)));
    mel_question question;
    bool done = true;
    const bool asked = phase->kind == MEL_PHASE_ELICITATION || phase->kind == MEL_PHASE_EVALUATION;
    if (good && asked && !json_is_true(json_object_get(value, "undo")) &&
        current_question(&question, &done, flow, NULL) == MEL_OK && !done)
        good = put(event, "number", json_integer((json_int_t)question.number)) &&
               put(event, "swapped", json_boolean(is_swapped(flow, question.number))) &&
               put(event, "a", numbers(flow->size, question.a)) &&
               put(event, "b", numbers(flow->size, question.b));
    if (good)
        return event;
    json_decref(event);
    return NULL;
}

/* Far above rounding, far below what anybody could see. */
static const double same_point = 1e-6;

static bool is_same_point(const json_t *recorded, const double *now, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(json_number_value(json_array_get(recorded, i)) - now[i]) <= same_point))
            return false;
    return true;
}

/* An answer counts for the pair that was shown: it must be the one that the replay asks about. */
static mel_status check_pair(mel_flow *flow, const json_t *event, mel_error *err)
{
    const json_t *a = json_object_get(event, "a"), *b = json_object_get(event, "b");
    const mel_phase_kind kind = phase_of(flow)->kind;
    if (a == NULL || b == NULL)
        return MEL_OK;
    mel_question question;
    bool done = kind != MEL_PHASE_ELICITATION && kind != MEL_PHASE_EVALUATION;
    const mel_status status = done ? MEL_OK : current_question(&question, &done, flow, err);
    if (status != MEL_OK)
        return status;
    return !done && is_same_point(a, question.a, flow->size) && is_same_point(b, question.b, flow->size)
               ? MEL_OK
               : mel_fail(err, MEL_ESTATE,
                          "an answer was about another pair than is asked about now: the data or the version "
                          "of the program have changed");
}

mel_status mel_flow_replay(mel_flow *flow, const json_t *event, mel_error *err)
{
    const json_t *seconds = json_object_get(event, "seconds");
    const mel_status status = check_pair(flow, event, err);
    if (status != MEL_OK)
        return status;
    return mel_flow_tell(flow, json_object_get(event, "value"),
                         json_is_number(seconds) ? json_number_value(seconds) : (double)NAN, err);
}

/* --- simulated participants --------------------------------------------------------------------- */

static json_t *simulated_form(const json_t *inputs)
{
    json_t *value = json_object();
    for (size_t i = 0; value != NULL && i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i), *low = json_object_get(input, "low");
        const char *type = json_string_value(json_object_get(input, "type"));
        json_t *choice = json_array_get(json_object_get(input, "choices"), 0);
        json_t *answer = strcmp(type, "choice") == 0   ? json_incref(choice)
                         : strcmp(type, "number") == 0 ? json_real(low != NULL ? json_number_value(low) : 0.0)
                                                       : json_string("simulated");
        (void)json_object_set_new(value, json_string_value(json_object_get(input, "name")), answer);
    }
    return value;
}

static json_t *simulated_training(mel_flow *flow, mel_error *err)
{
    static const char *const letters[] = { "A", "B", "=" };
    const json_t *item = training_item(flow), *of = json_object_get(item, "of");
    json_t *views = NULL, *found = NULL;
    if (training_views(&views, flow, is_definite(item), err) != MEL_OK)
        return NULL;
    for (size_t i = 0; i < 3 && found == NULL; i++) {
        json_t *letter = json_string(letters[i]);
        if (training_right(flow, item, views, letter))
            found = json_incref(letter);
        json_decref(letter);
    }
    const char *system = json_string_value(json_object_get(of, "system"));
    if (found == NULL)
        found = json_real(
            training_number(json_array_get(views, system != NULL && strcmp(system, "B") == 0 ? 1 : 0), of));
    json_decref(views);
    return json_pack("{s:o}", "answer", found);
}

static json_t *simulated_answer(mel_flow *flow, mel_oracle *oracle, mel_error *err)
{
    mel_question question;
    bool done = false;
    mel_reply reply = MEL_REPLY_SAME;
    mel_status status = current_question(&question, &done, flow, err);
    if (status == MEL_OK && phase_of(flow)->kind == MEL_PHASE_EVALUATION)
        question.number += flow->budget; /* noise depends on the number */
    if (status == MEL_OK && !done)
        status = mel_oracle_ask(&reply, oracle, &question, err);
    if (status != MEL_OK || done)
        return NULL;
    if (phase_of(flow)->kind == MEL_PHASE_EVALUATION)
        question.number -= flow->budget;
    const mel_answer answer =
        is_swapped(flow, question.number) ? turned((mel_answer)reply) : (mel_answer)reply;
    return json_pack("{s:s}", "answer", mel_answer_name(answer));
}

json_t *mel_flow_simulated(mel_flow *flow, mel_oracle *oracle, double guess, mel_error *err)
{
    const mel_phase *phase = phase_of(flow);
    switch (phase->kind) {
    case MEL_PHASE_CONSENT:
        return json_pack("{s:b, s:O}", "agreed", 1, "version", json_object_get(phase->json, "version"));
    case MEL_PHASE_FORM:
        return simulated_form(json_object_get(phase->json, "fields"));
    case MEL_PHASE_TRAINING:
        return simulated_training(flow, err);
    case MEL_PHASE_GUESS:
        return json_pack("{s:o}", "ratio", isfinite(guess) ? json_real(guess) : json_null());
    case MEL_PHASE_ELICITATION:
    case MEL_PHASE_EVALUATION:
        return simulated_answer(flow, oracle, err);
    case MEL_PHASE_TEXT:
    case MEL_PHASE_RESULT:
    case MEL_PHASE_DONE:
        break;
    }
    return json_object();
}

/* --- what came of it ---------------------------------------------------------------------------- */

const char *mel_flow_state(const mel_flow *flow)
{
    return flow->left ? "left" : flow->complete ? "complete" : "active";
}

const char *mel_flow_where(const mel_flow *flow)
{
    static const char *const names[] = { "consent",     "form",       "text",   "training", "guess",
                                         "elicitation", "evaluation", "result", "done" };
    return flow->left ? "left" : names[phase_of(flow)->kind];
}

size_t mel_flow_phase(const mel_flow *flow)
{
    return flow->phase;
}

void mel_flow_describe(char *text, size_t n, const mel_flow *flow)
{
    const char *where = mel_flow_where(flow);
    const mel_phase_kind kind = phase_of(flow)->kind;
    const size_t questions = kind == MEL_PHASE_ELICITATION ? mel_session_answers(flow->session) : flow->item;
    if (!flow->left && (kind == MEL_PHASE_ELICITATION || kind == MEL_PHASE_EVALUATION))
        (void)snprintf(text, n, "question %zu of %s", questions + 1, where);
    else if (!flow->left && kind == MEL_PHASE_TRAINING)
        (void)snprintf(text, n, "exercise %zu of training", flow->item + 1);
    else
        (void)snprintf(text, n, "%s", where);
}

mel_session *mel_flow_session(mel_flow *flow)
{
    return flow->session;
}

double mel_flow_guess(const mel_flow *flow)
{
    return flow->guess;
}

/* 1[the metric prefers what was preferred]; metrics of (TP, TN) that are not objects: F1 and accuracy. */
static bool agrees(double difference, mel_answer answer)
{
    return answer == MEL_ANSWER_A ? difference > 0.0 : difference < 0.0;
}

static double f1_of(const mel_flow *flow, const double *point)
{
    const double positives = mel_face_positives(flow->problem->domain.face);
    const double false_alarms = mel_face_negatives(flow->problem->domain.face) - point[1];
    const double whole = point[0] + positives + false_alarms;
    return whole > 0.0 ? 2.0 * point[0] / whole : 0.0;
}

mel_status mel_flow_agreed(mel_agreed *out, mel_flow *flow, mel_error *err)
{
    *out = (mel_agreed){ .planar = flow->problem->domain.face != NULL };
    if (flow->n_evaluation == 0)
        return MEL_OK;
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_status status = mel_session_result(&metric, &summary, flow->session, err);
    for (uint32_t i = 0; i < flow->n_evaluation && status == MEL_OK; i++) {
        const double *a = flow->pair + 2 * flow->size * i, *b = a + flow->size;
        if (flow->answer[i] != MEL_ANSWER_A && flow->answer[i] != MEL_ANSWER_B)
            continue;
        double difference = 0.0;
        status = mel_metric_compare(&difference, metric, a, b, err);
        out->n++;
        out->elicited += agrees(difference, flow->answer[i]);
        if (!out->planar)
            continue;
        out->accuracy += agrees(a[0] + a[1] - b[0] - b[1], flow->answer[i]);
        out->f1 += agrees(f1_of(flow, a) - f1_of(flow, b), flow->answer[i]);
        /* One miss counts as much as `guess` false alarms. */
        out->guess +=
            isfinite(flow->guess) && agrees(flow->guess * (a[0] - b[0]) + (a[1] - b[1]), flow->answer[i]);
    }
    mel_metric_free(metric);
    return status;
}
