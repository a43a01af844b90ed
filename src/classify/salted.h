/* Mixtures without coins: which rule a row gets is a hash of its probabilities. */
#ifndef MEL_CLASSIFY_SALTED_H
#define MEL_CLASSIFY_SALTED_H

#include "classify/classify.h"
#include "classify/evidence.h"
#include "classify/shared.h"
#include "classify/solve.h"

/* From 0 to below 1, the same for the same salt and probabilities of k classes. */
double mel_salted_uniform(uint32_t salt, const double *probability, size_t k);
/* Gives a mixture, the solution, its salts: limits are missed as little as can be, and rates are close to the
 * mixture's. achieved, by_labels: groups x classes x decisions, what its decisions about the rows then
 * achieve by the evidence and by the labels. */
mel_status mel_classifier_salt(mel_classifier *classifier, double *achieved, double *by_labels,
                               const mel_solution *solution, const mel_goal *goal,
                               const mel_rule_evidence *evidence, const mel_rule_rows *rows, mel_error *err);

#endif
