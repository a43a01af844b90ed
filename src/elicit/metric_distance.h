/* How far the metrics of two respondents are apart: angles between the vectors in which their utilities are
 * linear. */
#ifndef MEL_ELICIT_METRIC_DISTANCE_H
#define MEL_ELICIT_METRIC_DISTANCE_H

#include "elicit/session.h"

/* Draws of one respondent as such vectors, and that of the metric itself. */
typedef struct {
    size_t n, size;
    double *vector; /* n x size */
    double *middle; /* size */
} mel_cloud;

/* Of a zeroed one. */
mel_status mel_cloud_make(mel_cloud *cloud, mel_session *session, const mel_metric *metric, mel_error *err);
void mel_clouds_free(size_t n, mel_cloud *clouds); /* NULL and zeroed ones too */
/* out: n x n; the diagonal is left alone. */
mel_status mel_clouds_compare(mel_disagreement *out, size_t n, const mel_cloud *clouds, mel_error *err);

#endif
