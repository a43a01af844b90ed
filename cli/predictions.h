/* Labels, the predictions of one or several classifiers for them, and groups, from files. */
#ifndef MEL_CLI_PREDICTIONS_H
#define MEL_CLI_PREDICTIONS_H

#include "command.h"
#include "melicit/metric.h"
#include "melicit/problem.h"

/* The options. */
typedef struct {
    const char *labels, *groups;
    mel_text_list predictions;
    mel_naming naming;
} cli_prediction_args;
extern const cli_option cli_prediction_options[];

/* Codes in the order of the metric, where there is one. */
typedef struct {
    mel_labels truth;
    mel_classes classes;
    mel_labels groups;  /* n_classes 0: none */
    size_t n;           /* classifiers */
    char **name;        /* of their columns, or of files of one column */
    mel_labels *wanted; /* what each of them predicts */
} cli_predictions;
/* Reads --predictions and the operands, which go on with its list. `metric` may be NULL; it is put into the
 * order of the labels, and groups into its own if it has any. `given` is its file. */
mel_status cli_predictions_read(cli_predictions *out, mel_metric **metric, const char *given,
                                const cli_prediction_args *args, const mel_read_options *read, cli_run *run,
                                mel_error *err);
void cli_predictions_clear(cli_predictions *p);
size_t cli_predictions_groups(const cli_predictions *p); /* at least 1 */
/* counts: groups x k x k of classifier c. */
void cli_predictions_count(double *counts, const cli_predictions *p, size_t c);

#endif
