/* Certified limits: in how many data sets a limit is broken on new rows, what that costs in false alarms, and
 * whether as many rows as are asked for would do. Scores are normal, so that what a rule does is known. */
#include "base/rng.h"
#include "base/stat.h"
#include "classify/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 12000, GRID = 4001 };
/* AUC 0.87; three in ten are positive. */
static const double apart = 1.593, positives = 0.3;

typedef struct {
    size_t n, m;
    double probability[2 * MOST], weight[MOST];
    uint32_t label[MOST], group[MOST];
} sample;

static const char *const class_names[] = { "fine", "ill" }, *const group_names[] = { "u", "v" };

static double probability_at(double score)
{
    return 1.0 / (1.0 + (1.0 - positives) / positives * exp(-apart * score + 0.5 * apart * apart));
}

static void draw(sample *s, size_t n, size_t m, mel_rng *rng)
{
    s->n = n;
    s->m = m;
    for (size_t r = 0; r < n; r++) {
        s->label[r] = mel_rng_uniform(rng) < positives;
        s->group[r] = mel_rng_uniform(rng) < 0.4;
        const double p = probability_at(apart * s->label[r] + mel_rng_normal(rng));
        s->probability[2 * r] = 1.0 - p;
        s->probability[2 * r + 1] = p;
        s->weight[r] = 0.5 + mel_rng_uniform(rng);
    }
}

static mel_rule_rows rows_of(const sample *s)
{
    return (mel_rule_rows){ .n_rows = s->n,
                            .n_classes = 2,
                            .n_groups = s->m,
                            .probability = s->probability,
                            .label = s->label,
                            .group = s->m > 1 ? s->group : NULL,
                            .class_name = class_names,
                            .group_name = group_names };
}

/* Share of a class in a group that is decided as ill, by everybody there is. */
static double rate(const mel_classifier *rule, uint32_t class_code, uint32_t group)
{
    static double p[2 * GRID], chance[2 * GRID];
    static uint32_t of[GRID];
    double sum = 0.0, all = 0.0;
    mel_error err;
    for (size_t i = 0; i < GRID; i++) {
        const double score = apart * class_code - 6.0 + 12.0 * (double)i / (GRID - 1);
        p[2 * i + 1] = probability_at(score);
        p[2 * i] = 1.0 - p[2 * i + 1];
        of[i] = group;
    }
    assert_ok(mel_classifier_chances(chance, rule,
                                     &(mel_undecided){ .n = GRID, .probability = p, .group = of }, &err),
              &err);
    for (size_t i = 0; i < GRID; i++) {
        const double z = -6.0 + 12.0 * (double)i / (GRID - 1), density = exp(-0.5 * z * z);
        sum += density * chance[2 * i + 1];
        all += density;
    }
    return sum / all;
}

typedef struct {
    const char *name;
    size_t m, n_limits;
    const char *limit[2];
    bool at_least[2];
} setting;

/* Whether the rule breaks a limit for everybody there is. */
static bool is_broken(const setting *s, const mel_classifier *rule)
{
    const double slip = 1e-3; /* of the grid */
    if (s->m > 1)
        return rate(rule, 1, 0) < 0.9 - slip || rate(rule, 1, 1) < 0.9 - slip;
    if (s->n_limits == 1)
        return rate(rule, 1, 0) < 0.95 - slip;
    return rate(rule, 1, 0) < 0.8 - slip ||
           positives * rate(rule, 1, 0) + (1.0 - positives) * rate(rule, 0, 0) > 0.45 + slip;
}

static void read_limits(mel_limit *out, const setting *s)
{
    mel_error err;
    for (size_t l = 0; l < s->n_limits; l++)
        assert_ok(
            mel_limit_parse(&out[l], s->limit[l], s->at_least[l], 2, class_names, s->m, group_names, &err),
            &err);
}

/* Successes of n with probability p that are more than that in one of a thousand cases. */
static size_t most_by_chance(size_t n, double p)
{
    size_t x = 0;
    while (mel_beta_inc((double)x + 1.0, (double)(n - x), p) > 1e-3 && x < n)
        x++;
    return x;
}

static void simulate(const setting *s, size_t n, size_t runs, double price)
{
    static sample rows;
    mel_limit limit[2];
    mel_metric *metric = NULL;
    mel_error err;
    size_t broken = 0, refused = 0, plain_broken = 0;
    double alarms = 0.0, alarms_squared = 0.0;
    assert_ok(mel_metric_costs(&metric, 2, (const double[]){ 0, 1, 1, 0 }, class_names, &err), &err);
    read_limits(limit, s);
    for (size_t run = 0; run < runs; run++) {
        mel_rng rng;
        mel_rng_seed_stream(&rng, 11 + n, run);
        draw(&rows, n, s->m, &rng);
        const mel_rule_rows all = rows_of(&rows);
        mel_rule_options rule;
        mel_certify_options opt;
        mel_rule_options_init(&rule);
        mel_certify_options_init(&opt);
        rule.limit = limit;
        rule.n_limits = s->n_limits;
        opt.seed = run;
        mel_classifier *found = NULL;
        mel_rule_report report;
        mel_certified certified;
        const mel_status status =
            mel_rule_certify(&found, &report, &certified, &all, metric, NULL, &rule, &opt, &err);
        if (status != MEL_OK) {
            assert_int_equal(status, MEL_EDATA);
            assert_true(certified.more_rows > 0.0);
            refused++;
        } else {
            const double here = rate(found, 0, 0);
            broken += is_broken(s, found);
            alarms += here;
            alarms_squared += here * here;
            for (size_t l = 0; l < s->n_limits; l++)
                assert_true(s->at_least[l] ? certified.limit[l].bound >= limit[l].bound
                                           : certified.limit[l].bound <= limit[l].bound);
        }
        mel_classifier_free(found);
        mel_rule_report_clear(&report);
        mel_certified_clear(&certified);
        rule.evidence = MEL_BY_LABELS;
        if (mel_rule_find(&found, &report, &all, metric, NULL, &rule, &err) == MEL_OK) {
            plain_broken += is_broken(s, found);
            mel_classifier_free(found);
            mel_rule_report_clear(&report);
        }
    }
    const double given = (double)(runs - refused), mean = alarms / fmax(given, 1.0),
                 error = sqrt(fmax(alarms_squared / fmax(given, 1.0) - mean * mean, 0.0) / fmax(given, 1.0));
    print_message(
        "  %-10s n = %4zu: none certified %4.1f%%, broken %4.1f%% (uncertified %4.1f%%), false alarms %.3f\n",
        s->name, n, 100.0 * (double)refused / (double)runs, 100.0 * (double)broken / (double)runs,
        100.0 * (double)plain_broken / (double)runs, mean);
    assert_true(broken <= most_by_chance(runs, 0.05));
    if (price > 0.0)
        assert_true(mean <= 1.1 * price + 3.0 * error);
    mel_metric_free(metric);
}

static void test_limits_hold(void **state)
{
    (void)state;
    static const setting one = { "one limit", 1, 1, { "recall[ill]=0.95" }, { true } },
                         two = { "two limits", 1, 2, { "recall[ill]=0.8", "flagged=0.45" }, { true, false } },
                         groups = { "two groups",
                                    2,
                                    2,
                                    { "recall[ill][u]=0.9", "recall[ill][v]=0.9" },
                                    { true, true } };
    static const struct {
        size_t n, quick;
        double price; /* of one limit, in the prototype */
    } sizes[] = { { 300, 100, 0.75 }, { 1000, 100, 0.62 }, { 3000, 40, 0.57 } };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        simulate(&one, sizes[i].n, test_repeats(1000, sizes[i].quick, 3), sizes[i].price);
        simulate(&two, sizes[i].n, test_repeats(1000, sizes[i].quick, 3), 0.0);
        simulate(&groups, sizes[i].n, test_repeats(1000, sizes[i].quick / 4, 1), 0.0);
    }
}

/* Where no rule is certified, one mostly is with as many rows more. */
static void test_as_many_rows_would_do(void **state)
{
    (void)state;
    static sample rows;
    const size_t runs = test_repeats(300, 40, 2);
    size_t refused = 0, then = 0;
    mel_metric *metric = NULL;
    mel_limit limit;
    mel_error err;
    assert_ok(mel_metric_costs(&metric, 2, (const double[]){ 0, 1, 1, 0 }, class_names, &err), &err);
    assert_ok(mel_limit_parse(&limit, "precision[ill]=0.75", true, 2, class_names, 0, NULL, &err), &err);
    for (size_t run = 0; run < runs; run++) {
        size_t n = 200;
        for (int turn = 0; turn < 2; turn++) {
            mel_rng rng;
            mel_rng_seed_stream(&rng, 5 + (uint64_t)turn, run);
            draw(&rows, n, 1, &rng);
            const mel_rule_rows all = rows_of(&rows);
            mel_rule_options rule;
            mel_certify_options opt;
            mel_classifier *found = NULL;
            mel_rule_report report;
            mel_certified certified;
            mel_rule_options_init(&rule);
            mel_certify_options_init(&opt);
            rule.limit = &limit;
            rule.n_limits = 1;
            const mel_status status =
                mel_rule_certify(&found, &report, &certified, &all, metric, NULL, &rule, &opt, &err);
            const double more = certified.more_rows;
            mel_classifier_free(found);
            mel_rule_report_clear(&report);
            mel_certified_clear(&certified);
            if (turn == 1) {
                then += status == MEL_OK;
            } else if (status == MEL_OK || !(more + (double)n < MOST)) {
                break;
            } else {
                refused++;
                n += (size_t)more;
            }
        }
    }
    print_message("  refused %zu of %zu; certified with as many rows more: %zu\n", refused, runs, then);
    assert_true(refused == 0 || (double)then >= 0.5 * (double)refused);
    mel_metric_free(metric);
}

static void test_refusals(void **state)
{
    (void)state;
    static sample rows;
    mel_metric *metric = NULL;
    mel_limit limit;
    mel_error err;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    draw(&rows, 400, 1, &rng);
    assert_ok(mel_metric_costs(&metric, 2, (const double[]){ 0, 1, 1, 0 }, class_names, &err), &err);
    assert_ok(mel_limit_parse(&limit, "recall[ill]=0.9", true, 2, class_names, 0, NULL, &err), &err);
    mel_rule_rows all = rows_of(&rows);
    const struct {
        size_t n_limits;
        double confidence, share;
        const double *count;
        mel_status status;
    } cases[] = { { 1, 0.95, 0.5, NULL, MEL_OK },     { 1, 0.95, NAN, NULL, MEL_OK },
                  { 0, 0.95, 0.5, NULL, MEL_EINVAL }, { 1, 1.0, 0.5, NULL, MEL_EINVAL },
                  { 1, 0.2, 0.5, NULL, MEL_EINVAL },  { 1, NAN, 0.5, NULL, MEL_EINVAL },
                  { 1, 0.95, 1.0, NULL, MEL_EINVAL }, { 1, 0.95, 0.5, rows.weight, MEL_EINVAL } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mel_rule_options rule;
        mel_certify_options opt;
        mel_classifier *found = NULL;
        mel_rule_report report;
        mel_certified certified;
        mel_rule_options_init(&rule);
        mel_certify_options_init(&opt);
        rule.limit = &limit;
        rule.n_limits = cases[i].n_limits;
        opt.confidence = cases[i].confidence;
        opt.share = cases[i].share;
        all.count = cases[i].count;
        assert_int_equal(mel_rule_certify(&found, &report, &certified, &all, metric, NULL, &rule, &opt, &err),
                         cases[i].status);
        assert_true((found != NULL) == (cases[i].status == MEL_OK));
        mel_classifier_free(found);
        mel_rule_report_clear(&report);
        mel_certified_clear(&certified);
    }
    mel_metric_free(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_limits_hold),
                                        cmocka_unit_test(test_as_many_rows_would_do),
                                        cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
