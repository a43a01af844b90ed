/* How often it is true that a rule costs at most so much more than the best one for the metric that is meant:
 * the metric is known roughly, the rows are few, the probabilities are shifted. */
#include "base/rng.h"
#include "base/stat.h"
#include "model/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 1000, GRID = 2001, METRICS = 200 };

/* Logits of the model are normal; the true ones are these times slope plus shift. */
typedef struct {
    double slope, shift;
} world;

static double chance(double logit)
{
    return 1.0 / (1.0 + exp(-logit));
}

/* What deciding positive from this logit on costs everybody there is. */
static double cost_at(const world *w, double from, double ratio)
{
    double cost = 0.0, all = 0.0;
    for (size_t i = 0; i < GRID; i++) {
        const double z = -5.0 + 10.0 * (double)i / (GRID - 1), logit = 1.8 * z - 0.7,
                     density = exp(-0.5 * z * z);
        const double p = chance(w->slope * logit + w->shift);
        cost += density * (logit < from ? ratio * p : 1.0 - p);
        all += density;
    }
    return cost / all;
}

static bool one_run(const world *w, size_t n, double ratio, double deviation, double *bound, mel_rng *rng)
{
    static double probability[2 * MOST], draws[2 * METRICS];
    static uint32_t label[MOST];
    mel_metric *metric = NULL;
    mel_classifier *found = NULL;
    mel_adjustment curve = { 0 };
    mel_rule_report report;
    mel_trust trust;
    mel_rule_options opt;
    mel_trust_options sure;
    mel_error err;
    for (size_t r = 0; r < n; r++) {
        const double logit = 1.8 * mel_rng_normal(rng) - 0.7;
        probability[2 * r + 1] = chance(logit);
        probability[2 * r] = 1.0 - probability[2 * r + 1];
        label[r] = mel_rng_uniform(rng) < chance(w->slope * logit + w->shift);
    }
    const double known = ratio * exp(deviation * mel_rng_normal(rng));
    assert_ok(mel_metric_costs(&metric, 2, (const double[]){ 0, 1, known, 0 }, NULL, &err), &err);
    for (size_t i = 0; i < METRICS; i++) {
        draws[2 * i] = 1.0;
        draws[2 * i + 1] = known * exp(deviation * mel_rng_normal(rng));
    }
    const mel_rule_rows rows = { .n_rows = n, .n_classes = 2, .probability = probability, .label = label };
    mel_rule_options_init(&opt);
    mel_trust_options_init(&sure);
    assert_ok(mel_rule_calibrate(&curve, &rows, metric, NULL, &opt, &err), &err);
    opt.adjustment = &curve;
    assert_ok(mel_rule_find(&found, &report, &rows, metric, NULL, &opt, &err), &err);
    sure.calibrated = true;
    sure.n_metrics = METRICS;
    sure.metrics = draws;
    assert_ok(mel_rule_trust(&trust, found, &rows, metric, NULL, &opt, &sure, &err), &err);
    const double t = trust.n_thresholds == 1 ? trust.threshold[0].threshold : (double)NAN;
    *bound = trust.regret;
    const double best = (log(1.0 / ratio) - w->shift) / w->slope;
    const double extra = cost_at(w, log(t / (1.0 - t)), ratio) / cost_at(w, best, ratio) - 1.0;
    mel_trust_clear(&trust);
    mel_rule_report_clear(&report);
    mel_adjustment_clear(&curve);
    mel_classifier_free(found);
    mel_metric_free(metric);
    return !isfinite(*bound) || extra <= *bound;
}

static void test_how_often_it_is_true(void **state)
{
    (void)state;
    static const struct {
        world w;
        size_t n;
        double ratio, deviation;
    } cases[] = { { { 1.0, 0.0 }, 300, 5.0, 0.25 },
                  { { 0.6, 0.5 }, 1000, 5.0, 0.25 },
                  { { 1.3, -0.5 }, 300, 1.0, 0.5 },
                  { { 0.8, -0.5 }, 500, 10.0, 0.05 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const size_t runs = test_repeats(1000, 30, 3);
        size_t held = 0, unknown = 0;
        double sum = 0.0;
        for (size_t run = 0; run < runs; run++) {
            mel_rng rng;
            double bound = NAN;
            mel_rng_seed_stream(&rng, 100 + c, run);
            held += one_run(&cases[c].w, cases[c].n, cases[c].ratio, cases[c].deviation, &bound, &rng);
            unknown += isfinite(bound) ? 0 : 1;
            sum += isfinite(bound) ? bound : 0.0;
        }
        print_message("  %zu rows, ratio %g known to a factor of %.2f: true in %.1f%%, unknown %.1f%%, "
                      "%.1f%% on average\n",
                      cases[c].n, cases[c].ratio, exp(3.92 * cases[c].deviation),
                      100.0 * (double)held / (double)runs, 100.0 * (double)unknown / (double)runs,
                      100.0 * sum / (double)runs);
        /* Less often than in 95% only as chance allows: once in a thousand. */
        size_t least = runs;
        while (least > 0 && mel_beta_inc((double)least, (double)(runs - least) + 1.0, 0.95) < 0.999)
            least--;
        assert_true(held >= least);
        assert_true(unknown <= runs / 10);
        assert_true(sum / (double)runs < 0.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_how_often_it_is_true) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
