/* All zeros of an exponential sum. */
#include "space/expsum.h"

#include <math.h>

/* A sum of n terms. Each level of the search is one: the derivative, up to a positive factor, of the one
 * above times an exponential that is chosen such that one sign change of the coefficients goes away. Between
 * two zeros of a level the level above has at most one. */
typedef struct {
    size_t n;
    const double *exponent; /* strictly ascending */
    const double *coefficient;
} sum_of_exp;

/* f(x) and f'(x), both times the same positive factor. */
static double value_at(const sum_of_exp *f, double x, double *slope)
{
    const double top = x > 0.0 ? f->exponent[f->n - 1] * x : f->exponent[0] * x;
    double value = 0.0, rise = 0.0;
    for (size_t i = 0; i < f->n; i++) {
        const double term = f->coefficient[i] * exp(f->exponent[i] * x - top);
        value += term;
        rise += f->exponent[i] * term;
    }
    *slope = rise;
    return value;
}

static int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

/* The sign change between a and b, where f has these signs. Newton's method, halving where that would leave
 * the bracket or gains too little. */
static double locate(const sum_of_exp *f, double a, double b, int sign_a)
{
    enum { MOST_STEPS = 200 };
    const double fine = 0x1p-56;
    double x = a + (b - a) / 2.0, last = b - a, slope = 0.0;
    for (int step = 0; step < MOST_STEPS; step++) {
        const double value = value_at(f, x, &slope);
        if (value == 0.0)
            return x;
        if (sign_of(value) == sign_a)
            a = x;
        else
            b = x;
        const double by_newton = x - value / slope; /* may be anything when the slope is 0 */
        const bool newton = by_newton > a && by_newton < b && fabs(by_newton - x) < last / 2.0;
        const double next = newton ? by_newton : a + (b - a) / 2.0;
        last = newton ? fabs(next - x) : b - a;
        if (next == x || last <= fine || !(next > a && next < b))
            return next;
        x = next;
    }
    return x;
}

/* The sign changes of f between low, n_stops stops in ascending order and high; at most one in each gap. */
static size_t zeros_between(double *zero, const sum_of_exp *f, double low, double high, size_t n_stops,
                            const double *stop)
{
    size_t n = 0;
    double slope = 0.0, last_x = low;
    int last = sign_of(value_at(f, low, &slope));
    for (size_t s = 0; s <= n_stops; s++) {
        const double x = s < n_stops ? stop[s] : high;
        const int sign = sign_of(value_at(f, x, &slope));
        if (sign == 0)
            continue;
        if (last != 0 && sign != last)
            zero[n++] = locate(f, last_x, x, last);
        last = sign;
        last_x = x;
    }
    return n;
}

/* Index of the first coefficient whose sign differs from that of the one before; n when there is none. */
static size_t first_change(size_t n, const double *coefficient)
{
    size_t i = 1;
    while (i < n && (coefficient[i] > 0.0) == (coefficient[i - 1] > 0.0))
        i++;
    return i < n ? i : n;
}

size_t mel_expsum_scratch(size_t n)
{
    return n * (n + 2);
}

/* Terms whose coefficient is not 0, divided by the largest one. */
static size_t leave_out_zeros(size_t n, const double *exponent, const double *coefficient, double *exponents,
                              double *coefficients)
{
    double largest = 0.0;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(coefficient[i]));
    for (size_t i = 0; i < n; i++) {
        const double c = coefficient[i] / largest;
        if (!(c != 0.0) || !(largest > 0.0))
            continue;
        exponents[kept] = exponent[i];
        coefficients[kept++] = c;
    }
    return kept;
}

size_t mel_expsum_zeros(double *zero, size_t n, const double *exponent, const double *coefficient, double low,
                        double high, double *scratch)
{
    double *exponents = scratch, *stops = scratch + n, *levels = scratch + 2 * n;
    const size_t m = leave_out_zeros(n, exponent, coefficient, exponents, levels);
    if (m < 2 || first_change(m, levels) == m)
        return 0;
    size_t depth = 0;
    for (size_t at = first_change(m, levels); at < m; depth++) {
        const double *above = levels + depth * n;
        double *below = levels + (depth + 1) * n, largest = 0.0;
        const double split = exponents[at - 1] + (exponents[at] - exponents[at - 1]) / 2.0;
        for (size_t i = 0; i < m; i++) {
            below[i] = above[i] * (exponents[i] - split);
            largest = fmax(largest, fabs(below[i]));
        }
        for (size_t i = 0; i < m; i++)
            below[i] /= largest;
        at = first_change(m, below);
    }
    /* The deepest level has no sign change and so no zeros. */
    size_t n_stops = 0;
    while (depth-- > 0) {
        const sum_of_exp f = { m, exponents, levels + depth * n };
        n_stops = zeros_between(zero, &f, low, high, n_stops, stops);
        for (size_t i = 0; i < n_stops; i++)
            stops[i] = zero[i];
    }
    return n_stops;
}
