/* What an elicitation found, for people and for programs. */
#ifndef MEL_CLI_OUTCOME_H
#define MEL_CLI_OUTCOME_H

#include "melicit/elicit.h"
#include "space_args.h"

typedef struct {
    const cli_space *space;
    const mel_metric *metric;
    const mel_summary *summary;
    const mel_session_options *options;
    bool stopped; /* left before the end */
    double seconds;
    const char *session_path, *metric_path, *report_path; /* NULL: not written */
} cli_outcome;

mel_status cli_outcome_json(json_t *result, const cli_outcome *outcome, mel_error *err);
mel_status cli_outcome_text(const cli_outcome *outcome, mel_error *err);

/* The point of the face that is best for a metric of (TP, TN), the rule or mixture that achieves it, and
 * its value. */
typedef struct {
    mel_point point;
    mel_mixture mixture;
    double value;
} cli_best;
mel_status cli_best_point(cli_best *out, const mel_face *face, const mel_metric *metric, mel_error *err);
/* [{"threshold": x, "inverted": false, "share": 1}, ...] */
json_t *cli_mixture_json(const mel_mixture *mixture);
json_t *cli_point_json(mel_point point);
/* "predict cancer when its probability is at least 0.26", "always predict cancer"; freed by the caller. */
char *cli_rule_words(mel_rule rule, const char *positive);
/* A metric file, or the name of a bundled one, of binary confusion entries. */
mel_status cli_load_binary_metric(mel_metric **out, const char *given, mel_error *err);
/* "0.3,0.55": the value of --point. */
mel_status cli_parse_point(mel_point *out, const char *text, mel_error *err);

#endif
