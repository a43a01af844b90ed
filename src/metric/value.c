/* What a metric says about statistics: value, gradient, comparison; and its scale. */
#include "base/la.h"
#include "metric/families/families.h"

#include <math.h>

mel_status mel_metric_value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    double value = 0.0;
    TRY(metric->ops->value(&value, metric, statistics, err));
    if (!isfinite(value))
        return mel_fail(err, MEL_ENUMERIC, "the metric is %g at these statistics", value);
    *out = value;
    return MEL_OK;
}

mel_status mel_metric_gradient(double *out, const mel_metric *metric, const double *statistics,
                               mel_error *err)
{
    TRY(metric->ops->gradient(out, metric, statistics, err));
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
    TRY(metric->ops->difference(&difference, metric, a, b, err));
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

/* --- random metrics as uncertain as the intervals ------------------------------------------------ */

/* The middle 95% of a standard normal variable end here. */
static const double normal_97_5 = 1.959963984540054;

/* Normal with a width of its own on either side, so that both ends are met. */
static double draw_one(const mel_metric *metric, size_t i, mel_rng *rng)
{
    const double middle = metric->coefficient[i], z = mel_rng_normal(rng) / normal_97_5;
    const double side = z < 0.0 ? middle - metric->low[i] : metric->high[i] - middle;
    return middle + z * fmax(side, 0.0); /* a value outside its interval does not move to that side */
}

static void draw_block(double *out, const mel_metric *metric, size_t first, const mel_field *field,
                       mel_rng *rng)
{
    const size_t n = mel_tensor_size(field->side, field->rank);
    for (size_t i = 0; i < n; i++) {
        const size_t twin = mel_tensor_sorted_place(i, field->side, field->rank);
        out[first + i] = twin == i ? draw_one(metric, first + i, rng) : out[first + twin];
    }
}

void mel_metric_draw(double *out, const mel_metric *metric, mel_rng *rng)
{
    mel_field fields[MEL_MAX_FIELDS];
    const size_t n_fields = mel_metric_fields(fields, metric);
    for (size_t i = 0; metric->low == NULL && i < metric->n_coefficients; i++)
        out[i] = metric->coefficient[i];
    for (size_t f = 0; metric->low != NULL && f < n_fields; f++) {
        const size_t blocks = fields[f].groups > 1 ? mel_group_pairs(fields[f].groups) : 1;
        const size_t n = mel_tensor_size(fields[f].side, fields[f].rank);
        for (size_t b = 0; b < blocks; b++)
            draw_block(out, metric, fields[f].first + b * n, &fields[f], rng);
    }
    if (metric->ops->is.groups) {
        double *lambda = &out[metric->n_coefficients - 1];
        *lambda = fmin(fmax(*lambda, 0.0), 1.0);
    }
}

bool mel_metric_draws(double *out, const mel_metric *metric, size_t n, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n && metric->low != NULL; i++)
        mel_metric_draw(out + i * metric->n_coefficients, metric, &rng);
    return metric->low != NULL;
}
