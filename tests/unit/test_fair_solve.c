/* The solvers of fair metrics with exact slopes, and the sets of groups behind them. */
#include "support/fair.h"

#include "base/la.h"
#include "elicit/search/fair.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 12 };

/* --- sets of groups ------------------------------------------------------------------------------ */

static void test_subsets(void **state)
{
    (void)state;
    static const double condition[] = { 1.0, 2.0, 3.0 + 2.8284271247461903, 6.0, 4.0, 5.0, 6.0, 7.0 };
    for (size_t m = 2; m < 2 + COUNT(condition); m++) {
        const size_t n = m * (m - 1) / 2;
        bool *member = malloc(n * m * sizeof *member);
        double *cut = malloc(n * n * sizeof *cut), *values = malloc(n * sizeof *values);
        double *vt = malloc(n * n * sizeof *vt);
        mel_error err;
        mel_subsets(member, m);
        for (size_t s = 0; s < n; s++) {
            size_t inside = 0;
            for (size_t g = 0; g < m; g++)
                inside += member[s * m + g];
            assert_true(inside == 1 || inside == 2);
            mel_subset_cuts(cut + s * n, member + s * m, m);
        }
        assert_ok(mel_svd(n, n, cut, n, values, vt, &err), &err);
        print_message("  %zu groups: condition number %.3f\n", m, values[0] / values[n - 1]);
        assert_close(values[0] / values[n - 1], condition[m - 2], 1e-9);
        free(member);
        free(cut);
        free(values);
        free(vt);
    }
}

/* All pairs of four groups: a pair and the other two are the same cut. */
static void test_all_pairs_of_four(void **state)
{
    (void)state;
    double cut[36], sum[6] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 }, block[6];
    size_t row = 0;
    for (size_t u = 0; u < 4; u++)
        for (size_t v = u + 1; v < 4; v++, row++) {
            bool member[4] = { false };
            member[u] = member[v] = true;
            mel_subset_cuts(cut + 6 * row, member, 4);
        }
    mel_error err;
    assert_int_equal(mel_fair_split(block, 6, 6, cut, 1, sum, &err), MEL_ENUMERIC);
    assert_string_equal(err.text, "these sets of groups do not tell all pairs apart");
}

static void test_half(void **state)
{
    (void)state;
    for (size_t m = 2; m <= 8; m++) {
        bool member[8];
        double cut[28], cuts = 0.0;
        mel_subset_half(member, m);
        mel_subset_cuts(cut, member, m);
        for (size_t p = 0; p < m * (m - 1) / 2; p++)
            cuts += cut[p];
        const size_t inside = m / 2;
        assert_int_equal((size_t)cuts, inside * (m - inside));
    }
}

/* --- exact slopes -------------------------------------------------------------------------------- */

typedef struct {
    test_fair_kind kind;
    size_t q, pairs, n_blocks, n_sets, n_places, block, n;
    bool *member;
    double *tau, *share, *side, *cut, *slope, *truth, *found;
} problem;

static size_t predicted(size_t k, size_t i)
{
    const size_t of = i / (k - 1), j = i % (k - 1);
    return j + (j >= of);
}

static void fill_tau(problem *p, mel_rng *rng)
{
    double *prevalence = malloc(p->kind.m * p->kind.k * sizeof *prevalence);
    test_fair_prevalence(prevalence, p->kind, rng);
    for (size_t g = 0; g < p->kind.m; g++)
        for (size_t i = 0; i < p->q; i++)
            p->tau[g * p->q + i] = prevalence[g * p->kind.k + i / (p->kind.k - 1)];
    free(prevalence);
}

static void fill_place(problem *p, size_t place, size_t set, size_t class_code)
{
    const size_t m = p->kind.m;
    double cuts[MOST_GROUPS * (MOST_GROUPS - 1) / 2] = { 0.0 }, sum = 0.0;
    for (size_t i = 0; i < p->q; i++) {
        p->share[place * p->q + i] = set == SIZE_MAX ? 1.0 : 0.0;
        for (size_t g = 0; g < m && set != SIZE_MAX; g++)
            p->share[place * p->q + i] += p->member[set * m + g] ? p->tau[g * p->q + i] : 0.0;
        p->side[place * p->q + i] = predicted(p->kind.k, i) == class_code ? -1.0 : 1.0;
    }
    if (set != SIZE_MAX)
        mel_subset_cuts(cuts, p->member + set * m, m);
    for (size_t c = 0; c < p->pairs; c++)
        sum += cuts[c];
    for (size_t c = 0; c < p->n_blocks; c++)
        p->cut[place * p->n_blocks + c] = p->n_blocks == p->pairs ? cuts[c] : sum;
}

static void problem_init(problem *p, test_fair_kind kind, bool alike, double lambda, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    const size_t q = test_fair_rates(kind), m = kind.m, pairs = mel_group_pairs(m);
    *p = (problem){ .kind = kind, .q = q, .pairs = pairs, .block = test_fair_block(kind) };
    p->n_blocks = p->n_sets = alike ? 1 : pairs;
    p->n_places = kind.quadratic ? p->n_sets : 1 + 2 * p->n_sets;
    p->n = test_fair_coefficients(kind);
    p->member = malloc(pairs * m * sizeof *p->member);
    p->tau = malloc(m * q * sizeof *p->tau);
    p->share = malloc(p->n_places * q * sizeof *p->share);
    p->side = malloc(p->n_places * q * sizeof *p->side);
    p->cut = malloc(p->n_places * p->n_blocks * sizeof *p->cut);
    p->slope = malloc(p->n_places * (q + 2) * q * sizeof *p->slope);
    p->truth = malloc(p->n * sizeof *p->truth);
    p->found = malloc(p->n * sizeof *p->found);
    if (alike)
        mel_subset_half(p->member, m);
    else
        mel_subsets(p->member, m);
    fill_tau(p, &rng);
    for (size_t s = 0; s < p->n_places; s++)
        if (kind.quadratic)
            fill_place(p, s, s, 0);
        else
            fill_place(p, s, s == 0 ? SIZE_MAX : (s - 1) / 2, s % 2 == 1 ? 0 : kind.k - 1);
    test_fair_draw(p->truth, kind, lambda, &rng);
}

static void problem_clear(problem *p)
{
    free(p->member);
    free(p->tau);
    free(p->share);
    free(p->side);
    free(p->cut);
    free(p->slope);
    free(p->truth);
    free(p->found);
}

static void unit(size_t n, double *x)
{
    const double norm = mel_norm2(n, x);
    mel_scale(n, norm > 0.0 ? 1.0 / norm : 0.0, x);
}

/* Block c of the truth; with all pairs alike the first stands for all. */
static const double *block_of(const problem *p, size_t c)
{
    return p->truth + p->q + c * p->block;
}

static void linear_slopes(problem *p)
{
    const double lambda = p->truth[p->n - 1];
    for (size_t s = 0; s < p->n_places; s++) {
        double *slope = p->slope + s * p->q;
        for (size_t i = 0; i < p->q; i++) {
            slope[i] = (1.0 - lambda) * p->share[s * p->q + i] * p->truth[i];
            for (size_t c = 0; c < p->n_blocks; c++)
                slope[i] += lambda * p->side[s * p->q + i] * p->cut[s * p->n_blocks + c] * block_of(p, c)[i];
        }
        unit(p->q, slope);
    }
}

static const double step = 0.15;

static void quadratic_slopes(problem *p)
{
    const size_t q = p->q;
    const double lambda = p->truth[p->n - 1];
    for (size_t s = 0; s < p->n_places; s++)
        for (size_t place = 0; place < q + 2; place++) {
            double *slope = p->slope + (s * (q + 2) + place) * q;
            const double length = place == 0 ? 0.0 : place <= q ? step : -step;
            const size_t axis = place == 0 || place > q ? 0 : place - 1;
            for (size_t i = 0; i < q; i++) {
                slope[i] = (1.0 - lambda) * p->share[s * q + i] * p->truth[i];
                for (size_t c = 0; c < p->n_blocks; c++)
                    slope[i] += lambda * length * p->cut[s * p->n_blocks + c] * block_of(p, c)[i * q + axis];
            }
            unit(q, slope);
        }
}

/* How far (1 - lambda) a and lambda b are from what was found, both at length 1. */
static double off(problem *p)
{
    const size_t n = p->q + p->n_blocks * p->block;
    const double lambda = p->truth[p->n - 1];
    mel_scale(p->q, 1.0 - lambda, p->truth);
    mel_scale(n - p->q, lambda, p->truth + p->q);
    unit(n, p->truth);
    unit(n, p->found);
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(p->found[i] - p->truth[i]));
    return most;
}

typedef enum { SQUARES, KNOWN, FREE, WAYS } way;
static const char *const way_names[] = { "squares", "costs known", "no rules" };

static mel_status solve(problem *p, way how, mel_error *err)
{
    signed char sign[20];
    for (size_t i = 0; i < p->q; i++)
        sign[i] = 1;
    if (p->kind.quadratic) {
        const mel_fair_sets sets = { .q = p->q,
                                     .n_sets = p->n_sets,
                                     .n_blocks = p->n_blocks,
                                     .share = p->share,
                                     .cut = p->cut,
                                     .known = how == KNOWN ? p->truth : NULL,
                                     .step = step,
                                     .apart_positive = how != FREE };
        return mel_fair_quadratic_squares(p->found, &sets, p->slope, err);
    }
    const size_t skip = how == KNOWN ? 1 : 0;
    const mel_fair_places places = { .q = p->q,
                                     .n_places = p->n_places - skip,
                                     .n_blocks = p->n_blocks,
                                     .share = p->share + skip * p->q,
                                     .side = p->side + skip * p->q,
                                     .cut = p->cut + skip * p->n_blocks,
                                     .known = how == KNOWN ? p->truth : NULL,
                                     .sign = how == FREE ? NULL : sign,
                                     .apart_positive = how != FREE };
    return mel_fair_linear_squares(p->found, &places, p->slope + skip * p->q, err);
}

static void check_exact(test_fair_kind kind, bool alike, way how)
{
    double most = 0.0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        problem p;
        mel_error err;
        problem_init(&p, kind, alike, 0.2 + 0.1 * (double)seed, seed);
        if (kind.quadratic)
            quadratic_slopes(&p);
        else
            linear_slopes(&p);
        assert_ok(solve(&p, how, &err), &err);
        most = fmax(most, off(&p));
        problem_clear(&p);
    }
    if (most > 1e-9)
        print_message("  k = %zu, m = %zu%s%s, %s: %g\n", kind.k, kind.m, kind.quadratic ? ", quadratic" : "",
                      alike ? ", equal pairs" : "", way_names[how], most);
    assert_true(most <= 1e-9);
}

static void test_exact(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 5; k++)
        for (size_t m = 2; m <= (k == 2 ? 10 : 5); m++)
            for (int alike = 0; alike < 2; alike++)
                for (way how = SQUARES; how < WAYS; how++)
                    check_exact((test_fair_kind){ k, m, false }, alike, how);
}

static void test_exact_quadratic(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 5; k++)
        for (size_t m = 2; m <= (k == 2 ? 8 : 5); m++)
            for (int alike = 0; alike < 2; alike++)
                for (way how = SQUARES; how < WAYS; how++)
                    check_exact((test_fair_kind){ k, m, true }, alike, how);
}

/* Quadratic functions of the sets, each with a factor of its own. */
static void test_join(void **state)
{
    (void)state;
    for (size_t m = 2; m <= 5; m++) {
        const test_fair_kind kind = { 3, m, true };
        problem p;
        problem_init(&p, kind, false, 0.4, m);
        const size_t q = p.q, size = q + q * q;
        double *found = calloc(p.n_sets * size, sizeof *found);
        for (size_t s = 0; s < p.n_sets; s++) {
            for (size_t i = 0; i < q; i++)
                found[s * size + i] = 0.6 * p.share[s * q + i] * p.truth[i];
            for (size_t c = 0; c < p.n_blocks; c++)
                mel_axpy(q * q, 0.4 * p.cut[s * p.n_blocks + c], block_of(&p, c), found + s * size + q);
            mel_scale(size, 1.0 + (double)s, found + s * size);
        }
        const mel_fair_sets sets = {
            .q = q, .n_sets = p.n_sets, .n_blocks = p.n_blocks, .share = p.share, .cut = p.cut, .step = step
        };
        mel_error err;
        assert_ok(mel_fair_quadratic_join(p.found, &sets, found, &err), &err);
        assert_true(off(&p) <= 1e-9);
        free(found);
        problem_clear(&p);
    }
}

/* --- slopes that are nil, weights against the rules ------------------------------------------------ */

/* lambda = 1: two groups still tell b, from more the sets' lengths are a guess; nothing is NaN. */
static void test_no_mistakes(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 3; k++)
        for (size_t m = 2; m <= 4; m++)
            for (int quadratic = 0; quadratic < 2; quadratic++) {
                const test_fair_kind kind = { k, m, quadratic != 0 };
                problem p;
                mel_error err;
                problem_init(&p, kind, false, 1.0, k + m);
                if (quadratic)
                    quadratic_slopes(&p);
                else
                    linear_slopes(&p);
                assert_ok(solve(&p, SQUARES, &err), &err);
                for (size_t i = 0; i + 1 < p.n; i++)
                    assert_true(isfinite(p.found[i]) && (i >= p.q || p.found[i] == 0.0));
                if (m == 2)
                    assert_true(off(&p) <= 1e-9);
                problem_clear(&p);
            }
}

static void test_no_slope(void **state)
{
    (void)state;
    for (int quadratic = 0; quadratic < 2; quadratic++)
        for (way how = SQUARES; how < WAYS; how++) {
            const test_fair_kind kind = { 3, 3, quadratic != 0 };
            problem p;
            mel_error err;
            problem_init(&p, kind, false, 0.5, 1);
            memset(p.slope, 0, p.n_places * (quadratic ? p.q + 2 : 1) * p.q * sizeof *p.slope);
            assert_ok(solve(&p, how, &err), &err);
            for (size_t i = p.q; i + 1 < p.n; i++)
                assert_true(isfinite(p.found[i]));
            problem_clear(&p);
        }
}

/* lambda = 0 leaves b without slopes of its own: with the rules it is next to nothing all the same. */
static void test_no_differences(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 3; k++)
        for (size_t m = 2; m <= 5; m++) {
            problem p;
            mel_error err;
            problem_init(&p, (test_fair_kind){ k, m, false }, false, 0.0, k + m);
            linear_slopes(&p);
            assert_ok(solve(&p, SQUARES, &err), &err);
            const double x = mel_norm2(p.q, p.found);
            for (size_t i = p.q; i + 1 < p.n; i++)
                assert_true(p.found[i] >= 0.0 && p.found[i] <= 1e-6 * x);
            problem_clear(&p);
        }
}

/* Weights whose estimate is on the wrong side are 0, the others as good as before. */
static void test_rules(void **state)
{
    (void)state;
    problem p;
    mel_error err;
    problem_init(&p, (test_fair_kind){ 3, 3, false }, false, 0.5, 9);
    p.truth[p.q + 2] = p.truth[p.q + 9] = 0.0;
    linear_slopes(&p);
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t i = 0; i < p.n_places * p.q; i++)
        p.slope[i] += 1e-5 * mel_rng_normal(&rng);
    for (size_t s = 0; s < p.n_places; s++)
        unit(p.q, p.slope + s * p.q);
    assert_ok(solve(&p, SQUARES, &err), &err);
    for (size_t i = 0; i + 1 < p.n; i++)
        assert_true(p.found[i] >= 0.0);
    assert_true(off(&p) <= 1e-3);
    problem_clear(&p);
}

/* Negative eigenvalues of B become 0. */
static void test_positive(void **state)
{
    (void)state;
    problem p;
    mel_error err;
    problem_init(&p, (test_fair_kind){ 2, 2, true }, false, 0.5, 4);
    static const double indefinite[] = { 1.0, 0.5, 0.5, -0.5 };
    memcpy(p.truth + p.q, indefinite, sizeof indefinite);
    quadratic_slopes(&p);
    assert_ok(solve(&p, SQUARES, &err), &err);
    const double *b = p.found + p.q;
    assert_close((b[0] * b[3] - b[1] * b[2]) / (b[0] * b[0]), 0.0, 1e-9);
    assert_true(b[0] > 0.0 && b[3] > 0.0);
    assert_ok(solve(&p, FREE, &err), &err);
    assert_close(b[3] / b[0], -0.5, 1e-9);
    assert_close(b[1] / b[0], 0.5, 1e-9);
    problem_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_all_pairs_of_four),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exact_quadratic),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_no_mistakes),
        cmocka_unit_test(test_no_slope),
        cmocka_unit_test(test_no_differences),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_positive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
