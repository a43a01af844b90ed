/* Questions from a given pool of classifiers: the pair that is asked tells at least as much as random ones,
 * the answers lead to the hidden metric, wrong answers included, and same samples give the same pair. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/active/ask/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, POOL = 120, RANDOM_PAIRS = 1000 };

typedef struct {
    size_t dimension;
    mel_assumption assume;
    double *point; /* POOL x dimension */
    double truth[MOST];
    mel_sampler *sampler;
    mel_candidates *chooser;
    mel_rng rng;
} problem;

static problem make(size_t d, mel_assumption assume, uint64_t seed)
{
    problem p = { .dimension = d, .assume = assume, .point = calloc(POOL * d, sizeof(double)) };
    assert_non_null(p.point);
    mel_error err = { 0 };
    mel_rng_seed(&p.rng, seed);
    for (size_t i = 0; i < POOL; i++)
        mel_rng_sphere(&p.rng, d, p.point + i * d);
    mel_rng_sphere(&p.rng, d, p.truth);
    const mel_sampler_options opt = { .dimension = d, .assume = assume, .seed = seed };
    assert_ok(mel_sampler_new(&p.sampler, &opt, &err), &err);
    const size_t samples = mel_sampler_samples(p.sampler)->count;
    assert_ok(mel_candidates_new(&p.chooser, POOL, d, p.point, samples, &err), &err);
    return p;
}

static void drop(problem *p)
{
    mel_candidates_free(p->chooser);
    mel_sampler_free(p->sampler);
    free(p->point);
}

static void tell(problem *p, size_t a, size_t b, bool wrong)
{
    double x[MOST];
    mel_error err = { 0 };
    for (size_t j = 0; j < p->dimension; j++)
        x[j] = p->point[a * p->dimension + j] - p->point[b * p->dimension + j];
    const bool first = (mel_dot(p->dimension, x, p->truth) > 0.0) != wrong;
    assert_ok(mel_sampler_tell(p->sampler, x, 1.0, first ? MEL_ANSWER_A : MEL_ANSWER_B, &err), &err);
}

static double error_of(const problem *p)
{
    const mel_samples *s = mel_sampler_samples(p->sampler);
    double largest = 0.0;
    for (size_t j = 0; j < p->dimension; j++)
        largest = fmax(largest, fabs(s->mean[j] - p->truth[j]));
    return largest;
}

static double score(mel_outlook o)
{
    return o.information * o.reduction;
}

/* As many answers as `asked`, then the choice against random pairs. */
static void test_best_pair(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t dimension, asked;
        mel_assumption assume;
    } rows[] = {
        { "2 dimensions", 2, 5, { MEL_NOISE_NONE, 0.0 } },
        { "6 dimensions", 6, 12, { MEL_NOISE_NONE, 0.0 } },
        { "12 dimensions, late", 12, 50, { MEL_NOISE_NONE, 0.0 } },
        { "flips", 6, 20, { MEL_NOISE_FLIP, 0.0 } },
        { "known flips", 6, 20, { MEL_NOISE_FLIP, 0.2 } },
        { "logistic", 6, 20, { MEL_NOISE_LOGISTIC, 0.0 } },
        { "hardly telling apart", 6, 20, { MEL_NOISE_LOGISTIC, 2.0 } },
        { "band", 6, 16, { MEL_NOISE_BAND, 0.01 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        problem p = make(rows[i].dimension, rows[i].assume, 7 + i);
        size_t a = POOL, b = POOL;
        mel_outlook chosen;
        for (size_t k = 0; k < rows[i].asked; k++) {
            mel_candidates_choose(&a, &b, &chosen, p.chooser, p.sampler);
            tell(&p, a, b, false);
        }
        mel_candidates_choose(&a, &b, &chosen, p.chooser, p.sampler);
        assert_true(a < b && b < POOL);
        assert_true(score(chosen) > 0.0);
        const mel_outlook again = mel_candidates_judge(p.chooser, p.sampler, a, b);
        assert_true(score(again) == score(chosen));
        for (size_t k = 0; k < RANDOM_PAIRS; k++) {
            const size_t c = mel_rng_below(&p.rng, POOL), d = mel_rng_below(&p.rng, POOL);
            const mel_outlook other = mel_candidates_judge(p.chooser, p.sampler, c, d);
            assert_true(score(other) <= score(chosen));
        }
        drop(&p);
    }
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static double quantile(size_t n, const double *sorted, double share)
{
    const double at = share * (double)(n - 1);
    const size_t k = (size_t)at;
    return sorted[k] + (at - (double)k) * (sorted[k + 1 < n ? k + 1 : k] - sorted[k]);
}

/* Coefficient j of all samples; where answers may be wrong, at most 3 standard deviations from the middle, as
 * the quartiles measure them. */
static void seen_column(const problem *p, size_t j, double *column)
{
    const mel_samples *s = mel_sampler_samples(p->sampler);
    for (size_t i = 0; i < s->count; i++)
        column[i] = s->w[i * p->dimension + j];
    if (p->assume.kind != MEL_NOISE_FLIP)
        return;
    qsort(column, s->count, sizeof *column, ascending);
    const double low = quantile(s->count, column, 0.25), high = quantile(s->count, column, 0.75);
    const double middle = 0.5 * (low + high), reach = 3.0 * (high - low) / 1.349;
    for (size_t i = 0; i < s->count; i++)
        column[i] = fmin(middle + reach, fmax(middle - reach, s->w[i * p->dimension + j]));
}

/* The share of the variance that the answer takes away, by its definition. */
static double naive_reduction(const problem *p, size_t a, size_t b, double *likely, double *column)
{
    const size_t n = mel_sampler_samples(p->sampler)->count, d = p->dimension;
    const double *w = mel_sampler_samples(p->sampler)->w;
    double share = 0.0, taken = 0.0, total = 0.0;
    for (size_t i = 0; i < n; i++)
        likely[i] = mel_dot(d, p->point + a * d, w + i * d) - mel_dot(d, p->point + b * d, w + i * d);
    mel_sampler_predict(p->sampler, n, 1, 1.0, likely);
    for (size_t i = 0; i < n; i++)
        share += likely[i] / (double)n;
    for (size_t j = 0; j < d; j++) {
        double mean = 0.0, variance = 0.0, together = 0.0;
        seen_column(p, j, column);
        for (size_t i = 0; i < n; i++)
            mean += column[i] / (double)n;
        for (size_t i = 0; i < n; i++) {
            variance += (column[i] - mean) * (column[i] - mean) / (double)n;
            together += (column[i] - mean) * (likely[i] - share) / (double)n;
        }
        total += variance;
        taken += together * together / (share * (1.0 - share));
    }
    return taken / total;
}

static void test_reduction(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_assumption assume;
        bool wrong; /* one of the answers */
    } rows[] = {
        { "no noise", { MEL_NOISE_NONE, 0.0 }, false },
        { "flips, none made", { MEL_NOISE_FLIP, 0.0 }, false },
        { "flips, one made", { MEL_NOISE_FLIP, 0.0 }, true },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        problem p = make(6, rows[i].assume, 21 + i);
        const size_t n = mel_sampler_samples(p.sampler)->count;
        double *work = calloc(2 * n, sizeof *work);
        assert_non_null(work);
        size_t a = 0, b = 1, compared = 0;
        mel_outlook outlook;
        for (size_t k = 0; k < 16; k++) {
            mel_candidates_choose(&a, &b, &outlook, p.chooser, p.sampler);
            tell(&p, a, b, rows[i].wrong && k == 4);
        }
        for (size_t k = 0; k < 20; k++) {
            mel_candidates_choose(&a, &b, &outlook, p.chooser, p.sampler);
            if (k > 0) {
                a = mel_rng_below(&p.rng, POOL / 2);
                b = a + 1 + mel_rng_below(&p.rng, POOL / 2);
            }
            outlook = mel_candidates_judge(p.chooser, p.sampler, a, b);
            if (outlook.reduction > 0.0) { /* else all samples agree */
                assert_close(outlook.reduction, naive_reduction(&p, a, b, work, work + n), 1e-9);
                compared++;
            }
        }
        assert_true(compared >= (rows[i].assume.kind == MEL_NOISE_NONE ? 5 : 20)); /* of 20 */
        free(work);
        drop(&p);
    }
}

/* From the whole sphere, with no sign known. */
static void test_recovers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t dimension, questions, wrong; /* every so many answers is wrong; 0: none */
        mel_assumption assume;
        double error;
    } rows[] = {
        { "2 dimensions", 2, 14, 0, { MEL_NOISE_NONE, 0.0 }, 0.002 },
        { "6 dimensions", 6, 45, 0, { MEL_NOISE_NONE, 0.0 }, 0.01 },
        { "6 dimensions, not told that answers are right", 6, 60, 0, { MEL_NOISE_FLIP, 0.0 }, 0.01 },
        { "6 dimensions, every tenth answer wrong", 6, 90, 10, { MEL_NOISE_FLIP, 0.0 }, 0.03 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        problem p = make(rows[i].dimension, rows[i].assume, 31 + i);
        size_t a = 0, b = 1;
        mel_outlook outlook;
        for (size_t k = 1; k <= rows[i].questions; k++) {
            mel_candidates_choose(&a, &b, &outlook, p.chooser, p.sampler);
            tell(&p, a, b, rows[i].wrong > 0 && k % rows[i].wrong == 0);
        }
        assert_true(error_of(&p) <= rows[i].error);
        drop(&p);
    }
}

static void test_repeatable(void **state)
{
    (void)state;
    const mel_assumption flip = { MEL_NOISE_FLIP, 0.0 };
    problem p = make(6, flip, 5), q = make(6, flip, 5);
    for (size_t k = 0; k < 15; k++) {
        size_t a[2] = { 0 }, b[2] = { 0 };
        mel_outlook outlook[2];
        mel_candidates_choose(&a[0], &b[0], &outlook[0], p.chooser, p.sampler);
        mel_candidates_choose(&a[1], &b[1], &outlook[1], q.chooser, q.sampler);
        assert_int_equal(a[0], a[1]);
        assert_int_equal(b[0], b[1]);
        assert_memory_equal(&outlook[0], &outlook[1], sizeof outlook[0]);
        tell(&p, a[0], b[0], false);
        tell(&q, a[1], b[1], false);
    }
    drop(&p);
    drop(&q);
}

static void test_refusals(void **state)
{
    (void)state;
    const double fine[4] = { 1, 0, 0, 1 }, bad[4] = { 1, 0, NAN, 1 };
    mel_candidates *chooser = (mel_candidates *)&fine;
    mel_error err = { 0 };
    assert_int_equal(mel_candidates_new(&chooser, 1, 2, fine, 64, &err), MEL_EINVAL);
    assert_null(chooser);
    assert_non_null(strstr(err.text, "not 1"));
    assert_int_equal(mel_candidates_new(&chooser, 2, 2, bad, 64, &err), MEL_EINVAL);
    assert_null(chooser);
    assert_non_null(strstr(err.text, "classifier 2"));
    mel_candidates_free(NULL);
}

/* Equal classifiers tell nothing, and a pool of them leaves no question. */
static void test_nothing_to_ask(void **state)
{
    (void)state;
    const double equal[6] = { 0.5, 0.25, 0.5, 0.25, 0.5, 0.25 };
    static const mel_noise_kind kinds[] = { MEL_NOISE_NONE, MEL_NOISE_FLIP, MEL_NOISE_LOGISTIC };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const mel_sampler_options opt = { .dimension = 2, .assume = { kinds[i], 0.0 }, .seed = 1 };
        mel_sampler *sampler = NULL;
        mel_candidates *chooser = NULL;
        mel_error err = { 0 };
        assert_ok(mel_sampler_new(&sampler, &opt, &err), &err);
        const size_t samples = mel_sampler_samples(sampler)->count;
        assert_ok(mel_candidates_new(&chooser, 3, 2, equal, samples, &err), &err);
        size_t a = 77, b = 78;
        mel_outlook outlook = { .reduction = 1.0 };
        mel_candidates_choose(&a, &b, &outlook, chooser, sampler);
        assert_true(outlook.reduction == 0.0 && outlook.information == 0.0 && outlook.margin == 0.0);
        assert_int_equal(a, 77);
        assert_int_equal(b, 78);
        assert_true(mel_candidates_judge(chooser, sampler, 0, 2).information == 0.0);
        mel_candidates_free(chooser);
        mel_sampler_free(sampler);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_pair), cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_recovers),  cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_nothing_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
