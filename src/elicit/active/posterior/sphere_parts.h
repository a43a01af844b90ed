/* The inside of a sampler, for the files that make it up: sphere.c (making one, answers), sphere_run.c
 * (chains and what their samples say), sphere_reach.c (answers that no sample fits). */
#ifndef MEL_ACTIVE_SPHERE_PARTS_H
#define MEL_ACTIVE_SPHERE_PARTS_H

#include "elicit/active/posterior/chain.h"
#include "elicit/active/posterior/interior.h"
#include "elicit/active/posterior/sphere.h"

enum {
    MEL_CHAINS = 128,       /* at most */
    MEL_BURN_IN = 4,        /* sweeps of a chain that starts at a draw of the (reweighted) posterior */
    MEL_FIRST_BURN_IN = 50, /* sweeps from the caller's start */
    MEL_FIRST_ROUNDS = 4,   /* runs from there, each in coordinates fitted to the one before */
    MEL_CAREFUL_UP_TO = 2   /* dimensions: in 6 the errors were 1.2 times as large with stakes as without */
};

struct mel_sampler {
    mel_sampler_options opt; /* cone: own copy; start: not kept */
    double *cone;
    double *prior_weights; /* D: times its strength; the chain has them, or NULL: uniform */
    mel_answers answers;
    mel_frame frame;
    mel_chain chain;
    double *w;              /* count x D */
    mel_noise_state *noise; /* count */
    double *z;              /* count x D: coordinates in the frame of the run, for mixing */
    double *weight;         /* count */
    double *start;          /* MEL_CHAINS x D */
    mel_noise_state start_noise[MEL_CHAINS];
    double *mean;       /* D */
    double *centre;     /* D */
    double *stake;      /* count */
    double *covariance; /* D x D */
    double *direction;  /* D: work */
    double *inside;     /* D: work */
    mel_interior interior;
    mel_samples samples;
};

/* Random numbers of their own for each number of answers. */
void mel_sampler_stream(mel_sampler *sampler);
void mel_sampler_weigh_equally(mel_sampler *sampler);
/* Samples from the chosen starts in the frame as it is. */
void mel_sampler_run(mel_sampler *sampler, size_t burn_in);
/* The same from draws from the samples by their weights, in coordinates fitted to them; row: the newest. */
void mel_sampler_run_weighted(mel_sampler *sampler, const double *row);
/* Another run from the samples of the last one. */
void mel_sampler_run_again(mel_sampler *sampler);
/* The first runs from one unit vector. */
void mel_sampler_run_from(mel_sampler *sampler, const double *from, const mel_noise_state *noise);
/* Moments of the samples, and what to report of them. */
void mel_sampler_moments(mel_sampler *sampler);
void mel_sampler_finish(mel_sampler *sampler);
/* No sample fits the newest answer: the samples become such that some do, or answers may be wrong. */
void mel_sampler_reach(mel_sampler *sampler);

#endif
