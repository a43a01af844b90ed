/* The goal of several people: the least worst regret. */
#ifndef MEL_CLASSIFY_COMPROMISE_H
#define MEL_CLASSIFY_COMPROMISE_H

#include "classify/goal.h"
#include "melicit/classify.h"

/* Regrets of n people, constant - <gain, x> each; what is best for each of them, and for the mean of their
 * metrics. */
typedef struct {
    size_t n, size;
    double *gain, *constant, *own, *mean, *pooled, *floored;
} mel_people_goal;
/* Both are to be cleared, after a failure too. */
mel_status mel_goal_of_people(mel_goal *goal, mel_people_goal *people, size_t n, const mel_person *person,
                              mel_steps *steps, mel_error *err);
void mel_people_goal_clear(mel_people_goal *people);
/* What they lose with a rule that does x; price: of the terms. */
mel_status mel_compromise_judge(mel_compromise *out, const mel_people_goal *people, const double *x,
                                const double *price, mel_error *err);
void mel_compromise_clear(mel_compromise *found);

#endif
