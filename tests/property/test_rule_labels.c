/* What labels say about rules that were found by probabilities: chance alone is rarely doubted, probabilities
 * that are wrong are; scores that run the wrong way, groups with curves of their own, thresholds that a
 * metric gives. */
#include "base/rng.h"
#include "classify/shared.h"
#include "model/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6000, CLASSES = 3 };

typedef struct {
    size_t n, k, m;
    double probability[MOST * CLASSES], weight[MOST];
    uint32_t label[MOST], group[MOST];
} sample;

static const char *const class_names[] = { "a", "b", "c" }, *const group_names[] = { "u", "v" };

static mel_rule_rows rows_of(const sample *s, bool weights)
{
    return (mel_rule_rows){ .n_rows = s->n,
                            .n_classes = s->k,
                            .n_groups = s->m,
                            .probability = s->probability,
                            .label = s->label,
                            .group = s->group,
                            .weight = weights ? s->weight : NULL,
                            .class_name = class_names,
                            .group_name = group_names };
}

/* Probabilities whose logits have this mean and spread (of the first class: 0). */
static void draw_row(sample *s, size_t r, double mean, double spread, mel_rng *rng)
{
    double *p = s->probability + r * s->k, sum = 1.0;
    p[0] = 1.0;
    for (size_t i = 1; i < s->k; i++)
        sum += p[i] = exp(mean + spread * mel_rng_normal(rng));
    for (size_t i = 0; i < s->k; i++)
        p[i] /= sum;
    s->group[r] = mel_rng_uniform(rng) < 0.4;
    s->weight[r] = 0.2 + mel_rng_uniform(rng);
}

/* A label by the probabilities. */
static void draw_label(sample *s, size_t r, mel_rng *rng)
{
    double left = mel_rng_uniform(rng);
    for (s->label[r] = 0; s->label[r] + 1 < s->k; s->label[r]++) {
        left -= s->probability[r * s->k + s->label[r]];
        if (left < 0.0)
            return;
    }
}

/* A rule with what it is worth, what its labels say, and whether that is doubted. */
typedef struct {
    mel_classifier *classifier;
    mel_rule_report report;
    mel_rule_labels labels;
    mel_adjustment adjustment;
} found;

static found find(const mel_rule_rows *rows, const mel_metric *metric, const char *name, bool calibrated,
                  mel_rule_options *opt)
{
    found f = { 0 };
    mel_error err = { 0 };
    if (calibrated)
        assert_ok(mel_rule_calibrate(&f.adjustment, rows, metric, name, opt, &err), &err);
    opt->adjustment = calibrated ? &f.adjustment : NULL;
    assert_ok(mel_rule_find(&f.classifier, &f.report, rows, metric, name, opt, &err), &err);
    assert_ok(mel_rule_ask_labels(&f.labels, f.classifier, &f.report, rows, metric, name, opt, &err), &err);
    opt->adjustment = NULL; /* it moves with what is returned */
    return f;
}

static void found_clear(found *f)
{
    mel_classifier_free(f->classifier);
    mel_rule_report_clear(&f->report);
    mel_rule_labels_clear(&f->labels);
    mel_adjustment_clear(&f->adjustment);
}

/* What is gained for each right decision about the second and the first class. */
static void make_metric(mel_metric **out, const double a[2])
{
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    mel_error err = { 0 };
    assert_ok(mel_metric_linear(out, MEL_FAMILY_LINEAR, &layout, NULL, MEL_UTILITY, a, &err), &err);
}

/* --- chance ------------------------------------------------------------------------------------- */

static const struct {
    const char *what, *name;
    size_t n, k, m;
    double mean, spread;
    bool calibrated, weights;
    const char *limit[2];
    bool at_least[2];
} fair[] = {
    { "accuracy, 300 rows", "accuracy", 300, 2, 0, 0.0, 2.0, false, false, { 0 }, { 0 } },
    { "accuracy, 40 rows", "accuracy", 40, 2, 0, 0.0, 2.0, false, false, { 0 }, { 0 } },
    { "rare positives", "f1", 300, 2, 0, -4.5, 1.5, false, false, { 0 }, { 0 } },
    { "weights", "g-mean", 300, 2, 0, 0.5, 1.5, false, true, { 0 }, { 0 } },
    { "calibrated", "accuracy", 300, 2, 0, 0.0, 2.0, true, false, { 0 }, { 0 } },
    { "a limit", "accuracy", 300, 2, 0, 0.0, 2.0, false, false, { "recall[b]=0.9" }, { true } },
    { "limits on groups",
      "accuracy",
      400,
      2,
      2,
      0.0,
      2.0,
      true,
      false,
      { "equalised-odds=0.05", "recall[b]=0.8" },
      { false, true } },
    { "many rows", "accuracy", MOST, 2, 2, 0.0, 2.0, false, false, { "equalised-odds=0.05" }, { false } },
    { "many rows with weights", "f1", MOST, 2, 0, -1.0, 2.0, false, true, { "recall[b]=0.8" }, { true } },
    { "many rows, rare positives",
      "recall",
      MOST,
      2,
      0,
      -9.0,
      1.0,
      false,
      false,
      { "flagged=0.001" },
      { false } },
    { "many rows of three classes", "macro-f1", MOST, 3, 0, 0.0, 1.5, false, false, { 0 }, { 0 } },
    { "the smallest of three recalls", "min-recall", 300, 3, 0, 0.0, 1.5, false, false, { 0 }, { 0 } },
};

static size_t read_limits(mel_limit *limit, const char *const *text, const bool *at_least, size_t k, size_t m)
{
    mel_error err = { 0 };
    size_t n = 0;
    for (; n < 2 && text[n] != NULL; n++)
        assert_ok(mel_limit_parse(&limit[n], text[n], at_least[n], k, class_names, m, group_names, &err),
                  &err);
    return n;
}

/* Labels that the probabilities make: 5 of 100 may be doubted, and not more by more than luck. */
static void test_chance(void **state)
{
    (void)state;
    const size_t turns = test_repeats(1000, 60, 1);
    sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (size_t c = 0; c < sizeof fair / sizeof *fair; c++) {
        mel_rng rng;
        mel_limit limit[2];
        size_t doubted = 0;
        mel_rng_seed_stream(&rng, 7, c);
        for (size_t turn = 0; turn < turns; turn++) {
            mel_rule_options opt;
            mel_rule_options_init(&opt);
            s->n = fair[c].n;
            s->k = fair[c].k;
            s->m = fair[c].m;
            for (size_t r = 0; r < s->n; r++) {
                draw_row(s, r, fair[c].mean, fair[c].spread, &rng);
                draw_label(s, r, &rng);
            }
            if (s->n < 50) { /* every class is there */
                s->label[0] = 0;
                s->label[1] = 1;
            }
            opt.limit = limit;
            opt.n_limits = read_limits(limit, fair[c].limit, fair[c].at_least, s->k, s->m);
            opt.seed = turn;
            const mel_rule_rows rows = rows_of(s, fair[c].weights);
            found f = find(&rows, NULL, fair[c].name, fair[c].calibrated, &opt);
            doubted += f.labels.doubtful;
            found_clear(&f);
        }
        const double share = (double)doubted / (double)turns;
        print_message("  %s: %.1f%% of %zu doubted\n", fair[c].what, 100.0 * share, turns);
        assert_true(turns == 1 || share <= 0.05 + 3.0 * sqrt(0.05 * 0.95 / (double)turns));
    }
    free(s);
}

/* --- probabilities of 0 and 1 ---------------------------------------------------------------------- */

/* A model that is certain and right in 7 of 10 cases: trusted, it is doubted; calibrated, it is right. */
static void test_certain(void **state)
{
    (void)state;
    sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->n = 600;
    for (s->k = 2; s->k <= CLASSES; s->k++) {
        mel_rng rng;
        size_t right = 0;
        mel_rng_seed(&rng, s->k);
        for (size_t r = 0; r < s->n; r++) {
            s->label[r] = (uint32_t)mel_rng_below(&rng, s->k);
            const size_t said =
                mel_rng_uniform(&rng) < 0.7 ? s->label[r] : (s->label[r] + 1) % (uint32_t)s->k;
            right += said == s->label[r];
            for (size_t i = 0; i < s->k; i++)
                s->probability[r * s->k + i] = i == said ? 1.0 : 0.0;
        }
        const mel_rule_rows rows = rows_of(s, false);
        for (size_t calibrated = 0; calibrated < 2; calibrated++) {
            mel_rule_options opt;
            mel_limit limit;
            mel_error err = { 0 };
            mel_rule_options_init(&opt);
            assert_ok(mel_limit_parse(&limit, "recall[b]=0.6", true, s->k, class_names, 0, NULL, &err), &err);
            opt.limit = &limit;
            opt.n_limits = 1;
            found f = find(&rows, NULL, "accuracy", calibrated == 1, &opt);
            assert_close(f.report.value, calibrated == 1 ? (double)right / 600.0 : 1.0, 0.01);
            assert_close(f.labels.value.value, (double)right / 600.0, 1e-9);
            assert_close(f.report.achieved[0], calibrated == 1 ? f.labels.limit[0].value : 1.0, 0.02);
            assert_true(f.labels.doubtful == (calibrated == 0));
            found_clear(&f);
        }
    }
    free(s);
}

/* --- scores that run the wrong way ------------------------------------------------------------------ */

/* The best value of any threshold, either way round, by brute force. */
static double best_by_hand(const sample *s, const double *cost)
{
    double best = INFINITY;
    for (size_t t = 0; t <= s->n; t++)
        for (size_t inverted = 0; inverted < 2; inverted++) {
            const double threshold = t < s->n ? s->probability[2 * t + 1] : 2.0;
            double sum = 0.0;
            for (size_t r = 0; r < s->n; r++) {
                const bool yes = (s->probability[2 * r + 1] >= threshold) != (inverted == 1);
                sum += yes != (s->label[r] == 1) ? cost[s->label[r]] : 0.0;
            }
            best = fmin(best, sum / (double)s->n);
        }
    return best;
}

/* Whichever way the scores run, the same rows are found with the same value, by labels and calibrated. */
static void test_wrong_way(void **state)
{
    (void)state;
    sample *s = calloc(1, sizeof *s), *turned = calloc(1, sizeof *turned);
    assert_non_null(s);
    assert_non_null(turned);
    for (size_t turn = 0; turn < test_repeats(100, 10, 1); turn++) {
        mel_rng rng;
        mel_metric *metric = NULL;
        const double cost[2] = { 1.0, 1.0 + (double)(turn % 5) };
        mel_rng_seed_stream(&rng, 3, turn);
        s->n = 150 + turn;
        s->k = 2;
        for (size_t r = 0; r < s->n; r++) {
            draw_row(s, r, 0.0, 1.5, &rng);
            draw_label(s, r, &rng);
        }
        *turned = *s;
        for (size_t r = 0; r < s->n; r++) {
            turned->probability[2 * r] = s->probability[2 * r + 1];
            turned->probability[2 * r + 1] = s->probability[2 * r];
        }
        const double a[2] = { cost[1], cost[0] };
        make_metric(&metric, a);
        for (size_t labels = 0; labels < 2; labels++) {
            mel_rule_options opt;
            mel_rule_options_init(&opt);
            opt.evidence = labels == 1 ? MEL_BY_LABELS : MEL_BY_MODEL;
            const mel_rule_rows right = rows_of(s, false), wrong = rows_of(turned, false);
            found f = find(&right, metric, NULL, labels == 0, &opt),
                  g = find(&wrong, metric, NULL, labels == 0, &opt);
            assert_false(f.labels.wrong_way);
            assert_true(g.labels.wrong_way && g.labels.auc < 0.5);
            assert_close(f.labels.auc + g.labels.auc, 1.0, 1e-12);
            /* one curve mirrors the other, but for where a search ends whose sharpness reached its limit */
            assert_close(f.report.value, g.report.value, 1e-3);
            assert_close(f.report.bound, g.report.bound, 1e-3);
            if (labels == 1) {
                double share = 0.0, all = 0.0;
                for (size_t r = 0; r < s->n; r++) {
                    share += s->label[r] == 1 ? a[0] : a[1];
                    all += 1.0;
                }
                assert_close(g.report.value, share / all - best_by_hand(turned, cost), 1e-9);
            }
            const mel_classifier_parts parts = mel_classifier_get(g.classifier);
            assert_true(parts.mixture != NULL &&
                        (parts.mixture->rule[0].inverted || !isfinite(parts.mixture->rule[0].threshold)));
            found_clear(&f);
            found_clear(&g);
        }
        mel_metric_free(metric);
    }
    free(s);
    free(turned);
}

/* --- groups -------------------------------------------------------------------------------------- */

/* A model that is right about one group and much too low for the other: limits between groups are what the
 * labels say, for a rule that sees groups and for one that does not. */
static void test_groups(void **state)
{
    (void)state;
    sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (sample){ .n = 2000, .m = 2 };
    for (s->k = 2; s->k <= CLASSES; s->k++) {
        mel_rng rng;
        mel_error err = { 0 };
        mel_rng_seed(&rng, 5);
        for (size_t r = 0; r < s->n; r++) {
            draw_row(s, r, 0.0, 1.5, &rng);
            draw_label(s, r, &rng);
            double *p = s->probability + r * s->k, sum = 0.0;
            for (size_t i = 0; i < s->k; i++)
                sum += p[i] *= s->group[r] == 1 && i > 0 ? 0.25 : 1.0;
            for (size_t i = 0; i < s->k; i++)
                p[i] /= sum;
        }
        const mel_rule_rows rows = rows_of(s, false);
        for (size_t unseen = 0; unseen < (s->k == 2 ? 2 : 1); unseen++) {
            mel_limit limit;
            mel_rule_options opt;
            mel_rule_options_init(&opt);
            opt.group_use = unseen == 1 ? MEL_GROUP_UNSEEN : MEL_GROUP_SEEN;
            assert_ok(mel_limit_parse(&limit, unseen == 1 ? "equalised-odds=0.3" : "equalised-odds=0.02",
                                      false, s->k, class_names, 2, group_names, &err),
                      &err);
            opt.limit = &limit;
            opt.n_limits = 1;
            found f = find(&rows, NULL, "accuracy", true, &opt);
            assert_int_equal(f.adjustment.n_groups, 2);
            assert_close(f.adjustment.offset[s->k + 1] - f.adjustment.offset[s->k] - log(4.0), 0.0, 0.35);
            assert_close(f.report.achieved[0], f.labels.limit[0].value, 0.06);
            assert_false(f.labels.doubtful);
            char *text = NULL; /* the file decides as the rule does */
            mel_classifier *read = NULL;
            double *chance = calloc(2 * s->n * s->k, sizeof *chance);
            assert_non_null(chance);
            assert_ok(mel_classifier_to_json(&text, f.classifier, &err), &err);
            assert_ok(mel_classifier_from_json(&read, text, strlen(text), &err), &err);
            assert_ok(mel_classifier_chances(
                          chance, f.classifier,
                          &(mel_undecided){ .n = s->n, .probability = s->probability, .group = s->group },
                          &err),
                      &err);
            assert_ok(mel_classifier_chances(
                          chance + s->n * s->k, read,
                          &(mel_undecided){ .n = s->n, .probability = s->probability, .group = s->group },
                          &err),
                      &err);
            for (size_t i = 0; i < s->n * s->k; i++)
                assert_close(chance[i], chance[s->n * s->k + i], 1e-12);
            mel_classifier_free(read);
            free(text);
            free(chance);
            found_clear(&f);
        }
    }
    free(s);
}

/* A group without rows of a class has a curve near that of all, and few rows change little. */
static void test_small_group(void **state)
{
    (void)state;
    sample *s = calloc(1, sizeof *s);
    mel_rng rng;
    mel_error err = { 0 };
    assert_non_null(s);
    *s = (sample){ .n = 400, .k = 2, .m = 2 };
    mel_rng_seed(&rng, 6);
    for (size_t r = 0; r < s->n; r++) {
        draw_row(s, r, 0.0, 1.5, &rng);
        draw_label(s, r, &rng);
        s->group[r] = r < 3;
        s->label[r] = r < 3 ? 0 : s->label[r];
    }
    const mel_rule_rows rows = rows_of(s, false);
    mel_rule_options opt;
    mel_adjustment a = { 0 };
    mel_rule_options_init(&opt);
    assert_ok(mel_rule_calibrate(&a, &rows, NULL, "accuracy", &opt, &err), &err);
    assert_close(a.offset[3] - a.offset[2], a.offset[1] - a.offset[0], 0.5);
    assert_true(a.sharpness[2] > 0.0 && a.sharpness[3] > 0.0);
    mel_adjustment_clear(&a);
    free(s);
}

/* --- thresholds that the metric gives ---------------------------------------------------------------- */

static void test_given_thresholds(void **state)
{
    (void)state;
    sample *s = calloc(1, sizeof *s);
    mel_rng rng;
    assert_non_null(s);
    mel_rng_seed(&rng, 9);
    for (size_t turn = 0; turn < test_repeats(300, 60, 5); turn++) {
        mel_error err = { 0 };
        mel_metric *metric = NULL;
        mel_rule_options opt;
        mel_trust_options how;
        mel_trust trust = { 0 };
        const double missed = 1.0 + (double)mel_rng_below(&rng, 20), a[2] = { missed, 1.0 };
        *s = (sample){ .n = 5 + (size_t)mel_rng_below(&rng, 40), .k = 2 };
        for (size_t r = 0; r < s->n; r++) {
            draw_row(s, r, 0.0, 2.0, &rng);
            if (turn % 3 == 0) { /* rows at the threshold itself, and certain ones */
                const double levels[] = { 0.0, 1.0 / (1.0 + missed), 0.7, 1.0 };
                s->probability[2 * r + 1] = levels[mel_rng_below(&rng, 4)];
                s->probability[2 * r] = 1.0 - s->probability[2 * r + 1];
            }
            draw_label(s, r, &rng);
        }
        const mel_rule_rows rows = rows_of(s, false);
        mel_rule_options_init(&opt);
        mel_trust_options_init(&how);
        how.draws = 10;
        make_metric(&metric, a);
        found f = find(&rows, metric, NULL, false, &opt);
        const mel_classifier_parts parts = mel_classifier_get(f.classifier);
        assert_non_null(parts.mixture);
        assert_close(parts.mixture->rule[0].threshold, 1.0 / (1.0 + missed), 1e-9);
        double best = 0.0; /* every row by its own probability */
        for (size_t r = 0; r < s->n; r++)
            best += fmax(s->probability[2 * r], missed * s->probability[2 * r + 1]) / (double)s->n;
        assert_close(f.report.value, best, 1e-9);
        double *chance = calloc(2 * s->n, sizeof *chance),
               sum = 0.0; /* what it decides is what was reported */
        assert_non_null(chance);
        assert_ok(mel_classifier_chances(chance, f.classifier,
                                         &(mel_undecided){ .n = s->n, .probability = s->probability }, &err),
                  &err);
        for (size_t r = 0; r < s->n; r++)
            sum += (chance[2 * r] * s->probability[2 * r] +
                    missed * chance[2 * r + 1] * s->probability[2 * r + 1]) /
                   (double)s->n;
        assert_close(sum, best, 1e-9);
        free(chance);
        assert_ok(mel_rule_trust(&trust, f.classifier, &rows, metric, NULL, &opt, &how, &err), &err);
        assert_int_equal(trust.n_thresholds, 1);
        assert_true(trust.threshold[0].given);
        mel_trust_clear(&trust);
        found_clear(&f);
        mel_metric_free(metric);
    }
    free(s);
}

/* A rule by labels is somewhere between two rows: that no draw moves it is not the metric's doing. */
static void test_not_given(void **state)
{
    (void)state;
    static const double p[] = { 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.2, 0.8, 0.2, 0.8, 0.2, 0.8 };
    static const uint32_t label[] = { 0, 0, 0, 1, 1, 1 };
    const mel_rule_rows rows = { .n_rows = 6, .n_classes = 2, .probability = p, .label = label };
    mel_rule_options opt;
    mel_trust_options how;
    mel_trust trust = { 0 };
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    mel_trust_options_init(&how);
    opt.evidence = MEL_BY_LABELS;
    found f = find(&rows, NULL, "accuracy", false, &opt);
    assert_ok(mel_rule_trust(&trust, f.classifier, &rows, NULL, "accuracy", &opt, &how, &err), &err);
    assert_int_equal(trust.n_thresholds, 1);
    assert_false(trust.threshold[0].given);
    mel_trust_clear(&trust);
    found_clear(&f);
}

/* --- few rows -------------------------------------------------------------------------------------- */

/* Intervals hold the number that they are about, also where cases are referred and rows are few. */
static void test_few_referred(void **state)
{
    (void)state;
    sample *s = calloc(1, sizeof *s);
    mel_rng rng;
    assert_non_null(s);
    mel_rng_seed(&rng, 4);
    for (size_t turn = 0; turn < test_repeats(100, 20, 2); turn++) {
        mel_error err = { 0 };
        mel_rule_options opt;
        mel_trust_options how;
        mel_trust trust = { 0 };
        *s = (sample){ .n = 4 + (size_t)mel_rng_below(&rng, 12), .k = 2 };
        for (size_t r = 0; r < s->n; r++) {
            draw_row(s, r, 0.0, 3.0, &rng);
            draw_label(s, r, &rng);
        }
        const mel_rule_rows rows = rows_of(s, false);
        mel_rule_options_init(&opt);
        mel_trust_options_init(&how);
        how.draws = 10;
        opt.refer_cost = 0.05 + 0.4 * mel_rng_uniform(&rng);
        found f = find(&rows, NULL, "accuracy", false, &opt);
        assert_true(isfinite(f.labels.value.value));
        assert_ok(mel_rule_trust(&trust, f.classifier, &rows, NULL, "accuracy", &opt, &how, &err), &err);
        const mel_interval *all[] = { &trust.value.rows, &trust.value.both, &trust.value.metric };
        for (size_t i = 0; i < 3; i++)
            assert_true(all[i]->low <= trust.value.value && trust.value.value <= all[i]->high);
        mel_trust_clear(&trust);
        found_clear(&f);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chance),      cmocka_unit_test(test_certain),
        cmocka_unit_test(test_wrong_way),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_small_group), cmocka_unit_test(test_given_thresholds),
        cmocka_unit_test(test_not_given),   cmocka_unit_test(test_few_referred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
