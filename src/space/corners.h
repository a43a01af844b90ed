/* Hulls of staircase points in whole numbers: exact, so that points on a line are found to be on it. */
#ifndef MEL_SPACE_CORNERS_H
#define MEL_SPACE_CORNERS_H

#include "base/internal.h"

/* What "score >= threshold" achieves, in units of weight (below 2^62). */
typedef struct {
    uint64_t tp, tn;
    uint64_t key;  /* of the threshold */
    bool inverted; /* the point is what "score < threshold" achieves instead */
} mel_corner;

/* A growing stack of corners; start from {0}, free with mel_corners_free. */
typedef struct {
    mel_corner *at;
    size_t n, capacity;
} mel_corners;

void mel_corners_free(mel_corners *corners);
/* Adds a point with tp no larger and tn no smaller than the last one's to the hull that starts at
 * position `base` of the stack, and drops the points that are then no corners of the upper (lower)
 * hull any more. False when memory runs out. */
bool mel_corners_upper(mel_corners *corners, size_t base, mel_corner point);
bool mel_corners_lower(mel_corners *corners, size_t base, mel_corner point);

/* The upper boundary of the symmetric hull from the upper and the lower hull of a staircase, both
 * from "always positive" (positives, 0) to "never" (0, negatives), without those two themselves: with both
 * ends, in that order. False when memory runs out. */
bool mel_corners_join(mel_corners *out, const mel_corners *upper, const mel_corners *lower,
                      uint64_t positives, uint64_t negatives);

#endif
