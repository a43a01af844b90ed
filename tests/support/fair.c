/* What tests of fair metrics share: random metrics, balls with groups that differ. */
#include "support/fair.h"
#include "metric/shared.h"

#include <math.h>
#include <string.h>

size_t test_fair_rates(test_fair_kind kind)
{
    return kind.k * (kind.k - 1);
}

size_t test_fair_block(test_fair_kind kind)
{
    const size_t q = test_fair_rates(kind);
    return kind.quadratic ? q * q : q;
}

size_t test_fair_coefficients(test_fair_kind kind)
{
    return test_fair_rates(kind) + mel_group_pairs(kind.m) * test_fair_block(kind) + 1;
}

mel_layout test_fair_layout(test_fair_kind kind)
{
    return (mel_layout){
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = kind.k, .n_groups = kind.m
    };
}

void test_fair_prevalence(double *prevalence, test_fair_kind kind, mel_rng *rng)
{
    for (size_t i = 0; i < kind.k; i++) {
        double sum = 0.0;
        for (size_t g = 0; g < kind.m; g++)
            sum += prevalence[g * kind.k + i] = 0.5 + mel_rng_uniform(rng);
        for (size_t g = 0; g < kind.m; g++)
            prevalence[g * kind.k + i] /= sum;
    }
}

mel_ball *test_fair_ball(test_fair_kind kind, const double *prevalence)
{
    const mel_layout layout = test_fair_layout(kind);
    const double k = (double)kind.k, radius = fmin(0.2, 1.0 / (k * sqrt(k - 1.0)));
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, radius, NULL, prevalence, &err), &err);
    return ball;
}

static double norm(size_t n, const double *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return sqrt(squares);
}

/* G G' with standard normal G. */
static void draw_square(double *block, size_t q, mel_rng *rng)
{
    enum { MOST = 20 };
    double g[MOST * MOST];
    assert_true(q <= MOST);
    for (size_t i = 0; i < q * q; i++)
        g[i] = mel_rng_normal(rng);
    for (size_t i = 0; i < q; i++)
        for (size_t j = i; j < q; j++) {
            double sum = 0.0;
            for (size_t l = 0; l < q; l++)
                sum += g[i * q + l] * g[j * q + l];
            block[i * q + j] = block[j * q + i] = sum;
        }
}

void test_fair_draw(double *coefficients, test_fair_kind kind, double lambda, mel_rng *rng)
{
    const size_t q = test_fair_rates(kind), block = test_fair_block(kind), pairs = mel_group_pairs(kind.m);
    double *apart = coefficients + q, size = 0.0;
    for (size_t i = 0; i < q; i++)
        coefficients[i] = fabs(mel_rng_normal(rng));
    const double length = norm(q, coefficients);
    for (size_t i = 0; i < q; i++)
        coefficients[i] /= length;
    for (size_t p = 0; p < pairs; p++) {
        if (kind.quadratic)
            draw_square(apart + p * block, q, rng);
        for (size_t i = 0; i < block && !kind.quadratic; i++)
            apart[p * block + i] = fabs(mel_rng_normal(rng));
        size += norm(block, apart + p * block) * (kind.quadratic ? 0.5 : 1.0);
    }
    for (size_t i = 0; i < pairs * block; i++)
        apart[i] /= size;
    apart[pairs * block] = lambda;
}

void test_fair_simplify(double *truth, test_fair_kind kind, const mel_session_options *is)
{
    const size_t q = test_fair_rates(kind), block = test_fair_block(kind), pairs = mel_group_pairs(kind.m);
    double size = 0.0;
    for (size_t p = 0; p < pairs; p++) {
        double *own = truth + q + p * block, squares = 0.0;
        if (is->equal_pairs)
            memcpy(own, truth + q, block * sizeof *own);
        for (size_t i = 0; i < block; i++) {
            if (is->diagonal_b && i / q != i % q)
                own[i] = 0.0;
            squares += own[i] * own[i];
        }
        size += sqrt(squares) * (kind.quadratic ? 0.5 : 1.0);
    }
    for (size_t i = 0; i < pairs * block; i++)
        truth[q + i] /= size;
}

mel_metric *test_fair_metric(test_fair_kind kind, const double *coefficients, const double *prevalence)
{
    const mel_layout layout = test_fair_layout(kind);
    const double lambda = coefficients[test_fair_coefficients(kind) - 1];
    const double *apart = coefficients + test_fair_rates(kind);
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(kind.quadratic ? mel_metric_fair_quadratic(&metric, &layout, NULL, NULL, coefficients, apart,
                                                         lambda, prevalence, &err)
                             : mel_metric_fair_linear(&metric, &layout, NULL, NULL, coefficients, apart,
                                                      lambda, prevalence, &err),
              &err);
    return metric;
}

static double distance(size_t n, const double *x, const double *y)
{
    double squares = 0.0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(squares);
}

test_fair_errors test_fair_compare(test_fair_kind kind, const double *found, const double *truth)
{
    const size_t q = test_fair_rates(kind), last = test_fair_coefficients(kind) - 1;
    return (test_fair_errors){
        .a = distance(q, found, truth),
        .b = distance(last - q, found + q, truth + q),
        .lambda = fabs(found[last] - truth[last]),
    };
}
