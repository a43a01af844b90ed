/* Metrics without questions: from costs that are known, and from the names of measures. */
#include "base/la.h"
#include "data/quote.h"
#include "metric/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- costs -------------------------------------------------------------------------------------- */

static mel_status check_costs(size_t k, const double *cost, const char *const *name, mel_error *err)
{
    double most = 0.0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            const double extra = cost[i * k + j] - cost[i * k + i];
            if (!isfinite(extra))
                return mel_fail(err, MEL_EDATA, "cost %zu,%zu is not a number", i + 1, j + 1);
            if (extra < 0.0)
                return mel_fail(
                    err, MEL_EDATA,
                    "predicting %s for %s costs %g, less than the right answer (%g): costs must not "
                    "reward mistakes",
                    name != NULL ? mel_quote_text(name[j]).text : "another class",
                    name != NULL ? mel_quote_text(name[i]).text : "a class", cost[i * k + j],
                    cost[i * k + i]);
            most = fmax(most, extra);
        }
    return most > 0.0 ? MEL_OK : mel_fail(err, MEL_EDATA, "no mistake costs anything");
}

mel_status mel_metric_costs(mel_metric **out, size_t n_classes, const double *cost,
                            const char *const *class_names, mel_error *err)
{
    *out = NULL;
    const size_t k = n_classes;
    const mel_layout layout = { MEL_CONFUSION, MEL_OFFDIAGONAL, k, 0 };
    mel_status status = mel_layout_check(&layout, err);
    if (status == MEL_OK)
        status = check_costs(k, cost, class_names, err);
    if (status != MEL_OK)
        return status;
    double *a = mel_alloc(k * k, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "costs");
    size_t at = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if (i != j)
                a[at++] = cost[i * k + j] - cost[i * k + i];
    status = mel_metric_linear(out, MEL_FAMILY_LINEAR, &layout, class_names, MEL_COST, a, err);
    free(a);
    return status;
}

/* --- names -------------------------------------------------------------------------------------- */

/* A measure on its way into a family. */
typedef struct {
    const mel_people *people;
    const mel_measure *measure;
    const char *name;
    size_t k, m, q;      /* classes, groups (at least 1), mistakes of one group */
    double *class_share; /* P(Y=i), or NULL */
    double all;          /* what the shares add up to */
    double *a, *b;       /* scratch: q numbers, and q x q or a block of q numbers for each pair of groups */
} making;

/* P(Y=i), all above 0; NULL, with the sentence and the status in *why, where they are not known. */
static const double *need_shares(mel_status *why, const making *x, mel_error *err)
{
    if (x->class_share == NULL) {
        *why = mel_fail(err, MEL_EINVAL,
                        "%s depends on how frequent the classes are: give a prevalence or labels", x->name);
        return NULL;
    }
    for (size_t i = 0; i < x->k; i++)
        if (!(x->class_share[i] > 0.0)) {
            *why = mel_fail(err, MEL_EDATA, "%s: class %s has no share", x->name,
                            mel_quote_name(x->people->class_names, i).text);
            return NULL;
        }
    return x->class_share;
}

static mel_layout layout_of(const making *x, mel_statistics_kind kind, mel_coordinates coordinates)
{
    return (mel_layout){ kind, coordinates, x->k, x->people->n_groups };
}

/* Right decisions, each class with its weight: all alike, or each class alike. */
static mel_status make_diagonal(mel_metric **out, const making *x, bool balanced, mel_error *err)
{
    mel_status why = MEL_OK;
    const double *share = balanced ? need_shares(&why, x, err) : NULL;
    if (balanced && share == NULL)
        return why;
    const bool two = x->k == 2;
    for (size_t i = 0; i < x->k; i++)
        x->a[two ? 1 - i : i] = share != NULL ? 1.0 / ((double)x->k * share[i]) : 1.0;
    const mel_layout layout = layout_of(x, MEL_CONFUSION, two ? MEL_BINARY : MEL_DIAGONAL);
    return mel_metric_linear(out, two ? MEL_FAMILY_LINEAR : MEL_FAMILY_DIAGONAL_LINEAR, &layout,
                             x->people->class_names, MEL_UTILITY, x->a, err);
}

/* (right - expected) / (1 - expected), expected = sum_j P(Y=j) P(prediction j), which is linear. */
static mel_status make_kappa(mel_metric **out, const making *x, mel_error *err)
{
    mel_status why = MEL_OK;
    const double *p = need_shares(&why, x, err);
    if (p == NULL)
        return why;
    double squares = 0.0;
    for (size_t i = 0; i < x->k; i++)
        squares += p[i] * p[i];
    if (x->k == 2) {
        const mel_layout two = layout_of(x, MEL_CONFUSION, MEL_BINARY);
        const double both = 2.0 * p[0] * p[1], top[] = { 2.0 * p[0], 2.0 * p[1] },
                     bottom[] = { p[0] - p[1], p[1] - p[0] };
        return mel_metric_fractional(out, MEL_FAMILY_LINEAR_FRACTIONAL, &two, x->people->class_names,
                                     MEL_UTILITY, top, -both, bottom, 1.0 - both, err);
    }
    size_t at = 0;
    for (size_t i = 0; i < x->k; i++)
        for (size_t j = 0; j < x->k; j++)
            if (i != j) {
                x->b[at] = p[i] - p[j];
                x->a[at] = x->b[at] - 1.0;
                at++;
            }
    const mel_layout layout = layout_of(x, MEL_CONFUSION, MEL_OFFDIAGONAL);
    return mel_metric_fractional(out, MEL_FAMILY_LINEAR_FRACTIONAL, &layout, x->people->class_names,
                                 MEL_UTILITY, x->a, 1.0 - squares, x->b, 1.0 - squares, err);
}

/* r'Br/2 = weight sum_j (w_j r)^2: adds one such square. */
static void add_square(double *b, size_t q, const double *w, double weight)
{
    for (size_t s = 0; s < q; s++)
        for (size_t t = 0; t < q; t++)
            b[s * q + t] += 2.0 * weight * w[s] * w[t];
}

/* The place of rate i > j among the mistakes. */
static size_t mistake(const making *x, size_t i, size_t j)
{
    return i * (x->k - 1) + (j < i ? j : j - 1);
}

static mel_status make_quadratic(mel_metric **out, const making *x, mel_error *err)
{
    double *zero = mel_alloc_zero(x->q, sizeof *zero);
    if (zero == NULL)
        return mel_fail_memory(err, "a metric");
    const mel_layout layout = layout_of(x, MEL_RATES, MEL_OFFDIAGONAL);
    const mel_status status =
        mel_metric_quadratic(out, &layout, x->people->class_names, MEL_COST, zero, x->b, err);
    free(zero);
    return status;
}

/* Of class i in the mean over the classes. */
static double class_weight(const making *x, size_t i)
{
    const double *weight = x->measure->numbers;
    double sum = 0.0;
    for (size_t j = 0; j < x->k && weight != NULL; j++)
        sum += weight[j];
    return weight != NULL ? weight[i] / sum : 1.0 / (double)x->k;
}

static mel_status make_q_mean(mel_metric **out, const making *x, mel_error *err)
{
    memset(x->b, 0, x->q * x->q * sizeof *x->b);
    for (size_t i = 0; i < x->k; i++) {
        memset(x->a, 0, x->q * sizeof *x->a);
        for (size_t j = 0; j + 1 < x->k; j++)
            x->a[i * (x->k - 1) + j] = 1.0;
        add_square(x->b, x->q, x->a, class_weight(x, i));
    }
    return make_quadratic(out, x, err);
}

/* Shares of predictions against shares of classes, by a matrix: the identity, or what psd-q says. Each of its
 * eigenvectors is a direction whose square counts. */
static mel_status make_matching(mel_metric **out, const making *x, mel_error *err)
{
    mel_status why = MEL_OK;
    const double *share = need_shares(&why, x, err), *matrix = x->measure->numbers;
    if (share == NULL)
        return why;
    const size_t k = x->k;
    double *v = mel_alloc_zero(k * k + k, sizeof *v);
    if (v == NULL)
        return mel_fail_memory(err, "a metric");
    for (size_t i = 0; i < k * k; i++)
        v[i] = matrix != NULL ? matrix[i] : i / k == i % k ? 1.0 : 0.0;
    why = mel_eigen(k, v, k, v + k * k, err);
    memset(x->b, 0, x->q * x->q * sizeof *x->b);
    for (size_t e = 0; e < k && why == MEL_OK; e++) {
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                if (i != j)
                    x->a[mistake(x, i, j)] = share[i] * (v[j * k + e] - v[i * k + e]);
        add_square(x->b, x->q, x->a, fmax(v[k * k + e], 0.0));
    }
    free(v);
    return why == MEL_OK ? make_quadratic(out, x, err) : why;
}

/* P(G=g | Y=i), groups after each other, into `out`: as the shares say, alike where nobody does, because
 * differences between groups do not look at it. */
static void fill_prevalence(double *out, const making *x)
{
    for (size_t g = 0; g < x->m; g++)
        for (size_t i = 0; i < x->k; i++)
            out[g * x->k + i] = x->class_share != NULL && x->class_share[i] > 0.0
                                    ? x->people->shares[g * x->k + i] / (x->class_share[i] * x->all)
                                    : 1.0 / (double)x->m;
}

/* Differences between groups in these mistakes, weighted, and nothing else. */
static mel_status make_fair(mel_metric **out, const making *x, const double *weight, bool squared,
                            mel_error *err)
{
    const size_t block = squared ? x->q * x->q : x->q, pairs = mel_group_pairs(x->m);
    double *b = mel_alloc_zero(pairs * block, sizeof *b), *zero = mel_alloc_zero(x->q, sizeof *zero),
           *prevalence = mel_alloc_zero(x->m * x->k, sizeof *prevalence);
    const mel_layout layout = layout_of(x, MEL_RATES, MEL_OFFDIAGONAL);
    mel_status status = MEL_OK;
    if (b == NULL || zero == NULL || prevalence == NULL) {
        status = mel_fail_memory(err, "a metric");
    } else {
        fill_prevalence(prevalence, x);
        for (size_t pair = 0; pair < pairs; pair++)
            for (size_t s = 0; s < x->q; s++)
                b[pair * block + (squared ? s * x->q + s : s)] = (squared ? 2.0 : 1.0) * weight[s];
        status = (squared ? mel_metric_fair_quadratic : mel_metric_fair_linear)(
            out, &layout, x->people->class_names, x->people->group_names, zero, b, 1.0, prevalence, err);
    }
    free(b);
    free(zero);
    free(prevalence);
    return status;
}

static mel_status no_family(const making *x, mel_error *err)
{
    return mel_fail(
        err, MEL_EINVAL,
        "%s is not a weighted sum, ratio or square of statistics that a metric file could hold; apply, "
        "score, rank and optimise take it by its name",
        x->name);
}

static mel_status make_rates(mel_metric **out, const making *x, mel_error *err)
{
    const mel_gap gap = x->measure->gap;
    for (size_t s = 0; s < x->q; s++)
        x->a[s] = 1.0;
    switch (x->measure->rates) {
    case MEL_RATES_Q_MEAN:
        if (gap == MEL_GAP_ABSOLUTE) {
            for (size_t s = 0; s < x->q; s++)
                x->a[s] = class_weight(x, s / (x->k - 1));
            const mel_layout layout = layout_of(x, MEL_RATES, MEL_OFFDIAGONAL);
            return mel_metric_linear(out, MEL_FAMILY_LINEAR, &layout, x->people->class_names, MEL_COST, x->a,
                                     err);
        }
        return gap == MEL_GAP_SQUARED ? make_q_mean(out, x, err) : no_family(x, err);
    case MEL_RATES_DISTRIBUTION_MATCHING:
    case MEL_RATES_PSD_Q:
        if (x->measure->target != NULL)
            return mel_fail(err, MEL_EINVAL,
                            "%s has a constant, which a metric file has not; score, rank, apply and optimise "
                            "take it by its name",
                            x->name);
        return gap == MEL_GAP_SQUARED ? make_matching(out, x, err) : no_family(x, err);
    case MEL_RATES_EQUALISED_ODDS:
        for (size_t s = 0; s < x->q && x->measure->numbers != NULL; s++)
            x->a[s] = x->measure->numbers[s];
        break;
    case MEL_RATES_EQUAL_OPPORTUNITY: /* of two classes: false alarms, then misses */
        x->a[0] = 0.0;
        break;
    case MEL_RATES_NEGATIVE_BALANCE:
        x->a[1] = 0.0;
        break;
    case MEL_RATES_ERROR_RATE_BALANCE:
        x->a[0] = x->a[1] = 0.5;
        break;
    case MEL_RATES_DEMOGRAPHIC_PARITY:
        return no_family(x, err);
    }
    return gap == MEL_GAP_LARGEST ? no_family(x, err) : make_fair(out, x, x->a, gap == MEL_GAP_SQUARED, err);
}

/* Two classes without groups: what mel_metric_named makes. */
static bool is_planar(const making *x, mel_named *named, double *parameter)
{
    return x->k == 2 && x->m == 1 && mel_named_parse(named, parameter, x->name, NULL) == MEL_OK &&
           *named != MEL_NAMED_GMEAN && *named != MEL_NAMED_MCC;
}

static mel_status make_named(mel_metric **out, const making *x, mel_error *err)
{
    mel_named named = MEL_NAMED_ACCURACY;
    double parameter = 0.0;
    if (is_planar(x, &named, &parameter)) {
        mel_status why = MEL_OK;
        const double *share = named == MEL_NAMED_ACCURACY ? x->class_share : need_shares(&why, x, err);
        if (share == NULL && named != MEL_NAMED_ACCURACY)
            return why;
        return mel_metric_named(out, named, parameter, share != NULL ? share[1] : 0.5, x->people->class_names,
                                err);
    }
    if (x->measure->row == &mel_measure_rates_row)
        return make_rates(out, x, err);
    char plain[64];
    if (x->m > 1 || !mel_plain_name(plain, sizeof plain, x->name))
        return no_family(x, err);
    static const char *const like_accuracy[] = { "accuracy", "micro-f1", "micro-precision", "micro-recall",
                                                 "weighted-recall" };
    for (size_t i = 0; i < sizeof like_accuracy / sizeof *like_accuracy; i++)
        if (strcmp(plain, like_accuracy[i]) == 0)
            return make_diagonal(out, x, false, err);
    if (strcmp(plain, "balanced-accuracy") == 0 || strcmp(plain, "macro-recall") == 0)
        return make_diagonal(out, x, true, err);
    if (strcmp(plain, "kappa") == 0)
        return make_kappa(out, x, err);
    return strncmp(plain, "q-mean", sizeof "q-mean" - 1) == 0 ? make_q_mean(out, x, err) : no_family(x, err);
}

static void fill_shares(making *x)
{
    for (size_t s = 0; s < x->m * x->k; s++)
        x->all += x->people->shares[s];
    for (size_t s = 0; s < x->m * x->k; s++)
        x->class_share[s % x->k] += x->people->shares[s] / x->all;
}

mel_status mel_metric_of_name(mel_metric **out, const char *name, const mel_people *people, mel_error *err)
{
    *out = NULL;
    mel_measure *measure = NULL;
    mel_status status = mel_measure_named(&measure, name, people->n_classes, people->n_groups, err);
    if (status != MEL_OK)
        return status;
    making x = { .people = people, .measure = measure, .name = name, .k = people->n_classes };
    x.m = mel_measure_groups(measure);
    x.q = x.k * (x.k - 1);
    x.a = mel_alloc_zero(x.q + x.k, sizeof *x.a);
    x.b = mel_alloc_zero(x.q * x.q, sizeof *x.b);
    double *share = mel_alloc_zero(x.k, sizeof *share);
    if (x.a == NULL || x.b == NULL || share == NULL) {
        status = mel_fail_memory(err, "a metric");
    } else {
        x.class_share = people->shares != NULL ? share : NULL;
        if (x.class_share != NULL)
            fill_shares(&x);
        status = make_named(out, &x, err);
    }
    free(x.a);
    free(x.b);
    free(share);
    mel_measure_free(measure);
    return status;
}
