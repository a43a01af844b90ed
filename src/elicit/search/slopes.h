/* From slopes at several places to the function that has them: its gradient is linear in unknown numbers, and
 * a slope tells the gradient's direction. All of them together are a homogeneous system, solved by least
 * squares: at a place with slope f, (I - f f') gradient = 0. */
#ifndef MEL_ELICIT_SEARCH_SLOPES_H
#define MEL_ELICIT_SEARCH_SLOPES_H

#include "elicit/search/plan.h"

typedef struct {
    size_t n_coordinates; /* q */
    size_t n_unknown;     /* at least 2 */
    /* The q x n_unknown matrix whose product with the unknowns is the gradient at a place. Unknowns should be
     * scaled so that they count about alike at the places that are asked about. */
    void (*gradient)(void *context, const double *place, double *matrix);
    void *context;
} mel_slope_model;

/* A station as the solver sees it: place is what the model's gradient takes. */
typedef struct {
    const double *place;
    const mel_station *station;
} mel_slope_at;

typedef struct {
    size_t n_unknown, n_changes;
    double *value; /* of length 1, with gradients along the slopes; nil when no place has a slope */
    /* n_changes x n_unknown: what the value changes by, to first order, when one angle of one slope is off by
     * half of its last interval; changes are independent of each other. */
    double *change;
    /* The slopes determine the value, whose gradients go along all of them as far as can be told; else it is
     * one of many that fit, or fits badly, and there are no changes. */
    bool unique;
    bool flat; /* no place has a slope */
} mel_slope_fit;

/* Stations that were not reached are left out. On failure, too, the fit is for mel_slope_fit_clear. */
mel_status mel_slope_fit_make(mel_slope_fit *fit, const mel_slope_model *model, size_t n,
                              const mel_slope_at *at, mel_error *err);
void mel_slope_fit_clear(mel_slope_fit *fit);

/* Whether the first n numbers of a value of length 1 are nil as far as can be told: none is farther from it
 * than three standard deviations, and these are small. change: n_changes rows of `stride` numbers. */
bool mel_change_hides(size_t n, const double *value, size_t stride, size_t n_changes, const double *change);

/* One quadratic search (Algorithm 6.1 of the thesis) as part of a plan: its stations, and the quadratic
 * function <d, z> + z'Bz/2 of the displacement z = s - o from the ball's centre that has their slopes. Fair
 * quadratic metrics have one such function for every set of groups that move together. */

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

/* The search for a polynomial of degree D >= 2 (section 6.6 of the thesis): the recursion's nested places,
 * and the polynomial of the displacement z from the ball's centre that has the slopes found there. */

/* The terms of a polynomial in q coordinates without a constant: the distinct entries of its symmetric
 * tensors. */
typedef struct {
    size_t q, n_terms;
    uint32_t degree;
    uint32_t *order;  /* n_terms: of which tensor */
    size_t *index;    /* n_terms x degree: the coordinates of a term, ascending; the first `order` count */
    double *weight;   /* n_terms: root of how often the entry is in its tensor */
    size_t n_entries; /* of all tensors, q + q^2 + .. + q^degree */
    size_t *term;     /* n_entries: of which term an entry is */
} mel_terms;
/* MEL_ELIMIT when there are more than 1200 terms. On failure, too, for mel_terms_clear. */
mel_status mel_terms_make(mel_terms *terms, size_t q, uint32_t degree, mel_error *err);
void mel_terms_clear(mel_terms *terms);

/* Radius of the questions around each place. */
double mel_polynomial_inner(double tolerance, double ball_radius);
/* Adds the places of the recursion, each once: o, and in the direction of every sum of up to degree - 1 steps
 * along axes, those along the first one all forwards or all backwards. A sum of n steps is at n/(degree - 1)
 * of h = the ball's radius less the inner one: farther out than nested balls allow, which makes the system up
 * to eight times better conditioned (cubics of 6 coordinates). */
mel_status mel_polynomial_add(mel_plan *plan, const mel_terms *terms, mel_error *err);
/* Least squares over the plan's stations. Unknowns are the terms' entries times their weight and h^(order -
 * 1), h being the ball's radius less the inner one. On failure, too, for mel_slope_fit_clear. */
mel_status mel_polynomial_solve(mel_slope_fit *fit, const mel_plan *plan, const mel_terms *terms,
                                mel_error *err);
/* All entries of all tensors at the centre from such unknowns. */
void mel_polynomial_spread(const mel_plan *plan, const mel_terms *terms, const double *unknown,
                           double *entry);

#endif
