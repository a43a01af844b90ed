/* What is assumed about wrong answers, for the files of this room. */
#ifndef MEL_ELICIT_ASSUMPTION_H
#define MEL_ELICIT_ASSUMPTION_H

#include "melicit/elicit.h"
#include "oracle/noise/noise.h"

/* Band noise: when pairs differ by less than this share of the band, answers tell next to nothing. */
#define MEL_LEAST_OF_BAND 0.35
/* Band noise: when it decided so many of the last MEL_LATELY answers, further ones tell next to nothing. */
enum { MEL_LATELY = 8, MEL_MOST_IN_BAND = 6 };

/* Flips at a rate that is learned: what people are taken to do, and what is left when answers that were
 * assumed right contradict each other. */
mel_assumption mel_assumed_flips(void);
/* A band without width is no noise. */
mel_assumption mel_assumption_settled(mel_assumption assumption);
bool mel_assumption_is_none(const mel_assumption *assumption);
/* Whether a model of this kind may be assumed with this size. */
bool mel_assumption_is_valid(const mel_assumption *assumption);
/* The model; the assumption is valid. */
static inline const mel_noise_ops *mel_assumed(const mel_assumption *assumption)
{
    return mel_noise_of(assumption->kind);
}
/* What to assume of a simulated respondent who errs like this; learn: its size is not known (a majority of
 * several votes errs less often). MEL_EINVAL when such answers say nothing. */
mel_status mel_assumption_of(mel_assumption *out, const mel_noise *noise, bool learn, mel_error *err);
/* How many answers it takes to believe something that one question shows: two when any may be wrong. */
size_t mel_answers_needed(const mel_assumption *assumption);

#endif
