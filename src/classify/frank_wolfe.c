/* Pairwise Frank-Wolfe steps for smooth goals: one set of atoms per block, or under limits one for all. */
#include "classify/solve.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHES = 60, GRID = 16, INNER_EACH = 40, GOLDEN = 40 };
static const double inner_share = 0.2; /* of the gap: what moves among stored atoms are to leave */
static const double least_weight = 1e-15;

/* A vertex of a block, or under limits a mixture of vertices: their weights, so many. */
typedef struct {
    size_t block, vertex, length;
    double weight, *recipe;
} atom;

typedef struct {
    const mel_goal *goal;
    mel_vertices *vertices;
    mel_columns *limits;
    const mel_solve_options *opt;
    mel_columns_options columns;
    size_t n_blocks, block_size, n_atoms, room;
    atom *atom;
    double *point; /* of each atom the numbers of its block */
    size_t *newest;
    double *x, *slope, *way, *probe;
    double bound;      /* of <slope, .> at the last step */
    mel_status status; /* MEL_ENOMEM: memory ran out on a line */
} search;

static void search_clear(search *s)
{
    for (size_t i = 0; i < s->n_atoms; i++)
        free(s->atom[i].recipe);
    free(s->atom);
    free(s->point);
    free(s->newest);
    free(s->x);
}

/* What it holds is owned from here on. */
static mel_status add_atom(size_t *place, search *s, atom is, mel_error *err)
{
    if (s->n_atoms == s->room) {
        const size_t room = 2 * s->room + 32;
        if (!mel_grow((void **)&s->atom, room, sizeof *s->atom) ||
            !mel_grow((void **)&s->point, room, s->block_size * sizeof *s->point)) {
            free(is.recipe);
            return mel_fail_memory(err, "a mixture");
        }
        s->room = room;
    }
    *place = s->n_atoms;
    s->atom[s->n_atoms++] = is;
    return MEL_OK;
}

/* A vertex as an atom, unless it is one. */
static mel_status add_vertex(size_t *place, search *s, size_t v, mel_error *err)
{
    for (size_t i = 0; i < s->n_atoms; i++)
        if (s->atom[i].vertex == v) {
            *place = i;
            return MEL_OK;
        }
    TRY(add_atom(place, s, (atom){ .block = s->vertices->block[v], .vertex = v }, err));
    memcpy(s->point + *place * s->block_size, mel_vertices_shares(s->vertices, v),
           s->block_size * sizeof *s->point);
    return MEL_OK;
}

/* The last solution under limits as an atom. */
static mel_status add_recipe(size_t *place, search *s, mel_error *err)
{
    const size_t n = s->vertices->n;
    double *recipe = mel_alloc(n, sizeof *recipe);
    if (recipe == NULL)
        return mel_fail_memory(err, "a mixture");
    memcpy(recipe, mel_columns_weights(s->limits), n * sizeof *recipe);
    TRY(add_atom(place, s, (atom){ .vertex = SIZE_MAX, .recipe = recipe, .length = n }, err));
    mel_vertices_mix(s->point + *place * s->block_size, s->vertices, n, recipe);
    return MEL_OK;
}

/* The atoms that are best along the slope, by a linear step. */
static mel_status add_best_atoms(search *s, mel_error *err)
{
    if (s->limits != NULL) {
        TRY(mel_columns_solve(s->limits, s->slope, &s->columns, err));
        s->bound = mel_columns_bound(s->limits) - s->goal->program.constant;
        return add_recipe(&s->newest[0], s, err);
    }
    TRY(mel_vertices_step(&s->bound, NULL, s->vertices, s->slope, err));
    for (size_t b = 0; b < s->n_blocks; b++)
        TRY(add_vertex(&s->newest[b], s, s->vertices->newest[b], err));
    return MEL_OK;
}

/* --- along a line ------------------------------------------------------------------------------- */

static double value_at(const search *s, double t)
{
    for (size_t i = 0; i < s->goal->size; i++)
        s->probe[i] = s->x[i] + t * s->way[i];
    return mel_goal_at(s->goal, s->probe);
}

/* Slope along the way; `slope` is overwritten. */
static double slope_at(search *s, double t)
{
    for (size_t i = 0; i < s->goal->size; i++)
        s->probe[i] = s->x[i] + t * s->way[i];
    const mel_status status = mel_goal_gradient(s->slope, s->goal, s->probe, NULL);
    s->status = status == MEL_ENOMEM ? status : s->status;
    return status == MEL_OK ? mel_dot(s->goal->size, s->slope, s->way) : (double)NAN;
}

/* The maximum of a concave goal: where its slope is 0 in [0, most], by bracketed secant steps. */
static double top_of_concave(search *s, double most)
{
    double low = 0.0, high = most, at_low = slope_at(s, low), at_high = slope_at(s, high);
    if (!(at_low > 0.0))
        return 0.0;
    if (at_high >= 0.0)
        return most;
    for (size_t turn = 0; turn < SEARCHES && high - low > 1e-15 * most; turn++) {
        double t = isfinite(at_high) && isfinite(at_low) ? low + (high - low) * at_low / (at_low - at_high)
                                                         : low + (high - low) / 2.0;
        if (turn % 3 == 2 || !(t > low && t < high))
            t = low + (high - low) / 2.0;
        const double at = slope_at(s, t);
        if (fabs(at) <= 1e-14 * (fabs(at_low) + fabs(at)))
            return t;
        if (at > 0.0) {
            low = t;
            at_low = at;
        } else {
            high = t;
            at_high = at;
        }
    }
    return low;
}

/* The best step for any goal: the best of a grid, refined; 0 when no step improves. */
static double top_of_any(const search *s, double most)
{
    const double here = value_at(s, 0.0);
    double best = 0.0, top = here;
    for (size_t i = 1; i <= GRID; i++) {
        const double t = most * (double)i / GRID, value = value_at(s, t);
        best = value > top ? t : best;
        top = fmax(top, value);
    }
    double low = fmax(0.0, best - most / GRID), high = fmin(most, best + most / GRID);
    static const double golden = 0.3819660112501051;
    for (size_t i = 0; i < GOLDEN && high - low > 1e-12 * most; i++) {
        const double left = low + golden * (high - low), right = high - golden * (high - low);
        const double at_left = value_at(s, left), at_right = value_at(s, right);
        if (at_left >= at_right)
            high = right;
        else
            low = left;
        const double t = at_left >= at_right ? left : right, value = fmax(at_left, at_right);
        best = value > top ? t : best;
        top = fmax(top, value);
    }
    return top > here ? best : 0.0;
}

static double best_move(search *s, double most)
{
    return s->goal->kind == MEL_SHAPE_LOCAL ? top_of_any(s, most) : top_of_concave(s, most);
}

/* --- moves -------------------------------------------------------------------------------------- */

static const double *point_of(const search *s, size_t place)
{
    return s->point + place * s->block_size;
}

/* Towards the newest atoms in all blocks at once. */
static void move_all(search *s)
{
    for (size_t b = 0; b < s->n_blocks; b++)
        for (size_t c = 0; c < s->block_size; c++)
            s->way[b * s->block_size + c] = point_of(s, s->newest[b])[c] - s->x[b * s->block_size + c];
    const double t = best_move(s, 1.0);
    for (size_t i = 0; i < s->n_atoms; i++)
        s->atom[i].weight *= 1.0 - t;
    for (size_t b = 0; b < s->n_blocks; b++)
        s->atom[s->newest[b]].weight += t;
    mel_axpy(s->goal->size, t, s->way, s->x);
}

/* The best atom of a block along the slope and the worst that has weight; what moving between them promises.
 */
static double best_pair(const search *s, size_t block, size_t *best, size_t *worst)
{
    const double *slope = s->slope + block * s->block_size;
    double most = -INFINITY, least = INFINITY;
    for (size_t i = 0; i < s->n_atoms; i++) {
        if (s->atom[i].block != block)
            continue;
        const double gain = mel_dot(s->block_size, slope, point_of(s, i));
        if (gain > most) {
            most = gain;
            *best = i;
        }
        if (s->atom[i].weight > least_weight && gain < least) {
            least = gain;
            *worst = i;
        }
    }
    return most - least;
}

static bool move_pair(search *s, size_t block, size_t best, size_t worst)
{
    memset(s->way, 0, s->goal->size * sizeof *s->way);
    for (size_t c = 0; c < s->block_size; c++)
        s->way[block * s->block_size + c] = point_of(s, best)[c] - point_of(s, worst)[c];
    const double most = s->atom[worst].weight, t = best_move(s, most);
    s->atom[worst].weight = t >= most ? 0.0 : most - t;
    s->atom[best].weight += t;
    mel_axpy(s->goal->size, t, s->way, s->x);
    return t > 0.0;
}

/* x from the weights, which rounding moves apart. */
static void recompute(search *s)
{
    memset(s->x, 0, s->goal->size * sizeof *s->x);
    for (size_t i = 0; i < s->n_atoms; i++)
        if (s->atom[i].weight > 0.0)
            mel_axpy(s->block_size, s->atom[i].weight, point_of(s, i),
                     s->x + s->atom[i].block * s->block_size);
}

/* Moves among stored atoms until what they promise is well below the gap. */
static mel_status correct(search *s, double gap, mel_error *err)
{
    for (size_t turn = 0; turn < INNER_EACH * s->n_atoms; turn++) {
        double promised = 0.0;
        bool moved = false;
        for (size_t b = 0; b < s->n_blocks; b++) {
            size_t best = 0, worst = 0;
            TRY(mel_goal_gradient(s->slope, s->goal, s->x, err));
            const double gain = best_pair(s, b, &best, &worst);
            promised += gain;
            if (gain > 0.0 && best != worst)
                moved = move_pair(s, b, best, worst) || moved;
        }
        if (promised < inner_share * gap || !moved)
            break;
    }
    recompute(s);
    return s->status == MEL_OK ? MEL_OK : mel_fail_memory(err, "a slope");
}

/* --- the method --------------------------------------------------------------------------------- */

static mel_status begin_atoms(search *s, const size_t *start, mel_error *err)
{
    const mel_steps *steps = s->vertices->steps;
    const size_t each = start != NULL ? 1 : steps->n_decisions;
    if (s->limits != NULL) {
        mel_goal_uniform(s->x, s->goal, steps);
        TRY(mel_goal_gradient(s->slope, s->goal, s->x, err));
        TRY(add_best_atoms(s, err));
        s->atom[s->newest[0]].weight = 1.0;
    }
    for (size_t i = 0; i < steps->n_blocks * each && s->limits == NULL; i++) {
        size_t place = 0;
        TRY(add_vertex(&place, s, start != NULL ? start[i] : i, err));
        s->atom[place].weight += 1.0 / (double)each;
    }
    recompute(s);
    return MEL_OK;
}

/* How good it is, and the mixture as weights of vertices. */
static mel_status finish(mel_solution *out, const search *s, double gap, mel_error *err)
{
    TRY(mel_solution_init(out, s->goal, s->vertices, err));
    for (size_t i = 0; i < s->n_atoms; i++) {
        const atom *a = &s->atom[i];
        if (!(a->weight > least_weight))
            continue;
        if (a->recipe == NULL)
            out->weight[a->vertex] += a->weight;
        for (size_t v = 0; v < a->length; v++)
            out->weight[v] += a->weight * a->recipe[v];
    }
    memcpy(out->x, s->x, s->goal->size * sizeof *out->x);
    out->violation = s->limits != NULL ? mel_columns_violation(s->limits) : 0.0;
    if (s->limits != NULL)
        memcpy(out->price, mel_columns_prices(s->limits), s->goal->program.n_terms * sizeof *out->price);
    out->value = mel_goal_at(s->goal, s->x);
    out->bound = out->value + fmax(gap, 0.0);
    return MEL_OK;
}

static mel_status run_frank_wolfe(mel_solution *out, search *s, const size_t *start, mel_error *err)
{
    const uint64_t from = s->vertices->steps->taken;
    double gap = INFINITY, value = -INFINITY;
    TRY(begin_atoms(s, start, err));
    const bool stuck = s->limits != NULL && mel_columns_violation(s->limits) > 0.0;
    while (!stuck) {
        TRY(mel_goal_gradient(s->slope, s->goal, s->x, err));
        TRY(add_best_atoms(s, err));
        /* The slope at x is still in place: the step does not change it. */
        gap = s->bound - mel_dot(s->goal->size, s->slope, s->x);
        const double now = mel_goal_at(s->goal, s->x);
        if (gap <= s->opt->tolerance || s->vertices->steps->taken - from >= s->opt->most_steps ||
            (s->goal->kind == MEL_SHAPE_LOCAL && now <= value + 1e-12))
            break;
        value = now;
        move_all(s);
        TRY(correct(s, gap, err));
    }
    return finish(out, s, gap, err);
}

mel_status mel_frank_wolfe(mel_solution *out, const mel_goal *goal, mel_vertices *vertices,
                           const size_t *start, mel_columns *limits, const mel_solve_options *opt,
                           mel_error *err)
{
    MEL_AUTO_CLEAR(search) s = { .goal = goal, .vertices = vertices, .limits = limits, .opt = opt };
    mel_solution_clear(out);
    s.n_blocks = limits != NULL ? 1 : vertices->steps->n_blocks;
    s.block_size = goal->size / s.n_blocks;
    s.columns = mel_columns_usual(vertices, opt);
    s.newest = mel_alloc_zero(s.n_blocks, sizeof *s.newest);
    const mel_part parts[] = { { goal->size, { &s.x, &s.slope, &s.way, &s.probe } } };
    if (s.newest == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a mixture");
    return run_frank_wolfe(out, &s, start, err);
}
