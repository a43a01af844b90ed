/* Which keys the coefficients of a metric have in its file, and which coefficients are under each. */
#ifndef MEL_METRIC_FIELDS_H
#define MEL_METRIC_FIELDS_H

#include "metric/metric.h"

/* side^rank numbers in arrays nested `rank` deep (0: a number), once, or for every pair of `groups` groups
 * in an object with the keys "1-2", "1-3", .., "2-3", ... */
typedef struct {
    const char *key;
    size_t first; /* its first coefficient */
    size_t side;
    uint32_t rank;
    size_t groups; /* below 2: no pairs */
    bool optional; /* zero when the key is missing */
} mel_field;

enum { MEL_MAX_FIELDS = MEL_MAX_DEGREE };
/* In file order; returns how many. */
size_t mel_metric_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric);

#endif
