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

/* Of a zeroed one. whole: of fractions all coefficients, not only what preferences tell of them. */
mel_status mel_cloud_make(mel_cloud *cloud, mel_session *session, const mel_metric *metric, bool whole,
                          mel_error *err);
/* The coefficients of a metric like that one whose whole vector this is. */
void mel_vector_coefficients(double *out, const double *vector, const mel_metric *like);
/* The share of the draws that are at least as far from their mean as the vector, all at unit length. */
double mel_cloud_beyond(const mel_cloud *cloud, const double *vector, double *work); /* work: 2 size */
void mel_clouds_free(size_t n, mel_cloud *clouds); /* NULL and zeroed ones too */
/* The vector of a metric as in the cloud that the session made. */
void mel_metric_vector(double *out, const mel_session *session, const mel_metric *metric);
/* out: n x n; the diagonal is left alone. */
mel_status mel_clouds_compare(mel_disagreement *out, size_t n, const mel_cloud *clouds, mel_error *err);

#endif
