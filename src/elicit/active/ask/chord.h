/* Questions on a face about a linear-fractional metric: chords of the face.
 *
 * The answer to a chord tells on which side of its line the pivot lies. So chords along level lines of the
 * mean metric halve the posterior; they differ in what they leave open, and are judged by the variance of the
 * level lines' angles that an answer is expected to take away, under the assumed noise. (By expected
 * information alone all of them are alike, and a session takes half as many questions again.) */
#ifndef MEL_ACTIVE_CHORD_H
#define MEL_ACTIVE_CHORD_H

#include "elicit/active/ask/avoid.h"
#include "elicit/active/ask/shortlist.h"
#include "elicit/active/pivot.h"
#include "elicit/active/posterior/sphere.h"

typedef struct mel_chords mel_chords;

/* For samplers of so many samples. The face is not kept. */
mel_status mel_chords_new(mel_chords **out, const mel_face *face, size_t samples, mel_error *err);
void mel_chords_free(mel_chords *chords);

/* The chord to ask about, ends a and b inside the face: of those that tell nearly most, the longest in the
 * plane of TP and TN, which people tell apart best. *information: expected, in bits; 0, and the ends
 * untouched, when no chord tells anything. `samples` are the sampler's as pivots. Chords that are to be
 * avoided (NULL: none) are left out. */
void mel_chords_choose(mel_spot *a, mel_spot *b, double *information, mel_chords *chords,
                       const mel_sampler *sampler, const mel_samples *samples, const mel_avoided *avoided,
                       mel_rng *rng);
/* 95% of the posterior's metrics have all their level lines, on the whole face, within this angle
 * (radians, in the plane of TP and TN) of the mean metric's. */
double mel_chords_radius(mel_chords *chords, const mel_samples *samples);

#endif
