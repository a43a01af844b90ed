/* Features of rows for basis functions: columns of a table by name. */
#ifndef MEL_CLI_FEATURES_H
#define MEL_CLI_FEATURES_H

#include "command.h"
#include "melicit/data.h"
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

#endif
