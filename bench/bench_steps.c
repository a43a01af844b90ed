/* How many linear steps (passes over the rows) best rules take to certified gaps of 1e-3, 1e-4 and 1e-6, for
 * random metrics of two groups with 2, 3, 7 and 26 classes.
 *
 *     bench_steps [ROWS [METRICS [MOST_STEPS [CLASSES]]]]
 *
 * Printed: medians over the metrics; where a gap is not reached the steps that were allowed and the gap
 * there. */
#include "base/rng.h"
#include "base/stat.h"
#include "classify/shared.h"
#include "metric/shared.h"

#include "measure.h"

#include <math.h>

enum { GROUPS = 2, MOST_METRICS = 25 };
static const double gaps[] = { 1e-3, 1e-4, 1e-6 };

typedef struct {
    size_t n, k;
    double *probability;
    uint32_t *label, *group;
} world;

/* Scores of the second group are shifted. */
static world make_world(size_t n, size_t k, mel_rng *rng)
{
    world w = { .n = n, .k = k };
    w.probability = calloc(n * k, sizeof *w.probability);
    w.label = calloc(n, sizeof *w.label);
    w.group = calloc(n, sizeof *w.group);
    if (w.probability == NULL || w.label == NULL || w.group == NULL)
        die("memory");
    for (size_t r = 0; r < n; r++) {
        double *of = w.probability + r * k, sum = 0.0, left = mel_rng_uniform(rng);
        w.group[r] = mel_rng_uniform(rng) < 0.33;
        for (size_t i = 0; i < k; i++)
            sum += of[i] = exp(1.5 * mel_rng_normal(rng) + (w.group[r] == 1 ? 0.5 * (double)(i % 2) : 0.0));
        for (size_t i = 0; i < k; i++) {
            left -= of[i] /= sum;
            w.label[r] += left > 0.0 && i + 1 < k;
        }
    }
    return w;
}

static void fill_random(double *out, size_t n, mel_rng *rng)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += out[i] = mel_rng_uniform(rng);
    for (size_t i = 0; i < n; i++)
        out[i] /= sum;
}

/* G'G / n of random normal G, which is positive definite; the largest entries are about 1/sqrt(n). */
static void fill_definite(double *b, size_t n, mel_rng *rng)
{
    double *g = calloc(n * n, sizeof *g);
    if (g == NULL)
        die("memory");
    for (size_t i = 0; i < n * n; i++)
        g[i] = mel_rng_normal(rng) / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t l = 0; l < n; l++)
                sum += g[l * n + i] * g[l * n + j];
            b[i * n + j] = b[j * n + i] = sum;
        }
    free(g);
}

static void find_shares(double *share, const world *w)
{
    double *total = calloc(w->k, sizeof *total);
    if (total == NULL)
        die("memory");
    for (size_t r = 0; r < w->n; r++)
        for (size_t i = 0; i < w->k; i++) {
            share[w->group[r] * w->k + i] += w->probability[r * w->k + i];
            total[i] += w->probability[r * w->k + i];
        }
    for (size_t c = 0; c < GROUPS * w->k; c++)
        share[c] /= total[c % w->k];
    free(total);
}

/* NULL: the measure is known by its name. */
static mel_metric *make_metric(const char *what, const world *w, mel_rng *rng)
{
    const bool fair = strncmp(what, "fair", 4) == 0;
    if (!fair && strcmp(what, "quadratic psd") != 0)
        return NULL;
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, w->k, fair ? GROUPS : 0 };
    const size_t q = w->k * (w->k - 1);
    const bool linear = strcmp(what, "fair-linear") == 0;
    double *a = calloc(q, sizeof *a), *b = calloc(q * q, sizeof *b),
           *share = calloc(GROUPS * w->k, sizeof *share);
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    if (a == NULL || b == NULL || share == NULL)
        die("memory");
    fill_random(a, q, rng);
    find_shares(share, w);
    if (linear)
        fill_random(b, q, rng);
    else
        fill_definite(b, q, rng);
    const mel_status status =
        linear ? mel_metric_fair_linear(&metric, &layout, NULL, NULL, a, b, 0.5, share, &err)
        : fair ? mel_metric_fair_quadratic(&metric, &layout, NULL, NULL, a, b, 0.5, share, &err)
               : mel_metric_quadratic(&metric, &layout, NULL, MEL_COST, a, b, &err);
    if (status != MEL_OK)
        die(err.text);
    free(a);
    free(b);
    free(share);
    return metric;
}

/* Steps to a gap, and the gap that is proved then. */
static double count_steps(double *gap, const char *what, const mel_metric *metric, const world *w,
                          double tolerance, size_t most)
{
    const mel_rule_rows rows = { .n_rows = w->n,
                                 .n_classes = w->k,
                                 .n_groups = GROUPS,
                                 .probability = w->probability,
                                 .label = w->label,
                                 .group = w->group };
    mel_rule_options opt;
    mel_rule_report report = { 0 };
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    opt.form = MEL_RULE_MIXTURE;
    opt.tolerance = tolerance;
    opt.most_steps = most;
    opt.threads = 1;
    if (mel_rule_find(&c, &report, &rows, metric, metric != NULL ? NULL : what, &opt, &err) != MEL_OK)
        die(err.text);
    *gap = fabs(report.bound - report.value);
    const double steps = (double)report.steps;
    mel_classifier_free(c);
    mel_rule_report_clear(&report);
    return steps;
}

static void print_row(const char *what, const world *w, size_t n_metrics, size_t most, mel_rng *rng)
{
    double steps[3][MOST_METRICS], gap[3][MOST_METRICS];
    for (size_t i = 0; i < n_metrics; i++) {
        mel_metric *metric = make_metric(what, w, rng);
        for (size_t t = 0; t < 3; t++)
            steps[t][i] = count_steps(&gap[t][i], what, metric, w, gaps[t], most);
        mel_metric_free(metric);
    }
    printf("%-16s k = %2zu:", what, w->k);
    for (size_t t = 0; t < 3; t++) {
        double least = INFINITY, worst = 0.0;
        for (size_t i = 0; i < n_metrics; i++) {
            least = fmin(least, steps[t][i]);
            worst = fmax(worst, gap[t][i]);
        }
        mel_sort(n_metrics, steps[t]);
        printf("  %.0f (%.0f to %.0f), gap %.0e", mel_quantile_sorted(n_metrics, steps[t], 0.5), least,
               steps[t][n_metrics - 1], worst);
    }
    printf("\n");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t classes[] = { 2, 3, 7, 26 };
    static const char *const measures[] = { "g-mean", "quadratic psd", "fair-quadratic", "min-recall",
                                            "fair-linear" };
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 32561;
    const size_t n_metrics = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;
    const size_t most = argc > 3 ? strtoul(argv[3], NULL, 10) : 300;
    const size_t only = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    if (n < 1000 || n_metrics < 1 || n_metrics > MOST_METRICS || most < 1)
        die("usage: bench_steps [ROWS [METRICS [MOST_STEPS [CLASSES]]]], 1,000 rows or more, at most 25 "
            "metrics");
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        mel_rng rng;
        if (only > 0 && only != classes[c])
            continue;
        mel_rng_seed(&rng, classes[c]);
        const world w = make_world(n, classes[c], &rng);
        for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
            const bool named = strchr(measures[i], ' ') == NULL && strncmp(measures[i], "fair", 4) != 0;
            print_row(measures[i], &w, named ? 1 : n_metrics, most, &rng);
        }
        free(w.probability);
        free(w.label);
        free(w.group);
    }
    return 0;
}
