/* Sums over rows, the one way in which rooms take them: rows are cut into slices by their number (and by the
 * files that they are from) alone, each slice has sums of its own, made by one thread of one process, and the
 * sums are added in the order of the slices. Results have the same bits for any number of threads and
 * processes. */
#ifndef MEL_BASE_REDUCE_H
#define MEL_BASE_REDUCE_H

#include "base/internal.h"

typedef struct {
    size_t n_slices;
    size_t rows;         /* that all slices are about: few are not worth dividing among ranks */
    size_t size, stride; /* numbers of a slice, and from one slice's to the next one's */
    double *sum;         /* n_slices x stride */
    int threads;
    /* Sets the numbers of a slice, whatever they are before; `thread` is below `threads`. */
    void (*fill)(double *sum, size_t slice, size_t thread, void *user);
    void *user;
} mel_slices;
/* Fills all slices; each rank (base/team.h) makes some of them and has all. */
void mel_slices_fill(const mel_slices *slices);
/* Slices 1, 2, .. are added to slice 0, in that order. */
void mel_slices_join(const mel_slices *slices);

#endif
