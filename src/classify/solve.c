/* Which method finds the best rule for a goal. */
#include "classify/solve.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values that differ by less are the same. */
static const double same = 1e-14;

void mel_solution_clear(mel_solution *solution)
{
    free(solution->x);
    free(solution->weight);
    free(solution->price);
    *solution = (mel_solution){ 0 };
}

mel_status mel_solution_fit(mel_solution *s, const mel_vertices *vertices, mel_error *err)
{
    double *weight = mel_alloc_zero(vertices->n, sizeof *weight);
    if (weight == NULL)
        return mel_fail_memory(err, "a mixture");
    for (size_t v = 0; v < s->n; v++)
        weight[v] = s->weight[v];
    free(s->weight);
    s->weight = weight;
    s->n = vertices->n;
    return MEL_OK;
}

mel_status mel_solution_init(mel_solution *out, const mel_goal *goal, const mel_vertices *vertices,
                             mel_error *err)
{
    *out = (mel_solution){ .bound = INFINITY };
    out->x = mel_alloc_zero(goal->size, sizeof *out->x);
    out->price = mel_alloc_zero(goal->program.n_terms + 1, sizeof *out->price);
    if (out->x == NULL || out->price == NULL)
        return mel_fail_memory(err, "a mixture");
    return mel_solution_fit(out, vertices, err);
}

mel_columns_options mel_columns_usual(const mel_vertices *vertices, const mel_solve_options *opt)
{
    return (mel_columns_options){ .tolerance = opt->tolerance,
                                  .most_steps = opt->most_steps,
                                  .costly = !vertices->steps->sorted };
}

/* The newest vertices, nothing mixed. */
static mel_status take_newest(mel_solution *s, const mel_vertices *vertices, mel_error *err)
{
    const mel_status status = mel_solution_fit(s, vertices, err);
    if (status != MEL_OK || s->weight == NULL)
        return status;
    memset(s->weight, 0, s->n * sizeof *s->weight);
    for (size_t b = 0; b < vertices->steps->n_blocks; b++)
        s->weight[vertices->newest[b]] = 1.0;
    mel_vertices_mix(s->x, vertices, s->n, s->weight);
    return MEL_OK;
}

static mel_status take_columns(mel_solution *s, const mel_goal *goal, const mel_columns *columns,
                               const mel_vertices *vertices, mel_error *err)
{
    TRY(mel_solution_fit(s, vertices, err));
    memcpy(s->weight, mel_columns_weights(columns), s->n * sizeof *s->weight);
    memcpy(s->price, mel_columns_prices(columns), goal->program.n_terms * sizeof *s->price);
    s->violation = mel_columns_violation(columns);
    mel_vertices_mix(s->x, vertices, s->n, s->weight);
    return MEL_OK;
}

static mel_status solve_linear(mel_solution *s, const mel_goal *goal, mel_vertices *vertices,
                               mel_columns *columns, const mel_solve_options *opt, mel_error *err)
{
    double value = 0.0;
    if (columns == NULL) {
        TRY(mel_vertices_step(&value, NULL, vertices, goal->program.c, err));
        TRY(take_newest(s, vertices, err));
        s->bound = value + goal->program.constant;
        return MEL_OK;
    }
    const mel_columns_options own = mel_columns_usual(vertices, opt);
    TRY(mel_columns_solve(columns, NULL, &own, err));
    TRY(take_columns(s, goal, columns, vertices, err));
    s->bound = mel_columns_bound(columns);
    return MEL_OK;
}

static void put_uniform(double *x, const mel_goal *goal, const mel_steps *steps)
{
    for (size_t i = 0; i < goal->size; i++)
        x[i] = steps->mass[i / goal->d] / (double)goal->d;
}

/* The solution becomes what another one is. */
static mel_status take_over(mel_solution *s, const mel_solution *from, const mel_goal *goal,
                            const mel_vertices *vertices, mel_error *err)
{
    TRY(mel_solution_fit(s, vertices, err));
    memcpy(s->weight, from->weight, s->n * sizeof *s->weight);
    memcpy(s->x, from->x, goal->size * sizeof *s->x);
    memcpy(s->price, from->price, goal->program.n_terms * sizeof *s->price);
    s->value = from->value;
    s->violation = from->violation;
    return MEL_OK;
}

/* Dinkelbach's method: the slope of a ratio N/D at x is (N - v D)/D with v its value there, so that a step
 * along it reaches more, until nothing does. */
static mel_status solve_ratio(mel_solution *s, const mel_goal *goal, mel_vertices *vertices,
                              mel_columns *columns, const mel_solve_options *opt, mel_error *err)
{
    double *slope = mel_alloc(2 * goal->size, sizeof *slope);
    if (slope == NULL)
        return mel_fail_memory(err, "a slope");
    mel_solution next = { 0 };
    mel_status status = mel_solution_init(&next, goal, vertices, err);
    if (status != MEL_OK || next.x == NULL || next.price == NULL || next.weight == NULL) {
        mel_solution_clear(&next);
        free(slope);
        return status;
    }
    const mel_columns_options own = mel_columns_usual(vertices, opt);
    double value = 0.0, *now = slope + goal->size;
    bool more = true;
    put_uniform(now, goal, vertices->steps);
    for (uint64_t turn = 0; more && turn < opt->most_steps && status == MEL_OK && s->violation == 0.0;
         turn++) {
        status = mel_goal_gradient(slope, goal, now, err);
        if (status == MEL_OK && columns == NULL)
            status = mel_vertices_step(&value, NULL, vertices, slope, err);
        else if (status == MEL_OK)
            status = mel_columns_solve(columns, slope, &own, err);
        if (status == MEL_OK)
            status = columns == NULL ? take_newest(&next, vertices, err)
                                     : take_columns(&next, goal, columns, vertices, err);
        if (status != MEL_OK)
            break;
        value = columns != NULL ? mel_columns_bound(columns) - goal->program.constant : value;
        if (turn > 0)
            s->bound = s->value + fmax(0.0, value - mel_dot(goal->size, slope, now));
        next.value = mel_goal_at(goal, next.x);
        more = turn == 0 || next.value > s->value + same * fabs(s->value);
        if (more)
            status = take_over(s, &next, goal, vertices, err);
        memcpy(now, s->x, goal->size * sizeof *now);
    }
    mel_solution_clear(&next);
    free(slope);
    return status;
}

/* --- local methods ------------------------------------------------------------------------------ */

/* A vertex of every block for random gains. */
static mel_status random_start(size_t *start, mel_vertices *vertices, const mel_goal *goal, mel_rng *rng,
                               mel_error *err)
{
    double value = 0.0, *gain = mel_alloc(goal->size, sizeof *gain);
    if (gain == NULL)
        return mel_fail_memory(err, "a start");
    for (size_t r = 0; r < goal->size / goal->d; r++)
        for (size_t j = 0; j < goal->d; j++)
            gain[r * goal->d + j] =
                (mel_rng_normal(rng) + (j == r % goal->k ? 2.0 : 0.0)) / (vertices->steps->mass[r] + 1e-300);
    const mel_status status = mel_vertices_step(&value, NULL, vertices, gain, err);
    memcpy(start, vertices->newest, vertices->steps->n_blocks * sizeof *start);
    free(gain);
    return status;
}

static mel_status solve_local(mel_solution *s, const mel_goal *goal, mel_vertices *vertices,
                              mel_columns *columns, const mel_solve_options *opt, mel_error *err)
{
    size_t *start = mel_alloc(vertices->steps->n_blocks, sizeof *start);
    if (start == NULL)
        return mel_fail_memory(err, "a start");
    mel_rng rng;
    mel_rng_seed(&rng, opt->seed);
    mel_solution best = { .value = -INFINITY };
    mel_status status = MEL_OK;
    for (unsigned turn = 0; turn < opt->starts && status == MEL_OK; turn++) {
        mel_solution next = { 0 };
        if (turn > 0)
            status = random_start(start, vertices, goal, &rng, err);
        if (status == MEL_OK)
            status = mel_frank_wolfe(&next, goal, vertices, turn > 0 ? start : NULL, columns, opt, err);
        const bool more = status == MEL_OK && (turn == 0 || next.value > best.value);
        mel_solution worse = more ? best : next;
        best = more ? next : best;
        mel_solution_clear(&worse);
    }
    mel_solution_clear(s);
    *s = best;
    s->starts = opt->starts;
    s->bound = INFINITY;
    free(start);
    return status;
}

static mel_status solve(mel_solution *s, const mel_goal *goal, mel_vertices *vertices, mel_columns *columns,
                        const mel_solve_options *opt, mel_error *err)
{
    switch (goal->kind) {
    case MEL_SHAPE_LINEAR:
    case MEL_SHAPE_KINKED:
        return solve_linear(s, goal, vertices, columns, opt, err);
    case MEL_SHAPE_RATIO:
        return solve_ratio(s, goal, vertices, columns, opt, err);
    case MEL_SHAPE_CONCAVE:
        return mel_frank_wolfe(s, goal, vertices, NULL, columns, opt, err);
    case MEL_SHAPE_LOCAL:
        break;
    }
    return solve_local(s, goal, vertices, columns, opt, err);
}

mel_status mel_solve_goal(mel_solution *out, const mel_goal *goal, mel_vertices *vertices,
                          const mel_solve_options *opt, mel_error *err)
{
    mel_columns *columns = NULL;
    mel_status status = mel_solution_init(out, goal, vertices, err);
    if (status == MEL_OK && goal->program.n_terms > 0)
        status = mel_columns_new(&columns, &goal->program, vertices, err);
    if (status == MEL_OK)
        status = solve(out, goal, vertices, columns, opt, err);
    mel_columns_free(columns);
    if (status == MEL_OK)
        status = mel_goal_value(&out->value, goal, out->x, err);
    out->bound = fmax(out->bound, out->value);
    out->certified = vertices->steps->exact && isfinite(out->bound) && out->starts == 0;
    return status;
}
