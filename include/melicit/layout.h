/* melicit/layout.h: what each coordinate of a statistics vector is. Shared by spaces, metrics and
 * questions, which otherwise do not know each other. */
#ifndef MELICIT_LAYOUT_H
#define MELICIT_LAYOUT_H

#include "melicit/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MEL_CONFUSION = 0, MEL_RATES = 1 } mel_statistics_kind;
/* BINARY: (TP, TN), the second class is the positive one. DIAGONAL: (C11, ..., Ckk).
 * OFFDIAGONAL: row-major without the diagonal, k(k-1) numbers. */
typedef enum { MEL_BINARY = 0, MEL_DIAGONAL = 1, MEL_OFFDIAGONAL = 2 } mel_coordinates;

typedef struct {
    mel_statistics_kind kind;
    mel_coordinates coordinates;
    size_t n_classes;
    size_t n_groups; /* 0 or 1: no groups; the two count as equal */
} mel_layout;

/* Numbers in a statistics vector: coordinates of one group times groups. */
MEL_API size_t mel_layout_size(const mel_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
