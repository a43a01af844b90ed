/* What the files of this room know about a face. */
#ifndef MEL_SPACE_FACE_H
#define MEL_SPACE_FACE_H

#include "space/shared.h"
#include "space/staircase.h"
#include "space/upper_boundary.h"

#include <stdatomic.h>

struct mel_face {
    mel_staircase *staircase;             /* smoothed faces: the sample's */
    bool population;                      /* scores are true probabilities */
    mel_upper_boundary own;               /* smoothed faces: the boundary */
    const mel_upper_boundary *boundary;   /* of the face: own, or the hull of the staircase */
    _Atomic(void *) note[MEL_FACE_NOTES]; /* what others worked out about it; NULL: nothing yet */
};

#endif
