/* The next question about a metric that is linear in known features (family.h).
 *
 * Candidates are symmetric pairs whose cut passes through the posterior's mean along a direction in which the
 * posterior is long; each is shifted until its predicted answer is a coin toss, and judged, on the samples
 * themselves, by how much of the posterior's spread the answer is expected to take away under the assumed
 * noise. */
#ifndef MEL_ACTIVE_PAIR_H
#define MEL_ACTIVE_PAIR_H

#include "elicit/active/family.h"
#include "elicit/active/posterior/sphere.h"

/* --- the best few candidates, and what answers are expected to tell */

typedef struct {
    double information; /* expected, in bits */
    double reduction;   /* expected share of the variance that the answer takes away */
    double margin;      /* mean absolute difference of the pair's utilities over the samples */
} mel_outlook;

/* A pair around c along +-delta; of two classes, where only these differ. Once it is placed these are its
 * ends. */
typedef struct {
    double *c, *delta;
    mel_outlook outlook;
    size_t i, j;
    double score;
} mel_candidate;

enum { MEL_SHORTLIST = 16, MEL_LONG_SHORTLIST = 32 };
typedef struct {
    size_t size, n, most; /* numbers in a point; candidates, at most */
    mel_candidate at[MEL_LONG_SHORTLIST];
} mel_shortlist;

/* An empty one of at most MEL_LONG_SHORTLIST; room: 2 x most x size numbers, lent. */
void mel_shortlist_new(mel_shortlist *list, size_t most, size_t size, double *room);
/* A candidate around c, delta being 0, in place of the worst when the list is full; NULL: not good enough. */
mel_candidate *mel_shortlist_admit(mel_shortlist *list, double score, const double *c);

/* Entropy of an answer with probability p, in bits. */
double mel_entropy(double p);
/* What an answer tells that comes as A with probability likely[i] if sample i is the truth: only
 * `information`. *share: the mean of these. */
mel_outlook mel_outlook_of(size_t n, const double *likely, double *share);

typedef struct {
    size_t dimension, n; /* n: added since the last clear, of which the last few are kept */
    double *row;         /* unit length */
    double alike;        /* cosine of the angle between two cuts from which on they are the same question */
} mel_avoided;
/* For `alike`: what a person would call the same question (as made), and the same up to rounding. */
#define MEL_ALIKE 0.99
#define MEL_IDENTICAL (1.0 - 1e-9)

mel_status mel_avoided_new(mel_avoided *avoided, size_t dimension, mel_error *err);
void mel_avoided_free(mel_avoided *avoided); /* of a zeroed one too */

/* The row of a question: <row, w> > 0 when A is better. */
void mel_avoided_add(mel_avoided *avoided, const double *row);
void mel_avoided_clear(mel_avoided *avoided);
/* Whether a question is about nearly the same cut as one of these. NULL: none. */
bool mel_avoided_has(const mel_avoided *avoided, const double *row);

/* --- symmetric pairs */

/* first, symmetric, n x n: becomes the Cholesky factor of first + penalty slope slope': deltas that solve
 * with it cut through the mean. */
void mel_factor_through_mean(size_t n, double *first, const double *slope);

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
/* The same of somebody of whom nothing is known but that the noise is of this model: they see small
 * differences no better than people usually do. */
const double *mel_chooser_likely_usually(mel_chooser *chooser, const mel_noise_ops *noise, double *share);
/* The question to ask, size numbers each; simple: A and B differ in two coordinates. *outlook is zero, and
 * the points untouched, when no pair tells anything. Pairs to avoid (NULL: none) are left out. */
mel_status mel_chooser_choose(double *a, double *b, mel_outlook *outlook, mel_chooser *chooser,
                              const mel_sampler *sampler, bool simple, const mel_avoided *avoided,
                              mel_rng *rng, mel_error *err);

#endif
