/* From a solution to a classifier. */
#ifndef MEL_CLASSIFY_BUILD_H
#define MEL_CLASSIFY_BUILD_H

#include "classify/classify.h"
#include "classify/solve.h"

/* The mixtures of all blocks as one. */
mel_status mel_build_classifier(mel_classifier **out, const mel_solution *solution, const mel_goal *goal,
                                const mel_vertices *vertices, mel_error *err);
/* What the classifier achieves, shares of groups, classes and decisions, instead of what it held of that. */
mel_status mel_build_statistics(mel_classifier *c, const double *achieved, const mel_goal *goal,
                                const mel_steps *steps, mel_error *err);
/* One rule where the form asks for it; *optimum: the value before. */
mel_status mel_rule_settle(mel_solution *solution, double *optimum, const mel_goal *goal,
                           mel_vertices *vertices, mel_rule_form form, const mel_solve_options *opt,
                           mel_error *err);
#endif
