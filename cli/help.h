/* Everything that is written from the verb and option tables. */
#ifndef MEL_CLI_HELP_H
#define MEL_CLI_HELP_H

#include "command.h"

#include <stdio.h>

void cli_help_overview(FILE *stream);
/* The help of one verb on standard output: its common options and two examples, or all of them. With json
 * its tables as one JSON object. */
void cli_help_verb(const cli_command *command, bool all, bool json);
/* All verbs as a JSON array: name, summary, options with kind and range, examples. */
json_t *cli_help_tables(void);
json_t *cli_help_table(const cli_command *command);
/* JSON Schemas by the name of a verb or of a kind of file. */
json_t *cli_schemas(void);

void cli_help_man(FILE *stream);
void cli_help_completion(FILE *stream, const char *shell); /* bash, zsh or fish */

/* Texts that several of these share. */
extern const char *const cli_about;
/* What an exit code means, for codes 0, 1, ...; NULL beyond the last. */
const char *cli_exit_meaning(int code);
/* "melicit train --data FILE [options]"; freed by the caller. */
char *cli_usage(const cli_command *command);
/* "--l2", or "--read delimiter" of a setting. */
typedef struct {
    char text[80];
} cli_spelling;
cli_spelling cli_option_spelling(const cli_option *option);
/* "--l2 X", "--read decimal=auto|.|,"; freed by the caller. */
char *cli_option_form(const cli_option *option);
/* The help clause with choices and default: "... (auto, newton, lbfgs; default: auto)". Freed by the caller.
 */
char *cli_option_sentence(const cli_option *option, const void *defaults);

#endif
