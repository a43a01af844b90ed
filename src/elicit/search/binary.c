/* The thesis' searches on two classes: Algorithms 3.1 to 3.3. */
#include "elicit/search/binary.h"

#include "base/stat.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

#define HALF_PI 1.57079632679489661923
static const double half_pi = HALF_PI;
static const double pi = 2.0 * HALF_PI;

mel_point mel_binary_boundary(const mel_face *face, mel_boundary boundary, double theta)
{
    const double m11 = cos(theta), m00 = sin(theta);
    mel_point point = mel_face_centre(face);
    if (boundary == MEL_BOUNDARY_PLUG_IN)
        return mel_face_rule(face, mel_plug_in_rule(m11, m00));
    /* A direction of length 1 is never refused. */
    (void)mel_face_support(&point, face, m11, m00, NULL);
    return point;
}

mel_line mel_binary_line(const mel_face *face, mel_boundary boundary, double theta)
{
    const mel_point point = mel_binary_boundary(face, boundary, theta);
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
    write_pair(search->replay, mel_binary_boundary(search->face, search->opt->boundary, to),
               mel_binary_boundary(search->face, search->opt->boundary, from));
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
        write_pair(search->replay, mel_binary_boundary(search->face, search->opt->boundary, pi / 4.0),
                   mel_binary_boundary(search->face, search->opt->boundary, 5.0 * pi / 4.0));
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
    const mel_point a = mel_binary_boundary(search->face, search->opt->boundary, theta);
    const mel_point b = mel_binary_boundary(search->face, search->opt->boundary, other);
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

/* Proposition 3.3 literally (alpha = 1): phi = <p, C> / (<q, C> + q0) from one supporting line. */
static double grid_value(double p11, mel_line line, double positives, double negatives, mel_point c)
{
    const double p00 = 1.0 - p11;
    const double perfect = p11 * positives + p00 * negatives;
    const double scale = perfect / (perfect + line.c - line.m11 * positives - line.m00 * negatives);
    const double numerator = p11 * c.tp + p00 * c.tn;
    return numerator / (((p11 - line.m11) * c.tp + (p00 - line.m00) * c.tn + line.c) * scale);
}

/* Standard deviation of the ratio of the two solutions over the points; infinite when undefined. */
static double ratio_spread(double p11, mel_line upper, mel_line lower, const mel_face *face, size_t n,
                           const mel_point *points, double *ratio)
{
    const double positives = mel_face_positives(face), negatives = mel_face_negatives(face);
    for (size_t i = 0; i < n; i++) {
        ratio[i] = grid_value(p11, upper, positives, negatives, points[i]) /
                   grid_value(p11, lower, positives, negatives, points[i]);
        if (!isfinite(ratio[i]))
            return INFINITY;
    }
    return sqrt(mel_variance(n, ratio));
}

mel_status mel_binary_grid(double *p11, const mel_face *face, mel_boundary boundary, mel_line upper,
                           mel_line lower, size_t n_points, double step, mel_error *err)
{
    const size_t n = 2 * n_points;
    mel_point *points = mel_alloc(n, sizeof *points);
    double *ratio = mel_alloc(n, sizeof *ratio);
    if (points == NULL || ratio == NULL) {
        free(points);
        free(ratio);
        return mel_fail_memory(err, "the grid over boundary points");
    }
    /* Inside the arcs: at their ends the trivial classifiers make both solutions 0/0. */
    for (size_t i = 0; i < n_points; i++) {
        const double theta = half_pi * ((double)i + 0.5) / (double)n_points;
        points[i] = mel_binary_boundary(face, boundary, theta);
        points[n_points + i] = mel_binary_boundary(face, boundary, pi + theta);
    }
    /* The right-hand sides of the lower system carry a minus sign that the thesis leaves out. */
    const mel_line flipped = { .m11 = -lower.m11, .m00 = -lower.m00, .c = -lower.c };
    double best = INFINITY;
    const size_t n_steps = (size_t)llround(1.0 / step);
    *p11 = 0.5;
    for (size_t i = 0; i <= n_steps; i++) {
        const double candidate = (double)i / (double)n_steps;
        const double spread = ratio_spread(candidate, upper, flipped, face, n, points, ratio);
        if (spread < best) {
            best = spread;
            *p11 = candidate;
        }
    }
    free(points);
    free(ratio);
    return MEL_OK;
}
