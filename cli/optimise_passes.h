/* melicit optimise --iterate: runs where no process sees all training rows. */
#ifndef MEL_CLI_OPTIMISE_PASSES_H
#define MEL_CLI_OPTIMISE_PASSES_H

#include "melicit/optimise.h"
#include "optimise_args.h"

/* Whether the options go with --iterate, where it is given. */
mel_status cli_optimise_check_passes(const cli_optimise_args *args, mel_error *err);
/* The file, or where there is none the start of a run, with the sums of --moments. */
mel_status cli_passes_open(mel_passes **out, const cli_optimise_args *args, const cli_optimise_rows *rows,
                           mel_error *err);
mel_status cli_passes_store(const mel_passes *passes, const char *path, mel_error *err);
/* What has to be done before the run can go on. */
void cli_passes_report(const cli_run *run, const mel_passes *passes, const cli_optimise_args *args,
                       const mel_optimise_result *so_far);

#endif
