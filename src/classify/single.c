/* One rule in every block instead of a mixture: all thresholds of one block, all pairs of two (pairs.c), and
 * block by block from the mixture, from blocks that are alike and from random starts. Rows that are not
 * sorted have no thresholds: rules between those of the mixture take their place. */
#include "classify/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 10, SWEEPS = 50, COARSE = 256, LEVELS = 48, ALIKE = 6, BETWEEN = 15 };
static const double meets = 1e-9; /* limits that are missed by less hold */

bool mel_single_better(const mel_single *s, mel_worth a, mel_worth b)
{
    if (s->penalty > 0.0 && isfinite(b.violation))
        return a.value - s->penalty * a.violation >
               b.value - s->penalty * b.violation + 1e-12 * fabs(b.value);
    if (a.violation <= s->meets && b.violation <= s->meets)
        return a.value > b.value + 1e-15 * fabs(b.value);
    return a.violation < b.violation - meets;
}

size_t mel_single_thresholds(const mel_single *s, size_t block)
{
    return s->vertices->steps->sorted ? mel_sorted_count(s->vertices->steps, block) + 1 : 0;
}

static const double *candidate(mel_single *s, size_t block, size_t c)
{
    const size_t n = mel_single_thresholds(s, block);
    if (c >= n)
        return mel_vertices_shares(s->vertices, c - n);
    mel_sorted_at(s->shares, s->rule, s->vertices->steps, block, c, false);
    return s->shares;
}

void mel_single_put(mel_single *s, size_t block, size_t c)
{
    memcpy(s->x + block * s->size, candidate(s, block, c), s->size * sizeof *s->x);
}

/* fmax() and fmin() are calls, which these loops feel. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

void mel_account_begin(mel_account *tally, size_t n_levels, double sum)
{
    tally->sum = sum;
    tally->smallest = INFINITY;
    tally->violation = 0.0;
    for (size_t l = 0; l < n_levels; l++) {
        tally->ends[2 * l] = 0.0;
        tally->ends[2 * l + 1] = INFINITY;
    }
}

void mel_account_copy(mel_account *to, const mel_account *from, size_t n_levels)
{
    double *ends = to->ends;
    *to = *from;
    to->ends = ends;
    memcpy(ends, from->ends, 2 * n_levels * sizeof *ends);
}

void mel_account_add(mel_account *tally, const mel_term *term, double low, double high)
{
    if (term->kind == MEL_TERM_ABSOLUTE)
        tally->sum -= term->weight * larger(0.0, larger(low - term->f, term->f - high));
    else if (term->kind == MEL_TERM_SMALLEST)
        tally->smallest = smaller(tally->smallest, high + term->f);
    else if (term->level == MEL_NO_LEVEL)
        tally->violation += larger(0.0, low - term->f);
    else {
        const double end = (term->f - low) / term->level_factor;
        double *of = tally->ends + 2 * (size_t)term->level;
        if (term->level_factor < 0.0)
            of[0] = larger(of[0], end);
        else
            of[1] = smaller(of[1], end);
    }
}

mel_worth mel_account_worth(const mel_account *tally, const mel_program *program)
{
    double violation = tally->violation, value = tally->sum;
    for (size_t l = 0; l < program->n_levels; l++)
        violation += larger(0.0, tally->ends[2 * l] - tally->ends[2 * l + 1]);
    if (isfinite(tally->smallest))
        value += program->smallest_weight * tally->smallest;
    return (mel_worth){ violation, value };
}

static double linear_part(const mel_single *s, size_t block)
{
    const double *c = s->goal->program.c + block * s->size, *x = s->x + block * s->size;
    double sum = 0.0;
    for (size_t i = 0; i < s->size; i++)
        sum += c[i] * x[i];
    return sum;
}

static void add_term(mel_account *tally, const mel_single *s, size_t t)
{
    const mel_program *p = &s->goal->program;
    const double at = mel_program_term(p, &p->term[t], s->x);
    mel_account_add(tally, &p->term[t], at, at);
}

/* Everything that a block has no part in. */
static void weigh_rest(mel_single *s, size_t block)
{
    const mel_program *p = &s->goal->program;
    size_t at = s->first[block];
    mel_account_begin(&s->rest, p->n_levels, p->constant);
    for (size_t b = 0; b < s->vertices->steps->n_blocks; b++)
        s->rest.sum += b != block ? linear_part(s, b) : 0.0;
    for (size_t t = 0; t < p->n_terms; t++)
        if (at < s->first[block + 1] && s->term[at] == t)
            at++;
        else
            add_term(&s->rest, s, t);
}

static mel_worth weigh_choice(mel_single *s, size_t block)
{
    if (!s->by_terms)
        return (mel_worth){ mel_goal_violation(s->goal, s->x), mel_goal_at(s->goal, s->x) };
    mel_account_copy(&s->tally, &s->rest, s->goal->program.n_levels);
    s->tally.sum += linear_part(s, block);
    for (size_t i = s->first[block]; i < s->first[block + 1]; i++)
        add_term(&s->tally, s, s->term[i]);
    return mel_account_worth(&s->tally, &s->goal->program);
}

/* What all of x is worth. */
static mel_worth weigh_all(mel_single *s)
{
    if (s->by_terms)
        weigh_rest(s, 0);
    return weigh_choice(s, 0);
}

/* The terms of each block. */
static void sort_terms(mel_single *s)
{
    const mel_program *p = &s->goal->program;
    const size_t n_blocks = s->vertices->steps->n_blocks;
    const mel_shape kind = s->goal->kind;
    size_t n = 0;
    s->by_terms = kind == MEL_SHAPE_LINEAR || kind == MEL_SHAPE_KINKED;
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
}

static void try_one(mel_single *s, size_t block, size_t c, mel_worth *best, size_t *at)
{
    mel_single_put(s, block, c);
    const mel_worth now = weigh_choice(s, block);
    if (mel_single_better(s, now, *best)) {
        *best = now;
        *at = c;
    }
}

/* All thresholds of one block or where there are few, else some of them and then those around the best. */
static void try_thresholds(mel_single *s, size_t block, mel_worth *best, size_t *at)
{
    const size_t n = mel_single_thresholds(s, block);
    size_t stride = s->vertices->steps->n_blocks > 1 ? n / COARSE + 1 : 1;
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

static bool improve_block(mel_single *s, size_t block, mel_worth *best)
{
    const mel_worth before = *best;
    const size_t n = mel_single_thresholds(s, block);
    size_t at = s->choice[block];
    if (s->by_terms)
        weigh_rest(s, block);
    try_thresholds(s, block, best, &at);
    for (size_t v = 0; v < s->vertices->n; v++)
        if (s->vertices->block[v] == block)
            try_one(s, block, n + v, best, &at);
    s->choice[block] = at;
    mel_single_put(s, block, at);
    return mel_single_better(s, *best, before);
}

static mel_status sweep_blocks(mel_single *s, mel_worth *best, mel_error *err)
{
    bool moved = true;
    for (size_t sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = false;
        for (size_t b = 0; b < s->vertices->steps->n_blocks; b++) {
            moved = improve_block(s, b, best) || moved;
            TRY(mel_steps_report(s->vertices->steps, err));
        }
    }
    return MEL_OK;
}

/* With a price on what the limits are missed by, then without: they come first. */
static mel_status sweep_twice(mel_single *s, double price, mel_error *err)
{
    const size_t n_blocks = s->vertices->steps->n_blocks;
    for (size_t b = 0; b < n_blocks; b++)
        mel_single_put(s, b, s->choice[b]);
    mel_worth best = weigh_all(s);
    s->penalty = price;
    if (price > 0.0)
        TRY(sweep_blocks(s, &best, err));
    s->penalty = 0.0;
    TRY(sweep_blocks(s, &best, err));
    if (mel_single_better(s, best, s->best)) {
        s->best = best;
        memcpy(s->kept, s->choice, n_blocks * sizeof *s->kept);
    }
    return MEL_OK;
}

/* A vertex of every block, drawn by its weight in the mixture; first: the heaviest. */
static void start(mel_single *s, const mel_solution *mixture, bool first, mel_rng *rng)
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
        s->choice[b] = mel_single_thresholds(s, b) + at;
    }
}

/* The threshold of a block that decides on the second class for a share of its rows of one class (2: of
 * both). */
static size_t threshold_at(mel_single *s, size_t block, size_t of, double share)
{
    size_t low = 0, high = mel_single_thresholds(s, block) - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const double *x = candidate(s, block, middle);
        double above = 0.0, all = 0.0;
        for (size_t i = of == 2 ? 0 : of; i <= (of == 2 ? 1 : of); i++) {
            above += x[2 * i + 1];
            all += x[2 * i] + x[2 * i + 1];
        }
        if (above < share * all)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void choose_alike(mel_single *s, size_t of, double share)
{
    for (size_t b = 0; b < s->vertices->steps->n_blocks; b++) {
        s->choice[b] = threshold_at(s, b, of, share);
        mel_single_put(s, b, s->choice[b]);
    }
}

/* All blocks alike, which limits on differences like: the best of several shares, never to always. */
static void start_alike(mel_single *s, size_t of, double price)
{
    mel_worth best = { INFINITY, -INFINITY };
    size_t level = 0;
    s->penalty = price;
    for (size_t l = 0; l <= LEVELS; l++) {
        choose_alike(s, of, (double)l / LEVELS);
        const mel_worth now = weigh_all(s);
        if (mel_single_better(s, now, best)) {
            best = now;
            level = l;
        }
    }
    s->penalty = 0.0;
    choose_alike(s, of, (double)level / LEVELS);
}

/* The chosen rules as vertices, and the solution as their mixture. */
static mel_status take(mel_solution *solution, mel_single *s, mel_error *err)
{
    const size_t n_blocks = s->vertices->steps->n_blocks;
    for (size_t b = 0; b < n_blocks; b++) {
        const size_t n = mel_single_thresholds(s, b), c = s->kept[b];
        s->choice[b] = c - (c >= n ? n : 0);
        mel_single_put(s, b, c);
        if (c < n) {
            mel_sorted_at(s->shares, s->rule, s->vertices->steps, b, c, false);
            TRY(mel_vertices_add(&s->choice[b], s->vertices, b, s->shares, s->rule, err));
        }
    }
    TRY(mel_solution_fit(solution, s->vertices, err));
    memset(solution->weight, 0, solution->n * sizeof *solution->weight);
    for (size_t b = 0; b < n_blocks; b++)
        solution->weight[s->choice[b]] = 1.0;
    memcpy(solution->x, s->x, s->goal->size * sizeof *s->x);
    solution->value = s->best.value;
    return MEL_OK;
}

/* More than missing a limit can gain. */
static double price_of_limits(const mel_single *s, const mel_solution *mixture)
{
    double most = 0.0;
    for (size_t t = 0; t < s->goal->program.n_terms && mixture->price != NULL; t++)
        if (s->goal->program.term[t].kind == MEL_TERM_LIMIT)
            most = fmax(most, fabs(mixture->price[t]));
    return 2.0 * most;
}

/* A search from where its turn says; every other one has a price on missed limits first. */
static mel_status search_from(mel_single *s, const mel_solution *mixture, size_t turn, double price,
                              mel_rng *rng, mel_error *err)
{
    const double own = turn % 2 == 1 ? price : 0.0;
    if (s->vertices->steps->sorted && s->size == 4 && turn > 0 && turn <= ALIKE)
        start_alike(s, (turn - 1) / 2, own);
    else
        start(s, mixture, turn == 0, rng);
    return sweep_twice(s, own, err);
}

static size_t heaviest(const mel_single *s, const mel_solution *mixture, size_t block)
{
    size_t best = SIZE_MAX;
    for (size_t v = 0; v < mixture->n; v++)
        if (s->vertices->block[v] == block &&
            (best == SIZE_MAX || mixture->weight[v] > mixture->weight[best]))
            best = v;
    return best;
}

/* Vertices on the way from one rule of a block to another. */
static mel_status add_between(mel_single *s, size_t from, size_t to, mel_error *err)
{
    mel_vertices *all = s->vertices;
    const size_t block = all->block[from];
    for (size_t i = 1; i <= BETWEEN; i++) {
        const double *a = mel_vertices_rule(all, from), *b = mel_vertices_rule(all, to);
        const double share = (double)i / (BETWEEN + 1);
        size_t place = 0;
        for (size_t c = 0; c < mel_steps_rule_size(all->steps); c++)
            s->rule[c] = (1.0 - share) * a[c] + share * b[c];
        all->steps->ops->measure(s->shares, all->steps, block, s->rule);
        TRY(mel_vertices_add(&place, all, block, s->shares, s->rule, err));
        TRY(mel_steps_report(all->steps, err));
    }
    return MEL_OK;
}

static mel_status add_candidates(mel_single *s, const mel_solution *mixture, mel_error *err)
{
    for (size_t v = 0; v < mixture->n; v++) {
        const size_t most = heaviest(s, mixture, s->vertices->block[v]);
        if (v != most && mixture->weight[v] > 1e-12)
            TRY(add_between(s, most, v, err));
    }
    return MEL_OK;
}

static mel_status look(bool *found, mel_solution *solution, mel_single *s, const mel_solve_options *opt,
                       mel_error *err)
{
    mel_rng rng;
    mel_rng_seed(&rng, opt->seed);
    s->best = (mel_worth){ INFINITY, -INFINITY };
    s->meets = meets + fmax(0.0, solution->violation);
    const size_t turns = s->vertices->steps->n_blocks > 1 ? STARTS + ALIKE + 1 : 1;
    const double price = price_of_limits(s, solution),
                 enough = s->goal->kind != MEL_SHAPE_LOCAL ? solution->value - opt->tolerance : INFINITY;
    for (size_t turn = 0; turn < turns && !(s->best.violation <= s->meets && s->best.value >= enough);
         turn++) {
        if (turn > 0 && turn <= ALIKE && turn % 2 == 1 && price == 0.0)
            continue; /* the next one is the same */
        TRY(search_from(s, solution, turn, price, &rng, err));
    }
    if (turns > 1 && s->vertices->steps->sorted)
        TRY(mel_single_pairs(s, solution, err));
    *found = s->best.violation <= s->meets;
    return *found ? take(solution, s, err) : MEL_OK;
}

mel_status mel_solve_single(bool *found, mel_solution *solution, const mel_goal *goal, mel_vertices *vertices,
                            const mel_solve_options *opt, mel_error *err)
{
    const size_t n_blocks = vertices->steps->n_blocks;
    mel_single s = { .goal = goal, .vertices = vertices, .size = mel_steps_block_size(vertices->steps) };
    MEL_AUTO_MEMORY size_t *place = mel_alloc_zero(3 * n_blocks + 2 + goal->program.n_entries, sizeof *place);
    MEL_AUTO_MEMORY double *number = NULL;
    const mel_part parts[] = { { goal->size, { &number } },
                               { s.size, { &s.shares } },
                               { 2 * goal->program.n_levels + 1, { &s.rest.ends, &s.tally.ends } },
                               { mel_steps_rule_size(vertices->steps), { &s.rule } } };
    if (place == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a rule");
    s.x = number;
    s.choice = place;
    s.kept = s.choice + n_blocks;
    s.first = s.kept + n_blocks;
    s.term = s.first + n_blocks + 1; /* an entry is of one block */
    sort_terms(&s);
    /* Steps that are exact find the rules between by themselves, as far as they are any good. */
    if (!vertices->steps->sorted && !vertices->steps->exact)
        TRY(add_candidates(&s, solution, err));
    return look(found, solution, &s, opt, err);
}
