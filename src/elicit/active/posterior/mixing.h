/* How well chains mix, and where the next ones start. */
#ifndef MEL_ACTIVE_MIXING_H
#define MEL_ACTIVE_MIXING_H

#include "base/internal.h"

/* Of `count` draws, chain after chain, the worst over the axes (z: count x stride): split-chain potential
 * scale reduction (1: mixed), and how many independent draws they are worth. */
void mel_mixing(size_t count, size_t chains, size_t axes, const double *z, size_t stride, double *reduction,
                double *effective);
/* Which of n draws `chains` chains start at, by their weights (systematic resampling; shift: 0 to 1). */
void mel_resample(size_t *picked, size_t chains, size_t n, const double *weight, double shift);

#endif
