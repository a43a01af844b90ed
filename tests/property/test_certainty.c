/* Intervals cover what they are about as often as they say: values, differences, thresholds. */
#include "support/test.h"

#include "base/rng.h"
#include "classify/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mel_certainty_options options(uint64_t seed)
{
    mel_certainty_options opt;
    mel_certainty_options_init(&opt);
    opt.seed = seed;
    opt.draws = 1000;
    return opt;
}

static mel_measure *measure_named(const char *name, size_t k, size_t m)
{
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    assert_ok(mel_measure_named(&measure, name, k, m, &err), &err);
    return measure;
}

static double value_of(const mel_measure *measure, const double *confusion)
{
    double value = (double)NAN;
    mel_error err = { 0 };
    assert_ok(mel_measure_value(&value, measure, confusion, &err), &err);
    return value;
}

/* n rows of cells with these probabilities. */
static void draw_counts(double *counts, size_t cells, const double *p, size_t n, mel_rng *rng)
{
    memset(counts, 0, cells * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        double u = mel_rng_uniform(rng);
        size_t c = 0;
        while (c + 1 < cells && u >= p[c])
            u -= p[c++];
        counts[c] += 1.0;
    }
}

/* Of equal numbers the largest and the smallest are covered by more: one end of their interval never misses.
 */
static void assert_covers(const char *what, size_t n, size_t inside, size_t of, bool ties)
{
    const double share = (double)inside / (double)of;
    print_message("  %-28s n = %5zu: %.1f%% of %zu\n", what, n, 100.0 * share, of);
    if (of >= 1000) {
        assert_true(share >= (ties ? 0.94 : 0.92) && share <= (ties ? 0.99 : 0.98));
        return;
    }
    assert_true(share > 0.95 - 4.0 * sqrt(0.05 * 0.95 / (double)of)); /* what chance explains */
}

static const size_t sizes[] = { 300, 3000 };

static void test_values(void **state)
{
    (void)state;
    static const double two[] = { 0.60, 0.08, 0.06, 0.26 };
    static const double shy[] = { 0.496, 0.004, 0.484, 0.016 }, sure[] = { 0.497, 0.003, 0.003, 0.497 };
    static const double three[] = { 0.35, 0.05, 0.03, 0.04, 0.23, 0.05, 0.04, 0.03, 0.18 };
    static const double sure_of_three[] = { 0.33, 0.002, 0.002, 0.002, 0.33, 0.001, 0.002, 0.002, 0.329 };
    static const double rare[] = { 0.45, 0.02, 0.002, 0.02, 0.385, 0.001, 0.001, 0.001, 0.12 };
    static double seven[49];
    for (size_t c = 0; c < COUNT(seven); c++)
        seven[c] = c % 8 == 0 ? 0.97 / 7.0 : 0.03 / 42.0;
    static const double groups[] = { 0.30, 0.05, 0.03, 0.12, 0.32, 0.02, 0.06, 0.10 };
    static const double equal[] = { 0.24, 0.06, 0.04, 0.16, 0.32, 0.08, 0.02, 0.08 };
    static const double three_groups[] = { 0.12, 0.03, 0.02, 0.08, 0.20, 0.05,
                                           0.04, 0.16, 0.16, 0.04, 0.02, 0.08 };
    static const double alike[] = { 0.40, 0.10, 0.10, 0.40 };
    static const double three_alike[] = { 0.32, 0.04, 0.04, 0.02, 0.16, 0.02, 0.05, 0.03, 0.32 };
    static const double nearly[] = { 0.41, 0.09, 0.10, 0.40 };
    static double seven_alike[49], seven_groups[28], seven_rising[49];
    for (size_t c = 0; c < COUNT(seven_alike); c++) {
        const size_t row = c / 7;
        const double right = 0.6 + 0.04 * (double)row;
        seven_alike[c] = (c % 8 == 0 ? 0.8 : 0.2 / 6.0) / 7.0;
        seven_rising[c] = (c % 8 == 0 ? right : (1.0 - right) / 6.0) / 7.0;
    }
    for (size_t c = 0; c < COUNT(seven_groups); c++)
        seven_groups[c] = alike[c % 4] / 7.0;
    static const struct {
        const char *name;
        size_t k, m;
        const double *p;
        bool ties;
    } rows[] = {
        { "min-recall", 2, 0, alike, true }, /* the smallest of equal numbers */
        { "min-recall", 2, 0, nearly, true },
        { "min-recall", 3, 0, three_alike, true },
        { "min-recall", 7, 0, seven_alike, true },
        { "min-recall", 7, 0, seven_rising, true },
        { "f1:group-min", 2, 2, equal, true },
        { "f1:group-min", 2, 2, groups, false },
        { "accuracy:group-max", 2, 3, three_groups, true },
        { "f1:group-min", 2, 7, seven_groups, true },
        { "accuracy:difference", 2, 7, seven_groups, false },
        { "recall:difference-to-overall", 2, 3, three_groups, false },
        { "recall:ratio-to-overall", 2, 2, groups, false },
        { "min-recall:every-group", 2, 2, equal, true },
        { "accuracy", 2, 0, two, false },
        { "f1", 2, 0, two, false },
        { "mcc", 2, 0, two, false },
        { "g-mean", 2, 0, two, false },
        { "macro-f1", 3, 0, three, false },
        { "kappa", 3, 0, three, false },
        { "balanced-accuracy", 3, 0, three, false },
        { "accuracy", 3, 0, sure_of_three, false },
        { "g-mean", 3, 0, sure_of_three, false },
        { "macro-f1", 3, 0, rare, false },
        { "kappa", 3, 0, rare, false },
        { "accuracy", 7, 0, seven, false },
        { "macro-f1", 7, 0, seven, false },
        { "min-recall", 2, 0, two, false },
        { "accuracy", 2, 0, sure, false }, /* cells that are almost empty */
        { "f1", 2, 0, sure, false },
        { "precision", 2, 0, shy, false },
        { "recall", 2, 0, shy, false },
        { "equalised-odds:absolute", 2, 2, groups, false },
        { "recall:difference", 2, 2, groups, false },
        { "equalised-odds:absolute", 2, 2, equal, false },
        { "equalised-odds", 2, 2, equal, false },
        { "equalised-odds", 2, 2, groups, false },
        { "recall:difference", 2, 2, equal, false },
        { "recall:ratio", 2, 2, equal, false },
        { "recall:difference", 2, 3, three_groups, false },
    };
    const size_t runs = test_repeats(1000, 90, 5);
    for (size_t r = 0; r < COUNT(rows); r++) {
        mel_measure *measure = measure_named(rows[r].name, rows[r].k, rows[r].m);
        const double truth = value_of(measure, rows[r].p);
        for (size_t s = 0; s < COUNT(sizes); s++) {
            size_t inside = 0;
            mel_rng rng;
            mel_rng_seed_stream(&rng, 17, s);
            for (size_t run = 0; run < runs; run++) {
                double counts[COUNT(seven)];
                mel_certainty got;
                mel_error err = { 0 };
                const mel_certainty_options opt = options(run);
                draw_counts(counts, mel_measure_cells(measure), rows[r].p, sizes[s], &rng);
                assert_ok(mel_certainty_of(&got, measure, counts, &opt, &err), &err);
                inside += got.rows.low <= truth && truth <= got.rows.high;
            }
            if (runs > 10)
                assert_covers(rows[r].name, sizes[s], inside, runs, rows[r].ties);
        }
        mel_measure_free(measure);
    }
}

/* Two groups of 1,000 positives whose recalls differ by so many deviations. Truths are as likely as what was
 * seen or less: 0 up to 1.96 deviations, and up to where luck could only have made the difference
 * larger all 5% are there, so that the lower end is 1.645 deviations away and not 1.96. */
static void test_how_far_groups_are_apart(void **state)
{
    (void)state;
    static const struct {
        double deviations, low, high;
    } rows[] = { { 0.0, 0.0, 1.645 }, { 1.0, 0.0, 2.96 },   { 1.9, 0.0, 3.86 },
                 { 2.1, 0.39, 4.06 }, { 3.0, 1.355, 4.96 }, { 6.0, 4.04, 7.96 } };
    const double deviation = sqrt(2.0 * 0.25 / 1000.0);
    for (size_t r = 0; r < COUNT(rows); r++) {
        const double right = 500.0 + 500.0 * rows[r].deviations * deviation;
        const double counts[] = { 300, 100, 1000 - right, right, 300, 100, right, 1000 - right };
        mel_measure *measure = measure_named("recall:difference", 2, 2);
        mel_certainty got;
        mel_error err = { 0 };
        mel_certainty_options opt = options(r);
        opt.draws = 20000;
        assert_ok(mel_certainty_of(&got, measure, counts, &opt, &err), &err);
        print_message("  %.1f deviations: %.2f to %.2f\n", rows[r].deviations, got.rows.low / deviation,
                      got.rows.high / deviation);
        assert_close(got.rows.low / deviation, rows[r].low, rows[r].low == 0.0 ? 0.0 : 0.1);
        assert_close(got.rows.high / deviation, rows[r].high, 0.1);
        mel_measure_free(measure);
    }
}

/* True class, prediction of A, prediction of B. `apart`: how many more rows only A gets right. */
static void pair_shares(double p[8], double apart)
{
    const double both_right[] = { 0.56, 0.24 }, both_wrong[] = { 0.05, 0.03 };
    for (size_t i = 0; i < 2; i++) {
        p[4 * i + 3 * i] = both_right[i];
        p[4 * i + 3 * (1 - i)] = both_wrong[i];
        p[4 * i + (i == 0 ? 1 : 2)] = 0.03 + 0.5 * apart;
        p[4 * i + (i == 0 ? 2 : 1)] = 0.03 - 0.5 * apart;
    }
}

static void test_differences(void **state)
{
    (void)state;
    static const char *const names[] = { "accuracy", "f1", "weighted-accuracy:7", "mcc" };
    static const double apart[] = { 0.0, 0.02 };
    for (size_t m = 0; m < COUNT(names); m++)
        for (size_t a = 0; a < COUNT(apart); a++)
            for (size_t s = 0; s < COUNT(sizes); s++) {
                /* How often equal ones are told apart is a small share: many more test sets. */
                const size_t runs = test_repeats(apart[a] == 0.0 ? 20000 : 1000, 90, 5);
                mel_measure *measure = measure_named(names[m], 2, 0);
                double p[8], counts[8], mine[4], other[4];
                size_t inside = 0, told = 0;
                mel_rng rng;
                mel_rng_seed_stream(&rng, 18, (m * COUNT(apart) + a) * COUNT(sizes) + s);
                pair_shares(p, apart[a]);
                for (size_t i = 0; i < 4; i++) {
                    mine[i] = p[i / 2 * 4 + i % 2 * 2] + p[i / 2 * 4 + i % 2 * 2 + 1];
                    other[i] = p[i / 2 * 4 + i % 2] + p[i / 2 * 4 + i % 2 + 2];
                }
                const double truth = value_of(measure, mine) - value_of(measure, other);
                for (size_t run = 0; run < runs; run++) {
                    mel_contest got;
                    mel_error err = { 0 };
                    const mel_certainty_options opt = options(run);
                    draw_counts(counts, 8, p, sizes[s], &rng);
                    assert_ok(mel_certainty_compare(&got, measure, counts, &opt, &err), &err);
                    inside += got.range.low <= truth && truth <= got.range.high;
                    told += mel_can_tell(got.better);
                }
                if (runs > 10) {
                    assert_covers(names[m], sizes[s], inside, runs, false);
                    if (apart[a] == 0.0)
                        assert_true((double)told <= 0.05 * (double)runs + 2.5 * sqrt(0.05 * (double)runs));
                    print_message("    told apart: %.2f%%\n", 100.0 * (double)told / (double)runs);
                }
                mel_measure_free(measure);
            }
}

/* 495 mistakes against 498 on 2,301 rows. */
static void test_close_classifiers(void **state)
{
    (void)state;
    static const struct {
        double different, want;
    } rows[] = { { 53, 0.66 }, { 303, 0.57 } };
    mel_measure *measure = measure_named("accuracy", 2, 0);
    mel_certainty_options opt = options(1);
    mel_contest got;
    mel_error err = { 0 };
    for (size_t r = 0; r < COUNT(rows); r++) {
        const double a = (rows[r].different + 3.0) / 2.0, b = (rows[r].different - 3.0) / 2.0;
        const double counts[] = { 1300.0, 0.0, 0.0, 495.0 - b, b, a, 0.0, 2301.0 - 1300.0 - 495.0 - a };
        /* rows of class 0: both right 1300, both wrong 495 - b; of class 1: only B right b, only A right a,
         * ... */
        double sum = 0.0;
        for (size_t c = 0; c < 8; c++)
            sum += counts[c];
        assert_close(sum, 2301.0, 1e-9);
        double swapped[8];
        memcpy(swapped, counts, sizeof swapped);
        swapped[5] = b; /* A says 0, B says 1 of class 1: B is right */
        swapped[6] = a;
        swapped[4] = 0.0;
        assert_ok(mel_certainty_compare(&got, measure, swapped, &opt, &err), &err);
        print_message("  %g rows differ: %.3f\n", rows[r].different, got.better);
        assert_close(got.better, rows[r].want, 0.01);
        assert_false(mel_can_tell(got.better));
    }
    const double one[] = { 1300.0, 250.0, 245.0, 506.0 }, two[] = { 1300.0, 250.0, 248.0, 503.0 };
    assert_ok(mel_certainty_compare_apart(&got, measure, one, two, &opt, &err), &err);
    print_message("  apart: %.3f\n", got.better);
    assert_close(got.better, 0.54, 0.01);
    mel_measure_free(measure);
}

/* Three votes against none are no proof. */
static void test_few_votes(void **state)
{
    (void)state;
    mel_measure *accuracy = measure_named("accuracy", 2, 0), *f1 = measure_named("f1", 2, 0);
    const double counts[] = { 500.0, 0.0, 0.0, 40.0, 60.0, 0.0, 3.0, 397.0 };
    const mel_certainty_options opt = options(1);
    mel_contest got;
    mel_error err = { 0 };
    assert_ok(mel_certainty_compare(&got, accuracy, counts, &opt, &err), &err);
    assert_close(got.better, 0.9668544997362264, 1e-9); /* Beta(3.5, 0.5) above 1/2 */
    assert_ok(mel_certainty_compare(&got, f1, counts, &opt, &err), &err);
    assert_true(got.better > 0.9 && got.better < 0.9999);
    mel_measure_free(accuracy);
    mel_measure_free(f1);
}

/* Var(a.C) = a'S_C a + C'S_a C + tr(S_a S_C) for a linear metric and draws of its coefficients. */
static void test_metric_and_rows(void **state)
{
    (void)state;
    enum { DRAWS = 400, SIZE = 6 };
    static const mel_layout layout = { MEL_CONFUSION, MEL_OFFDIAGONAL, 3, 0 };
    static const double counts[] = { 300, 40, 20, 30, 250, 50, 60, 10, 240 };
    double a[SIZE] = { 1, 2, 3, 4, 5, 6 }, *draw = malloc(sizeof(double) * DRAWS * SIZE), mean[SIZE] = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (size_t s = 0; s < DRAWS; s++)
        for (size_t i = 0; i < SIZE; i++)
            draw[s * SIZE + i] = a[i] + 0.4 * mel_rng_normal(&rng) * (double)(i + 1);
    for (size_t s = 0; s < (size_t)DRAWS * SIZE; s++)
        mean[s % SIZE] += draw[s] / DRAWS;
    mel_metric *metric = NULL;
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_COST, a, &err), &err);
    assert_ok(mel_measure_metric(&measure, metric, 3, 0, &err), &err);
    mel_certainty_options opt = options(3);
    opt.n_metrics = DRAWS;
    opt.metrics = draw;
    mel_certainty got;
    assert_ok(mel_certainty_of(&got, measure, counts, &opt, &err), &err);
    double p[SIZE], rows = 0.0, by_metric = 0.0, both = 0.0, n = 1000.0;
    for (size_t i = 0; i < SIZE; i++)
        p[i] = counts[i / 2 * 3 + (i % 2 + (i % 2 >= i / 2 ? 1 : 0))] / n;
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++) {
            double cov = 0.0;
            for (size_t s = 0; s < DRAWS; s++)
                cov += (draw[s * SIZE + i] - mean[i]) * (draw[s * SIZE + j] - mean[j]) / (DRAWS - 1);
            const double of_rows = ((i == j ? p[i] : 0.0) - p[i] * p[j]) / (n + 1.0);
            rows += a[i] * a[j] * of_rows;
            by_metric += p[i] * p[j] * cov;
            both += of_rows * (mean[i] * mean[j] + cov * (DRAWS - 1) / DRAWS);
        }
    assert_close(got.rows_deviation, sqrt(rows), 1e-8);
    assert_close(got.metric_deviation, sqrt(by_metric), 1e-9);
    assert_close(got.deviation, sqrt(by_metric + both), 1e-8);
    assert_true(got.both.low < got.rows.low && got.both.high > got.rows.high);
    assert_close(got.both.high - got.both.low, 2 * 1.96 * got.deviation, 0.1 * got.deviation);
    assert_close(value_of(measure, counts), got.value, 0.0); /* the measure is as it was */
    free(draw);
    mel_measure_free(measure);
    mel_metric_free(metric);
}

static void test_refusals(void **state)
{
    (void)state;
    mel_measure *two = measure_named("f1", 2, 0);
    const mel_certainty_options opt = options(1), none = { 0 };
    mel_certainty got;
    mel_error err = { 0 };
    const double counts[] = { 1, 2, 3, 4 };
    assert_int_equal(mel_certainty_of(&got, two, counts, &none, &err), MEL_EINVAL);
    mel_certainty_options drawn = opt;
    drawn.n_metrics = 1;
    drawn.metrics = counts;
    assert_int_equal(mel_certainty_of(&got, two, counts, &drawn, &err), MEL_EINVAL);
    mel_measure_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),      cmocka_unit_test(test_how_far_groups_are_apart),
        cmocka_unit_test(test_differences), cmocka_unit_test(test_close_classifiers),
        cmocka_unit_test(test_few_votes),   cmocka_unit_test(test_metric_and_rows),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
