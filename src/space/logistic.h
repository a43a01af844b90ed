/* The closed-form population logistic:a,b: X uniform on [-1, 1], score(x) = P(Y=1|x) = 1/(1 + exp(a x + b)).
 *
 * For a > 0 the score falls in x, so "score >= t" is "x <= cut" and every cut gives a point of the upper
 * boundary, from (positives, 0) at cut = 1 to (0, negatives) at cut = -1. */
#ifndef MEL_SPACE_LOGISTIC_H
#define MEL_SPACE_LOGISTIC_H

#include "space/upper_boundary.h"

struct mel_softmax;

/* With a measure, rows of further classes are among these, so that the density of the two classes
 * together is not uniform any more; scores, thresholds and tangents of the boundary stay what they are. */
typedef struct {
    double a, b; /* a >= 0 */
    double positives, negatives;
    const struct mel_softmax *measure; /* NULL: uniform */
    size_t first, second;              /* its classes: positive and negative */
} mel_logistic;

/* MEL_EINVAL for numbers beyond 1e300, and where no positives (or negatives) are left. */
mel_status mel_logistic_init(mel_logistic *out, double a, double b, mel_error *err);
double mel_softplus(double x); /* log(1 + exp(x)) */
double mel_sigmoid(double x);  /* 1/(1 + exp(-x)) */
/* log(1 + exp(x + d)) - log(1 + exp(x)) for d >= 0, to a few rounding errors of the result. */
double mel_softplus_gap(double x, double d);

/* The boundary at a cut in [-1, 1]. */
mel_point mel_logistic_at(const mel_logistic *p, double cut);
double mel_logistic_score(const mel_logistic *p, double cut);
/* The cut of "score >= threshold". */
double mel_logistic_cut(const mel_logistic *p, double threshold);
/* The cut whose point is furthest in direction m, m.tp >= 0 and m.tn >= 0, not both 0. */
double mel_logistic_furthest(const mel_logistic *p, mel_point m);
/* The cut whose point is nearest to a point that is outside the face. */
double mel_logistic_nearest(const mel_logistic *p, mel_point q);
bool mel_logistic_holds(const mel_logistic *p, mel_point q);
/* The upper boundary as corners that are cuts at thresholds, nowhere further from it than 2e-9 when both axes
 * are scaled to 1 (so 1e-9 for balanced classes, and accurate for rare ones). rule receives what achieves
 * its vertices, for the caller to free(); NULL: not wanted. */
mel_status mel_logistic_boundary(mel_upper_boundary *out, mel_rule **rule, const mel_logistic *p,
                                 mel_error *err);

#endif
