/* Session files for the verbs: opening them on a space, reading their header, reporting on them. */
#ifndef MEL_CLI_SESSION_FILE_H
#define MEL_CLI_SESSION_FILE_H

#include "melicit/report.h"
#include "space_args.h"
#include <jansson.h>

/* The first line of a session file, with paths as seen from the working folder; freed with json_decref. */
mel_status cli_session_header(json_t **out, const char *path, mel_error *err);
/* What the header says of the space; data that it does not give a seed for are split by the run's. */
mel_status cli_header_space(mel_problem_options *out, const json_t *header, const cli_run *run,
                            mel_error *err);
mel_status cli_header_family(mel_family *out, const json_t *header, mel_error *err);
/* The options' names of classes and groups are the space's from now on, and its decisions the usual ones. */
void cli_session_names(mel_session_options *opt, const mel_problem *space);
/* Says of data that could not be read that a session file is about it; returns the status. */
mel_status cli_session_refuse_data(mel_error *err, mel_status status, const char *path);
/* A session file with the space that it is about, as its header says. */
typedef struct {
    json_t *header;
    mel_problem *space;
    mel_session *session;
} cli_opened;
/* Opens it for reading; `given` replaces the header's space where it says one (NULL: none). To be cleared on
 * failure too. */
mel_status cli_opened_make(cli_opened *out, const char *path, const mel_problem_options *given, cli_run *run,
                           mel_error *err);
void cli_opened_clear(cli_opened *opened);
/* read_only: for looking at a session that may be under way. */
mel_status cli_session_open(mel_session **out, const mel_problem *space, const mel_session_options *opt,
                            const char *path, bool read_only, mel_error *err);
/* Writes the HTML report; what the options leave out comes from the space. */
mel_status cli_session_report(mel_session *session, const mel_problem *space, mel_report_options *opt,
                              const char *path, mel_error *err);

#endif
