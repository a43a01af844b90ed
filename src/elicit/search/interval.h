/* The searches' common step: an interval of one parameter of the boundary is halved by comparing five points
 * of it, until it is narrow enough (subroutine ShrinkInterval of the thesis). */
#ifndef MEL_ELICIT_SEARCH_INTERVAL_H
#define MEL_ELICIT_SEARCH_INTERVAL_H

#include "elicit/search/prefer.h"

/* An interval of the parameter (radians, or the share m of a weight); its middle is the estimate. */
typedef struct {
    double low, high;
} mel_arc;

static inline double mel_arc_middle(mel_arc arc)
{
    return 0.5 * (arc.low + arc.high);
}

/* Whether halving a range has led to one of its ends: what is looked for may lie beyond it. */
bool mel_arc_at_end(mel_arc arc, mel_arc range);
/* How often an arc is halved until it is no wider than the tolerance. */
uint32_t mel_arc_rounds(mel_arc arc, double tolerance);

typedef struct {
    mel_replay *replay;
    double tolerance;
    uint32_t per_round; /* 4: all questions; 3: without the last; 2: without the first and the last */
    bool minimise;      /* look for the worst point: responses inverted */
    /* Writes the question "is the point at `to` better than the one at `from`?" into replay->a and replay->b.
     */
    void (*pose)(void *context, double from, double to);
    void *context;
} mel_arc_search;
/* Halves *arc until it is narrow enough (true) or a question has no answer yet (false). */
bool mel_arc_narrow(mel_arc *arc, const mel_arc_search *search);

#endif
