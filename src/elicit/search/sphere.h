/* Algorithms 4.2 and 4.5 of the thesis: the best and the worst point of a sphere, angle by angle, with the
 * signs of the slope's coordinates found first where they are not known. */
#ifndef MEL_ELICIT_SEARCH_SPHERE_H
#define MEL_ELICIT_SEARCH_SPHERE_H

#include "elicit/search/procedure.h"
#include "melicit/elicit.h"

typedef struct {
    const mel_session_options *opt; /* tolerance, per_round, cycles */
    mel_replay *replay;
    size_t n;   /* coordinates, at least 2 */
    bool twice; /* the worst point, too */
    /* One more question, after the signs: a step along all of them together must be an improvement; if
     * not, the slope is nil and the search ends there. */
    bool verify;
    /* Writes the question "is the point in direction `to` better than the one in direction `from`?" into
     * replay->a and replay->b; directions are n numbers of unit length. */
    void (*pose)(void *context, const double *from, const double *to);
    void *context;
    signed char *given; /* what is known of the signs of the slope at the best point; 0: unknown */
    signed char *sign;  /* the same with what was found; 0: not asked yet */
    /* Where each of the n - 1 angles of (|slope| at the best, at the worst point) is, as far as known. */
    mel_arc *upper, *lower;
    double *angle;     /* n - 1: of the point that a question is about */
    double *direction; /* 2 n: where a question's points are */
    bool flat;         /* verified, and found to have no slope */
    /* Searches of single angles that have ended, and how many answers they and the signs took: these need not
     * be run over again (at 650 coordinates there are 41,536 questions). */
    size_t step, used;
} mel_sphere_search;

/* What is set above replay is the caller's to set afterwards; signs are unknown. On failure, too, the search
 * is for mel_sphere_clear. */
mel_status mel_sphere_init(mel_sphere_search *search, size_t n, const mel_session_options *opt,
                           mel_replay *replay, mel_error *err);
/* The signs that the options tell of the slope of a utility in the layout's coordinates of one group. */
void mel_sphere_signs(signed char *given, size_t n, const mel_session_options *opt, const mel_layout *layout);
void mel_sphere_clear(mel_sphere_search *search);
/* Questions from start to end. */
uint32_t mel_sphere_total(const mel_sphere_search *search);
/* Runs over the recorded answers from replay->used on. True: to the end; false: stopped at a question without
 * an answer. Goes on from where it stopped the last time, unless there are fewer answers than it had used
 * then: between two calls answers may be added, or all be forgotten. */
bool mel_sphere_run(mel_sphere_search *search);
/* Forgets what was found, for a search at another place. */
void mel_sphere_restart(mel_sphere_search *search);

/* The slope (unit length) at the best point, or the direction of the worst one, as far as known. */
void mel_sphere_slope(double *slope, const mel_sphere_search *search, const mel_arc *arcs);
/* (n - 1) x n: how far half of what is left of each angle's interval moves that slope. */
void mel_sphere_changes(double *change, const mel_sphere_search *search, const mel_arc *arcs);
/* Whether every angle of the best point has been searched, or the search has found no slope. */
bool mel_sphere_reached(const mel_sphere_search *search);
/* Whether an angle was sought up to an end of its range, where coordinates come out as nothing, though the
 * sign of one of these was declared, not asked for: it may be the other one. */
bool mel_sphere_at_end(const mel_sphere_search *search, const mel_arc *arcs);
/* Whether no slope was found with the signs that were declared: it may be the opposite one. */
bool mel_sphere_refused(const mel_sphere_search *search);
/* Bounds of the coordinates of |slope|. */
void mel_sphere_bounds(double *low, double *high, const mel_sphere_search *search, const mel_arc *arcs);

#endif
