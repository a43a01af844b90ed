/* Probes of the constraint problem for functions that overlap and for the whole matrix, and that mixtures
 * have no rule twice. */
#include "base/rng.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"
#include "support/test.h"
#include "support/weighted_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A linear metric: gains of all confusion entries. */
static mel_status linear(double *out, void *user, const double *confusion, mel_error *err)
{
    const double *gain = user;
    (void)err;
    *out = 0.0;
    for (size_t c = 0; c < K * K; c++)
        *out += gain[c] * confusion[c];
    return MEL_OK;
}

static void keep_first(void *user, uint32_t t, double value, double gap, const double *alpha)
{
    (void)value;
    (void)gap;
    if (t == 1)
        memcpy(user, alpha, L * K * K * sizeof *alpha);
}

/* Rows with a function that is 1 everywhere, which every constant weight is a multiple of. */
static problem with_default(uint64_t seed)
{
    problem p = make_problem(seed);
    for (size_t i = 0; i < TRAIN; i++)
        p.train_basis[i * L] = 1.0;
    return p;
}

/* Where rows train and validate, the weights are the metric's gains, of the first function alone. Gains of
 * the whole matrix are known up to a shift of each row. */
static void check_gains(const problem *p, mel_weight_shape shape, const bool *entry, double gain[K * K],
                        size_t rank)
{
    const mel_weight_rows rows = train_of(p);
    const mel_black_box box = { .value = linear, .user = gain };
    double alpha[L * K * K] = { 0 };
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.plug_in = true;
    opt.shape = shape;
    opt.entry = entry;
    opt.probes = MEL_PROBE_CONSTRAINED;
    opt.scale = MEL_SCALE_ROWS;
    opt.trace = keep_first;
    opt.trace_user = alpha;
    mel_optimise_result got = { 0 };
    mel_error err = { 0 };
    assert_ok(mel_optimise(&got, K, L, &rows, &rows, &box, &opt, &err), &err);
    assert_int_equal(got.rank, rank);
    assert_true(got.condition < 1e4);
    for (size_t r = 0; r < L * K; r++) {
        double shift = 0.0;
        for (size_t j = 0; j < K && shape == MEL_WEIGHT_WHOLE && entry == NULL; j++)
            shift += (alpha[r * K + j] - (r < K ? gain[r * K + j] : 0.0)) / (double)K;
        for (size_t j = 0; j < K; j++)
            assert_close(alpha[r * K + j] - shift, r < K ? gain[r * K + j] : 0.0, 1e-6);
    }
    mel_optimise_clear(&got);
}

static void test_linear_metrics_come_back(void **state)
{
    (void)state;
    const bool some[K * K] = { true, false, true, false, true, false, false, false, true };
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const problem p = with_default(seed);
        double gain[K * K], part[K * K], diagonal[K * K];
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        for (size_t c = 0; c < K * K; c++) {
            gain[c] = 2.0 * mel_rng_uniform(&rng) - 1.0;
            part[c] = some[c] ? gain[c] : 0.0;
            diagonal[c] = c % (K + 1) == 0 ? gain[c] : 0.0;
        }
        check_gains(&p, MEL_WEIGHT_DIAGONAL, NULL, diagonal, L * K);
        check_gains(&p, MEL_WEIGHT_WHOLE, NULL, gain, L * K * (K - 1));
        check_gains(&p, MEL_WEIGHT_WHOLE, some, part, L * (K + 1));
    }
}

/* --- the constraint problem --------------------------------------------------------------------- */

/* What the solver makes of the problem, without a run around it. */
static mel_weighting make_probes(const mel_weight_rows *rows, const mel_black_box *box, const size_t *cell)
{
    mel_weighting w = { .size = { .k = K, .n_basis = L, .n_directions = 1, .n_groups = 1, .whole = true },
                        .validation = rows,
                        .box = box,
                        .cell = cell,
                        .n_cells = K * K };
    mel_error err = { 0 };
    mel_optimise_options_init(&w.opt);
    assert_ok(mel_probes_make(&w, rows, &err), &err);
    return w;
}

/* Entry [l][cell] less the largest other one, each as a share of its function's sum over its class. */
static double lead(const double *sums, const double *total, size_t wanted)
{
    double own = 0.0, other = -INFINITY;
    for (size_t l = 0; l < L; l++)
        for (size_t c = 0; c < K * K; c++) {
            const double share = sums[c * L + l] / total[c / K * L + l];
            if (l * K * K + c == wanted)
                own = share;
            else
                other = fmax(other, share);
        }
    return own - other;
}

/* No rule of random weights leads by more than the probe. */
static void test_no_rule_leads_by_more(void **state)
{
    (void)state;
    size_t cell[K * K];
    double sums[K * K * L], total[K * L], gain[L * K * K], unused[K * K] = { 0 };
    const mel_black_box box = { .value = linear, .user = unused };
    mel_error err = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t c = 0; c < K * K; c++)
        cell[c] = c;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const problem p = make_problem(seed);
        const mel_weight_rows rows = train_of(&p);
        mel_weighting w = make_probes(&rows, &box, cell);
        mel_packed *packed = NULL;
        assert_ok(mel_packed_new(&packed, &w.size, &rows, &err), &err);
        assert_ok(mel_packed_totals(total, packed, &err), &err);
        assert_int_equal(w.probes.n, L * K * K);
        for (int trial = 0; trial < 300; trial++) {
            for (size_t c = 0; c < L * K * K; c++)
                gain[c] = mel_rng_normal(&rng);
            assert_ok(mel_packed_sums(sums, packed, gain, &err), &err);
            for (size_t q = 0; q < w.probes.n; q++)
                assert_true(lead(w.probes.train + q * K * K * L, total, q) > lead(sums, total, q) - 0.002);
        }
        mel_packed_free(packed);
        mel_probes_clear(&w.probes);
    }
}

/* --- judges ------------------------------------------------------------------------------------- */

typedef struct {
    const problem *p;
    const mel_black_box *box;
} judge_state;

static mel_status judge(double *out, void *user, const double *chance, mel_error *err)
{
    const judge_state *js = user;
    return mel_black_box_of(out, js->box, VALIDATION, K, js->p->validation_label, chance, err);
}

/* Probes are mixtures: a judge sees their chances. */
static void test_judge_sees_mixtures(void **state)
{
    (void)state;
    const problem p = make_problem(23);
    const mel_weight_rows train = train_of(&p), validation = validation_of(&p);
    mel_measure *m = measure_named("g-mean", K, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    judge_state js = { &p, &box };
    const mel_black_box judged = { .judge = judge, .user = &js };
    mel_optimise_options opt;
    mel_optimise_result by_value = { 0 }, by_judge = { 0 };
    mel_error err = { 0 };
    mel_optimise_options_init(&opt);
    opt.iterations = 5;
    opt.probes = MEL_PROBE_CONSTRAINED;
    opt.shape = MEL_WEIGHT_WHOLE;
    assert_ok(mel_optimise(&by_value, K, L, &train, &validation, &box, &opt, &err), &err);
    assert_ok(mel_optimise(&by_judge, K, L, &train, &validation, &judged, &opt, &err), &err);
    assert_close(by_judge.value, by_value.value, 1e-9);
    mel_optimise_clear(&by_value);
    mel_optimise_clear(&by_judge);
    mel_measure_free(m);
}

/* --- mixtures ----------------------------------------------------------------------------------- */

/* Decisions of one rule of a mixture about all rows. */
static void decide(uint32_t *said, const problem *p, const double *gain)
{
    double score[K];
    const bool diagonal = mel_weighted_diagonal(K, L, gain);
    for (size_t i = 0; i < TRAIN; i++)
        said[i] = mel_weighted_class(K, L, gain, diagonal, p->train_probability + i * K,
                                     p->train_basis + i * L, score);
    for (size_t i = 0; i < VALIDATION; i++)
        said[TRAIN + i] = mel_weighted_class(K, L, gain, diagonal, p->validation_probability + i * K,
                                             p->validation_basis + i * L, score);
}

/* No two rules decide all rows alike, no share is 0, and the mixture has the value that was reported. */
static void test_mixtures_are_compact(void **state)
{
    (void)state;
    static const char *const metric[] = { "accuracy", "g-mean", "macro-f1" };
    for (uint64_t seed = 1; seed <= 9; seed++) {
        const problem p = make_problem(30 + seed);
        const mel_weight_rows train = train_of(&p), validation = validation_of(&p);
        mel_measure *m = measure_named(metric[seed % COUNT(metric)], K, 0);
        const mel_black_box box = mel_measure_box(m, NULL);
        double chance[VALIDATION * K], value = 0.0, all = 0.0;
        mel_optimise_options opt;
        mel_optimise_result got = { 0 };
        mel_error err = { 0 };
        mel_optimise_options_init(&opt);
        opt.shape = seed % 2 == 0 ? MEL_WEIGHT_WHOLE : MEL_WEIGHT_DIAGONAL;
        assert_ok(mel_optimise(&got, K, L, &train, &validation, &box, &opt, &err), &err);
        for (size_t a = 0; a < got.mixture.n_rules; a++) {
            uint32_t one[TRAIN + VALIDATION], other[TRAIN + VALIDATION];
            assert_true(got.mixture.share[a] > 0.0);
            all += got.mixture.share[a];
            decide(one, &p, got.mixture.gain + a * L * K * K);
            for (size_t b = 0; b < a; b++) {
                decide(other, &p, got.mixture.gain + b * L * K * K);
                assert_true(memcmp(one, other, sizeof one) != 0);
            }
        }
        assert_close(all, 1.0, 1e-12);
        assert_true(got.mixture.n_rules < got.iterations);
        assert_ok(mel_weighted_chances(chance, &got.mixture, VALIDATION, p.validation_probability,
                                       p.validation_basis, &err),
                  &err);
        assert_ok(mel_black_box_of(&value, &box, VALIDATION, K, p.validation_label, chance, &err), &err);
        assert_close(value, got.value, 1e-12);
        mel_optimise_clear(&got);
        mel_measure_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_linear_metrics_come_back),
                                        cmocka_unit_test(test_no_rule_leads_by_more),
                                        cmocka_unit_test(test_judge_sees_mixtures),
                                        cmocka_unit_test(test_mixtures_are_compact) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
