/* People who disagree: the rule with the least worst regret. What a person would lose is linear in what a
 * rule does, on average over the metrics that the person may mean; the largest of these is a goal with kinks.
 */
#include "classify/goal.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Draws in which the best rule adds less than this share of what it adds in others, or of what decisions can
 * lose at all, count as if it added so much: the rule hardly matters to that person. */
static const double hardly = 0.01, hardly_at_all = 0.001;
/* Metrics that intervals make likely. */
enum { USUAL_DRAWS = 50 };

void mel_compromise_clear(mel_compromise *found)
{
    free(found->regret);
    *found = (mel_compromise){ 0 };
}

void mel_people_goal_clear(mel_people_goal *people)
{
    free(people->gain);
    *people = (mel_people_goal){ 0 };
}

/* What the best rule for these gains achieves. */
static void best_for(double *shares, double *rule, mel_steps *steps, const double *gain)
{
    const size_t size = mel_steps_block_size(steps);
    for (size_t b = 0; b < steps->n_blocks; b++)
        steps->ops->step(shares + b * size, rule, steps, b, gain + b * size);
    steps->taken++;
}

/* What deciding the same about everybody is worth at most, and at least. */
static void trivial_values(double *most, double *least, double *room, mel_steps *steps, const double *gain)
{
    const size_t size = mel_steps_block_size(steps);
    *most = -INFINITY;
    *least = INFINITY;
    for (size_t j = 0; j < steps->n_decisions; j++) {
        double value = 0.0;
        for (size_t b = 0; b < steps->n_blocks; b++) {
            mel_steps_constant(room, room + size, steps, b, j);
            value += mel_dot(size, gain + b * size, room);
        }
        *most = fmax(*most, value);
        *least = fmin(*least, value);
    }
}

static mel_status check_person(const mel_person *person, size_t number, mel_error *err)
{
    const mel_family_facts *is = mel_family_about(mel_metric_family(person->metric));
    return is->sum && !is->groups && !is->curved
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL,
                          "person %zu: a compromise is between weighted sums, not %s metrics", number + 1,
                          mel_family_name(mel_metric_family(person->metric)));
}

/* The gains of a metric with these coefficients (NULL: its own): of each share, as a utility. */
static mel_status gains_of(double *gain, mel_metric *copy, const double *coefficients, const mel_steps *steps,
                           mel_error *err)
{
    MEL_AUTO_CLEAR(mel_goal) goal = { 0 };
    if (coefficients != NULL)
        TRY(mel_metric_set_coefficients(copy, coefficients, err));
    TRY(mel_goal_of_metric(&goal, copy, steps, err));
    memcpy(gain, goal.program.c, goal.size * sizeof *gain);
    return MEL_OK;
}

static size_t draws_of(const mel_person *person)
{
    double low = 0.0, high = 0.0;
    return person->n_draws > 0                                   ? person->n_draws
           : mel_metric_interval(person->metric, 0, &low, &high) ? USUAL_DRAWS
                                                                 : 1;
}

/* Mean regret over the draws: constant - <gain, x>. room: what the best rule of a draw needs. */
static mel_status average(mel_people_goal *out, size_t i, const mel_person *person, mel_steps *steps,
                          double *room, double *best, mel_error *err)
{
    const size_t draws = draws_of(person), size = out->size, width = mel_metric_coefficients(person->metric);
    double *gain = best, *adds = best + draws * size, *value = adds + draws, *spread = value + draws;
    double most = 0.0, widest = 0.0, low = 0.0;
    MEL_AUTO(mel_metric) *copy = NULL;
    MEL_AUTO_MEMORY double *own = mel_alloc(draws * width, sizeof *own);
    const double *drawn = person->n_draws > 0 ? person->draws : draws > 1 ? own : NULL;
    if (own == NULL)
        return mel_fail_memory(err, "a compromise");
    if (drawn == own)
        (void)mel_metric_draws(own, person->metric, draws, i + 1);
    TRY(mel_metric_copy(&copy, person->metric, err));
    for (size_t s = 0; s < draws; s++) {
        double *here = gain + s * size;
        TRY(gains_of(here, copy, drawn != NULL ? drawn + s * width : NULL, steps, err));
        best_for(room, room + size, steps, here);
        value[s] = mel_dot(size, here, room);
        trivial_values(&adds[s], &low, room, steps, here);
        adds[s] = value[s] - adds[s];
        spread[s] = value[s] - low;
        most = fmax(most, adds[s]);
        widest = fmax(widest, spread[s]);
    }
    const double least = fmax(hardly * most, hardly_at_all * widest);
    for (size_t s = 0; s < draws; s++) {
        const double by = 1.0 / ((double)draws * fmax(fmax(adds[s], least), 1e-300));
        out->floored[i] += adds[s] < least ? 1.0 / (double)draws : 0.0;
        out->constant[i] += value[s] * by;
        mel_axpy(size, by, gain + s * size, out->gain + i * size);
        /* The mean person: everybody's metric of length 1. */
        const double length = mel_norm2(size, gain + s * size);
        mel_axpy(size, 1.0 / ((double)draws * fmax(length, 1e-300)), gain + s * size, out->mean);
    }
    return MEL_OK;
}

/* Terms of which the smallest counts: minus the regrets. */
static mel_status put_terms(mel_goal *goal, const mel_people_goal *people, mel_error *err)
{
    goal->program.smallest_weight = 1.0;
    for (size_t i = 0; i < people->n; i++) {
        const mel_term term = { .kind = MEL_TERM_SMALLEST, .f = -people->constant[i], .level = MEL_NO_LEVEL };
        TRY(mel_program_add(&goal->program, term, err));
        for (size_t c = 0; c < people->size; c++)
            if (people->gain[i * people->size + c] != 0.0)
                TRY(mel_program_entry(&goal->program, c, people->gain[i * people->size + c], err));
    }
    return MEL_OK;
}

mel_status mel_goal_of_people(mel_goal *goal, mel_people_goal *people, size_t n, const mel_person *person,
                              mel_steps *steps, mel_error *err)
{
    const size_t size = mel_steps_size(steps), rule = mel_steps_rule_size(steps);
    size_t most = 1;
    *people = (mel_people_goal){ .n = n, .size = size };
    for (size_t i = 0; i < n; i++) {
        TRY(check_person(&person[i], i, err));
        most = draws_of(&person[i]) > most ? draws_of(&person[i]) : most;
    }
    TRY(mel_goal_of_terms(goal, steps, err));
    const mel_part kept[] = { { n * size, { &people->gain, &people->own } },
                              { size, { &people->mean, &people->pooled } },
                              { n, { &people->constant, &people->floored } } };
    MEL_AUTO_MEMORY double *room = mel_alloc(2 * size + rule + most * (size + 3), sizeof *room);
    if (room == NULL || !mel_parts_new(MEL_PARTS(kept)))
        return mel_fail_memory(err, "a compromise");
    for (size_t i = 0; i < n; i++) {
        TRY(average(people, i, &person[i], steps, room, room + 2 * size + rule, err));
        best_for(people->own + i * size, room, steps, people->gain + i * size);
    }
    best_for(people->pooled, room, steps, people->mean);
    return put_terms(goal, people, err);
}

static double regret_of(const mel_people_goal *people, size_t i, const double *x)
{
    return people->constant[i] - mel_dot(people->size, people->gain + i * people->size, x);
}

mel_status mel_compromise_judge(mel_compromise *out, const mel_people_goal *people, const double *x,
                                const double *price, mel_error *err)
{
    const size_t n = people->n;
    double apart = -1.0;
    *out = (mel_compromise){ .n = n };
    const mel_part parts[] = { { n, { &out->regret, &out->pooled, &out->weight, &out->floored } },
                               { n * n, { &out->cross } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "a compromise");
    for (size_t i = 0; i < n; i++) {
        out->regret[i] = regret_of(people, i, x);
        out->pooled[i] = regret_of(people, i, people->pooled);
        out->weight[i] = fabs(price[i]);
        out->floored[i] = people->floored[i];
        for (size_t j = 0; j < n; j++)
            out->cross[i * n + j] = regret_of(people, i, people->own + j * people->size);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            /* What both lose by the other's rule instead of their own. */
            const double both =
                out->cross[i * n + j] - out->cross[i * n + i] + out->cross[j * n + i] - out->cross[j * n + j];
            if (both > apart) {
                apart = both;
                out->first = j;
                out->second = i;
            }
        }
    return MEL_OK;
}
