/* Orders of pools: tau, NDCG, places, ties, probabilities, refusals. */
#include "support/test.h"

#include "base/rng.h"
#include "base/stat.h"
#include "melicit/rank.h"
#include "rank/rank.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double tau(size_t n, const double *x, const double *y)
{
    double out = 7;
    mel_error err = { 0 };
    assert_ok(mel_kendall_tau(&out, n, x, y, &err), &err);
    return out;
}

static void test_kendall(void **state)
{
    (void)state;
    const struct {
        const char *what;
        size_t n;
        double x[6], y[6], want;
    } rows[] = {
        { "same", 4, { 1, 2, 3, 4 }, { 10, 20, 30, 40 }, 1 },
        { "opposite", 4, { 1, 2, 3, 4 }, { 4, 3, 2, 1 }, -1 },
        { "one swap of neighbours", 4, { 1, 2, 3, 4 }, { 1, 3, 2, 4 }, 4.0 / 6 },
        /* of ten pairs one is tied in x, three in y; two are concordant, four discordant */
        { "ties", 5, { 1, 1, 2, 3, 4 }, { 1, 2, 2, 2, 0.5 }, (2.0 - 4) / sqrt(9.0 * 7) },
        { "ties in both", 4, { 1, 1, 2, 2 }, { 1, 1, 2, 2 }, 1 },
        { "zeros of both signs are equal", 3, { -0.0, 0.0, 1 }, { 0.0, -0.0, 1 }, 1 },
        { "a constant", 3, { 1, 1, 1 }, { 1, 2, 3 }, (double)NAN },
        { "two constants", 2, { 1, 1 }, { 2, 2 }, (double)NAN },
        { "one number", 1, { 1 }, { 2 }, (double)NAN },
        { "none", 0, { 0 }, { 0 }, (double)NAN },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        const double got = tau(rows[i].n, rows[i].x, rows[i].y);
        if (isnan(rows[i].want))
            assert_true(isnan(got));
        else
            assert_close(got, rows[i].want, 1e-15);
    }
    const double x[] = { 1, 2 }, y[] = { 1, (double)NAN };
    double out = 7;
    mel_error err = { 0 };
    assert_int_equal(mel_kendall_tau(&out, 2, x, y, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "second list: number 2 is"));
    assert_int_equal(mel_kendall_tau(&out, 2, y, x, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "first list: number 2 is"));
    assert_true(out == 7);
}

static void test_ndcg(void **state)
{
    (void)state;
    const double second = 1 / log2(3), third = 0.5, two = log2(3); /* 2^two - 1 = 2 */
    const struct {
        const char *what;
        double relevance[3], score[3], want;
    } rows[] = {
        { "best order", { 3, 2, 1 }, { 9, 8, 7 }, 1 },
        { "turned", { 3, 2, 1 }, { 7, 8, 9 }, (1 + 3 * second + 7 * third) / (7 + 3 * second + 1 * third) },
        { "turned, gains of 3, 2, 1",
          { 2, two, 1 },
          { 7, 8, 9 },
          (1 + 2 * second + 3 * third) / (3 + 2 * second + 1 * third) },
        { "all tied", { 2, two, 1 }, { 5, 5, 5 }, 2 * (1 + second + third) / (3 + 2 * second + 1 * third) },
        { "the last two tied",
          { 2, two, 1 },
          { 9, 8, 8 },
          (3 + 1.5 * second + 1.5 * third) / (3 + 2 * second + 1 * third) },
        { "nothing is relevant", { 0, 0, 0 }, { 1, 2, 3 }, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        double out = 7;
        mel_error err = { 0 };
        assert_ok(mel_ndcg(&out, 3, rows[i].relevance, rows[i].score, &err), &err);
        assert_close(out, rows[i].want, 1e-15);
    }
    double out = 7;
    mel_error err = { 0 };
    const double good[] = { 1, 2 }, negative[] = { 1, -1 }, huge[] = { 1, 1e4 }, none[] = { (double)NAN, 1 };
    assert_int_equal(mel_ndcg(&out, 0, good, good, &err), MEL_EINVAL);
    assert_int_equal(mel_ndcg(&out, 2, negative, good, &err), MEL_EINVAL);
    assert_string_equal(err.text, "relevance 2 is -1, not from 0 to 1000");
    assert_int_equal(mel_ndcg(&out, 2, huge, good, &err), MEL_EINVAL);
    assert_int_equal(mel_ndcg(&out, 2, none, good, &err), MEL_EINVAL);
    assert_int_equal(mel_ndcg(&out, 2, good, none, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "score 1 is"));
    assert_true(out == 7);
}

static const mel_layout two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };

static void test_pool(void **state)
{
    (void)state;
    const double a[] = { 1, 2 }, pool[] = { 0.5, 0, 0, 0.125, 0.25, 0.25, 0, 0.25 };
    const double want[] = { 0.5, 0.25, 0.75, 0.5 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    double values[4];
    size_t order[4], place[4];
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &two, NULL, MEL_COST, a, &err), &err);
    assert_ok(mel_rank_values(values, metric, 4, pool, &err), &err);
    assert_memory_equal(values, want, sizeof want);
    assert_ok(mel_rank_order(order, place, 4, values, MEL_COST, &err), &err);
    const size_t cheap[] = { 1, 0, 3, 2 }, cheap_place[] = { 2, 1, 4, 2 };
    assert_memory_equal(order, cheap, sizeof cheap);
    assert_memory_equal(place, cheap_place, sizeof cheap_place);
    assert_ok(mel_rank_order(order, NULL, 4, values, MEL_UTILITY, &err), &err);
    const size_t dear[] = { 2, 0, 3, 1 };
    assert_memory_equal(order, dear, sizeof dear);
    const double broken[] = { 0, 0, (double)NAN, 0 };
    assert_int_equal(mel_rank_values(values, metric, 2, broken, &err), MEL_ENUMERIC);
    assert_non_null(strstr(err.text, "row 2 of the pool"));
    assert_int_equal(mel_rank_order(order, NULL, 4, broken, MEL_COST, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "value 3 is"));
    assert_ok(mel_rank_order(order, place, 0, values, MEL_COST, &err), &err);
    mel_metric_free(metric);
}

static void test_agreement(void **state)
{
    (void)state;
    const double costs[] = { 0.1, 0.2, 0.3, 0.4 }, utilities[] = { 9, 8, 7, 6 }, worse[] = { 8, 9, 7, 6 };
    const double level[] = { 5, 5, 5, 5 }, wide[] = { -1.7e308, 0, 1, 1.7e308 };
    mel_agreement got = { 0 };
    mel_error err = { 0 };
    assert_ok(mel_rank_agreement(&got, 4, costs, MEL_COST, utilities, MEL_UTILITY, &err), &err);
    assert_true(got.tau == 1 && got.ndcg == 1 && got.same_best);
    assert_ok(mel_rank_agreement(&got, 4, costs, MEL_COST, worse, MEL_UTILITY, &err), &err);
    assert_close(got.tau, 4.0 / 6, 1e-15);
    const double g = exp2(2.0 / 3) - 1, h = exp2(1.0 / 3) - 1;
    assert_close(got.ndcg, (g + 1 / log2(3) + h / 2) / (1 + g / log2(3) + h / 2), 1e-14);
    assert_false(got.same_best);
    assert_ok(mel_rank_agreement(&got, 4, utilities, MEL_COST, utilities, MEL_UTILITY, &err), &err);
    assert_true(got.tau == -1 && got.ndcg < 0.8 && !got.same_best);
    /* One that tells none apart puts all on the first place. */
    assert_ok(mel_rank_agreement(&got, 4, costs, MEL_COST, level, MEL_UTILITY, &err), &err);
    assert_true(isnan(got.tau) && got.ndcg < 1 && got.same_best);
    assert_ok(mel_rank_agreement(&got, 4, level, MEL_COST, costs, MEL_COST, &err), &err);
    assert_true(isnan(got.tau) && got.ndcg == 1 && got.same_best);
    assert_ok(mel_rank_agreement(&got, 4, wide, MEL_COST, costs, MEL_COST, &err), &err);
    assert_true(got.tau == 1 && got.ndcg == 1 && got.same_best);
    assert_int_equal(mel_rank_agreement(&got, 0, costs, MEL_COST, costs, MEL_COST, &err), MEL_EINVAL);
    const double none[] = { 1, (double)INFINITY };
    assert_int_equal(mel_rank_agreement(&got, 2, none, MEL_COST, costs, MEL_COST, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "reference value 2 is"));
    assert_int_equal(mel_rank_agreement(&got, 2, costs, MEL_COST, none, MEL_COST, &err), MEL_EINVAL);
}

/* Values that differ by rounding alone are equal, whatever their scale. */
static void test_rounding(void **state)
{
    (void)state;
    const double third = 1.0 / 3.0, scales[] = { 1e-20, 1, 1e20 };
    const size_t order[] = { 1, 0, 2 };
    for (size_t i = 0; i < COUNT(scales); i++) {
        const double values[] = { scales[i] * (third + 1e-16), scales[i] * third, scales[i] * 0.1 };
        double probability = 0.0;
        size_t best[3], place[3];
        mel_placed_surely sure[3];
        mel_error err = { 0 };
        const mel_rank_samples one = { 1, 3, values, NULL, MEL_UTILITY };
        assert_ok(mel_rank_weigh(sure, &probability, &one, order, &err), &err);
        assert_true(probability == 0.5 && sure[0].first == 0.5 && sure[0].beats_next == 0.5);
        assert_true(sure[0].stands_next == 1.0 && sure[1].beats_next == 1.0);
        assert_ok(mel_rank_order(best, place, 3, values, MEL_UTILITY, &err), &err);
        assert_true(place[0] == 1 && place[1] == 1 && place[2] == 3);
    }
}

/* Comparisons of neighbours that know more: who is best follows them, however many draws say otherwise. */
static void test_reconciled(void **state)
{
    (void)state;
    enum { N = 3, S = 1000 };
    static double values[S * N], weight[S];
    const size_t order[N] = { 2, 0, 1 };
    mel_rank_samples of = { S, N, values, NULL, MEL_UTILITY };
    mel_placed_surely sure[N];
    double whole = 0.0;
    mel_error err = { 0 };
    for (size_t s = 0; s < S; s++) { /* position 2 beats 0 in 974 of 1,000, 0 beats 1 always */
        values[s * N] = s < 26 ? 3.0 : 1.0;
        values[s * N + 1] = 0.5;
        values[s * N + 2] = 2.0;
    }
    const double beats[] = { 0.970, 0.9995 };
    assert_ok(mel_rank_reconcile(weight, &of, order, beats, &err), &err);
    of.weight = weight;
    assert_ok(mel_rank_weigh(sure, &whole, &of, order, &err), &err);
    assert_close(sure[0].first, 0.970, 1e-9);
    assert_close(sure[0].beats_next, 0.970, 1e-9);
    assert_close(sure[1].first, 0.030, 1e-9);
    assert_close(sure[2].first, 0.0, 0.0);
    assert_close(whole, 0.970, 1e-9);
    of.weight = NULL;
    const double none[] = { 1.0, 1.0 }; /* what draws say and comparisons exclude */
    assert_ok(mel_rank_reconcile(weight, &of, order, none, &err), &err);
    of.weight = weight;
    assert_ok(mel_rank_weigh(sure, &whole, &of, order, &err), &err);
    assert_true(sure[1].first == 0.0);
    assert_close(sure[0].first, 1.0, 1e-12);
    memset(weight, 0, sizeof weight);
    assert_int_equal(mel_rank_reconcile(weight, &of, order, none, &err), MEL_EINVAL);
}

/* Four equally likely cost metrics of three classifiers. */
static void test_samples(void **state)
{
    (void)state;
    enum { N = 3, S = 4 };
    const double values[S * N] = { 1, 2, 3, 1, 3, 2, 2, 1, 3, 1, 1, 4 };
    double beats[N * N], places[N * N], probability = 0;
    mel_rank_samples of = { S, N, values, NULL, MEL_COST };
    mel_error err = { 0 };
    assert_ok(mel_rank_beats(beats, &of, &err), &err);
    const double beats_want[] = { 0.5, 2.5 / 4, 1, 1.5 / 4, 0.5, 3.0 / 4, 0, 1.0 / 4, 0.5 };
    for (size_t i = 0; i < COUNT(beats_want); i++)
        assert_close(beats[i], beats_want[i], 0);
    assert_ok(mel_rank_places(places, &of, &err), &err);
    const double places_want[] = { 2.5 / 4, 1.5 / 4, 0, 1.5 / 4, 1.5 / 4, 1.0 / 4, 0, 1.0 / 4, 3.0 / 4 };
    for (size_t i = 0; i < COUNT(places_want); i++)
        assert_close(places[i], places_want[i], 0);
    const struct {
        size_t order[N];
        mel_orientation orientation;
        double want;
    } rows[] = { { { 0, 1, 2 }, MEL_COST, 1.5 / 4 },
                 { { 2, 1, 0 }, MEL_COST, 0 },
                 { { 2, 1, 0 }, MEL_UTILITY, 1.5 / 4 },
                 { { 1, 0, 2 }, MEL_COST, 1.5 / 4 } };
    mel_placed_surely sure[N];
    for (size_t i = 0; i < COUNT(rows); i++) {
        of.orientation = rows[i].orientation;
        assert_ok(mel_rank_weigh(sure, &probability, &of, rows[i].order, &err), &err);
        assert_close(probability, rows[i].want, 0);
    }
    for (size_t i = 0; i < N; i++) /* of the last one */
        assert_close(sure[i].first, places[rows[3].order[i] * N], 0);
    assert_close(sure[0].beats_next, beats[1 * N + 0], 0);
    assert_close(sure[0].stands_next, 2.0 / 4, 0);
    assert_true(isnan(sure[N - 1].beats_next) && isnan(sure[N - 1].stands_next));
    /* Weighed: only the third sample. */
    const double third[S] = { 0, 0, 0.2, 0 };
    of.weight = third;
    assert_ok(mel_rank_places(places, &of, &err), &err);
    assert_true(places[N] == 1.0 && places[1] == 1.0 && places[(size_t)2 * N + 2] == 1.0);
    const double broken[] = { 1, 2, 3, (double)NAN };
    const mel_rank_samples bad = { 2, 2, broken, NULL, MEL_COST }, none = { 0, 2, values, NULL, MEL_COST },
                           nobody = { 2, 0, values, NULL, MEL_COST };
    assert_int_equal(mel_rank_beats(beats, &bad, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "sample 2: value 2 is"));
    assert_int_equal(mel_rank_places(places, &none, &err), MEL_EINVAL);
    assert_int_equal(mel_rank_places(places, &nobody, &err), MEL_EINVAL);
}

/* --- rankings ------------------------------------------------------------------------------------- */

enum { CLASSIFIERS = 3 };

static mel_ranking *make_ranking(mel_ranking_options *opt, const char *measure, mel_status want)
{
    mel_measure *made = NULL;
    mel_ranking *ranking = NULL;
    mel_error err = { 0 };
    assert_ok(mel_measure_named(&made, measure, 2, 0, &err), &err);
    opt->measure = made;
    assert_int_equal(mel_ranking_make(&ranking, opt, &err), want);
    mel_measure_free(made);
    return ranking;
}

/* Rows of classifiers that are right with these probabilities, whichever class it is. */
static void draw_rows(size_t n, uint32_t *truth, uint32_t *code[CLASSIFIERS], double *counts,
                      const double *right, mel_rng *rng)
{
    memset(counts, 0, sizeof *counts * 4 * CLASSIFIERS);
    for (size_t r = 0; r < n; r++) {
        truth[r] = mel_rng_uniform(rng) < 0.4;
        for (size_t i = 0; i < CLASSIFIERS; i++) {
            code[i][r] = mel_rng_uniform(rng) < right[i] ? truth[r] : 1 - truth[r];
            counts[i * 4 + (size_t)2 * truth[r] + code[i][r]] += 1.0;
        }
    }
}

static void check_consistent(const mel_ranking *ranking)
{
    const mel_ranking_info info = mel_ranking_about(ranking);
    double beats[CLASSIFIERS * CLASSIFIERS], places[CLASSIFIERS * CLASSIFIERS], all = 0.0;
    assert_ok(mel_ranking_beats(beats, ranking, NULL), NULL);
    assert_ok(mel_ranking_places(places, ranking, NULL), NULL);
    for (size_t i = 0; i < CLASSIFIERS; i++) {
        all += info.best[i];
        assert_close(places[i * CLASSIFIERS], info.best[i], 1e-9);
    }
    assert_close(all, 1.0, 1e-9);
    for (size_t i = 0; i + 1 < CLASSIFIERS; i++)
        assert_close(beats[info.order[i] * CLASSIFIERS + info.order[i + 1]], info.beats_next[i], 1e-6);
    assert_true(info.order_probability <= info.best[info.order[0]] + 1e-9);
}

/* Of classifiers that are said to be the best one with some probability so many are: measures with kinks and
 * without, tested on the same rows and apart. */
static void test_best_is_calibrated(void **state)
{
    (void)state;
    enum { ROWS = 120 };
    static const char *const measures[] = { "accuracy", "min-recall", "f1" };
    const size_t runs = test_repeats(2000, 300, 60);
    uint32_t truth[ROWS], code[CLASSIFIERS][ROWS];
    uint32_t *codes[CLASSIFIERS] = { code[0], code[1], code[2] };
    const uint32_t *decided[CLASSIFIERS] = { code[0], code[1], code[2] };
    mel_rng rng;
    mel_rng_seed(&rng, 77);
    for (size_t m = 0; m < 2 * COUNT(measures); m++) {
        const bool apart = m % 2 == 1;
        double said = 0.0, variance = 0.0, is = 0.0, counts[CLASSIFIERS * 4];
        for (size_t run = 0; run < runs; run++) {
            double right[CLASSIFIERS];
            for (size_t i = 0; i < CLASSIFIERS; i++)
                right[i] = 0.65 + 0.3 * mel_rng_uniform(&rng);
            draw_rows(ROWS, truth, codes, counts, right, &rng);
            mel_ranking_options opt;
            mel_ranking_options_init(&opt);
            opt.n = CLASSIFIERS;
            opt.seed = run + 1;
            opt.draws = 400;
            opt.counts = apart ? counts : NULL;
            opt.n_rows = apart ? 0 : ROWS;
            opt.truth = truth;
            opt.decided = decided;
            mel_ranking *ranking = make_ranking(&opt, measures[m / 2], MEL_OK);
            check_consistent(ranking);
            const mel_ranking_info info = mel_ranking_about(ranking);
            const size_t top = info.order[0];
            said += info.best[top];
            variance += info.best[top] * (1.0 - info.best[top]);
            is += right[top] >= right[0] && right[top] >= right[1] && right[top] >= right[2];
            mel_ranking_free(ranking);
        }
        const double n = (double)runs;
        print_message("  %s, %s: said of the first that it is the best one %.3f, true %.3f\n",
                      measures[m / 2], apart ? "apart" : "on the same rows", said / n, is / n);
        assert_close(said / n, is / n, 3.5 * sqrt(variance) / n + 0.02);
    }
}

/* Neighbours whom draws never show the other way round, one of ten rows, and identical ones. */
static void test_rankings_of_few_rows(void **state)
{
    (void)state;
    const uint32_t truth[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 }, all[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 },
                   most[] = { 1, 0, 0, 0, 0, 1, 1, 1, 1, 1 };
    const uint32_t *decided[] = { most, all, most };
    mel_ranking_options opt;
    mel_ranking_options_init(&opt);
    opt.n = 2;
    opt.n_rows = 10;
    opt.truth = truth;
    opt.decided = decided;
    mel_ranking *pair = make_ranking(&opt, "accuracy", MEL_OK);
    mel_ranking_info info = mel_ranking_about(pair);
    const double want = mel_beta_inc(0.5, 1.5, 0.5); /* one vote against none */
    assert_close(info.beats_next[0], want, 1e-12);
    assert_close(info.best[1], want, 1e-9);
    assert_close(info.order_probability, want, 1e-9);
    mel_ranking_free(pair);
    opt.n = 3; /* the first and the last are the same */
    mel_ranking *three = make_ranking(&opt, "accuracy", MEL_OK);
    info = mel_ranking_about(three);
    assert_true(info.place[0] == 2 && info.place[1] == 1 && info.place[2] == 2);
    assert_close(info.beats_next[1], 0.5, 1e-12);
    assert_close(info.best[0], info.best[2], 1e-9);
    assert_close(info.order_probability, info.best[1] / 2.0, 1e-9);
    mel_ranking_free(three);
    opt.n = 1;
    mel_ranking *one = make_ranking(&opt, "accuracy", MEL_OK);
    info = mel_ranking_about(one);
    assert_true(info.beats_next == NULL);
    assert_close(info.best[0], 1.0, 1e-12);
    assert_close(info.order_probability, 1.0, 1e-12);
    mel_ranking_free(one);
}

static void test_refused_rankings(void **state)
{
    (void)state;
    const double counts[] = { 5, 1, 2, 4, 3, 3, 3, 3 };
    const uint32_t truth[] = { 0, 1 }, wrong[] = { 0, 2 }, *decided[] = { truth, wrong };
    mel_ranking_options opt;
    mel_ranking_options_init(&opt);
    assert_null(make_ranking(&opt, "accuracy", MEL_EINVAL)); /* nobody */
    opt.n = 2;
    assert_null(make_ranking(&opt, "accuracy", MEL_EINVAL)); /* nothing is known of them */
    opt.statistics = counts;
    assert_null(make_ranking(&opt, "accuracy", MEL_EINVAL)); /* statistics without a metric */
    opt.statistics = NULL;
    opt.n_rows = 2;
    opt.truth = truth;
    opt.decided = decided;
    assert_null(make_ranking(&opt, "accuracy", MEL_EINVAL)); /* code 2 of two classes */
    opt.n_rows = 0;
    opt.counts = counts;
    opt.draws = 0;
    assert_null(make_ranking(&opt, "accuracy", MEL_EINVAL));
    opt.draws = 100;
    opt.shares = true; /* of nobody knows how many rows */
    mel_ranking *ranking = make_ranking(&opt, "accuracy", MEL_OK);
    const mel_ranking_info info = mel_ranking_about(ranking);
    double beats[4];
    mel_error err = { 0 };
    assert_true(info.order[0] == 0 && info.certainty == NULL && info.best == NULL && info.unsure == NULL);
    assert_int_equal(mel_ranking_beats(beats, ranking, &err), MEL_ESTATE);
    mel_ranking_free(ranking);
}

static void test_sampled_values(void **state)
{
    (void)state;
    const double a[] = { 1, 2 }, samples[] = { 1, 0, 0, 1 }, pool[] = { 0.5, 0.25, 0.125, 1, 0, 0.75 };
    const double want[] = { 0.5, 0.125, 0, 0.25, 1, 0.75 }, broken[] = { 1, 0, (double)NAN, 1 };
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    double values[6];
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &two, NULL, MEL_COST, a, &err), &err);
    assert_ok(mel_rank_sampled_values(values, metric, 2, samples, 3, pool, &err), &err);
    assert_memory_equal(values, want, sizeof want);
    assert_memory_equal(mel_metric_coefficient(metric), a, sizeof a); /* untouched */
    assert_int_equal(mel_rank_sampled_values(values, metric, 2, broken, 3, pool, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "sample 2: coefficient 1 of a linear metric"));
    assert_int_equal(mel_metric_set_coefficients(metric, broken + 2, &err), MEL_EINVAL);
    assert_memory_equal(mel_metric_coefficient(metric), a, sizeof a);
    mel_metric_free(metric);
}

/* Whoever asks is told the same, and what mel_metric_neighbours says about the same pairs. */
static void test_closest(void **state)
{
    (void)state;
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    enum { N = 3 };
    mel_neighbour first[N], second[N], expected[N];
    size_t n = 0;
    mel_face *face = NULL;
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    assert_ok(mel_face_from_logistic(&face, 5.0, 1.0, &err), &err);
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY,
                                (const double[]){ 0.9, 0.4 }, &err),
              &err);
    assert_ok(mel_closest_metrics(first, N, &n, metric, face, &err), &err);
    assert_int_equal(n, N);
    assert_ok(mel_closest_metrics(second, N, &n, metric, face, &err), &err);
    double *points = mel_closest_pairs(face);
    assert_non_null(points);
    assert_ok(mel_metric_neighbours(expected, N, &n, metric, mel_face_positives(face), MEL_CLOSEST_PAIRS,
                                    points, points + 2 * (size_t)MEL_CLOSEST_PAIRS, NULL, &err),
              &err);
    for (size_t i = 0; i < 2 * (size_t)MEL_CLOSEST_PAIRS; i++)
        assert_true(mel_face_contains(face, (mel_point){ points[2 * i], points[2 * i + 1] }, 1e-12));
    for (size_t i = 0; i < N; i++) {
        assert_string_equal(first[i].name, expected[i].name);
        assert_true(first[i].agreement == expected[i].agreement && first[i].agreement == second[i].agreement);
    }
    free(points);
    mel_metric_free(metric);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closest),
        cmocka_unit_test(test_kendall),
        cmocka_unit_test(test_ndcg),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_reconciled),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_best_is_calibrated),
        cmocka_unit_test(test_rankings_of_few_rows),
        cmocka_unit_test(test_refused_rankings),
        cmocka_unit_test(test_sampled_values),
        cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
