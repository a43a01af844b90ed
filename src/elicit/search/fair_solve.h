/* From slopes of a fair metric at several places to its weights, which are known up to a common factor: x
 * (mistakes, (1 - lambda) a) and one block y per pair of groups (differences, lambda b or lambda B). Slopes
 * are of the cost, of unit length, or nil where nothing matters. */
#ifndef MEL_ELICIT_SEARCH_FAIR_SOLVE_H
#define MEL_ELICIT_SEARCH_FAIR_SOLVE_H

#include "base/internal.h"

/* Places where a fair linear cost is linear: some groups move together, the others stay on one side. The
 * gradient in what moves is share * x + side * (sum of the blocks that are cut), coordinate by coordinate. */
typedef struct {
    size_t q, n_places, n_blocks;
    const double *share;     /* n_places x q: of everybody, how much moves */
    const double *side;      /* n_places x q: 1 where what moves is above what stays, -1 where it is below */
    const double *cut;       /* n_places x n_blocks: how often a block counts */
    const double *known;     /* q: x up to a positive factor; NULL: unknown */
    const signed char *sign; /* q: of x; 0: either; NULL: all unknown */
    bool apart_positive;     /* y >= 0 */
} mel_fair_places;

/* weights: q numbers of x, then q of each block. Unless x is known, everything moves at the first place; the
 * others come in twos, with those that stay at the rates of the first and of the last class. All slopes at
 * once by least squares: every slope is a gradient but for its length, slopes weigh alike
 * whatever that is, and weights whose sign would be against the rules are zero. All nil when no place has a
 * slope. */
mel_status mel_fair_linear_squares(double *weights, const mel_fair_places *places, const double *slope,
                                   mel_error *err);

/* Sets of groups that move together while the others stay at the centre: q + 2 places each, the centre, a
 * step forward along each axis, and a step back along the first. The gradient of a fair quadratic cost at
 * distance z is share * x + W z with W the sum of the blocks that are cut. */
typedef struct {
    size_t q, n_sets, n_blocks;
    const double *share; /* n_sets x q */
    const double *cut;   /* n_sets x n_blocks */
    const double *known; /* q: x up to a positive factor; NULL: unknown */
    double step;
    bool apart_positive; /* blocks are positive semidefinite: negative eigenvalues are taken to be 0 */
} mel_fair_sets;
/* weights: q numbers of x, then q x q of each block; slope: n_sets x (q + 2) x q. */
mel_status mel_fair_quadratic_squares(double *weights, const mel_fair_sets *sets, const double *slope,
                                      mel_error *err);
/* The same from a quadratic function of each set, q numbers of its gradient at the centre and q x q of its
 * curvature (n_sets x (q + q q)), each known up to a positive factor of its own. */
mel_status mel_fair_quadratic_join(double *weights, const mel_fair_sets *sets, const double *found,
                                   mel_error *err);
/* Makes a symmetric q x q matrix positive semidefinite: its negative eigenvalues become 0. */
mel_status mel_fair_make_positive(size_t q, double *block, mel_error *err);

/* --- what both share */

/* Least squares of sum[s] = sum over p of cut[s][p] block[p], for each of n numbers; sum: n_sets x n;
 * block: n_blocks x n. cut: n_sets x n_blocks of full column rank, else MEL_ENUMERIC. */
mel_status mel_fair_split(double *block, size_t n_sets, size_t n_blocks, const double *cut, size_t n,
                          const double *sum, mel_error *err);
/* x = R^-1 x for the upper triangle R (n x n) of a QR factorisation; x: n x n_columns. Where R is singular
 * the unknown is 0; false then. */
bool mel_back_substitute(size_t n, const double *r, size_t n_columns, double *x);

#endif
