/* The options that say what problems are, how tables are read and which columns play a part in them. */
#ifndef MEL_CLI_DATASET_H
#define MEL_CLI_DATASET_H

#include "command.h"
#include "problem/shared.h"

extern const cli_option cli_reading_options[]; /* fill a mel_reading */
extern const cli_option cli_dataset_options[]; /* fill a mel_dataset_options */
extern const cli_option cli_space_options[];   /* fill a mel_problem_options */

/* Threads and progress of the run, and where data sets are found. What reading a file has to say is printed:
 * warnings, and with --verbose how it was read. The run is lent. */
mel_resources cli_resources(const cli_run *run);
mel_status cli_reader_init(mel_reader *out, const mel_reading *reading, const cli_run *run, mel_error *err);
mel_status cli_reader_check(const mel_reader *reader, const mel_reading *reading, const cli_run *run,
                            mel_error *err);
/* For rows like those that the encoder learned on: its text columns are text, whatever they look like, and
 * LIBSVM indices start where they did. No types are set for NPY and LIBSVM files, where the encoder says what
 * it misses. */
mel_status cli_reader_expect(mel_reader *reader, const mel_encoder *encoder, const char *path,
                             mel_error *err);

/* One column of a file: the one that is named (name NULL: none), or the only one. `option` is what names it;
 * *column is lent by the table. */
mel_status cli_read_column(mel_table **table, const char **column, const char *path, const char *name,
                           const char *option, const mel_read_options *read, mel_error *err);

#endif
