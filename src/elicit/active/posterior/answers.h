/* What was answered, as samplers read it: one row per answer and what is assumed of its errors.
 *
 * A row x says how the preference reads from a coefficient vector w: A is better when <x, w> > 0. Rows are
 * kept at unit length and turned so that <x, w> > 0 agrees with the answer. Components that depend on how
 * different A and B are see the margin gain * <x, w> / |w|, in units of the metric's value. */
#ifndef MEL_ACTIVE_ANSWERS_H
#define MEL_ACTIVE_ANSWERS_H

#include "elicit/assumption.h"

#include <math.h>

/* Where answers may be flipped, questions are chosen to halve what would be believed if at least this share
 * of them were. Questions that halve the belief itself soon crowd where one early wrong answer points, and it
 * takes long to find back. */
#define MEL_CAREFUL_RATE 0.25

typedef struct {
    size_t dimension;
    mel_assumption assume; /* size 0: learned, by models that do */
    /* Its model; from the first "about the same" on one that errs by margin. As long as nobody answered so,
     * nothing is assumed about it. */
    const mel_noise_ops *noise;
    size_t n_components;
    mel_component component[MEL_MOST_COMPONENTS];
    bool renewed; /* these are not those of the draws so far */
    size_t count, n_same, capacity;
    /* Rows are kept at unit length, or else as they are, `length` being how far apart A and B are. */
    bool unit;
    double *row;    /* count x dimension */
    double *length; /* count: of the rows as given */
    double *gain;   /* count: of the rows at unit length */
    bool *same;     /* count */
    /* Where errors are alike, by the number of wrong choices: the log-probability of so many, the same
     * without the newest answer, and the share of wrong answers then. */
    double *log_weight, *log_before, *rate;
} mel_answers;

/* Another assumption from now on. */
void mel_answers_assume(mel_answers *answers, mel_assumption assume);
void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume);
void mel_answers_free(mel_answers *answers);
/* Needed before anything below, also of no answers. */
mel_status mel_answers_reserve(mel_answers *answers, size_t count, mel_error *err);
/* Room must be reserved. The row is for the caller to fill. */
double *mel_answers_put(mel_answers *answers, double length, double gain, mel_answer answer);
/* The same with the row of x, which must not be zero. */
void mel_answers_add(mel_answers *answers, const double *x, double gain, mel_answer answer);
static inline size_t mel_answers_choices(const mel_answers *answers) /* A or B */
{
    return answers->count - answers->n_same;
}
static inline bool mel_answers_err_by_margin(const mel_answers *answers)
{
    return answers->noise->errs == MEL_ERRS_BY_MARGIN;
}

/* What is not known of the answers' errors, as one draw of the posterior. */
typedef struct {
    size_t wrong;     /* choices that w contradicts */
    size_t component; /* where errors depend on the margin */
    size_t tie;       /* of mel_tie_width */
} mel_noise_state;
/* Before any answer: a draw of the prior. */
mel_noise_state mel_noise_start(const mel_answers *answers, mel_rng *rng);
/* Draws the component, and the half-width of "about the same", given how likely all answers are by them. */
typedef double mel_noise_likelihood(const void *user, size_t component, double tie);
void mel_noise_draw(mel_noise_state *state, const mel_answers *answers, mel_noise_likelihood *log_likelihood,
                    const void *user, mel_rng *rng);

/* Half-width of "about the same". */
static inline double mel_answers_tie(const mel_answers *answers, const mel_noise_state *state)
{
    return answers->n_same > 0 ? mel_tie_width[state->tie] : 0.0;
}
/* What turns the value of answer i's row into z. Half of a row's length is at stake, as for two numbers that
 * are exchanged one for one; where the rate is another, less is. */
static inline double mel_answers_sharp(const mel_answers *answers, size_t i, const mel_component *component)
{
    const double size = answers->gain[i] * (answers->unit ? 1.0 : answers->length[i]);
    return answers->gain[i] * mel_component_sharpness(component, 0.5 * fabs(size));
}
/* Share of wrong answers: of those told, or what their number says where errors are alike. */
static inline double mel_answers_rate(const mel_answers *answers, const mel_noise_state *state)
{
    return mel_answers_err_by_margin(answers) ? (double)state->wrong / (double)mel_answers_choices(answers)
           : answers->noise->errs == MEL_ERRS_ALIKE ? answers->rate[state->wrong]
                                                    : 0.0;
}
/* P(A) of a question with this margin; sharp: what turns the margin into z, one for each component. "About
 * the same" counts half. */
static inline double mel_answers_predict(const mel_answers *answers, const mel_noise_state *state,
                                         const double *sharp, double margin)
{
    if (mel_answers_err_by_margin(answers)) {
        const mel_component *component = &answers->component[state->component];
        const double tie = mel_answers_tie(answers, state), z = sharp[state->component] * margin;
        return 0.5 *
               (1.0 + mel_component_choice(component, z, tie) - mel_component_choice(component, -z, tie));
    }
    const double rate = mel_answers_rate(answers, state);
    return margin > 0.0 ? 1.0 - rate : rate;
}
/* Those of a question with a row of this length times its gain. */
void mel_answers_sharpen(const mel_answers *answers, double size, double sharp[MEL_MOST_COMPONENTS]);
/* How the newest answer changes the probability of a draw at which its row's value is this; the state is that
 * before it. */
double mel_answers_weight(const mel_answers *answers, const mel_noise_state *state, double value);

#endif
