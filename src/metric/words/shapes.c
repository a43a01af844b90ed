/* Metrics that are not sums in words: polynomials, and the trade-off of fair metrics. */
#include "base/la.h"
#include "metric/words/words.h"

#include <math.h>

static const char *const factors[MEL_MAX_DEGREE + 1] = { "",
                                                         "plain sums of statistics",
                                                         "products of two",
                                                         "products of three",
                                                         "products of four",
                                                         "products of five",
                                                         "products of six",
                                                         "products of seven",
                                                         "products of eight",
                                                         "products of nine" };

/* Shares of the sum of squares, which is 1 for a scaled metric. */
static void add_degrees(mel_buffer *out, const mel_metric *metric)
{
    double norm[MEL_MAX_DEGREE + 1] = { 0.0 }, largest = 0.0, total = 0.0;
    for (uint32_t d = 1; d <= metric->degree; d++) {
        norm[d] = mel_norm2(mel_tensor_size(metric->size, d), mel_metric_tensor(metric, d));
        largest = fmax(largest, norm[d]);
    }
    for (uint32_t d = 1; d <= metric->degree; d++) {
        norm[d] = isfinite(largest) ? norm[d] / largest * (norm[d] / largest) : 1.0;
        total += norm[d];
    }
    mel_buffer_puts(out, "Of the weight, ");
    for (uint32_t d = 1; d <= metric->degree; d++) {
        mel_buffer_puts(out, d == 1 ? "" : d == metric->degree ? " and " : ", ");
        mel_words_add_percent(out, norm[d] / total);
        mel_buffer_printf(out, "%s in %s", d == 1 ? " is" : "", factors[d]);
    }
    mel_buffer_puts(out, ". ");
}

/* The largest entry on or above the diagonal; false when all are zero. */
static bool largest_product(const double *matrix, size_t n, size_t *row, size_t *column)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            if (fabs(matrix[i * n + j]) > largest) {
                largest = fabs(matrix[i * n + j]);
                *row = i;
                *column = j;
            }
    return largest > 0.0;
}

static void add_product(mel_buffer *out, const mel_words_weights *w)
{
    size_t i = 0, j = 0;
    const double *matrix = mel_metric_tensor(w->metric, 2);
    if (!largest_product(matrix, w->n, &i, &j))
        return;
    const bool adds = matrix[i * w->n + j] > 0.0;
    mel_buffer_puts(out, " ");
    if (i == j) {
        mel_buffer_puts(out, "Most curved: ");
        mel_words_add_coordinate(out, w, i);
        mel_buffer_printf(out, ", which %s the more there is of it.",
                          adds == (w->sign > 0.0) ? "counts more" : "counts less");
        return;
    }
    mel_buffer_puts(out, "Strongest pair: ");
    mel_words_add_coordinate(out, w, i);
    mel_buffer_puts(out, " and ");
    mel_words_add_coordinate(out, w, j);
    mel_buffer_printf(out, ", which together count %s than their sum.",
                      adds == (w->sign > 0.0) ? "more" : "less");
}

mel_status mel_words_polynomial(mel_buffer *out, const mel_metric *metric, mel_error *err)
{
    (void)err;
    const mel_words_weights w = mel_words_weights_of(metric, 0, metric->size);
    const mel_words_weights all = { metric, 0, metric->n_coefficients, 1.0 };
    if (mel_words_all_zero(&all)) {
        mel_words_add_nothing(out);
        return MEL_OK;
    }
    add_degrees(out, metric);
    if (mel_words_all_zero(&w))
        mel_buffer_puts(out, "The first little bit of anything counts nothing.");
    else
        mel_words_add_weights(out, &w, "Weight of the first little bit");
    add_product(out, &w);
    return MEL_OK;
}

/* How much a pair of groups weighs; coordinate SIZE_MAX: all of it, else a statistic's part. */
static double gap_weight(const mel_metric *metric, size_t u, size_t v, size_t coordinate)
{
    const size_t q = metric->per_group;
    const double *block = mel_metric_pair(metric, u, v);
    const bool square = metric->degree == 2;
    if (coordinate == SIZE_MAX)
        return mel_norm2(square ? q * q : q, block);
    return fabs(square ? block[coordinate * q + coordinate] : block[coordinate]);
}

typedef struct {
    size_t u, v;
    double share; /* of all pairs' weight */
} heavy_pair;

static heavy_pair heaviest_pair(const mel_metric *metric)
{
    heavy_pair best = { 0, 1, 0.0 };
    double total = 0.0;
    for (size_t u = 0; u < metric->layout.n_groups; u++)
        for (size_t v = u + 1; v < metric->layout.n_groups; v++) {
            const double weight = gap_weight(metric, u, v, SIZE_MAX);
            total += weight;
            if (weight > best.share)
                best = (heavy_pair){ u, v, weight };
        }
    best.share = total > 0.0 ? best.share / total : 0.0;
    return best;
}

/* Which groups, and which of their statistics, must not differ. */
static void add_gaps(mel_buffer *out, const mel_metric *metric)
{
    const size_t q = metric->per_group;
    const heavy_pair pair = heaviest_pair(metric);
    const mel_words_weights w = mel_words_weights_of(metric, 0, q);
    size_t most = 0;
    double total = 0.0;
    for (size_t i = 0; i < q; i++) {
        const double weight = gap_weight(metric, pair.u, pair.v, i);
        total += weight;
        if (weight > gap_weight(metric, pair.u, pair.v, most))
            most = i;
    }
    mel_buffer_puts(out, metric->layout.n_groups > 2 ? " Of the differences, the one between "
                                                     : " The difference between ");
    mel_words_add_name(out, metric->group_names[pair.u]);
    mel_buffer_puts(out, " and ");
    mel_words_add_name(out, metric->group_names[pair.v]);
    if (metric->layout.n_groups > 2) {
        mel_buffer_puts(out, " weighs most (");
        mel_words_add_percent(out, pair.share);
        mel_buffer_puts(out, " of their weight)");
    }
    if (total > 0.0) {
        mel_buffer_puts(out, metric->layout.n_groups > 2 ? ", above all in " : " weighs most in ");
        mel_words_add_coordinate(out, &w, most);
        mel_buffer_puts(out, " (");
        mel_words_add_percent(out, gap_weight(metric, pair.u, pair.v, most) / total);
        mel_buffer_puts(out, ")");
    }
    mel_buffer_puts(out, metric->degree == 2 ? "; differences are squared, so that small ones hardly count."
                                             : ".");
}

static void add_lambda(mel_buffer *out, const mel_metric *metric)
{
    const double lambda = mel_metric_lambda(metric);
    mel_buffer_puts(out, "On a common scale mistakes count ");
    mel_words_add_percent(out, 1.0 - lambda);
    mel_buffer_puts(out, " and differences between groups ");
    mel_words_add_percent(out, lambda);
    double low = 0.0, high = 0.0;
    if (mel_metric_interval(metric, mel_metric_coefficients(metric) - 1, &low, &high)) {
        mel_buffer_puts(out, " (95% between ");
        mel_words_add_percent(out, low);
        mel_buffer_puts(out, " and ");
        mel_words_add_percent(out, high);
        mel_buffer_puts(out, ")");
    }
    mel_buffer_puts(out, ". ");
}

static void speak(mel_buffer *out, const mel_metric *scaled)
{
    const double lambda = mel_metric_lambda(scaled);
    const mel_words_weights w = mel_words_weights_of(scaled, 0, scaled->per_group);
    if (lambda == 0.0)
        mel_buffer_puts(out, "Only mistakes matter; differences between groups do not. ");
    else if (lambda == 1.0)
        mel_buffer_puts(out, "Only differences between groups matter; mistakes do not.");
    else
        add_lambda(out, scaled);
    if (lambda < 1.0) {
        mel_words_add_weights(out, &w, "Weight");
        mel_words_add_extremes(out, &w);
    }
    if (lambda > 0.0)
        add_gaps(out, scaled);
}

mel_status mel_words_fair(mel_buffer *out, const mel_metric *metric, mel_error *err)
{
    mel_metric *scaled = NULL;
    TRY(mel_metric_copy(&scaled, metric, err));
    /* Lambda means something only when both parts are on one scale. */
    if (mel_metric_normalise(scaled, NULL) == MEL_OK)
        speak(out, scaled);
    else if (!isfinite(mel_norm2(metric->n_coefficients, metric->coefficient)))
        mel_buffer_puts(out, "The weights of this metric are too large to be put into words.");
    else
        mel_buffer_puts(out,
                        "This metric does not tell classifiers apart: every weight that counts is zero.");
    mel_metric_free(scaled);
    return MEL_OK;
}
