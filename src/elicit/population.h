/* A population of people, by what is known of each of them: each one's vector lies around the population's
 * mean, and how far is learned. Of two weights with known signs the logarithm of their ratio is normal
 * (population_rates.c), of several the unit vector has a von Mises-Fisher density (population_sphere.c). */
#ifndef MEL_ELICIT_POPULATION_H
#define MEL_ELICIT_POPULATION_H

#include "elicit/metric_distance.h"

typedef struct {
    size_t size, n_draws;
    double *mean;    /* size numbers, unit length: the population's mean */
    double *draw;    /* n_draws x size, unit length: equally likely ones */
    double *likely;  /* size numbers, unit length: where the population's density is highest; ... */
    double strength; /* ... it is about exp(strength cos(angle to it)) */
    /* How far people are apart, with its 95% interval. Rates: standard deviation of the logarithm of the
     * ratio; otherwise the root mean square distance to the mean, about radians. */
    double spread, spread_low, spread_high;
} mel_population;
void mel_population_clear(mel_population *population); /* of a zeroed one too */

/* Clouds are of posteriors without a prior metric; equal ones give equal results. */
mel_status mel_population_on_sphere(mel_population *out, size_t n, const mel_cloud *clouds, mel_error *err);

/* The logarithm of the density that ln(first/second) had before the first answer, up to a constant. */
typedef double mel_rate_prior(double rate);
double mel_uniform_angle_prior(double rate);
/* Whether all draws of everybody have two numbers of the same sign. */
bool mel_clouds_have_rates(size_t n, const mel_cloud *clouds);
mel_status mel_population_of_rates(mel_population *out, size_t n, const mel_cloud *clouds,
                                   mel_rate_prior *const *prior, mel_error *err);

/* The population of some sessions, each with its own metric; rates: by the ratio of two weights. */
mel_status mel_population_of_sessions(mel_population *out, bool *rates, size_t n,
                                      mel_session *const *sessions, const mel_respondent *own,
                                      mel_error *err);

#endif
