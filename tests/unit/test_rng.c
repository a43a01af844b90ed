/* Known answers are those of NumPy 1.24.2 (numpy.random.PCG64, SeedSequence, Generator.random). The
 * distributions are tested with fixed seeds against their exact distribution functions; the bounds are
 * the 0.1% points of the statistics, so that a right generator meets them for almost any seed. */
#include "support/test.h"

#include "base/la.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_seed_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, first[3], thousandth;
    } rows[] = {
        { UINT64_C(0x0),
          { UINT64_C(0xa30febcfd9c2825f), UINT64_C(0x4510bdf882d9d721), UINT64_C(0xa7d3da94ecde8b8) },
          UINT64_C(0x6148329042f743b0) },
        { UINT64_C(0x1),
          { UINT64_C(0x8306bdf37922e4ff), UINT64_C(0xf35196bbc152a866), UINT64_C(0x24e7a4f608ec18cd) },
          UINT64_C(0xf664a343c5f5939f) },
        { UINT64_C(0x2a),
          { UINT64_C(0xc621fbcd16d92688), UINT64_C(0x705a5661a791ffc1), UINT64_C(0xdbcd12c26eda1624) },
          UINT64_C(0x47e8d35747d80738) },
        { UINT64_C(0xffffffff),
          { UINT64_C(0x407f5fa930d8fd9f), UINT64_C(0x3814b22eb9684802), UINT64_C(0x498b7dcee8d8dc95) },
          UINT64_C(0x896dbf6940e45334) },
        { UINT64_C(0x100000000),
          { UINT64_C(0xe3c5ebe285ac1625), UINT64_C(0x8ea09968fe31dbcc), UINT64_C(0xcd084ff84d8de9be) },
          UINT64_C(0xc6969dda99847b50) },
        { UINT64_C(0x100000001),
          { UINT64_C(0x54f596cd84cf4c1f), UINT64_C(0x9ca536eb5cb7fa6a), UINT64_C(0x81f436c89e9256f8) },
          UINT64_C(0xd4a04d9246b812e8) },
        { UINT64_C(0x8000000000000000),
          { UINT64_C(0xcfb443e389167cfd), UINT64_C(0x98b11eb7647f71b8), UINT64_C(0xde463a1436212dfd) },
          UINT64_C(0xfcb8e402212bedf5) },
        { UINT64_C(0xffffffffffffffff),
          { UINT64_C(0xae163a7a8c47568f), UINT64_C(0xd86659f5f3382359), UINT64_C(0x1e52b195bc2d24a) },
          UINT64_C(0xed960be3e106025c) },
        { UINT64_C(0x1b69b4ba630f34e),
          { UINT64_C(0x6eb45f8c176452d), UINT64_C(0xd0f84b1339cfaccc), UINT64_C(0x99f6a8be5cdc5ea2) },
          UINT64_C(0x6ff0f232e607e095) },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_rng rng;
        mel_rng_seed(&rng, rows[i].seed);
        uint64_t value = 0;
        for (size_t j = 0; j < 1000; j++) {
            value = mel_rng_next(&rng);
            if (j < 3)
                assert_true(value == rows[i].first[j]);
        }
        assert_true(value == rows[i].thousandth);
    }
}

static void test_stream_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, first[2], thousandth;
    } rows[] = {
        { UINT64_C(0x0),
          UINT64_C(0x0),
          { UINT64_C(0xa30febcfd9c2825f), UINT64_C(0x4510bdf882d9d721) },
          UINT64_C(0x6148329042f743b0) },
        { UINT64_C(0x0),
          UINT64_C(0x1),
          { UINT64_C(0xe3c5ebe285ac1625), UINT64_C(0x8ea09968fe31dbcc) },
          UINT64_C(0xc6969dda99847b50) },
        { UINT64_C(0x1),
          UINT64_C(0x0),
          { UINT64_C(0x8306bdf37922e4ff), UINT64_C(0xf35196bbc152a866) },
          UINT64_C(0xf664a343c5f5939f) },
        { UINT64_C(0x2a),
          UINT64_C(0x1),
          { UINT64_C(0xcb22fdfba353293d), UINT64_C(0x3ef72585730c363e) },
          UINT64_C(0xde6172755c9fefb0) },
        { UINT64_C(0x2a),
          UINT64_C(0x2),
          { UINT64_C(0x4a1d425138dc55aa), UINT64_C(0xf3b60e7ee05f0b93) },
          UINT64_C(0x16937418f887d8ce) },
        { UINT64_C(0x2a),
          UINT64_C(0xffffffff),
          { UINT64_C(0xe12a418ac2210f95), UINT64_C(0x7db2f2794b5f8641) },
          UINT64_C(0x5d025d1893ae939e) },
        { UINT64_C(0x2a),
          UINT64_C(0x100000000),
          { UINT64_C(0xddb76e16aa4fe824), UINT64_C(0xe1b6b30cd112bcd8) },
          UINT64_C(0x1e303639c0d45246) },
        { UINT64_C(0x100000000),
          UINT64_C(0x5),
          { UINT64_C(0x620cd72fd3d055a1), UINT64_C(0x1cb47fd94f4b2565) },
          UINT64_C(0x73c233497544f435) },
        { UINT64_C(0xffffffffffffffff),
          UINT64_C(0xffffffffffffffff),
          { UINT64_C(0x3e2f9d58520f46e1), UINT64_C(0xb32aa6d93dfe53cf) },
          UINT64_C(0x166f4220a714b5f0) },
        { UINT64_C(0x7),
          UINT64_C(0xffffffffffffffff),
          { UINT64_C(0x59b8191a774064dc), UINT64_C(0x8b8c95f701f7d2ac) },
          UINT64_C(0xb058f186a198a3ae) },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_rng rng;
        mel_rng_seed_stream(&rng, rows[i].seed, rows[i].stream);
        uint64_t value = 0;
        for (size_t j = 0; j < 1000; j++) {
            value = mel_rng_next(&rng);
            if (j < 2)
                assert_true(value == rows[i].first[j]);
        }
        assert_true(value == rows[i].thousandth);
    }
}

static void test_state_known_answer(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 2024);
    assert_true(rng.state_hi == UINT64_C(0x30854d7e4a72efbf) && rng.state_lo == UINT64_C(0x6956825c3204f31e));
    assert_true(rng.inc_hi == UINT64_C(0xc67e5ec6f768fa51) && rng.inc_lo == UINT64_C(0xdf440b34fffb7769));
    /* A copy is a fork. */
    mel_rng fork = rng;
    const uint64_t first = mel_rng_next(&rng);
    assert_true(mel_rng_next(&fork) == first);
    assert_memory_equal(&fork, &rng, sizeof rng);
}

static void test_uniform_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        double want[4];
    } rows[] = {
        { UINT64_C(0x0),
          { 0x1.461fd79fb3850p-1, 0x1.1442f7e20b674p-2, 0x1.4fa7b529d9bd0p-5, 0x1.0ec9ed84d0bc0p-6 } },
        { UINT64_C(0x2a),
          { 0x1.8c43f79a2db24p-1, 0x1.c16959869e47ep-2, 0x1.b79a2584ddb42p-1, 0x1.650d6c1c2c011p-1 } },
        { UINT64_C(0xffffffffffffffff),
          { 0x1.5c2c74f5188eap-1, 0x1.b0ccb3ebe6704p-1, 0x1.e52b195bc2d00p-8, 0x1.ca04d55e33445p-1 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_rng rng;
        mel_rng_seed(&rng, rows[i].seed);
        for (size_t j = 0; j < 4; j++)
            assert_close(mel_rng_uniform(&rng), rows[i].want[j], 0.0);
    }
}

/* --- distributions --- */

enum { MANY = 100000 };
static double sample[MANY];

typedef double (*cdf_fn)(double x, double a, double b);

/* sqrt(n) times the largest distance between empirical and true distribution function; its 0.1%
 * point is 1.95 for continuous distributions and large n (Kolmogorov). Sorts x. */
static double kolmogorov(size_t n, double *x, cdf_fn cdf, double a, double b)
{
    mel_sort(n, x);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double p = cdf(x[i], a, b);
        largest = fmax(largest, fmax(p - (double)i / (double)n, (double)(i + 1) / (double)n - p));
    }
    return largest * sqrt((double)n);
}
#define KOLMOGOROV_BOUND 1.95

static double cdf_uniform(double x, double a, double b)
{
    return (x - a) / (b - a);
}

static double cdf_normal(double x, double a, double b)
{
    return mel_normal_cdf((x - a) / b);
}

static double cdf_beta(double x, double a, double b)
{
    return mel_beta_inc(a, b, x);
}

/* Gamma with shape a = 1/2, 1, 2 or 3. */
static double cdf_gamma(double x, double a, double b)
{
    (void)b;
    if (a == 0.5)
        return erf(sqrt(x));
    double sum = 0.0, term = 1.0;
    for (int k = 0; k < (int)a; k++) {
        sum += term;
        term *= x / (k + 1);
    }
    return 1.0 - exp(-x) * sum;
}

static double chi_square(size_t n, const size_t *count, double expected)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    return sum;
}

static void test_uniform(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < MANY; i++) {
        sample[i] = mel_rng_uniform(&rng);
        assert_true(sample[i] >= 0.0 && sample[i] < 1.0);
    }
    assert_true(kolmogorov(MANY, sample, cdf_uniform, 0.0, 1.0) < KOLMOGOROV_BOUND);
}

static void test_below_is_uniform(void **state)
{
    (void)state;
    /* 0.1% points of chi-square with bound - 1 degrees of freedom */
    static const struct {
        uint64_t bound;
        double critical;
    } rows[] = { { 2, 10.83 }, { 3, 13.82 }, { 7, 22.46 }, { 10, 27.88 }, { 24, 49.73 } };
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t count[24] = { 0 };
        for (size_t j = 0; j < MANY; j++) {
            const uint64_t value = mel_rng_below(&rng, rows[i].bound);
            assert_true(value < rows[i].bound);
            count[value]++;
        }
        const double expected = (double)MANY / (double)rows[i].bound;
        assert_true(chi_square(rows[i].bound, count, expected) < rows[i].critical);
    }
}

static void test_below_large_bounds(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    const uint64_t bounds[] = { UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX };
    for (size_t i = 0; i < COUNT(bounds); i++) {
        for (size_t j = 0; j < MANY; j++)
            sample[j] = (double)mel_rng_below(&rng, bounds[i]);
        assert_true(kolmogorov(MANY, sample, cdf_uniform, 0.0, (double)bounds[i]) < KOLMOGOROV_BOUND);
    }
    /* Without rejection, one residue in three of this bound would come up twice as often. */
    size_t count[3] = { 0 };
    for (size_t j = 0; j < MANY; j++)
        count[mel_rng_below(&rng, UINT64_C(3) << 62) % 3]++;
    assert_true(chi_square(3, count, MANY / 3.0) < 13.82);
    for (size_t j = 0; j < 100; j++)
        assert_int_equal(mel_rng_below(&rng, 1), 0);
}

static void test_normal(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    double power[5] = { 0.0 };
    for (size_t i = 0; i < MANY; i++) {
        const double x = sample[i] = mel_rng_normal(&rng);
        double term = 1.0;
        for (size_t k = 0; k < COUNT(power); k++, term *= x)
            power[k] += term / MANY;
    }
    /* E x^k and its standard error for MANY draws: Var x^k is 1, 2, 15, 96. */
    static const double want[5] = { 1, 0, 1, 0, 3 }, variance[5] = { 0, 1, 2, 15, 96 };
    for (size_t k = 1; k < COUNT(power); k++)
        assert_close(power[k], want[k], 3.29 * sqrt(variance[k] / MANY));
    assert_true(kolmogorov(MANY, sample, cdf_normal, 0.0, 1.0) < KOLMOGOROV_BOUND);
}

static void test_normal_pairs_are_uncorrelated(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    double last = mel_rng_normal(&rng), product = 0.0;
    for (size_t i = 0; i < MANY; i++) {
        const double x = mel_rng_normal(&rng);
        product += x * last / MANY;
        last = x;
    }
    assert_close(product, 0.0, 3.29 / sqrt(MANY));
}

static void test_gamma_moments(void **state)
{
    (void)state;
    const double shapes[] = { 0.01, 0.1, 0.5, 0.999, 1.0, 2.5, 30.0, 1000.0, 1e8 };
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const double a = shapes[i];
        for (size_t j = 0; j < MANY; j++) {
            sample[j] = mel_rng_gamma(&rng, a);
            assert_true(sample[j] >= 0.0 && isfinite(sample[j]));
        }
        /* Mean a, variance a, fourth central moment 3a^2 + 6a. */
        assert_close(mel_mean(MANY, sample), a, 3.29 * sqrt(a / MANY));
        assert_close(mel_variance(MANY, sample), a, 3.29 * sqrt((2.0 * a * a + 6.0 * a) / MANY));
    }
}

static void test_gamma_distribution(void **state)
{
    (void)state;
    const double shapes[] = { 0.5, 1.0, 2.0, 3.0 };
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        for (size_t j = 0; j < MANY; j++)
            sample[j] = mel_rng_gamma(&rng, shapes[i]);
        assert_true(kolmogorov(MANY, sample, cdf_gamma, shapes[i], 0.0) < KOLMOGOROV_BOUND);
    }
}

static void test_gamma_odd_shapes(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    assert_true(isnan(mel_rng_gamma(&rng, 0.0)));
    assert_true(isnan(mel_rng_gamma(&rng, -1.0)));
    assert_true(isnan(mel_rng_gamma(&rng, NAN)));
    assert_true(isinf(mel_rng_gamma(&rng, INFINITY)));
    assert_true(mel_rng_gamma(&rng, 1e-320) == 0.0);
    const double huge = mel_rng_gamma(&rng, 1e300);
    assert_close(huge / 1e300, 1.0, 1e-12);
}

/* Each entry of a Dirichlet vector has a beta distribution. */
static void test_dirichlet_marginals(void **state)
{
    (void)state;
    static const double ones[] = { 1, 1, 1, 1 };
    static const struct {
        size_t n;
        double alpha[4];
        bool uniform; /* pass NULL */
    } rows[] = {
        { 3, { 1, 1, 1, 0 }, true },    { 4, { 1, 1, 1, 1 }, true },     { 2, { 1, 1, 0, 0 }, false },
        { 4, { 0.5, 1, 2, 3 }, false }, { 3, { 0.1, 0.2, 0.3 }, false }, { 3, { 50, 20, 400 }, false },
    };
    mel_rng rng;
    mel_rng_seed(&rng, 9);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = rows[i].n;
        const double *alpha = rows[i].uniform ? ones : rows[i].alpha;
        const double total = mel_total(n, alpha);
        for (size_t k = 0; k < n; k++) {
            enum { DRAWS = 20000 };
            for (size_t j = 0; j < DRAWS; j++) {
                double x[4];
                mel_rng_dirichlet(&rng, n, rows[i].uniform ? NULL : alpha, x);
                assert_close(mel_total(n, x), 1.0, 1e-15 * (double)n);
                assert_true(mel_norm_inf(n, x) <= 1.0);
                sample[j] = x[k];
            }
            assert_true(kolmogorov(DRAWS, sample, cdf_beta, alpha[k], total - alpha[k]) < KOLMOGOROV_BOUND);
        }
    }
}

/* Alphas so small that every gamma draw underflows: still vertices with the right frequencies. */
static void test_dirichlet_tiny(void **state)
{
    (void)state;
    const double scales[] = { 1e-4, 1e-10, 1e-200, 1e-300, 1e-307, 0x1p-1070 };
    mel_rng rng;
    mel_rng_seed(&rng, 10);
    for (size_t i = 0; i < COUNT(scales); i++) {
        enum { DRAWS = 20000 };
        const double alpha[3] = { scales[i], 2.0 * scales[i], 5.0 * scales[i] };
        size_t top[3] = { 0 };
        for (size_t j = 0; j < DRAWS; j++) {
            double x[3];
            mel_rng_dirichlet(&rng, 3, alpha, x);
            assert_close(x[0] + x[1] + x[2], 1.0, 1e-15);
            for (size_t k = 0; k < 3; k++)
                top[k] += x[k] > 0.5;
        }
        const double share[3] = { 0.125, 0.25, 0.625 };
        double statistic = 0.0;
        for (size_t k = 0; k < 3; k++) {
            const double expected = DRAWS * share[k];
            statistic += ((double)top[k] - expected) * ((double)top[k] - expected) / expected;
        }
        assert_true(statistic < 13.82);
    }
}

static void test_dirichlet_edges(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    double x[3] = { 7.0, 7.0, 7.0 };
    mel_rng_dirichlet(&rng, 0, NULL, x);
    mel_rng_dirichlet(&rng, 0, x, x + 1);
    assert_true(x[0] == 7.0 && x[1] == 7.0);
    mel_rng_dirichlet(&rng, 1, NULL, x);
    assert_true(x[0] == 1.0);
    const double half = 0.5, least = 0x1p-1074;
    mel_rng_dirichlet(&rng, 1, &half, x);
    assert_true(x[0] == 1.0);
    mel_rng_dirichlet(&rng, 1, &least, x);
    assert_true(x[0] == 1.0);
    const double huge[2] = { 1e300, 3e300 };
    mel_rng_dirichlet(&rng, 2, huge, x);
    assert_close(x[0], 0.25, 1e-12);
    const double mixed[2] = { 1e-300, 1e300 };
    mel_rng_dirichlet(&rng, 2, mixed, x);
    assert_true(x[0] == 0.0 && x[1] == 1.0);
    const double bad[] = { 0.0, -1.0, NAN, INFINITY };
    for (size_t i = 0; i < COUNT(bad); i++) {
        const double alpha[3] = { 1.0, bad[i], 1.0 };
        mel_rng_dirichlet(&rng, 3, alpha, x);
        assert_true(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
    }
}

static void test_sphere(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    mel_rng rng;
    mel_rng_seed(&rng, 12);
    size_t side[2] = { 0 };
    for (size_t i = 0; i < DRAWS; i++) {
        double x;
        mel_rng_sphere(&rng, 1, &x);
        assert_true(x == 1.0 || x == -1.0);
        side[x > 0.0]++;
    }
    assert_true(chi_square(2, side, DRAWS / 2.0) < 10.83);
    for (size_t i = 0; i < DRAWS; i++) {
        double x[2];
        mel_rng_sphere(&rng, 2, x);
        sample[i] = atan2(x[1], x[0]);
    }
    assert_true(kolmogorov(DRAWS, sample, cdf_uniform, -acos(-1.0), acos(-1.0)) < KOLMOGOROV_BOUND);
    /* Archimedes: each coordinate of a point on the sphere of R^3 is uniform. */
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < DRAWS; i++) {
            double x[3];
            mel_rng_sphere(&rng, 3, x);
            sample[i] = x[k];
        }
        assert_true(kolmogorov(DRAWS, sample, cdf_uniform, -1.0, 1.0) < KOLMOGOROV_BOUND);
    }
    double x[1000];
    for (size_t n = 1; n <= COUNT(x); n *= 10) {
        mel_rng_sphere(&rng, n, x);
        assert_close(mel_norm2(n, x), 1.0, 1e-14);
    }
    mel_rng_sphere(&rng, 0, x);
}

/* Skipping is drawing and dropping, also in several goes. */
static void test_skip(void **state)
{
    (void)state;
    static const uint64_t far[] = { 0, 1, 2, 3, 64, 1000, 4097, 100001 };
    for (size_t i = 0; i < COUNT(far); i++) {
        mel_rng drawn, skipped;
        mel_rng_seed_stream(&drawn, 5, i);
        skipped = drawn;
        for (uint64_t j = 0; j < far[i]; j++)
            (void)mel_rng_next(&drawn);
        mel_rng_skip(&skipped, far[i] / 3);
        mel_rng_skip(&skipped, far[i] - far[i] / 3);
        assert_memory_equal(&drawn, &skipped, sizeof drawn);
    }
    mel_rng rng, once;
    mel_rng_seed(&rng, 1);
    once = rng;
    mel_rng_skip(&rng, UINT64_MAX);
    mel_rng_skip(&rng, 2);
    mel_rng_skip(&once, UINT64_C(1) << 63);
    mel_rng_skip(&once, (UINT64_C(1) << 63) + 1);
    assert_memory_equal(&rng, &once, sizeof rng);
}

/* All 24 orders of four things come up equally often. */
static void test_shuffle(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 13);
    size_t count[256] = { 0 }, seen[24], n_seen = 0;
    enum { DRAWS = 48000 };
    for (size_t i = 0; i < DRAWS; i++) {
        size_t index[4] = { 0, 1, 2, 3 };
        mel_rng_shuffle(&rng, 4, index);
        count[index[0] << 6 | index[1] << 4 | index[2] << 2 | index[3]]++;
    }
    for (size_t i = 0; i < COUNT(count); i++)
        if (count[i] != 0) {
            assert_true(n_seen < COUNT(seen));
            seen[n_seen++] = count[i];
        }
    assert_int_equal(n_seen, COUNT(seen));
    assert_true(chi_square(COUNT(seen), seen, DRAWS / 24.0) < 49.73);
    size_t index[1000];
    bool there[1000] = { false };
    for (size_t i = 0; i < COUNT(index); i++)
        index[i] = i;
    mel_rng_shuffle(&rng, COUNT(index), index);
    for (size_t i = 0; i < COUNT(index); i++)
        there[index[i]] = true;
    for (size_t i = 0; i < COUNT(index); i++)
        assert_true(there[i]);
    size_t one = 5;
    mel_rng_shuffle(&rng, 1, &one);
    mel_rng_shuffle(&rng, 0, NULL);
    assert_int_equal(one, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seed_known_answers),
        cmocka_unit_test(test_stream_known_answers),
        cmocka_unit_test(test_state_known_answer),
        cmocka_unit_test(test_uniform_known_answers),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_below_is_uniform),
        cmocka_unit_test(test_below_large_bounds),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_normal_pairs_are_uncorrelated),
        cmocka_unit_test(test_gamma_moments),
        cmocka_unit_test(test_gamma_distribution),
        cmocka_unit_test(test_gamma_odd_shapes),
        cmocka_unit_test(test_dirichlet_marginals),
        cmocka_unit_test(test_dirichlet_tiny),
        cmocka_unit_test(test_dirichlet_edges),
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_shuffle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
