/* Which cuts to repeat, for families whose slopes are affine in the middle (`plans`).
 *
 * Such questions cannot cut along single coefficients: every cut goes through the mean and reads slopes at
 * one middle. Whatever cuts are repeated, the posterior takes the shape of a parallelepiped with these as its
 * sides, and n = D - 1 of them make one. Let X have them as rows, scaled to |<x, w>| <= 1, and the mean as
 * its last; then the columns of A = 1/X but the last are the edges, the variances of the coefficients a third
 * of the squared lengths of its rows, and the volume 2^n |det A|. Every answer halves the volume. So the plan
 * is the X of least
 *
 *     n log2 (mean of the 8th powers of these lengths)^(1/8) + log2 |det X| - n - n/2 log2 3,
 *
 * its loss in bits: what questions of this kind cost more than where all are possible, but for a constant.
 * Questions that each take away most for themselves lose some 8 bits more for quadratic metrics of 3 classes,
 * half of these to a posterior with corners. */
#ifndef MEL_ACTIVE_PLAN_H
#define MEL_ACTIVE_PLAN_H

#include "elicit/active/family.h"

typedef struct mel_plan mel_plan;

/* f is lent. */
mel_status mel_plan_new(mel_plan **out, const mel_basis *f, mel_error *err);
void mel_plan_free(mel_plan *plan);

/* Fits the cuts to the mean (D numbers, lent for the call), from where they are; random ones at first. A call
 * takes a few steps: many make a plan that is worth following, which is what is told; further ones keep it up
 * with the mean. */
bool mel_plan_fit(mel_plan *plan, const double *mean);

/* Cuts, the middle and the delta of one, and the loss of all, as fitted last. */
size_t mel_plan_count(const mel_plan *plan);
void mel_plan_cut(const mel_plan *plan, size_t i, double *c, double *delta);
double mel_plan_loss(const mel_plan *plan);

#endif
