/* Statistics of classifiers by counting their predictions. */
#ifndef MEL_CLI_STATISTICS_H
#define MEL_CLI_STATISTICS_H

#include "command.h"
#include "melicit/layout.h"

/* Rows with their true and predicted classes (codes below the layout's n_classes) and groups; group NULL:
 * the layout has none. */
typedef struct {
    size_t n;
    const uint32_t *truth, *predicted, *group;
    const char *const *class_name, *const *group_name; /* for refusals */
} cli_decided;
/* Their statistics; `only` (not SIZE_MAX) counts the rows of one group of `of`, an array as long. MEL_EDATA
 * when there are no rows, or rates are wanted of a class without any. */
mel_status cli_count_statistics(double *out, const mel_layout *layout, const cli_decided *rows,
                                const uint32_t *of, size_t only, mel_error *err);

#endif
