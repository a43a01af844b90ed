/* Quantiles without sorting and without memory: what an engine needs between two questions. */
#ifndef MEL_ACTIVE_SELECT_H
#define MEL_ACTIVE_SELECT_H

#include <stddef.h>

/* The value of mel_quantile_sort in O(n), 0 <= q <= 1, n >= 1; x is reordered. No NaN. */
double mel_quantile_select(size_t n, double *x, double q);

#endif
