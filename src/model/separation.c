/* How well probabilities tell two classes apart, whatever the threshold. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double p;
    uint32_t y;
} scored;

/* The most probable first. */
static int by_probability(const void *left, const void *right)
{
    const scored *a = left, *b = right;
    return (a->p < b->p) - (a->p > b->p);
}

/* Goes through the thresholds from above; rows of equal probability are called alike. */
static void walk(mel_separation *out, size_t n, const scored *row, double positives, double most_alarms)
{
    const double negatives = (double)n - positives;
    double found = 0, alarms = 0, wins = 0;
    for (size_t i = 0, j; i < n; i = j) {
        double more_found = 0, more_alarms = 0;
        for (j = i; j < n && row[j].p == row[i].p; j++)
            *(row[j].y == 1 ? &more_found : &more_alarms) += 1;
        wins += more_alarms * (found + more_found / 2);
        found += more_found;
        alarms += more_alarms;
        if (alarms <= most_alarms * negatives) {
            out->found = found / positives;
            out->alarms = alarms / negatives;
        }
    }
    out->auc = wins / (positives * negatives);
}

mel_status mel_separation_of(mel_separation *out, size_t n, const double *probability, const uint32_t *label,
                             double most_alarms, mel_error *err)
{
    *out = (mel_separation){ .auc = NAN, .found = NAN, .alarms = NAN };
    scored *row = mel_alloc(n + 1, sizeof *row);
    if (row == NULL)
        return mel_fail_memory(err, "probabilities to sort");
    double positives = 0;
    for (size_t i = 0; i < n; i++) {
        row[i] = (scored){ .p = probability[2 * i + 1], .y = label[i] };
        positives += label[i] == 1;
    }
    if (positives > 0 && positives < (double)n) {
        qsort(row, n, sizeof *row, by_probability);
        out->found = out->alarms = 0;
        walk(out, n, row, positives, most_alarms);
    }
    free(row);
    return MEL_OK;
}
