/* The rules that linear steps have found so far, block by block, and mixtures of them. */
#ifndef MEL_CLASSIFY_VERTICES_H
#define MEL_CLASSIFY_VERTICES_H

#include "classify/steps.h"

typedef struct {
    mel_steps *steps; /* lent */
    size_t n, room;
    size_t *block;   /* n */
    double *shares;  /* n x block size */
    double *rule;    /* n x rule size */
    size_t *newest;  /* n_blocks: the vertices of the last step */
    double *scratch; /* one block's shares, one rule */
} mel_vertices;

/* Begins with the constant decisions, decision j of block b at b * n_decisions + j, which take no step. */
mel_status mel_vertices_init(mel_vertices *out, mel_steps *steps, mel_error *err);
void mel_vertices_clear(mel_vertices *vertices);

/* A step in every block; `newest` says where its vertices are. *value: what they gain together; *fresh (may
 * be NULL): how many of them are new. */
mel_status mel_vertices_step(double *value, size_t *fresh, mel_vertices *vertices, const double *gain,
                             mel_error *err);
/* One more vertex of a block, unless it is there already; *place says where. */
mel_status mel_vertices_add(size_t *place, mel_vertices *vertices, size_t block, const double *shares,
                            const double *rule, mel_error *err);

static inline const double *mel_vertices_shares(const mel_vertices *vertices, size_t v)
{
    return vertices->shares + v * mel_steps_block_size(vertices->steps);
}
static inline const double *mel_vertices_rule(const mel_vertices *vertices, size_t v)
{
    return vertices->rule + v * mel_steps_rule_size(vertices->steps);
}
/* x = sum of weight[v] times vertex v, for n <= vertices->n weights. */
void mel_vertices_mix(double *x, const mel_vertices *vertices, size_t n, const double *weight);

#endif
