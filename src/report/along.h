/* Metrics evaluated along the upper boundary of a face. */
#ifndef MEL_REPORT_ALONG_H
#define MEL_REPORT_ALONG_H

#include "melicit/report.h"

/* n evenly spaced angles in [0, pi/2]; n >= 2. */
void mel_along_angles(size_t n, double *angle);
/* Values as utilities (costs negated) at the support points of the angles. */
mel_status mel_along_values(double *value, const mel_face *face, size_t n, const double *angle,
                            const mel_metric *metric, mel_error *err);

#endif
