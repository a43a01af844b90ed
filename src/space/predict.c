/* Plug-in predictions of a block of rows, eight rows side by side. */
#include "space/space.h"

#include "base/la.h"
#include "base/vector.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Four doubles side by side: one register with AVX2, two without; the same roundings either way. */
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t quad_int __attribute__((vector_size(32)));
typedef uint32_t quad_uint __attribute__((vector_size(16), aligned(4), may_alias));

enum {
    QUADS = 2,
    LANES = 4 * QUADS, /* rows side by side */
    COLUMNS = 4,       /* scores of so many classes at once stay in registers */
    MOST_ROWS = 128,
    FEW_BLOCKS = 64 /* not worth a second thread */
};

size_t mel_block_rows(size_t n_classes)
{
    const size_t fit = 2048 / n_classes / LANES * LANES; /* half of 32 kB */
    return fit < LANES ? LANES : fit < MOST_ROWS ? fit : MOST_ROWS;
}

size_t mel_block_scratch(size_t n_classes)
{
    return n_classes * mel_block_rows(n_classes);
}

/* The largest score of each row so far and its class. */
typedef struct {
    quad score[QUADS];
    quad_int class[QUADS];
} leaders;

ALWAYS_INLINE void challenge(leaders *best, size_t class, const quad *score)
{
    const int64_t c = (int64_t) class;
    for (size_t q = 0; q < QUADS; q++) {
        const quad_int better = score[q] > best->score[q], number = { c, c, c, c };
        best->score[q] = (quad)((better & (quad_int)score[q]) | (~better & (quad_int)best->score[q]));
        best->class[q] = (better & number) | (~better & best->class[q]);
    }
}

/* Scores of the classes first, ..., first + count - 1, count <= COLUMNS and known to the compiler. */
ALWAYS_INLINE void challenge_all(leaders *best, size_t k, size_t first, size_t count, const double *gain,
                                 const double *column, size_t rows)
{
    quad score[COLUMNS][QUADS];
    for (size_t c = 0; c < count; c++)
        for (size_t q = 0; q < QUADS; q++)
            score[c][q] = (quad){ 0.0, 0.0, 0.0, 0.0 };
    for (size_t i = 0; i < k; i++) {
        const quad *p = (const quad *)(column + i * rows);
        for (size_t c = 0; c < count; c++)
            for (size_t q = 0; q < QUADS; q++)
                score[c][q] += p[q] * gain[i * k + first + c];
    }
    for (size_t c = 0; c < count; c++)
        challenge(best, first + c, score[c]);
}

/* The winners of LANES rows; column[i * rows] starts their probabilities of class i. */
ALWAYS_INLINE leaders winners(size_t k, const double *gain, bool diagonal, const double *column, size_t rows)
{
    leaders best;
    for (size_t q = 0; q < QUADS; q++) {
        best.score[q] = (quad){ -INFINITY, -INFINITY, -INFINITY, -INFINITY };
        best.class[q] = (quad_int){ 0, 0, 0, 0 };
    }
    if (diagonal) {
        for (size_t j = 0; j < k; j++) {
            const quad *p = (const quad *)(column + j * rows);
            quad score[QUADS];
            for (size_t q = 0; q < QUADS; q++)
                score[q] = p[q] * gain[j * k + j];
            challenge(&best, j, score);
        }
        return best;
    }
    size_t j = 0;
    for (; j + COLUMNS <= k; j += COLUMNS)
        challenge_all(&best, k, j, COLUMNS, gain, column, rows);
    if (k - j == 3)
        challenge_all(&best, k, j, 3, gain, column, rows);
    else if (k - j == 2)
        challenge_all(&best, k, j, 2, gain, column, rows);
    else if (k - j == 1)
        challenge_all(&best, k, j, 1, gain, column, rows);
    return best;
}

MEL_VECTORISED
static void predict(uint32_t *prediction, size_t n, size_t k, size_t rows, const double *gain, bool diagonal,
                    const double *scratch)
{
    for (size_t from = 0; from < n; from += LANES) {
        const leaders best = winners(k, gain, diagonal, scratch + from, rows);
        for (size_t q = 0; q < QUADS; q++)
            *(quad_uint *)(prediction + from + 4 * q) = __builtin_convertvector(best.class[q], quad_uint);
    }
}

bool mel_gain_diagonal(size_t n_classes, const double *gain)
{
    for (size_t i = 0; i < n_classes; i++)
        for (size_t j = 0; j < n_classes; j++)
            if (i != j && gain[i * n_classes + j] != 0.0)
                return false;
    return true;
}

/* Four rows of four numbers become four columns, `stride` apart. */
ALWAYS_INLINE void turn(double *to, size_t stride, const double *const row[4], size_t at)
{
    const quad a = *(const quad *)(row[0] + at), b = *(const quad *)(row[1] + at);
    const quad c = *(const quad *)(row[2] + at), d = *(const quad *)(row[3] + at);
    const quad even_ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const quad odd_ab = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const quad even_cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    const quad odd_cd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    *(quad *)to = __builtin_shufflevector(even_ab, even_cd, 0, 1, 4, 5);
    *(quad *)(to + stride) = __builtin_shufflevector(odd_ab, odd_cd, 0, 1, 4, 5);
    *(quad *)(to + 2 * stride) = __builtin_shufflevector(even_ab, even_cd, 2, 3, 6, 7);
    *(quad *)(to + 3 * stride) = __builtin_shufflevector(odd_ab, odd_cd, 2, 3, 6, 7);
}

/* column[i * stride + b] = probability of class i in row b, n rows. Lanes without a row repeat the last. */
MEL_VECTORISED
static void gather(double *column, size_t stride, size_t n, size_t k, const double *probability,
                   const uint32_t *order)
{
    for (size_t b = 0; b < (n + LANES - 1) / LANES * LANES; b += 4) {
        const double *row[4];
        for (size_t r = 0; r < 4; r++) {
            const size_t at = b + r < n ? b + r : n - 1;
            row[r] = probability + (order != NULL ? order[at] : at) * k;
        }
        size_t i = 0;
        for (; i + 4 <= k; i += 4)
            turn(column + i * stride + b, stride, row, i);
        for (; i < k; i++)
            for (size_t r = 0; r < 4; r++)
                column[i * stride + b + r] = row[r][i];
    }
}

void mel_predict_block(uint32_t *prediction, size_t n, size_t n_classes, const double *probability,
                       const uint32_t *order, const double *gain, bool diagonal, double *scratch)
{
    const size_t rows = mel_block_rows(n_classes);
    gather(scratch, rows, n, n_classes, probability, order);
    predict(prediction, n, n_classes, rows, gain, diagonal, scratch);
}

mel_status mel_order_by_group(uint32_t *order, size_t *start, size_t n, size_t n_groups,
                              const uint32_t *group, mel_error *err)
{
    if (n > UINT32_MAX)
        return mel_fail(err, MEL_ELIMIT, "%zu rows in groups, expected %u at most", n, UINT32_MAX);
    memset(start, 0, (n_groups + 1) * sizeof *start);
    for (size_t r = 0; r < n; r++) {
        if (group[r] >= n_groups)
            return mel_fail(err, MEL_EDATA, "row %zu: group code %u, expected 0 to %zu", r + 1, group[r],
                            n_groups - 1);
        start[group[r] + 1]++;
    }
    for (size_t g = 0; g < n_groups; g++)
        start[g + 1] += start[g];
    for (size_t r = 0; r < n; r++)
        order[start[group[r]]++] = (uint32_t)r;
    for (size_t g = n_groups; g-- > 0;)
        start[g + 1] = start[g];
    start[0] = 0;
    return MEL_OK;
}

/* Predictions of part of the rows order[0..n) (the rows themselves when it is NULL) with one gain. */
typedef struct {
    size_t k, n;
    const double *probability, *gain;
    const uint32_t *order;
    bool diagonal;
} task;

/* Predicts rows from `first` on, as many as a block holds. */
static void predict_part(uint32_t *prediction, const task *t, size_t first, double *scratch)
{
    uint32_t block[MOST_ROWS];
    const size_t rows = mel_block_rows(t->k), n = t->n - first < rows ? t->n - first : rows;
    const uint32_t *order = t->order != NULL ? t->order + first : NULL;
    const double *probability = t->order != NULL ? t->probability : t->probability + first * t->k;
    mel_predict_block(block, n, t->k, probability, order, t->gain, t->diagonal, scratch);
    for (size_t b = 0; b < n; b++)
        prediction[order != NULL ? order[b] : first + b] = block[b];
}

/* scratch: mel_block_scratch for each of the threads. */
static void predict_rows(uint32_t *prediction, const task *t, double *scratch, int threads)
{
    const size_t rows = mel_block_rows(t->k), blocks = t->n / rows + 1;
#pragma omp parallel for schedule(static) num_threads(threads) if (blocks > FEW_BLOCKS)
    for (size_t b = 0; b < blocks; b++)
        if (b * rows < t->n)
            predict_part(prediction, t, b * rows,
                         scratch + (size_t)omp_get_thread_num() * mel_block_scratch(t->k));
}

static mel_status check_numbers(size_t n, size_t k, size_t groups, const double *probability,
                                const double *gain, mel_error *err)
{
    for (size_t c = 0; c < groups * k * k; c++)
        if (!isfinite(gain[c]))
            return mel_fail(err, MEL_EINVAL, "gain[%zu] is %g, expected a finite number", c, gain[c]);
    if (mel_all_finite(n * k, probability))
        return MEL_OK;
    size_t at = 0;
    while (at + 1 < n * k && isfinite(probability[at]))
        at++;
    return mel_fail(err, MEL_EDATA, "row %zu: the probability of class %zu is %g", at / k + 1, at % k + 1,
                    probability[at]);
}

mel_status mel_rule_predict(uint32_t *prediction, size_t n, size_t n_classes, size_t n_groups,
                            const double *probability, const uint32_t *group, const double *gain,
                            mel_error *err)
{
    const size_t k = n_classes, groups = n_groups > 1 ? n_groups : 1;
    if (k < 2)
        return mel_fail(err, MEL_EINVAL, "a rule for %zu classes, expected 2 or more", k);
    if (groups > 1 && group == NULL)
        return mel_fail(err, MEL_EINVAL, "a rule for %zu groups, but no groups of the rows", groups);
    TRY(check_numbers(n, k, groups, probability, gain, err));
    const int threads = mel_thread_count(0);
    MEL_AUTO_MEMORY double *scratch = mel_alloc((size_t)threads * mel_block_scratch(k), sizeof *scratch);
    MEL_AUTO_MEMORY uint32_t *order = groups > 1 ? mel_alloc(n, sizeof *order) : NULL;
    MEL_AUTO_MEMORY size_t *start = mel_alloc(groups + 1, sizeof *start);
    if (scratch == NULL || start == NULL || (groups > 1 && order == NULL))
        return mel_fail_memory(err, "predictions");
    start[0] = 0;
    start[1] = n;
    if (groups > 1)
        TRY(mel_order_by_group(order, start, n, groups, group, err));
    for (size_t g = 0; g < groups; g++) {
        const task t = { k,
                         start[g + 1] - start[g],
                         probability,
                         gain + g * k * k,
                         order != NULL ? order + start[g] : NULL,
                         mel_gain_diagonal(k, gain + g * k * k) };
        predict_rows(prediction, &t, scratch, threads);
    }
    return MEL_OK;
}
