/* How a problem is put together: rows from files, populations, balls. */
#ifndef MEL_PROBLEM_PROBLEM_H
#define MEL_PROBLEM_PROBLEM_H

#include "base/internal.h"
#include "melicit/problem.h"

/* Fill probability, label, group, weight, the names and the digest. */
mel_status mel_rows_from_table(mel_problem *problem, const mel_problem_options *opt, mel_error *err);
mel_status mel_rows_from_probabilities(mel_problem *problem, const mel_problem_options *opt, mel_error *err);

/* A population, and the abstract ball of `ball`. */
mel_status mel_make_population(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err);
mel_status mel_make_abstract_ball(mel_problem *problem, const mel_problem_options *opt,
                                  const mel_problem_want *want, mel_error *err);
/* The pool of `candidates`. */
mel_status mel_make_candidates(mel_problem *problem, const mel_problem_options *opt,
                               const mel_problem_want *want, mel_error *err);

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

/* Refuses choices that are beyond their words. */
mel_status mel_choices_check(const mel_problem_options *opt, mel_error *err);
/* Fills description and typed. */
mel_status mel_problem_describe(mel_problem *problem, const mel_problem_options *opt, mel_error *err);

#endif
