/* A metric from what mistakes cost: on the command line, or in a file. */
#ifndef MEL_CLI_METRIC_COSTS_H
#define MEL_CLI_METRIC_COSTS_H

#include "contenders.h"

/* Who the metric is about. */
typedef struct {
    char **class_name, **group_name; /* each in one block, for free(); NULL: none */
    const char **column;             /* names of the columns of --costs, lent by its table; NULL: none */
    size_t k, m;
    double *share;
    cli_predictions counted;
} cli_metric_about;
const char *const *cli_about_class_names(const cli_metric_about *a);

/* Of --cost: "missed=7,false-alarm=1" or "true>predicted=COST,..". */
mel_status cli_metric_of_cost(mel_metric **out, const char *cost, const cli_metric_about *a, mel_error *err);
/* Of --costs: a file with a square of them, whose header names the classes. */
mel_status cli_metric_of_costs(mel_metric **out, const char *path, cli_metric_about *a,
                               const mel_read_options *read, mel_error *err);

#endif
