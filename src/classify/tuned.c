/* Thresholds that were tuned on rows: how sure they are, and what their value will be on others. */
#include "base/stat.h"
#include "classify/certainty_parts.h"
#include "metric/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 1000, MOST_FOLDS = 1000 };

typedef struct {
    mel_measure *measure;
    const mel_certainty_options *opt;
    size_t n, folds;
    const double *score;
    const uint32_t *label;
    size_t n_bins;
    uint32_t *bin;           /* of each row, ascending in the score */
    double *first;           /* n_bins: the lowest score of each bin */
    double *weight;          /* n_bins x 2: rows of both classes */
    double *drawn;           /* the same, drawn */
    double *value;           /* n_bins + 1: utilities of cutting below each bin, the last one above all */
    double *place, *at_best; /* by draw: where the best cut is, and the value of the chosen one */
    double *chosen;          /* by draw: the value of its best cut on the rows at hand */
    double spread;           /* deviation of those: what other cuts would have been worth */
    uint32_t *fold;          /* of each row */
} work;

/* --- bins --------------------------------------------------------------------------------------- */

/* Equal scores share a bin; at most MOST_BINS of about as many rows each. */
static mel_status make_bins(work *w, mel_error *err)
{
    size_t *order = mel_alloc(w->n, sizeof *order);
    if (order == NULL)
        return mel_fail_memory(err, "bins of scores");
    const mel_status status = mel_argsort(w->n, w->score, order, err);
    for (size_t i = 0; i < w->n && status == MEL_OK; i++) {
        const double score = w->score[order[i]];
        const bool fresh = i == 0 || (score > w->score[order[i - 1]] && i * MOST_BINS / w->n >= w->n_bins);
        if (fresh)
            w->first[w->n_bins++] = score;
        w->bin[order[i]] = (uint32_t)(w->n_bins - 1);
        w->weight[2 * (w->n_bins - 1) + w->label[order[i]]] += 1.0;
    }
    free(order);
    return status;
}

/* --- the best cut ------------------------------------------------------------------------------- */

/* Utilities of all cuts for these rows, and the best one; cuts without a value are no candidates. */
static size_t best_cut(double *value, const work *w, const double *weight)
{
    const double sign = mel_measure_orientation(w->measure) == MEL_COST ? -1.0 : 1.0;
    double c[4] = { 0.0, 0.0, 0.0, 0.0 }; /* TN, FP, FN, TP */
    size_t best = 0;
    for (size_t b = 0; b < w->n_bins; b++) {
        c[1] += weight[2 * b];
        c[3] += weight[2 * b + 1];
    }
    for (size_t b = 0; b <= w->n_bins; b++) {
        double here = 0.0;
        const mel_status status = mel_measure_value(&here, w->measure, c, NULL);
        value[b] = status == MEL_OK ? sign * here : -INFINITY;
        best = value[b] > value[best] ? b : best;
        for (size_t l = 0; l < 2 && b < w->n_bins; l++) {
            c[2 * l] += weight[2 * b + l];
            c[2 * l + 1] = fmax(c[2 * l + 1] - weight[2 * b + l], 0.0);
        }
    }
    return best;
}

static double threshold_at(const work *w, size_t cut)
{
    return cut < w->n_bins ? w->first[cut] : INFINITY;
}

static void count_at(double counts[4], const work *w, size_t cut)
{
    memset(counts, 0, 4 * sizeof *counts);
    for (size_t b = 0; b < w->n_bins; b++)
        for (size_t l = 0; l < 2; l++)
            counts[2 * l + (b >= cut)] += w->weight[2 * b + l];
}

/* --- rows drawn anew ---------------------------------------------------------------------------- */

static mel_status draw_rows(mel_tuned *out, work *w, size_t best, mel_error *err)
{
    mel_rng rng;
    mel_rng_seed(&rng, w->opt->seed);
    const double sign = mel_measure_orientation(w->measure) == MEL_COST ? -1.0 : 1.0;
    double *value = mel_alloc(w->n_bins + 1, sizeof *value);
    if (value == NULL)
        return mel_fail_memory(err, "values of thresholds");
    for (size_t d = 0; d < w->opt->draws; d++) {
        for (size_t c = 0; c < 2 * w->n_bins; c++)
            w->drawn[c] = w->weight[c] > 0.0 ? mel_rng_gamma(&rng, w->weight[c]) : 0.0;
        const size_t cut = best_cut(value, w, w->drawn);
        w->place[d] = (double)cut;
        w->at_best[d] = value[best];
        w->chosen[d] = w->value[cut];
        out->optimism += (value[cut] - w->value[cut]) / (double)w->opt->draws;
    }
    free(value);
    /* Two things vary: what the chosen cut is worth on other rows, and which cut they would have led to. */
    const double mean = mel_mean(w->opt->draws, w->chosen);
    w->spread = sqrt(mel_variance(w->opt->draws, w->chosen));
    for (size_t d = 0; d < w->opt->draws; d++)
        w->at_best[d] += w->chosen[d] - mean;
    const mel_interval place = mel_interval_of(w->opt->draws, w->place),
                       at = mel_interval_of(w->opt->draws, w->at_best);
    out->likely =
        (mel_interval){ threshold_at(w, (size_t)place.low), threshold_at(w, (size_t)ceil(place.high)) };
    out->seen = sign * w->value[best];
    out->value = sign * (w->value[best] - out->optimism);
    out->range = sign > 0.0 ? (mel_interval){ at.low - out->optimism, at.high - out->optimism }
                            : (mel_interval){ out->optimism - at.high, out->optimism - at.low };
    return MEL_OK;
}

/* --- folds -------------------------------------------------------------------------------------- */

/* Each class on its own, so that folds have the same shares. */
static mel_status make_folds(work *w, mel_error *err)
{
    size_t *row = mel_alloc(w->n, sizeof *row);
    if (row == NULL)
        return mel_fail_memory(err, "folds");
    mel_rng rng;
    mel_rng_seed_stream(&rng, w->opt->seed, 1);
    for (uint32_t l = 0; l < 2; l++) {
        size_t n = 0;
        for (size_t i = 0; i < w->n; i++)
            if (w->label[i] == l)
                row[n++] = i;
        mel_rng_shuffle(&rng, n, row);
        for (size_t i = 0; i < n; i++)
            w->fold[row[i]] = (uint32_t)(i % w->folds);
    }
    free(row);
    return MEL_OK;
}

static mel_status cross_validate(mel_certainty *out, work *w, mel_error *err)
{
    double counts[4] = { 0.0, 0.0, 0.0, 0.0 };
    const mel_status status = make_folds(w, err);
    for (uint32_t f = 0; f < w->folds && status == MEL_OK; f++) {
        memcpy(w->drawn, w->weight, 2 * w->n_bins * sizeof *w->drawn);
        for (size_t i = 0; i < w->n; i++)
            if (w->fold[i] == f)
                w->drawn[2 * w->bin[i] + w->label[i]] -= 1.0;
        const size_t cut = best_cut(w->value, w, w->drawn);
        for (size_t i = 0; i < w->n; i++)
            if (w->fold[i] == f)
                counts[2 * w->label[i] + (w->bin[i] >= cut)] += 1.0;
    }
    if (status != MEL_OK)
        return status;
    const mel_status found = mel_certainty_of(out, w->measure, counts, w->opt, err);
    const double wider = sqrt(out->rows_deviation * out->rows_deviation + 2.0 * w->spread * w->spread);
    if (found == MEL_OK &&
        out->rows_deviation > 0.0) { /* the folds' thresholds vary, and so does the one that is used */
        out->rows.low = out->value - (out->value - out->rows.low) * wider / out->rows_deviation;
        out->rows.high = out->value + (out->rows.high - out->value) * wider / out->rows_deviation;
        out->both = out->rows;
        out->rows_deviation = out->deviation = wider;
    }
    return found;
}

/* --- all together ------------------------------------------------------------------------------- */

static mel_status check(const work *w, mel_error *err)
{
    size_t of[2] = { 0, 0 };
    if (w->measure->k != 2 || w->measure->n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "a threshold is tuned for two classes without groups");
    for (size_t i = 0; i < w->n; i++) {
        if (w->label[i] > 1 || !isfinite(w->score[i]))
            return mel_fail(err, MEL_EINVAL, "row %zu: class %u, score %g", i + 1, (unsigned)w->label[i],
                            w->score[i]);
        of[w->label[i]]++;
    }
    if (of[0] == 0 || of[1] == 0)
        return mel_fail(err, MEL_EDATA,
                        "there are no rows of class %d: there is nothing to tune a threshold on",
                        of[0] == 0 ? 1 : 2);
    const size_t fewest = of[0] < of[1] ? of[0] : of[1];
    if (w->folds == 1 || w->folds > MOST_FOLDS || w->folds > fewest)
        return mel_fail(err, MEL_EINVAL, "%zu folds; expected 2 to %zu, one row of each class in every fold",
                        w->folds, fewest < MOST_FOLDS ? fewest : (size_t)MOST_FOLDS);
    return mel_certainty_check(w->measure, w->opt, err);
}

static mel_status allocate(work *w, mel_error *err)
{
    w->bin = mel_alloc(w->n, sizeof *w->bin);
    w->fold = mel_alloc(w->n, sizeof *w->fold);
    w->first = mel_alloc(MOST_BINS + 1, sizeof *w->first);
    w->weight = mel_alloc_zero((size_t)2 * (MOST_BINS + 1), sizeof *w->weight);
    w->drawn = mel_alloc_zero((size_t)2 * (MOST_BINS + 1), sizeof *w->drawn);
    w->value = mel_alloc(MOST_BINS + 2, sizeof *w->value);
    w->place = mel_alloc(w->opt->draws, sizeof *w->place);
    w->at_best = mel_alloc(w->opt->draws, sizeof *w->at_best);
    w->chosen = mel_alloc(w->opt->draws, sizeof *w->chosen);
    return w->bin != NULL && w->fold != NULL && w->first != NULL && w->weight != NULL && w->drawn != NULL &&
                   w->value != NULL && w->place != NULL && w->at_best != NULL && w->chosen != NULL
               ? MEL_OK
               : mel_fail_memory(err, "a tuned threshold");
}

static mel_status tune(mel_tuned *out, work *w, mel_error *err)
{
    mel_status status = make_bins(w, err);
    if (status != MEL_OK)
        return status;
    const size_t best = best_cut(w->value, w, w->weight);
    if (!isfinite(w->value[best]))
        return mel_fail(err, MEL_ENUMERIC, "%s is not defined for any threshold", w->measure->name);
    out->threshold = threshold_at(w, best);
    count_at(out->counts, w, best);
    status = draw_rows(out, w, best, err);
    if (status == MEL_OK && w->folds > 0)
        status = cross_validate(&out->cross, w, err);
    return status;
}

mel_status mel_tune_threshold(mel_tuned *out, mel_measure *measure, size_t n, const double *score,
                              const uint32_t *label, size_t folds, const mel_certainty_options *opt,
                              mel_error *err)
{
    *out = (mel_tuned){ .cross.value = (double)NAN };
    work w = { .measure = measure, .opt = opt, .n = n, .folds = folds, .score = score, .label = label };
    mel_status status = check(&w, err);
    if (status == MEL_OK)
        status = allocate(&w, err);
    if (status == MEL_OK)
        status = tune(out, &w, err);
    free(w.bin);
    free(w.fold);
    free(w.first);
    free(w.weight);
    free(w.drawn);
    free(w.value);
    free(w.place);
    free(w.at_best);
    free(w.chosen);
    return status;
}
