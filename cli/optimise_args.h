/* The options of melicit optimise, and whether they go together. */
#ifndef MEL_CLI_OPTIMISE_ARGS_H
#define MEL_CLI_OPTIMISE_ARGS_H

#include "optimise_compare.h"

enum { CLI_METHOD_FW, CLI_METHOD_PI, CLI_METHOD_PLUG_IN };
typedef struct {
    cli_optimise_files files;
    cli_compare_args compare; /* its out is `out` */
    const char *metric, *entries, *out;
    mel_text_list basis, epsilon;
    int method, step, weights, probes, scale, rule, take;
    bool known, labels_only;
    uint64_t iterations, draws, rounds; /* rounds: UINT64_MAX unless given */
    double time_limit;
} cli_optimise_args;
extern const cli_optimise_args cli_optimise_defaults;
extern const cli_group cli_optimise_groups[];

/* The program of --metric cmd:PROGRAM; NULL: another metric. */
const char *cli_optimise_program(const char *metric);
mel_status cli_optimise_check(const cli_run *run, const cli_optimise_args *args, mel_error *err);

#endif
