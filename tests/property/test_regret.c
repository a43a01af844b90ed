/* What is lost by choosing the classifier that is best for the elicited metric: the thesis bounds it, up to
 * constants, by the tolerance and the noise. Here the constants are measured, printed and bounded. */
#include "base/la.h"
#include "base/rng.h"
#include "space/shared.h"
#include "support/binary.h"
#include "support/multiclass.h"

#include <math.h>
#include <string.h>

/* Of the searches; band: answers are arbitrary where values differ by less. */
typedef struct {
    double tolerance, band;
} setting;
static const setting settings[] = {
    { 0.1, 0.0 }, { 0.02, 0.0 }, { 0.005, 0.0 }, { 0.02, 1e-4 }, { 0.005, 1e-5 }
};

static mel_noise noise_of(const setting *s)
{
    return (mel_noise){ .kind = s->band > 0.0 ? MEL_NOISE_BAND : MEL_NOISE_NONE, .size = s->band };
}

static double value_at(const mel_metric *metric, const double *at)
{
    double value = 0.0;
    mel_error err;
    assert_ok(mel_metric_value(&value, metric, at, &err), &err);
    return value;
}

static void report(const char *what, double constant, double most)
{
    print_message("%s: constant %.2g\n", what, constant);
    assert_true(constant >= 0.0 && constant <= most);
}

/* Theorem 3.1: within O(tolerance + sqrt(band)) of the best value there is. */
static void test_two_classes(void **state)
{
    (void)state;
    mel_face *face = test_logistic_face(5.0, 0.5);
    const mel_domain domain = { .face = face };
    double constant = 0.0;
    for (size_t s = 0; s < COUNT(settings); s++)
        for (uint64_t seed = 1; seed <= test_repeats(200, 30, 10); seed++) {
            mel_rng rng;
            mel_rng_seed_stream(&rng, seed, s);
            const double angle = 1.5707963267948966 * mel_rng_uniform(&rng);
            const double truth[2] = { cos(angle), sin(angle) };
            mel_metric *metric = test_linear_metric(MEL_FAMILY_LINEAR, &mel_binary_layout, truth);
            mel_session_options opt = test_search_options(MEL_FAMILY_LINEAR);
            opt.tolerance = settings[s].tolerance;
            mel_summary summary;
            mel_metric *found = test_find(&summary, &domain, &opt, metric, noise_of(&settings[s]), seed);
            const double *m = mel_metric_coefficient(found);
            mel_point best = { 0 }, chosen = { 0 };
            mel_error err;
            assert_ok(mel_face_support(&best, face, truth[0], truth[1], &err), &err);
            assert_ok(mel_face_support(&chosen, face, m[0], m[1], &err), &err);
            const double regret = truth[0] * (best.tp - chosen.tp) + truth[1] * (best.tn - chosen.tn);
            constant = fmax(constant, regret / (settings[s].tolerance + sqrt(settings[s].band)));
            mel_metric_free(found);
            mel_metric_free(metric);
        }
    report("two classes, of tolerance + sqrt(band)", constant, 0.05);
    mel_face_free(face);
}

/* Theorem 4.1: a within O(tolerance + sqrt(band)), and the value with it. */
static void test_diagonal(void **state)
{
    (void)state;
    mel_space *space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    const mel_domain domain = { .space = space };
    double constant = 0.0;
    for (size_t s = 0; s < COUNT(settings); s++)
        for (uint64_t seed = 1; seed <= test_repeats(100, 8, 3); seed++) {
            mel_rng rng;
            mel_rng_seed_stream(&rng, seed, s);
            double truth[3], best[3], chosen[3];
            for (size_t i = 0; i < 3; i++)
                truth[i] = -log(mel_rng_uniform(&rng) + 1e-12);
            mel_scale(3, 1.0 / mel_norm1(3, truth), truth);
            mel_metric *metric =
                test_linear_metric(MEL_FAMILY_DIAGONAL_LINEAR, mel_space_layout(space), truth);
            mel_session_options opt = test_search_options(MEL_FAMILY_DIAGONAL_LINEAR);
            opt.tolerance = settings[s].tolerance;
            opt.tournament = true;
            mel_summary summary;
            mel_metric *found = test_find(&summary, &domain, &opt, metric, noise_of(&settings[s]), seed);
            mel_error err;
            assert_ok(mel_space_linear(best, space, truth, &err), &err);
            assert_ok(mel_space_linear(chosen, space, mel_metric_coefficient(found), &err), &err);
            const double regret = value_at(metric, best) - value_at(metric, chosen);
            constant = fmax(constant, regret / (settings[s].tolerance + sqrt(settings[s].band)));
            mel_metric_free(found);
            mel_metric_free(metric);
        }
    report("diagonal metrics of three classes, of tolerance + sqrt(band)", constant, 0.05);
    mel_space_free(space);
}

/* Theorem 4.2: a within O(sqrt(q) (tolerance + sqrt(band / radius))); the best point of a ball is o + radius
 * a. */
static void test_ball(void **state)
{
    (void)state;
    enum { RATES = 6 };
    const double radius = 0.2;
    mel_ball *ball = test_rates_ball(3, radius);
    const mel_domain domain = { .ball = ball };
    double constant = 0.0;
    for (size_t s = 0; s < COUNT(settings); s++)
        for (uint64_t seed = 1; seed <= test_repeats(100, 8, 3); seed++) {
            mel_rng rng;
            mel_rng_seed_stream(&rng, seed, s);
            double truth[RATES];
            for (size_t i = 0; i < RATES; i++)
                truth[i] = -fabs(mel_rng_normal(&rng));
            mel_scale(RATES, 1.0 / mel_norm2(RATES, truth), truth);
            mel_metric *metric = test_linear_metric(MEL_FAMILY_LINEAR, mel_ball_layout(ball), truth);
            mel_session_options opt = test_search_options(MEL_FAMILY_LINEAR);
            opt.tolerance = settings[s].tolerance;
            mel_summary summary;
            mel_metric *found = test_find(&summary, &domain, &opt, metric, noise_of(&settings[s]), seed);
            const double *a = mel_metric_coefficient(found);
            const double regret = radius * fmax(0.0, 1.0 - mel_dot(RATES, a, truth) / mel_norm2(RATES, a));
            const double scale =
                radius * sqrt(RATES) * (settings[s].tolerance + sqrt(settings[s].band / radius));
            constant = fmax(constant, regret / scale);
            mel_metric_free(found);
            mel_metric_free(metric);
        }
    report("linear metrics on a ball, of radius sqrt(q) (tolerance + sqrt(band / radius))", constant, 0.05);
    mel_ball_free(ball);
}

/* The least of d.x + x'Bx/2 with |x| <= radius, by the roots of its eigenvectors' equation; x: where. */
static void least_in_ball(size_t q, const double *d, const double *b, double radius, double *x)
{
    enum { MOST = 6, HALVINGS = 200 };
    double v[MOST * MOST], lambda[MOST], g[MOST], y[MOST];
    mel_error err;
    memcpy(v, b, q * q * sizeof *v);
    assert_ok(mel_eigen(q, v, q, lambda, &err), &err);
    mel_gemv_t(q, q, 1.0, v, q, d, 0.0, g);
    /* y = -g / (lambda + shift) with the smallest shift that is allowed and keeps it in the ball */
    double low = fmax(0.0, -lambda[0]), high = low + mel_norm2(q, g) / radius + 1e-12;
    for (int step = 0; step < HALVINGS; step++) {
        const double shift = step == 0 ? low : 0.5 * (low + high);
        bool inside = true;
        for (size_t i = 0; i < q; i++) {
            inside = inside && lambda[i] + shift > 0.0;
            y[i] = -g[i] / (lambda[i] + shift);
        }
        inside = inside && mel_norm2(q, y) <= radius;
        if (inside && step == 0)
            break;
        *(inside ? &high : &low) = shift;
    }
    mel_gemv(q, q, 1.0, v, q, y, 0.0, x);
    mel_scale(q, fmin(1.0, radius / mel_norm2(q, x)), x);
}

/* d = a + B o and B of a metric with these coefficients. */
static void centred(size_t q, const double *coefficient, const double *centre, double *d)
{
    memcpy(d, coefficient, q * sizeof *d);
    mel_gemv(q, q, 1.0, coefficient + q, q, centre, 1.0, d);
}

/* What is lost at the elicited metric's best point of the ball. */
static double quadratic_regret(const mel_ball *ball, const double *truth, const double *found, size_t q)
{
    double d[6], x[6], value[2];
    const double *const coefficient[] = { truth, found };
    for (size_t i = 0; i < 2; i++) {
        double slope[6];
        centred(q, coefficient[i], mel_ball_centre(ball), d);
        least_in_ball(q, d, coefficient[i] + q, mel_ball_radius(ball), x);
        centred(q, truth, mel_ball_centre(ball), d);
        mel_gemv(q, q, 0.5, truth + q, q, x, 0.0, slope);
        value[i] = mel_dot(q, d, x) + mel_dot(q, slope, x);
    }
    return value[1] - value[0];
}

/* A random metric; every fourth one is nearly a function of d.x alone: slopes hardly tell how it bends. */
static void draw_quadratic(double *truth, const mel_ball *ball, size_t q, uint64_t seed, uint64_t stream)
{
    mel_rng rng;
    double d[6];
    mel_rng_seed_stream(&rng, seed, stream);
    for (size_t i = 0; i < q + q * q; i++)
        truth[i] = mel_rng_normal(&rng);
    memcpy(d, truth, sizeof d[0] * q);
    const double bend = mel_rng_normal(&rng);
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j <= i; j++) {
            double *entry = &truth[q + i * q + j];
            *entry = seed % 4 == 0 ? bend * d[i] * d[j] + 0.01 * *entry : *entry;
            truth[q + j * q + i] = *entry;
        }
    if (seed % 4 == 0)
        mel_gemv(q, q, -1.0, truth + q, q, mel_ball_centre(ball), 1.0, truth);
    mel_scale(q + q * q, 1.0 / mel_norm2(q + q * q, truth), truth);
}

static double quadratic_constant(uint32_t k, uint64_t repeats)
{
    const size_t q = (size_t)k * (k - 1);
    mel_ball *ball = test_rates_ball(k, 0.2);
    const mel_domain domain = { .ball = ball };
    double constant = 0.0;
    for (size_t s = 0; s < COUNT(settings); s++)
        for (uint64_t seed = 1; seed <= repeats; seed++) {
            mel_error err;
            double truth[6 + 36];
            mel_metric *metric = NULL;
            const mel_layout *layout = mel_ball_layout(ball);
            draw_quadratic(truth, ball, q, seed, s);
            assert_ok(mel_metric_quadratic(&metric, layout, NULL, MEL_COST, truth, truth + q, &err), &err);
            mel_session_options opt = test_search_options(MEL_FAMILY_QUADRATIC);
            opt.tolerance = settings[s].tolerance;
            mel_summary summary;
            mel_metric *found = test_find(&summary, &domain, &opt, metric, noise_of(&settings[s]), seed);
            const double regret = quadratic_regret(ball, truth, mel_metric_coefficient(found), q);
            const double slack =
                settings[s].tolerance + sqrt(settings[s].band / (0.1 * mel_ball_radius(ball)));
            constant = fmax(constant, regret / (pow((double)q, 2.5) * slack));
            mel_metric_free(found);
            mel_metric_free(metric);
        }
    mel_ball_free(ball);
    return constant;
}

/* Corollary D.2: within O(q^2.5 (tolerance + sqrt(band / inner radius))) of the least cost; opposite points
 * have no term for the inner radius itself. Metrics are any, not only regular ones. */
static void test_quadratic(void **state)
{
    (void)state;
    report("quadratic metrics of two rates, of q^2.5 (tolerance + sqrt(band / inner))",
           quadratic_constant(2, test_repeats(200, 30, 5)), 0.1);
    report("quadratic metrics of six rates", quadratic_constant(3, test_repeats(40, 4, 1)), 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
