/* What all kinds of linear steps share, and the rules that they have found so far. */
#include "classify/steps.h"

#include "base/la.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

void mel_steps_free(mel_steps *steps)
{
    if (steps == NULL)
        return;
    if (steps->self != NULL)
        steps->ops->free(steps->self);
    free(steps->mass);
    free(steps);
}

mel_status mel_steps_new(mel_steps **out, const mel_steps_ops *ops, void *self, const mel_steps *shape,
                         mel_error *err)
{
    *out = NULL;
    mel_steps *steps = mel_alloc_zero(1, sizeof *steps);
    double *mass = mel_alloc_zero(mel_steps_size(shape) / shape->n_decisions, sizeof *mass);
    if (steps == NULL || mass == NULL) {
        free(steps);
        free(mass);
        ops->free(self);
        return mel_fail_memory(err, "the steps of a rule");
    }
    *steps = *shape;
    steps->ops = ops;
    steps->self = self;
    steps->mass = mass;
    *out = steps;
    return MEL_OK;
}

void mel_steps_constant(double *shares, double *rule, const mel_steps *steps, size_t block, size_t j)
{
    const size_t d = steps->n_decisions, rows = mel_steps_block_size(steps) / d;
    memset(shares, 0, rows * d * sizeof *shares);
    memset(rule, 0, mel_steps_rule_size(steps) * sizeof *rule);
    for (size_t r = 0; r < rows; r++)
        shares[r * d + j] = steps->mass[block * rows + r];
    for (size_t e = 0; e < steps->n_evidence; e++)
        rule[e * d + j] = 1.0;
}

mel_status mel_steps_of_rows(mel_steps **out, const mel_step_rows *rows, mel_error *err)
{
    return rows->n_classes == 2 && !rows->refer && rows->engine == NULL ? mel_steps_sorted(out, rows, err)
                                                                        : mel_steps_rows(out, rows, err);
}

mel_status mel_steps_of_space(mel_steps **out, const mel_space *space, mel_error *err)
{
    const mel_class_rows *of = &space->rows;
    const mel_step_rows rows = { .n_rows = space->n_rows,
                                 .n_classes = space->n_classes,
                                 .n_groups = space->n_groups,
                                 .probability = of->rows.probability,
                                 .label = of->rows.label,
                                 .group = of->rows.group,
                                 .evidence = space->evidence,
                                 .threads = space->threads };
    return mel_steps_of_rows(out, &rows, err);
}

/* How many steps it will take is not known: the share only says that it goes on. */
mel_status mel_steps_report(mel_steps *steps, mel_error *err)
{
    const double taken = (double)steps->taken;
    if (steps->failure.code != MEL_OK)
        return mel_fail(err, steps->failure.code, "%s", steps->failure.text);
    return mel_report_now_and_then(&steps->progress, &steps->asked, "looking for the best rule",
                                   taken / (taken + 50.0), err);
}

/* --- the rules that they have found ------------------------------------------------------------------ */

void mel_vertices_clear(mel_vertices *vertices)
{
    free(vertices->block);
    free(vertices->shares);
    free(vertices->rule);
    free(vertices->newest);
    free(vertices->scratch);
    *vertices = (mel_vertices){ 0 };
}

static bool make_vertex_room(mel_vertices *vertices)
{
    const size_t room = 2 * vertices->room + 16;
    if (vertices->n < vertices->room)
        return true;
    if (!mel_grow((void **)&vertices->block, room, sizeof *vertices->block) ||
        !mel_grow((void **)&vertices->shares, room,
                  mel_steps_block_size(vertices->steps) * sizeof *vertices->shares) ||
        !mel_grow((void **)&vertices->rule, room,
                  mel_steps_rule_size(vertices->steps) * sizeof *vertices->rule))
        return false;
    vertices->room = room;
    return true;
}

mel_status mel_vertices_add(size_t *place, mel_vertices *vertices, size_t block, const double *shares,
                            const double *rule, mel_error *err)
{
    const size_t size = mel_steps_block_size(vertices->steps), rules = mel_steps_rule_size(vertices->steps);
    for (size_t v = 0; v < vertices->n; v++)
        if (vertices->block[v] == block &&
            memcmp(mel_vertices_shares(vertices, v), shares, size * sizeof *shares) == 0) {
            *place = v;
            return MEL_OK;
        }
    if (!make_vertex_room(vertices))
        return mel_fail_memory(err, "the rules found so far");
    *place = vertices->n;
    vertices->block[vertices->n] = block;
    memcpy(vertices->shares + vertices->n * size, shares, size * sizeof *shares);
    memcpy(vertices->rule + vertices->n * rules, rule, rules * sizeof *rule);
    vertices->n++;
    return MEL_OK;
}

mel_status mel_vertices_init(mel_vertices *out, mel_steps *steps, mel_error *err)
{
    const size_t size = mel_steps_block_size(steps), rules = mel_steps_rule_size(steps);
    *out = (mel_vertices){ .steps = steps };
    out->newest = mel_alloc_zero(steps->n_blocks, sizeof *out->newest);
    out->scratch = mel_alloc(size + rules, sizeof *out->scratch);
    mel_status status =
        out->newest != NULL && out->scratch != NULL ? MEL_OK : mel_fail_memory(err, "the rules found so far");
    for (size_t v = 0; v < steps->n_blocks * steps->n_decisions && status == MEL_OK; v++) {
        status = make_vertex_room(out) ? MEL_OK : mel_fail_memory(err, "the rules found so far");
        if (status != MEL_OK)
            break;
        out->block[v] = v / steps->n_decisions;
        mel_steps_constant(out->shares + v * size, out->rule + v * rules, steps, v / steps->n_decisions,
                           v % steps->n_decisions);
        out->n++;
    }
    return status;
}

mel_status mel_vertices_step(double *value, size_t *fresh, mel_vertices *vertices, const double *gain,
                             mel_error *err)
{
    mel_steps *steps = vertices->steps;
    const size_t size = mel_steps_block_size(steps), before = vertices->n;
    double *shares = vertices->scratch, *rule = vertices->scratch + size;
    TRY(mel_steps_report(steps, err));
    *value = 0.0;
    for (size_t b = 0; b < steps->n_blocks; b++) {
        steps->ops->step(shares, rule, steps, b, gain + b * size);
        *value += mel_dot(size, gain + b * size, shares);
        TRY(mel_vertices_add(&vertices->newest[b], vertices, b, shares, rule, err));
    }
    steps->taken++;
    if (fresh != NULL)
        *fresh = vertices->n - before;
    return MEL_OK;
}

void mel_vertices_mix(double *x, const mel_vertices *vertices, size_t n, const double *weight)
{
    const size_t size = mel_steps_block_size(vertices->steps);
    memset(x, 0, mel_steps_size(vertices->steps) * sizeof *x);
    for (size_t v = 0; v < n; v++)
        if (weight[v] != 0.0)
            mel_axpy(size, weight[v], mel_vertices_shares(vertices, v), x + vertices->block[v] * size);
}
