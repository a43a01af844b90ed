/* Loops over a block of rows. Sizes and pointers have been checked; nothing is allocated. */
#ifndef MEL_MODEL_KERNEL_H
#define MEL_MODEL_KERNEL_H

#include "model/objective.h"

/* Dense rows: above, one symmetric product per class pair is faster. */
enum { MEL_PAIRS_MAX_FEATURES = 64 };

/* score[i][c] of rows first .. first + n: coefficients times features plus intercept. */
void mel_block_scores(const mel_objective *obj, size_t first, size_t n, double *score);
/* Turns scores into residuals weight * (p - [y = c]) in place, returns the sum of losses, and fills pair
 * (unless NULL) with weight * p_c * p_c'. Padding becomes zero. */
double mel_block_residuals(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                           bool with_pairs);
/* gradient += features' * residuals, intercepts last. */
void mel_block_gradient(const mel_objective *obj, size_t first, size_t n, const double *residual,
                        double *gradient);
/* curvature += the products that obj->curvature says. */
void mel_block_curvature(const mel_objective *obj, size_t first, size_t n, const mel_scratch *scratch,
                         double *curvature);

#endif
