/* Linear-fractional metrics. Of two classes they are linear metrics of bivectors, in three numbers; of more
 * the posterior is one of decomposable bivectors (active/bivector.h).
 *
 * With homogeneous coordinates C~ = (x, y, 1), phi = <p~, C~>/<q~, C~> prefers A to B exactly when
 * <w, A~ x B~> > 0, w = p~ x q~ (denominators positive): the row of a pair is A~ x B~, and every w of R^3 is
 * the bivector of some metric. w is the point, in homogeneous coordinates, where all level lines meet, the
 * pivot (at infinity for linear metrics). A pair c + delta, c - delta has the row 2 delta~ x c~, linear in
 * delta, and all pairs on one line have the same row up to its length.
 *
 * Coordinates are centred and scaled, x = 2 TP/positives - 1 and y = 2 TN/negatives - 1, so that the face
 * lies in [-1, 1]^2 around 0: a prior on w then does not depend on the prevalence, and treats both classes,
 * and pivots on both sides of the face, alike. Increasing in TP and TN on all of the square means
 * w_x >= |w_z| and -w_y >= |w_z|; this cone is exactly Assumption 3.2 of the thesis.
 *
 * Among metrics with one pivot, p0 = 0, p11 + p00 = 1, q0 = (p11 - q11) positives + (p00 - q00) negatives
 * leave q0 free: t -> t/(t + c (1 - t)) maps one into the other (F1 and Jaccard, for example). The one
 * reported has q11 positives + q00 negatives = 0, that is q0 = p11 positives + p00 negatives: its value is 0
 * when everything is wrong, 1 when everything is right and 1/2 halfway (in general s at s times the perfect
 * classifier's statistics), and it is linear when the preferences are.
 *
 * Preferences fix the level lines and nothing else, so the errors that count are angles of these, in radians
 * in the plane of TP and TN. */
#include "elicit/active/posterior/interior.h"
#include "elicit/assumption.h"
#include "elicit/families/families.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double half_pi = 1.57079632679489661923;

/* Points whose level lines are to become known: on each half of the boundary, the two trivial classifiers and
 * the centre, and the one where TP = TN = 0, whose level line has the slope of the numerator. */
enum { ON_HALF = 7, ON_BOUNDARY = 2 * ON_HALF, PROBES = ON_BOUNDARY + 4, NUMERATOR = PROBES - 1 };
enum { CONE = 4, COEFFICIENTS = 6 };
/* Samples of the posterior; fewer where every answer's margin counts. */
enum { SAMPLES = 640, COSTLY_SAMPLES = 400 };
/* How much the numerator's slope counts next to all others together. */
static const double numerator_share = 1.0 / 3.0;
/* Chords that tell this share of what the best one does are as good. */
static const double nearly_best = 0.9;
/* Share of the face's extent by which middles near another differ at most. */
static const double nudged = 0.25;

static const double cone[CONE * 3] = {
    1.0, 0.0, 1.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0, 0.0, -1.0, -1.0,
};

typedef struct {
    const mel_face *face;
    double positives, negatives;
    bool segment;
    double turn;       /* -1: right decisions are punished */
    double axis[3][3]; /* of the vector's coordinates: two where p11 is known */
    double spot[PROBES][2];
} fraction;

static fraction *own(const mel_basis *f)
{
    return f->own;
}

/* A point in centred and scaled coordinates. */
static void scale_point(const fraction *r, const double *point, double spot[2])
{
    spot[0] = 2.0 * point[0] / r->positives - 1.0;
    spot[1] = 2.0 * point[1] / r->negatives - 1.0;
}

static void widen(const mel_basis *f, const double *w, double wide[3])
{
    memset(wide, 0, 3 * sizeof *wide);
    for (size_t i = 0; i < f->dimension; i++)
        mel_axpy(3, w[i], own(f)->axis[i], wide);
}

static void narrow(const mel_basis *f, const double wide[3], double *w)
{
    for (size_t i = 0; i < f->dimension; i++)
        w[i] = mel_dot(3, own(f)->axis[i], wide);
}

/* --- rows and pairs --------------------------------------------------------------------------------- */

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    const fraction *r = own(f);
    double p[2], q[2];
    scale_point(r, a, p);
    scale_point(r, b, q);
    const double wide[3] = { r->turn * (p[1] - q[1]), r->turn * (q[0] - p[0]),
                             r->turn * (p[0] * q[1] - p[1] * q[0]) };
    narrow(f, wide, x);
}

/* The direction in (TP, TN) in which the metric of w grows at a spot. */
static void level_slope(const fraction *r, const double w[3], const double spot[2], double slope[2])
{
    slope[0] = 2.0 * (spot[1] * w[2] - w[1]) / r->positives;
    slope[1] = 2.0 * (w[0] - spot[0] * w[2]) / r->negatives;
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    double wide[3], spot[2];
    widen(f, w, wide);
    scale_point(own(f), c, spot);
    level_slope(own(f), wide, spot, out);
    mel_scale(2, own(f)->turn, out);
}

static void middle(const mel_basis *f, mel_rng *rng, double *c)
{
    const mel_point point = mel_face_random(own(f)->face, rng);
    c[0] = point.tp;
    c[1] = point.tn;
}

static void nudge(const mel_basis *f, mel_rng *rng, double step, const double *from, double *c)
{
    const fraction *r = own(f);
    const double by = step * nudged;
    const double tp = from[0] + by * r->positives * mel_rng_normal(rng);
    const double tn = from[1] + by * r->negatives * mel_rng_normal(rng);
    const mel_point point = mel_face_closest(r->face, (mel_point){ tp, tn });
    c[0] = point.tp;
    c[1] = point.tn;
}

/* The chord through c along delta. On a face without area only the trivial classifiers are worth comparing.
 */
static mel_status pair(mel_basis *f, const double *c, const double *delta, double *a, double *b, bool *found,
                       mel_error *err)
{
    (void)err;
    const fraction *r = own(f);
    mel_point first = { 0.0, r->negatives }, second = { r->positives, 0.0 };
    *found = r->segment ||
             mel_face_chord_at(&first, &second, r->face, (mel_point){ c[0], c[1] }, delta[0], delta[1]);
    a[0] = first.tp;
    a[1] = first.tn;
    b[0] = second.tp;
    b[1] = second.tn;
    return MEL_OK;
}

/* Good against bad decisions; another pair for every tilt. */
static mel_status extremes(const mel_basis *f, double tilt, double *a, double *b, mel_error *err)
{
    mel_point best = { 0 }, worst = { 0 };
    TRY(mel_face_support(&best, own(f)->face, 1.0, 1.0 + tilt, err));
    TRY(mel_face_support(&worst, own(f)->face, -1.0, -1.0 - tilt, err));
    a[0] = best.tp;
    a[1] = best.tn;
    b[0] = worst.tp;
    b[1] = worst.tn;
    return MEL_OK;
}

static void turn(mel_basis *f, mel_direction direction)
{
    own(f)->turn = direction == MEL_DECREASING ? -1.0 : 1.0;
}

/* --- what is judged and reported -------------------------------------------------------------------- */

/* phi(A) - phi(B) = gain <row, w>: phi = 1/2 + <(-w_y, w_x), C>/(2 l(C)), l(C) = w_x - w_y - w_z (x - y) > 0.
 */
static double gain(const mel_basis *f, const double *w, const double *a, const double *b)
{
    double wide[3], p[2], q[2];
    widen(f, w, wide);
    mel_scale(3, 1.0 / mel_norm2(3, wide), wide);
    scale_point(own(f), a, p);
    scale_point(own(f), b, q);
    const double sum = wide[0] - wide[1];
    return 0.5 * sum / ((sum - wide[2] * (p[0] - p[1])) * (sum - wide[2] * (q[0] - q[1])));
}

/* Angles of level lines, which are within a quadrant. */
static void judged(const mel_basis *f, const double *w, double *out)
{
    double wide[3], grows[2];
    widen(f, w, wide);
    for (size_t i = 0; i < PROBES; i++) {
        level_slope(own(f), wide, own(f)->spot[i], grows);
        out[i] = atan2(grows[1], grows[0]);
    }
}

static void coefficients(const mel_basis *f, const double *w, double *out)
{
    const fraction *r = own(f);
    double wide[3];
    widen(f, w, wide);
    const double p11 = -(wide[1] + wide[2]) / r->positives, p00 = (wide[0] + wide[2]) / r->negatives;
    const double sum = p11 + p00;
    out[0] = p11 / sum;
    out[1] = p00 / sum;
    out[2] = 0.0;
    out[3] = -2.0 * wide[2] / (r->positives * sum);
    out[4] = 2.0 * wide[2] / (r->negatives * sum);
    out[5] = (wide[0] - wide[1]) / sum;
}

/* A metric that decreases is a cost. */
static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_fractional(out, opt->family, &f->layout, opt->class_names,
                                 own(f)->turn < 0.0 ? MEL_COST : MEL_UTILITY, coefficient, coefficient[2],
                                 coefficient + 3, coefficient[5], err);
}

/* c11 TP + c00 TN + c0 in centred and scaled coordinates. */
static void rescale(double out[3], double positives, double negatives, const double c[3])
{
    out[0] = 0.5 * positives * c[0];
    out[1] = 0.5 * negatives * c[1];
    out[2] = c[2] + out[0] + out[1];
}

static void cross(double out[3], const double p[3], const double q[3])
{
    out[0] = p[1] * q[2] - p[2] * q[1];
    out[1] = p[2] * q[0] - p[0] * q[2];
    out[2] = p[0] * q[1] - p[1] * q[0];
}

bool mel_pivot_of(double w[3], double positives, double negatives, const double *coefficient)
{
    double p[3], q[3];
    rescale(p, positives, negatives, coefficient);
    rescale(q, positives, negatives, coefficient + 3);
    cross(w, p, q);
    const double length = mel_norm2(3, w);
    if (!(length > 1e-12 * mel_norm2(3, p) * mel_norm2(3, q)))
        return false;
    mel_scale(3, 1.0 / length, w);
    return true;
}

static mel_status vector(double *out, const mel_basis *f, const mel_session_options *opt,
                         const mel_metric *prior, mel_error *err)
{
    const fraction *r = own(f);
    double wide[3];
    if (opt->direction == MEL_DIRECTION_UNKNOWN)
        return mel_fail(err, MEL_EINVAL, "with a prior metric the direction cannot be unknown");
    if (!mel_pivot_of(wide, r->positives, r->negatives, mel_metric_coefficient(prior)))
        return mel_fail(err, MEL_EINVAL, "the prior metric does not tell any two classifiers apart");
    mel_scale(3, r->turn * (mel_metric_orientation(prior) == MEL_COST ? -1.0 : 1.0), wide);
    narrow(f, wide, out);
    if (mel_norm2(f->dimension, out) < 1.0 - 1e-6)
        return mel_fail(err, MEL_EINVAL, "the prior metric has another p11 than %g, which is known",
                        opt->known_p11);
    return MEL_OK;
}

/* --- making one ------------------------------------------------------------------------------------- */

static const mel_basis_ops face_ops = {
    .row = row,
    .slope = slope,
    .middle = middle,
    .nudge = nudge,
    .pair = pair,
    .extremes = extremes,
    .turn = turn,
    .gain = gain,
    .judged = judged,
    .vector = vector,
    .coefficients = coefficients,
    .metric = metric,
    .free = mel_basis_free_own,
};

/* Pivots of metrics whose p11 is known, p00 = 1 - p11, are on the line p11 TP + p00 TN = 0, a plane of w. */
static void set_axes(mel_basis *f, double p11)
{
    fraction *r = own(f);
    f->dimension = isnan(p11) ? 3 : 2;
    for (size_t i = 0; i < 3; i++)
        r->axis[i][i] = 1.0;
    if (isnan(p11))
        return;
    double p[3];
    rescale(p, r->positives, r->negatives, (const double[]){ p11, 1.0 - p11, 0.0 });
    mel_scale(3, 1.0 / mel_norm2(3, p), p); /* p[2] = p[0] + p[1] > 0 */
    const double length = hypot(p[0], p[1]);
    r->axis[0][0] = p[1] / length;
    r->axis[0][1] = -p[0] / length;
    r->axis[0][2] = 0.0;
    cross(r->axis[1], p, r->axis[0]);
}

/* The part of the cone that lies in the space of w, and a vector inside. */
static mel_status set_cone(mel_basis *f, mel_error *err)
{
    mel_status status = mel_basis_reserve_cone(f, CONE, err);
    if (status != MEL_OK)
        return status;
    for (size_t j = 0; j < CONE; j++) {
        double *g = f->cone + f->n_cone * f->dimension;
        narrow(f, cone + 3 * j, g);
        const double length = mel_norm2(f->dimension, g);
        if (length > 1e-12) { /* the plane of a known p11 may touch the cone along a side */
            mel_scale(f->dimension, 1.0 / length, g);
            f->n_cone++;
        }
    }
    mel_interior interior = { 0 };
    status = mel_interior_new(&interior, f->dimension, err);
    if (status == MEL_OK)
        (void)mel_interior_find(&interior, f->n_cone, f->cone, f->start);
    mel_interior_free(&interior);
    return status;
}

/* Even steps of the direction in which a classifier is best, and the opposite ones. */
static mel_status pick_spots(mel_basis *f, mel_error *err)
{
    fraction *r = own(f);
    for (size_t i = 0; i < ON_BOUNDARY; i++) {
        const double angle = half_pi * ((double)(i % ON_HALF) + 0.5) / ON_HALF,
                     sign = i < ON_HALF ? 1.0 : -1.0;
        mel_point point = { 0 };
        const mel_status status = mel_face_support(&point, r->face, sign * cos(angle) / r->positives,
                                                   sign * sin(angle) / r->negatives, err);
        if (status != MEL_OK)
            return status;
        scale_point(r, (const double[]){ point.tp, point.tn }, r->spot[i]);
    }
    const double last[4][2] = { { -1.0, 1.0 }, { 1.0, -1.0 }, { 0.0, 0.0 }, { -1.0, -1.0 } };
    memcpy(r->spot + ON_BOUNDARY, last, sizeof last);
    f->n_judged = PROBES;
    f->unit = mel_alloc(PROBES, 2 * sizeof *f->unit);
    if (f->unit == NULL)
        return mel_fail_memory(err, "the family");
    double *stress = f->unit + PROBES;
    for (size_t i = 0; i < PROBES; i++)
        f->unit[i] = stress[i] = 1.0;
    f->unit[NUMERATOR] = 0.0;
    stress[NUMERATOR] = numerator_share * (PROBES - 1);
    f->stress = stress;
    return MEL_OK;
}

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    const mel_face *face = domain->face;
    fraction *r = f->own = mel_alloc_zero(1, sizeof *r);
    f->ops = &face_ops;
    if (r == NULL)
        return mel_fail_memory(err, "the family");
    r->face = face;
    r->positives = mel_face_positives(face);
    r->negatives = mel_face_negatives(face);
    r->segment = !(mel_face_area(face) > 0.0);
    turn(f, opt->direction);
    f->n_reported = COEFFICIENTS;
    f->two_only = f->reports_mean = true;
    f->as_good = nearly_best;
    const mel_noise_ops *noise = mel_assumed(&opt->assume);
    f->samples = noise->errs == MEL_ERRS_BY_MARGIN && !noise->band ? COSTLY_SAMPLES : SAMPLES;
    set_axes(f, opt->known_p11);
    TRY(set_cone(f, err));
    return pick_spots(f, err);
}

static mel_status active(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                         mel_error *err)
{
    return domain->face != NULL ? mel_engine_features(out, domain, opt, err)
                                : mel_engine_bivector(out, domain, opt, err);
}

const mel_elicit_ops mel_elicit_linear_fractional = {
    .where = MEL_ON_FACE | MEL_ON_BALL,
    .needs = "a planar face or a ball of off-diagonal statistics",
    .reads = MEL_READS_RATIO,
    .sloped = true,
    .paired = true,
    .active = active,
    .search = mel_engine_search,
    .basis = basis,
};

const mel_elicit_ops mel_elicit_diagonal_linear_fractional = {
    .where = MEL_ON_SPACE,
    .needs = "a space of k classes with diagonal statistics",
    .reads = MEL_READS_RATIO,
    .sloped = true,
    .active = mel_engine_bivector,
    .search = mel_engine_search,
};
