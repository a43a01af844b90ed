/* One quadratic search (Algorithm 6.1 of the thesis) as part of a plan: its stations, and the quadratic
 * function <d, z> + z'Bz/2 of the displacement z = s - o from the ball's centre that has their slopes. Fair
 * quadratic metrics have one such function for every set of groups that move together. */
#ifndef MEL_ELICIT_SEARCH_QUADRATIC_SLOPES_H
#define MEL_ELICIT_SEARCH_QUADRATIC_SLOPES_H

#include "elicit/search/slopes.h"

/* Radius of the questions around each place. */
double mel_quadratic_inner(double ball_radius);

/* Adds the stations o, o + h e_1, .., o + h e_q, o - h e_1 (in this order; h = ball's radius - inner radius)
 * for the groups that move (one flag per group; NULL: all), the others staying at o. With opt.diagonal_b they
 * are o and o + h e_j, of which the latter need mel_quadratic_prepare. */
mel_status mel_quadratic_add(mel_plan *plan, const bool *moves, mel_error *err);
/* How many that are. */
size_t mel_quadratic_stations(const mel_plan *plan);
/* For mel_plan.prepare: station `at` of the plan, of the search whose first station is `first`. Does nothing
 * unless opt.diagonal_b. */
void mel_quadratic_prepare(mel_plan *plan, size_t first, size_t at);

typedef struct {
    size_t q;
    /* q numbers of d, then q x q of B, of the utility and up to a common positive factor: d and h B together
     * have length 1. Stations that were not reached are taken to be as the first one (no curvature), and all
     * are nil when that was not reached either, or when none has a slope. */
    double *value;
    /* n_changes x (q + q q): what they change by, to first order, when one angle of one slope is off by half
     * of its last interval; the changes are independent of each other. */
    size_t n_changes;
    double *change;
    double spread; /* three standard deviations of d and h B together, which have length 1 */
    bool known;    /* all stations reached, and they determine the value; else changes say nothing */
    bool flat;     /* all stations reached, and none has a slope */
    /* The first station was reached and has none, or what all say together is that d may be nil
     * (mel_change_hides): answers at a flat place may be chance. */
    bool flat_centre;
} mel_quadratic_found;
/* By least squares, from the stations that start with `first`. On failure, too, for mel_quadratic_clear. */
mel_status mel_quadratic_solve(mel_quadratic_found *found, const mel_plan *plan, size_t first,
                               mel_error *err);
void mel_quadratic_clear(mel_quadratic_found *found);

#endif
