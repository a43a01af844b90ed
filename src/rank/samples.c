/* How sure an order is, given equally likely metrics. */
#include "rank/rank.h"

#include <stdlib.h>
#include <string.h>

static mel_status sampled_values(double *values, mel_metric *metric, size_t n_samples,
                                 const double *coefficients, size_t n, const double *pool, mel_error *err)
{
    const size_t size = mel_metric_coefficients(metric);
    for (size_t s = 0; s < n_samples; s++) {
        mel_status status = mel_metric_set_coefficients(metric, coefficients + s * size, err);
        if (status == MEL_OK)
            status = mel_rank_values(values + s * n, metric, n, pool, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "sample %zu", s + 1);
    }
    return MEL_OK;
}

mel_status mel_rank_sampled_values(double *values, const mel_metric *metric, size_t n_samples,
                                   const double *coefficients, size_t n, const double *pool, mel_error *err)
{
    mel_metric *copy = NULL;
    mel_status status = mel_metric_copy(&copy, metric, err);
    if (status == MEL_OK)
        status = sampled_values(values, copy, n_samples, coefficients, n, pool, err);
    mel_metric_free(copy);
    return status;
}

static mel_status check_samples(size_t n_samples, size_t n, const double *values, mel_error *err)
{
    if (n_samples == 0 || n == 0)
        return mel_fail(err, MEL_EINVAL, "%zu samples of %zu values: nothing to be ranked", n_samples, n);
    for (size_t s = 0; s < n_samples; s++) {
        const mel_status status = mel_rank_check_values(n, values + s * n, "value", err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "sample %zu", s + 1);
    }
    return MEL_OK;
}

mel_status mel_rank_beats(double *beats, size_t n_samples, size_t n, const double *values,
                          mel_orientation orientation, mel_error *err)
{
    const mel_status status = check_samples(n_samples, n, values, err);
    if (status != MEL_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        beats[i * n + i] = 0.5;
        for (size_t j = i + 1; j < n; j++) {
            size_t above = 0, below = 0; /* whole numbers, so that the order of samples cannot matter */
            for (size_t s = 0; s < n_samples; s++) {
                above += values[s * n + i] > values[s * n + j];
                below += values[s * n + i] < values[s * n + j];
            }
            const double up = ((double)above + (double)(n_samples - above - below) / 2.0) / (double)n_samples;
            beats[i * n + j] = orientation == MEL_COST ? 1.0 - up : up;
            beats[j * n + i] = orientation == MEL_COST ? up : 1.0 - up;
        }
    }
    return MEL_OK;
}

/* Adds one to places that position i shares with its equals, divided among them. */
static void add_places(double *places, size_t n, const double *values, const size_t *order)
{
    for (size_t first = 0, end = 0; first < n; first = end) {
        for (end = first + 1; end < n && values[order[end]] == values[order[first]];)
            end++;
        for (size_t i = first; i < end; i++)
            for (size_t place = first; place < end; place++)
                places[order[i] * n + place] += 1.0 / (double)(end - first);
    }
}

mel_status mel_rank_places(double *places, size_t n_samples, size_t n, const double *values,
                           mel_orientation orientation, mel_error *err)
{
    mel_status status = check_samples(n_samples, n, values, err);
    if (status != MEL_OK)
        return status;
    size_t *order = mel_alloc(n, sizeof *order);
    double *scratch = mel_alloc(n, sizeof *scratch);
    if (order == NULL || scratch == NULL)
        status = mel_fail_memory(err, "the order of a pool");
    else
        memset(places, 0, n * n * sizeof *places);
    for (size_t s = 0; status == MEL_OK && s < n_samples; s++) {
        status = mel_rank_best_first(order, n, values + s * n, orientation, scratch, err);
        if (status == MEL_OK)
            add_places(places, n, values + s * n, order);
    }
    for (size_t i = 0; status == MEL_OK && i < n * n; i++)
        places[i] /= (double)n_samples;
    free(order);
    free(scratch);
    return status;
}

static mel_status check_order(bool *named, size_t n, size_t n_order, const size_t *order, mel_error *err)
{
    for (size_t i = 0; i < n_order; i++) {
        if (order[i] >= n || named[order[i]])
            return mel_fail(err, MEL_EINVAL, "an order of %zu: %zu is %s", n, order[i],
                            order[i] >= n ? "beyond it" : "named twice");
        named[order[i]] = true;
    }
    return MEL_OK;
}

/* Whether these values, as utilities of `sign`, leave the order standing. */
static bool stands(size_t n, const double *values, double sign, size_t n_order, const size_t *order,
                   const bool *named)
{
    for (size_t i = 1; i < n_order; i++)
        if (sign * values[order[i]] > sign * values[order[i - 1]])
            return false;
    for (size_t i = 0; n_order > 0 && i < n; i++)
        if (!named[i] && sign * values[i] > sign * values[order[n_order - 1]])
            return false;
    return true;
}

mel_status mel_rank_order_probability(double *out, size_t n_samples, size_t n, const double *values,
                                      mel_orientation orientation, size_t n_order, const size_t *order,
                                      mel_error *err)
{
    mel_status status = check_samples(n_samples, n, values, err);
    if (status != MEL_OK)
        return status;
    bool *named = mel_alloc_zero(n, sizeof *named);
    if (named == NULL)
        return mel_fail_memory(err, "the order of a pool");
    status = check_order(named, n, n_order, order, err);
    size_t standing = 0;
    for (size_t s = 0; status == MEL_OK && s < n_samples; s++)
        standing += stands(n, values + s * n, orientation == MEL_COST ? -1.0 : 1.0, n_order, order, named);
    free(named);
    if (status == MEL_OK)
        *out = (double)standing / (double)n_samples;
    return status;
}
