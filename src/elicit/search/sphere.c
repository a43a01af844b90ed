/* Algorithms 4.2 and 4.5, and the engine that runs them on a ball.
 *
 * The slope is written in angles, |slope| = (cos t1, sin t1 cos t2, sin t1 sin t2 cos t3, ...), each in
 * [0, pi/2], with the signs put in front of the coordinates: one orthant like all others.
 *
 * The thesis goes from the first angle to the last, from a point that it does not name (here: all coordinates
 * alike). But the best value of an angle depends on the later ones only (tan t_j = <rest of a, rest of the
 * point> / a_j), so the last one comes first, the earlier ones standing at pi/2 meanwhile (the point then has
 * nothing in the earlier coordinates and all of its length in those that matter): after one cycle every angle
 * of a linear metric is known, in any dimension. The other way round the error after two cycles is two to six
 * times as large (tests/property/test_ball_search.c). */
#include "elicit/search/sphere.h"

#include "base/la.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_PI 1.57079632679489661923
static const double half_pi = HALF_PI;

void mel_sphere_signs(signed char *given, size_t n, const mel_session_options *opt, const mel_layout *layout)
{
    /* Correct decisions are on the diagonal, mistakes off it. */
    const signed char rewarded = layout->coordinates == MEL_OFFDIAGONAL ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        if (opt->signs != NULL)
            given[i] = opt->signs[i];
        else if (opt->direction == MEL_DIRECTION_UNKNOWN)
            given[i] = 0;
        else
            given[i] = (signed char)(opt->direction == MEL_INCREASING ? rewarded : -rewarded);
    }
}

mel_status mel_sphere_init(mel_sphere_search *search, size_t n, const mel_session_options *opt,
                           mel_replay *replay, mel_error *err)
{
    *search = (mel_sphere_search){ .opt = opt, .replay = replay, .n = n };
    const mel_part parts[] = { { n, { &search->angle } }, { 2 * n, { &search->direction } } };
    search->given = mel_alloc_zero(2 * n, sizeof *search->given);
    search->upper = mel_alloc(2 * n, sizeof *search->upper);
    if (search->given == NULL || search->upper == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "the search on a ball");
    search->sign = search->given + n;
    search->lower = search->upper + n;
    mel_sphere_restart(search);
    return MEL_OK;
}

void mel_sphere_clear(mel_sphere_search *search)
{
    free(search->given);
    free(search->upper);
    free(search->angle); /* and all that was made with it */
}

/* --- points ------------------------------------------------------------------------------------- */

/* The unit vector with these n - 1 angles. */
static void from_angles(double *x, size_t n, const double *angle)
{
    double rest = 1.0;
    for (size_t i = 0; i + 1 < n; i++) {
        x[i] = rest * cos(angle[i]);
        rest *= sin(angle[i]);
    }
    x[n - 1] = rest;
}

static void put_signs(double *x, const mel_sphere_search *search, double side)
{
    for (size_t i = 0; i < search->n; i++)
        x[i] *= side * (search->sign[i] < 0 ? -1.0 : 1.0);
}

/* Angle i of the direction in which this and all later coordinates are alike. */
static double even_angle(const mel_sphere_search *search, size_t i)
{
    return atan(sqrt((double)(search->n - 1 - i)));
}

static const mel_arc quadrant = { 0.0, HALF_PI };

static bool untouched(mel_arc arc)
{
    return arc.low == quadrant.low && arc.high == quadrant.high;
}

/* The middles of the arcs; where nothing is known, all coordinates from there on alike. */
static void middle_angles(const mel_sphere_search *search, const mel_arc *arcs)
{
    for (size_t i = 0; i + 1 < search->n; i++)
        search->angle[i] = untouched(arcs[i]) ? even_angle(search, i) : mel_arc_middle(arcs[i]);
}

void mel_sphere_slope(double *slope, const mel_sphere_search *search, const mel_arc *arcs)
{
    middle_angles(search, arcs);
    from_angles(slope, search->n, search->angle);
    put_signs(slope, search, arcs == search->lower ? -1.0 : 1.0);
}

void mel_sphere_changes(double *change, const mel_sphere_search *search, const mel_arc *arcs)
{
    const size_t n = search->n;
    const double *angle = search->angle;
    middle_angles(search, arcs);
    double before = 1.0; /* product of the sines of earlier angles */
    for (size_t i = 0; i + 1 < n; i++) {
        double *row = change + i * n;
        const double scale = 0.5 * before * (arcs[i].high - arcs[i].low);
        for (size_t j = 0; j < i; j++)
            row[j] = 0.0;
        row[i] = -scale * sin(angle[i]);
        double rest = scale * cos(angle[i]);
        for (size_t j = i + 1; j < n; j++) {
            row[j] = j + 1 < n ? rest * cos(angle[j]) : rest;
            rest *= j + 1 < n ? sin(angle[j]) : 1.0;
        }
        put_signs(row, search, arcs == search->lower ? -1.0 : 1.0);
        before *= sin(angle[i]);
    }
}

bool mel_sphere_reached(const mel_sphere_search *search)
{
    for (size_t i = 0; i + 1 < search->n && !search->flat; i++)
        if (untouched(search->upper[i]))
            return false;
    return true;
}

/* Whether any of the coordinates first..last has a declared sign. */
static bool any_declared(const mel_sphere_search *search, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        if (search->given[i] != 0)
            return true;
    return false;
}

/* Angle i leaves nothing of coordinate i at its upper end, and nothing of the later ones at its lower end. */
bool mel_sphere_at_end(const mel_sphere_search *search, const mel_arc *arcs)
{
    for (size_t i = 0; i + 1 < search->n; i++) {
        const bool upper = arcs[i].high == quadrant.high;
        if (mel_arc_at_end(arcs[i], quadrant) &&
            any_declared(search, upper ? i : i + 1, upper ? i : search->n - 1))
            return true;
    }
    return false;
}

bool mel_sphere_refused(const mel_sphere_search *search)
{
    return search->flat && any_declared(search, 0, search->n - 1);
}

void mel_sphere_bounds(double *low, double *high, const mel_sphere_search *search, const mel_arc *arcs)
{
    double least = 1.0, most = 1.0;
    for (size_t i = 0; i + 1 < search->n; i++) {
        low[i] = least * fmax(cos(arcs[i].high), 0.0);
        high[i] = most * cos(arcs[i].low);
        least *= sin(arcs[i].low);
        most *= sin(arcs[i].high);
    }
    low[search->n - 1] = least;
    high[search->n - 1] = most;
}

/* --- questions ---------------------------------------------------------------------------------- */

/* A step along the first direction of the room against the same step back. */
static mel_preference step_forward(mel_sphere_search *search)
{
    const mel_preference preference = mel_prefer(search->replay);
    if (preference == MEL_PENDING) {
        double *forward = search->direction, *back = search->direction + search->n;
        for (size_t i = 0; i < search->n; i++)
            back[i] = -forward[i];
        search->pose(search->context, back, forward);
    }
    return preference;
}

/* Algorithm 4.2 takes all signs for negative; here: a step forward along each axis against a step back. */
static bool find_signs(mel_sphere_search *search)
{
    memcpy(search->sign, search->given, search->n * sizeof *search->sign);
    for (size_t j = 0; j < search->n; j++) {
        if (search->given[j] != 0)
            continue;
        memset(search->direction, 0, search->n * sizeof *search->direction);
        search->direction[j] = 1.0;
        const mel_preference preference = step_forward(search);
        if (preference == MEL_PENDING)
            return false;
        search->sign[j] = preference == MEL_FIRST ? 1 : -1;
    }
    return true;
}

static bool verify_slope(mel_sphere_search *search)
{
    if (!search->verify)
        return true;
    for (size_t i = 0; i < search->n; i++)
        search->direction[i] = search->sign[i] / sqrt((double)search->n);
    const mel_preference preference = step_forward(search);
    search->flat = preference == MEL_SECOND;
    return preference != MEL_PENDING;
}

typedef struct {
    mel_sphere_search *search;
    size_t moving; /* which angle */
    double side;   /* 1: the best point is sought, -1: the worst */
} angle_context;

static void place(double *point, const angle_context *angle, double value)
{
    mel_sphere_search *search = angle->search;
    search->angle[angle->moving] = value;
    from_angles(point, search->n, search->angle);
    put_signs(point, search, angle->side);
}

static void pose_angles(void *context, double from, double to)
{
    const angle_context *angle = context;
    const mel_sphere_search *search = angle->search;
    double *first = search->direction, *second = search->direction + search->n;
    place(first, angle, to);
    place(second, angle, from);
    search->pose(search->context, second, first);
}

/* The searches of single angles, one after the other: cycles of the best point's, then of the worst's. */
static size_t steps_per_side(const mel_sphere_search *search)
{
    return search->opt->cycles * (search->n - 1);
}

static size_t n_steps(const mel_sphere_search *search)
{
    return (search->twice ? 2 : 1) * steps_per_side(search);
}

static size_t angle_of_step(const mel_sphere_search *search, size_t step)
{
    const size_t turn = step % (search->n - 1);
    return search->n - 2 - turn;
}

/* The angles where earlier steps left them, and where they start before the first cycle has reached them. */
static void restore_angles(const mel_sphere_search *search, const mel_arc *arcs, size_t step, size_t moving)
{
    for (size_t i = 0; i + 1 < search->n; i++)
        search->angle[i] = step >= search->n - 1 || i > moving ? mel_arc_middle(arcs[i]) : half_pi;
}

/* One angle of Algorithm 4.2 or, on the worst point's side with responses inverted, 4.5. The interval from
 * an earlier cycle stays until the new one is narrower. False: stopped at a question. */
static bool search_angle(mel_sphere_search *search)
{
    const bool worst = search->step >= steps_per_side(search);
    const size_t step = worst ? search->step - steps_per_side(search) : search->step;
    mel_arc *arcs = worst ? search->lower : search->upper;
    angle_context angle = {
        .search = search,
        .moving = angle_of_step(search, step),
        .side = worst ? -1.0 : 1.0,
    };
    const mel_arc_search how = {
        .replay = search->replay,
        .tolerance = search->opt->tolerance,
        .per_round = search->opt->per_round,
        .minimise = worst,
        .pose = pose_angles,
        .context = &angle,
    };
    restore_angles(search, arcs, step, angle.moving);
    mel_arc arc = quadrant, *known = &arcs[angle.moving];
    const bool ended = mel_arc_narrow(&arc, &how);
    if (ended || arc.high - arc.low < known->high - known->low)
        *known = arc;
    return ended;
}

uint32_t mel_sphere_total(const mel_sphere_search *search)
{
    double total = 0.0;
    for (size_t i = 0; i < search->n; i++)
        total += search->given[i] == 0 ? 1.0 : 0.0;
    total += search->verify ? 1.0 : 0.0;
    const uint32_t rounds = mel_arc_rounds(quadrant, search->opt->tolerance);
    total += (double)n_steps(search) * rounds * search->opt->per_round;
    return total < (double)UINT32_MAX ? (uint32_t)total : UINT32_MAX;
}

void mel_sphere_restart(mel_sphere_search *search)
{
    for (size_t i = 0; i < search->n; i++)
        search->upper[i] = search->lower[i] = quadrant;
    search->step = 0;
    search->used = 0;
    search->flat = false;
}

bool mel_sphere_run(mel_sphere_search *search)
{
    mel_replay *replay = search->replay;
    if (search->step == 0 || replay->n_answers < search->used) {
        mel_sphere_restart(search);
        if (!find_signs(search) || !verify_slope(search))
            return false;
        search->used = replay->used;
    }
    replay->used = search->used;
    for (; search->step < n_steps(search) && !search->flat; search->step++) {
        if (!search_angle(search))
            return false;
        search->used = replay->used;
    }
    return true;
}

/* --- the engine on a ball ------------------------------------------------------------------------------- */

typedef struct {
    mel_procedure procedure;
    mel_session_options opt;
    const mel_ball *ball;
    mel_sphere_search search;
} ball_engine;

static void pose_on_ball(void *context, const double *from, const double *to)
{
    ball_engine *engine = context;
    const double *centre = mel_ball_centre(engine->ball), radius = mel_ball_radius(engine->ball);
    for (size_t i = 0; i < engine->search.n; i++) {
        engine->procedure.replay.a[i] = centre[i] + radius * to[i];
        engine->procedure.replay.b[i] = centre[i] + radius * from[i];
    }
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

static mel_status ball_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                              mel_error *err)
{
    ball_engine *engine = (ball_engine *)procedure;
    MEL_AUTO_MEMORY double *room = mel_alloc(4 * engine->search.n, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    return mel_family_about(engine->opt.family)->ratio ? fractional_result(engine, room, metric, summary, err)
                                                       : linear_result(engine, room, metric, summary, err);
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
