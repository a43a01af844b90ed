/* The next question when A and B must come from a given pool of classifiers.
 *
 * Every pair of the pool is judged by how much of the posterior's variance its answer would take away if the
 * posterior were normal, from its mean and covariance alone; the best few hundred are then judged on the
 * samples themselves, under the assumed noise. */
#ifndef MEL_ACTIVE_CANDIDATES_H
#define MEL_ACTIVE_CANDIDATES_H

#include "elicit/active/ask/pair.h"
#include "elicit/active/posterior/sphere.h"

/* Samples that a sampler should have for it: which of thousands of pairs is best shows only so well in fewer.
 */
#define MEL_CANDIDATE_SAMPLES 1536

typedef struct mel_candidates mel_candidates;

/* point: count x dimension, the features of each classifier, copied; A is better than B when <A - B, w> > 0.
 * For samplers of that dimension and so many samples. */
mel_status mel_candidates_new(mel_candidates **out, size_t count, size_t dimension, const double *point,
                              size_t samples, mel_error *err);
void mel_candidates_free(mel_candidates *chooser);

/* Answers see gain * <A - B, w>, w of unit length (1 unless set); pairs to avoid are lent, NULL: none. */
void mel_candidates_view(mel_candidates *chooser, double gain, const mel_avoided *avoided);
/* A pair that is not to be chosen any more; and how many there are that may be. MEL_ENOMEM when there is no
 * room to remember it. */
mel_status mel_candidates_strike(mel_candidates *chooser, size_t a, size_t b, mel_error *err);
size_t mel_candidates_left(const mel_candidates *chooser);

/* The pair to ask about, *a < *b, indices of the pool. *outlook is zero, and the indices untouched, when no
 * pair tells anything. Margins are <A - B, w>, w of unit length: answers are to be told with gain 1, or with
 * that of the view. */
void mel_candidates_choose(size_t *a, size_t *b, mel_outlook *outlook, mel_candidates *chooser,
                           const mel_sampler *sampler);
/* What the answer to one pair is expected to tell; zero for equal points. */
mel_outlook mel_candidates_judge(mel_candidates *chooser, const mel_sampler *sampler, size_t a, size_t b);

#endif
