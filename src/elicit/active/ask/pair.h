/* The next question about a metric that is linear in known features (family.h).
 *
 * Candidates are symmetric pairs whose cut passes through the posterior's mean along a direction in which the
 * posterior is long; each is shifted until its predicted answer is a coin toss, and judged, on the samples
 * themselves, by how much of the posterior's spread the answer is expected to take away under the assumed
 * noise. */
#ifndef MEL_ACTIVE_PAIR_H
#define MEL_ACTIVE_PAIR_H

#include "elicit/active/ask/shortlist.h"
#include "elicit/active/family.h"
#include "elicit/active/posterior/sphere.h"

typedef struct mel_chooser mel_chooser;

/* For samplers of so many samples. f is lent. */
mel_status mel_chooser_new(mel_chooser **out, mel_basis *f, size_t samples, mel_error *err);
void mel_chooser_free(mel_chooser *chooser);

/* Reads the samples as they are now: to be called after every tell, before anything below. */
void mel_chooser_look(mel_chooser *chooser, const mel_sampler *sampler);
/* The samples at the norm at which coefficients are judged (count x D), and their mean at that norm. */
const double *mel_chooser_samples(const mel_chooser *chooser);
const double *mel_chooser_mean(const mel_chooser *chooser);
/* What turns <x, w>, w of unit length, into units of the reported metric's value, at the mean. */
double mel_chooser_gain(const mel_chooser *chooser, const double *a, const double *b);
/* 95% of the posterior (with flips: 97.5%) is within this of the mean, in every number that is judged, and
 * the 95% interval of none, widened to contain the mean where it does not, is wider than twice this. */
double mel_chooser_radius(const mel_chooser *chooser);

/* What the answer to a given pair is expected to tell. */
mel_outlook mel_chooser_judge(mel_chooser *chooser, const mel_sampler *sampler, const double *a,
                              const double *b);
/* P(A) of the pair judged last for each sample, and its mean; lent until the next one is. */
const double *mel_chooser_likely(const mel_chooser *chooser, double *share);
/* The same of somebody of whom nothing is known but that the noise is of this model, which draws ways: they
 * see small differences no better than people usually do. */
const double *mel_chooser_likely_usually(mel_chooser *chooser, const mel_noise_ops *noise, double *share);
/* The question to ask, size numbers each; simple: A and B differ in two coordinates. *outlook is zero, and
 * the points untouched, when no pair tells anything. Pairs to avoid (NULL: none) are left out. */
mel_status mel_chooser_choose(double *a, double *b, mel_outlook *outlook, mel_chooser *chooser,
                              const mel_sampler *sampler, bool simple, const mel_avoided *avoided,
                              mel_rng *rng, mel_error *err);

#endif
