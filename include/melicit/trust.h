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
    /* Equally likely coefficients of the metric, in file order, lent; none: drawn within its intervals. */
    size_t n_metrics;
    const double *metrics;
} mel_trust_options;
MEL_API void mel_trust_options_init(mel_trust_options *opt);

/* A threshold, and where the best one may lie: because of the rows, of the metric, of both. An interval
 * without width: that does not move it. */
typedef struct {
    double threshold;
    mel_interval rows, metric, both;
    double mean; /* over what both make likely */
    bool given;  /* the metric alone says where it is, whichever rows there are */
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
    /* Weighted sums of two classes, rules by thresholds: the mistakes of this rule cost at most so much more
     * than those of the best rule for the metric that is meant, as a share of these, for 95% of what rows and
     * metric make likely together; NaN: not known. */
    double regret;
} mel_trust;
MEL_API void mel_trust_clear(mel_trust *sure);

/* How sure the rule is: what it is worth on other rows, where its thresholds may lie. found: what
 * mel_rule_find gave for the rows, the metric or name, and the options. */
MEL_API mel_status mel_rule_trust(mel_trust *out, const mel_classifier *found, const mel_rule_rows *rows,
                                  const mel_metric *metric, const char *name, const mel_rule_options *rule,
                                  const mel_trust_options *opt, mel_error *err);

/* Limits that hold on new rows from the same source. */
typedef struct {
    size_t struct_size;
    double confidence; /* 0.95: that all limits of the rule hold on new rows */
    /* Of the rows, which certify and choose nothing; the others choose rules. NaN: a third, or all where
     * rules are thresholds and limits recalls or shares, whose order nobody has to choose. */
    double share;
    bool calibrated; /* as in mel_trust_options */
    uint64_t seed;   /* of the split, and of what mixtures draw */
} mel_certify_options;
MEL_API void mel_certify_options_init(mel_certify_options *opt);

/* Of a limit: what the rule achieves on the rows that certify, and the bound on what it achieves on new rows.
 */
typedef struct {
    double achieved, bound;
} mel_certified_limit;
typedef struct {
    double confidence;
    size_t rows;   /* that certified */
    bool all_rows; /* these are all of them: thresholds and limits whose order nobody has to choose */
    bool weighted; /* they do not count alike: bounds are by the number of equal rows that they are worth */
    size_t n_rules, n_certified; /* that were tried, and that may be promised */
    size_t n_limits;
    mel_certified_limit *limit;
    mel_certainty value; /* of the rule that was chosen, on the rows that certified */
    /* No rule is certified: with about so many rows more one would be; INFINITY: with no number of them. */
    double more_rows;
} mel_certified;
MEL_API void mel_certified_clear(mel_certified *certified);
/* The best rule for a metric or a name among those whose limits can be promised on new rows. Some of the rows
 * choose a list of rules (see share), the others test it, for each limit from the rule with the most expected
 * slack on, by exact binomial bounds until the first that fails, at the level (1 - confidence)/limits.
 * MEL_EDATA, with out->more_rows and a sentence, where no rule can be certified. Rows each count one: no
 * row_cost, no count. */
MEL_API mel_status mel_rule_certify(mel_classifier **out, mel_rule_report *report, mel_certified *certified,
                                    const mel_rule_rows *rows, const mel_metric *metric, const char *name,
                                    const mel_rule_options *rule, const mel_certify_options *opt,
                                    mel_error *err);

/* A number by the labels, next to the one that the probabilities expect. */
typedef struct {
    double value; /* by the labels; NaN: not defined */
    /* How often labels drawn from the (calibrated) probabilities would differ from what these expect by as
     * much as the labels do; NaN: the rule was found by labels, ranks divide the rows, or there is no
     * value. */
    double chance;
    bool surprising; /* that is more than chance allows, considering how many numbers are compared */
} mel_label_check;

/* What the labels say about a rule that was found by probabilities. */
typedef struct {
    double auc;            /* two classes: how well the probabilities rank them; NaN: not known */
    bool wrong_way;        /* they rank them the wrong way round, by more than chance */
    mel_label_check value; /* of the measure */
    size_t n_limits;
    mel_label_check *limit; /* what is achieved of each limit */
    bool doubtful;          /* some number is surprising, in 5 of 100 cases where all is well */
} mel_rule_labels;
MEL_API void mel_rule_labels_clear(mel_rule_labels *labels);
/* What the labels say of the rule, where the probabilities may be wrong. found and report: what mel_rule_find
 * gave for the rows, the metric or name, and the options. */
MEL_API mel_status mel_rule_ask_labels(mel_rule_labels *out, const mel_classifier *found,
                                       const mel_rule_report *report, const mel_rule_rows *rows,
                                       const mel_metric *metric, const char *name,
                                       const mel_rule_options *rule, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
