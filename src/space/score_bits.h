/* Scores as unsigned numbers of the same order, which sort and compare faster. */
#ifndef MEL_SPACE_SCORE_BITS_H
#define MEL_SPACE_SCORE_BITS_H

#include "base/internal.h"

#include <math.h>
#include <string.h>

/* Above the key of every number, infinity included. */
#define MEL_SCORE_BITS_END UINT64_MAX

/* -0.0 and 0.0 have the same key. x is not NaN. */
static inline uint64_t mel_score_bits(double x)
{
    const double y = x + 0.0;
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    return bits ^ ((0 - (bits >> 63)) | UINT64_C(1) << 63);
}

static inline double mel_score_of_bits(uint64_t key)
{
    const uint64_t bits = key ^ (((key >> 63) - 1) | UINT64_C(1) << 63);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The first key that counts as "score >= threshold"; no score is >= NaN. */
static inline uint64_t mel_threshold_bits(double threshold)
{
    return isnan(threshold) ? MEL_SCORE_BITS_END : mel_score_bits(threshold);
}

/* Sorts n keys, and masses with them unless NULL; spare blocks of the same size are overwritten. By two
 * digits made of the leading bits in which the keys differ, then within the few groups that share both:
 * linear for keys of any distribution. */
void mel_score_bits_sort(size_t n, uint64_t *key, uint64_t *mass, uint64_t *spare_key, uint64_t *spare_mass);

/* How many of n ascending keys are below `bound`. */
size_t mel_score_bits_below(size_t n, const uint64_t *key, uint64_t bound);
/* The same, given that the first `from` are. */
size_t mel_score_bits_below_from(size_t n, const uint64_t *key, uint64_t bound, size_t from);

#endif
