/* How a space is put together: rows from files, populations, balls. Internal to cli/space_*.c. */
#ifndef MEL_CLI_SPACE_PARTS_H
#define MEL_CLI_SPACE_PARTS_H

#include "space_args.h"

/* The words of the options, in the order of CLI_KIND_..., mel_evidence, mel_radius_method; each ends with
 * NULL. */
extern const char *const cli_kinds[], *const cli_evidences[], *const cli_radius_methods[];

/* Fill probability, label, group, weight, the names and the digest. */
mel_status cli_rows_from_table(cli_space *space, const cli_space_args *args, const cli_run *run,
                               mel_error *err);
mel_status cli_rows_from_probabilities(cli_space *space, const cli_space_args *args, const cli_run *run,
                                       mel_error *err);

/* A population, and the ball of --ball. */
mel_status cli_make_population(cli_space *space, const cli_space_args *args, const cli_want *want,
                               const cli_run *run, mel_error *err);
mel_status cli_make_abstract_ball(cli_space *space, const cli_space_args *args, const cli_want *want,
                                  const cli_run *run, mel_error *err);

/* The classes of rows, which become the space's. */
void cli_take_classes(cli_space *space, cli_classes *classes);
/* n classes without labels, called `name` (NULL: "0", "1", ...) unless the options say otherwise; groups
 * without names are "1", "2", .... */
mel_status cli_name_classes(cli_space *space, const cli_space_args *args, size_t n, const char *const *name,
                            mel_error *err);
void cli_name_groups(cli_space *space, size_t n, char *const *name);
/* Will the planar face of two classes do? */
bool cli_is_planar(const cli_space_args *args, const cli_want *want, size_t n_classes);
/* Kind, coordinates and threads of a space of so many classes and groups. */
mel_status cli_space_settings(mel_space_options *out, const cli_space_args *args, const cli_want *want,
                              size_t n_classes, size_t n_groups, const cli_run *run, mel_error *err);

#endif
