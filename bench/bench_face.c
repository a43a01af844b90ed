/* Builds a face from scores, sweeps thresholds over it and prints what it took as JSON: the half of
 * bench/face.py that is ours.
 *
 *     bench_face FOLDER ROWS THRESHOLDS REPEATS [weighted]
 *
 * FOLDER holds score (float64), role (uint8) and, if asked for, weight (float64) as plain bytes. Threads are
 * those of OMP_NUM_THREADS. Time is of the fastest repeat; memory is the peak of the resident set during
 * the first one minus the resident set before it, with the data already loaded. */
#include "space/shared.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double build, sweep, both;
    size_t vertices;
} timing;

static timing run(size_t n, const double *score, const uint8_t *role, const double *weight,
                  size_t n_thresholds, const double *threshold, double *tp, double *tn)
{
    mel_face *face = NULL;
    mel_error err;
    const double start = seconds();
    if (mel_face_from_scores(&face, n, score, role, weight, &err) != MEL_OK)
        die(err.text);
    const double built = seconds();
    mel_face_sweep(face, n_thresholds, threshold, tp, tn);
    const double end = seconds();
    const timing out = { built - start, end - built, end - start, mel_face_vertices(face) };
    mel_face_free(face);
    return out;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        die("usage: bench_face FOLDER ROWS THRESHOLDS REPEATS [weighted]");
    const size_t n = strtoul(argv[2], NULL, 10), m = strtoul(argv[3], NULL, 10);
    const size_t repeats = strtoul(argv[4], NULL, 10);
    if (m < 2)
        die("2 or more thresholds");
    double *score = load(argv[1], "score", n * sizeof *score);
    uint8_t *role = load(argv[1], "role", n);
    double *weight = argc > 5 ? load(argv[1], "weight", n * sizeof *weight) : NULL;
    double *threshold = malloc(m * sizeof *threshold), *tp = malloc(m * sizeof *tp),
           *tn = malloc(m * sizeof *tn);
    if (threshold == NULL || tp == NULL || tn == NULL)
        die("memory");
    for (size_t i = 0; i < m; i++)
        threshold[i] = (double)i / (double)(m - 1);

    const long before = status_kb("VmRSS:");
    reset_peak();
    timing best = run(n, score, role, weight, m, threshold, tp, tn);
    const long peak = status_kb("VmHWM:");
    for (size_t i = 1; i < repeats; i++) {
        const timing t = run(n, score, role, weight, m, threshold, tp, tn);
        if (t.both < best.both)
            best = t;
    }
    /* Sums that any order of adding gives to many digits: the other half computes them too. */
    double sum_tp = 0.0, sum_tn = 0.0;
    for (size_t i = 0; i < m; i++) {
        sum_tp += tp[i];
        sum_tn += tn[i];
    }
    printf("{\"seconds\": %.6f, \"build\": %.6f, \"sweep\": %.6f, \"extra_kb\": %ld, \"vertices\": %zu, "
           "\"tp\": %.17g, \"tn\": %.17g}\n",
           best.both, best.build, best.sweep, peak - before, best.vertices, sum_tp, sum_tn);
    free(score);
    free(role);
    free(weight);
    free(threshold);
    free(tp);
    free(tn);
    return 0;
}
