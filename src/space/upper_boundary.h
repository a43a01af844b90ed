/* The boundary of a face as geometry, without knowing where it comes from.
 *
 * A face is symmetric about its centre and its boundary passes through (0, negatives) and (positives, 0), so
 * the upper half says everything, the upper boundary: edges from (positives, 0), counter-clockwise, tp never
 * rising and tn never falling, to (0, negatives). The lower half is its reflection. */
#ifndef MEL_SPACE_UPPER_BOUNDARY_H
#define MEL_SPACE_UPPER_BOUNDARY_H

#include "base/internal.h"
#include "melicit/face.h"

typedef struct {
    size_t n_edges; /* >= 1; 1: the face is a segment */
    double positives, negatives;
    mel_point *vertex; /* n_edges + 1 */
    mel_point *edge;   /* vertex[i + 1] - vertex[i], without the rounding of the vertices where possible */
    double *fan;       /* twice the area of the triangles (centre, edge j), j <= i */
} mel_upper_boundary;

/* Corners of the whole polygon and how much of each: shares >= 0, some of them rounding errors. */
typedef struct {
    size_t n;
    size_t vertex[MEL_MIXTURE_RULES]; /* as mel_face_vertex counts */
    double share[MEL_MIXTURE_RULES];
} mel_corner_mix;

static inline mel_point mel_minus(mel_point a, mel_point b)
{
    return (mel_point){ a.tp - b.tp, a.tn - b.tn };
}

static inline mel_point mel_toward(mel_point from, mel_point step, double share)
{
    return (mel_point){ from.tp + share * step.tp, from.tn + share * step.tn };
}

static inline double mel_inner(mel_point a, mel_point b)
{
    return a.tp * b.tp + a.tn * b.tn;
}

/* > 0: b is counter-clockwise of a. */
static inline double mel_cross(mel_point a, mel_point b)
{
    return a.tp * b.tn - a.tn * b.tp;
}

double mel_distance(mel_point a, mel_point b);

/* Room for n_edges; on failure nothing is held. The caller fills vertex and edge, then calls
 * mel_boundary_finish. */
mel_status mel_boundary_new(mel_upper_boundary *out, size_t n_edges, double positives, double negatives,
                            mel_error *err);
void mel_boundary_finish(mel_upper_boundary *boundary);
void mel_boundary_free(mel_upper_boundary *boundary);
/* The upper boundary through n >= 2 points in order of falling tp, the first (positives, 0) and the last (0,
 * negatives); points that are not corners of the upper hull are left out. kept[0..n_edges] receives the
 * indices of those that stay (NULL: not wanted). */
mel_status mel_boundary_through(mel_upper_boundary *out, size_t n, const mel_point *point, size_t *kept,
                                mel_error *err);
/* The upper boundary of what two faces with the same shares of positives and negatives have in common. */
mel_status mel_boundary_cut(mel_upper_boundary *out, const mel_upper_boundary *a, const mel_upper_boundary *b,
                            mel_error *err);

static inline mel_point mel_boundary_reflect(const mel_upper_boundary *boundary, mel_point p)
{
    return (mel_point){ boundary->positives - p.tp, boundary->negatives - p.tn };
}

/* Vertex of the whole polygon, as mel_face_vertex counts. */
mel_point mel_boundary_corner(const mel_upper_boundary *boundary, size_t index);
/* The vertex of the upper boundary furthest in a direction that does not point to the lower half (m.tp > 0 or
 * m.tn > 0); *tie: the edge that starts there is orthogonal to the direction. */
size_t mel_boundary_furthest(const mel_upper_boundary *boundary, mel_point m, bool *tie);
bool mel_boundary_holds(const mel_upper_boundary *boundary, mel_point p);
/* The nearest point of the upper boundary to a point outside, and the edge it is on. */
mel_point mel_boundary_nearest_upper(const mel_upper_boundary *boundary, mel_point p, size_t *edge);
/* Euclidean projection on the polygon. */
mel_point mel_boundary_closest(const mel_upper_boundary *boundary, mel_point p);
/* Both ends of the chord along d through a point of the polygon; false when they are the same. */
bool mel_boundary_chord(mel_point *a, mel_point *b, const mel_upper_boundary *boundary, mel_point through,
                        mel_point d);
mel_point mel_boundary_random(const mel_upper_boundary *boundary, mel_rng *rng);
/* A point of the polygon as a blend of at most three of its vertices. */
mel_corner_mix mel_boundary_blend(const mel_upper_boundary *boundary, mel_point p);

#endif
