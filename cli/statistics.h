/* Statistics of classifiers by counting their predictions. */
#ifndef MEL_CLI_STATISTICS_H
#define MEL_CLI_STATISTICS_H

#include "command.h"
#include "melicit/layout.h"

/* The statistics of a classifier with these counts, groups x k x k; names are for refusals. MEL_EDATA when
 * there are no rows, or the layout asks for rates of a class without any. */
mel_status cli_statistics_of(double *out, const mel_layout *layout, const double *counts,
                             const char *const *class_name, const char *const *group_name, mel_error *err);

#endif
