/* What the files of this room know about a face. */
#ifndef MEL_SPACE_FACE_H
#define MEL_SPACE_FACE_H

#include "space/logistic.h"
#include "space/shared.h"
#include "space/softmax.h"
#include "space/staircase.h"
#include "space/upper_boundary.h"

#include <stdatomic.h>

struct mel_face {
    mel_staircase *staircase;             /* sample and smoothed faces; NULL: population */
    mel_logistic population;              /* populations */
    mel_softmax *measure;                 /* that the population refers to, if it does */
    mel_upper_boundary own;               /* populations and smoothed faces: the boundary */
    mel_rule *own_rule;                   /* populations: what achieves its vertices */
    const mel_upper_boundary *boundary;   /* of the face: own, or the hull of the staircase */
    _Atomic(void *) note[MEL_FACE_NOTES]; /* what others worked out about it; NULL: nothing yet */
};

#endif
