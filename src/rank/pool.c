/* A pool of classifiers in the order of a metric. */
#include "base/stat.h"
#include "melicit/rank.h"
#include "rank/rank.h"

#include <math.h>
#include <stdlib.h>

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
