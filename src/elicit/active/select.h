/* Quantiles without sorting and without memory: what an engine needs between two questions. */
#ifndef MEL_ACTIVE_SELECT_H
#define MEL_ACTIVE_SELECT_H

#include "base/internal.h"

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

/* Of `count` draws, chain after chain, the worst over the axes (z: count x stride): split-chain potential
 * scale reduction (1: mixed), and how many independent draws they are worth. */
void mel_mixing(size_t count, size_t chains, size_t axes, const double *z, size_t stride, double *reduction,
                double *effective);
/* Which of n draws `chains` chains start at, by their weights (systematic resampling; shift: 0 to 1). */
void mel_resample(size_t *picked, size_t chains, size_t n, const double *weight, double shift);

#endif
