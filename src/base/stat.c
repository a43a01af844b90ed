/* Sums, means, quantiles, special functions and tests of statistics. */
#include "base/stat.h"

#include <float.h>
#include <math.h>

double lgamma_r(double x, int *sign); /* every C library has it, and POSIX does not ask for it */

double mel_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double mel_factorial(uint32_t n)
{
    double product = 1.0;
    for (uint32_t i = 2; i <= n; i++)
        product *= (double)i;
    return product;
}

double mel_total(size_t n, const double *x)
{
    mel_sum sum = { 0 };
    for (size_t i = 0; i < n; i++)
        mel_sum_add(&sum, x[i]);
    return mel_sum_value(&sum);
}

double mel_mean(size_t n, const double *x)
{
    return mel_total(n, x) / (double)n;
}

double mel_variance(size_t n, const double *x)
{
    const double mean = mel_mean(n, x);
    mel_sum squares = { 0 }, rest = { 0 };
    for (size_t i = 0; i < n; i++) {
        const double d = x[i] - mean;
        mel_sum_add(&squares, d * d);
        mel_sum_add(&rest, d);
    }
    /* The mean was rounded: what the deviations add up to says by how much. */
    const double off = mel_sum_value(&rest);
    return (mel_sum_value(&squares) - off * off / (double)n) / (double)(n - 1);
}

double mel_quantile_sorted(size_t n, const double *x, double q)
{
    if (n == 0 || !(q >= 0.0 && q <= 1.0))
        return NAN;
    const double place = (double)(n - 1) * q;
    const double below = floor(place);
    if (place >= (double)(n - 1))
        return x[n - 1];
    const double a = x[(size_t)below], b = x[(size_t)below + 1];
    const double t = place - below, step = b - a;
    if (!isfinite(step))
        return t == 0.0 || a == b ? a : a * (1.0 - t) + b * t;
    /* From the nearer end, as NumPy does: exact at both ends and monotone. */
    return t >= 0.5 ? b - step * (1.0 - t) : a + step * t;
}

double mel_quantile_sort(size_t n, double *x, double q)
{
    mel_sort(n, x);
    return mel_quantile_sorted(n, x, q);
}

/* Stirling's series for log(gamma(z)) - (z - 1/2) log z + z - log(2 pi)/2, z >= 10. */
static double stirling_rest(double z)
{
    static const double c[] = { 1.0 / 12.0,   -1.0 / 360.0,      1.0 / 1260.0, -1.0 / 1680.0,
                                1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0,  -3617.0 / 122400.0 };
    const double w = 1.0 / (z * z);
    double sum = 0.0;
    for (size_t i = sizeof c / sizeof *c; i-- > 0;)
        sum = sum * w + c[i];
    return sum / z;
}

/* log(x / p) where d = x - p: near p from the difference, elsewhere from the quotient. */
static double log_quotient(double x, double p, double d)
{
    return fabs(d) < 0.5 * p ? log1p(d / p) : log(x / p);
}

/* log(x^a (1-x)^b / B(a, b)) without the cancellation of large log-gammas. */
static double log_beta_weight(double a, double b, double x)
{
    static const double large = 10.0;
    const double half_log_2pi = 0.91893853320467274178;
    const double lx = log(x), ly = log1p(-x);
    if (a >= large && b >= large) {
        const double s = a + b, p = a / s, q = b / s;
        /* Deviance of x from the mean p, small when x is near it. */
        const double d = x - p;
        const double deviance = -a * log_quotient(x, p, d) - b * log_quotient(1.0 - x, q, -d);
        return -deviance + 0.5 * log(a * q) - half_log_2pi + stirling_rest(s) - stirling_rest(a) -
               stirling_rest(b);
    }
    const double big = a > b ? a : b, tiny = a > b ? b : a;
    double log_ratio; /* log gamma(a + b) - log gamma(big) */
    if (big >= large)
        log_ratio = (big - 0.5) * log1p(tiny / big) + tiny * (log(big + tiny) - 1.0) +
                    stirling_rest(big + tiny) - stirling_rest(big);
    else
        log_ratio = log(tgamma(big + tiny) / tgamma(big));
    const double log_tiny = log(tgamma(tiny + 1.0)) - log(tiny);
    return a * lx + b * ly + log_ratio - log_tiny;
}

/* I_x(a, b) over the weight above: the continued fraction of Didonato and Morris (1992, TOMS 18:360) by
 * Lentz's method. Quick for x below the mean; its terms do not cancel. y = 1 - x. */
static double beta_fraction(double a, double b, double x, double y)
{
    enum { MOST = 1000000 };
    const double tiny = DBL_MIN / DBL_EPSILON;
    const double lambda = a > b ? (a + b) * y - b : a - (a + b) * x;
    const double first = a * (lambda + 1.0) / (a + 1.0);
    double value = fabs(first) < tiny ? tiny : first;
    double c = value, d = 0.0;
    for (int n = 1; n < MOST; n++) {
        const double s = a + 2.0 * n - 1.0;
        const double w = n * (b - n) * x;
        const double alpha = (a + n - 1.0) / s * ((a + b + n - 1.0) / s) * w * x;
        const double beta = n + w / s + (a + n) / (s + 2.0) * (lambda + 1.0 + n * (1.0 + y));
        d = beta + alpha * d;
        c = beta + alpha / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        if (fabs(d * c - 1.0) <= DBL_EPSILON)
            break;
    }
    return 1.0 / value;
}

double mel_beta_inc(double a, double b, double x)
{
    if (!(a > 0.0) || !(b > 0.0) || !isfinite(a + b) || !(x >= 0.0 && x <= 1.0))
        return NAN;
    if (x == 0.0 || x == 1.0)
        return x;
    const double weight = exp(log_beta_weight(a, b, x));
    if (x < (a + 1.0) / (a + b + 2.0))
        return weight * beta_fraction(a, b, x, 1.0 - x);
    return 1.0 - weight * beta_fraction(b, a, 1.0 - x, x);
}

double mel_normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}
