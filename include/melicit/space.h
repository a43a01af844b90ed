/* melicit/space.h: the statistics that classifiers of k classes can achieve, and the classifiers that
 * achieve them.
 *
 * A space is the set of statistics (confusion entries or rates, in one of the layouts) of all mixtures of
 * plug-in classifiers on the class probabilities of a sample or of a population. It is convex and reached
 * only through its linear step: the classifier that is best for a direction. Feasibility, segments and the
 * inscribed ball are built on that step. Two-class faces of the diagonal are planar (melicit/face.h). */
#ifndef MELICIT_SPACE_H
#define MELICIT_SPACE_H

#include "melicit/face.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once made: any number of threads may read the same space. */
typedef struct mel_space mel_space;

/* How the statistics of a classifier are measured on a sample. */
typedef enum {
    MEL_BY_LABELS = 0, /* against the labels: what the classifier really did on these rows */
    MEL_BY_MODEL = 1   /* taking the probabilities at their word: what it would do on average if they are
                        * right. The linear step is then exactly optimal among all classifiers. */
} mel_evidence;
MEL_API const char *mel_evidence_name(mel_evidence evidence); /* "labels", "model" */
MEL_API mel_status mel_evidence_parse(mel_evidence *out, const char *name, mel_error *err);

typedef struct {
    size_t struct_size;
    mel_statistics_kind kind;    /* confusion */
    mel_coordinates coordinates; /* off-diagonal; diagonal; binary (two classes) */
    mel_evidence evidence;       /* labels; populations are always exact */
    int threads;                 /* 0: all cores; results do not depend on it */
} mel_space_options;
MEL_API void mel_space_options_init(mel_space_options *opt);

/* n rows of class probabilities with their true classes and, where there are groups, their groups. */
typedef struct {
    size_t n_rows, n_classes, n_groups; /* n_groups 0: no groups */
    const double *probability;          /* n_rows x n_classes */
    const uint32_t *label;              /* n_rows, < n_classes */
    const uint32_t *group;              /* n_rows, < n_groups; NULL without groups */
} mel_sample;

/* The arrays are lent and must outlive the space, which takes little memory beside them. MEL_EDATA with
 * the row for probabilities that are not finite, below 0 (by more than 1e-6) or do not add up to 1 within
 * 1e-6, for labels and groups out of range, one class only, classes without rows, and groups without rows
 * of some class (rates of it would be 0/0). */
MEL_API mel_status mel_space_from_sample(mel_space **out, const mel_sample *sample,
                                         const mel_space_options *opt, mel_error *err);
/* X uniform on [-1, 1], P(Y=i|x) proportional to exp(-slope[i] x). All statistics are integrals over the
 * intervals between the (exactly located) points where the decision changes, by quadrature to 1e-14.
 * 2 to 100 classes; slopes finite, |slope| <= 700, at least two of them different (MEL_EINVAL). */
MEL_API mel_status mel_space_from_softmax(mel_space **out, size_t n_classes, const double *slope,
                                          const mel_space_options *opt, mel_error *err);
MEL_API void mel_space_free(mel_space *space);

MEL_API const mel_layout *mel_space_layout(const mel_space *space);
MEL_API size_t mel_space_size(const mel_space *space); /* numbers in a statistics vector */
MEL_API size_t mel_space_rows(const mel_space *space); /* 0 for a population */
MEL_API mel_evidence mel_space_evidence(const mel_space *space);
/* P(Y = i), n_classes numbers; lent. */
MEL_API const double *mel_space_class_share(const mel_space *space);
/* P(G = g | Y = i), n_groups x n_classes numbers; lent; NULL without groups. */
MEL_API const double *mel_space_prevalence(const mel_space *space);
/* Statistics of the classifier that draws its prediction uniformly. */
MEL_API void mel_space_centre(double *out, const mel_space *space);

/* A plug-in rule predicts the class j with the largest sum_i gain[i][j] P(Y=i|x), the smallest j of those
 * that tie; gain is k x k (true class, prediction), with groups one such matrix per group. A mixture of rules
 * takes rule r with probability share[r]. */
typedef struct {
    size_t n_rules, n_classes, n_groups; /* n_groups: as in the layout */
    double *gain;                        /* n_rules x max(1, n_groups) x k x k */
    double *share;                       /* n_rules: positive, largest first, sum 1 */
} mel_blend;
MEL_API void mel_blend_clear(mel_blend *blend);

/* The gains for which a plug-in rule is best in a direction of statistics space (size numbers): those of
 * confusion entries, scaled by class shares where statistics are rates. */
MEL_API void mel_space_gains(double *gain, const mel_space *space, const double *direction);
/* The linear step: the plug-in rule that is best for <direction, statistics> and what it achieves.
 * MEL_EINVAL for a direction that is zero or not finite. */
MEL_API mel_status mel_space_linear(double *statistics, const mel_space *space, const double *direction,
                                    mel_error *err);
/* What a plug-in rule, or a mixture of them, achieves. */
MEL_API mel_status mel_space_rule(double *statistics, const mel_space *space, const double *gain,
                                  mel_error *err);
MEL_API mel_status mel_space_blend(double *statistics, const mel_space *space, const mel_blend *blend,
                                   mel_error *err);
/* What any randomised classifier achieves on a sample: decision[r][j] (n_rows x k) is the probability that
 * row r is predicted as j. MEL_EDATA when they are no probabilities, MEL_EINVAL for a population. */
MEL_API mel_status mel_space_decisions(double *statistics, const mel_space *space, const double *decision,
                                       mel_error *err);
/* Predictions of one plug-in rule on n rows of probabilities; group may be NULL when n_groups is 0. */
MEL_API mel_status mel_rule_predict(uint32_t *prediction, size_t n, size_t n_classes, size_t n_groups,
                                    const double *probability, const uint32_t *group, const double *gain,
                                    mel_error *err);

/* Whether a point is achievable. */
typedef struct {
    bool feasible;     /* closest is within delta of the point */
    double distance;   /* |point - closest| */
    double *closest;   /* the closest achievable point that was found */
    mel_blend blend;   /* achieves closest; at most size + 1 rules */
    double *direction; /* NULL when feasible; else of unit length, with <direction, point> larger than what
                        * any classifier achieves by `margin` (> 0): no mixture comes nearer than that.
                        * Labels: any plug-in classifier, tried by `tried` rules near the direction; model and
                        * populations: proved for all classifiers */
    double margin;
    bool proved;
    uint32_t steps, tried;
} mel_feasibility;
/* delta is 1e-12 or more. MEL_ENUMERIC when rounding errors hide the answer. */
MEL_API mel_status mel_space_achieve(mel_feasibility *out, const mel_space *space, const double *point,
                                     double delta, mel_error *err);
MEL_API void mel_feasibility_clear(mel_feasibility *feasibility);

/* The longest segment through the centre along +-direction: its ends, achievable within delta (1e-12 or
 * more). By labels it is the longest that linear steps find; mel_space_achieve tries harder and may get
 * further. */
MEL_API mel_status mel_space_segment(double *a, double *b, const mel_space *space, const double *direction,
                                     double delta, mel_error *err);

/* The face D(first, second) of the diagonal: classifiers that predict only these two classes, TP of `first`
 * and TN of `second`. On a sample by the score P(first)/(P(first) + P(second)) (1/2 where both are 0), exact
 * hull; by the model every row counts as far as it is of either class; populations answer support, rules and
 * membership exactly, the rest on a fine inscribed polygon (1e-9). TP and TN are shares of everything,
 * whatever the kind of the space. Without groups. The face does not need the space any more. */
MEL_API mel_status mel_space_face(mel_face **out, const mel_space *space, size_t first, size_t second,
                                  mel_error *err);

/* --- balls -------------------------------------------------------------------------------------- */

/* A ball of statistics that are all achievable: questions may use any point of it. With groups every
 * group's rates lie in the same ball: the intersection over the groups (their centres coincide; confusion
 * entries of groups have different centres and are refused). */
typedef struct mel_ball mel_ball;
/* An abstract ball around the uniform classifier's rates (1/k each) or, without groups, confusion entries
 * (1/k of the class's share). class_share (k numbers) and prevalence (n_groups x k: P(G = g | Y = i)) may be
 * NULL: all alike. Refuses radii with which a point of the ball would be no rates: 1/(k sqrt(k - 1)) is the
 * largest for off-diagonal rates, 1/k for diagonal and binary ones; confusion entries: that times the
 * smallest share. */
MEL_API mel_status mel_ball_new(mel_ball **out, const mel_layout *layout, double radius,
                                const double *class_share, const double *prevalence, mel_error *err);

typedef enum { MEL_RADIUS_INSCRIBED = 0, MEL_RADIUS_THESIS = 1 } mel_radius_method;
typedef struct {
    size_t struct_size;
    mel_radius_method method;
    uint32_t restarts; /* inscribed: starts of the descent; 0: as many as the dimension suggests */
    uint32_t rays;     /* random directions that check the radius; 100 */
    uint64_t seed;
    mel_progress progress;
    size_t sample_rows; /* more than four times as many rows: the search takes so many of them, what it finds
                         * is proved, or made smaller, on all. 0: always all, as beyond 120
                         * coordinates; 10,000 */
} mel_radius_options;
MEL_API void mel_radius_options_init(mel_radius_options *opt);
/* How a radius was found and what speaks for it. The direction has one number per coordinate of a group. */
typedef struct {
    double radius;  /* of the ball that was made: the smallest of descent, rays and inner; inscribed: not less
                     * than certified */
    double descent; /* smallest support in any direction that the descent found; thesis: radius of the largest
                     * ball in the hull of the feasible ends of all axes (beyond 120 coordinates: of
                     * the ends that decisions linear in the probabilities reach) */
    double rays;    /* shortest stretch of the random rays that is feasible; beyond 120 coordinates a ray is
                     * only followed until it leaves the ball. Infinity when no rays were asked for */
    double certified;  /* a ball of this radius is achievable for sure, without any search: closed form, from
                        * decisions that are linear in the probabilities; 0 where it says nothing */
    double *direction; /* where the set is thinnest (unit length). Exact steps: no larger ball fits, since its
                        * support there is `descent`; labels: as far as rules were found. Thesis: normal of
                        * the facet that the ball touches */
    size_t group;      /* of which group */
    uint64_t steps;    /* linear steps taken */
    double inner;      /* where a sample was searched: the smallest width that was found of the hull of rules
                        * measured on all rows, in which the rays are too; else infinity */
    uint64_t passes; /* those of the steps that read all rows (of a group, where there are some): at most 200
                      * where a sample was searched */
} mel_radius;
/* MEL_EDATA when the radius is below 1e-9: statistics that hang together (constant probabilities, say).
 * MEL_EINVAL for confusion entries of groups. how may be NULL. */
MEL_API mel_status mel_ball_of_space(mel_ball **out, mel_radius *how, const mel_space *space,
                                     const mel_radius_options *opt, mel_error *err);
MEL_API void mel_radius_clear(mel_radius *how);
MEL_API void mel_ball_free(mel_ball *ball);

MEL_API const mel_layout *mel_ball_layout(const mel_ball *ball);
MEL_API size_t mel_ball_size(const mel_ball *ball); /* coordinates of all groups */
MEL_API double mel_ball_radius(const mel_ball *ball);
/* Coordinates of one group (the same for all); lent. */
MEL_API const double *mel_ball_centre(const mel_ball *ball);
MEL_API const double *mel_ball_class_share(const mel_ball *ball); /* NULL: unknown */
MEL_API const double *mel_ball_prevalence(const mel_ball *ball);  /* NULL: without groups */

/* What questions are about: exactly one of these, lent, which must outlive the session.
 * face: two classes; linear and linear-fractional metrics of (TP, TN).
 * space: its two-class faces; diagonal linear, diagonal linear-fractional and monotone metrics.
 * ball: points of the ball; linear, linear-fractional, quadratic and polynomial metrics of off-diagonal
 * (or binary) statistics, diagonal linear ones of diagonal statistics, fair ones with groups. */
typedef struct {
    const mel_face *face;
    const mel_space *space;
    const mel_ball *ball;
} mel_domain;

#ifdef __cplusplus
}
#endif
#endif
