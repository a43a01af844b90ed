/* Random classification problems with a known origin, as a dense and as a sparse matrix at once. */
#include "support/problem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static void *need(size_t n, size_t size)
{
    void *block = calloc(n > 0 ? n : 1, size);
    if (block == NULL)
        abort();
    return block;
}

static void fill_row(test_problem *p, mel_rng *rng, size_t i, double density)
{
    size_t at = p->row_start[i];
    for (size_t j = 0; j < p->n_cols; j++) {
        const double x = mel_rng_uniform(rng) < density ? mel_rng_normal(rng) : 0.0;
        p->dense[i * p->stride + j] = x;
        if (x == 0.0)
            continue;
        p->col[at] = (uint32_t)j;
        p->value[at++] = x;
    }
    for (size_t j = p->n_cols; j < p->stride; j++)
        p->dense[i * p->stride + j] = NAN;
    p->row_start[i + 1] = at;
}

/* The class of largest score plus Gumbel noise: a draw from the softmax of the scores. */
static uint32_t draw_class(const test_problem *p, mel_rng *rng, size_t i)
{
    double best = -INFINITY;
    uint32_t y = 0;
    for (size_t c = 0; c < p->n_classes; c++) {
        const double *w = p->truth + c * (p->n_cols + 1);
        double score = w[p->n_cols] - log(-log(1.0 - mel_rng_uniform(rng)));
        for (size_t j = 0; j < p->n_cols; j++)
            score += w[j] * p->dense[i * p->stride + j];
        if (score > best) {
            best = score;
            y = (uint32_t)c;
        }
    }
    return y;
}

void test_problem_make(test_problem *out, uint64_t seed, size_t n_rows, size_t n_cols, size_t n_classes,
                       double density)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    test_problem p = { .n_rows = n_rows, .n_cols = n_cols, .n_classes = n_classes, .stride = n_cols + 3 };
    p.dense = need(n_rows * p.stride, sizeof *p.dense);
    p.row_start = need(n_rows + 1, sizeof *p.row_start);
    p.col = need(n_rows * n_cols, sizeof *p.col);
    p.value = need(n_rows * n_cols, sizeof *p.value);
    p.y = need(n_rows, sizeof *p.y);
    p.weight = need(n_rows, sizeof *p.weight);
    p.truth = need(n_classes * (n_cols + 1), sizeof *p.truth);
    for (size_t i = 0; i < n_classes * (n_cols + 1); i++)
        p.truth[i] = mel_rng_normal(&rng) / sqrt(1.0 + (double)n_cols * density);
    for (size_t i = 0; i < n_rows; i++) {
        fill_row(&p, &rng, i, density);
        p.y[i] = i < n_classes ? (uint32_t)i : draw_class(&p, &rng, i);
        p.weight[i] = 0.5 + mel_rng_uniform(&rng);
    }
    *out = p;
}

void test_problem_clear(test_problem *problem)
{
    free(problem->dense);
    free(problem->row_start);
    free(problem->col);
    free(problem->value);
    free(problem->y);
    free(problem->weight);
    free(problem->truth);
    *problem = (test_problem){ 0 };
}

mel_features test_problem_dense(const test_problem *problem)
{
    return (mel_features){ .n_rows = problem->n_rows,
                           .n_cols = problem->n_cols,
                           .dense = problem->dense,
                           .stride = problem->stride };
}

mel_features test_problem_sparse(const test_problem *problem)
{
    return (mel_features){ .n_rows = problem->n_rows,
                           .n_cols = problem->n_cols,
                           .row_start = problem->row_start,
                           .col = problem->col,
                           .value = problem->value };
}
