/* Which shape measures have that are known by name, and the terms of those with kinks. */
#include "classify/goal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 80, MOST_PARTS = 2 };

/* --- quantities that are compared --------------------------------------------------------------- */

/* <a, x> of one quantity in one group: R^g_ij, or with i = k the share of decisions j there. */
typedef struct {
    size_t i, j;
} quantity;

static double group_mass(const mel_steps *steps, size_t g)
{
    double sum = 0.0;
    for (size_t i = 0; i < steps->n_classes; i++)
        sum += steps->mass[mel_steps_row(steps, g, i)];
    return sum;
}

static mel_status add_quantity(mel_goal *goal, const mel_steps *steps, quantity q, size_t g, double by,
                               mel_error *err)
{
    const size_t k = goal->k, d = goal->d, first = mel_steps_row(steps, g, 0);
    if (q.i < k)
        return mel_program_entry(&goal->program, (first + q.i) * d + q.j, by / steps->mass[first + q.i], err);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < k && status == MEL_OK; i++)
        status = mel_program_entry(&goal->program, (first + i) * d + q.j, by / group_mass(steps, g), err);
    return status;
}

/* The difference of a quantity between two groups as one term. */
static mel_status add_difference(mel_goal *goal, const mel_steps *steps, quantity q, size_t u, size_t v,
                                 mel_term term, double by, mel_error *err)
{
    mel_status status = mel_program_add(&goal->program, term, err);
    if (status == MEL_OK)
        status = add_quantity(goal, steps, q, u, by, err);
    return status == MEL_OK ? add_quantity(goal, steps, q, v, -by, err) : status;
}

/* All pairs of groups: the sum of |differences|, or only the largest. */
static mel_status add_pairs(mel_goal *goal, const mel_steps *steps, quantity q, bool largest, double weight,
                            mel_error *err)
{
    const mel_term absolute = { .kind = MEL_TERM_ABSOLUTE, .weight = weight, .level = MEL_NO_LEVEL };
    const mel_term smallest = { .kind = MEL_TERM_SMALLEST, .level = MEL_NO_LEVEL };
    mel_status status = MEL_OK;
    for (size_t u = 0; u < goal->n_groups; u++)
        for (size_t v = u + 1; v < goal->n_groups && status == MEL_OK; v++) {
            status = add_difference(goal, steps, q, u, v, largest ? smallest : absolute, 1.0, err);
            if (status == MEL_OK && largest)
                status = add_difference(goal, steps, q, u, v, smallest, -1.0, err);
        }
    return status;
}

/* --- measures ----------------------------------------------------------------------------------- */

/* The recall of class r % k in group r / k, or in all together, as entries of the last term. */
static mel_status add_recall(mel_goal *goal, const mel_steps *steps, size_t r, mel_error *err)
{
    const double by = 1.0 / mel_goal_mass(goal, steps, r);
    mel_status status = MEL_OK;
    for (; r < goal->n_groups * goal->k && status == MEL_OK; r += mel_goal_masses(goal))
        status = mel_program_entry(
            &goal->program, mel_steps_row(steps, r / goal->k, r % goal->k) * goal->d + r % goal->k, by, err);
    return status;
}

/* The smallest recall counts. */
static mel_status smallest_recall(mel_goal *goal, const mel_steps *steps, double shift, mel_error *err)
{
    const mel_term term = { .kind = MEL_TERM_SMALLEST, .f = shift, .level = MEL_NO_LEVEL };
    mel_status status = MEL_OK;
    goal->program.smallest_weight = 1.0;
    for (size_t r = 0; r < mel_goal_masses(goal) && status == MEL_OK; r++) {
        status = mel_program_add(&goal->program, term, err);
        if (status == MEL_OK)
            status = add_recall(goal, steps, r, err);
    }
    return status;
}

typedef enum { OVER_ODDS, OVER_MISSES, OVER_ALARMS, OVER_ERRORS, OVER_SHARES } compared;

static mel_status add_compared(mel_goal *goal, const mel_steps *steps, compared what, bool largest,
                               mel_error *err)
{
    const size_t k = goal->k;
    mel_status status = MEL_OK;
    goal->program.smallest_weight = 1.0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k && status == MEL_OK; j++) {
            const bool miss = i == 1 && j == 0, alarm = i == 0 && j == 1;
            const double weight = what == OVER_ERRORS || what == OVER_SHARES ? 0.5 : 1.0;
            if (what == OVER_SHARES ? i == 0
                                    : (what == OVER_ODDS && i != j) || (what != OVER_ALARMS && miss) ||
                                          (what != OVER_MISSES && what != OVER_ODDS && alarm))
                status = add_pairs(goal, steps, (quantity){ what == OVER_SHARES ? k : i, j }, largest, weight,
                                   err);
        }
    return status;
}

static const struct {
    const char *name;
    compared what;
} gaps[] = {
    { "equalised-odds", OVER_ODDS },       { "equalized-odds", OVER_ODDS },
    { "equal-opportunity", OVER_MISSES },  { "negative-balance", OVER_ALARMS },
    { "error-rate-balance", OVER_ERRORS }, { "demographic-parity", OVER_SHARES },
};

/* "f2", "f0.5". */
static bool is_f(const char *name)
{
    return name[0] == 'f' && (isdigit((unsigned char)name[1]) || name[1] == '.');
}

static const struct {
    const char *name;
    mel_goal_kind kind;
} shapes[] = {
    { "accuracy", MEL_GOAL_LINEAR },
    { "balanced-accuracy", MEL_GOAL_LINEAR },
    { "weighted-accuracy", MEL_GOAL_LINEAR },
    { "recall", MEL_GOAL_LINEAR },
    { "specificity", MEL_GOAL_LINEAR },
    { "false-positive-rate", MEL_GOAL_LINEAR },
    { "false-negative-rate", MEL_GOAL_LINEAR },
    { "selection-rate", MEL_GOAL_LINEAR },
    { "macro-recall", MEL_GOAL_LINEAR },
    { "weighted-recall", MEL_GOAL_LINEAR },
    { "micro-recall", MEL_GOAL_LINEAR },
    { "micro-precision", MEL_GOAL_LINEAR },
    { "micro-f1", MEL_GOAL_LINEAR },
    { "jaccard", MEL_GOAL_RATIO },
    { "micro-jaccard", MEL_GOAL_RATIO },
    { "precision", MEL_GOAL_RATIO },
    { "kappa", MEL_GOAL_RATIO },
    { "g-mean", MEL_GOAL_CONCAVE },
    { "gmean", MEL_GOAL_CONCAVE },
    { "q-mean", MEL_GOAL_CONCAVE },
    { "distribution-matching", MEL_GOAL_CONCAVE },
    { "psd-q", MEL_GOAL_CONCAVE },
};

static mel_goal_kind plain_shape(const char *name)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(name, shapes[i].name) == 0)
            return shapes[i].kind;
    return is_f(name) ? MEL_GOAL_RATIO : MEL_GOAL_LOCAL;
}

/* Of a measure NAME:WORD that compares groups. */
static mel_status shape_gap(mel_goal *goal, compared what, const char *word, const mel_steps *steps,
                            mel_error *err)
{
    if (*word == '\0' || strcmp(word, "squared") == 0) {
        goal->kind = MEL_GOAL_CONCAVE;
        return MEL_OK;
    }
    goal->kind = MEL_GOAL_KINKED;
    return add_compared(goal, steps, what, strcmp(word, "largest") == 0, err);
}

mel_status mel_goal_shape(mel_goal *goal, const char *name, const mel_steps *steps, mel_error *err)
{
    char plain[NAME_BYTES];
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < NAME_BYTES; n++)
        plain[n] = name[n] == '_' ? '-' : (char)tolower((unsigned char)name[n]);
    plain[n] = '\0';
    char *last = strrchr(plain, ':');
    if (last != NULL && strcmp(last + 1, "every-group") == 0)
        *last = '\0';
    char *colon = strchr(plain, ':'), *word = colon != NULL ? colon + 1 : plain + strlen(plain);
    const bool parted = colon != NULL;
    if (parted)
        *colon = '\0';
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strcmp(plain, gaps[i].name) == 0)
            return shape_gap(goal, gaps[i].what, word, steps, err);
    if (strcmp(plain, "min-recall") == 0 && !parted) {
        goal->kind = MEL_GOAL_KINKED;
        return smallest_recall(goal, steps, 0.0, err);
    }
    if (strcmp(plain, "q-mean") == 0 && strcmp(word, "largest") == 0) {
        goal->kind = MEL_GOAL_KINKED;
        return smallest_recall(goal, steps, -1.0, err);
    }
    if (strcmp(plain, "q-mean") == 0 && strcmp(word, "absolute") == 0)
        goal->kind = MEL_GOAL_LINEAR;
    else if (parted && strcmp(word, "squared") != 0 && strcmp(plain, "weighted-accuracy") != 0 &&
             strcmp(plain, "psd-q") != 0)
        goal->kind = MEL_GOAL_LOCAL;
    else
        goal->kind = plain_shape(plain);
    return MEL_OK;
}
