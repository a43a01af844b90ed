/* Random numbers that are the same on every machine, and draws from the usual distributions. */
#include "base/internal.h"

#include "base/la.h"

#include <math.h>

__extension__ typedef unsigned __int128 uint128;

/* PCG's 128-bit multiplier. */
#define MULTIPLIER_HI UINT64_C(2549297995355413924)
#define MULTIPLIER_LO UINT64_C(4865540595714422341)

/* NumPy's SeedSequence (M. E. O'Neill's seed_seq_fe): a pool of four words is mixed from the
 * entropy, then read out through a second hash. */
enum { POOL = 4, STATE_WORDS = 8, HALF_WORD = 16 };
#define INIT_A UINT32_C(0x43b0d7e5)
#define MULT_A UINT32_C(0x931e8875)
#define INIT_B UINT32_C(0x8b51f9dd)
#define MULT_B UINT32_C(0x58f38ded)
#define MIX_L UINT32_C(0xca01f9dd)
#define MIX_R UINT32_C(0x4973f715)

static uint128 join(uint64_t hi, uint64_t lo)
{
    return (uint128)hi << 64 | lo;
}

static uint32_t hash_word(uint32_t value, uint32_t *constant, uint32_t multiplier)
{
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> HALF_WORD;
}

static uint32_t mix_words(uint32_t x, uint32_t y)
{
    const uint32_t mixed = MIX_L * x - MIX_R * y;
    return mixed ^ mixed >> HALF_WORD;
}

/* Entropy shorter than the pool counts as padded with zeros. */
static void mix_pool(uint32_t pool[POOL], const uint32_t entropy[POOL])
{
    uint32_t constant = INIT_A;
    for (size_t i = 0; i < POOL; i++)
        pool[i] = hash_word(entropy[i], &constant, MULT_A);
    for (size_t from = 0; from < POOL; from++)
        for (size_t to = 0; to < POOL; to++)
            if (from != to)
                pool[to] = mix_words(pool[to], hash_word(pool[from], &constant, MULT_A));
}

static void step(mel_rng *rng)
{
    const uint128 state = join(rng->state_hi, rng->state_lo) * join(MULTIPLIER_HI, MULTIPLIER_LO) +
                          join(rng->inc_hi, rng->inc_lo);
    rng->state_hi = (uint64_t)(state >> 64);
    rng->state_lo = (uint64_t)state;
}

static void seed_from_entropy(mel_rng *rng, const uint32_t entropy[POOL])
{
    uint32_t pool[POOL];
    mix_pool(pool, entropy);
    uint32_t constant = INIT_B;
    uint64_t words[STATE_WORDS / 2] = { 0 };
    for (size_t i = 0; i < STATE_WORDS; i++) {
        const uint64_t word = hash_word(pool[i % POOL], &constant, MULT_B);
        words[i / 2] |= i % 2 == 0 ? word : word << 32;
    }
    const uint128 inc = join(words[2], words[3]) << 1 | 1;
    *rng = (mel_rng){ .inc_hi = (uint64_t)(inc >> 64), .inc_lo = (uint64_t)inc };
    step(rng);
    const uint128 state = join(rng->state_hi, rng->state_lo) + join(words[0], words[1]);
    rng->state_hi = (uint64_t)(state >> 64);
    rng->state_lo = (uint64_t)state;
    step(rng);
}

/* Appends a number's 32-bit words, lowest first, without leading zero words but at least one. */
static size_t append_words(uint32_t *entropy, size_t n, uint64_t value)
{
    entropy[n++] = (uint32_t)value;
    if (value >> 32 != 0)
        entropy[n++] = (uint32_t)(value >> 32);
    return n;
}

void mel_rng_seed(mel_rng *rng, uint64_t seed)
{
    uint32_t entropy[POOL] = { 0 };
    (void)append_words(entropy, 0, seed);
    seed_from_entropy(rng, entropy);
}

void mel_rng_seed_stream(mel_rng *rng, uint64_t seed, uint64_t stream)
{
    uint32_t entropy[POOL] = { 0 };
    (void)append_words(entropy, append_words(entropy, 0, seed), stream);
    seed_from_entropy(rng, entropy);
}

/* Applies x -> a x + c n times: a and c are squared for each binary digit of n (F. Brown, 1994). */
void mel_rng_skip(mel_rng *rng, uint64_t n)
{
    uint128 a = join(MULTIPLIER_HI, MULTIPLIER_LO), c = join(rng->inc_hi, rng->inc_lo);
    uint128 state = join(rng->state_hi, rng->state_lo);
    for (; n > 0; n >>= 1) {
        if ((n & 1) != 0)
            state = state * a + c;
        c *= a + 1;
        a *= a;
    }
    rng->state_hi = (uint64_t)(state >> 64);
    rng->state_lo = (uint64_t)state;
}

uint64_t mel_rng_next(mel_rng *rng)
{
    step(rng);
    const uint64_t folded = rng->state_hi ^ rng->state_lo;
    const unsigned turn = (unsigned)(rng->state_hi >> 58);
    return folded >> turn | folded << (-turn & 63U);
}

double mel_rng_uniform(mel_rng *rng)
{
    return (double)(mel_rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t mel_rng_below(mel_rng *rng, uint64_t bound)
{
    uint128 product = (uint128)mel_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t unfair = (0 - bound) % bound;
        while ((uint64_t)product < unfair)
            product = (uint128)mel_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

double mel_rng_normal(mel_rng *rng)
{
    double u, s;
    do {
        u = 2.0 * mel_rng_uniform(rng) - 1.0;
        const double v = 2.0 * mel_rng_uniform(rng) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    return u * sqrt(-2.0 * log(s) / s);
}

/* Uniform on (0, 1): its logarithm is finite and below zero. */
static double open_uniform(mel_rng *rng)
{
    double u;
    do
        u = mel_rng_uniform(rng);
    while (u == 0.0);
    return u;
}

/* Marsaglia and Tsang's squeeze for shape >= 1. */
static double gamma_from_one(mel_rng *rng, double shape)
{
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double x = mel_rng_normal(rng);
        const double root = 1.0 + c * x;
        if (root <= 0.0)
            continue;
        const double v = root * root * root;
        if (log(open_uniform(rng)) < 0.5 * x * x + d * (1.0 - v + log(v)))
            return d * v;
    }
}

double mel_rng_gamma(mel_rng *rng, double shape)
{
    if (!(shape > 0.0) || isinf(shape))
        return shape > 0.0 ? shape : NAN;
    if (shape >= 1.0)
        return gamma_from_one(rng, shape);
    const double boosted = gamma_from_one(rng, shape + 1.0);
    return boosted * pow(open_uniform(rng), 1.0 / shape);
}

/* log of a Gamma(shape) draw: for tiny shapes the draw itself underflows. */
static double log_gamma_draw(mel_rng *rng, double shape)
{
    if (shape >= 1.0)
        return log(gamma_from_one(rng, shape));
    const double boosted = log(gamma_from_one(rng, shape + 1.0));
    return boosted + log(open_uniform(rng)) / shape;
}

static void uniform_simplex(mel_rng *rng, size_t n, double *out)
{
    double total = 0.0;
    for (size_t i = 0; i < n; i++) {
        out[i] = -log(open_uniform(rng));
        total += out[i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] /= total;
}

/* As alpha goes to 0, all mass sits on one entry, i with probability alpha[i] / sum(alpha). */
static void one_vertex(mel_rng *rng, size_t n, const double *alpha, double *out)
{
    double largest = 0.0, total = 0.0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, alpha[i]);
    for (size_t i = 0; i < n; i++) {
        total += alpha[i] / largest;
        out[i] = 0.0;
    }
    double left = mel_rng_uniform(rng) * total;
    size_t chosen = 0;
    while (chosen + 1 < n && left >= alpha[chosen] / largest)
        left -= alpha[chosen++] / largest;
    out[chosen] = 1.0;
}

void mel_rng_dirichlet(mel_rng *rng, size_t n, const double *alpha, double *out)
{
    if (alpha == NULL) {
        uniform_simplex(rng, n, out);
        return;
    }
    double largest = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (!(alpha[i] > 0.0) || isinf(alpha[i])) {
            for (size_t j = 0; j < n; j++)
                out[j] = NAN;
            return;
        }
    for (size_t i = 0; i < n; i++) {
        out[i] = log_gamma_draw(rng, alpha[i]);
        largest = fmax(largest, out[i]);
    }
    if (n != 0 && isinf(largest)) {
        one_vertex(rng, n, alpha, out);
        return;
    }
    double total = 0.0;
    for (size_t i = 0; i < n; i++) {
        out[i] = exp(out[i] - largest);
        total += out[i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] /= total;
}

void mel_rng_sphere(mel_rng *rng, size_t n, double *out)
{
    do
        for (size_t i = 0; i < n; i++)
            out[i] = mel_rng_normal(rng);
    while (n != 0 && mel_normalise(n, out, NULL) != MEL_OK);
}

void mel_rng_shuffle(mel_rng *rng, size_t n, size_t *index)
{
    for (size_t left = n; left > 1; left--) {
        const size_t j = (size_t)mel_rng_below(rng, left);
        const size_t last = index[left - 1];
        index[left - 1] = index[j];
        index[j] = last;
    }
}
