/* Calibration of the rows that a rule is found on, for the shares of classes and the costs it will meet. */
#include "classify/certainty.h"
#include "classify/steps.h"
#include "data/quote.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rows count where the classes have other shares, and mistakes about them these costs (NULL: all the
 * same). */
static mel_status shared_weights(double **out, const mel_rule_rows *rows, const double *class_share,
                                 const double *cost, mel_error *err)
{
    mel_rule_rows plain = *rows;
    double *growth = NULL;
    const mel_part parts[] = { { rows->n_rows, { out } }, { rows->n_classes, { &growth } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "what rows count");
    plain.row_cost = NULL;
    mel_rule_label_weights(*out, &plain, class_share, growth);
    for (size_t r = 0; r < rows->n_rows && cost != NULL; r++)
        (*out)[r] *= cost[rows->label[r]];
    return MEL_OK;
}

/* What a mistake about each of two classes costs where the classes have these shares and so much of both is
 * mistaken; false: nothing that weights could be. */
static bool costs_at(double cost[2], const mel_measure *measure, const double *share, double wrong)
{
    const double sign = mel_measure_orientation(measure) == MEL_COST ? -1.0 : 1.0, right = 1.0 - wrong;
    double at[] = { right * share[0], wrong * share[0], wrong * share[1], right * share[1] }, slope[4];
    if (mel_measure_cells(measure) != 4 || mel_measure_slopes(slope, measure, at, NULL) != MEL_OK)
        return false;
    cost[0] = sign * (slope[0] - slope[1]);
    cost[1] = sign * (slope[3] - slope[2]);
    return isfinite(cost[0] + cost[1]) && fmin(cost[0], cost[1]) > 1e-3 * fmax(cost[0], cost[1]);
}

/* Whether mistakes cost the same whatever the rule is, and nothing else decides about it. */
static mel_status fixed_costs(bool *are, double cost[2], const mel_rule_rows *rows, const mel_metric *metric,
                              const char *name, const mel_rule_options *opt, mel_error *err)
{
    double other[2];
    MEL_AUTO(mel_measure) *measure = NULL;
    *are = false;
    if (opt->class_share == NULL || rows->n_classes != 2 || rows->n_groups > 1 || rows->row_cost != NULL ||
        opt->n_limits > 0 || !isnan(opt->refer_cost))
        return MEL_OK;
    TRY(metric != NULL ? mel_measure_metric(&measure, metric, 2, rows->n_groups, err)
                       : mel_measure_named(&measure, name, 2, 1, err));
    *are = costs_at(cost, measure, opt->class_share, 0.1) &&
           costs_at(other, measure, opt->class_share, 0.3) &&
           fabs(cost[1] * other[0] - cost[0] * other[1]) <= 1e-4 * cost[1] * other[0];
    return MEL_OK;
}

/* Rows that all of them stand for. */
static double number_of(const mel_rule_rows *rows)
{
    double n = 0.0;
    for (size_t r = 0; rows->count != NULL && r < rows->n_rows; r++)
        n += rows->count[r];
    return rows->count != NULL ? n : (double)rows->n_rows;
}

/* Whether groups have curves of their own: rules look at groups, or do not look at what is calibrated. */
static bool by_group(const mel_rule_rows *rows, const mel_rule_options *opt)
{
    return rows->n_groups > 1 && (opt->group_use == MEL_GROUP_SEEN || mel_rule_keeps_scores(rows, opt));
}

/* Where mistakes about the classes count that much; what is found is then taken back to what is met. */
static mel_status fit(mel_adjustment *out, const mel_rule_rows *rows, const double *cost,
                      const mel_rule_options *opt, mel_error *err)
{
    static const double same[2] = { 1.0, 1.0 };
    MEL_AUTO_MEMORY double *weight = NULL;
    MEL_AUTO_CLEAR(mel_adjustment) start = { 0 };
    if (opt->class_share != NULL)
        TRY(shared_weights(&weight, rows, opt->class_share, cost, err));
    if (opt->adjustment != NULL)
        TRY(mel_adjustment_copy(&start, opt->adjustment, err));
    if (cost != NULL && opt->adjustment != NULL)
        mel_adjustment_shift(&start, 2, same, cost);
    const mel_rows of = { .n_rows = rows->n_rows,
                          .n_classes = rows->n_classes,
                          .probability = rows->probability,
                          .label = rows->label,
                          .weight = weight != NULL ? weight : rows->weight,
                          .n_groups = by_group(rows, opt) ? rows->n_groups : 0,
                          .group = rows->group };
    TRY(mel_adjustment_fit(out, &of, number_of(rows), opt->adjustment != NULL ? &start : NULL, &opt->progress,
                           err));
    if (cost != NULL)
        mel_adjustment_shift(out, 2, cost, same);
    return MEL_OK;
}

/* Probabilities of a class that no row is of cannot be set right. */
static mel_status check_classes(const mel_rule_rows *rows, mel_error *err)
{
    const mel_called called = { rows->class_name, rows->group_name };
    const size_t n = rows->n_classes;
    MEL_AUTO_MEMORY double *share = mel_alloc(n, sizeof *share);
    if (share == NULL)
        return mel_fail_memory(err, "what classes count");
    mel_rule_class_shares(share, rows);
    size_t c = 0;
    while (c < n && share[c] > 0.0)
        c++;
    return c == n ? MEL_OK : mel_fail_in(err, mel_fail_no_rows(err, &called, 1, 0, c), "calibration");
}

mel_status mel_rule_calibrate(mel_adjustment *out, const mel_rule_rows *rows, const mel_metric *metric,
                              const char *name, const mel_rule_options *opt, mel_error *err)
{
    double cost[2];
    bool costs = false;
    mel_rule_options all;
    *out = (mel_adjustment){ 0 };
    mel_rule_options_init(&all);
    TRY(mel_options_take(&all, sizeof all, opt, "rule options", err));
    TRY(mel_rule_rows_check(rows, err));
    TRY(check_classes(rows, err));
    TRY(fixed_costs(&costs, cost, rows, metric, name, &all, err));
    return fit(out, rows, costs ? cost : NULL, &all, err);
}

mel_status mel_rule_prior(double *likely, double *matched, double *apart, const mel_rule_rows *rows, size_t n,
                          const double *probability, const mel_adjustment *adjustment, mel_error *err)
{
    const size_t k = rows->n_classes;
    if (adjustment->n_classes != k || adjustment->n_groups > 0)
        return mel_fail(err, MEL_EINVAL, "an adjustment of %zu classes without groups is needed", k);
    if (rows->n_rows == 0 || n == 0)
        return mel_fail(err, MEL_EDATA, "shares of classes: there are no rows");
    MEL_AUTO_MEMORY double *here = mel_alloc(rows->n_rows, k * sizeof *here);
    MEL_AUTO_MEMORY double *there = mel_alloc(n, k * sizeof *there);
    if (here == NULL || there == NULL)
        return mel_fail_memory(err, "shares of classes");
    mel_adjust(here, adjustment, rows->n_rows, rows->probability, NULL);
    mel_adjust(there, adjustment, n, probability, NULL);
    const mel_rows labelled = { .n_rows = rows->n_rows,
                                .n_classes = k,
                                .probability = here,
                                .label = rows->label },
                   unlabelled = { .n_rows = n, .n_classes = k, .probability = there };
    TRY(mel_prior_estimate(likely, matched, k, &labelled, &unlabelled, err));
    *apart = 0.0;
    for (size_t i = 0; i < k; i++)
        *apart += 0.5 * fabs(likely[i] - matched[i]);
    return MEL_OK;
}
