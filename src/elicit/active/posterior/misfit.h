/* Other descriptions of somebody who trades two mistakes for each other, weighed against an exchange rate
 * (exchange.h): what they aim at, and what moves their rate. */
#ifndef MEL_ACTIVE_MISFIT_H
#define MEL_ACTIVE_MISFIT_H

#include "elicit/active/posterior/exchange.h"
#include "melicit/elicit.h"

/* Description of a kind, given the answers. */
typedef struct {
    double evidence;         /* log of how much likelier it makes them than an exchange rate does */
    double value, low, high; /* its number: posterior median and 95% interval */
} mel_description;

/* positives, negatives: their shares among the people whom the trades are about. */
mel_status mel_misfit_weigh(mel_description *out, const mel_exchange *x, mel_misfit_kind kind,
                            double positives, double negatives, mel_error *err);

#endif
