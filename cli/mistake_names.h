/* What --call missed and false-alarm say: "missed ox", or with its plural, "missed ox|missed oxen". */
#ifndef MEL_CLI_MISTAKE_NAMES_H
#define MEL_CLI_MISTAKE_NAMES_H

#include "melicit/outcome.h"

/* Each NULL where nothing was said. */
typedef struct {
    char *missed, *missed_plural, *false_alarm, *false_alarms;
} cli_mistake_names;

cli_mistake_names cli_mistake_names_of(const char *missed, const char *false_alarm);
void cli_mistake_names_clear(cli_mistake_names *names);
/* How results are put: with these names, measured on so many rows. */
mel_outcome_options cli_outcome_options(const cli_mistake_names *names, size_t rows);

#endif
