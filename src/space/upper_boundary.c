/* The upper half of a symmetric convex boundary; every query is a bisection. */
#include "space/face.h"

#include <math.h>
#include <stdlib.h>

double mel_distance(mel_point a, mel_point b)
{
    return hypot(a.tp - b.tp, a.tn - b.tn);
}

mel_status mel_boundary_new(mel_upper_boundary *out, size_t n_edges, double positives, double negatives,
                            mel_error *err)
{
    *out = (mel_upper_boundary){ .n_edges = n_edges, .positives = positives, .negatives = negatives };
    const size_t point = sizeof(mel_point);
    out->vertex = mel_alloc(n_edges + 1, 2 * point + sizeof(double)); /* and what follows */
    if (out->vertex == NULL)
        return mel_fail_memory(err, "the boundary of a face");
    out->edge = out->vertex + n_edges + 1;
    out->fan = (double *)(out->edge + n_edges);
    return MEL_OK;
}

void mel_boundary_free(mel_upper_boundary *boundary)
{
    free(boundary->vertex);
    *boundary = (mel_upper_boundary){ 0 };
}

void mel_boundary_finish(mel_upper_boundary *boundary)
{
    const mel_point centre = { boundary->positives / 2, boundary->negatives / 2 };
    double sum = 0.0;
    for (size_t i = 0; i < boundary->n_edges; i++) {
        const double twice = mel_cross(mel_minus(boundary->vertex[i], centre), boundary->edge[i]);
        sum += boundary->n_edges > 1 && twice > 0.0 ? twice : 0.0;
        boundary->fan[i] = sum;
    }
}

/* Height of the boundary at tp; *edge moves on to the edge there, so that a falling sequence of tp takes
 * one pass. */
static double height(const mel_upper_boundary *boundary, double tp, size_t *edge)
{
    while (*edge + 1 < boundary->n_edges && boundary->vertex[*edge + 1].tp >= tp)
        ++*edge;
    const mel_point from = boundary->vertex[*edge], e = boundary->edge[*edge];
    const double ahead = from.tp - tp;
    if (!(ahead > 0.0))
        return from.tn;
    return ahead < -e.tp ? from.tn + e.tn * (ahead / -e.tp) : boundary->vertex[*edge + 1].tn;
}

/* Breakpoints of both boundaries in order of falling tp, each at the lower of the two heights, and
 * the crossings between them. */
static size_t lower_envelope(const mel_upper_boundary *a, const mel_upper_boundary *b, mel_point *point)
{
    size_t n = 0, i = 0, j = 0, edge_a = 0, edge_b = 0;
    double last_tp = a->positives, last_a = 0.0, last_b = 0.0;
    while (i <= a->n_edges || j <= b->n_edges) {
        const bool from_a = j > b->n_edges || (i <= a->n_edges && a->vertex[i].tp >= b->vertex[j].tp);
        const double tp = from_a ? a->vertex[i++].tp : b->vertex[j++].tp;
        const double high_a = height(a, tp, &edge_a), high_b = height(b, tp, &edge_b);
        const double gap = high_a - high_b, last_gap = last_a - last_b;
        if ((gap > 0.0 && last_gap < 0.0) || (gap < 0.0 && last_gap > 0.0)) {
            const double share = last_gap / (last_gap - gap);
            point[n++] = (mel_point){ last_tp + share * (tp - last_tp), last_a + share * (high_a - last_a) };
        }
        point[n++] = (mel_point){ tp, fmin(high_a, high_b) };
        last_tp = tp;
        last_a = high_a;
        last_b = high_b;
    }
    return n;
}

mel_status mel_boundary_cut(mel_upper_boundary *out, const mel_upper_boundary *a, const mel_upper_boundary *b,
                            mel_error *err)
{
    const uint64_t total = UINT64_C(1) << 61; /* units, finer than doubles of this size */
    *out = (mel_upper_boundary){ 0 };
    /* Every breakpoint, a crossing before each, and the two ends. */
    MEL_AUTO_MEMORY mel_point *point = mel_alloc(2 * (a->n_edges + b->n_edges + 2) + 2, sizeof *point);
    MEL_AUTO_CLEAR(mel_corners) corners = { 0 };
    if (point == NULL)
        return mel_fail_memory(err, "the boundary of a face");
    point[0] = (mel_point){ a->positives, 0.0 };
    size_t n = 1 + lower_envelope(a, b, point + 1);
    point[n++] = (mel_point){ 0.0, a->negatives };
    for (size_t i = 0; i < n; i++) {
        const mel_corner corner = { .tp = (uint64_t)(point[i].tp * (double)total),
                                    .tn = (uint64_t)(point[i].tn * (double)total) };
        if (!mel_corners_upper(&corners, 0, corner))
            return mel_fail_memory(err, "the boundary of a face");
    }
    return mel_boundary_of_corners(out, &corners, total, err);
}

/* Corner numbers go round. */
static size_t wrapped(const mel_upper_boundary *boundary, size_t index)
{
    return index < 2 * boundary->n_edges ? index : index - 2 * boundary->n_edges;
}

mel_point mel_boundary_corner(const mel_upper_boundary *boundary, size_t index)
{
    if (index == 0)
        return boundary->vertex[boundary->n_edges];
    return index < boundary->n_edges ? mel_boundary_reflect(boundary, boundary->vertex[index])
                                     : boundary->vertex[index - boundary->n_edges];
}

/* Edge from corner `index` to the next one. */
static mel_point edge_after(const mel_upper_boundary *boundary, size_t index)
{
    if (index >= boundary->n_edges)
        return boundary->edge[index - boundary->n_edges];
    const mel_point e = boundary->edge[index];
    return (mel_point){ -e.tp, -e.tn };
}

size_t mel_boundary_furthest(const mel_upper_boundary *boundary, mel_point m, bool *tie)
{
    const double rounding = 0x1p-50;
    size_t low = 0, high = boundary->n_edges; /* the first edge along which the value does not grow */
    *tie = false;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const mel_point e = boundary->edge[mid];
        const double x = m.tp * e.tp, y = m.tn * e.tn;
        if (x + y > rounding * (fabs(x) + fabs(y)))
            low = mid + 1;
        else
            high = mid;
    }
    if (low < boundary->n_edges) {
        const mel_point e = boundary->edge[low];
        const double x = m.tp * e.tp, y = m.tn * e.tn;
        *tie = fabs(x + y) <= rounding * (fabs(x) + fabs(y));
    }
    return low;
}

/* Whether p, with 0 <= tp <= positives, is not above the upper boundary. */
static bool under(const mel_upper_boundary *boundary, mel_point p)
{
    size_t low = 0, high = boundary->n_edges; /* the last vertex that is not left of p */
    while (low < high) {
        const size_t mid = low + (high - low + 1) / 2;
        if (boundary->vertex[mid].tp >= p.tp)
            low = mid;
        else
            high = mid - 1;
    }
    if (low == boundary->n_edges)
        return p.tn <= boundary->negatives;
    return mel_cross(boundary->edge[low], mel_minus(p, boundary->vertex[low])) >= 0.0;
}

static bool holds(const mel_upper_boundary *boundary, mel_point p)
{
    return p.tp >= 0.0 && p.tp <= boundary->positives && p.tn >= 0.0 && p.tn <= boundary->negatives &&
           under(boundary, p) && under(boundary, mel_boundary_reflect(boundary, p));
}

/* The edges of the upper boundary turn by at most a right angle. So if the nearest point is on edge j, p lies
 * ahead of the start of every edge before j and behind the start of every edge after it: the search
 * below is a bisection. */
mel_point mel_boundary_nearest_upper(const mel_upper_boundary *boundary, mel_point p, size_t *edge)
{
    size_t low = 0, high = boundary->n_edges; /* the first edge whose start p is not ahead of */
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (mel_inner(mel_minus(p, boundary->vertex[mid]), boundary->edge[mid]) > 0.0)
            low = mid + 1;
        else
            high = mid;
    }
    *edge = low > 0 ? low - 1 : 0;
    if (low == 0)
        return boundary->vertex[0];
    const mel_point e = boundary->edge[low - 1];
    const double share = mel_inner(mel_minus(p, boundary->vertex[low - 1]), e) / mel_inner(e, e);
    return share < 1.0 ? mel_toward(boundary->vertex[low - 1], e, share) : boundary->vertex[low];
}

mel_point mel_boundary_closest(const mel_upper_boundary *boundary, mel_point p)
{
    if (holds(boundary, p))
        return p;
    size_t edge = 0;
    const mel_point upper = mel_boundary_nearest_upper(boundary, p, &edge);
    const mel_point lower = mel_boundary_reflect(
        boundary, mel_boundary_nearest_upper(boundary, mel_boundary_reflect(boundary, p), &edge));
    return mel_distance(p, upper) <= mel_distance(p, lower) ? upper : lower;
}

/* Corner of the whole polygon that is furthest in direction m. */
static size_t furthest_corner(const mel_upper_boundary *boundary, mel_point m)
{
    bool tie = false;
    if (m.tp > 0.0 || m.tn > 0.0) {
        const size_t i = mel_boundary_furthest(boundary, m, &tie);
        return wrapped(boundary, i + boundary->n_edges);
    }
    return mel_boundary_furthest(boundary, (mel_point){ -m.tp, -m.tn }, &tie);
}

/* Where the line along d through p leaves the polygon against d. Corners counter-clockwise from the one
 * furthest to the left of d come closer and closer to the line and cross it on that side. */
static mel_point leave(const mel_upper_boundary *boundary, mel_point p, mel_point d)
{
    const double rounding = 0x1p-50;
    const mel_point left = { -d.tn, d.tp };
    const size_t first = furthest_corner(boundary, left);
    size_t low = 0, high = boundary->n_edges; /* the last corner that is not right of the line */
    while (low < high) {
        const size_t mid = low + (high - low + 1) / 2;
        if (mel_inner(left, mel_minus(mel_boundary_corner(boundary, wrapped(boundary, first + mid)), p)) >=
            -rounding)
            low = mid;
        else
            high = mid - 1;
    }
    const mel_point from = mel_boundary_corner(boundary, wrapped(boundary, first + low));
    if (low == boundary->n_edges)
        return from;
    const mel_point e = edge_after(boundary, wrapped(boundary, first + low));
    const double before = mel_inner(left, mel_minus(from, p)), step = mel_inner(left, e);
    if (!(before > 0.0) || !(step < 0.0))
        return from;
    return before < -step ? mel_toward(from, e, before / -step)
                          : mel_boundary_corner(boundary, wrapped(boundary, first + low + 1));
}

bool mel_boundary_chord(mel_point *a, mel_point *b, const mel_upper_boundary *boundary, mel_point through,
                        mel_point d)
{
    const double size = fmax(fabs(d.tp), fabs(d.tn)), shortest = 0x1p-48;
    *a = *b = through;
    if (!(size > 0.0) || !isfinite(d.tp) || !isfinite(d.tn))
        return false;
    const double length = hypot(d.tp / size, d.tn / size);
    const mel_point unit = { d.tp / size / length, d.tn / size / length };
    const mel_point back = leave(boundary, through, unit);
    const mel_point front =
        mel_boundary_reflect(boundary, leave(boundary, mel_boundary_reflect(boundary, through), unit));
    if (!(mel_inner(mel_minus(front, back), unit) > shortest))
        return false;
    *a = front;
    *b = back;
    return true;
}

mel_point mel_boundary_random(const mel_upper_boundary *boundary, mel_rng *rng)
{
    const double pick = 2.0 * mel_rng_uniform(rng);
    double r = mel_rng_uniform(rng), s = mel_rng_uniform(rng);
    const double total = boundary->fan[boundary->n_edges - 1];
    if (!(total > 0.0))
        return mel_toward(boundary->vertex[0], boundary->edge[0], r);
    const double target = (pick < 1.0 ? pick : pick - 1.0) * total;
    size_t low = 0,
           high = boundary->n_edges - 1; /* the first edge whose triangle reaches beyond the target */
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (boundary->fan[mid] > target)
            high = mid;
        else
            low = mid + 1;
    }
    if (r + s > 1.0) {
        r = 1.0 - r;
        s = 1.0 - s;
    }
    const mel_point centre = { boundary->positives / 2, boundary->negatives / 2 };
    const mel_point p = mel_toward(mel_toward(centre, mel_minus(boundary->vertex[low], centre), r + s),
                                   boundary->edge[low], s);
    return pick < 1.0 ? p : mel_boundary_reflect(boundary, p);
}

static double clamped(double x)
{
    return x > 0.0 ? fmin(x, 1.0) : 0.0;
}

/* The blend of an edge's ends for a point on the upper boundary (n is 0 elsewhere): no third corner, and
 * no second one at a corner, whatever the sizes of the edges. Corners of the whole polygon are counted from
 * `first`. */
static mel_corner_mix blend_edge(const mel_upper_boundary *boundary, mel_point p, size_t first)
{
    const double on = 0x1p-50;
    size_t i = 0;
    if (mel_distance(p, mel_boundary_nearest_upper(boundary, p, &i)) > on)
        return (mel_corner_mix){ 0 };
    for (size_t k = i; k <= i + 1; k++)
        if (mel_distance(p, boundary->vertex[k]) <= on)
            return (mel_corner_mix){ .n = 1, .vertex = { wrapped(boundary, first + k) }, .share = { 1.0 } };
    const mel_point e = boundary->edge[i];
    const double r = clamped(mel_inner(mel_minus(p, boundary->vertex[i]), e) / mel_inner(e, e));
    return (mel_corner_mix){ .n = 2,
                             .vertex = { wrapped(boundary, first + i), wrapped(boundary, first + i + 1) },
                             .share = { 1.0 - r, r } };
}

mel_corner_mix mel_boundary_blend(const mel_upper_boundary *boundary, mel_point p)
{
    const mel_corner_mix upper = blend_edge(boundary, p, boundary->n_edges);
    if (upper.n > 0)
        return upper;
    const mel_corner_mix lower = blend_edge(boundary, mel_boundary_reflect(boundary, p), 0);
    if (lower.n > 0)
        return lower;
    const mel_point apex = mel_boundary_corner(boundary, 0), to = mel_minus(p, apex);
    if (boundary->n_edges == 1) {
        const mel_point e = edge_after(boundary, 0);
        const double r = clamped(mel_inner(to, e) / mel_inner(e, e));
        return (mel_corner_mix){ .n = 2, .vertex = { 0, 1 }, .share = { 1.0 - r, r } };
    }
    size_t low = 1, high = 2 * boundary->n_edges - 2; /* the triangle (apex, corner, next corner) around p */
    while (low < high) {
        const size_t mid = low + (high - low + 1) / 2;
        if (mel_cross(mel_minus(mel_boundary_corner(boundary, mid), apex), to) >= 0.0)
            low = mid;
        else
            high = mid - 1;
    }
    const mel_point corner = mel_boundary_corner(boundary, low), e = edge_after(boundary, low);
    const mel_point side = mel_minus(corner, apex);
    /* The ray from the apex through p meets the opposite edge at apex + to/s = corner + r e. */
    const double s = clamped(mel_cross(to, e) / mel_cross(side, e));
    const double r = s > 0.0 ? clamped(mel_inner(mel_minus(to, (mel_point){ s * side.tp, s * side.tn }), e) /
                                       (s * mel_inner(e, e)))
                             : 0.0;
    return (
        mel_corner_mix){ .n = 3, .vertex = { 0, low, low + 1 }, .share = { 1.0 - s, s * (1.0 - r), s * r } };
}
