/* Ratios of two weighted sums. */
#include "base/la.h"
#include "metric/families/families.h"
#include "metric/words.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

static mel_status ratio_evaluate(parts *out, const mel_metric *metric, const double *statistics,
                                 mel_error *err)
{
    double p0 = 0.0, q0 = 0.0, size = 0.0;
    const double *p = mel_metric_numerator(metric, &p0);
    const double *q = mel_metric_denominator(metric, &q0);
    out->numerator = weighted_sum(metric->size, p, p0, statistics, &size);
    if (!isfinite(out->numerator))
        return mel_fail(err, MEL_ENUMERIC, "the numerator is %g at these statistics", out->numerator);
    out->denominator = weighted_sum(metric->size, q, q0, statistics, &size);
    /* A sum that rounding alone explains is zero: dividing by it would give noise. */
    const double rounding = (double)(metric->size + 2) * DBL_EPSILON * size;
    if (!isfinite(out->denominator) || fabs(out->denominator) <= rounding)
        return mel_fail(err, MEL_ENUMERIC, "the denominator is %g at these statistics",
                        isfinite(out->denominator) ? 0.0 : out->denominator);
    return MEL_OK;
}

static mel_status ratio_value(double *out, const mel_metric *metric, const double *statistics, mel_error *err)
{
    parts at = { 0.0, 1.0 };
    const mel_status status = ratio_evaluate(&at, metric, statistics, err);
    *out = at.numerator / at.denominator;
    return status;
}

static mel_status ratio_gradient(double *out, const mel_metric *metric, const double *statistics,
                                 mel_error *err)
{
    parts at = { 0.0, 1.0 };
    TRY(ratio_evaluate(&at, metric, statistics, err));
    const double *p = mel_metric_numerator(metric, NULL);
    const double *q = mel_metric_denominator(metric, NULL);
    const double ratio = at.numerator / at.denominator;
    for (size_t i = 0; i < metric->size; i++)
        out[i] = (p[i] - ratio * q[i]) / at.denominator;
    return MEL_OK;
}

/* Cross-multiplied: antisymmetric to the last bit. */
static mel_status ratio_difference(double *out, const mel_metric *metric, const double *a, const double *b,
                                   mel_error *err)
{
    parts at_a = { 0.0, 1.0 }, at_b = { 0.0, 1.0 };
    mel_status status = ratio_evaluate(&at_a, metric, a, err);
    if (status == MEL_OK)
        status = ratio_evaluate(&at_b, metric, b, err);
    const double cross = at_a.numerator * at_b.denominator - at_b.numerator * at_a.denominator;
    *out = cross / (at_a.denominator * at_b.denominator);
    return status;
}

/* p11 + p00 = 1 of two classes, else the numerator's norm. */
static mel_status normalise_by(mel_metric *metric, double norm, mel_error *err)
{
    const double *p = metric->coefficient;
    if (metric->layout.coordinates == MEL_BINARY && metric->size == 2)
        return mel_metric_divide_all(metric, p[0] + p[1], "the sum", err);
    return mel_metric_divide_all(metric, norm, "the norm", err);
}

static mel_status ratio_normalise(mel_metric *metric, mel_error *err)
{
    return normalise_by(metric, mel_norm2(metric->size, metric->coefficient), err);
}

static mel_status ratio_normalise_l1(mel_metric *metric, mel_error *err)
{
    return normalise_by(metric, mel_norm1(metric->size, metric->coefficient), err);
}

static size_t ratio_coefficients(const mel_layout *layout, uint32_t degree)
{
    (void)degree;
    return 2 * mel_layout_size(layout) + 2;
}

static size_t ratio_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    const bool binary = metric->layout.coordinates == MEL_BINARY;
    const size_t n = metric->size;
    fields[0] = (mel_field){ binary ? "p" : "a", 0, n, 1, 0, false };
    fields[1] = (mel_field){ binary ? "p0" : "a0", n, 1, 0, 0, true };
    fields[2] = (mel_field){ binary ? "q" : "b", n + 1, n, 1, 0, false };
    fields[3] = (mel_field){ binary ? "q0" : "b0", 2 * n + 1, 1, 0, 0, false };
    return 4;
}

#define RATIO                                                                                                \
    .value = ratio_value, .gradient = ratio_gradient, .difference = ratio_difference,                        \
    .coefficients = ratio_coefficients, .fields = ratio_fields, .words = mel_words_ratio

const mel_family_ops mel_family_linear_fractional = {
    .is = { .name = "linear-fractional",
            .shape = "a ratio of two weighted sums",
            .degree = 1,
            .ratio = true,
            .planar = true },
    .normalise = ratio_normalise,
    RATIO,
};

const mel_family_ops mel_family_diagonal_linear_fractional = {
    .is = { .name = "diagonal-linear-fractional",
            .shape = "a ratio of two weighted sums",
            .degree = 1,
            .ratio = true,
            .diagonal = true },
    .normalise = ratio_normalise_l1,
    RATIO,
};

mel_status mel_metric_fractional(mel_metric **out, mel_family family, const mel_layout *layout,
                                 const char *const *class_names, mel_orientation orientation, const double *p,
                                 double p0, const double *q, double q0, mel_error *err)
{
    *out = NULL;
    const mel_family_ops *ops = mel_family_of(family);
    if (ops != NULL && !ops->is.ratio)
        return mel_fail(err, MEL_EINVAL, "a %s metric has no denominator", mel_family_name(family));
    const mel_metric_kind kind = { family, 1, *layout, class_names, NULL, orientation };
    mel_metric *metric = NULL;
    TRY(mel_metric_new(&metric, &kind, err));
    const size_t n = metric->size;
    memcpy(metric->coefficient, p, n * sizeof *p);
    metric->coefficient[n] = p0;
    memcpy(metric->coefficient + n + 1, q, n * sizeof *q);
    metric->coefficient[2 * n + 1] = q0;
    return mel_metric_finish(out, metric, err);
}
