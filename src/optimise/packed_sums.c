/* Sums over a block of training rows of one class. */
#include "base/vector.h"
#include "optimise/packed.h"

#include <string.h>

enum { BLOCK = MEL_PACKED_BLOCK, LANES = 8 };

/* --- the diagonal: whether a row is decided as its own class ------------------------------------ */

/* score = P(Y=j|x) times the weight of class j. */
MEL_VECTORISED
static void score_class(double *restrict score, size_t n_basis, size_t k, const double *restrict block,
                        size_t j, const double *restrict weight)
{
    const double *restrict probability = block + j * BLOCK, *restrict phi = block + k * BLOCK;
    for (size_t r = 0; r < BLOCK; r++)
        score[r] = weight[j] * phi[r];
    for (size_t l = 1; l < n_basis; l++) {
        const double w = weight[l * k + j];
        for (size_t r = 0; r < BLOCK; r++)
            score[r] += w * phi[l * BLOCK + r];
    }
    for (size_t r = 0; r < BLOCK; r++)
        score[r] *= probability[r];
}

MEL_VECTORISED
static void drop_losers(double *restrict hit, const double *restrict own, const double *restrict other,
                        bool first_wins)
{
    if (first_wins)
        for (size_t r = 0; r < BLOCK; r++)
            hit[r] = own[r] >= other[r] ? hit[r] : 0.0;
    else
        for (size_t r = 0; r < BLOCK; r++)
            hit[r] = own[r] > other[r] ? hit[r] : 0.0;
}

/* Sum of a b, independent sums side by side. */
MEL_VECTORISED
static double sum_products(const double *restrict a, const double *restrict b)
{
    double lane[LANES] = { 0 };
    for (size_t r = 0; r < BLOCK; r += LANES)
        for (size_t q = 0; q < LANES; q++)
            lane[q] += a[r + q] * b[r + q];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

MEL_VECTORISED
static void multiply(double *restrict out, const double *restrict a, const double *restrict b)
{
    for (size_t r = 0; r < BLOCK; r++)
        out[r] = a[r] * b[r];
}

/* Adds a block's rows with hit 1 to moment[d][l] of its class. */
static void add_hits(double *moment, const mel_weight_size *size, const double *block, const double *hit)
{
    const size_t n_basis = size->n_basis;
    const double *phi = block + size->k * BLOCK;
    double part[BLOCK];
    for (size_t l = 0; l < n_basis; l++)
        moment[l] += sum_products(hit, phi + l * BLOCK);
    for (size_t d = 1; d < size->n_directions; d++) {
        multiply(part, hit, phi + (d - 1) * BLOCK);
        for (size_t l = d - 1; l < n_basis; l++) {
            const double sum = sum_products(part, phi + l * BLOCK);
            moment[d * n_basis + l] += sum;
            if (l != d - 1)
                moment[(l + 1) * n_basis + d - 1] += sum;
        }
    }
}

static void find_hits(double *hit, const mel_weight_size *size, const double *block, uint32_t class_of,
                      const double *weight)
{
    double own[BLOCK], other[BLOCK];
    for (size_t r = 0; r < BLOCK; r++)
        hit[r] = 1.0;
    score_class(own, size->n_basis, size->k, block, class_of, weight);
    for (size_t j = 0; j < size->k; j++) {
        if (j == class_of)
            continue;
        score_class(other, size->n_basis, size->k, block, j, weight);
        drop_losers(hit, own, other, class_of < j); /* the smaller class wins a tie */
    }
}

/* --- blocks with constant basis functions: hits are only counted -------------------------------- */

/* Rows where own wins, as the larger or where `first_wins` as the equal score. */
MEL_VECTORISED
static double count_wins(const double *restrict own, double own_weight, const double *restrict other,
                         double other_weight, bool first_wins)
{
    double lane[LANES] = { 0 };
    if (first_wins)
        for (size_t r = 0; r < BLOCK; r += LANES)
            for (size_t q = 0; q < LANES; q++)
                lane[q] += own_weight * own[r + q] >= other_weight * other[r + q] ? 1.0 : 0.0;
    else
        for (size_t r = 0; r < BLOCK; r += LANES)
            for (size_t q = 0; q < LANES; q++)
                lane[q] += own_weight * own[r + q] > other_weight * other[r + q] ? 1.0 : 0.0;
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

MEL_VECTORISED
static void scale_class(double *restrict score, const double *restrict probability, double weight)
{
    for (size_t r = 0; r < BLOCK; r++)
        score[r] = weight * probability[r];
}

MEL_VECTORISED
static double sum_of(const double *restrict a)
{
    double lane[LANES] = { 0 };
    for (size_t r = 0; r < BLOCK; r += LANES)
        for (size_t q = 0; q < LANES; q++)
            lane[q] += a[r + q];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

static double class_weight(const mel_packed_slice *p, size_t b, size_t j, const double *weight)
{
    const double *phi = p->phi + b * p->size->n_basis;
    double sum = weight[j] * phi[0];
    for (size_t l = 1; l < p->size->n_basis; l++)
        sum += weight[l * p->size->k + j] * phi[l];
    return sum;
}

/* Hits in a block; rows that only fill it up have score 0 everywhere, and win where their class wins ties of
 * all. */
static double count_hits(const mel_packed_slice *p, size_t b, const double *weight)
{
    const size_t k = p->size->k, c = p->class_of[b];
    const double *block = p->value + b * mel_packed_block(p), fill = (double)(BLOCK - p->n_rows[b]);
    const double filled = c == 0 ? fill : 0.0;
    if (k == 2)
        return count_wins(block + c * BLOCK, class_weight(p, b, c, weight), block + (1 - c) * BLOCK,
                          class_weight(p, b, 1 - c, weight), c == 0) -
               filled;
    double hit[BLOCK], own[BLOCK], other[BLOCK];
    for (size_t r = 0; r < BLOCK; r++)
        hit[r] = 1.0;
    scale_class(own, block + c * BLOCK, class_weight(p, b, c, weight));
    for (size_t j = 0; j < k; j++) {
        if (j == c)
            continue;
        scale_class(other, block + j * BLOCK, class_weight(p, b, j, weight));
        drop_losers(hit, own, other, c < j);
    }
    return sum_of(hit) - filled;
}

static void count_diagonal(double *moment, const mel_packed_slice *p, size_t b, const double *weight)
{
    const size_t n_basis = p->size->n_basis, n_directions = p->size->n_directions;
    const double *phi = p->phi + b * n_basis, hits = count_hits(p, b, weight);
    double *to = moment + p->class_of[b] * n_directions * n_basis;
    for (size_t d = 0; d < n_directions; d++)
        for (size_t l = 0; l < n_basis; l++)
            to[d * n_basis + l] += (d == 0 ? hits : hits * phi[d - 1]) * phi[l];
}

static void sum_diagonal(double *moment, const mel_packed_slice *p, size_t b, const double *weight)
{
    const mel_weight_size *size = p->size;
    const double *block = p->value + b * mel_packed_block(p);
    double hit[BLOCK];
    find_hits(hit, size, block, p->class_of[b], weight);
    add_hits(moment + p->class_of[b] * size->n_directions * size->n_basis, size, block, hit);
}

/* --- the whole matrix: row by row --------------------------------------------------------------- */

/* Probabilities and basis functions of a row, out of its block. */
static void unpack(double *row, const mel_packed_slice *p, size_t b, size_t r)
{
    const double *block = p->value + b * mel_packed_block(p);
    for (size_t c = 0; c < mel_packed_block(p) / BLOCK; c++)
        row[c] = block[c * BLOCK + r];
    if (p->constant)
        memcpy(row + p->size->k, p->phi + b * p->size->n_basis, p->size->n_basis * sizeof *row);
}

/* gain NULL: every row counts, into the block of its class. scratch: 2 k + n_basis + n_directions. */
static void sum_rows(double *moment, const mel_packed_slice *p, size_t b, const double *gain, double *scratch)
{
    const mel_weight_size *size = p->size;
    const size_t k = size->k, n_basis = size->n_basis, n_directions = size->n_directions;
    double *row = scratch, *phi = row + k, *score = phi + n_basis, *u = score + k;
    for (size_t r = 0; r < p->n_rows[b]; r++) {
        unpack(row, p, b, r);
        size_t cell = p->class_of[b];
        if (gain != NULL)
            cell = cell * k + mel_weighted_class(k, n_basis, gain, false, row, phi, score);
        mel_directions(u, size, row, phi);
        double *to = moment + cell * n_directions * n_basis;
        for (size_t d = 0; d < n_directions; d++)
            for (size_t l = 0; l < n_basis; l++)
                to[d * n_basis + l] += u[d] * phi[l];
    }
}

void mel_packed_add_block(double *sums, const mel_packed_slice *p, size_t b, const double *weight,
                          double *scratch)
{
    if (weight == NULL || p->size->whole)
        sum_rows(sums, p, b, weight, scratch);
    else if (p->constant)
        count_diagonal(sums, p, b, weight);
    else
        sum_diagonal(sums, p, b, weight);
}
