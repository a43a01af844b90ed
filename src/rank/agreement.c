/* How alike two orders are: Kendall's tau-b, NDCG. */
#include "base/stat.h"
#include "melicit/rank.h"
#include "rank/rank.h"

#include <math.h>
#include <stdlib.h>

/* 2^1000 still leaves room to add up. */
static const double most_relevance = 1000.0;

/* Pairs among the runs of equal neighbours in keys[order[0..n)], second keys (may be NULL) equal as well. */
static uint64_t tied_pairs(size_t n, const double *key, const double *second, const size_t *order)
{
    uint64_t pairs = 0, run = 0;
    for (size_t i = 1; i < n; i++) {
        const bool same = key[order[i]] == key[order[i - 1]] &&
                          (second == NULL || second[order[i]] == second[order[i - 1]]);
        run = same ? run + 1 : 0;
        pairs += run;
    }
    return pairs;
}

/* Merges two ascending runs; counts how often an earlier number is above a later one. */
static uint64_t merge(double *out, const double *left, size_t n_left, const double *right, size_t n_right)
{
    uint64_t above = 0;
    size_t i = 0, j = 0;
    for (size_t at = 0; at < n_left + n_right; at++) {
        const bool take_right = i == n_left || (j < n_right && right[j] < left[i]);
        if (take_right)
            above += n_left - i;
        out[at] = take_right ? right[j++] : left[i++];
    }
    return above;
}

/* Pairs i < j with y[i] > y[j], by merge sort from the bottom up; y and spare (n numbers) are overwritten. */
static uint64_t inversions(size_t n, double *y, double *spare)
{
    uint64_t pairs = 0;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t first = 0; first < n; first += 2 * width) {
            const size_t middle = first + width < n ? first + width : n;
            const size_t end = middle + width < n ? middle + width : n;
            pairs += merge(spare + first, y + first, middle - first, y + middle, end - middle);
        }
        double *swap = y;
        y = spare;
        spare = swap;
    }
    return pairs;
}

/* Knight (1966): order by x, then y; discordant pairs are then the inversions of y. */
mel_status mel_kendall_tau(double *out, size_t n, const double *x, const double *y, mel_error *err)
{
    TRY(mel_rank_check_values(n, x, "first list: number", err));
    TRY(mel_rank_check_values(n, y, "second list: number", err));
    if (n > UINT32_MAX)
        return mel_fail(err, MEL_ELIMIT, "%zu numbers to be ranked, at most %lu", n,
                        (unsigned long)UINT32_MAX);
    *out = (double)NAN;
    if (n < 2)
        return MEL_OK;
    MEL_AUTO_MEMORY size_t *by_y = mel_alloc(n, 3 * sizeof *by_y);
    MEL_AUTO_MEMORY double *key = mel_alloc(n, 2 * sizeof *key);
    if (by_y == NULL || key == NULL)
        return mel_fail_memory(err, "Kendall's tau");
    size_t *by_x = by_y + n, *order = by_x + n;
    TRY(mel_argsort(n, y, by_y, err));
    for (size_t i = 0; i < n; i++)
        key[i] = x[by_y[i]];
    TRY(mel_argsort(n, key, by_x, err)); /* stable: ties stay in the order of y */
    for (size_t i = 0; i < n; i++)
        order[i] = by_y[by_x[i]];
    const uint64_t all = (uint64_t)n * (n - 1) / 2, x_ties = tied_pairs(n, x, NULL, order);
    const uint64_t y_ties = tied_pairs(n, y, NULL, by_y), both = tied_pairs(n, x, y, order);
    for (size_t i = 0; i < n; i++)
        key[i] = y[order[i]];
    const uint64_t discordant = inversions(n, key, key + n);
    const uint64_t untied = all - x_ties - y_ties + both; /* in neither list */
    const double balance = (double)untied - 2.0 * (double)discordant;
    if (x_ties < all && y_ties < all)
        *out = fmax(-1.0, fmin(1.0, balance / sqrt((double)(all - x_ties)) / sqrt((double)(all - y_ties))));
    return MEL_OK;
}

/* 2^r - 1. */
static double gain_of(double relevance)
{
    static const double ln_2 = 0.69314718055994530942;
    return expm1(relevance * ln_2);
}

/* Sum of gain times discount in the order of descending `score` (order: ascending positions of -score), equal
 * scores sharing their mean gain. */
static double discounted(size_t n, const double *relevance, const double *score, const size_t *order)
{
    mel_sum sum = { 0.0, 0.0 };
    for (size_t first = 0, end = 0; first < n; first = end) {
        mel_sum gains = { 0.0, 0.0 }, discounts = { 0.0, 0.0 };
        for (end = first; end < n && score[order[end]] == score[order[first]]; end++) {
            mel_sum_add(&gains, gain_of(relevance[order[end]]));
            mel_sum_add(&discounts, 1.0 / log2((double)end + 2.0));
        }
        mel_sum_add(&sum, mel_sum_value(&gains) / (double)(end - first) * mel_sum_value(&discounts));
    }
    return mel_sum_value(&sum);
}

mel_status mel_ndcg(double *out, size_t n, const double *relevance, const double *score, mel_error *err)
{
    if (n == 0)
        return mel_fail(err, MEL_EINVAL, "nothing to be ranked");
    TRY(mel_rank_check_values(n, score, "score", err));
    for (size_t i = 0; i < n; i++)
        if (!(relevance[i] >= 0.0 && relevance[i] <= most_relevance))
            return mel_fail(err, MEL_EINVAL, "relevance %zu is %g, not from 0 to %g", i + 1, relevance[i],
                            most_relevance);
    MEL_AUTO_MEMORY size_t *order = mel_alloc(n, sizeof *order);
    MEL_AUTO_MEMORY double *scratch = mel_alloc(n, sizeof *scratch);
    if (order == NULL || scratch == NULL)
        return mel_fail_memory(err, "the order of a pool");
    TRY(mel_rank_best_first(order, n, score, MEL_UTILITY, scratch, err));
    const double got = discounted(n, relevance, score, order);
    TRY(mel_rank_best_first(order, n, relevance, MEL_UTILITY, scratch, err));
    const double best = discounted(n, relevance, relevance, order);
    *out = best > 0.0 ? got / best : 0.0;
    return MEL_OK;
}

/* Utilities from 0 (worst) to 1 (best); all 0 when they are equal. */
static bool scale_utilities(double *out, size_t n, const double *values, mel_orientation orientation)
{
    double low = values[0], high = values[0];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    /* Halved, so that the range of extreme values is finite. */
    const double range = high / 2.0 - low / 2.0;
    for (size_t i = 0; i < n; i++) {
        const double above = range > 0.0 ? (values[i] / 2.0 - low / 2.0) / range : 0.0;
        out[i] = orientation == MEL_COST && range > 0.0 ? 1.0 - above : above;
    }
    return range > 0.0;
}

mel_status mel_rank_agreement(mel_agreement *out, size_t n, const double *reference,
                              mel_orientation reference_orientation, const double *values,
                              mel_orientation orientation, mel_error *err)
{
    if (n == 0)
        return mel_fail(err, MEL_EINVAL, "nothing to be ranked");
    TRY(mel_rank_check_values(n, reference, "reference value", err));
    TRY(mel_rank_check_values(n, values, "value", err));
    MEL_AUTO_MEMORY double *relevance = mel_alloc(n, 2 * sizeof *relevance);
    if (relevance == NULL)
        return mel_fail_memory(err, "the order of a pool");
    double *score = relevance + n;
    const bool tells = scale_utilities(relevance, n, reference, reference_orientation);
    for (size_t i = 0; i < n; i++)
        score[i] = orientation == MEL_COST ? -values[i] : values[i];
    mel_agreement found = { (double)NAN, 1.0, false };
    TRY(mel_kendall_tau(&found.tau, n, reference, values, err));
    if (tells)
        TRY(mel_ndcg(&found.ndcg, n, relevance, score, err));
    found.tau *= reference_orientation == orientation ? 1.0 : -1.0;
    double best_score = score[0], best_reference = relevance[0];
    for (size_t i = 1; i < n; i++) {
        best_score = fmax(best_score, score[i]);
        best_reference = fmax(best_reference, relevance[i]);
    }
    for (size_t i = 0; i < n; i++)
        found.same_best = found.same_best || (score[i] == best_score && relevance[i] == best_reference);
    *out = found;
    return MEL_OK;
}
