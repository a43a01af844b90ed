/* What the files of optimisation by comparisons share: the search, and what classifiers do. */
#ifndef MEL_OPTIMISE_COMPARISONS_H
#define MEL_OPTIMISE_COMPARISONS_H

#include "optimise/optimise.h"
#include "optimise/shared.h"

/* Logarithms of gains end here: e^20 decides about every row. */
#define MEL_MOST_LOG_GAIN 20.0
/* Sides of a question that decide all rows alike are moved apart so often. */
enum { MEL_DOUBLINGS = 60 };
typedef enum { MEL_ASK_SIDES, MEL_ASK_NEW } mel_sign_stage;

struct mel_comparisons {
    mel_compare_options opt;
    mel_rows rows;
    mel_layout layout;
    size_t m, k, n_free; /* groups, at least 1; classes; gains of all groups: m (k - 1) */
    double *share;       /* m x k: of each class in each group, of all rows */
    uint32_t answered;
    bool settled, open;
    mel_comparison question;
    double *side[2], *statistics[2]; /* what the open question shows: confusion, and as statistics */
    double *confusion;               /* of the current classifier, SLOPES */
    double *score;                   /* scratch: k */

    /* SIGNS: logarithms of gains, class 0 has 0. */
    size_t n_directions, at; /* at: the direction that is asked about */
    double *direction;       /* n_directions x n_free */
    double *log_gain, *trial;
    double *step;
    int *sign;     /* of the last answer */
    int *reversal; /* answers that turned round a shortest step, or said that it makes no difference */
    mel_sign_stage stage;

    /* SLOPES: angles of the weights of class 0 and class j in group g, found bit by bit. */
    double *low, *high; /* n_free each: the angle is between them */
    size_t pair;        /* that is searched */
    uint32_t bit, moves;
    double *weight;  /* rules so far: n_free + m numbers each, gains per group and class */
    double *step_to; /* Frank-Wolfe step towards each */
    size_t n_rules, capacity;
};

/* --- comparisons.c: what classifiers do --------------------------------------------------------- */

size_t mel_compare_cells(const mel_comparisons *s);
size_t mel_compare_group(const mel_comparisons *s, size_t row);
/* Adds share times the confusion of the rule of these gains (m x k). */
void mel_compare_add_rule(double *confusion, const mel_comparisons *s, const double *gain, double share);
void mel_compare_gains(double *gain, const mel_comparisons *s, const double *log_gain);
void mel_compare_measure(double *confusion, const mel_comparisons *s, const double *log_gain);
/* Both sides of the question have been filled in. */
void mel_compare_open(mel_comparisons *s);

/* --- comparisons_signs.c ------------------------------------------------------------------------ */

/* How many directions; out, where not NULL, gets n_free numbers of each. */
size_t mel_sign_directions(double *out, const mel_comparisons *s, bool kinks);
void mel_signs_ask(mel_comparisons *s);
void mel_signs_tell(mel_comparisons *s, mel_answer answer);

/* --- comparisons_slopes.c ----------------------------------------------------------------------- */

/* Room for the gains of one more rule of the mixture; NULL: no memory. */
double *mel_slopes_grow(mel_comparisons *s, double step);
void mel_slopes_ask(mel_comparisons *s);
mel_status mel_slopes_tell(mel_comparisons *s, mel_answer answer, mel_error *err);

#endif
