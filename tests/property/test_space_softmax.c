/* Softmax populations against brute force: decisions and integrals. */
#include "support/classes.h"

#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };
static const double accuracy = 1e-4; /* of a grid of 1e4 cells, a few of which a decision cuts in two */

static mel_space *population(size_t k, const double *slope, mel_statistics_kind kind,
                             mel_coordinates coordinates)
{
    const mel_space_options opt = test_space_options(kind, coordinates, MEL_BY_LABELS, 1);
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_softmax(&space, k, slope, &opt, &err), &err);
    return space;
}

/* --- brute force ------------------------------------------------------------------------------------ */

typedef struct {
    size_t k;
    const double *slope, *gain;
    double confusion[MOST * MOST];
} brute;

static void shares_at(const brute *b, double x, double *share)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < b->k; i++)
        top = fmax(top, -b->slope[i] * x);
    for (size_t i = 0; i < b->k; i++)
        sum += share[i] = exp(-b->slope[i] * x - top);
    for (size_t i = 0; i < b->k; i++)
        share[i] /= sum;
}

static size_t winner_at(const brute *b, double x)
{
    double share[MOST], most = -INFINITY;
    size_t best = 0;
    shares_at(b, x, share);
    for (size_t j = 0; j < b->k; j++) {
        double score = 0.0;
        for (size_t i = 0; i < b->k; i++)
            score += share[i] * b->gain[i * b->k + j];
        if (score > most) {
            most = score;
            best = j;
        }
    }
    return best;
}

/* A short interval: three-point Gauss where the winner is the same at both ends, else halves. */
static void add_cell(brute *b, double from, double to, size_t at_from, size_t at_to)
{
    static const double node[] = { -0.77459666924148337704, 0.0, 0.77459666924148337704 };
    static const double weight[] = { 5.0 / 9, 8.0 / 9, 5.0 / 9 };
    const double mid = from + (to - from) / 2.0, shortest = 1e-15;
    if (at_from != at_to && to - from > shortest) {
        const size_t at_mid = winner_at(b, mid);
        add_cell(b, from, mid, at_from, at_mid);
        add_cell(b, mid, to, at_mid, at_to);
        return;
    }
    for (size_t s = 0; s < 3; s++) {
        double share[MOST];
        shares_at(b, mid + (to - from) / 2.0 * node[s], share);
        for (size_t i = 0; i < b->k; i++)
            b->confusion[i * b->k + at_from] += weight[s] * (to - from) / 4.0 * share[i];
    }
}

static void by_brute_force(brute *b)
{
    enum { CELLS = 3000 };
    size_t last = winner_at(b, -1.0);
    memset(b->confusion, 0, sizeof b->confusion);
    for (int c = 0; c < CELLS; c++) {
        const double from = -1.0 + 2.0 * c / CELLS, to = -1.0 + 2.0 * (c + 1) / CELLS;
        const size_t next = winner_at(b, to);
        add_cell(b, from, to, last, next);
        last = next;
    }
}

static void compare(const mel_space *space, const brute *b, double tolerance)
{
    double got[MOST * MOST];
    mel_error err;
    assert_ok(mel_space_rule(got, space, b->gain, &err), &err);
    size_t c = 0;
    for (size_t i = 0; i < b->k; i++)
        for (size_t j = 0; j < b->k; j++)
            if (i != j)
                assert_close(got[c++], b->confusion[i * b->k + j], tolerance);
}

static void test_random_rules(void **state)
{
    (void)state;
    enum { RULES = 12 };
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t k = 2; k <= 10; k++)
        for (int rule = 0; rule < RULES; rule++) {
            double slope[MOST], gain[MOST * MOST];
            const double steep = rule % 3 == 0 ? 1.0 : rule % 3 == 1 ? 6.0 : 25.0;
            for (size_t i = 0; i < k; i++)
                slope[i] = steep * (2.0 * mel_rng_uniform(&rng) - 1.0);
            if (rule % 4 == 3 && k > 2)
                slope[1] = slope[0]; /* two classes that x cannot tell apart */
            for (size_t c = 0; c < k * k; c++)
                gain[c] = rule % 2 == 1 && c % (k + 1) != 0 ? 0.0 : mel_rng_normal(&rng);
            brute b = { .k = k, .slope = slope, .gain = gain };
            by_brute_force(&b);
            mel_space *space = population(k, slope, MEL_CONFUSION, MEL_OFFDIAGONAL);
            compare(space, &b, accuracy);
            mel_space_free(space);
        }
}

/* Scores that cross as often as they can: gains from polynomials in exp(-x) with many zeros. */
static void test_many_crossings(void **state)
{
    (void)state;
    enum { K = 8 };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (int t = 0; t < 10; t++) {
        double slope[K], gain[K * K] = { 0 };
        for (size_t i = 0; i < K; i++)
            slope[i] = (double)i;
        for (size_t j = 0; j < K; j++) {
            double c[K] = { 1.0 };
            for (size_t z = 0; z + 1 < K; z++) {
                const double zero = exp(2.0 * mel_rng_uniform(&rng) - 1.0);
                for (size_t i = z + 2; i-- > 0;)
                    c[i] = (i > 0 ? c[i - 1] : 0.0) - zero * c[i];
            }
            for (size_t i = 0; i < K; i++)
                gain[i * K + j] = c[i];
        }
        brute b = { .k = K, .slope = slope, .gain = gain };
        by_brute_force(&b);
        mel_space *space = population(K, slope, MEL_CONFUSION, MEL_OFFDIAGONAL);
        compare(space, &b, accuracy);
        mel_space_free(space);
    }
}

/* --- what is known ---------------------------------------------------------------------------------- */

/* Two classes are the planar population. */
static void test_two_classes(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    for (int t = 0; t < 30; t++) {
        const double a = exp(6.0 * mel_rng_uniform(&rng) - 2.0), shift = mel_rng_normal(&rng);
        const double slope[2] = { shift, a + shift }; /* P(second) = 1/(1 + exp(a x)) */
        double direction[2], got[2];
        mel_space *space = population(2, slope, MEL_CONFUSION, MEL_BINARY);
        mel_face *face = NULL, *own = NULL;
        mel_point want, same;
        mel_error err;
        assert_ok(mel_face_from_logistic(&face, a, 0.0, &err), &err);
        assert_ok(mel_space_face(&own, space, 1, 0, &err), &err);
        mel_rng_sphere(&rng, 2, direction);
        assert_ok(mel_space_linear(got, space, direction, &err), &err);
        assert_ok(mel_face_support(&want, face, direction[0], direction[1], &err), &err);
        assert_ok(mel_face_support(&same, own, direction[0], direction[1], &err), &err);
        assert_close(got[0], want.tp, accuracy);
        assert_close(got[1], want.tn, accuracy);
        assert_close(same.tp, want.tp, accuracy);
        assert_close(same.tn, want.tn, accuracy);
        mel_face_free(face);
        mel_face_free(own);
        mel_space_free(space);
    }
}

/* The steepest slopes that are allowed: class shares by symmetry, and rates of one class predicted. */
static void test_extreme_slopes(void **state)
{
    (void)state;
    static const double slope[] = { -700, 0, 700, -1e-9 };
    mel_space *space = population(4, slope, MEL_RATES, MEL_DIAGONAL);
    const double *share = mel_space_class_share(space);
    double sum = 0.0, got[4];
    mel_error err;
    for (size_t i = 0; i < 4; i++)
        sum += share[i];
    assert_close(sum, 1.0, 1e-14);
    assert_close(share[0], share[2], 1e-12);
    assert_close(share[1], share[3], 1e-12);
    for (size_t j = 0; j < 4; j++) {
        double gain[16] = { 0 };
        for (size_t i = 0; i < 4; i++)
            gain[i * 4 + j] = 1.0;
        assert_ok(mel_space_rule(got, space, gain, &err), &err);
        for (size_t i = 0; i < 4; i++)
            assert_true(got[i] == (i == j ? 1.0 : 0.0));
    }
    mel_space_free(space);
}

/* Only the proportions of gains matter. */
static void test_sizes_of_gains(void **state)
{
    (void)state;
    static const double slope[] = { 1, 3, 5 }, scales[] = { 1.0, 0x1p-900, 0x1p-300, 0x1p1022 };
    mel_space *space = population(3, slope, MEL_CONFUSION, MEL_OFFDIAGONAL);
    double want[6] = { 0 }, got[6];
    mel_error err;
    for (size_t t = 0; t < COUNT(scales); t++) {
        double gain[] = { 1, -0.125, 0, 0, 1.5, 0, 0.25, 0, 1 };
        for (size_t c = 0; c < 9; c++)
            gain[c] *= scales[t];
        assert_ok(mel_space_rule(got, space, gain, &err), &err);
        if (t == 0)
            memcpy(want, got, sizeof want);
        assert_memory_equal(got, want, sizeof want);
    }
    for (size_t c = 0; c < 6; c++)
        assert_true(want[c] > 0.0); /* every class is predicted somewhere */
    mel_space_free(space);
}

/* No rule, whatever its gains, does better than the step. */
static void test_step_is_best(void **state)
{
    (void)state;
    enum { DIRECTIONS = 10, RULES = 1000 };
    static const double slope[] = { 1, 3, 5, -2 };
    mel_rng rng;
    mel_rng_seed(&rng, 9);
    for (int coordinates = MEL_DIAGONAL; coordinates <= MEL_OFFDIAGONAL; coordinates++) {
        mel_space *space = population(4, slope, MEL_RATES, (mel_coordinates)coordinates);
        const size_t size = mel_space_size(space);
        mel_error err;
        for (int d = 0; d < DIRECTIONS; d++) {
            double direction[MOST], at[MOST], gain[16], near[16], best = 0.0;
            mel_rng_sphere(&rng, size, direction);
            mel_space_gains(near, space, direction);
            assert_ok(mel_space_linear(at, space, direction, &err), &err);
            for (size_t c = 0; c < size; c++)
                best += direction[c] * at[c];
            for (int r = 0; r < RULES; r++) {
                double value = 0.0;
                for (size_t c = 0; c < 16; c++)
                    gain[c] = (r % 2 == 0 ? near[c] : 0.0) + mel_rng_normal(&rng);
                assert_ok(mel_space_rule(at, space, gain, &err), &err);
                for (size_t c = 0; c < size; c++)
                    value += direction[c] * at[c];
                assert_true(value <= best + 1e-13);
            }
        }
        mel_space_free(space);
    }
}

/* --- faces ------------------------------------------------------------------------------------------ */

/* Support points against the rule that may predict two classes only, and the polygon against both. */
static void check_face(const mel_space *space, const mel_face *face, size_t k, size_t first, size_t second,
                       mel_rng *rng)
{
    enum { DIRECTIONS = 25 };
    for (int d = 0; d < DIRECTIONS; d++) {
        double m[2], gain[MOST * MOST], got[MOST], polygon = -INFINITY;
        mel_point support;
        mel_error err;
        mel_rng_sphere(rng, 2, m);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                gain[i * k + j] = j == first || j == second ? 0.0 : -1e3;
        gain[first * k + first] = m[0];
        gain[second * k + second] = m[1];
        assert_ok(mel_space_rule(got, space, gain, &err), &err);
        assert_ok(mel_face_support(&support, face, m[0], m[1], &err), &err);
        assert_close(support.tp, got[first], accuracy);
        assert_close(support.tn, got[second], accuracy);
        for (size_t v = 0; v < mel_face_vertices(face); v++) {
            const mel_point p = mel_face_vertex(face, v);
            polygon = fmax(polygon, m[0] * p.tp + m[1] * p.tn);
        }
        const double best = m[0] * support.tp + m[1] * support.tn;
        assert_true(polygon <= best + 1e-14);
        assert_true(polygon >= best - 1e-9);
    }
}

static void test_faces(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 13);
    for (size_t k = 2; k <= 10; k += 2) {
        double slope[MOST];
        for (size_t i = 0; i < k; i++)
            slope[i] = (double)k * mel_rng_normal(&rng);
        mel_space *space = population(k, slope, MEL_CONFUSION, MEL_DIAGONAL);
        for (size_t second = 1; second < k; second++) {
            mel_face *face = NULL;
            mel_error err;
            assert_ok(mel_space_face(&face, space, 0, second, &err), &err);
            assert_close(mel_face_positives(face), mel_space_class_share(space)[0], 1e-12);
            assert_close(mel_face_negatives(face), mel_space_class_share(space)[second], 1e-12);
            check_face(space, face, k, 0, second, &rng);
            mel_face_free(face);
        }
        mel_space_free(space);
    }
}

/* Points, mixtures, projections and thresholds of such a face go together as on any other. */
static void test_face_points(void **state)
{
    (void)state;
    static const double slope[] = { 1, 3, 5, 0.25 };
    mel_space *space = population(4, slope, MEL_CONFUSION, MEL_DIAGONAL);
    mel_face *face = NULL;
    mel_error err;
    mel_rng rng;
    mel_rng_seed(&rng, 15);
    assert_ok(mel_space_face(&face, space, 2, 1, &err), &err);
    mel_space_free(space); /* the face is on its own */
    for (int t = 0; t < 500; t++) {
        mel_mixture mixture;
        mel_point p = mel_face_random(face, &rng);
        if (t % 2 == 1) { /* and some of the boundary */
            double m[2];
            mel_rng_sphere(&rng, 2, m);
            assert_ok(mel_face_support(&p, face, m[0], m[1], &err), &err);
        }
        assert_true(mel_face_contains(face, p, 1e-13));
        assert_ok(mel_face_achieve(&mixture, face, p, &err), &err);
        const mel_point again = mel_face_mixture(face, &mixture);
        assert_close(again.tp, p.tp, 1e-12);
        assert_close(again.tn, p.tn, 1e-12);
    }
    const mel_rule plug_in = mel_plug_in_rule(0.7, 0.3);
    mel_point support;
    assert_ok(mel_face_support(&support, face, 0.7, 0.3, &err), &err);
    assert_close(mel_face_rule(face, plug_in).tp, support.tp, accuracy);
    assert_close(mel_face_rule(face, plug_in).tn, support.tn, accuracy);
    mel_face_free(face);
}

/* Classes with the same slope: a segment. */
static void test_flat_face(void **state)
{
    (void)state;
    static const double slope[] = { 2, 5, 2 };
    mel_space *space = population(3, slope, MEL_CONFUSION, MEL_DIAGONAL);
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_space_face(&face, space, 0, 2, &err), &err);
    assert_int_equal(mel_face_vertices(face), 2);
    assert_true(mel_face_area(face) == 0.0);
    mel_face_free(face);
    mel_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_rules),   cmocka_unit_test(test_many_crossings),
        cmocka_unit_test(test_two_classes),    cmocka_unit_test(test_extreme_slopes),
        cmocka_unit_test(test_sizes_of_gains), cmocka_unit_test(test_step_is_best),
        cmocka_unit_test(test_faces),          cmocka_unit_test(test_face_points),
        cmocka_unit_test(test_flat_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
