/* Making, copying, freeing metrics; what they are made of. */
#include "metric/metric.h"
#include "data/quote.h"
#include "metric/families/families.h"
#include "metric/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mel_status copy_names(char ***out, size_t n, const char *const *names, size_t first, const char *what,
                             mel_error *err)
{
    for (size_t i = 0; i < n && names != NULL; i++) {
        const char *name = names[i];
        if (name == NULL || name[0] == '\0' || strlen(name) > MEL_NAME_BYTES || !mel_text_is_utf8(name))
            return mel_fail(err, MEL_EINVAL, "%s %zu: the name is missing, too long or not UTF-8", what,
                            i + 1);
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[j], name) == 0)
                return mel_fail(err, MEL_EINVAL, "%s %zu and %zu are both called %s", what, j + 1, i + 1,
                                mel_quote_text(name).text);
    }
    *out = mel_names_copy(n, names, first);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the names of a metric");
}

static mel_status fill_new(mel_metric *metric, const mel_metric_kind *kind, mel_error *err)
{
    const size_t n_groups = metric->layout.n_groups;
    metric->size = mel_layout_size(&metric->layout);
    metric->per_group = n_groups > 1 ? metric->size / n_groups : metric->size;
    TRY(mel_family_coefficients(&metric->n_coefficients, metric->family, metric->degree, &metric->layout,
                                err));
    TRY(copy_names(&metric->class_names, metric->layout.n_classes, kind->class_names, 0, "class", err));
    if (n_groups > 1)
        TRY(copy_names(&metric->group_names, n_groups, kind->group_names, 1, "group", err));
    metric->coefficient = mel_alloc_zero(metric->n_coefficients, sizeof *metric->coefficient);
    const bool groups = metric->ops->is.groups;
    if (groups)
        metric->prevalence = mel_alloc_zero(n_groups * metric->layout.n_classes, sizeof *metric->prevalence);
    return metric->coefficient != NULL && (!groups || metric->prevalence != NULL)
               ? MEL_OK
               : mel_fail_memory(err, "the coefficients of a metric");
}

static mel_status check_orientation(const mel_metric_kind *kind, mel_error *err)
{
    if (kind->orientation != MEL_UTILITY && kind->orientation != MEL_COST)
        return mel_fail(err, MEL_EINVAL, "orientation %d is neither utility nor cost",
                        (int)kind->orientation);
    if (mel_family_of(kind->family)->is.groups && kind->orientation != MEL_COST)
        return mel_fail(err, MEL_EINVAL, "orientation: a %s metric is a cost", mel_family_name(kind->family));
    return MEL_OK;
}

mel_status mel_metric_new(mel_metric **out, const mel_metric_kind *kind, mel_error *err)
{
    *out = NULL;
    mel_status status = mel_layout_check(&kind->layout, err);
    if (status == MEL_OK)
        status = mel_family_check(kind->family, kind->degree, &kind->layout, err);
    if (status == MEL_OK)
        status = check_orientation(kind, err);
    if (status != MEL_OK)
        return status;
    mel_metric *metric = mel_alloc_zero(1, sizeof *metric);
    if (metric == NULL)
        return mel_fail_memory(err, "a metric");
    metric->family = kind->family;
    metric->ops = mel_family_of(kind->family);
    metric->degree = kind->degree;
    metric->orientation = kind->orientation;
    metric->layout = kind->layout;
    metric->elicited.radius = (double)NAN;
    status = fill_new(metric, kind, err);
    if (status != MEL_OK) {
        mel_metric_free(metric);
        return status;
    }
    *out = metric;
    return MEL_OK;
}

mel_status mel_metric_settle(mel_metric *metric, mel_error *err)
{
    for (size_t i = 0; i < metric->n_coefficients; i++)
        if (!isfinite(metric->coefficient[i]))
            return mel_fail(err, MEL_EINVAL, "coefficient %zu of a %s metric is %g", i + 1,
                            mel_family_name(metric->family), metric->coefficient[i]);
    return metric->ops->settle != NULL ? metric->ops->settle(metric, err) : MEL_OK;
}

mel_status mel_metric_finish(mel_metric **out, mel_metric *metric, mel_error *err)
{
    const mel_status status = mel_metric_settle(metric, err);
    if (status == MEL_OK)
        *out = metric;
    else
        mel_metric_free(metric);
    return status;
}

mel_status mel_metric_copy(mel_metric **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    mel_metric *copy = NULL;
    const mel_metric_kind kind = { metric->family,
                                   metric->degree,
                                   metric->layout,
                                   (const char *const *)metric->class_names,
                                   (const char *const *)metric->group_names,
                                   metric->orientation };
    mel_status status = mel_metric_new(&copy, &kind, err);
    if (status != MEL_OK || copy == NULL)
        return status;
    memcpy(copy->coefficient, metric->coefficient, metric->n_coefficients * sizeof *metric->coefficient);
    if (metric->prevalence != NULL)
        memcpy(copy->prevalence, metric->prevalence,
               metric->layout.n_groups * metric->layout.n_classes * sizeof *metric->prevalence);
    if (metric->low != NULL)
        status = mel_metric_set_intervals(copy, metric->low, metric->high, err);
    if (status == MEL_OK)
        status = mel_metric_set_elicited(copy, &metric->elicited, err);
    if (status != MEL_OK) {
        mel_metric_free(copy);
        return status;
    }
    *out = copy;
    return MEL_OK;
}

void mel_metric_free(mel_metric *metric)
{
    if (metric == NULL)
        return;
    mel_names_free(metric->class_names, metric->layout.n_classes);
    mel_names_free(metric->group_names, metric->layout.n_groups);
    free(metric->coefficient);
    free(metric->prevalence);
    free(metric->low);
    free(metric->high);
    free(metric->strategy);
    free(metric);
}

mel_family mel_metric_family(const mel_metric *metric)
{
    return metric->family;
}

mel_orientation mel_metric_orientation(const mel_metric *metric)
{
    return metric->orientation;
}

const mel_layout *mel_metric_layout(const mel_metric *metric)
{
    return &metric->layout;
}

const char *const *mel_metric_class_names(const mel_metric *metric)
{
    return (const char *const *)metric->class_names;
}

const char *const *mel_metric_group_names(const mel_metric *metric)
{
    return (const char *const *)metric->group_names;
}

uint32_t mel_metric_degree(const mel_metric *metric)
{
    return metric->degree;
}

const double *mel_metric_numerator(const mel_metric *metric, double *constant)
{
    if (constant != NULL)
        *constant = metric->ops->is.ratio ? metric->coefficient[metric->size] : 0.0;
    return metric->coefficient;
}

const double *mel_metric_denominator(const mel_metric *metric, double *constant)
{
    const bool ratio = metric->ops->is.ratio;
    if (constant != NULL)
        *constant = ratio ? metric->coefficient[2 * metric->size + 1] : 1.0;
    return ratio ? metric->coefficient + metric->size + 1 : NULL;
}

size_t mel_metric_coefficients(const mel_metric *metric)
{
    return metric->n_coefficients;
}

const double *mel_metric_coefficient(const mel_metric *metric)
{
    return metric->coefficient;
}

mel_status mel_metric_set_coefficients(mel_metric *metric, const double *coefficients, mel_error *err)
{
    const size_t bytes = metric->n_coefficients * sizeof *coefficients;
    double *fresh = mel_alloc(bytes, 1), *old = metric->coefficient;
    if (fresh == NULL)
        return mel_fail_memory(err, "the coefficients of a metric");
    memcpy(fresh, coefficients, bytes);
    metric->coefficient = fresh;
    const mel_status status = mel_metric_settle(metric, err);
    metric->coefficient = status == MEL_OK ? fresh : old;
    free(status == MEL_OK ? old : fresh);
    return status;
}

static mel_status check_intervals(const mel_metric *metric, const double *low, const double *high,
                                  mel_error *err)
{
    for (size_t i = 0; i < metric->n_coefficients; i++)
        if (!isfinite(low[i]) || !isfinite(high[i]) || low[i] > high[i])
            return mel_fail(err, MEL_EINVAL, "coefficient %zu: [%g, %g] is not an interval", i + 1, low[i],
                            high[i]);
    return MEL_OK;
}

mel_status mel_metric_set_intervals(mel_metric *metric, const double *low, const double *high, mel_error *err)
{
    double *new_low = NULL, *new_high = NULL;
    if (low != NULL && high != NULL) {
        TRY(check_intervals(metric, low, high, err));
        const size_t bytes = metric->n_coefficients * sizeof *low;
        new_low = mel_alloc(bytes, 1);
        new_high = mel_alloc(bytes, 1);
        if (new_low == NULL || new_high == NULL) {
            free(new_low);
            free(new_high);
            return mel_fail_memory(err, "the intervals of a metric");
        }
        memcpy(new_low, low, bytes);
        memcpy(new_high, high, bytes);
    } else if (low != NULL || high != NULL) {
        return mel_fail(err, MEL_EINVAL, "intervals need both ends");
    }
    free(metric->low);
    free(metric->high);
    metric->low = new_low;
    metric->high = new_high;
    return MEL_OK;
}

bool mel_metric_interval(const mel_metric *metric, size_t coefficient, double *low, double *high)
{
    if (metric->low == NULL || coefficient >= metric->n_coefficients)
        return false;
    *low = metric->low[coefficient];
    *high = metric->high[coefficient];
    return true;
}

mel_status mel_metric_set_elicited(mel_metric *metric, const mel_elicited *how, mel_error *err)
{
    char *strategy = NULL;
    if (how->strategy != NULL) {
        if (strlen(how->strategy) > MEL_NAME_BYTES || !mel_text_is_utf8(how->strategy))
            return mel_fail(err, MEL_EINVAL, "the name of the strategy is too long or not UTF-8");
        if (!isnan(how->radius) && !(how->radius >= 0.0 && isfinite(how->radius)))
            return mel_fail(err, MEL_EINVAL, "radius %g of an elicited metric", how->radius);
        strategy = mel_strdup(how->strategy);
        if (strategy == NULL)
            return mel_fail_memory(err, "the strategy of a metric");
    }
    free(metric->strategy);
    metric->strategy = strategy;
    metric->elicited = *how;
    metric->elicited.strategy = strategy;
    return MEL_OK;
}

mel_elicited mel_metric_elicited(const mel_metric *metric)
{
    return metric->elicited;
}
