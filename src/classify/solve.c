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
    TRY(mel_solution_fit(s, vertices, err));
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
    MEL_AUTO_MEMORY double *slope = mel_alloc(2 * goal->size, sizeof *slope);
    MEL_AUTO_CLEAR(mel_solution) next = { 0 };
    if (slope == NULL)
        return mel_fail_memory(err, "a slope");
    TRY(mel_solution_init(&next, goal, vertices, err));
    const mel_columns_options own = mel_columns_usual(vertices, opt);
    double value = 0.0, *now = slope + goal->size;
    bool more = true;
    mel_goal_uniform(now, goal, vertices->steps);
    for (uint64_t turn = 0; more && turn < opt->most_steps && s->violation == 0.0; turn++) {
        TRY(mel_goal_gradient(slope, goal, now, err));
        if (columns == NULL) {
            TRY(mel_vertices_step(&value, NULL, vertices, slope, err));
            TRY(take_newest(&next, vertices, err));
        } else {
            TRY(mel_columns_solve(columns, slope, &own, err));
            TRY(take_columns(&next, goal, columns, vertices, err));
            value = mel_columns_bound(columns) - goal->program.constant;
        }
        if (turn > 0)
            s->bound = s->value + fmax(0.0, value - mel_dot(goal->size, slope, now));
        next.value = mel_goal_at(goal, next.x);
        more = turn == 0 || next.value > s->value + same * fabs(s->value);
        if (more)
            TRY(take_over(s, &next, goal, vertices, err));
        memcpy(now, s->x, goal->size * sizeof *now);
    }
    return MEL_OK;
}

/* --- local methods ------------------------------------------------------------------------------ */

/* A vertex of every block for random gains. */
static mel_status random_start(size_t *start, mel_vertices *vertices, const mel_goal *goal, mel_rng *rng,
                               mel_error *err)
{
    double value = 0.0;
    MEL_AUTO_MEMORY double *gain = mel_alloc(goal->size, sizeof *gain);
    if (gain == NULL)
        return mel_fail_memory(err, "a start");
    for (size_t r = 0; r < goal->size / goal->d; r++)
        for (size_t j = 0; j < goal->d; j++)
            gain[r * goal->d + j] =
                (mel_rng_normal(rng) + (j == r % goal->k ? 2.0 : 0.0)) / (vertices->steps->mass[r] + 1e-300);
    TRY(mel_vertices_step(&value, NULL, vertices, gain, err));
    memcpy(start, vertices->newest, vertices->steps->n_blocks * sizeof *start);
    return MEL_OK;
}

static mel_status solve_local(mel_solution *s, const mel_goal *goal, mel_vertices *vertices,
                              mel_columns *columns, const mel_solve_options *opt, mel_error *err)
{
    MEL_AUTO_MEMORY size_t *start = mel_alloc(vertices->steps->n_blocks, sizeof *start);
    if (start == NULL)
        return mel_fail_memory(err, "a start");
    mel_rng rng;
    mel_rng_seed(&rng, opt->seed);
    for (unsigned turn = 0; turn < opt->starts; turn++) {
        MEL_AUTO_CLEAR(mel_solution) next = { 0 };
        if (turn > 0)
            TRY(random_start(start, vertices, goal, &rng, err));
        TRY(mel_frank_wolfe(&next, goal, vertices, turn > 0 ? start : NULL, columns, opt, err));
        if (turn > 0 && !(next.value > s->value))
            continue;
        const mel_solution worse = *s;
        *s = next;
        next = worse;
    }
    s->starts = opt->starts;
    s->bound = INFINITY;
    return MEL_OK;
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
    MEL_AUTO(mel_columns) *columns = NULL;
    TRY(mel_solution_init(out, goal, vertices, err));
    if (goal->program.n_terms > 0)
        TRY(mel_columns_new(&columns, &goal->program, vertices, err));
    TRY(solve(out, goal, vertices, columns, opt, err));
    TRY(mel_goal_value(&out->value, goal, out->x, err));
    out->bound = fmax(out->bound, out->value);
    out->certified = vertices->steps->exact && isfinite(out->bound) && out->starts == 0;
    return MEL_OK;
}
