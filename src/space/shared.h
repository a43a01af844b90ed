/* What other rooms and the program use of this room beyond melicit/space.h; not exported. */
#ifndef MEL_SPACE_SHARED_H
#define MEL_SPACE_SHARED_H

#include "base/internal.h"
#include "melicit/space.h"

/* --- planar faces ------------------------------------------------------------------------------- */

/* X uniform on [-1, 1], P(Y=1|x) = 1/(1 + exp(a x + b)); scores are these probabilities. The sign of a
 * makes no difference; a = 0 gives the segment between the two trivial classifiers. A grid of 100,000 rows:
 * points are right to 1e-5. MEL_EINVAL where a class has less than 1e-10 of everything. */
mel_status mel_face_from_logistic(mel_face **out, double a, double b, mel_error *err);
/* The population logistic:a,b whose TP and TN at the thresholds 0, 1e-4, ..., 1 are closest to those of
 * a sample face (least squares; a > 0), stretched to the sample's shares of positives and negatives and cut
 * back to the sample's hull wherever it would leave it: every point stays achievable on the sample.
 * Rules, sweeps and mixtures of the new face are the sample's; a and b may be NULL. Needs scores
 * in [0, 1]. The sample may be freed first. */
mel_status mel_face_smooth(mel_face **out, double *a, double *b, const mel_face *sample, mel_error *err);
/* Area of the hull; 0 for a segment, positives x negatives for perfect scores. */
double mel_face_area(const mel_face *face);
/* One rule that is best for (m11, m00) on the sample or population (smoothed faces: on the sample). */
mel_status mel_face_support_rule(mel_rule *out, const mel_face *face, double m11, double m00, mel_error *err);
/* The plug-in classifier of proposition 3.1 for (m11, m00), read as if scores were true
 * probabilities; opposite signs give the trivial classifier that the signs favour, (0, 0) the
 * threshold 1/2. */
mel_rule mel_plug_in_rule(double m11, double m00);
/* Euclidean projection on the face. */
mel_point mel_face_closest(const mel_face *face, mel_point point);
/* The mixture that achieves a point of the face (of its closest point, when that is within 1e-9; else
 * MEL_EINVAL with the closest point named). */
mel_status mel_face_achieve(mel_mixture *out, const mel_face *face, mel_point point, mel_error *err);
mel_point mel_face_mixture(const mel_face *face, const mel_mixture *mixture);

/* The longest chord in direction (dx, dy): ends with a - b parallel to it and a on its side. Through
 * the centre, by symmetry. False, with both ends at the centre, when the face has no extent in that
 * direction. */
bool mel_face_chord(mel_point *a, mel_point *b, const mel_face *face, double dx, double dy);
/* The chord in that direction through a point of the face (or through the closest one); false, with both
 * ends there, when the line only touches the face. */
bool mel_face_chord_at(mel_point *a, mel_point *b, const mel_face *face, mel_point through, double dx,
                       double dy);

/* Uniform in area over the hull (in length, when it is a segment). Takes three uniform numbers. */
mel_point mel_face_random(const mel_face *face, mel_rng *rng);
/* A point of the ball within `radius` of its centre in each group, all alike likely. */
void mel_ball_random(double *point, const mel_ball *ball, double radius, mel_rng *rng);

/* Confusion entries of `positive when score >= t` for n ascending thresholds in one pass over the
 * steps: tp[i], tn[i]. */
void mel_face_sweep(const mel_face *face, size_t n, const double *threshold, double *tp, double *tn);

/* The scores of a sample, those of negatives first, n[0] + n[1] in all, with the share of everything that
 * each weighs: equal ones once, or, where a class has more than most different ones, neighbours together.
 * Both arrays are for the caller to free(). */
mel_status mel_face_scores(size_t n[2], double **score, double **weight, const mel_face *face, size_t most,
                           mel_error *err);

/* What is worked out about a face once and for all who ask: made by the first of them, freed with the face.
 * Threads may ask at the same moment. make gives one block for free(). */
typedef enum { MEL_FACE_LEVELS, MEL_FACE_IMAGINED_LEVELS, MEL_FACE_PAIRS, MEL_FACE_NOTES } mel_face_note;
typedef mel_status mel_face_note_maker(void **out, const mel_face *face, uint32_t how, mel_error *err);
mel_status mel_face_noted(const void **out, const mel_face *face, mel_face_note which,
                          mel_face_note_maker *make, uint32_t how, mel_error *err);

/* --- spaces and balls --------------------------------------------------------------------------- */

/* X uniform on [-1, 1], P(Y=i|x) proportional to exp(-slope[i] x). A grid of 10,000 rows: statistics are
 * right to 1e-4.
 * 2 to 100 classes; slopes finite, |slope| <= 700, at least two of them different (MEL_EINVAL). */
mel_status mel_space_from_softmax(mel_space **out, size_t n_classes, const double *slope,
                                  const mel_space_options *opt, mel_error *err);

const char *mel_evidence_name(mel_evidence evidence); /* "labels", "model" */

size_t mel_space_size(const mel_space *space); /* numbers in a statistics vector */
size_t mel_space_rows(const mel_space *space); /* 0 for a population */
mel_evidence mel_space_evidence(const mel_space *space);
/* P(Y = i), n_classes numbers; lent. */
const double *mel_space_class_share(const mel_space *space);
/* P(G = g | Y = i), n_groups x n_classes numbers; lent; NULL without groups. */
const double *mel_space_prevalence(const mel_space *space);
/* Statistics of the classifier that draws its prediction uniformly. */
void mel_space_centre(double *out, const mel_space *space);

void mel_blend_clear(mel_blend *blend);

/* The gains for which a plug-in rule is best in a direction of statistics space (size numbers): those of
 * confusion entries, scaled by class shares where statistics are rates. */
void mel_space_gains(double *gain, const mel_space *space, const double *direction);
/* The linear step: the plug-in rule that is best for <direction, statistics> and what it achieves.
 * MEL_EINVAL for a direction that is zero or not finite. */
mel_status mel_space_linear(double *statistics, const mel_space *space, const double *direction,
                            mel_error *err);
/* What a plug-in rule, or a mixture of them, achieves. */
mel_status mel_space_rule(double *statistics, const mel_space *space, const double *gain, mel_error *err);
/* What a plug-in rule achieves on a sample when the boundary between two of its classes moves in one group:
 * of that group's rows that it predicts as first or second, those with factor x (score of first) above the
 * score of second are predicted as first, the others as second. MEL_EINVAL for a population. */
mel_status mel_space_swap(double *statistics, const mel_space *space, const double *gain, size_t group,
                          size_t first, size_t second, double factor, mel_error *err);

/* Some rows of a sample, as a space of their own. */
typedef struct {
    mel_space *space;
    double *probability;
    uint32_t *label, *group;
} mel_some_rows;

/* About so many rows, at random from all parts of every class of every group. To be freed with
 * mel_some_rows_clear also after a failure. */
mel_status mel_some_rows_take(mel_some_rows *out, const mel_space *space, size_t rows, uint64_t seed,
                              mel_error *err);
void mel_some_rows_clear(mel_some_rows *rows);

/* Predictions of one plug-in rule on n rows of probabilities; group may be NULL when n_groups is 0. */
mel_status mel_rule_predict(uint32_t *prediction, size_t n, size_t n_classes, size_t n_groups,
                            const double *probability, const uint32_t *group, const double *gain,
                            mel_error *err);

/* Whether a point is achievable. */
typedef struct {
    bool feasible;   /* closest is within delta of the point */
    double distance; /* |point - closest| */
    double *closest; /* the closest achievable point that was found */
    mel_blend blend; /* achieves closest; at most size + 1 rules */
    /* NULL when feasible; else of unit length, with <direction, point> larger than what any classifier
     * achieves by `margin` (> 0): no mixture comes nearer than that. Labels: any plug-in classifier, tried
     * by `tried` rules near the direction; model and populations: proved for all classifiers */
    double *direction;
    double margin;
    bool proved;
    uint32_t steps, tried;
} mel_feasibility;
/* delta is 1e-12 or more; progress may be NULL. MEL_ENUMERIC when rounding errors hide the answer. */
mel_status mel_space_achieve(mel_feasibility *out, const mel_space *space, const double *point, double delta,
                             const mel_progress *progress, mel_error *err);
void mel_feasibility_clear(mel_feasibility *feasibility);

/* The longest segment through the centre along +-direction: its ends, achievable within delta (1e-12 or
 * more). By labels it is the longest that linear steps find; mel_space_achieve tries harder and may get
 * further. */
mel_status mel_space_segment(double *a, double *b, const mel_space *space, const double *direction,
                             double delta, mel_error *err);

/* The face D(first, second) of the diagonal: classifiers that predict only these two classes, TP of `first`
 * and TN of `second`. On a sample by the score P(first)/(P(first) + P(second)) (1/2 where both are 0), exact
 * hull; by the model and on populations every row counts as far as it is of either class. TP and TN are
 * shares of everything, whatever the kind of the space. Without groups. The face does not need the space any
 * more. */
mel_status mel_space_face(mel_face **out, const mel_space *space, size_t first, size_t second,
                          mel_error *err);

size_t mel_ball_size(const mel_ball *ball);               /* coordinates of all groups */
const double *mel_ball_class_share(const mel_ball *ball); /* NULL: unknown */
const double *mel_ball_prevalence(const mel_ball *ball);  /* NULL: without groups */
/* What one rule achieves, on the raw staircase, hull or not. */
mel_point mel_face_rule(const mel_face *face, mel_rule rule);

#endif
