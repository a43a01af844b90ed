/* Pairwise Frank-Wolfe steps for smooth goals: one set of atoms per block, or under limits one for all. */
#include "classify/solve.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHES = 60, GRID = 16, INNER_EACH = 40, GOLDEN = 40 };
static const double inner_share = 0.2; /* of the gap: what moves among stored atoms are to leave */
static const double least_weight = 1e-15;

/* Atoms of a block: vertices, or under limits mixtures of them. */
typedef struct {
    size_t n, room;
    size_t *block;
    double *weight;
    double *point;   /* n x numbers of a block */
    size_t *vertex;  /* without limits */
    double **recipe; /* under limits: weights of vertices ... */
    size_t *length;  /* ... so many */
} atoms;

typedef struct {
    const mel_goal *goal;
    mel_vertices *vertices;
    mel_columns *limits;
    const mel_solve_options *opt;
    mel_columns_options columns;
    size_t n_blocks, block_size;
    atoms at;
    size_t *newest;
    double *x, *slope, *way, *probe;
    double bound;      /* of <slope, .> at the last step */
    mel_status status; /* MEL_ENOMEM: memory ran out on a line */
} search;

static void atoms_clear(atoms *a)
{
    for (size_t i = 0; i < a->n && a->recipe != NULL; i++)
        free(a->recipe[i]);
    free(a->block);
    free(a->weight);
    free(a->point);
    free(a->vertex);
    free(a->recipe);
    free(a->length);
}

static bool atoms_room(atoms *a, size_t size)
{
    const size_t room = 2 * a->room + 32;
    if (a->n < a->room)
        return true;
    if (!mel_grow((void **)&a->block, room, sizeof *a->block) ||
        !mel_grow((void **)&a->weight, room, sizeof *a->weight) ||
        !mel_grow((void **)&a->point, room, size * sizeof *a->point) ||
        !mel_grow((void **)&a->vertex, room, sizeof *a->vertex) ||
        !mel_grow((void **)&a->recipe, room, sizeof *a->recipe) ||
        !mel_grow((void **)&a->length, room, sizeof *a->length))
        return false;
    a->room = room;
    return true;
}

/* A vertex as an atom, unless it is one. */
static mel_status add_vertex(size_t *place, search *s, size_t v, mel_error *err)
{
    atoms *a = &s->at;
    for (size_t i = 0; i < a->n; i++)
        if (a->vertex[i] == v) {
            *place = i;
            return MEL_OK;
        }
    if (!atoms_room(a, s->block_size))
        return mel_fail_memory(err, "a mixture");
    *place = a->n;
    a->block[a->n] = s->vertices->block[v];
    a->weight[a->n] = 0.0;
    a->vertex[a->n] = v;
    a->recipe[a->n] = NULL;
    a->length[a->n] = 0;
    memcpy(a->point + a->n * s->block_size, mel_vertices_shares(s->vertices, v),
           s->block_size * sizeof *a->point);
    a->n++;
    return MEL_OK;
}

/* The last solution under limits as an atom. */
static mel_status add_recipe(size_t *place, search *s, mel_error *err)
{
    atoms *a = &s->at;
    const size_t n = s->vertices->n;
    double *recipe = mel_alloc(n, sizeof *recipe);
    if (recipe == NULL || !atoms_room(a, s->block_size)) {
        free(recipe);
        return mel_fail_memory(err, "a mixture");
    }
    memcpy(recipe, mel_columns_weights(s->limits), n * sizeof *recipe);
    *place = a->n;
    a->block[a->n] = 0;
    a->weight[a->n] = 0.0;
    a->vertex[a->n] = SIZE_MAX;
    a->recipe[a->n] = recipe;
    a->length[a->n] = n;
    mel_vertices_mix(a->point + a->n * s->block_size, s->vertices, n, recipe);
    a->n++;
    return MEL_OK;
}

/* The atoms that are best along the slope, by a linear step. */
static mel_status add_best_atoms(search *s, mel_error *err)
{
    mel_status status = MEL_OK;
    if (s->limits != NULL) {
        status = mel_columns_solve(s->limits, s->slope, &s->columns, err);
        if (status == MEL_OK)
            status = add_recipe(&s->newest[0], s, err);
        s->bound = status == MEL_OK ? mel_columns_bound(s->limits) - s->goal->program.constant : INFINITY;
        return status;
    }
    status = mel_vertices_step(&s->bound, NULL, s->vertices, s->slope, err);
    for (size_t b = 0; b < s->n_blocks && status == MEL_OK; b++)
        status = add_vertex(&s->newest[b], s, s->vertices->newest[b], err);
    return status;
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

/* Of a concave goal: where the slope is 0 within [0, most], by the secant within a bracket. */
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

/* Of any goal: the best of a grid, then nearer; 0 when nothing is better than here. */
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

static const double *point_of(const search *s, size_t atom)
{
    return s->at.point + atom * s->block_size;
}

/* Towards the newest atoms in all blocks at once. */
static void move_all(search *s)
{
    for (size_t b = 0; b < s->n_blocks; b++)
        for (size_t c = 0; c < s->block_size; c++)
            s->way[b * s->block_size + c] = point_of(s, s->newest[b])[c] - s->x[b * s->block_size + c];
    const double t = best_move(s, 1.0);
    for (size_t i = 0; i < s->at.n; i++)
        s->at.weight[i] *= 1.0 - t;
    for (size_t b = 0; b < s->n_blocks; b++)
        s->at.weight[s->newest[b]] += t;
    mel_axpy(s->goal->size, t, s->way, s->x);
}

/* The best atom of a block along the slope and the worst that has weight; what moving between them promises.
 */
static double best_pair(const search *s, size_t block, size_t *best, size_t *worst)
{
    const double *slope = s->slope + block * s->block_size;
    double most = -INFINITY, least = INFINITY;
    for (size_t i = 0; i < s->at.n; i++) {
        if (s->at.block[i] != block)
            continue;
        const double gain = mel_dot(s->block_size, slope, point_of(s, i));
        if (gain > most) {
            most = gain;
            *best = i;
        }
        if (s->at.weight[i] > least_weight && gain < least) {
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
    const double most = s->at.weight[worst], t = best_move(s, most);
    s->at.weight[worst] = t >= most ? 0.0 : most - t;
    s->at.weight[best] += t;
    mel_axpy(s->goal->size, t, s->way, s->x);
    return t > 0.0;
}

/* x from the weights, which rounding moves apart. */
static void recompute(search *s)
{
    memset(s->x, 0, s->goal->size * sizeof *s->x);
    for (size_t i = 0; i < s->at.n; i++)
        if (s->at.weight[i] > 0.0)
            mel_axpy(s->block_size, s->at.weight[i], point_of(s, i), s->x + s->at.block[i] * s->block_size);
}

/* Moves among stored atoms until what they promise is well below the gap. */
static mel_status correct(search *s, double gap, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t turn = 0; turn < INNER_EACH * s->at.n && status == MEL_OK; turn++) {
        double promised = 0.0;
        bool moved = false;
        for (size_t b = 0; b < s->n_blocks && status == MEL_OK; b++) {
            size_t best = 0, worst = 0;
            status = mel_goal_gradient(s->slope, s->goal, s->x, err);
            const double gain = status == MEL_OK ? best_pair(s, b, &best, &worst) : 0.0;
            promised += gain;
            if (status == MEL_OK && gain > 0.0 && best != worst)
                moved = move_pair(s, b, best, worst) || moved;
        }
        if (promised < inner_share * gap || !moved)
            break;
    }
    recompute(s);
    return status;
}

/* --- the method --------------------------------------------------------------------------------- */

static mel_status begin_atoms(search *s, const size_t *start, mel_error *err)
{
    const mel_steps *steps = s->vertices->steps;
    mel_status status = MEL_OK;
    if (s->limits != NULL) {
        for (size_t i = 0; i < s->goal->size; i++)
            s->x[i] = steps->mass[i / s->goal->d] / (double)s->goal->d;
        status = mel_goal_gradient(s->slope, s->goal, s->x, err);
        if (status == MEL_OK)
            status = add_best_atoms(s, err);
        if (status == MEL_OK)
            s->at.weight[s->newest[0]] = 1.0;
    }
    for (size_t b = 0; b < steps->n_blocks && s->limits == NULL && status == MEL_OK; b++)
        for (size_t j = 0; j < (start != NULL ? 1 : steps->n_decisions) && status == MEL_OK; j++) {
            size_t place = 0;
            status = add_vertex(&place, s, start != NULL ? start[b] : b * steps->n_decisions + j, err);
            if (status == MEL_OK)
                s->at.weight[place] += start != NULL ? 1.0 : 1.0 / (double)steps->n_decisions;
        }
    if (status == MEL_OK)
        recompute(s);
    return status;
}

/* How good it is, and the mixture as weights of vertices. */
static mel_status finish(mel_solution *out, const search *s, double gap, mel_error *err)
{
    TRY(mel_solution_init(out, s->goal, s->vertices, err));
    for (size_t i = 0; i < s->at.n; i++) {
        const double weight = s->at.weight[i];
        if (!(weight > least_weight))
            continue;
        const double *recipe = s->at.recipe[i];
        if (recipe == NULL)
            out->weight[s->at.vertex[i]] += weight;
        for (size_t v = 0; recipe != NULL && v < s->at.length[i]; v++)
            out->weight[v] += weight * recipe[v];
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
    mel_status status = begin_atoms(s, start, err);
    const bool stuck = status == MEL_OK && s->limits != NULL && mel_columns_violation(s->limits) > 0.0;
    while (status == MEL_OK && !stuck) {
        status = mel_goal_gradient(s->slope, s->goal, s->x, err);
        if (status == MEL_OK)
            status = add_best_atoms(s, err);
        if (status != MEL_OK)
            break;
        /* The slope at x is still in place: the step does not change it. */
        gap = s->bound - mel_dot(s->goal->size, s->slope, s->x);
        const double now = mel_goal_at(s->goal, s->x);
        if (gap <= s->opt->tolerance || s->vertices->steps->taken - from >= s->opt->most_steps ||
            (s->goal->kind == MEL_SHAPE_LOCAL && now <= value + 1e-12))
            break;
        value = now;
        move_all(s);
        status = correct(s, gap, err);
        if (s->status != MEL_OK)
            status = mel_fail_memory(err, "a slope");
    }
    return status == MEL_OK ? finish(out, s, gap, err) : status;
}

mel_status mel_frank_wolfe(mel_solution *out, const mel_goal *goal, mel_vertices *vertices,
                           const size_t *start, mel_columns *limits, const mel_solve_options *opt,
                           mel_error *err)
{
    search s = { .goal = goal, .vertices = vertices, .limits = limits, .opt = opt };
    mel_solution_clear(out);
    s.n_blocks = limits != NULL ? 1 : vertices->steps->n_blocks;
    s.block_size = goal->size / s.n_blocks;
    s.columns = mel_columns_usual(vertices, opt);
    s.newest = mel_alloc_zero(s.n_blocks, sizeof *s.newest);
    const mel_part parts[] = { { goal->size, { &s.x, &s.slope, &s.way, &s.probe } } };
    if (s.newest == NULL || !mel_parts_new(MEL_PARTS(parts))) {
        free(s.newest);
        return mel_fail_memory(err, "a mixture");
    }
    const mel_status status = run_frank_wolfe(out, &s, start, err);
    atoms_clear(&s.at);
    free(s.newest);
    free(s.x);
    return status;
}
