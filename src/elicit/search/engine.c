/* The thesis' binary searches as an engine: the answers so far, and the procedure run over them. */
#include "elicit/engine.h"
#include "elicit/fractional.h"
#include "elicit/search/binary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_POINTS = 1000 };
static const double grid_step = 0.01;

typedef struct {
    mel_engine base;
    mel_session_options opt;
    mel_answer *answers;
    size_t n_answers, capacity;
    double a[2], b[2]; /* the pending question */
    mel_binary_search search;
} search_engine;

static void replay(search_engine *engine)
{
    engine->search.opt = &engine->opt;
    engine->search.replay = (mel_replay){
        .dimension = 2,
        .answers = engine->answers,
        .n_answers = engine->n_answers,
        .a = engine->a,
        .b = engine->b,
    };
    mel_binary_search_run(&engine->search);
}

static mel_status search_next(mel_engine *base, mel_pair *pair, mel_end *end, mel_error *err)
{
    (void)err;
    search_engine *engine = (search_engine *)base;
    replay(engine);
    *end = engine->search.pending ? MEL_END_NOT_YET : MEL_END_TOLERANCE;
    memcpy(pair->a, engine->a, sizeof engine->a);
    memcpy(pair->b, engine->b, sizeof engine->b);
    pair->repeated = false;
    return MEL_OK;
}

static mel_status search_tell(mel_engine *base, const mel_pair *pair, mel_answer answer, mel_error *err)
{
    (void)pair;
    search_engine *engine = (search_engine *)base;
    if (engine->n_answers == engine->capacity) {
        const size_t capacity = engine->capacity == 0 ? 64 : 2 * engine->capacity;
        void *block = engine->answers;
        if (!mel_grow(&block, capacity, sizeof *engine->answers))
            return mel_fail_memory(err, "the answers");
        engine->answers = block;
        engine->capacity = capacity;
    }
    engine->answers[engine->n_answers++] = answer;
    return MEL_OK;
}

/* The intervals are where the search ended: certain without noise, no probability with it. */
static mel_status linear_result(const search_engine *engine, mel_metric **metric, mel_summary *summary,
                                mel_error *err)
{
    const mel_arc arc = engine->search.upper;
    return mel_linear_result(metric, summary, &engine->opt, mel_arc_middle(arc), arc.low, arc.high, err);
}

static mel_status solve_fractional(const search_engine *engine, double p[2], double q[2], double *q0,
                                   mel_error *err)
{
    const mel_face *face = engine->search.face;
    const mel_boundary boundary = engine->opt.boundary;
    const double positives = mel_face_positives(face), negatives = mel_face_negatives(face);
    const mel_line upper = mel_binary_line(face, boundary, mel_arc_middle(engine->search.upper));
    const mel_line lower = mel_binary_line(face, boundary, mel_arc_middle(engine->search.lower));
    const bool known = engine->opt.known_p11 >= 0.0;
    if (!known && engine->opt.lfpm == MEL_LFPM_CLOSED)
        return mel_fractional_closed(p, q, q0, upper, lower, positives, negatives, err);
    double p11 = engine->opt.known_p11;
    if (!known) {
        const mel_status status =
            mel_binary_grid(&p11, face, boundary, upper, lower, GRID_POINTS, grid_step, err);
        if (status != MEL_OK)
            return status;
    }
    p[0] = p11;
    p[1] = 1.0 - p11;
    return mel_fractional_from_p(q, q0, p, upper, positives, negatives, err);
}

static mel_status fractional_result(const search_engine *engine, mel_metric **metric, mel_summary *summary,
                                    mel_error *err)
{
    double p[2], q[2], q0;
    const mel_status status = solve_fractional(engine, p, q, &q0, err);
    if (status != MEL_OK)
        return status;
    const double sign = engine->search.decreasing ? -1.0 : 1.0;
    const double numerator[2] = { sign * p[0], sign * p[1] };
    const double upper_width = engine->search.upper.high - engine->search.upper.low;
    const double lower_width =
        engine->opt.known_p11 >= 0.0 ? 0.0 : engine->search.lower.high - engine->search.lower.low;
    summary->radius = 0.5 * fmax(upper_width, lower_width);
    return mel_metric_fractional(metric, MEL_FAMILY_LINEAR_FRACTIONAL, &mel_binary_layout,
                                 engine->opt.class_names, MEL_UTILITY, numerator, 0.0, q, q0, err);
}

static mel_status search_result(mel_engine *base, mel_metric **metric, mel_summary *summary, mel_error *err)
{
    search_engine *engine = (search_engine *)base;
    replay(engine);
    return engine->opt.family == MEL_FAMILY_LINEAR ? linear_result(engine, metric, summary, err)
                                                   : fractional_result(engine, metric, summary, err);
}

static mel_status search_posterior(mel_engine *base, size_t n, double *angle, double *density, mel_error *err)
{
    (void)base;
    (void)n;
    (void)angle;
    (void)density;
    return mel_fail(err, MEL_ESTATE, "the search strategy keeps an interval, not a posterior");
}

static uint32_t search_expected(mel_engine *base)
{
    search_engine *engine = (search_engine *)base;
    replay(engine);
    if (!engine->search.pending)
        return 0;
    const double tolerance = engine->opt.tolerance;
    uint32_t rounds = mel_arc_rounds(engine->search.upper, tolerance);
    if (engine->opt.family != MEL_FAMILY_LINEAR && !(engine->opt.known_p11 >= 0.0))
        rounds += mel_arc_rounds(engine->search.lower, tolerance);
    const uint32_t questions = rounds * engine->opt.per_round;
    const bool direction = engine->opt.direction == MEL_DIRECTION_UNKNOWN && engine->n_answers == 0;
    const uint32_t into_round = (uint32_t)(engine->search.replay.used - engine->search.round_start);
    return questions + (direction ? 1 : 0) - into_round;
}

static void search_free(mel_engine *base)
{
    search_engine *engine = (search_engine *)base;
    if (engine == NULL)
        return;
    free(engine->answers);
    free(engine);
}

static const mel_engine_ops search_ops = {
    .next = search_next,
    .tell = search_tell,
    .result = search_result,
    .posterior = search_posterior,
    .expected = search_expected,
    .free = search_free,
};

mel_status mel_engine_search(mel_engine **out, const mel_face *face, const mel_session_options *opt,
                             mel_error *err)
{
    search_engine *engine = mel_alloc_zero(1, sizeof *engine);
    if (engine == NULL)
        return mel_fail_memory(err, "the search");
    engine->base.ops = &search_ops;
    engine->opt = *opt;
    engine->search.face = face;
    *out = &engine->base;
    return MEL_OK;
}
