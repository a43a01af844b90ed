/* One rule in every block instead of a mixture: searched block by block from the mixture and from random
 * starts. */
#include "classify/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 10, SWEEPS = 50, COARSE = 256 };
static const double meets = 1e-9; /* limits that are missed by less hold */

/* How good a choice is: limits come first. */
typedef struct {
    double violation, value;
} worth;

static bool better(worth a, worth b)
{
    if (a.violation <= meets && b.violation <= meets)
        return a.value > b.value + 1e-15 * fabs(b.value);
    return a.violation < b.violation - meets;
}

typedef struct {
    const mel_goal *goal;
    mel_vertices *vertices;
    size_t size; /* of a block */
    double *x, *shares, *rule;
    size_t *choice; /* of each block: a candidate */
    size_t *kept;   /* the best choices so far */
    worth best;
    /* Goals that are a program: the terms that a block has a part in, and what all the others come to. */
    bool by_terms;
    size_t *term, *first; /* those of block b: term[first[b]..first[b + 1]) */
    double rest, rest_smallest, rest_violation;
    /* Limits about one level: between which ends it must be; by level low and high. */
    double *rest_ends, *ends;
} search;

/* Candidates of a block: all thresholds of sorted rows, then every vertex. */
static size_t thresholds(const search *s, size_t block)
{
    return s->vertices->steps->sorted ? mel_sorted_count(s->vertices->steps, block) + 1 : 0;
}

static const double *candidate(search *s, size_t block, size_t c)
{
    const size_t n = thresholds(s, block);
    if (c >= n)
        return mel_vertices_shares(s->vertices, c - n);
    mel_sorted_at(s->shares, s->rule, s->vertices->steps, block, c, false);
    return s->shares;
}

static void put(search *s, size_t block, size_t c)
{
    memcpy(s->x + block * s->size, candidate(s, block, c), s->size * sizeof *s->x);
}

/* Adds a term to what a choice comes to; limits about a level to its ends. */
static void add_term(const search *s, size_t t, double *sum, double *smallest, double *violation,
                     double *ends)
{
    const mel_program *p = &s->goal->program;
    const mel_term *term = &p->term[t];
    const double at = mel_program_term(p, term, s->x);
    if (term->kind == MEL_TERM_ABSOLUTE)
        *sum -= term->weight * fabs(at - term->f);
    else if (term->kind == MEL_TERM_SMALLEST)
        *smallest = fmin(*smallest, at + term->f);
    else if (term->level == MEL_NO_LEVEL)
        *violation += fmax(0.0, at - term->f);
    else {
        const double end = (term->f - at) / term->level_factor;
        double *of = ends + 2 * (size_t)term->level;
        if (term->level_factor < 0.0)
            of[0] = fmax(of[0], end);
        else
            of[1] = fmin(of[1], end);
    }
}

static double linear_part(const search *s, size_t block)
{
    const double *c = s->goal->program.c + block * s->size, *x = s->x + block * s->size;
    double sum = 0.0;
    for (size_t i = 0; i < s->size; i++)
        sum += c[i] * x[i];
    return sum;
}

/* Everything that a block has no part in. */
static void weigh_rest(search *s, size_t block)
{
    const mel_program *p = &s->goal->program;
    size_t at = s->first[block];
    s->rest = p->constant;
    s->rest_smallest = INFINITY;
    s->rest_violation = 0.0;
    for (size_t l = 0; l < p->n_levels; l++) {
        s->rest_ends[2 * l] = 0.0;
        s->rest_ends[2 * l + 1] = INFINITY;
    }
    for (size_t b = 0; b < s->vertices->steps->n_blocks; b++)
        s->rest += b != block ? linear_part(s, b) : 0.0;
    for (size_t t = 0; t < p->n_terms; t++)
        if (at < s->first[block + 1] && s->term[at] == t)
            at++;
        else
            add_term(s, t, &s->rest, &s->rest_smallest, &s->rest_violation, s->rest_ends);
}

static worth weigh(const search *s, size_t block)
{
    if (!s->by_terms)
        return (worth){ mel_goal_violation(s->goal, s->x), mel_goal_at(s->goal, s->x) };
    double sum = s->rest + linear_part(s, block), smallest = s->rest_smallest, violation = s->rest_violation;
    const size_t n_levels = s->goal->program.n_levels;
    memcpy(s->ends, s->rest_ends, 2 * n_levels * sizeof *s->ends);
    for (size_t i = s->first[block]; i < s->first[block + 1]; i++)
        add_term(s, s->term[i], &sum, &smallest, &violation, s->ends);
    for (size_t l = 0; l < n_levels; l++)
        violation += fmax(0.0, s->ends[2 * l] - s->ends[2 * l + 1]);
    return (worth){ violation, isfinite(smallest) ? sum + s->goal->program.smallest_weight * smallest : sum };
}

/* The terms of each block. */
static mel_status sort_terms(search *s, mel_error *err)
{
    const mel_program *p = &s->goal->program;
    const size_t n_blocks = s->vertices->steps->n_blocks;
    const mel_goal_kind kind = s->goal->kind;
    s->by_terms = kind == MEL_GOAL_LINEAR || kind == MEL_GOAL_KINKED;
    s->first = mel_alloc_zero(n_blocks + 1, sizeof *s->first);
    s->term = mel_alloc(p->n_entries + 1, sizeof *s->term); /* an entry is of one block */
    if (s->first == NULL || s->term == NULL)
        return mel_fail_memory(err, "a rule");
    size_t n = 0;
    for (size_t b = 0; b < n_blocks; b++) {
        s->first[b] = n;
        for (size_t t = 0; t < p->n_terms; t++) {
            bool touches = false;
            for (size_t e = p->term[t].first; e < p->term[t].first + p->term[t].n; e++)
                touches = touches || p->at[e] / s->size == b;
            if (touches)
                s->term[n++] = t;
        }
    }
    s->first[n_blocks] = n;
    return MEL_OK;
}

static void try_one(search *s, size_t block, size_t c, worth *best, size_t *at)
{
    put(s, block, c);
    const worth now = weigh(s, block);
    if (better(now, *best)) {
        *best = now;
        *at = c;
    }
}

/* All thresholds where there are few, else some of them and then those around the best. */
static void try_thresholds(search *s, size_t block, worth *best, size_t *at)
{
    const size_t n = thresholds(s, block);
    size_t stride = n / COARSE + 1;
    for (size_t c = 0; c < n; c += stride)
        try_one(s, block, c, best, at);
    while (stride > 1 && *at < n) {
        const size_t near = *at, finer = stride / 8 + (stride < 8);
        const size_t from = near > stride ? near - stride : 0, to = near + stride < n ? near + stride : n - 1;
        for (size_t c = from; c <= to; c += finer)
            try_one(s, block, c, best, at);
        stride = finer;
    }
}

static bool improve_block(search *s, size_t block, worth *best)
{
    const worth before = *best;
    const size_t n = thresholds(s, block);
    size_t at = s->choice[block];
    if (s->by_terms)
        weigh_rest(s, block);
    try_thresholds(s, block, best, &at);
    for (size_t v = 0; v < s->vertices->n; v++)
        if (s->vertices->block[v] == block)
            try_one(s, block, n + v, best, &at);
    s->choice[block] = at;
    put(s, block, at);
    return better(*best, before);
}

static mel_status descend(search *s, mel_error *err)
{
    const size_t n_blocks = s->vertices->steps->n_blocks;
    for (size_t b = 0; b < n_blocks; b++)
        put(s, b, s->choice[b]);
    if (s->by_terms)
        weigh_rest(s, 0);
    worth best = weigh(s, 0);
    bool moved = true;
    mel_status status = MEL_OK;
    for (size_t sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = false;
        for (size_t b = 0; b < n_blocks && status == MEL_OK; b++) {
            moved = improve_block(s, b, &best) || moved;
            status = mel_steps_report(s->vertices->steps, err);
        }
        if (status != MEL_OK)
            return status;
    }
    if (better(best, s->best)) {
        s->best = best;
        memcpy(s->kept, s->choice, n_blocks * sizeof *s->kept);
    }
    return MEL_OK;
}

/* A vertex of every block, drawn by its weight in the mixture; first: the heaviest. */
static void start(search *s, const mel_solution *mixture, bool first, mel_rng *rng)
{
    for (size_t b = 0; b < s->vertices->steps->n_blocks; b++) {
        double most = -1.0, left = mel_rng_uniform(rng);
        size_t at = 0;
        for (size_t v = 0; v < mixture->n; v++) {
            if (s->vertices->block[v] != b || !(mixture->weight[v] > 0.0))
                continue;
            const double weight = mixture->weight[v];
            if (first ? weight > most : most < 0.0 || left > 0.0)
                at = v;
            most = fmax(most, weight);
            left -= weight;
        }
        s->choice[b] = thresholds(s, b) + at;
    }
}

/* The chosen rules as vertices, and the solution as their mixture. */
static mel_status take(mel_solution *solution, search *s, mel_error *err)
{
    mel_status status = MEL_OK;
    const size_t n_blocks = s->vertices->steps->n_blocks;
    for (size_t b = 0; b < n_blocks && status == MEL_OK; b++) {
        const size_t n = thresholds(s, b), c = s->kept[b];
        s->choice[b] = c - (c >= n ? n : 0);
        put(s, b, c);
        if (c < n) {
            mel_sorted_at(s->shares, s->rule, s->vertices->steps, b, c, false);
            status = mel_vertices_add(&s->choice[b], s->vertices, b, s->shares, s->rule, err);
        }
    }
    if (status == MEL_OK)
        status = mel_solution_fit(solution, s->vertices, err);
    if (status != MEL_OK)
        return status;
    memset(solution->weight, 0, solution->n * sizeof *solution->weight);
    for (size_t b = 0; b < n_blocks; b++)
        solution->weight[s->choice[b]] = 1.0;
    memcpy(solution->x, s->x, s->goal->size * sizeof *s->x);
    solution->value = s->best.value;
    return MEL_OK;
}

static mel_status look(bool *found, mel_solution *solution, search *s, const mel_solve_options *opt,
                       mel_error *err)
{
    mel_rng rng;
    mel_rng_seed(&rng, opt->seed);
    s->best = (worth){ INFINITY, -INFINITY };
    const double enough = solution->value - opt->tolerance;
    for (size_t turn = 0; turn <= STARTS && !(s->best.violation <= meets && s->best.value >= enough);
         turn++) {
        start(s, solution, turn == 0, &rng);
        const mel_status status = descend(s, err);
        if (status != MEL_OK)
            return status;
    }
    *found = s->best.violation <= fmax(meets, solution->violation + meets);
    return *found ? take(solution, s, err) : MEL_OK;
}

mel_status mel_solve_single(bool *found, mel_solution *solution, const mel_goal *goal, mel_vertices *vertices,
                            const mel_solve_options *opt, mel_error *err)
{
    const size_t n_blocks = vertices->steps->n_blocks;
    search s = { .goal = goal, .vertices = vertices, .size = mel_steps_block_size(vertices->steps) };
    s.choice = mel_alloc(2 * n_blocks, sizeof *s.choice);
    s.kept = s.choice != NULL ? s.choice + n_blocks : NULL;
    const mel_part parts[] = { { goal->size, { &s.x } },
                               { s.size, { &s.shares } },
                               { 2 * goal->program.n_levels + 1, { &s.rest_ends, &s.ends } },
                               { mel_steps_rule_size(vertices->steps), { &s.rule } } };
    if (s.choice == NULL || !mel_parts_new(MEL_PARTS(parts))) {
        free(s.choice);
        return mel_fail_memory(err, "a rule");
    }
    mel_status status = sort_terms(&s, err);
    if (status == MEL_OK)
        status = look(found, solution, &s, opt, err);
    free(s.choice);
    free(s.first);
    free(s.term);
    free(s.x);
    return status;
}
