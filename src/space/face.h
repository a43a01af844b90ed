/* Planar faces: what the files of this room know about them, from scores to the boundary as geometry. */
#ifndef MEL_SPACE_FACE_H
#define MEL_SPACE_FACE_H

#include "space/shared.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* --- scores as unsigned numbers of the same order, which sort and compare faster (scores.c) ---------- */

/* Above the key of every number, infinity included. */
#define MEL_SCORE_BITS_END UINT64_MAX

/* -0.0 and 0.0 have the same key. x is not NaN. */
static inline uint64_t mel_score_bits(double x)
{
    const double y = x + 0.0;
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    return bits ^ ((0 - (bits >> 63)) | UINT64_C(1) << 63);
}

static inline double mel_score_of_bits(uint64_t key)
{
    const uint64_t bits = key ^ (((key >> 63) - 1) | UINT64_C(1) << 63);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The first key that counts as "score >= threshold"; no score is >= NaN. */
static inline uint64_t mel_threshold_bits(double threshold)
{
    return isnan(threshold) ? MEL_SCORE_BITS_END : mel_score_bits(threshold);
}

/* Sorts n keys, and masses with them unless NULL; spare blocks of the same size are overwritten. By two
 * digits made of the leading bits in which the keys differ, then within the few groups that share both:
 * linear for keys of any distribution. */
void mel_score_bits_sort(size_t n, uint64_t *key, uint64_t *mass, uint64_t *spare_key, uint64_t *spare_mass);

/* How many of n ascending keys are below `bound`. */
size_t mel_score_bits_below(size_t n, const uint64_t *key, uint64_t bound);
/* The same, given that the first `from` are. */
size_t mel_score_bits_below_from(size_t n, const uint64_t *key, uint64_t bound, size_t from);

/* --- scores dealt out to buckets in their order (scores.c) ------------------------------------------- */

/* Rows are read in slices whose number depends on n alone, each by one thread. */
typedef struct {
    size_t n;
    const double *score;
    const uint8_t *role;
    const double *weight; /* NULL: all 1 */
    size_t n_slices;
    double low, high; /* of the scores */
    double scale[2];  /* weight * scale[0] * scale[1] is in units, of which there are less than 2^62 */
} mel_score_rows;

/* Where the scores of each role go: places (role, bucket), role by role, and in a role bucket by
 * bucket in order of the scores. One more place counts the rows that are left out (other roles, weight 0). */
typedef struct {
    size_t n_buckets, n_places; /* buckets of one role; 2 n_buckets + 1 */
    /* Buckets of equal width in the score itself, or else in its key; the outer ones are open. */
    bool by_value;
    double half_low, scale; /* by value */
    double first, last;     /* 0 and n_buckets - 1 */
    uint64_t least;         /* by key */
    unsigned shift;
    size_t *count;  /* n_slices x n_places: rows; mel_rows_places turns them into positions */
    uint64_t *mass; /* the same for weights in units; NULL without weights */
} mel_deal;

/* To be cleared with mel_deal_clear also after a failure. Checks the rows (MEL_EDATA names the first one that
 * is wrong), chooses the buckets and counts what goes into each. The caller sets n, score, role and weight;
 * the call sets the rest. */
mel_status mel_rows_count(mel_deal *out, mel_score_rows *rows, mel_error *err);
void mel_deal_clear(mel_deal *deal);
/* Where bucket b of a role starts among the rows of that role, and the weight before it, both at
 * [role * (n_buckets + 1) + b], with the end of the role as bucket n_buckets. count becomes the position
 * of each slice's next row. Returns the total weight of all rows. */
uint64_t mel_rows_places(mel_deal *deal, const mel_score_rows *rows, size_t *start, uint64_t *mass_before);
/* Writes the keys (and the weights in units) of each role to their places. */
void mel_rows_scatter(mel_deal *deal, const mel_score_rows *rows, uint64_t *const key[2],
                      uint64_t *const mass[2]);

/* --- the boundary of a face, without knowing where it comes from (upper_boundary.c) ------------------ */

/* A face is symmetric about its centre and its boundary passes through (0, negatives) and (positives, 0), so
 * the upper half says everything, the upper boundary: edges from (positives, 0), counter-clockwise, tp never
 * rising and tn never falling, to (0, negatives). The lower half is its reflection. */

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

/* --- hulls in whole numbers: exact, so that points on a line are found to be on it (staircase.c) ----- */

/* What "score >= threshold" achieves, in units of weight (below 2^62). */
typedef struct {
    uint64_t tp, tn;
    uint64_t key;  /* of the threshold */
    bool inverted; /* the point is what "score < threshold" achieves instead */
} mel_corner;

/* A growing stack of corners; start from {0}, free with mel_corners_clear. */
typedef struct {
    mel_corner *at;
    size_t n, capacity;
} mel_corners;

void mel_corners_clear(mel_corners *corners);
/* Adds a point with tp no larger and tn no smaller than the last one's to the hull that starts at
 * position `base` of the stack, and drops the points that are then no corners of the upper (lower)
 * hull any more. False when memory runs out. */
bool mel_corners_upper(mel_corners *corners, size_t base, mel_corner point);
bool mel_corners_lower(mel_corners *corners, size_t base, mel_corner point);

/* The upper boundary of the symmetric hull from the upper and the lower hull of a staircase, both
 * from "always positive" (positives, 0) to "never" (0, negatives), without those two themselves: with both
 * ends, in that order. False when memory runs out. */
bool mel_corners_join(mel_corners *out, const mel_corners *upper, const mel_corners *lower,
                      uint64_t positives, uint64_t negatives);

/* The boundary of a hull with both its ends, in shares of the total weight. */
mel_status mel_boundary_of_corners(mel_upper_boundary *out, const mel_corners *corners, uint64_t total,
                                   mel_error *err);

/* --- a sample's staircase: what every threshold achieves (staircase.c) ------------------------------- */

/* Scores of each role (MEL_ROW_NEGATIVE, MEL_ROW_POSITIVE) in ascending order, next to which nothing is
 * needed to count what lies below a threshold: 8 bytes a row, 16 with weights. Rows of weight 0 are
 * left out. */
typedef struct {
    atomic_size_t users; /* faces that share it */
    size_t n[2];
    uint64_t *key[2];
    uint64_t *below[2]; /* weight of the rows before; NULL: all weights are 1 */
    uint64_t weight[2], total;
    double low, high; /* of the scores */
    mel_upper_boundary hull;
    mel_rule *rule; /* one per vertex of the hull, the last one included */
} mel_staircase;

mel_status mel_staircase_new(mel_staircase **out, size_t n, const double *score, const uint8_t *role,
                             const double *weight, mel_error *err);
mel_staircase *mel_staircase_share(mel_staircase *staircase);
/* Frees it when the last user is gone; accepts NULL and half-built ones. */
void mel_staircase_release(mel_staircase *staircase);

mel_point mel_staircase_rule(const mel_staircase *staircase, mel_rule rule);
void mel_staircase_sweep(const mel_staircase *staircase, size_t n, const double *threshold, double *tp,
                         double *tn);
/* At most n[role] scores of a role in ascending order, with the share of everything that each weighs; how
 * many there are. Different ones in excess of `most` are put together with their neighbours. */
size_t mel_staircase_scores(double *score, double *weight, const mel_staircase *staircase, size_t role,
                            size_t most);

struct mel_face {
    mel_staircase *staircase;             /* smoothed faces: the sample's */
    bool population;                      /* scores are true probabilities */
    mel_upper_boundary own;               /* smoothed faces: the boundary */
    const mel_upper_boundary *boundary;   /* of the face: own, or the hull of the staircase */
    _Atomic(void *) note[MEL_FACE_NOTES]; /* what others worked out about it; NULL: nothing yet */
};

static inline double mel_sigmoid(double x)
{
    return x >= 0.0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x));
}

/* Asks for large pages inside a fresh block from mel_alloc, where the system has them and the block is large
 * enough to gain. Never changes what the block is. */
void mel_prefer_large_pages(void *block, size_t bytes);

#endif
