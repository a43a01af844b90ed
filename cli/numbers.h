/* Numbers and points as they are typed and printed. */
#ifndef MEL_CLI_NUMBERS_H
#define MEL_CLI_NUMBERS_H

#include "command.h"

/* "0.3,0.55,-1": finite numbers with commas between them, at least one; *out is freed by the caller. */
bool cli_parse_numbers(double **out, size_t *n, const char *text);
/* The value of an option such as --point; refuses (MEL_EINVAL) what are no numbers. */
mel_status cli_parse_vector(double **out, size_t *n, const char *option, const char *text, mel_error *err);

json_t *cli_vector_json(size_t n, const double *value);
/* n_rows arrays of n_columns numbers. */
json_t *cli_matrix_json(size_t n_rows, size_t n_columns, const double *value);
/* "(0.25, 0.31, ...)" with six digits, at most eight numbers; freed by the caller. */
char *cli_vector_text(size_t n, const double *value);

#endif
