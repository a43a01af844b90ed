/* Algorithms 4.4 and 4.6: linear-fractional metrics of any dimension by a grid over pairwise ratios. Kept to
 * compare with; the closed forms need no grid and are exact. */
#ifndef MEL_ELICIT_SEARCH_GRID_H
#define MEL_ELICIT_SEARCH_GRID_H

#include "base/internal.h"

enum { MEL_GRID_POINTS = 1000, MEL_GRID_STEPS = 100 };

/* What the ratios of one pair need of a point: its two coordinates and both slopes' values there. */
typedef struct {
    double own, other, upper, lower;
} mel_grid_point;

typedef struct {
    size_t n;
    size_t reference;
    /* The metric's value at the corner (the perfect classifier's diagonal, or the most mistakes possible):
     * 1 or -1, and the corner. */
    double value;
    const double *corner;
    const signed char *sign; /* of each coefficient; NULL: all positive */
    /* The supporting hyperplanes <slope, c> = constant at the best and at the worst point. */
    const double *upper, *lower;
    double c_upper, c_lower;
    /* Fills MEL_GRID_POINTS points for the pair (reference, other). */
    mel_status (*sample)(mel_grid_point *points, void *context, size_t other, mel_error *err);
    void *context;
} mel_grid;

/* a with |a|_1 = 1 from the ratios for which the two solutions are most nearly multiples of each other, then
 * b and b0 from the upper hyperplane. */
mel_status mel_grid_solve(double *a, double *b, double *b0, const mel_grid *grid, mel_error *err);

#endif
