/* What an elicitation found, for people and for programs. */
#ifndef MEL_CLI_OUTCOME_H
#define MEL_CLI_OUTCOME_H

#include "melicit/elicit.h"
#include "space_args.h"

typedef struct {
    const mel_problem *space;
    const mel_metric *metric;
    const mel_summary *summary;
    const mel_session_options *options;
    mel_session *session; /* for what its draws tell */
    bool stopped;         /* left before the end */
    double seconds;
    const char *session_path, *metric_path, *report_path; /* NULL: not written */
} cli_outcome;

mel_status cli_outcome_json(json_t *result, const cli_outcome *outcome, mel_error *err);
mel_status cli_outcome_text(const cli_outcome *outcome, mel_error *err);

/* What is known of each weight against the largest one, from the session's draws, and what is still wide;
 * nothing where the metric has no such weights or the session no draws. */
mel_status cli_ratios_json(json_t *result, const cli_outcome *outcome, mel_error *err);
mel_status cli_ratios_text(const cli_outcome *outcome, mel_error *err);
/* What coordinate i of a group's statistics is: "TP", "bus", "bus taken for van"; freed by the caller. */
char *cli_coordinate_name(const mel_layout *layout, const char *const *class_name, size_t i);
/* "consistent", "doubtful", "inconsistent" or, where answers may be flipped, "undecided": neither a metric
 * nor coin tosses explain them much better. The consistency is known. */
const char *cli_consistency_label(const mel_summary *summary);

/* A line of the result: "  best        predict cancer when ...", wrapped. */
void cli_outcome_row(const char *name, const char *text);

/* More than two classes, or groups: what the two above say beyond what is common to all. */
mel_status cli_classes_json(json_t *result, const cli_outcome *outcome, mel_error *err);
mel_status cli_classes_text(const cli_outcome *outcome, mel_error *err);

#endif
