/* Random numbers: one generator, its streams, and draws from distributions. */
#ifndef MEL_BASE_RNG_H
#define MEL_BASE_RNG_H

#include "melicit/base.h"

/* PCG64 (XSL-RR 128/64), the bit generator of NumPy's numpy.random.PCG64: the same 128-bit state
 * and increment give the same 64-bit outputs. Plain data: copy it to fork a stream. */
typedef struct {
    uint64_t state_hi, state_lo;
    uint64_t inc_hi, inc_lo;
} mel_rng;

/* The stream that numpy.random.PCG64(seed) starts (its SeedSequence expansion included). */
void mel_rng_seed(mel_rng *rng, uint64_t seed);
/* Statistically independent stream number `stream` of the same seed: PCG64(SeedSequence([seed, stream])).
 * Stream 0 is the stream of mel_rng_seed. */
void mel_rng_seed_stream(mel_rng *rng, uint64_t seed, uint64_t stream);
uint64_t mel_rng_next(mel_rng *rng);
/* As if mel_rng_next had been called n times. */
void mel_rng_skip(mel_rng *rng, uint64_t n);
/* Uniform on [0, 1) with 53 random bits, as numpy.random.Generator.random(). */
double mel_rng_uniform(mel_rng *rng);
/* Uniform on {0, ..., bound-1} without bias (Lemire's multiplication with rejection); bound >= 1. */
uint64_t mel_rng_below(mel_rng *rng, uint64_t bound);
/* Standard normal by Marsaglia's polar method; the second value of each pair is discarded so that
 * the state stays the four words above. */
double mel_rng_normal(mel_rng *rng);
/* Gamma(shape, 1), shape > 0: Marsaglia and Tsang (2000), boosted below shape 1. NaN for other shapes. */
double mel_rng_gamma(mel_rng *rng, double shape);
/* out[0..n) ~ Dirichlet(alpha[0..n)), 0 < alpha < infinity (otherwise NaN); alpha NULL means all ones
 * (uniform on the simplex). The tiniest alpha gives a vertex, never NaN. */
void mel_rng_dirichlet(mel_rng *rng, size_t n, const double *alpha, double *out);
/* out[0..n): uniform on the unit sphere of R^n, n >= 1. */
void mel_rng_sphere(mel_rng *rng, size_t n, double *out);
/* Fisher-Yates on index[0..n). */
void mel_rng_shuffle(mel_rng *rng, size_t n, size_t *index);

#endif
