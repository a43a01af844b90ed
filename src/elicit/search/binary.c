/* The thesis' searches on two classes: Algorithms 3.1 and 3.2. */
#include "elicit/search/binary.h"

#include "space/shared.h"

#include <math.h>

#define HALF_PI 1.57079632679489661923
static const double pi = 2.0 * HALF_PI;

mel_point mel_binary_boundary(const mel_face *face, double theta)
{
    const double m11 = cos(theta), m00 = sin(theta);
    mel_point point = mel_face_centre(face);
    /* A direction of length 1 is never refused. */
    (void)mel_face_support(&point, face, m11, m00, NULL);
    return point;
}

mel_line mel_binary_line(const mel_face *face, double theta)
{
    const mel_point point = mel_binary_boundary(face, theta);
    const double m11 = cos(theta), m00 = sin(theta);
    return (mel_line){ .m11 = m11, .m00 = m00, .c = m11 * point.tp + m00 * point.tn };
}

static void write_pair(mel_replay *replay, mel_point a, mel_point b)
{
    replay->a[0] = a.tp;
    replay->a[1] = a.tn;
    replay->b[0] = b.tp;
    replay->b[1] = b.tn;
}

static void pose_slopes(void *context, double from, double to)
{
    const mel_binary_search *search = context;
    write_pair(search->replay, mel_binary_boundary(search->face, to),
               mel_binary_boundary(search->face, from));
}

/* Algorithm 3.1 on an arc of slopes; with `minimise` its responses are inverted (Algorithm 3.2).
 * False: stopped at a question. */
static bool search_arc(mel_binary_search *search, mel_arc *arc, bool minimise)
{
    const mel_arc_search how = {
        .replay = search->replay,
        .tolerance = search->opt->tolerance,
        .per_round = search->opt->per_round,
        .minimise = minimise,
        .pose = pose_slopes,
        .context = search,
    };
    return mel_arc_narrow(arc, &how);
}

/* Appendix A.4: one question tells whether mistakes are preferred. False: stopped at it. */
static bool find_direction(mel_binary_search *search)
{
    search->decreasing = search->opt->direction == MEL_DECREASING;
    if (search->opt->direction != MEL_DIRECTION_UNKNOWN)
        return true;
    const mel_preference preference = mel_prefer(search->replay);
    search->decreasing = preference == MEL_SECOND;
    if (preference == MEL_PENDING)
        write_pair(search->replay, mel_binary_boundary(search->face, pi / 4.0),
                   mel_binary_boundary(search->face, 5.0 * pi / 4.0));
    return preference != MEL_PENDING;
}

/* Slopes of metrics that reward, and of those that punish correct decisions. */
static const mel_arc increasing = { 0.0, HALF_PI }, decreasing = { 2.0 * HALF_PI, 3.0 * HALF_PI };

/* Whether the minimiser must be found, too. */
static bool two_sided(const mel_session_options *opt)
{
    return mel_family_about(opt->family)->ratio && !(opt->known_p11 >= 0.0);
}

uint32_t mel_binary_total(const mel_session_options *opt)
{
    const uint32_t rounds = mel_arc_rounds(increasing, opt->tolerance) +
                            (two_sided(opt) ? mel_arc_rounds(decreasing, opt->tolerance) : 0);
    return rounds * opt->per_round + (opt->direction == MEL_DIRECTION_UNKNOWN ? 1 : 0);
}

bool mel_binary_search_run(mel_binary_search *search)
{
    search->upper = increasing;
    search->lower = decreasing;
    if (!find_direction(search))
        return false;
    if (mel_family_about(search->opt->family)->sum) {
        search->upper = search->decreasing ? decreasing : increasing;
        return search_arc(search, &search->upper, false);
    }
    /* A decreasing linear-fractional metric is the negative of an increasing one: all responses inverted. */
    return search_arc(search, &search->upper, search->decreasing) &&
           (!two_sided(search->opt) || search_arc(search, &search->lower, !search->decreasing));
}

static bool same_point(const mel_binary_search *search, double theta, double other)
{
    const mel_point a = mel_binary_boundary(search->face, theta);
    const mel_point b = mel_binary_boundary(search->face, other);
    return a.tp == b.tp && a.tn == b.tn;
}

/* All slopes near an end may have one best point: their comparisons are ties, and no answer leads to the very
 * end. */
static bool leads_to_end(const mel_binary_search *search, mel_arc arc, mel_arc range)
{
    const bool narrowed = arc.low != range.low || arc.high != range.high;
    return narrowed && (same_point(search, arc.low, range.low) || same_point(search, arc.high, range.high));
}

bool mel_binary_upper_at_end(const mel_binary_search *search)
{
    const bool below = mel_family_about(search->opt->family)->sum && search->decreasing;
    return leads_to_end(search, search->upper, below ? decreasing : increasing);
}

bool mel_binary_lower_at_end(const mel_binary_search *search)
{
    return leads_to_end(search, search->lower, decreasing);
}

/* --- linear-fractional metrics in closed form --------------------------------------------------------- */

/* From supporting lines to a binary linear-fractional metric, without a further question.
 *
 * With p0 = 0 a metric's level lines all pass through one pivot, where <p, C> = 0 and the denominator
 * vanishes. The supporting line at the maximiser is p - t q = alpha m, t q0 = alpha c (t: the
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
    TRY(mel_fractional_from_p(q, q0, solved, upper, positives, negatives, err));
    p[0] = p11;
    p[1] = p00;
    return MEL_OK;
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
