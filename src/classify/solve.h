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

#endif
