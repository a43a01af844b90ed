/* Columns of tables by name: features of basis functions, and what says how much a row counts. */
#ifndef MEL_CLI_COLUMNS_H
#define MEL_CLI_COLUMNS_H

#include "command.h"
#include "melicit/optimise.h"

typedef struct {
    mel_feature_rows view; /* lends the two below */
    double *value;
    char **name;
} cli_features;

/* The named columns of a file; n 0: all columns of numbers. "column=text" is 1 where a column of texts has
 * that text. Missing cells are refused. `expected` rows are due (0: any number), as many as `like` has. */
mel_status cli_features_read(cli_features *out, const char *path, size_t n, const char *const *name,
                             size_t expected, const char *like, const mel_read_options *read, mel_error *err);
/* The columns that a basis reads. */
mel_status cli_features_of_basis(cli_features *out, const char *path, const mel_weight_basis *basis,
                                 size_t expected, const char *like, const mel_read_options *read,
                                 mel_error *err);
void cli_features_clear(cli_features *features);

/* The columns that --row-cost names, COLUMN or CLASS=COLUMN; lent by the options, items for the caller to
 * free(). */
mel_text_list cli_cost_columns(const mel_text_list *given);
/* n_classes columns, "" for none; lent by the options, for the caller to free(). MEL_EINVAL for classes that
 * are not there or named twice. */
mel_status cli_cost_of_classes(const char ***column, const mel_text_list *given, size_t n_classes,
                               const char *const *class_name, mel_error *err);
/* n x n_classes costs from n rows of the columns `names`; classes without one cost 1. For the caller to
 * free(). */
void cli_row_costs(double **cost, size_t n, size_t n_classes, const char *const *column,
                   const mel_text_list *names, const double *numbers);

#endif
