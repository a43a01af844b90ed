/* What a rule is to be best for: a measure of confusion matrices, how it is shaped, and limits. */
#ifndef MEL_CLASSIFY_GOAL_H
#define MEL_CLASSIFY_GOAL_H

#include "classify/program.h"
#include "metric/shared.h"

typedef struct {
    mel_shape kind;       /* kinked: all of it is in the program */
    mel_measure *measure; /* owned; NULL: the program is all there is */
    double sign;          /* -1: the measure is a cost; values below are utilities, sign times the measure */
    size_t k, d, n_groups, size;
    bool pooled;              /* the measure does not know groups */
    double *seen;             /* room for what the measure looks at; NULL: it looks at x */
    mel_program program;      /* c and terms of linear and kinked goals; limits of all */
    const mel_metric *metric; /* what the measure was made of, lent; NULL: a name */
    double refer_cost;        /* of a case, in the metric's own numbers; NaN: nothing is referred */
} mel_goal;

/* For what these steps achieve; exactly one of metric and name. */
mel_status mel_goal_of_metric(mel_goal *out, const mel_metric *metric, const mel_steps *steps,
                              mel_error *err);
mel_status mel_goal_named(mel_goal *out, const char *name, const mel_steps *steps, mel_error *err);
/* One whose terms the caller adds: kinked, a cost, without a measure. */
mel_status mel_goal_of_terms(mel_goal *out, const mel_steps *steps, mel_error *err);
void mel_goal_clear(mel_goal *goal);
/* A linear goal for one more decision that costs `cost` cheapest mistakes. */
mel_status mel_goal_refer(mel_goal *goal, double cost, mel_error *err);

/* Utilities. MEL_ENUMERIC where the measure is not defined. */
mel_status mel_goal_value(double *out, const mel_goal *goal, const double *x, mel_error *err);
mel_status mel_goal_gradient(double *out, const mel_goal *goal, const double *x, mel_error *err);
/* What deciding at random, with all decisions alike, achieves. */
void mel_goal_uniform(double *x, const mel_goal *goal, const mel_steps *steps);
/* The share of rows of class r % k in group r / k; of a measure that does not know groups, r < k, in all. */
double mel_goal_mass(const mel_goal *goal, const mel_steps *steps, size_t r);
/* How many such r there are. */
size_t mel_goal_masses(const mel_goal *goal);
/* What the measure looks at: x, or its sums over groups. */
const double *mel_goal_seen(const mel_goal *goal, const double *x);
/* -infinity where it is not defined. */
double mel_goal_at(const mel_goal *goal, const double *x);
/* How far x breaks the limits, added up. */
double mel_goal_violation(const mel_goal *goal, const double *x);

#endif
