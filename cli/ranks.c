/* The program as one process: melicit-mpi (ranks_mpi.c) is the one that works as several. */
#include "ranks.h"

mel_status cli_ranks_start(size_t expected, mel_error *err)
{
    return expected < 2 ? MEL_OK
                        : cli_fail(err, MEL_EINVAL,
                                   "started as one of %zu ranks: the program that works as several is "
                                   "melicit-mpi, which is built where libopenmpi-dev is installed",
                                   expected);
}

bool cli_ranks_many(void)
{
    return false;
}

bool cli_ranks_done(void)
{
    return false;
}

bool cli_ranks_end(mel_status status)
{
    (void)status;
    return true;
}

void cli_ranks_stop(int exit_code)
{
    (void)exit_code;
}

double cli_ranks_waited(void)
{
    return 0.0;
}

void cli_ranks_tell(const cli_run *run)
{
    (void)run;
}
