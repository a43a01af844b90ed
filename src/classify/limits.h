/* Limits as terms of a program. */
#ifndef MEL_CLASSIFY_LIMITS_H
#define MEL_CLASSIFY_LIMITS_H

#include "classify/program.h"
#include "melicit/classify.h"

/* Adds the terms of limit `number`. */
mel_status mel_limit_add(mel_program *program, const mel_limit *limit, size_t number, const mel_steps *steps,
                         mel_error *err);
/* What a rule achieves: shares (or counts) x[group][class][decision]; n_groups is at least 1. */
typedef struct {
    size_t n_groups, n_classes, n_decisions;
    const double *x;
} mel_shares;
/* Of what the limit is about. */
double mel_limit_achieved(const mel_limit *limit, const mel_shares *of);
/* Of how many numbers that is the largest: differences between any two groups, either way round; 0: of none.
 */
size_t mel_limit_parts(const mel_limit *limit, const mel_shares *of);
void mel_limit_part_values(double *out, const mel_limit *limit, const mel_shares *of);
/* Whether a limit on differences is about R_ij, with i = k about the share of decisions j: what the measure
 * of that name compares. */
bool mel_limit_compares(const mel_limit *limit, size_t k, size_t i, size_t j);
/* What loosening it by 1 gains, by the prices of the terms. */
double mel_limit_price(size_t number, const mel_program *program, const double *price);

#endif
