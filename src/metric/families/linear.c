/* Weighted sums: linear, diagonal linear and monotone metrics. */
#include "base/la.h"
#include "metric/families/families.h"
#include "metric/words.h"

#include <math.h>
#include <string.h>

static mel_status linear_value(double *out, const mel_metric *metric, const double *statistics,
                               mel_error *err)
{
    (void)err;
    double sum = 0.0;
    for (size_t i = 0; i < metric->size; i++)
        sum += metric->coefficient[i] * statistics[i];
    *out = sum;
    return MEL_OK;
}

static mel_status linear_gradient(double *out, const mel_metric *metric, const double *statistics,
                                  mel_error *err)
{
    double at = 0.0;
    const mel_status status = linear_value(&at, metric, statistics, err);
    memcpy(out, metric->coefficient, metric->size * sizeof *out);
    /* A gradient where there is no value would hide a statistic that is not a number. */
    return status == MEL_OK && !isfinite(at)
               ? mel_fail(err, MEL_ENUMERIC, "the metric is %g at these statistics", at)
               : status;
}

/* Exact differences first, so that close points keep their order and swapping them flips the sign
 * and nothing else. */
static mel_status linear_difference(double *out, const mel_metric *metric, const double *a, const double *b,
                                    mel_error *err)
{
    (void)err;
    double sum = 0.0;
    for (size_t i = 0; i < metric->size; i++)
        sum += metric->coefficient[i] * (a[i] - b[i]);
    *out = sum;
    return MEL_OK;
}

static mel_status linear_normalise(mel_metric *metric, mel_error *err)
{
    return mel_metric_divide_all(metric, mel_norm2(metric->size, metric->coefficient), "the norm", err);
}

static mel_status linear_normalise_l1(mel_metric *metric, mel_error *err)
{
    return mel_metric_divide_all(metric, mel_norm1(metric->size, metric->coefficient), "the norm", err);
}

#define WEIGHTED_SUM                                                                                         \
    .value = linear_value, .gradient = linear_gradient, .difference = linear_difference,                     \
    .coefficients = mel_family_one_each, .fields = mel_family_one_field, .words = mel_words_linear

const mel_family_ops mel_family_linear = {
    .is = { .name = "linear", .shape = "a weighted sum", .degree = 1, .sum = true, .planar = true },
    .normalise = linear_normalise,
    WEIGHTED_SUM,
};

const mel_family_ops mel_family_diagonal_linear = {
    .is = { .name = "diagonal-linear",
            .shape = "a weighted sum of right decisions",
            .degree = 1,
            .sum = true,
            .diagonal = true },
    .normalise = linear_normalise_l1,
    WEIGHTED_SUM,
};

const mel_family_ops mel_family_monotone = {
    .is = { .name = "monotone",
            .shape = "one that grows with every right answer",
            .degree = 1,
            .sum = true,
            .local = true,
            .diagonal = true },
    .normalise = linear_normalise_l1,
    WEIGHTED_SUM,
};

mel_status mel_metric_linear(mel_metric **out, mel_family family, const mel_layout *layout,
                             const char *const *class_names, mel_orientation orientation, const double *a,
                             mel_error *err)
{
    *out = NULL;
    const mel_family_ops *ops = mel_family_of(family);
    if (ops != NULL && ops->is.ratio)
        return mel_fail(err, MEL_EINVAL, "a %s metric has a denominator", mel_family_name(family));
    if (ops != NULL && !ops->is.sum)
        return mel_fail(err, MEL_EINVAL, "a %s metric is not linear in its statistics",
                        mel_family_name(family));
    const mel_metric_kind kind = { family, 1, *layout, class_names, NULL, orientation };
    mel_metric *metric = NULL;
    TRY(mel_metric_new(&metric, &kind, err));
    memcpy(metric->coefficient, a, metric->size * sizeof *a);
    return mel_metric_finish(out, metric, err);
}
