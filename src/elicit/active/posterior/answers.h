/* What was answered, as the sampler reads it: one row per answer and what is assumed of its errors.
 *
 * A row x says how the preference reads from a coefficient vector w: A is better when <x, w> > 0. Rows are
 * kept at unit length and turned so that <x, w> > 0 agrees with the answer. Noise models that depend
 * on how different A and B are see the margin gain * <x, w> / |w|, in units of the metric's value. */
#ifndef MEL_ACTIVE_ANSWERS_H
#define MEL_ACTIVE_ANSWERS_H

#include "base/internal.h"
#include "melicit/elicit.h"

/* Prior of a learned flip rate: Beta(1, 9), mean 0.1. With 14 or 19 instead of 9, respondents who never err
 * are asked less (pools of 200 in 6 dimensions: median error 0.0074 or 0.0062 after 40 questions instead of
 * 0.0084), but 95% intervals hold in fewer than 92 of 100 cases when one answer in ten is wrong. */
#define MEL_FLIP_WRONG 1.0
#define MEL_FLIP_RIGHT 9.0
/* Where answers may be flipped, questions are chosen to halve what would be believed if at least this share
 * of them were. Questions that halve the belief itself soon crowd where one early wrong answer points, and it
 * takes long to find back: on a face with flip:0.1, learned, the 95th percentile of the error after 13
 * questions falls from 0.110 to 0.059 (the same 1,000 metrics); perfect respondents are asked one or two
 * questions more. 0.2 and 0.3 do about as well. */
#define MEL_CAREFUL_RATE 0.25
/* Band: of the probability outside of a 95% interval, what is left outside. The posterior takes answers
 * inside of the band for coin tosses; against somebody who always answers wrong there 95% intervals would
 * hold in 91 to 95 of 100 cases (q = 6, band 0.001, 100 metrics, 512 samples), with this in 94 to 96 (200
 * metrics, 1,024 samples). */
#define MEL_BAND_OUTSIDE 0.75
/* Prior of a learned logistic scale: log-normal with this median and standard deviation of the logarithm,
 * that is between 1.6 and 570 in 95 of 100 cases: from hardly telling apart anything to telling 0.01 apart.
 */
#define MEL_SCALE_MEDIAN 30.0
#define MEL_SCALE_SPREAD 1.5

/* Share of answers that a logistic respondent gives without looking. */
#define MEL_LAPSE 0.01

/* "About the same" is answered with probability exp(-(margin/width)^2 / 2), the width one of these, equally
 * likely. As long as nobody answered so, nothing is assumed about it. */
enum { MEL_WIDTHS = 6 };
extern const double mel_same_width[MEL_WIDTHS];

typedef struct {
    size_t dimension;
    mel_assumption assume; /* size 0: learned (flip, logistic) */
    size_t count, n_same, capacity;
    double *row;    /* count x dimension */
    double *length; /* count: of the rows as given */
    double *gain;   /* count: of the rows at unit length */
    bool *same;     /* count */
} mel_answers;

/* mel_grow for n doubles. */
bool mel_grow_doubles(double **block, size_t n);

void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume);
void mel_answers_free(mel_answers *answers);
mel_status mel_answers_reserve(mel_answers *answers, size_t count, mel_error *err);
/* Room must be reserved. x must not be zero. */
void mel_answers_add(mel_answers *answers, const double *x, double gain, mel_answer answer);

/* What is not known of the answers' errors, as one draw of the posterior. */
typedef struct {
    size_t wrong; /* flip: answers that w contradicts */
    double scale; /* logistic */
    size_t width; /* of "about the same", an index */
} mel_noise_state;

/* Log-probability of k of n answers being wrong (in one order), up to a constant that depends on n. */
double mel_flip_log_weight(const mel_assumption *assume, size_t wrong, size_t count);
/* Posterior mean of the flip rate given that `wrong` of `count` answers are wrong. */
double mel_flip_rate(const mel_assumption *assume, size_t wrong, size_t count);
/* P(answer | margin) of a choice whose margin is positive when it is right; assume is not flip. */
double mel_choice_probability(const mel_assumption *assume, double scale, double margin);

#endif
