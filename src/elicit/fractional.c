/* From supporting lines to a binary linear-fractional metric, without a further question.
 *
 * With p0 = 0 a metric's level lines all pass through one pivot, where <p, C> = 0 and the denominator
 * vanishes. The supporting line at the maximiser is p - t q = alpha m, t q0 = alpha c (t: the
 * maximum), the one at the minimiser the same with its own t, alpha < 0. Both lines pass through the
 * pivot, and eliminating q leaves p proportional to c_low m_up - c_up m_low. Preferences fix the
 * pivot and nothing else: alpha stays free and is chosen as in proposition 3.3 (alpha = 1), or
 * smaller where that would make the maximum negative. */
#include "elicit/fractional.h"

#include <math.h>

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
    double p11 = lower.c * upper.m11 - upper.c * lower.m11;
    double p00 = lower.c * upper.m00 - upper.c * lower.m00;
    const double sum = p11 + p00;
    const double size = fabs(lower.c) + fabs(upper.c);
    if (!isfinite(sum) || fabs(sum) <= 1e-14 * size || size == 0.0)
        return mel_fail(
            err, MEL_ENUMERIC,
            "the supporting lines (%g, %g; %g) and (%g, %g; %g) do not fix a metric: they coincide or "
            "pass through the origin",
            upper.m11, upper.m00, upper.c, lower.m11, lower.m00, lower.c);
    p11 /= sum;
    p00 /= sum;
    const double solved[2] = { p11, p00 };
    const mel_status status = mel_fractional_from_p(q, q0, solved, upper, positives, negatives, err);
    if (status != MEL_OK)
        return status;
    p[0] = p11;
    p[1] = p00;
    return MEL_OK;
}
