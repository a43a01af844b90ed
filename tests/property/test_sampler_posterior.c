/* The posterior sampler in more dimensions, against what is known exactly or by weighing many independent
 * draws: moments of the orthant, flights in the chart and around the origin with and without wrong answers,
 * answers that leave next to nothing of the prior, contradictions, coverage, the band. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/active/posterior/interior.h"
#include "elicit/active/posterior/sphere.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { DRAWS = 60000, LARGE_ANSWERS = 3 };
#else
enum { DRAWS = 200000, LARGE_ANSWERS = 8 };
#endif
enum { MOST = 90 };

static const double pi = 3.14159265358979323846;
static const mel_assumption none = { .kind = MEL_NOISE_NONE };

static mel_sampler *make(size_t d, size_t n_cone, const double *cone, const double *start,
                         mel_assumption assume, size_t samples, uint64_t seed)
{
    const mel_sampler_options opt = {
        .dimension = d,
        .samples = samples,
        .n_cone = n_cone,
        .cone = cone,
        .start = start,
        .assume = assume,
        .seed = seed,
    };
    mel_sampler *sampler = NULL;
    mel_error err = { 0 };
    assert_ok(mel_sampler_new(&sampler, &opt, &err), &err);
    return sampler;
}

static mel_sampler *make_orthant(size_t d, mel_assumption assume, size_t samples, uint64_t seed)
{
    double *cone = calloc(d * d, sizeof *cone), start[MOST];
    assert_non_null(cone);
    for (size_t i = 0; i < d; i++)
        cone[i * d + i] = start[i] = 1.0;
    mel_sampler *sampler = make(d, d, cone, start, assume, samples, seed);
    free(cone);
    return sampler;
}

static void tell(mel_sampler *sampler, const double *x, mel_answer answer)
{
    mel_error err = { 0 };
    assert_ok(mel_sampler_tell(sampler, x, 1.0, answer, &err), &err);
}

static void random_truth(size_t d, double *w, mel_rng *rng)
{
    mel_rng_sphere(rng, d, w);
    for (size_t j = 0; j < d; j++)
        w[j] = fabs(w[j]);
}

/* A random difference that the mean calls a tie. */
static void random_question(double *x, const mel_samples *s, mel_rng *rng)
{
    mel_rng_sphere(rng, s->dimension, x);
    mel_axpy(s->dimension, -mel_dot(s->dimension, x, s->mean), s->mean, x);
}

/* --- moments ------------------------------------------------------------------------------------- */

/* w = |g|/|g| of a normal g: E w_i = E|g_i| / E|g|, E w_i w_j = (2/pi)/D, E w_i^2 = 1/D. */
static void test_orthant_moments(void **state)
{
    (void)state;
    static const size_t dimensions[] = { 2, 6, 30 };
    for (size_t k = 0; k < COUNT(dimensions); k++) {
        const size_t d = dimensions[k];
        const double n = (double)d;
        mel_sampler *sampler = make_orthant(d, none, 4000, 5);
        const mel_samples *s = mel_sampler_samples(sampler);
        const double first = exp(lgamma(0.5 * n) - lgamma(0.5 * (n + 1.0))) / sqrt(pi);
        const double error = 5.0 / sqrt(n * s->effective);
        assert_true(s->effective > 400.0);
        assert_close(s->resultant, first * sqrt(n), 0.01);
        for (size_t i = 0; i < d; i++) {
            assert_close(s->mean[i] * s->resultant, first, error);
            for (size_t j = 0; j < d; j++) {
                const double want = (i == j ? 1.0 : 2.0 / pi) / n - first * first;
                assert_close(s->covariance[i * d + j], want, error * sqrt(2.0 / n));
            }
        }
        mel_sampler_free(sampler);
    }
}

/* What is lent is what the samples say. */
static void test_covariance(void **state)
{
    (void)state;
    enum { D = 7 };
    const double x[D] = { 1, -1, 0.5, 0, 0, 0.2, -0.7 };
    mel_sampler *sampler = make_orthant(D, none, 0, 3);
    tell(sampler, x, MEL_ANSWER_B);
    const mel_samples *s = mel_sampler_samples(sampler);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double products = 0.0, a = 0.0, b = 0.0;
            for (size_t k = 0; k < s->count; k++) {
                products += s->w[k * D + i] * s->w[k * D + j];
                a += s->w[k * D + i];
                b += s->w[k * D + j];
            }
            const double n = (double)s->count;
            assert_close(s->covariance[i * D + j], products / n - a / n * (b / n), 1e-13);
            assert_true(s->covariance[i * D + j] == s->covariance[j * D + i]);
        }
    mel_sampler_free(sampler);
}

/* --- against many weighted draws ----------------------------------------------------------------- */

enum { SMALL = 5, ANSWERS = 9, PROBES = 8 };

typedef struct {
    const char *name;
    double width; /* of the cone around the first axis: |w_j| <= width * w_0; 0: the orthant */
    mel_assumption assume;
    int wrong; /* every so many answers is wrong; 0: none */
} comparison;

/* A draw of the prior and its density with respect to the way it is drawn. */
static double draw_prior(const comparison *c, double *w, mel_rng *rng)
{
    if (c->width == 0.0) {
        random_truth(SMALL, w, rng);
        return 1.0;
    }
    w[0] = 1.0;
    for (size_t j = 1; j < SMALL; j++)
        w[j] = c->width * (2.0 * mel_rng_uniform(rng) - 1.0);
    return pow(mel_dot(SMALL, w, w), -0.5 * SMALL);
}

static double weight_of(const comparison *c, double row[ANSWERS][SMALL], const double *w)
{
    double wrong = 0.0;
    for (size_t i = 0; i < ANSWERS; i++)
        wrong += mel_dot(SMALL, row[i], w) < 0.0;
    if (c->assume.kind == MEL_NOISE_NONE)
        return wrong == 0.0 ? 1.0 : 0.0;
    return exp(lgamma(1.0 + wrong) + lgamma(9.0 + ANSWERS - wrong));
}

static mel_sampler *make_comparison(const comparison *c)
{
    if (c->width == 0.0)
        return make_orthant(SMALL, c->assume, 6400, 11);
    double cone[8][SMALL] = { { 0.0 } }, start[SMALL] = { 1.0 };
    for (size_t j = 0; j < 8; j++) {
        cone[j][0] = c->width;
        cone[j][1 + j / 2] = j % 2 == 0 ? 1.0 : -1.0;
    }
    return make(SMALL, 8, cone[0], start, c->assume, 6400, 11);
}

static void ask(const comparison *c, mel_sampler *sampler, double row[ANSWERS][SMALL], mel_rng *rng)
{
    double truth[SMALL];
    (void)draw_prior(c, truth, rng);
    for (size_t i = 0; i < ANSWERS; i++) {
        random_question(row[i], mel_sampler_samples(sampler), rng);
        bool a = mel_dot(SMALL, row[i], truth) > 0.0;
        if (c->wrong > 0 && (i + 1) % (size_t)c->wrong == 0)
            a = !a;
        tell(sampler, row[i], a ? MEL_ANSWER_A : MEL_ANSWER_B);
        if (!a)
            mel_scale(SMALL, -1.0, row[i]);
    }
}

static void compare(const comparison *c)
{
    print_message("  %s\n", c->name);
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    double row[ANSWERS][SMALL], probe[PROBES][SMALL], above[PROBES] = { 0.0 }, total = 0.0, squares = 0.0;
    mel_sampler *sampler = make_comparison(c);
    const mel_samples *s = mel_sampler_samples(sampler);
    ask(c, sampler, row, &rng);
    for (size_t p = 0; p < PROBES; p++)
        random_question(probe[p], s, &rng);
    for (size_t i = 0; i < DRAWS; i++) {
        double w[SMALL];
        const double density = draw_prior(c, w, &rng), weight = density * weight_of(c, row, w);
        total += weight;
        squares += weight * weight;
        for (size_t p = 0; p < PROBES; p++)
            above[p] += mel_dot(SMALL, probe[p], w) > 0.0 ? weight : 0.0;
    }
    assert_false(s->contradicted);
    assert_true(s->scale_reduction < 1.05 && s->effective > 500.0);
    for (size_t p = 0; p < PROBES; p++) {
        double hits = 0.0;
        for (size_t k = 0; k < s->count; k++)
            hits += mel_dot(SMALL, probe[p], s->w + k * SMALL) > 0.0;
        const double want = above[p] / total;
        const double error = sqrt(want * (1.0 - want) * (1.0 / s->effective + squares / (total * total)));
        assert_close(hits / (double)s->count, want, 4.0 * error);
    }
    mel_sampler_free(sampler);
}

static void test_weighted_draws(void **state)
{
    (void)state;
    static const comparison rows[] = {
        { "around the origin, hard", 0.0, { MEL_NOISE_NONE, 0.0 }, 0 },
        { "around the origin, flips", 0.0, { MEL_NOISE_FLIP, 0.0 }, 4 },
        { "in the chart, hard", 0.25, { MEL_NOISE_NONE, 0.0 }, 0 },
        { "in the chart, flips", 0.25, { MEL_NOISE_FLIP, 0.0 }, 4 },
        { "in a narrow chart, flips", 0.01, { MEL_NOISE_FLIP, 0.0 }, 3 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        compare(&rows[i]);
}

/* --- unlikely answers and contradictions --------------------------------------------------------- */

/* w_0 > a sum of the others on the orthant: a simplex in the chart at e_0. Its volume is a^-(D-1)/(D-1)!,
 * that of the orthant the sphere's area over 2^D: 2e-30 of the prior for D = 20, a = 10. There a w_j / w_0 is
 * uniform on the simplex up to 1%: means 1/D. */
static void test_next_to_nothing(void **state)
{
    (void)state;
    static const struct {
        size_t d;
        double a;
    } rows[] = { { 4, 300.0 }, { 8, 100.0 }, { 20, 10.0 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t d = rows[i].d;
        mel_sampler *sampler = make_orthant(d, none, 0, 2);
        double x[MOST], sum = 0.0;
        for (size_t j = 0; j < d; j++)
            x[j] = j == 0 ? 1.0 : -rows[i].a;
        tell(sampler, x, MEL_ANSWER_A);
        const mel_samples *s = mel_sampler_samples(sampler);
        assert_false(s->contradicted);
        assert_true(s->scale_reduction < MEL_POOR_MIXING);
        for (size_t j = 1; j < d; j++) {
            double mean = 0.0;
            for (size_t k = 0; k < s->count; k++) {
                assert_true(mel_dot(d, x, s->w + k * d) > 0.0);
                mean += rows[i].a * s->w[k * d + j] / s->w[k * d] / (double)s->count;
            }
            assert_close(mean, 1.0 / (double)d, 5.0 / (double)d / sqrt(s->effective));
            sum += mean;
        }
        assert_close(sum, ((double)d - 1.0) / (double)d, 0.02);
        mel_sampler_free(sampler);
    }
}

/* Four preferences in a circle, in many dimensions, refute each other; without the last one they do not. */
static void test_circle(void **state)
{
    (void)state;
    enum { D = 20 };
    mel_sampler *sampler = make_orthant(D, none, 0, 4);
    for (size_t i = 0; i < 4; i++) {
        double x[D] = { 0.0 };
        x[i] = 1.0;
        x[(i + 1) % 4] = -1.0;
        assert_false(mel_sampler_samples(sampler)->contradicted);
        tell(sampler, x, MEL_ANSWER_A);
    }
    const mel_samples *s = mel_sampler_samples(sampler);
    assert_true(s->contradicted);
    assert_true(s->error_rate > 0.05 && s->error_rate < 0.4);
    /* Of the 24 orders of four numbers, 4 make one of the four wrong, 16 two, 4 three, with relative
     * probabilities B(2, 12) : B(3, 11) : B(4, 10) = 110 : 20 : 6; by symmetry all four hold equally often.
     */
    const double want = (440.0 * 0.75 + 320.0 * 0.5 + 24.0 * 0.25) / (440.0 + 320.0 + 24.0);
    double holds = 0.0;
    for (size_t k = 0; k < s->count; k++)
        holds += s->w[k * D] > s->w[k * D + 1];
    assert_close(holds / (double)s->count, want, 4.0 * sqrt(want * (1.0 - want) / s->effective));
    mel_sampler_free(sampler);
}

/* Random half-spaces around a hidden vector have an interior, and the opposite of one of its combinations
 * takes it away. */
static void test_interior(void **state)
{
    (void)state;
    enum { D = 12, ROWS = 60 };
    mel_interior interior = { 0 };
    mel_error err = { 0 };
    assert_ok(mel_interior_new(&interior, D, &err), &err);
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int trial = 0; trial < 200; trial++) {
        double row[ROWS + 1][D], hidden[D], w[D];
        const double margin = pow(10.0, -6.0 * mel_rng_uniform(&rng));
        mel_rng_sphere(&rng, D, hidden);
        memset(row[ROWS], 0, sizeof row[ROWS]);
        for (size_t i = 0; i < ROWS; i++) {
            mel_rng_sphere(&rng, D, row[i]);
            mel_axpy(D, -mel_dot(D, row[i], hidden) + margin, hidden, row[i]);
            mel_scale(D, 1.0 / mel_norm2(D, row[i]), row[i]);
            mel_axpy(D, -mel_rng_uniform(&rng), row[i], row[ROWS]);
        }
        mel_scale(D, 1.0 / mel_norm2(D, row[ROWS]), row[ROWS]);
        assert_true(mel_interior_find(&interior, ROWS, row[0], w));
        assert_close(mel_norm2(D, w), 1.0, 1e-12);
        for (size_t i = 0; i < ROWS; i++)
            assert_true(mel_dot(D, row[i], w) > 0.5 * margin);
        assert_false(mel_interior_find(&interior, ROWS + 1, row[0], w));
    }
    mel_interior_free(&interior);
}

/* --- calibration, size, the band ----------------------------------------------------------------- */

#ifndef __SANITIZE_ADDRESS__ /* too slow there; the other tests take the same paths */
static size_t count_covered(const mel_samples *s, const double *truth)
{
    const size_t n = s->count, d = s->dimension;
    double *column = malloc(n * sizeof *column);
    assert_non_null(column);
    const double level = mel_samples_level(s, 0.975);
    size_t covered = 0;
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < n; k++)
            column[k] = s->w[k * d + j];
        const double low = mel_quantile_select(n, column, 1.0 - level);
        covered += truth[j] >= low && truth[j] <= mel_quantile_select(n, column, level);
    }
    free(column);
    return covered;
}

static void test_coverage(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t d, questions, runs, few; /* few: of make test */
        mel_assumption assume;
        double flips;
    } rows[] = {
        { "hard, 12", 12, 30, 36, 9, { MEL_NOISE_NONE, 0.0 }, 0.0 },
        { "hard, 20", 20, 20, 36, 6, { MEL_NOISE_NONE, 0.0 }, 0.0 },
        { "flips, 4", 4, 25, 144, 30, { MEL_NOISE_FLIP, 0.0 }, 0.1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t d = rows[i].d, runs = test_repeats(rows[i].runs, rows[i].few, 1);
        mel_rng rng;
        mel_rng_seed(&rng, 31);
        size_t covered = 0;
        for (uint64_t run = 0; run < runs; run++) {
            double truth[MOST], x[MOST];
            random_truth(d, truth, &rng);
            mel_sampler *sampler = make_orthant(d, rows[i].assume, 0, run);
            const mel_samples *s = mel_sampler_samples(sampler);
            for (size_t q = 0; q < rows[i].questions; q++) {
                random_question(x, s, &rng);
                const bool flip = mel_rng_uniform(&rng) < rows[i].flips;
                tell(sampler, x, (mel_dot(d, x, truth) > 0.0) != flip ? MEL_ANSWER_A : MEL_ANSWER_B);
            }
            covered += count_covered(s, truth);
            assert_true(s->scale_reduction < 1.2);
            mel_sampler_free(sampler);
        }
        const double n = (double)(d * runs), share = (double)covered / n;
        const double off = runs == rows[i].runs ? 0.03 : 3.0 * sqrt(0.95 * 0.05 / n);
        print_message("  %s: coverage %.3f\n", rows[i].name, share);
        assert_true(share >= 0.95 - off && share <= 0.95 + off);
    }
}
#endif

/* Ninety dimensions: no answer is violated, and the samples are worth many independent ones. */
static void test_ninety(void **state)
{
    (void)state;
    enum { D = 90 };
    static double x[LARGE_ANSWERS][D];
    double truth[D];
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    random_truth(D, truth, &rng);
    mel_sampler *sampler = make_orthant(D, none, 0, 2);
    const mel_samples *s = mel_sampler_samples(sampler);
    for (size_t q = 0; q < LARGE_ANSWERS; q++) {
        random_question(x[q], s, &rng);
        const bool a = mel_dot(D, x[q], truth) > 0.0;
        tell(sampler, x[q], a ? MEL_ANSWER_A : MEL_ANSWER_B);
        mel_scale(D, a ? 1.0 : -1.0, x[q]);
    }
    for (size_t k = 0; k < s->count; k++)
        for (size_t q = 0; q < LARGE_ANSWERS; q++)
            assert_true(mel_dot(D, x[q], s->w + k * D) > 0.0);
    assert_true(s->scale_reduction < 1.05);
    assert_true(s->effective > 500.0);
    mel_sampler_free(sampler);
}

/* Answers that the band decided are counted, and an answer beyond the band does not stop anything. */
static void test_band(void **state)
{
    (void)state;
    enum { D = 3, QUESTIONS = 40 };
    const mel_assumption band = { MEL_NOISE_BAND, 0.02 };
    double truth[D], x[QUESTIONS][D];
    mel_rng rng;
    mel_rng_seed(&rng, 12);
    random_truth(D, truth, &rng);
    mel_sampler *sampler = make_orthant(D, band, 0, 12);
    const mel_samples *s = mel_sampler_samples(sampler);
    assert_int_equal(s->in_band, 0);
    for (size_t q = 0; q < QUESTIONS; q++) {
        random_question(x[q], s, &rng);
        const double margin = mel_dot(D, x[q], truth);
        tell(sampler, x[q], (fabs(margin) <= band.size) != (margin > 0.0) ? MEL_ANSWER_A : MEL_ANSWER_B);
    }
    size_t inside = 0;
    for (size_t q = 0; q < QUESTIONS; q++)
        inside += fabs(mel_dot(D, x[q], s->mean)) <= band.size;
    assert_int_equal(s->in_band, inside);
    assert_true(inside > QUESTIONS / 2);
    for (size_t j = 0; j < D; j++)
        assert_close(s->mean[j], truth[j], 4.0 * band.size);
    const double impossible[D] = { truth[0], truth[1], truth[2] };
    tell(sampler, impossible, MEL_ANSWER_B);
    assert_true(mel_all_finite(s->count * D, s->w));
    assert_false(s->contradicted);
    mel_sampler_free(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orthant_moments), cmocka_unit_test(test_covariance),
        cmocka_unit_test(test_weighted_draws),  cmocka_unit_test(test_next_to_nothing),
        cmocka_unit_test(test_circle),          cmocka_unit_test(test_interior),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_coverage),
#endif
        cmocka_unit_test(test_ninety),          cmocka_unit_test(test_band),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
