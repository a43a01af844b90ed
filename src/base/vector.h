/* Loops that use the widest vector unit of the machine the program runs on. */
#ifndef MEL_BASE_VECTOR_H
#define MEL_BASE_VECTOR_H

/* GCC builds further copies of these functions for AVX-512 and AVX2 and picks one when the program starts.
 * They keep one rounding per operation and independent sums side by side, so all copies give the same bits.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&    \
    !defined(__SANITIZE_THREAD__)
#define MEL_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define MEL_VECTORISED
#endif

#endif
