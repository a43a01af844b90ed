/* The thesis' searches on a planar face, Algorithms 3.1 and 3.2, as an engine. */
#include "elicit/search/procedure.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

#define HALF_PI 1.57079632679489661923
static const double pi = 2.0 * HALF_PI;

typedef struct {
    mel_procedure procedure;
    mel_session_options opt;
    const mel_face *face;
    bool decreasing; /* known or found to prefer mistakes */
    mel_arc upper;   /* where the maximiser's slope is, as far as known */
    mel_arc lower;   /* linear-fractional: the minimiser's */
} binary_search;

/* The boundary point for a slope angle. */
static mel_point boundary_at(const mel_face *face, double theta)
{
    mel_point point = mel_face_centre(face);
    /* A direction of length 1 is never refused. */
    (void)mel_face_support(&point, face, cos(theta), sin(theta), NULL);
    return point;
}

static mel_line supporting_line(const mel_face *face, double theta)
{
    const mel_point point = boundary_at(face, theta);
    const double m11 = cos(theta), m00 = sin(theta);
    return (mel_line){ .m11 = m11, .m00 = m00, .c = m11 * point.tp + m00 * point.tn };
}

/* --- questions ------------------------------------------------------------------------------------------ */

static void pose_slopes(void *context, double from, double to)
{
    binary_search *search = context;
    mel_replay *replay = &search->procedure.replay;
    const mel_point a = boundary_at(search->face, to), b = boundary_at(search->face, from);
    replay->a[0] = a.tp;
    replay->a[1] = a.tn;
    replay->b[0] = b.tp;
    replay->b[1] = b.tn;
}

/* Algorithm 3.1 on an arc of slopes; with `minimise` its responses are inverted (Algorithm 3.2).
 * False: stopped at a question. */
static bool search_arc(binary_search *search, mel_arc *arc, bool minimise)
{
    const mel_arc_search how = {
        .replay = &search->procedure.replay,
        .tolerance = search->opt.tolerance,
        .per_round = search->opt.per_round,
        .minimise = minimise,
        .pose = pose_slopes,
        .context = search,
    };
    return mel_arc_narrow(arc, &how);
}

/* Appendix A.4: one question tells whether mistakes are preferred. False: stopped at it. */
static bool find_direction(binary_search *search)
{
    search->decreasing = search->opt.direction == MEL_DECREASING;
    if (search->opt.direction != MEL_DIRECTION_UNKNOWN)
        return true;
    const mel_preference preference = mel_prefer(&search->procedure.replay);
    search->decreasing = preference == MEL_SECOND;
    if (preference == MEL_PENDING)
        pose_slopes(search, 5.0 * pi / 4.0, pi / 4.0);
    return preference != MEL_PENDING;
}

/* Slopes of metrics that reward, and of those that punish correct decisions. */
static const mel_arc increasing = { 0.0, HALF_PI }, decreasing = { 2.0 * HALF_PI, 3.0 * HALF_PI };

/* Whether the minimiser must be found, too. */
static bool is_two_sided(const mel_session_options *opt)
{
    return mel_family_about(opt->family)->ratio && !(opt->known_p11 >= 0.0);
}

static uint32_t count_questions(const mel_session_options *opt)
{
    const uint32_t rounds = mel_arc_rounds(increasing, opt->tolerance) +
                            (is_two_sided(opt) ? mel_arc_rounds(decreasing, opt->tolerance) : 0);
    return rounds * opt->per_round + (opt->direction == MEL_DIRECTION_UNKNOWN ? 1 : 0);
}

static bool run_search(binary_search *search)
{
    search->upper = increasing;
    search->lower = decreasing;
    if (!find_direction(search))
        return false;
    if (mel_family_about(search->opt.family)->sum) {
        search->upper = search->decreasing ? decreasing : increasing;
        return search_arc(search, &search->upper, false);
    }
    /* A decreasing linear-fractional metric is the negative of an increasing one: all responses inverted. */
    return search_arc(search, &search->upper, search->decreasing) &&
           (!is_two_sided(&search->opt) || search_arc(search, &search->lower, !search->decreasing));
}

static bool same_point(const binary_search *search, double theta, double other)
{
    const mel_point a = boundary_at(search->face, theta), b = boundary_at(search->face, other);
    return a.tp == b.tp && a.tn == b.tn;
}

/* All slopes near an end may have one best point: their comparisons are ties, and no answer leads to the very
 * end. */
static bool leads_to_end(const binary_search *search, mel_arc arc, mel_arc range)
{
    const bool narrowed = arc.low != range.low || arc.high != range.high;
    return narrowed && (same_point(search, arc.low, range.low) || same_point(search, arc.high, range.high));
}

static mel_status binary_run(mel_procedure *procedure, mel_error *err)
{
    (void)err;
    binary_search *search = (binary_search *)procedure;
    procedure->pending = !run_search(search);
    if (procedure->pending)
        return MEL_OK;
    const bool below = mel_family_about(search->opt.family)->sum && search->decreasing;
    procedure->at_end = leads_to_end(search, search->upper, below ? decreasing : increasing);
    procedure->pressed = leads_to_end(search, search->lower, decreasing);
    return MEL_OK;
}

/* --- results -------------------------------------------------------------------------------------------- */

static mel_status fractional_result(const binary_search *search, mel_metric **metric, mel_summary *summary,
                                    mel_error *err)
{
    const bool known = search->opt.known_p11 >= 0.0;
    const double positives = mel_face_positives(search->face), negatives = mel_face_negatives(search->face);
    const mel_line upper = supporting_line(search->face, mel_arc_middle(search->upper));
    const mel_line lower = supporting_line(search->face, mel_arc_middle(search->lower));
    double p[2] = { search->opt.known_p11, 1.0 - search->opt.known_p11 }, q[2], q0;
    TRY(known ? mel_fractional_from_p(q, &q0, p, upper, positives, negatives, err)
              : mel_fractional_closed(p, q, &q0, upper, lower, positives, negatives, err));
    const double sign = search->decreasing ? -1.0 : 1.0, top[2] = { sign * p[0], sign * p[1] };
    const double upper_width = search->upper.high - search->upper.low,
                 lower_width = known ? 0.0 : search->lower.high - search->lower.low;
    summary->radius = 0.5 * fmax(upper_width, lower_width);
    return mel_metric_fractional(metric, search->opt.family, &mel_binary_layout, search->opt.class_names,
                                 MEL_UTILITY, top, 0.0, q, q0, err);
}

/* The intervals are where the search ended: certain without noise, no probability with it. */
static mel_status binary_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                                mel_error *err)
{
    const binary_search *search = (const binary_search *)procedure;
    const mel_arc arc = search->upper;
    return mel_family_about(search->opt.family)->ratio
               ? fractional_result(search, metric, summary, err)
               : mel_linear_result(metric, summary, &search->opt, mel_arc_middle(arc), arc.low, arc.high,
                                   err);
}

mel_status mel_engine_search(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                             mel_error *err)
{
    *out = NULL;
    if (domain->face == NULL)
        return domain->space != NULL ? mel_engine_search_faces(out, domain, opt, err)
                                     : mel_engine_search_ball(out, domain, opt, err);
    binary_search *search = mel_alloc_zero(1, sizeof *search);
    if (search == NULL)
        return mel_fail_memory(err, "the search");
    search->procedure.run = binary_run;
    search->procedure.result = binary_result;
    search->procedure.total = count_questions(opt);
    search->opt = *opt;
    search->face = domain->face;
    return mel_procedure_ready(out, &search->procedure, mel_procedure_init(&search->procedure, 2, err));
}
