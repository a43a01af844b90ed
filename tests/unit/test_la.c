/* Every routine against a naive twin on random shapes, sizes 0 and 1 and padded rows included, and on
 * the matrices that are hard for it. */
#include "support/test.h"

#include "base/la.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };
#define ROOT_HALF 0.70710678118654752440
#define PAD 1e99 /* what lies between the columns and the row stride: never read, never written */

typedef struct {
    size_t m, n, ld;
    double *x;
} matrix;

static matrix new_matrix(size_t m, size_t n, size_t padding)
{
    const matrix a = { m, n, n + padding, malloc((m * (n + padding) + 1) * sizeof(double)) };
    assert_non_null(a.x);
    for (size_t i = 0; i < m * a.ld + 1; i++)
        a.x[i] = PAD;
    return a;
}

static double *at(const matrix *a, size_t i, size_t j)
{
    return &a->x[i * a->ld + j];
}

static matrix random_matrix(mel_rng *rng, size_t m, size_t n, size_t padding)
{
    const matrix a = new_matrix(m, n, padding);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            *at(&a, i, j) = mel_rng_normal(rng);
    return a;
}

static matrix copy_matrix(const matrix *a)
{
    const matrix b = new_matrix(a->m, a->n, a->ld - a->n);
    memcpy(b.x, a->x, (a->m * a->ld + 1) * sizeof(double));
    return b;
}

static void check_padding(const matrix *a)
{
    for (size_t i = 0; i < a->m; i++)
        for (size_t j = a->n; j < a->ld; j++)
            assert_true(*at(a, i, j) == PAD);
    assert_true(a->x[a->m * a->ld] == PAD);
}

/* X X' + 0.1 I */
static matrix random_definite(mel_rng *rng, size_t n, size_t padding)
{
    const matrix x = random_matrix(rng, n, n, 0), a = new_matrix(n, n, padding);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = i == j ? 0.1 : 0.0;
            for (size_t k = 0; k < n; k++)
                sum += *at(&x, i, k) * *at(&x, j, k);
            *at(&a, i, j) = sum;
        }
    free(x.x);
    return a;
}

static matrix hilbert(size_t n)
{
    const matrix a = new_matrix(n, n, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            *at(&a, i, j) = 1.0 / (double)(i + j + 1);
    return a;
}

/* Shapes from 0 to MOST, small ones often. */
static size_t random_size(mel_rng *rng)
{
    return (size_t)mel_rng_below(rng, mel_rng_below(rng, MOST) + 2);
}

/* --- vectors --- */

/* The order of the sums that results rest on: eight parts, then pairs of them. */
static double dot_by_parts(size_t n, const double *x, const double *y)
{
    double p[8] = { 0.0 };
    for (size_t i = 0; i < n; i++)
        p[i % 8] += x[i] * y[i];
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

static void test_dot(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t n = 0; n < 100; n++) {
        double x[100], y[100], sum = 0.0, size = 0.0;
        for (size_t i = 0; i < n; i++) {
            x[i] = mel_rng_normal(&rng);
            y[i] = mel_rng_normal(&rng);
            sum += x[i] * y[i];
            size += fabs(x[i] * y[i]);
        }
        assert_close(mel_dot(n, x, y), sum, 1e-14 * size);
        const double got = mel_dot(n, x, y), expected = dot_by_parts(n, x, y);
        assert_memory_equal(&got, &expected, sizeof got);
    }
    const double zero[] = { -0.0, -0.0, -0.0 }, one[] = { 1.0, 1.0, 1.0 };
    assert_false(signbit(mel_dot(3, zero, one)));
    const double a[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, b[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    assert_close(mel_dot(11, a, b), 66.0, 0.0);
    const double c[] = { 1.0, NAN };
    assert_true(isnan(mel_dot(2, c, b)));
    assert_true(mel_dot(0, NULL, NULL) == 0.0);
}

static void test_norms(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        double x[4], two, inf;
    } rows[] = {
        { "nothing", 0, { 0 }, 0.0, 0.0 },
        { "zero", 3, { 0.0, -0.0, 0.0 }, 0.0, 0.0 },
        { "3-4-5", 2, { 3.0, -4.0 }, 5.0, 4.0 },
        { "squares overflow", 2, { 3e200, 4e200 }, 5e200, 4e200 },
        { "squares underflow", 2, { 3e-200, -4e-200 }, 5e-200, 4e-200 },
        { "squares lose their digits", 2, { 3e-162, 4e-162 }, 5e-162, 4e-162 },
        { "some squares underflow", 3, { 0x1p-511, 0x1p-537, 0x1p-600 }, 0x1p-511, 0x1p-511 },
        { "subnormal", 2, { 3 * 0x1p-1074, 4 * 0x1p-1074 }, 5 * 0x1p-1074, 4 * 0x1p-1074 },
        { "largest", 1, { -DBL_MAX }, DBL_MAX, DBL_MAX },
        { "norm overflows", 2, { DBL_MAX, DBL_MAX }, INFINITY, DBL_MAX },
        { "infinite", 2, { -INFINITY, 1.0 }, INFINITY, INFINITY },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_close(mel_norm2(rows[i].n, rows[i].x), rows[i].two, 2.0 * DBL_EPSILON * rows[i].two);
        assert_close(mel_norm_inf(rows[i].n, rows[i].x), rows[i].inf, 0.0);
    }
    for (size_t i = 0; i < 12; i++) {
        double x[12] = { 1, 2, 3, INFINITY };
        x[i] = NAN;
        assert_true(isnan(mel_norm2(COUNT(x), x)));
        assert_true(isnan(mel_norm_inf(COUNT(x), x)));
        assert_false(mel_all_finite(COUNT(x), x));
    }
}

static void test_all_finite(void **state)
{
    (void)state;
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (size_t n = 1; n < 20; n++)
        for (size_t i = 0; i < n; i++) {
            double x[20];
            for (size_t j = 0; j < n; j++)
                x[j] = j % 2 == 0 ? DBL_MAX : -0x1p-1074;
            assert_true(mel_all_finite(n, x));
            for (size_t k = 0; k < COUNT(bad); k++) {
                x[i] = bad[k];
                assert_false(mel_all_finite(n, x));
            }
        }
    assert_true(mel_all_finite(0, NULL));
}

static void test_axpy_and_scale(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 3, 4, 5 };
    double y[] = { 10, 20, 30, 40, 50 };
    mel_axpy(4, 2.0, x, y);
    mel_scale(3, -1.0, y);
    const double want[] = { -12, -24, -36, 48, 50 };
    assert_memory_equal(y, want, sizeof want);
    mel_axpy(0, 1.0, NULL, NULL);
    mel_scale(0, 1.0, NULL);
}

static void test_normalise(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double x[2], want[2];
    } rows[] = {
        { "3-4-5", { 3.0, -4.0 }, { 0.6, -0.8 } },
        { "huge", { DBL_MAX, DBL_MAX }, { ROOT_HALF, ROOT_HALF } },
        { "subnormal", { 0x1p-1074, -0x1p-1074 }, { ROOT_HALF, -ROOT_HALF } },
        { "far apart", { 1e300, 1e-300 }, { 1.0, 0.0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        double x[2] = { rows[i].x[0], rows[i].x[1] };
        assert_ok(mel_normalise(2, x, NULL), NULL);
        assert_close(x[0], rows[i].want[0], 1e-15);
        assert_close(x[1], rows[i].want[1], 1e-15);
    }
    static const double refused[][2] = { { 0.0, -0.0 }, { 1.0, NAN }, { INFINITY, 1.0 } };
    for (size_t i = 0; i < COUNT(refused); i++) {
        double x[2] = { refused[i][0], refused[i][1] };
        mel_error err = { 0 };
        assert_int_equal(mel_normalise(2, x, &err), MEL_ENUMERIC);
        assert_non_null(strstr(err.text, "has no direction"));
        assert_memory_equal(x, refused[i], sizeof x);
    }
    assert_int_equal(mel_normalise(0, NULL, NULL), MEL_ENUMERIC);
}

/* --- products --- */

/* One coefficient in three is 0 or 1, which the library treats on their own. */
static double random_factor(mel_rng *rng)
{
    const uint64_t kind = mel_rng_below(rng, 6);
    return kind < 2 ? (double)kind : mel_rng_normal(rng);
}

static void check_gemv(mel_rng *rng, bool transposed)
{
    const size_t m = random_size(rng), n = random_size(rng);
    const size_t in = transposed ? m : n, out = transposed ? n : m;
    const matrix a = random_matrix(rng, m, n, mel_rng_below(rng, 4)), x = random_matrix(rng, 1, in, 0);
    matrix y = random_matrix(rng, 1, out, 0);
    const double alpha = random_factor(rng), beta = random_factor(rng);
    double want[MOST + 1], size[MOST + 1];
    for (size_t i = 0; i < out; i++) {
        want[i] = beta * y.x[i];
        size[i] = fabs(want[i]);
        for (size_t j = 0; j < in; j++) {
            const double term = alpha * (transposed ? *at(&a, j, i) : *at(&a, i, j)) * x.x[j];
            want[i] += term;
            size[i] += fabs(term);
        }
        if (beta == 0.0)
            y.x[i] = NAN; /* must not matter */
    }
    if (transposed)
        mel_gemv_t(m, n, alpha, a.x, a.ld, x.x, beta, y.x);
    else
        mel_gemv(m, n, alpha, a.x, a.ld, x.x, beta, y.x);
    for (size_t i = 0; i < out; i++)
        assert_close(y.x[i], want[i], 1e-14 * size[i]);
    check_padding(&y);
    free(a.x);
    free(x.x);
    free(y.x);
}

static void test_gemv(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (size_t i = 0; i < 1000; i++)
        check_gemv(&rng, i % 2 == 0);
}

static void check_gemm(mel_rng *rng)
{
    const bool ta = mel_rng_below(rng, 2) == 0, tb = mel_rng_below(rng, 2) == 0;
    const size_t m = random_size(rng), n = random_size(rng), k = random_size(rng);
    const matrix a = random_matrix(rng, ta ? k : m, ta ? m : k, mel_rng_below(rng, 4));
    const matrix b = random_matrix(rng, tb ? n : k, tb ? k : n, mel_rng_below(rng, 4));
    const matrix c = random_matrix(rng, m, n, mel_rng_below(rng, 4)), before = copy_matrix(&c);
    const double alpha = random_factor(rng), beta = random_factor(rng);
    for (size_t i = 0; beta == 0.0 && i < m; i++)
        for (size_t j = 0; j < n; j++)
            *at(&c, i, j) = NAN; /* must not matter */
    mel_gemm(ta, tb, m, n, k, alpha, a.x, a.ld, b.x, b.ld, beta, c.x, c.ld);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double want = beta * *at(&before, i, j), size = fabs(want);
            for (size_t p = 0; p < k; p++) {
                const double term =
                    alpha * (ta ? *at(&a, p, i) : *at(&a, i, p)) * (tb ? *at(&b, j, p) : *at(&b, p, j));
                want += term;
                size += fabs(term);
            }
            assert_close(*at(&c, i, j), want, 1e-14 * size);
        }
    check_padding(&c);
    free(a.x);
    free(b.x);
    free(c.x);
    free(before.x);
}

static void test_gemm(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t i = 0; i < 1000; i++)
        check_gemm(&rng);
}

/* Strides that an int cannot hold, on one row, where they do not matter. */
static void test_sizes_beyond_int(void **state)
{
    (void)state;
    const size_t far = (size_t)1 << 40;
    const double a[] = { 1, 2, 3 }, x[] = { 4, 5, 6 };
    double y = 1.0, z[3] = { 1, 1, 1 };
    mel_gemv(1, 3, 2.0, a, far, x, 3.0, &y);
    assert_close(y, 67.0, 0.0);
    mel_gemv_t(1, 3, 2.0, a, far, x, 3.0, z);
    assert_true(z[0] == 11.0 && z[1] == 19.0 && z[2] == 27.0);
    for (int kind = 0; kind < 4; kind++) {
        double c[3] = { 1, 1, 1 };
        const bool ta = (kind & 1) != 0, tb = (kind & 2) != 0;
        mel_gemm(ta, tb, 1, tb ? 1 : 3, 1, 2.0, a, far, x, far, 0.5, c, far);
        assert_close(c[0], 8.5, 0.0);
        assert_close(c[1], tb ? 1.0 : 10.5, 0.0);
    }
    double square = 1.0;
    mel_error err = { 0 };
    assert_int_equal(mel_solve(1, &square, far, 1, &y, 1, NULL, &err), MEL_ELIMIT);
    assert_string_equal(err.text, "a 1 x 1 matrix with stride 1099511627776 is too large");
    assert_int_equal(mel_cholesky(1, &square, far, NULL), MEL_ELIMIT);
    assert_int_equal(mel_qr(1, 1, &square, far, &y, 1, NULL), MEL_ELIMIT);
    assert_int_equal(mel_svd(far, 1, &square, 1, &y, z, NULL), MEL_ELIMIT);
}

/* --- factorisations --- */

static void test_solve(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (size_t t = 0; t < 300; t++) {
        const size_t n = random_size(&rng), nrhs = random_size(&rng) % 5;
        const matrix a = random_matrix(&rng, n, n, mel_rng_below(&rng, 4)), lu = copy_matrix(&a);
        const matrix b = random_matrix(&rng, n, nrhs, mel_rng_below(&rng, 4)), x = copy_matrix(&b);
        double rcond = -1.0;
        mel_error err = { 0 };
        assert_ok(mel_solve(n, lu.x, lu.ld, nrhs, x.x, x.ld, &rcond, &err), &err);
        assert_true(rcond > DBL_EPSILON && rcond <= 1.0);
        /* Backward stable: the residual is small against |A| |x|. */
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < nrhs; k++) {
                double residual = -*at(&b, i, k), size = fabs(residual);
                for (size_t j = 0; j < n; j++) {
                    residual += *at(&a, i, j) * *at(&x, j, k);
                    size += fabs(*at(&a, i, j) * *at(&x, j, k));
                }
                assert_close(residual, 0.0, 1e-13 * size * (double)n);
            }
        check_padding(&lu);
        check_padding(&x);
        free(a.x);
        free(lu.x);
        free(b.x);
        free(x.x);
    }
}

/* Hilbert matrices have known condition numbers (1-norm: n = 2: 27, 3: 748, 4: 28375, 5: 943656, 8:
 * 3.387e10) and are singular to working precision from n = 12 on. */
static void test_solve_hilbert(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double condition;
    } rows[] = {
        { 1, 1.0 }, { 2, 27.0 }, { 3, 748.0 }, { 4, 28375.0 }, { 5, 943656.0 }, { 8, 33872791095.0 }
    };
    for (size_t t = 0; t < COUNT(rows); t++) {
        const size_t n = rows[t].n;
        matrix a = hilbert(n);
        double b[8] = { 0 }, rcond = 0.0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                b[i] += *at(&a, i, j);
        assert_ok(mel_solve(n, a.x, n, 1, b, 1, &rcond, NULL), NULL);
        assert_close(rcond * rows[t].condition, 1.0, 1e-5);
        for (size_t i = 0; i < n; i++)
            assert_close(b[i], 1.0, DBL_EPSILON * rows[t].condition);
        free(a.x);
    }
    /* Its 1-norm and its inverse's are 1001, their infinity-norms 2001. */
    double shear[9] = { 1, 1000, 1000, 0, 1, 0, 0, 0, 1 }, rhs[3] = { 0 }, reciprocal = 0.0;
    assert_ok(mel_solve(3, shear, 3, 1, rhs, 1, &reciprocal, NULL), NULL);
    assert_close(reciprocal * 1001.0 * 1001.0, 1.0, 1e-14);
    for (size_t n = 13; n < 20; n++) {
        matrix a = hilbert(n);
        double b[20] = { 1.0 }, rcond = 1.0;
        mel_error err = { 0 };
        assert_int_equal(mel_solve(n, a.x, n, 1, b, 1, &rcond, &err), MEL_ENUMERIC);
        assert_true(rcond < DBL_EPSILON);
        assert_non_null(strstr(err.text, "singular to working precision"));
        free(a.x);
    }
}

static void test_solve_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double a[4], b[2];
        size_t lda;
        mel_status want;
        const char *says;
    } rows[] = {
        { "zero", { 0, 0, 0, 0 }, { 1, 1 }, 2, MEL_ENUMERIC, "a 2 x 2 system is singular" },
        { "dependent rows", { 1, 2, 2, 4 }, { 1, 1 }, 2, MEL_ENUMERIC, "a 2 x 2 system is singular" },
        { "NaN", { 1, 2, NAN, 4 }, { 1, 1 }, 2, MEL_ENUMERIC, "entry (1, 0) of a 2 x 2 matrix is " },
        { "infinite",
          { 1, INFINITY, 0, 4 },
          { 1, 1 },
          2,
          MEL_ENUMERIC,
          "entry (0, 1) of a 2 x 2 matrix is inf" },
        { "right-hand side",
          { 1, 0, 0, 1 },
          { 1, NAN },
          2,
          MEL_ENUMERIC,
          "right-hand side: entry (1, 0) of a 2 x 1 matrix is " },
        { "stride", { 1, 0, 0, 1 }, { 1, 1 }, 1, MEL_EINVAL, "row stride 1 is below 2 columns" },
        { "product of pivots overflows",
          { 1e308, 1e308, -1e308, 1e308 },
          { 1, 1 },
          2,
          MEL_ENUMERIC,
          "singular" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        double a[4], b[2];
        memcpy(a, rows[i].a, sizeof a);
        memcpy(b, rows[i].b, sizeof b);
        mel_error err = { 0 };
        assert_int_equal(mel_solve(2, a, rows[i].lda, 1, b, 1, NULL, &err), rows[i].want);
        assert_non_null(strstr(err.text, rows[i].says));
        assert_memory_equal(b, rows[i].b, sizeof b);
        memcpy(a, rows[i].a, sizeof a);
        assert_int_equal(mel_solve(2, a, rows[i].lda, 1, b, 1, NULL, NULL), rows[i].want);
    }
}

static void test_least_squares(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t t = 0; t < 300; t++) {
        /* A of rank r as a product of two thinner matrices; sometimes of full rank. */
        const size_t m = random_size(&rng), n = random_size(&rng), least = m < n ? m : n;
        const size_t r = mel_rng_below(&rng, 2) == 0 ? least : (size_t)mel_rng_below(&rng, least + 1);
        const matrix u = random_matrix(&rng, m, r, 0), v = random_matrix(&rng, r, n, 0);
        const matrix a = new_matrix(m, n, mel_rng_below(&rng, 4));
        mel_gemm(false, false, m, n, r, 1.0, u.x, u.ld, v.x, v.ld, 0.0, a.x, a.ld);
        const matrix spoilt = copy_matrix(&a), b = random_matrix(&rng, 1, m, 0), rhs = copy_matrix(&b);
        const matrix x = new_matrix(1, n, 0), gradient = new_matrix(1, n, 0),
                     null = random_matrix(&rng, 1, n, 0);
        size_t rank = 99;
        mel_error err = { 0 };
        assert_ok(mel_least_squares(m, n, spoilt.x, spoilt.ld, rhs.x, 1e-9, x.x, &rank, &err), &err);
        assert_int_equal(rank, r);
        /* Optimal: A' (A x - b) = 0. */
        mel_gemv(m, n, 1.0, a.x, a.ld, x.x, -1.0, b.x);
        mel_gemv_t(m, n, 1.0, a.x, a.ld, b.x, 0.0, gradient.x);
        assert_close(mel_norm_inf(n, gradient.x), 0.0, 1e-9 * (1.0 + mel_norm2(n, x.x)));
        /* Least norm: x is orthogonal to whatever A cannot see. A random vector less its least-squares
         * fit through A is in the null space. */
        const matrix again = copy_matrix(&a), seen = new_matrix(1, m, 0), fit = new_matrix(1, n, 0);
        mel_gemv(m, n, 1.0, a.x, a.ld, null.x, 0.0, seen.x);
        assert_ok(mel_least_squares(m, n, again.x, again.ld, seen.x, 1e-9, fit.x, NULL, &err), &err);
        mel_axpy(n, -1.0, fit.x, null.x);
        assert_close(mel_dot(n, null.x, x.x), 0.0, 1e-7 * (1.0 + mel_norm2(n, x.x)));
        check_padding(&spoilt);
        check_padding(&x);
        const matrix all[] = { u, v, a, spoilt, b, rhs, x, gradient, null, again, seen, fit };
        for (size_t i = 0; i < COUNT(all); i++)
            free(all[i].x);
    }
}

static void test_least_squares_known_answers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t m, n;
        double a[6], b[3], tol, x[3];
        size_t rank;
    } rows[] = {
        { "line through three points", 3, 2, { 1, 0, 1, 1, 1, 2 }, { 1, 2, 2 }, 0.0, { 7.0 / 6.0, 0.5 }, 2 },
        { "two equal columns", 3, 2, { 1, 1, 2, 2, 3, 3 }, { 2, 4, 6 }, 0.0, { 1, 1 }, 1 },
        { "one equation, two unknowns", 1, 2, { 3, 4 }, { 25 }, 0.0, { 3, 4 }, 1 },
        { "zero", 2, 2, { 0, 0, 0, 0 }, { 1, 1 }, 0.0, { 0, 0 }, 0 },
        { "small direction kept", 2, 2, { 1, 0, 0, 1e-6 }, { 1, 1 }, 0.0, { 1, 1e6 }, 2 },
        { "small direction dropped", 2, 2, { 1, 0, 0, 1e-6 }, { 1, 1 }, 1e-5, { 1, 0 }, 1 },
        { "no equations", 0, 2, { 0 }, { 0 }, 0.0, { 0, 0 }, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        double a[6], b[3], x[3] = { PAD, PAD, PAD };
        size_t rank = 99;
        memcpy(a, rows[i].a, sizeof a);
        memcpy(b, rows[i].b, sizeof b);
        assert_ok(mel_least_squares(rows[i].m, rows[i].n, a, rows[i].n, b, rows[i].tol, x, &rank, NULL),
                  NULL);
        assert_int_equal(rank, rows[i].rank);
        for (size_t j = 0; j < rows[i].n; j++)
            assert_close(x[j], rows[i].x[j], 1e-14 * (1.0 + fabs(rows[i].x[j])));
    }
    double a[2] = { 1, NAN }, b[2] = { 1, 1 }, x = PAD;
    assert_int_equal(mel_least_squares(2, 1, a, 1, b, 0.0, &x, NULL, NULL), MEL_ENUMERIC);
    a[1] = 1.0;
    b[0] = INFINITY;
    mel_error err = { 0 };
    assert_int_equal(mel_least_squares(2, 1, a, 1, b, 0.0, &x, NULL, &err), MEL_ENUMERIC);
    assert_string_equal(err.text, "right-hand side of 2 equations is not finite");
    assert_true(x == PAD);
}

static void test_cholesky(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (size_t t = 0; t < 300; t++) {
        const size_t n = random_size(&rng);
        const matrix a = random_definite(&rng, n, mel_rng_below(&rng, 4)), l = copy_matrix(&a);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                *at(&l, i, j) = NAN; /* must not be read */
        mel_error err = { 0 };
        assert_ok(mel_cholesky(n, l.x, l.ld, &err), &err);
        const matrix x = random_matrix(&rng, 1, n, 0), b = new_matrix(1, n, 0);
        for (size_t i = 0; i < n; i++) {
            assert_true(*at(&l, i, i) > 0.0);
            for (size_t j = 0; j < n; j++) {
                assert_true(j <= i || *at(&l, i, j) == 0.0);
                double sum = 0.0;
                for (size_t k = 0; k <= (i < j ? i : j); k++)
                    sum += *at(&l, i, k) * *at(&l, j, k);
                assert_close(sum, *at(&a, i, j), 1e-13 * sqrt(*at(&a, i, i) * *at(&a, j, j)));
            }
        }
        check_padding(&l);
        mel_gemv(n, n, 1.0, a.x, a.ld, x.x, 0.0, b.x);
        mel_cholesky_solve(n, l.x, l.ld, b.x);
        for (size_t i = 0; i < n; i++)
            assert_close(b.x[i], x.x[i], 1e-10);
        check_padding(&b);
        free(a.x);
        free(l.x);
        free(x.x);
        free(b.x);
    }
}

/* As mel_cholesky where that has an answer; elsewhere the factor stays as small as the matrix. */
static void test_cholesky_raised(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    for (size_t t = 0; t < 300; t++) {
        const size_t n = random_size(&rng);
        const matrix a = random_definite(&rng, n, 0), l = copy_matrix(&a), same = copy_matrix(&a);
        mel_error err = { 0 };
        assert_ok(mel_cholesky(n, l.x, l.ld, &err), &err);
        mel_cholesky_raised(n, same.x, 1e-14);
        for (size_t i = 0; i < n * n; i++)
            assert_close(same.x[i], l.x[i], 1e-10 * (1.0 + fabs(l.x[i])));
        free(a.x);
        free(l.x);
        free(same.x);
    }
    /* Not positive: divided by raised pivots, later entries would be 1e6, 1e18 and so on. */
    double bad[25];
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            bad[i * 5 + j] = i == j ? 1.0 : 1.0 + 0.1 * (double)(i + j);
    mel_cholesky_raised(5, bad, 1e-12);
    for (size_t i = 0; i < 25; i++) {
        assert_true(fabs(bad[i]) < 3.0);
        assert_true(i % 6 != 0 || bad[i] > 0.0);
    }
}

static void test_cholesky_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n, lda;
        double a[16];
        mel_status want;
        const char *says;
    } rows[] = {
        { "negative", 1, 1, { -1 }, MEL_ENUMERIC, "a 1 x 1 matrix is not positive definite (pivot 0)" },
        { "zero", 2, 2, { 0, 0, 0, 0 }, MEL_ENUMERIC, "(pivot 0)" },
        { "indefinite", 2, 2, { 1, 2, 2, 1 }, MEL_ENUMERIC, "(pivot 1)" },
        { "singular", 3, 3, { 4, 0, 2, 0, 4, 2, 2, 2, 2 }, MEL_ENUMERIC, "(pivot 2)" },
        { "NaN", 2, 2, { 1, 0, NAN, 1 }, MEL_ENUMERIC, "entry (1, 0) of a symmetric 2 x 2 matrix is " },
        { "infinite",
          2,
          2,
          { INFINITY, 0, 0, 1 },
          MEL_ENUMERIC,
          "entry (0, 0) of a symmetric 2 x 2 matrix is inf" },
        { "overflow on the way", 2, 2, { 1e-300, 0, 1e300, 1 }, MEL_ENUMERIC, "(pivot 1)" },
        { "infinite differences on the way",
          4,
          4,
          { 1, 0, 0, 0, 0, 1, 0, 0, 1e150, 1e150, 3e300, 0, 1e200, -1e200, 0, 1 },
          MEL_ENUMERIC,
          "(pivot 3)" },
        { "stride", 2, 1, { 1, 0, 0, 1 }, MEL_EINVAL, "row stride 1 is below 2 columns" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        double a[16];
        memcpy(a, rows[i].a, sizeof a);
        mel_error err = { 0 };
        assert_int_equal(mel_cholesky(rows[i].n, a, rows[i].lda, &err), rows[i].want);
        assert_non_null(strstr(err.text, rows[i].says));
    }
    mel_cholesky_solve(0, NULL, 1, NULL);
}

/* Columns of q (m x n) orthonormal within tol. */
static void check_orthonormal(const matrix *q, double tol)
{
    for (size_t i = 0; i < q->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < q->m; k++)
                sum += *at(q, k, i) * *at(q, k, j);
            assert_close(sum, i == j ? 1.0 : 0.0, tol);
        }
}

static void check_qr(const matrix *a)
{
    const matrix q = copy_matrix(a), r = new_matrix(a->n, a->n, 2);
    mel_error err = { 0 };
    assert_ok(mel_qr(a->m, a->n, q.x, q.ld, r.x, r.ld, &err), &err);
    check_orthonormal(&q, 1e-13);
    for (size_t i = 0; i < a->n; i++) {
        assert_true(*at(&r, i, i) >= 0.0);
        for (size_t j = 0; j < i; j++)
            assert_true(*at(&r, i, j) == 0.0);
    }
    for (size_t i = 0; i < a->m; i++)
        for (size_t j = 0; j < a->n; j++) {
            double sum = 0.0, size = 0.0;
            for (size_t k = 0; k <= j; k++)
                sum += *at(&q, i, k) * *at(&r, k, j);
            for (size_t k = 0; k < a->m; k++)
                size += fabs(*at(a, k, j));
            assert_close(sum, *at(a, i, j), 1e-14 * size * (double)(a->n + 1));
        }
    check_padding(&q);
    check_padding(&r);
    free(q.x);
    free(r.x);
}

static void test_qr(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    for (size_t t = 0; t < 300; t++) {
        const size_t n = random_size(&rng), m = n + random_size(&rng);
        const matrix a = random_matrix(&rng, m, n, mel_rng_below(&rng, 4));
        if (t % 5 == 0 && n > 1) /* dependent columns */
            for (size_t i = 0; i < m; i++)
                *at(&a, i, n - 1) = *at(&a, i, 0);
        check_qr(&a);
        free(a.x);
    }
    const matrix h = hilbert(20);
    check_qr(&h);
    free(h.x);
    const matrix large = random_matrix(&rng, 300, 200, 0); /* beyond one block */
    check_qr(&large);
    free(large.x);
    double a[2] = { 1, 2 }, r[4];
    mel_error err = { 0 };
    assert_int_equal(mel_qr(1, 2, a, 2, r, 2, &err), MEL_EINVAL);
    assert_string_equal(err.text, "a 1 x 2 matrix is wider than tall");
    a[1] = NAN;
    assert_int_equal(mel_qr(2, 1, a, 1, r, 1, &err), MEL_ENUMERIC);
}

/* The entry that decides the sign: the first within 1e-8 of the largest. */
static void check_sign(size_t n, const double *x, size_t stride)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i * stride]));
    size_t i = 0;
    while (fabs(x[i * stride]) < largest * (1.0 - 1e-8))
        i++;
    assert_true(x[i * stride] > 0.0);
}

static void check_eigen(const matrix *a)
{
    const size_t n = a->n;
    const matrix v = copy_matrix(a), values = new_matrix(1, n, 0);
    double size = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            size = fmax(size, fabs(*at(a, i, j)));
            if (j > i)
                *at(&v, i, j) = NAN; /* must not be read */
        }
    mel_error err = { 0 };
    assert_ok(mel_eigen(n, v.x, v.ld, values.x, &err), &err);
    check_orthonormal(&v, 1e-13);
    for (size_t k = 0; k < n; k++) {
        assert_true(k == 0 || values.x[k - 1] <= values.x[k]);
        check_sign(n, v.x + k, v.ld);
        for (size_t i = 0; i < n; i++) {
            double sum = -values.x[k] * *at(&v, i, k);
            for (size_t j = 0; j < n; j++)
                sum += *at(a, i, j) * *at(&v, j, k);
            assert_close(sum, 0.0, 1e-14 * size * (double)(n + 1));
        }
    }
    check_padding(&v);
    check_padding(&values);
    free(v.x);
    free(values.x);
}

static void test_eigen(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    for (size_t t = 0; t < 200; t++) {
        const size_t n = random_size(&rng);
        const matrix a = random_matrix(&rng, n, n, mel_rng_below(&rng, 4));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                *at(&a, j, i) = *at(&a, i, j);
        check_eigen(&a);
        free(a.x);
    }
    const matrix h = hilbert(15), large = random_definite(&rng, 120, 3), zero = new_matrix(4, 4, 0);
    for (size_t i = 0; i < 16; i++)
        zero.x[i] = 0.0;
    check_eigen(&h);
    check_eigen(&large);
    check_eigen(&zero);
    free(h.x);
    free(large.x);
    free(zero.x);
    double pair[4] = { 2, 0, 1, 2 }, values[2];
    assert_ok(mel_eigen(2, pair, 2, values, NULL), NULL);
    const double want[4] = { ROOT_HALF, ROOT_HALF, -ROOT_HALF, ROOT_HALF };
    assert_close(values[0], 1.0, 1e-15);
    assert_close(values[1], 3.0, 1e-15);
    for (size_t i = 0; i < 4; i++)
        assert_close(pair[i], want[i], 1e-15);
    pair[2] = NAN;
    mel_error err = { 0 };
    assert_int_equal(mel_eigen(2, pair, 2, values, &err), MEL_ENUMERIC);
    assert_non_null(strstr(err.text, "entry (1, 0) of a symmetric 2 x 2 matrix is "));
}

static void check_svd(const matrix *a)
{
    const size_t n = a->n;
    const matrix spoilt = copy_matrix(a), values = new_matrix(1, n, 0), vt = new_matrix(n, n, 0);
    mel_error err = { 0 };
    assert_ok(mel_svd(a->m, n, spoilt.x, spoilt.ld, values.x, vt.x, &err), &err);
    double scale = 1.0;
    for (size_t i = 0; i < a->m; i++)
        for (size_t j = 0; j < n; j++)
            scale += *at(a, i, j) * *at(a, i, j);
    /* |A v_i|: the singular values; A v_i and A v_j orthogonal. */
    const matrix av = new_matrix(a->m, n, 0);
    mel_gemm(false, true, a->m, n, n, 1.0, a->x, a->ld, vt.x, n, 0.0, av.x, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(values.x[i] >= 0.0 && (i == 0 || values.x[i - 1] >= values.x[i]));
        check_sign(n, vt.x + i * n, 1);
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < a->m; k++)
                sum += *at(&av, k, i) * *at(&av, k, j);
            assert_close(sum, i == j ? values.x[i] * values.x[i] : 0.0, 1e-13 * scale);
            assert_close(mel_dot(n, vt.x + i * n, vt.x + j * n), i == j ? 1.0 : 0.0, 1e-13);
        }
    }
    check_padding(&vt);
    check_padding(&values);
    free(spoilt.x);
    free(values.x);
    free(vt.x);
    free(av.x);
}

static void test_svd(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 9);
    for (size_t t = 0; t < 200; t++) {
        const size_t n = random_size(&rng), m = n + random_size(&rng);
        const matrix a = random_matrix(&rng, m, n, mel_rng_below(&rng, 4));
        check_svd(&a);
        free(a.x);
    }
    const matrix h = hilbert(12), tall = random_matrix(&rng, 500, 7, 1);
    check_svd(&h);
    check_svd(&tall);
    free(h.x);
    free(tall.x);
    /* diag(3, 4) and a row of zeros, by hand */
    double a[6] = { 3, 0, 0, -4, 0, 0 }, values[2], vt[4];
    assert_ok(mel_svd(3, 2, a, 2, values, vt, NULL), NULL);
    assert_close(values[0], 4.0, 1e-15);
    assert_close(values[1], 3.0, 1e-15);
    assert_true(vt[0] == 0.0 && vt[1] == 1.0 && vt[2] == 1.0 && vt[3] == 0.0);
    mel_error err = { 0 };
    assert_int_equal(mel_svd(1, 2, a, 2, values, vt, &err), MEL_EINVAL);
    a[0] = -INFINITY;
    assert_int_equal(mel_svd(3, 2, a, 2, values, vt, &err), MEL_ENUMERIC);
}

/* --- threads --- */

/* Results bit for bit the same whatever the caller's OpenBLAS setting, which is given back. */
static void test_thread_setting(void **state)
{
    (void)state;
    enum { N = 300, NN = N * N, ALL = 2 * NN + N };
    mel_rng rng;
    mel_rng_seed(&rng, 10);
    const int before = openblas_get_num_threads();
    const matrix a = random_definite(&rng, N, 0), x = random_matrix(&rng, 1, N, 0);
    double *result[3] = { NULL };
    for (int t = 0; t < 3; t++) {
        openblas_set_num_threads(t + 1);
        double *c = result[t] = calloc(ALL, sizeof *c);
        assert_non_null(c);
        mel_gemm(false, true, N, N, N, 1.0, a.x, N, a.x, N, 0.0, c, N);
        memcpy(c + NN, a.x, NN * sizeof *c);
        assert_ok(mel_cholesky(N, c + NN, N, NULL), NULL);
        mel_gemv(N, N, 1.0, a.x, N, x.x, 0.0, c + NN + NN);
        assert_int_equal(openblas_get_num_threads(), t + 1);
        assert_memory_equal(c, result[0], ALL * sizeof *c);
    }
    openblas_set_num_threads(before);
    for (int t = 0; t < 3; t++)
        free(result[t]);
    free(a.x);
    free(x.x);
}

static void *hold_and_release(void *seen)
{
    for (int i = 0; i < 1000; i++) {
        mel_blas_hold();
        mel_blas_hold();
        *(int *)seen |= openblas_get_num_threads() != 1;
        mel_blas_release();
        *(int *)seen |= openblas_get_num_threads() != 1;
        mel_blas_release();
    }
    return NULL;
}

static void test_hold_from_many_threads(void **state)
{
    (void)state;
    const int before = openblas_get_num_threads();
    openblas_set_num_threads(2);
    pthread_t threads[4];
    int wrong[4] = { 0 };
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_release, &wrong[i]), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(wrong[i], 0);
    }
    assert_int_equal(openblas_get_num_threads(), 2);
    openblas_set_num_threads(before);
}

static void test_thread_count(void **state)
{
    (void)state;
    assert_int_equal(mel_thread_count(1), 1);
    assert_int_equal(mel_thread_count(7), 7);
    assert_true(mel_thread_count(0) >= 1);
    assert_int_equal(mel_thread_count(-3), mel_thread_count(0));
    assert_int_equal(mel_thread_count(1000000000), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_all_finite),
        cmocka_unit_test(test_axpy_and_scale),
        cmocka_unit_test(test_normalise),
        cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_sizes_beyond_int),
        cmocka_unit_test(test_solve),
        cmocka_unit_test(test_solve_hilbert),
        cmocka_unit_test(test_solve_refusals),
        cmocka_unit_test(test_least_squares),
        cmocka_unit_test(test_least_squares_known_answers),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_cholesky_raised),
        cmocka_unit_test(test_cholesky_refusals),
        cmocka_unit_test(test_qr),
        cmocka_unit_test(test_eigen),
        cmocka_unit_test(test_svd),
        cmocka_unit_test(test_thread_setting),
        cmocka_unit_test(test_hold_from_many_threads),
        cmocka_unit_test(test_thread_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
