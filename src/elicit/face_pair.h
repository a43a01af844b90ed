/* Questions on a planar face, as the engines of two classes think of them. */
#ifndef MEL_ELICIT_FACE_PAIR_H
#define MEL_ELICIT_FACE_PAIR_H

#include "elicit/engine.h"

typedef struct {
    mel_point a, b;
    bool repeated;
} mel_face_pair;

static inline void mel_face_pair_write(mel_pair *out, const mel_face_pair *pair)
{
    out->a[0] = pair->a.tp;
    out->a[1] = pair->a.tn;
    out->b[0] = pair->b.tp;
    out->b[1] = pair->b.tn;
    out->repeated = pair->repeated;
}

static inline mel_face_pair mel_face_pair_read(const mel_pair *pair)
{
    return (mel_face_pair){
        .a = { pair->a[0], pair->a[1] },
        .b = { pair->b[0], pair->b[1] },
        .repeated = pair->repeated,
    };
}

#endif
