/* Metrics without questions: from costs that are known, and from the names of measures. */
#include "data/quote.h"
#include "metric/measure.h"

#include <math.h>

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
    TRY(mel_layout_check(&layout, err));
    TRY(check_costs(k, cost, class_names, err));
    MEL_AUTO_MEMORY double *a = mel_alloc(k * k, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "costs");
    size_t at = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if (i != j)
                a[at++] = cost[i * k + j] - cost[i * k + i];
    return mel_metric_linear(out, MEL_FAMILY_LINEAR, &layout, class_names, MEL_COST, a, err);
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
} making;

/* P(Y=i) are known and all above 0. */
static mel_status need_shares(const making *x, mel_error *err)
{
    if (x->class_share == NULL)
        return mel_fail(err, MEL_EINVAL,
                        "%s depends on how frequent the classes are: give a prevalence or labels", x->name);
    for (size_t i = 0; i < x->k; i++)
        if (!(x->class_share[i] > 0.0))
            return mel_fail(err, MEL_EDATA, "%s: class %s has no share", x->name,
                            mel_quote_name(x->people->class_names, i).text);
    return MEL_OK;
}

static mel_layout layout_of(const making *x, mel_statistics_kind kind, mel_coordinates coordinates)
{
    return (mel_layout){ kind, coordinates, x->k, x->people->n_groups };
}

static mel_status no_family(const making *x, mel_error *err)
{
    return mel_fail(
        err, MEL_EINVAL,
        "%s is not a weighted sum, ratio or square of statistics that a metric file could hold; apply, "
        "score, rank and optimise take it by its name%s",
        x->name,
        x->measure->gap == MEL_GAP_LARGEST && mel_measure_compares_groups(x->measure) &&
                x->measure->row->compared != MEL_COMPARED_SHARES
            ? "; a metric file can hold it with :squared or :absolute behind the name"
            : "");
}

/* What right decisions of each class count, by the slope where all are right: a[i] for class i. False:
 * mistakes of a class differ, or there is a constant. */
static mel_status diagonal_weights(double *a, bool *fits, const making *x, const double *share,
                                   mel_error *err)
{
    const size_t k = x->k;
    MEL_AUTO_MEMORY double *c = mel_alloc_zero(2 * k * k, sizeof *c);
    if (c == NULL)
        return mel_fail_memory(err, "a metric");
    double *slope = c + k * k, rest = 0.0;
    for (size_t i = 0; i < k; i++)
        c[i * k + i] = share[i];
    TRY(mel_measure_value(&rest, x->measure, c, err));
    TRY(mel_measure_gradient(slope, x->measure, c, err));
    *fits = true;
    for (size_t i = 0; i < k; i++) {
        a[i] = slope[i * k + i] - slope[i * k + (i + 1) % k];
        rest -= a[i] * share[i];
        for (size_t j = 0; j < k; j++)
            *fits =
                *fits && (j == i || fabs(slope[i * k + i] - slope[i * k + j] - a[i]) <= 1e-12 * fabs(a[i]));
    }
    *fits = *fits && fabs(rest) <= 1e-9;
    return MEL_OK;
}

/* A weighted sum of right decisions. Shares may be unknown where they do not matter. */
static mel_status make_diagonal(mel_metric **out, const making *x, mel_error *err)
{
    const size_t k = x->k;
    MEL_AUTO_MEMORY double *a = mel_alloc(3 * k, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "a metric");
    double *other = a + k, *share = a + 2 * k;
    bool fits = false;
    for (size_t i = 0; i < k; i++)
        share[i] = 1.0 / (double)k;
    TRY(diagonal_weights(a, &fits, x, share, err));
    for (size_t i = 0; i < k; i++)
        share[i] = 2.0 * (double)(i + 1) / (double)(k * (k + 1));
    TRY(diagonal_weights(other, &fits, x, share, err));
    bool same = true;
    for (size_t i = 0; i < k; i++)
        same = same && fabs(a[i] - other[i]) <= 1e-9 * fabs(a[i]);
    if (!same) {
        TRY(need_shares(x, err));
        TRY(diagonal_weights(a, &fits, x, x->class_share, err));
    }
    if (!fits)
        return no_family(x, err);
    const bool two = k == 2;
    const double turned[] = { a[1], a[0] };
    const mel_layout layout = layout_of(x, MEL_CONFUSION, two ? MEL_BINARY : MEL_DIAGONAL);
    return mel_metric_linear(out, two ? MEL_FAMILY_LINEAR : MEL_FAMILY_DIAGONAL_LINEAR, &layout,
                             x->people->class_names, MEL_UTILITY, two ? turned : a, err);
}

/* TP / (TP + fn FN + fp FP) of two classes, FN and FP by the shares of the classes. */
static mel_status make_fraction(mel_metric **out, const making *x, mel_error *err)
{
    TRY(need_shares(x, err));
    const mel_class_fraction *w = &x->measure->fraction;
    const double fn = w->fn / w->tp, fp = w->fp / w->tp, p[] = { 1.0, 0.0 }, q[] = { 1.0 - fn, -fp };
    const mel_layout layout = layout_of(x, MEL_CONFUSION, MEL_BINARY);
    return mel_metric_fractional(out, MEL_FAMILY_LINEAR_FRACTIONAL, &layout, x->people->class_names,
                                 MEL_UTILITY, p, 0.0, q, fn * x->class_share[1] + fp * x->class_share[0],
                                 err);
}

/* (right - expected) / (1 - expected), expected = sum_j P(Y=j) P(prediction j), which is linear. */
static mel_status make_kappa(mel_metric **out, const making *x, mel_error *err)
{
    TRY(need_shares(x, err));
    const double *p = x->class_share;
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
    MEL_AUTO_MEMORY double *a = mel_alloc(2 * x->q, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "a metric");
    double *b = a + x->q;
    for (size_t s = 0; s < x->q; s++) {
        const size_t i = s / (x->k - 1), j = s % (x->k - 1) + (s % (x->k - 1) >= i);
        b[s] = p[i] - p[j];
        a[s] = b[s] - 1.0;
    }
    const mel_layout layout = layout_of(x, MEL_CONFUSION, MEL_OFFDIAGONAL);
    return mel_metric_fractional(out, MEL_FAMILY_LINEAR_FRACTIONAL, &layout, x->people->class_names,
                                 MEL_UTILITY, a, 1.0 - squares, b, 1.0 - squares, err);
}

/* What compared number c, a recall or a share of predictions, changes with mistake s. */
static double by_mistake(const making *x, size_t c, size_t s)
{
    const size_t i = s / (x->k - 1), j = s % (x->k - 1) + (s % (x->k - 1) >= i);
    if (x->measure->row->compared == MEL_COMPARED_RECALLS)
        return c == i ? -1.0 : 0.0;
    return x->class_share[i] * ((c == j ? 1.0 : 0.0) - (c == i ? 1.0 : 0.0));
}

/* Squares of recalls less 1 or of shares of predictions less those of the classes: r'Br/2 of mistakes r, with
 * B = 2 D'WD, D what they change and W their weights or the matrix. */
static mel_status make_quadratic(mel_metric **out, const making *x, mel_error *err)
{
    const mel_measure *measure = x->measure;
    const bool matrix = measure->row->numbers == MEL_NUMBERS_MATRIX;
    if (measure->target != NULL)
        return mel_fail(err, MEL_EINVAL,
                        "%s has a constant, which a metric file has not; score, rank, apply and optimise "
                        "take it by its name",
                        x->name);
    if (measure->row->compared == MEL_COMPARED_MATCHING)
        TRY(need_shares(x, err));
    const size_t k = x->k, q = x->q;
    MEL_AUTO_MEMORY double *zero = mel_alloc_zero(q + q * q, sizeof *zero);
    if (zero == NULL)
        return mel_fail_memory(err, "a metric");
    double *b = zero + q;
    const size_t first = measure->row->compared == MEL_COMPARED_MATCHING ? k : 0;
    for (size_t c = 0; c < k; c++)
        for (size_t d = 0; d < k; d++) {
            const double weight = matrix   ? measure->numbers[c * k + d]
                                  : c == d ? mel_compared_weight(measure, first == k ? k : c, c)
                                           : 0.0;
            for (size_t e = 0; e < q * q && weight != 0.0; e++)
                b[e] += 2.0 * weight * by_mistake(x, c, e / q) * by_mistake(x, d, e % q);
        }
    const mel_layout layout = layout_of(x, MEL_RATES, MEL_OFFDIAGONAL);
    return mel_metric_quadratic(out, &layout, x->people->class_names, MEL_COST, zero, b, err);
}

/* 1 minus recalls, weighted. */
static mel_status make_absolute_errors(mel_metric **out, const making *x, mel_error *err)
{
    MEL_AUTO_MEMORY double *a = mel_alloc(x->q, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "a metric");
    for (size_t s = 0; s < x->q; s++)
        a[s] = mel_compared_weight(x->measure, s / (x->k - 1), s / (x->k - 1));
    const mel_layout layout = layout_of(x, MEL_RATES, MEL_OFFDIAGONAL);
    return mel_metric_linear(out, MEL_FAMILY_LINEAR, &layout, x->people->class_names, MEL_COST, a, err);
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

/* Differences between groups in their mistakes and nothing else. Of two classes, misses and recalls differ
 * alike. */
static mel_status make_fair(mel_metric **out, const making *x, mel_error *err)
{
    const bool squared = x->measure->gap == MEL_GAP_SQUARED;
    const size_t k = x->k, block = squared ? x->q * x->q : x->q, pairs = mel_group_pairs(x->m);
    MEL_AUTO_MEMORY double *b = mel_alloc_zero(pairs * block + x->q + x->m * k, sizeof *b);
    if (b == NULL)
        return mel_fail_memory(err, "a metric");
    double *zero = b + pairs * block, *prevalence = zero + x->q;
    const mel_layout layout = layout_of(x, MEL_RATES, MEL_OFFDIAGONAL);
    fill_prevalence(prevalence, x);
    for (size_t pair = 0; pair < pairs; pair++)
        for (size_t s = 0; s < x->q; s++) {
            const size_t i = s / (k - 1), j = s % (k - 1) + (s % (k - 1) >= i);
            const bool misses = x->measure->row->compared == MEL_COMPARED_MISSES;
            const double weight = mel_compared_weight(x->measure, i, misses ? i : j);
            b[pair * block + (squared ? s * x->q + s : s)] = (squared ? 2.0 : 1.0) * weight;
        }
    return (squared ? mel_metric_fair_quadratic : mel_metric_fair_linear)(
        out, &layout, x->people->class_names, x->people->group_names, zero, b, 1.0, prevalence, err);
}

static mel_status make_rates(mel_metric **out, const making *x, mel_error *err)
{
    const mel_gap gap = x->measure->gap;
    if (gap == MEL_GAP_LARGEST || x->measure->row->compared == MEL_COMPARED_SHARES)
        return no_family(x, err);
    if (mel_measure_compares_groups(x->measure))
        return make_fair(out, x, err);
    if (x->m > 1)
        return no_family(x, err);
    if (gap == MEL_GAP_SQUARED)
        return make_quadratic(out, x, err);
    return x->measure->row->compared == MEL_COMPARED_RECALLS ? make_absolute_errors(out, x, err)
                                                             : no_family(x, err);
}

static mel_status make_named(mel_metric **out, const making *x, mel_error *err)
{
    const mel_measure *measure = x->measure;
    if (measure->row->rates && measure->over == MEL_GROUPS_TOGETHER)
        return make_rates(out, x, err);
    const mel_shape shape = mel_measure_shape(measure);
    if (x->m > 1 || measure->row->cost)
        return no_family(x, err);
    if (shape == MEL_SHAPE_LINEAR)
        return make_diagonal(out, x, err);
    if (shape == MEL_SHAPE_RATIO && measure->fraction.tp == 0.0)
        return make_kappa(out, x, err);
    return shape == MEL_SHAPE_RATIO && measure->row->binary ? make_fraction(out, x, err) : no_family(x, err);
}

mel_status mel_metric_of_name(mel_metric **out, const char *name, const mel_people *people, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_measure) *measure = NULL;
    TRY(mel_measure_named(&measure, name, people->n_classes, people->n_groups, err));
    making x = { .people = people, .measure = measure, .name = name, .k = people->n_classes };
    x.m = mel_measure_groups(measure);
    x.q = x.k * (x.k - 1);
    MEL_AUTO_MEMORY double *share = mel_alloc_zero(x.k, sizeof *share);
    if (share == NULL)
        return mel_fail_memory(err, "a metric");
    for (size_t s = 0; s < x.m * x.k && people->shares != NULL; s++)
        x.all += people->shares[s];
    for (size_t s = 0; s < x.m * x.k && people->shares != NULL; s++)
        share[s % x.k] += people->shares[s] / x.all;
    x.class_share = people->shares != NULL ? share : NULL;
    return make_named(out, &x, err);
}

mel_status mel_metric_named(mel_metric **out, const char *name, double positives,
                            const char *const *class_names, mel_error *err)
{
    *out = NULL;
    if (!(positives > 0.0) || !(positives < 1.0))
        return mel_fail(err, MEL_EINVAL, "the share of positives is %g, not between 0 and 1", positives);
    const double shares[] = { 1.0 - positives, positives };
    const mel_people people = { .n_classes = 2, .class_names = class_names, .shares = shares };
    return mel_metric_of_name(out, name, &people, err);
}
