/* Black-box optimisation: how near to the optimum it comes, and metrics as black boxes. */
#include "base/rng.h"
#include "support/test.h"
#include "support/weighted_rows.h"

#include <math.h>

/* --- the gap to the optimum --------------------------------------------------------------------- */

enum { VERTICES = 256 }; /* 2^BINS */
#define BINS ((size_t)8)
#define EACH ((size_t)20)
#define SMALL (BINS * EACH)

/* Rows in bins whose probabilities are exactly the shares of their labels. */
static void make_bins(double *probability, uint32_t *label, mel_rng *rng)
{
    for (size_t b = 0; b < BINS; b++) {
        const size_t positives = 1 + mel_rng_below(rng, EACH - 1);
        for (size_t i = b * EACH; i < (b + 1) * EACH; i++) {
            label[i] = i - b * EACH < positives;
            probability[2 * i + 1] = (double)positives / EACH;
            probability[2 * i] = 1.0 - probability[2 * i + 1];
        }
    }
}

/* The recalls of every deterministic rule of the bins. */
static void all_rules(double recall[VERTICES][2], const uint32_t *label)
{
    for (size_t v = 0; v < VERTICES; v++) {
        double hit[2] = { 0 }, all[2] = { 0 };
        for (size_t i = 0; i < SMALL; i++) {
            all[label[i]]++;
            hit[label[i]] += (v >> (i / EACH) & 1) == label[i];
        }
        for (size_t c = 0; c < 2; c++)
            recall[v][c] = hit[c] / all[c];
    }
}

/* The largest G-mean of two rules mixed: the product of recalls is a parabola in the share. */
static double best_mixture(const uint32_t *label)
{
    static double r[VERTICES][2];
    double best = 0.0;
    all_rules(r, label);
    for (size_t a = 0; a < VERTICES; a++)
        for (size_t b = 0; b < a; b++) {
            const double d0 = r[b][0] - r[a][0], d1 = r[b][1] - r[a][1], curve = d0 * d1;
            double t = curve < 0.0 ? -(r[a][0] * d1 + r[a][1] * d0) / (2.0 * curve) : 0.0;
            t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
            best = fmax(best, (r[a][0] + t * d0) * (r[a][1] + t * d1));
            best = fmax(best, r[b][0] * r[b][1]);
        }
    return sqrt(best);
}

static void test_gap_falls(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 9);
    mel_measure *m = measure_named("g-mean", 2, 0);
    const mel_black_box box = mel_measure_box(m, NULL);
    for (int run = 0; run < 5; run++) {
        double probability[2 * SMALL];
        uint32_t label[SMALL];
        make_bins(probability, label, &rng);
        const double best = best_mixture(label);
        const mel_weight_rows rows = { SMALL, probability, label, NULL };
        for (uint32_t iterations = 10; iterations <= 1000; iterations *= 10)
            for (int known = 0; known < 2; known++) {
                mel_optimise_options opt;
                mel_optimise_options_init(&opt);
                opt.iterations = iterations;
                opt.known = known == 1;
                opt.epsilon = 1e-6;
                mel_optimise_result got = { 0 };
                mel_error err = { 0 };
                assert_ok(mel_optimise(&got, 2, 1, &rows, &rows, &box, &opt, &err), &err);
                assert_true(got.value <= best + 1e-12);
                assert_true(best - got.value < 1.0 / iterations);
                mel_optimise_clear(&got);
            }
    }
    mel_measure_free(m);
}

/* --- measures ----------------------------------------------------------------------------------- */

/* Slopes against differences, at random confusion matrices of two groups. */
static void test_gradients(void **state)
{
    (void)state;
    static const char *const names[] = { "accuracy", "balanced-accuracy", "g-mean", "macro-f1", "group-f1" };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t i = 0; i < COUNT(names); i++) {
        mel_measure *m = measure_named(names[i], K, 2);
        const uint32_t group[1] = { 0 };
        const mel_black_box box = mel_measure_box(m, group);
        double c[2 * K * K], slope[2 * K * K];
        mel_error err = { 0 };
        mel_rng_dirichlet(&rng, 2 * K * K, NULL, c);
        assert_ok(box.gradient(slope, box.user, c, &err), &err);
        for (size_t e = 0; e < 2 * K * K; e++) {
            /* Along directions that classifiers can take: from one prediction to another. */
            const size_t to = e / K * K + (e + 1) % K;
            double up = 0.0, down = 0.0;
            const double step = 1e-6, was = c[e], other = c[to];
            c[e] = was + step;
            c[to] = other - step;
            assert_ok(box.value(&up, box.user, c, &err), &err);
            c[e] = was - step;
            c[to] = other + step;
            assert_ok(box.value(&down, box.user, c, &err), &err);
            c[e] = was;
            c[to] = other;
            if (e != to)
                assert_close((up - down) / (2.0 * step), slope[e] - slope[to], 1e-5);
        }
        mel_measure_free(m);
    }
}

/* A metric object gives what it gives on statistics; costs are turned. */
static void test_metric_objects(void **state)
{
    (void)state;
    mel_error err = { 0 };
    const double c[4] = { 0.5, 0.1, 0.15, 0.25 }; /* tn, fp, fn, tp */
    const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 }, off = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    const double a[2] = { 3.0, 1.0 };
    mel_metric *metric = NULL;
    mel_measure *m = NULL;
    double value = 0.0, slope[4];
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, a, &err), &err);
    assert_ok(mel_measure_metric(&m, metric, 2, 0, &err), &err);
    mel_black_box box = mel_measure_box(m, NULL);
    assert_ok(box.value(&value, box.user, c, &err), &err);
    assert_close(value, 3.0 * 0.25 + 0.5, 1e-15);
    mel_measure_free(m);
    mel_metric_free(metric);
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &off, NULL, MEL_COST, a, &err), &err);
    assert_ok(mel_measure_metric(&m, metric, 2, 0, &err), &err);
    box = mel_measure_box(m, NULL);
    assert_ok(box.value(&value, box.user, c, &err), &err);
    assert_close(value, -(3.0 * 0.1 / 0.6 + 0.15 / 0.4), 1e-15);
    assert_ok(box.gradient(slope, box.user, c, &err), &err);
    assert_close(slope[1], -3.0 / 0.6, 1e-12);
    assert_close(slope[2], -1.0 / 0.4, 1e-12);
    mel_measure_free(m);
    assert_int_equal(mel_measure_metric(&m, metric, 3, 0, &err), MEL_EINVAL);
    mel_metric_free(metric);
}

/* --- choosing ----------------------------------------------------------------------------------- */

/* A metric without a value at one of its evaluations. */
typedef struct {
    mel_black_box of;
    size_t asked, gap;
} gappy;

static mel_status gappy_value(double *out, void *user, const double *confusion, mel_error *err)
{
    gappy *g = user;
    const mel_status status = g->of.value(out, g->of.user, confusion, err);
    if (++g->asked == g->gap)
        *out = NAN;
    return status;
}

/* A candidate whose held-out decisions have no value is not chosen in silence: the best classifier so far is
 * there, and the failure says which candidate it was. */
static void test_candidate_without_value(void **state)
{
    (void)state;
    const problem p = make_problem(6);
    mel_measure *m = measure_named("g-mean", K, 0);
    gappy g = { .of = mel_measure_box(m, NULL) };
    const mel_black_box box = { .value = gappy_value, .user = &g };
    const mel_weight_candidate candidate[2] = { { 1, NULL, NULL, 0.01 }, { 1, NULL, NULL, 0.1 } };
    const mel_weight_rows train = train_of(&p), validation = validation_of(&p);
    double value[2];
    mel_weight_choice choice = { .value = value };
    mel_optimise_options opt;
    mel_error err = { 0 };
    mel_optimise_options_init(&opt);
    opt.iterations = 2;
    assert_ok(mel_optimise_choose(&choice, 1, candidate, 3, K, &train, &validation, &box, &opt, &err), &err);
    assert_true(isfinite(value[0]) && choice.cut.mixture.n_rules == 0);
    g.gap = g.asked; /* the value of what was held out comes last */
    g.asked = 0;
    assert_ok(mel_optimise_choose(&choice, 2, candidate, 3, K, &train, &validation, &box, &opt, &err), &err);
    assert_int_equal(g.asked, g.gap);
    assert_true(isnan(value[0]) && isnan(value[1]));
    assert_int_equal(choice.cut.end, MEL_OPTIMISE_FAILED);
    assert_string_equal(choice.cut.failure.text, "candidate 1 of 2: the metric is nan");
    assert_true(choice.cut.mixture.n_rules > 0 && isfinite(choice.cut.value));
    mel_optimise_clear(&choice.cut);
    mel_measure_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gap_falls),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_metric_objects),
        cmocka_unit_test(test_candidate_without_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
