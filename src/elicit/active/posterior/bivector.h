/* The posterior of a linear-fractional metric (bivector.h), as samples of settled theta.
 *
 * Prior: s uniform on the part of the sphere where the signs hold, the direction of t uniform, its length
 * nearly so. With a prior metric: density exp(strength cos(angle to its bivector)) on the unit bivectors of
 * planes, whose uniform measure has the density (1 + |t|^2)^(-(n + 1)/2) in (s, t). Chains run over (s, t) in
 * R^2n, where the length of s and the part of t along s, which preferences do not see, are drawn anew in
 * every sweep. Along a line of that space every answer's margin is a quadratic of stored products; a step is
 * a slice-sampling one along an axis of the samples' covariance. */
#ifndef MEL_ACTIVE_POSTERIOR_BIVECTOR_H
#define MEL_ACTIVE_POSTERIOR_BIVECTOR_H

#include "elicit/active/bivector.h"
#include "elicit/active/posterior/answers.h"
#include "elicit/active/posterior/sphere.h"

typedef struct mel_bivector_sampler mel_bivector_sampler;

typedef struct {
    const mel_region *region; /* lent */
    mel_assumption assume;
    uint64_t seed;
    const double *prior; /* 2n: settled theta of a metric that is thought likely; NULL: none */
    double prior_strength;
} mel_bivector_options;
mel_status mel_bivector_sampler_new(mel_bivector_sampler **out, const mel_bivector_options *opt,
                                    mel_error *err);
void mel_bivector_sampler_free(mel_bivector_sampler *sampler);

/* The answer to "A or B", both inside the region; gain as in mel_bivector_gain. On failure nothing changes.
 */
mel_status mel_bivector_sampler_tell(mel_bivector_sampler *sampler, const double *a, const double *b,
                                     double gain, mel_answer answer, mel_error *err);
/* Gives answer i another gain, heeded from the next tell on. */
void mel_bivector_sampler_set_gain(mel_bivector_sampler *sampler, size_t answer, double gain);

/* w: count x 2n, settled theta; dimension: 2n; mean: settled; resultant: of s; lent until the next tell. */
const mel_samples *mel_bivector_sampler_samples(const mel_bivector_sampler *sampler);
/* P(A) of a pair if each sample were the truth, count numbers: likely[i] is its margin, in units of
 * the metric's value, and becomes the probability; gain as in mel_bivector_sampler_tell. */
void mel_bivector_sampler_predict(const mel_bivector_sampler *sampler, const double *a, const double *b,
                                  double gain, double *likely);

#endif
