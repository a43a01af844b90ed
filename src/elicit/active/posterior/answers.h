/* What was answered, as the sampler reads it: one row per answer and what is assumed of its errors.
 *
 * A row x says how the preference reads from a coefficient vector w: A is better when <x, w> > 0. Rows are
 * kept at unit length and turned so that <x, w> > 0 agrees with the answer. Noise models that depend
 * on how different A and B are see the margin gain * <x, w> / |w|, in units of the metric's value. */
#ifndef MEL_ACTIVE_ANSWERS_H
#define MEL_ACTIVE_ANSWERS_H

#include "elicit/assumption.h"
#include "oracle/noise/way.h"

#include <math.h>

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
    size_t n_ways;              /* 0: answers are not read by the ways of the model */
    mel_noise_way way[MEL_MOST_WAYS];
    size_t count, n_same, capacity;
    /* Rows are kept at unit length, or else as they are, `length` being how far apart A and B are. */
    bool unit;
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
    size_t wrong; /* errors alike, and by ways: choices that w contradicts */
    double scale; /* errors by margin: the size assumed, or drawn */
    size_t width; /* of "about the same", an index (by ways: of mel_tie_width) */
    size_t way;   /* by ways: the one drawn */
} mel_noise_state;
/* Before any answer: a draw of the prior where there are ways. */
mel_noise_state mel_noise_start(const mel_answers *answers, mel_rng *rng);
/* One of the ways, as likely as before any answer. */
size_t mel_way_draw(const mel_answers *answers, mel_rng *rng);
/* Half-width of "about the same" by ways. */
static inline double mel_answers_tie(const mel_answers *answers, const mel_noise_state *state)
{
    return answers->n_same > 0 ? mel_tie_width[state->width] : 0.0;
}
/* By ways: what turns the value of answer i's row into z. Half of a row's length is at stake, as for two
 * numbers that are exchanged one for one; where the rate is another, less is. */
static inline double mel_answers_sharp(const mel_answers *answers, size_t i, const mel_noise_way *way)
{
    const double size = answers->gain[i] * (answers->unit ? 1.0 : answers->length[i]);
    return answers->gain[i] * mel_way_sharpness(way, 0.5 * fabs(size));
}
/* One of n widths of "about the same", by the logarithms of their weights. */
size_t mel_width_draw(size_t n, const double *log_weight, mel_rng *rng);
/* Share of wrong answers, where errors are alike (by ways: among those told, of which there are some), and
 * the log-probability of this many being wrong. */
static inline double mel_answers_rate(const mel_answers *answers, const mel_noise_state *state)
{
    if (answers->n_ways > 0)
        return (double)state->wrong / (double)mel_answers_choices(answers);
    return answers->noise->rate(answers->assume.size, state->wrong, mel_answers_choices(answers));
}
double mel_answers_log_weight(const mel_answers *answers, size_t wrong);
/* P(A) of a question with this margin; sharp: what turns the margin into z, one for each way. "About the
 * same" counts half. */
static inline double mel_answers_predict(const mel_answers *answers, const mel_noise_state *state,
                                         const double *sharp, double margin)
{
    if (answers->n_ways > 0) {
        const mel_noise_way *way = &answers->way[state->way];
        const double tie = mel_answers_tie(answers, state), z = sharp[state->way] * margin;
        return 0.5 * (1.0 + mel_way_choice(way, z, tie) - mel_way_choice(way, -z, tie));
    }
    if (answers->noise->errs != MEL_ERRS_ALIKE)
        return answers->noise->probability(state->scale, margin);
    const double rate = mel_answers_rate(answers, state);
    return margin > 0.0 ? 1.0 - rate : rate;
}
/* Those of a question with a row of this length times its gain; nothing is written where there are no ways.
 */
void mel_answers_sharpen(const mel_answers *answers, double size, double sharp[MEL_MOST_WAYS]);
/* How the newest answer changes the probability of a draw at which its row's value is this; the state is that
 * before it. */
double mel_answers_weight(const mel_answers *answers, const mel_noise_state *state, double value);

#endif
