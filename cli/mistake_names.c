/* Names of the two mistakes as they are given on the command line. */
#include "mistake_names.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static void split(char **one, char **many, const char *given)
{
    const char *bar = given != NULL ? strchr(given, '|') : NULL;
    *one = given == NULL ? NULL
           : bar == NULL ? cli_format("%s", given)
                         : cli_format("%.*s", (int)(bar - given), given);
    *many = bar != NULL ? cli_format("%s", bar + 1) : NULL;
}

cli_mistake_names cli_mistake_names_of(const char *missed, const char *false_alarm)
{
    cli_mistake_names names;
    split(&names.missed, &names.missed_plural, missed);
    split(&names.false_alarm, &names.false_alarms, false_alarm);
    return names;
}

void cli_mistake_names_clear(cli_mistake_names *names)
{
    free(names->missed);
    free(names->missed_plural);
    free(names->false_alarm);
    free(names->false_alarms);
    *names = (cli_mistake_names){ 0 };
}

mel_outcome_options cli_outcome_options(const cli_mistake_names *names, size_t rows)
{
    mel_outcome_options opt;
    mel_outcome_options_init(&opt);
    opt.missed = names->missed;
    opt.missed_plural = names->missed_plural;
    opt.false_alarm = names->false_alarm;
    opt.false_alarms = names->false_alarms;
    opt.rows = rows;
    return opt;
}
