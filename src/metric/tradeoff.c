/* How a binary metric trades its two mistakes: cost ratio, threshold, well-known neighbours. */
#include "metric/families/families.h"
#include "metric/measure.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Shares of right decisions help as (TP, TN); shares of mistakes, false alarms first, hurt. */
static bool is_of_two_mistakes(const mel_metric *metric)
{
    return metric->layout.coordinates == MEL_OFFDIAGONAL;
}

bool mel_metric_trades_two(const mel_metric *metric)
{
    return metric->ops->is.sum && metric->layout.coordinates != MEL_DIAGONAL &&
           metric->layout.kind == MEL_CONFUSION && metric->layout.n_classes == 2 && metric->size == 2;
}

/* Turns coefficients into what a right decision is worth. */
static double worth_sign(const mel_metric *metric)
{
    return (metric->orientation == MEL_COST) == is_of_two_mistakes(metric) ? 1.0 : -1.0;
}

mel_status mel_metric_binary_weights(mel_weights *out, const mel_metric *metric, const char *what,
                                     mel_error *err)
{
    if (!mel_metric_trades_two(metric))
        return mel_fail(err, MEL_EINVAL,
                        "%s is defined for linear metrics of two classes as shares of all rows, not for a %s "
                        "metric of %s %s",
                        what, mel_family_name(metric->family),
                        mel_coordinates_name(metric->layout.coordinates), mel_kind_name(metric->layout.kind));
    const size_t missed = is_of_two_mistakes(metric);
    out->m11 = worth_sign(metric) * metric->coefficient[missed];
    out->m00 = worth_sign(metric) * metric->coefficient[1 - missed];
    if (out->m11 == 0.0 && out->m00 == 0.0)
        return mel_fail(err, MEL_EINVAL, "both weights are zero: every classifier is as good as any other");
    return MEL_OK;
}

typedef struct {
    double low, high;
} span;

/* x/y over the box x in xs, y in ys. The weights are on a circle, where one falls as the other
 * grows, so the box's corners are attained. Beyond a y of zero there is no finite bound. */
static span ratio_span(span xs, span ys)
{
    if (ys.low < 0.0 && ys.high <= 0.0) { /* both negated: the same ratios */
        const span x = { -xs.high, -xs.low }, y = { -ys.high, -ys.low };
        return ratio_span(x, y);
    }
    if (ys.high <= 0.0)
        return (span){ -(double)INFINITY, (double)INFINITY };
    const bool open = ys.low <= 0.0;
    const double low = xs.low >= 0.0 ? xs.low / ys.high : (open ? -(double)INFINITY : xs.low / ys.low);
    const double high = xs.high <= 0.0 ? xs.high / ys.high : (open ? (double)INFINITY : xs.high / ys.low);
    return (span){ low, high };
}

/* coefficient[i] / coefficient[j], not both zero, with the interval where there is one. */
static mel_cost_ratio coefficient_ratio(const mel_metric *metric, size_t i, size_t j, double sign)
{
    const double x = sign * metric->coefficient[i], y = sign * metric->coefficient[j];
    mel_cost_ratio out = { x / y, (double)NAN, (double)NAN };
    if (y == 0.0)
        out.ratio = x > 0.0 ? (double)INFINITY : -(double)INFINITY;
    span xs = { 0.0, 0.0 }, ys = { 0.0, 0.0 };
    if (!mel_metric_interval(metric, i, &xs.low, &xs.high) ||
        !mel_metric_interval(metric, j, &ys.low, &ys.high))
        return out;
    const span ratios = ratio_span(xs, ys); /* negating both changes no ratio */
    out.low = ratios.low;
    out.high = ratios.high;
    return out;
}

bool mel_cost_ratio_is_wide(const mel_cost_ratio *ratio)
{
    return !(ratio->low > 0.0 && ratio->high <= MEL_WIDE_FACTOR * ratio->low) &&
           !(ratio->high < 0.0 && ratio->low >= MEL_WIDE_FACTOR * ratio->high);
}

mel_status mel_metric_cost_ratio(mel_cost_ratio *out, const mel_metric *metric, mel_error *err)
{
    mel_weights w = { 0.0, 0.0 };
    TRY(mel_metric_binary_weights(&w, metric, "the cost ratio", err));
    const size_t missed = is_of_two_mistakes(metric);
    *out = coefficient_ratio(metric, missed, 1 - missed, worth_sign(metric));
    return MEL_OK;
}

mel_status mel_metric_weight_ratio(mel_cost_ratio *out, const mel_metric *metric, size_t i, size_t j,
                                   mel_error *err)
{
    const mel_family_facts *is = &metric->ops->is;
    if (!is->sum && !is->groups)
        return mel_fail(err, MEL_EINVAL,
                        "how a %s metric trades one statistic for another depends on the classifier",
                        mel_family_name(metric->family));
    const size_t n = is->groups ? metric->per_group : metric->size;
    if (i >= n || j >= n)
        return mel_fail(err, MEL_EINVAL, "statistic %zu of %zu", (i >= n ? i : j) + 1, n);
    if (metric->coefficient[i] == 0.0 && metric->coefficient[j] == 0.0)
        return mel_fail(err, MEL_EINVAL, "the weights of statistics %zu and %zu are both zero", i + 1, j + 1);
    /* Right answers help and mistakes hurt: weights of that kind count as positive. */
    const bool usual = (metric->orientation == MEL_COST) == (metric->layout.coordinates == MEL_OFFDIAGONAL);
    *out = i == j ? (mel_cost_ratio){ 1.0, 1.0, 1.0 } : coefficient_ratio(metric, i, j, usual ? 1.0 : -1.0);
    return MEL_OK;
}

static span signed_span(const mel_metric *metric, size_t at, double sign)
{
    const double low = sign * metric->low[at], high = sign * metric->high[at];
    return (span){ fmin(low, high), fmax(low, high) };
}

static double share_of(double x, double y)
{
    return x == 0.0 ? 0.0 : x / (fabs(x) + y);
}

/* x/(|x| + |y|) over the box: it grows with x, and in size as |y| falls. */
static void share_of_two(double ends[2], span x, span y)
{
    const double farthest = fmax(fabs(y.low), fabs(y.high)),
                 nearest = y.low <= 0.0 && y.high >= 0.0 ? 0.0 : fmin(fabs(y.low), fabs(y.high));
    ends[0] = share_of(x.low, x.low >= 0.0 ? farthest : nearest);
    ends[1] = share_of(x.high, x.high >= 0.0 ? nearest : farthest);
}

bool mel_metric_share_interval(double ends[2], const mel_metric *metric, size_t first, size_t n, size_t at,
                               double sign)
{
    double sum = 0.0;
    for (size_t i = first; i < first + n; i++)
        sum += fabs(metric->coefficient[i]);
    if (metric->low == NULL || !isfinite(sum) || sum == 0.0)
        return false;
    const span own = signed_span(metric, at, sign);
    if (n == 2) {
        share_of_two(ends, own, signed_span(metric, at == first ? first + 1 : first, sign));
        return true;
    }
    ends[0] = own.low / sum;
    ends[1] = own.high / sum;
    return true;
}

mel_status mel_metric_threshold(double *out, const mel_metric *metric, mel_error *err)
{
    mel_weights w = { 0.0, 0.0 };
    TRY(mel_metric_binary_weights(&w, metric, "a threshold", err));
    if (w.m11 <= 0.0 && w.m00 <= 0.0)
        return mel_fail(
            err, MEL_EINVAL,
            "the metric rewards mistakes (weights %g and %g): positive *above* a threshold is never "
            "better than below it",
            w.m11, w.m00);
    if (w.m11 < 0.0)
        *out = 1.0 + DBL_EPSILON;
    else if (w.m00 < 0.0)
        *out = 0.0;
    else
        *out = w.m00 / (w.m11 + w.m00);
    return MEL_OK;
}

/* Differences below rounding mean "the same"; `size` is what differences are like. */
static int sign_of(double difference, double size)
{
    const double rounding = 1e-13 * size;
    return (difference > rounding) - (difference < -rounding);
}

typedef struct {
    const mel_metric *metric;
    size_t n;
    const double *a, *b;
    double *difference; /* under the metric; NaN: not defined */
    double size;        /* the largest of them */
} pairs;

static mel_status order_pairs(pairs *p, mel_error *err)
{
    size_t defined = 0;
    p->size = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        p->difference[i] = (double)NAN;
        if (mel_metric_compare(&p->difference[i], p->metric, p->a + 2 * i, p->b + 2 * i, NULL) != MEL_OK)
            continue;
        p->size = fmax(p->size, fabs(p->difference[i]));
        defined++;
    }
    if (defined == 0)
        return mel_fail(err, MEL_EINVAL, "the metric is not defined on any of the %zu pairs", p->n);
    return MEL_OK;
}

/* Confusion shares at statistics. Rounding may put a corner of the face a hair outside. */
static void confusion_at(double confusion[4], bool rates, double positives, const double *statistics)
{
    const double z = positives, n = 1.0 - positives;
    const double tp = rates ? statistics[0] * z : statistics[0],
                 tn = rates ? statistics[1] * n : statistics[1];
    confusion[0] = fmax(tn, 0.0);
    confusion[1] = fmax(n - tn, 0.0);
    confusion[2] = fmax(z - tp, 0.0);
    confusion[3] = fmax(tp, 0.0);
}

/* How a well-known metric orders n pairs of statistics. */
static mel_status order_by(int8_t *out, const char *name, bool rates, double positives, size_t n,
                           const double *a, const double *b, mel_error *err)
{
    MEL_AUTO(mel_measure) *measure = NULL;
    TRY(mel_measure_named(&measure, name, 2, 0, err));
    for (size_t i = 0; i < n; i++) {
        double confusion[4], value[2] = { 0.0, 0.0 };
        for (size_t side = 0; side < 2; side++) {
            confusion_at(confusion, rates, positives, (side == 0 ? a : b) + 2 * i);
            const mel_status status = mel_measure_value(&value[side], measure, confusion, err);
            if (status != MEL_OK)
                return mel_fail_in(err, status, "pair %zu", i + 1);
        }
        out[i] = (int8_t)sign_of(value[0] - value[1], 1.0);
    }
    return MEL_OK;
}

/* order: the candidate's of all pairs. */
static double agreement_of(const pairs *p, const int8_t *order)
{
    size_t same = 0, defined = 0;
    for (size_t i = 0; i < p->n; i++)
        if (!isnan(p->difference[i])) {
            same += order[i] == sign_of(p->difference[i], p->size);
            defined++;
        }
    return (double)same / (double)defined;
}

enum { MAX_CANDIDATES = MEL_FIXED_NEIGHBOURS + 1 };
static const struct {
    const char *measure, *title;
} fixed[MEL_FIXED_NEIGHBOURS] = {
    { "accuracy", "accuracy" },
    { "balanced-accuracy", "balanced accuracy" },
    { "f1", "F1" },
    { "f0.5", "F0.5" },
    { "f2", "F2" },
    { "jaccard", "Jaccard" },
    { "precision", "precision" },
    { "recall", "recall" },
    { "specificity", "specificity" },
    { "g-mean", "G-mean" },
    { "mcc", "MCC" },
};

mel_status mel_neighbours_order(int8_t *order, double positives, size_t n, const double *a, const double *b,
                                mel_error *err)
{
    for (size_t m = 0; m < MEL_FIXED_NEIGHBOURS; m++)
        TRY(order_by(order + m * n, fixed[m].measure, false, positives, n, a, b, err));
    return MEL_OK;
}

static size_t list_candidates(mel_neighbour list[MAX_CANDIDATES], const mel_metric *metric)
{
    size_t n = 0;
    for (; n < MEL_FIXED_NEIGHBOURS; n++) {
        (void)snprintf(list[n].measure, sizeof list[n].measure, "%s", fixed[n].measure);
        (void)snprintf(list[n].name, sizeof list[n].name, "%s", fixed[n].title);
    }
    mel_cost_ratio cost = { 0.0, 0.0, 0.0 };
    if (mel_metric_cost_ratio(&cost, metric, NULL) == MEL_OK && cost.ratio > 1e-6 && cost.ratio < 1e6) {
        /* Two digits, as one would say it; exactly 1:1 is accuracy. */
        const double step = pow(10.0, floor(log10(cost.ratio)) - 1.0);
        const double rounded = round(cost.ratio / step) * step;
        if (fabs(rounded - 1.0) > 1e-9) {
            (void)mel_print(list[n].measure, sizeof list[n].measure, "weighted-accuracy:%.17g", rounded);
            (void)mel_print(list[n].name, sizeof list[n].name, "weighted accuracy %.4g:1", rounded);
            n++;
        }
    }
    return n;
}

/* Insertion by agreement, best first; equals keep the list's order. */
static void sort_neighbours(mel_neighbour *list, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const mel_neighbour moved = list[i];
        size_t j = i;
        for (; j > 0 && list[j - 1].agreement < moved.agreement; j--)
            list[j] = list[j - 1];
        list[j] = moved;
    }
}

static mel_status check_pairs(const mel_metric *metric, double positives, size_t n, mel_error *err)
{
    if (metric->layout.coordinates != MEL_BINARY || metric->size != 2)
        return mel_fail(err, MEL_EINVAL, "only binary metrics have well-known neighbours");
    if (!(positives > 0.0) || !(positives < 1.0))
        return mel_fail(err, MEL_EINVAL, "the share of positives is %g, not between 0 and 1", positives);
    if (n == 0)
        return mel_fail(err, MEL_EINVAL, "no pairs to compare the metrics on");
    return MEL_OK;
}

mel_status mel_metric_neighbours(mel_neighbour *out, size_t n_out, size_t *n_found, const mel_metric *metric,
                                 double positives, size_t n, const double *a, const double *b,
                                 const int8_t *order, mel_error *err)
{
    TRY(check_pairs(metric, positives, n, err));
    MEL_AUTO_MEMORY double *difference = mel_alloc(n, sizeof *difference);
    MEL_AUTO_MEMORY int8_t *own = mel_alloc(n, sizeof *own);
    if (difference == NULL || own == NULL)
        return mel_fail_memory(err, "the order of the pairs");
    pairs p = { metric, n, a, b, difference, 0.0 };
    mel_neighbour list[MAX_CANDIDATES];
    const size_t n_candidates = list_candidates(list, metric);
    const bool rates = metric->layout.kind == MEL_RATES;
    TRY(order_pairs(&p, err));
    for (size_t i = 0; i < n_candidates; i++) {
        const bool known = order != NULL && i < MEL_FIXED_NEIGHBOURS && !rates;
        if (!known)
            TRY(order_by(own, list[i].measure, rates, positives, n, a, b, err));
        list[i].agreement = agreement_of(&p, known ? order + i * n : own);
    }
    sort_neighbours(list, n_candidates);
    *n_found = n_candidates < n_out ? n_candidates : n_out;
    for (size_t i = 0; i < *n_found; i++)
        out[i] = list[i];
    return MEL_OK;
}
