/* MEL_WIDE: a function whose loops are compiled for wider vectors too, and the processor picks. For functions
 * whose results do not depend on the width: each entry is computed on its own, minima, maxima and counts
 * are exact in any order, and other sums and products have a fixed number of parts. */
#ifndef MEL_BASE_WIDE_H
#define MEL_BASE_WIDE_H

#include <stdlib.h> /* says which C library this is */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MEL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MEL_WIDE
#endif

#endif
