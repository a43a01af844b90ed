/* Algorithms 5.2 and D.3 of the thesis: the trade-off of a fair metric whose weights are known, by halving
 * [0, 1]. One group moves on a sphere on which the cost is linear, or (quadratic) nearly, the others stay at
 * the centre; for every trade-off there is a best point of the sphere. */
#ifndef MEL_ELICIT_SEARCH_TRADE_OFF_H
#define MEL_ELICIT_SEARCH_TRADE_OFF_H

#include "elicit/search/procedure.h"

typedef struct {
    size_t q, group, axis; /* which group moves; quadratic: around a step along this axis */
    double radius;
    /* Gradients of the mistakes' and of the differences' part of the cost in what moves, then the middle of
     * the sphere: q numbers each. */
    double *mistakes, *apart, *middle;
    double *room; /* owns them */
    mel_arc arc;  /* where the trade-off is, as far as known */
} mel_trade_off;

/* On failure, too, for mel_trade_off_clear. */
mel_status mel_trade_off_init(mel_trade_off *trade, size_t q, mel_error *err);
void mel_trade_off_clear(mel_trade_off *trade);

/* What questions about this trade-off can be about. */
typedef struct {
    size_t q, groups;
    bool quadratic;
    const double *tau; /* groups x q: P(G = g | Y = the true class of the coordinate) */
    /* q of a, then one block per pair of groups, q or q x q: as large as the trade-off refers to. */
    const double *weights;
    const double *centre; /* q */
    double radius;        /* of the ball */
    double inner;         /* quadratic: of the sphere */
} mel_trade_off_scene;
/* The group (and axis, for quadratic metrics) for which the two gradients differ most. The thesis takes the
 * first group and axis; its condition for that is not the right one: the answers say nothing when
 * the gradients are parallel. False: they are for all. */
bool mel_trade_off_choose(mel_trade_off *trade, const mel_trade_off_scene *scene);
/* The two gradients for this group and axis; q numbers each. */
void mel_trade_off_gradients(double *mistakes, double *apart, const mel_trade_off_scene *scene, size_t group,
                             size_t axis);

/* The best direction for this trade-off, of unit length; nil where the gradients cancel. */
void mel_trade_off_direction(double *direction, const mel_trade_off *trade, double lambda);
/* The trade-off with which a respondent whose gradients are these would have answered alike if the middle of
 * the arc is the answer: where the metric's slope is at right angles to the way of the best point. */
double mel_trade_off_of(const mel_trade_off *trade, const double *mistakes, const double *apart);

#endif
