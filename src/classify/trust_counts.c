/* What decisions about rows come to, and as how many rows of equal weight that is to be taken. */
#include "classify/certainty_parts.h"
#include "classify/evidence.h"
#include "classify/trust_parts.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_trust_count(double *counts, double *squares, const mel_trust_work *w, const mel_trust_decided *of)
{
    const mel_rule_rows *rows = of->rows;
    mel_rule_label_weights(of->weight, rows, w->rule.class_share, of->growth);
    for (size_t r = 0; r < rows->n_rows; r++) {
        const size_t g = w->m > 1 ? rows->group[r] : 0, first = (g * w->k + rows->label[r]) * w->d;
        const double weight = of->weight[r], *chance = of->chance + r * w->d;
        const double square = weight * weight / (rows->count != NULL ? rows->count[r] : 1.0);
        for (size_t j = 0; j < w->d; j++) {
            counts[first + j] += weight * chance[j];
            if (squares != NULL)
                squares[first + j] += square * chance[j];
        }
    }
}

/* Which number of the measure a count belongs to: what is referred is decided right, at a price. */
static size_t seen_at(const mel_trust_work *w, size_t c)
{
    const size_t r = c / w->d, j = c % w->d;
    return (r * w->k + (j < w->k ? j : r % w->k)) % mel_measure_cells(w->measure);
}

void mel_trust_seen(double *out, const mel_trust_work *w, const double *counts)
{
    memset(out, 0, mel_measure_cells(w->measure) * sizeof *out);
    for (size_t c = 0; c < w->m * w->k * w->d; c++)
        out[seen_at(w, c)] += counts[c];
}

mel_status mel_trust_slopes(double *slope, const mel_trust_work *w, const double *counts, double *room,
                            mel_error *err)
{
    const size_t n = mel_measure_cells(w->measure);
    double all = 0.0, mean = 0.0;
    mel_trust_seen(room, w, counts);
    for (size_t c = 0; c < n; c++)
        all += room[c];
    for (size_t c = 0; c < n; c++)
        room[c] /= all;
    const mel_status status = mel_measure_slopes(slope, w->measure, room, err);
    for (size_t c = 0; c < n && status == MEL_OK; c++)
        mean += room[c] * slope[c];
    for (size_t c = 0; c < n && status == MEL_OK; c++)
        slope[c] -= mean;
    return status;
}

/* Rows of different weights are worth fewer. slope NULL: all of them say as much. False: nothing is known. */
static bool settle(double *counts, const double *squares, const mel_trust_work *w, const double *slope)
{
    const size_t cells = w->m * w->k * w->d;
    double sum = 0.0, of_squares = 0.0;
    for (size_t c = 0; c < cells; c++) {
        const double says = slope != NULL ? slope[seen_at(w, c)] * slope[seen_at(w, c)] : 1.0;
        sum += counts[c] * says;
        of_squares += squares[c] * says;
    }
    if (!(sum > 0.0 && of_squares > 0.0 && isfinite(sum) && isfinite(of_squares)))
        return false;
    for (size_t c = 0; c < cells; c++)
        counts[c] *= sum / of_squares;
    return true;
}

void mel_trust_count_alike(double *counts, const double *squares, const mel_trust_work *w)
{
    (void)settle(counts, squares, w, NULL);
}

mel_status mel_trust_settle_size(double *counts, const double *squares, const mel_trust_work *w, double *room,
                                 mel_error *err)
{
    double *slope = mel_alloc(mel_measure_cells(w->measure), sizeof *slope);
    mel_status status = slope != NULL ? MEL_OK : mel_fail_memory(err, "how sure a rule is");
    /* What referred cases cost is not in the measure's slopes. */
    bool known = status == MEL_OK && w->d == w->k;
    if (known) {
        status = mel_trust_slopes(slope, w, counts, room, err);
        known = status == MEL_OK && settle(counts, squares, w, slope);
    }
    free(slope);
    if (status == MEL_ENOMEM)
        return status;
    if (!known)
        mel_trust_count_alike(counts, squares, w);
    return MEL_OK;
}
