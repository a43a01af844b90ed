/* The evaluation: pairs drawn for it before anything is asked, and how often metrics agree with the answers.
 */
#include "flow_internal.h"

#include "json_helpers.h"

#include <math.h>
#include <string.h>

enum { MOST_EVALUATION = 200, MOST_DRAWS = 2000 };

size_t mel_flow_group_size(const mel_flow *flow)
{
    return flow->size / (flow->problem->n_groups > 1 ? flow->problem->n_groups : 1);
}

/* A point of the ball around the middle of what is feasible; false when it lies outside the face. */
static bool draw_point(double *point, const mel_flow *flow, double radius, mel_rng *rng)
{
    const mel_face *face = flow->problem->domain.face;
    const mel_ball *ball = flow->problem->domain.ball;
    const size_t q = face != NULL ? 2 : mel_flow_group_size(flow);
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

/* Two of the given classifiers that differ. */
static void draw_candidates(double *a, double *b, const mel_pool *pool, mel_rng *rng)
{
    const size_t bytes = pool->size * sizeof *a;
    for (size_t tries = 0; tries == 0 || (memcmp(a, b, bytes) == 0 && tries < MOST_DRAWS); tries++) {
        memcpy(a, pool->value + mel_rng_below(rng, pool->n) * pool->size, bytes);
        memcpy(b, pool->value + mel_rng_below(rng, pool->n) * pool->size, bytes);
    }
}

/* Around the middle of what is feasible, as in the thesis. */
static mel_status draw_in_ball(mel_flow *flow, double radius, mel_rng *rng, mel_error *err)
{
    const mel_domain *domain = &flow->problem->domain;
    if (domain->space != NULL)
        return mel_fail(err, MEL_EDATA,
                        "evaluation: radius: pairs of a ball can be drawn for two classes or on a ball, not "
                        "for this family");
    const double within = domain->ball != NULL ? fmin(radius, mel_ball_radius(domain->ball)) : radius;
    for (size_t i = 0; i < 2 * (size_t)flow->n_evaluation; i++) {
        size_t tries = 0;
        while (!draw_point(flow->pair + i * flow->size, flow, within, rng) && ++tries < MOST_DRAWS)
            ;
        if (tries == MOST_DRAWS)
            return mel_fail(err, MEL_EDATA,
                            "evaluation: radius %g reaches beyond what classifiers can achieve here", within);
    }
    return MEL_OK;
}

/* Pairs of candidates; of a ball, if a radius is given; else such as sessions ask about, where they are
 * known. */
static mel_status draw_pairs(mel_flow *flow, const json_t *radius, mel_error *err)
{
    const double usual_radius = 0.1;
    const mel_domain *domain = &flow->problem->domain;
    mel_rng rng;
    mel_rng_seed_stream(&rng, flow->seed, MEL_STREAM_EVALUATION);
    for (size_t i = 0; i < flow->n_evaluation && domain->pool != NULL; i++)
        draw_candidates(flow->pair + 2 * i * flow->size, flow->pair + (2 * i + 1) * flow->size, domain->pool,
                        &rng);
    if (domain->pool != NULL)
        return MEL_OK;
    if (radius == NULL) {
        const mel_status status =
            mel_realistic_pairs(flow->pair, &flow->evaluation_people, domain, &flow->study->options,
                                flow->n_evaluation, mel_rng_next(&rng), err);
        if (status != MEL_OK || flow->evaluation_people > 0)
            return status;
    }
    return draw_in_ball(flow, radius != NULL ? json_number_value(radius) : usual_radius, &rng, err);
}

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
    return draw_pairs(flow, radius, err);
}

/* --- how often metrics agree -------------------------------------------------------------------- */

/* difference: the metric's value of A, less that of B. */
static bool agrees(double difference, mel_answer answer)
{
    return answer == MEL_ANSWER_A ? difference > 0.0 : difference < 0.0;
}

static double f1_of(const mel_face *face, const double *point)
{
    const double false_alarms = mel_face_negatives(face) - point[1];
    const double whole = point[0] + mel_face_positives(face) + false_alarms;
    return whole > 0.0 ? 2.0 * point[0] / whole : 0.0;
}

/* Accuracy, F1 and the guess, by which one miss counts as much as `guess` false alarms. */
static void count_planar(mel_flow_agreements *out, const mel_flow *flow, const double *a, const double *b,
                         mel_answer answer)
{
    const mel_face *face = flow->problem->domain.face;
    out->accuracy += agrees(a[0] + a[1] - b[0] - b[1], answer);
    out->f1 += agrees(f1_of(face, a) - f1_of(face, b), answer);
    out->guess += isfinite(flow->guess) && agrees(flow->guess * (a[0] - b[0]) + (a[1] - b[1]), answer);
}

mel_status mel_flow_agreement(mel_flow_agreements *out, mel_flow *flow, mel_error *err)
{
    *out = (mel_flow_agreements){ .planar = flow->problem->domain.face != NULL };
    if (flow->n_evaluation == 0)
        return MEL_OK;
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_status status = mel_session_result(&metric, &summary, flow->session, err);
    out->repeats = status == MEL_OK ? summary.repeats : 0;
    out->self = status == MEL_OK ? summary.repeats_agreed : 0;
    for (uint32_t i = 0; i < flow->n_evaluation && status == MEL_OK; i++) {
        const double *a = flow->pair + 2 * flow->size * i, *b = a + flow->size;
        if (flow->answer[i] != MEL_ANSWER_A && flow->answer[i] != MEL_ANSWER_B)
            continue;
        double difference = 0.0;
        status = mel_metric_compare(&difference, metric, a, b, err);
        out->n++;
        out->elicited += agrees(difference, flow->answer[i]);
        if (out->planar)
            count_planar(out, flow, a, b, flow->answer[i]);
    }
    mel_metric_free(metric);
    return status;
}
