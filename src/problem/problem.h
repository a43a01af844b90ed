/* How a problem is put together: names, the files that options name, rows, what has no rows. */
#ifndef MEL_PROBLEM_PROBLEM_H
#define MEL_PROBLEM_PROBLEM_H

#include "data/shared.h"
#include "problem/shared.h"

/* --- classes.c ---------------------------------------------------------------------------------- */

typedef size_t mel_place_finder(const char *name, size_t n, const char *const *names);
/* mel_name_places by mel_column_place. */
bool mel_column_places(size_t *place, size_t n, const char *const *name, const char *const *names);
/* Classes that no file has labels for: they keep their order, and `name` (NULL: "0", "1", ...) stand for
 * labels. */
mel_status mel_classes_invent(mel_classes *out, size_t n, const char *const *name, const mel_naming *naming,
                              const char *what, mel_error *err);
/* Whether the naming renames or orders: `positive` alone does neither. */
bool mel_naming_given(const mel_naming *naming);

/* --- inputs.c ----------------------------------------------------------------------------------- */

/* The table behind an option: a file, an upload or a frame. `key` says what it is for: "data" (folders are
 * searched for such alone), "probs", "labels", "groups", ...; it is what uploads and frames are called. */
mel_status mel_input_table(mel_table **out, const char *key, const char *given,
                           const mel_resources *resources, const mel_read_options *read, mel_error *err);
/* The same of a file whose header, if any, has some of these n names. */
mel_status mel_input_table_named(mel_table **out, const char *key, const char *given,
                                 const mel_resources *resources, size_t n, const char *const *name,
                                 const mel_read_options *read, mel_error *err);
/* What a file is called in refusals and descriptions: as given, uploads and frames by their key. NULL stays.
 */
enum { MEL_UPLOAD_NAME = 16 };
const char *mel_input_name(char memory[MEL_UPLOAD_NAME], const char *key, const char *given,
                           const mel_resources *resources);

/* --- rows.c, closed_form.c, candidates.c -------------------------------------------------------- */

/* Fill probability, label, group, weight and the names. */
/* training: those that train as well, after the others. */
mel_status mel_rows_from_table(mel_problem *problem, const mel_problem_options *opt, bool training,
                               mel_error *err);
mel_status mel_rows_from_probabilities(mel_problem *problem, const mel_problem_options *opt, mel_error *err);
/* A population, the abstract ball of `ball`, the pool of `candidates`. */
mel_status mel_make_population(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err);
mel_status mel_make_abstract_ball(mel_problem *problem, const mel_problem_options *opt,
                                  const mel_problem_want *want, mel_error *err);
mel_status mel_make_candidates(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err);

/* --- make.c ------------------------------------------------------------------------------------- */

/* Whether so many classes and groups (0: none) are within what the resources allow. */
mel_status mel_check_classes(const mel_resources *resources, size_t classes, size_t groups, mel_error *err);
/* The classes of rows, which become the problem's. */
void mel_take_classes(mel_problem *problem, mel_classes *classes);
/* n classes without labels, called `name` (NULL: "0", "1", ...) unless the options say otherwise; groups
 * without names are "1", "2", .... */
mel_status mel_name_classes(mel_problem *problem, const mel_problem_options *opt, size_t n,
                            const char *const *name, mel_error *err);
mel_status mel_name_groups(mel_problem *problem, size_t n, char *const *name, mel_error *err);
mel_status mel_name_group_column(mel_problem *problem, const char *column, mel_error *err);
/* Will the planar face of two classes do? */
bool mel_is_planar(const mel_problem_options *opt, const mel_problem_want *want, size_t n_classes);
/* Kind, coordinates and threads of a space of so many classes and groups. */
mel_status mel_space_settings(mel_space_options *out, const mel_problem_options *opt,
                              const mel_problem_want *want, size_t n_classes, size_t n_groups,
                              mel_error *err);

/* --- describe.c --------------------------------------------------------------------------------- */

/* Refuses choices that are beyond their words. */
mel_status mel_choices_check(const mel_problem_options *opt, mel_error *err);
/* Fills description and typed. */
mel_status mel_problem_describe(mel_problem *problem, const mel_problem_options *opt, mel_error *err);

#endif
