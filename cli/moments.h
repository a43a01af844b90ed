/* What melicit moments and melicit merge share: moments as results, and those of class probabilities. */
#ifndef MEL_CLI_MOMENTS_H
#define MEL_CLI_MOMENTS_H

#include "command.h"
#include "melicit/classify.h"
#include "melicit/problem.h"

/* Moves `more` into *all, which may be NULL before. */
mel_status cli_moments_add(mel_moments **all, mel_moments *more, mel_error *err);
/* For cli_store. */
mel_status cli_moments_save(const void *moments, const char *file, mel_error *err);
mel_status cli_scores_save(const void *counts, const char *file, mel_error *err);
/* How many rows and files went where. */
void cli_moments_report(cli_run *run, size_t n_files, size_t n_rows, const char *out);
/* Of any kind: with what a classifier decides, where they are about that. */
mel_status cli_moments_tell(cli_run *run, const mel_moments *moments, const char *out, mel_error *err);
/* Whether there may be such a result: --out - and --json exclude each other. */
mel_status cli_moments_check_out(const cli_run *run, const char *out, mel_error *err);

/* Files of rows, or patterns of them, and at what their sums are taken: one of both. */
typedef struct {
    const char *probs, *labels, *groups, *columns, *label;
    const char *classifier, *iterate;
    const mel_reading *reading;
} cli_moments_job;
/* File by file: one of them is in memory at a time. */
mel_status cli_moments_take(mel_moments **out, const cli_moments_job *job, const cli_run *run,
                            mel_error *err);

#endif
