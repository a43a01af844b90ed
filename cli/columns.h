/* Columns of files by their names. */
#ifndef MEL_CLI_COLUMNS_H
#define MEL_CLI_COLUMNS_H

#include "classes.h"
#include "command.h"
#include "melicit/model.h"

/* One column of a file: the one that is named (name NULL: none), or the only one. `option` is what names it;
 * *column is lent by the table. */
mel_status cli_read_column(mel_table **table, const char **column, const char *path, const char *name,
                           const char *option, const mel_read_options *read, mel_error *err);
/* The groups of rows, by names that are known. */
mel_status cli_take_groups(mel_labels *out, const mel_table *table, const char *column, size_t n,
                           const char *const *name, mel_error *err);
/* mel_proba_read of a file whose header, if any, names these classes. */
mel_status cli_read_probabilities(mel_proba *out, const char *path, const cli_classes *classes,
                                  const mel_read_options *read, mel_error *err);
/* Puts the columns of probabilities into the order of the classes, of which there are as many: by `given`
 * (--columns, or NULL), by the names in the file's header, else (NPY, CSV without a header) they are in the
 * sorted order of the labels. One column is the class's that it is named after, or the positive one's if it
 * has no name or a general one such as "p"; another name is refused. */
mel_status cli_order_columns(mel_proba *proba, const char *path, const char *given,
                             const cli_classes *classes, mel_error *err);

#endif
