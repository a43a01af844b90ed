/* A pool of classifiers in the order of a metric, and how sure that is, given samples of values. */
#include "base/stat.h"
#include "rank/rank.h"

#include <math.h>
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
    TRY(mel_rank_check_values(n, values, "value", err));
    MEL_AUTO_MEMORY double *scratch = mel_alloc(n, sizeof *scratch);
    if (scratch == NULL)
        return mel_fail_memory(err, "the order of a pool");
    TRY(mel_rank_best_first(order, n, values, orientation, scratch, err));
    for (size_t i = 0; place != NULL && i < n; i++) {
        const bool tied = i > 0 && mel_rank_compare(values[order[i]], values[order[i - 1]], orientation) == 0;
        place[order[i]] = tied ? place[order[i - 1]] : i + 1;
    }
    return MEL_OK;
}

/* --- how sure ----------------------------------------------------------------------------------- */

mel_status mel_rank_sampled_values(double *values, const mel_metric *metric, size_t n_samples,
                                   const double *coefficients, size_t n, const double *pool, mel_error *err)
{
    const size_t size = mel_metric_coefficients(metric);
    MEL_AUTO(mel_metric) *copy = NULL;
    TRY(mel_metric_copy(&copy, metric, err));
    for (size_t s = 0; s < n_samples; s++) {
        mel_status status = mel_metric_set_coefficients(copy, coefficients + s * size, err);
        if (status == MEL_OK)
            status = mel_rank_values(values + s * n, copy, n, pool, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "sample %zu", s + 1);
    }
    return MEL_OK;
}

static mel_status check_samples(const mel_rank_samples *of, mel_error *err)
{
    if (of->n_samples == 0 || of->n == 0)
        return mel_fail(err, MEL_EINVAL, "%zu samples of %zu values: nothing to be ranked", of->n_samples,
                        of->n);
    for (size_t s = 0; s < of->n_samples; s++) {
        const mel_status status = mel_rank_check_values(of->n, of->values + s * of->n, "value", err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "sample %zu", s + 1);
    }
    return MEL_OK;
}

static double weight_of(const mel_rank_samples *of, size_t s)
{
    return of->weight != NULL ? of->weight[s] : 1.0;
}

static double all_weights(const mel_rank_samples *of)
{
    double sum = 0.0;
    for (size_t s = 0; s < of->n_samples; s++)
        sum += weight_of(of, s);
    return sum;
}

/* The probability that position i is better than j; *stands: that it is no worse. */
static double beats_of(double *stands, const mel_rank_samples *of, size_t i, size_t j)
{
    double above = 0.0, equal = 0.0;
    for (size_t s = 0; s < of->n_samples; s++) {
        const double *value = of->values + s * of->n;
        const int better = mel_rank_compare(value[i], value[j], of->orientation);
        above += better > 0 ? weight_of(of, s) : 0.0;
        equal += better == 0 ? weight_of(of, s) : 0.0;
    }
    const double all = all_weights(of);
    *stands = (above + equal) / all;
    return (above + equal / 2.0) / all;
}

mel_status mel_rank_beats(double *beats, const mel_rank_samples *of, mel_error *err)
{
    const size_t n = of->n;
    TRY(check_samples(of, err));
    for (size_t i = 0; i < n; i++) {
        beats[i * n + i] = 0.5;
        for (size_t j = i + 1; j < n; j++) {
            double stands = 0.0;
            beats[i * n + j] = beats_of(&stands, of, i, j);
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

/* Adds the weight to places that position i shares with its equals, divided among them. */
static void add_places(double *places, size_t n, const double *values, const size_t *order, double weight)
{
    for (size_t first = 0, end = 0; first < n; first = end) {
        end = end_of_equals(first, n, values, order);
        for (size_t i = first; i < end; i++)
            for (size_t place = first; place < end; place++)
                places[order[i] * n + place] += weight / (double)(end - first);
    }
}

mel_status mel_rank_places(double *places, const mel_rank_samples *of, mel_error *err)
{
    const size_t n = of->n;
    TRY(check_samples(of, err));
    MEL_AUTO_MEMORY size_t *order = mel_alloc(n, sizeof *order);
    MEL_AUTO_MEMORY double *scratch = mel_alloc(n, sizeof *scratch);
    if (order == NULL || scratch == NULL)
        return mel_fail_memory(err, "the order of a pool");
    memset(places, 0, n * n * sizeof *places);
    for (size_t s = 0; s < of->n_samples; s++) {
        TRY(mel_rank_best_first(order, n, of->values + s * n, of->orientation, scratch, err));
        add_places(places, n, of->values + s * n, order, weight_of(of, s));
    }
    const double all = all_weights(of);
    for (size_t i = 0; i < n * n; i++)
        places[i] /= all;
    return MEL_OK;
}

bool mel_rank_stands(size_t n, const double *values, mel_orientation orientation, const size_t *order)
{
    for (size_t i = 1; i < n; i++)
        if (mel_rank_compare(values[order[i]], values[order[i - 1]], orientation) > 0)
            return false;
    return true;
}

/* How probable an order is by these values alone: 0 where it does not stand; where several are equal every
 * order of them is as likely. */
static double order_share(const mel_rank_samples *of, size_t s, const size_t *order)
{
    const double *value = of->values + s * of->n;
    double share = mel_rank_stands(of->n, value, of->orientation, order) ? 1.0 : 0.0;
    for (size_t i = 0; i < of->n && share > 0.0; i++) {
        size_t equals = 1; /* that could stand here as well, itself among them */
        while (i + equals < of->n &&
               mel_rank_compare(value[order[i + equals]], value[order[i]], of->orientation) == 0)
            equals++;
        share /= (double)equals;
    }
    return share;
}

/* Adds what the best ones of a sample share. */
static void add_first(double *share, const mel_rank_samples *of, size_t s)
{
    const double *value = of->values + s * of->n;
    size_t best = 0, equals = 0;
    for (size_t i = 1; i < of->n; i++)
        if (mel_rank_compare(value[i], value[best], of->orientation) > 0)
            best = i;
    for (size_t i = 0; i < of->n; i++)
        equals += mel_rank_compare(value[i], value[best], of->orientation) == 0;
    for (size_t i = 0; i < of->n; i++)
        if (mel_rank_compare(value[i], value[best], of->orientation) == 0)
            share[i] += weight_of(of, s) / (double)equals;
}

mel_status mel_rank_weigh(mel_placed_surely *out, double *whole, const mel_rank_samples *of,
                          const size_t *order, mel_error *err)
{
    TRY(check_samples(of, err));
    MEL_AUTO_MEMORY double *first = mel_alloc_zero(of->n, sizeof *first);
    if (first == NULL)
        return mel_fail_memory(err, "the order of a pool");
    const double all = all_weights(of);
    *whole = 0.0;
    for (size_t s = 0; s < of->n_samples; s++) {
        add_first(first, of, s);
        *whole += weight_of(of, s) * order_share(of, s, order) / all;
    }
    for (size_t i = 0; i < of->n; i++) {
        out[i] = (mel_placed_surely){ first[order[i]] / all, NAN, NAN };
        if (i + 1 < of->n)
            out[i].beats_next = beats_of(&out[i].stands_next, of, order[i], order[i + 1]);
    }
    return MEL_OK;
}

/* --- samples where comparisons of neighbours are known better than the samples say ----------------- */

enum { SWEEPS = 100 };
static const double close = 1e-9; /* of a probability */

static int compare_pair(const mel_rank_samples *of, const size_t *pair, size_t s)
{
    const double *value = of->values + s * of->n;
    return mel_rank_compare(value[pair[0]], value[pair[1]], of->orientation);
}

/* Samples in which the first of a pair beats the second are weighed until that is as likely as `beats`;
 * returns by how much it was off. Where no sample says one or the other there is nothing to weigh. */
static double agree(double *weight, const mel_rank_samples *of, const size_t *pair, double beats)
{
    double is[3] = { 0.0, 0.0, 0.0 }; /* worse, equal, better */
    for (size_t s = 0; s < of->n_samples; s++)
        is[compare_pair(of, pair, s) + 1] += weight[s];
    const double better = beats - is[1] / 2.0, worse = 1.0 - beats - is[1] / 2.0;
    if (!(is[0] > 0.0 && is[2] > 0.0 && better >= 0.0 && worse >= 0.0))
        return 0.0;
    const double by[3] = { worse / is[0], 1.0, better / is[2] };
    for (size_t s = 0; s < of->n_samples; s++)
        weight[s] *= by[compare_pair(of, pair, s) + 1];
    return fabs(better - is[2]);
}

mel_status mel_rank_reconcile(double *weight, const mel_rank_samples *of, const size_t *order,
                              const double *beats, mel_error *err)
{
    double all = 0.0;
    for (size_t s = 0; s < of->n_samples; s++)
        all += weight[s] = of->weight != NULL ? of->weight[s] : 1.0;
    if (!(all > 0.0))
        return mel_fail(err, MEL_EINVAL, "samples of values that are all impossible");
    for (size_t s = 0; s < of->n_samples; s++)
        weight[s] /= all;
    double off = 1.0;
    for (size_t sweep = 0; sweep < SWEEPS && off > close; sweep++) {
        off = 0.0;
        for (size_t i = 0; i + 1 < of->n; i++)
            off = fmax(off, agree(weight, of, order + i, beats[i]));
    }
    return MEL_OK;
}
