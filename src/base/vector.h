/* Loops that use the widest vector unit of the machine the program runs on. */
#ifndef MEL_BASE_VECTOR_H
#define MEL_BASE_VECTOR_H

#include <stdlib.h> /* says which C library this is */

/* GCC builds further copies of these functions for AVX-512 and AVX2 and picks one when the program starts.
 * They keep one rounding per operation and independent sums side by side, so all copies give the same bits.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__)
#define MEL_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define MEL_VECTORISED
#endif

/* MEL_WIDE: a function whose loops are compiled for wider vectors too, and the processor picks. For functions
 * whose results do not depend on the width: each entry is computed on its own, minima, maxima and counts
 * are exact in any order, and other sums and products have a fixed number of parts. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MEL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MEL_WIDE
#endif

#endif
