/* Vectors and products of matrices, by hand and over OpenBLAS. */
#include "base/la.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Partial sums of a dot product: enough to fill the vector units, the same on every machine. */
enum { LANES = 8 };

static inline double product(size_t i, size_t n, const double *x, const double *y)
{
    return i < n ? x[i] * y[i] : 0.0;
}

/* Fewer than LANES numbers, which is what most vectors have: the same sums, in registers. */
static double dot_short(size_t n, const double *x, const double *y)
{
    const double even =
        (product(0, n, x, y) + product(4, n, x, y)) + (product(2, n, x, y) + product(6, n, x, y));
    return even + ((product(1, n, x, y) + product(5, n, x, y)) + (product(3, n, x, y) + 0.0));
}

/* A function of its own: the compiler guards its array on the stack, which costs as much as a short sum. */
__attribute__((noinline)) static double dot_long(size_t n, const double *x, const double *y)
{
    double part[LANES] = { 0.0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            part[j] += x[i + j] * y[i + j];
    for (size_t j = 0; i + j < n; j++)
        part[j] += x[i + j] * y[i + j];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

double mel_dot(size_t n, const double *x, const double *y)
{
    return n < LANES ? dot_short(n, x, y) : dot_long(n, x, y);
}

double mel_norm1(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

double mel_norm_inf(size_t n, const double *x)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double size = fabs(x[i]);
        if (!(size <= largest))
            largest = size;
        if (isnan(size))
            return size;
    }
    return largest;
}

double mel_norm2(size_t n, const double *x)
{
    /* Above this every square that matters is normal; below, or on overflow, scale by a power of two. */
    const double safe = DBL_MIN / DBL_EPSILON / DBL_EPSILON;
    const double squares = mel_dot(n, x, x);
    if (squares >= safe && squares <= DBL_MAX)
        return sqrt(squares);
    const double largest = mel_norm_inf(n, x);
    if (largest == 0.0 || !isfinite(largest))
        return largest;
    const int exponent = ilogb(largest);
    double scaled = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double y = scalbn(x[i], -exponent);
        scaled += y * y;
    }
    return scalbn(sqrt(scaled), exponent);
}

void mel_axpy(size_t n, double alpha, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

void mel_scale(size_t n, double alpha, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= alpha;
}

mel_status mel_normalise(size_t n, double *x, mel_error *err)
{
    const double largest = mel_norm_inf(n, x);
    if (largest == 0.0 || !isfinite(largest))
        return mel_fail(err, MEL_ENUMERIC,
                        "a vector of %zu entries with largest magnitude %g has no direction", n, largest);
    const int exponent = ilogb(largest);
    for (size_t i = 0; i < n; i++)
        x[i] = scalbn(x[i], -exponent);
    const double norm = mel_norm2(n, x);
    for (size_t i = 0; i < n; i++)
        x[i] /= norm;
    return MEL_OK;
}

bool mel_all_finite(size_t n, const double *x)
{
    /* 0 * x is 0 for finite x and NaN otherwise. */
    double part[LANES] = { 0.0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            part[j] += 0.0 * x[i + j];
    for (size_t j = 0; i + j < n; j++)
        part[j] += 0.0 * x[i + j];
    double all = 0.0;
    for (size_t j = 0; j < LANES; j++)
        all += part[j];
    return all == 0.0;
}

/* y *= beta; 0 overwrites whatever was there, NaN included. */
static void scale_or_clear(size_t n, double beta, double *y)
{
    if (beta == 0.0)
        for (size_t i = 0; i < n; i++)
            y[i] = 0.0;
    else if (beta != 1.0)
        mel_scale(n, beta, y);
}

void mel_gemv(size_t m, size_t n, double alpha, const double *a, size_t lda, const double *x, double beta,
              double *y)
{
    scale_or_clear(m, beta, y);
    if (m == 0 || n == 0)
        return;
    if (!mel_blas_fits(m, n, lda, 0)) {
        for (size_t i = 0; i < m; i++)
            y[i] += alpha * mel_dot(n, a + i * lda, x);
        return;
    }
    mel_blas_hold();
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)m, (int)n, alpha, a, (int)lda, x, 1, 1.0, y, 1);
    mel_blas_release();
}

void mel_gemv_t(size_t m, size_t n, double alpha, const double *a, size_t lda, const double *x, double beta,
                double *y)
{
    scale_or_clear(n, beta, y);
    if (m == 0 || n == 0)
        return;
    if (!mel_blas_fits(m, n, lda, 0)) {
        for (size_t i = 0; i < m; i++)
            mel_axpy(n, alpha * x[i], a + i * lda, y);
        return;
    }
    mel_blas_hold();
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)m, (int)n, alpha, a, (int)lda, x, 1, 1.0, y, 1);
    mel_blas_release();
}

/* The product for sizes that BLAS cannot count. */
static void add_product(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *a,
                        size_t lda, const double *b, size_t ldb, double *c, size_t ldc)
{
    for (size_t i = 0; i < m; i++)
        for (size_t p = 0; p < k; p++) {
            const double weight = alpha * (ta ? a[p * lda + i] : a[i * lda + p]);
            for (size_t j = 0; j < n; j++)
                c[i * ldc + j] += weight * (tb ? b[j * ldb + p] : b[p * ldb + j]);
        }
}

void mel_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
              const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    if (m == 0 || n == 0)
        return;
    const bool countable = mel_blas_fits(m, n, k, 0) && mel_blas_fits(lda, ldb, ldc, 0);
    if (k == 0 || !countable) {
        for (size_t i = 0; i < m; i++)
            scale_or_clear(n, beta, c + i * ldc);
        add_product(ta, tb, m, n, k, alpha, a, lda, b, ldb, c, ldc);
        return;
    }
    mel_blas_hold();
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m, (int)n,
                (int)k, alpha, a, (int)lda, b, (int)ldb, beta, c, (int)ldc);
    mel_blas_release();
}
