/* What the two readers of metric files share. */
#ifndef MEL_METRIC_METRIC_READER_H
#define MEL_METRIC_METRIC_READER_H

#include "base/json.h"
#include "metric/metric.h"

/* What a maker refused, as a fault of the file; place NULL when the sentence names it already. */
mel_status mel_read_in_file(mel_error *err, mel_status status, const char *place);
/* NULL when it is missing or null. */
const json_t *mel_read_member(const json_t *object, const char *key);
mel_status mel_read_object(const json_t **out, const json_t *parent, const char *key, mel_error *err);
mel_status mel_read_number(double *out, const json_t *value, const char *place, mel_error *err);

/* "coefficients" and "intervals" of the document into a metric that has everything else. */
mel_status mel_read_coefficients(mel_metric *metric, const json_t *root, mel_error *err);

#endif
