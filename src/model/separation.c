/* How well probabilities tell two classes apart, whatever the threshold. */
#include "base/stat.h"
#include "model/model.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>

/* Rows in ascending order of their probability: goes through the thresholds from above; rows of equal
 * probability are called alike. number: rows of the first and of the second class. */
static void walk(mel_separation *out, size_t n, const size_t *row, const double *score, const uint32_t *label,
                 const double *count, const double number[2], double most_alarms)
{
    double found = 0.0, alarms = 0.0, wins = 0.0;
    for (size_t left = n, next; left > 0; left = next) {
        double more[2] = { 0.0, 0.0 };
        for (next = left; next > 0 && score[row[next - 1]] == score[row[left - 1]]; next--)
            more[label[row[next - 1]] == 1] += count != NULL ? count[row[next - 1]] : 1.0;
        wins += more[0] * (found + more[1] / 2.0);
        found += more[1];
        alarms += more[0];
        if (alarms <= most_alarms * number[0]) {
            out->found = found / number[1];
            out->alarms = alarms / number[0];
        }
    }
    out->auc = wins / (number[0] * number[1]);
}

mel_status mel_separation_counted(mel_separation *out, double number[2], size_t n, const double *probability,
                                  const uint32_t *label, const double *count, double most_alarms,
                                  mel_error *err)
{
    *out = (mel_separation){ .auc = NAN, .found = NAN, .alarms = NAN };
    MEL_ARRAY(double, score, n + 1, "probabilities to sort", err);
    MEL_ARRAY(size_t, row, n + 1, "probabilities to sort", err);
    number[0] = number[1] = 0.0;
    for (size_t i = 0; i < n; i++) {
        score[i] = probability[2 * i + 1];
        number[label[i] == 1] += count != NULL ? count[i] : 1.0;
    }
    if (number[0] > 0.0 && number[1] > 0.0) {
        TRY(mel_argsort(n, score, row, err));
        out->found = out->alarms = 0.0;
        walk(out, n, row, score, label, count, number, most_alarms);
        out->wrong_way = mel_auc_wrong_way(out->auc, number[1], number[0]);
    }
    return MEL_OK;
}

mel_status mel_separation_of(mel_separation *out, size_t n, const double *probability, const uint32_t *label,
                             double most_alarms, mel_error *err)
{
    double number[2];
    return mel_separation_counted(out, number, n, probability, label, NULL, most_alarms, err);
}

bool mel_auc_wrong_way(double auc, double positives, double negatives)
{
    const double deviation = sqrt((positives + negatives + 1.0) / (12.0 * positives * negatives));
    return auc < 0.5 - 3.0 * deviation;
}
