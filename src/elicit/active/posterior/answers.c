#include "elicit/active/posterior/answers.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>

const double mel_same_width[MEL_WIDTHS] = { 0.003, 0.01, 0.03, 0.1, 0.2, 0.4 };

bool mel_grow_doubles(double **block, size_t n)
{
    void *grown = *block;
    if (!mel_grow(&grown, n, sizeof **block))
        return false;
    *block = grown;
    return true;
}

void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume)
{
    *answers = (mel_answers){ .dimension = dimension, .assume = assume };
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
    void *same = answers->same;
    if (!mel_grow_doubles(&answers->row, capacity * answers->dimension) ||
        !mel_grow_doubles(&answers->length, capacity) || !mel_grow_doubles(&answers->gain, capacity) ||
        !mel_grow(&same, capacity, sizeof *answers->same))
        return mel_fail_memory(err, "the answers");
    answers->same = same;
    answers->capacity = capacity;
    return MEL_OK;
}

void mel_answers_add(mel_answers *answers, const double *x, double gain, mel_answer answer)
{
    const size_t d = answers->dimension;
    const double norm = mel_norm2(d, x);
    const double factor = (answer == MEL_ANSWER_B ? -1.0 : 1.0) / norm;
    double *row = answers->row + answers->count * d;
    for (size_t i = 0; i < d; i++)
        row[i] = factor * x[i];
    answers->length[answers->count] = norm;
    answers->gain[answers->count] = gain * norm;
    answers->same[answers->count] = answer == MEL_ANSWER_SAME;
    answers->n_same += answer == MEL_ANSWER_SAME;
    answers->count++;
}

double mel_flip_log_weight(const mel_assumption *assume, size_t wrong, size_t count)
{
    const double k = (double)wrong, n = (double)count;
    if (assume->size > 0.0)
        return k * log(assume->size) + (n - k) * log1p(-assume->size);
    return mel_log_gamma(MEL_FLIP_WRONG + k) + mel_log_gamma(MEL_FLIP_RIGHT + n - k) -
           mel_log_gamma(MEL_FLIP_WRONG + MEL_FLIP_RIGHT + n);
}

double mel_flip_rate(const mel_assumption *assume, size_t wrong, size_t count)
{
    if (assume->size > 0.0)
        return assume->size;
    return (MEL_FLIP_WRONG + (double)wrong) / (MEL_FLIP_WRONG + MEL_FLIP_RIGHT + (double)count);
}

double mel_choice_probability(const mel_assumption *assume, double scale, double margin)
{
    if (assume->kind == MEL_NOISE_LOGISTIC)
        return (1.0 - MEL_LAPSE) / (1.0 + exp(-scale * margin)) + 0.5 * MEL_LAPSE;
    if (assume->kind == MEL_NOISE_BAND && fabs(margin) <= assume->size)
        return 0.5;
    return margin > 0.0 ? 1.0 : 0.0;
}
