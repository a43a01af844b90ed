/* A population of people, by what is known of each of them: each one's vector lies around the population's
 * mean, and how far is learned. Of two weights with known signs the logarithm of their ratio is normal
 * (population_rates.c), of several the unit vector has a von Mises-Fisher density (population_sphere.c). */
#ifndef MEL_ELICIT_POPULATION_H
#define MEL_ELICIT_POPULATION_H

#include "elicit/session.h"

/* How far the metrics of two respondents are apart: angles between the vectors in which their utilities are
 * linear. */

/* Draws of one respondent as such vectors, and that of the metric itself. */
typedef struct {
    size_t n, size;
    double *vector; /* n x size */
    double *middle; /* size */
} mel_cloud;

/* Fills a zeroed cloud. whole: all coefficients of fractions, not only what preferences reveal. */
mel_status mel_cloud_make(mel_cloud *cloud, mel_session *session, const mel_metric *metric, bool whole,
                          mel_error *err);
/* The coefficients of a metric like that one whose whole vector this is. */
void mel_vector_coefficients(double *out, const double *vector, const mel_metric *like);
/* The share of the draws that are at least as far from their mean as the vector, all at unit length. */
double mel_cloud_beyond(const mel_cloud *cloud, const double *vector, double *work); /* work: 2 size */
void mel_clouds_free(size_t n, mel_cloud *clouds); /* NULL and zeroed ones too */

/* The vector of a metric as in the cloud that the session made. */
void mel_metric_vector(double *out, const mel_session *session, const mel_metric *metric);
/* out: n x n; the diagonal is left alone. */
mel_status mel_clouds_compare(mel_disagreement *out, size_t n, const mel_cloud *clouds, mel_error *err);

/* Answers of a session heard by another one. */

/* A session that gets the same answers, by the same model of answers, and begins with this prior metric
 * (NULL: none). For the caller to free, also after a failure. */
mel_status mel_session_hear_again(mel_session **out, const mel_session *session, const mel_metric *prior,
                                  double strength, mel_error *err);

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
