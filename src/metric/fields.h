/* Which keys the coefficients of a metric have in its file, and which coefficients are under each. */
#ifndef MEL_METRIC_FIELDS_H
#define MEL_METRIC_FIELDS_H

#include "metric/metric.h"

typedef struct {
    const char *key;
    size_t first, n; /* coefficients first .. first + n */
    bool scalar;     /* a number instead of an array */
    bool optional;   /* zero when the key is missing */
} mel_field;

enum { MEL_MAX_FIELDS = 4 };
/* In file order; returns how many. */
size_t mel_metric_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric);

#endif
