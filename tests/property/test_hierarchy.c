/* People around a common metric: what everybody's answers tell about each of them. */
#include "support/test.h"

#include "base/la.h"
#include "base/rng.h"
#include "base/stat.h"
#include "elicit/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 6, ANSWERS = 15, TRIES = 4000, DRAWS = 400 };
static const double slope = 8.0; /* of the logistic answers */
static const signed char either[SIZE] = { 0 };

static double degrees(const double *x, const double *y)
{
    const double cosine = mel_dot(SIZE, x, y) / (mel_norm2(SIZE, x) * mel_norm2(SIZE, y));
    return acos(fmax(-1.0, fmin(1.0, cosine))) * 180.0 / acos(-1.0);
}

/* A person around the common vector. */
static void draw_person(double *out, const double *common, double spread, mel_rng *rng)
{
    for (size_t j = 0; j < SIZE; j++)
        out[j] = common[j] + spread * mel_rng_normal(rng) / sqrt(SIZE - 1.0);
    mel_scale(SIZE, 1.0 / mel_norm2(SIZE, out), out);
}

/* Draws of what random questions, answered with logistic errors, tell about a person: by importance from the
 * whole sphere. */
static void draw_cloud(mel_cloud *out, const double *person, mel_rng *rng)
{
    double question[ANSWERS][SIZE], sign[ANSWERS], *weight = calloc(TRIES, sizeof *weight),
                                                   *tried = calloc((size_t)TRIES * SIZE, sizeof *tried);
    assert_true(weight != NULL && tried != NULL);
    for (size_t q = 0; q < ANSWERS; q++) {
        mel_rng_sphere(rng, SIZE, question[q]);
        sign[q] = mel_rng_uniform(rng) < 1.0 / (1.0 + exp(-slope * mel_dot(SIZE, question[q], person)))
                      ? 1.0
                      : -1.0;
    }
    double sum = 0.0;
    for (size_t t = 0; t < TRIES; t++) {
        mel_rng_sphere(rng, SIZE, tried + t * SIZE);
        double likelihood = 0.0;
        for (size_t q = 0; q < ANSWERS; q++)
            likelihood -= log1p(exp(-slope * sign[q] * mel_dot(SIZE, question[q], tried + t * SIZE)));
        weight[t] = exp(likelihood);
        sum += weight[t];
    }
    *out = (mel_cloud){ .n = DRAWS, .size = SIZE, .vector = calloc((size_t)DRAWS * SIZE, sizeof(double)) };
    assert_non_null(out->vector);
    double below = 0.0;
    for (size_t t = 0, k = 0; t < TRIES && k < DRAWS; t++) {
        below += weight[t] / sum;
        for (; k < DRAWS && ((double)k + 0.5) / DRAWS < below; k++)
            memcpy(out->vector + k * SIZE, tried + t * SIZE, SIZE * sizeof *tried);
    }
    for (size_t k = 0; k < DRAWS; k++) /* rounding may leave the last one out */
        if (!(mel_norm2(SIZE, out->vector + k * SIZE) > 0.0))
            memcpy(out->vector + k * SIZE, out->vector, SIZE * sizeof *tried);
    free(weight);
    free(tried);
}

/* Errors of each person alone and within the population, and of the common vector. */
typedef struct {
    double alone, within, common, spread;
    double off; /* of the common vector, in standard errors: root mean square over its numbers */
} errors;

static errors run(size_t n, double spread, uint64_t seed)
{
    mel_rng rng;
    mel_error err;
    double common[SIZE], *person = calloc(n * SIZE, sizeof *person), *alone = calloc(n, sizeof *alone),
                         *within = calloc(n, sizeof *within);
    mel_cloud *clouds = calloc(n, sizeof *clouds);
    if (person == NULL || alone == NULL || within == NULL || clouds == NULL)
        abort();
    mel_rng_seed(&rng, seed);
    mel_rng_sphere(&rng, SIZE, common);
    for (size_t i = 0; i < n; i++) {
        draw_person(person + i * SIZE, common, spread, &rng);
        draw_cloud(&clouds[i], person + i * SIZE, &rng);
    }
    mel_hierarchy h;
    assert_ok(mel_hierarchy_fit(&h, n, clouds, either, &err), &err);
    for (size_t i = 0; i < n; i++) {
        double mean[SIZE] = { 0 };
        for (size_t k = 0; k < DRAWS; k++)
            mel_axpy(SIZE, 1.0, clouds[i].vector + k * SIZE, mean);
        alone[i] = degrees(mean, person + i * SIZE);
        within[i] = degrees(h.person + i * SIZE, person + i * SIZE);
    }
    errors found = { .alone = mel_quantile_sort(n, alone, 0.5),
                     .within = mel_quantile_sort(n, within, 0.5),
                     .common = degrees(h.common, common),
                     .spread = h.spread };
    for (size_t j = 0; j < SIZE; j++) {
        assert_true(h.deviation[j] > 0.0 && h.deviation[j] < 0.5);
        found.off += pow((h.common[j] - common[j]) / h.deviation[j], 2.0) / SIZE;
    }
    found.off = sqrt(found.off);
    mel_hierarchy_clear(&h);
    mel_clouds_free(n, clouds);
    free(person);
    free(alone);
    free(within);
    return found;
}

/* Where people are alike, everybody's answers tell more about each of them than their own; where they are
 * not, no less. */
static void test_others_help(void **state)
{
    (void)state;
    static const double spreads[] = { 0.1, 0.3, 1.5 };
    const size_t runs = test_repeats(8, 1, 1);
    for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++)
        for (size_t r = 0; r < runs; r++) {
            const errors found = run(40, spreads[s], 100 * s + r + 1);
            print_message(
                "  spread %.2f: alone %.1f, within %.1f, common %.1f degrees (%.1f standard errors), "
                "spread found %.2f\n",
                spreads[s], found.alone, found.within, found.common, found.off, found.spread);
            assert_true(found.off < 3.0);
            if (s < 2) {
                assert_true(found.within < 0.8 * found.alone);
                assert_true(found.common < 12.0);
                assert_true(found.spread < 3.0 * spreads[s] + 0.1 && found.spread > spreads[s] / 3.0);
            } else {
                assert_true(found.within < 1.1 * found.alone);
            }
        }
}

/* Two people who agree prove less than forty do. */
static void test_two_people(void **state)
{
    (void)state;
    const errors two = run(2, 0.05, 9), forty = run(40, 0.05, 9);
    print_message("  spread found: of two %.2f, of forty %.2f; off by %.1f and %.1f standard errors\n",
                  two.spread, forty.spread, two.off, forty.off);
    assert_true(two.spread > forty.spread && isfinite(two.within) && two.off < 3.0 && forty.off < 3.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_others_help),
                                        cmocka_unit_test(test_two_people) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
