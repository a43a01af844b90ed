/* Feasibility on random samples and populations: what is achieved is achieved, what is refused is refused
 * with a plane that no classifier crosses, and segments end where they should. */
#include "space/shared.h"
#include "support/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RULES = 10000, BANK = 7000, MOST = 64 };

static const test_setting settings[] = {
    { 3, 0, 200, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 },
    { 3, 0, 200, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 2 },
    { 4, 0, 300, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_MODEL, 1 },
    { 4, 0, 300, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_LABELS, 3 },
    { 5, 0, 300, MEL_CONFUSION, MEL_DIAGONAL, MEL_BY_LABELS, 2 },
    { 5, 0, 300, MEL_RATES, MEL_DIAGONAL, MEL_BY_MODEL, 2 },
    { 3, 2, 300, MEL_RATES, MEL_OFFDIAGONAL, MEL_BY_LABELS, 2 },
    { 3, 3, 400, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_MODEL, 2 },
    { 4, 2, 300, MEL_RATES, MEL_DIAGONAL, MEL_BY_MODEL, 2 },
    { 2, 0, 200, MEL_RATES, MEL_BINARY, MEL_BY_LABELS, 1 },
    { 2, 2, 200, MEL_CONFUSION, MEL_OFFDIAGONAL, MEL_BY_LABELS, 1 },
};

/* A space, its size, and the statistics of many random rules. */
typedef struct {
    test_classes classes;
    mel_space *space;
    size_t size, cells; /* of all groups */
    double centre[MOST];
    double *bank; /* BANK x size */
    mel_rng rng;
} stage;

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double distance(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Gaussian matrices, or positive weights of the classes. */
static void random_gain(double *gain, stage *s, bool diagonal)
{
    const size_t k = mel_space_layout(s->space)->n_classes;
    for (size_t c = 0; c < s->cells; c++)
        gain[c] = !diagonal                    ? mel_rng_normal(&s->rng)
                  : c % (k * k) % (k + 1) == 0 ? mel_rng_gamma(&s->rng, 1)
                                               : 0.0;
}

static void stage_fill(stage *s)
{
    double gain[2 * MOST];
    s->size = mel_space_size(s->space);
    const mel_layout *layout = mel_space_layout(s->space);
    s->cells = layout->n_classes * layout->n_classes * (layout->n_groups > 1 ? layout->n_groups : 1);
    assert_true(s->size <= MOST && s->cells <= (size_t)2 * MOST);
    mel_space_centre(s->centre, s->space);
    s->bank = malloc((size_t)BANK * s->size * sizeof *s->bank);
    assert_non_null(s->bank);
    for (size_t r = 0; r < BANK; r++) {
        random_gain(gain, s, r % 2 == 1);
        assert_ok(mel_space_rule(s->bank + r * s->size, s->space, gain, NULL), NULL);
    }
}

static void stage_open(stage *s, const test_setting *set, uint64_t seed)
{
    *s = (stage){ 0 };
    mel_rng_seed(&s->rng, seed);
    s->space = test_setting_open(&s->classes, set, &s->rng);
    stage_fill(s);
}

static void stage_close(stage *s)
{
    free(s->bank);
    mel_space_free(s->space);
    if (s->classes.probability != NULL)
        test_classes_clear(&s->classes);
}

static bool is_exact(const stage *s)
{
    return mel_space_rows(s->space) == 0 || mel_space_evidence(s->space) == MEL_BY_MODEL;
}

/* Whatever the answer: the mixture achieves `closest`, with few rules in order. */
static void check_blend(const stage *s, const mel_feasibility *found, const double *point)
{
    double again[MOST], sum = 0;
    assert_true(found->blend.n_rules >= 1 && found->blend.n_rules <= s->size + 1);
    for (size_t r = 0; r < found->blend.n_rules; r++) {
        assert_true(found->blend.share[r] > 0);
        assert_true(r == 0 || found->blend.share[r] <= found->blend.share[r - 1]);
        sum += found->blend.share[r];
    }
    assert_close(sum, 1, 1e-12);
    test_space_blend(again, s->space, &found->blend);
    assert_close(distance(s->size, again, found->closest), 0, 1e-12);
    assert_close(found->distance, distance(s->size, found->closest, point), 1e-15);
}

/* No random rule crosses the plane; where the margin is proved none even enters it. */
static void check_certificate(stage *s, const mel_feasibility *found, const double *point)
{
    double own[2 * MOST], gain[2 * MOST], at[MOST];
    const double level = dot(s->size, found->direction, point), rounding = 1e-12;
    const double bound = found->proved ? level - found->margin + rounding : level;
    assert_close(dot(s->size, found->direction, found->direction), 1, 1e-12);
    assert_true(found->margin > 0);
    assert_true(found->margin <= found->distance * (1 + 1e-9));
    for (size_t r = 0; r < BANK; r++)
        assert_true(dot(s->size, found->direction, s->bank + r * s->size) < bound);
    mel_space_gains(own, s->space, found->direction);
    const double norm = sqrt(dot(s->cells, own, own) / (double)s->cells);
    for (size_t r = BANK; r < RULES; r++) {
        const double scale = norm * pow(10, -3 + 3 * mel_rng_uniform(&s->rng));
        for (size_t c = 0; c < s->cells; c++)
            gain[c] = own[c] + scale * mel_rng_normal(&s->rng);
        assert_ok(mel_space_rule(at, s->space, gain, NULL), NULL);
        assert_true(dot(s->size, found->direction, at) < bound);
    }
}

static void check_inside(stage *s, double delta)
{
    double share[4 * MOST], point[MOST] = { 0 };
    const size_t rules = 3 * s->size;
    mel_feasibility found;
    mel_error err;
    mel_rng_dirichlet(&s->rng, rules, NULL, share);
    for (size_t r = 0; r < rules; r++) {
        const double *at = s->bank + mel_rng_below(&s->rng, BANK) * s->size;
        for (size_t c = 0; c < s->size; c++)
            point[c] += share[r] * at[c];
    }
    assert_ok(mel_space_achieve(&found, s->space, point, delta, NULL, &err), &err);
    assert_true(found.feasible && found.distance <= delta);
    assert_null(found.direction);
    check_blend(s, &found, point);
    mel_feasibility_clear(&found);
}

/* Beyond the best point of a direction; exact spaces: the distance is known. */
static void check_outside(stage *s, double beyond)
{
    double direction[MOST], point[MOST];
    mel_feasibility found;
    mel_error err;
    mel_rng_sphere(&s->rng, s->size, direction);
    assert_ok(mel_space_linear(point, s->space, direction, NULL), NULL);
    for (size_t c = 0; c < s->size; c++)
        point[c] += beyond * direction[c];
    assert_ok(mel_space_achieve(&found, s->space, point, 1e-6, NULL, &err), &err);
    check_blend(s, &found, point);
    assert_int_equal(found.feasible, found.distance <= 1e-6);
    if (is_exact(s)) {
        assert_false(found.feasible);
        assert_true(found.proved && found.tried == 0);
        assert_close(found.distance, beyond, 2e-7 * beyond);
        assert_close(found.margin, beyond, 2e-7 * beyond);
    } else {
        assert_true(found.feasible || found.proved || found.tried > 0);
    }
    if (!found.feasible)
        check_certificate(s, &found, point);
    mel_feasibility_clear(&found);
}

static void check_end(stage *s, const double *end, double delta)
{
    double beyond[MOST];
    mel_feasibility found;
    mel_error err;
    /* The end is within delta, up to the rounding of sums over rows. */
    assert_ok(mel_space_achieve(&found, s->space, end, delta * 1.01, NULL, &err), &err);
    assert_true(found.feasible);
    mel_feasibility_clear(&found);
    if (!is_exact(s))
        return;
    for (size_t c = 0; c < s->size; c++)
        beyond[c] = s->centre[c] + 1.001 * (end[c] - s->centre[c]);
    assert_ok(mel_space_achieve(&found, s->space, beyond, delta, NULL, &err), &err);
    assert_false(found.feasible);
    mel_feasibility_clear(&found);
}

static void check_segment(stage *s)
{
    const double delta = 1e-7;
    double direction[MOST], a[MOST], b[MOST];
    mel_error err;
    mel_rng_sphere(&s->rng, s->size, direction);
    assert_ok(mel_space_segment(a, b, s->space, direction, delta, &err), &err);
    for (int side = 0; side < 2; side++) {
        const double *end = side == 0 ? a : b;
        const double length = distance(s->size, end, s->centre);
        assert_true(length > 0);
        for (size_t c = 0; c < s->size; c++)
            assert_close(end[c], s->centre[c] + (side == 0 ? length : -length) * direction[c], 1e-12);
        check_end(s, end, delta);
    }
}

static void check_stage(stage *s)
{
    static const double deltas[] = { 1e-3, 1e-6, 1e-9 };
    for (size_t i = 0; i < COUNT(deltas); i++)
        check_inside(s, deltas[i]);
    for (int i = 0; i < 4; i++)
        check_outside(s, pow(10, -1 - i));
    for (int i = 0; i < 2; i++)
        check_segment(s);
}

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        stage s;
        stage_open(&s, &settings[i], 100 + i);
        check_stage(&s);
        stage_close(&s);
    }
}

static void test_populations(void **state)
{
    (void)state;
    static const double slope[] = { 1, 3, 6, 10 };
    for (size_t k = 2; k <= 4; k++)
        for (int coordinates = MEL_DIAGONAL; coordinates <= MEL_OFFDIAGONAL; coordinates++) {
            const mel_space_options opt = test_space_options(k % 2 == 0 ? MEL_RATES : MEL_CONFUSION,
                                                             (mel_coordinates)coordinates, MEL_BY_LABELS, 1);
            stage s = { 0 };
            mel_error err;
            mel_rng_seed(&s.rng, k);
            assert_ok(mel_space_from_softmax(&s.space, k, slope, &opt, &err), &err);
            stage_fill(&s);
            check_stage(&s);
            stage_close(&s);
        }
}

/* The centre itself, and points of very thin or very far places. */
static void test_special_points(void **state)
{
    (void)state;
    stage s;
    mel_feasibility found;
    mel_error err;
    stage_open(&s, &settings[2], 7);
    assert_ok(mel_space_achieve(&found, s.space, s.centre, 1e-12, NULL, &err), &err);
    assert_true(found.feasible);
    check_blend(&s, &found, s.centre);
    mel_feasibility_clear(&found);
    double far[MOST];
    for (size_t c = 0; c < s.size; c++)
        far[c] = c % 2 == 0 ? 1e6 : -1e6;
    assert_ok(mel_space_achieve(&found, s.space, far, 1e-3, NULL, &err), &err);
    assert_false(found.feasible);
    assert_true(found.margin > 1e6);
    mel_feasibility_clear(&found);
    assert_ok(mel_space_achieve(&found, s.space, s.bank, 1e-9, NULL, &err), &err); /* a rule as it is */
    assert_true(found.feasible);
    mel_feasibility_clear(&found);
    stage_close(&s);
}

static void assert_same(size_t n, const double *a, const double *b)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

static void test_threads(void **state)
{
    (void)state;
    test_classes classes;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    test_classes_make(&classes, &rng, 5000, 3, 2, 2, 0);
    for (int evidence = 0; evidence < 2; evidence++) {
        mel_feasibility found[2];
        double a[2][MOST], b[2][MOST], point[MOST], direction[MOST];
        mel_rng_sphere(&rng, 12, direction);
        for (int i = 0; i < 2; i++) {
            const mel_space_options opt =
                test_space_options(MEL_RATES, MEL_OFFDIAGONAL, (mel_evidence)evidence, i == 0 ? 1 : 3);
            mel_space *space = test_classes_space(&classes, &opt);
            mel_error err;
            if (i == 0) {
                assert_ok(mel_space_linear(point, space, direction, NULL), NULL);
                for (size_t c = 0; c < 12; c++)
                    point[c] += 0.01 * direction[c];
            }
            assert_ok(mel_space_achieve(&found[i], space, point, 1e-4, NULL, &err), &err);
            assert_ok(mel_space_segment(a[i], b[i], space, direction, 1e-6, &err), &err);
            mel_space_free(space);
        }
        assert_int_equal(found[0].blend.n_rules, found[1].blend.n_rules);
        assert_int_equal(found[0].feasible, found[1].feasible);
        assert_int_equal(found[0].steps, found[1].steps);
        assert_int_equal(found[0].tried, found[1].tried);
        assert_same(12, found[0].closest, found[1].closest);
        assert_same(found[0].blend.n_rules, found[0].blend.share, found[1].blend.share);
        assert_same(found[0].blend.n_rules * 18, found[0].blend.gain, found[1].blend.gain);
        assert_same(12, a[0], a[1]);
        assert_same(12, b[0], b[1]);
        mel_feasibility_clear(&found[0]);
        mel_feasibility_clear(&found[1]);
    }
    test_classes_clear(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_populations),
        cmocka_unit_test(test_special_points),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
