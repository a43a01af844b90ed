/* From a solution, a mixture in every block, to a classifier, one mixture of rules for all blocks. */
#include "classify/solve.h"

#include "base/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_share = 1e-12;

/* Where the mixture of a block is: its vertex now, and where on [0, 1] it ends. */
typedef struct {
    size_t vertex;
    double end;
} place;

/* The next vertex of the block that has a share, from `from` on; n: none. */
static size_t next_vertex(const mel_solution *s, const mel_vertices *vertices, size_t block, size_t from)
{
    size_t v = from;
    while (v < s->n && !(vertices->block[v] == block && s->weight[v] > least_share))
        v++;
    return v;
}

static size_t count_rules(const mel_solution *s)
{
    size_t n = 1;
    for (size_t v = 0; v < s->n; v++)
        n += s->weight[v] > least_share;
    return n;
}

/* Cuts [0, 1] wherever a block changes its rule. Gains of a rule: blocks one after the other. */
static size_t join(double *gain, double *share, place *at, const mel_solution *s,
                   const mel_vertices *vertices)
{
    const size_t n_blocks = vertices->steps->n_blocks, size = mel_steps_rule_size(vertices->steps);
    for (size_t b = 0; b < n_blocks; b++) {
        at[b].vertex = next_vertex(s, vertices, b, 0);
        at[b].end = at[b].vertex < s->n ? s->weight[at[b].vertex] : 1.0;
    }
    size_t n = 0;
    for (double from = 0.0; from < 1.0 - 1e-9;) {
        double to = 1.0;
        for (size_t b = 0; b < n_blocks; b++)
            to = fmin(to, fmax(at[b].end, from));
        if (to - from > least_share) {
            for (size_t b = 0; b < n_blocks; b++)
                memcpy(gain + (n * n_blocks + b) * size, mel_vertices_rule(vertices, at[b].vertex),
                       size * sizeof *gain);
            share[n++] = to - from;
        }
        bool moved = false;
        for (size_t b = 0; b < n_blocks; b++) {
            const size_t next = at[b].end <= to ? next_vertex(s, vertices, b, at[b].vertex + 1) : s->n;
            if (next >= s->n)
                continue;
            at[b] = (place){ next, at[b].end + s->weight[next] };
            moved = true;
        }
        from = to;
        if (!moved) { /* what rounding left over belongs to the last */
            share[n - 1] += 1.0 - to;
            from = 1.0;
        }
    }
    return n;
}

/* Largest share first, adding up to 1. */
static void sort_rules(mel_blend *blend, size_t size)
{
    double sum = 0.0;
    for (size_t r = 0; r < blend->n_rules; r++)
        sum += blend->share[r];
    for (size_t r = 0; r < blend->n_rules; r++)
        blend->share[r] /= sum;
    for (size_t r = 1; r < blend->n_rules; r++)
        for (size_t q = r; q > 0 && blend->share[q] > blend->share[q - 1]; q--) {
            const double share = blend->share[q];
            blend->share[q] = blend->share[q - 1];
            blend->share[q - 1] = share;
            for (size_t c = 0; c < size; c++) {
                const double gain = blend->gain[q * size + c];
                blend->gain[q * size + c] = blend->gain[(q - 1) * size + c];
                blend->gain[(q - 1) * size + c] = gain;
            }
        }
}

mel_rule mel_gain_threshold(const double *gain)
{
    const double first = gain[1] - gain[0], second = gain[3] - gain[2];
    if (first == second || (first >= 0.0 && second >= 0.0) || (first <= 0.0 && second <= 0.0))
        return (mel_rule){ .threshold = first + second > 0.0 ? -INFINITY : INFINITY };
    return (mel_rule){ .threshold = first / (first - second), .inverted = second < first };
}

/* Two classes without groups and few rules: thresholds say the same. */
static void simplify(mel_classifier *c)
{
    if (c->n_classes != 2 || c->n_decisions != 2 || c->n_groups > 1 || c->blend.n_rules > MEL_MIXTURE_RULES)
        return;
    c->mixture.n = c->blend.n_rules;
    for (size_t r = 0; r < c->blend.n_rules; r++) {
        c->mixture.rule[r] = mel_gain_threshold(c->blend.gain + 4 * r);
        c->mixture.share[r] = c->blend.share[r];
    }
    mel_blend_clear(&c->blend);
}

static mel_status fill_rules(mel_classifier *c, const mel_solution *s, const mel_vertices *vertices,
                             mel_error *err)
{
    const mel_steps *steps = vertices->steps;
    const size_t most = count_rules(s), size = steps->n_blocks * mel_steps_rule_size(steps);
    MEL_AUTO_MEMORY place *at = mel_alloc(steps->n_blocks, sizeof *at);
    c->blend = (mel_blend){ .n_rules = 0, .n_classes = c->n_classes, .n_groups = c->n_groups };
    c->blend.gain = mel_alloc_zero(most * size, sizeof *c->blend.gain);
    c->blend.share = mel_alloc_zero(most, sizeof *c->blend.share);
    const bool enough = at != NULL && c->blend.gain != NULL && c->blend.share != NULL;
    if (enough) {
        c->blend.n_rules = join(c->blend.gain, c->blend.share, at, s, vertices);
        sort_rules(&c->blend, size);
        simplify(c);
    }
    return enough ? MEL_OK : mel_fail_memory(err, "a classifier");
}

/* In the layout of the metric; of a measure by name as confusion entries. */
static mel_status put_statistics(mel_classifier *c, const double *achieved, const mel_goal *goal,
                                 const mel_steps *steps, mel_error *err)
{
    if (goal->d != goal->k)
        return MEL_OK; /* no place for what is referred */
    const size_t k = goal->k, m = goal->pooled ? 1 : goal->n_groups;
    mel_layout layout = { MEL_CONFUSION, MEL_OFFDIAGONAL, k, m > 1 ? m : 0 };
    if (goal->metric != NULL)
        layout = *mel_metric_layout(goal->metric);
    const size_t n = mel_layout_size(&layout), each = n / m;
    const double *x = mel_goal_seen(goal, achieved);
    free(c->statistics);
    json_decref(c->achieved);
    json_decref(c->layout);
    c->achieved = c->layout = NULL;
    c->statistics = mel_alloc(n, sizeof *c->statistics);
    if (c->statistics == NULL)
        return mel_fail_memory(err, "a classifier");
    for (size_t i = 0; i < n; i++) {
        const size_t cell = mel_layout_cell(&layout, i % each), row = i / each * k + cell / k;
        c->statistics[i] =
            x[row * k + cell % k] / (layout.kind == MEL_RATES ? mel_goal_mass(goal, steps, row) : 1.0);
    }
    if (c->mixture.n > 0) {
        c->achieved = json_pack("{s:f, s:f, s:f, s:f}", "tp", x[3], "tn", x[0], "fn", x[2], "fp", x[1]);
        return c->achieved != NULL ? MEL_OK : mel_fail_memory(err, "a classifier");
    }
    c->layout = json_pack("{s:s, s:s}", "kind", mel_kind_name(layout.kind), "coordinates",
                          mel_coordinates_name(layout.coordinates));
    c->achieved = mel_json_numbers(n, c->statistics);
    return c->layout != NULL && c->achieved != NULL ? MEL_OK : mel_fail_memory(err, "a classifier");
}

mel_status mel_build_classifier(mel_classifier **out, const mel_solution *solution, const mel_goal *goal,
                                const mel_vertices *vertices, mel_error *err)
{
    const mel_steps *steps = vertices->steps;
    TRY(mel_classifier_new(out, steps->n_classes, steps->n_blocks > 1 ? steps->n_groups : 0, err));
    TRY(mel_classifier_set_source(*out, &(mel_classifier_source){ 0 }, err));
    (*out)->n_decisions = steps->n_decisions;
    (*out)->value = goal->sign * solution->value;
    TRY(fill_rules(*out, solution, vertices, err));
    return put_statistics(*out, solution->x, goal, steps, err);
}
