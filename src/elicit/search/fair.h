/* The search for fair metrics: Algorithm 5.1 of the thesis (linear) and D.2 (quadratic) for any number of
 * groups, with the trade-off in closed form or by Algorithms 5.2 and D.3. */
#ifndef MEL_ELICIT_SEARCH_FAIR_H
#define MEL_ELICIT_SEARCH_FAIR_H

#include "base/internal.h"
#include "elicit/search/slopes.h"

/* Algorithms 5.2 and D.3 of the thesis: the trade-off of a fair metric whose weights are known, by halving
 * [0, 1]. One group moves on a sphere on which the cost is linear, or (quadratic) nearly, the others stay at
 * the centre; for every trade-off there is a best point of the sphere. */
typedef struct {
    size_t q, group, axis; /* which group moves; quadratic: around a step along this axis */
    double radius;
    /* Gradients of the mistakes' and of the differences' part of the cost in what moves, then the middle of
     * the sphere: q numbers each. */
    double *mistakes, *apart, *middle;
    double *room; /* owns them */
    mel_arc arc;  /* where the trade-off is, as far as known */
} mel_trade_off;

/* On failure, too, for mel_trade_off_clear. */
mel_status mel_trade_off_init(mel_trade_off *trade, size_t q, mel_error *err);
void mel_trade_off_clear(mel_trade_off *trade);

/* What questions about this trade-off can be about. */
typedef struct {
    size_t q, groups;
    bool quadratic;
    const double *tau; /* groups x q: P(G = g | Y = the true class of the coordinate) */
    /* q of a, then one block per pair of groups, q or q x q: as large as the trade-off refers to. */
    const double *weights;
    const double *centre; /* q */
    double radius;        /* of the ball */
    double inner;         /* quadratic: of the sphere */
} mel_trade_off_scene;
/* The group (and axis, for quadratic metrics) for which the two gradients differ most. The thesis takes the
 * first group and axis; its condition for that is not the right one: the answers say nothing when
 * the gradients are parallel. False: they are for all. */
bool mel_trade_off_choose(mel_trade_off *trade, const mel_trade_off_scene *scene);
/* The two gradients for this group and axis; q numbers each. */
void mel_trade_off_gradients(double *mistakes, double *apart, const mel_trade_off_scene *scene, size_t group,
                             size_t axis);

/* The best direction for this trade-off, of unit length; nil where the gradients cancel. */
void mel_trade_off_direction(double *direction, const mel_trade_off *trade, double lambda);
/* The trade-off with which a respondent whose gradients are these would have answered alike if the middle of
 * the arc is the answer: where the metric's slope is at right angles to the way of the best point. */
double mel_trade_off_of(const mel_trade_off *trade, const double *mistakes, const double *apart);

/* From slopes of a fair metric at several places to its weights, which are known up to a common factor: x
 * (mistakes, (1 - lambda) a) and one block y per pair of groups (differences, lambda b or lambda B). Slopes
 * are of the cost, of unit length, or nil where nothing matters. */

/* Places where a fair linear cost is linear: some groups move together, the others stay on one side. The
 * gradient in what moves is share * x + side * (sum of the blocks that are cut), coordinate by coordinate. */
typedef struct {
    size_t q, n_places, n_blocks;
    const double *share;     /* n_places x q: of everybody, how much moves */
    const double *side;      /* n_places x q: 1 where what moves is above what stays, -1 where it is below */
    const double *cut;       /* n_places x n_blocks: how often a block counts */
    const double *known;     /* q: x up to a positive factor; NULL: unknown */
    const signed char *sign; /* q: of x; 0: either; NULL: all unknown */
    bool apart_positive;     /* y >= 0 */
} mel_fair_places;

/* weights: q numbers of x, then q of each block. Unless x is known, everything moves at the first place; the
 * others come in twos, with those that stay at the rates of the first and of the last class. All slopes at
 * once by least squares: every slope is a gradient but for its length, slopes weigh alike
 * whatever that is, and weights whose sign would be against the rules are zero. All nil when no place has a
 * slope. */
mel_status mel_fair_linear_squares(double *weights, const mel_fair_places *places, const double *slope,
                                   mel_error *err);

/* Sets of groups that move together while the others stay at the centre: q + 2 places each, the centre, a
 * step forward along each axis, and a step back along the first. The gradient of a fair quadratic cost at
 * distance z is share * x + W z with W the sum of the blocks that are cut. */
typedef struct {
    size_t q, n_sets, n_blocks;
    const double *share; /* n_sets x q */
    const double *cut;   /* n_sets x n_blocks */
    const double *known; /* q: x up to a positive factor; NULL: unknown */
    double step;
    bool apart_positive; /* blocks are positive semidefinite: negative eigenvalues are taken to be 0 */
} mel_fair_sets;
/* weights: q numbers of x, then q x q of each block; slope: n_sets x (q + 2) x q. */
mel_status mel_fair_quadratic_squares(double *weights, const mel_fair_sets *sets, const double *slope,
                                      mel_error *err);
/* The same from a quadratic function of each set, q numbers of its gradient at the centre and q x q of its
 * curvature (n_sets x (q + q q)), each known up to a positive factor of its own. */
mel_status mel_fair_quadratic_join(double *weights, const mel_fair_sets *sets, const double *found,
                                   mel_error *err);
/* Makes a symmetric q x q matrix positive semidefinite: its negative eigenvalues become 0. */
mel_status mel_fair_make_positive(size_t q, double *block, mel_error *err);

/* --- what both share */

/* Least squares of sum[s] = sum over p of cut[s][p] block[p], for each of n numbers; sum: n_sets x n;
 * block: n_blocks x n. cut: n_sets x n_blocks of full column rank, else MEL_ENUMERIC. */
mel_status mel_fair_split(double *block, size_t n_sets, size_t n_blocks, const double *cut, size_t n,
                          const double *sum, mel_error *err);
/* x = R^-1 x for the upper triangle R (n x n) of a QR factorisation; x: n x n_columns. Where R is singular
 * the unknown is 0; false then. */
bool mel_back_substitute(size_t n, const double *r, size_t n_columns, double *x);

typedef struct {
    mel_plan plan; /* first: the engine is a plan */
    bool quadratic;
    mel_curve curve;     /* quadratic: of every set */
    bool asks_trade_off; /* after the stations, or instead of them */
    size_t q, groups, pairs;
    size_t block;      /* numbers of one pair of groups: q, or q x q */
    size_t n_sets;     /* of groups that move together; 0: only the trade-off is asked for */
    size_t n_blocks;   /* pairs, or 1 when all have the same weights */
    size_t first;      /* stations before those of the sets */
    size_t per_set;    /* stations of a set */
    bool *moves;       /* n_sets x groups */
    bool *level;       /* n_sets, quadratic: no slope where the groups do not differ (mel_fair_judge_sets) */
    bool vague;        /* quadratic: of some set mistakes and differences are indistinguishable */
    signed char *sign; /* q: of the weights of mistakes; 0: unknown */
    double *tau;       /* groups x q: P(G = g | Y = the true class of the coordinate) */
    double *known;     /* q + pairs * block, normalised: as opt.known says */
    double *share;     /* linear: a row of q per station; quadratic: per set */
    double *side;      /* linear: likewise */
    double *cut;       /* a row of n_blocks, likewise */
    double *cuts;      /* the row's sum, likewise */
    double *slope;     /* stations x q, for the solvers */
    double *weights;   /* q + pairs * block */
    mel_trade_off trade;
    bool told;   /* the trade-off's questions can tell it */
    bool solved; /* weights, told and trade are as the stations say */
} mel_fair_search;

/* How many sets have all their stations reached, from the first set on; 0 also while the stations before them
 * are not. */
size_t mel_fair_sets_reached(const mel_fair_search *search);
/* Brings level and vague up to date with the first n_sets sets. */
mel_status mel_fair_judge_sets(mel_fair_search *search, size_t n_sets, mel_error *err);
/* weights (q + pairs * block) from the slopes at the stations and what is level. With fewer sets than all,
 * which cannot be told apart, all pairs of groups get the same weights; n_sets is at least 1. */
mel_status mel_fair_solve(double *weights, mel_fair_search *search, size_t n_sets, mel_error *err);
/* |a| = 1 and the sum of |b|, or half the sum of |B|, is 1; nil parts stay nil. What they were before. */
typedef struct {
    double mistakes, apart;
} mel_fair_parts;
mel_fair_parts mel_fair_normalise(double *weights, const mel_fair_search *search);
/* What the trade-off's questions are about when these, normalised, are the weights. */
mel_trade_off_scene mel_fair_scene(const mel_fair_search *search, const double *weights);
/* As mel_procedure says. */
mel_status mel_fair_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                           mel_error *err);

/* Sets of groups that move apart from the others. The differences between groups that a set shows are those
 * of the pairs that it cuts, one group inside and one outside; as many sets as there are pairs tell all pairs
 * from each other when the matrix of cuts is regular. */

/* member: n_groups(n_groups - 1)/2 sets of one or two groups, one flag per group (the fewer move, the more
 * differences count beside mistakes, and the better they are known). The largest over the smallest singular
 * value of their matrix of cuts is 1, 2, 5.8, 6, 4, 5, 6 for 2 to 8 groups, and n_groups - 2 beyond. */
void mel_subsets(bool *member, size_t n_groups);
/* Half of the groups, the smaller half when their number is odd: one set, which cuts the most pairs. */
void mel_subset_half(bool *member, size_t n_groups);
/* One number per pair of groups, in the order 1-2, 1-3, .., 2-3, ..: 1 when the set cuts it, else 0. */
void mel_subset_cuts(double *cut, const bool *member, size_t n_groups);

#endif
