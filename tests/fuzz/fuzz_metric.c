/* Metric files of any bytes: refused with a sentence, or loaded into a metric that survives everything
 * that is done with metrics and reads back from its own text. */
#include "melicit/melicit.h"
#include "metric/shared.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the coefficients: a value or a refusal, never a NaN. */
static void evaluate(const mel_metric *metric)
{
    const size_t n = mel_layout_size(mel_metric_layout(metric));
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b), value = 0.0;
    if (a == NULL || b == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        a[i] = (double)(i % 7) / 7.0;
    if (mel_metric_value(&value, metric, a, NULL) == MEL_OK && value != value)
        abort();
    if (mel_metric_compare(&value, metric, a, b, NULL) == MEL_OK && value != value)
        abort();
    (void)mel_metric_gradient(b, metric, a, NULL);
    free(a);
    free(b);
}

/* The parts that a caller may look at are where they should be. */
static void look(const mel_metric *metric)
{
    const size_t m = mel_metric_layout(metric)->n_groups;
    volatile double seen = mel_metric_tensor(metric, 1)[0];
    const double *tensor = mel_metric_tensor(metric, mel_metric_degree(metric));
    if (tensor != NULL)
        seen = tensor[0];
    for (size_t v = 1; v < m; v++)
        if (mel_metric_pair(metric, 0, v) != NULL)
            seen = mel_metric_pair(metric, 0, v)[0] * mel_metric_prevalence(metric)[v];
    (void)seen;
}

static void describe(const mel_metric *metric)
{
    char *words = NULL;
    if (mel_metric_words(&words, metric, NULL) != MEL_OK || strlen(words) == 0)
        abort();
    free(words);
    mel_cost_ratio cost = { 0.0, 0.0, 0.0 };
    double threshold = 0.0;
    (void)mel_metric_cost_ratio(&cost, metric, NULL);
    if (mel_metric_weight_ratio(&cost, metric, 0, 1, NULL) == MEL_OK && cost.ratio != cost.ratio)
        abort();
    if (mel_metric_threshold(&threshold, metric, NULL) == MEL_OK &&
        !(threshold >= 0.0 && threshold <= 1.0000001))
        abort();
    static const double points[] = { 0.1, 0.2, 0.2, 0.1, 0.0, 0.7, 0.3, 0.0 };
    mel_neighbour found[4];
    size_t n = 0;
    (void)mel_metric_neighbours(found, 4, &n, metric, 0.3, 2, points, points + 4, NULL, NULL);
}

static void round_trip(const mel_metric *metric)
{
    char *text = NULL, *text_again = NULL;
    mel_metric *again = NULL;
    if (mel_metric_to_json(&text, metric, NULL) != MEL_OK ||
        mel_metric_load_memory(&again, text, strlen(text), "again", NULL) != MEL_OK ||
        mel_metric_to_json(&text_again, again, NULL) != MEL_OK || strcmp(text, text_again) != 0)
        abort();
    free(text);
    free(text_again);
    mel_metric_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    const mel_status status = mel_metric_load_memory(&metric, data, size, "fuzz", &err);
    if (status != MEL_OK) {
        if (metric != NULL || err.code != status || strlen(err.text) < 8)
            abort();
        return 0;
    }
    evaluate(metric);
    look(metric);
    describe(metric);
    round_trip(metric);
    if (mel_metric_normalise(metric, NULL) == MEL_OK)
        evaluate(metric);
    mel_metric_free(metric);
    return 0;
}
