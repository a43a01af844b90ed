/* Metrics that are given as files. */
#ifndef MEL_CLI_METRIC_FILE_H
#define MEL_CLI_METRIC_FILE_H

#include "melicit/metric.h"

#include "command.h"

/* A metric file, or the name of a bundled one. */
mel_status cli_load_metric(mel_metric **out, const char *given, mel_error *err);

/* n random coefficients (mel_metric_draw), for the caller to free(); NULL where the metric says no intervals,
 * or none are asked for. */
double *cli_metric_draws(size_t n, const mel_metric *metric, uint64_t seed);

/* Two classes come in the order of the metric, whose second one is positive, unless options say another; its
 * names are lent. */
void cli_follow_metric(mel_naming *naming, const mel_metric *metric);

/* The classes and groups that statistics are about, in their order. */
typedef struct {
    const char *const *name;                /* of the classes; NULL: nobody has named them */
    const char *const *label;               /* what the files call them, or NULL */
    const char *const *group;               /* names of the groups; NULL: there are none */
    bool classes_invented, groups_invented; /* the names are the program's own */
    cli_run *run;                           /* hears of names that were matched by place; lent */
} cli_about;
/* MEL_EDATA unless the metric is about such statistics; `given` is its file. Its classes and groups are
 * matched by name, and it is put into that order where it has another; names that are not the same are
 * refused with the options that say which is which. Where no name is the same, nobody's names, invented ones,
 * and the names "negative" and "positive" of two classes match by place. */
mel_status cli_match_metric(mel_metric **metric, const char *given, const mel_layout *layout,
                            const cli_about *about, mel_error *err);

#endif
