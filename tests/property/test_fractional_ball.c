/* Linear-fractional metrics on a ball from their two supporting hyperplanes: the same order, the same
 * numerator, a denominator that is positive on the ball. */
#include "support/test.h"

#include "base/rng.h"
#include "elicit/shared.h"

#include <math.h>
#include <string.h>

enum { MOST = 12, METRICS = 200, PAIRS = 200 };

typedef struct {
    size_t n;
    double centre[MOST], radius;
} ball;
typedef struct {
    double a[MOST], b[MOST], b0;
} fraction;

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double least_denominator(const ball *s, const fraction *f)
{
    return dot(s->n, f->b, s->centre) + f->b0 - s->radius * sqrt(dot(s->n, f->b, f->b));
}

static double value(const ball *s, const fraction *f, const double *c)
{
    return dot(s->n, f->a, c) / (dot(s->n, f->b, c) + f->b0);
}

static ball random_ball(mel_rng *rng, size_t n, size_t k)
{
    ball s = { .n = n };
    for (size_t i = 0; i < n; i++)
        s.centre[i] = 1.0 / (double)k;
    s.radius = (0.05 + 0.85 * mel_rng_uniform(rng)) / ((double)k * sqrt((double)k));
    return s;
}

/* Positive on the ball, with a denominator that varies a little, as much as the numerator, or a lot. */
static fraction random_fraction(mel_rng *rng, const ball *s)
{
    static const double sizes[] = { 0.0, 0.1, 1.0, 5.0 };
    fraction f;
    do {
        const double size = sizes[mel_rng_below(rng, COUNT(sizes))];
        for (size_t i = 0; i < s->n; i++) {
            f.a[i] = mel_rng_normal(rng);
            f.b[i] = size * mel_rng_normal(rng);
        }
        f.b0 = mel_rng_normal(rng);
    } while (!(least_denominator(s, &f) > 0.02));
    return f;
}

/* Outward slope and constant at the best point of sign * f: the t for which the largest <a - t b, c> - t b0
 * over the ball is 0, by bisection. */
static double hyperplane(double *slope, const ball *s, const fraction *f, double sign)
{
    double low = -1e6, high = 1e6, g[MOST];
    for (int round = 0; round < 200; round++) {
        const double t = 0.5 * (low + high);
        for (size_t i = 0; i < s->n; i++)
            g[i] = sign * f->a[i] - t * f->b[i];
        const double most = dot(s->n, g, s->centre) + s->radius * sqrt(dot(s->n, g, g)) - t * f->b0;
        *(most > 0.0 ? &low : &high) = t;
    }
    const double length = sqrt(dot(s->n, g, g));
    for (size_t i = 0; i < s->n; i++)
        slope[i] = g[i] / length;
    return dot(s->n, slope, s->centre) + s->radius;
}

static void random_point(double *c, mel_rng *rng, const ball *s)
{
    mel_rng_sphere(rng, s->n, c);
    const double r = s->radius * pow(mel_rng_uniform(rng), 1.0 / (double)s->n);
    for (size_t i = 0; i < s->n; i++)
        c[i] = s->centre[i] + r * c[i];
}

static void check_order(mel_rng *rng, const ball *s, const fraction *truth, const fraction *found)
{
    for (int i = 0; i < PAIRS; i++) {
        double x[MOST], y[MOST];
        random_point(x, rng, s);
        random_point(y, rng, s);
        const double wanted = value(s, truth, x) - value(s, truth, y);
        const double got = value(s, found, x) - value(s, found, y);
        if (fabs(wanted) > 1e-9)
            assert_true((wanted > 0.0) == (got > 0.0));
    }
}

/* The sign of the numerator is settled by b0 > 0, and free when b0 < 0. */
static void check_numerator(const ball *s, const fraction *truth, const fraction *found)
{
    double norm = 0.0, same = 0.0, opposite = 0.0, found_norm = 0.0;
    for (size_t i = 0; i < s->n; i++)
        norm += fabs(truth->a[i]);
    for (size_t i = 0; i < s->n; i++) {
        same = fmax(same, fabs(found->a[i] - truth->a[i] / norm));
        opposite = fmax(opposite, fabs(found->a[i] + truth->a[i] / norm));
        found_norm += fabs(found->a[i]);
    }
    assert_true(fabs(found_norm - 1.0) <= 1e-12);
    assert_true((truth->b0 > 0.0 ? same : fmin(same, opposite)) <= 1e-9);
}

static void test_random_metrics(void **state)
{
    (void)state;
    static const struct {
        size_t n, k;
    } rows[] = { { 2, 2 }, { 3, 3 }, { 6, 3 }, { 12, 4 } };
    mel_rng rng;
    mel_rng_seed(&rng, 14);
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int run = 0; run < METRICS; run++) {
            const ball s = random_ball(&rng, rows[r].n, rows[r].k);
            const fraction truth = random_fraction(&rng, &s);
            double up[MOST], low[MOST];
            const double c_up = hyperplane(up, &s, &truth, 1.0), c_low = hyperplane(low, &s, &truth, -1.0);
            fraction found;
            mel_error err;
            assert_ok(mel_fractional_ball(s.n, found.a, found.b, &found.b0, up, c_up, low, c_low, &err),
                      &err);
            assert_true(fabs(found.b0) == 1.0);
            assert_true(least_denominator(&s, &found) > 0.0);
            check_numerator(&s, &truth, &found);
            check_order(&rng, &s, &truth, &found);
        }
}

/* Opposite slopes: linear, with a denominator that is exactly 1. */
static void test_linear(void **state)
{
    (void)state;
    const double up[3] = { -0.6, 0.0, -0.8 }, low[3] = { 0.6, 0.0, 0.8 };
    double a[3], b[3], b0 = 0.0;
    assert_int_equal(mel_fractional_ball(3, a, b, &b0, up, -0.4 + 0.05, low, 0.4 + 0.05, NULL), MEL_OK);
    assert_true(b0 == 1.0);
    for (size_t i = 0; i < 3; i++) {
        assert_true(b[i] == 0.0);
        assert_true(fabs(a[i] - up[i] / 1.4) <= 1e-15);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    const double x[2] = { 0.6, 0.8 }, y[2] = { -0.6, -0.8 };
    static const struct {
        const char *name;
        bool same;
        double c_up, c_low;
    } rows[] = {
        { "the same hyperplane", true, 0.5, 0.5 },     { "both through the origin", false, 0.0, 0.0 },
        { "a ball without extent", false, 0.5, -0.5 }, { "not a number", false, NAN, 0.5 },
        { "infinite", false, INFINITY, 0.5 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        double a[2] = { 7.0, 7.0 }, b[2] = { 7.0, 7.0 }, b0 = 7.0;
        mel_error err;
        assert_int_equal(
            mel_fractional_ball(2, a, b, &b0, x, rows[i].c_up, rows[i].same ? x : y, rows[i].c_low, &err),
            MEL_ENUMERIC);
        assert_non_null(strstr(err.text, "do not fix a metric"));
        assert_true(a[0] == 7.0 && b[1] == 7.0 && b0 == 7.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_metrics),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
