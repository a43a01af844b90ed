/* The searches for fair metrics (Algorithms 5.1, 5.2, D.2, D.3): random metrics, question counts, intervals.
 */
#include "support/binary.h"
#include "support/fair.h"

#include "base/la.h"
#include "elicit/engine.h"
#include "elicit/search/fair.h"
#include "metric/shared.h"
#include "support/multiclass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double half_pi = 1.57079632679489661923;
static const mel_noise exact = { .kind = MEL_NOISE_NONE };

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static mel_session_options options(test_fair_kind kind)
{
    mel_session_options opt =
        test_search_options(kind.quadratic ? MEL_FAMILY_FAIR_QUADRATIC : MEL_FAMILY_FAIR_LINEAR);
    opt.tolerance = 1e-3;
    opt.per_round = 2;
    opt.max_questions = UINT32_MAX;
    return opt;
}

static uint32_t rounds(double width, double tolerance)
{
    return (uint32_t)ceil(log2(width / tolerance) - 1e-9);
}

/* A search at one place: signs that are not known, whether there is a slope, and every angle. */
static uint32_t at_place(const mel_session_options *opt, size_t q, bool signs_known)
{
    const uint32_t angles = (uint32_t)q - 1;
    return (signs_known ? 0 : (uint32_t)q) + 1 +
           opt->cycles * angles * rounds(half_pi, opt->tolerance) * opt->per_round;
}

static uint32_t formula(test_fair_kind kind, const mel_session_options *opt)
{
    const bool signs = opt->direction != MEL_DIRECTION_UNKNOWN;
    const size_t q = test_fair_rates(kind), sets = opt->equal_pairs ? 1 : mel_group_pairs(kind.m);
    const bool known = opt->known != NULL, only_trade_off = known && !opt->known_costs_only;
    const uint32_t trade_off = opt->per_round * rounds(1.0, opt->tolerance);
    const uint32_t sure = at_place(opt, q, signs), unsure = at_place(opt, q, false);
    if (only_trade_off)
        return trade_off;
    const uint32_t planes = (uint32_t)q * at_place(opt, 2, false);
    const uint32_t per_set = !kind.quadratic   ? 2 * unsure
                             : opt->diagonal_b ? sure + planes
                                               : sure + ((uint32_t)q + 1) * unsure;
    return (kind.quadratic || known ? 0 : sure) + (uint32_t)sets * per_set +
           (opt->ask_trade_off ? trade_off : 0);
}

typedef struct {
    test_fair_errors p50, p90, most;
    double covered; /* share of coefficients within their intervals */
    double covered_lambda;
    uint32_t questions;
} errors;

enum { MOST_METRICS = 100 };

static void sort_errors(errors *out, size_t n, test_fair_errors *e)
{
    double value[3][MOST_METRICS];
    for (size_t i = 0; i < n; i++) {
        value[0][i] = e[i].a;
        value[1][i] = e[i].b;
        value[2][i] = e[i].lambda;
    }
    for (size_t j = 0; j < 3; j++)
        qsort(value[j], n, sizeof(double), ascending);
    const size_t p50 = n / 2, p90 = n * 9 / 10;
    out->p50 = (test_fair_errors){ value[0][p50], value[1][p50], value[2][p50] };
    out->p90 = (test_fair_errors){ value[0][p90], value[1][p90], value[2][p90] };
    out->most = (test_fair_errors){ value[0][n - 1], value[1][n - 1], value[2][n - 1] };
}

static double coverage(const mel_metric *found, const double *truth, size_t n, double *lambda)
{
    double covered = 0.0;
    for (size_t i = 0; i < n; i++) {
        double low = NAN, high = NAN;
        assert_true(mel_metric_interval(found, i, &low, &high));
        assert_true(low <= high);
        const bool inside = low - 1e-12 <= truth[i] && truth[i] <= high + 1e-12;
        covered += inside ? 1.0 / (double)n : 0.0;
        *lambda = inside ? 1.0 : 0.0;
    }
    return covered;
}

typedef struct {
    double lambda_low, lambda_high; /* uniform between */
    size_t n_metrics;
    mel_noise noise;
    bool known;
} trial;

static errors random_metrics(test_fair_kind kind, const mel_session_options *opt, const trial *t)
{
    const size_t n = test_fair_coefficients(kind);
    double *truth = malloc(n * sizeof *truth), *prevalence = malloc(kind.m * kind.k * sizeof *prevalence);
    test_fair_errors e[MOST_METRICS];
    errors out = { .questions = 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 61);
    for (size_t i = 0; i < t->n_metrics; i++) {
        test_fair_prevalence(prevalence, kind, &rng);
        mel_ball *ball = test_fair_ball(kind, prevalence);
        const double lambda = t->lambda_low + (t->lambda_high - t->lambda_low) * mel_rng_uniform(&rng);
        test_fair_draw(truth, kind, lambda, &rng);
        test_fair_simplify(truth, kind, opt);
        mel_metric *metric = test_fair_metric(kind, truth, prevalence);
        mel_session_options with = *opt;
        if (t->known)
            with.known = metric;
        mel_engine *engine = NULL;
        mel_error err;
        assert_ok(mel_engine_search_fair(&engine, &(mel_domain){ .ball = ball }, &with, &err), &err);
        assert_int_equal(engine->ops->expected(engine), formula(kind, &with));
        mel_oracle *oracle = test_oracle(metric, t->noise, i);
        mel_summary summary;
        mel_metric *found = test_search(&summary, engine, mel_ball_layout(ball), oracle);
        for (size_t j = 0; j < n; j++)
            assert_true(isfinite(mel_metric_coefficient(found)[j]));
        e[i] = test_fair_compare(kind, mel_metric_coefficient(found), truth);
        double covered_lambda = 0.0;
        out.covered += coverage(found, truth, n, &covered_lambda) / (double)t->n_metrics;
        out.covered_lambda += covered_lambda / (double)t->n_metrics;
        out.questions = summary.questions;
        engine->ops->free(engine);
        mel_oracle_free(oracle);
        mel_metric_free(found);
        mel_metric_free(metric);
        mel_ball_free(ball);
    }
    sort_errors(&out, t->n_metrics, e);
    free(truth);
    free(prevalence);
    return out;
}

static void print_errors(test_fair_kind kind, const char *what, const errors *e)
{
    print_message(
        "  k = %zu, m = %zu%s: %u questions; a %.5f (%.5f), b %.5f (%.5f), lambda %.5f (%.5f), covered "
        "%.4f, lambda %.2f\n",
        kind.k, kind.m, what, e->questions, e->p50.a, e->most.a, e->p50.b, e->most.b, e->p50.lambda,
        e->most.lambda, e->covered, e->covered_lambda);
}

/* --- random metrics ------------------------------------------------------------------------------ */

static void report(test_fair_kind kind, const char *what, const mel_session_options *opt, const trial *t,
                   test_fair_errors allowed, double covered)
{
    const errors e = random_metrics(kind, opt, t);
    print_errors(kind, what, &e);
    assert_true(e.p50.a <= allowed.a);
    assert_true(e.p50.b <= allowed.b);
    assert_true(e.p50.lambda <= allowed.lambda);
    assert_true(e.covered >= covered);
}

/* Angles end within half an interval, 0.00038 here, so that a is within sqrt(q - 1) of that and, all slopes
 * together, mostly below its standard deviation. b is as much farther off as sets of groups are worse told
 * apart (condition numbers of 1 to 6) and differences weigh less than mistakes. */
static void test_linear(void **state)
{
    (void)state;
    static const struct {
        size_t k, m, n;
    } rows[] = { { 2, 2, 60 }, { 2, 3, 60 }, { 2, 4, 30 }, { 2, 5, 30 }, { 2, 8, 5 },
                 { 3, 2, 30 }, { 3, 3, 30 }, { 3, 4, 10 }, { 3, 5, 5 },  { 4, 2, 10 },
                 { 4, 3, 5 },  { 5, 2, 5 },  { 5, 5, 2 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const test_fair_kind kind = { rows[i].k, rows[i].m, false };
        const double q = (double)test_fair_rates(kind), end = 0.00038;
        const mel_session_options opt = options(kind);
        const trial t = { .lambda_high = 1.0, .n_metrics = rows[i].n, .noise = exact };
        const test_fair_errors allowed = { end * sqrt((q - 1.0) / 3.0), 6.0 * end, end };
        report(kind, "", &opt, &t, allowed, 0.99);
    }
}

/* The curvature that shows is a step of 0.15 or less times lambda B, and of B only what turns slopes: errors
 * of B are those of the slopes divided by its square. */
static void test_quadratic(void **state)
{
    (void)state;
    static const struct {
        size_t k, m, n;
        double b;
    } rows[] = { { 2, 2, 60, 0.02 }, { 2, 3, 30, 0.02 }, { 2, 4, 15, 0.1 },
                 { 2, 5, 15, 0.1 },  { 3, 2, 30, 0.02 }, { 3, 3, 10, 0.02 },
                 { 3, 4, 3, 0.1 },   { 4, 2, 3, 0.1 },   { 5, 2, 1, 0.2 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const test_fair_kind kind = { rows[i].k, rows[i].m, true };
        const double q = (double)test_fair_rates(kind), end = 0.00038;
        const mel_session_options opt = options(kind);
        /* A few metrics without a small lambda among them: medians of all sizes of it are above. */
        const double least = rows[i].n < 10 ? 0.2 : 0.0;
        const trial t = { .lambda_low = least, .lambda_high = 1.0, .n_metrics = rows[i].n, .noise = exact };
        const test_fair_errors allowed = { end * sqrt((q - 1.0) / 3.0), rows[i].b, 0.005 };
        report(kind, ", quadratic", &opt, &t, allowed, 0.97);
    }
}

/* How far the found lambda B is from the true one, over how far no B at all would be. */
static double error_beside_none(test_fair_kind kind, const double *found, const double *truth)
{
    const size_t n = test_fair_coefficients(kind), last = n - 1;
    double off = 0.0, all = 0.0;
    for (size_t i = test_fair_rates(kind); i < last; i++) {
        off += pow(found[last] * found[i] - truth[last] * truth[i], 2.0);
        all += pow(truth[last] * truth[i], 2.0);
    }
    return sqrt(off / all);
}

/* At the thesis' tolerance a small trade-off hardly turns slopes: what their errors alone may have made is
 * not taken for B, and where nothing else is left the result says so, with the widest intervals. */
static void test_hidden_curvature(void **state)
{
    (void)state;
    static const size_t rows[][2] = { { 2, 2 }, { 2, 3 }, { 3, 2 }, { 3, 3 } };
    const size_t n_metrics = test_repeats(200, 20, 4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const test_fair_kind kind = { rows[i][0], rows[i][1], true };
        const size_t last = test_fair_coefficients(kind) - 1;
        double *truth = malloc((last + 1) * sizeof *truth),
               *prevalence = malloc(kind.m * kind.k * sizeof *prevalence), worst = 0.0;
        size_t straight = 0, held = 0;
        mel_rng rng;
        mel_rng_seed(&rng, 62);
        for (size_t j = 0; j < n_metrics; j++) {
            mel_session_options opt = options(kind);
            opt.tolerance = 0.01;
            test_fair_prevalence(prevalence, kind, &rng);
            test_fair_draw(truth, kind, 0.4 * mel_rng_uniform(&rng), &rng);
            mel_ball *ball = test_fair_ball(kind, prevalence);
            mel_metric *metric = test_fair_metric(kind, truth, prevalence);
            mel_engine *engine = NULL;
            mel_error err;
            assert_ok(mel_engine_search_fair(&engine, &(mel_domain){ .ball = ball }, &opt, &err), &err);
            mel_summary summary;
            mel_metric *found = test_search_exact(&summary, engine, metric);
            double low = NAN, high = NAN;
            assert_true(mel_metric_interval(found, last, &low, &high));
            held += low <= truth[last] && truth[last] <= high;
            worst = fmax(worst, error_beside_none(kind, mel_metric_coefficient(found), truth));
            if (summary.finding == MEL_FINDING_NO_CURVATURE) {
                straight++;
                assert_true(mel_metric_coefficient(found)[last] == 0.0 && summary.radius > opt.tolerance);
            }
            mel_metric_free(found);
            engine->ops->free(engine);
            mel_metric_free(metric);
            mel_ball_free(ball);
        }
        print_message(
            "  k = %zu, m = %zu: lambda B at most %.2f times as far off as none, %zu of %zu straight, "
            "lambda in its interval %zu times\n",
            kind.k, kind.m, worst, straight, n_metrics, held);
        assert_true(worst <= 1.2 && held * 100 >= n_metrics * 95);
        free(truth);
        free(prevalence);
    }
}

/* --- options ------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    bool equal_pairs, ask, known, costs_only, diagonal;
    mel_direction direction;
    test_fair_errors linear, quadratic; /* medians allowed */
} variant;
static const variant variants[] = {
    { .name = ", equal pairs",
      .equal_pairs = true,
      .linear = { 0.0005, 0.001, 0.0005 },
      .quadratic = { 0.0005, 0.02, 0.002 } },
    { .name = ", trade-off asked",
      .ask = true,
      .linear = { 0.0005, 0.002, 0.001 },
      .quadratic = { 0.0005, 0.02, 0.005 } },
    { .name = ", only the trade-off",
      .known = true,
      .linear = { 0.0, 0.0, 0.0005 },
      .quadratic = { 0.0, 0.0, 0.0005 } },
    { .name = ", costs known",
      .known = true,
      .costs_only = true,
      .linear = { 1e-12, 0.002, 0.0005 },
      .quadratic = { 1e-12, 0.02, 0.005 } },
    { .name = ", diagonal B", .diagonal = true, .quadratic = { 0.0005, 0.02, 0.005 } },
    { .name = ", signs asked for",
      .direction = MEL_DIRECTION_UNKNOWN,
      .linear = { 0.0005, 0.002, 0.0005 },
      .quadratic = { 0.0005, 0.02, 0.005 } },
};

static void test_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(variants); i++)
        for (int quadratic = variants[i].diagonal ? 1 : 0; quadratic < 2; quadratic++)
            for (size_t k = 2; k <= 3; k++)
                for (size_t m = 2; m <= 3; m++) {
                    const variant *v = &variants[i];
                    const test_fair_kind kind = { k, m, quadratic != 0 };
                    mel_session_options opt = options(kind);
                    opt.equal_pairs = v->equal_pairs;
                    opt.ask_trade_off = v->ask;
                    opt.known_costs_only = v->costs_only;
                    opt.diagonal_b = v->diagonal;
                    opt.direction = v->direction;
                    const trial t = { .lambda_low = 0.1,
                                      .lambda_high = 0.9,
                                      .n_metrics = kind.quadratic && k == 3 ? 3 : 11,
                                      .noise = exact,
                                      .known = v->known };
                    report(kind, v->name, &opt, &t, quadratic ? v->quadratic : v->linear, 0.97);
                }
}

/* --- noise --------------------------------------------------------------------------------------- */

/* Theorem 5.1: errors of O(sqrt(q) e), O(m q e) and O(tol + sqrt(band / inner) + sqrt(m q e / inner)) with e
 * = tol + sqrt(band / radius), when answers to differences below the band are anything. */
static void test_band_noise(void **state)
{
    (void)state;
    static const double bands[] = { 1e-4, 1e-3 };
    for (size_t k = 2; k <= 3; k++)
        for (size_t m = 2; m <= 3; m++)
            for (size_t i = 0; i < COUNT(bands); i++)
                for (int ask = 0; ask < 2; ask++) {
                    const test_fair_kind kind = { k, m, false };
                    const double q = (double)test_fair_rates(kind), groups = (double)m, radius = 0.2;
                    const double inner = radius / (1.0 + sqrt(q));
                    mel_session_options opt = options(kind);
                    opt.per_round = 4;
                    opt.ask_trade_off = ask != 0;
                    const trial t = { .lambda_low = 0.2,
                                      .lambda_high = 0.8,
                                      .n_metrics = 15,
                                      .noise = { .kind = MEL_NOISE_BAND, .size = bands[i] } };
                    const errors e = random_metrics(kind, &opt, &t);
                    const double slope = opt.tolerance + sqrt(bands[i] / radius);
                    const double bound =
                        opt.tolerance + sqrt(bands[i] / inner) + sqrt(groups * q * slope / inner);
                    const double a = e.most.a / (sqrt(q) * slope), b = e.most.b / (groups * q * slope);
                    print_message("  k = %zu, m = %zu, band %g%s: constants a %.3f, b %.3f, lambda %.3f\n", k,
                                  m, bands[i], ask ? ", trade-off asked" : "", a, b, e.most.lambda / bound);
                    assert_true(a <= 0.5);
                    assert_true(b <= 0.5);
                    assert_true(e.most.lambda <= 0.1 * bound);
                }
}

/* Lemma 5.1: the cost of the point that is best for a trade-off falls until the true one and rises from
 * there. */
static void test_cost_of_trade_offs(void **state)
{
    (void)state;
    enum { MOST = 6, ALONG = 200 };
    mel_rng rng;
    mel_rng_seed(&rng, 62);
    for (size_t t = 0; t < 200; t++) {
        const size_t q = 2 + t % (MOST - 1);
        mel_trade_off trade;
        mel_error err;
        assert_ok(mel_trade_off_init(&trade, q, &err), &err);
        const double truth = mel_rng_uniform(&rng);
        double slope[MOST], best[MOST], before = 0.0;
        for (size_t i = 0; i < q; i++) {
            trade.mistakes[i] = mel_rng_uniform(&rng);
            trade.apart[i] = mel_rng_uniform(&rng);
            slope[i] = (1.0 - truth) * trade.mistakes[i] + truth * trade.apart[i];
        }
        for (size_t j = 0; j <= ALONG; j++) {
            const double lambda = (double)j / ALONG;
            mel_trade_off_direction(best, &trade, lambda);
            const double cost = mel_dot(q, slope, best);
            if (j > 0 && lambda <= truth)
                assert_true(cost < before);
            if (j > 0 && lambda - 1.0 / ALONG >= truth)
                assert_true(cost > before);
            before = cost;
        }
        mel_trade_off_clear(&trade);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_hidden_curvature),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_cost_of_trade_offs),
        cmocka_unit_test(test_band_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
