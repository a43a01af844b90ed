/* Several linear searches, one after the other, as the procedures of chapters 5 and 6 put them together. At
 * each station the utility is linear, or nearly so, in what moves there, and Algorithm 4.2 finds its slope.
 */
#ifndef MEL_ELICIT_SEARCH_PLAN_H
#define MEL_ELICIT_SEARCH_PLAN_H

#include "elicit/search/procedure.h"
#include "elicit/search/sphere.h"

typedef struct mel_plan mel_plan;
typedef struct {
    double *middle;    /* a point of the layout, all groups: questions are about points around it */
    bool *moves;       /* one per group (one at least): which of them a question's direction moves */
    double radius;     /* how far */
    size_t n;          /* directions searched: coordinates of a group, or fewer (basis) */
    double *basis;     /* n x per_group, orthonormal rows; NULL: the axes */
    signed char *sign; /* n: what is known of the slope's signs; 0: unknown */
    /* Found, as far as the answers go: */
    bool reached;  /* each of its angles has been searched, or it is flat; else the rest means nothing */
    bool flat;     /* the respondent does not mind any change here */
    double *slope; /* of the utility: per_group numbers of unit length; nil when flat */
    /* (n - 1) x per_group: how far half of the last interval of each angle moves the slope; these are at
     * right angles to it and to each other. Nil when flat. */
    double *change;
} mel_station;

struct mel_plan {
    mel_procedure procedure; /* first: the plan is its engine */
    mel_session_options opt;
    const mel_ball *ball;
    size_t per_group, groups, size;
    size_t n_stations, capacity;
    mel_station *station;
    size_t at, start; /* the station that is being searched, and how many answers came before it */
    mel_sphere_search search;
    double *found; /* room for what it finds */
    /* Called when a station begins, with the slopes of those before; may set its middle, basis and signs.
     * NULL: nothing to do. */
    mel_status (*prepare)(mel_plan *plan, size_t station, mel_error *err);
    /* Questions after the last station, from replay->used on; *ended: all have answers. NULL: none. */
    mel_status (*finish)(mel_plan *plan, bool *ended, mel_error *err);
    uint32_t n_finish; /* how many */
};

/* A zeroed plan for points of the ball; opt is copied, the ball lent. On failure, too, for mel_plan_clear. */
mel_status mel_plan_init(mel_plan *plan, const mel_ball *ball, const mel_session_options *opt,
                         mel_error *err);
void mel_plan_clear(mel_plan *plan);
/* One more station around the centre of the ball in every group, all groups moving, with these directions,
 * signs unknown; the caller changes what is otherwise. basis: room for one. MEL_EINVAL for a radius so small
 * that rounding would answer. */
mel_status mel_plan_add(mel_station **station, mel_plan *plan, double radius, size_t n, bool basis,
                        mel_error *err);
/* After the last station was added: counts the questions. */
mel_status mel_plan_begin(mel_plan *plan, mel_error *err);
/* For results: brings what the last station says up to date with the answers so far. */
void mel_plan_settle(mel_plan *plan);

#endif
