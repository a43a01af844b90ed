/* Pairs that somebody might use: two settings of one test, in whole numbers of people.
 *
 * For the exchange rate e^s a classifier is worth e^s TP + TN. What a test adds to the better of "flag all"
 * and "flag none" is largest at one setting; the level chord of depth f joins the two settings, one with more
 * TP and one with more TN, that keep the share 1 - f of it. Somebody who trades at the rate e^s likes both
 * the same. Ends are rounded to whole numbers out of N, and from then on only these exist: the rate is the
 * one that they show. */
#ifndef MEL_ACTIVE_LEVELS_H
#define MEL_ACTIVE_LEVELS_H

#include "base/internal.h"
#include "melicit/face.h"

typedef struct {
    uint32_t tp[2], tn[2]; /* whole numbers; [0] has more TP, [1] more TN */
    double rate;           /* ln((tn[1] - tn[0])/(tp[0] - tp[1])) */
    double plausible;      /* share of what the test can add that both keep, at this rate */
    bool used;
} mel_level;

typedef struct {
    uint32_t people, positives; /* out of so many, of which so many are positive */
    size_t n;
    mel_level *level; /* ascending rates, then falling plausibility */
} mel_levels;

/* Fixed per session unless given: 1,000, or 10,000 where fewer than 20 in 1,000 are of the rarer class. */
uint32_t mel_levels_people(double positives, double negatives);
/* All pairs of a face's upper boundary. None (n = 0) where the face is a segment, say. */
mel_status mel_levels_real(mel_levels *out, const mel_face *face, uint32_t people, mel_error *err);
/* Those of an imagined better test: scores of both classes are normal with a distance of 3 standard
 * deviations; classes as frequent as on the face. */
mel_status mel_levels_imagined(mel_levels *out, const mel_face *face, uint32_t people, mel_error *err);
void mel_levels_free(mel_levels *levels); /* of zeroed ones too */

#endif
