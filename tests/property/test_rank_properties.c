/* Orders against their definitions, pair by pair, on random lists with and without ties. */
#include "support/test.h"

#include "base/rng.h"
#include "metric/shared.h"
#include "rank/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, MOST = 40 };

/* Few different numbers in every other round, so that many are equal. */
static void random_list(mel_rng *rng, size_t n, double *x, bool ties)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ties ? (double)mel_rng_below(rng, 4) : mel_rng_normal(rng);
}

static int sign(double d)
{
    return (d > 0) - (d < 0);
}

static void test_tau_counts_pairs(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int round = 0; round < ROUNDS; round++) {
        double x[MOST], y[MOST], got = 0, back = 0;
        const size_t n = 2 + mel_rng_below(&rng, MOST - 1);
        random_list(&rng, n, x, round % 2 == 0);
        random_list(&rng, n, y, round % 3 == 0);
        double balance = 0, x_pairs = 0, y_pairs = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                balance += sign(x[i] - x[j]) * sign(y[i] - y[j]);
                x_pairs += x[i] != x[j];
                y_pairs += y[i] != y[j];
            }
        assert_ok(mel_kendall_tau(&got, n, x, y, NULL), NULL);
        assert_ok(mel_kendall_tau(&back, n, y, x, NULL), NULL);
        if (x_pairs == 0 || y_pairs == 0) {
            assert_true(isnan(got) && isnan(back));
            continue;
        }
        assert_close(got, balance / sqrt(x_pairs * y_pairs), 1e-14);
        assert_close(back, got, 1e-15);
        /* Increasing functions change nothing, turning one list turns the sign. */
        for (size_t i = 0; i < n; i++) {
            x[i] = -exp(x[i]);
        }
        assert_ok(mel_kendall_tau(&back, n, x, y, NULL), NULL);
        assert_close(back, -got, 1e-15);
    }
}

/* With ties: the mean over all orders of equals, here by drawing many of them. */
static void test_ndcg_is_the_mean_over_ties(void **state)
{
    (void)state;
    enum { DRAWS = 4000, N = 8 };
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (int round = 0; round < 10; round++) {
        double relevance[N], score[N], broken[N], got = 0, mean = 0;
        for (size_t i = 0; i < N; i++)
            relevance[i] = 3 * mel_rng_uniform(&rng);
        random_list(&rng, N, score, true);
        assert_ok(mel_ndcg(&got, N, relevance, score, NULL), NULL);
        for (int draw = 0; draw < DRAWS; draw++) {
            double one = 0;
            for (size_t i = 0; i < N; i++)
                broken[i] = score[i] + 1e-3 * mel_rng_uniform(&rng);
            assert_ok(mel_ndcg(&one, N, relevance, broken, NULL), NULL);
            assert_true(one > 0 && one <= 1);
            mean += one / DRAWS;
        }
        assert_close(got, mean, 5 * 0.2 / sqrt(DRAWS)); /* five times the largest standard error */
    }
}

static void test_order_is_sorted(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int round = 0; round < ROUNDS; round++) {
        double x[MOST];
        size_t order[MOST], place[MOST], seen[MOST] = { 0 };
        const size_t n = 1 + mel_rng_below(&rng, MOST);
        const mel_orientation orientation = round % 3 == 0 ? MEL_COST : MEL_UTILITY;
        random_list(&rng, n, x, round % 2 == 0);
        assert_ok(mel_rank_order(order, place, n, x, orientation, NULL), NULL);
        for (size_t i = 0; i < n; i++) {
            size_t better = 0;
            seen[order[i]]++;
            for (size_t j = 0; j < n; j++)
                better += orientation == MEL_COST ? x[j] < x[i] : x[j] > x[i];
            assert_int_equal(place[i], better + 1);
            if (i > 0)
                assert_true(place[order[i - 1]] < place[order[i]] ||
                            (place[order[i - 1]] == place[order[i]] && order[i - 1] < order[i]));
        }
        for (size_t i = 0; i < n; i++)
            assert_int_equal(seen[i], 1);
    }
}

static void test_probabilities_fit_together(void **state)
{
    (void)state;
    enum { SAMPLES = 50, N = 6 };
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (int round = 0; round < 100; round++) {
        double values[SAMPLES * N], beats[N * N], places[N * N];
        random_list(&rng, COUNT(values), values, round % 2 == 0);
        const mel_orientation orientation = round % 3 == 0 ? MEL_COST : MEL_UTILITY;
        const mel_rank_samples of = { SAMPLES, N, values, NULL, orientation };
        assert_ok(mel_rank_beats(beats, &of, NULL), NULL);
        assert_ok(mel_rank_places(places, &of, NULL), NULL);
        for (size_t i = 0; i < N; i++) {
            double row = 0, column = 0, mean_place = 0, beaten_by = 0;
            for (size_t j = 0; j < N; j++) {
                row += places[i * N + j];
                column += places[j * N + i];
                mean_place += (double)(j + 1) * places[i * N + j];
                beaten_by += j != i ? beats[j * N + i] : 0;
                assert_close(beats[i * N + j] + beats[j * N + i], 1, 1e-15);
            }
            assert_close(row, 1, 1e-13);
            assert_close(column, 1, 1e-13);
            /* The expected place is one more than the expected number of better ones. */
            assert_close(mean_place, 1 + beaten_by, 1e-12);
        }
        double total = 0, whole = 0;
        size_t order[N];
        mel_placed_surely sure[N];
        for (size_t i = 0; i < N; i++)
            order[i] = (i + (size_t)round) % N;
        assert_ok(mel_rank_weigh(sure, &whole, &of, order, NULL), NULL);
        for (size_t i = 0; i < N; i++) {
            assert_close(sure[i].first, places[order[i] * N], 1e-13);
            total += sure[i].first;
        }
        assert_close(total, 1, 1e-12); /* equals share */
    }
}

/* Draws from intervals: the middle 95% are the interval, equal entries stay equal, lambda in [0, 1]. */
static void test_draws(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
    const double a[] = { 0.6, 0.8 }, b[] = { 1, 0.5, 0.5, 1 }, even[] = { 0.5, 0.5, 0.5, 0.5 };
    const double low[] = { 0.5, 0.7, 0.9, 0.1, 0.1, 1, 0.5 }, high[] = { 0.9, 0.9, 1.1, 0.6, 0.6, 1, 0.99 };
    mel_metric *metric = NULL;
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    assert_ok(mel_metric_fair_quadratic(&metric, &layout, NULL, NULL, a, b, 0.9, even, NULL), NULL);
    double drawn[7];
    mel_metric_draw(drawn, metric, &rng);
    assert_memory_equal(drawn, mel_metric_coefficient(metric), sizeof drawn); /* no intervals yet */
    assert_ok(mel_metric_set_intervals(metric, low, high, NULL), NULL);
    size_t below[7] = { 0 }, above[7] = { 0 };
    for (int draw = 0; draw < DRAWS; draw++) {
        mel_metric_draw(drawn, metric, &rng);
        assert_true(drawn[3] == drawn[4] && drawn[5] == 1 && drawn[6] >= 0 && drawn[6] <= 1);
        for (size_t i = 0; i < COUNT(drawn); i++) {
            below[i] += drawn[i] < low[i];
            above[i] += drawn[i] > high[i];
        }
        assert_ok(mel_metric_set_coefficients(metric, drawn, NULL), NULL);
        assert_ok(mel_metric_set_coefficients(metric, (double[]){ 0.6, 0.8, 1, 0.5, 0.5, 1, 0.9 }, NULL),
                  NULL);
    }
    const double error = 5 * sqrt(0.025 * 0.975 / DRAWS); /* five standard errors */
    for (size_t i = 0; i < COUNT(drawn); i++) {
        if (low[i] == high[i])
            continue;
        assert_close((double)below[i] / DRAWS, 0.025, error);
        assert_close((double)above[i] / DRAWS, 0.025, error);
    }
    mel_metric_free(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tau_counts_pairs),
        cmocka_unit_test(test_ndcg_is_the_mean_over_ties),
        cmocka_unit_test(test_order_is_sorted),
        cmocka_unit_test(test_probabilities_fit_together),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
