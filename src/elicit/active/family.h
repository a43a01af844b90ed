/* Families of metrics that are linear in known features, as the engine of features.c sees them.
 *
 * The utility of the metric with the coefficient vector w (unit length, D numbers) is <w, f(r)> up to a
 * constant, r a statistics vector; costs count negatively. So A is preferred to B when <x, w> > 0, x the row
 * f(A) - f(B) (of linear-fractional metrics the bivector of A and B). A question is a symmetric pair c +
 * delta, c - delta around a middle c: as long as the features are quadratic between the two, its row reads
 * <x, w> = 2 <delta, slope of w at c> exactly.
 *
 * A family is one file: it says what f is, which w are possible before any answer, what points may be asked
 * about, and how w becomes a metric. */
#ifndef MEL_ACTIVE_FAMILY_H
#define MEL_ACTIVE_FAMILY_H

#include "base/internal.h"
#include "melicit/elicit.h"

typedef struct mel_basis mel_basis;

typedef struct {
    /* The row of a pair: utility(A) - utility(B) = <x, w>. */
    void (*row)(const mel_basis *f, const double *a, const double *b, double *x);
    /* Gradient of the utility at c; linear in w, which need not have unit length. */
    void (*slope)(const mel_basis *f, const double *c, const double *w, double *slope);
    /* A random middle, and one near another (step: 1 far, 0 the same). NULL: all middles are alike. */
    void (*middle)(const mel_basis *f, mel_rng *rng, double *c);
    void (*nudge)(const mel_basis *f, mel_rng *rng, double step, const double *from, double *c);
    /* The pair around c (may be moved where all middles are alike) along +-delta that is easiest to tell
     * apart. *found is false when the domain has no extent there. */
    mel_status (*pair)(mel_basis *f, const double *c, const double *delta, double *a, double *b, bool *found,
                       mel_error *err);
    /* For a family whose prior needs the direction: a pair whose answer tells it (another one for each tilt),
     * and how to set it. NULL: the prior needs no direction. */
    mel_status (*extremes)(const mel_basis *f, double tilt, double *a, double *b, mel_error *err);
    void (*turn)(mel_basis *f, mel_direction direction);
    /* What achieves a point of a question, in words (MEL_NOTE_TEXT characters), or nothing; NULL: not known.
     */
    void (*note)(const mel_basis *f, const mel_session_options *opt, const double *a, const double *b,
                 char *note_a, char *note_b);
    /* <x, w> over the difference that the reported metric of w makes of the same pair; NULL: |w|. */
    double (*size)(const mel_basis *f, const double *w);
    /* The difference that the reported metric of w makes of a pair, over <x, w> / |w|; NULL: |w| / size. */
    double (*gain)(const mel_basis *f, const double *w, const double *a, const double *b);
    /* The n_judged numbers whose errors count; NULL: w itself at its norm. */
    void (*judged)(const mel_basis *f, const double *w, double *out);
    /* The w of a metric, D numbers of unit length; NULL: by least squares (mel_basis_vector). */
    mel_status (*vector)(double *out, const mel_basis *f, const mel_session_options *opt,
                         const mel_metric *metric, mel_error *err);
    /* What is reported for w, n_reported numbers in the order of metric files; and the metric of it. */
    void (*coefficients)(const mel_basis *f, const double *w, double *out);
    mel_status (*metric)(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err);
    void (*free)(mel_basis *f); /* of `own`; NULL: nothing to do */
} mel_basis_ops;

struct mel_basis {
    const mel_basis_ops *ops;
    mel_layout layout;
    const double *centre; /* of one group; lent by the ball; NULL on faces */
    double radius;
    double inner, outer;             /* how far from the centre middles are */
    size_t per_group, groups, pairs; /* groups: at least 1; pairs of groups: (0,1), (0,2), ..., (1,2), ... */
    size_t size;                     /* per_group x groups: numbers in a point */
    size_t dimension;                /* D */
    size_t matrices;                 /* symmetric ones, packed, behind the first per_group numbers of w */
    size_t n_reported;
    bool l1;             /* coefficients are judged at l1 norm 1 instead of l2 norm 1 */
    bool coordinatewise; /* every reported number is a positive multiple of one of w */
    /* Pairs that tell this share of what the best one does are as good, and the longest is asked; 0: the
     * best one is, as pairs around any middle are about as long. */
    double as_good;
    bool reports_mean;              /* of the posterior, where answers may be wrong, too */
    bool two_only;                  /* only pairs that differ in two coordinates exist */
    double *prevalence;             /* size: P(G = g | Y = class of the coordinate) */
    const double *class_prevalence; /* groups x classes: P(G = g | Y = i); lent; NULL without groups */
    size_t samples;                 /* of the posterior; 0: as many as usual */
    /* Prior: uniform where <cone_j, w> >= 0. */
    size_t n_cone;
    double *cone;  /* n_cone x D */
    double *start; /* D numbers inside */
    /* n_judged (D where a family does not judge by other numbers): how much an error of 1 counts in the
     * radius, and how much a variance of 1 where questions are chosen; NULL: 1, and the square of the unit.
     * A family that sets `stress` makes it with `unit`. */
    size_t n_judged;
    double *unit;
    const double *stress;
    void *own; /* the family's */
};

/* Checks that the family fits the domain; the sizes, prevalence and ball are filled in before the family's
 * mel_elicit_ops.basis sets the rest. */
mel_status mel_basis_new(mel_basis **out, const mel_domain *domain, const mel_session_options *opt,
                         mel_error *err);
void mel_basis_free(mel_basis *f);
/* Restricts *f, where the options know something of the metric's structure, to the metrics that have it
 * (restrict.c). */
mel_status mel_basis_restrict(mel_basis **f, const mel_session_options *opt, mel_error *err);
/* The unit w of a metric of this family and layout, for the caller to free(). */
mel_status mel_basis_vector(double **out, const mel_basis *f, const mel_session_options *opt,
                            const mel_metric *metric, mel_error *err);

/* The norm at which coefficients are judged, of a w that need not have unit length. */
double mel_basis_norm(const mel_basis *f, const double *w);
/* What turns <x, w>, w of unit length, into units of the reported metric's value, at this w. */
double mel_basis_gain(const mel_basis *f, const double *w, const double *a, const double *b);

/* --- what families share -------------------------------------------------------------------------- */

/* ops->free of a family whose `own` is one block. */
void mel_basis_free_own(mel_basis *f);
/* The bivector of a linear-fractional metric of two classes with these coefficients (as in a metric file),
 * whose denominator is positive on the face, of unit length; false when it tells nothing apart. */
bool mel_pivot_of(double w[3], double positives, double negatives, const double *coefficient);
/* Room for n rows of a cone that a family may fill by mel_basis_add_cone, and the start (zero). */
mel_status mel_basis_reserve_cone(mel_basis *f, size_t n, mel_error *err);
/* w_i * sign >= 0. */
void mel_basis_add_sign(mel_basis *f, size_t i, double sign);
/* The signs of the first per_group coefficients, those of the utility's a times `turn`, as the options tell:
 * opt->signs, else the direction (when `by_direction`). MEL_EINVAL for signs other than -1, 0, 1. */
mel_status mel_basis_add_signs(mel_basis *f, const mel_session_options *opt, double turn, bool by_direction,
                               mel_error *err);

/* ops->row and ops->slope where the features are the statistics themselves. */
void mel_basis_difference(const mel_basis *f, const double *a, const double *b, double *x);
void mel_basis_same_slope(const mel_basis *f, const double *c, const double *w, double *out);

/* The largest t with c + t delta and c - t delta in the ball of every group. */
double mel_basis_reach(const mel_basis *f, const double *c, const double *delta);
/* ops->pair on a ball where the middle matters, and where it does not. */
mel_status mel_basis_pair(mel_basis *f, const double *c, const double *delta, double *a, double *b,
                          bool *found, mel_error *err);
mel_status mel_basis_pair_central(mel_basis *f, const double *c, const double *delta, double *a, double *b,
                                  bool *found, mel_error *err);
/* Middles near the edge of every group's ball, where curvature shows most, with room for delta. */
void mel_basis_middle(const mel_basis *f, mel_rng *rng, double *c);
void mel_basis_nudge(const mel_basis *f, mel_rng *rng, double step, const double *from, double *c);

/* A symmetric matrix as q (q + 1)/2 numbers, (1,1), (1,2), ..., (1,q), (2,2), ..., with weight sqrt(2) off
 * the diagonal; and back. */
void mel_pack(size_t q, const double *matrix, double *packed);
void mel_unpack(size_t q, const double *packed, double *matrix);
/* out = M u. */
void mel_pack_times(size_t q, const double *packed, const double *u, double *out);
static inline size_t mel_pack_size(size_t q)
{
    return q * (q + 1) / 2;
}

#endif
