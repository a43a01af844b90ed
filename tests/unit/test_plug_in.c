/* The baseline that tunes one gain per class: against the thesis' formula and against every single move, and
 * with metrics that fail, stop and say nothing. */
#include "base/internal.h"
#include "support/test.h"
#include "support/weighted_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACING 0.01
enum { NUMBERS = 99 };
static const mel_progress silent = { 0 };

static double gain_of(size_t z)
{
    return (double)z * SPACING / (1.0 - (double)z * SPACING);
}

/* The value of the rule of these gains. */
static double value_of(const problem *p, const mel_black_box *box, const double gain[K])
{
    double whole[K * K] = { 0 }, share = 1.0, chance[VALIDATION * K], value = NAN;
    const mel_blend rule = { .n_rules = 1, .n_classes = K, .gain = whole, .share = &share };
    mel_error err = { 0 };
    for (size_t j = 0; j < K; j++)
        whole[j * K + j] = gain[j];
    assert_ok(mel_weighted_chances(chance, &rule, VALIDATION, p->validation_probability, NULL, &err), &err);
    assert_ok(mel_black_box_of(&value, box, VALIDATION, K, p->validation_label, chance, &err), &err);
    return value;
}

/* The thesis' search: class j where zeta P(j|x) > (1 - zeta) P(0|x), else class 0. */
static void search_pairs(double gain[K], const problem *p, const mel_black_box *box)
{
    gain[0] = 1.0;
    for (size_t j = 1; j < K; j++) {
        double best = -INFINITY;
        for (size_t z = 1; z <= NUMBERS; z++) {
            double chance[VALIDATION * K] = { 0 }, value = NAN;
            mel_error err = { 0 };
            for (size_t i = 0; i < VALIDATION; i++) {
                const double *q = p->validation_probability + i * K;
                chance[i * K + (gain_of(z) * q[j] > q[0] ? j : 0)] = 1.0;
            }
            assert_ok(mel_black_box_of(&value, box, VALIDATION, K, p->validation_label, chance, &err), &err);
            if (value > best) {
                best = value;
                gain[j] = gain_of(z);
            }
        }
    }
}

static mel_optimise_result search(const problem *p, const mel_black_box *box, uint32_t rounds)
{
    mel_weight_rows rows = validation_of(p);
    mel_optimise_result got;
    mel_error err = { 0 };
    rows.basis = NULL;
    assert_ok(mel_optimise_plug_in(&got, K, &rows, box, SPACING, rounds, &silent, &err), &err);
    return got;
}

static void take_gains(double gain[K], const mel_optimise_result *got)
{
    assert_int_equal(got->mixture.n_rules, 1);
    for (size_t j = 0; j < K; j++)
        gain[j] = got->mixture.gain[j * K + j];
}

static const char *const metrics[] = { "accuracy", "g-mean", "macro-f1", "group-f1", "min-recall" };

static void test_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (size_t m = 0; m < COUNT(metrics); m++) {
            problem p = make_problem(seed);
            mel_measure *measure = measure_named(metrics[m], K, m == 3 ? 2 : 0);
            const mel_black_box box = mel_measure_box(measure, m == 3 ? p.group : NULL);
            double wanted[K], gain[K];
            mel_optimise_result got = search(&p, &box, 0);
            search_pairs(wanted, &p, &box);
            take_gains(gain, &got);
            for (size_t j = 0; j < K; j++)
                assert_close(gain[j], wanted[j], 1e-12);
            assert_true(got.value == value_of(&p, &box, wanted));
            mel_optimise_clear(&got);
            mel_measure_free(measure);
        }
}

/* The result is what the rule does, not worse than the model as it is or the pairs, and no gain on the line
 * makes it better. */
static void test_rounds(void **state)
{
    (void)state;
    size_t better = 0;
    for (uint64_t seed = 1; seed <= 5; seed++)
        for (size_t m = 0; m < COUNT(metrics); m++) {
            problem p = make_problem(seed);
            mel_measure *measure = measure_named(metrics[m], K, m == 3 ? 2 : 0);
            const mel_black_box box = mel_measure_box(measure, m == 3 ? p.group : NULL);
            mel_optimise_result pairs = search(&p, &box, 0), got = search(&p, &box, 50);
            double gain[K];
            take_gains(gain, &got);
            assert_true(got.value == value_of(&p, &box, gain) && got.value == got.best);
            assert_true(got.start == value_of(&p, &box, (double[]){ 1.0, 1.0, 1.0 }));
            assert_true(got.value >= got.start && got.value >= pairs.value);
            better += got.value > pairs.value;
            for (size_t j = 0; j < K; j++)
                for (size_t z = 1; z <= NUMBERS; z++) {
                    double moved[K];
                    memcpy(moved, gain, sizeof moved);
                    moved[j] = gain_of(z);
                    assert_true(value_of(&p, &box, moved) <= got.value);
                }
            mel_optimise_clear(&pairs);
            mel_optimise_clear(&got);
            mel_measure_free(measure);
        }
    assert_true(better > 5);
}

/* A judge of chances, which fails, stops or becomes constant after a number of good values. */
typedef struct {
    const problem *p;
    mel_black_box of;
    size_t good, asked;
    double later; /* NaN: an error */
    mel_status status;
    double best;
} moody;

static mel_status judge(double *out, void *user, const double *chance, mel_error *err)
{
    moody *m = user;
    if (++m->asked > m->good) {
        *out = m->later;
        return m->status == MEL_OK ? MEL_OK : mel_fail(err, m->status, "out of order");
    }
    const mel_status status =
        mel_black_box_of(out, &m->of, VALIDATION, K, m->p->validation_label, chance, err);
    m->best = fmax(m->best, *out);
    return status;
}

/* Whenever the metric fails there is a classifier with the value that it says, and the place is named. */
static void test_failures(void **state)
{
    (void)state;
    const problem p = make_problem(3);
    mel_weight_rows rows = validation_of(&p);
    mel_measure *measure = measure_named("macro-f1", K, 0);
    rows.basis = NULL;
    const struct {
        mel_status status;
        double later;
        mel_optimise_end end;
        const char *says;
    } ways[] = { { MEL_EDATA, 0.0, MEL_OPTIMISE_FAILED, "out of order" },
                 { MEL_ENUMERIC, 0.0, MEL_OPTIMISE_FAILED, "out of order" },
                 { MEL_OK, NAN, MEL_OPTIMISE_FAILED, "the metric is nan" },
                 { MEL_OK, INFINITY, MEL_OPTIMISE_FAILED, "the metric is inf" },
                 { MEL_ESTOPPED, 0.0, MEL_OPTIMISE_STOPPED, "out of order" } };
    for (size_t w = 0; w < COUNT(ways); w++)
        for (size_t good = 0; good < 320; good += 1 + good / 4) {
            moody mood = { &p, mel_measure_box(measure, NULL), good, 0, ways[w].later, ways[w].status, 0.0 };
            const mel_black_box box = { .judge = judge, .user = &mood };
            mel_optimise_result got;
            mel_error err = { 0 };
            const mel_status status = mel_optimise_plug_in(&got, K, &rows, &box, SPACING, 10, &silent, &err);
            if (good == 0) { /* there is nothing to keep */
                assert_int_equal(status, ways[w].status != MEL_OK ? ways[w].status : MEL_EDATA);
                assert_true(ways[w].status == MEL_ESTOPPED || strstr(err.text, "iteration 0: ") != NULL);
                continue;
            }
            double gain[K];
            assert_ok(status, &err);
            take_gains(gain, &got);
            assert_int_equal(got.end, ways[w].end);
            assert_non_null(strstr(got.failure.text, ways[w].says));
            assert_true(got.end == MEL_OPTIMISE_STOPPED || strncmp(got.failure.text, "iteration ", 10) == 0);
            assert_true(got.value == value_of(&p, &mood.of, gain) && got.value >= got.start);
            assert_int_equal(got.queries, good + 1);
            mel_optimise_clear(&got);
        }
    mel_measure_free(measure);
}

static int stop(void *user, const char *what, double done)
{
    char *seen = user;
    (void)snprintf(seen, 96, "%s", what);
    return done > 0.3;
}

static void test_flat_and_stopped(void **state)
{
    (void)state;
    const problem p = make_problem(4);
    mel_weight_rows rows = validation_of(&p);
    mel_measure *measure = measure_named("g-mean", K, 0);
    rows.basis = NULL;
    mel_optimise_result got;
    mel_error err = { 0 };
    moody same = { &p, mel_measure_box(measure, NULL), 0, 0, 0.5, MEL_OK, 0.0 };
    assert_ok(mel_optimise_plug_in(&got, K, &rows, &(mel_black_box){ .judge = judge, .user = &same }, SPACING,
                                   10, &silent, &err),
              &err);
    assert_int_equal(got.end, MEL_OPTIMISE_FLAT);
    assert_true(got.value == 0.5 && got.best_iteration == 0);
    for (size_t j = 0; j < K; j++)
        assert_true(got.mixture.gain[j * K + j] == 1.0);
    mel_optimise_clear(&got);
    char seen[96] = "";
    assert_ok(mel_optimise_plug_in(&got, K, &rows, &same.of, SPACING, 1, &(mel_progress){ stop, seen }, &err),
              &err);
    assert_int_equal(got.end, MEL_OPTIMISE_STOPPED);
    assert_non_null(strstr(seen, "iteration 3, gain of class 1, value 0."));
    mel_optimise_clear(&got);
    mel_measure_free(measure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_flat_and_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
