/* A Markov chain over unit vectors: coordinate hit-and-run on {cone, hard cuts} with the answers' likelihood.
 *
 * One step moves one coordinate z_j of a frame: the interval that the cone, the hard cuts and the ball
 * allow is found from stored products in one pass; flips make the density on it piecewise constant,
 * which is sampled exactly; smooth likelihoods (logistic, band, "about the same") are slice-sampled on top.
 */
#ifndef MEL_ACTIVE_CHAIN_H
#define MEL_ACTIVE_CHAIN_H

#include "base/internal.h"
#include "elicit/active/posterior/answers.h"

/* Coordinates in which a cloud of unit vectors is round: y = centre + sum_j z_j axis_j.
 *
 * A narrow cloud is seen in the gnomonic chart of its mean mu: y = mu + (something orthogonal to mu), w =
 * y/|y|, D - 1 axes from the Cholesky factor of the covariance of w/<w, mu>. A uniform w has the density (1 +
 * |y - mu|^2)^(-D/2) there. A wide cloud is seen in the unit ball: y = r w with r^D uniform, so that y is
 * uniform in the ball where w is uniform on the sphere; D axes from the covariance of y.
 */
typedef struct {
    size_t dimension; /* D */
    size_t axes;      /* D - 1 in the chart, D in the ball */
    bool chart;
    double *centre; /* D: mu in the chart, mean of y in the ball */
    double *axis;   /* axes x D */
    double *factor; /* axes x axes, lower triangular: z of a point by forward substitution */
    /* What earlier clouds teach about the covariance of this one: a single cloud of correlated points says
     * too little in many dimensions, and badly rounded coordinates mix badly. */
    bool shaped;
    double *shape;                            /* D x D: covariance of unit vectors */
    double *reflector, *point, *mean, *along; /* D each: work */
    double *block;                            /* a few x D: work */
} mel_frame;

mel_status mel_frame_new(mel_frame *frame, size_t dimension, mel_error *err);
void mel_frame_free(mel_frame *frame); /* of a zeroed frame too */

/* The ball with the unit axes, for a start from nothing. */
void mel_frame_reset(mel_frame *frame);
/* Mean (D) and covariance (D x D) of n unit vectors. */
void mel_frame_moments(mel_frame *frame, size_t n, const double *w, double *mean, double *covariance);
/* Fits the cloud of n unit vectors with weights >= 0 (NULL: equal), worth efficiency * n independent ones
 * before the weights. The shape known from earlier helps out when few carry weight; it is changed along
 * `row` (NULL: none) as the weights change the cloud there. */
void mel_frame_fit(mel_frame *frame, size_t n, const double *w, const double *weight, const double *row,
                   double efficiency);
/* Adds the covariance (D x D) of a cloud worth so many independent unit vectors to what is known. */
void mel_frame_learn(mel_frame *frame, const double *covariance, double effective);
/* The half-space <row, y> > 0 in coordinates in which the cloud is round: <out, v> > 0, out and v of length
 * D, out of unit length. row and out may be the same. mel_frame_back takes such a v to a unit vector of R^D.
 */
void mel_frame_turn(const mel_frame *frame, const double *row, double *out);
void mel_frame_back(const mel_frame *frame, const double *v, double *w);
/* z of the point y. */
void mel_frame_coordinates(const mel_frame *frame, const double *y, double *z);

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

typedef struct {
    double at;      /* where along the step */
    ptrdiff_t sign; /* what passing it upwards adds to the number of wrong answers: +1 or -1 */
} mel_crossing;

typedef struct mel_chain {
    const mel_frame *frame;
    const mel_answers *answers;
    const double *prior; /* D: density exp(<w, prior>); lent; NULL: uniform */
    /* All rows: cone, then choices (A or B), then "about the same". The first n_hard must stay positive. */
    size_t n_cone, n_hard, n_choices, n_rows, capacity;
    double *row;         /* n_rows x D */
    double *row_gain;    /* n_rows */
    double *flip_weight; /* n_choices + 1: relative probability by number of wrong choices */
    /* Rows that matter in the frame, hard ones first: far hard rows are left out. */
    bool prune;
    size_t hard, choices_from, choices_to, kept;
    size_t n_pruned, *pruned; /* rows left out */
    double *gain;             /* kept */
    double *sharp;            /* one row per component, of n_rows: what turns kept values into z */
    double *base;             /* kept: <row, centre> */
    double *slope;            /* axes x kept: <row, axis> */
    double *norm2;            /* axes: |axis|^2 */
    mel_crossing *crossing;   /* as many as choices */
    /* State */
    mel_rng rng;
    double *value;  /* kept: <row, y> */
    double *offset; /* D: y - mu in the chart, y in the ball */
    double *z;      /* axes */
    double offset2; /* |offset|^2 */
    double reach2;  /* its bound */
    /* For the next step: <offset, axis>, and the extremes of 0 and slope/value over the hard rows. */
    double along, least, most;
    uint32_t since; /* sweeps since the products were computed anew */
    uint32_t turn;  /* bouncing paths taken */
    double smooth;  /* log of the smooth likelihood, and of the prior, here */
    mel_noise_state noise;
    mel_bounce bounce;
} mel_chain;

mel_status mel_chain_new(mel_chain *chain, const mel_frame *frame, const mel_answers *answers,
                         mel_error *err);
void mel_chain_free(mel_chain *chain); /* of a zeroed chain too */
mel_status mel_chain_reserve(mel_chain *chain, size_t n_rows, mel_error *err);

/* Reads the cone (n_cone rows of length D) and the answers as they are now. Room must be reserved. */
void mel_chain_load(mel_chain *chain, size_t n_cone, const double *cone);
/* Until the next load, the newest hard choice x is x - level * u. */
void mel_chain_tilt(mel_chain *chain, const double *u, double level);
/* Reads the frame as it is now. */
void mel_chain_look(mel_chain *chain);
/* Puts the chain at a unit vector that satisfies the hard rows. */
void mel_chain_place(mel_chain *chain, const double *w, const mel_noise_state *noise);
void mel_chain_sweep(mel_chain *chain);
/* Counts the choices that the place where the chain is contradicts, into noise.wrong. */
void mel_chain_count_wrong(mel_chain *chain);
/* The unit vector where the chain is. */
void mel_chain_get(const mel_chain *chain, double *w);
/* Whether a unit vector satisfies the hard rows that were left out. */
bool mel_chain_check(const mel_chain *chain, const double *w);

#endif
