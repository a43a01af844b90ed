/* The options that say what a problem is, for the verbs elicit, space, apply and report. */
#ifndef MEL_CLI_SPACE_ARGS_H
#define MEL_CLI_SPACE_ARGS_H

#include "command.h"
#include "dataset.h"
#include "melicit/elicit.h"
#include "metric_file.h"

/* The verbs that take points: --coordinates, and how many numbers a point has (0: there is none). */
extern const char *const cli_coordinate_choices[]; /* "auto", then as mel_coordinates */
mel_problem_want cli_want_of_points(int coordinates, size_t numbers, const mel_problem_options *opt);

/* The problem of the options and the run; says which classes have new names. */
mel_status cli_space_make(mel_problem **out, const mel_problem_options *args, const mel_problem_want *want,
                          cli_run *run, mel_error *err);
/* "0 is healthy, 1 is cancer", where classes have new names. */
void cli_note_renamed(cli_run *run, const mel_classes *classes);
/* Its classes and groups, for cli_match_metric; of NULL nothing is known. */
cli_about cli_space_about(const mel_problem *problem, cli_run *run);

#endif
