/* Which cuts to repeat, for families whose slopes are affine in the middle (`plans`).
 *
 * Such questions cannot cut along single coefficients: every cut goes through the mean and reads slopes at
 * one middle. Whatever cuts are repeated, the posterior takes the shape of a parallelepiped with these as its
 * sides, and n = D - 1 of them make one (unless the mean is that of a metric without curvature). Let X have
 * them as rows, scaled to |<x, w>| <= 1, and the mean as its last; then the columns of A = 1/X but the last
 * are half the edges, the deviations of the coefficients the lengths of its rows over sqrt(3), and the volume
 * 2^n |det A|. Every answer halves the volume. So the best cuts are those of least
 *
 *     n log2 (mean of the 8th powers of these lengths)^(1/8) + log2 |det X|,
 *
 * their loss in bits: nothing when coefficients could be cut one by one. For quadratic metrics of 3 classes,
 * in a ball of radius 0.2, it is 20 to 23. Questions that each take away most for themselves lose some 8 bits
 * more, half of these to a posterior with corners. */
#ifndef MEL_ACTIVE_CUT_PLAN_H
#define MEL_ACTIVE_CUT_PLAN_H

#include "elicit/active/family.h"

typedef struct mel_cut_plan mel_cut_plan;

/* f is lent. */
mel_status mel_cut_plan_new(mel_cut_plan **out, const mel_basis *f, mel_error *err);
void mel_cut_plan_free(mel_cut_plan *plan);

/* Fits the cuts to the mean (D numbers, lent for the call), by some steps from where they are, from random
 * ones at first; their loss, infinite when there is no fit. Once that gains little they are settled, and take
 * few steps, to keep up with the mean. */
double mel_cut_plan_fit(mel_cut_plan *plan, const double *mean);
bool mel_cut_plan_settled(const mel_cut_plan *plan);
/* The loss of a posterior with this covariance (D x D) and mean, to compare with. */
double mel_cut_plan_loss_of(mel_cut_plan *plan, const double *covariance, const double *mean);

/* Cuts, and the middle and the delta of one, as fitted last. */
size_t mel_cut_plan_count(const mel_cut_plan *plan);
void mel_cut_plan_get(const mel_cut_plan *plan, size_t i, double *c, double *delta);

#endif
