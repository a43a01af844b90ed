/* Questions that were just put aside with "can't say": not to be asked again at once. */
#ifndef MEL_ACTIVE_AVOID_H
#define MEL_ACTIVE_AVOID_H

#include "base/internal.h"

typedef struct {
    size_t dimension, n; /* n: added since the last clear, of which the last few are kept */
    double *row;         /* unit length */
    double alike;        /* cosine of the angle between two cuts from which on they are the same question */
} mel_avoided;
/* For `alike`: what a person would call the same question (as made), and the same up to rounding. */
#define MEL_ALIKE 0.99
#define MEL_IDENTICAL (1.0 - 1e-9)

mel_status mel_avoided_new(mel_avoided *avoided, size_t dimension, mel_error *err);
void mel_avoided_free(mel_avoided *avoided); /* of a zeroed one too */
/* The row of a question: <row, w> > 0 when A is better. */
void mel_avoided_add(mel_avoided *avoided, const double *row);
void mel_avoided_clear(mel_avoided *avoided);
/* Whether a question is about nearly the same cut as one of these. NULL: none. */
bool mel_avoided_has(const mel_avoided *avoided, const double *row);

#endif
