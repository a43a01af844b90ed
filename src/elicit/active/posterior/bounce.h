/* Bouncing paths: a chain's long moves where the density is constant between planes.
 *
 * A particle leaves the chain's place with a random velocity, bounces off the hard rows, and at a plane
 * where a choice turns wrong (or right) passes, slower (or faster), if it has the energy and bounces
 * otherwise, so that energy is kept and time can be turned around. After about as many bounces as there are
 * dimensions it has forgotten where it came from, where moves along single axes need that many sweeps.
 *
 * In the chart it moves straight in the frame's coordinates, in which the cloud is round, and the place where
 * it ends is accepted by the ratio of the chart's density, which the planes do not see. In the ball it
 * moves around the origin, y cos t + v sin t with a normally distributed length of y: what such y have for a
 * direction is uniform, and all planes go through the origin, so nothing is left to accept. */
#ifndef MEL_ACTIVE_BOUNCE_H
#define MEL_ACTIVE_BOUNCE_H

#include "base/internal.h"

typedef struct {
    size_t axes, rows, capacity; /* rows: 0 when there are too many for paths */
    bool around;                 /* the origin */
    double time;                 /* mean duration */
    double *normal;              /* rows x axes: the rows in the coordinates of the path */
    double *norm2;               /* rows: of the normals */
    bool *known;                 /* rows: the next two, found once needed */
    double *gram;                /* rows x capacity: products of the normals */
    double *image;               /* rows x D: what a change of velocity along a normal is in R^D */
    double *value, *rate;        /* rows: now, and its change per unit of time */
    double *urgency;             /* rows: cotangent of (straight: one over) the time to the plane */
    double *velocity;            /* axes */
    double *place, *motion;      /* D: offset in the chart or y, and its velocity */
} mel_bounce;

struct mel_chain;

mel_status mel_bounce_new(mel_bounce *bounce, size_t dimension, mel_error *err);
void mel_bounce_free(mel_bounce *bounce); /* of a zeroed one too */
mel_status mel_bounce_reserve(mel_bounce *bounce, size_t rows, size_t dimension, mel_error *err);
/* Reads the rows that the chain keeps. */
void mel_bounce_look(mel_bounce *bounce, const struct mel_chain *chain);
/* One path from where the chain is. True: `place` is where it goes (in the chart its offset, in the ball a
 * vector of any length), `value` its products there and *wrong the number of wrong choices; false: it stays.
 */
bool mel_bounce_take(mel_bounce *bounce, struct mel_chain *chain, size_t *wrong);

#endif
