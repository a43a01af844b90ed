/* What was answered, as the sampler reads it: one row per answer and what is assumed of its errors.
 *
 * A row x says how the preference reads from a coefficient vector w: A is better when <x, w> > 0. Rows are
 * kept at unit length and turned so that <x, w> > 0 agrees with the answer. Noise models that depend
 * on how different A and B are see the margin gain * <x, w> / |w|, in units of the metric's value. */
#ifndef MEL_ACTIVE_ANSWERS_H
#define MEL_ACTIVE_ANSWERS_H

#include "elicit/assumption.h"

/* Where answers may be flipped, questions are chosen to halve what would be believed if at least this share
 * of them were. Questions that halve the belief itself soon crowd where one early wrong answer points, and it
 * takes long to find back. */
#define MEL_CAREFUL_RATE 0.25
/* "About the same" is answered with probability exp(-(margin/width)^2 / 2), the width one of these, equally
 * likely. As long as nobody answered so, nothing is assumed about it. */
enum { MEL_WIDTHS = 6 };
extern const double mel_same_width[MEL_WIDTHS];

typedef struct {
    size_t dimension;
    mel_assumption assume;      /* size 0: learned, by models that do */
    const mel_noise_ops *noise; /* its model */
    size_t count, n_same, capacity;
    double *row;    /* count x dimension */
    double *length; /* count: of the rows as given */
    double *gain;   /* count: of the rows at unit length */
    bool *same;     /* count */
} mel_answers;

/* Another assumption from now on. */
void mel_answers_assume(mel_answers *answers, mel_assumption assume);
void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume);
void mel_answers_free(mel_answers *answers);
mel_status mel_answers_reserve(mel_answers *answers, size_t count, mel_error *err);
/* Room must be reserved. The row is for the caller to fill. */
double *mel_answers_put(mel_answers *answers, double length, double gain, mel_answer answer);
/* The same with the row of x, which must not be zero. */
void mel_answers_add(mel_answers *answers, const double *x, double gain, mel_answer answer);
static inline size_t mel_answers_choices(const mel_answers *answers) /* A or B */
{
    return answers->count - answers->n_same;
}

/* What is not known of the answers' errors, as one draw of the posterior. */
typedef struct {
    size_t wrong; /* errors alike: answers that w contradicts */
    double scale; /* errors by margin: the size assumed, or drawn */
    size_t width; /* of "about the same", an index */
} mel_noise_state;
/* Before any answer. */
mel_noise_state mel_noise_start(const mel_assumption *assume);
/* A width of "about the same", by the logarithms of their weights. */
size_t mel_width_draw(const double log_weight[MEL_WIDTHS], mel_rng *rng);
/* Share of wrong answers, where errors are alike, and the log-probability of this many being wrong. */
static inline double mel_answers_rate(const mel_answers *answers, const mel_noise_state *state)
{
    return answers->noise->rate(answers->assume.size, state->wrong, mel_answers_choices(answers));
}
double mel_answers_log_weight(const mel_answers *answers, size_t wrong);
/* P(A) of a question with this margin. */
static inline double mel_answers_predict(const mel_answers *answers, const mel_noise_state *state,
                                         double margin)
{
    if (answers->noise->errs != MEL_ERRS_ALIKE)
        return answers->noise->probability(state->scale, margin);
    const double rate = mel_answers_rate(answers, state);
    return margin > 0.0 ? 1.0 - rate : rate;
}
/* How the newest answer, a choice, changes the probability of a draw at which its row's value is this; the
 * state is that before it. */
double mel_answers_weight(const mel_answers *answers, const mel_noise_state *state, double value);

#endif
