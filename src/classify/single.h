/* One rule in every block: what its searches share. */
#ifndef MEL_CLASSIFY_SINGLE_H
#define MEL_CLASSIFY_SINGLE_H

#include "classify/solve.h"

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

#endif
