/* Statistics of rules, mixtures and decisions on random samples against a loop over the rows. */
#include "support/classes.h"

#include "space/shared.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 4096 };
static const double rounding = 1e-12;

typedef struct {
    size_t n, k, m;
    unsigned levels;
} shape;

static const shape shapes[] = {
    /* slices have 1024 rows or more */
    { 7, 2, 0, 0 },   { 60, 2, 3, 2 },   { 300, 3, 0, 3 },  { 129, 4, 1, 0 },  { 500, 5, 2, 4 },
    { 700, 8, 3, 0 }, { 2100, 9, 0, 2 }, { 400, 10, 2, 0 }, { 300, 17, 0, 0 }, { 200, 26, 2, 3 },
    { 40, 33, 0, 0 }, { 4300, 3, 2, 0 }, { 4100, 6, 0, 0 }, { 3000, 2, 0, 5 },
};

/* Gains: anything; diagonal; with columns that tie. */
static void draw_gains(double *gain, mel_rng *rng, size_t groups, size_t k, int kind)
{
    for (size_t c = 0; c < groups * k * k; c++)
        gain[c] = kind == 1 && c % (k * k) % (k + 1) != 0 ? 0.0 : mel_rng_normal(rng);
    for (size_t g = 0; kind == 2 && g < groups; g++)
        for (size_t i = 0; i < k; i++)
            gain[(g * k + i) * k + k - 1] = gain[(g * k + i) * k];
}

static void compare(const double *got, const double *want, size_t n)
{
    for (size_t c = 0; c < n; c++)
        assert_close(got[c], want[c], rounding);
}

static void check_rules(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    const size_t k = c->sample.n_classes, groups = c->sample.n_groups > 1 ? c->sample.n_groups : 1;
    static double gain[MOST_CELLS], got[MOST_CELLS], want[MOST_CELLS];
    double *decision = calloc(c->sample.n_rows * k, sizeof *decision);
    mel_space *space = test_classes_space(c, opt);
    mel_workspace *ws = NULL;
    mel_error err;
    assert_ok(mel_workspace_new(&ws, space, &err), &err);
    for (int kind = 0; kind < 3; kind++) {
        draw_gains(gain, rng, groups, k, kind);
        test_classes_decide(decision, c, gain);
        test_classes_statistics(want, c, opt, decision);
        assert_ok(mel_space_rule(got, space, gain, &err), &err);
        compare(got, want, mel_space_size(space));
        for (size_t g = 0; g < groups; g++) { /* one group alone */
            mel_space_step_rule(got, space, g, gain + g * k * k, ws);
            compare(got, want + g * space->group_size, space->group_size);
        }
    }
    mel_workspace_free(ws);
    mel_space_free(space);
    free(decision);
}

/* Moves rows of one group between two classes by the scores themselves. */
static void move_boundary(double *decision, const test_classes *c, const double *gain, size_t group,
                          const size_t class[2], double factor)
{
    const size_t k = c->sample.n_classes;
    for (size_t r = 0; r < c->sample.n_rows; r++) {
        double *d = decision + r * k, score[2] = { 0.0, 0.0 };
        if ((c->sample.n_groups > 1 && c->sample.group[r] != group) || d[class[0]] + d[class[1]] == 0.0)
            continue;
        for (size_t s = 0; s < 2; s++)
            for (size_t i = 0; i < k; i++)
                score[s] += c->probability[r * k + i] * gain[(group * k + i) * k + class[s]];
        d[class[0]] = factor * score[0] > score[1];
        d[class[1]] = 1.0 - d[class[0]];
    }
}

/* Only the boundary between two classes moves, in one group: entries of other predictions stay. */
static void check_swaps(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    const size_t k = c->sample.n_classes, groups = c->sample.n_groups > 1 ? c->sample.n_groups : 1;
    static double gain[MOST_CELLS], got[MOST_CELLS], want[MOST_CELLS];
    double *decision = calloc(c->sample.n_rows * k, sizeof *decision);
    mel_space *space = test_classes_space(c, opt);
    mel_error err;
    for (int kind = 0; kind < 2; kind++) {
        const size_t group = mel_rng_below(rng, groups), first = mel_rng_below(rng, k),
                     class[2] = { first, (first + 1 + mel_rng_below(rng, k - 1)) % k };
        draw_gains(gain, rng, groups, k, kind);
        test_classes_decide(decision, c, gain);
        move_boundary(decision, c, gain, group, class, 1.7);
        test_classes_statistics(want, c, opt, decision);
        assert_ok(mel_space_swap(got, space, gain, group, class[0], class[1], 1.7, &err), &err);
        compare(got, want, mel_space_size(space));
    }
    mel_space_free(space);
    free(decision);
}

static void each_layout(void (*check)(const test_classes *, const mel_space_options *, mel_rng *))
{
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    for (size_t s = 0; s < COUNT(shapes); s++) {
        test_classes c;
        test_classes_make(&c, &rng, shapes[s].n, shapes[s].k, shapes[s].m, 1.5, shapes[s].levels);
        for (int kind = 0; kind < 2; kind++)
            for (int coordinates = 0; coordinates < 3; coordinates++)
                for (int evidence = 0; evidence < 2; evidence++) {
                    const mel_space_options opt =
                        test_space_options((mel_statistics_kind)kind, (mel_coordinates)coordinates,
                                           (mel_evidence)evidence, 1 + (int)mel_rng_below(&rng, 3));
                    if (coordinates != MEL_BINARY || shapes[s].k == 2)
                        check(&c, &opt, &rng);
                }
        test_classes_clear(&c);
    }
}

static void test_rules(void **state)
{
    (void)state;
    each_layout(check_rules);
}

static void test_swaps(void **state)
{
    (void)state;
    each_layout(check_swaps);
}

/* Randomised decisions, mixtures of rules, the uniform classifier. */
static void check_mixtures(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    enum { RULES = 3 };
    const size_t n = c->sample.n_rows, k = c->sample.n_classes;
    const size_t groups = c->sample.n_groups > 1 ? c->sample.n_groups : 1, cells = groups * k * k;
    static double gain[RULES * MOST_CELLS], got[MOST_CELLS], want[MOST_CELLS];
    double share[RULES] = { 0.5, 0.3, 0.2 };
    double *decision = calloc(n * k, sizeof *decision), *mixed = calloc(n * k, sizeof *mixed);
    mel_space *space = test_classes_space(c, opt);
    draw_gains(gain, rng, RULES * groups, k, 0);
    for (size_t r = 0; r < RULES; r++) {
        test_classes_decide(decision, c, gain + r * cells);
        for (size_t d = 0; d < n * k; d++)
            mixed[d] += share[r] * decision[d];
    }
    test_classes_statistics(want, c, opt, mixed);
    const mel_blend blend = { RULES, k, c->sample.n_groups, gain, share };
    test_space_blend(got, space, &blend);
    compare(got, want, mel_space_size(space));
    for (size_t r = 0; r < n; r++)
        mel_rng_dirichlet(rng, k, NULL, mixed + r * k);
    test_classes_statistics(want, c, opt, mixed);
    test_space_decisions(got, space, mixed);
    compare(got, want, mel_space_size(space));
    for (size_t d = 0; d < n * k; d++)
        mixed[d] = 1.0 / (double)k;
    test_classes_statistics(want, c, opt, mixed);
    mel_space_centre(got, space);
    compare(got, want, mel_space_size(space));
    mel_space_free(space);
    free(decision);
    free(mixed);
}

static void test_mixtures(void **state)
{
    (void)state;
    each_layout(check_mixtures);
}

static void check_shares(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    (void)rng;
    const size_t n = c->sample.n_rows, k = c->sample.n_classes;
    mel_space *space = test_classes_space(c, opt);
    const double *share = mel_space_class_share(space), *prevalence = mel_space_prevalence(space);
    assert_int_equal(prevalence != NULL, c->sample.n_groups > 1);
    for (size_t i = 0; i < k; i++) {
        double class = 0.0, group[8] = { 0 };
        for (size_t r = 0; r < n; r++) {
            const double is = opt->evidence == MEL_BY_MODEL ? c->probability[r * k + i] : (c->label[r] == i);
            class += is;
            group[c->group[r]] += is;
        }
        assert_close(share[i], class / (double)n, rounding);
        for (size_t g = 0; prevalence != NULL && g < c->sample.n_groups; g++)
            assert_close(prevalence[g * k + i], group[g] / class, rounding);
    }
    mel_space_free(space);
}

static void test_shares(void **state)
{
    (void)state;
    each_layout(check_shares);
}

/* The step is the rule with the gains of its direction, in all groups and in each. */
static void check_linear(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    static double direction[MOST_CELLS], gain[MOST_CELLS], own[MOST_CELLS], got[MOST_CELLS], want[MOST_CELLS];
    const size_t k = c->sample.n_classes, groups = c->sample.n_groups > 1 ? c->sample.n_groups : 1;
    mel_space *space = test_classes_space(c, opt);
    mel_workspace *ws = NULL;
    mel_error err;
    mel_rng_sphere(rng, mel_space_size(space), direction);
    mel_space_gains(gain, space, direction);
    assert_ok(mel_space_rule(want, space, gain, &err), &err);
    assert_ok(mel_space_linear(got, space, direction, &err), &err);
    assert_memory_equal(got, want, mel_space_size(space) * sizeof *got);
    assert_ok(mel_workspace_new(&ws, space, &err), &err);
    for (size_t g = 0; g < groups; g++) {
        mel_space_step(got, own, space, g, direction + g * space->group_size, ws);
        assert_memory_equal(own, gain + g * k * k, k * k * sizeof *own);
        assert_memory_equal(got, want + g * space->group_size, space->group_size * sizeof *got);
    }
    mel_space_step(got, NULL, space, MEL_ALL_GROUPS, direction, ws);
    assert_memory_equal(got, want, mel_space_size(space) * sizeof *got);
    /* <direction, statistics> is <gain, confusion> for whatever decisions. */
    double by_gain = 0.0, by_direction = 0.0;
    const mel_space_options all = test_space_options(MEL_CONFUSION, MEL_OFFDIAGONAL, opt->evidence, 1);
    const mel_space_options diagonal = test_space_options(MEL_CONFUSION, MEL_DIAGONAL, opt->evidence, 1);
    double *decision = calloc(c->sample.n_rows * k, sizeof *decision);
    for (size_t r = 0; r < c->sample.n_rows; r++)
        mel_rng_dirichlet(rng, k, NULL, decision + r * k);
    test_classes_statistics(own, c, opt, decision);
    for (size_t i = 0; i < mel_space_size(space); i++)
        by_direction += direction[i] * own[i];
    test_classes_statistics(own, c, &all, decision);
    test_classes_statistics(got, c, &diagonal, decision);
    for (size_t cell = 0, off = 0, on = 0; cell < groups * k * k; cell++)
        by_gain += gain[cell] * (cell % (k * k) % (k + 1) == 0 ? got[on++] : own[off++]);
    assert_close(by_gain, by_direction, 1e-10);
    free(decision);
    mel_workspace_free(ws);
    mel_space_free(space);
}

static void test_linear(void **state)
{
    (void)state;
    each_layout(check_linear);
}

/* Bit for bit the same with 1, 2, 3 and 7 threads. */
static void check_threads(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    static double direction[MOST_CELLS], got[MOST_CELLS], want[MOST_CELLS];
    static const int threads[] = { 1, 2, 3, 7 };
    for (size_t t = 0; t < COUNT(threads); t++) {
        mel_space_options own = *opt;
        own.threads = threads[t];
        mel_space *space = test_classes_space(c, &own);
        mel_error err;
        const size_t size = mel_space_size(space);
        if (t == 0)
            mel_rng_sphere(rng, size, direction);
        assert_ok(mel_space_linear(got, space, direction, &err), &err);
        if (t == 0)
            memcpy(want, got, size * sizeof *got);
        assert_memory_equal(got, want, size * sizeof *got);
        mel_space_free(space);
    }
}

static void test_threads(void **state)
{
    (void)state;
    each_layout(check_threads);
}

/* Predictions of the rows reproduce the statistics, bit for bit by labels. */
static void check_predictions(const test_classes *c, const mel_space_options *opt, mel_rng *rng)
{
    static double gain[MOST_CELLS], got[MOST_CELLS], want[MOST_CELLS];
    const size_t n = c->sample.n_rows, k = c->sample.n_classes;
    const size_t groups = c->sample.n_groups > 1 ? c->sample.n_groups : 1;
    uint32_t *prediction = calloc(n, sizeof *prediction);
    double *decision = calloc(n * k, sizeof *decision);
    mel_space *space = test_classes_space(c, opt);
    mel_error err;
    for (int kind = 0; kind < 3; kind++) {
        draw_gains(gain, rng, groups, k, kind);
        assert_ok(mel_rule_predict(prediction, n, k, c->sample.n_groups, c->probability, c->sample.group,
                                   gain, &err),
                  &err);
        memset(decision, 0, n * k * sizeof *decision);
        for (size_t r = 0; r < n; r++) {
            assert_true(prediction[r] < k);
            decision[r * k + prediction[r]] = 1.0;
        }
        test_space_decisions(got, space, decision);
        assert_ok(mel_space_rule(want, space, gain, &err), &err);
        if (opt->evidence == MEL_BY_LABELS)
            assert_memory_equal(got, want, mel_space_size(space) * sizeof *got);
        compare(got, want, mel_space_size(space));
    }
    free(prediction);
    free(decision);
    mel_space_free(space);
}

static void test_predictions(void **state)
{
    (void)state;
    each_layout(check_predictions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_swaps),  cmocka_unit_test(test_mixtures),
        cmocka_unit_test(test_shares),      cmocka_unit_test(test_linear), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
