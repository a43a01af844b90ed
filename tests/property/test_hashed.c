/* Rules without coins keep limits to the last row: on random problems, counted by the decisions themselves.
 */
#include "classify/limits.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 400, MOST_CLASSES = 3, MOST_GROUPS = 3 };

typedef struct {
    size_t n, k, m;
    mel_evidence evidence;
    bool unseen;
    double probability[MOST_CLASSES * MOST_ROWS];
    uint32_t label[MOST_ROWS], group[MOST_ROWS], said[MOST_ROWS];
    size_t n_limits;
    mel_limit limit[2];
} problem;

static void random_rows(problem *p, bool ties, mel_rng *rng)
{
    for (size_t r = 0; r < p->n; r++) {
        double *of = p->probability + r * p->k, sum = 0.0, left = mel_rng_uniform(rng);
        p->group[r] = (uint32_t)(r % p->m);
        for (size_t i = 0; i < p->k; i++) {
            of[i] = exp(1.2 * mel_rng_normal(rng) + 0.3 * (double)(i * p->group[r]));
            of[i] = ties ? 1.0 + floor(2.0 * of[i]) : of[i];
            sum += of[i];
        }
        p->label[r] = (uint32_t)(r / p->m % p->k); /* of the first rows: one of each class in each group */
        for (size_t i = 0, next = r >= p->k * p->m; i < p->k; i++) {
            of[i] /= sum;
            left -= of[i];
            if (next && left <= 0.0) {
                p->label[r] = (uint32_t)i;
                next = false;
            }
        }
    }
}

static problem random_problem(mel_rng *rng, size_t turn, size_t k, size_t m, size_t n)
{
    problem p = { .n = n, .k = k, .m = m, .evidence = turn % 2 == 0 ? MEL_BY_MODEL : MEL_BY_LABELS };
    const double bound = 0.01 + 0.05 * mel_rng_uniform(rng), share = 0.2 + 0.4 * mel_rng_uniform(rng);
    const uint32_t last = (uint32_t)k - 1;
    const mel_limit gap[] = {
        { .kind = MEL_LIMIT_ODDS, .bound = bound, .class_code = last, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_PARITY, .bound = bound, .class_code = last, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_OPPORTUNITY, .bound = bound, .class_code = last, .group = SIZE_MAX }
    };
    const mel_limit plain[] = {
        { .kind = MEL_LIMIT_SHARE, .bound = share, .class_code = last, .group = SIZE_MAX },
        { .kind = MEL_LIMIT_RECALL,
          .at_least = true,
          .bound = 0.6 + 0.5 * share,
          .class_code = last,
          .group = turn / 8 % m },
    };
    p.unseen = m > 1 && turn / 2 % 4 == 3;
    random_rows(&p, turn % 5 == 4, rng);
    if (m > 1)
        p.limit[p.n_limits++] = gap[turn % 3];
    if (m == 1 || turn / 3 % 2 == 0)
        p.limit[p.n_limits++] = plain[turn / 6 % 2];
    return p;
}

/* What the decisions come to. */
static void count(double *x, const problem *p)
{
    memset(x, 0, p->m * p->k * p->k * sizeof *x);
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->k; i++) {
            const double here =
                p->evidence == MEL_BY_LABELS ? (double)(p->label[r] == i) : p->probability[r * p->k + i];
            x[(p->group[r] * p->k + i) * p->k + p->said[r]] += here / (double)p->n;
        }
}

static bool keeps_limits(const problem *p)
{
    double x[MOST_GROUPS * MOST_CLASSES * MOST_CLASSES];
    count(x, p);
    const mel_shares shares = { p->m, p->k, p->k, x };
    for (size_t i = 0; i < p->n_limits; i++) {
        const double by = mel_limit_achieved(&p->limit[i], &shares) - p->limit[i].bound;
        if ((p->limit[i].at_least ? -by : by) > 1e-9)
            return false;
    }
    return true;
}

typedef struct {
    size_t mixed, missed;
    double lost; /* against mixtures, in all */
} tally;

static void check_one(tally *of, problem *p, const char *name)
{
    const mel_rule_rows rows = { .n_rows = p->n,
                                 .n_classes = p->k,
                                 .n_groups = p->m > 1 ? p->m : 0,
                                 .probability = p->probability,
                                 .label = p->label,
                                 .group = p->m > 1 ? p->group : NULL };
    mel_rule_options opt;
    mel_rule_report mixture = { 0 }, hash = { 0 };
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    mel_rule_options_init(&opt);
    opt.evidence = p->evidence;
    opt.group_use = p->unseen ? MEL_GROUP_UNSEEN : MEL_GROUP_SEEN;
    opt.limit = p->limit;
    opt.n_limits = p->n_limits;
    opt.threads = 1;
    opt.form = MEL_RULE_MIXTURE;
    assert_ok(mel_rule_find(&c, &mixture, &rows, NULL, name, &opt, &err), &err);
    mel_classifier_free(c);
    c = NULL;
    if (mixture.violation == 0.0 && mixture.mixed) {
        opt.form = MEL_RULE_HASH;
        assert_ok(mel_rule_find(&c, &hash, &rows, NULL, name, &opt, &err), &err);
        assert_false(hash.mixed);
        assert_ok(
            mel_classifier_decide(p->said, c, p->n, p->probability, p->m > 1 ? p->group : NULL, 1, &err),
            &err);
        of->mixed++;
        of->missed += !keeps_limits(p);
        of->lost += fabs(hash.value - mixture.value);
    }
    mel_classifier_free(c);
    mel_rule_report_clear(&mixture);
    mel_rule_report_clear(&hash);
}

static void check(size_t k, size_t m, size_t n, uint64_t seed)
{
    static const char *const named[] = { "accuracy", "balanced-accuracy", "f1", "g-mean" };
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    tally of = { 0 };
    const size_t turns = test_repeats(400, 20, 4);
    for (size_t turn = 0; turn < turns; turn++) {
        problem p = random_problem(&rng, turn, k, m, n);
        check_one(&of, &p, named[turn % (k == 2 ? 4 : 2)]);
    }
    const double lost = of.mixed > 0 ? of.lost / (double)of.mixed : 0.0;
    print_message("  %zu classes, %zu groups, %zu rows: %zu of %zu miss a limit; %.4f lost on average\n", k,
                  m, n, of.missed, of.mixed, lost);
    assert_true(turns < 20 || of.mixed > turns / 4);
    assert_true(of.missed <= (k == 2 ? 0 : 1 + of.mixed / 50));
    assert_true(lost < (n < 100 ? 0.1 : 0.05));
}

static void test_two_classes(void **state)
{
    (void)state;
    check(2, 1, 60, 1);
    check(2, 2, 60, 2);
    check(2, 2, 400, 3);
    check(2, 3, 150, 4);
}

static void test_three_classes(void **state)
{
    (void)state;
    check(3, 1, 150, 5);
    check(3, 2, 400, 6);
    check(3, 3, 400, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_two_classes),
                                        cmocka_unit_test(test_three_classes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
