/* Session files for the verbs: opening them on a space, reading their header, reporting on them. */
#ifndef MEL_CLI_SESSION_FILE_H
#define MEL_CLI_SESSION_FILE_H

#include "melicit/elicit.h"
#include "melicit/report.h"
#include "space_args.h"

/* The first line of a session file, freed with json_decref. */
mel_status cli_session_header(json_t **out, const char *path, mel_error *err);
/* The options that a header was written with; class names are the space's. */
mel_status cli_session_options(mel_session_options *out, const json_t *header, const cli_space *space,
                               mel_error *err);
/* read_only: for looking at a session that may be under way. */
mel_status cli_session_open(mel_session **out, const cli_space *space, const mel_session_options *opt,
                            const char *path, bool read_only, mel_error *err);
/* Writes the HTML report; what the options leave out comes from the space. */
mel_status cli_session_report(mel_session *session, const cli_space *space, mel_report_options *opt,
                              const char *path, mel_error *err);

#endif
