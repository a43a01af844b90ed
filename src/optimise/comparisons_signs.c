/* Sign steps: which side of the current gains is better, one question per step. */
#include "optimise/comparisons.h"

#include <math.h>
#include <string.h>

/* Factors of a step after an answer of the same and of the other sign, and the least half distance of a
 * question. */
static const double longer = 1.2, shorter = 0.45, least_half = 0.1;
/* So often must the shortest step turn round before a gain counts as found: one wrong answer does not do it.
 */
enum { REVERSALS = 2 };

/* Where a direction moves, by `by`; limited so that nothing overflows. */
static void move_along(double *to, const mel_comparisons *s, const double *from, size_t direction, double by)
{
    for (size_t i = 0; i < s->n_free; i++) {
        const double at = from[i] + by * s->direction[direction * s->n_free + i];
        to[i] = at > MEL_MOST_LOG_GAIN    ? MEL_MOST_LOG_GAIN
                : at < -MEL_MOST_LOG_GAIN ? -MEL_MOST_LOG_GAIN
                                          : at;
    }
}

static bool all_found(const mel_comparisons *s)
{
    for (size_t d = 0; d < s->n_directions; d++)
        if (s->reversal[d] < REVERSALS)
            return false;
    return true;
}

static void next_direction(mel_comparisons *s)
{
    s->stage = MEL_ASK_SIDES;
    s->at = (s->at + 1) % s->n_directions;
    if (s->at == 0)
        s->settled = all_found(s);
}

/* Both sides of the current gains along direction `at`, farther apart while they decide all rows alike; false
 * when they always do. */
static bool set_sides(mel_comparisons *s)
{
    double half = fmax(s->step[s->at] / 2.0, least_half);
    for (int doubling = 0; doubling < MEL_DOUBLINGS && half <= MEL_MOST_LOG_GAIN; doubling++, half *= 2.0) {
        for (size_t side = 0; side < 2; side++) {
            move_along(s->trial, s, s->log_gain, s->at, side == 0 ? half : -half);
            mel_compare_measure(s->side[side], s, s->trial);
        }
        if (memcmp(s->side[0], s->side[1], mel_compare_cells(s) * sizeof **s->side) != 0)
            return true;
    }
    return false;
}

void mel_signs_ask(mel_comparisons *s)
{
    if (s->stage == MEL_ASK_NEW) {
        mel_compare_measure(s->side[0], s, s->trial);
        mel_compare_measure(s->side[1], s, s->log_gain);
        if (memcmp(s->side[0], s->side[1], mel_compare_cells(s) * sizeof **s->side) != 0) {
            mel_compare_open(s);
            return;
        }
        memcpy(s->log_gain, s->trial, s->n_free * sizeof *s->trial);
        next_direction(s);
    }
    for (size_t tried = 0; tried < s->n_directions && !s->settled; tried++) {
        if (set_sides(s)) {
            mel_compare_open(s);
            return;
        }
        s->reversal[s->at] = REVERSALS; /* it changes nothing */
        next_direction(s);
    }
    s->settled = true;
}

static void shorten(mel_comparisons *s)
{
    s->reversal[s->at] += s->step[s->at] <= s->opt.least_step;
    s->step[s->at] = fmax(shorter * s->step[s->at], s->opt.least_step);
}

static void tell_sides(mel_comparisons *s, mel_answer answer)
{
    const int sign = answer == MEL_ANSWER_A ? 1 : -1;
    const double step = s->step[s->at];
    if (answer == MEL_ANSWER_SAME) {
        shorten(s);
        next_direction(s);
        return;
    }
    move_along(s->trial, s, s->log_gain, s->at, sign * step);
    if (s->sign[s->at] == sign)
        s->step[s->at] = longer * step;
    else if (s->sign[s->at] != 0)
        shorten(s);
    s->sign[s->at] = sign;
    if (s->opt.kinks) {
        s->stage = MEL_ASK_NEW;
        return;
    }
    memcpy(s->log_gain, s->trial, s->n_free * sizeof *s->trial);
    next_direction(s);
}

void mel_signs_tell(mel_comparisons *s, mel_answer answer)
{
    if (answer == MEL_ANSWER_SKIP) {
        next_direction(s);
    } else if (s->stage == MEL_ASK_SIDES) {
        tell_sides(s, answer);
    } else {
        if (answer == MEL_ANSWER_A)
            memcpy(s->log_gain, s->trial, s->n_free * sizeof *s->trial);
        else
            shorten(s);
        next_direction(s);
    }
}

/* In each group the gain of class r against those of the classes before it, all orthogonal; for kinks also
 * the same class of all groups together, and of two groups against each other. */
size_t mel_sign_directions(double *out, const mel_comparisons *s, bool kinks)
{
    const size_t free_each = s->k - 1;
    size_t n = s->n_free;
    for (size_t g = 0; g < s->m && out != NULL; g++)
        for (size_t r = 1; r < s->k; r++) {
            const double scale = 1.0 / sqrt(2.0 * (double)r * (double)(r + 1));
            double *to = out + (g * free_each + r - 1) * s->n_free + g * free_each;
            to[r - 1] = ((double)r + 1.0) * scale; /* relative to class 0, which moves by -scale */
            for (size_t j = r + 1; j < s->k; j++)
                to[j - 1] = scale;
        }
    if (!kinks || s->m < 2)
        return n;
    for (size_t j = 0; j < free_each; j++) {
        for (size_t g = 0; g < s->m && out != NULL; g++)
            out[n * s->n_free + g * free_each + j] = 1.0;
        n++;
        for (size_t g = 1; g < s->m; g++, n++)
            if (out != NULL) {
                out[n * s->n_free + (g - 1) * free_each + j] = 1.0;
                out[n * s->n_free + g * free_each + j] = -1.0;
            }
    }
    return n;
}
