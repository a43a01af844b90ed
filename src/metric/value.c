/* What a metric says about statistics: value, gradient, comparison; and its scale. */
#include "base/la.h"
#include "metric/metric.h"

#include <float.h>
#include <math.h>

/* constant + <w, s>, and the size of the terms, against which a sum counts as zero. */
static double weighted_sum(size_t n, const double *w, double constant, const double *s, double *size)
{
    double sum = constant, terms = fabs(constant);
    for (size_t i = 0; i < n; i++) {
        const double term = w[i] * s[i];
        sum += term;
        terms += fabs(term);
    }
    *size = terms;
    return sum;
}

typedef struct {
    double numerator, denominator;
} parts;

static mel_status evaluate(parts *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    double p0 = 0.0, q0 = 0.0, size = 0.0;
    const double *p = mel_metric_numerator(metric, &p0);
    const double *q = mel_metric_denominator(metric, &q0);
    out->numerator = weighted_sum(metric->size, p, p0, statistics, &size);
    out->denominator = 1.0;
    if (!isfinite(out->numerator))
        return mel_fail(err, MEL_ENUMERIC, "the %s is %g at these statistics",
                        q != NULL ? "numerator" : "metric", out->numerator);
    if (q == NULL)
        return MEL_OK;
    out->denominator = weighted_sum(metric->size, q, q0, statistics, &size);
    /* A sum that rounding alone explains is zero: dividing by it would give noise. */
    const double rounding = (double)(metric->size + 2) * DBL_EPSILON * size;
    if (!isfinite(out->denominator) || fabs(out->denominator) <= rounding)
        return mel_fail(err, MEL_ENUMERIC, "the denominator is %g at these statistics",
                        isfinite(out->denominator) ? 0.0 : out->denominator);
    return MEL_OK;
}

mel_status mel_metric_value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    parts at = { 0.0, 1.0 };
    const mel_status status = evaluate(&at, metric, statistics, err);
    if (status != MEL_OK)
        return status;
    const double value = at.numerator / at.denominator;
    if (!isfinite(value))
        return mel_fail(err, MEL_ENUMERIC, "the metric is %g at these statistics", value);
    *out = value;
    return MEL_OK;
}

mel_status mel_metric_gradient(double *out, const mel_metric *metric, const double *statistics,
                               mel_error *err)
{
    parts at = { 0.0, 1.0 };
    const mel_status status = evaluate(&at, metric, statistics, err);
    if (status != MEL_OK)
        return status;
    const double *p = mel_metric_numerator(metric, NULL);
    const double *q = mel_metric_denominator(metric, NULL);
    const double value = at.numerator / at.denominator;
    for (size_t i = 0; i < metric->size; i++)
        out[i] = q != NULL ? (p[i] - value * q[i]) / at.denominator : p[i];
    return MEL_OK;
}

/* <w, a - b>: exact differences first, so that close points keep their order and swapping them
 * flips the sign and nothing else. */
static double linear_difference(size_t n, const double *w, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += w[i] * (a[i] - b[i]);
    return sum;
}

mel_status mel_metric_compare(double *out, const mel_metric *metric, const double *a, const double *b,
                              mel_error *err)
{
    double difference = 0.0;
    if (mel_metric_denominator(metric, NULL) == NULL) {
        difference = linear_difference(metric->size, metric->coefficient, a, b);
    } else {
        parts at_a = { 0.0, 1.0 }, at_b = { 0.0, 1.0 };
        mel_status status = evaluate(&at_a, metric, a, err);
        if (status == MEL_OK)
            status = evaluate(&at_b, metric, b, err);
        if (status != MEL_OK)
            return status;
        const double cross = at_a.numerator * at_b.denominator - at_b.numerator * at_a.denominator;
        difference = cross / (at_a.denominator * at_b.denominator);
    }
    if (!isfinite(difference))
        return mel_fail(err, MEL_ENUMERIC, "the values of the two classifiers differ by %g", difference);
    *out = metric->orientation == MEL_COST ? -difference : difference;
    return MEL_OK;
}

/* What the numerator's coefficients are divided by. */
static double norm_of(const mel_metric *metric)
{
    const double *p = metric->coefficient;
    const bool fractional = mel_family_is_fractional(metric->family);
    if (fractional && metric->layout.coordinates == MEL_BINARY && metric->size == 2)
        return p[0] + p[1];
    if (metric->family == MEL_FAMILY_LINEAR || metric->family == MEL_FAMILY_LINEAR_FRACTIONAL)
        return mel_norm2(metric->size, p);
    double sum = 0.0;
    for (size_t i = 0; i < metric->size; i++)
        sum += fabs(p[i]);
    return sum;
}

mel_status mel_metric_normalise(mel_metric *metric, mel_error *err)
{
    const double norm = norm_of(metric);
    const bool fractional = mel_family_is_fractional(metric->family);
    if (!isfinite(norm) || norm == 0.0)
        return mel_fail(err, MEL_ENUMERIC, "a metric whose weights have %s %g cannot be scaled",
                        fractional && metric->size == 2 ? "the sum" : "the norm", norm);
    for (size_t i = 0; i < metric->n_coefficients; i++) {
        const double low = metric->low != NULL ? metric->low[i] : 0.0;
        const double high = metric->low != NULL ? metric->high[i] : 0.0;
        if (!isfinite(metric->coefficient[i] / norm) || !isfinite(low / norm) || !isfinite(high / norm))
            return mel_fail(err, MEL_ENUMERIC, "coefficient %zu is too large to be divided by %g", i + 1,
                            norm);
    }
    for (size_t i = 0; i < metric->n_coefficients; i++) {
        metric->coefficient[i] /= norm;
        if (metric->low == NULL)
            continue;
        const double low = metric->low[i] / norm, high = metric->high[i] / norm;
        metric->low[i] = norm > 0.0 ? low : high;
        metric->high[i] = norm > 0.0 ? high : low;
    }
    return MEL_OK;
}
