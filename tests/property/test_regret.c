/* What is lost by choosing the classifier that is best for the elicited metric: the thesis bounds it, up to
 * constants, by the tolerance and the noise. Here the constants are measured, printed and bounded. */
#include "base/la.h"
#include "base/rng.h"
#include "space/shared.h"
#include "support/binary.h"
#include "support/multiclass.h"

#include <math.h>

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
            opt.search.tournament = true;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
