/* What the files on how sure values, rules and orders are share. */
#ifndef MEL_CLASSIFY_CERTAINTY_H
#define MEL_CLASSIFY_CERTAINTY_H

#include "base/internal.h"
#include "base/rng.h"
#include "classify/classify.h"
#include "melicit/trust.h"
#include "metric/measure.h"

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
 * afterwards. */
mel_status mel_measure_slopes(double *slope, const mel_measure *measure, double *share, mel_error *err);
/* Shares that these counts of n cells make likely: Dirichlet(counts + prior). */
void mel_draw_shares(double *share, size_t n, const double *counts, mel_rng *rng);

/* The caller's options, checked, and with the draws that the metric's own intervals make likely: *drawn, for
 * the caller to free, or NULL. */
mel_status mel_certainty_settle(mel_certainty_options *out, double **drawn, const mel_measure *measure,
                                const mel_certainty_options *opt, mel_error *err);
/* A measure whose metric may take other coefficients: its own metric comes back when this is cleared. */
typedef struct {
    mel_measure *measure;
    mel_metric *own; /* NULL: the measure has none */
} mel_lent_metric;
mel_status mel_metric_lend(mel_lent_metric *out, mel_measure *measure, mel_error *err);
void mel_lent_metric_clear(mel_lent_metric *lent);

/* --- rules that were found on rows ---------------------------------------------------------------- */

typedef struct {
    const mel_rule_rows *rows;
    const mel_metric *metric; /* NULL: by name */
    const char *name;
    mel_rule_options rule;
    mel_trust_options opt;
    const mel_classifier *found;
    mel_measure *measure;
    size_t k, d, m; /* classes, decisions, groups (at least 1) */
    size_t cells;   /* m x k x d: counts of decisions */
    double spread;  /* deviation of what other rows would have led to */
    double refer;   /* what referring all cases would add to the value */
} mel_trust_work;

/* For a rule that was found on the rows (NULL: rules that will be). To be cleared after a failure, too. */
mel_status mel_trust_begin(mel_trust_work *out, const mel_classifier *found, const mel_rule_rows *rows,
                           const mel_metric *metric, const char *name, const mel_rule_options *rule,
                           mel_error *err);
void mel_trust_work_clear(mel_trust_work *work);
/* Each row so many times, of those that it stands for; 0 leaves it out. To be cleared. */
typedef struct {
    mel_rule_rows rows;
    double *probability; /* owns all numbers */
    uint32_t *codes;
} mel_taken_rows;
mel_status mel_rule_rows_take(mel_taken_rows *out, const mel_rule_rows *all, const size_t *times,
                              mel_error *err);
void mel_taken_rows_clear(mel_taken_rows *taken);
/* What referring all cases adds to the value: as many of the cheapest mistakes as it costs. room: as many
 * numbers as the measure looks at. */
mel_status mel_trust_price_of_referring(double *out, const mel_trust_work *w, const double *counts,
                                        double *room, mel_error *err);
/* The adjustment that the same calibration and class shares make of other rows. */
mel_status mel_trust_adjust(mel_adjustment *out, const mel_trust_work *w, const mel_rule_rows *rows,
                            mel_error *err);
/* The best rule for these rows, with a calibration of their own; metric NULL: the one of the work. */
mel_status mel_trust_find(mel_classifier **out, const mel_trust_work *w, const mel_rule_rows *rows,
                          const mel_metric *metric, mel_error *err);
/* Adds what each row counts, when its label is believed, times the chances of its decisions (rows x d): m x k
 * x d numbers. squares: the same of squared weights, of each of the rows that a row stands for; NULL: nobody
 * asks. room: a number of each row and of each class. */
void mel_trust_count(double *counts, double *squares, const mel_trust_work *w, const mel_rule_rows *rows,
                     const double *chance, double *room);
static inline size_t mel_trust_count_room(const mel_rule_rows *rows)
{
    return rows->n_rows + rows->n_classes;
}
/* The value of counts; NaN where it is not defined. room: as many numbers as the measure looks at. */
double mel_trust_value(const mel_trust_work *w, const double *counts, double *room);
/* Chances of decisions, into room for them; adjusted probabilities are made of some rows at a time. */
mel_status mel_trust_chances(double *chance, const mel_classifier *c, const mel_rule_rows *rows,
                             mel_error *err);
/* The value of counts (numbers of rows) and how sure it is; NaN where it is not defined. room: as many
 * numbers as the measure looks at. */
mel_status mel_trust_of_counts(mel_certainty *out, mel_trust_work *w, const double *counts, double *room,
                               mel_error *err);
/* Counts become numbers of rows: as many as rows of these weights are worth. By how sure the value is with
 * these weights; alike: if each of them says as much. room: as many numbers as the measure looks at. */
mel_status mel_trust_settle_size(double *counts, const double *squares, const mel_trust_work *w, bool alike,
                                 double *room, mel_error *err);
/* Values are that much less sure than rows_deviation says. */
void mel_trust_widen(mel_certainty *value, double by);
/* MEL_OK where a failure only means that there is nothing to be said, unless memory or patience ran out. */
mel_status mel_trust_excuse(mel_status status, const mel_error *why, mel_error *err);

/* trust_draws.c: optimism, spread and thresholds, by drawing the rows anew. */
mel_status mel_trust_draw(mel_trust *out, mel_trust_work *w, mel_error *err);
/* trust_folds.c: cross-validation. */
mel_status mel_trust_fold(mel_trust *out, mel_trust_work *w, mel_error *err);

#endif
