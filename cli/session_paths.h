/* Paths in the header of a session file. A path that was typed relative is kept relative to the folder of the
 * session file, so that the session goes on from any folder, also when both were moved together. */
#ifndef MEL_CLI_SESSION_PATHS_H
#define MEL_CLI_SESSION_PATHS_H

#include <jansson.h>

/* The folder that a file is in, without links and dots, for the caller to free(); NULL when there is no such
 * folder. Of a name without a slash: the working folder. */
char *cli_real_folder(const char *path);
/* A copy of a space's description for the header of this session file; names of bundled data sets and
 * absolute paths stay. Freed with json_decref. */
json_t *cli_paths_for_session(const char *description, const char *session);
/* The other way: a header's description as seen from the working folder. What is not found from the session's
 * folder stays: it may be the name of a bundled data set. */
void cli_paths_from_session(json_t *description, const char *session);

#endif
