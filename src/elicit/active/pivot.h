/* Binary linear-fractional metrics, as far as preferences tell them apart.
 *
 * With homogeneous coordinates C~ = (TP, TN, 1), phi = <p~, C~>/<q~, C~> prefers A to B exactly when
 * <w, A~ x B~> > 0, w = p~ x q~ (denominators positive): w is the point, in homogeneous coordinates, where
 * all level lines meet, the pivot (at infinity for linear metrics), and every w in R^3 is one. So preferences
 * know two numbers of a metric, the direction of w, and an answer is a half-space cut on w.
 *
 * Coordinates are centred and scaled, x = 2 TP/positives - 1 and y = 2 TN/negatives - 1, so that the face
 * lies in
 * [-1, 1]^2 around 0: a prior on w then does not depend on the prevalence, and treats both classes, and
 * pivots on both sides of the face, alike. Increasing in TP and TN on all of the square means
 * w_x >= |w_z| and -w_y >= |w_z|; this cone is exactly Assumption 3.2 of the thesis.
 *
 * Of the metrics with one pivot, p0 = 0, p11 + p00 = 1, q0 = (p11 - q11) positives + (p00 - q00) negatives
 * leave q0 free: t -> t/(t + c (1 - t)) maps one into the other (F1 and Jaccard, for example). The one
 * reported has q11 positives + q00 negatives = 0, that is q0 = p11 positives + p00 negatives: its value is 0
 * when everything is wrong, 1 when everything is right and 1/2 halfway (in general s at s times the perfect
 * classifier's statistics), and it is linear when the preferences are. */
#ifndef MEL_ACTIVE_PIVOT_H
#define MEL_ACTIVE_PIVOT_H

#include "melicit/space.h"

typedef struct {
    double positives, negatives;
} mel_shares;

/* A point in centred and scaled coordinates. */
typedef struct {
    double x, y;
} mel_spot;

/* p11, p00, p0, q11, q00, q0: as in a metric file. */
enum { MEL_PIVOT_CONE = 4, MEL_FRACTIONAL_COEFFICIENTS = 6 };
extern const double mel_pivot_cone[MEL_PIVOT_CONE * 3];
extern const double mel_pivot_start[3]; /* inside: accuracy of balanced classes */

mel_spot mel_spot_of(mel_shares shares, mel_point point);
mel_point mel_point_of(mel_shares shares, mel_spot spot);
/* A is preferred when <row, w> > 0. */
void mel_pivot_row(double row[3], mel_spot a, mel_spot b);
/* phi(A) - phi(B) = gain * <row, w>, phi the metric reported for w, |w| = 1. */
double mel_pivot_gain(const double w[3], mel_spot a, mel_spot b);
/* The direction in (TP, TN) in which the metric of w grows at a point of the face. */
void mel_pivot_slope(double slope[2], mel_shares shares, const double w[3], mel_spot at);
/* The unit w of a metric with these coefficients whose denominator is positive on the face; false when it
 * tells nothing apart. */
bool mel_pivot_of(double w[3], mel_shares shares, const double coefficient[MEL_FRACTIONAL_COEFFICIENTS]);
/* The metric reported for w. */
void mel_pivot_metric(double coefficient[MEL_FRACTIONAL_COEFFICIENTS], mel_shares shares, const double w[3]);

/* The pivots of metrics whose p11 is known, p00 = 1 - p11: those on the line p11 TP + p00 TN = 0, a plane of
 * w with two axes, and the part of the cone that lies in it. */
typedef struct {
    double axis[2][3];
    size_t n_cone;
    double cone[MEL_PIVOT_CONE * 2];
    double start[2];
} mel_pivot_line;

void mel_pivot_line_of(mel_pivot_line *line, mel_shares shares, double p11);
/* The part of a vector that lies in the plane; and back. */
void mel_pivot_narrow(double out[2], const mel_pivot_line *line, const double w[3]);
void mel_pivot_widen(double w[3], const mel_pivot_line *line, const double in[2]);

#endif
