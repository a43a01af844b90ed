/* How likely answers are of somebody who errs in one certain way (mel_noise_way), for samplers that draw the
 * way together with the metric. */
#ifndef MEL_ORACLE_WAY_H
#define MEL_ORACLE_WAY_H

#include "base/internal.h"
#include "oracle/noise/noise.h"

/* Half-widths of "about the same", in units of the noise: equally likely once somebody answered so. */
enum { MEL_TIES = 3 };
extern const double mel_tie_width[MEL_TIES];

/* What margins are multiplied by to give z, of a question in which a difference of 1 in the logarithm of the
 * exchange rate makes the difference `stake` in value. */
double mel_way_sharpness(const mel_noise_way *way, double stake);
/* P(this choice), z positive where it is right, and P("about the same"); tie: the half-width, 0 before
 * anybody answered so. */
double mel_way_choice(const mel_noise_way *way, double z, double tie);
double mel_way_same(const mel_noise_way *way, double z, double tie);
/* Log-probability of n choices with z = shrink * gain * (value + t slope), and of n answers "about the same".
 */
double mel_way_log_choices(const mel_noise_way *way, double tie, size_t n, const double *gain,
                           const double *value, const double *slope, double t, double shrink);
double mel_way_log_same(const mel_noise_way *way, double tie, size_t n, const double *gain,
                        const double *value, const double *slope, double t, double shrink);

/* P(right) = (most + least e)/(1 + e), e = exp(shift - scale * margin): from least to most. */
typedef struct {
    double scale, shift, most, least;
} mel_leaning;

/* Log-probability of n choices with the margins gain * (value + t slope), positive where the choice is right.
 */
double mel_log_choices(size_t n, const double *gain, const double *value, const double *slope, double t,
                       const mel_leaning *leaning);

#endif
