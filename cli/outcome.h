/* What an elicitation found, on the terminal. */
#ifndef MEL_CLI_OUTCOME_H
#define MEL_CLI_OUTCOME_H

#include "command.h"
#include "melicit/outcome.h"

typedef struct {
    const mel_outcome *found;
    bool stopped; /* left before the end */
    double seconds;
    const char *session_path, *metric_path, *report_path, *log_path; /* NULL: not written */
    const char *oracle;                                              /* NULL: a person at the terminal */
} cli_outcome;

mel_status cli_outcome_json(json_t *result, const cli_outcome *outcome, mel_error *err);
void cli_outcome_text(const cli_outcome *outcome);

#endif
