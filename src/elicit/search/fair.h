/* The search for fair metrics: Algorithm 5.1 of the thesis (linear) and D.2 (quadratic) for any number of
 * groups, with the trade-off in closed form or by Algorithms 5.2 and D.3. */
#ifndef MEL_ELICIT_SEARCH_FAIR_H
#define MEL_ELICIT_SEARCH_FAIR_H

#include "elicit/search/fair_solve.h"
#include "elicit/search/plan.h"
#include "elicit/search/trade_off.h"

typedef struct {
    mel_plan plan; /* first: the engine is a plan */
    bool quadratic;
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
