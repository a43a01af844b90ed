/* Answers as rows, and how likely they are under the assumed noise. */
#include "elicit/active/posterior/answers.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>

const double mel_same_width[MEL_WIDTHS] = { 0.003, 0.01, 0.03, 0.1, 0.2, 0.4 };

void mel_answers_assume(mel_answers *answers, mel_assumption assume)
{
    answers->assume = assume;
    answers->noise = mel_assumed(&assume);
}

void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume)
{
    *answers = (mel_answers){ .dimension = dimension };
    mel_answers_assume(answers, assume);
}

void mel_answers_free(mel_answers *answers)
{
    free(answers->row);
    free(answers->length);
    free(answers->gain);
    free(answers->same);
    *answers = (mel_answers){ 0 };
}

mel_status mel_answers_reserve(mel_answers *answers, size_t count, mel_error *err)
{
    if (count <= answers->capacity)
        return MEL_OK;
    const size_t capacity = count < 32 ? 64 : 2 * count;
    const mel_part parts[] = { { capacity * answers->dimension, { &answers->row } },
                               { capacity, { &answers->length, &answers->gain } } };
    void *same = answers->same;
    if (!mel_parts_grow(MEL_PARTS(parts)) || !mel_grow(&same, capacity, sizeof *answers->same))
        return mel_fail_memory(err, "the answers");
    answers->same = same;
    answers->capacity = capacity;
    return MEL_OK;
}

double *mel_answers_put(mel_answers *answers, double length, double gain, mel_answer answer)
{
    const size_t at = answers->count++;
    answers->length[at] = length;
    answers->gain[at] = gain;
    answers->same[at] = answer == MEL_ANSWER_SAME;
    answers->n_same += answer == MEL_ANSWER_SAME;
    return answers->row + at * answers->dimension;
}

void mel_answers_add(mel_answers *answers, const double *x, double gain, mel_answer answer)
{
    const size_t d = answers->dimension;
    const double norm = mel_norm2(d, x);
    const double factor = (answer == MEL_ANSWER_B ? -1.0 : 1.0) / norm;
    double *row = mel_answers_put(answers, norm, gain * norm, answer);
    for (size_t i = 0; i < d; i++)
        row[i] = factor * x[i];
}

mel_noise_state mel_noise_start(const mel_assumption *assume)
{
    return (mel_noise_state){ .scale = mel_assumed_scale(assume), .width = MEL_WIDTHS / 2 };
}

size_t mel_width_draw(const double log_weight[MEL_WIDTHS], mel_rng *rng)
{
    double top = -INFINITY, total = 0.0;
    for (size_t i = 0; i < MEL_WIDTHS; i++)
        top = fmax(top, log_weight[i]);
    for (size_t i = 0; i < MEL_WIDTHS; i++)
        total += exp(log_weight[i] - top);
    double left = mel_rng_uniform(rng) * total;
    size_t picked = 0;
    while (picked + 1 < MEL_WIDTHS && left >= exp(log_weight[picked] - top))
        left -= exp(log_weight[picked++] - top);
    return picked;
}

double mel_answers_log_weight(const mel_answers *answers, size_t wrong)
{
    return answers->noise->log_weight(answers->assume.size, wrong, mel_answers_choices(answers));
}

double mel_answers_weight(const mel_answers *answers, const mel_noise_state *state, double value)
{
    const mel_noise_ops *noise = answers->noise;
    const double gain = noise->errs == MEL_ERRS_NEVER ? 1.0 : answers->gain[answers->count - 1];
    if (noise->errs != MEL_ERRS_ALIKE)
        return noise->probability(state->scale, gain * value);
    const size_t n = mel_answers_choices(answers), wrong = state->wrong;
    return exp(mel_answers_log_weight(answers, wrong + (value < 0.0)) -
               noise->log_weight(answers->assume.size, wrong, n - 1));
}
