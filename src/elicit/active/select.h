/* Quantiles without sorting and without memory: what an engine needs between two questions. */
#ifndef MEL_ACTIVE_SELECT_H
#define MEL_ACTIVE_SELECT_H

#include <stddef.h>

/* The value of mel_quantile_sort in O(n), 0 <= q <= 1, n >= 1; x is reordered. No NaN. */
double mel_quantile_select(size_t n, double *x, double q);
/* The numbers of a column, every `stride`-th of x, brought to within a few deviations of their middle, into
 * out: deviations of normal numbers with the same quartiles. work: n numbers. */
void mel_bound_column(size_t n, const double *x, double *out, size_t stride, double *work);
/* The interval between the quantiles 1 - level and level of every column of n rows, around the middle at
 * least. column: n numbers of work. */
void mel_column_intervals(size_t n, size_t columns, const double *rows, const double *middle, double level,
                          double *column, double *low, double *high);
/* The share `level` of n rows is within this of the middle in every column, and the interval between the
 * quantiles 1 - side_level and side_level of any column, widened to contain the middle, is at most twice as
 * wide; lengths of column j count unit[j] times (NULL: once). work: n numbers. */
double mel_cloud_radius(size_t n, size_t columns, const double *rows, const double *middle,
                        const double *unit, double side_level, double level, double *work);

#endif
