/* Quantiles without sorting and without memory: what an engine needs between two questions. */
#ifndef MEL_ACTIVE_SELECT_H
#define MEL_ACTIVE_SELECT_H

#include <stddef.h>

/* The value of mel_quantile_sort in O(n), 0 <= q <= 1, n >= 1; x is reordered. No NaN. */
double mel_quantile_select(size_t n, double *x, double q);
/* The interval between the quantiles 1 - level and level of every column of n rows, around the middle at
 * least. column: n numbers of work. */
void mel_column_intervals(size_t n, size_t columns, const double *rows, const double *middle, double level,
                          double *column, double *low, double *high);

#endif
