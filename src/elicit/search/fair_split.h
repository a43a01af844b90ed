/* What solvers of fair metrics share: sums over the pairs of groups that sets cut, taken apart. */
#ifndef MEL_ELICIT_SEARCH_FAIR_SPLIT_H
#define MEL_ELICIT_SEARCH_FAIR_SPLIT_H

#include "base/internal.h"

/* Least squares of sum[s] = sum over p of cut[s][p] block[p], for each of n numbers; sum: n_sets x n;
 * block: n_blocks x n. cut: n_sets x n_blocks of full column rank, else MEL_ENUMERIC. */
mel_status mel_fair_split(double *block, size_t n_sets, size_t n_blocks, const double *cut, size_t n,
                          const double *sum, mel_error *err);
/* x = R^-1 x for the upper triangle R (n x n) of a QR factorisation; x: n x n_columns. Where R is singular
 * the unknown is 0; false then. */
bool mel_back_substitute(size_t n, const double *r, size_t n_columns, double *x);

#endif
