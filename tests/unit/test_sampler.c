/* The posterior sampler against posteriors that are known exactly: areas on the sphere, arcs of the circle,
 * integrals over an angle. Samples are correlated, so frequencies are compared at the accuracy of as
 * many independent samples as the sampler says they are worth. */
#include "support/test.h"

#include "base/la.h"
#include "base/stat.h"
#include "elicit/active/posterior/sphere.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 8192 };

static const double pi = 3.14159265358979323846;

/* Deviations that a frequency may be off: a bound that fails about once in 16,000 draws. */
static const double deviations = 4.0;

static void assert_share(const mel_samples *s, size_t hits, double want, const char *what)
{
    const double got = (double)hits / (double)s->count;
    const double error = sqrt(want * (1.0 - want) / s->effective) + 1.0 / (double)s->count;
    if (!(fabs(got - want) <= deviations * error))
        fail_msg("%s: share %.4f, exact %.4f, %.0f effective samples", what, got, want, s->effective);
}

static mel_sampler *make(size_t dimension, size_t n_cone, const double *cone, const double *start,
                         mel_assumption assume, size_t samples, uint64_t seed)
{
    const mel_sampler_options opt = {
        .dimension = dimension,
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

static void tell(mel_sampler *sampler, const double *x, mel_answer answer)
{
    mel_error err = { 0 };
    assert_ok(mel_sampler_tell(sampler, x, 1.0, answer, &err), &err);
}

static const mel_assumption none = { .kind = MEL_NOISE_NONE };
static const double octant[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
static const double inside[3] = { 0.2, 1.0, 0.5 };

/* --- hard cuts ---------------------------------------------------------------------------------- */

/* Uniform on the octant: height and azimuth are independent and uniform. */
static void test_octant(void **state)
{
    (void)state;
    mel_sampler *sampler = make(3, 3, octant, inside, none, MANY, 3);
    const mel_samples *s = mel_sampler_samples(sampler);
    assert_int_equal(s->count, MANY);
    size_t cell[4][4] = { { 0 } };
    for (size_t i = 0; i < s->count; i++) {
        const double *w = s->w + 3 * i;
        assert_true(w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0);
        assert_close(mel_norm2(3, w), 1.0, 1e-12);
        const size_t row = (size_t)fmin(3.0, 4.0 * w[2]);
        const size_t column = (size_t)fmin(3.0, 4.0 * atan2(w[1], w[0]) / (0.5 * pi));
        cell[row][column]++;
    }
    double chi = 0.0;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            const double share = (double)cell[i][j] / (double)s->count;
            chi += s->effective * (share - 1.0 / 16.0) * (share - 1.0 / 16.0) * 16.0;
        }
    assert_true(chi < 37.7); /* 15 degrees of freedom: exceeded once in 1,000 */
    const double mean = 1.0 / sqrt(3.0);
    for (size_t j = 0; j < 3; j++)
        assert_close(s->mean[j], mean, 0.02);
    assert_close(s->resultant, sqrt(0.75), 0.01);
    assert_true(s->scale_reduction < 1.02);
    mel_sampler_free(sampler);
}

static double determinant(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Area of the spherical triangle of three unit vectors (Van Oosterom and Strackee). */
static double area(const double *a, const double *b, const double *c)
{
    const double below = 1.0 + mel_dot(3, a, b) + mel_dot(3, b, c) + mel_dot(3, c, a);
    return 2.0 * atan2(fabs(determinant(a, b, c)), below);
}

static void cross(double *out, const double *a, const double *b)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void unit_middle(double *out, const double *a, const double *b, double share)
{
    for (size_t i = 0; i < 3; i++)
        out[i] = (1.0 - share) * a[i] + share * b[i];
    mel_scale(3, 1.0 / mel_norm2(3, out), out);
}

/* The cut through corner c and the point of the edge ab, positive at a. */
static double divide(double *row, const double *a, const double *b, const double *c, double share)
{
    double on_edge[3];
    unit_middle(on_edge, a, b, share);
    cross(row, c, on_edge);
    if (mel_dot(3, row, a) < 0.0)
        mel_scale(3, -1.0, row);
    return area(a, on_edge, c) / area(a, b, c);
}

/* The half-spaces of a triangle's edges, positive inside. */
static void edges(double row[9], double corner[3][3])
{
    for (size_t i = 0; i < 3; i++) {
        cross(row + 3 * i, corner[(i + 1) % 3], corner[(i + 2) % 3]);
        if (mel_dot(3, row + 3 * i, corner[i]) < 0.0)
            mel_scale(3, -1.0, row + 3 * i);
    }
}

/* Random corners at most `size` from a random direction, and the triangle 20 times as large around it. */
static void random_triangle(double corner[3][3], double around[3][3], double middle[3], double size,
                            uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    mel_rng_sphere(&rng, 3, middle);
    for (size_t i = 0; i < 3; i++) {
        mel_rng_sphere(&rng, 3, corner[i]);
        mel_scale(3, size, corner[i]);
        mel_axpy(3, 1.0, middle, corner[i]);
        mel_scale(3, 1.0 / mel_norm2(3, corner[i]), corner[i]);
    }
    for (size_t j = 0; j < 3; j++)
        middle[j] = (corner[0][j] + corner[1][j] + corner[2][j]) / 3.0;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            around[i][j] = middle[j] + 20.0 * (corner[i][j] - middle[j]);
}

/* Three answers make a triangle, on the whole sphere or in a prior cone; half-spaces through its corners
 * divide it into parts of known area. Small triangles use the chart, large ones the ball. */
static void test_triangles(void **state)
{
    (void)state;
    static const double sizes[] = { 1.5, 0.7, 0.2, 0.01, 1e-4, 1e-7 };
    for (size_t t = 0; t < COUNT(sizes); t++) {
        double corner[3][3], around[3][3], middle[3], row[9], cone[9];
        random_triangle(corner, around, middle, sizes[t], 40 + t);
        edges(row, corner);
        edges(cone, around);
        mel_sampler *sampler = make(3, sizes[t] < 0.1 ? 3 : 0, cone, middle, none, MANY, t);
        for (size_t i = 0; i < 3; i++)
            tell(sampler, row + 3 * i, MEL_ANSWER_A);
        const mel_samples *s = mel_sampler_samples(sampler);
        assert_false(s->contradicted);
        for (size_t i = 0; i < 3; i++)
            for (int quarter = 1; quarter < 4; quarter++) {
                const double want =
                    divide(row, corner[i], corner[(i + 1) % 3], corner[(i + 2) % 3], 0.25 * quarter);
                size_t hits = 0;
                for (size_t k = 0; k < s->count; k++)
                    hits += mel_dot(3, row, s->w + 3 * k) > 0.0;
                assert_share(s, hits, want, "triangle");
            }
        mel_sampler_free(sampler);
    }
}

/* An answer that only one part in 10,000 of the prior fits is reached, and sampled right. */
static void test_unlikely_answer(void **state)
{
    (void)state;
    mel_sampler *sampler = make(3, 3, octant, inside, none, 800, 5);
    const double c[3] = { 0, 0, 1 };
    double a[3] = { 0.015, 0, 1 }, b[3] = { 0, 0.015, 1 }, row[3], halving[3];
    mel_scale(3, 1.0 / mel_norm2(3, a), a);
    mel_scale(3, 1.0 / mel_norm2(3, b), b);
    cross(row, a, b);
    tell(sampler, row, mel_dot(3, row, c) > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B);
    const mel_samples *s = mel_sampler_samples(sampler);
    assert_false(s->contradicted);
    assert_true(s->resultant > 0.999);
    const double want = divide(halving, a, b, c, 0.5);
    size_t hits = 0;
    for (size_t k = 0; k < s->count; k++)
        hits += mel_dot(3, halving, s->w + 3 * k) > 0.0;
    assert_share(s, hits, want, "sliver");
    mel_sampler_free(sampler);
}

/* Answers that cannot all be right refute the assumption; the sampler goes on with flips. */
static void test_contradiction(void **state)
{
    (void)state;
    mel_sampler *sampler = make(3, 3, octant, inside, none, 0, 5);
    const double larger[3] = { 1, -1, 0 };
    assert_true(isnan(mel_sampler_samples(sampler)->error_rate));
    tell(sampler, larger, MEL_ANSWER_A);
    tell(sampler, larger, MEL_ANSWER_A);
    assert_false(mel_sampler_samples(sampler)->contradicted);
    tell(sampler, larger, MEL_ANSWER_B);
    const mel_samples *s = mel_sampler_samples(sampler);
    assert_true(s->contradicted);
    assert_true(s->error_rate > 0.1 && s->error_rate < 0.5);
    size_t hits = 0;
    for (size_t k = 0; k < s->count; k++)
        hits += s->w[3 * k] > s->w[3 * k + 1];
    /* One wrong of three against two of three: B(2, 11) : B(3, 10) = 10 : 2. */
    assert_share(s, hits, 10.0 / 12.0, "two against one");
    mel_sampler_free(sampler);
}

/* Many cuts in more dimensions: none is violated, though most are left out of the runs. */
static void test_many_cuts(void **state)
{
    (void)state;
    enum { D = 8, CUTS = 110 };
    double cone[D * D] = { 0 }, start[D], truth[D], x[CUTS][D];
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    mel_rng_sphere(&rng, D, truth);
    for (size_t i = 0; i < D; i++) {
        cone[i * D + i] = 1.0;
        start[i] = 1.0;
        truth[i] = fabs(truth[i]);
    }
    mel_sampler *sampler = make(D, D, cone, start, none, 0, 2);
    const mel_samples *s = mel_sampler_samples(sampler);
    for (size_t q = 0; q < CUTS; q++) {
        mel_rng_sphere(&rng, D, x[q]);
        mel_axpy(D, -mel_dot(D, x[q], s->mean), s->mean, x[q]);
        const bool a = mel_dot(D, x[q], truth) > 0.0;
        tell(sampler, x[q], a ? MEL_ANSWER_A : MEL_ANSWER_B);
        if (!a)
            mel_scale(D, -1.0, x[q]);
    }
    for (size_t k = 0; k < s->count; k++)
        for (size_t q = 0; q < CUTS; q++)
            assert_true(mel_dot(D, s->w + k * D, x[q]) > 0.0);
    for (size_t i = 0; i < D; i++)
        assert_close(s->mean[i], truth[i], 1e-3);
    assert_false(s->contradicted);
    assert_true(s->effective > 20.0 && s->effective <= (double)s->count);
    mel_sampler_free(sampler);
}

/* --- noise, on the quarter circle: against integrals over the angle ------------------------------- */

typedef struct {
    double angle; /* the level of the question: A is better above it */
    double size;  /* length of the difference */
    mel_answer answer;
} question;

static const question asked[] = {
    { 0.70, 0.6, MEL_ANSWER_A }, { 1.10, 0.5, MEL_ANSWER_B }, { 0.90, 0.7, MEL_ANSWER_A },
    { 1.00, 0.6, MEL_ANSWER_A }, { 0.60, 0.4, MEL_ANSWER_B }, { 1.05, 0.5, MEL_ANSWER_B },
};
static const question with_same[] = {
    { 0.70, 0.6, MEL_ANSWER_A }, { 1.10, 0.5, MEL_ANSWER_B },    { 0.92, 0.7, MEL_ANSWER_SAME },
    { 0.60, 0.4, MEL_ANSWER_A }, { 0.95, 0.3, MEL_ANSWER_SAME },
};

/* By the formulas of Rao and Kupper for one component; tie 0: "about the same" is never answered. */
static double likelihood_of_component(const mel_component *component, double tie, size_t n, const question *q,
                                      double t)
{
    double product = 1.0;
    for (size_t i = 0; i < n; i++) {
        const double margin = q[i].size * sin(t - q[i].angle);
        const double z = margin / hypot(component->relative * 0.5 * q[i].size, component->absolute);
        double a = 1.0 / (1.0 + exp(tie - z)), b = 1.0 / (1.0 + exp(tie + z));
        if (component->band > 0.0) {
            a = fabs(margin) <= component->band ? 0.5 : margin > 0.0 ? 1.0 : 0.0;
            b = 1.0 - a;
        }
        const double seen = q[i].answer == MEL_ANSWER_A ? a : q[i].answer == MEL_ANSWER_B ? b : 1.0 - a - b;
        product *= component->lapse / (tie > 0.0 ? 3.0 : 2.0) + (1.0 - component->lapse) * seen;
    }
    return product;
}

/* Averaged over the components, of which a quarter of the prior is on people who see smaller differences and
 * lapse as often, and over ties. */
static double likelihood(const mel_assumption *assume, size_t n, const question *q, double t)
{
    static const double ties[] = { 0.4, 1.2, 3.5 };
    mel_component component[MEL_MOST_COMPONENTS];
    size_t m = mel_noise_components(component, mel_noise_of(assume->kind), assume->size);
    const double finer = assume->kind == MEL_NOISE_PERSON ? 0.25 : 0.0;
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || q[i].answer == MEL_ANSWER_SAME;
    if (any)
        m = mel_components_blur(m, component);
    double sum = 0.0;
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < (any ? COUNT(ties) : 1); i++) {
            const double tie = any ? ties[i] : 0.0;
            const mel_component fine = { .absolute = any ? 0.002 : 0.0005, .lapse = component[k].lapse },
                                finest = { .absolute = any ? 0.002 : 0.00005, .lapse = component[k].lapse };
            sum +=
                component[k].weight * ((1.0 - finer) * likelihood_of_component(&component[k], tie, n, q, t) +
                                       0.5 * finer * likelihood_of_component(&fine, tie, n, q, t) +
                                       0.5 * finer * likelihood_of_component(&finest, tie, n, q, t));
        }
    return sum;
}

/* Somebody who calls pairs about the same does not see differences of any size. */
static void test_blur(void **state)
{
    (void)state;
    mel_component component[MEL_MOST_COMPONENTS];
    const mel_noise_kind kinds[] = { MEL_NOISE_NONE, MEL_NOISE_FLIP, MEL_NOISE_BAND, MEL_NOISE_PERSON };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        const double size = kinds[k] == MEL_NOISE_BAND ? 0.02 : 0.0;
        const size_t before = mel_noise_components(component, mel_noise_of(kinds[k]), size);
        const size_t n = mel_components_blur(before, component);
        double weight = 0.0;
        assert_true(n >= before && n <= MEL_MOST_COMPONENTS);
        for (size_t i = 0; i < n; i++) {
            weight += component[i].weight;
            assert_true(component[i].absolute >= fmax(0.002, size) && component[i].band == 0.0);
        }
        assert_close(weight, 1.0, 1e-12);
    }
}

static void compare_with_integral(const char *what, mel_assumption assume, size_t n, const question *q)
{
    enum { CELLS = 1600 };
    static const double quadrant[4] = { 1, 0, 0, 1 }, middle[2] = { 1, 1 };
    mel_sampler *sampler = make(2, 2, quadrant, middle, assume, MANY, 17);
    for (size_t i = 0; i < n; i++) {
        const double x[2] = { -q[i].size * sin(q[i].angle), q[i].size * cos(q[i].angle) };
        tell(sampler, x, q[i].answer);
    }
    double below[CELLS + 1] = { 0.0 };
    for (size_t c = 0; c < CELLS; c++)
        below[c + 1] = below[c] + likelihood(&assume, n, q, 0.5 * pi * ((double)c + 0.5) / CELLS);
    const mel_samples *s = mel_sampler_samples(sampler);
    for (size_t c = 100; c < CELLS; c += 100) {
        size_t hits = 0;
        for (size_t k = 0; k < s->count; k++)
            hits += atan2(s->w[2 * k + 1], s->w[2 * k]) < 0.5 * pi * (double)c / CELLS;
        /* The far tails have an autocorrelation of their own. */
        if (below[c] > 0.02 * below[CELLS] && below[c] < 0.98 * below[CELLS])
            assert_share(s, hits, below[c] / below[CELLS], what);
    }
    assert_true(s->scale_reduction < 1.05);
    mel_sampler_free(sampler);
}

static void test_noise(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_assumption assume;
    } rows[] = {
        { "flip:0.2", { MEL_NOISE_FLIP, 0.2 } },         { "flip, learned", { MEL_NOISE_FLIP, 0.0 } },
        { "logistic:20", { MEL_NOISE_LOGISTIC, 20.0 } }, { "logistic, learned", { MEL_NOISE_LOGISTIC, 0.0 } },
        { "band:0.2", { MEL_NOISE_BAND, 0.2 } },         { "person", { MEL_NOISE_PERSON, 0.0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        compare_with_integral(rows[i].name, rows[i].assume, COUNT(asked), asked);
}

static void test_about_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_assumption assume;
    } rows[] = {
        { "none", { MEL_NOISE_NONE, 0.0 } },
        { "flip, learned", { MEL_NOISE_FLIP, 0.0 } },
        { "logistic, learned", { MEL_NOISE_LOGISTIC, 0.0 } },
        { "person", { MEL_NOISE_PERSON, 0.0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        compare_with_integral(rows[i].name, rows[i].assume, COUNT(with_same), with_same);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where answers may be wrong, what is reported are the coordinates' medians, at unit length. */
static void test_centre(void **state)
{
    (void)state;
    static const double quadrant[4] = { 1, 0, 0, 1 }, middle[2] = { 1, 1 };
    static const double cuts[][2] = { { 1, -1 }, { -1, 2 }, { 1, -1.2 } };
    static const mel_noise_kind kinds[] = { MEL_NOISE_FLIP, MEL_NOISE_NONE, MEL_NOISE_PERSON };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        mel_sampler *sampler = make(2, 2, quadrant, middle, (mel_assumption){ kinds[k], 0.0 }, MANY, 4);
        for (size_t i = 0; i < COUNT(cuts); i++)
            assert_ok(mel_sampler_tell(sampler, cuts[i], 1.0, MEL_ANSWER_A, NULL), NULL);
        const mel_samples *s = mel_sampler_samples(sampler);
        double want[2] = { s->mean[0], s->mean[1] };
        double *column = calloc(s->count, sizeof *column);
        assert_non_null(column);
        for (size_t j = 0; j < 2 && kinds[k] != MEL_NOISE_NONE; j++) {
            for (size_t i = 0; i < s->count; i++)
                column[i] = s->w[2 * i + j];
            qsort(column, s->count, sizeof *column, ascending);
            want[j] = 0.5 * (column[s->count / 2 - 1] + column[s->count / 2]);
        }
        free(column);
        const double length = hypot(want[0], want[1]);
        for (size_t j = 0; j < 2; j++)
            assert_close(s->centre[j], want[j] / length, 1e-12);
        assert_ptr_equal(s->noise, mel_noise_of(kinds[k]));
        mel_sampler_free(sampler);
    }
}

/* The error rate is the posterior mean over the exact cells. */
static void test_error_rate(void **state)
{
    (void)state;
    static const double quadrant[4] = { 1, 0, 0, 1 }, middle[2] = { 1, 1 };
    const mel_assumption assume = { MEL_NOISE_FLIP, 0.0 };
    mel_sampler *sampler = make(2, 2, quadrant, middle, assume, MANY, 4);
    assert_close(mel_sampler_samples(sampler)->error_rate, 0.1, 1e-12);
    const size_t n = COUNT(asked);
    double total = 0.0, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double x[2] = { -sin(asked[i].angle), cos(asked[i].angle) };
        tell(sampler, x, asked[i].answer);
    }
    for (size_t c = 0; c < 4000; c++) {
        const double t = 0.5 * pi * ((double)c + 0.5) / 4000.0;
        double wrong = 0.0;
        for (size_t i = 0; i < n; i++)
            wrong += (t > asked[i].angle) != (asked[i].answer == MEL_ANSWER_A);
        const double mass = likelihood(&assume, n, asked, t);
        total += mass;
        sum += mass * (1.0 + wrong) / (10.0 + (double)n);
    }
    assert_close(mel_sampler_samples(sampler)->error_rate, sum / total, 0.005);
    mel_sampler_free(sampler);
}

/* Of people it is the posterior mean of the share of choices that are wrong. */
static void test_error_rate_of_people(void **state)
{
    (void)state;
    static const double quadrant[4] = { 1, 0, 0, 1 }, middle[2] = { 1, 1 };
    const mel_assumption assume = { MEL_NOISE_PERSON, 0.0 };
    const size_t n = COUNT(asked);
    mel_sampler *sampler = make(2, 2, quadrant, middle, assume, MANY, 4);
    assert_true(isnan(mel_sampler_samples(sampler)->error_rate));
    double total = 0.0, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double x[2] = { -asked[i].size * sin(asked[i].angle), asked[i].size * cos(asked[i].angle) };
        tell(sampler, x, asked[i].answer);
    }
    for (size_t c = 0; c < 4000; c++) {
        const double t = 0.5 * pi * ((double)c + 0.5) / 4000.0;
        double wrong = 0.0;
        for (size_t i = 0; i < n; i++)
            wrong += (t > asked[i].angle) != (asked[i].answer == MEL_ANSWER_A);
        const double mass = likelihood(&assume, n, asked, t);
        total += mass;
        sum += mass * wrong / (double)n;
    }
    assert_close(mel_sampler_samples(sampler)->error_rate, sum / total, 0.01);
    mel_sampler_free(sampler);
}

/* --- gains, predictions, levels ------------------------------------------------------------------- */

/* A question's length and its gain are the same thing; a gain may be corrected later. */
static void test_gain(void **state)
{
    (void)state;
    const mel_assumption assume = { MEL_NOISE_LOGISTIC, 20.0 };
    const double x[3] = { 0.3, -0.2, 0.1 }, half[3] = { 0.15, -0.1, 0.05 }, y[3] = { 0.1, 0.1, -0.4 };
    mel_sampler *a = make(3, 3, octant, inside, assume, 400, 9),
                *b = make(3, 3, octant, inside, assume, 400, 9);
    mel_error err = { 0 };
    assert_ok(mel_sampler_tell(a, x, 1.0, MEL_ANSWER_A, &err), &err);
    assert_ok(mel_sampler_tell(b, half, 2.0, MEL_ANSWER_A, &err), &err);
    const size_t bytes = sizeof(double[1200]);
    assert_memory_equal(mel_sampler_samples(a)->w, mel_sampler_samples(b)->w, bytes);
    mel_sampler_set_gain(a, 0, 3.0);
    mel_sampler_set_gain(b, 0, 3.0);
    assert_ok(mel_sampler_tell(a, y, 1.0, MEL_ANSWER_B, &err), &err);
    assert_ok(mel_sampler_tell(b, y, 1.0, MEL_ANSWER_B, &err), &err);
    assert_memory_not_equal(mel_sampler_samples(a)->w, mel_sampler_samples(b)->w, bytes);
    mel_sampler_free(a);
    mel_sampler_free(b);
}

static void test_predict(void **state)
{
    (void)state;
    static const struct {
        mel_assumption assume;
        double want[3]; /* at margins -0.2, 0.05, 0.2 */
    } rows[] = {
        { { MEL_NOISE_NONE, 0.0 }, { 0.0, 1.0, 1.0 } },
        { { MEL_NOISE_FLIP, 0.2 }, { 0.2, 0.8, 0.8 } },
        { { MEL_NOISE_FLIP, 0.0 }, { 0.1, 0.9, 0.9 } }, /* before any answer: the prior's mean */
        { { MEL_NOISE_BAND, 0.1 }, { 0.0, 0.5, 1.0 } },
        { { MEL_NOISE_LOGISTIC, 10.0 }, { 0.12301089, 0.62123474, 0.87698911 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_sampler *sampler = make(3, 3, octant, inside, rows[i].assume, 0, 1);
        double margin[3] = { -0.2, 0.05, 0.2 };
        mel_sampler_predict(sampler, 3, 100, 1.0, margin);
        for (size_t j = 0; j < 3; j++)
            assert_close(margin[j], rows[i].want[j], 1e-6);
        mel_sampler_free(sampler);
    }
}

static void test_level(void **state)
{
    (void)state;
    mel_samples s = { .effective = 199.0, .noise = mel_noise_of(MEL_NOISE_NONE) };
    assert_close(mel_samples_level(&s, 0.95), 189.0 / 198.0, 1e-12);
    s.effective = 1e9;
    assert_close(mel_samples_level(&s, 0.95), 0.95, 1e-8);
    s.effective = 3.0;
    assert_close(mel_samples_level(&s, 0.95), 1.0, 0.0);
    /* Whoever answers may use the band against us: a quarter less is left outside. */
    s = (mel_samples){ .effective = 1e9, .noise = mel_noise_of(MEL_NOISE_BAND) };
    assert_close(mel_samples_level(&s, 0.96), 0.97, 1e-8);
}

/* As many as are asked for, or as a posterior of its kind needs. */
static void test_sample_count(void **state)
{
    (void)state;
    static const struct {
        size_t dimension, asked;
        mel_noise_kind kind;
        size_t want;
    } rows[] = {
        { 2, 0, MEL_NOISE_NONE, 512 },   { 12, 0, MEL_NOISE_NONE, 512 },   { 20, 0, MEL_NOISE_NONE, 640 },
        { 2, 0, MEL_NOISE_FLIP, 1024 },  { 6, 0, MEL_NOISE_FLIP, 512 },    { 12, 0, MEL_NOISE_FLIP, 1024 },
        { 30, 0, MEL_NOISE_FLIP, 2048 }, { 80, 0, MEL_NOISE_FLIP, 2432 },  { 80, 0, MEL_NOISE_NONE, 2432 },
        { 12, 1, MEL_NOISE_FLIP, 256 },  { 12, 700, MEL_NOISE_FLIP, 768 }, { 12, 0, MEL_NOISE_BAND, 1024 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("  %zu dimensions, %zu asked for\n", rows[i].dimension, rows[i].asked);
        const mel_assumption assume = { .kind = rows[i].kind,
                                        .size = rows[i].kind == MEL_NOISE_BAND ? 0.01 : 0.0 };
        mel_sampler *sampler = make(rows[i].dimension, 0, NULL, NULL, assume, rows[i].asked, 1);
        assert_int_equal(mel_sampler_samples(sampler)->count, rows[i].want);
        mel_sampler_free(sampler);
    }
}

/* The quantile of a sort, without one: random numbers, ties, few, sorted, reversed. */
static void test_select(void **state)
{
    (void)state;
    enum { MOST = 300 };
    static const double levels[] = { 0.0, 0.025, 0.3, 0.5, 0.95, 0.999, 1.0 };
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (size_t n = 1; n <= MOST; n += n < 8 ? 1 : 37)
        for (int kind = 0; kind < 4; kind++)
            for (size_t i = 0; i < COUNT(levels); i++) {
                double x[MOST], y[MOST];
                for (size_t j = 0; j < n; j++)
                    x[j] = kind == 0   ? mel_rng_normal(&rng)
                           : kind == 1 ? (double)mel_rng_below(&rng, 3)
                           : kind == 2 ? (double)j
                                       : -(double)j;
                memcpy(y, x, sizeof y);
                assert_close(mel_quantile_select(n, x, levels[i]), mel_quantile_sort(n, y, levels[i]), 1e-15);
                mel_sort(n, x); /* nothing was lost on the way */
                assert_memory_equal(x, y, n * sizeof *x);
            }
}

/* --- the same again; coverage; refusals ----------------------------------------------------------- */

static void test_repeatable(void **state)
{
    (void)state;
    static const mel_noise_kind kinds[] = { MEL_NOISE_NONE, MEL_NOISE_FLIP, MEL_NOISE_LOGISTIC };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        const mel_assumption assume = { kinds[k], 0.0 };
        mel_sampler *a = make(3, 3, octant, inside, assume, 400, 7),
                    *b = make(3, 3, octant, inside, assume, 400, 7),
                    *c = make(3, 3, octant, inside, assume, 400, 8);
        const double x[2][3] = { { 1, -0.9, 0.1 }, { 0.1, 0.4, -0.6 } };
        for (size_t i = 0; i < 2; i++) {
            tell(a, x[i], MEL_ANSWER_A);
            tell(b, x[i], MEL_ANSWER_A);
            tell(c, x[i], MEL_ANSWER_A);
        }
        const size_t bytes = sizeof(double[1200]);
        assert_memory_equal(mel_sampler_samples(a)->w, mel_sampler_samples(b)->w, bytes);
        assert_memory_not_equal(mel_sampler_samples(a)->w, mel_sampler_samples(c)->w, bytes);
        mel_sampler_free(a);
        mel_sampler_free(b);
        mel_sampler_free(c);
    }
}

/* Truths drawn from the prior lie in the 95% interval of each coordinate in about 95 of 100 cases. */
static void test_coverage(void **state)
{
    (void)state;
    enum { D = 5, QUESTIONS = 20 };
    double cone[D * D] = { 0 }, start[D];
    for (size_t i = 0; i < D; i++) {
        cone[i * D + i] = 1.0;
        start[i] = 1.0;
    }
    mel_rng rng;
    mel_rng_seed(&rng, 77);
    const size_t runs = test_repeats(400, 200, 20);
    size_t covered[2] = { 0 };
    for (uint64_t run = 0; run < runs; run++) {
        double truth[D], x[D];
        mel_rng_sphere(&rng, D, truth);
        for (size_t i = 0; i < D; i++)
            truth[i] = fabs(truth[i]);
        mel_sampler *sampler = make(D, D, cone, start, none, 0, run);
        const mel_samples *s = mel_sampler_samples(sampler);
        for (size_t q = 1; q <= QUESTIONS; q++) {
            mel_rng_sphere(&rng, D, x);
            mel_axpy(D, -mel_dot(D, x, s->mean), s->mean, x);
            tell(sampler, x, mel_dot(D, x, truth) > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B);
            if (q != 5 && q != QUESTIONS)
                continue;
            const double level = mel_samples_level(s, 0.975);
            for (size_t j = 0; j < D; j++) {
                double column[1024];
                for (size_t k = 0; k < s->count; k++)
                    column[k] = s->w[k * D + j];
                mel_sort(s->count, column);
                covered[q == QUESTIONS] += truth[j] >= mel_quantile_sorted(s->count, column, 1.0 - level) &&
                                           truth[j] <= mel_quantile_sorted(s->count, column, level);
            }
        }
        mel_sampler_free(sampler);
    }
    for (size_t i = 0; i < 2; i++) {
        const double share = (double)covered[i] / (double)(D * runs);
        print_message("  coverage %.3f\n", share);
        assert_true(runs < 200 || (share >= 0.92 && share <= 0.98));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const double outside[3] = { 1, 1, -1 }, edge[3] = { 1, 1, 0 }, zero[3] = { 0, 0, 0 },
                        x[3] = { 1, -1, 0 }, broken[3] = { 1, NAN, 0 };
    static const struct {
        const char *name;
        size_t dimension;
        const double *start;
        mel_assumption assume;
    } rows[] = {
        { "one dimension", 1, inside, { MEL_NOISE_NONE, 0.0 } },
        { "start outside", 3, outside, { MEL_NOISE_NONE, 0.0 } },
        { "start on the border", 3, edge, { MEL_NOISE_NONE, 0.0 } },
        { "start not a number", 3, broken, { MEL_NOISE_NONE, 0.0 } },
        { "flip rate too large", 3, inside, { MEL_NOISE_FLIP, 0.5 } },
        { "negative size", 3, inside, { MEL_NOISE_LOGISTIC, -1.0 } },
        { "size not a number", 3, inside, { MEL_NOISE_BAND, NAN } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        const mel_sampler_options opt = {
            .dimension = rows[i].dimension,
            .n_cone = 3,
            .cone = octant,
            .start = rows[i].start,
            .assume = rows[i].assume,
        };
        mel_sampler *sampler = NULL;
        mel_error err = { 0 };
        assert_int_equal(mel_sampler_new(&sampler, &opt, &err), MEL_EINVAL);
        assert_null(sampler);
        assert_true(strlen(err.text) > 10);
    }
    mel_sampler *sampler = make(3, 3, octant, inside, none, 0, 1);
    assert_int_equal(mel_sampler_tell(sampler, zero, 1.0, MEL_ANSWER_A, NULL), MEL_EINVAL);
    assert_int_equal(mel_sampler_tell(sampler, broken, 1.0, MEL_ANSWER_A, NULL), MEL_EINVAL);
    assert_int_equal(mel_sampler_tell(sampler, x, INFINITY, MEL_ANSWER_A, NULL), MEL_EINVAL);
    assert_int_equal(mel_sampler_tell(sampler, x, 1.0, (mel_answer)0, NULL), MEL_EINVAL);
    mel_sampler_free(sampler);
    mel_sampler_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_octant),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_unlikely_answer),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_many_cuts),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_about_the_same),
        cmocka_unit_test(test_blur),
        cmocka_unit_test(test_centre),
        cmocka_unit_test(test_error_rate),
        cmocka_unit_test(test_gain),
        cmocka_unit_test(test_predict),
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_sample_count),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_error_rate_of_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
