/* Fits one data set and prints what it took as JSON: the half of bench/train.py that is ours.
 *
 *     bench_train FOLDER ROWS FEATURES CLASSES L2 THREADS REPEATS
 *
 * FOLDER holds the arrays of compressed sparse rows as plain bytes: row_start (uint64), col (uint32),
 * value (float64), label (uint32). Time is of the fastest repeat; memory is the peak of the resident
 * set during the first fit minus the resident set before it, with the data already loaded. */
#include "melicit/melicit.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double fit(const mel_features *x, const uint32_t *y, size_t k, const mel_fit_options *opt,
                  mel_fit_report *report)
{
    mel_model *model = NULL;
    mel_error err;
    const double start = seconds();
    if (mel_model_fit(&model, report, x, y, k, NULL, opt, &err) != MEL_OK)
        die(err.text);
    const double took = seconds() - start;
    mel_model_free(model);
    return took;
}

int main(int argc, char **argv)
{
    if (argc != 8)
        die("usage: bench_train FOLDER ROWS FEATURES CLASSES L2 THREADS REPEATS");
    const size_t n = strtoul(argv[2], NULL, 10), d = strtoul(argv[3], NULL, 10),
                 k = strtoul(argv[4], NULL, 10);
    uint64_t *start = load(argv[1], "row_start", (n + 1) * sizeof *start);
    size_t *row_start = calloc(n + 1, sizeof *row_start);
    if (row_start == NULL)
        die("memory");
    for (size_t i = 0; i <= n; i++)
        row_start[i] = (size_t)start[i];
    uint32_t *col = load(argv[1], "col", row_start[n] * sizeof *col);
    double *value = load(argv[1], "value", row_start[n] * sizeof *value);
    uint32_t *y = load(argv[1], "label", n * sizeof *y);
    const mel_features x = { .n_rows = n, .n_cols = d, .row_start = row_start, .col = col, .value = value };
    mel_fit_options opt;
    mel_fit_options_init(&opt);
    opt.l2 = strtod(argv[5], NULL);
    opt.threads = (int)strtol(argv[6], NULL, 10);

    const long before = status_kb("VmRSS:");
    reset_peak();
    mel_fit_report report;
    double best = fit(&x, y, k, &opt, &report);
    const long peak = status_kb("VmHWM:");
    for (long i = strtol(argv[7], NULL, 10); i > 1; i--) {
        const double took = fit(&x, y, k, &opt, &report);
        best = took < best ? took : best;
    }
    printf("{\"seconds\": %.6f, \"extra_kb\": %ld, \"objective\": %.17g, \"log_loss\": %.17g, "
           "\"iterations\": %u, \"reason\": %d}\n",
           best, peak - before, report.objective, report.log_loss, report.iterations, (int)report.reason);
    free(start);
    free(row_start);
    free(col);
    free(value);
    free(y);
    return 0;
}
