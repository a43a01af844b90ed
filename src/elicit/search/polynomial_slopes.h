/* The search for a polynomial of degree D >= 2 (section 6.6 of the thesis): the recursion's nested places,
 * and the polynomial of the displacement z from the ball's centre that has the slopes found there. */
#ifndef MEL_ELICIT_SEARCH_POLYNOMIAL_SLOPES_H
#define MEL_ELICIT_SEARCH_POLYNOMIAL_SLOPES_H

#include "elicit/search/slopes.h"

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
