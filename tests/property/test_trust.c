/* How sure rules are: intervals of values, thresholds and limits hold what they promise on samples of a known
 * population. */
#include "base/rng.h"
#include "base/stat.h"
#include "classify/goal.h"
#include "classify/shared.h"
#include "metric/shared.h"
#include "model/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a population ------------------------------------------------------------------------------- */

/* People have a number z, normally distributed; the second class is likely by 1 / (1 + exp(1 - 1.5 z)). The
 * model sees z and is too sure of itself. */
enum { GRID = 4000, MOST = 3000 };

static double truth_at(double z)
{
    return 1.0 / (1.0 + exp(1.0 - 1.5 * z));
}

static double model_at(double z)
{
    return 1.0 / (1.0 + exp(0.6 - 2.4 * z));
}

typedef struct {
    size_t n;
    double probability[2 * MOST];
    uint32_t label[MOST], group[MOST];
} sample;

static void draw_sample(sample *s, size_t n, mel_rng *rng)
{
    s->n = n;
    for (size_t r = 0; r < n; r++) {
        const double z = mel_rng_normal(rng);
        s->probability[2 * r + 1] = model_at(z);
        s->probability[2 * r] = 1.0 - model_at(z);
        s->label[r] = mel_rng_uniform(rng) < truth_at(z);
    }
}

/* What the model says of people, and how many there are of either class. */
static struct {
    double said, mass[2];
} people[GRID];

static int make_people(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRID; i++) {
        const double z = -5.0 + 10.0 * ((double)i + 0.5) / GRID;
        const double mass = exp(-z * z / 2.0) / sqrt(2.0 * 3.14159265358979) * 10.0 / GRID;
        people[i].said = model_at(z);
        people[i].mass[0] = mass * (1.0 - truth_at(z));
        people[i].mass[1] = mass * truth_at(z);
    }
    return 0;
}

/* Confusion shares of "second class from this probability of the model on". */
static void population_at(double out[4], double threshold)
{
    memset(out, 0, 4 * sizeof *out);
    for (size_t i = 0; i < GRID; i++) {
        const size_t said = people[i].said >= threshold;
        out[said] += people[i].mass[0];
        out[2 + said] += people[i].mass[1];
    }
}

static double population_value(const mel_measure *measure, double threshold)
{
    double confusion[4], value = 0.0;
    mel_error err = { 0 };
    population_at(confusion, threshold);
    assert_ok(mel_measure_value(&value, measure, confusion, &err), &err);
    return value;
}

static double best_threshold(const mel_measure *measure)
{
    const double sign = mel_measure_orientation(measure) == MEL_COST ? -1.0 : 1.0;
    double best = 0.0, most = -INFINITY;
    for (double t = 0.001; t < 1.0; t += 0.001) {
        const double value = sign * population_value(measure, t);
        best = value > most ? t : best;
        most = fmax(most, value);
    }
    return best;
}

/* --- finding rules ------------------------------------------------------------------------------ */

typedef struct {
    mel_trust trust;
    double threshold;
} found;

static found find(const sample *s, const mel_metric *metric, const char *name, mel_evidence evidence,
                  size_t folds, size_t n_metrics, const double *metrics)
{
    const mel_rule_rows rows = {
        .n_rows = s->n, .n_classes = 2, .probability = s->probability, .label = s->label
    };
    mel_rule_options opt;
    mel_trust_options how;
    mel_adjustment adjustment = { 0 };
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    found out;
    mel_rule_options_init(&opt);
    mel_trust_options_init(&how);
    opt.evidence = evidence;
    how.folds = folds;
    how.n_metrics = n_metrics;
    how.metrics = metrics;
    how.calibrated = evidence == MEL_BY_MODEL;
    if (how.calibrated) {
        const mel_rows all = {
            .n_rows = s->n, .n_classes = 2, .probability = s->probability, .label = s->label
        };
        assert_ok(mel_adjustment_fit(&adjustment, &all, (double)s->n, NULL, NULL, &err), &err);
        opt.adjustment = &adjustment;
    }
    assert_ok(mel_rule_find(&c, NULL, &rows, metric, name, &opt, &err), &err);
    assert_ok(mel_rule_trust(&out.trust, c, &rows, metric, name, &opt, &how, &err), &err);
    assert_non_null(mel_classifier_get(c).mixture);
    out.threshold = mel_classifier_get(c).mixture->rule[0].threshold;
    mel_classifier_free(c);
    mel_adjustment_clear(&adjustment);
    return out;
}

static bool holds(mel_interval range, double value)
{
    return range.low <= value && value <= range.high;
}

/* Rarer or more frequent than 95% by more than chance explains, in so many turns; one turn, as under
 * sanitizers, which are about memory, says nothing of that. */
static void assert_covers(size_t hits, size_t turns, double low, double high, const char *what)
{
    const double share = (double)hits / (double)turns, slack = 3.0 * sqrt(0.05 * 0.95 / (double)turns);
    print_message("  %s: %.1f%% of %zu\n", what, 100.0 * share, turns);
    assert_true(turns == 1 || (share >= low - slack && share <= high + slack));
}

static const struct {
    const char *name;
    mel_evidence evidence;
    size_t n, folds;
} cases[] = {
    { "f1", MEL_BY_MODEL, 300, 5 },      { "weighted-accuracy:4", MEL_BY_MODEL, 300, 0 },
    { "g-mean", MEL_BY_MODEL, 300, 0 },  { "f1", MEL_BY_LABELS, 300, 5 },
    { "f1", MEL_BY_MODEL, 3000, 5 },     { "weighted-accuracy:4", MEL_BY_LABELS, 300, 5 },
    { "f1", MEL_BY_LABELS, 3000, 0 },    { "weighted-accuracy:4", MEL_BY_MODEL, 3000, 5 },
    { "g-mean", MEL_BY_MODEL, 3000, 0 }, { "weighted-accuracy:4", MEL_BY_LABELS, 3000, 5 },
};

static void test_coverage(void **state)
{
    (void)state;
    const size_t turns = test_repeats(1000, 2, 1), n_cases = sizeof cases / sizeof *cases;
    sample *s = malloc(sizeof *s);
    assert_non_null(s);
    for (size_t c = 0; c < n_cases && (turns > 1 || cases[c].n < MOST); c++) {
        mel_measure *measure = NULL;
        mel_error err = { 0 };
        mel_rng rng;
        size_t value = 0, threshold = 0, cross = 0;
        double bias = 0.0, seen_bias = 0.0;
        mel_rng_seed(&rng, 200 + c);
        assert_ok(mel_measure_named(&measure, cases[c].name, 2, 1, &err), &err);
        const double best = best_threshold(measure);
        for (size_t t = 0; t < turns; t++) {
            draw_sample(s, cases[c].n, &rng);
            found f = find(s, NULL, cases[c].name, cases[c].evidence, cases[c].folds, 0, NULL);
            const double truth = population_value(measure, f.threshold);
            value += holds(f.trust.value.both, truth);
            cross += holds(f.trust.cross.both, truth);
            assert_int_equal(f.trust.n_thresholds, 1);
            threshold += holds(f.trust.threshold[0].both, best);
            bias += (f.trust.value.value - truth) / (double)turns;
            seen_bias += (f.trust.seen - truth) / (double)turns;
            mel_trust_clear(&f.trust);
        }
        print_message("%s, n = %zu, by %s: best %.3f, optimism %.4f, corrected %.4f\n", cases[c].name,
                      cases[c].n, cases[c].evidence == MEL_BY_MODEL ? "model" : "labels", best, seen_bias,
                      bias);
        /* What is said: by folds where they are asked for. */
        assert_covers(cases[c].folds > 0 ? cross : value, turns, 0.92, 0.98, "value");
        assert_covers(threshold, turns, 0.92, 0.98, "threshold");
        mel_measure_free(measure);
    }
    free(s);
}

/* What a rule that refers cases at a price gets of the population: accuracy, with referred cases right. */
static double referred_value(const mel_classifier *c, double price)
{
    double value = 0.0;
    for (size_t i = 0; i < GRID; i++) {
        const double row[2] = { 1.0 - people[i].said, people[i].said }, *mass = people[i].mass;
        double chance[3] = { 0.0, 0.0, 0.0 };
        mel_error err = { 0 };
        assert_ok(mel_classifier_chances(chance, c, &(mel_undecided){ .n = 1, .probability = row }, &err),
                  &err);
        value += chance[0] * mass[0] + chance[1] * mass[1] + chance[2] * (1.0 - price) * (mass[0] + mass[1]);
    }
    return value;
}

/* A calibrated rule for accuracy on a sample; groups 2: one for each of two groups. */
static mel_classifier *find_accurate(mel_trust *trust, const sample *s, mel_rule_options *opt, size_t folds,
                                     size_t groups)
{
    const mel_rule_rows rows = { .n_rows = s->n,
                                 .n_classes = 2,
                                 .n_groups = groups,
                                 .probability = s->probability,
                                 .label = s->label,
                                 .group = groups > 1 ? s->group : NULL };
    mel_trust_options how;
    mel_adjustment adjustment = { 0 };
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    mel_trust_options_init(&how);
    opt->adjustment = NULL;
    assert_ok(mel_rule_calibrate(&adjustment, &rows, NULL, "accuracy", opt, &err), &err);
    opt->adjustment = &adjustment;
    how.calibrated = true;
    how.folds = folds;
    assert_ok(mel_rule_find(&c, NULL, &rows, NULL, "accuracy", opt, &err), &err);
    assert_ok(mel_rule_trust(trust, c, &rows, NULL, "accuracy", opt, &how, &err), &err);
    mel_adjustment_clear(&adjustment);
    return c;
}

static void check_referred(size_t n, size_t turns)
{
    const double price = 0.2;
    size_t hits = 0, by_folds = 0;
    sample *s = malloc(sizeof *s);
    mel_rule_options opt;
    mel_rng rng;
    assert_non_null(s);
    mel_rng_seed(&rng, 400);
    mel_rule_options_init(&opt);
    opt.refer_cost = price;
    for (size_t t = 0; t < turns; t++) {
        mel_trust trust = { 0 };
        draw_sample(s, n, &rng);
        mel_classifier *c = find_accurate(&trust, s, &opt, 5, 0);
        const double truth = referred_value(c, price);
        assert_true(trust.value.rows_deviation > 0.0 && trust.value.rows_deviation < 0.05);
        hits += holds(trust.value.both, truth);
        by_folds += holds(trust.cross.both, truth);
        mel_trust_clear(&trust);
        mel_classifier_free(c);
    }
    print_message("%zu rows\n", n);
    assert_covers(hits, turns, 0.92, 0.98, "value with referred cases");
    assert_covers(by_folds, turns, 0.92, 0.98, "the same by folds");
    free(s);
}

static void test_referred(void **state)
{
    (void)state;
    check_referred(300, test_repeats(1000, 4, 1));
    const size_t soaked = test_repeats(1000, 0, 0);
    if (soaked > 0)
        check_referred(MOST, soaked);
}

/* A second group, of which the model says more than there is: only `kept` of its second class are. */
static void draw_groups(sample *s, double kept, mel_rng *rng)
{
    for (size_t r = 0; r < s->n; r++) {
        s->group[r] = mel_rng_uniform(rng) < 0.4;
        if (s->group[r] == 1)
            s->label[r] = s->label[r] == 1 && mel_rng_uniform(rng) < kept;
    }
}

/* What a rule gets of the population: the shares of groups, classes and decisions. */
static void achieved_at(double x[8], const mel_classifier *c, size_t groups, double of_second)
{
    memset(x, 0, 8 * sizeof *x);
    for (size_t i = 0; i < GRID; i++)
        for (uint32_t g = 0; g < (groups > 1 ? 2 : 1); g++) {
            const double row[2] = { 1.0 - people[i].said, people[i].said }, *mass = people[i].mass;
            const double of = groups > 1 ? (g == 1 ? 0.4 : 0.6) : 1.0, kept = g == 1 ? of_second : 1.0;
            double chance[2] = { 0.0, 0.0 };
            mel_error err = { 0 };
            assert_ok(mel_classifier_chances(
                          chance, c,
                          &(mel_undecided){ .n = 1, .probability = row, .group = groups > 1 ? &g : NULL },
                          &err),
                      &err);
            for (size_t j = 0; j < 2; j++) {
                x[4 * (size_t)g + j] += of * chance[j] * (mass[0] + (1.0 - kept) * mass[1]);
                x[4 * (size_t)g + 2 + j] += of * chance[j] * kept * mass[1];
            }
        }
}

static const struct {
    const char *what;
    size_t groups;
    double kept;
    mel_limit limit;
} limited[] = {
    { "a recall to be reached",
      0,
      1.0,
      { .kind = MEL_LIMIT_RECALL, .at_least = true, .bound = 0.75, .class_code = 1, .group = SIZE_MAX } },
    { "a share not to be passed",
      0,
      1.0,
      { .kind = MEL_LIMIT_SHARE, .bound = 0.2, .class_code = 1, .group = SIZE_MAX } },
    { "a high recall",
      0,
      1.0,
      { .kind = MEL_LIMIT_RECALL, .at_least = true, .bound = 0.95, .class_code = 1, .group = SIZE_MAX } },
    { "groups of like recall",
      2,
      0.7,
      { .kind = MEL_LIMIT_OPPORTUNITY, .bound = 0.02, .class_code = 1, .group = SIZE_MAX } },
    { "groups of like rates",
      2,
      0.7,
      { .kind = MEL_LIMIT_ODDS, .bound = 0.02, .class_code = 1, .group = SIZE_MAX } },
    { "groups that are alike, of like rates",
      2,
      1.0,
      { .kind = MEL_LIMIT_ODDS, .bound = 0.02, .class_code = 1, .group = SIZE_MAX } },
    { "groups that are alike, of like shares",
      2,
      1.0,
      { .kind = MEL_LIMIT_PARITY, .bound = 0.1, .class_code = 1, .group = SIZE_MAX } },
};

/* What a rule under a limit is worth on other rows, and what it achieves of the limit there. */
static void check_limits(size_t c, size_t n, size_t turns)
{
    const size_t groups = limited[c].groups;
    size_t hits = 0, values = 0;
    double width = 0.0, bias = 0.0;
    sample *s = malloc(sizeof *s);
    mel_rng rng;
    assert_non_null(s);
    mel_rng_seed(&rng, 500);
    for (size_t t = 0; t < turns; t++) {
        mel_trust trust = { 0 };
        mel_rule_options opt;
        double is[8];
        mel_rule_options_init(&opt);
        opt.limit = &limited[c].limit;
        opt.n_limits = 1;
        draw_sample(s, n, &rng);
        if (groups > 1)
            draw_groups(s, limited[c].kept, &rng);
        mel_classifier *rule = find_accurate(&trust, s, &opt, 0, groups);
        achieved_at(is, rule, groups, limited[c].kept);
        const double value = is[0] + is[3] + is[4] + is[7];
        const mel_shares shares = { groups > 1 ? 2 : 1, 2, 2, is };
        hits += holds(trust.limit[0], mel_limit_achieved(&limited[c].limit, &shares));
        values += holds(trust.value.both, value);
        width += (trust.value.both.high - trust.value.both.low) / (double)turns;
        bias += (trust.value.value - value) / (double)turns;
        mel_trust_clear(&trust);
        mel_classifier_free(rule);
    }
    print_message("%s, %zu rows: value off by %.4f on average, its interval %.3f wide\n", limited[c].what, n,
                  bias, width);
    assert_covers(values, turns, 0.92, 0.98, "value");
    assert_covers(hits, turns, 0.92, groups < 2 ? 0.98 : 1.0,
                  "limit"); /* of equal numbers the largest: more */
    free(s);
}

static void test_limits(void **state)
{
    (void)state;
    const size_t soaked = test_repeats(1000, 0, 0);
    for (size_t c = 0; c < sizeof limited / sizeof *limited; c++) {
        check_limits(c, 300, test_repeats(1000, 2, 1));
        if (soaked > 0)
            check_limits(c, MOST, soaked);
    }
}

/* --- rows that cost different amounts ------------------------------------------------------------ */

/* A mistake about the second class costs one of so many amounts, each of them as likely. */
enum { AMOUNTS = 16, EVERY = 10, PEOPLE = GRID / EVERY * AMOUNTS };

static double amount_at(size_t i)
{
    return 1000.0 * exp(2.0 * ((double)i + 0.5) / AMOUNTS);
}

static const struct {
    mel_evidence evidence;
    size_t folds;
} costly[] = { { MEL_BY_MODEL, 5 }, { MEL_BY_LABELS, 5 } };

typedef struct {
    double probability[2 * PEOPLE], cost[2 * PEOPLE], chance[2 * PEOPLE];
} crowd;

/* The share of all costs that are costs of right decisions. */
static double value_with_costs(const mel_classifier *c)
{
    crowd *all = malloc(sizeof *all);
    mel_error err = { 0 };
    double right = 0.0, sum = 0.0;
    assert_non_null(all);
    for (size_t i = 0; i < PEOPLE; i++) {
        const double said = people[i / AMOUNTS * EVERY].said;
        memcpy(all->probability + 2 * i, (double[]){ 1.0 - said, said }, 2 * sizeof said);
        memcpy(all->cost + 2 * i, (double[]){ 1000.0, amount_at(i % AMOUNTS) }, 2 * sizeof said);
    }
    const mel_undecided rows = { .n = PEOPLE, .probability = all->probability, .row_cost = all->cost };
    assert_ok(mel_classifier_chances(all->chance, c, &rows, &err), &err);
    for (size_t i = 0; i < 2 * rows.n; i++) {
        const double mass = people[i / 2 / AMOUNTS * EVERY].mass[i % 2];
        right += mass * all->cost[i] * all->chance[i];
        sum += mass * all->cost[i];
    }
    free(all);
    return right / sum;
}

static mel_classifier *find_costly(mel_trust *trust, const sample *s, const double *cost, size_t c)
{
    const mel_rule_rows rows = {
        .n_rows = s->n, .n_classes = 2, .probability = s->probability, .label = s->label, .row_cost = cost
    };
    mel_rule_options opt;
    mel_trust_options how;
    mel_adjustment adjustment = { 0 };
    mel_classifier *rule = NULL;
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    mel_trust_options_init(&how);
    opt.evidence = costly[c].evidence;
    how.folds = costly[c].folds;
    how.calibrated = opt.evidence == MEL_BY_MODEL;
    if (how.calibrated) {
        assert_ok(mel_rule_calibrate(&adjustment, &rows, NULL, "accuracy", &opt, &err), &err);
        opt.adjustment = &adjustment;
    }
    assert_ok(mel_rule_find(&rule, NULL, &rows, NULL, "accuracy", &opt, &err), &err);
    assert_ok(mel_rule_trust(trust, rule, &rows, NULL, "accuracy", &opt, &how, &err), &err);
    mel_adjustment_clear(&adjustment);
    return rule;
}

static void check_costs(size_t c, size_t n, size_t turns)
{
    size_t values = 0, by_folds = 0;
    double wide[2] = { 0.0, 0.0 }, *cost = malloc(2 * n * sizeof *cost);
    sample *s = malloc(sizeof *s);
    mel_rng rng;
    assert_true(s != NULL && cost != NULL);
    mel_rng_seed(&rng, 600);
    for (size_t t = 0; t < turns; t++) {
        mel_trust trust = { 0 };
        draw_sample(s, n, &rng);
        for (size_t r = 0; r < n; r++) {
            cost[2 * r] = 1000.0;
            cost[2 * r + 1] = amount_at((size_t)(mel_rng_uniform(&rng) * AMOUNTS));
        }
        mel_classifier *rule = find_costly(&trust, s, cost, c);
        const double truth = value_with_costs(rule);
        values += holds(trust.value.both, truth);
        by_folds += holds(trust.cross.both, truth);
        wide[0] += trust.value.both.high - trust.value.both.low;
        wide[1] += trust.cross.both.high - trust.cross.both.low;
        mel_trust_clear(&trust);
        mel_classifier_free(rule);
    }
    print_message("costs, %zu rows, by %s: intervals %.4f wide, by folds %.4f\n", n,
                  costly[c].evidence == MEL_BY_MODEL ? "model" : "labels", wide[0] / (double)turns,
                  wide[1] / (double)turns);
    assert_true(wide[1] > 0.8 * wide[0] && wide[1] < 1.25 * wide[0] && wide[1] > 0.02 * (double)turns);
    assert_covers(values, turns, 0.92, 0.98, "value");
    assert_covers(by_folds, turns, 0.92, 0.98, "the same by folds");
    free(s);
    free(cost);
}

static void test_costs(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof costly / sizeof *costly; c++)
        check_costs(c, 300, test_repeats(1000, 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_coverage), cmocka_unit_test(test_referred),
                                        cmocka_unit_test(test_limits), cmocka_unit_test(test_costs) };
    return cmocka_run_group_tests(tests, make_people, NULL);
}
