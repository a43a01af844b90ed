/* Column generation: a linear program over the rules found so far, and the rule that its prices ask for. */
#include "classify/goal.h"
#include "classify/solve.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of descent: one for each multiplier, but not more than that; so many multipliers are few. */
enum { MOST_DESCENT_STEPS = 20 };
/* Weight of the best prices so far: of few multipliers the program knows its own sooner. */
static const double damping = 0.9, damping_of_few = 0.7;
static const double smallest_gap = 1e-8;
static const double met = 1e-9; /* limits that are missed by less hold */

struct mel_columns {
    const mel_program *program;
    mel_vertices *vertices;
    mel_simplex *lp;
    size_t *column; /* of each vertex that is in the program */
    size_t n_vertices, room;
    size_t *slack, *excess; /* of each term: what it falls short of f, and what it is above */
    size_t smallest[2];     /* the smallest term as a difference of two numbers */
    double *none;           /* zeros: what is maximised while only violations count */
    size_t n_terms;
    const double *c;  /* what is maximised now */
    bool first_phase; /* only violations count */
    bool begun;
    double value, bound, violation;
    double *best; /* prices with the best bound */
    double *price, *gain, *weight, *entry;
    size_t *row;
    size_t weight_room;
};

void mel_columns_free(mel_columns *s)
{
    if (s == NULL)
        return;
    mel_simplex_free(s->lp);
    free(s->column);
    free(s->excess);
    free(s->slack);
    free(s->best);
    free(s->weight);
    free(s->row);
    free(s);
}

/* --- the linear program ------------------------------------------------------------------------- */

static size_t equations(const mel_columns *s)
{
    return s->n_terms + s->vertices->steps->n_blocks;
}

static mel_status add_unit(size_t *column, mel_columns *s, size_t row, double value, mel_error *err)
{
    return mel_simplex_add(column, s->lp, 0.0, 1, &row, &value, err);
}

static const double *maximised(const mel_columns *s)
{
    return s->first_phase ? s->none : s->c;
}

static double vertex_cost(const mel_columns *s, size_t v)
{
    const size_t size = mel_steps_block_size(s->vertices->steps);
    return mel_dot(size, maximised(s) + s->vertices->block[v] * size, mel_vertices_shares(s->vertices, v));
}

/* Adds the vertices that the program does not have yet. */
static mel_status add_vertices(mel_columns *s, mel_error *err)
{
    const mel_program *p = s->program;
    const size_t size = mel_steps_block_size(s->vertices->steps);
    if (s->vertices->n > s->room) {
        const size_t room = s->vertices->room;
        if (!mel_grow((void **)&s->column, room, sizeof *s->column))
            return mel_fail_memory(err, "a linear program");
        s->room = room;
    }
    for (size_t v = s->n_vertices; v < s->vertices->n; v++, s->n_vertices++) {
        const size_t from = s->vertices->block[v] * size;
        const double *shares = mel_vertices_shares(s->vertices, v);
        size_t n = 0;
        for (size_t t = 0; t < s->n_terms; t++) {
            double sum = 0.0;
            for (size_t e = p->term[t].first; e < p->term[t].first + p->term[t].n; e++)
                if (p->at[e] >= from && p->at[e] < from + size)
                    sum += p->a[e] * shares[p->at[e] - from];
            if (sum == 0.0)
                continue;
            s->row[n] = t;
            s->entry[n++] = p->term[t].kind == MEL_TERM_SMALLEST ? -sum : sum;
        }
        s->row[n] = s->n_terms + s->vertices->block[v];
        s->entry[n++] = 1.0;
        TRY(mel_simplex_add(&s->column[v], s->lp, vertex_cost(s, v), n, s->row, s->entry, err));
    }
    return MEL_OK;
}

/* What the smallest term is called: t, as the difference of two numbers that are not negative. */
static mel_status add_smallest(mel_columns *s, mel_error *err)
{
    size_t n = 0;
    for (size_t t = 0; t < s->n_terms; t++)
        if (s->program->term[t].kind == MEL_TERM_SMALLEST)
            s->row[n++] = t;
    for (size_t side = 0; side < 2 && n > 0; side++) {
        for (size_t i = 0; i < n; i++)
            s->entry[i] = side == 0 ? 1.0 : -1.0;
        TRY(mel_simplex_add(&s->smallest[side], s->lp, 0.0, n, s->row, s->entry, err));
    }
    if (n > 0)
        mel_simplex_pair(s->lp, s->smallest[0], s->smallest[1]);
    return MEL_OK;
}

static mel_status add_levels(mel_columns *s, mel_error *err)
{
    for (size_t l = 0; l < s->program->n_levels; l++) {
        size_t n = 0, column = 0;
        for (size_t t = 0; t < s->n_terms; t++)
            if (s->program->term[t].level == (long)l) {
                s->row[n] = t;
                s->entry[n++] = s->program->term[t].level_factor;
            }
        TRY(mel_simplex_add(&column, s->lp, 0.0, n, s->row, s->entry, err));
    }
    return MEL_OK;
}

/* The first basis: the first decision in every block, and what makes each equation hold with it. */
static mel_status begin_terms(mel_columns *s, mel_error *err)
{
    size_t tightest = s->n_terms;
    for (size_t t = 0; t < s->n_terms; t++)
        if (s->program->term[t].kind == MEL_TERM_SMALLEST &&
            (tightest == s->n_terms || mel_simplex_left(s->lp, t) < mel_simplex_left(s->lp, tightest)))
            tightest = t;
    if (tightest < s->n_terms)
        mel_simplex_begin(s->lp, tightest, s->smallest[mel_simplex_left(s->lp, tightest) >= 0.0 ? 0 : 1]);
    for (size_t t = 0; t < s->n_terms; t++) {
        const mel_term *term = &s->program->term[t];
        const double left = mel_simplex_left(s->lp, t);
        const bool both = term->kind != MEL_TERM_SMALLEST;
        TRY(add_unit(&s->slack[t], s, t, 1.0, err));
        if (both)
            TRY(add_unit(&s->excess[t], s, t, -1.0, err));
        if (term->kind == MEL_TERM_ABSOLUTE)
            mel_simplex_pair(s->lp, s->slack[t], s->excess[t]);
        if (t != tightest)
            mel_simplex_begin(s->lp, t, left < 0.0 && both ? s->excess[t] : s->slack[t]);
    }
    return MEL_OK;
}

/* Differences that are all 0 at once make the simplex method linger: the program sees them a little apart.
 * Values and bounds are those of the true terms. */
static double nudge(const mel_term *term, size_t t)
{
    static const double golden = 0.6180339887498949;
    const double place = (double)(t + 1) * golden;
    return term->kind == MEL_TERM_LIMIT ? 0.0 : smallest_gap * (0.5 + place - floor(place));
}

static mel_status begin_columns(mel_columns *s, mel_error *err)
{
    const size_t n = equations(s);
    for (size_t t = 0; t < s->n_terms; t++)
        s->gain[t] = s->program->term[t].f + nudge(&s->program->term[t], t);
    for (size_t b = s->n_terms; b < n; b++)
        s->gain[b] = 1.0;
    TRY(mel_simplex_new(&s->lp, n, s->gain, err));
    TRY(add_vertices(s, err));
    TRY(add_smallest(s, err));
    TRY(add_levels(s, err));
    for (size_t b = 0; b < s->vertices->steps->n_blocks; b++)
        mel_simplex_begin(s->lp, s->n_terms + b, s->column[b * s->vertices->steps->n_decisions]);
    return begin_terms(s, err);
}

mel_status mel_columns_new(mel_columns **out, const mel_program *program, mel_vertices *vertices,
                           mel_error *err)
{
    mel_columns *s = mel_alloc_zero(1, sizeof *s);
    *out = s;
    if (s == NULL)
        return mel_fail_memory(err, "a linear program");
    *s = (mel_columns){ .program = program, .vertices = vertices, .n_terms = program->n_terms };
    const size_t n = equations(s);
    s->row = mel_alloc(n + 1, sizeof *s->row);
    s->excess = mel_alloc_zero(n + 1, sizeof *s->excess);
    s->slack = mel_alloc_zero(n + 1, sizeof *s->slack);
    const mel_part parts[] = { { n + 1, { &s->best, &s->price, &s->entry } },
                               { program->size + n, { &s->gain, &s->none } } };
    if (s->row == NULL || s->excess == NULL || s->slack == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a linear program");
    return MEL_OK;
}

/* --- solving ------------------------------------------------------------------------------------ */

/* Costs of everything in this phase. */
static void set_costs(mel_columns *s)
{
    bool smallest = false;
    for (size_t v = 0; v < s->n_vertices; v++)
        mel_simplex_set_cost(s->lp, s->column[v], vertex_cost(s, v));
    for (size_t t = 0; t < s->n_terms; t++) {
        const mel_term *term = &s->program->term[t];
        smallest = smallest || term->kind == MEL_TERM_SMALLEST;
        if (term->kind == MEL_TERM_LIMIT)
            mel_simplex_set_cost(s->lp, s->excess[t], s->first_phase ? -1.0 : 0.0);
        if (term->kind != MEL_TERM_ABSOLUTE)
            continue;
        mel_simplex_set_cost(s->lp, s->slack[t], s->first_phase ? 0.0 : -term->weight);
        mel_simplex_set_cost(s->lp, s->excess[t], s->first_phase ? 0.0 : -term->weight);
    }
    for (size_t side = 0; side < 2 && smallest; side++)
        mel_simplex_set_cost(s->lp, s->smallest[side],
                             s->first_phase ? 0.0 : (side == 0 ? 1.0 : -1.0) * s->program->smallest_weight);
}

static double rhs_worth(const mel_columns *s, const double *price)
{
    double sum = 0.0;
    for (size_t t = 0; t < s->n_terms; t++)
        sum += price[t] * s->program->term[t].f;
    return sum;
}

/* A step at these prices; the bound that it proves. */
static mel_status step_at(double *bound, size_t *fresh, mel_columns *s, const double *price, mel_error *err)
{
    double value = 0.0;
    mel_program_gains(s->gain, s->program, maximised(s), price);
    TRY(mel_vertices_step(&value, fresh, s->vertices, s->gain, err));
    *bound = value + rhs_worth(s, price);
    return MEL_OK;
}

/* One solution of the linear program and one step. Done when nothing new comes of it. */
static mel_status turn(bool *done, mel_columns *s, const mel_columns_options *opt, bool damped,
                       mel_error *err)
{
    TRY(add_vertices(s, err));
    TRY(mel_simplex_solve(s->lp, err));
    s->value = mel_simplex_objective(s->lp);
    *done = s->bound - s->value <= opt->tolerance;
    if (*done)
        return MEL_OK;
    const double *price = mel_simplex_prices(s->lp);
    const double old = !damped || !isfinite(s->bound)     ? 0.0
                       : s->n_terms <= MOST_DESCENT_STEPS ? damping_of_few
                                                          : damping;
    for (size_t t = 0; t < s->n_terms; t++)
        s->price[t] = old > 0.0 ? old * s->best[t] + (1.0 - old) * price[t] : price[t];
    double bound = 0.0;
    size_t fresh = 0;
    TRY(step_at(&bound, &fresh, s, s->price, err));
    if (bound < s->bound) {
        s->bound = bound;
        memcpy(s->best, s->price, s->n_terms * sizeof *s->best);
    }
    *done = s->bound - s->value <= opt->tolerance || (!damped && fresh == 0);
    return MEL_OK;
}

static mel_status run_columns(mel_columns *s, const mel_columns_options *opt, mel_error *err)
{
    const uint64_t from = s->vertices->steps->taken;
    bool done = false, damped = opt->costly;
    while (!done && s->vertices->steps->taken - from < opt->most_steps) {
        const size_t before = s->vertices->n;
        const double bound = s->bound;
        TRY(turn(&done, s, opt, damped, err));
        /* Damped prices that bring nothing give way to the program's own for once. */
        damped = opt->costly && (s->vertices->n > before || s->bound < bound) ? true : !damped && opt->costly;
    }
    if (s->n_vertices == s->vertices->n)
        return MEL_OK;
    TRY(add_vertices(s, err));
    TRY(mel_simplex_solve(s->lp, err));
    s->value = mel_simplex_objective(s->lp);
    return MEL_OK;
}

static double total_violation(const mel_columns *s)
{
    double sum = 0.0;
    for (size_t t = 0; t < s->n_terms; t++)
        if (s->program->term[t].kind == MEL_TERM_LIMIT)
            sum += mel_simplex_value(s->lp, s->excess[t]);
    return sum;
}

/* The smallest violation of the limits; they are met for good, or as nearly as can be. */
static mel_status meet_limits(mel_columns *s, const mel_columns_options *opt, mel_error *err)
{
    s->first_phase = true;
    set_costs(s);
    s->bound = INFINITY;
    mel_columns_options own = *opt;
    own.costly = false;
    own.tolerance = met;
    const mel_status status = run_columns(s, &own, err);
    s->first_phase = false;
    TRY(status);
    s->violation = total_violation(s);
    if (s->violation <= met * (double)(s->n_terms + 1))
        s->violation = 0.0;
    for (size_t t = 0; t < s->n_terms && s->violation == 0.0; t++)
        if (s->program->term[t].kind == MEL_TERM_LIMIT)
            mel_simplex_forbid(s->lp, s->excess[t]);
    return MEL_OK;
}

static mel_status take_weights(mel_columns *s, mel_error *err)
{
    if (s->weight_room < s->vertices->n) {
        if (!mel_grow((void **)&s->weight, s->vertices->room, sizeof *s->weight))
            return mel_fail_memory(err, "a mixture");
        s->weight_room = s->vertices->room;
    }
    memset(s->weight, 0, s->vertices->n * sizeof *s->weight);
    for (size_t v = 0; v < s->n_vertices; v++)
        s->weight[v] = mel_simplex_value(s->lp, s->column[v]);
    memcpy(s->price, mel_simplex_prices(s->lp), s->n_terms * sizeof *s->price);
    return MEL_OK;
}

mel_status mel_columns_solve(mel_columns *s, const double *c, const mel_columns_options *opt, mel_error *err)
{
    s->c = c != NULL ? c : s->program->c;
    if (!s->begun) {
        TRY(begin_columns(s, err));
        if (mel_program_has_limits(s->program))
            TRY(meet_limits(s, opt, err));
        s->begun = true;
    }
    if (s->violation == 0.0) {
        s->bound = INFINITY;
        if (opt->costly && s->n_terms > 0 && s->program->n_levels == 0)
            TRY(mel_dual_descend(s->best, &s->bound, s->program, s->c, s->vertices,
                                 s->n_terms < MOST_DESCENT_STEPS ? (unsigned)s->n_terms : MOST_DESCENT_STEPS,
                                 err));
        set_costs(s);
        TRY(run_columns(s, opt, err));
    }
    return take_weights(s, err);
}

double mel_columns_bound(const mel_columns *s)
{
    return s->bound + s->program->constant;
}

double mel_columns_violation(const mel_columns *s)
{
    return s->violation;
}

const double *mel_columns_weights(const mel_columns *s)
{
    return s->weight;
}

const double *mel_columns_prices(const mel_columns *s)
{
    return s->price;
}
