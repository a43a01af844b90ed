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
#include "melicit/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once made: any number of threads may read the same space. */
typedef struct mel_space mel_space;

/* How the statistics of a classifier are measured on a sample. */
typedef enum {
    MEL_BY_LABELS = 0, /* against the labels: what the classifier really did on these rows */
    /* Taking the probabilities at their word: what it would do on average if they are right. The linear
     * step is then exactly optimal among all classifiers. */
    MEL_BY_MODEL = 1
} mel_evidence;

typedef struct {
    size_t struct_size;
    mel_statistics_kind kind;    /* confusion */
    mel_coordinates coordinates; /* off-diagonal; diagonal; binary (two classes) */
    mel_evidence evidence;       /* labels; populations are always exact */
    int threads;                 /* 0: all cores; results do not depend on it */
} mel_space_options;
MEL_API void mel_space_options_init(mel_space_options *opt);

/* The space of rows with probabilities and labels, which count alike. The arrays are borrowed and must
 * outlive the space, which takes little memory beside them. MEL_EDATA with the row for probabilities that are
 * not finite, below 0 (by more than 1e-6) or do not add up to 1 within 1e-6, for labels and groups out of
 * range, one class only, classes without rows, and groups without rows of some class (rates of it would be
 * 0/0). */
MEL_API mel_status mel_space_from_sample(mel_space **out, const mel_rows *rows, const mel_space_options *opt,
                                         mel_error *err);
MEL_API void mel_space_free(mel_space *space);

/* What its statistics are; lent. */
MEL_API const mel_layout *mel_space_layout(const mel_space *space);

/* A plug-in rule predicts the class j with the largest sum_i gain[i][j] P(Y=i|x), the smallest j of those
 * that tie; gain is k x k (true class, prediction), with groups one such matrix per group. A mixture of rules
 * takes rule r with probability share[r]. */
typedef struct {
    size_t n_rules, n_classes, n_groups; /* n_groups: as in the layout */
    double *gain;                        /* n_rules x max(1, n_groups) x k x k */
    double *share;                       /* n_rules: positive, largest first, sum 1 */
} mel_blend;

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
    /* More than four times as many rows: the search takes so many of them, what it finds is proved, or
     * made smaller, on all. 0: always all, as beyond 120 coordinates; 10,000 */
    size_t sample_rows;
} mel_radius_options;
MEL_API void mel_radius_options_init(mel_radius_options *opt);
/* How a radius was found and what speaks for it. The direction has one number per coordinate of a group. */
typedef struct {
    /* Of the ball that was made: the smallest of descent, rays and inner; inscribed: not less than
     * certified. */
    double radius;
    /* Smallest support in any direction that the descent found; thesis: radius of the largest ball in the
     * hull of the feasible ends of all axes (beyond 120 coordinates: of the ends that decisions linear in
     * the probabilities reach) */
    double descent;
    /* Shortest stretch of the random rays that is feasible; beyond 120 coordinates a ray is only followed
     * until it leaves the ball. Infinity when no rays were asked for. */
    double rays;
    /* A ball of this radius is achievable for sure, without any search: closed form, from decisions that
     * are linear in the probabilities; 0 where it says nothing. */
    double certified;
    /* Where the set is thinnest (unit length). Exact steps: no larger ball fits, since its support there
     * is `descent`; labels: as far as rules were found. Thesis: normal of the facet that the ball touches */
    double *direction;
    size_t group;   /* of which group */
    uint64_t steps; /* linear steps taken */
    /* Where a sample was searched: the smallest width that was found of the hull of rules measured on all
     * rows, in which the rays are too; else infinity. */
    double inner;
    /* Those of the steps that read all rows (of a group, where there are some): at most 200 where a sample
     * was searched. */
    uint64_t passes;
} mel_radius;
/* The largest ball in a space. MEL_EDATA when the radius is below 1e-9: statistics that determine each other
 * (constant probabilities, say). MEL_EINVAL for confusion entries of groups. how may be NULL. */
MEL_API mel_status mel_ball_of_space(mel_ball **out, mel_radius *how, const mel_space *space,
                                     const mel_radius_options *opt, mel_error *err);
MEL_API void mel_radius_clear(mel_radius *how);
MEL_API void mel_ball_free(mel_ball *ball);

/* What its points are; lent. */
MEL_API const mel_layout *mel_ball_layout(const mel_ball *ball);
MEL_API double mel_ball_radius(const mel_ball *ball); /* the same in every direction */
/* Coordinates of one group (the same for all); lent. */
MEL_API const double *mel_ball_centre(const mel_ball *ball);

/* Given classifiers and what was measured of them. */
typedef struct {
    mel_layout layout;
    size_t n, size;    /* classifiers; numbers of each */
    char **name;       /* n */
    double *value;     /* n x size: statistics in the layout's order */
    double *positives; /* n: share of the second of two classes; NaN: unknown */
    /* n x groups (1 without) x classes: how many rows of each true class it was measured on, where its
     * numbers were counts; NaN: unknown. */
    double *class_rows;
    size_t cells; /* groups x classes x classes */
    double
        *matrix;  /* n x cells: confusion matrices, counts where `rows` is known, else shares; NaN: unknown */
    double *rows; /* n: how many rows are behind each; NaN: unknown */
} mel_pool;

/* What questions are about: exactly one of these, lent, which must outlive the session.
 * face: two classes; linear and linear-fractional metrics of (TP, TN).
 * space: its two-class faces; diagonal linear, diagonal linear-fractional and monotone metrics.
 * ball: points of the ball; linear, linear-fractional, quadratic and polynomial metrics of off-diagonal
 * (or binary) statistics, diagonal linear ones of diagonal statistics, fair ones with groups.
 * pool: pairs of these classifiers and no others; metrics that are linear in known features (all families but
 * the linear-fractional and monotone ones). class_share (n_classes) and prevalence (n_groups x n_classes) go
 * with it; NULL: unknown. */
typedef struct {
    const mel_face *face;
    const mel_space *space;
    const mel_ball *ball;
    /* Beside a ball: the space that it is in, of the same layout, where it is known: questions may then be
     * about its classifiers themselves. NULL: unknown. */
    const mel_space *frontier;
    const mel_pool *pool;
    const double *class_share, *prevalence;
    /* Asked now and then by what takes long: the best classifier, the one at a point, replaying the answers
     * of a session. What is stopped (MEL_ESTOPPED) has changed nothing. */
    mel_progress progress;
} mel_domain;

#ifdef __cplusplus
}
#endif
#endif
