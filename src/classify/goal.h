/* What a rule is to be best for: a measure of confusion matrices with its shape and its terms, limits,
 * people. */
#ifndef MEL_CLASSIFY_GOAL_H
#define MEL_CLASSIFY_GOAL_H

#include "classify/steps.h"
#include "metric/shared.h"

/* --- programs ---------------------------------------------------------------------------------------- */

/* Goals with kinks, and limits: maximise
 *     <c, x> - sum of weight |<a, x> - f| + w min (<a, x> + f)    subject to    <a, x> + level <= f
 * over what classifiers achieve, by column generation: a linear program over the rules found so far, whose
 * prices say which rule to look for next. */

typedef enum {
    MEL_TERM_ABSOLUTE, /* -weight |<a, x> - f| */
    MEL_TERM_SMALLEST, /* one of those of which the smallest <a, x> + f counts */
    MEL_TERM_LIMIT     /* <a, x> + level_factor * level <= f */
} mel_term_kind;

enum { MEL_NO_LEVEL = -1 };

/* Numbers of <a, x>, few of which are not 0, in the order of x. */
typedef struct {
    mel_term_kind kind;
    size_t first, n; /* entries */
    double weight, f;
    long level; /* which free number (0 or more) a limit is about as well, or MEL_NO_LEVEL */
    double level_factor;
    size_t limit; /* of a limit: which of the caller's it belongs to */
} mel_term;

typedef struct {
    size_t size;            /* of x */
    double *c;              /* what is maximised besides; size numbers */
    double constant;        /* added to values */
    double smallest_weight; /* w */
    size_t n_terms, term_room, n_entries, entry_room, n_levels;
    mel_term *term;
    size_t *at; /* entries: which of x ... */
    double *a;  /* ... times what */
} mel_program;

mel_status mel_program_init(mel_program *out, size_t size, mel_error *err);
void mel_program_clear(mel_program *program);
/* Begins a term; its entries follow. */
mel_status mel_program_add(mel_program *program, mel_term term, mel_error *err);
mel_status mel_program_entry(mel_program *program, size_t at, double a, mel_error *err);
/* <a, x> of a term. */
double mel_program_term(const mel_program *program, const mel_term *term, const double *x);
/* What is maximised, at x. */
double mel_program_value(const mel_program *program, const double *x);
bool mel_program_has_limits(const mel_program *program);

/* A program being solved. */
typedef struct mel_columns mel_columns;
mel_status mel_columns_new(mel_columns **out, const mel_program *program, mel_vertices *vertices,
                           mel_error *err);
void mel_columns_free(mel_columns *columns);
MEL_CLEANUP(mel_columns)
typedef struct {
    double tolerance; /* stop when value and bound are so close */
    uint64_t most_steps;
    bool costly; /* steps read rows: multipliers are found by descent first, prices are damped */
} mel_columns_options;
/* Solves, from where the last solution was; c (NULL: the program's) is what is maximised instead of
 * program->c. */
mel_status mel_columns_solve(mel_columns *columns, const double *c, const mel_columns_options *opt,
                             mel_error *err);
/* About the last solution. */
double mel_columns_bound(const mel_columns *columns);          /* no classifier does better */
double mel_columns_violation(const mel_columns *columns);      /* 0: all limits hold */
const double *mel_columns_weights(const mel_columns *columns); /* one for each vertex */
const double *mel_columns_prices(const mel_columns *columns);  /* one for each term */

/* dual.c: rules near the best multipliers, by L-BFGS on them; what it finds joins the vertices, and the best
 * prices (one for each term) in `price` with their bound. */
mel_status mel_dual_descend(double *price, double *bound, const mel_program *program, const double *c,
                            mel_vertices *vertices, unsigned most, mel_error *err);
/* c minus prices times terms: what a rule gains. */
void mel_program_gains(double *gain, const mel_program *program, const double *c, const double *price);

/* --- goals ------------------------------------------------------------------------------------------- */

typedef struct {
    mel_shape kind;       /* kinked: all of it is in the program */
    mel_measure *measure; /* owned; NULL: the program is all there is */
    double sign;          /* -1: the measure is a cost; values below are utilities, sign times the measure */
    size_t k, d, n_groups, size;
    bool pooled;              /* the measure does not know groups */
    double *seen;             /* room for what the measure looks at; NULL: it looks at x */
    mel_program program;      /* c and terms of linear and kinked goals; limits of all */
    const mel_metric *metric; /* what the measure was made of, lent; NULL: a name */
    double refer_cost;        /* of a case, in the metric's own numbers; NaN: nothing is referred */
} mel_goal;

/* For what these steps achieve; exactly one of metric and name. */
mel_status mel_goal_of_metric(mel_goal *out, const mel_metric *metric, const mel_steps *steps,
                              mel_error *err);
mel_status mel_goal_named(mel_goal *out, const char *name, const mel_steps *steps, mel_error *err);
/* One whose terms the caller adds: kinked, a cost, without a measure. */
mel_status mel_goal_of_terms(mel_goal *out, const mel_steps *steps, mel_error *err);
void mel_goal_clear(mel_goal *goal);
/* A linear goal for one more decision that costs `cost` cheapest mistakes. */
mel_status mel_goal_refer(mel_goal *goal, double cost, mel_error *err);

/* Utilities. MEL_ENUMERIC where the measure is not defined. */
mel_status mel_goal_value(double *out, const mel_goal *goal, const double *x, mel_error *err);
mel_status mel_goal_gradient(double *out, const mel_goal *goal, const double *x, mel_error *err);
/* What deciding at random, with all decisions alike, achieves. */
void mel_goal_uniform(double *x, const mel_goal *goal, const mel_steps *steps);
/* The share of rows of class r % k in group r / k; of a measure that does not know groups, r < k, in all. */
double mel_goal_mass(const mel_goal *goal, const mel_steps *steps, size_t r);
/* How many such r there are. */
size_t mel_goal_masses(const mel_goal *goal);
/* What the measure looks at: x, or its sums over groups. */
const double *mel_goal_seen(const mel_goal *goal, const double *x);
/* -infinity where it is not defined. */
double mel_goal_at(const mel_goal *goal, const double *x);
/* How far x breaks the limits, added up. */
double mel_goal_violation(const mel_goal *goal, const double *x);

/* --- limits as terms of a program -------------------------------------------------------------------- */

/* Adds the terms of limit `number`. */
mel_status mel_limit_add(mel_program *program, const mel_limit *limit, size_t number, const mel_steps *steps,
                         mel_error *err);
/* What a rule achieves: shares (or counts) x[group][class][decision]; n_groups is at least 1. */
typedef struct {
    size_t n_groups, n_classes, n_decisions;
    const double *x;
} mel_shares;
/* The value that the limit bounds. */
double mel_limit_achieved(const mel_limit *limit, const mel_shares *of);
/* How many numbers that value is the largest of: differences between any two groups, in both orders; 0: none.
 */
size_t mel_limit_parts(const mel_limit *limit, const mel_shares *of);
void mel_limit_part_values(double *out, const mel_limit *limit, const mel_shares *of);
/* Whether a limit on differences is about R_ij, with i = k about the share of decisions j: what the measure
 * of that name compares. */
bool mel_limit_compares(const mel_limit *limit, size_t k, size_t i, size_t j);
/* What loosening it by 1 gains, by the prices of the terms. */
double mel_limit_price(size_t number, const mel_program *program, const double *price);

/* --- several people: the least worst regret ---------------------------------------------------------- */

/* Regrets of n people, constant - <gain, x> each; what is best for each of them, and for the mean of their
 * metrics. */
typedef struct {
    size_t n, size;
    double *gain, *constant, *own, *mean, *pooled, *floored;
} mel_people_goal;
/* Both are to be cleared, after a failure too. */
mel_status mel_goal_of_people(mel_goal *goal, mel_people_goal *people, size_t n, const mel_person *person,
                              mel_steps *steps, mel_error *err);
void mel_people_goal_clear(mel_people_goal *people);
/* What they lose with a rule that does x; price: of the terms. */
mel_status mel_compromise_judge(mel_compromise *out, const mel_people_goal *people, const double *x,
                                const double *price, mel_error *err);
void mel_compromise_clear(mel_compromise *found);

#endif
