/* A metric in plain words. */
#include "metric/metric.h"
#include "metric/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 16, LISTED = 6, NUMBER_BYTES = 48 };

/* Two digits below 1, one decimal below 10, whole numbers above, three digits from 100; `extra` more
 * decimals for ends that lie close together. x is finite and not negative. */
static void format_ratio(char text[NUMBER_BYTES], double x, int extra)
{
    if (x >= 1e9) {
        (void)snprintf(text, NUMBER_BYTES, "%.2g", x);
        return;
    }
    int decimals = x >= 9.95 ? 0 : 1;
    if (x > 0.0 && x < 0.995)
        decimals = x < 1e-6 ? 6 : (int)ceil(-log10(x)) + 1;
    if (x >= 1000.0 && extra == 0) {
        const double step = pow(10.0, floor(log10(x)) - 2.0);
        x = round(x / step) * step;
    }
    (void)snprintf(text, NUMBER_BYTES, "%.*f", decimals + extra, x);
    char *point = strpbrk(text, ".,");
    if (point == NULL)
        return;
    *point = '.'; /* whatever the locale says */
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

static void add_ratio(mel_buffer *out, const char *text)
{
    if (strspn(text, "0123456789") == strlen(text))
        mel_text_add_count(out, (uint64_t)strtoull(text, NULL, 10));
    else
        mel_buffer_puts(out, text);
}

/* "; 95% between 5.2 and 7.4", or what is known of it; nothing when nothing is. */
static void add_interval(mel_buffer *out, double low, double high)
{
    if (isnan(low) || isnan(high) || (low <= 0.0 && isinf(high)))
        return;
    char from[NUMBER_BYTES], to[NUMBER_BYTES];
    for (int extra = 0; extra <= 4; extra++) {
        format_ratio(from, fmax(low, 0.0), extra);
        format_ratio(to, isinf(high) ? 0.0 : high, extra);
        if (strcmp(from, to) != 0)
            break;
    }
    const bool both = low > 0.0 && !isinf(high);
    mel_buffer_puts(out, both ? "; 95% between " : low > 0.0 ? "; 95% at least " : "; 95% at most ");
    add_ratio(out, low > 0.0 ? from : to);
    if (both) {
        mel_buffer_puts(out, " and ");
        add_ratio(out, to);
    }
}

/* "missed cancer(s)" or "false alarm(s)". */
static void add_mistake(mel_buffer *out, const char *positive, bool missed, bool plural)
{
    if (missed)
        mel_text_add_missed(out, positive, plural);
    else
        mel_buffer_puts(out, plural ? "false alarms" : "false alarm");
}

/* "as much as 6.1 false alarms; 95% between 5.2 and 7.4" for a ratio of at least 1. */
static void add_as_much(mel_buffer *out, const char *positive, bool in_missed, mel_cost_ratio cost)
{
    char number[NUMBER_BYTES];
    format_ratio(number, cost.ratio, 0);
    const bool one = strcmp(number, "1") == 0;
    mel_buffer_puts(out, "as much as ");
    if (one)
        mel_buffer_puts(out, "one");
    else
        add_ratio(out, number);
    mel_buffer_puts(out, " ");
    add_mistake(out, positive, in_missed, !one);
    add_interval(out, cost.low, cost.high);
}

/* "one missed cancer counts as much as ...": the dearer mistake first. */
static void add_exchange(mel_buffer *out, const char *positive, mel_cost_ratio cost, const char *one,
                         const char *counts)
{
    char number[NUMBER_BYTES];
    format_ratio(number, cost.ratio, 0);
    const bool turned = cost.ratio < 1.0 && strcmp(number, "1") != 0;
    if (turned) {
        const double low = cost.low, high = cost.high;
        cost.ratio = 1.0 / cost.ratio;
        cost.low = isinf(high) ? 0.0 : 1.0 / high;
        cost.high = low > 0.0 ? 1.0 / low : low <= 0.0 ? (double)INFINITY : (double)NAN;
    }
    mel_buffer_printf(out, "%s ", one);
    add_mistake(out, positive, !turned, false);
    mel_buffer_printf(out, " %s ", counts);
    add_as_much(out, positive, turned, cost);
    mel_buffer_puts(out, ".");
}

/* One weight is zero: what the other does. */
static void add_single(mel_buffer *out, const char *positive, bool missed, bool harmful)
{
    mel_buffer_puts(out, harmful ? "Only " : "This metric rewards ");
    add_mistake(out, positive, missed, true);
    mel_buffer_puts(out, harmful ? " matter; " : "; ");
    add_mistake(out, positive, !missed, true);
    mel_buffer_puts(out, harmful ? " do not." : " do not matter.");
}

/* One kind of mistake is punished, the other rewarded. */
static void add_mixed(mel_buffer *out, const char *positive, bool missed_hurts)
{
    mel_buffer_puts(out, "This metric punishes ");
    add_mistake(out, positive, missed_hurts, true);
    mel_buffer_puts(out, " and rewards ");
    add_mistake(out, positive, !missed_hurts, true);
    mel_buffer_printf(out, ": predicting the positive class %s is best.", missed_hurts ? "always" : "never");
}

/* What a missed positive and a false alarm take away, in one sentence. */
static void add_weights(mel_buffer *out, const char *positive, double m11, double m00, mel_cost_ratio cost)
{
    if (m11 == 0.0 && m00 == 0.0)
        mel_buffer_puts(out, "This metric does not tell classifiers apart: every weight is zero.");
    else if (m11 == 0.0 || m00 == 0.0)
        add_single(out, positive, m11 != 0.0, m11 > 0.0 || m00 > 0.0);
    else if (m11 > 0.0 && m00 > 0.0)
        add_exchange(out, positive, cost, "One", "counts");
    else if (m11 < 0.0 && m00 < 0.0)
        add_exchange(out, positive, cost, "This metric rewards mistakes: one", "is worth");
    else
        add_mixed(out, positive, m11 > 0.0);
}

static void binary_linear_words(mel_buffer *out, const mel_metric *metric)
{
    const double sign = metric->orientation == MEL_COST ? -1.0 : 1.0;
    mel_cost_ratio cost = { 1.0, (double)NAN, (double)NAN };
    (void)mel_metric_cost_ratio(&cost, metric, NULL); /* fails only when both weights are zero */
    add_weights(out, metric->class_names[1], sign * metric->coefficient[0], sign * metric->coefficient[1],
                cost);
}

/* The exchange rate where the metric has a given value: p - value * q, at the values 0.2, 0.5 and 0.8
 * of those metrics of [0, 1] that are usual. */
static void add_levels(mel_buffer *out, const double *p, const double *q)
{
    static const double levels[] = { 0.2, 0.5, 0.8 };
    size_t said = 0;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const double u11 = p[0] - levels[i] * q[0], u00 = p[1] - levels[i] * q[1];
        const double ratio = u11 / u00;
        if (!(ratio > 1e-6) || !(ratio < 1e6))
            continue;
        char number[NUMBER_BYTES];
        format_ratio(number, ratio, 0);
        if (said == 0) {
            mel_buffer_puts(out, ": as much as ");
            add_ratio(out, number);
            mel_buffer_printf(out, " %s where the metric is %g",
                              strcmp(number, "1") == 0 ? "false alarm" : "false alarms", levels[i]);
        } else {
            mel_buffer_puts(out, ", ");
            add_ratio(out, number);
            mel_buffer_printf(out, " where it is %g", levels[i]);
        }
        said++;
    }
    mel_buffer_puts(out, ".");
}

static void binary_fractional_words(mel_buffer *out, const mel_metric *metric)
{
    double p0 = 0.0, q0 = 0.0;
    const double *p = mel_metric_numerator(metric, &p0), *q = mel_metric_denominator(metric, &q0);
    const char *positive = metric->class_names[1];
    const double det = p[0] * q[1] - p[1] * q[0];
    if (fabs(det) <= 4.0 * DBL_EPSILON * (fabs(p[0] * q[1]) + fabs(p[1] * q[0]))) {
        /* Parallel level lines: it orders as the linear metric q0 p - p0 q does. */
        const double sign = metric->orientation == MEL_COST ? -1.0 : 1.0;
        const double m11 = sign * (q0 * p[0] - p0 * q[0]), m00 = sign * (q0 * p[1] - p0 * q[1]);
        const mel_cost_ratio cost = { m00 != 0.0 ? m11 / m00 : 1.0, (double)NAN, (double)NAN };
        add_weights(out, positive, m11, m00, cost);
        return;
    }
    mel_buffer_puts(out, "How much a ");
    mel_text_add_missed(out, positive, false);
    mel_buffer_puts(out, " counts depends on how good the classifier is");
    add_levels(out, p, q);
    const double tp = (p[1] * q0 - q[1] * p0) / det, tn = (q[0] * p0 - p[0] * q0) / det;
    mel_buffer_printf(out,
                      " Classifiers of equal worth lie on a line through the pivot TP = %.4g, TN = %.4g.",
                      tp == 0.0 ? 0.0 : tp, tn == 0.0 ? 0.0 : tn);
}

static void add_name(mel_buffer *out, const char *name)
{
    (void)mel_text_add_clean(out, name, SIZE_MAX);
}

/* What coordinate `index` is, for a list. */
static void add_coordinate(mel_buffer *out, const mel_metric *metric, size_t index)
{
    const size_t k = metric->layout.n_classes;
    const size_t per_group =
        metric->layout.n_groups > 1 ? metric->size / metric->layout.n_groups : metric->size;
    const size_t i = index % per_group;
    if (metric->layout.coordinates == MEL_BINARY) {
        add_name(out, metric->class_names[i == 0 ? 1 : 0]);
    } else if (metric->layout.coordinates == MEL_DIAGONAL) {
        add_name(out, metric->class_names[i]);
    } else {
        const size_t row = i / (k - 1), column = i % (k - 1);
        add_name(out, metric->class_names[row]);
        mel_buffer_puts(out, " taken for ");
        add_name(out, metric->class_names[column < row ? column : column + 1]);
    }
    if (metric->group_names != NULL) {
        mel_buffer_puts(out, " in group ");
        add_name(out, metric->group_names[index / per_group]);
    }
}

static void add_percent(mel_buffer *out, double share)
{
    char number[NUMBER_BYTES];
    format_ratio(number, 100.0 * fabs(share), 0);
    mel_buffer_printf(out, "%s%s%%", share < 0.0 ? "-" : "", number);
}

/* Who follows `previous` (SIZE_MAX: nobody yet) when weights are ordered by size, largest first, then by
 * index. */
static size_t next_largest(const double *w, size_t n, size_t previous)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (previous != SIZE_MAX) {
            const double d = fabs(w[i]) - fabs(w[previous]);
            if (d > 0.0 || (d == 0.0 && i <= previous))
                continue;
        }
        if (best == SIZE_MAX || fabs(w[i]) > fabs(w[best]))
            best = i;
    }
    return best;
}

static void add_share_interval(mel_buffer *out, double low, double high)
{
    mel_buffer_puts(out, " (95% between ");
    add_percent(out, fmin(low, high));
    mel_buffer_puts(out, " and ");
    add_percent(out, fmax(low, high));
    mel_buffer_puts(out, ")");
}

/* "cancer 50% (95% between 45% and 55%), flu 30%, ...": shares of the weight, largest first. `scale`
 * is 1 or -1, to turn weights so that the usual ones are positive. */
static void add_list(mel_buffer *out, const mel_metric *metric, const double *w, double scale)
{
    const size_t n = metric->size, first = (size_t)(w - metric->coefficient);
    double total = 0.0, rest = 1.0;
    for (size_t i = 0; i < n; i++)
        total += fabs(w[i]);
    if (total == 0.0) {
        mel_buffer_puts(out, "nothing");
        return;
    }
    scale /= total;
    size_t at = SIZE_MAX;
    for (size_t listed = 0; listed < n && listed < LISTED; listed++) {
        at = next_largest(w, n, at);
        rest -= fabs(scale * w[at]);
        mel_buffer_puts(out, listed > 0 ? ", " : "");
        add_coordinate(out, metric, at);
        mel_buffer_puts(out, " ");
        add_percent(out, scale * w[at]);
        if (metric->low != NULL)
            add_share_interval(out, scale * metric->low[first + at], scale * metric->high[first + at]);
    }
    if (n > LISTED) {
        mel_buffer_printf(out, " and %zu more with ", n - LISTED);
        add_percent(out, fmax(rest, 0.0));
        mel_buffer_puts(out, " together");
    }
}

/* Whether some weight times sign is below zero. */
static bool any_negative(const double *w, size_t n, double sign)
{
    for (size_t i = 0; i < n; i++)
        if (sign * w[i] < 0.0)
            return true;
    return false;
}

static bool all_zero(const double *w, size_t n)
{
    return !any_negative(w, n, 1.0) && !any_negative(w, n, -1.0);
}

static void general_words(mel_buffer *out, const mel_metric *metric)
{
    const size_t n = metric->size;
    const double *p = mel_metric_numerator(metric, NULL), *q = mel_metric_denominator(metric, NULL);
    const bool mistakes = metric->layout.coordinates == MEL_OFFDIAGONAL;
    if (all_zero(p, n) && (q == NULL || all_zero(q, n))) {
        mel_buffer_puts(out, "This metric does not tell classifiers apart: every weight is zero.");
        return;
    }
    const char *rates = metric->layout.kind == MEL_RATES ? " (as a rate within its class)" : "";
    const char *what = mistakes ? "each mistake" : "getting each class right";
    if (q != NULL) {
        mel_buffer_printf(out, "A ratio of two weighted sums. Weight of %s%s above the line: ", what, rates);
        add_list(out, metric, p, 1.0);
        mel_buffer_puts(out, "; below the line: ");
        add_list(out, metric, q, 1.0);
        mel_buffer_puts(out, ".");
        return;
    }
    /* Right answers help and mistakes hurt: that is the usual sign. */
    const double sign = (metric->orientation == MEL_COST) == mistakes ? 1.0 : -1.0;
    mel_buffer_printf(out, "Weight of %s%s: ", what, rates);
    add_list(out, metric, p, sign);
    mel_buffer_puts(out, ".");
    if (any_negative(p, n, sign))
        mel_buffer_printf(out, " A minus sign marks %s.",
                          mistakes ? "mistakes that make a classifier better"
                                   : "right answers that make a classifier worse");
}

mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    mel_buffer text;
    mel_buffer_init(&text, MAX_BYTES);
    const bool binary =
        metric->layout.coordinates == MEL_BINARY && metric->layout.kind == MEL_CONFUSION && metric->size == 2;
    if (binary && metric->family == MEL_FAMILY_LINEAR)
        binary_linear_words(&text, metric);
    else if (binary && metric->family == MEL_FAMILY_LINEAR_FRACTIONAL)
        binary_fractional_words(&text, metric);
    else
        general_words(&text, metric);
    return mel_text_take(out, &text, "the words for a metric", err);
}
