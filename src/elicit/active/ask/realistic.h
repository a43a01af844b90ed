/* Pairs that people can take seriously, of any number of classes and groups: two plug-in classifiers of what
 * is achievable, in whole numbers.
 *
 * A classifier is the best one for a metric that the answers allow, with a rule for each group; the other is
 * that of a second such metric, or of the same one with one or two of its weights changed, or it differs only
 * in where one class ends and another begins. Both are rounded to whole numbers, and from there on only these
 * exist. Of the pairs that tell about as much as the best, the one that differs in the fewest numbers is
 * asked. */
#ifndef MEL_ACTIVE_REALISTIC_H
#define MEL_ACTIVE_REALISTIC_H

#include "elicit/active/engine.h"

typedef struct mel_realistic mel_realistic;

/* What can be asked about f on this space: of the options, out of how many people (0: as many as suit its
 * rarest class), and whether for the weights or for the best rule; for samplers of so many samples. f and the
 * space are borrowed. */
mel_status mel_realistic_new(mel_realistic **out, const mel_basis *f, const mel_space *space, size_t samples,
                             const mel_session_options *opt, mel_error *err);
void mel_realistic_free(mel_realistic *realistic);
/* Numbers are out of so many. */
uint32_t mel_realistic_people(const mel_realistic *realistic);

/* As mel_chooser_choose; pairs of the history are not asked again. The chooser has looked at the sampler. */
mel_status mel_realistic_choose(double *a, double *b, mel_outlook *outlook, mel_realistic *realistic,
                                mel_chooser *chooser, const mel_sampler *sampler, const mel_history *history,
                                const mel_avoided *avoided, mel_rng *rng, mel_error *err);

/* A pair at random, for a metric drawn from the prior, of classifiers that keep half of what the best one
 * adds to the best trivial one, if any do; the first is the best one. */
mel_status mel_realistic_random(double *a, double *b, mel_realistic *realistic, mel_rng *rng, mel_error *err);

#endif
