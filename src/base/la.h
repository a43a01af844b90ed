/* Dense linear algebra over OpenBLAS and its LAPACK. Matrices are row-major with an explicit row stride
 * ("ld", >= number of columns). Checked entry points return a status; all run on the calling
 * thread (mel_blas_hold) so that results do not depend on the number of threads. */
#ifndef MEL_BASE_LA_H
#define MEL_BASE_LA_H

#include "base/internal.h"

#include <limits.h>

/* BLAS and LAPACK count in int. */
static inline bool mel_blas_fits(size_t a, size_t b, size_t c, size_t d)
{
    return a <= INT_MAX && b <= INT_MAX && c <= INT_MAX && d <= INT_MAX;
}

double mel_dot(size_t n, const double *x, const double *y); /* fixed order */
double mel_norm1(size_t n, const double *x);                /* sum of sizes */
double mel_norm2(size_t n, const double *x);                /* no overflow or underflow */
double mel_norm_inf(size_t n, const double *x);             /* NaN if any entry is NaN */
void mel_axpy(size_t n, double alpha, const double *x, double *y);
void mel_scale(size_t n, double alpha, double *x);
/* x / ||x||; MEL_ENUMERIC when x is zero or not finite. */
mel_status mel_normalise(size_t n, double *x, mel_error *err);
bool mel_all_finite(size_t n, const double *x);

/* y = alpha A x + beta y (A: m x n), and with the transpose of A. */
void mel_gemv(size_t m, size_t n, double alpha, const double *a, size_t lda, const double *x, double beta,
              double *y);
void mel_gemv_t(size_t m, size_t n, double alpha, const double *a, size_t lda, const double *x, double beta,
                double *y);
/* C = alpha op(A) op(B) + beta C; C is m x n, inner dimension k. */
void mel_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
              const double *b, size_t ldb, double beta, double *c, size_t ldc);

/* Solves A X = B in place (b: n x nrhs becomes X; a is overwritten by the LU factors of its transpose).
 * *rcond (may be NULL) receives the reciprocal condition number in the 1-norm. MEL_ENUMERIC when A is
 * singular to working precision (rcond < epsilon) or not finite. */
mel_status mel_solve(size_t n, double *a, size_t lda, size_t nrhs, double *b, size_t ldb, double *rcond,
                     mel_error *err);
/* Minimum-norm least squares min ||A x - b|| by SVD (rank-revealing); singular values below
 * tol * largest count as zero (tol <= 0: epsilon * max(m, n)). a (m x n) and b (m) are overwritten. */
mel_status mel_least_squares(size_t m, size_t n, double *a, size_t lda, double *b, double tol, double *x,
                             size_t *rank, mel_error *err);
/* A = L L' in place, lower triangle; the strict upper triangle is zeroed. MEL_ENUMERIC with the
 * failing pivot when A is not positive definite. */
mel_status mel_cholesky(size_t n, double *a, size_t lda, mel_error *err);
/* The same for what is positive but for rounding, n x n: a pivot below `share` of its diagonal entry is
 * raised to that, and what would be divided by it is left out, as it would grow beyond all bounds. */
void mel_cholesky_raised(size_t n, double *a, double share);
/* Solves L L' x = b in place with the factor of mel_cholesky. */
void mel_cholesky_solve(size_t n, const double *l, size_t lda, double *b);
/* x = L^-1 x and x = L'^-1 x with such a factor, sums in a fixed order. */
void mel_solve_lower(size_t n, const double *l, double *x);
void mel_solve_upper(size_t n, const double *l, double *x);
/* A (m x n, m >= n) = Q R: a becomes Q (orthonormal columns), r (n x n) upper triangular with a
 * non-negative diagonal, so that the factorisation is unique. */
mel_status mel_qr(size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr, mel_error *err);
/* Symmetric eigenproblem (lower triangle read): values ascending; a becomes the eigenvectors in its
 * columns, each with its largest-magnitude entry positive (the first of those within 1e-8 of it). */
mel_status mel_eigen(size_t n, double *a, size_t lda, double *values, mel_error *err);
/* Singular values (descending) and right singular vectors (rows of vt, n x n, signs as in mel_eigen) of
 * a (m x n, m >= n), which is overwritten. */
mel_status mel_svd(size_t m, size_t n, double *a, size_t lda, double *values, double *vt, mel_error *err);

#endif
