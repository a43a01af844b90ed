/* What a metric says about statistics: value, gradient, comparison; and its scale. */
#include "base/la.h"
#include "metric/families/families.h"

#include <math.h>

mel_status mel_metric_value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    double value = 0.0;
    const mel_status status = metric->ops->value(&value, metric, statistics, err);
    if (status != MEL_OK)
        return status;
    if (!isfinite(value))
        return mel_fail(err, MEL_ENUMERIC, "the metric is %g at these statistics", value);
    *out = value;
    return MEL_OK;
}

mel_status mel_metric_gradient(double *out, const mel_metric *metric, const double *statistics,
                               mel_error *err)
{
    const mel_status status = metric->ops->gradient(out, metric, statistics, err);
    if (status != MEL_OK)
        return status;
    for (size_t i = 0; i < metric->size; i++)
        if (!isfinite(out[i]))
            return mel_fail(err, MEL_ENUMERIC, "the slope of the metric in statistic %zu is %g", i + 1,
                            out[i]);
    return MEL_OK;
}

mel_status mel_metric_compare(double *out, const mel_metric *metric, const double *a, const double *b,
                              mel_error *err)
{
    double difference = 0.0;
    const mel_status status = metric->ops->difference(&difference, metric, a, b, err);
    if (status != MEL_OK)
        return status;
    if (!isfinite(difference))
        return mel_fail(err, MEL_ENUMERIC, "the values of the two classifiers differ by %g", difference);
    *out = metric->orientation == MEL_COST ? -difference : difference;
    return MEL_OK;
}

mel_status mel_metric_normalise(mel_metric *metric, mel_error *err)
{
    return metric->ops->normalise(metric, err);
}

mel_status mel_metric_check_divisor(const mel_metric *metric, size_t first, size_t n, double norm,
                                    mel_error *err)
{
    for (size_t i = first; i < first + n; i++) {
        const double low = metric->low != NULL ? metric->low[i] : 0.0;
        const double high = metric->low != NULL ? metric->high[i] : 0.0;
        if (!isfinite(metric->coefficient[i] / norm) || !isfinite(low / norm) || !isfinite(high / norm))
            return mel_fail(err, MEL_ENUMERIC, "coefficient %zu is too large to be divided by %g", i + 1,
                            norm);
    }
    return MEL_OK;
}

void mel_metric_divide(mel_metric *metric, size_t first, size_t n, double norm)
{
    for (size_t i = first; i < first + n; i++) {
        metric->coefficient[i] /= norm;
        if (metric->low == NULL)
            continue;
        const double low = metric->low[i] / norm, high = metric->high[i] / norm;
        metric->low[i] = norm > 0.0 ? low : high;
        metric->high[i] = norm > 0.0 ? high : low;
    }
}

mel_status mel_metric_divide_all(mel_metric *metric, double norm, const char *what, mel_error *err)
{
    if (!isfinite(norm) || norm == 0.0)
        return mel_fail(err, MEL_ENUMERIC, "a metric whose weights have %s %g cannot be scaled", what, norm);
    const mel_status status = mel_metric_check_divisor(metric, 0, metric->n_coefficients, norm, err);
    if (status == MEL_OK)
        mel_metric_divide(metric, 0, metric->n_coefficients, norm);
    return status;
}
