/* Algorithms 4.2 and 4.5 of the thesis: the best and the worst point of a sphere, angle by angle, with the
 * signs of the slope's coordinates found first where they are not known. */
#ifndef MEL_ELICIT_SEARCH_SPHERE_H
#define MEL_ELICIT_SEARCH_SPHERE_H

#include "elicit/search/interval.h"
#include "melicit/elicit.h"

typedef struct {
    const mel_ball *ball;
    const mel_session_options *opt;
    mel_replay *replay;
    size_t n;           /* coordinates, at least 2 */
    signed char *given; /* what is known of the signs of the slope at the best point; 0: unknown */
    signed char *sign;  /* the same with what was found; 0: not asked yet */
    /* Where each of the n - 1 angles of (|slope| at the best, at the worst point) is, as far as known. */
    mel_arc *upper, *lower;
    double *angle; /* n - 1: of the point that a question is about */
    /* Searches of single angles that have ended, and how many answers they and the signs took: these need not
     * be run over again (at 650 coordinates there are 41,536 questions). */
    size_t step, used;
} mel_sphere_search;

/* MEL_EINVAL for statistics with groups. On failure, too, the search is for mel_sphere_clear. */
mel_status mel_sphere_init(mel_sphere_search *search, const mel_ball *ball, const mel_session_options *opt,
                           mel_replay *replay, mel_error *err);
void mel_sphere_clear(mel_sphere_search *search);
/* Questions from start to end. */
uint32_t mel_sphere_total(const mel_sphere_search *search);
/* Runs over the recorded answers. True: to the end; false: stopped at a question without an answer. Goes on
 * from where it stopped the last time, unless there are fewer answers than it had used then: between two
 * calls answers may be added, or all be forgotten. */
bool mel_sphere_run(mel_sphere_search *search);

/* The slope (unit length) at the best point, or the direction of the worst one, as far as known. */
void mel_sphere_slope(double *slope, const mel_sphere_search *search, const mel_arc *arcs);
/* Bounds of the coordinates of |slope|. */
void mel_sphere_bounds(double *low, double *high, const mel_sphere_search *search, const mel_arc *arcs);
/* The point of the ball in this direction. */
void mel_sphere_point(double *point, const mel_ball *ball, const double *direction);

#endif
