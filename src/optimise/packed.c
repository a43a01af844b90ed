/* Training rows in blocks of one class each, and the sums over them that elicitation needs: one pass per
 * rule. */
#include "base/reduce.h"
#include "base/vector.h"
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below so many blocks a pass is over before a second thread is awake. */
enum { BLOCK = 256, LANES = 8, MOST_SLICES = 64, FEW_BLOCKS = 512, MOST_PATTERNS = 64 };

struct mel_packed {
    mel_weight_size size;
    size_t n_blocks, n_slices;
    /* Basis functions with few different values (clusters): each block then has one set of them, here, and no
     * columns for them. */
    bool constant;
    double *phi;        /* per block: n_basis */
    uint32_t *class_of; /* of each block */
    uint32_t *n_rows;   /* in each block; the rest is 0 */
    double
        *value; /* per block: k probabilities, then unless constant n_basis functions, BLOCK numbers each */
};

static size_t block_size(const mel_packed *p)
{
    return (p->size.k + (p->constant ? 0 : p->size.n_basis)) * BLOCK;
}

void mel_packed_free(mel_packed *p)
{
    if (p == NULL)
        return;
    free(p->phi);
    free(p->class_of);
    free(p->n_rows);
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

/* --- packing ------------------------------------------------------------------------------------ */

/* Rows by class and, where basis functions take few different values, by these. */
typedef struct {
    size_t n_patterns;                                 /* different rows of basis functions; 0: too many */
    double *pattern;                                   /* MOST_PATTERNS x n_basis */
    uint8_t *of;                                       /* of each row */
    size_t count[MOST_PATTERNS], block[MOST_PATTERNS]; /* of one class at a time: rows, first block */
} sorting;

static void find_patterns(sorting *s, const mel_weight_size *size, const mel_weight_rows *rows)
{
    const size_t l = size->n_basis;
    s->n_patterns = 0;
    for (size_t r = 0, last = 0; r < rows->n_rows; r++) {
        const double *phi = mel_weight_basis_row(rows->basis, l, r);
        size_t at = last;
        if (s->n_patterns == 0 || memcmp(s->pattern + at * l, phi, l * sizeof *phi) != 0)
            for (at = 0; at < s->n_patterns && memcmp(s->pattern + at * l, phi, l * sizeof *phi) != 0;)
                at++;
        if (at == MOST_PATTERNS) {
            s->n_patterns = 0;
            return;
        }
        if (at == s->n_patterns)
            memcpy(s->pattern + s->n_patterns++ * l, phi, l * sizeof *phi);
        s->of[r] = (uint8_t)at;
        last = at;
    }
}

static size_t pattern_of(const sorting *s, size_t row)
{
    return s->n_patterns > 0 ? s->of[row] : 0;
}

/* Where the rows of a class go: the number behind its last block. */
static size_t plan_class(sorting *s, const mel_weight_rows *rows, uint32_t c, size_t block)
{
    memset(s->count, 0, sizeof s->count);
    for (size_t r = 0; r < rows->n_rows; r++)
        if (rows->label[r] == c)
            s->count[pattern_of(s, r)]++;
    for (size_t i = 0; i < MOST_PATTERNS; i++) {
        s->block[i] = block;
        block += (s->count[i] + BLOCK - 1) / BLOCK;
        s->count[i] = 0;
    }
    return block;
}

static void pack_row(mel_packed *p, size_t block, size_t place, const mel_weight_rows *rows, size_t r)
{
    const size_t k = p->size.k, n_basis = p->size.n_basis;
    const double *phi = mel_weight_basis_row(rows->basis, n_basis, r);
    double *to = p->value + block * block_size(p) + place;
    for (size_t j = 0; j < k; j++)
        to[j * BLOCK] = rows->probability[r * k + j];
    for (size_t l = 0; l < n_basis; l++)
        if (p->constant)
            p->phi[block * n_basis + l] = phi[l];
        else
            to[(k + l) * BLOCK] = phi[l];
    p->class_of[block] = rows->label[r];
    p->n_rows[block]++;
}

static void pack_all(mel_packed *p, sorting *s, const mel_weight_rows *rows)
{
    for (uint32_t c = 0; c < p->size.k; c++) {
        p->n_blocks = plan_class(s, rows, c, p->n_blocks);
        for (size_t r = 0; r < rows->n_rows; r++) {
            if (rows->label[r] != c)
                continue;
            const size_t i = pattern_of(s, r), at = s->count[i]++;
            pack_row(p, s->block[i] + at / BLOCK, at % BLOCK, rows, r);
        }
    }
    p->n_slices = p->n_blocks < MOST_SLICES ? p->n_blocks : MOST_SLICES;
}

static bool make_room(mel_packed *p, size_t n_blocks)
{
    p->phi = mel_alloc_zero(p->constant ? n_blocks : 0, p->size.n_basis * sizeof *p->phi);
    p->class_of = mel_alloc_zero(n_blocks, sizeof *p->class_of);
    p->n_rows = mel_alloc_zero(n_blocks, sizeof *p->n_rows);
    p->value = mel_alloc_zero(n_blocks, block_size(p) * sizeof *p->value);
    return p->phi != NULL && p->class_of != NULL && p->n_rows != NULL && p->value != NULL;
}

mel_status mel_packed_new(mel_packed **out, const mel_weight_size *size, const mel_weight_rows *rows,
                          mel_error *err)
{
    *out = NULL;
    sorting s = { .pattern = mel_alloc(MOST_PATTERNS * size->n_basis, sizeof *s.pattern),
                  .of = mel_alloc(rows->n_rows, sizeof *s.of) };
    mel_packed *p = mel_alloc_zero(1, sizeof *p);
    bool whole = p != NULL && s.pattern != NULL && s.of != NULL;
    if (whole) {
        p->size = *size;
        if (!size->whole)
            find_patterns(&s, size, rows);
        p->constant = s.n_patterns > 0;
        whole = make_room(p, rows->n_rows / BLOCK + size->k * (p->constant ? s.n_patterns : 1));
    }
    if (whole)
        pack_all(p, &s, rows);
    free(s.pattern);
    free(s.of);
    if (!whole) {
        mel_packed_free(p);
        return mel_fail_memory(err, "training rows");
    }
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

static double class_weight(const mel_packed *p, size_t b, size_t j, const double *weight)
{
    const double *phi = p->phi + b * p->size.n_basis;
    double sum = weight[j] * phi[0];
    for (size_t l = 1; l < p->size.n_basis; l++)
        sum += weight[l * p->size.k + j] * phi[l];
    return sum;
}

/* Hits in a block; rows that only fill it up have score 0 everywhere, and win where their class wins ties of
 * all. */
static double count_hits(const mel_packed *p, size_t b, const double *weight)
{
    const size_t k = p->size.k, c = p->class_of[b];
    const double *block = p->value + b * block_size(p), fill = (double)(BLOCK - p->n_rows[b]);
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

static void count_diagonal(double *moment, const mel_packed *p, size_t b, const double *weight)
{
    const size_t n_basis = p->size.n_basis, n_directions = p->size.n_directions;
    const double *phi = p->phi + b * n_basis, hits = count_hits(p, b, weight);
    double *to = moment + p->class_of[b] * n_directions * n_basis;
    for (size_t d = 0; d < n_directions; d++)
        for (size_t l = 0; l < n_basis; l++)
            to[d * n_basis + l] += (d == 0 ? hits : hits * phi[d - 1]) * phi[l];
}

static void sum_diagonal(double *moment, const mel_packed *p, size_t b, const double *weight)
{
    const mel_weight_size *size = &p->size;
    const double *block = p->value + b * block_size(p);
    double hit[BLOCK];
    find_hits(hit, size, block, p->class_of[b], weight);
    add_hits(moment + p->class_of[b] * size->n_directions * size->n_basis, size, block, hit);
}

/* --- the whole matrix: row by row --------------------------------------------------------------- */

/* Probabilities and basis functions of a row, out of its block. */
static void unpack(double *row, const mel_packed *p, size_t b, size_t r)
{
    const double *block = p->value + b * block_size(p);
    for (size_t c = 0; c < block_size(p) / BLOCK; c++)
        row[c] = block[c * BLOCK + r];
    if (p->constant)
        memcpy(row + p->size.k, p->phi + b * p->size.n_basis, p->size.n_basis * sizeof *row);
}

/* gain NULL: every row counts, into the block of its class. scratch: 2 k + n_basis + n_directions. */
static void sum_rows(double *moment, const mel_packed *p, size_t b, const double *gain, double *scratch)
{
    const mel_weight_size *size = &p->size;
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

/* --- over all blocks ---------------------------------------------------------------------------- */

static size_t slice_start(const mel_packed *p, size_t slice)
{
    return slice * p->n_blocks / p->n_slices;
}

typedef struct {
    const mel_packed *packed;
    const double *weight;
    size_t n; /* sums of a slice; scratch is behind them */
} pass;

/* One slice into sums of its own, which are 0 before. */
static void sum_slice(double *sums, size_t slice, size_t thread, void *user)
{
    (void)thread;
    const pass *own = user;
    const mel_packed *p = own->packed;
    const double *weight = own->weight;
    double *scratch = sums + own->n;
    for (size_t b = slice_start(p, slice); b < slice_start(p, slice + 1); b++)
        if (weight == NULL || p->size.whole)
            sum_rows(sums, p, b, weight, scratch);
        else if (p->constant)
            count_diagonal(sums, p, b, weight);
        else
            sum_diagonal(sums, p, b, weight);
}

static mel_status sum_all(double *moment, size_t n, const mel_packed *p, const double *weight, mel_error *err)
{
    const mel_weight_size *size = &p->size;
    const size_t n_scratch = 2 * size->k + size->n_basis + size->n_directions, n_all = n + n_scratch;
    double *part = mel_alloc_zero(p->n_slices, n_all * sizeof *part);
    if (part == NULL)
        return mel_fail_memory(err, "sums over training rows");
    const mel_slices slices = { .n_slices = p->n_slices,
                                .rows = p->n_blocks * BLOCK,
                                .size = n,
                                .stride = n_all,
                                .sum = part,
                                .threads = p->n_blocks > FEW_BLOCKS ? mel_thread_count(size->threads) : 1,
                                .fill = sum_slice,
                                .user = &(pass){ p, weight, n } };
    mel_slices_fill(&slices);
    mel_slices_join(&slices);
    for (size_t i = 0; i < n; i++)
        moment[i] = p->n_slices > 0 ? part[i] : 0.0;
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
