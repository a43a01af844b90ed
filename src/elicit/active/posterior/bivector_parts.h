/* The inside of a bivector sampler, for bivector.c (answers, samples) and bivector_chain.c (one chain). */
#ifndef MEL_ACTIVE_BIVECTOR_PARTS_H
#define MEL_ACTIVE_BIVECTOR_PARTS_H

#include "elicit/active/posterior/answers.h"
#include "elicit/active/posterior/bivector.h"

enum { MEL_BIVECTOR_CHAINS = 4 };

/* Products of a row's ends with s and t, or with the two halves of an axis. */
typedef struct {
    double sa, sb, ta, tb;
} mel_products;

struct mel_bivector_sampler {
    const mel_region *region;
    uint64_t seed;
    size_t n, d;
    mel_samples samples;
    double *theta, *fresh; /* count x d */
    mel_noise_state *noise, *fresh_noise;
    double *weight; /* count */
    double *prior;  /* d, or NULL: the metric that is thought likely */
    double strength;
    double *mean, *covariance;
    mel_answers answers; /* rows: A, then B, choices turned so that A is the preferred one */
    size_t capacity;
    double *sharp;       /* by ways: n_ways x capacity, what turns margins at |s| = 1 into z */
    double *flip_weight; /* answers + 1: log-probability by number of wrong choices */
    /* The chain */
    mel_rng rng;
    double *axis;        /* d x d: one per row */
    mel_products *along; /* d x capacity */
    mel_products *here;  /* capacity */
    double *at, *trial;  /* d */
    mel_noise_state state;
    /* The row that ruled out the last step: likely to rule out the next, so it is looked at first. */
    size_t suspect;
    double *starts; /* MEL_BIVECTOR_CHAINS x d */
    mel_noise_state start_noise[MEL_BIVECTOR_CHAINS];
};

/* Products of all rows with a vector of 2n numbers. */
void mel_bivector_multiply(const mel_bivector_sampler *b, const double *theta, mel_products *out);
/* One sweep of the chain at `at` along all axes. */
void mel_bivector_sweep(mel_bivector_sampler *b);
/* Choices that the place where the chain is contradicts. */
size_t mel_bivector_wrong(const mel_bivector_sampler *b);

#endif
