/* How sure it is which of two classifiers is better. */
#include "base/stat.h"
#include "classify/certainty_parts.h"
#include "metric/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWN_CELLS = 4096 };
static const double same = 1e-5; /* slopes that differ by less are equal: they come from differences */

/* Two confusion matrices and where they come from: cells of both (paired), or of each. */
typedef struct {
    mel_measure *measure;
    const mel_certainty_options *opt;
    size_t k, cells;      /* of one matrix */
    size_t n_counts;      /* of `counts` */
    const double *counts; /* paired: groups x k x k x k; apart: the first matrix, then the second */
    bool paired;
    double n[2];       /* rows behind each matrix */
    double *share;     /* of the counts, n_counts */
    double *matrix[2]; /* shares of each classifier */
    double *slope[2];
    double *value; /* differences under each metric, or drawn ones */
    size_t n_value;
    mel_rng rng;
} work;

/* The two matrices of shares of counts. */
static void fold(const work *w, const double *share)
{
    const size_t k = w->k;
    if (!w->paired) {
        memcpy(w->matrix[0], share, w->cells * sizeof *share);
        memcpy(w->matrix[1], share + w->cells, w->cells * sizeof *share);
        return;
    }
    memset(w->matrix[0], 0, w->cells * sizeof *share);
    memset(w->matrix[1], 0, w->cells * sizeof *share);
    for (size_t c = 0; c < w->n_counts; c++) {
        const size_t row = c / (k * k), a = c / k % k, b = c % k;
        w->matrix[0][row * k + a] += share[c];
        w->matrix[1][row * k + b] += share[c];
    }
}

/* As utilities. */
static mel_status difference_at(double *out, const work *w, const double *share, mel_error *err)
{
    double a = 0.0, b = 0.0;
    fold(w, share);
    mel_status status = mel_measure_value(&a, w->measure, w->matrix[0], err);
    if (status == MEL_OK)
        status = mel_measure_value(&b, w->measure, w->matrix[1], err);
    *out = mel_measure_orientation(w->measure) == MEL_COST ? b - a : a - b;
    return status;
}

/* What a row of a paired cell adds to the difference. */
static double gain_of(const work *w, size_t c)
{
    const size_t k = w->k, row = c / (k * k);
    const double d = w->slope[0][row * k + c / k % k] - w->slope[1][row * k + c % k];
    return mel_measure_orientation(w->measure) == MEL_COST ? -d : d;
}

static double one_variance(const double *share, const double *slope, size_t n, double rows)
{
    double mean = 0.0, sum = 0.0;
    for (size_t c = 0; c < n; c++)
        mean += share[c] * slope[c];
    for (size_t c = 0; c < n; c++)
        sum += share[c] * (slope[c] - mean) * (slope[c] - mean);
    return sum / (rows + 1.0);
}

static double variance(const work *w)
{
    if (!w->paired)
        return one_variance(w->matrix[0], w->slope[0], w->cells, w->n[0]) +
               one_variance(w->matrix[1], w->slope[1], w->cells, w->n[1]);
    double mean = 0.0, squares = 0.0, fourths = 0.0;
    for (size_t c = 0; c < w->n_counts; c++)
        mean += w->share[c] * gain_of(w, c);
    for (size_t c = 0; c < w->n_counts; c++) {
        const double square = (gain_of(w, c) - mean) * (gain_of(w, c) - mean);
        squares += w->share[c] * square;
        fourths += w->share[c] * square * square;
    }
    /* One vote more: without it few that differ, or few that count much, would promise too much. */
    const double votes = fourths > 0.0 ? w->n[0] * squares * squares / fourths : 1.0;
    return squares / (w->n[0] + 1.0) * (1.0 + 1.0 / votes);
}

static mel_status find_slopes(work *w, mel_error *err)
{
    fold(w, w->share);
    TRY(mel_measure_slopes(w->slope[0], w->measure, w->matrix[0], err));
    return mel_measure_slopes(w->slope[1], w->measure, w->matrix[1], err);
}

/* Rows for each, where every one that matters counts the same. Slopes are 0 on average; where the measure is
 * a sum over rows, what each adds is on average the difference. */
static bool count_votes(double *for_a, double *for_b, const work *w, double difference)
{
    double one = 0.0;
    *for_a = *for_b = 0.0;
    for (size_t c = 0; c < w->n_counts; c++)
        one = fmax(one, fabs(gain_of(w, c) + difference));
    for (size_t c = 0; c < w->n_counts; c++) {
        const double gain = (gain_of(w, c) + difference) / one;
        const bool agree = c / w->k % w->k == c % w->k;
        if (fabs(gain) > same && (agree || fabs(fabs(gain) - 1.0) > same))
            return false;
        if (gain > same)
            *for_a += w->counts[c];
        else if (gain < -same)
            *for_b += w->counts[c];
    }
    return one > 0.0;
}

/* The probability under one metric, from slopes that are there. */
static double better_by_slopes(const work *w, double difference, double deviation)
{
    double a = 0.0, b = 0.0;
    if (w->paired && count_votes(&a, &b, w, difference))
        return mel_beta_inc(b + 0.5, a + 0.5, 0.5);
    return deviation > 0.0 ? mel_normal_cdf(difference / deviation) : difference > 0.0 ? 1.0 : 0.5;
}

static mel_status set_metric(const work *w, size_t s, mel_error *err)
{
    if (w->opt->n_metrics == 0)
        return MEL_OK;
    const size_t size = mel_metric_coefficients(w->measure->metric);
    return mel_measure_set_coefficients(w->measure, w->opt->metrics + s * size, err);
}

static mel_status by_slopes(mel_contest *out, work *w, mel_error *err)
{
    const size_t metrics = w->opt->n_metrics > 0 ? w->opt->n_metrics : 1, each = w->opt->draws / metrics + 2;
    double deviation = 0.0;
    mel_status status = MEL_OK;
    out->better = 0.0;
    for (size_t s = 0; s < metrics && status == MEL_OK; s++) {
        double difference = 0.0;
        status = set_metric(w, s, err);
        if (status == MEL_OK)
            status = difference_at(&difference, w, w->share, err);
        if (status == MEL_OK)
            status = find_slopes(w, err);
        if (status != MEL_OK)
            return status;
        deviation = sqrt(variance(w));
        out->better += better_by_slopes(w, difference, deviation) / (double)metrics;
        for (size_t j = 0; j < each && metrics > 1; j++)
            w->value[w->n_value++] = difference + deviation * mel_rng_normal(&w->rng);
    }
    out->range =
        metrics > 1 ? mel_interval_of(w->n_value, w->value) : mel_interval_normal(out->difference, deviation);
    return MEL_OK;
}

static mel_status by_draws(mel_contest *out, work *w, mel_error *err)
{
    const size_t metrics = w->opt->n_metrics > 0 ? w->opt->n_metrics : 1, each = w->opt->draws / metrics + 2;
    const double prior = mel_cell_prior(w->paired ? w->n_counts : w->cells);
    double *share = w->share;
    mel_status status = MEL_OK;
    double above = 0.0;
    for (size_t s = 0; s < metrics && status == MEL_OK; s++) {
        status = set_metric(w, s, err);
        for (size_t j = 0; j < each && status == MEL_OK; j++) {
            if (w->paired) {
                mel_draw_shares(share, w->n_counts, w->counts, prior, &w->rng);
            } else {
                mel_draw_shares(share, w->cells, w->counts, prior, &w->rng);
                mel_draw_shares(share + w->cells, w->cells, w->counts + w->cells, prior, &w->rng);
            }
            double *value = &w->value[w->n_value++];
            status = difference_at(value, w, share, err);
            above += *value > 0.0 ? 1.0 : *value == 0.0 ? 0.5 : 0.0;
        }
    }
    if (status != MEL_OK)
        return status;
    out->better = above / (double)w->n_value;
    out->range = mel_interval_of(w->n_value, w->value);
    return MEL_OK;
}

/* The delta method is not to be trusted. */
static bool wants_draws(const work *w)
{
    if (w->n_counts > MOST_DRAWN_CELLS)
        return false;
    if (!w->paired)
        return mel_few_rows(w->measure, w->counts) || mel_few_rows(w->measure, w->counts + w->cells);
    fold(w, w->counts);
    return mel_few_rows(w->measure, w->matrix[0]);
}

/* Exact, whatever the number of rows: every row that matters is one vote. */
static mel_status by_votes(bool *done, mel_contest *out, work *w, mel_error *err)
{
    double a = 0.0, b = 0.0;
    *done = false;
    if (!w->paired || w->opt->n_metrics > 0)
        return MEL_OK;
    const mel_status status = find_slopes(w, err);
    if (status != MEL_OK || !count_votes(&a, &b, w, out->difference))
        return status;
    *done = true;
    out->better = mel_beta_inc(b + 0.5, a + 0.5, 0.5);
    return MEL_OK;
}

static mel_status find(mel_contest *out, work *w, mel_error *err)
{
    mel_status status = difference_at(&out->difference, w, w->share, err);
    bool votes = false;
    mel_contest exact = { .difference = out->difference };
    if (status == MEL_OK)
        status = by_votes(&votes, &exact, w, err);
    if (status == MEL_OK)
        status = wants_draws(w) ? by_draws(out, w, err) : by_slopes(out, w, err);
    if (votes)
        out->better = exact.better;
    return status;
}

static void work_clear(work *w)
{
    free(w->share);
    free(w->value);
    for (size_t i = 0; i < 2; i++) {
        free(w->matrix[i]);
        free(w->slope[i]);
    }
}

static mel_status allocate(work *w, mel_error *err)
{
    const size_t metrics = w->opt->n_metrics > 0 ? w->opt->n_metrics : 1;
    bool good = true;
    w->share = mel_alloc(w->n_counts, sizeof *w->share);
    w->value = mel_alloc(w->opt->draws + 2 * metrics, sizeof *w->value);
    for (size_t i = 0; i < 2; i++) {
        w->matrix[i] = mel_alloc(w->cells, sizeof *w->matrix[i]);
        w->slope[i] = mel_alloc(w->cells, sizeof *w->slope[i]);
        good = good && w->matrix[i] != NULL && w->slope[i] != NULL;
    }
    return good && w->share != NULL && w->value != NULL ? MEL_OK : mel_fail_memory(err, "a comparison");
}

static mel_status compare(mel_contest *out, work *w, mel_error *err)
{
    mel_certainty_options settled;
    MEL_AUTO_MEMORY double *drawn = NULL;
    *out = (mel_contest){ .difference = (double)NAN };
    mel_status status = mel_certainty_settle(&settled, &drawn, w->measure, w->opt, err);
    if (status != MEL_OK)
        return status;
    w->opt = &settled;
    mel_rng_seed(&w->rng, w->opt->seed);
    double *kept = mel_coefficients_kept(w->measure, &status, err);
    if (status == MEL_OK)
        status = allocate(w, err);
    const size_t half = w->paired ? w->n_counts : w->cells;
    for (size_t c = 0; c < w->n_counts; c++)
        w->n[c / half] += w->counts[c];
    for (size_t c = 0; c < w->n_counts && status == MEL_OK; c++)
        w->share[c] = w->counts[c] / w->n[c / half];
    if (status == MEL_OK)
        status = find(out, w, err);
    work_clear(w);
    return mel_coefficients_back(w->measure, kept, status, err);
}

mel_status mel_certainty_compare(mel_contest *out, mel_measure *measure, const double *counts,
                                 const mel_certainty_options *opt, mel_error *err)
{
    const size_t cells = mel_measure_cells(measure);
    work w = { .measure = measure,
               .opt = opt,
               .k = measure->k,
               .cells = cells,
               .n_counts = cells * measure->k,
               .counts = counts,
               .paired = true };
    return compare(out, &w, err);
}

mel_status mel_certainty_compare_apart(mel_contest *out, mel_measure *measure, const double *counts_a,
                                       const double *counts_b, const mel_certainty_options *opt,
                                       mel_error *err)
{
    const size_t cells = mel_measure_cells(measure);
    MEL_AUTO_MEMORY double *both = mel_alloc(2 * cells, sizeof *both);
    if (both == NULL)
        return mel_fail_memory(err, "a comparison");
    memcpy(both, counts_a, cells * sizeof *both);
    memcpy(both + cells, counts_b, cells * sizeof *both);
    work w = {
        .measure = measure, .opt = opt, .k = measure->k, .cells = cells, .n_counts = 2 * cells, .counts = both
    };
    return compare(out, &w, err);
}
