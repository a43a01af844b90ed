/* One run of melicit optimise on values of a metric, and what is said about it. */
#ifndef MEL_CLI_OPTIMISE_WORK_H
#define MEL_CLI_OPTIMISE_WORK_H

#include "optimise/shared.h"
#include "optimise_args.h"

/* Cleared in one place. */
typedef struct {
    cli_optimise_files files;
    char *path[2]; /* of --data and --validation */
    cli_optimise_rows rows;
    cli_optimise_basis *basis;
    size_t n_basis; /* sets of functions */
    double *epsilon;
    size_t n_epsilon, chosen; /* chosen: basis number times n_epsilon plus epsilon number */
    double *cross_fitted;     /* of each candidate; NULL: there was nothing to choose */
    bool *entry;
    mel_metric *metric;
    mel_measure *measure;
    mel_judge_command *judge;
    mel_black_box box;
    mel_optimise_options opt;
    mel_optimise_result found;
    mel_classifier *classifier;
    double value;         /* of the classifier as stored, on the validation rows; NaN: not known */
    bool majority_failed; /* the metric, at the majority of the mixture */
} cli_optimise_work;

/* A value that was made large as the metric has it: costs are negated while they are looked for. */
double cli_optimise_shown(const cli_optimise_work *w, double value);

/* What was found: in run->result, or printed. */
void cli_optimise_report(const cli_run *run, const cli_optimise_work *w, const cli_optimise_args *args);

#endif
