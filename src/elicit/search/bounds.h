/* From a search's last intervals to a linear metric with an interval for every coefficient. */
#ifndef MEL_ELICIT_SEARCH_BOUNDS_H
#define MEL_ELICIT_SEARCH_BOUNDS_H

#include "base/internal.h"
#include "melicit/metric.h"

/* low and high bound each of n non-negative numbers (high may be infinite); afterwards they bound its share
 * of their sum. */
void mel_bounds_normalise(size_t n, double *low, double *high);
/* a and its intervals become those of -a. */
void mel_bounds_negate(size_t n, double *a, double *low, double *high);
/* Half of the widest one. */
double mel_bounds_radius(size_t n, const double *low, const double *high);
/* A utility <a, s> with these intervals; low NULL: without. */
mel_status mel_bounds_metric(mel_metric **out, mel_family family, const mel_layout *layout,
                             const char *const *class_names, const double *a, const double *low,
                             const double *high, mel_error *err);

#endif
