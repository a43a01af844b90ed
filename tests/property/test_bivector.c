/* Active elicitation of linear-fractional metrics off a planar face: the algebra of bivectors, the thesis'
 * metrics and random ones on balls and two-class faces, coverage, noise, directions, questions that are
 * achievable. */
#include "support/binary.h"
#include "support/multiclass.h"

#include "elicit/active/posterior/bivector.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { METRICS = 1, NOISY = 1, ALGEBRA = 50 };
#else
enum { METRICS = 4, NOISY = 1, ALGEBRA = 400 };
#endif
enum { MOST = 12, POINTS = 2000 };
static const mel_noise exact = { .kind = MEL_NOISE_NONE };

/* Statistics to ask about, and what the tests know of them. */
typedef struct {
    mel_domain domain;
    mel_space *space;
    mel_ball *ball;
    const mel_layout *layout;
    mel_family family;
    double *points; /* POINTS achievable ones */
    size_t n;
} problem;

static problem faces_of(size_t k, mel_statistics_kind kind)
{
    problem p = { .family = MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, .n = k };
    p.space = test_softmax_space(k, kind, MEL_DIAGONAL);
    p.domain.space = p.space;
    p.layout = mel_space_layout(p.space);
    p.points = test_space_points(p.space, POINTS, 7);
    return p;
}

static problem ball_of(const mel_layout *layout, double radius)
{
    problem p = { .family = MEL_FAMILY_LINEAR_FRACTIONAL };
    mel_error err;
    assert_ok(mel_ball_new(&p.ball, layout, radius, NULL, NULL, &err), &err);
    p.domain.ball = p.ball;
    p.layout = mel_ball_layout(p.ball);
    p.n = mel_ball_size(p.ball);
    p.points = test_ball_points(p.ball, POINTS, 7);
    return p;
}

static problem ball_of_three(void)
{
    const mel_layout layout = { .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 3 };
    return ball_of(&layout, 0.5 / (3.0 * sqrt(2.0)));
}

static problem ball_of_two(void)
{
    const mel_layout layout = { .kind = MEL_RATES, .coordinates = MEL_BINARY, .n_classes = 2 };
    return ball_of(&layout, 0.45);
}

static void clear(problem *p)
{
    free(p->points);
    mel_space_free(p->space);
    mel_ball_free(p->ball);
}

static mel_session_options options_of(const problem *p, double tolerance)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = p->family;
    opt.tolerance = tolerance;
    opt.max_questions = 1000;
    return opt;
}

/* Diagonal and binary: assumption 4.3 of the thesis, off the diagonal 4.4; sign < 0: the other way round. */
static mel_metric *random_metric(const problem *p, mel_rng *rng, double sign)
{
    double a[MOST], b[MOST], b0 = 0.0;
    const bool off = p->layout->coordinates == MEL_OFFDIAGONAL;
    mel_rng_dirichlet(rng, p->n, NULL, a);
    do {
        b0 = 0.0;
        for (size_t i = 0; i < p->n; i++) {
            const double corner = p->space != NULL && p->layout->kind == MEL_CONFUSION
                                      ? mel_space_class_share(p->space)[i]
                                      : 1.0;
            b[i] = a[i] - 1.2 * mel_rng_uniform(rng);
            b0 += (a[i] - b[i]) * corner;
        }
    } while (b0 < 0.1);
    for (size_t i = 0; i < p->n; i++)
        a[i] *= off ? -sign : sign;
    return test_fractional_metric(p->family, p->layout, a, b, b0);
}

/* The largest angle between the slopes of two metrics at some points; of a ball, on its edge. */
static double level_error(const problem *p, const mel_metric *one, const mel_metric *other)
{
    double largest = 0.0;
    for (size_t i = 0; i < 200; i++) {
        double x[MOST], g[MOST], h[MOST], out = 0.0, along = 0.0, g2 = 0.0, h2 = 0.0;
        memcpy(x, p->points + i * p->n, p->n * sizeof *x);
        for (size_t j = 0; j < p->n && p->ball != NULL; j++)
            out += pow(x[j] - mel_ball_centre(p->ball)[j], 2.0);
        for (size_t j = 0; j < p->n && p->ball != NULL; j++)
            x[j] += (x[j] - mel_ball_centre(p->ball)[j]) * (mel_ball_radius(p->ball) / sqrt(out) - 1.0);
        assert_int_equal(mel_metric_gradient(g, one, x, NULL), MEL_OK);
        assert_int_equal(mel_metric_gradient(h, other, x, NULL), MEL_OK);
        for (size_t j = 0; j < p->n; j++) {
            along += g[j] * h[j];
            g2 += g[j] * g[j];
            h2 += h[j] * h[j];
        }
        largest = fmax(largest, acos(fmin(1.0, along / sqrt(g2 * h2))));
    }
    return largest;
}

/* --- algebra -------------------------------------------------------------------------------------- */

/* The order of pairs, slopes, differences of values and the reported metric, read off theta. */
static void check_algebra(const problem *p, const mel_region *region, const mel_metric *truth)
{
    const size_t n = p->n;
    double theta[2 * MOST], number[2 * MOST + 2], norm = 0.0;
    mel_error err;
    assert_true(mel_bivector_of(theta, region, truth));
    assert_true(mel_region_allows(region, theta));
    assert_ok(mel_bivector_metric(region, theta, number, &err), &err);
    for (size_t i = 0; i < n; i++)
        norm += fabs(number[i]);
    assert_close(norm, 1.0, 1e-12);
    assert_close(number[n], 0.0, 0.0);
    mel_metric *reported =
        test_fractional_metric(p->family, p->layout, number, number + n + 1, number[2 * n + 1]);
    for (size_t i = 0; i < 20; i++) {
        const double *first = p->points + 2 * i * n, *second = first + n;
        double a[MOST], b[MOST], c[MOST], g[MOST], apart = 0.0, want = 0.0, got = 0.0;
        mel_region_inside(region, first, a);
        mel_region_inside(region, second, b);
        for (size_t j = 0; j < n; j++)
            c[j] = 0.3 * a[j] + 0.7 * b[j];
        const double margin = mel_bivector_margin(n, theta, a, b);
        mel_bivector_slope(n, theta, c, g);
        for (size_t j = 0; j < n; j++)
            apart += g[j] * (a[j] - b[j]);
        assert_close(apart, margin, 1e-12);
        assert_int_equal(mel_metric_compare(&want, truth, first, second, NULL), MEL_OK);
        assert_int_equal(mel_metric_compare(&got, reported, first, second, NULL), MEL_OK);
        if (fabs(margin) > 1e-9) {
            assert_true((want > 0.0) == (margin > 0.0));
            assert_true((got > 0.0) == (margin > 0.0));
        }
        assert_close(mel_bivector_gain(region, theta, number, a, b) * margin, got, 1e-9 * (1.0 + fabs(got)));
    }
    mel_metric_free(reported);
}

/* The slopes at two thetas close to each other differ as the Jacobian tells. */
static void check_jacobian(const problem *p, const mel_region *region, const mel_metric *truth, mel_rng *rng)
{
    enum { D = 2 * MOST };
    const size_t n = p->n;
    double theta[D], near[D], jacobian[MOST * D], x[MOST], g[MOST], h[MOST];
    assert_true(mel_bivector_of(theta, region, truth));
    mel_region_inside(region, p->points, x);
    for (size_t j = 0; j < 2 * n; j++)
        near[j] = theta[j] + 1e-6 * mel_rng_normal(rng);
    mel_bivector_jacobian(n, theta, x, jacobian);
    mel_bivector_slope(n, theta, x, g);
    mel_bivector_slope(n, near, x, h);
    for (size_t i = 0; i < n; i++) {
        double want = 0.0;
        for (size_t j = 0; j < 2 * n; j++)
            want += jacobian[i * 2 * n + j] * (near[j] - theta[j]);
        assert_close(h[i] - g[i], want, 1e-9);
    }
}

static void test_algebra(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 71);
    for (int kind = 0; kind < 4; kind++)
        for (int sign = -1; sign <= 1; sign += 2) {
            problem p = kind == 0   ? faces_of(4, MEL_CONFUSION)
                        : kind == 1 ? faces_of(3, MEL_RATES)
                        : kind == 2 ? ball_of_three()
                                    : ball_of_two();
            mel_session_options opt = options_of(&p, 0.02);
            opt.direction = sign > 0 ? MEL_INCREASING : MEL_DECREASING;
            mel_region region;
            mel_error err;
            assert_ok(p.ball != NULL ? mel_region_of_ball(&region, p.ball, &opt, &err)
                                     : mel_region_of_space(&region, p.space, &opt, &err),
                      &err);
            for (int i = 0; i < ALGEBRA; i++) {
                mel_metric *truth = random_metric(&p, &rng, (double)sign);
                check_algebra(&p, &region, truth);
                check_jacobian(&p, &region, truth, &rng);
                mel_metric_free(truth);
            }
            mel_region_clear(&region);
            clear(&p);
        }
}

/* Signs hold in all of the region or not at all: at random points of its edge no slope contradicts them. */
static void test_region(void **state)
{
    (void)state;
    problem p = ball_of_three();
    mel_session_options opt = options_of(&p, 0.02);
    mel_region region, any;
    mel_error err;
    mel_rng rng;
    mel_rng_seed(&rng, 72);
    assert_ok(mel_region_of_ball(&region, p.ball, &opt, &err), &err);
    opt.direction = MEL_DIRECTION_UNKNOWN;
    assert_ok(mel_region_of_ball(&any, p.ball, &opt, &err), &err);
    size_t inside = 0, outside = 0;
    for (int i = 0; i < 2000; i++) {
        double theta[2 * MOST], x[MOST], g[MOST];
        mel_rng_sphere(&rng, 6, theta);
        mel_rng_sphere(&rng, 6, theta + 6);
        for (size_t j = 0; j < 6; j++) {
            theta[j] = -fabs(theta[j]);
            theta[6 + j] *= 0.3 * mel_rng_uniform(&rng);
        }
        mel_bivector_settle(6, theta);
        const bool allowed = mel_region_allows(&region, theta);
        *(allowed ? &inside : &outside) += 1;
        assert_true(mel_region_allows(&any, theta));
        for (int k = 0; k < 20 && allowed; k++) {
            mel_rng_sphere(&rng, 6, x);
            mel_bivector_slope(6, theta, x, g);
            for (size_t j = 0; j < 6; j++)
                assert_true(g[j] <= 1e-12);
        }
        for (size_t j = 0; j < 6; j++)
            theta[6 + j] *= 20.0;
        double t2 = 0.0;
        for (size_t j = 0; j < 6; j++)
            t2 += theta[6 + j] * theta[6 + j];
        assert_int_equal(mel_region_allows(&any, theta), t2 < 1.0);
    }
    assert_true(inside > 100 && outside > 100);
    mel_region_clear(&region);
    mel_region_clear(&any);
    clear(&p);
}

/* --- sessions ------------------------------------------------------------------------------------- */

/* The thesis' table metrics: as many questions at most, and the same order of 1000 random pairs. */
static void test_tables(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        static const uint32_t most[] = { 34, 56, 76 };
        problem p = kind == 2 ? ball_of_three() : faces_of(3 + (size_t)kind, MEL_CONFUSION);
        const mel_session_options opt = options_of(&p, 0.01);
        size_t done = 0;
        const test_fraction_row *rows = kind == 2 ? test_lfpm_table : test_dlfpm_table;
        for (size_t i = 0; i < (kind == 2 ? TEST_LFPM_ROWS : TEST_DLFPM_ROWS); i++) {
            if (rows[i].n_classes != p.layout->n_classes || done++ >= test_repeats(3, 1, 1))
                continue;
            mel_metric *truth = test_fractional_metric(p.family, p.layout, rows[i].a, rows[i].b, rows[i].b0);
            mel_summary summary;
            mel_metric *found = test_find(&summary, &p.domain, &opt, truth, exact, 1);
            const double agreement = test_order_agreement(POINTS, p.n, p.points, found, truth);
            print_message("  %s, %zu classes, row %zu: %u questions, agreement %.3f\n",
                          mel_family_name(p.family), rows[i].n_classes, i + 1, summary.questions, agreement);
            assert_true(agreement >= 0.99);
            assert_int_equal(summary.end, MEL_END_TOLERANCE);
            assert_in_range(summary.questions, 1, most[kind]);
            assert_true(summary.radius <= opt.tolerance);
            mel_metric_free(found);
            mel_metric_free(truth);
        }
        clear(&p);
    }
}

/* Random metrics, with a direction known, or none: all level hyperplanes within the tolerance, most often. */
static void test_random_metrics(void **state)
{
    (void)state;
    static const struct {
        int kind;
        mel_direction direction;
        double sign, tolerance;
        uint32_t most;
    } rows[] = {
        { 0, MEL_INCREASING, 1.0, 0.02, 30 },         { 1, MEL_INCREASING, 1.0, 0.02, 30 },
        { 0, MEL_DIRECTION_UNKNOWN, -1.0, 0.02, 36 }, { 2, MEL_DECREASING, -1.0, 0.02, 62 },
        { 3, MEL_INCREASING, 1.0, 0.05, 12 },         { 3, MEL_INCREASING, 1.0, 0.01, 16 },
    };
    mel_rng rng;
    mel_rng_seed(&rng, 73);
    for (size_t r = 0; r < COUNT(rows); r++) {
        problem p = rows[r].kind == 0   ? faces_of(3, MEL_CONFUSION)
                    : rows[r].kind == 1 ? faces_of(3, MEL_RATES)
                    : rows[r].kind == 2 ? ball_of_three()
                                        : ball_of_two();
        mel_session_options opt = options_of(&p, rows[r].tolerance);
        opt.direction = rows[r].direction;
        size_t within = 0;
        const size_t n = test_repeats(METRICS, 2, 1);
        uint32_t most = 0;
        for (size_t i = 0; i < n; i++) {
            mel_metric *truth = random_metric(&p, &rng, rows[r].sign);
            mel_summary summary;
            opt.seed = i + 1;
            mel_metric *found = test_find(&summary, &p.domain, &opt, truth, exact, i);
            const double error = level_error(&p, truth, found);
            within += error <= rows[r].tolerance;
            most = summary.questions > most ? summary.questions : most;
            assert_true(error <= 2.0 * rows[r].tolerance);
            assert_int_equal(summary.disagreements, 0);
            mel_metric_free(found);
            mel_metric_free(truth);
        }
        print_message("  row %zu: at most %u questions, %zu of %zu within %g\n", r + 1, most, within, n,
                      rows[r].tolerance);
        assert_in_range(most, 1, rows[r].most);
        assert_true(within + 1 + n / 4 >= n);
        clear(&p);
    }
}

/* One answer in ten is wrong, at a rate that is learned. */
static void test_flips(void **state)
{
    (void)state;
    problem p = faces_of(3, MEL_CONFUSION);
    mel_session_options opt = options_of(&p, 0.05);
    opt.assume.kind = MEL_NOISE_FLIP;
    opt.repeat_every = 10;
    mel_rng rng;
    mel_rng_seed(&rng, 74);
    for (size_t i = 0; i < NOISY; i++) {
        const mel_noise noise = { .kind = MEL_NOISE_FLIP, .size = 0.1 };
        mel_metric *truth = random_metric(&p, &rng, 1.0);
        mel_summary summary;
        mel_metric *found = test_find(&summary, &p.domain, &opt, truth, noise, i + 1);
        const double agreement = test_order_agreement(POINTS, p.n, p.points, found, truth);
        print_message("  %u questions, agreement %.3f, error rate %.2f\n", summary.questions, agreement,
                      summary.error_rate);
        assert_true(agreement >= 0.95);
        assert_true(summary.error_rate > 0.02 && summary.error_rate < 0.3);
        assert_true(summary.repeats > 0);
        mel_metric_free(found);
        mel_metric_free(truth);
    }
    clear(&p);
}

/* Who calls a pair about the same tells of others, by choosing, that they were not: the chain's mean distance
 * between A and B is that of draws from the prior, weighted by the likelihood. */
static void test_choices_beside_same(void **state)
{
    (void)state;
    enum { CHOICES = 3, SEEDS = 30 };
    problem p = faces_of(3, MEL_CONFUSION);
    mel_region region;
    mel_error err;
    const mel_session_options options = options_of(&p, 0.02);
    assert_ok(mel_region_of_space(&region, p.space, &options, &err), &err);
    double a[MOST], b[MOST], total = 0.0, sum = 0.0, mean = 0.0, gain = 1.0;
    mel_region_inside(&region, p.points, a);
    mel_region_inside(&region, p.points + p.n, b);
    mel_component component[MEL_MOST_COMPONENTS] = { mel_noise_none.given(0.0) };
    const size_t n_components = mel_components_blur(1, component);
    size_t told = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const mel_bivector_options opt = { .region = &region,
                                           .assume = { .kind = MEL_NOISE_NONE },
                                           .seed = seed };
        mel_bivector_sampler *sampler = NULL;
        assert_ok(mel_bivector_sampler_new(&sampler, &opt, &err), &err);
        const mel_samples *drawn = mel_bivector_sampler_samples(sampler);
        for (size_t i = 0; i < drawn->count; i++) {
            const double x = gain * mel_bivector_margin(p.n, drawn->w + i * 2 * p.n, a, b);
            double weight = 0.0;
            for (size_t k = 0; k < n_components * MEL_TIES; k++) {
                const double tie = mel_tie_width[k % MEL_TIES], z = x / component[k / MEL_TIES].absolute;
                const double left = 1.0 / (1.0 + exp(tie - z)), right = 1.0 / (1.0 + exp(tie + z));
                weight += component[k / MEL_TIES].weight * (1.0 - left - right) * pow(left, CHOICES);
            }
            total += weight;
            sum += weight * x;
        }
        assert_ok(mel_bivector_sampler_tell(sampler, a, b, gain, MEL_ANSWER_SAME, &err), &err);
        for (size_t c = 0; c < CHOICES; c++)
            assert_ok(mel_bivector_sampler_tell(sampler, a, b, gain, MEL_ANSWER_A, &err), &err);
        drawn = mel_bivector_sampler_samples(sampler);
        for (size_t i = 0; i < drawn->count; i++, told++)
            mean += gain * mel_bivector_margin(p.n, drawn->w + i * 2 * p.n, a, b);
        mel_bivector_sampler_free(sampler);
    }
    print_message("  %zu draws, %.4f by the chain, %.4f by weights\n", told, mean / (double)told,
                  sum / total);
    assert_close(mean / (double)told, sum / total, 0.1 * sum / total);
    mel_region_clear(&region);
    clear(&p);
}

/* A respondent who errs without having been expected to: the session goes on, with flips learned. */
static void test_contradiction(void **state)
{
    (void)state;
    problem p = faces_of(3, MEL_CONFUSION);
    mel_session_options opt = options_of(&p, 0.05);
    opt.max_questions = 40;
    mel_rng rng;
    mel_rng_seed(&rng, 75);
    const mel_noise noise = { .kind = MEL_NOISE_FLIP, .size = 0.3 };
    mel_metric *truth = random_metric(&p, &rng, 1.0);
    mel_summary summary;
    mel_metric *found = test_find(&summary, &p.domain, &opt, truth, noise, 3);
    assert_true(summary.end == MEL_END_BUDGET || summary.end == MEL_END_TOLERANCE);
    mel_metric_free(found);
    mel_metric_free(truth);
    clear(&p);
}

/* --- priors --------------------------------------------------------------------------------------- */

/* Strength s: about normal with variance 1/s along each of the 2(n - 1) directions, around the metric. */
static void test_prior_width(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 78);
    for (int kind = 0; kind < 4; kind++) {
        problem p = kind % 2 == 0 ? faces_of(3, MEL_CONFUSION) : ball_of_three();
        mel_session_options opt = options_of(&p, 0.02);
        mel_region region;
        mel_bivector_sampler *sampler = NULL;
        mel_error err;
        opt.direction = MEL_DIRECTION_UNKNOWN;
        assert_ok(p.ball != NULL ? mel_region_of_ball(&region, p.ball, &opt, &err)
                                 : mel_region_of_space(&region, p.space, &opt, &err),
                  &err);
        mel_metric *prior = random_metric(&p, &rng, 1.0);
        double theta[2 * MOST];
        assert_true(mel_bivector_of(theta, &region, prior));
        const mel_bivector_options sampling = {
            .region = &region, .seed = 1, .prior = theta, .prior_strength = kind < 2 ? 2500.0 : 1e5
        };
        assert_ok(mel_bivector_sampler_new(&sampler, &sampling, &err), &err);
        const mel_samples *samples = mel_bivector_sampler_samples(sampler);
        double sum = 0.0;
        for (size_t i = 0; i < samples->count; i++)
            sum += 2.0 * (1.0 - mel_bivector_cosine(p.n, samples->w + i * samples->dimension, theta)) /
                   (double)samples->count;
        const double want = 2.0 * ((double)p.n - 1.0) / sampling.prior_strength;
        print_message("  %zu numbers, strength %g: %.3g, expected %.3g\n", p.n, sampling.prior_strength, sum,
                      want);
        assert_close(sum, want, 0.2 * want);
        mel_bivector_sampler_free(sampler);
        mel_metric_free(prior);
        mel_region_clear(&region);
        clear(&p);
    }
}

/* A right prior saves questions, a wrong one is overruled by the answers. */
static void test_prior_against_answers(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 79);
    for (int kind = 0; kind < 2; kind++) {
        problem p = kind == 0 ? faces_of(3, MEL_CONFUSION) : ball_of_two();
        uint32_t asked[3] = { 0, 0, 0 };
        for (size_t i = 0; i < test_repeats(METRICS, 1, 1); i++) {
            mel_metric *truth = random_metric(&p, &rng, 1.0), *wrong = random_metric(&p, &rng, 1.0);
            for (int which = 0; which < 3; which++) {
                mel_session_options opt = options_of(&p, 0.02);
                opt.prior = which == 0 ? NULL : which == 1 ? truth : wrong;
                opt.prior_strength = which == 0 ? 0.0 : 50.0;
                mel_summary summary;
                mel_metric *found = test_find(&summary, &p.domain, &opt, truth, exact, i);
                assert_int_equal(summary.end, MEL_END_TOLERANCE);
                assert_true(level_error(&p, truth, found) <= 2.0 * opt.tolerance);
                asked[which] += summary.questions;
                mel_metric_free(found);
            }
            mel_metric_free(truth);
            mel_metric_free(wrong);
        }
        print_message("  %zu numbers: %u questions, right prior %u, wrong prior %u\n", p.n, asked[0],
                      asked[1], asked[2]);
        assert_true(asked[1] < asked[0]);
        clear(&p);
    }
}

/* A prior of the other orientation is the same metric; one with constant values is refused. */
static void test_prior_forms(void **state)
{
    (void)state;
    problem p = ball_of_two();
    mel_session_options opt = options_of(&p, 0.02);
    mel_region region;
    mel_error err;
    assert_ok(mel_region_of_ball(&region, p.ball, &opt, &err), &err);
    const double a[2] = { 0.7, 0.3 }, down[2] = { -0.7, -0.3 }, b[2] = { 0.2, -0.1 },
                 half[2] = { 0.1, -0.05 };
    mel_metric *utility = NULL, *cost = NULL, *flat = NULL;
    assert_ok(mel_metric_fractional(&utility, p.family, p.layout, NULL, MEL_UTILITY, a, 0.0, b, 1.0, &err),
              &err);
    assert_ok(mel_metric_fractional(&cost, p.family, p.layout, NULL, MEL_COST, down, 0.0, b, 1.0, &err),
              &err);
    assert_ok(mel_metric_fractional(&flat, p.family, p.layout, NULL, MEL_UTILITY, half, 0.5, b, 1.0, &err),
              &err);
    double one[4], other[4];
    assert_true(mel_bivector_of(one, &region, utility));
    assert_true(mel_bivector_of(other, &region, cost));
    assert_close(mel_bivector_cosine(2, one, other), 1.0, 1e-12);
    assert_false(mel_bivector_of(other, &region, flat));
    mel_engine *engine = NULL;
    opt.prior = flat;
    opt.prior_strength = 10.0;
    assert_int_equal(mel_engine_bivector(&engine, &p.domain, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "prior metric does not tell"));
    assert_null(engine);
    mel_metric_free(utility);
    mel_metric_free(cost);
    mel_metric_free(flat);
    mel_region_clear(&region);
    clear(&p);
}

/* --- questions ------------------------------------------------------------------------------------ */

/* Points of questions are in the ball, or on one face; the same seed asks the same. */
static void test_questions(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 76);
    for (int kind = 0; kind < 4; kind++) {
        problem p = (kind & 1) == 0 ? faces_of(3, kind == 0 ? MEL_CONFUSION : MEL_RATES) : ball_of_three();
        mel_session_options opt = options_of(&p, 0.05);
        opt.max_questions = (uint32_t)test_repeats(1000, 10, 10);
        opt.simple_questions = kind == 3;
        mel_metric *truth = random_metric(&p, &rng, 1.0);
        mel_session *session[2] = { NULL, NULL };
        mel_error err;
        for (int run = 0; run < 2; run++) {
            mel_oracle *oracle = test_oracle(truth, exact, 1);
            assert_ok(mel_session_new(&session[run], &p.domain, &opt, &err), &err);
            assert_ok(mel_session_run(session[run], oracle, &err), &err);
            mel_oracle_free(oracle);
        }
        assert_int_equal(mel_session_answers(session[0]), mel_session_answers(session[1]));
        for (uint32_t q = 0; q < mel_session_answers(session[0]); q++) {
            const mel_record one = mel_session_record(session[0], q), two = mel_session_record(session[1], q);
            assert_memory_equal(one.a, two.a, p.n * sizeof(double));
            assert_memory_equal(one.b, two.b, p.n * sizeof(double));
            size_t differ = 0, used[2] = { 0, 0 };
            double out[2] = { 0.0, 0.0 };
            for (size_t j = 0; j < p.n; j++) {
                if ((p.ball != NULL ? one.a[j] != one.b[j] : one.a[j] != 0.0 || one.b[j] != 0.0) &&
                    differ++ < 2)
                    used[differ - 1] = j;
                for (size_t side = 0; side < 2 && p.ball != NULL; side++)
                    out[side] += pow((side == 0 ? one.a : one.b)[j] - mel_ball_centre(p.ball)[j], 2.0);
            }
            assert_true(p.ball != NULL && !opt.simple_questions ? differ > 2 : differ == 2);
            if (p.ball != NULL) {
                assert_true(sqrt(fmax(out[0], out[1])) <= mel_ball_radius(p.ball));
                continue;
            }
            mel_face *face = NULL;
            assert_ok(mel_space_face(&face, p.space, used[0], used[1], &err), &err);
            const double *share = mel_space_class_share(p.space);
            for (size_t side = 0; side < 2; side++) {
                const double *x = side == 0 ? one.a : one.b;
                const bool rates = p.layout->kind == MEL_RATES;
                const mel_point at = { x[used[0]] * (rates ? share[used[0]] : 1.0),
                                       x[used[1]] * (rates ? share[used[1]] : 1.0) };
                assert_true(mel_face_contains(face, at, 1e-9));
            }
            mel_face_free(face);
        }
        mel_session_free(session[0]);
        mel_session_free(session[1]);
        mel_metric_free(truth);
        clear(&p);
    }
}

/* "Can't say" changes nothing but the question. */
static void test_skip(void **state)
{
    (void)state;
    problem p = faces_of(3, MEL_CONFUSION);
    const mel_session_options opt = options_of(&p, 0.05);
    mel_engine *engine = NULL;
    mel_error err;
    mel_end end;
    double one[6], two[6], before, after;
    mel_pair first = { .a = one, .b = one + 3 }, second = { .a = two, .b = two + 3 };
    mel_metric *metric = NULL;
    mel_summary summary;
    assert_ok(mel_engine_bivector(&engine, &p.domain, &opt, &err), &err);
    assert_ok(engine->ops->next(engine, &first, &end, &err), &err);
    assert_ok(engine->ops->tell(engine, &first, MEL_ANSWER_A, &err), &err);
    assert_ok(engine->ops->next(engine, &first, &end, &err), &err);
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    before = summary.radius;
    mel_metric_free(metric);
    assert_ok(engine->ops->tell(engine, &first, MEL_ANSWER_SKIP, &err), &err);
    assert_ok(engine->ops->next(engine, &second, &end, &err), &err);
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    after = summary.radius;
    mel_metric_free(metric);
    bool moved = false;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        moved = moved || one[i] != two[i];
    assert_true(moved);
    assert_close(after, before, 0.0);
    engine->ops->free(engine);
    clear(&p);
}

static void test_refusals(void **state)
{
    (void)state;
    const mel_layout groups = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 2, .n_groups = 2
    };
    problem p = faces_of(3, MEL_CONFUSION);
    mel_session_options opt = options_of(&p, 0.05);
    mel_engine *engine = NULL;
    mel_error err;
    mel_ball *ball = NULL;
    assert_ok(mel_ball_new(&ball, &groups, 0.2, NULL, NULL, &err), &err);
    const mel_domain domain = { .ball = ball };
    assert_int_equal(mel_engine_bivector(&engine, &domain, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "groups"));
    assert_null(engine);
    mel_ball_free(ball);
    const mel_layout letters = { .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 26 };
    assert_ok(mel_ball_new(&ball, &letters, 0.001, NULL, NULL, &err), &err);
    const mel_domain wide = { .ball = ball };
    assert_int_equal(mel_engine_bivector(&engine, &wide, &opt, &err), MEL_ELIMIT);
    assert_non_null(strstr(err.text, "650 numbers"));
    mel_ball_free(ball);
    clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_region),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_random_metrics),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_choices_beside_same),
        cmocka_unit_test(test_prior_width),
        cmocka_unit_test(test_prior_against_answers),
        cmocka_unit_test(test_prior_forms),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
