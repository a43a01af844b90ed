/* Stratified splits: shares, seeds, every row alike, refusals. */
#include "base/rng.h"
#include "data/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 400, MOST_CLASSES = 5, MOST_GROUPS = 3 };

typedef struct {
    size_t n;
    uint32_t label[MOST_ROWS], group[MOST_ROWS];
} sample;

static sample make_sample(mel_rng *rng)
{
    sample s = { .n = (size_t)mel_rng_below(rng, MOST_ROWS + 1) };
    const uint64_t classes = 1 + mel_rng_below(rng, MOST_CLASSES),
                   groups = 1 + mel_rng_below(rng, MOST_GROUPS);
    for (size_t i = 0; i < s.n; i++) {
        s.label[i] = (uint32_t)mel_rng_below(rng, classes);
        s.group[i] = (uint32_t)mel_rng_below(rng, groups);
    }
    return s;
}

/* The first part has its share, to within one row, of the rows that class and group select (UINT32_MAX:
 * any); of a cell that splits evenly it has exactly its share. */
static void check_share(const sample *s, const bool *first, double share, uint32_t label, uint32_t group)
{
    size_t n = 0, taken = 0;
    for (size_t i = 0; i < s->n; i++)
        if ((label == UINT32_MAX || s->label[i] == label) && (group == UINT32_MAX || s->group[i] == group)) {
            n++;
            taken += first[i];
        }
    const double want = share * (double)n;
    assert_true(fabs((double)taken - want) <= 1.0);
    if (label != UINT32_MAX && group != UINT32_MAX && want == floor(want))
        assert_int_equal(taken, (size_t)want);
}

static void test_shares(void **state)
{
    (void)state;
    static const double shares[] = { 0.0, 0.5, 0.25, 0.7, 1.0 / 3, 0.999, 1.0 };
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int run = 0; run < 500; run++) {
        const sample s = make_sample(&rng);
        const double share = shares[run % (int)COUNT(shares)];
        bool first[MOST_ROWS];
        mel_error err;
        assert_ok(mel_split(first, s.n, s.label, NULL, share, (uint64_t)run, &err), &err);
        check_share(&s, first, share, UINT32_MAX, UINT32_MAX);
        for (uint32_t label = 0; label < MOST_CLASSES; label++)
            check_share(&s, first, share, label, UINT32_MAX);
        assert_ok(mel_split(first, s.n, s.label, s.group, share, (uint64_t)run, &err), &err);
        for (uint32_t label = 0; label < MOST_CLASSES; label++) {
            check_share(&s, first, share, label, UINT32_MAX);
            for (uint32_t group = 0; group < MOST_GROUPS; group++)
                check_share(&s, first, share, label, group);
        }
    }
}

static void test_seeds(void **state)
{
    (void)state;
    enum { ROWS = 100 };
    uint32_t label[ROWS];
    bool first[ROWS], again[ROWS], other[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        label[i] = i % 3 == 0 ? 4000000000U : i % 2;
    mel_error err;
    assert_ok(mel_split(first, ROWS, label, NULL, 0.5, 7, &err), &err);
    assert_ok(mel_split(again, ROWS, label, NULL, 0.5, 7, &err), &err);
    assert_ok(mel_split(other, ROWS, label, NULL, 0.5, 8, &err), &err);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
}

/* Every row is as likely as any other to be in the first part. */
static void test_fairness(void **state)
{
    (void)state;
    enum { ROWS = 12, RUNS = 20000 };
    const uint32_t label[ROWS] = { 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 };
    size_t count[ROWS] = { 0 };
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        bool first[ROWS];
        mel_error err;
        assert_ok(mel_split(first, ROWS, label, NULL, 0.25, seed, &err), &err);
        for (size_t i = 0; i < ROWS; i++)
            count[i] += first[i];
    }
    const double deviation = sqrt(RUNS * 0.25 * 0.75);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs((double)count[i] - 0.25 * RUNS) < 5 * deviation);
}

static void test_refusals(void **state)
{
    (void)state;
    static const double shares[] = { -0.1, 1.1, NAN, INFINITY };
    const uint32_t label[] = { 0, 1 };
    bool first[2];
    mel_error err;
    for (size_t i = 0; i < COUNT(shares); i++)
        assert_int_equal(mel_split(first, 2, label, NULL, shares[i], 1, &err), MEL_EINVAL);
    assert_ok(mel_split(first, 0, label, NULL, 0.5, 1, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shares), cmocka_unit_test(test_seeds),
                                        cmocka_unit_test(test_fairness), cmocka_unit_test(test_refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
