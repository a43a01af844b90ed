/* Parameters of binary linear-fractional metrics from supporting lines; see fractional.c. */
#ifndef MEL_ELICIT_FRACTIONAL_H
#define MEL_ELICIT_FRACTIONAL_H

#include "base/internal.h"
#include "elicit/shared.h"

/* Proposition 3.3: q and q0 when p (with p0 = 0) is known, from the supporting line at the maximiser. */
mel_status mel_fractional_from_p(double q[2], double *q0, const double p[2], mel_line upper, double positives,
                                 double negatives, mel_error *err);

#endif
