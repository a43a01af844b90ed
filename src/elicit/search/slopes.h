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

#endif
