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

/* Each NULL where nothing was said. */
typedef struct {
    char *missed, *missed_plural, *false_alarm, *false_alarms;
} cli_mistake_names;

cli_mistake_names cli_mistake_names_of(const char *missed, const char *false_alarm);
void cli_mistake_names_clear(cli_mistake_names *names);
/* How results are put: with these names, measured on so many rows. */
mel_outcome_options cli_outcome_options(const cli_mistake_names *names, size_t rows);

#endif
