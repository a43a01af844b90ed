/* Sums in a fixed order with compensation, and the descriptive statistics built on them. */
#ifndef MEL_BASE_STAT_H
#define MEL_BASE_STAT_H

#include "base/internal.h"

/* Neumaier's compensated accumulator: start from {0}. */
typedef struct {
    double sum, carry;
} mel_sum;

static inline void mel_sum_add(mel_sum *s, double x)
{
    const double t = s->sum + x;
    const double big = s->sum < 0.0 ? -s->sum : s->sum;
    const double mag = x < 0.0 ? -x : x;
    s->carry += big >= mag ? (s->sum - t) + x : (x - t) + s->sum;
    s->sum = t;
}

static inline double mel_sum_value(const mel_sum *s)
{
    return s->sum - s->sum == 0.0 ? s->sum + s->carry : s->sum; /* infinite and NaN sums stay what they are */
}

/* log |Gamma(x)|, to the last bit that of lgamma, which writes a global that all threads share. */
double mel_log_gamma(double x);
double mel_factorial(uint32_t n);
double mel_total(size_t n, const double *x);
double mel_mean(size_t n, const double *x);     /* n >= 1 */
double mel_variance(size_t n, const double *x); /* unbiased, two-pass; n >= 2 */
/* Linear interpolation between order statistics (NumPy's default, "type 7", to the last bit); sorts x
 * in place. NaN for q outside [0, 1]. */
double mel_quantile_sort(size_t n, double *x, double q); /* n >= 1, 0 <= q <= 1 */
/* The same on data that are sorted already. */
double mel_quantile_sorted(size_t n, const double *x, double q);
/* Ascending, -0.0 before 0.0; no NaN. Borrows 16 n bytes where it can get them and is slower, not
 * wrong, where it cannot. */
void mel_sort(size_t n, double *x);
/* Moves numbers, k < n, until x[k] and x[k + 1] are what sorting would put there (up to the sign of 0),
 * nothing larger before and nothing smaller behind. O(n), but for numbers in an order made to defeat it. */
void mel_select(size_t n, double *x, size_t k);
/* index[0..n) ordered so that key[index[i]] ascends, ties (-0.0 and 0.0 among them) by index; index is
 * filled by the call. O(n) time; needs about 8 n bytes, or 40 n for keys that crowd in one place.
 * MEL_EINVAL for NaN. */
mel_status mel_argsort(size_t n, const double *key, size_t *index, mel_error *err);

/* Regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1; NaN elsewhere.
 * Relative error around 1e-13, below 1e-12 for a and b up to 1e5. */
double mel_beta_inc(double a, double b, double x);
/* Standard normal distribution function. */
double mel_normal_cdf(double x);

#endif
