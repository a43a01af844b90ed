/* The program as one of several ranks that mpirun or srun started: melicit works alone (ranks.c), melicit-mpi
 * with others (ranks_mpi.c). */
#ifndef MEL_CLI_RANKS_H
#define MEL_CLI_RANKS_H

#include "command.h"

/* Joins the others, where the environment speaks of two or more: afterwards ranks other than 0 are silent. */
mel_status cli_ranks_start(size_t expected, mel_error *err);
/* Is this one of several? */
bool cli_ranks_many(void);
/* For verbs that need the others for reading and measuring only: what follows is rank 0's work alone. True:
 * this rank is done. */
bool cli_ranks_done(void);
/* The end of every rank: true when this one has to say what `status` means, which is the case for the first
 * that failed. Ranks that still expect something of this one are ended with it by cli_ranks_stop. */
bool cli_ranks_end(mel_status status);
/* After everything is said. */
void cli_ranks_stop(int exit_code);
/* Seconds that this rank has spent in exchanges with others. */
double cli_ranks_waited(void);
/* For --verbose: how long ranks waited for each other, and the memory of each. */
void cli_ranks_tell(const cli_run *run);

#endif
