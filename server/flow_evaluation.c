/* The evaluation: pairs drawn for it before anything is asked, and the answers to them. */
#include "flow_internal.h"

#include "json_helpers.h"

#include <math.h>

enum { MOST_EVALUATION = 200 };

size_t mel_flow_group_size(const mel_flow *flow)
{
    return flow->size / (flow->problem->n_groups > 1 ? flow->problem->n_groups : 1);
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
