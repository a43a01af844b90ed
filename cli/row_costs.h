/* Columns that say how much decisions about a row count. */
#ifndef MEL_CLI_ROW_COSTS_H
#define MEL_CLI_ROW_COSTS_H

#include "command.h"

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
