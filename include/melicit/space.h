/* melicit/space.h: the statistics that classifiers can achieve, and the classifiers that achieve them.
 *
 * A planar face is the set of (TP, TN) of all randomised classifiers built on one score: the hull of
 * what the rules "positive when score >= t" and "positive when score < t" achieve. TP and TN are
 * shares of the total weight; with p = TP + FN the share of positives, the face lies in [0, p] x [0, 1-p]
 * (two classes of more: [0, p1] x [0, p0]) and is symmetric about its centre (p/2, (1-p)/2). */
#ifndef MELICIT_SPACE_H
#define MELICIT_SPACE_H

#include "melicit/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mel_face mel_face;

typedef struct {
    double tp, tn;
} mel_point;

/* A deterministic rule: positive when score >= threshold, or, inverted, when score < threshold.
 * Threshold -INFINITY: always positive (inverted: never). */
typedef struct {
    double threshold;
    bool inverted;
} mel_rule;

/* A randomised classifier: `first` with probability share, else `second`. */
typedef struct {
    mel_rule first, second;
    double share;
} mel_mixture;

/* Row roles on a face: MEL_ROW_OTHER rows (further classes) count in the total weight only. */
enum { MEL_ROW_NEGATIVE = 0, MEL_ROW_POSITIVE = 1, MEL_ROW_OTHER = 2 };

/* From scores (any finite numbers, larger = more positive), roles and weights (NULL: all 1), by one
 * sort, O(n log n). Refuses (MEL_EDATA, with the row) non-finite scores, negative or non-finite weights,
 * other roles, and a face without positives or negatives. Equal scores are one step: never split by a rule.
 */
MEL_API mel_status mel_face_from_scores(mel_face **out, size_t n, const double *score, const uint8_t *role,
                                        const double *weight, mel_error *err);
/* X uniform on [-1, 1], P(Y=1|x) = 1/(1 + exp(a x + b)); scores are these probabilities. a = 0 gives
 * the segment between the two trivial classifiers. */
MEL_API mel_status mel_face_from_logistic(mel_face **out, double a, double b, mel_error *err);
/* The population logistic:a,b whose boundary is closest to a sample face's (least squares over the
 * thresholds 0, 1e-4, ..., 1), cut back to the sample's hull wherever it would leave it, so that
 * every point stays achievable on the sample. */
MEL_API mel_status mel_face_smooth(mel_face **out, double *a, double *b, const mel_face *sample,
                                   mel_error *err);
MEL_API void mel_face_free(mel_face *face);

MEL_API double mel_face_positives(const mel_face *face); /* TP + FN */
MEL_API double mel_face_negatives(const mel_face *face); /* TN + FP */
MEL_API mel_point mel_face_centre(const mel_face *face);

/* Vertices of the hull (populations: of a fine inscribed polygon), counter-clockwise from "never
 * positive" (0, TN = negatives) along the lower boundary to (positives, 0) and back along the upper. */
MEL_API size_t mel_face_vertices(const mel_face *face);
MEL_API mel_point mel_face_vertex(const mel_face *face, size_t index);

/* The point furthest in direction (m11, m00), exact for populations. Ties (an edge orthogonal to the
 * direction): the middle of the edge, so that the answer moves symmetrically. */
MEL_API mel_status mel_face_support(mel_point *out, const mel_face *face, double m11, double m00,
                                    mel_error *err);
/* What one rule achieves, on the raw staircase, hull or not. */
MEL_API mel_point mel_face_rule(const mel_face *face, mel_rule rule);
/* The plug-in classifier of proposition 3.1 for (m11, m00), read as if scores were true
 * probabilities; opposite signs give the trivial classifier that the signs favour. */
MEL_API mel_rule mel_plug_in_rule(double m11, double m00);

MEL_API bool mel_face_contains(const mel_face *face, mel_point point, double slack);
/* Euclidean projection on the face. */
MEL_API mel_point mel_face_closest(const mel_face *face, mel_point point);
/* The mixture that achieves a point of the hull (within 1e-9; else MEL_EINVAL with the closest point named).
 */
MEL_API mel_status mel_face_achieve(mel_mixture *out, const mel_face *face, mel_point point, mel_error *err);
MEL_API mel_point mel_face_mixture(const mel_face *face, const mel_mixture *mixture);

/* The longest chord in direction (dx, dy): ends with a - b parallel to it and a on its side. Through
 * the centre, by symmetry. False when the face has no extent in that direction. */
MEL_API bool mel_face_chord(mel_point *a, mel_point *b, const mel_face *face, double dx, double dy);
/* The chord in that direction through a point of the face (or through the closest one). */
MEL_API bool mel_face_chord_at(mel_point *a, mel_point *b, const mel_face *face, mel_point through, double dx,
                               double dy);

/* Uniform in area over the hull. */
MEL_API mel_point mel_face_random(const mel_face *face, mel_rng *rng);

/* Confusion entries of `positive when score >= t` for n ascending thresholds in one pass over the
 * steps: tp[i], tn[i]. */
MEL_API void mel_face_sweep(const mel_face *face, size_t n, const double *threshold, double *tp, double *tn);

#ifdef __cplusplus
}
#endif
#endif
