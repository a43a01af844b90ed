/* What must hold for every quadratic, polynomial and fair metric, on random ones. */
#include "metric/shared.h"
#include "support/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, MAX_SIZE = 12, MAX_BLOCK = 1296 }; /* 6^4 */

/* Random symmetric tensor: a normal number for every ascending tuple of indices, copied to the others. */
static void random_tensor(mel_rng *rng, double *t, size_t n, uint32_t rank)
{
    size_t size = 1;
    for (uint32_t d = 0; d < rank; d++)
        size *= n;
    for (size_t at = 0; at < size; at++) {
        size_t index[4], rest = at, ascending = 0;
        for (uint32_t d = 0; d < rank; d++, rest /= n)
            index[d] = rest % n;
        for (uint32_t i = 0; i < rank; i++)
            for (uint32_t j = i + 1; j < rank; j++)
                if (index[j] < index[i]) {
                    const size_t swap = index[i];
                    index[i] = index[j];
                    index[j] = swap;
                }
        for (uint32_t d = 0; d < rank; d++)
            ascending = ascending * n + index[d];
        t[at] = ascending == at ? mel_rng_normal(rng) : t[ascending];
    }
}

/* A metric and what it was made of. */
typedef struct {
    mel_metric *metric;
    mel_layout layout;
    size_t q, m; /* numbers of a group, groups */
    uint32_t degree;
    double tensor[4][MAX_BLOCK];
    double pair[3][36];
    double lambda, prevalence[9];
} sample;

static void make_tensors(sample *s, mel_rng *rng)
{
    static const mel_layout layouts[] = { { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 },
                                          { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 },
                                          { MEL_CONFUSION, MEL_DIAGONAL, 4, 0 },
                                          { MEL_RATES, MEL_BINARY, 2, 2 } };
    s->layout = layouts[mel_rng_below(rng, COUNT(layouts))];
    s->q = mel_layout_size(&s->layout);
    s->m = 1;
    s->degree = 2 + (uint32_t)mel_rng_below(rng, 3);
    const double *tensor[4] = { NULL };
    for (uint32_t d = 0; d < s->degree; d++) {
        random_tensor(rng, s->tensor[d], s->q, d + 1);
        tensor[d] = s->tensor[d];
    }
    const mel_orientation orientation = mel_rng_below(rng, 2) == 1 ? MEL_COST : MEL_UTILITY;
    mel_error err = { 0 };
    if (s->degree == 2 && mel_rng_below(rng, 2) == 1)
        assert_ok(mel_metric_quadratic(&s->metric, &s->layout, NULL, orientation, tensor[0], tensor[1], &err),
                  &err);
    else
        assert_ok(mel_metric_polynomial(&s->metric, s->degree, &s->layout, NULL, orientation, tensor, &err),
                  &err);
}

static void make_fair(sample *s, mel_rng *rng)
{
    static const mel_layout layouts[] = { { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 },
                                          { MEL_RATES, MEL_OFFDIAGONAL, 3, 2 },
                                          { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 },
                                          { MEL_RATES, MEL_DIAGONAL, 3, 3 } };
    s->layout = layouts[mel_rng_below(rng, COUNT(layouts))];
    s->m = s->layout.n_groups;
    s->q = mel_layout_size(&s->layout) / s->m;
    s->degree = 1 + (uint32_t)mel_rng_below(rng, 2);
    s->lambda = mel_rng_uniform(rng);
    const size_t k = s->layout.n_classes, pairs = mel_group_pairs(s->m),
                 block = s->degree == 1 ? s->q : s->q * s->q;
    double blocks[3 * 36];
    random_tensor(rng, s->tensor[0], s->q, 1);
    for (size_t p = 0; p < pairs; p++) {
        random_tensor(rng, s->pair[p], s->q, s->degree);
        memcpy(blocks + p * block, s->pair[p], block * sizeof *blocks);
    }
    for (size_t i = 0; i < k; i++) {
        double share[3];
        mel_rng_dirichlet(rng, s->m, NULL, share);
        for (size_t g = 0; g < s->m; g++)
            s->prevalence[g * k + i] = share[g];
    }
    mel_error err = { 0 };
    assert_ok((s->degree == 1 ? mel_metric_fair_linear : mel_metric_fair_quadratic)(
                  &s->metric, &s->layout, NULL, NULL, s->tensor[0], blocks, s->lambda, s->prevalence, &err),
              &err);
}

static void make(sample *s, mel_rng *rng)
{
    memset(s, 0, sizeof *s);
    (mel_rng_below(rng, 2) == 1 ? make_fair : make_tensors)(s, rng);
}

/* The definitions, entry by entry. */
static double polynomial_twin(const sample *s, const double *x)
{
    double sum = 0, factorial = 1;
    size_t size = 1;
    for (uint32_t d = 1; d <= s->degree; d++) {
        factorial *= d;
        size *= s->q;
        for (size_t at = 0; at < size; at++) {
            double product = s->tensor[d - 1][at] / factorial;
            for (size_t left = at, i = 0; i < d; i++, left /= s->q)
                product *= x[left % s->q];
            sum += product;
        }
    }
    return sum;
}

static double fair_twin(const sample *s, const double *x)
{
    const size_t q = s->q, k = s->layout.n_classes;
    double mistakes = 0, gaps = 0;
    for (size_t i = 0; i < q; i++) {
        const size_t c = s->layout.coordinates == MEL_DIAGONAL ? i : i / (k - 1);
        double overall = 0;
        for (size_t g = 0; g < s->m; g++)
            overall += s->prevalence[g * k + c] * x[g * q + i];
        mistakes += s->tensor[0][i] * overall;
    }
    size_t pair = 0;
    for (size_t u = 0; u < s->m; u++)
        for (size_t v = u + 1; v < s->m; v++, pair++)
            for (size_t i = 0; i < q; i++) {
                const double d = x[u * q + i] - x[v * q + i];
                if (s->degree == 1)
                    gaps += s->pair[pair][i] * fabs(d);
                for (size_t j = 0; s->degree == 2 && j < q; j++)
                    gaps += 0.5 * d * s->pair[pair][i * q + j] * (x[u * q + j] - x[v * q + j]);
            }
    return (1 - s->lambda) * mistakes + s->lambda * gaps;
}

static void test_value_is_the_definition(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int round = 0; round < ROUNDS; round++) {
        static sample s;
        make(&s, &rng);
        double x[MAX_SIZE];
        test_point(&rng, s.m * s.q, x);
        const double want = s.m > 1 ? fair_twin(&s, x) : polynomial_twin(&s, x);
        assert_close(test_value(s.metric, x), want, 1e-12 * (1 + fabs(want)));
        mel_metric_free(s.metric);
    }
}

static void test_gradient(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (int round = 0; round < ROUNDS; round++) {
        static sample s;
        make(&s, &rng);
        double x[MAX_SIZE];
        test_point(&rng, s.m * s.q, x);
        test_check_gradient(s.metric, x, 1e-6);
        mel_metric_free(s.metric);
    }
}

static void test_comparison(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int round = 0; round < ROUNDS; round++) {
        static sample s;
        make(&s, &rng);
        const size_t n = s.m * s.q;
        double a[MAX_SIZE], b[MAX_SIZE];
        test_point(&rng, n, a);
        test_point(&rng, n, b);
        test_check_comparison(s.metric, a, b);
        /* Close points: first order is all that is left, to ten digits. */
        const double sign = mel_metric_orientation(s.metric) == MEL_COST ? -1 : 1;
        double slope[MAX_SIZE], along = 0;
        assert_ok(mel_metric_gradient(slope, s.metric, a, NULL), NULL);
        for (size_t i = 0; i < n; i++) {
            b[i] = a[i] + 1e-12 * (b[i] - 0.5);
            along += slope[i] * (a[i] - b[i]);
        }
        assert_close(test_compare(s.metric, a, b), sign * along, 1e-22);
        mel_metric_free(s.metric);
    }
}

/* phi(c + u) - phi(c - u) = 2 <a + Bc, u> at any radius. */
static void test_symmetric_pairs(void **state)
{
    (void)state;
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    enum { Q = 6 };
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (int round = 0; round < ROUNDS; round++) {
        double a[Q], b[Q * Q], c[Q], u[Q], above[Q], below[Q], want = 0;
        random_tensor(&rng, a, Q, 1);
        random_tensor(&rng, b, Q, 2);
        test_point(&rng, Q, c);
        test_point(&rng, Q, u);
        for (size_t i = 0; i < Q; i++) {
            above[i] = c[i] + u[i];
            below[i] = c[i] - u[i];
            double slope = a[i];
            for (size_t j = 0; j < Q; j++)
                slope += b[i * Q + j] * c[j];
            want += 2 * slope * u[i];
        }
        mel_metric *metric = NULL;
        assert_ok(mel_metric_quadratic(&metric, &layout, NULL, MEL_UTILITY, a, b, NULL), NULL);
        assert_close(test_compare(metric, above, below), want, 1e-13 * (1 + fabs(want)));
        mel_metric_free(metric);
    }
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void check_norms(const sample *s, const mel_metric *scaled)
{
    if (s->m == 1) {
        double sum = 0;
        size_t n = 1;
        for (uint32_t d = 1; d <= s->degree; d++) {
            n *= s->q;
            sum += pow(norm(mel_metric_tensor(scaled, d), n), 2);
        }
        assert_close(sum, 1, 1e-14);
        return;
    }
    double sum = 0;
    for (size_t u = 0; u < s->m; u++)
        for (size_t v = u + 1; v < s->m; v++)
            sum += norm(mel_metric_pair(scaled, u, v), s->degree == 1 ? s->q : s->q * s->q);
    assert_close(sum, s->degree, 1e-14); /* of squares half the sum is 1 */
    assert_close(norm(mel_metric_tensor(scaled, 1), s->q), 1, 1e-14);
}

/* Scaling divides every difference by one and the same number, and doing it twice changes nothing. */
static void test_scaling_keeps_the_order(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (int round = 0; round < ROUNDS; round++) {
        static sample s;
        make(&s, &rng);
        mel_metric *scaled = NULL;
        assert_ok(mel_metric_copy(&scaled, s.metric, NULL), NULL);
        assert_ok(mel_metric_normalise(scaled, NULL), NULL);
        check_norms(&s, scaled);
        double a[MAX_SIZE], b[MAX_SIZE], ratio = 0;
        for (int pair = 0; pair < 5; pair++) {
            test_point(&rng, s.m * s.q, a);
            test_point(&rng, s.m * s.q, b);
            const double before = test_compare(s.metric, a, b), after = test_compare(scaled, a, b);
            if (pair == 0)
                ratio = after / before;
            assert_close(after, ratio * before, 1e-12);
            assert_true(ratio > 0);
        }
        const double lambda = mel_metric_lambda(scaled);
        assert_ok(mel_metric_normalise(scaled, NULL), NULL);
        if (s.m > 1)
            assert_close(mel_metric_lambda(scaled), lambda, 1e-15);
        mel_metric_free(s.metric);
        mel_metric_free(scaled);
    }
}

static void test_files(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (int round = 0; round < ROUNDS; round++) {
        static sample s;
        make(&s, &rng);
        const size_t n = mel_metric_coefficients(s.metric);
        double *low = calloc(n, sizeof *low), *high = calloc(n, sizeof *high);
        for (size_t i = 0; i < n; i++) {
            low[i] = -mel_rng_uniform(&rng);
            high[i] = mel_rng_uniform(&rng);
        }
        mel_error err = { 0 };
        if (round % 2 == 0)
            assert_ok(mel_metric_set_intervals(s.metric, low, high, &err), &err);
        char *text = NULL, *text_again = NULL;
        mel_metric *again = NULL;
        assert_ok(mel_metric_to_json(&text, s.metric, &err), &err);
        assert_ok(mel_metric_load_memory(&again, text, strlen(text), "again", &err), &err);
        assert_ok(mel_metric_to_json(&text_again, again, &err), &err);
        assert_string_equal(text_again, text);
        double a[MAX_SIZE];
        test_point(&rng, s.m * s.q, a);
        assert_true(test_value(again, a) == test_value(s.metric, a));
        for (size_t i = 0; round % 2 == 0 && i < n; i++) {
            double l = 0, h = 0;
            assert_true(mel_metric_interval(again, i, &l, &h));
            assert_true(l == low[i] && h == high[i]);
        }
        free(low);
        free(high);
        free(text);
        free(text_again);
        mel_metric_free(again);
        mel_metric_free(s.metric);
    }
}

/* A measure of rates off the diagonal, at equal shares of classes and groups. */
static double named(const char *name, const char *gap, size_t k, size_t m, const double *rates)
{
    char text[64];
    double out = (double)NAN, confusion[27];
    mel_error err = { 0 };
    mel_measure *measure = NULL;
    for (size_t row = 0; row < m * k; row++) {
        double *c = confusion + row * k;
        c[row % k] = 1;
        for (size_t j = 0; j + 1 < k; j++) {
            c[j + (j >= row % k)] = rates[row * (k - 1) + j];
            c[row % k] -= rates[row * (k - 1) + j];
        }
    }
    (void)snprintf(text, sizeof text, "%s%s", name, gap);
    assert_ok(mel_measure_named(&measure, text, k, m, &err), &err);
    assert_ok(mel_measure_value(&out, measure, confusion, &err), &err);
    mel_measure_free(measure);
    return out;
}

/* Equalised odds and its relatives are fair metrics with lambda = 1, the Q-mean a quadratic metric. */
static void test_named_rates_are_instances(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 },
                     three = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
    const double a[] = { 1, 1 }, even[] = { 0.5, 0.5, 0.25, 0.25, 0.25, 0.25 };
    static const struct {
        const char *name;
        double false_alarms, missed;
    } rows[] = { { "equalised-odds", 1, 1 },
                 { "equal-opportunity", 0, 1 },
                 { "negative-balance", 1, 0 },
                 { "error-rate-balance", 0.5, 0.5 } };
    for (int round = 0; round < ROUNDS; round++) {
        double x[6], b[6], squares[12];
        test_point(&rng, COUNT(x), x);
        for (size_t i = 0; i < COUNT(rows); i++) {
            for (size_t p = 0; p < 3; p++) {
                b[2 * p] = rows[i].false_alarms;
                b[2 * p + 1] = rows[i].missed;
                squares[4 * p] = 2 * b[2 * p];
                squares[4 * p + 1] = squares[4 * p + 2] = 0;
                squares[4 * p + 3] = 2 * b[2 * p + 1];
            }
            mel_metric *absolute = NULL, *squared = NULL;
            assert_ok(mel_metric_fair_linear(&absolute, &layout, NULL, NULL, a, b, 1, even, NULL), NULL);
            assert_ok(mel_metric_fair_quadratic(&squared, &layout, NULL, NULL, a, squares, 1, even, NULL),
                      NULL);
            assert_close(test_value(absolute, x), named(rows[i].name, ":absolute", 2, 3, x), 1e-14);
            assert_close(test_value(squared, x), named(rows[i].name, ":squared", 2, 3, x), 1e-14);
            mel_metric_free(absolute);
            mel_metric_free(squared);
        }
        double zero[6] = { 0 }, curvature[36] = { 0 };
        for (size_t i = 0; i < 36; i++)
            curvature[i] = i / 6 / 2 == i % 6 / 2 ? 2.0 / 3 : 0;
        mel_metric *q_mean = NULL;
        assert_ok(mel_metric_quadratic(&q_mean, &three, NULL, MEL_COST, zero, curvature, NULL), NULL);
        for (size_t i = 0; i < 6; i++)
            x[i] /= 2; /* rows of rates sum to at most one */
        assert_close(test_value(q_mean, x), named("q-mean", "", 3, 1, x), 1e-14);
        mel_metric_free(q_mean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_is_the_definition),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_symmetric_pairs),
        cmocka_unit_test(test_scaling_keeps_the_order),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_named_rates_are_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
