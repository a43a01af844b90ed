/* Rules on rows of several files: those of one file to the last digits, whoever holds the rows. */
#include "base/rng.h"
#include "base/team.h"
#include "classify/shared.h"
#include "model/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3000, K = 3, FILES = 4 };

typedef struct {
    double probability[ROWS * K], cost[ROWS * K], weight[ROWS];
    uint32_t label[ROWS], group[ROWS];
} table;

/* Probabilities that are too sure of themselves, weights that are no sums of powers of two. */
static table *random_table(void)
{
    table *t = calloc(1, sizeof *t);
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    assert_non_null(t);
    for (size_t r = 0; r < ROWS; r++) {
        double sum = 0.0, left = mel_rng_uniform(&rng);
        for (size_t i = 0; i < K; i++)
            sum += t->probability[r * K + i] = -log(1.0 - mel_rng_uniform(&rng));
        for (size_t i = 0; i < K; i++) {
            t->probability[r * K + i] /= sum;
            t->cost[r * K + i] = 0.5 + mel_rng_uniform(&rng);
        }
        while (t->label[r] + 1 < K && left > t->probability[r * K + t->label[r]])
            left -= t->probability[r * K + t->label[r]++];
        t->group[r] = mel_rng_uniform(&rng) < 0.4;
        t->weight[r] = 0.3 + mel_rng_uniform(&rng);
    }
    return t;
}

typedef struct {
    const char *what, *name;
    mel_rule_form form;
    mel_group_use use;
    mel_evidence evidence;
    bool groups, calibrated, shares, weights, costs, limited;
    double refer;
    size_t folds;
    double within; /* 0: 1e-12 */
} rule_case;

/* Sums agree to 1e-12. What comes out of searches that end when little is left to gain, and of their paths,
 * agrees as far as these go. */
static const rule_case cases[] = {
    { "g-mean", "g-mean", .evidence = MEL_BY_MODEL, .calibrated = true, .refer = NAN },
    { "a rule for each group", "accuracy", .evidence = MEL_BY_MODEL, .groups = true, .limited = true,
      .refer = NAN },
    { "a curved measure under limits", "q-mean", .evidence = MEL_BY_MODEL, .groups = true, .limited = true,
      .refer = NAN, .within = 1e-3 },
    { "one rule for all groups", "accuracy", .use = MEL_GROUP_UNSEEN, .evidence = MEL_BY_MODEL,
      .groups = true, .limited = true, .refer = NAN },
    { "by labels, in folds", "min-recall", .evidence = MEL_BY_LABELS, .weights = true, .folds = 3,
      .refer = NAN },
    { "calibrated in folds, for other shares", "accuracy", .evidence = MEL_BY_MODEL, .calibrated = true,
      .shares = true, .weights = true, .folds = 2, .refer = NAN, .within = 1e-11 },
    { "cases are referred", "accuracy", .evidence = MEL_BY_MODEL, .refer = 0.6 },
    { "a mixture", "g-mean", .form = MEL_RULE_MIXTURE, .evidence = MEL_BY_MODEL, .limited = true,
      .refer = NAN },
    { "costs of rows", "accuracy", .evidence = MEL_BY_MODEL, .costs = true, .refer = NAN },
};

/* What was found, as numbers one behind the other. */
typedef struct {
    size_t n;
    double number[400];
} finding;

static void keep(finding *f, size_t n, const double *numbers)
{
    assert_true(f->n + n <= COUNT(f->number));
    memcpy(f->number + f->n, numbers, n * sizeof *numbers);
    f->n += n;
}

static finding find(const rule_case *of, const table *t, size_t n_rows, const mel_shards *shards)
{
    static const double share[K] = { 0.5, 0.2, 0.3 };
    const mel_limit limit[] = {
        { .kind = MEL_LIMIT_SHARE, .bound = 0.25, .class_code = 2, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_PARITY, .bound = 0.01, .class_code = 2, .group = SIZE_MAX },
    };
    const mel_rule_rows rows = { .n_rows = n_rows,
                                 .n_classes = K,
                                 .n_groups = of->groups ? 2 : 0,
                                 .probability = t->probability,
                                 .label = t->label,
                                 .group = of->groups ? t->group : NULL,
                                 .weight = of->weights ? t->weight : NULL,
                                 .row_cost = of->costs ? t->cost : NULL,
                                 .shards = shards };
    mel_rule_options opt;
    mel_trust_options how;
    mel_adjustment adjustment = { 0 };
    mel_rule_report report;
    mel_classifier *c = NULL;
    mel_trust sure;
    mel_error err = { 0 };
    finding f = { 0 };
    mel_rule_options_init(&opt);
    opt.form = of->form;
    opt.group_use = of->use;
    opt.evidence = of->evidence;
    opt.class_share = of->shares ? share : NULL;
    opt.limit = limit;
    opt.n_limits = of->limited ? of->groups ? 2 : 1 : 0;
    opt.refer_cost = of->refer;
    opt.threads = 2;
    if (of->calibrated) {
        assert_ok(mel_rule_calibrate(&adjustment, &rows, NULL, of->name, &opt, &err), &err);
        opt.adjustment = &adjustment;
        keep(&f, K, adjustment.offset);
        keep(&f, K, adjustment.sharpness);
    }
    assert_ok(mel_rule_find(&c, &report, &rows, NULL, of->name, &opt, &err), &err);
    keep(&f, 3, (const double[]){ report.value, report.utility, report.optimum });
    keep(&f, report.n_limits, report.achieved);
    keep(&f, (of->groups ? 2 * K : K) * report.n_decisions, report.shares);
    const mel_blend *blend = mel_classifier_get(c).blend;
    keep(&f, blend->n_rules, blend->share);
    mel_trust_options_init(&how);
    how.calibrated = of->calibrated;
    how.folds = of->folds;
    how.draws = 2;
    assert_ok(mel_rule_trust(&sure, c, &rows, NULL, of->name, &opt, &how, &err), &err);
    keep(&f, 4, (const double[]){ sure.value.value, sure.seen, sure.value.both.low, sure.value.both.high });
    if (of->folds > 0)
        keep(&f, 2, (const double[]){ sure.cross.value, sure.cross.both.high });
    mel_trust_clear(&sure);
    mel_rule_report_clear(&report);
    mel_classifier_free(c);
    mel_adjustment_clear(&adjustment);
    return f;
}

static void nobody_else(void *user, void *all, const size_t *start)
{
    (void)user;
    (void)all;
    (void)start;
}

/* One of the files has no rows. */
static void test_files(void **state)
{
    (void)state;
    table *t = random_table();
    size_t start[FILES + 1] = { 0, 1100, 1100, 2990, ROWS }, room[2];
    const mel_shards files = { .n = FILES, .start = start },
                     here = { .n = FILES, .start = start, .here = start };
    const mel_team team = { .size = 1, .start = room, .gather = nobody_else };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const finding whole = find(&cases[i], t, ROWS, NULL), parts = find(&cases[i], t, ROWS, &files);
        mel_team_set(&team);
        const finding divided = find(&cases[i], t, ROWS, &here);
        mel_team_set(NULL);
        const double within = cases[i].within > 0.0 ? cases[i].within : 1e-12;
        assert_int_equal(parts.n, whole.n);
        assert_int_equal(divided.n, whole.n);
        for (size_t j = 0; j < whole.n; j++)
            test_close(parts.number[j], whole.number[j], within, cases[i].what, __FILE__, __LINE__);
        assert_memory_equal(divided.number, parts.number, parts.n * sizeof *parts.number);
    }
    free(t);
}

/* Rows of other ranks count, too, when a row is named. */
/* The loss is rounded another way; steps whose gain that hides are made all the same. */
static void test_calibration(void **state)
{
    enum { FIRST = 100, MORE = 10 };
    table *t = random_table();
    (void)state;
    for (size_t n = FIRST; n <= ROWS; n += MORE) {
        size_t start[] = { 0, n / 3, n };
        const mel_shards files = { .n = 2, .start = start };
        mel_adjustment_rows rows = {
            .stand_for = (double)n, .n = n, .n_classes = K, .probability = t->probability, .label = t->label
        };
        mel_adjustment whole, parts;
        mel_error err;
        assert_ok(mel_adjustment_fit_rows(&whole, &rows, NULL, NULL, &err), &err);
        rows.shards = &files;
        assert_ok(mel_adjustment_fit_rows(&parts, &rows, NULL, NULL, &err), &err);
        for (size_t i = 0; i < K; i++)
            assert_close(parts.offset[i], whole.offset[i], 1e-12);
        assert_close(parts.sharpness[0], whole.sharpness[0], 1e-12);
        mel_adjustment_clear(&whole);
        mel_adjustment_clear(&parts);
    }
    free(t);
}

static void test_a_row_that_is_wrong(void **state)
{
    (void)state;
    table *t = random_table();
    size_t start[] = { 0, 100, 140, 200, 240 }, here[] = { 0, 0, 40, 40, 80 }, room[3];
    const mel_shards shards = { .n = 4, .start = start, .here = here };
    const mel_team team = { .rank = 1, .size = 2, .start = room, .gather = nobody_else };
    mel_rule_rows rows = {
        .n_rows = 80, .n_classes = K, .probability = t->probability, .label = t->label, .shards = &shards
    };
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    t->probability[(size_t)45 * K] += 0.1;
    mel_team_set(&team);
    assert_int_equal(mel_rule_find(&c, NULL, &rows, NULL, "g-mean", NULL, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "row 206: the probabilities add up to 1.1"));
    rows.n_classes = 2;
    assert_int_equal(mel_rule_find(&c, NULL, &rows, NULL, "g-mean", NULL, &err), MEL_EINVAL);
    mel_team_set(NULL);
    free(t);
}

/* Rows that stand for several have no files. */
static void test_counted_rows(void **state)
{
    (void)state;
    table *t = random_table();
    size_t start[] = { 0, 10, 20 };
    const mel_shards shards = { .n = 2, .start = start };
    const mel_rule_rows rows = { .n_rows = 20,
                                 .n_classes = K,
                                 .probability = t->probability,
                                 .label = t->label,
                                 .count = t->weight,
                                 .shards = &shards };
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    assert_int_equal(mel_rule_find(&c, NULL, &rows, NULL, "g-mean", NULL, &err), MEL_EINVAL);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_a_row_that_is_wrong),
        cmocka_unit_test(test_counted_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
