/* A pool of classifiers in the order of a metric, and how sure that is, given equally likely metrics. */
#include "base/stat.h"
#include "rank/rank.h"

#include <stdlib.h>
#include <string.h>

mel_status mel_rank_values(double *values, const mel_metric *metric, size_t n, const double *pool,
                           mel_error *err)
{
    const size_t size = mel_layout_size(mel_metric_layout(metric));
    for (size_t i = 0; i < n; i++) {
        const mel_status status = mel_metric_value(&values[i], metric, pool + i * size, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "row %zu of the pool", i + 1);
    }
    return MEL_OK;
}

mel_status mel_rank_check_values(size_t n, const double *values, const char *what, mel_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return mel_fail(err, MEL_EINVAL, "%s %zu is %g", what, i + 1, values[i]);
    return MEL_OK;
}

mel_status mel_rank_best_first(size_t *order, size_t n, const double *values, mel_orientation orientation,
                               double *scratch, mel_error *err)
{
    const double sign = orientation == MEL_COST ? 1.0 : -1.0; /* sorting ascends */
    for (size_t i = 0; i < n; i++)
        scratch[i] = sign * values[i];
    return mel_argsort(n, scratch, order, err);
}

mel_status mel_rank_order(size_t *order, size_t *place, size_t n, const double *values,
                          mel_orientation orientation, mel_error *err)
{
    mel_status status = mel_rank_check_values(n, values, "value", err);
    if (status != MEL_OK)
        return status;
    double *scratch = mel_alloc(n, sizeof *scratch);
    if (scratch == NULL)
        return mel_fail_memory(err, "the order of a pool");
    status = mel_rank_best_first(order, n, values, orientation, scratch, err);
    free(scratch);
    for (size_t i = 0; status == MEL_OK && place != NULL && i < n; i++) {
        const bool tied = i > 0 && mel_rank_compare(values[order[i]], values[order[i - 1]], orientation) == 0;
        place[order[i]] = tied ? place[order[i - 1]] : i + 1;
    }
    return status;
}

/* --- how sure ----------------------------------------------------------------------------------- */

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

/* The probability that position i is better than j; *stands: that it is no worse. */
static double beats_of(double *stands, size_t n_samples, size_t n, const double *values,
                       mel_orientation orientation, size_t i, size_t j)
{
    size_t above = 0, below = 0; /* whole numbers, so that the order of samples cannot matter */
    for (size_t s = 0; s < n_samples; s++) {
        const int better = mel_rank_compare(values[s * n + i], values[s * n + j], orientation);
        above += better > 0;
        below += better < 0;
    }
    *stands = (double)(n_samples - below) / (double)n_samples;
    return ((double)above + (double)(n_samples - above - below) / 2.0) / (double)n_samples;
}

mel_status mel_rank_beats(double *beats, size_t n_samples, size_t n, const double *values,
                          mel_orientation orientation, mel_error *err)
{
    TRY(check_samples(n_samples, n, values, err));
    for (size_t i = 0; i < n; i++) {
        beats[i * n + i] = 0.5;
        for (size_t j = i + 1; j < n; j++) {
            double stands = 0.0;
            beats[i * n + j] = beats_of(&stands, n_samples, n, values, orientation, i, j);
            beats[j * n + i] = 1.0 - beats[i * n + j];
        }
    }
    return MEL_OK;
}

/* The place behind the last of those that are equal to position `first` of the order. */
static size_t end_of_equals(size_t first, size_t n, const double *values, const size_t *order)
{
    size_t end = first + 1;
    while (end < n && mel_rank_compare(values[order[end]], values[order[first]], MEL_UTILITY) == 0)
        end++;
    return end;
}

/* Adds one to places that position i shares with its equals, divided among them. */
static void add_places(double *places, size_t n, const double *values, const size_t *order)
{
    for (size_t first = 0, end = 0; first < n; first = end) {
        end = end_of_equals(first, n, values, order);
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

bool mel_rank_stands(size_t n, const double *values, mel_orientation orientation, size_t n_order,
                     const size_t *order, const bool *named)
{
    for (size_t i = 1; i < n_order; i++)
        if (mel_rank_compare(values[order[i]], values[order[i - 1]], orientation) > 0)
            return false;
    for (size_t i = 0; named != NULL && n_order > 0 && i < n; i++)
        if (!named[i] && mel_rank_compare(values[i], values[order[n_order - 1]], orientation) > 0)
            return false;
    return true;
}

double mel_rank_order_share(size_t n, const double *values, mel_orientation orientation, size_t n_order,
                            const size_t *order, const bool *named)
{
    double share = mel_rank_stands(n, values, orientation, n_order, order, named) ? 1.0 : 0.0;
    for (size_t i = 0; i < n_order && share > 0.0; i++) {
        size_t equals = 0; /* that could stand here as well, itself among them */
        for (size_t j = i; j < n_order; j++)
            equals += mel_rank_compare(values[order[j]], values[order[i]], orientation) == 0;
        for (size_t j = 0; named != NULL && j < n; j++)
            equals += !named[j] && mel_rank_compare(values[j], values[order[i]], orientation) == 0;
        share /= (double)equals;
    }
    return share;
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
    double standing = 0.0;
    for (size_t s = 0; status == MEL_OK && s < n_samples; s++)
        standing += mel_rank_order_share(n, values + s * n, orientation, n_order, order, named);
    free(named);
    if (status == MEL_OK)
        *out = standing / (double)n_samples;
    return status;
}

/* Adds what the best ones of a sample share. */
static void add_first(double *share, size_t n, const double *values, mel_orientation orientation)
{
    size_t best = 0, equals = 0;
    for (size_t i = 1; i < n; i++)
        if (mel_rank_compare(values[i], values[best], orientation) > 0)
            best = i;
    for (size_t i = 0; i < n; i++)
        equals += mel_rank_compare(values[i], values[best], orientation) == 0;
    for (size_t i = 0; i < n; i++)
        if (mel_rank_compare(values[i], values[best], orientation) == 0)
            share[i] += 1.0 / (double)equals;
}

mel_status mel_rank_weigh(mel_placed_surely *out, double *whole, size_t n_samples, size_t n,
                          const double *values, mel_orientation orientation, const size_t *order,
                          mel_error *err)
{
    TRY(mel_rank_order_probability(whole, n_samples, n, values, orientation, n, order, err));
    double *share = mel_alloc_zero(n, sizeof *share);
    if (share == NULL)
        return mel_fail_memory(err, "the order of a pool");
    for (size_t s = 0; s < n_samples; s++)
        add_first(share, n, values + s * n, orientation);
    for (size_t i = 0; i < n; i++) {
        out[i] = (mel_placed_surely){ share[order[i]] / (double)n_samples, NAN, NAN };
        if (i + 1 < n)
            out[i].beats_next =
                beats_of(&out[i].stands_next, n_samples, n, values, orientation, order[i], order[i + 1]);
    }
    free(share);
    return MEL_OK;
}
