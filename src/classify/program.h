/* Goals with kinks, and limits: maximise
 *     <c, x> - sum of weight |<a, x> - f| + w min (<a, x> + f)    subject to    <a, x> + level <= f
 * over what classifiers achieve, by column generation: a linear program over the rules found so far, whose
 * prices say which rule to look for next. */
#ifndef MEL_CLASSIFY_PROGRAM_H
#define MEL_CLASSIFY_PROGRAM_H

#include "classify/vertices.h"

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
/* Of the last solution. */
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

#endif
