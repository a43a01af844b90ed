/* Binary metrics in words: what a missed positive costs in false alarms. */
#include "metric/words/words.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* "as much as 6.1 false alarms; 95% between 5.2 and 7.4" for a ratio of at least 1. */
static void add_as_much(mel_buffer *out, const char *positive, bool in_missed, mel_cost_ratio cost)
{
    char number[MEL_WORDS_NUMBER];
    mel_words_ratio_text(number, cost.ratio, 0);
    const bool one = strcmp(number, "1") == 0;
    mel_buffer_puts(out, "as much as ");
    if (one)
        mel_buffer_puts(out, "one");
    else
        mel_words_add_ratio(out, number);
    mel_buffer_puts(out, " ");
    mel_text_add_mistake(out, positive, in_missed, !one);
    mel_words_add_interval(out, cost.low, cost.high);
}

/* "one missed cancer counts as much as ...": the dearer mistake first. */
static void add_exchange(mel_buffer *out, const char *positive, mel_cost_ratio cost, const char *one,
                         const char *counts)
{
    char number[MEL_WORDS_NUMBER];
    mel_words_ratio_text(number, cost.ratio, 0);
    const bool turned = cost.ratio < 1.0 && strcmp(number, "1") != 0;
    if (turned) {
        const double low = cost.low, high = cost.high;
        cost.ratio = 1.0 / cost.ratio;
        cost.low = isinf(high) ? 0.0 : 1.0 / high;
        cost.high = low > 0.0 ? 1.0 / low : low <= 0.0 ? (double)INFINITY : (double)NAN;
    }
    mel_buffer_printf(out, "%s ", one);
    mel_text_add_mistake(out, positive, !turned, false);
    mel_buffer_printf(out, " %s ", counts);
    add_as_much(out, positive, turned, cost);
    mel_buffer_puts(out, ".");
}

/* One weight is zero: what the other does. */
static void add_single(mel_buffer *out, const char *positive, bool missed, bool harmful)
{
    mel_buffer_puts(out, harmful ? "Only " : "This metric rewards ");
    mel_text_add_mistake(out, positive, missed, true);
    mel_buffer_puts(out, harmful ? " matter; " : "; ");
    mel_text_add_mistake(out, positive, !missed, true);
    mel_buffer_puts(out, harmful ? " do not." : " do not matter.");
}

/* One kind of mistake is punished, the other rewarded. */
static void add_mixed(mel_buffer *out, const char *positive, bool missed_hurts)
{
    mel_buffer_puts(out, "This metric punishes ");
    mel_text_add_mistake(out, positive, missed_hurts, true);
    mel_buffer_puts(out, " and rewards ");
    mel_text_add_mistake(out, positive, !missed_hurts, true);
    mel_buffer_printf(out, ": predicting the positive class %s is best.", missed_hurts ? "always" : "never");
}

/* What a missed positive and a false alarm take away, in one sentence. */
static void add_weights(mel_buffer *out, const char *positive, double m11, double m00, mel_cost_ratio cost)
{
    if (m11 == 0.0 && m00 == 0.0)
        mel_words_add_nothing(out);
    else if (m11 == 0.0 || m00 == 0.0)
        add_single(out, positive, m11 != 0.0, m11 > 0.0 || m00 > 0.0);
    else if (m11 > 0.0 && m00 > 0.0)
        add_exchange(out, positive, cost, "One", "counts");
    else if (m11 < 0.0 && m00 < 0.0)
        add_exchange(out, positive, cost, "This metric rewards mistakes: one", "is worth");
    else
        add_mixed(out, positive, m11 > 0.0);
}

void mel_words_binary_linear(mel_buffer *out, const mel_metric *metric)
{
    mel_cost_ratio cost = { 1.0, (double)NAN, (double)NAN };
    mel_weights worth = { 0.0, 0.0 };
    (void)mel_metric_cost_ratio(&cost, metric, NULL); /* both fail only when both weights are zero */
    (void)mel_metric_binary_weights(&worth, metric, "the cost ratio", NULL);
    add_weights(out, metric->class_names[1], worth.m11, worth.m00, cost);
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
        char number[MEL_WORDS_NUMBER];
        mel_words_ratio_text(number, ratio, 0);
        if (said == 0) {
            mel_buffer_puts(out, ": as much as ");
            mel_words_add_ratio(out, number);
            mel_buffer_printf(out, " %s where the metric is %g",
                              strcmp(number, "1") == 0 ? "false alarm" : "false alarms", levels[i]);
        } else {
            mel_buffer_puts(out, ", ");
            mel_words_add_ratio(out, number);
            mel_buffer_printf(out, " where it is %g", levels[i]);
        }
        said++;
    }
    mel_buffer_puts(out, ".");
}

void mel_words_binary_fractional(mel_buffer *out, const mel_metric *metric)
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
}
