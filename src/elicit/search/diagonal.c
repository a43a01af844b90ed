/* The thesis' searches on two-class faces, Algorithms 4.1, 4.3 and 4.4, as an engine; the reference class is
 * chosen by a tournament where that is wanted. */
#include "elicit/class_faces.h"
#include "elicit/search/procedure.h"
#include "elicit/shared.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the best point is the same for both slopes of a question (a corner of the face), two boundary points
 * tell nothing. A chord on which a metric of the slope in between is constant does; through the
 * centre for linear metrics, which have the same slope everywhere, and closer to the corner for others. */
static const double same_point = 1e-12;
static const double toward_centre = 0.25;
/* What a class weighs of it and the reference together. */
static const mel_arc shares_of_weight = { 0.0, 1.0 };

/* The boundary of a face that a search runs on: the best points of increasing metrics, or their worst. */
typedef enum { UPPER, LOWER, SIDES } face_side;

typedef struct {
    mel_procedure procedure;
    mel_session_options opt;
    mel_direction direction;
    size_t n_classes;
    mel_class_faces faces;
    double *corner;  /* the perfect classifier */
    bool decreasing; /* known or found to prefer mistakes */
    size_t reference;
    mel_arc *arcs[SIDES]; /* per class: where the share of the reference's weight in both is */
    mel_status status;    /* of posing it */
    mel_error *err;       /* where its sentence goes */
} faces_search;

/* Sign of the weights for which the points of a boundary are best. */
static double sign_of(face_side side)
{
    return side == UPPER ? 1.0 : -1.0;
}

/* --- points of faces ------------------------------------------------------------------------------------ */

/* A face whose axes may be the other way round than those of the two classes. */
typedef struct {
    const mel_face *face;
    size_t first, second;
    bool swapped;
} turned_face;

static mel_status face_of(turned_face *out, faces_search *search, size_t first, size_t second, mel_error *err)
{
    const size_t low = first < second ? first : second, high = first < second ? second : first;
    *out = (turned_face){ .first = first, .second = second, .swapped = first > second };
    return mel_class_faces_get(&out->face, &search->faces, low, high, err);
}

static mel_point turn(turned_face face, mel_point point)
{
    return face.swapped ? (mel_point){ point.tn, point.tp } : point;
}

/* From shares on a face of two classes to the layout's numbers and back. */
static mel_point scaled(const faces_search *search, turned_face face, mel_point share)
{
    return (mel_point){ share.tp / mel_class_faces_unit(&search->faces, face.first),
                        share.tn / mel_class_faces_unit(&search->faces, face.second) };
}

static mel_point shares(const faces_search *search, turned_face face, mel_point point)
{
    return (mel_point){ point.tp * mel_class_faces_unit(&search->faces, face.first),
                        point.tn * mel_class_faces_unit(&search->faces, face.second) };
}

/* nu(m; reference, other): the best point of the face (worst, on the lower side) when the reference's weight
 * is m and the other's 1 - m, in the layout's numbers: tp is the reference's coordinate, tn the other's. */
static mel_point best_point(const faces_search *search, turned_face face, face_side side, double m)
{
    const double sign = sign_of(side);
    /* A weight of the layout's numbers is one of shares times their scale. */
    const mel_point weight = turn(face, scaled(search, face, (mel_point){ sign * m, sign * (1.0 - m) }));
    mel_point best = mel_face_centre(face.face);
    /* A finite direction that is not zero is never refused. */
    (void)mel_face_support(&best, face.face, weight.tp, weight.tn, NULL);
    return scaled(search, face, turn(face, best));
}

/* The ends of the chord through a point of the face in a direction, all in the layout's numbers; they stay as
 * they are where the face has no extent. */
static void find_chord(mel_point ends[2], const faces_search *search, turned_face face, mel_point through,
                       mel_point direction)
{
    const mel_point at = turn(face, shares(search, face, through)),
                    along = turn(face, shares(search, face, direction));
    mel_point a, b;
    if (!mel_face_chord_at(&a, &b, face.face, at, along.tp, along.tn))
        return;
    ends[0] = scaled(search, face, turn(face, a));
    ends[1] = scaled(search, face, turn(face, b));
}

static mel_point centre_of(const faces_search *search, turned_face face)
{
    return scaled(search, face, turn(face, mel_face_centre(face.face)));
}

/* Where chords go through that stand for a corner of the face. */
static mel_point inside(const faces_search *search, turned_face face, mel_point corner)
{
    const mel_point middle = centre_of(search, face);
    const mel_family_facts *is = mel_family_about(search->opt.family);
    const double t = is->sum && !is->local ? 1.0 : toward_centre;
    return (mel_point){ corner.tp + t * (middle.tp - corner.tp), corner.tn + t * (middle.tn - corner.tn) };
}

static bool coincide(mel_point a, mel_point b)
{
    return fabs(a.tp - b.tp) <= same_point && fabs(a.tn - b.tn) <= same_point;
}

/* --- questions ------------------------------------------------------------------------------------------ */

static void write_pair(faces_search *search, turned_face face, const mel_point pair[2])
{
    for (size_t side = 0; side < 2; side++) {
        double *point = side == 0 ? search->procedure.replay.a : search->procedure.replay.b;
        memset(point, 0, search->n_classes * sizeof *point);
        point[face.first] = pair[side].tp;
        point[face.second] = pair[side].tn;
    }
}

typedef struct {
    faces_search *search;
    size_t other;
    face_side side;
} slope_context;

static void pose_slopes(void *context, double from, double to)
{
    const slope_context *slope = context;
    faces_search *search = slope->search;
    turned_face face;
    search->status = face_of(&face, search, search->reference, slope->other, search->err);
    if (search->status != MEL_OK)
        return;
    mel_point pair[2] = { best_point(search, face, slope->side, to),
                          best_point(search, face, slope->side, from) };
    if (search->opt.tournament && coincide(pair[0], pair[1])) {
        const double m = 0.5 * (from + to), sign = sign_of(slope->side);
        find_chord(pair, search, face, inside(search, face, pair[0]),
                   (mel_point){ sign * (1.0 - m), -sign * m });
    }
    write_pair(search, face, pair);
}

/* Algorithm 4.1 on the upper boundaries, 4.3 on the lower ones. False: stopped at a question. */
static bool search_side(faces_search *search, face_side side)
{
    slope_context slope = { .search = search, .side = side };
    const mel_arc_search how = {
        .replay = &search->procedure.replay,
        .tolerance = search->opt.tolerance,
        .per_round = search->opt.per_round,
        /* A decreasing metric is the negative of an increasing one: all responses inverted. */
        .minimise = search->decreasing != (side == LOWER),
        .pose = pose_slopes,
        .context = &slope,
    };
    for (slope.other = 0; slope.other < search->n_classes; slope.other++)
        if (slope.other != search->reference && !mel_arc_narrow(&search->arcs[side][slope.other], &how))
            return false;
    return true;
}

/* One question tells whether mistakes are preferred: the best against the worst of the first two classes. */
static bool find_direction(faces_search *search)
{
    search->decreasing = search->direction == MEL_DECREASING;
    if (search->direction != MEL_DIRECTION_UNKNOWN)
        return true;
    const mel_preference preference = mel_prefer(&search->procedure.replay);
    search->decreasing = preference == MEL_SECOND;
    if (preference != MEL_PENDING)
        return true;
    turned_face face;
    search->status = face_of(&face, search, 0, 1, search->err);
    if (search->status == MEL_OK)
        write_pair(search, face,
                   (const mel_point[]){ best_point(search, face, UPPER, 0.5),
                                        best_point(search, face, LOWER, 0.5) });
    return false;
}

/* Which of two classes weighs more: the chord along which as much of one is lost as the other gains. */
static void pose_match(faces_search *search, size_t champion, size_t challenger)
{
    turned_face face;
    search->status = face_of(&face, search, champion, challenger, search->err);
    if (search->status != MEL_OK)
        return;
    const mel_point middle = centre_of(search, face);
    mel_point pair[2] = { middle, middle };
    find_chord(pair, search, face, middle, (mel_point){ 1.0, -1.0 });
    write_pair(search, face, pair);
}

static bool find_reference(faces_search *search)
{
    search->reference = 0;
    for (size_t i = 1; search->opt.tournament && i < search->n_classes; i++) {
        const mel_preference preference = mel_prefer(&search->procedure.replay);
        if (preference == MEL_PENDING) {
            pose_match(search, search->reference, i);
            return false;
        }
        if ((preference == MEL_FIRST) == search->decreasing)
            search->reference = i;
    }
    return true;
}

/* Slopes within a corner of the face are ties where chords do not tell them apart: no answer leads to the
 * very end. */
static bool leads_to_end(faces_search *search, size_t other, face_side side)
{
    const mel_arc arc = search->arcs[side][other], all = shares_of_weight;
    turned_face face;
    if (mel_arc_at_end(arc, all))
        return true;
    if (search->opt.tournament || (arc.low == all.low && arc.high == all.high) ||
        face_of(&face, search, search->reference, other, NULL) != MEL_OK)
        return false;
    return coincide(best_point(search, face, side, arc.low), best_point(search, face, side, all.low)) ||
           coincide(best_point(search, face, side, arc.high), best_point(search, face, side, all.high));
}

/* Whether a search on this side has led to an end of its range. */
static bool is_at_end(faces_search *search, face_side side)
{
    for (size_t i = 0; i < search->n_classes; i++)
        if (i != search->reference && leads_to_end(search, i, side))
            return true;
    return false;
}

static bool is_fractional(const faces_search *search)
{
    return mel_family_about(search->opt.family)->ratio;
}

static uint32_t count_questions(const faces_search *search)
{
    const uint32_t others = (uint32_t)search->n_classes - 1, sides = is_fractional(search) ? 2 : 1;
    const uint32_t first = search->direction == MEL_DIRECTION_UNKNOWN ? 1 : 0;
    const uint32_t rounds = mel_arc_rounds(shares_of_weight, search->opt.tolerance);
    return first + (search->opt.tournament ? others : 0) + sides * others * rounds * search->opt.per_round;
}

static mel_status faces_run(mel_procedure *procedure, mel_error *err)
{
    faces_search *search = (faces_search *)procedure;
    search->status = MEL_OK;
    search->err = err;
    search->reference = 0;
    for (size_t i = 0; i < search->n_classes; i++)
        search->arcs[UPPER][i] = search->arcs[LOWER][i] = shares_of_weight;
    procedure->pending = !find_direction(search) || !find_reference(search) || !search_side(search, UPPER) ||
                         (is_fractional(search) && !search_side(search, LOWER));
    if (search->status != MEL_OK || procedure->pending)
        return search->status;
    procedure->at_end = is_at_end(search, UPPER);
    procedure->pressed = is_at_end(search, LOWER);
    return MEL_OK;
}

static mel_status note_faces(mel_procedure *procedure, mel_pair *pair, mel_error *err)
{
    (void)err;
    const faces_search *search = (const faces_search *)procedure;
    if (pair->note_a != NULL)
        mel_class_faces_note(&search->faces, search->opt.class_names, pair->a, pair->b, pair->note_a,
                             pair->note_b);
    return MEL_OK;
}

/* --- results -------------------------------------------------------------------------------------------- */

/* The weight of each class when the reference has 1. */
static double ratio(double m)
{
    return m > 0.0 ? (1.0 - m) / m : INFINITY;
}

/* Half of the angle that the slope of the level line has room for. */
static double half_angle(mel_arc arc)
{
    return 0.5 * (atan2(1.0 - arc.low, arc.low) - atan2(1.0 - arc.high, arc.high));
}

/* The intervals are where the search ended: certain without noise, no probability with it. For a monotone
 * metric they would be about each face's own optimum, not about the slope that is returned: it has none. */
static mel_status linear_result(const faces_search *search, double *room, mel_metric **metric,
                                mel_summary *summary, mel_error *err)
{
    const size_t n = search->n_classes;
    double *a = room, *low = room + n, *high = room + 2 * n, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const mel_arc arc = search->arcs[UPPER][i];
        const bool own = i == search->reference;
        a[i] = own ? 1.0 : ratio(mel_arc_middle(arc));
        low[i] = own ? 1.0 : ratio(arc.high);
        high[i] = own ? 1.0 : ratio(arc.low);
        sum += a[i];
    }
    mel_scale(n, 1.0 / sum, a);
    mel_bounds_normalise(n, low, high);
    if (search->decreasing)
        mel_bounds_negate(n, a, low, high);
    summary->radius = mel_bounds_radius(n, low, high);
    const bool local = mel_family_about(search->opt.family)->local;
    return mel_bounds_metric(metric, search->opt.family, mel_space_layout(search->faces.space),
                             search->opt.class_names, a, local ? NULL : low, high, err);
}

/* The level line that a search has found on the face of the reference and another class. */
static mel_status find_line(mel_line *out, faces_search *search, size_t other, face_side side, mel_error *err)
{
    turned_face face;
    TRY(face_of(&face, search, search->reference, other, err));
    const mel_arc arc = search->arcs[side][other];
    const double m = mel_arc_middle(arc), sign = sign_of(side);
    mel_point at = best_point(search, face, side, m);
    /* A slope within a corner was found by chords through a point inside, not by supporting lines. */
    if (search->opt.tournament &&
        coincide(best_point(search, face, side, arc.low), best_point(search, face, side, arc.high)))
        at = inside(search, face, at);
    *out = (mel_line){ .m11 = sign * m, .m00 = sign * (1.0 - m) };
    out->c = out->m11 * at.tp + out->m00 * at.tn;
    return MEL_OK;
}

static mel_status fractional_result(faces_search *search, double *room, mel_metric **metric,
                                    mel_summary *summary, mel_error *err)
{
    const size_t n = search->n_classes;
    double *a = room, *b = room + n, b0 = 0.0;
    MEL_AUTO_MEMORY mel_line *lines = mel_alloc_zero(2 * n, sizeof *lines);
    if (lines == NULL)
        return mel_fail_memory(err, "the lines of the faces");
    summary->radius = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (i == search->reference)
            continue;
        for (face_side side = UPPER; side < SIDES; side++) {
            TRY(find_line(&lines[side * n + i], search, i, side, err));
            summary->radius = fmax(summary->radius, half_angle(search->arcs[side][i]));
        }
    }
    TRY(mel_fractional_faces(n, a, b, &b0, search->reference, lines, lines + n, search->corner, err));
    if (search->decreasing)
        mel_scale(n, -1.0, a);
    return mel_metric_fractional(metric, search->opt.family, mel_space_layout(search->faces.space),
                                 search->opt.class_names, MEL_UTILITY, a, 0.0, b, b0, err);
}

static mel_status faces_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                               mel_error *err)
{
    faces_search *search = (faces_search *)procedure;
    MEL_AUTO_MEMORY double *room = mel_alloc(3 * search->n_classes, sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    return is_fractional(search) ? fractional_result(search, room, metric, summary, err)
                                 : linear_result(search, room, metric, summary, err);
}

/* --- the engine ----------------------------------------------------------------------------------------- */

static void faces_clear(mel_procedure *procedure)
{
    faces_search *search = (faces_search *)procedure;
    mel_class_faces_clear(&search->faces);
    free(search->corner);
    free(search->arcs[UPPER]);
}

static mel_status read_direction(mel_direction *out, const mel_session_options *opt, size_t n, mel_error *err)
{
    *out = opt->direction;
    if (opt->signs == NULL)
        return MEL_OK;
    for (size_t i = 0; i < n; i++)
        if (opt->signs[i] == 0 || opt->signs[i] != opt->signs[0])
            return mel_fail(err, MEL_EINVAL,
                            "sign %zu is %d: the search on two-class faces is for weights of one sign", i + 1,
                            (int)opt->signs[i]);
    *out = opt->signs[0] > 0 ? MEL_INCREASING : MEL_DECREASING;
    return MEL_OK;
}

static mel_status faces_init(faces_search *search, const mel_space *space, const mel_session_options *opt,
                             mel_error *err)
{
    const mel_layout *layout = mel_space_layout(space);
    const size_t n = search->n_classes = layout->n_classes;
    search->procedure.run = faces_run;
    search->procedure.result = faces_result;
    search->procedure.note = note_faces;
    search->procedure.clear = faces_clear;
    search->opt = *opt;
    if (layout->coordinates != MEL_DIAGONAL || layout->n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "two-class faces need a space of diagonal statistics, not %s%s",
                        mel_coordinates_name(layout->coordinates),
                        layout->n_groups > 1 ? " ones with groups" : "");
    TRY(read_direction(&search->direction, opt, n, err));
    TRY(mel_class_faces_new(&search->faces, space, err));
    search->corner = mel_alloc(n, sizeof *search->corner);
    search->arcs[UPPER] = mel_alloc(2 * n, sizeof *search->arcs[UPPER]);
    if (search->corner == NULL || search->arcs[UPPER] == NULL)
        return mel_fail_memory(err, "the search on faces");
    search->arcs[LOWER] = search->arcs[UPPER] + n;
    for (size_t i = 0; i < n; i++)
        search->corner[i] = layout->kind == MEL_RATES ? 1.0 : mel_space_class_share(space)[i];
    search->procedure.total = count_questions(search);
    return mel_procedure_init(&search->procedure, n, err);
}

mel_status mel_engine_search_faces(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                   mel_error *err)
{
    *out = NULL;
    faces_search *search = mel_alloc_zero(1, sizeof *search);
    if (search == NULL)
        return mel_fail_memory(err, "the search");
    return mel_procedure_ready(out, &search->procedure, faces_init(search, domain->space, opt, err));
}
