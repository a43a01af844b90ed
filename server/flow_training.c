/* Training: two pictures, a question about them, and whether an answer is right. Then evaluation. */
#include "flow_internal.h"
#include "json_helpers.h"

#include <math.h>
#include <stdlib.h>

const json_t *mel_training_item(const mel_flow *flow)
{
    return json_array_get(json_object_get(mel_flow_current(flow)->json, "items"), flow->item);
}

bool mel_training_is_definite(const json_t *item)
{
    return mel_json_is_true(json_object_get(item, "of"), "definite");
}

/* Whether B is the better one of a definite question: decided by a coin toss per participant, so that nobody
 * learns to prefer a side. */
static bool is_b_better(const mel_flow *flow)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed, (uint64_t)MEL_STREAM_TRAINING << 32 | flow->item);
    return mel_rng_next(&rng) >> 63 != 0;
}

/* --- pictures ----------------------------------------------------------------------------------- */

static mel_status pair_on_face(double *a, double *b, const mel_face *face, bool definite, mel_error *err)
{
    mel_point first, second;
    TRY(mel_face_support(&first, face, 0.45, 0.9, err));
    TRY(mel_face_support(&second, face, 0.95, 0.3, err));
    const mel_point middle = mel_face_centre(face);
    if (definite)
        second =
            (mel_point){ first.tp + 0.4 * (middle.tp - first.tp), first.tn + 0.4 * (middle.tn - first.tn) };
    a[0] = first.tp;
    a[1] = first.tn;
    b[0] = second.tp;
    b[1] = second.tn;
    return MEL_OK;
}

/* Every second group gets shorter steps, so that the groups differ in the picture. */
static void pair_on_ball(double *a, double *b, const mel_flow *flow, const mel_ball *ball, bool definite)
{
    const size_t m = flow->problem->n_groups, q = flow->size / (m > 1 ? m : 1); /* of one group */
    const double right = mel_session_layout(flow->session)->coordinates == MEL_OFFDIAGONAL ? -1.0 : 1.0;
    const double far = mel_ball_radius(ball) / sqrt((double)q);
    for (size_t i = 0; i < flow->size; i++) {
        const double centre = mel_ball_centre(ball)[i % q];
        const double step = i / q % 2 == 0 ? far : 0.6 * far;
        a[i] = centre + right * step * (definite || i % 2 == 0 ? 1.0 : -0.6);
        b[i] = centre + right * step * (definite ? 0.1 : i % 2 == 0 ? -0.6 : 1.0);
    }
}

/* The first of the given classifiers against the one that differs most from it; or against one, made up for
 * practice, that is worse in every respect. */
static void pair_of_pool(double *a, double *b, const mel_pool *pool, bool definite)
{
    const bool mistakes = pool->layout.coordinates == MEL_OFFDIAGONAL;
    const double each = 1.0 / (double)pool->layout.n_classes;
    size_t farthest = 0;
    double most = 0.0;
    for (size_t c = 0; c < pool->n; c++) {
        double apart = 0.0;
        for (size_t i = 0; i < pool->size; i++)
            apart += fabs(pool->value[c * pool->size + i] - pool->value[i]);
        farthest = apart > most ? c : farthest;
        most = fmax(most, apart);
    }
    for (size_t i = 0; i < pool->size; i++) {
        a[i] = pool->value[i];
        const double worse = mistakes ? a[i] + 0.3 * fmax(each * each - a[i], 0.0) : 0.7 * a[i];
        b[i] = definite ? worse : pool->value[farthest * pool->size + i];
    }
}

/* Two systems that trade one mistake for the other or, for a definite question, of which the second is worse
 * in every respect. */
static mel_status make_pair(double *a, double *b, const mel_flow *flow, bool definite, mel_error *err)
{
    const mel_domain *domain = &flow->problem->domain;
    if (domain->face != NULL)
        return pair_on_face(a, b, domain->face, definite, err);
    if (domain->pool != NULL) {
        pair_of_pool(a, b, domain->pool, definite);
        return MEL_OK;
    }
    if (domain->ball == NULL)
        return mel_fail(err, MEL_EDATA,
                        "training: pictures can be made for two classes or on a ball, not for this family");
    pair_on_ball(a, b, flow, domain->ball, definite);
    return MEL_OK;
}

mel_status mel_training_views(json_t **out, const mel_flow *flow, bool definite, mel_error *err)
{
    *out = NULL;
    MEL_AUTO_MEMORY double *better = mel_alloc(2 * flow->size, sizeof *better);
    if (better == NULL)
        return mel_fail_memory(err, "two pictures");
    double *worse = better + flow->size;
    const bool swapped = definite && is_b_better(flow);
    TRY(make_pair(better, worse, flow, definite, err));
    const mel_question question = {
        .layout = mel_session_layout(flow->session),
        .a = swapped ? worse : better,
        .b = swapped ? better : worse,
        .class_share = flow->problem->class_share,
    };
    const uint32_t people = mel_flow_shown_people(flow);
    *out = mel_views_to_json(&question, flow->problem, people != 0 ? people : 100, err);
    return *out != NULL ? MEL_OK : MEL_ENOMEM;
}

/* --- what they show ----------------------------------------------------------------------------- */

static size_t index_of(const json_t *of, const char *name)
{
    return (size_t)mel_json_number(of, name, 0.0);
}

/* NaN where nothing is shown. */
static double shown_count(const json_t *counts, size_t truth, size_t predicted)
{
    const json_t *cell = json_array_get(json_array_get(counts, truth), predicted);
    return json_is_number(cell) ? json_number_value(cell) : (double)NAN;
}

/* A cell, a total or a share of one system, in people or percent; NaN: there is no such number. */
static double number_in(const json_t *view, const json_t *of)
{
    const json_t *counts = json_object_get(view, "counts");
    if (json_object_get(of, "group") != NULL)
        counts = json_array_get(counts, index_of(of, "group"));
    const size_t n = json_array_size(counts);
    const char *total = mel_json_string(of, "total");
    const bool of_column = total != NULL && strcmp(total, "predicted") == 0;
    const size_t class_code = index_of(of, "class"), truth = index_of(of, "true");
    double sum = 0.0, row = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += of_column ? shown_count(counts, i, class_code) : shown_count(counts, class_code, i);
        row += shown_count(counts, truth, i);
    }
    if (total != NULL)
        return n > 0 ? sum : (double)NAN;
    const double cell = shown_count(counts, truth, index_of(of, "predicted"));
    return !mel_json_is_true(of, "rate") ? cell : row > 0.0 ? 100.0 * cell / row : (double)NAN;
}

static double number_of_side(const json_t *item, const json_t *views, size_t side)
{
    return number_in(json_array_get(views, side), json_object_get(item, "of"));
}

double mel_training_number(const json_t *item, const json_t *views)
{
    const char *system = mel_json_string(json_object_get(item, "of"), "system");
    return number_of_side(item, views, system != NULL && strcmp(system, "B") == 0 ? 1 : 0);
}

mel_status mel_training_check(const json_t *item, const json_t *views, const mel_flow *flow, mel_error *err)
{
    if (mel_training_is_definite(item) ||
        (isfinite(number_of_side(item, views, 0)) && isfinite(number_of_side(item, views, 1))))
        return MEL_OK;
    return mel_fail(err, MEL_EDATA,
                    "phases[%zu].items[%zu].of: the picture has no such number (classes and, where there are "
                    "some, groups are counted from 0)",
                    flow->phase, flow->item);
}

bool mel_training_is_right(const mel_flow *flow, const json_t *item, const json_t *views,
                           const json_t *answer)
{
    const char *letter = json_string_value(answer);
    if (mel_training_is_definite(item))
        return letter != NULL && strcmp(letter, is_b_better(flow) ? "B" : "A") == 0;
    if (json_object_get(item, "compare") != NULL) {
        const double a = number_of_side(item, views, 0), b = number_of_side(item, views, 1);
        return letter != NULL && strcmp(letter, a == b ? "=" : a > b ? "A" : "B") == 0;
    }
    return json_is_number(answer) &&
           fabs(json_number_value(answer) - mel_training_number(item, views)) <= 0.5 + 1e-9;
}

/* --- evaluation ------------------------------------------------------------------------------------- */

enum { MOST_EVALUATION = 200 };

mel_status mel_flow_draw_evaluation(mel_flow *flow, const json_t *phase, mel_error *err)
{
    const double questions = mel_json_number(phase, "questions", 15.0);
    const json_t *radius = json_object_get(phase, "radius");
    if (!(questions >= 1.0 && questions <= MOST_EVALUATION) ||
        (radius != NULL && !(json_number_value(radius) > 0.0)))
        return mel_fail(err, MEL_EDATA, "evaluation: expected 1 to %d questions and a radius above 0",
                        MOST_EVALUATION);
    flow->n_evaluation = (uint32_t)questions;
    flow->pair = mel_alloc(2 * (size_t)flow->n_evaluation * flow->size, sizeof *flow->pair);
    flow->answer = mel_alloc_zero(flow->n_evaluation, sizeof *flow->answer);
    if (flow->pair == NULL || flow->answer == NULL)
        return mel_fail_memory(err, "the evaluation");
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed, MEL_STREAM_EVALUATION);
    const mel_status status = mel_evaluation_pairs(
        flow->pair, &flow->evaluation_people, &flow->problem->domain, &flow->study->options,
        radius != NULL ? json_number_value(radius) : NAN, flow->n_evaluation, mel_rng_next(&rng), err);
    return status == MEL_EDATA ? mel_fail_in(err, status, "evaluation") : status;
}

mel_evaluation mel_flow_evaluation(const mel_flow *flow)
{
    return (mel_evaluation){
        .n = flow->n_evaluation, .pairs = flow->pair, .answers = flow->answer, .guess = flow->guess
    };
}
