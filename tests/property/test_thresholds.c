/* One threshold for each group, or for all of them: on random small problems nothing is better among all
 * thresholds that meet the limits. */
#include "classify/goal.h"
#include "metric/shared.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 60, MOST_GROUPS = 3, MOST_CELLS = 4 * MOST_GROUPS };

typedef struct {
    size_t n, m;
    mel_evidence evidence;
    bool unseen; /* one threshold for all groups */
    double probability[2 * MOST_ROWS];
    uint32_t label[MOST_ROWS], group[MOST_ROWS];
    size_t n_limits;
    mel_limit limit[2];
} problem;

static problem random_problem(mel_rng *rng, size_t turn, size_t m, size_t n)
{
    problem p = { .n = n, .m = m, .evidence = turn % 2 == 0 ? MEL_BY_MODEL : MEL_BY_LABELS };
    p.unseen = m > 1 && turn / 2 % 4 == 3;
    for (size_t r = 0; r < n; r++) {
        p.group[r] = (uint32_t)(r < 2 * m ? r % m : r % 3 == 0 ? 0 : r % m);
        const double z = 1.6 * mel_rng_normal(rng) + 0.5 * p.group[r];
        double second = 1.0 / (1.0 + exp(-z));
        if (turn % 5 == 0)
            second = round(20.0 * second) / 20.0; /* ties */
        p.probability[2 * r + 1] = second;
        p.probability[2 * r] = 1.0 - second;
        p.label[r] = (uint32_t)(r < 2 * m ? r / m % 2 : mel_rng_uniform(rng) < second);
    }
    return p;
}

static void random_limits(problem *p, size_t turn, mel_rng *rng)
{
    const double bound = 0.02 + 0.08 * mel_rng_uniform(rng), share = 0.3 + 0.4 * mel_rng_uniform(rng);
    const mel_limit gap[] = {
        { .kind = MEL_LIMIT_ODDS, .bound = bound, .class_code = 1, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_PARITY, .bound = bound, .class_code = 1, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_OPPORTUNITY, .bound = bound, .class_code = 1, .group = SIZE_MAX }
    };
    const mel_limit plain[] = {
        { .kind = MEL_LIMIT_SHARE, .bound = share, .class_code = 1, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_RECALL, .at_least = true, .bound = share, .class_code = 1, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_ACCURACY, .at_least = true, .bound = 0.6, .group = SIZE_MAX },
    };
    if (turn % 4 > 0 && p->m > 1)
        p->limit[p->n_limits++] = gap[turn % 3];
    if (turn % 4 > 1 || (turn % 4 == 1 && p->m == 1))
        p->limit[p->n_limits++] = plain[turn / 4 % 3];
}

/* What deciding on the second class from a threshold of its group on achieves. */
static void achieve(double *x, const problem *p, const double *threshold)
{
    memset(x, 0, 4 * p->m * sizeof *x);
    for (size_t r = 0; r < p->n; r++) {
        const size_t j = p->probability[2 * r + 1] >= threshold[p->group[r]];
        double *cell = x + 4 * (size_t)p->group[r];
        if (p->evidence == MEL_BY_LABELS)
            cell[2 * (size_t)p->label[r] + j] += 1.0 / (double)p->n;
        for (size_t i = 0; i < 2 && p->evidence == MEL_BY_MODEL; i++)
            cell[2 * i + j] += p->probability[2 * r + i] / (double)p->n;
    }
}

static bool keeps_limits(const problem *p, const double *x)
{
    const mel_shares shares = { p->m, 2, 2, x };
    for (size_t i = 0; i < p->n_limits; i++) {
        const double by = mel_limit_achieved(&p->limit[i], &shares) - p->limit[i].bound;
        if ((p->limit[i].at_least ? -by : by) > 1e-12)
            return false;
    }
    return true;
}

/* By the measure of all rows together, unless it is about groups. */
static mel_status judge(double *value, const problem *p, const mel_measure *measure, const double *x)
{
    double all[4] = { 0 };
    for (size_t c = 0; c < 4 * p->m; c++)
        all[c % 4] += x[c];
    return mel_measure_value(value, measure, mel_measure_groups(measure) > 1 ? x : all, NULL);
}

/* The best of all thresholds by the measure; -infinity: none meets the limits. */
static double best_of_all(const problem *p, const mel_measure *measure, double sign)
{
    double best = -INFINITY, x[MOST_CELLS], value = 0.0, threshold[MOST_GROUPS] = { 0 };
    const size_t free_groups = p->unseen ? 1 : p->m;
    size_t at[MOST_GROUPS] = { 0 }, g = 0;
    while (g < free_groups) {
        bool own = true; /* n: never; a row of another group repeats others */
        for (size_t i = 0; i < p->m; i++) {
            const size_t r = at[p->unseen ? 0 : i];
            own = own && (p->unseen || r == p->n || p->group[r] == i);
            threshold[i] = r < p->n ? p->probability[2 * r + 1] : 2.0;
        }
        if (own)
            achieve(x, p, threshold);
        if (own && keeps_limits(p, x) && judge(&value, p, measure, x) == MEL_OK)
            best = fmax(best, sign * value);
        for (g = 0; g < free_groups && ++at[g] > p->n; g++)
            at[g] = 0;
    }
    return best;
}

/* How much the rule is below the best of all thresholds; infinite: it was refused though there is one. */
static double below(const problem *p, const char *name)
{
    const mel_rule_rows rows = { .n_rows = p->n,
                                 .n_classes = 2,
                                 .n_groups = p->m > 1 ? p->m : 0,
                                 .probability = p->probability,
                                 .label = p->label,
                                 .group = p->m > 1 ? p->group : NULL };
    mel_rule_options opt;
    mel_rule_report report = { 0 };
    mel_classifier *c = NULL;
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    opt.form = MEL_RULE_THRESHOLD;
    opt.evidence = p->evidence;
    opt.group_use = p->unseen ? MEL_GROUP_UNSEEN : MEL_GROUP_SEEN;
    opt.limit = p->limit;
    opt.n_limits = p->n_limits;
    opt.threads = 1;
    assert_ok(mel_measure_together(&measure, name, 2, p->m, &err), &err);
    const double sign = mel_measure_orientation(measure) == MEL_COST ? -1.0 : 1.0;
    const double best = best_of_all(p, measure, sign);
    const mel_status status = mel_rule_find(&c, &report, &rows, NULL, name, &opt, &err);
    double by = isfinite(best) ? INFINITY : 0.0;
    if (status != MEL_OK) {
        assert_int_equal(status, MEL_EINVAL);
    } else if (report.violation == 0.0) {
        assert_false(report.mixed);
        for (size_t i = 0; i < p->n_limits; i++) {
            const double over = report.achieved[i] - p->limit[i].bound;
            assert_true((p->limit[i].at_least ? -over : over) <= 1e-8);
        }
        by = isfinite(best) ? best - sign * report.value : 0.0;
    }
    mel_classifier_free(c);
    mel_rule_report_clear(&report);
    mel_measure_free(measure);
    return by;
}

static void check(const char *name, size_t m, size_t n, size_t most_missed, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    const size_t turns = test_repeats(400, 48, 16);
    double worst = 0.0;
    size_t missed = 0;
    for (size_t turn = 0; turn < turns; turn++) {
        problem p = random_problem(&rng, turn, m, n);
        random_limits(&p, turn / 2, &rng);
        const double by = below(&p, name);
        missed += by > 1e-9;
        worst = fmax(worst, by);
    }
    print_message("  %s, %zu groups: %zu of %zu below the best thresholds, by up to %g\n", name, m, missed,
                  turns, worst);
    assert_true(100 * missed <= most_missed * turns);
}

static const char *const named[] = { "accuracy", "balanced-accuracy", "f1", "g-mean", "min-recall",
                                     "mcc",      "macro-f1" };

static void test_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(named); i++)
        check(named[i], 1, MOST_ROWS, 0, 1 + i);
}

static void test_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(named); i++)
        check(named[i], 2, 36, 0, 11 + i);
    check("equalised-odds:largest", 2, 36, 0, 21);
    check("equalised-odds", 2, 36, 0, 22);
    check("equalised-odds:squared", 2, 36, 0, 25);
    check("demographic-parity", 2, 36, 0, 23);
    check("equalised-odds:absolute:1,9", 2, 36, 0, 24);
    check("error-rate-balance", 2, 36, 0, 26);
}

/* By blocks and pairs of them: nearly always the best. */
static void test_three(void **state)
{
    (void)state;
    static const char *const some[] = { "accuracy", "min-recall", "equalised-odds:largest", "f1", "g-mean" };
    for (size_t i = 0; i < COUNT(some); i++)
        check(some[i], 3, 27, 5, 31 + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_one), cmocka_unit_test(test_two),
                                        cmocka_unit_test(test_three) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
