/* melicit apply on rows: its options, what was found, what is said of it. */
#ifndef MEL_CLI_APPLY_H
#define MEL_CLI_APPLY_H

#include "classify/shared.h"
#include "space_args.h"
#include <math.h>

/* The value of --rule beyond those of mel_rule_form: means of thresholds. */
enum { CLI_RULE_AVERAGE = 3 };

/* Values of --use-group; the first is neither given. */
enum { CLI_GROUP_AUTO, CLI_GROUP_YES, CLI_GROUP_NO };

typedef struct {
    mel_problem_options space;
    const char *metric, *named, *point, *out, *plot;
    mel_text_list metrics; /* of several people, .. */
    bool compromise;       /* .. between whom a rule is looked for */
    int coordinates;
    double delta;
    int rule, use_group;
    mel_text_list at_most, at_least;
    const char *class_prior, *class_prior_from;
    double reject; /* cost of a referred case, in cheapest mistakes; NaN: nothing is referred */
    uint64_t folds;
    double confidence; /* that limits hold on new rows; NaN: not asked for */
    mel_text_list row_costs;
} cli_apply_args;

/* What was found; cleared in one place. */
typedef struct {
    mel_problem *problem;
    mel_metric *metric;
    mel_adjustment adjustment; /* n_classes 0: none */
    double *class_share;       /* that the classes are to have; NULL: as they are */
    mel_limit *limit;
    size_t n_limits;
    mel_rule_report report;
    mel_classifier *classifier;
    mel_trust trust;
    mel_rule_labels labels; /* what the labels say of it */
    size_t folds;
    mel_certified certified; /* n_limits 0: limits are those of these rows */
    double *row_cost;        /* n_rows x n_classes; NULL: none */
    size_t n_people;
    const char **person_file;
    mel_metric **person_metric;
    mel_person *person;
    bool averaged; /* as the options ask for */
    bool by_model; /* values are what the probabilities expect */
} cli_applied_rule;
void cli_applied_rule_clear(cli_applied_rule *a);

/* Whether the options ask for more than the linear step by labels. */
bool cli_apply_asks_more(const cli_apply_args *args);
/* The metric, when there is one, is taken over from *metric. */
mel_status cli_apply_rule(cli_applied_rule *out, const cli_apply_args *args, mel_metric **metric,
                          cli_run *run, mel_error *err);
/* Fits an adjustment, for the class shares where these are known already; by_group: groups have curves of
 * their own where the rule can use them. */
mel_status cli_apply_calibrate(mel_adjustment *out, const cli_applied_rule *a, bool by_group,
                               const cli_apply_args *args, mel_error *err);

/* 0 where rounding has left next to nothing of it. */
static inline double cli_settled(double value)
{
    return fabs(value) < 1e-12 ? 0.0 : value;
}
void cli_apply_rule_print(const cli_applied_rule *a, const char *path);
void cli_apply_rule_json(json_t *result, const cli_applied_rule *a);

/* Fills class_share, and the adjustment for these shares. */
mel_status cli_apply_prior(cli_applied_rule *a, const cli_apply_args *args, cli_run *run, mel_error *err);

#endif
