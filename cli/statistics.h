/* Statistics of classifiers: pools of them in files, and counting predictions. Shared by score and rank. */
#ifndef MEL_CLI_STATISTICS_H
#define MEL_CLI_STATISTICS_H

#include "command.h"
#include "melicit/data.h"
#include "melicit/layout.h"

/* n classifiers, one row of `size` numbers each. */
typedef struct {
    size_t n, size;
    char **name;
    double *value;
} cli_pool;
/* CSV with a "name" column and a column of numbers per coordinate (binary: tp and tn by name, in any case),
 * or NPY with a row per classifier. MEL_EDATA, with the classifier and the column, for numbers that cannot
 * be such statistics. */
mel_status cli_pool_read(cli_pool *out, const char *path, const mel_layout *layout,
                         const mel_read_options *read, mel_error *err);
void cli_pool_clear(cli_pool *pool);

/* Rows with their true and predicted classes (codes below the layout's n_classes) and groups; group NULL:
 * the layout has none. */
typedef struct {
    size_t n;
    const uint32_t *truth, *predicted, *group;
} cli_decided;
/* Their statistics; `only` (not SIZE_MAX) counts the rows of one group of `of`, an array as long. MEL_EDATA
 * when there are no rows, or rates are wanted of a class without any. */
mel_status cli_count_statistics(double *out, const mel_layout *layout, const cli_decided *rows,
                                const uint32_t *of, size_t only, mel_error *err);

#endif
