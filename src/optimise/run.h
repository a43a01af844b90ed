/* A run of the optimiser. */
#ifndef MEL_OPTIMISE_RUN_H
#define MEL_OPTIMISE_RUN_H

#include "base/digest.h"
#include "optimise/optimise.h"

/* The current classifier, the last rule, and the weights and steps that led here. */
typedef struct {
    mel_weighting w;
    size_t *cells;
    mel_iterate now, rule;
    size_t n_weight;              /* numbers in one rule's weights */
    double *weight;               /* rules so far, n_weight each: the start, then one per iteration */
    double *step;                 /* towards each; the first is 1 */
    char (*sums)[MEL_DIGEST_HEX]; /* of what each does on all rows: rules with the same are one in mixtures */
    uint32_t n_rules, capacity;
    double *gain;  /* scratch: n_basis x k x k */
    double *block; /* everything above but weight and step */
} mel_run;

/* Room for one more rule; its weights, or NULL. */
double *mel_run_add_rule(mel_run *run, double step);

#endif
