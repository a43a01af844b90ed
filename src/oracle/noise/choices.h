/* How likely choices are whose errors depend on the margin by a logistic curve. */
#ifndef MEL_ORACLE_CHOICES_H
#define MEL_ORACLE_CHOICES_H

#include "base/internal.h"

/* P(right) = (most + least e)/(1 + e), e = exp(shift - scale * margin): from least to most. */
typedef struct {
    double scale, shift, most, least;
} mel_leaning;

/* Log-probability of n choices with the margins gain * (value + t slope), positive where the choice is right.
 */
double mel_log_choices(size_t n, const double *gain, const double *value, const double *slope, double t,
                       const mel_leaning *leaning);

#endif
