/* The best few candidates for the next question, and what answers to a question are expected to tell. */
#ifndef MEL_ACTIVE_SHORTLIST_H
#define MEL_ACTIVE_SHORTLIST_H

#include "base/internal.h"

typedef struct {
    double information; /* expected, in bits */
    double reduction;   /* expected share of the variance that the answer takes away */
    double margin;      /* mean absolute difference of the pair's utilities over the samples */
} mel_outlook;

/* A pair around c along +-delta; of two classes, where only these differ. Once it is placed these are its
 * ends. */
typedef struct {
    double *c, *delta;
    mel_outlook outlook;
    size_t i, j;
    double score;
} mel_candidate;

enum { MEL_SHORTLIST = 16, MEL_LONG_SHORTLIST = 32 };
typedef struct {
    size_t size, n, most; /* numbers in a point; candidates, at most */
    mel_candidate at[MEL_LONG_SHORTLIST];
} mel_shortlist;

/* An empty one of at most MEL_LONG_SHORTLIST; room: 2 x most x size numbers, lent. */
void mel_shortlist_new(mel_shortlist *list, size_t most, size_t size, double *room);
/* A candidate around c, delta being 0, in place of the worst when the list is full; NULL: not good enough. */
mel_candidate *mel_shortlist_admit(mel_shortlist *list, double score, const double *c);

/* Of an answer that comes with probability p, in bits. */
double mel_entropy(double p);
/* What an answer tells that comes as A with probability likely[i] if sample i is the truth: only
 * `information`. *share: the mean of these. */
mel_outlook mel_outlook_of(size_t n, const double *likely, double *share);

typedef struct {
    size_t dimension, n; /* n: added since the last clear, of which the last few are kept */
    double *row;         /* unit length */
    double alike;        /* cosine of the angle between two cuts from which on they are the same question */
} mel_avoided;
/* For `alike`: what a person would call the same question (as made), and the same up to rounding. */
#define MEL_ALIKE 0.99
#define MEL_IDENTICAL (1.0 - 1e-9)

mel_status mel_avoided_new(mel_avoided *avoided, size_t dimension, mel_error *err);
void mel_avoided_free(mel_avoided *avoided); /* of a zeroed one too */
/* The row of a question: <row, w> > 0 when A is better. */
void mel_avoided_add(mel_avoided *avoided, const double *row);
void mel_avoided_clear(mel_avoided *avoided);
/* Whether a question is about nearly the same cut as one of these. NULL: none. */
bool mel_avoided_has(const mel_avoided *avoided, const double *row);

#endif
