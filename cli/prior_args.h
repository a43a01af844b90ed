/* --class-prior and --class-prior-from: shares that the classes are to have. */
#ifndef MEL_CLI_PRIOR_ARGS_H
#define MEL_CLI_PRIOR_ARGS_H

#include "apply_rule.h"

/* Fills class_share, and the adjustment for these shares. */
mel_status cli_apply_prior(cli_applied_rule *a, const cli_apply_args *args, cli_run *run, mel_error *err);

#endif
