/* On the face of the classes r and i the metric is (a_r x + a_i y) / (b_r x + b_i y + b0). Its level lines
 * all pass through one point (a pencil of lines), and two of them fix all. The line of the pencil through the
 * origin is where the numerator vanishes: (a_r, a_i) is proportional to c_low m_up - c_up m_low,
 * so the faces of r give a up to its scale. The denominator's line is some other member of the pencil: with
 * the upper line, (b_r, b_i, b0) = s (m_r, m_i, -c) + t (a_r, a_i, 0). All faces share b0 and b_r, which
 * leaves s = -b0 / c,   t = (b_r + b0 m_r / c) / a_r,   b_i = (a_i / a_r) b_r + b0 (m_r a_i / a_r - m_i) / c:
 * one metric on all faces, hence (a hyperplane through k independent points of the axes is one hyperplane) in
 * all of space. b_r and b0 stay free: psi and psi / (s + t psi) order alike. With b_r = 0 and b0 = 1 this is
 * u_i = (m_r a_i / a_r - m_i) / c, and b = u + t a. */
#include "elicit/search/diagonal.h"

#include "base/la.h"

#include <math.h>

/* a with a[reference] = 1 and, in b, u with u[reference] = 0. */
static mel_status join_faces(size_t n, double *a, double *u, size_t reference, const mel_line *upper,
                             const mel_line *lower, mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        a[i] = 1.0;
        u[i] = 0.0;
        if (i == reference)
            continue;
        const mel_line up = upper[i], low = lower[i];
        const double own = low.c * up.m11 - up.c * low.m11, other = low.c * up.m00 - up.c * low.m00;
        const double size = fabs(low.c) + fabs(up.c);
        if (!(own > 1e-14 * size) || !(up.c > 0.0) || !isfinite(other))
            return mel_fail(
                err, MEL_ENUMERIC,
                "the level lines (%g, %g; %g) and (%g, %g; %g) of classes %zu and %zu do not fix a "
                "metric that rewards class %zu; let a tournament choose the reference",
                up.m11, up.m00, up.c, low.m11, low.m00, low.c, reference + 1, i + 1, reference + 1);
        a[i] = fmax(other / own, 0.0);
        u[i] = (up.m11 * a[i] - up.m00) / up.c;
    }
    return MEL_OK;
}

/* The least that 1 + <u + t a, d> is for d between 0 and the corner; it grows with t. */
static double least_denominator(size_t n, const double *a, const double *u, double t, const double *corner)
{
    double least = 1.0;
    for (size_t i = 0; i < n; i++)
        least += fmin(u[i] + t * a[i], 0.0) * corner[i];
    return least;
}

/* As the thesis (its alpha is 1: the b add up to 0), or the nearest t with a denominator that stays above
 * half of what is possible. NaN when none is positive. */
static double choose_t(size_t n, const double *a, const double *u, const double *corner)
{
    double low = 0.0, high = 0.0;
    for (size_t i = 0; i < n; i++) {
        low -= u[i];
        if (a[i] > 0.0)
            high = fmax(high, -u[i] / a[i]);
    }
    const double most = least_denominator(n, a, u, high, corner);
    if (!(most > 0.0))
        return (double)NAN;
    if (low >= high || least_denominator(n, a, u, low, corner) >= 0.5 * most)
        return low;
    for (int i = 0; i < 60; i++) {
        const double t = 0.5 * (low + high);
        if (least_denominator(n, a, u, t, corner) >= 0.5 * most)
            high = t;
        else
            low = t;
    }
    return high;
}

mel_status mel_fractional_faces(size_t n, double *a, double *b, double *b0, size_t reference,
                                const mel_line *upper, const mel_line *lower, const double *corner,
                                mel_error *err)
{
    TRY(join_faces(n, a, b, reference, upper, lower, err));
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i];
    mel_scale(n, 1.0 / sum, a);
    const double t = choose_t(n, a, b, corner);
    mel_axpy(n, t, a, b);
    const double perfect = mel_dot(n, a, corner), denominator = 1.0 + mel_dot(n, b, corner);
    if (!(perfect > 0.0) || !(denominator > 0.0) || !isfinite(denominator))
        return mel_fail(err, MEL_ENUMERIC,
                        "the level lines of the faces give a metric without a positive denominator");
    mel_scale(n, perfect / denominator, b);
    *b0 = perfect / denominator;
    return MEL_OK;
}
