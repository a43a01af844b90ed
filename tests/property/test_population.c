/* People around a common metric: what everybody's answers tell about each of them. */
#include "support/test.h"

#include "base/la.h"
#include "base/rng.h"
#include "base/stat.h"
#include "elicit/population.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 6, ANSWERS = 15, TRIES = 4000, DRAWS = 400 };
static const double slope = 8.0; /* of the logistic answers */

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

/* What is found of the population's mean. */
typedef struct {
    double error;              /* degrees */
    double spread, spread_low; /* found, radians */
    size_t held;               /* of its SIZE numbers, those within the 95% interval of the draws */
} finding;

static finding find_mean(size_t n, double spread, uint64_t seed)
{
    mel_rng rng;
    mel_error err;
    double common[SIZE], person[SIZE];
    mel_cloud *clouds = calloc(n, sizeof *clouds);
    if (clouds == NULL)
        abort();
    mel_rng_seed(&rng, seed);
    mel_rng_sphere(&rng, SIZE, common);
    for (size_t i = 0; i < n; i++) {
        draw_person(person, common, spread, &rng);
        draw_cloud(&clouds[i], person, &rng);
    }
    mel_population p;
    assert_ok(mel_population_on_sphere(&p, n, clouds, &err), &err);
    finding found = { .error = degrees(p.mean, common), .spread = p.spread, .spread_low = p.spread_low };
    assert_true(p.spread_low <= p.spread && p.spread <= p.spread_high);
    double *column = calloc(p.n_draws, sizeof *column);
    assert_non_null(column);
    for (size_t j = 0; j < SIZE; j++) {
        for (size_t k = 0; k < p.n_draws; k++)
            column[k] = p.draw[k * SIZE + j];
        const double low = mel_quantile_sort(p.n_draws, column, 0.025),
                     high = mel_quantile_sort(p.n_draws, column, 0.975);
        found.held += common[j] >= low && common[j] <= high;
    }
    free(column);
    mel_population_clear(&p);
    mel_clouds_free(n, clouds);
    return found;
}

/* The mean's intervals hold it, of few people and of many, alike or not; the spread is found, and two people
 * who agree prove less than forty do. */
static void test_mean(void **state)
{
    (void)state;
    static const struct {
        size_t people;
        double spread;
    } rows[] = { { 2, 0.05 }, { 2, 0.3 }, { 3, 0.3 }, { 6, 0.1 }, { 6, 0.3 }, { 40, 0.1 }, { 40, 0.3 } };
    const size_t runs = test_repeats(40, 6, 1);
    double two = 0.0, forty = 0.0;
    size_t held = 0, all = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < runs; i++) {
            const finding found = find_mean(rows[r].people, rows[r].spread, 100 * r + i + 1);
            print_message("  %zu people, spread %.2f: off by %.1f degrees, %zu of %d held, spread found %.2f "
                          "(from %.2f)\n",
                          rows[r].people, rows[r].spread, found.error, found.held, (int)SIZE, found.spread,
                          found.spread_low);
            held += found.held;
            all += SIZE;
            two += r == 0 ? found.spread / (double)runs : 0.0;
            forty += r == 5 ? found.spread / (double)runs : 0.0;
            if (rows[r].people == 40) {
                assert_true(found.error < 12.0);
                assert_true(found.spread < 3.0 * rows[r].spread + 0.1 && found.spread > rows[r].spread / 3.0);
            }
        }
    print_message("  %zu of %zu intervals hold; spread of two %.2f, of forty %.2f\n", held, all, two, forty);
    assert_true((double)held >= 0.92 * (double)all - 2.0 * sqrt(0.92 * 0.08 * (double)all));
    assert_true(two > forty);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_mean) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
