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
#include "elicit/active/posterior/frame.h"

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
