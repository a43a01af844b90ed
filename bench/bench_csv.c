/* Reads a table several times and prints, for bench/read_csv.py: the best time in seconds, the peak memory in
 * bytes, rows, columns and the sum of the numbers. */
#include "data/shared.h"
#include "melicit/melicit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    size_t rows, columns;
    double sum;
} contents;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_table(contents *c, const mel_table *table)
{
    c->rows += mel_table_rows(table);
    c->columns = mel_table_columns(table);
    for (size_t j = 0; j < mel_table_columns(table); j++) {
        const double *x = mel_table_numbers(table, j);
        for (size_t i = 0; x != NULL && i < mel_table_rows(table); i++)
            c->sum += isnan(x[i]) ? 0.0 : x[i];
    }
}

static mel_status read_whole(contents *c, double *seconds, const char *path, const mel_read_options *opt,
                             mel_error *err)
{
    mel_table *table;
    const double start = now();
    const mel_status status = mel_table_read(&table, path, opt, err);
    *seconds = now() - start;
    if (status == MEL_OK)
        add_table(c, table);
    mel_table_free(table);
    return status;
}

/* VmHWM: unlike getrusage's figure it does not start from that of the parent process. */
static long peak_memory(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (file != NULL)
        fclose(file);
    return kib * 1024;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s FILE THREADS REPEATS\n", argv[0]);
        return 2;
    }
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.threads = (int)strtol(argv[2], NULL, 10);
    double best = HUGE_VAL;
    contents c = { 0 };
    for (long left = strtol(argv[3], NULL, 10); left > 0; left--) {
        mel_error err;
        double seconds;
        c = (contents){ 0 };
        const mel_status status = read_whole(&c, &seconds, argv[1], &opt, &err);
        if (status != MEL_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        best = seconds < best ? seconds : best;
    }
    printf("%.6f %ld %zu %zu %.17g\n", best, peak_memory(), c.rows, c.columns, c.sum);
    return 0;
}
