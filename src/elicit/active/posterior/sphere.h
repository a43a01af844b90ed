/* The posterior of a coefficient vector, as samples: unit vectors w of R^D, uniform on the part of the
 * sphere that a polyhedral cone leaves, times the likelihood of the answers.
 *
 * Every family that is linear in known features uses it: an answer to "A or B" is a row x with A better
 * when <x, w> > 0. After each answer the samples that fit it start a few chains (chain.h) in fresh
 * coordinates; how well these mix is measured, and a badly mixed run is done again. Same
 * options and answers, same samples: one thread, own random stream per answer. */
#ifndef MEL_ACTIVE_SPHERE_H
#define MEL_ACTIVE_SPHERE_H

#include "elicit/assumption.h"

/* Intervals are not to be trusted above this scale reduction. */
#define MEL_POOR_MIXING 1.1

typedef struct mel_sampler mel_sampler;

typedef struct {
    size_t dimension; /* D >= 2 */
    /* 0: 30 D, with flips 80 D up to 2048, at least 400 (band, and flips where D = 2: 1024); rounded up to
     * a multiple of 128, at least 256. */
    size_t samples;
    size_t n_cone;
    const double *cone;  /* n_cone x D: <g_j, w> >= 0 */
    const double *start; /* D numbers with <g_j, start> > 0 for all j; not read without a cone */
    mel_assumption assume;
    uint64_t seed;
    /* Density exp(prior_strength <w, prior>), times the cone: von Mises and Fisher's. */
    const double *prior; /* D numbers of unit length; NULL: uniform */
    double prior_strength;
    bool reports_mean; /* wherever answers may be wrong, too: see mel_samples' centre */
} mel_sampler_options;

mel_status mel_sampler_new(mel_sampler **out, const mel_sampler_options *opt, mel_error *err);
void mel_sampler_free(mel_sampler *sampler);

/* The answer to a question with row x. gain: band, logistic noise and "about the same" see the margin
 * gain * <x, w>, w of unit length, in units of the metric's value. On failure nothing has changed. */
mel_status mel_sampler_tell(mel_sampler *sampler, const double *x, double gain, mel_answer answer,
                            mel_error *err);
/* Gives answer i (0-based, in the order told) another gain, heeded from the next tell on. */
void mel_sampler_set_gain(mel_sampler *sampler, size_t answer, double gain);

typedef struct {
    size_t count, dimension;
    const double *w;    /* count x dimension, unit length; lent until the next tell */
    const double *mean; /* normalised mean; zero when the samples balance out */
    /* What to report, of unit length: the mean, or where answers may be wrong the coordinates' medians. A few
     * samples that blame other answers, far away, would pull the mean along. But a classifier that is chosen
     * by the mean loses least, in expectation over all samples. */
    const double *centre;
    double resultant;         /* length of the mean of the unit vectors: near 1 when they agree */
    const double *covariance; /* dimension x dimension, of the unit vectors; lent until the next tell */
    /* Flips: how much each sample counts when the next question is chosen, count numbers that sum to 1; NULL:
     * all alike. More than its share counts a sample that blames more answers than others do: a more careful
     * reader would not have dismissed it yet (MEL_CAREFUL_RATE). */
    const double *stake;
    const mel_noise_ops *noise; /* assumed of the answers now: flips once they contradicted each other */
    double error_rate;          /* flip: posterior mean of the share of wrong answers; NaN otherwise */
    /* Band: answers so close at the mean that the noise decided them; 0 otherwise. Once most new ones are,
     * the noise, not the number of answers, limits the accuracy, and if whoever answers uses the band
     * against us, intervals may miss the truth by up to what the band allows. */
    size_t in_band;
    size_t lately_in_band; /* of the last MEL_LATELY answers */
    bool contradicted;     /* answers assumed right contradicted each other: flips are learned instead */
    /* Mixing: worst split-chain potential scale reduction over the coordinates (1: mixed), and how many
     * independent samples these are worth. */
    double scale_reduction, effective;
} mel_samples;
const mel_samples *mel_sampler_samples(const mel_sampler *sampler);

/* The level at which to take the sample quantile for an upper bound that holds with probability q (> 1/2): a
 * little above q, as the samples are worth only so many independent ones, and farther under band noise, for
 * whoever uses the band against us. 1 - it for lower bounds. */
double mel_samples_level(const mel_samples *samples, double q);

/* The level at which to take the distance from the mean in all coefficients together, for a radius: 95% of
 * the posterior is within it. With flips 97.5%: a second mode, which blames other answers, lies on one side,
 * and with less of it outside no 95% interval of any of these coefficients leaves the radius. */
double mel_samples_radius_level(const mel_samples *samples);

/* P(the answer is A) if a sample were the truth: margin[i] of a question (gain included) for sample i *
 * stride, i < n, becomes this probability; size: the length of its row, times the gain. */
void mel_sampler_predict(const mel_sampler *sampler, size_t n, size_t stride, double size, double *margin);
/* P(the answer is A) by all that is believed, of a question with row x; gain as in mel_sampler_tell. */
double mel_sampler_probability(const mel_sampler *sampler, const double *x, double gain);

#endif
