/* Searches of slopes at several places, one station after the other. */
#include "elicit/search/plan.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Directions of points so far from a place are known to 1e-8. */
static const double least_radius = 1e-8;

/* --- stations ----------------------------------------------------------------------------------- */

mel_status mel_plan_init(mel_plan *plan, const mel_ball *ball, const mel_session_options *opt, mel_error *err)
{
    const mel_layout *layout = mel_ball_layout(ball);
    plan->opt = *opt;
    plan->ball = ball;
    plan->groups = layout->n_groups > 1 ? layout->n_groups : 1;
    plan->size = mel_ball_size(ball);
    plan->per_group = plan->size / plan->groups;
    return mel_procedure_init(&plan->procedure, plan->size, err);
}

static void station_clear(mel_station *station)
{
    free(station->middle);
    free(station->moves);
    free(station->basis);
    free(station->sign);
    free(station->slope);
    free(station->change);
}

void mel_plan_clear(mel_plan *plan)
{
    for (size_t i = 0; i < plan->n_stations; i++)
        station_clear(&plan->station[i]);
    free(plan->station);
    free(plan->found);
    mel_sphere_clear(&plan->search);
}

static mel_status reserve(mel_plan *plan, mel_error *err)
{
    if (plan->n_stations < plan->capacity)
        return MEL_OK;
    const size_t capacity = plan->capacity == 0 ? 8 : 2 * plan->capacity;
    void *block = plan->station;
    if (!mel_grow(&block, capacity, sizeof *plan->station))
        return mel_fail_memory(err, "the places of a search");
    plan->station = block;
    plan->capacity = capacity;
    return MEL_OK;
}

mel_status mel_plan_add(mel_station **station, mel_plan *plan, double radius, size_t n, bool basis,
                        mel_error *err)
{
    if (!(radius >= least_radius))
        return mel_fail(err, MEL_EINVAL,
                        "questions would be about points %g from each other, less than %g: rounding would "
                        "answer them",
                        2.0 * radius, 2.0 * least_radius);
    TRY(reserve(plan, err));
    mel_station *s = &plan->station[plan->n_stations];
    *s = (mel_station){ .radius = radius, .n = n };
    s->middle = mel_alloc(plan->size, sizeof *s->middle);
    s->moves = mel_alloc(plan->groups, sizeof *s->moves);
    s->sign = mel_alloc_zero(n, sizeof *s->sign);
    s->slope = mel_alloc_zero(plan->per_group, sizeof *s->slope);
    s->change = mel_alloc_zero((n - 1) * plan->per_group, sizeof *s->change);
    s->basis = basis ? mel_alloc_zero(n * plan->per_group, sizeof *s->basis) : NULL;
    if (s->middle == NULL || s->moves == NULL || s->sign == NULL || s->slope == NULL || s->change == NULL ||
        (basis && s->basis == NULL)) {
        station_clear(s);
        return mel_fail_memory(err, "the places of a search");
    }
    for (size_t g = 0; g < plan->groups; g++) {
        s->moves[g] = true;
        memcpy(s->middle + g * plan->per_group, mel_ball_centre(plan->ball),
               plan->per_group * sizeof *s->middle);
    }
    plan->n_stations++;
    *station = s;
    return MEL_OK;
}

/* --- questions ---------------------------------------------------------------------------------- */

/* point = middle + length * direction in the groups that move. */
static void place(const mel_plan *plan, const mel_station *s, double *point, double length,
                  const double *direction)
{
    const size_t q = plan->per_group;
    memcpy(point, s->middle, plan->size * sizeof *point);
    for (size_t g = 0; g < plan->groups; g++) {
        double *rates = point + g * q;
        for (size_t j = 0; j < s->n && s->moves[g]; j++) {
            const double step = length * direction[j];
            if (s->basis == NULL)
                rates[j] += step;
            else
                mel_axpy(q, step, s->basis + j * q, rates);
        }
    }
}

static void pose_at_station(void *context, const double *from, const double *to)
{
    mel_plan *plan = context;
    const mel_station *s = &plan->station[plan->at];
    mel_replay *replay = &plan->procedure.replay;
    /* Opposite points: the same linear difference, as long as the ball allows, and without any curvature. */
    double *way = plan->search.direction; /* to may be its first half: it is read before it is written */
    double squares = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        way[i] = to[i] - from[i];
        squares += way[i] * way[i];
    }
    const double length = squares > 0.0 ? s->radius / sqrt(squares) : 0.0;
    place(plan, s, replay->a, length, way);
    place(plan, s, replay->b, -length, way);
}

static mel_status begin_station(mel_plan *plan, mel_error *err)
{
    if (plan->prepare != NULL) {
        const mel_status status = plan->prepare(plan, plan->at, err);
        if (status != MEL_OK)
            return status;
    }
    const mel_station *s = &plan->station[plan->at];
    plan->search.n = s->n;
    memcpy(plan->search.given, s->sign, s->n * sizeof *s->sign);
    mel_sphere_restart(&plan->search);
    return MEL_OK;
}

/* out = the vector with these n numbers, in the coordinates of a group. */
static void in_group(const mel_plan *plan, const mel_station *s, double *out, const double *found)
{
    const size_t q = plan->per_group;
    memset(out, 0, q * sizeof *out);
    for (size_t j = 0; j < s->n; j++)
        if (s->basis == NULL)
            out[j] = found[j];
        else
            mel_axpy(q, found[j], s->basis + j * q, out);
}

/* What is known of the slope now. */
static void read_slope(mel_plan *plan)
{
    mel_station *s = &plan->station[plan->at];
    const size_t q = plan->per_group;
    s->reached = mel_sphere_reached(&plan->search);
    s->flat = plan->search.flat;
    memset(s->slope, 0, q * sizeof *s->slope);
    memset(s->change, 0, (s->n - 1) * q * sizeof *s->change);
    if (s->flat || !s->reached)
        return;
    mel_sphere_slope(plan->found, &plan->search, plan->search.upper);
    in_group(plan, s, s->slope, plan->found);
    mel_sphere_changes(plan->found, &plan->search, plan->search.upper);
    for (size_t i = 0; i + 1 < s->n; i++)
        in_group(plan, s, s->change + i * q, plan->found + i * s->n);
}

static mel_status restart(mel_plan *plan, mel_error *err)
{
    for (size_t i = 0; i < plan->n_stations; i++)
        plan->station[i].reached = false;
    plan->at = plan->start = 0;
    plan->procedure.at_end = plan->procedure.pressed = false;
    return plan->n_stations > 0 ? begin_station(plan, err) : MEL_OK;
}

static mel_status run(mel_procedure *procedure, mel_error *err)
{
    mel_plan *plan = (mel_plan *)procedure;
    mel_replay *replay = &procedure->replay;
    mel_status status = MEL_OK;
    if (replay->n_answers < plan->start || replay->n_answers == 0)
        status = restart(plan, err);
    procedure->pending = true;
    while (plan->at < plan->n_stations && status == MEL_OK) {
        replay->used = plan->start;
        if (!mel_sphere_run(&plan->search))
            return MEL_OK;
        read_slope(plan);
        procedure->at_end = procedure->at_end || mel_sphere_at_end(&plan->search, plan->search.upper);
        procedure->pressed = procedure->pressed || mel_sphere_refused(&plan->search);
        plan->start = replay->used;
        status = ++plan->at < plan->n_stations ? begin_station(plan, err) : MEL_OK;
    }
    if (status != MEL_OK) {
        plan->start = SIZE_MAX; /* the next run begins again */
        return status;
    }
    replay->used = plan->start;
    bool ended = true;
    if (plan->finish != NULL)
        status = plan->finish(plan, &ended, err);
    procedure->pending = !ended;
    return status;
}

void mel_plan_settle(mel_plan *plan)
{
    if (plan->at < plan->n_stations)
        read_slope(plan);
}

mel_status mel_plan_begin(mel_plan *plan, mel_error *err)
{
    size_t most = 2;
    for (size_t i = 0; i < plan->n_stations; i++)
        most = plan->station[i].n > most ? plan->station[i].n : most;
    TRY(mel_sphere_init(&plan->search, most, &plan->opt, &plan->procedure.replay, err));
    plan->found = mel_alloc(most * most, sizeof *plan->found);
    if (plan->found == NULL)
        return mel_fail_memory(err, "the places of a search");
    plan->search.verify = true;
    plan->search.pose = pose_at_station;
    plan->search.context = plan;
    double total = plan->n_finish;
    for (size_t i = 0; i < plan->n_stations; i++) {
        const mel_station *s = &plan->station[i];
        plan->search.n = s->n;
        memcpy(plan->search.given, s->sign, s->n * sizeof *s->sign);
        total += mel_sphere_total(&plan->search);
    }
    plan->procedure.total = total < (double)UINT32_MAX ? (uint32_t)total : UINT32_MAX;
    plan->procedure.run = run;
    plan->start = SIZE_MAX; /* the first run begins, also when there are answers already (resume, undo) */
    return MEL_OK;
}
