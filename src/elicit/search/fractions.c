/* Linear-fractional metrics in closed form from the level lines that a search has found, without a further
 * question: of two classes, on a ball of any dimension, and on two-class faces. */
#include "elicit/shared.h"

#include "base/internal.h"
#include "base/la.h"

#include <math.h>

/* --- two classes, and a ball ---------------------------------------------------------------------------- */

/* With two classes and p0 = 0, all level lines of a metric pass through one pivot, where <p, C> = 0 and the
 * denominator vanishes. The supporting line at the maximiser is p - t q = alpha m, t q0 = alpha c (t: the
 * maximum), the one at the minimiser the same with its own t, alpha < 0. Both lines pass through the
 * pivot, and eliminating q leaves p proportional to c_low m_up - c_up m_low. Preferences fix the
 * pivot and nothing else: alpha stays free and is chosen as in proposition 3.3 (alpha = 1), or
 * smaller where that would make the maximum negative. */
mel_status mel_fractional_from_p(double q[2], double *q0, const double p[2], mel_line upper, double positives,
                                 double negatives, mel_error *err)
{
    const double perfect = p[0] * positives + p[1] * negatives;
    const double gap =
        upper.m11 * positives + upper.m00 * negatives - upper.c; /* >= 0: perfect is above the line */
    if (!(perfect > 0.0) || !isfinite(gap))
        return mel_fail(err, MEL_ENUMERIC, "p = (%g, %g) gives a perfect classifier no value", p[0], p[1]);
    double alpha = 1.0;
    if (alpha * gap > 0.5 * perfect)
        alpha = 0.5 * perfect / gap;
    const double maximum = (perfect - alpha * gap) / perfect;
    q[0] = (p[0] - alpha * upper.m11) / maximum;
    q[1] = (p[1] - alpha * upper.m00) / maximum;
    *q0 = alpha * upper.c / maximum;
    return MEL_OK;
}

mel_status mel_fractional_closed(double p[2], double q[2], double *q0, mel_line upper, mel_line lower,
                                 double positives, double negatives, mel_error *err)
{
    const double p11 = lower.c * upper.m11 - upper.c * lower.m11,
                 p00 = lower.c * upper.m00 - upper.c * lower.m00;
    const double sum = p11 + p00, size = fabs(lower.c) + fabs(upper.c);
    if (!isfinite(sum) || fabs(sum) <= 1e-14 * size || size == 0.0)
        return mel_fail(
            err, MEL_ENUMERIC,
            "the supporting lines (%g, %g; %g) and (%g, %g; %g) do not fix a metric: they coincide or "
            "pass through the origin",
            upper.m11, upper.m00, upper.c, lower.m11, lower.m00, lower.c);
    p[0] = p11 / sum;
    p[1] = p00 / sum;
    return mel_fractional_from_p(q, q0, p, upper, positives, negatives, err);
}

/* On a ball of any dimension: u(c) = <s_up, c> - c_up and l(c) = <s_low, c> - c_low are at most 0 on it, and
 * 0 where the metric is best and worst. Numerator and denominator are combinations of u and l, and of those
 * the ones that are positive on the ball are -(w_up u + w_low l), both weights positive. Which weights is a
 * freedom that preferences do not settle (phi -> phi/(1 + t phi)); equal ones make the denominator of a
 * linear metric constant. The numerator without a constant is c_low u - c_up l, up to its sign, and orders as
 * u/-l does when that is the sign of b0 = w_up c_up + w_low c_low. So b0 is made positive where it can be. */
static void choose_weights(double *w_upper, double *w_lower, double c_upper, double c_lower)
{
    static const double least_share = 1e-3; /* of the larger constant that b0 keeps with equal weights */
    const double larger = fmax(c_upper, c_lower), smaller = fmin(c_upper, c_lower);
    *w_upper = 1.0;
    *w_lower = 1.0;
    if (larger <= 0.0 || c_upper + c_lower > least_share * larger)
        return;
    *(c_upper < c_lower ? w_upper : w_lower) = 0.5 * larger / -smaller;
}

/* Element i of the numerator, but for its scale. */
static double numerator_at(size_t i, const double *upper, double c_upper, const double *lower, double c_lower)
{
    return c_lower * upper[i] - c_upper * lower[i];
}

mel_status mel_fractional_ball(size_t n, double *a, double *b, double *b0, const double *upper,
                               double c_upper, const double *lower, double c_lower, mel_error *err)
{
    double w_upper, w_lower, norm = 0.0, size = 0.0;
    choose_weights(&w_upper, &w_lower, c_upper, c_lower);
    for (size_t i = 0; i < n; i++) {
        norm += fabs(numerator_at(i, upper, c_upper, lower, c_lower));
        size += fabs(c_lower * upper[i]) + fabs(c_upper * lower[i]);
    }
    const double constant = w_upper * c_upper + w_lower * c_lower;
    if (!isfinite(norm) || !(norm > 1e-14 * size) || !(fabs(constant) > 0.0))
        return mel_fail(err, MEL_ENUMERIC,
                        "the supporting hyperplanes, with constants %g and %g, do not fix a metric: they "
                        "coincide or pass through the origin",
                        c_upper, c_lower);
    const double scale = fabs(constant), sign = constant > 0.0 ? 1.0 : -1.0;
    for (size_t i = 0; i < n; i++) {
        const double top = numerator_at(i, upper, c_upper, lower, c_lower);
        b[i] = -(w_upper * upper[i] + w_lower * lower[i]) / scale;
        a[i] = sign * top / norm;
    }
    *b0 = sign;
    return MEL_OK;
}

/* --- two-class faces ------------------------------------------------------------------------------------ */

/* On the face of the classes r and i the metric is (a_r x + a_i y) / (b_r x + b_i y + b0). Its level lines
 * all pass through one point (a pencil of lines), and two of them fix all. The line of the pencil through the
 * origin is where the numerator vanishes: (a_r, a_i) is proportional to c_low m_up - c_up m_low,
 * so the faces of r give a up to its scale. The denominator's line is some other member of the pencil: with
 * the upper line, (b_r, b_i, b0) = s (m_r, m_i, -c) + t (a_r, a_i, 0). All faces share b0 and b_r, which
 * leaves s = -b0 / c,   t = (b_r + b0 m_r / c) / a_r,   b_i = (a_i / a_r) b_r + b0 (m_r a_i / a_r - m_i) / c:
 * one metric on all faces, hence (a hyperplane through k independent points of the axes is one hyperplane) in
 * all of space. b_r and b0 stay free: psi and psi / (s + t psi) order alike. With b_r = 0 and b0 = 1 this is
 * u_i = (m_r a_i / a_r - m_i) / c, and b = u + t a. */

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
