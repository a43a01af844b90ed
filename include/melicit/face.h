/* melicit/face.h: planar faces: what the classifiers built on one score can achieve in (TP, TN).
 *
 * A planar face is the set of (TP, TN) of all randomised classifiers built on one score: the hull of
 * what the rules "positive when score >= t" and "positive when score < t" achieve. TP and TN are
 * shares of the total weight; with p the share of positives and q the share of negatives (p + q = 1
 * unless there are rows of further classes) the face lies in [0, p] x [0, q], holds the trivial
 * classifiers (0, q) and (p, 0), and is symmetric about its centre (p/2, q/2). */
#ifndef MELICIT_FACE_H
#define MELICIT_FACE_H

#include "melicit/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once made: any number of threads may read the same face. */
typedef struct mel_face mel_face;

typedef struct {
    double tp, tn;
} mel_point;

/* A deterministic rule: positive when score >= threshold, or, inverted, when score < threshold.
 * Threshold -INFINITY: always positive (inverted: never); INFINITY (and NaN): the other way round. */
typedef struct {
    double threshold;
    bool inverted;
} mel_rule;

/* A randomised classifier: rule[i] with probability share[i], i < n. Vertices of the face need one
 * rule, points of an edge two, points inside three at most (Caratheodory). Shares are positive, largest
 * first, and add up to 1. */
#define MEL_MIXTURE_RULES 3
typedef struct {
    size_t n;
    mel_rule rule[MEL_MIXTURE_RULES];
    double share[MEL_MIXTURE_RULES];
} mel_mixture;

/* Row roles on a face: MEL_ROW_OTHER rows (further classes) count in the total weight only. */
enum { MEL_ROW_NEGATIVE = 0, MEL_ROW_POSITIVE = 1, MEL_ROW_OTHER = 2 };

/* From scores (any finite numbers, larger = more positive), roles and weights (NULL: all 1), by one
 * sort. Refuses (MEL_EDATA, with the row) non-finite scores, negative or non-finite weights,
 * other roles, and a face without positives or negatives. Equal scores are one step: never split by a
 * rule. Rows of weight 0 change nothing. Weights are rounded to multiples of 2^-61 of their total, so that
 * sums of them are exact and have no order. Runs on OpenMP's threads (OMP_NUM_THREADS,
 * omp_set_num_threads); the result does not depend on their number. */
MEL_API mel_status mel_face_from_scores(mel_face **out, size_t n, const double *score, const uint8_t *role,
                                        const double *weight, mel_error *err);
/* The same from probabilities of two classes (n x 2, as models give them); the score is that of the second.
 * Refuses probabilities that are negative or do not add up to 1 within 1e-3. */
MEL_API mel_status mel_face_from_probabilities(mel_face **out, size_t n, const double *probability,
                                               const uint8_t *role, const double *weight, mel_error *err);
MEL_API void mel_face_free(mel_face *face);

MEL_API double mel_face_positives(const mel_face *face); /* TP + FN */
MEL_API double mel_face_negatives(const mel_face *face); /* TN + FP */
MEL_API mel_point mel_face_centre(const mel_face *face); /* half of both */

/* Vertices of the hull, counter-clockwise from "never positive" (0, negatives) along the lower boundary
 * to (positives, 0) and back along the upper; an even number, vertex i + half opposite to vertex i.
 * Strictly convex; two for a segment. Populations: of an inscribed polygon that is nowhere further than
 * 1e-9 from the boundary, up to 40,000 vertices (draw fewer). */
MEL_API size_t mel_face_vertices(const mel_face *face);
MEL_API mel_point mel_face_vertex(const mel_face *face, size_t index);

/* The point furthest in direction (m11, m00). Ties (an edge orthogonal to the
 * direction, within rounding): the middle of the edge, so that the answer moves symmetrically.
 * MEL_EINVAL for (0, 0) and numbers that are not finite. */
MEL_API mel_status mel_face_support(mel_point *out, const mel_face *face, double m11, double m00,
                                    mel_error *err);

/* No further than slack (>= 0) from the face. Points that were computed need a slack of 1e-12 or so. */
MEL_API bool mel_face_contains(const mel_face *face, mel_point point, double slack);

#ifdef __cplusplus
}
#endif
#endif
