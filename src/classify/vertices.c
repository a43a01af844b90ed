/* The rules that linear steps have found so far. */
#include "classify/vertices.h"

#include "base/la.h"

#include <stdlib.h>
#include <string.h>

void mel_vertices_clear(mel_vertices *pool)
{
    free(pool->block);
    free(pool->shares);
    free(pool->rule);
    free(pool->newest);
    free(pool->scratch);
    *pool = (mel_vertices){ 0 };
}

static bool make_room(mel_vertices *pool)
{
    const size_t room = 2 * pool->room + 16;
    if (pool->n < pool->room)
        return true;
    if (!mel_grow((void **)&pool->block, room, sizeof *pool->block) ||
        !mel_grow((void **)&pool->shares, room, mel_steps_block_size(pool->steps) * sizeof *pool->shares) ||
        !mel_grow((void **)&pool->rule, room, mel_steps_rule_size(pool->steps) * sizeof *pool->rule))
        return false;
    pool->room = room;
    return true;
}

mel_status mel_vertices_add(size_t *place, mel_vertices *pool, size_t block, const double *shares,
                            const double *rule, mel_error *err)
{
    const size_t size = mel_steps_block_size(pool->steps), rules = mel_steps_rule_size(pool->steps);
    for (size_t v = 0; v < pool->n; v++)
        if (pool->block[v] == block &&
            memcmp(mel_vertices_shares(pool, v), shares, size * sizeof *shares) == 0) {
            *place = v;
            return MEL_OK;
        }
    if (!make_room(pool))
        return mel_fail_memory(err, "the rules found so far");
    *place = pool->n;
    pool->block[pool->n] = block;
    memcpy(pool->shares + pool->n * size, shares, size * sizeof *shares);
    memcpy(pool->rule + pool->n * rules, rule, rules * sizeof *rule);
    pool->n++;
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
        status = make_room(out) ? MEL_OK : mel_fail_memory(err, "the rules found so far");
        if (status != MEL_OK)
            break;
        out->block[v] = v / steps->n_decisions;
        mel_steps_constant(out->shares + v * size, out->rule + v * rules, steps, v / steps->n_decisions,
                           v % steps->n_decisions);
        out->n++;
    }
    return status;
}

mel_status mel_vertices_step(double *value, size_t *fresh, mel_vertices *pool, const double *gain,
                             mel_error *err)
{
    mel_steps *steps = pool->steps;
    const size_t size = mel_steps_block_size(steps), before = pool->n;
    double *shares = pool->scratch, *rule = pool->scratch + size;
    mel_status status = mel_steps_report(steps, err);
    *value = 0.0;
    for (size_t b = 0; b < steps->n_blocks && status == MEL_OK; b++) {
        steps->ops->step(shares, rule, steps, b, gain + b * size);
        *value += mel_dot(size, gain + b * size, shares);
        status = mel_vertices_add(&pool->newest[b], pool, b, shares, rule, err);
    }
    steps->taken++;
    if (fresh != NULL)
        *fresh = pool->n - before;
    return status;
}

void mel_vertices_mix(double *x, const mel_vertices *pool, size_t n, const double *weight)
{
    const size_t size = mel_steps_block_size(pool->steps);
    memset(x, 0, mel_steps_size(pool->steps) * sizeof *x);
    for (size_t v = 0; v < n; v++)
        if (weight[v] != 0.0)
            mel_axpy(size, weight[v], mel_vertices_shares(pool, v), x + pool->block[v] * size);
}
