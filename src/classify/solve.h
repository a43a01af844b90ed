/* The solvers: one interface, one file per method. */
#ifndef MEL_CLASSIFY_SOLVE_H
#define MEL_CLASSIFY_SOLVE_H

#include "classify/classify.h"
#include "classify/goal.h"

typedef struct {
    double tolerance;    /* of gaps */
    uint64_t most_steps; /* linear steps of one run */
    unsigned starts;     /* of local methods */
    uint64_t seed;
} mel_solve_options;

/* A mixture of vertices. */
typedef struct {
    double *x;      /* what it achieves */
    double *weight; /* n: of each vertex, in every block adding up to 1 */
    size_t n;
    double value, bound; /* utilities; nothing is better than bound, where that is proved */
    bool certified;
    unsigned starts;  /* 0: the method has none */
    double violation; /* of the limits: the smallest there is; 0: they hold */
    double *price;    /* of each term of the program; NULL: it has none */
} mel_solution;
void mel_solution_clear(mel_solution *solution);

/* The best mixture, by whichever method fits the goal. */
mel_status mel_solve_goal(mel_solution *out, const mel_goal *goal, mel_vertices *vertices,
                          const mel_solve_options *opt, mel_error *err);

/* frank_wolfe.c: concave and other smooth goals. start: a vertex of every block, NULL: all constants alike.
 */
mel_status mel_frank_wolfe(mel_solution *out, const mel_goal *goal, mel_vertices *vertices,
                           const size_t *start, mel_columns *limits, const mel_solve_options *opt,
                           mel_error *err);
/* single.c: one rule in every block, near a solution. The solution becomes it; false in *found: none meets
 * the limits. */
mel_status mel_solve_single(bool *found, mel_solution *solution, const mel_goal *goal, mel_vertices *vertices,
                            const mel_solve_options *opt, mel_error *err);

/* Room for a solution of the goal on these vertices. */
mel_status mel_solution_init(mel_solution *out, const mel_goal *goal, const mel_vertices *vertices,
                             mel_error *err);
/* Weights for all vertices that there are by now; new ones have none. */
mel_status mel_solution_fit(mel_solution *solution, const mel_vertices *vertices, mel_error *err);
mel_columns_options mel_columns_usual(const mel_vertices *vertices, const mel_solve_options *opt);

/* build.c: the mixtures of all blocks as one classifier. */
mel_status mel_build_classifier(mel_classifier **out, const mel_solution *solution, const mel_goal *goal,
                                const mel_vertices *vertices, mel_error *err);
/* rule.c: one rule where the form asks for it; *optimum: the value before. */
mel_status mel_rule_settle(mel_solution *solution, double *optimum, const mel_goal *goal,
                           mel_vertices *vertices, mel_rule_form form, const mel_solve_options *opt,
                           mel_error *err);

/* --- one rule in every block: what its searches share ------------------------------------------------ */

/* How good a choice is: limits come first. */
typedef struct {
    double violation, value;
} mel_worth;

/* A value and how far limits are missed, term by term; ends: between which a limit's level must be, by level
 * low and high. */
typedef struct {
    double sum, smallest, violation;
    double *ends;
} mel_account;
void mel_account_begin(mel_account *tally, size_t n_levels, double sum);
void mel_account_copy(mel_account *to, const mel_account *from, size_t n_levels);
/* A term between low and high at its best; low = high: what it is. */
void mel_account_add(mel_account *tally, const mel_term *term, double low, double high);
mel_worth mel_account_worth(const mel_account *tally, const mel_program *program);

typedef struct {
    const mel_goal *goal;
    mel_vertices *vertices;
    size_t size; /* of a block */
    double *x, *shares, *rule;
    size_t *choice; /* of each block: a candidate */
    size_t *kept;   /* the best choices so far */
    mel_worth best;
    double meets, penalty; /* limits missed by less hold; > 0: what missing them costs, instead */
    /* Goals that are a program: the terms that a block has a part in, and what all the others come to. */
    bool by_terms;
    size_t *term, *first; /* those of block b: term[first[b]..first[b + 1]) */
    mel_account rest, tally;
} mel_single;

/* Candidates of a block: all thresholds of sorted rows, then every vertex. */
size_t mel_single_thresholds(const mel_single *s, size_t block);
/* x becomes what a candidate achieves. */
void mel_single_put(mel_single *s, size_t block, size_t c);
bool mel_single_better(const mel_single *s, mel_worth a, mel_worth b);

/* pairs.c: improves the best choice, two blocks at a time, by the best of all pairs of thresholds. */
mel_status mel_single_pairs(mel_single *s, const mel_solution *mixture, mel_error *err);

/* --- linear programs --------------------------------------------------------------------------------- */

/* Linear programs that grow: maximise <c, z> over A z = b, z >= 0, by the revised simplex method. Columns may
 * be added at any time; the next solve goes on from where the last one ended. */
typedef struct mel_simplex mel_simplex;

/* n equations with these right-hand sides. */
mel_status mel_simplex_new(mel_simplex **out, size_t n, const double *b, mel_error *err);
void mel_simplex_free(mel_simplex *lp);

/* A column with n_entries numbers at different rows; *column is its number. */
mel_status mel_simplex_add(size_t *column, mel_simplex *lp, double cost, size_t n_entries, const size_t *row,
                           const double *value, mel_error *err);
/* Two columns that are each other's negative, added one after the other: a number that may have either sign,
 * at a cost for each side. */
void mel_simplex_pair(mel_simplex *lp, size_t first, size_t second);
void mel_simplex_set_cost(mel_simplex *lp, size_t column, double cost);
/* A column that must be 0 from now on. It has to be 0 already, to rounding. */
void mel_simplex_forbid(mel_simplex *lp, size_t column);
/* Puts a column into the basis at a row that has none yet; to begin with, every row needs one. */
void mel_simplex_begin(mel_simplex *lp, size_t row, size_t column);
/* What is left of b at a row by the columns that are in the basis already. */
double mel_simplex_left(const mel_simplex *lp, size_t row);

/* MEL_ENUMERIC when it is unbounded or rounding errors win. */
mel_status mel_simplex_solve(mel_simplex *lp, mel_error *err);
double mel_simplex_value(const mel_simplex *lp, size_t column); /* of the last solution */
double mel_simplex_objective(const mel_simplex *lp);
const double *mel_simplex_prices(const mel_simplex *lp); /* one per equation */

#endif
