/* Systems of equations and factorisations by LAPACK, as OpenBLAS has it. Its own functions, which are
 * Fortran's, are called: the library of their C names would be found and bound anew, more than a thousand
 * names, whenever the program starts. */
#include "base/la.h"

#include <cblas.h>
#include <float.h>
#include <lapack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Row-major storage of A is column-major storage of A': every factorisation below is asked of LAPACK
 * for A' with the roles of the factors swapped, so that nothing is transposed on the way. */

/* Refuses sizes that LAPACK cannot count and entries that are not finite. */
static mel_status check_matrix(size_t m, size_t n, const double *a, size_t lda, mel_error *err)
{
    if (!mel_blas_fits(m, n, lda, 0))
        return mel_fail(err, MEL_ELIMIT, "a %zu x %zu matrix with stride %zu is too large", m, n, lda);
    if (lda < n)
        return mel_fail(err, MEL_EINVAL, "row stride %zu is below %zu columns", lda, n);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            if (!isfinite(a[i * lda + j]))
                return mel_fail(err, MEL_ENUMERIC, "entry (%zu, %zu) of a %zu x %zu matrix is %g", i, j, m, n,
                                a[i * lda + j]);
    return MEL_OK;
}

/* In place of a size: says which one is wanted. */
static const lapack_int ASK_SIZE = -1;

/* The workspace that LAPACK asks for in the first entry of the one it was queried with. */
static lapack_int asked_size(double first)
{
    return first < (double)INT_MAX ? (lapack_int)first : INT_MAX;
}

static void transpose(size_t m, size_t n, const double *a, size_t lda, double *at, size_t ldat)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            at[j * ldat + i] = a[i * lda + j];
}

/* Largest row sum of magnitudes of A', which is the 1-norm of A. work: n doubles. */
static double norm_one(size_t n, const double *a, size_t lda, double *work)
{
    for (size_t j = 0; j < n; j++)
        work[j] = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            work[j] += fabs(a[i * lda + j]);
    return mel_norm_inf(n, work);
}

mel_status mel_solve(size_t n, double *a, size_t lda, size_t nrhs, double *b, size_t ldb, double *rcond,
                     mel_error *err)
{
    TRY(check_matrix(n, n, a, lda, err));
    const mel_status status = check_matrix(n, nrhs, b, ldb, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "right-hand side");
    if (rcond != NULL)
        *rcond = 1.0;
    if (n == 0)
        return MEL_OK;
    MEL_ARRAY(lapack_int, pivots, n, "a linear system", err);
    MEL_ARRAY(lapack_int, iwork, n, "a linear system", err);
    MEL_ARRAY(double, work, 4 * n, "a linear system", err);
    MEL_AUTO_MEMORY double *columns = mel_alloc(n, nrhs * sizeof *columns);
    TRY(MEL_NEED(columns, "a linear system", err));
    const lapack_int order = (lapack_int)n, stride = (lapack_int)lda, sides = (lapack_int)nrhs;
    const double norm = norm_one(n, a, lda, work);
    double condition = 0.0;
    lapack_int info = 0;
    mel_blas_hold();
    LAPACK_dgetrf(&order, &order, a, &stride, pivots, &info);
    if (info == 0)
        LAPACK_dgecon("I", &order, a, &stride, &norm, &condition, work, iwork, &info);
    const bool regular = condition >= DBL_EPSILON; /* not a NaN */
    if (regular) {
        transpose(n, nrhs, b, ldb, columns, n);
        LAPACK_dgetrs("T", &order, &sides, a, &stride, pivots, columns, &order, &info);
        transpose(nrhs, n, columns, n, b, ldb);
    }
    mel_blas_release();
    if (rcond != NULL)
        *rcond = isnan(condition) ? 0.0 : condition;
    return regular ? MEL_OK
                   : mel_fail(err, MEL_ENUMERIC,
                              "a %zu x %zu system is singular to working precision (reciprocal condition %g)",
                              n, n, condition);
}

/* Singular value decomposition of A' = U S V' (n x m in LAPACK's eyes). */
typedef struct {
    char job_u, job_vt;
    double *values, *u, *vt;
    size_t ldu, ldvt;
} svd_job;

static mel_status run_svd(const svd_job *job, size_t m, size_t n, double *a, size_t lda, mel_error *err)
{
    const lapack_int rows = (lapack_int)n, cols = (lapack_int)m, stride = (lapack_int)lda;
    const lapack_int ldu = (lapack_int)job->ldu, ldvt = (lapack_int)job->ldvt;
    lapack_int info = 0;
    double size = 0.0;
    LAPACK_dgesvd(&job->job_u, &job->job_vt, &rows, &cols, a, &stride, job->values, job->u, &ldu, job->vt,
                  &ldvt, &size, &ASK_SIZE, &info);
    const lapack_int n_work = asked_size(size);
    MEL_ARRAY(double, work, (size_t)n_work, "singular values", err);
    mel_blas_hold();
    LAPACK_dgesvd(&job->job_u, &job->job_vt, &rows, &cols, a, &stride, job->values, job->u, &ldu, job->vt,
                  &ldvt, work, &n_work, &info);
    mel_blas_release();
    if (info != 0)
        return mel_fail(err, MEL_ENUMERIC, "the singular values of a %zu x %zu matrix did not converge", m,
                        n);
    return MEL_OK;
}

/* x = U S^+ V' b with the factors of A': U is n x r, V' is r x m, both column-major. */
static size_t apply_pseudo_inverse(const svd_job *f, size_t m, size_t n, const double *b, double tol,
                                   double *x)
{
    const size_t r = m < n ? m : n;
    const double floor = (tol > 0.0 ? tol : DBL_EPSILON * (double)(m > n ? m : n)) * f->values[0];
    size_t rank = 0;
    for (size_t j = 0; j < n; j++)
        x[j] = 0.0;
    while (rank < r && f->values[rank] > floor) {
        double weight = 0.0;
        for (size_t i = 0; i < m; i++)
            weight += f->vt[i * f->ldvt + rank] * b[i];
        mel_axpy(n, weight / f->values[rank], f->u + rank * f->ldu, x);
        rank++;
    }
    return rank;
}

mel_status mel_least_squares(size_t m, size_t n, double *a, size_t lda, double *b, double tol, double *x,
                             size_t *rank, mel_error *err)
{
    TRY(check_matrix(m, n, a, lda, err));
    if (!mel_all_finite(m, b))
        return mel_fail(err, MEL_ENUMERIC, "right-hand side of %zu equations is not finite", m);
    const size_t r = m < n ? m : n;
    if (r == 0) {
        for (size_t j = 0; j < n; j++)
            x[j] = 0.0;
        if (rank != NULL)
            *rank = 0;
        return MEL_OK;
    }
    /* The long factor replaces a; the short one is r x r and fits beside it. */
    MEL_ARRAY(double, values, r, "least squares", err);
    MEL_AUTO_MEMORY double *small = mel_alloc(r, r * sizeof *small);
    TRY(MEL_NEED(small, "least squares", err));
    const svd_job job = m >= n ? (svd_job){ 'S', 'O', values, small, a, n, lda }
                               : (svd_job){ 'O', 'S', values, a, small, lda, m };
    TRY(run_svd(&job, m, n, a, lda, err));
    const size_t found = apply_pseudo_inverse(&job, m, n, b, tol, x);
    if (rank != NULL)
        *rank = found;
    return MEL_OK;
}

/* Flips x so that its largest entry is positive. Of entries that are equal up to rounding the first
 * decides, so that the sign does not depend on the last bit. */
static void fix_sign(size_t n, double *x)
{
    const double nearly = mel_norm_inf(n, x) * (1.0 - 1e-8);
    size_t i = 0;
    while (i + 1 < n && fabs(x[i]) < nearly)
        i++;
    if (x[i] < 0.0)
        mel_scale(n, -1.0, x);
}

mel_status mel_svd(size_t m, size_t n, double *a, size_t lda, double *values, double *vt, mel_error *err)
{
    if (m < n)
        return mel_fail(err, MEL_EINVAL, "a %zu x %zu matrix is wider than tall", m, n);
    mel_status status = check_matrix(m, n, a, lda, err);
    if (status != MEL_OK || n == 0)
        return status;
    const svd_job job = { 'A', 'N', values, vt, NULL, n, 1 };
    status = run_svd(&job, m, n, a, lda, err);
    for (size_t i = 0; status == MEL_OK && i < n; i++)
        fix_sign(n, vt + i * n);
    return status;
}

/* Only the lower triangle counts. */
static mel_status check_triangle(size_t n, const double *a, size_t lda, mel_error *err)
{
    TRY(check_matrix(0, n, a, lda, err));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(a[i * lda + j]))
                return mel_fail(err, MEL_ENUMERIC, "entry (%zu, %zu) of a symmetric %zu x %zu matrix is %g",
                                i, j, n, n, a[i * lda + j]);
    return MEL_OK;
}

mel_status mel_cholesky(size_t n, double *a, size_t lda, mel_error *err)
{
    const mel_status status = check_triangle(n, a, lda, err);
    if (status != MEL_OK || n == 0)
        return status;
    mel_blas_hold();
    const lapack_int order = (lapack_int)n, stride = (lapack_int)lda;
    lapack_int info = 0;
    LAPACK_dpotrf("U", &order, a, &stride, &info);
    mel_blas_release();
    size_t good = info > 0 ? (size_t)info - 1 : 0;
    while (info == 0 && good < n && isfinite(a[good * lda + good])) /* not every LAPACK sees a NaN */
        good++;
    if (good < n)
        return mel_fail(err, MEL_ENUMERIC, "a %zu x %zu matrix is not positive definite (pivot %zu)", n, n,
                        good);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            a[i * lda + j] = 0.0;
    return MEL_OK;
}

void mel_cholesky_raised(size_t n, double *a, double share)
{
    for (size_t j = 0; j < n; j++) {
        double *row = a + j * n;
        const double floor = fmax(share * fabs(row[j]), 1e-280);
        const double pivot = row[j] - mel_dot(j, row, row);
        row[j] = sqrt(fmax(pivot, floor));
        for (size_t i = j + 1; i < n; i++) {
            double *entry = &a[i * n + j];
            *entry = pivot > floor ? (*entry - mel_dot(j, a + i * n, row)) / row[j] : 0.0;
            row[i] = 0.0;
        }
    }
}

void mel_solve_lower(size_t n, const double *l, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (x[i] - mel_dot(i, l + i * n, x)) / l[i * n + i];
}

void mel_solve_upper(size_t n, const double *l, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= l[i * n + i];
        mel_axpy(i, -x[i], l + i * n, x);
    }
}

void mel_cholesky_solve(size_t n, const double *l, size_t lda, double *b)
{
    if (n == 0)
        return;
    mel_blas_hold();
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, l, (int)lda, b, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, l, (int)lda, b, 1);
    mel_blas_release();
}

/* LAPACK reads the rows of a as columns: A' = L Q' by reflections. R = L' is then the upper triangle of a,
 * which becomes Q. */
static void factor_qr(size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr, double *tau,
                      double *work, lapack_int n_work)
{
    const lapack_int rows = (lapack_int)n, cols = (lapack_int)m, stride = (lapack_int)lda;
    lapack_int info = 0;
    LAPACK_dgelqf(&rows, &cols, a, &stride, tau, work, &n_work, &info);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            r[i * ldr + j] = j < i ? 0.0 : a[i * lda + j];
    LAPACK_dorglq(&rows, &cols, &rows, a, &stride, tau, work, &n_work, &info);
    for (size_t j = 0; j < n; j++) {
        if (!(r[j * ldr + j] < 0.0))
            continue;
        mel_scale(n - j, -1.0, r + j * ldr + j);
        for (size_t i = 0; i < m; i++)
            a[i * lda + j] = -a[i * lda + j];
    }
}

mel_status mel_qr(size_t m, size_t n, double *a, size_t lda, double *r, size_t ldr, mel_error *err)
{
    if (m < n)
        return mel_fail(err, MEL_EINVAL, "a %zu x %zu matrix is wider than tall", m, n);
    const mel_status status = check_matrix(m, n, a, lda, err);
    if (status != MEL_OK || n == 0)
        return status;
    /* Both calls work best with a block of a few dozen rows of workspace. */
    enum { BLOCK = 64 };
    const size_t n_work = n <= INT_MAX / BLOCK ? n * BLOCK : n;
    MEL_ARRAY(double, tau, n, "a QR factorisation", err);
    MEL_ARRAY(double, work, n_work, "a QR factorisation", err);
    mel_blas_hold();
    factor_qr(m, n, a, lda, r, ldr, tau, work, (lapack_int)n_work);
    mel_blas_release();
    return MEL_OK;
}

/* LAPACK leaves the vectors in its columns, our rows. */
static void rows_to_columns(size_t n, double *a, size_t lda)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double upper = a[j * lda + i];
            a[j * lda + i] = a[i * lda + j];
            a[i * lda + j] = upper;
        }
}

mel_status mel_eigen(size_t n, double *a, size_t lda, double *values, mel_error *err)
{
    const mel_status status = check_triangle(n, a, lda, err);
    if (status != MEL_OK || n == 0)
        return status;
    const lapack_int order = (lapack_int)n, stride = (lapack_int)lda;
    double size = 0.0;
    lapack_int isize = 0, info = 0;
    LAPACK_dsyevd("V", "U", &order, a, &stride, values, &size, &ASK_SIZE, &isize, &ASK_SIZE, &info);
    const lapack_int n_work = asked_size(size);
    MEL_ARRAY(double, work, (size_t)n_work, "an eigenproblem", err);
    MEL_ARRAY(lapack_int, iwork, (size_t)isize, "an eigenproblem", err);
    mel_blas_hold();
    LAPACK_dsyevd("V", "U", &order, a, &stride, values, work, &n_work, iwork, &isize, &info);
    mel_blas_release();
    if (info != 0)
        return mel_fail(err, MEL_ENUMERIC, "the eigenvalues of a %zu x %zu matrix did not converge", n, n);
    for (size_t i = 0; i < n; i++)
        fix_sign(n, a + i * lda);
    rows_to_columns(n, a, lda);
    return MEL_OK;
}
