/* The search on a ball as an engine: what sphere.c has found, as a metric. */
#include "elicit/search/bounds.h"
#include "elicit/search/procedure.h"
#include "elicit/search/sphere.h"

#include "base/la.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    mel_procedure procedure;
    mel_session_options opt;
    const mel_ball *ball;
    mel_sphere_search search;
} ball_engine;

static void pose_on_ball(void *context, const double *from, const double *to)
{
    ball_engine *engine = context;
    mel_sphere_point(engine->procedure.replay.a, engine->ball, to);
    mel_sphere_point(engine->procedure.replay.b, engine->ball, from);
}

static mel_status ball_run(mel_procedure *procedure, mel_error *err)
{
    (void)err;
    ball_engine *engine = (ball_engine *)procedure;
    procedure->pending = !mel_sphere_run(&engine->search);
    procedure->at_end = mel_sphere_at_end(&engine->search, engine->search.upper);
    procedure->pressed = mel_sphere_at_end(&engine->search, engine->search.lower);
    return MEL_OK;
}

/* --- linear ------------------------------------------------------------------------------------- */

/* Bounds of |a| become those of a; both signs where it has not been asked for. */
static void sign_bounds(const mel_sphere_search *search, double *low, double *high)
{
    for (size_t i = 0; i < search->n; i++) {
        const double least = low[i], most = high[i];
        if (search->sign[i] <= 0)
            low[i] = -most;
        if (search->sign[i] < 0)
            high[i] = -least;
    }
}

/* The intervals are where the last search of every angle ended: certain without noise but for the small
 * effect of the later angles' errors on an angle, no probability with it. */
static mel_status linear_result(ball_engine *engine, double *room, mel_metric **metric, mel_summary *summary,
                                mel_error *err)
{
    const mel_sphere_search *search = &engine->search;
    const size_t n = search->n;
    double *a = room, *low = room + n, *high = room + 2 * n;
    mel_sphere_slope(a, search, search->upper);
    mel_sphere_bounds(low, high, search, search->upper);
    if (mel_family_about(engine->opt.family)->diagonal) {
        mel_scale(n, 1.0 / mel_norm1(n, a), a);
        mel_bounds_normalise(n, low, high);
    }
    sign_bounds(search, low, high);
    summary->radius = mel_bounds_radius(n, low, high);
    return mel_bounds_metric(metric, engine->opt.family, mel_ball_layout(engine->ball),
                             engine->opt.class_names, a, low, high, err);
}

/* --- linear-fractional -------------------------------------------------------------------------- */

/* How far the true slope can be from the middle of the arcs, in radians. */
static double angle_radius(size_t n, const mel_arc *arcs)
{
    double squares = 0.0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double half = 0.5 * (arcs[i].high - arcs[i].low);
        squares += half * half;
    }
    return sqrt(squares);
}

static mel_status fractional_result(ball_engine *engine, double *room, mel_metric **metric,
                                    mel_summary *summary, mel_error *err)
{
    const mel_sphere_search *search = &engine->search;
    const size_t n = search->n;
    double *a = room, *b = room + n, *upper = room + 2 * n, *lower = room + 3 * n, b0 = 0.0;
    const double *centre = mel_ball_centre(engine->ball), radius = mel_ball_radius(engine->ball);
    mel_sphere_slope(upper, search, search->upper);
    mel_sphere_slope(lower, search, search->lower);
    TRY(mel_fractional_ball(n, a, b, &b0, upper, mel_dot(n, upper, centre) + radius, lower,
                            mel_dot(n, lower, centre) + radius, err));
    summary->radius = fmax(angle_radius(n, search->upper), angle_radius(n, search->lower));
    return mel_metric_fractional(metric, engine->opt.family, mel_ball_layout(engine->ball),
                                 engine->opt.class_names, MEL_UTILITY, a, 0.0, b, b0, err);
}

/* --- the engine --------------------------------------------------------------------------------- */

static mel_status ball_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                              mel_error *err)
{
    ball_engine *engine = (ball_engine *)procedure;
    double *room = mel_alloc(4 * engine->search.n, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    const mel_status status = mel_family_about(engine->opt.family)->ratio
                                  ? fractional_result(engine, room, metric, summary, err)
                                  : linear_result(engine, room, metric, summary, err);
    free(room);
    return status;
}

static void ball_clear(mel_procedure *procedure)
{
    mel_sphere_clear(&((ball_engine *)procedure)->search);
}

static mel_status set_up(ball_engine *engine, const mel_ball *ball, const mel_session_options *opt,
                         mel_error *err)
{
    const size_t n = mel_ball_size(ball);
    engine->procedure.run = ball_run;
    engine->procedure.result = ball_result;
    engine->procedure.clear = ball_clear;
    engine->opt = *opt;
    engine->ball = ball;
    TRY(mel_sphere_init(&engine->search, n, &engine->opt, &engine->procedure.replay, err));
    engine->search.twice = mel_family_about(opt->family)->ratio;
    engine->search.pose = pose_on_ball;
    engine->search.context = engine;
    mel_sphere_signs(engine->search.given, n, opt, mel_ball_layout(ball));
    engine->procedure.total = mel_sphere_total(&engine->search);
    return mel_procedure_init(&engine->procedure, n, err);
}

mel_status mel_engine_search_ball(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                  mel_error *err)
{
    *out = NULL;
    const mel_family_facts *is = mel_family_about(opt->family);
    if (is->local || (!is->sum && !is->ratio))
        return mel_fail(err, MEL_EINVAL, "the search on a ball is not for metrics of the family %s",
                        mel_family_name(opt->family));
    if (mel_ball_layout(domain->ball)->n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "the search on a ball is for statistics without groups");
    ball_engine *engine = mel_alloc_zero(1, sizeof *engine);
    if (engine == NULL)
        return mel_fail_memory(err, "the search");
    return mel_procedure_ready(out, &engine->procedure, set_up(engine, domain->ball, opt, err));
}
