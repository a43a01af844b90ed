/* Fits one data set and prints what it took as JSON: the half of bench/train.py that is ours.
 *
 *     bench_train FOLDER ROWS FEATURES CLASSES L2 THREADS REPEATS
 *
 * FOLDER holds the arrays of compressed sparse rows as plain bytes: row_start (uint64), col (uint32),
 * value (float64), label (uint32). Time is of the fastest repeat; memory is the peak of the resident
 * set during the first fit minus the resident set before it, with the data already loaded. */
#include "melicit/melicit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what)
{
    fprintf(stderr, "bench_train: %s\n", what);
    exit(1);
}

static void *load(const char *folder, const char *name, size_t bytes)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    void *data = malloc(bytes > 0 ? bytes : 1);
    if (file == NULL || data == NULL || fread(data, 1, bytes, file) != bytes)
        die(path);
    (void)fclose(file);
    return data;
}

/* A line of /proc/self/status in kilobytes. */
static long status_kb(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kb = strtol(line + strlen(key) + 1, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return kb;
}

/* Makes VmHWM start again from the present resident set. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0)
        die("cannot reset the memory peak");
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
