/* Columns of tables by their names. */
#ifndef MEL_PROBLEM_COLUMNS_H
#define MEL_PROBLEM_COLUMNS_H

#include "model/shared.h"
#include "problem/files.h"

/* Is it one column that is the positive class's because it has no class's name? */
bool mel_proba_of_positive(const mel_proba *proba, const char *given, const mel_classes *classes);
/* mel_proba_read_classes for a file that was found. */
mel_status mel_proba_from_input(mel_proba *out, const mel_input *input, const mel_classes *classes,
                                const mel_read_options *read, mel_error *err);

#endif
