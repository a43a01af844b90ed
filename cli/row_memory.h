/* --memory: what is large goes into files that the kernel pages in and out. */
#ifndef MEL_CLI_ROW_MEMORY_H
#define MEL_CLI_ROW_MEMORY_H

#include "command.h"

/* Ends the process with a sentence where limits of the shell (ulimit) leave less address space than OpenBLAS
 * takes for its threads, which would wait for it for ever. */
void cli_address_space_check(void);

/* With --memory the program begins anew, with OpenBLAS told to start no threads of its own. Each of these
 * takes address space when it first runs, which on a busy machine may be after the limit is set, and would
 * then wait for ever, also at the end of the program. */
void cli_row_memory_start(int argc, char **argv);

/* `size` is "512M", "2G", ..; NULL: nothing changes. From now on blocks of a hundredth of it and more are in
 * files without a name in $TMPDIR or /var/tmp, and the kernel gives the process no more than this for all
 * else. */
mel_status cli_row_memory_limit(const char *size, int threads, mel_error *err);
/* Adds to what is said where memory was not enough because a disk was full. */
void cli_row_memory_explain(mel_status status, mel_error *err);

#endif
