/* Answers as rows, and how likely they are under the assumed noise. */
#include "elicit/active/posterior/answers.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>

const double mel_same_width[MEL_WIDTHS] = { 0.003, 0.01, 0.03, 0.1, 0.2, 0.4 };

/* Somebody who sees smaller differences than the model's ways do, of which there are many in many dimensions:
 * steps of absolute noise, and what share of the prior they get, with lapses as likely as in the model. */
static const double sharper[] = { 0.0005, 0.00005 }, share_of_sharper = 0.25;

static void add_sharper(mel_answers *answers)
{
    enum { STEPS = sizeof sharper / sizeof *sharper };
    const size_t n = answers->n_ways;
    for (size_t k = 0; k < n; k++) {
        const mel_noise_way like = answers->way[k];
        size_t at = n;
        while (at < answers->n_ways && answers->way[at].lapse != like.lapse)
            at += STEPS;
        for (size_t i = 0; i < STEPS && at == answers->n_ways && at + STEPS <= MEL_MOST_WAYS; i++)
            answers->way[at + i] = (mel_noise_way){ .absolute = sharper[i], .lapse = like.lapse };
        if (at == answers->n_ways)
            answers->n_ways += STEPS;
        for (size_t i = 0; i < STEPS; i++)
            answers->way[at + i].weight += share_of_sharper * like.weight / STEPS;
        answers->way[k].weight *= 1.0 - share_of_sharper;
    }
}

void mel_answers_assume(mel_answers *answers, mel_assumption assume)
{
    answers->assume = assume;
    answers->noise = mel_assumed(&assume);
    answers->n_ways = answers->noise->by_ways ? answers->noise->ways(answers->way, assume.size) : 0;
    add_sharper(answers);
}

void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume)
{
    *answers = (mel_answers){ .dimension = dimension, .unit = true };
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

size_t mel_way_draw(const mel_answers *answers, mel_rng *rng)
{
    double left = mel_rng_uniform(rng);
    size_t picked = 0;
    while (picked + 1 < answers->n_ways && left >= answers->way[picked].weight)
        left -= answers->way[picked++].weight;
    return picked;
}

mel_noise_state mel_noise_start(const mel_answers *answers, mel_rng *rng)
{
    mel_noise_state state = { .scale = mel_assumed_scale(&answers->assume), .width = MEL_WIDTHS / 2 };
    if (answers->n_ways > 0) {
        state.width = MEL_TIES / 2;
        state.way = mel_way_draw(answers, rng);
    }
    return state;
}

void mel_answers_sharpen(const mel_answers *answers, double size, double sharp[MEL_MOST_WAYS])
{
    for (size_t k = 0; k < answers->n_ways; k++)
        sharp[k] = mel_way_sharpness(&answers->way[k], 0.5 * fabs(size));
}

size_t mel_width_draw(size_t n, const double *log_weight, mel_rng *rng)
{
    double top = -INFINITY, total = 0.0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, log_weight[i]);
    for (size_t i = 0; i < n; i++)
        total += exp(log_weight[i] - top);
    double left = mel_rng_uniform(rng) * total;
    size_t picked = 0;
    while (picked + 1 < n && left >= exp(log_weight[picked] - top))
        left -= exp(log_weight[picked++] - top);
    return picked;
}

double mel_answers_log_weight(const mel_answers *answers, size_t wrong)
{
    return answers->noise->log_weight(answers->assume.size, wrong, mel_answers_choices(answers));
}

/* Over the widths, as this may be the first of its kind. */
static double same_weight(const mel_answers *answers, const mel_noise_state *state, double value)
{
    const size_t newest = answers->count - 1;
    const double gain = answers->gain[newest];
    double sum = 0.0;
    for (size_t k = 0; k < MEL_TIES && answers->n_ways > 0; k++) {
        const mel_noise_way *way = &answers->way[state->way];
        sum += mel_way_same(way, mel_answers_sharp(answers, newest, way) * value, mel_tie_width[k]);
    }
    for (size_t k = 0; k < MEL_WIDTHS && answers->n_ways == 0; k++) {
        const double ratio = gain * value / mel_same_width[k];
        sum += exp(-0.5 * ratio * ratio);
    }
    return sum;
}

double mel_answers_weight(const mel_answers *answers, const mel_noise_state *state, double value)
{
    const mel_noise_ops *noise = answers->noise;
    if (answers->same[answers->count - 1])
        return same_weight(answers, state, value);
    if (answers->n_ways > 0) {
        const mel_noise_way *way = &answers->way[state->way];
        const double z = mel_answers_sharp(answers, answers->count - 1, way) * value;
        return mel_way_choice(way, z, mel_answers_tie(answers, state));
    }
    const double gain = noise->errs == MEL_ERRS_NEVER ? 1.0 : answers->gain[answers->count - 1];
    if (noise->errs != MEL_ERRS_ALIKE)
        return noise->probability(state->scale, gain * value);
    const size_t n = mel_answers_choices(answers), wrong = state->wrong;
    return exp(mel_answers_log_weight(answers, wrong + (value < 0.0)) -
               noise->log_weight(answers->assume.size, wrong, n - 1));
}
