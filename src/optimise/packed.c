/* Training rows in blocks of one class each, and the sums over them that elicitation needs: one pass per
 * rule. */
#include "base/vector.h"
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below so many blocks a pass is over before a second thread is awake. */
enum { BLOCK = 256, LANES = 8, MOST_SLICES = 64, FEW_BLOCKS = 512 };

struct mel_packed {
    mel_weight_size size;
    size_t n_blocks, n_slices;
    uint32_t *class_of; /* of each block */
    double *value;      /* per block: k probabilities, then n_basis functions, BLOCK numbers each; rows that
                         * fill up the last block of a class are 0 */
};

static size_t block_size(const mel_weight_size *size)
{
    return (size->k + size->n_basis) * BLOCK;
}

void mel_packed_free(mel_packed *p)
{
    if (p == NULL)
        return;
    free(p->class_of);
    free(p->value);
    free(p);
}

void mel_directions(double *u, const mel_weight_size *size, const double *probability, const double *phi)
{
    u[0] = 1.0;
    if (size->n_directions == 1)
        return;
    for (size_t l = 0; l < size->n_basis; l++) {
        if (!size->whole)
            u[1 + l] = phi[l];
        for (size_t i = 0; size->whole && i < size->k; i++)
            u[1 + l * size->k + i] = phi[l] * probability[i];
    }
}

/* Puts the rows of class c into blocks from number `block` on; the number behind the last one. */
static size_t pack_class(mel_packed *p, const mel_weight_rows *rows, uint32_t c, size_t block)
{
    const size_t k = p->size.k, n_basis = p->size.n_basis;
    size_t place = 0;
    for (size_t r = 0; r < rows->n_rows; r++) {
        if (rows->label[r] != c)
            continue;
        double *to = p->value + block * block_size(&p->size) + place;
        const double *phi = mel_weight_basis_row(rows->basis, n_basis, r);
        p->class_of[block] = c;
        for (size_t j = 0; j < k; j++)
            to[j * BLOCK] = rows->probability[r * k + j];
        for (size_t l = 0; l < n_basis; l++)
            to[(k + l) * BLOCK] = phi[l];
        if (++place == BLOCK) {
            place = 0;
            block++;
        }
    }
    return place > 0 ? block + 1 : block;
}

mel_status mel_packed_new(mel_packed **out, const mel_weight_size *size, const mel_weight_rows *rows,
                          mel_error *err)
{
    *out = NULL;
    const size_t most = rows->n_rows / BLOCK + size->k;
    mel_packed *p = mel_alloc_zero(1, sizeof *p);
    if (p != NULL) {
        p->size = *size;
        p->class_of = mel_alloc_zero(most, sizeof *p->class_of);
        p->value = mel_alloc_zero(most, block_size(size) * sizeof *p->value);
    }
    if (p == NULL || p->class_of == NULL || p->value == NULL) {
        mel_packed_free(p);
        return mel_fail_memory(err, "training rows");
    }
    for (uint32_t c = 0; c < size->k; c++)
        p->n_blocks = pack_class(p, rows, c, p->n_blocks);
    p->n_slices = p->n_blocks < MOST_SLICES ? p->n_blocks : MOST_SLICES;
    *out = p;
    return MEL_OK;
}

size_t mel_packed_moments(const mel_weight_size *size)
{
    return mel_weight_cells(size) * size->n_directions * size->n_basis;
}

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

static void sum_diagonal(double *moment, const mel_packed *p, size_t b, const double *weight)
{
    const mel_weight_size *size = &p->size;
    const double *block = p->value + b * block_size(size);
    double hit[BLOCK];
    find_hits(hit, size, block, p->class_of[b], weight);
    add_hits(moment + p->class_of[b] * size->n_directions * size->n_basis, size, block, hit);
}

/* --- the whole matrix: row by row --------------------------------------------------------------- */

/* A row out of its block. */
static void unpack(double *row, const mel_weight_size *size, const double *block, size_t r)
{
    for (size_t c = 0; c < size->k + size->n_basis; c++)
        row[c] = block[c * BLOCK + r];
}

/* gain NULL: every row counts, into the block of its class. scratch: 2 k + n_basis + n_directions. */
static void sum_rows(double *moment, const mel_packed *p, size_t b, const double *gain, double *scratch)
{
    const mel_weight_size *size = &p->size;
    const size_t k = size->k, n_basis = size->n_basis, n_directions = size->n_directions;
    double *row = scratch, *phi = row + k, *score = phi + n_basis, *u = score + k;
    for (size_t r = 0; r < BLOCK; r++) {
        unpack(row, size, p->value + b * block_size(size), r);
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

/* --- over all blocks ---------------------------------------------------------------------------- */

static size_t slice_start(const mel_packed *p, size_t slice)
{
    return slice * p->n_blocks / p->n_slices;
}

/* One slice into sums of its own, so that the order of additions does not depend on threads. */
static void sum_slice(double *sums, double *scratch, const mel_packed *p, size_t slice, const double *weight)
{
    for (size_t b = slice_start(p, slice); b < slice_start(p, slice + 1); b++)
        if (weight != NULL && !p->size.whole)
            sum_diagonal(sums, p, b, weight);
        else
            sum_rows(sums, p, b, weight, scratch);
}

static mel_status sum_all(double *moment, size_t n, const mel_packed *p, const double *weight, mel_error *err)
{
    const mel_weight_size *size = &p->size;
    const size_t n_scratch = 2 * size->k + size->n_basis + size->n_directions, n_all = n + n_scratch;
    double *part = mel_alloc_zero(p->n_slices, n_all * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "sums over training rows");
    const int threads = mel_thread_count(size->threads);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (p->n_blocks > FEW_BLOCKS)
    for (size_t s = 0; s < p->n_slices; s++)
        sum_slice(part + s * n_all, part + s * n_all + n, p, s, weight);
    memset(moment, 0, n * sizeof *moment);
    for (size_t s = 0; s < p->n_slices; s++)
        for (size_t i = 0; i < n; i++)
            moment[i] += part[s * n_all + i];
    free(part);
    return MEL_OK;
}

mel_status mel_packed_sums(double *moment, const mel_packed *p, const double *weight, mel_error *err)
{
    return sum_all(moment, mel_packed_moments(&p->size), p, weight, err);
}

mel_status mel_packed_totals(double *total, const mel_packed *p, mel_error *err)
{
    return sum_all(total, p->size.k * p->size.n_directions * p->size.n_basis, p, NULL, err);
}
