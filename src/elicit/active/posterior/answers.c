/* Answers as rows, and how likely they are under the assumed noise. */
#include "elicit/active/posterior/answers.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>

/* Somebody who sees smaller differences than the model's components do, of which there are many in many
 * dimensions: steps of absolute noise, and what share of the prior they get, with lapses as likely as in the
 * model. */
static const double sharper[] = { 0.0005, 0.00005 }, share_of_sharper = 0.25;

static size_t add_sharper(size_t n, mel_component *component)
{
    enum { STEPS = sizeof sharper / sizeof *sharper };
    size_t all = n;
    for (size_t k = 0; k < n; k++) {
        const mel_component like = component[k];
        size_t at = n;
        while (at < all && component[at].lapse != like.lapse)
            at += STEPS;
        for (size_t i = 0; i < STEPS && at == all && at + STEPS <= MEL_MOST_COMPONENTS; i++)
            component[at + i] = (mel_component){ .absolute = sharper[i], .lapse = like.lapse };
        if (at == all)
            all += STEPS;
        for (size_t i = 0; i < STEPS; i++)
            component[at + i].weight += share_of_sharper * like.weight / STEPS;
        component[k].weight *= 1.0 - share_of_sharper;
    }
    return all;
}

/* Takes over when the first answer is "about the same" and answers were taken to be right, or wrong as often
 * at any margin, until then. */
static const mel_noise_ops unsure = { .name = "unsure", .errs = MEL_ERRS_BY_MARGIN, .outside = 1.0 },
                           unsure_slips = {
                               .name = "unsure", .errs = MEL_ERRS_BY_MARGIN, .slips = true, .outside = 1.0
                           };

static void blur(mel_answers *answers)
{
    answers->n_components = mel_components_blur(answers->n_components, answers->component);
    if (answers->noise->errs != MEL_ERRS_BY_MARGIN)
        answers->noise = answers->noise->slips ? &unsure_slips : &unsure;
    answers->renewed = true;
}

static void count_by_wrong(mel_answers *answers)
{
    const size_t n = mel_answers_choices(answers), parts = answers->n_components;
    const mel_component *component = answers->component;
    for (size_t k = 0; k <= n && answers->capacity > 0 && answers->noise->errs == MEL_ERRS_ALIKE; k++) {
        answers->log_weight[k] = mel_components_log_weight(parts, component, k, n);
        answers->log_before[k] = k < n ? mel_components_log_weight(parts, component, k, n - 1) : 0.0;
        answers->rate[k] = mel_components_rate(parts, component, k, n);
    }
}

void mel_answers_assume(mel_answers *answers, mel_assumption assume)
{
    answers->assume = assume;
    answers->noise = mel_assumed(&assume);
    answers->n_components = mel_noise_components(answers->component, answers->noise, assume.size);
    if (answers->noise->sharper)
        answers->n_components = add_sharper(answers->n_components, answers->component);
    answers->renewed = true;
    if (answers->n_same > 0)
        blur(answers);
    count_by_wrong(answers);
}

void mel_answers_init(mel_answers *answers, size_t dimension, mel_assumption assume)
{
    *answers = (mel_answers){ .dimension = dimension, .unit = true };
    mel_answers_assume(answers, assume);
    answers->renewed = false;
}

void mel_answers_free(mel_answers *answers)
{
    free(answers->row);
    free(answers->length);
    free(answers->gain);
    free(answers->same);
    free(answers->log_weight);
    free(answers->log_before);
    free(answers->rate);
    *answers = (mel_answers){ 0 };
}

mel_status mel_answers_reserve(mel_answers *answers, size_t count, mel_error *err)
{
    if (count <= answers->capacity)
        return MEL_OK;
    const size_t capacity = count < 32 ? 64 : 2 * count;
    const mel_part parts[] = { { capacity * answers->dimension, { &answers->row } },
                               { capacity, { &answers->length, &answers->gain } },
                               { capacity + 1,
                                 { &answers->log_weight, &answers->log_before, &answers->rate } } };
    void *same = answers->same;
    if (!mel_parts_grow(MEL_PARTS(parts)) || !mel_grow(&same, capacity, sizeof *answers->same))
        return mel_fail_memory(err, "the answers");
    answers->same = same;
    answers->capacity = capacity;
    count_by_wrong(answers);
    return MEL_OK;
}

double *mel_answers_put(mel_answers *answers, double length, double gain, mel_answer answer)
{
    const size_t at = answers->count++;
    answers->length[at] = length;
    answers->gain[at] = gain;
    answers->same[at] = answer == MEL_ANSWER_SAME;
    answers->n_same += answer == MEL_ANSWER_SAME;
    if (answer == MEL_ANSWER_SAME && answers->n_same == 1)
        blur(answers);
    count_by_wrong(answers);
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

mel_noise_state mel_noise_start(const mel_answers *answers, mel_rng *rng)
{
    const bool drawn = mel_answers_err_by_margin(answers);
    return (mel_noise_state){
        .component = drawn ? mel_component_draw(answers->n_components, answers->component, rng) : 0,
        .tie = MEL_TIES / 2
    };
}

/* One of n, by the logarithms of their weights. */
static size_t draw_by_weight(size_t n, const double *log_weight, mel_rng *rng)
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

/* With up to MOST_WEIGHED components each is weighed; with more, TRIED random ones are. */
enum { MOST_WEIGHED = 16, TRIED = 2 };

void mel_noise_draw(mel_noise_state *state, const mel_answers *answers, mel_noise_likelihood *log_likelihood,
                    const void *user, mel_rng *rng)
{
    const size_t n = answers->n_components;
    const double tie = mel_answers_tie(answers, state);
    double log_weight[MEL_MOST_COMPONENTS];
    if (n > 1 && n <= MOST_WEIGHED) {
        for (size_t k = 0; k < n; k++)
            log_weight[k] = log(answers->component[k].weight) + log_likelihood(user, k, tie);
        state->component = draw_by_weight(n, log_weight, rng);
    } else if (n > MOST_WEIGHED) {
        double here = log_likelihood(user, state->component, tie);
        for (int tries = 0; tries < TRIED; tries++) {
            const size_t other = mel_component_draw(n, answers->component, rng);
            const double level = here + log(1.0 - mel_rng_uniform(rng));
            const double there = other == state->component ? here : log_likelihood(user, other, tie);
            if (there < level)
                continue;
            state->component = other;
            here = there;
        }
    }
    if (answers->n_same == 0)
        return;
    for (size_t k = 0; k < MEL_TIES; k++)
        log_weight[k] = log_likelihood(user, state->component, mel_tie_width[k]);
    state->tie = draw_by_weight(MEL_TIES, log_weight, rng);
}

void mel_answers_sharpen(const mel_answers *answers, double size, double sharp[MEL_MOST_COMPONENTS])
{
    for (size_t k = 0; k < answers->n_components; k++)
        sharp[k] = mel_component_sharpness(&answers->component[k], 0.5 * fabs(size));
}

double mel_answers_weight(const mel_answers *answers, const mel_noise_state *state, double value)
{
    const mel_component *component = &answers->component[state->component];
    const size_t newest = answers->count - 1;
    const double z = mel_answers_sharp(answers, newest, component) * value;
    if (answers->same[newest]) { /* over the widths, as this may be the first of its kind */
        double sum = 0.0;
        for (size_t k = 0; k < MEL_TIES; k++)
            sum += mel_component_same(component, z, mel_tie_width[k]);
        return sum;
    }
    if (mel_answers_err_by_margin(answers))
        return mel_component_choice(component, z, mel_answers_tie(answers, state));
    if (answers->noise->errs == MEL_ERRS_NEVER)
        return value > 0.0 ? 1.0 : 0.0;
    return exp(answers->log_weight[state->wrong + (value < 0.0)] - answers->log_before[state->wrong]);
}
