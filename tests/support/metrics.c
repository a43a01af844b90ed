/* Metrics at points: values that must exist, and what holds for every metric. */
#include "support/metrics.h"

#include <math.h>
#include <stdlib.h>

double test_value(const mel_metric *metric, const double *x)
{
    double out = (double)NAN;
    mel_error err = { 0 };
    assert_ok(mel_metric_value(&out, metric, x, &err), &err);
    return out;
}

double test_compare(const mel_metric *metric, const double *a, const double *b)
{
    double out = (double)NAN;
    mel_error err = { 0 };
    assert_ok(mel_metric_compare(&out, metric, a, b, &err), &err);
    return out;
}

void test_point(mel_rng *rng, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = mel_rng_uniform(rng);
}

void test_check_gradient(const mel_metric *metric, double *x, double h)
{
    const size_t n = mel_layout_size(mel_metric_layout(metric));
    double *slope = malloc(n * sizeof *slope);
    mel_error err = { 0 };
    assert_non_null(slope);
    assert_ok(mel_metric_gradient(slope, metric, x, &err), &err);
    for (size_t i = 0; i < n; i++) {
        const double keep = x[i];
        x[i] = keep + h;
        const double above = test_value(metric, x);
        x[i] = keep - h;
        const double below = test_value(metric, x);
        x[i] = keep;
        assert_close(slope[i], (above - below) / (2 * h), 1e-6 * (1 + fabs(slope[i])));
    }
    free(slope);
}

void test_check_comparison(const mel_metric *metric, const double *a, const double *b)
{
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1 : 1;
    const double difference = test_compare(metric, a, b);
    const double at_a = test_value(metric, a), at_b = test_value(metric, b);
    assert_true(test_compare(metric, b, a) == -difference); /* exactly */
    assert_true(test_compare(metric, a, a) == 0);
    assert_close(difference, sign * (at_a - at_b), 1e-12 * (1 + fabs(at_a) + fabs(at_b)));
}
