/* melicit/trust.h: how sure a rule is that was found on rows (mel_rule_find): what it is worth on other rows,
 * where its thresholds may lie, what of its limits will hold. Intervals hold 95%. */
#ifndef MELICIT_TRUST_H
#define MELICIT_TRUST_H

#include "melicit/certainty.h"
#include "melicit/classify.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_size;
    bool calibrated; /* the adjustment was fitted to these rows, so it is fitted anew to draws of them */
    size_t folds;    /* 0: none; 2 and more: rules of the other folds decide about each of them */
    size_t draws;    /* of rows: 0: as many as take a moment */
    uint64_t seed;
    /* Equally likely coefficients of the metric, in file order; none: it is known. Lent. */
    size_t n_metrics;
    const double *metrics;
} mel_trust_options;
MEL_API void mel_trust_options_init(mel_trust_options *opt);

/* A threshold, and where the best one may lie: because of the rows, of the metric, of both. An interval
 * without width: that does not move it (by the model the rows do not, as the metric says where it is). */
typedef struct {
    double threshold;
    mel_interval rows, metric, both;
    double mean; /* over what both make likely */
} mel_trust_threshold;

typedef struct {
    mel_certainty value; /* on other rows, by the labels; value NaN: not defined there, ... */
    mel_error why;       /* ... because of this */
    double seen;         /* value on these rows, by the labels, which is too good ... */
    double optimism;     /* ... by so much; 0 where rows are so many that it does not matter */
    mel_certainty cross; /* by folds; value NaN: not asked for */
    size_t n_thresholds; /* one for each group; 0: the rule is none, or draws of the rows do not agree */
    mel_trust_threshold *threshold;
    size_t n_limits;
    mel_interval *limit; /* what is achieved of each on other rows */
} mel_trust;
MEL_API void mel_trust_clear(mel_trust *sure);

/* found: what mel_rule_find gave for the rows, the metric or name, and the options. */
MEL_API mel_status mel_rule_trust(mel_trust *out, const mel_classifier *found, const mel_rule_rows *rows,
                                  const mel_metric *metric, const char *name, const mel_rule_options *rule,
                                  const mel_trust_options *opt, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
