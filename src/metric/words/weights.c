/* Weighted sums and their ratios in words: shares of the weight, and the dearest mistake in cheapest ones. */
#include "metric/words/words.h"

#include <math.h>
#include <string.h>

enum { LISTED = 6 };

static bool counts_mistakes(const mel_metric *metric)
{
    return metric->layout.coordinates == MEL_OFFDIAGONAL;
}

mel_words_weights mel_words_weights_of(const mel_metric *metric, size_t first, size_t n)
{
    /* Right answers help and mistakes hurt: that is the usual sign. */
    const bool usual = (metric->orientation == MEL_COST) == counts_mistakes(metric);
    return (mel_words_weights){ metric, first, n, usual ? 1.0 : -1.0 };
}

static double weight(const mel_words_weights *w, size_t i)
{
    return w->sign * w->metric->coefficient[w->first + i];
}

static bool any_negative(const mel_words_weights *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (weight(w, i) < 0.0)
            return true;
    return false;
}

bool mel_words_all_zero(const mel_words_weights *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (weight(w, i) != 0.0)
            return false;
    return true;
}

/* True class and prediction of a coordinate; the same class twice for right answers. */
typedef struct {
    const char *truth, *prediction;
} cell;

static cell cell_of(const mel_metric *metric, size_t coordinate)
{
    char **const names = metric->class_names;
    const size_t k = metric->layout.n_classes;
    if (metric->layout.coordinates == MEL_BINARY)
        return (cell){ names[coordinate == 0 ? 1 : 0], names[coordinate == 0 ? 1 : 0] };
    if (metric->layout.coordinates == MEL_DIAGONAL)
        return (cell){ names[coordinate], names[coordinate] };
    const size_t row = coordinate / (k - 1), column = coordinate % (k - 1);
    return (cell){ names[row], names[column < row ? column : column + 1] };
}

void mel_words_add_coordinate(mel_buffer *out, const mel_words_weights *w, size_t index)
{
    const mel_metric *metric = w->metric;
    const cell at = cell_of(metric, index % metric->per_group);
    mel_words_add_name(out, at.truth);
    if (counts_mistakes(metric)) {
        mel_buffer_puts(out, " taken for ");
        mel_words_add_name(out, at.prediction);
    }
    if (metric->group_names != NULL && w->n > metric->per_group) {
        mel_buffer_puts(out, " in group ");
        mel_words_add_name(out, metric->group_names[index / metric->per_group]);
    }
}

/* Who follows `previous` (SIZE_MAX: nobody yet) when weights are ordered by size, largest first, then by
 * index. */
static size_t next_largest(const mel_words_weights *w, size_t previous)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < w->n; i++) {
        if (previous != SIZE_MAX) {
            const double d = fabs(weight(w, i)) - fabs(weight(w, previous));
            if (d > 0.0 || (d == 0.0 && i <= previous))
                continue;
        }
        if (best == SIZE_MAX || fabs(weight(w, i)) > fabs(weight(w, best)))
            best = i;
    }
    return best;
}

static void add_share_interval(mel_buffer *out, const double ends[2])
{
    mel_buffer_puts(out, " (95% between ");
    mel_words_add_percent(out, ends[0]);
    mel_buffer_puts(out, " and ");
    mel_words_add_percent(out, ends[1]);
    mel_buffer_puts(out, ")");
}

void mel_words_add_list(mel_buffer *out, const mel_words_weights *w)
{
    const mel_metric *metric = w->metric;
    double total = 0.0, rest = 1.0;
    for (size_t i = 0; i < w->n; i++)
        total += fabs(weight(w, i));
    if (total == 0.0) {
        mel_buffer_puts(out, "nothing");
        return;
    }
    size_t at = SIZE_MAX;
    for (size_t listed = 0; listed < w->n && listed < LISTED; listed++) {
        at = next_largest(w, at);
        rest -= fabs(weight(w, at) / total);
        mel_buffer_puts(out, listed > 0 ? ", " : "");
        mel_words_add_coordinate(out, w, at);
        mel_buffer_puts(out, " ");
        mel_words_add_percent(out, weight(w, at) / total);
        double ends[2];
        if (mel_metric_share_interval(ends, metric, w->first, w->n, w->first + at, w->sign))
            add_share_interval(out, ends);
    }
    if (w->n > LISTED) {
        mel_buffer_printf(out, " and %zu more with ", w->n - LISTED);
        mel_words_add_percent(out, fmax(rest, 0.0));
        mel_buffer_puts(out, " together");
    }
}

static const char *what_is_weighed(const mel_metric *metric)
{
    return counts_mistakes(metric) ? "each mistake" : "getting each class right";
}

static const char *unit_of(const mel_metric *metric)
{
    return metric->layout.kind == MEL_RATES ? " (as a rate within its class)" : "";
}

void mel_words_add_weights(mel_buffer *out, const mel_words_weights *w, const char *heading)
{
    mel_buffer_printf(out, "%s of %s%s: ", heading, what_is_weighed(w->metric), unit_of(w->metric));
    mel_words_add_list(out, w);
    mel_buffer_puts(out, ".");
    if (any_negative(w))
        mel_buffer_printf(out, " A minus sign marks %s.",
                          counts_mistakes(w->metric) ? "mistakes that make a classifier better"
                                                     : "right answers that make a classifier worse");
}

/* "predicting healthy when it is flu" or "getting flu right". */
static void add_deed(mel_buffer *out, const mel_words_weights *w, size_t index, bool starts)
{
    const cell at = cell_of(w->metric, index);
    if (counts_mistakes(w->metric)) {
        mel_buffer_puts(out, starts ? "Predicting " : "predicting ");
        mel_words_add_name(out, at.prediction);
        mel_buffer_puts(out, " when it is ");
        mel_words_add_name(out, at.truth);
    } else {
        mel_buffer_puts(out, starts ? "Getting " : "getting ");
        mel_words_add_name(out, at.truth);
        mel_buffer_puts(out, " right");
    }
}

void mel_words_add_extremes(mel_buffer *out, const mel_words_weights *w)
{
    size_t most = 0, least = 0;
    for (size_t i = 1; i < w->n; i++) {
        if (weight(w, i) > weight(w, most))
            most = i;
        if (weight(w, i) < weight(w, least))
            least = i;
    }
    /* Groups' own statistics have no common scale; a weight of zero or of the other sign has no ratio. */
    if (w->n > w->metric->per_group || w->n < 2 || !(weight(w, least) > 0.0))
        return;
    mel_cost_ratio cost = { 1.0, (double)NAN, (double)NAN };
    if (mel_metric_weight_ratio(&cost, w->metric, w->first + most, w->first + least, NULL) != MEL_OK ||
        !isfinite(cost.ratio))
        return;
    char number[MEL_WORDS_NUMBER];
    mel_words_ratio_text(number, cost.ratio, 0);
    if (strcmp(number, "1") == 0) {
        if (!isnan(cost.low) && mel_cost_ratio_is_wide(&cost))
            return; /* nothing is known yet */
        mel_buffer_printf(out, " All %s.",
                          counts_mistakes(w->metric) ? "mistakes cost about the same"
                                                     : "classes count about the same");
        return;
    }
    mel_buffer_puts(out, " ");
    add_deed(out, w, most, true);
    mel_buffer_puts(out, counts_mistakes(w->metric) ? " costs " : " counts ");
    mel_words_add_ratio(out, number);
    mel_buffer_puts(out, " times as much as ");
    add_deed(out, w, least, false);
    mel_words_add_interval(out, cost.low, cost.high);
    mel_buffer_puts(out, ".");
}

static void add_fraction(mel_buffer *out, const mel_words_weights *above, const mel_words_weights *below)
{
    mel_buffer_printf(out, "A ratio of two weighted sums. Weight of %s%s above the line: ",
                      what_is_weighed(above->metric), unit_of(above->metric));
    mel_words_add_list(out, above);
    mel_buffer_puts(out, "; below the line: ");
    mel_words_add_list(out, below);
    mel_buffer_puts(out, ".");
}

static bool is_binary(const mel_metric *metric)
{
    return metric->layout.coordinates == MEL_BINARY && metric->layout.kind == MEL_CONFUSION &&
           metric->size == 2;
}

mel_status mel_words_ratio(mel_buffer *out, const mel_metric *metric, mel_error *err)
{
    (void)err;
    const mel_words_weights above = { metric, 0, metric->size, 1.0 };
    const mel_words_weights below = { metric, metric->size + 1, metric->size, 1.0 };
    if (is_binary(metric))
        mel_words_binary_fractional(out, metric);
    else if (mel_words_all_zero(&above) && mel_words_all_zero(&below))
        mel_words_add_nothing(out);
    else
        add_fraction(out, &above, &below);
    return MEL_OK;
}

static void add_sum(mel_buffer *out, const mel_metric *metric)
{
    const mel_words_weights w = mel_words_weights_of(metric, 0, metric->size);
    if (mel_words_all_zero(&w)) {
        mel_words_add_nothing(out);
        return;
    }
    mel_words_add_weights(out, &w, "Weight");
    mel_words_add_extremes(out, &w);
    if (metric->ops->is.local)
        mel_buffer_puts(out, " These weights describe small changes; how good a classifier is may depend on "
                             "them in a more curved way.");
}

mel_status mel_words_linear(mel_buffer *out, const mel_metric *metric, mel_error *err)
{
    (void)err;
    if (mel_metric_trades_two(metric))
        mel_words_binary_linear(out, metric);
    else
        add_sum(out, metric);
    return MEL_OK;
}

mel_status mel_metric_words(char **out, const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    mel_buffer text;
    mel_buffer_init(&text, MEL_WORDS_BYTES);
    const mel_status status = metric->ops->words(&text, metric, err);
    if (status != MEL_OK) {
        mel_buffer_free(&text);
        return status;
    }
    return mel_text_take(out, &text, "the words for a metric", err);
}
