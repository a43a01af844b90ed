/* The best pair of thresholds of two blocks while all others stay, by branch and bound: ranges of thresholds
 * are halved until nothing in them can meet the limits and be better. */
#include "classify/solve.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 8, DEEPEST = 160, TURNS = 30, ROUNDS = 4, MEASURING = 50 };
static const double most_pairs = 5e4;   /* without a bound */
static const double most_numbers = 3e7; /* of all trees */
/* Terms that are looked at: two blocks are done within, more of them are only helped by it. */
static const uint64_t most_of_two = 100000000, most_of_more = 10000000;

/* What the thresholds of a block add: to the value, then to each of the block's terms. Node 1 holds all of
 * them, nodes 2 i and 2 i + 1 the halves of node i; low and high are over what a node holds. */
typedef struct {
    size_t n, width, leaves;
    double *at;         /* n x width */
    double *low, *high; /* 2 leaves x width */
} tree;

/* A term of a pair: what other blocks add to it, and where it is among each block's numbers (0: nowhere). */
typedef struct {
    const mel_term *term;
    double base;
    size_t at[2];
} pair_term;

typedef struct {
    size_t node[2];
    mel_worth worth;
} place;

typedef struct {
    mel_single *s;
    const double *c; /* what is summed up; constant: besides */
    double constant;
    bool measured; /* c only bounds the value: the measure says what it is */
    tree *tree;    /* of each block */
    size_t block[2];
    size_t n_terms;
    pair_term *term;
    mel_account rest, tally;
    mel_worth best;
    size_t choice[2];
    bool moved;
    uint64_t left; /* terms that may still be looked at */
} pairs;

/* --- trees -------------------------------------------------------------------------------------- */

/* What a block adds to a term. */
static double part(const pairs *p, size_t block, const mel_term *term)
{
    const mel_program *program = &p->s->goal->program;
    double sum = 0.0;
    for (size_t e = term->first; e < term->first + term->n; e++)
        if (program->at[e] / p->s->size == block)
            sum += program->a[e] * p->s->x[program->at[e]];
    return sum;
}

static double linear_part_of_pairs(const pairs *p, size_t block)
{
    return mel_dot(p->s->size, p->c + block * p->s->size, p->s->x + block * p->s->size);
}

/* Writes over what x has of the block. */
static void fill_leaves(tree *t, const pairs *p, size_t block)
{
    const mel_program *program = &p->s->goal->program;
    const size_t *own = p->s->term + p->s->first[block];
    for (size_t i = 0; i < 2 * t->leaves * t->width; i++) {
        t->low[i] = INFINITY;
        t->high[i] = -INFINITY;
    }
    for (size_t c = 0; c < t->n; c++) {
        double *at = t->at + c * t->width;
        const size_t node = (t->leaves + c / LEAF) * t->width;
        mel_single_put(p->s, block, c);
        at[0] = linear_part_of_pairs(p, block);
        for (size_t i = 1; i < t->width; i++)
            at[i] = part(p, block, &program->term[own[i - 1]]);
        for (size_t i = 0; i < t->width; i++) {
            t->low[node + i] = fmin(t->low[node + i], at[i]);
            t->high[node + i] = fmax(t->high[node + i], at[i]);
        }
    }
}

static void fill_tree(tree *t, const pairs *p, size_t block)
{
    const size_t w = t->width;
    fill_leaves(t, p, block);
    for (size_t node = t->leaves; node-- > 1;)
        for (size_t i = 0; i < w; i++) {
            t->low[node * w + i] = fmin(t->low[2 * node * w + i], t->low[(2 * node + 1) * w + i]);
            t->high[node * w + i] = fmax(t->high[2 * node * w + i], t->high[(2 * node + 1) * w + i]);
        }
}

static mel_status make_trees(pairs *p, mel_error *err)
{
    const size_t n_blocks = p->s->vertices->steps->n_blocks;
    p->tree = mel_alloc_zero(n_blocks, sizeof *p->tree);
    for (size_t b = 0; b < n_blocks && p->tree != NULL; b++) {
        tree *t = &p->tree[b];
        t->n = mel_single_thresholds(p->s, b);
        t->width = 1 + p->s->first[b + 1] - p->s->first[b];
        for (t->leaves = 1; t->leaves * LEAF < t->n;)
            t->leaves *= 2;
        const mel_part parts[] = { { t->n * t->width, { &t->at } },
                                   { 2 * t->leaves * t->width, { &t->low, &t->high } } };
        if (!mel_parts_new(MEL_PARTS(parts)))
            return mel_fail_memory(err, "pairs of thresholds");
    }
    return p->tree != NULL ? MEL_OK : mel_fail_memory(err, "pairs of thresholds");
}

/* Not too much for memory; measures that are no program only where it takes two blocks, those without a
 * bound where pairs are few. */
static bool fits(const mel_single *s)
{
    const size_t n_blocks = s->vertices->steps->n_blocks;
    double numbers = 0.0, pairs_of_two = 1.0;
    for (size_t b = 0; b < n_blocks; b++) {
        const double n = (double)mel_single_thresholds(s, b);
        numbers += 2.0 * n * (double)(1 + s->first[b + 1] - s->first[b]);
        pairs_of_two *= n;
    }
    if (s->goal->kind == MEL_SHAPE_LOCAL && pairs_of_two > most_pairs)
        return false;
    return numbers <= most_numbers && (s->by_terms || n_blocks == 2);
}

static void pairs_clear(pairs *p)
{
    for (size_t b = 0; b < p->s->vertices->steps->n_blocks && p->tree != NULL; b++)
        free(p->tree[b].at);
    free(p->tree);
    free(p->term);
    free(p->rest.ends);
}

/* --- a pair ------------------------------------------------------------------------------------- */

/* Where a term is among the numbers of a block; 0: it is not. */
static size_t place_of_term(const mel_single *s, size_t block, size_t t)
{
    for (size_t i = s->first[block]; i < s->first[block + 1]; i++)
        if (s->term[i] == t)
            return 1 + i - s->first[block];
    return 0;
}

/* What the other blocks of x come to, and the terms that are left. */
static void weigh_others(pairs *p)
{
    const mel_program *program = &p->s->goal->program;
    const size_t n_blocks = p->s->vertices->steps->n_blocks;
    mel_account_begin(&p->rest, program->n_levels, p->constant);
    for (size_t b = 0; b < n_blocks; b++)
        p->rest.sum += b != p->block[0] && b != p->block[1] ? linear_part_of_pairs(p, b) : 0.0;
    p->n_terms = 0;
    for (size_t t = 0; t < program->n_terms; t++) {
        const mel_term *term = &program->term[t];
        const size_t first = place_of_term(p->s, p->block[0], t),
                     second = place_of_term(p->s, p->block[1], t);
        double base = mel_program_term(program, term, p->s->x);
        if (first == 0 && second == 0) {
            mel_account_add(&p->rest, term, base, base);
            continue;
        }
        base -= part(p, p->block[0], term) + part(p, p->block[1], term);
        p->term[p->n_terms++] = (pair_term){ term, base, { first, second } };
    }
}

static void spend(pairs *p, uint64_t terms)
{
    p->left -= p->left < terms ? p->left : terms;
}

/* At least this much is missed, at most this much is gained, with numbers of both blocks between low and
 * high. */
static mel_worth bound(pairs *p, const double *const low[2], const double *const high[2])
{
    mel_account_copy(&p->tally, &p->rest, p->s->goal->program.n_levels);
    p->tally.sum += high[0][0] + high[1][0];
    for (size_t t = 0; t < p->n_terms; t++) {
        const pair_term *of = &p->term[t];
        double from = of->base, to = of->base;
        for (size_t i = 0; i < 2; i++)
            if (of->at[i] > 0) {
                from += low[i][of->at[i]];
                to += high[i][of->at[i]];
            }
        mel_account_add(&p->tally, of->term, from, to);
    }
    spend(p, p->n_terms + 1);
    return mel_account_worth(&p->tally, &p->s->goal->program);
}

static bool may_hold(const pairs *p, mel_worth worth)
{
    if (worth.violation > p->s->meets)
        return false;
    return p->best.violation > p->s->meets || worth.value > p->best.value + 1e-13 * fabs(p->best.value);
}

static place make_place(pairs *p, size_t first, size_t second)
{
    const tree *a = &p->tree[p->block[0]], *b = &p->tree[p->block[1]];
    const double *const low[2] = { a->low + first * a->width, b->low + second * b->width };
    const double *const high[2] = { a->high + first * a->width, b->high + second * b->width };
    const bool empty = low[0][0] > high[0][0] || low[1][0] > high[1][0];
    return (place){ { first, second }, empty ? (mel_worth){ INFINITY, -INFINITY } : bound(p, low, high) };
}

static void try_pair(pairs *p, size_t first, size_t second)
{
    const tree *a = &p->tree[p->block[0]], *b = &p->tree[p->block[1]];
    const double *const at[2] = { a->at + first * a->width, b->at + second * b->width };
    mel_worth now = bound(p, at, at);
    if (!may_hold(p, now))
        return;
    if (p->measured) {
        mel_single_put(p->s, p->block[0], first);
        mel_single_put(p->s, p->block[1], second);
        now.value = mel_goal_at(p->s->goal, p->s->x);
        spend(p, MEASURING); /* as long as so many terms */
    }
    if (!may_hold(p, now))
        return;
    p->best = now;
    p->choice[0] = first;
    p->choice[1] = second;
    p->moved = true;
}

static void try_leaves(pairs *p, const size_t node[2])
{
    size_t from[2], to[2];
    for (size_t i = 0; i < 2; i++) {
        const tree *t = &p->tree[p->block[i]];
        from[i] = (node[i] - t->leaves) * LEAF;
        to[i] = from[i] + LEAF < t->n ? from[i] + LEAF : t->n;
    }
    for (size_t c = from[0]; c < to[0]; c++)
        for (size_t d = from[1]; d < to[1]; d++)
            try_pair(p, c, d);
}

/* How many leaves a node holds. */
static size_t leaves_of(const tree *t, size_t node)
{
    size_t n = t->leaves;
    for (; node > 1; node /= 2)
        n /= 2;
    return n;
}

/* Depth first, the half that promises more before the other. */
static void search_pair(pairs *p)
{
    const tree *a = &p->tree[p->block[0]], *b = &p->tree[p->block[1]];
    place stack[DEEPEST];
    size_t n = 0;
    stack[n++] = make_place(p, 1, 1);
    while (n > 0 && p->left > 0) {
        const place now = stack[--n];
        const size_t sizes[2] = { leaves_of(a, now.node[0]), leaves_of(b, now.node[1]) };
        if (!may_hold(p, now.worth))
            continue;
        if (sizes[0] == 1 && sizes[1] == 1) {
            try_leaves(p, now.node);
            continue;
        }
        const bool first = sizes[0] >= sizes[1];
        const size_t x = first ? 2 * now.node[0] : now.node[0], y = first ? now.node[1] : 2 * now.node[1];
        const place one = make_place(p, x, y), other = make_place(p, x + first, y + !first);
        const bool later = one.worth.value >= other.worth.value;
        stack[n++] = later ? other : one;
        stack[n++] = later ? one : other;
    }
}

/* --- the whole ---------------------------------------------------------------------------------- */

static void put_kept(const pairs *p)
{
    for (size_t b = 0; b < p->s->vertices->steps->n_blocks; b++)
        mel_single_put(p->s, b, p->s->kept[b]);
}

/* True: a pair is better than the best so far, and takes its place. `value`: what that is worth here. */
static bool improve_pair(pairs *p, size_t first, size_t second, double value)
{
    p->block[0] = first;
    p->block[1] = second;
    p->best = (mel_worth){ p->s->best.violation, value };
    p->moved = false;
    put_kept(p);
    weigh_others(p);
    search_pair(p);
    if (p->moved) {
        p->s->kept[first] = p->choice[0];
        p->s->kept[second] = p->choice[1];
        p->s->best = p->best;
    }
    return p->moved;
}

static void fill_trees(pairs *p)
{
    for (size_t b = 0; b < p->s->vertices->steps->n_blocks; b++)
        fill_tree(&p->tree[b], p, b);
}

/* All pairs in turn until none is better. */
static void improve_program(pairs *p)
{
    const size_t n_blocks = p->s->vertices->steps->n_blocks;
    bool moved = true;
    fill_trees(p);
    for (size_t round = 0; round < (n_blocks > 2 ? ROUNDS : 1) && moved; round++) {
        moved = false;
        for (size_t a = 0; a < n_blocks; a++)
            for (size_t b = a + 1; b < n_blocks && p->left > 0; b++)
                moved = improve_pair(p, a, b, p->s->best.value) || moved;
    }
}

/* Dinkelbach's method: more along the slope of a ratio is a larger ratio. */
static mel_status improve_ratio(pairs *p, double *slope, const mel_solution *mixture, mel_error *err)
{
    bool moved = true;
    for (size_t turn = 0; turn < TURNS && moved; turn++) {
        const bool known = p->s->best.violation <= p->s->meets && isfinite(p->s->best.value);
        put_kept(p);
        TRY(mel_goal_gradient(slope, p->s->goal, known ? p->s->x : mixture->x, err));
        const double value = mel_dot(p->s->goal->size, slope, p->s->x), before = p->s->best.value;
        fill_trees(p);
        if (!improve_pair(p, 0, 1, known ? value : -INFINITY))
            break;
        put_kept(p);
        p->s->best.value = mel_goal_at(p->s->goal, p->s->x);
        moved = !known || p->s->best.value > before;
    }
    return MEL_OK;
}

/* Concave: nowhere above its slope at the mixture. Any other measure: no bound, the limits alone cut. */
static mel_status improve_measured(pairs *p, double *slope, const mel_solution *mixture, mel_error *err)
{
    const size_t size = p->s->goal->size;
    p->measured = true;
    p->constant = INFINITY;
    memset(slope, 0, size * sizeof *slope);
    if (p->s->goal->kind == MEL_SHAPE_CONCAVE) {
        TRY(mel_goal_gradient(slope, p->s->goal, mixture->x, err));
        p->constant = mixture->value - mel_dot(size, slope, mixture->x);
    }
    fill_trees(p);
    improve_pair(p, 0, 1, p->s->best.value);
    return MEL_OK;
}

static mel_status improve(pairs *p, const mel_solution *mixture, mel_error *err)
{
    MEL_AUTO_MEMORY double *slope = mel_alloc_zero(p->s->goal->size, sizeof *slope);
    TRY(slope != NULL ? make_trees(p, err) : mel_fail_memory(err, "a slope"));
    p->c = p->s->by_terms ? p->s->goal->program.c : slope;
    p->constant = p->s->by_terms ? p->s->goal->program.constant : 0.0;
    if (p->s->by_terms)
        improve_program(p);
    else
        TRY(p->s->goal->kind == MEL_SHAPE_RATIO ? improve_ratio(p, slope, mixture, err)
                                                : improve_measured(p, slope, mixture, err));
    return MEL_OK;
}

mel_status mel_single_pairs(mel_single *s, const mel_solution *mixture, mel_error *err)
{
    const mel_program *program = &s->goal->program;
    if (!fits(s))
        return MEL_OK;
    MEL_AUTO_CLEAR(pairs)
    p = { .s = s, .left = s->vertices->steps->n_blocks > 2 ? most_of_more : most_of_two };
    const mel_part parts[] = { { 2 * program->n_levels + 1, { &p.rest.ends, &p.tally.ends } } };
    p.term = mel_alloc(program->n_terms + 1, sizeof *p.term);
    if (p.term == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "pairs");
    return improve(&p, mixture, err);
}
