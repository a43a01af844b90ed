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
