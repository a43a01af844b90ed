/* The thesis' searches on two-class faces: Algorithms 4.1, 4.3 and 4.4. */
#include "elicit/search/diagonal.h"
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

/* Of the weights for which the points of a boundary are best. */
static double sign_of(mel_side side)
{
    return side == MEL_UPPER ? 1.0 : -1.0;
}

/* --- making and ending -------------------------------------------------------------------------- */

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

mel_status mel_diagonal_init(mel_diagonal_search *search, const mel_space *space,
                             const mel_session_options *opt, mel_replay *replay, mel_error *err)
{
    const mel_layout *layout = mel_space_layout(space);
    const size_t n = layout->n_classes;
    *search = (mel_diagonal_search){ .space = space, .opt = opt, .replay = replay, .n_classes = n };
    if (layout->coordinates != MEL_DIAGONAL || layout->n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "two-class faces need a space of diagonal statistics, not %s%s",
                        mel_coordinates_name(layout->coordinates),
                        layout->n_groups > 1 ? " ones with groups" : "");
    TRY(read_direction(&search->direction, opt, n, err));
    search->scale = mel_alloc(n, sizeof *search->scale);
    search->corner = mel_alloc(n, sizeof *search->corner);
    search->faces = mel_alloc_zero(n * n, sizeof(mel_face *));
    search->upper = mel_alloc(n, sizeof *search->upper);
    search->lower = mel_alloc(n, sizeof *search->lower);
    if (search->scale == NULL || search->corner == NULL || search->faces == NULL || search->upper == NULL ||
        search->lower == NULL)
        return mel_fail_memory(err, "the search on faces");
    const double *share = mel_space_class_share(space);
    for (size_t i = 0; i < n; i++) {
        search->scale[i] = layout->kind == MEL_RATES ? 1.0 / share[i] : 1.0;
        search->corner[i] = layout->kind == MEL_RATES ? 1.0 : share[i];
    }
    return MEL_OK;
}

void mel_diagonal_clear(mel_diagonal_search *search)
{
    for (size_t i = 0; search->faces != NULL && i < search->n_classes * search->n_classes; i++)
        mel_face_free(search->faces[i]);
    free(search->faces);
    free(search->scale);
    free(search->corner);
    free(search->upper);
    free(search->lower);
}

/* --- points of faces ---------------------------------------------------------------------------- */

mel_status mel_diagonal_face(mel_turned_face *out, mel_diagonal_search *search, size_t first, size_t second,
                             mel_error *err)
{
    const size_t low = first < second ? first : second, high = first < second ? second : first;
    mel_face **face = &search->faces[low * search->n_classes + high];
    if (*face == NULL) {
        const mel_status status = mel_space_face(face, search->space, low, high, err);
        if (status != MEL_OK)
            return status;
    }
    *out = (mel_turned_face){ .face = *face, .swapped = first > second };
    return MEL_OK;
}

static mel_point turn(mel_turned_face face, mel_point point)
{
    return face.swapped ? (mel_point){ point.tn, point.tp } : point;
}

/* From shares on a face of two classes to the layout's numbers and back. */
static mel_point scaled(const mel_diagonal_search *search, size_t first, size_t second, mel_point share)
{
    return (mel_point){ share.tp * search->scale[first], share.tn * search->scale[second] };
}

static mel_point shares(const mel_diagonal_search *search, size_t first, size_t second, mel_point point)
{
    return (mel_point){ point.tp / search->scale[first], point.tn / search->scale[second] };
}

mel_point mel_diagonal_point(const mel_diagonal_search *search, mel_turned_face face, size_t other,
                             mel_side side, double m)
{
    const size_t own = search->reference;
    const double sign = sign_of(side);
    /* A weight of the layout's numbers is one of shares times their scale. */
    const mel_point weight =
        turn(face, scaled(search, own, other, (mel_point){ sign * m, sign * (1.0 - m) }));
    mel_point best = mel_face_centre(face.face);
    /* A finite direction that is not zero is never refused. */
    (void)mel_face_support(&best, face.face, weight.tp, weight.tn, NULL);
    return scaled(search, own, other, turn(face, best));
}

/* The ends of the chord through a point of the face in a direction, all in the layout's numbers; false when
 * the face has no extent there. */
static bool chord(mel_point ends[2], const mel_diagonal_search *search, mel_turned_face face, size_t first,
                  size_t second, mel_point through, mel_point direction)
{
    const mel_point at = turn(face, shares(search, first, second, through));
    const mel_point along = turn(face, shares(search, first, second, direction));
    mel_point a, b;
    if (!mel_face_chord_at(&a, &b, face.face, at, along.tp, along.tn))
        return false;
    ends[0] = scaled(search, first, second, turn(face, a));
    ends[1] = scaled(search, first, second, turn(face, b));
    return true;
}

static mel_point centre(const mel_diagonal_search *search, mel_turned_face face, size_t first, size_t second)
{
    return scaled(search, first, second, turn(face, mel_face_centre(face.face)));
}

/* Where chords go through that stand for a corner of the face. */
static mel_point inside(const mel_diagonal_search *search, mel_turned_face face, size_t other,
                        mel_point corner)
{
    const mel_point middle = centre(search, face, search->reference, other);
    const mel_family_facts *is = mel_family_about(search->opt->family);
    const double t = is->sum && !is->local ? 1.0 : toward_centre;
    return (mel_point){ corner.tp + t * (middle.tp - corner.tp), corner.tn + t * (middle.tn - corner.tn) };
}

static bool coincide(mel_point a, mel_point b)
{
    return fabs(a.tp - b.tp) <= same_point && fabs(a.tn - b.tn) <= same_point;
}

/* --- questions ---------------------------------------------------------------------------------- */

static void write_pair(mel_diagonal_search *search, size_t first, size_t second, mel_point a, mel_point b)
{
    const size_t bytes = search->n_classes * sizeof *search->replay->a;
    memset(search->replay->a, 0, bytes);
    memset(search->replay->b, 0, bytes);
    search->replay->a[first] = a.tp;
    search->replay->a[second] = a.tn;
    search->replay->b[first] = b.tp;
    search->replay->b[second] = b.tn;
    search->asked[0] = first;
    search->asked[1] = second;
}

typedef struct {
    mel_diagonal_search *search;
    size_t other;
    mel_side side;
} slope_context;

static void pose_slopes(void *context, double from, double to)
{
    const slope_context *slope = context;
    mel_diagonal_search *search = slope->search;
    const size_t own = search->reference, other = slope->other;
    mel_turned_face face;
    search->status = mel_diagonal_face(&face, search, own, other, search->err);
    if (search->status != MEL_OK)
        return;
    mel_point pair[2] = { mel_diagonal_point(search, face, other, slope->side, to),
                          mel_diagonal_point(search, face, other, slope->side, from) };
    if (search->opt->tournament && coincide(pair[0], pair[1])) {
        const double m = 0.5 * (from + to), sign = sign_of(slope->side);
        const mel_point along = { sign * (1.0 - m), -sign * m };
        (void)chord(pair, search, face, own, other, inside(search, face, other, pair[0]), along);
    }
    write_pair(search, own, other, pair[0], pair[1]);
}

/* Algorithm 4.1 on the upper boundaries, 4.3 on the lower ones. False: stopped at a question. */
static bool search_side(mel_diagonal_search *search, mel_side side)
{
    slope_context slope = { .search = search, .side = side };
    const mel_arc_search how = {
        .replay = search->replay,
        .tolerance = search->opt->tolerance,
        .per_round = search->opt->per_round,
        /* A decreasing metric is the negative of an increasing one: all responses inverted. */
        .minimise = search->decreasing != (side == MEL_LOWER),
        .pose = pose_slopes,
        .context = &slope,
    };
    mel_arc *arcs = side == MEL_UPPER ? search->upper : search->lower;
    for (slope.other = 0; slope.other < search->n_classes; slope.other++)
        if (slope.other != search->reference && !mel_arc_narrow(&arcs[slope.other], &how))
            return false;
    return true;
}

/* One question tells whether mistakes are preferred: the best against the worst of the first two classes. */
static bool find_direction(mel_diagonal_search *search)
{
    search->decreasing = search->direction == MEL_DECREASING;
    if (search->direction != MEL_DIRECTION_UNKNOWN)
        return true;
    const mel_preference preference = mel_prefer(search->replay);
    search->decreasing = preference == MEL_SECOND;
    if (preference != MEL_PENDING)
        return true;
    mel_turned_face face;
    search->status = mel_diagonal_face(&face, search, 0, 1, search->err);
    if (search->status == MEL_OK)
        write_pair(search, 0, 1, mel_diagonal_point(search, face, 1, MEL_UPPER, 0.5),
                   mel_diagonal_point(search, face, 1, MEL_LOWER, 0.5));
    return false;
}

/* Which of two classes weighs more: the chord along which as much of one is lost as the other gains. */
static void pose_match(mel_diagonal_search *search, size_t champion, size_t challenger)
{
    mel_turned_face face;
    search->status = mel_diagonal_face(&face, search, champion, challenger, search->err);
    if (search->status != MEL_OK)
        return;
    const mel_point middle = centre(search, face, champion, challenger);
    mel_point pair[2] = { middle, middle };
    (void)chord(pair, search, face, champion, challenger, middle, (mel_point){ 1.0, -1.0 });
    write_pair(search, champion, challenger, pair[0], pair[1]);
}

static bool find_reference(mel_diagonal_search *search)
{
    search->reference = 0;
    for (size_t i = 1; search->opt->tournament && i < search->n_classes; i++) {
        const mel_preference preference = mel_prefer(search->replay);
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
static bool leads_to_end(mel_diagonal_search *search, size_t other, mel_side side)
{
    const mel_arc arc = side == MEL_UPPER ? search->upper[other] : search->lower[other];
    const mel_arc all = shares_of_weight;
    mel_turned_face face;
    if (mel_arc_at_end(arc, all))
        return true;
    if (search->opt->tournament || (arc.low == all.low && arc.high == all.high) ||
        mel_diagonal_face(&face, search, search->reference, other, NULL) != MEL_OK)
        return false;
    return coincide(mel_diagonal_point(search, face, other, side, arc.low),
                    mel_diagonal_point(search, face, other, side, all.low)) ||
           coincide(mel_diagonal_point(search, face, other, side, arc.high),
                    mel_diagonal_point(search, face, other, side, all.high));
}

bool mel_diagonal_at_end(mel_diagonal_search *search, mel_side side)
{
    for (size_t i = 0; i < search->n_classes; i++)
        if (i != search->reference && leads_to_end(search, i, side))
            return true;
    return false;
}

static bool is_fractional(const mel_diagonal_search *search)
{
    return mel_family_about(search->opt->family)->ratio;
}

uint32_t mel_diagonal_total(const mel_diagonal_search *search)
{
    const uint32_t others = (uint32_t)search->n_classes - 1;
    const uint32_t first = search->direction == MEL_DIRECTION_UNKNOWN ? 1 : 0;
    const uint32_t rounds = mel_arc_rounds(shares_of_weight, search->opt->tolerance);
    const uint32_t sides = is_fractional(search) ? 2 : 1;
    return first + (search->opt->tournament ? others : 0) + sides * others * rounds * search->opt->per_round;
}

mel_status mel_diagonal_run(mel_diagonal_search *search, bool *pending, mel_error *err)
{
    search->status = MEL_OK;
    search->err = err;
    search->reference = 0;
    for (size_t i = 0; i < search->n_classes; i++)
        search->upper[i] = search->lower[i] = shares_of_weight;
    *pending = !find_direction(search) || !find_reference(search) || !search_side(search, MEL_UPPER) ||
               (is_fractional(search) && !search_side(search, MEL_LOWER));
    return search->status;
}

/* --- what was found ----------------------------------------------------------------------------- */

mel_status mel_diagonal_line(mel_line *out, mel_diagonal_search *search, size_t other, mel_side side,
                             mel_error *err)
{
    mel_turned_face face;
    TRY(mel_diagonal_face(&face, search, search->reference, other, err));
    const mel_arc arc = side == MEL_UPPER ? search->upper[other] : search->lower[other];
    const double m = mel_arc_middle(arc);
    mel_point at = mel_diagonal_point(search, face, other, side, m);
    /* A slope within a corner was found by chords through a point inside, not by supporting lines. */
    if (search->opt->tournament && coincide(mel_diagonal_point(search, face, other, side, arc.low),
                                            mel_diagonal_point(search, face, other, side, arc.high)))
        at = inside(search, face, other, at);
    *out = (mel_line){ .m11 = sign_of(side) * m, .m00 = sign_of(side) * (1.0 - m) };
    out->c = out->m11 * at.tp + out->m00 * at.tn;
    return MEL_OK;
}
