/* What an engine that samples was told so far, pair by pair, and what follows from that: which question comes
 * back, which random numbers the next one uses, and how many remain. */
#ifndef MEL_ACTIVE_HISTORY_H
#define MEL_ACTIVE_HISTORY_H

#include "elicit/assumption.h"
#include "elicit/engine.h"

/* A question that is expected to tell less, in bits, is not worth asking. */
#define MEL_LEAST_INFORMATION 0.005
/* Band noise: when pairs differ by less than this share of the band, answers tell next to nothing. */
#define MEL_LEAST_OF_BAND 0.35
/* Band noise: when it decided so many of the last MEL_LATELY answers, further ones tell next to nothing. */
enum { MEL_LATELY = 8, MEL_MOST_IN_BAND = 6 };

typedef struct {
    size_t size;         /* numbers in a point */
    size_t n, n_skipped; /* questions answered, and put aside with "can't say" */
    size_t capacity;
    bool *again;    /* n: a repetition, repeated already, or not to be repeated */
    double *points; /* n x 2 x size: A, then B */
    bool repeated;  /* the last one was a repetition */
    /* Log of how much likelier the answers A and B were, each by what was believed before it, than coin
     * tosses. Questions that tell most are those whose answer is a coin toss by what is believed: only
     * others, repetitions above all, can speak for or against somebody who answers at random. */
    double evidence;
} mel_history;

void mel_history_free(mel_history *history); /* of a zeroed one too */
/* Room for one more. */
mel_status mel_history_reserve(mel_history *history, mel_error *err);
/* Room must be reserved. A question that this one repeats is not repeated again; once: nor is this one. */
void mel_history_add(mel_history *history, const mel_pair *pair, bool once);
/* Put aside with "can't say": a repetition does not come again, either. */
void mel_history_skip(mel_history *history, const mel_pair *pair);

/* An own stream per question: what is asked does not depend on what was computed before. */
void mel_history_stream(mel_rng *rng, const mel_history *history, uint64_t seed);
/* Counts an answer A or B; foreseen: the probability with which A was believed to come. */
void mel_history_score(mel_history *history, mel_answer answer, double foreseen);
/* For summaries: NaN where flips are not what is assumed. */
double mel_reported_evidence(double evidence, const mel_session_options *opt);

/* Probability that an engine's next answer is A. */
typedef double (*mel_prediction)(mel_engine *engine, const double *a, const double *b);
/* When it is time, an earlier question comes back, once, with its sides swapped: the one whose answer is now
 * believed to be the surest, for that is the one that coin tosses get wrong. False: not now. */
bool mel_history_repeat(double *a, double *b, const mel_history *history, const mel_session_options *opt,
                        mel_prediction predict, mel_engine *engine);
/* Which side is A is a coin toss. */
void mel_toss_sides(size_t size, double *a, double *b, mel_rng *rng);

/* Bits that an answer carries at most; error_rate: share of wrong answers, NaN when none are expected. */
double mel_bits_per_answer(const mel_noise_ops *noise, double error_rate);
/* Halving the radius takes a bit for each of so many numbers. How many bits an answer told so far counts as
 * much as there have been answers. */
uint32_t mel_history_expected(const mel_history *history, double numbers, double first_radius, double radius,
                              double tolerance, double bits_per_answer);

#endif
