/* What the files on certainty share. */
#ifndef MEL_CLASSIFY_CERTAINTY_PARTS_H
#define MEL_CLASSIFY_CERTAINTY_PARTS_H

#include "base/internal.h"
#include "base/rng.h"
#include "classify/shared.h"

/* The middle 95% of n equally likely values, whose order changes; and of a normal distribution. */
mel_interval mel_interval_of(size_t n, double *values);
mel_interval mel_interval_normal(double middle, double deviation);
/* extremes.c: the largest (or smallest) of several numbers, by draws of all of them (n_draws x n_parts),
 * however many of them are equal. */
typedef struct {
    size_t n_parts, n_draws;
    const double *seen, *drawn;
    bool largest;
} mel_extreme;
mel_status mel_interval_of_extreme(mel_interval *out, const mel_extreme *of, mel_error *err);
/* The same where the parts are differences between groups, either way round (largest), or ratios: how far the
 * groups are apart, equality included where it is likely. *found is false where a draw has no ratio. */
mel_status mel_interval_of_spread(mel_interval *out, bool *found, const mel_extreme *of, mel_error *err);
/* How many of these draws so many parts have room for. */
size_t mel_extreme_draws(size_t n_parts, size_t draws);
/* d value / d share for every cell, all of them free to change, by differences. share is as before
 * afterwards.
 */
mel_status mel_measure_slopes(double *slope, const mel_measure *measure, double *share, mel_error *err);
/* Shares that these counts of n cells make likely: Dirichlet(counts + prior). */
void mel_draw_shares(double *share, size_t n, const double *counts, double prior, mel_rng *rng);
double mel_cell_prior(size_t n);
/* Whether the delta method is not to be trusted. */
bool mel_few_rows(const mel_measure *measure, const double *counts);

/* The caller's options, checked, and with the draws that the metric's own intervals make likely: *drawn, for
 * the caller to free, or NULL. */
mel_status mel_certainty_settle(mel_certainty_options *out, double **drawn, const mel_measure *measure,
                                const mel_certainty_options *opt, mel_error *err);
/* A copy of the coefficients of the measure's metric, NULL without one; and their return, whatever the status
 * is, which is passed on. */
double *mel_coefficients_kept(const mel_measure *measure, mel_status *status, mel_error *err);
mel_status mel_coefficients_back(mel_measure *measure, double *kept, mel_status status, mel_error *err);

#endif
