/* Where files are found and how results are stored: either completely or not at all. */
#ifndef MEL_CLI_FILES_H
#define MEL_CLI_FILES_H

#include "command.h"

#include <stdio.h>

bool cli_exists(const char *path);
/* Does a name end like this, in upper or lower case? */
bool cli_ends_with(const char *name, const char *ending);

/* The folders of data sets: the bundled ones, then $MELICIT_DATA; ends with NULL. */
const char *const *cli_data_folders(void);
/* mel_find_table in these. */
mel_status cli_find_data(char **path, const char *given, mel_error *err);

/* A file being written: to a temporary neighbour that takes the final name on commit, or straight to
 * standard output ("-"), a device or a pipe. */
typedef struct {
    FILE *stream; /* NULL: nothing open */
    char *path, *temporary;
    bool nameless; /* `temporary` is what the name will be */
} cli_out;

/* Fails now (MEL_EIO) when a later cli_out_open would: before the long work, not after it. */
mel_status cli_out_check(const char *path, mel_error *err);
mel_status cli_out_open(cli_out *out, const char *path, mel_error *err);
/* Only its owner may read the file that is being written. */
mel_status cli_out_private(const cli_out *out, mel_error *err);
/* MEL_EIO for a write to the stream that just failed. */
mel_status cli_out_failed(const cli_out *out, mel_error *err);
/* Writes the rest of an open file. */
mel_status cli_out_copy(const cli_out *out, int file, mel_error *err);
/* Closes and gives the file its name; the out is cleared in any case. Standard output is not closed. */
mel_status cli_out_commit(cli_out *out, mel_error *err);
/* Closes and removes what was not committed; fine after a commit. */
void cli_out_clear(cli_out *out);

/* Stores a text, or an object as the file that other verbs read; "-" is standard output. */
mel_status cli_store_text(const char *path, const char *text, mel_error *err);
mel_status cli_store_metric(const char *path, const mel_metric *metric, mel_error *err);
mel_status cli_store_classifier(const char *path, const mel_classifier *classifier, mel_error *err);
mel_status cli_store_model(const char *path, const mel_model *model, mel_error *err);

#endif
