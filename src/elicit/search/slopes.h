/* From slopes at several places to the polynomial that has them: its gradient is linear in its coefficients,
 * and a slope tells the gradient's direction. All of them together are a homogeneous system, solved by least
 * squares: at a place with slope f, (I - f f') gradient = 0. Quadratic metrics (Algorithm 6.1 of the thesis)
 * are those of degree 2, with places of their own for a diagonal matrix; fair quadratic ones have one such
 * function for every set of groups that move together. Section 6.6 has the others. */
#ifndef MEL_ELICIT_SEARCH_SLOPES_H
#define MEL_ELICIT_SEARCH_SLOPES_H

#include "elicit/search/plan.h"

/* The terms of a polynomial in q coordinates without a constant: the distinct entries of its symmetric
 * tensors, without those off the diagonal of a matrix that has none. */
typedef struct {
    size_t q, n_terms;
    uint32_t degree;
    uint32_t *order;  /* n_terms: of which tensor */
    size_t *index;    /* n_terms x degree: the coordinates of a term, ascending; the first `order` count */
    double *weight;   /* n_terms: root of how often the entry is in its tensor */
    size_t n_entries; /* of all tensors, q + q^2 + .. + q^degree */
    size_t *term;     /* n_entries: of which term an entry is; n_terms: of none, it is nil */
} mel_terms;

/* The polynomial, of the displacement z from the ball's centre, that a search looks for. */
typedef struct {
    mel_terms terms;
    bool wide, planes; /* as for quadratic metrics; with a diagonal matrix */
    double inner; /* radius of the questions around each place, but around the centre where they are wide */
    double reach; /* how far the farthest place is from the centre: the ball's radius less the inner one */
    size_t n_stations; /* of one search */
} mel_curve;

/* The one that the plan's options mean. MEL_ELIMIT when there are more than 1200 terms. On failure, too, for
 * mel_curve_clear. */
mel_status mel_curve_init(mel_curve *curve, const mel_plan *plan, mel_error *err);
void mel_curve_clear(mel_curve *curve); /* of a zeroed one too */
/* Adds the stations of one search for the groups that move (one flag per group; NULL: all), the others
 * staying at the centre o: the places of the recursion, each once: o, and in the direction of every sum of up
 * to degree - 1 steps along axes, those along the first one all forwards or all backwards. A sum of n steps
 * is at n/(degree - 1) of the reach: farther out than nested balls allow, which makes the system up to eight
 * times better conditioned (cubics of 6 coordinates). With planes they are o and one for each axis, which
 * need mel_curve_prepare. */
mel_status mel_curve_add(mel_plan *plan, const mel_curve *curve, const bool *moves, mel_error *err);
/* For mel_plan.prepare: station `at` of the plan, of the search whose first station is `first`. */
void mel_curve_prepare(mel_plan *plan, const mel_curve *curve, size_t first, size_t at);

typedef struct {
    double *value; /* n_entries: all tensors of the utility at the centre, up to a common positive factor.
                    * Stations that were not reached are taken to be as the first one (no curvature), and all
                    * are nil when that was not reached either, or when none has a slope. */
    /* The same by terms: entries times their weight and reach^(order - 1), together of length 1; and
     * n_changes x n_terms: what these change by, to first order, when one angle of one slope is off by half
     * of its last interval; the changes are independent of each other. */
    double *unknown, *change;
    size_t n_changes;
    double spread; /* three standard deviations of the unknowns together */
    bool known;    /* all stations reached, and they determine the value; else changes say nothing */
    bool flat;     /* all stations reached, and none has a slope */
    /* The first station was reached and has none, or what all say together is that the gradient at the centre
     * may be nil: no number is farther from it than three standard deviations, and these are small. */
    bool flat_centre;
} mel_curve_found;
/* By least squares, from the stations that start with `first`. On failure, too, for mel_curve_found_clear. */
mel_status mel_curve_solve(mel_curve_found *found, const mel_plan *plan, const mel_curve *curve, size_t first,
                           mel_error *err);
void mel_curve_found_clear(mel_curve_found *found);
/* All entries of all tensors from such unknowns. */
void mel_curve_spread(const mel_curve *curve, const double *unknown, double *entry);

#endif
