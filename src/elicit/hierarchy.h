/* People as draws from a population: each one's vector lies around a common one, and how far is learned. */
#ifndef MEL_ELICIT_HIERARCHY_H
#define MEL_ELICIT_HIERARCHY_H

#include "elicit/metric_distance.h"

typedef struct {
    size_t n, size;
    double *common;       /* size numbers, unit length: people's mean */
    double *deviation;    /* size numbers: standard errors of the common vector */
    double *middle;       /* size numbers, unit length: where the population's density is highest; ... */
    double concentration; /* ... it is exp(concentration cos(angle to the middle)) */
    double spread;        /* root mean square distance of people to the common vector, about radians */
    double *person;       /* n x size, unit length: each one's given everybody's answers */
} mel_hierarchy;

/* By expectation maximisation on the draws, which must be of posteriors without a prior metric; equal draws
 * give equal results. sign: -1, 1, or 0 for each number of a vector, as they are in all draws. */
mel_status mel_hierarchy_fit(mel_hierarchy *out, size_t n, const mel_cloud *clouds, const signed char *sign,
                             mel_error *err);
void mel_hierarchy_clear(mel_hierarchy *hierarchy);

#endif
