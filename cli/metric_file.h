/* Metrics that are given as files. */
#ifndef MEL_CLI_METRIC_FILE_H
#define MEL_CLI_METRIC_FILE_H

#include "command.h"

/* A metric file, or the name of a bundled one. */
mel_status cli_load_metric(mel_metric **out, const char *given, mel_error *err);

/* Two classes come in the order of the metric, whose second one is positive, unless options say another; its
 * names are borrowed. */
void cli_follow_metric(mel_naming *naming, const mel_metric *metric);

/* The classes and groups that statistics are about, in their order. */
typedef struct {
    mel_match with;
    const mel_classes *classes; /* what labels say; NULL: there are none */
    cli_run *run;               /* hears of names that were matched by place; lent */
} cli_about;
/* mel_metric_match; `given` is the metric's file, and refusals name the options that say which is which. */
mel_status cli_match_metric(mel_metric **metric, const char *given, const mel_layout *layout,
                            const cli_about *about, mel_error *err);
/* Refuses a measure that depends on which of two classes is positive where nobody says which one is. */
mel_status cli_check_positive(const mel_measure *measure, const char *name, const mel_classes *classes,
                              mel_error *err);
/* "positive" of two classes. */
void cli_put_positive(json_t *object, size_t n_classes, const char *const *class_name);
/* The same as a line; not where the class is called so. */
void cli_print_positive(size_t n_classes, const char *const *class_name);

#endif
